// What is known of a job's throughput curve, learned from what it does.
//
// The family: log throughput as a function of log nodes is a line with curvature, plus small steps: at the knots 1, 2,
// 4, ... nodes a Gaussian vector, straight lines in the logarithms between them. A measurement at n nodes is a Kalman
// update of the two knots around n, so the mean and its standard error at every node count follow in closed form.
// The prior is that of the site: the curves of the jobs that ended before.
#pragma once

#include <vector>

#include <mastic/schedule/throughput_curve.hpp>

namespace mastic::schedule {

// Of log(rate at knot k / rate at one node), k = 1, 2, ...; covariance by rows.
struct CurvePrior {
    std::vector<double> mean;
    std::vector<double> covariance;
    int largest = 1;  // nodes

    std::size_t knots() const { return mean.size(); }  // without that of one node
    // Knows nothing of the site: about n^0.92, give or take 0.06 in the exponent.
    static CurvePrior uninformed(int largest);
};

class JobProfile {
  public:
    explicit JobProfile(const CurvePrior& prior);

    // A steady run on so many nodes: samples per second (or any other unit), with the relative standard error of this
    // measurement. One that contradicts by 20 % what was known to 3 % makes the profile forget what it knew.
    void observe(int nodes, double rate, double relative_error);

    // Relative to one node, at 0, 1, 2, ... nodes.
    const ThroughputCurve& speed_up() const;
    // Relative standard error of speed_up(nodes).
    double relative_error(int nodes) const;
    // The exponent a of the family's n^a between one node and the largest, and its standard error.
    struct Exponent {
        double value;
        double error;
    };
    Exponent exponent() const;

    bool seen() const { return observations_ > 0; }
    // As a prior has them.
    std::vector<double> contrast_mean() const;
    std::vector<double> contrast_covariance() const;

  private:
    struct Weights {
        std::size_t knot;  // and the next
        double upper;      // weight of the next
    };
    Weights weights(int nodes) const;
    double& covariance(std::size_t row, std::size_t column) { return covariance_[row * size_ + column]; }
    double covariance(std::size_t row, std::size_t column) const { return covariance_[row * size_ + column]; }
    double contrast_variance(int nodes) const;
    void forget();

    int largest_;
    std::size_t size_;                // knots, with that of one node
    std::vector<double> mean_;        // of log rate at the knots
    std::vector<double> covariance_;  // size x size
    int observations_ = 0;
    mutable ThroughputCurve speed_up_;
    mutable bool fresh_ = false;
};

// What ended jobs say about the next ones.
class SiteCurves {
  public:
    explicit SiteCurves(int largest) : initial_(CurvePrior::uninformed(largest)), prior_(initial_) {}
    void add(const JobProfile& ended);
    const CurvePrior& prior() const { return prior_; }

  private:
    CurvePrior initial_;
    CurvePrior prior_;
    double jobs_ = 0;
    std::vector<double> sum_;      // of the jobs' means
    std::vector<double> squares_;  // of mean mean' + covariance
};

}  // namespace mastic::schedule
