#include <mastic/config/option.hpp>

#include <cctype>

#include <mastic/config/text.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic::config {

std::string OptionBase::section() const {
    return has_toml_key() ? key_.substr(0, key_.rfind('.')) : "";
}

std::string OptionBase::name() const {
    return has_toml_key() ? key_.substr(key_.rfind('.') + 1) : key_;
}

std::string OptionBase::environment_name() const {
    if (!has_toml_key()) {
        return "";
    }
    std::string variable = "MASTIC_";
    for (const char c : key_) {
        variable +=
            c == '.' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return variable;
}

void OptionBase::set(std::span<const std::string> texts, Origin origin, const std::string& where) {
    assign(texts);
    set_origin(origin, where);
}

void OptionBase::set(const Value& value, Origin origin, const std::string& where) {
    assign(value);
    set_origin(origin, where);
}

void OptionBase::set_origin(Origin origin, const std::string& where) {
    origin_ = origin;
    origin_text_ = where;
}

void OptionBase::reject_choice(const std::string& text, const std::vector<std::string>& choices) {
    throw Error(ExitCode::usage,
                "'" + text + "' is not one of " + join(choices) + did_you_mean(nearest_word(text, choices)));
}

}  // namespace mastic::config
