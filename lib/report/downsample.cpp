#include <mastic/report/downsample.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace mastic::report {
namespace {

// Collects the points of one column.
class Column {
  public:
    explicit Column(double number) : number_(number) {}
    double number() const { return number_; }

    void add(const PixelPoint& point, std::size_t order) {
        if (std::isnan(point.y)) {
            gap_ = point;
            return;
        }
        const Kept kept{point, order};
        if (empty_) {
            first_ = lowest_ = highest_ = kept;
            empty_ = false;
        }
        if (point.y < lowest_.point.y) {
            lowest_ = kept;
        }
        if (point.y > highest_.point.y) {
            highest_ = kept;
        }
        last_ = kept;
    }

    void write_to(std::vector<PixelPoint>& result) const {
        if (empty_) {
            result.push_back(gap_);
            return;
        }
        std::vector<Kept> kept{first_, lowest_, highest_, last_};
        std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.order < b.order; });
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (i == 0 || kept[i].order != kept[i - 1].order) {
                result.push_back(kept[i].point);
            }
        }
    }

  private:
    struct Kept {
        PixelPoint point;
        std::size_t order = 0;
    };
    double number_;
    bool empty_ = true;
    Kept first_, lowest_, highest_, last_;
    PixelPoint gap_;
};

}  // namespace

std::vector<PixelPoint> downsampled(const std::vector<PixelPoint>& points, double column_width) {
    std::vector<PixelPoint> result;
    std::optional<Column> current;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!std::isfinite(points[i].x)) {
            continue;
        }
        const double number = std::floor(points[i].x / column_width);
        if (current && current->number() != number) {
            current->write_to(result);
            current.reset();
        }
        if (!current) {
            current.emplace(number);
        }
        current->add(points[i], i);
    }
    if (current) {
        current->write_to(result);
    }
    return result;
}

}  // namespace mastic::report
