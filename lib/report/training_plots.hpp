// The plots of a training, from its metrics.
#pragma once

#include <vector>

#include <mastic/report/bar_chart.hpp>
#include <mastic/report/metrics.hpp>
#include <mastic/report/svg_plot.hpp>

namespace mastic::report {

// Training loss of each step (faint) and smoothed, and the loss of each evaluated split; logarithmic if it
// falls by more than a factor of 30. Full width.
LinePlot loss_plot(const Metrics& metrics);

// One plot for each metric of the evaluations, one curve per split.
std::vector<LinePlot> quality_plots(const Metrics& metrics);

// Mean time of each phase of a step, one bar each.
BarChart phase_chart(const Metrics& metrics);

// Samples/s, time per step by phase, exposed communication, learning rate; ranks and global batch if they
// changed. Only what was measured.
std::vector<LinePlot> system_plots(const Metrics& metrics);

}  // namespace mastic::report
