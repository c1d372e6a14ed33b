#include <mastic/tuning/group_shape.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace mastic::tuning {
namespace {

std::string plural(int count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::vector<int> powers_of_two_and(int most) {
    std::vector<int> values;
    for (int value = 1; value < most; value *= 2) {
        values.push_back(value);
    }
    values.push_back(most);
    std::ranges::reverse(values);
    return values;
}

int kind_of(const GroupShape& shape) {
    return shape.nodes == 1 ? 0 : (shape.ranks_per_node == 1 ? 1 : 2);
}

double distance(const GroupShape& a, const GroupShape& b) {
    const auto apart = [](int x, int y) { return std::abs(std::log2(double(x) / y)); };
    return apart(a.nodes, b.nodes) + apart(a.ranks_per_node, b.ranks_per_node);
}

}  // namespace

GroupShape shape_of(int ranks, int nodes) { return {nodes, (ranks + nodes - 1) / nodes}; }

std::string to_string(const GroupShape& shape) {
    return plural(shape.nodes, "node") + " x " + plural(shape.ranks_per_node, "rank");
}

std::vector<GroupShape> shapes_within(const GroupShape& most) {
    std::vector<GroupShape> shapes;
    for (const int nodes : powers_of_two_and(most.nodes)) {
        for (const int ranks : powers_of_two_and(most.ranks_per_node)) {
            if (nodes * ranks > 1) {
                shapes.push_back({nodes, ranks});
            }
        }
    }
    std::ranges::stable_sort(shapes, std::greater{}, &GroupShape::ranks);
    return shapes;
}

std::optional<GroupShape> nearest_shape(std::span<const GroupShape> known, const GroupShape& wanted) {
    std::optional<GroupShape> nearest;
    const auto order = [&wanted](const GroupShape& shape) {
        return std::tuple(distance(shape, wanted), shape.ranks(), shape.nodes);
    };
    for (const GroupShape& shape : known) {
        if (kind_of(shape) == kind_of(wanted) && (!nearest || order(shape) < order(*nearest))) {
            nearest = shape;
        }
    }
    return nearest;
}

}  // namespace mastic::tuning
