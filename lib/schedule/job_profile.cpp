#include <mastic/schedule/job_profile.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace mastic::schedule {
namespace {

constexpr double prior_exponent = 0.92;
constexpr double exponent_error = 0.06;
constexpr double curvature_error = 0.012;  // of the square of log nodes
constexpr double step_error = 0.03;        // from one knot to the next, besides the family
constexpr double level_error = 20;         // of log rate: nothing is known
constexpr double contradiction = 0.2;      // relative, of a throughput ...
constexpr double well_known = 0.03;        // ... that was known to this relative error
constexpr double prior_jobs = 3;           // so many jobs count as much as the initial prior

std::size_t knots_for(int largest) {
    return std::max<std::size_t>(
        2, static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(largest - 1))) + 1);
}

}  // namespace

CurvePrior CurvePrior::uninformed(int largest) {
    CurvePrior prior;
    prior.largest = largest;
    const std::size_t knots = knots_for(largest) - 1;
    prior.covariance.resize(knots * knots);
    for (std::size_t i = 0; i < knots; ++i) {
        const double x = static_cast<double>(i + 1) * std::numbers::ln2;
        prior.mean.push_back(prior_exponent * x);
        for (std::size_t k = 0; k < knots; ++k) {
            const double other = static_cast<double>(k + 1) * std::numbers::ln2;
            prior.covariance[i * knots + k] =
                exponent_error * exponent_error * x * other +
                curvature_error * curvature_error * x * x * other * other +
                step_error * step_error * static_cast<double>(std::min(i, k) + 1);
        }
    }
    return prior;
}

JobProfile::JobProfile(const CurvePrior& prior)
    : largest_(prior.largest), size_(prior.knots() + 1), mean_(size_), covariance_(size_ * size_) {
    std::ranges::copy(prior.mean, mean_.begin() + 1);
    for (std::size_t i = 0; i < size_; ++i) {
        for (std::size_t k = 0; k < size_; ++k) {
            const bool contrast = i > 0 && k > 0;
            covariance(i, k) = level_error * level_error +
                               (contrast ? prior.covariance[(i - 1) * (size_ - 1) + k - 1] : 0.0);
        }
    }
}

JobProfile::Weights JobProfile::weights(int nodes) const {
    const double x = std::log2(static_cast<double>(std::clamp(nodes, 1, largest_)));
    const std::size_t knot = std::min(static_cast<std::size_t>(x), size_ - 2);
    return {knot, x - static_cast<double>(knot)};
}

void JobProfile::observe(int nodes, double rate, double relative_error) {
    if (nodes < 1 || nodes > largest_ || !(rate > 0)) {
        return;
    }
    const auto [low, upper] = weights(nodes);
    std::vector<double> gain(size_);  // covariance of the knots with the observed value
    for (std::size_t i = 0; i < size_; ++i) {
        gain[i] = (1 - upper) * covariance(i, low) + upper * covariance(i, low + 1);
    }
    const double variance = (1 - upper) * gain[low] + upper * gain[low + 1];
    const double expected = (1 - upper) * mean_[low] + upper * mean_[low + 1];
    const double surprise = std::log(rate) - expected;
    const double total = variance + relative_error * relative_error;
    if (observations_ > 0 && std::abs(surprise) > contradiction && std::sqrt(variance) < well_known) {
        forget();
        observe(nodes, rate, relative_error);
        return;
    }
    for (std::size_t i = 0; i < size_; ++i) {
        mean_[i] += gain[i] / total * surprise;
        for (std::size_t k = 0; k < size_; ++k) {
            covariance(i, k) -= gain[i] * gain[k] / total;
        }
    }
    ++observations_;
    fresh_ = false;
}

// The level is unknown again and the shape uncertain; the mean shape stays as the best guess.
void JobProfile::forget() {
    const CurvePrior wide = CurvePrior::uninformed(largest_);
    CurvePrior prior{contrast_mean(), wide.covariance, largest_};
    *this = JobProfile(prior);
}

const ThroughputCurve& JobProfile::speed_up() const {
    if (!fresh_) {
        speed_up_.rate.assign(1, 0.0);
        for (int n = 1; n <= largest_; ++n) {
            const auto [low, upper] = weights(n);
            speed_up_.rate.push_back(std::exp((1 - upper) * mean_[low] + upper * mean_[low + 1] - mean_[0]));
        }
        fresh_ = true;
    }
    return speed_up_;
}

double JobProfile::contrast_variance(int nodes) const {
    const auto [low, upper] = weights(nodes);
    const double at = (1 - upper) * (1 - upper) * covariance(low, low) +
                      2 * upper * (1 - upper) * covariance(low, low + 1) +
                      upper * upper * covariance(low + 1, low + 1);
    const double with_one = (1 - upper) * covariance(low, 0) + upper * covariance(low + 1, 0);
    return std::max(0.0, at - 2 * with_one + covariance(0, 0));
}

double JobProfile::relative_error(int nodes) const {
    return std::sqrt(contrast_variance(nodes));
}

JobProfile::Exponent JobProfile::exponent() const {
    const double span = std::log(std::max(2, largest_));
    return {std::log(speed_up().at(std::max(1, largest_))) / span, relative_error(largest_) / span};
}

std::vector<double> JobProfile::contrast_mean() const {
    std::vector<double> contrast;
    for (std::size_t i = 1; i < size_; ++i) {
        contrast.push_back(mean_[i] - mean_[0]);
    }
    return contrast;
}

std::vector<double> JobProfile::contrast_covariance() const {
    std::vector<double> contrast;
    for (std::size_t i = 1; i < size_; ++i) {
        for (std::size_t k = 1; k < size_; ++k) {
            contrast.push_back(covariance(i, k) - covariance(i, 0) - covariance(0, k) + covariance(0, 0));
        }
    }
    return contrast;
}

// Moments of the population: one step of expectation-maximisation per job, with the initial prior as some jobs.
void SiteCurves::add(const JobProfile& ended) {
    const std::vector<double> mean = ended.contrast_mean();
    const std::vector<double> covariance = ended.contrast_covariance();
    const std::size_t knots = initial_.knots();
    sum_.resize(knots);
    squares_.resize(knots * knots);
    jobs_ += 1;
    for (std::size_t i = 0; i < knots; ++i) {
        sum_[i] += mean[i];
        for (std::size_t k = 0; k < knots; ++k) {
            squares_[i * knots + k] += mean[i] * mean[k] + covariance[i * knots + k];
        }
    }
    const double total = prior_jobs + jobs_;
    for (std::size_t i = 0; i < knots; ++i) {
        prior_.mean[i] = (prior_jobs * initial_.mean[i] + sum_[i]) / total;
    }
    for (std::size_t i = 0; i < knots; ++i) {
        for (std::size_t k = 0; k < knots; ++k) {
            const std::size_t at = i * knots + k;
            const double initial = initial_.covariance[at] + initial_.mean[i] * initial_.mean[k];
            prior_.covariance[at] =
                (prior_jobs * initial + squares_[at]) / total - prior_.mean[i] * prior_.mean[k];
        }
    }
}

}  // namespace mastic::schedule
