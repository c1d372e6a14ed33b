#include <mastic/elastic/message.hpp>

#include <array>
#include <cstring>

#include <mastic/core/error.hpp>
#include <mastic/core/named.hpp>
#include <mastic/elastic/generation_json.hpp>

namespace mastic::elastic {

namespace {

struct KindName {
    MessageKind kind;
    const char* name;
};
constexpr KindName kinds[] = {
    {MessageKind::beat, "beat"},       {MessageKind::hello, "hello"},
    {MessageKind::join, "join"},       {MessageKind::admitted, "admitted"},
    {MessageKind::refused, "refused"}, {MessageKind::unneeded, "unneeded"}, {MessageKind::busy, "busy"},
    {MessageKind::ready, "ready"},     {MessageKind::leave, "leave"},
    {MessageKind::broken, "broken"},   {MessageKind::abandon, "abandon"},
    {MessageKind::table, "table"},     {MessageKind::excluded, "excluded"},
    {MessageKind::wish, "wish"},       {MessageKind::wished, "wished"},
};

}  // namespace

std::string frame(const std::string& content) {
    const auto length = static_cast<std::uint32_t>(content.size());
    std::string framed(4, '\0');
    for (std::size_t i = 0; i < 4; ++i) {
        framed[i] = static_cast<char>(length >> (8 * i) & 0xff);
    }
    return framed + content;
}

std::string encode(const Message& message) {
    nlohmann::json json = {{"kind", kinds[static_cast<std::size_t>(message.kind)].name},
                           {"generation", message.generation},
                           {"step", message.step},
                           {"data_port", message.data_port},
                           {"text", message.text},
                           {"names", message.names}};
    if (message.member) {
        json["member"] = *message.member;
    }
    if (message.table) {
        json["table"] = *message.table;
    }
    return frame(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Message decode_message(const std::string& content) {
    try {
        const nlohmann::json json = nlohmann::json::parse(content);
        Message message;
        const auto* kind = find_named(kinds, json.at("kind").get<std::string>());
        if (kind == nullptr) {
            throw Error(ExitCode::collective,
                        "a member says " + json.at("kind").dump() + ", which is unknown here",
                        "all members must run the same version");
        }
        message.kind = kind->kind;
        json.at("generation").get_to(message.generation);
        json.at("step").get_to(message.step);
        json.at("data_port").get_to(message.data_port);
        json.at("text").get_to(message.text);
        json.at("names").get_to(message.names);
        if (json.contains("member")) {
            message.member = json["member"].get<MemberRecord>();
        }
        if (json.contains("table")) {
            message.table = json["table"].get<Generation>();
        }
        return message;
    } catch (const nlohmann::json::exception& error) {
        throw Error(ExitCode::collective,
                    std::string("a member does not speak the protocol: ") + error.what(),
                    "all members must run the same version");
    }
}

void FrameReader::feed(std::span<const std::byte> bytes) {
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<std::string> FrameReader::next() {
    if (buffer_.size() < 4) {
        return std::nullopt;
    }
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        length |= std::size_t{static_cast<unsigned char>(buffer_[i])} << (8 * i);
    }
    if (length > most_frame_bytes) {
        throw Error(ExitCode::collective, "a member sends a message of " + std::to_string(length) + " bytes");
    }
    if (buffer_.size() < 4 + length) {
        return std::nullopt;
    }
    std::string content = buffer_.substr(4, length);
    buffer_.erase(0, 4 + length);
    return content;
}

}  // namespace mastic::elastic
