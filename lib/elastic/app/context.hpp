// What an app sees of the run that it is part of.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <mastic/comm/group.hpp>
#include <mastic/elastic/app/kept_state.hpp>
#include <mastic/elastic/app/step_tape.hpp>

namespace mastic::app {

struct Part {
    std::uint64_t begin = 0, end = 0;
};

class Context {
  public:
    int rank() const { return rank_; }
    int size() const { return size_; }
    bool first() const { return rank_ == 0 && !tape_.replays(); }  // for what is to be said once
    std::int64_t steps() const { return steps_; }                  // done so far
    // This rank's part of 0 .. count: contiguous; none in a step that is only taken again.
    Part part(std::uint64_t count) const;

    // In setup(): these values, which stay where they are, are the same on all ranks and change in steps.
    template <class T, std::size_t Extent>
    void keep(const std::string& name, std::span<T, Extent> values) {
        state_.add(name, comm::view_of(values));
    }

    // In step() and evaluate(), by all ranks in the same order; the results are the same bits on all.
    template <class T, std::size_t Extent>
    void allreduce(std::span<T, Extent> values, comm::ReduceOp op = comm::ReduceOp::sum) {
        allreduce(comm::view_of(values), op);
    }
    template <class T>
    T allreduce(T value, comm::ReduceOp op = comm::ReduceOp::sum) {
        allreduce(comm::view_of(std::span(&value, 1)), op);
        return value;
    }
    template <class T, std::size_t Extent>
    void broadcast(std::span<T, Extent> values, int root = 0) {
        broadcast(comm::view_of(values), root);
    }
    // Saves after this step, besides the times that `checkpoint.every` sets. One rank's wish is enough.
    void checkpoint() { checkpoint_wished_ = true; }

  private:
    friend class AppRun;
    void allreduce(comm::BufferView values, comm::ReduceOp op);
    void broadcast(comm::BufferView values, int root);
    void join(std::shared_ptr<comm::Group> group);  // null: none

    KeptState state_;
    StepTape tape_;
    std::shared_ptr<comm::Group> group_;
    int rank_ = 0, size_ = 1;
    std::int64_t steps_ = 0;
    bool checkpoint_wished_ = false;
};

}  // namespace mastic::app
