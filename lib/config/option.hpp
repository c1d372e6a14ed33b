// One option: a single declaration gives the flag, the TOML key, the environment variable, the help text, the
// default and the check.
//
//   schema.option("train.epochs", options.epochs, "passes over the training data").at_least(1);
//
// is the flag --train.epochs, the key `epochs` in [train] and the variable MASTIC_TRAIN_EPOCHS. The target's
// value at the moment of declaration is the default. A key without a point ("fork") is a flag only.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <mastic/config/value.hpp>
#include <mastic/core/error.hpp>

namespace mastic::config {

// What a changed value means when a run is resumed.
enum class OnResume {
    free,    // allowed; the change is printed
    fork,    // needs --fork
    refuse,  // never allowed
    ignore,  // not a matter of the run: not even told
};

// Who gave the value, in ascending precedence.
enum class Origin { default_value, file, environment, flag };

// The part of an option that does not depend on its type. Setters throw Error(usage) with a message that
// names neither the option nor the place: the caller knows both.
class OptionBase {
  public:
    OptionBase(std::string key, std::string help) : key_(std::move(key)), help_(std::move(help)) {}
    virtual ~OptionBase() = default;
    OptionBase(const OptionBase&) = delete;
    OptionBase& operator=(const OptionBase&) = delete;

    const std::string& key() const { return key_; }
    const std::string& help() const { return help_; }
    std::string section() const;  // "train" of "train.epochs"; "" for a flag without a TOML key
    std::string name() const;     // "epochs"
    std::string flag() const { return "--" + key_; }
    std::string environment_name() const;  // "MASTIC_TRAIN_EPOCHS"; "" for a flag without a TOML key
    bool has_toml_key() const { return key_.find('.') != std::string::npos; }
    bool is_advanced() const { return advanced_; }
    OnResume resume_rule() const { return on_resume_; }
    Origin origin() const { return origin_; }
    // "run.toml:3:9", "MASTIC_TRAIN_EPOCHS", "--train.epochs" or "default".
    const std::string& origin_text() const { return origin_text_; }

    virtual bool is_switch() const = 0;  // a bool: the flag alone means true
    virtual bool is_list() const = 0;
    virtual std::string value_name() const = 0;  // "INT", "FILE"; what help shows behind the flag
    virtual std::vector<std::string> choice_texts() const = 0;
    virtual std::string limits() const = 0;  // "one of sgd, adamw", "1 to 10", "at least 1" or ""
    virtual std::string text() const = 0;    // the present value, as a flag would give it
    virtual std::string toml() const = 0;    // the present value, as a file would
    virtual std::string default_text() const = 0;

    virtual void reset() = 0;  // to the default
    // A scalar takes the last text; a list takes all, each split at commas.
    void set(std::span<const std::string> texts, Origin origin, const std::string& where);
    void set(const Value& value, Origin origin, const std::string& where);
    virtual bool equals(const Value& stored) const = 0;  // throws if `stored` is not valid for this option
    virtual void verify_default() const = 0;             // throws std::logic_error

  protected:
    virtual void assign(std::span<const std::string> texts) = 0;
    virtual void assign(const Value& value) = 0;
    void set_origin(Origin origin, const std::string& where);
    // "one of ..." with the nearest word; throws.
    [[noreturn]] static void reject_choice(const std::string& text, const std::vector<std::string>& choices);

    std::string metavar_;
    bool advanced_ = false;
    OnResume on_resume_ = OnResume::free;

  private:
    std::string key_;
    std::string help_;
    Origin origin_ = Origin::default_value;
    std::string origin_text_ = "default";
};

template <OptionType T>
class Option final : public OptionBase {
  public:
    using Element = typename ElementOf<T>::type;  // limits and choices are about each element of a list
    using Check = std::function<std::string(const T&)>;

    Option(std::string key, T& target, std::string help)
        : OptionBase(std::move(key), std::move(help)), target_(target), default_(target) {}

    // The builder.
    Option& choices(std::vector<Element> allowed) { return choices_ = std::move(allowed), *this; }
    Option& range(Element low, Element high) { return low_ = low, high_ = high, *this; }
    Option& at_least(Element low) { return low_ = low, *this; }
    Option& above(Element low) { return low_ = low, low_excluded_ = true, *this; }
    // Returns what is wrong with the value, "" if nothing. Not asked about the default.
    Option& check(Check function) { return check_ = std::move(function), *this; }
    Option& on_resume(OnResume rule) { return on_resume_ = rule, *this; }
    // "FILE" and "DIR" also choose what the completion offers.
    Option& metavar(std::string name) { return metavar_ = std::move(name), *this; }
    // Shown by --help-all only.
    Option& advanced() { return advanced_ = true, *this; }

    bool is_switch() const override { return std::same_as<T, bool>; }
    bool is_list() const override { return is_vector<T>; }
    std::string value_name() const override {
        const std::string name = metavar_.empty() ? Codec<Element>::type_name : metavar_;
        return is_vector<T> ? name + ",..." : name;
    }
    std::vector<std::string> choice_texts() const override {
        std::vector<std::string> texts;
        for (const Element& choice : choices_) {
            texts.push_back(Codec<Element>::to_text(choice));
        }
        return texts;
    }
    std::string limits() const override;
    std::string text() const override { return write_text<T>(target_); }
    std::string toml() const override { return write_toml<T>(target_); }
    std::string default_text() const override { return write_text<T>(default_); }
    void reset() override {
        target_ = default_;
        set_origin(Origin::default_value, "default");
    }
    bool equals(const Value& stored) const override { return read_value<T>(stored) == target_; }
    void verify_default() const override {
        try {
            verify_limits(default_);
        } catch (const Error& error) {
            throw std::logic_error("default of option " + key() + ": " + error.what());
        }
    }

  private:
    void assign(std::span<const std::string> texts) override;
    void assign(const Value& value) override { accept(read_value<T>(value)); }
    void accept(T value) {
        verify_limits(value);
        if (const std::string problem = check_ ? check_(value) : ""; !problem.empty()) {
            throw Error(ExitCode::usage, problem);
        }
        target_ = std::move(value);
    }
    void verify_limits(const T& value) const;
    void verify_element(const Element& element) const;

    T& target_;
    T default_;
    std::vector<Element> choices_;
    std::optional<Element> low_, high_;
    bool low_excluded_ = false;
    Check check_;
};

template <OptionType T>
std::string Option<T>::limits() const {
    const auto write = [](const std::optional<Element>& limit) { return Codec<Element>::to_text(*limit); };
    std::string text = choices_.empty() ? "" : "one of " + join(choice_texts());
    if (low_ && high_) {
        text = write(low_) + " to " + write(high_);
    } else if (low_) {
        text = (low_excluded_ ? "above " : "at least ") + write(low_);
    }
    return text;
}

template <OptionType T>
void Option<T>::assign(std::span<const std::string> texts) {
    if constexpr (is_vector<T>) {
        T all;
        for (const std::string& text : texts) {
            const T list = read_text<T>(text);
            all.insert(all.end(), list.begin(), list.end());
        }
        accept(std::move(all));
    } else {
        accept(read_text<T>(texts.back()));
    }
}

template <OptionType T>
void Option<T>::verify_limits(const T& value) const {
    if constexpr (is_vector<T>) {
        std::ranges::for_each(value, [this](const Element& element) { verify_element(element); });
    } else if constexpr (is_optional<T>) {
        if (value) {
            verify_element(*value);
        }
    } else {
        verify_element(value);
    }
}

template <OptionType T>
void Option<T>::verify_element(const Element& element) const {
    const std::string text = Codec<Element>::to_text(element);
    if (!choices_.empty() && std::ranges::find(choices_, element) == choices_.end()) {
        reject_choice(text, choice_texts());
    }
    if ((low_ && (low_excluded_ ? element <= *low_ : element < *low_)) || (high_ && element > *high_)) {
        throw Error(ExitCode::usage, "'" + text + "' is out of range: it must be " + limits());
    }
}

}  // namespace mastic::config
