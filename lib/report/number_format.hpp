// Numbers for people, the same in every locale. A value that is not finite is written "nan", "inf" or "-inf".
#pragma once

#include <cstdint>
#include <string>

namespace mastic::report {

// 1234567 -> "1,234,567".
std::string grouped(std::int64_t value);

// A fixed number of decimals: fixed(2.5, 2) -> "2.50".
std::string fixed(double value, int decimals);

// At most so many significant digits, no trailing zeros: 0.031234 -> "0.03123", 123456.7 -> "123,457", 1e-05
// -> "1e-5".
std::string significant(double value, int digits = 4);

// Three significant digits and a decimal multiple: 12345 -> "12.3k", 2.5e6 -> "2.5M"; below 1000 as it is.
std::string scaled(double value);

// A share of one: 0.87345 -> "87.3 %" with one decimal.
std::string percent(double share, int decimals = 1);

// A quality metric under its name: what is called accuracy (or ends in _accuracy) is a share, all else a
// number.
bool is_share(const std::string& metric_name);
std::string metric_value(const std::string& metric_name, double value);

}  // namespace mastic::report
