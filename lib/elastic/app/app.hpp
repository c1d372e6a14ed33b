// A program of one's own that runs on a fixed set of ranks or on members that come and go, with the same binary:
//
//   class Fit : public mastic::app::App {
//       void setup(Context& context) override { ...; context.keep("weights", std::span(weights_)); }
//       bool finished(const Context& context) const override { return context.steps() == 500; }
//       void step(Context& context) override {
//           ... of this rank's part of the samples: context.part(samples) ...
//           context.allreduce(std::span(gradient));
//           ... change the weights ...
//       }
//   };
//   int main(int argc, char** argv) { Fit fit; return mastic::app::run(argc, argv, fit); }
//
//   mpiexec -n 4 ./fit --run.dir runs/a          ranks of MPI (srun likewise)
//   ./fit --elastic.join runs/b                  a member: as many as one likes, at any time
//
// What all ranks have in common, and what a step changes, is *kept*: it is saved, handed to newcomers, and taken back when a
// step breaks because a member is lost. The rule that makes this work: what a step does to kept values depends on them, on
// steps() and on the results of collectives only. Rank, size and part() may decide what goes into a collective, nothing else.
// A member that missed a step takes it again with the results that the others had.
#pragma once

#include <string>

#include <mastic/config/schema.hpp>
#include <mastic/elastic/app/context.hpp>

namespace mastic::app {

class App {
  public:
    virtual ~App() = default;

    virtual std::string description() const { return "a program on mastic::elastic_app"; }
    // Options of its own, in a section of its own. All ranks and members must be given the same.
    virtual void declare(config::Schema&) {}

    // Once, before there are other ranks: reads data, names what is kept. No collectives.
    virtual void setup(Context& context) = 0;
    // Whether there is nothing more to do: by kept values and steps() only.
    virtual bool finished(const Context& context) const = 0;
    virtual void step(Context& context) = 0;
    // On all ranks, after the last step and every `run.evaluate_every` steps; may use collectives. Repeated if it breaks.
    virtual void evaluate(Context&) {}
};

// Everything from the command line to the exit code (core/error.hpp). Does not return where the ranks are those of MPI.
int run(int argc, char** argv, App& app);

}  // namespace mastic::app
