// The run directory: generations, the secret, the proof of life.
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/elastic/control_socket.hpp>
#include <mastic/elastic/generation_store.hpp>
#include <mastic/elastic/message.hpp>
#include <mastic/elastic/secret.hpp>

#include "support/temp_dir.hpp"

namespace mastic::elastic {
namespace {

using test::TempDir;
using testing::HasSubstr;

Generation generation_of(GenerationId id, const std::string& member) {
    return {.id = id,
            .previous = id - 1,
            .step = 17,
            .reason = "\"quotes\"",
            .limit = 3,
            .network = "10.0.0.0/24",
            .members = {{.id = member,
                         .host = "node1",
                         .addresses = "node1\nx\n",
                         .address = "10.0.0.1",
                         .service_port = 1,
                         .data_port = 2,
                         .joined = 3}}};
}

TEST(GenerationFiles, WhatIsCommittedIsReadBack) {
    const TempDir place;
    DirectoryStore store(place.path() / "elastic");
    EXPECT_FALSE(store.newest());
    EXPECT_TRUE(store.commit(generation_of(1, "a")));
    EXPECT_TRUE(store.commit(generation_of(2, "b")));
    EXPECT_EQ(store.newest(), generation_of(2, "b"));
    EXPECT_EQ(store.read(1), generation_of(1, "a"));
    EXPECT_FALSE(store.read(3));
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(place.path() / "elastic").permissions(), perms::owner_all);
    EXPECT_EQ(std::filesystem::status(place.path() / "elastic/generations/000002.json").permissions(),
              perms::owner_read | perms::owner_write);
}

TEST(GenerationFiles, OfManyThatCommitOneSucceeds) {
    const TempDir place;
    const std::filesystem::path directory = place.path() / "elastic";
    for (GenerationId id = 1; id <= 20; ++id) {
        std::vector<pid_t> children;
        for (int i = 0; i < 4; ++i) {
            children.push_back(::fork());
            if (children.back() == 0) {
                DirectoryStore store(directory);
                ::_exit(store.commit(generation_of(id, "m" + std::to_string(i))) ? 1 : 0);
            }
        }
        int winners = 0;
        for (const pid_t child : children) {
            int status = 0;
            ::waitpid(child, &status, 0);
            winners += WEXITSTATUS(status);
        }
        EXPECT_EQ(winners, 1);
        EXPECT_EQ(DirectoryStore(directory).newest()->id, id);
    }
    // No drafts are left.
    const std::filesystem::directory_iterator files(directory / "generations");
    EXPECT_EQ(std::distance(begin(files), end(files)), 20);
}

TEST(GenerationFiles, ADamagedOneIsNamed) {
    const TempDir place;
    DirectoryStore store(place.path() / "elastic");
    std::ofstream(place.path() / "elastic/generations/000007.json") << "{\"id\": 7";
    try {
        store.newest();
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::io);
        EXPECT_THAT(error.what(), HasSubstr("000007.json"));
    }
}

TEST(ProofOfLife, EndsWithTheProcess) {
    const TempDir place;
    DirectoryStore mine(place.path() / "elastic");
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t other = ::fork();
    if (other == 0) {
        DirectoryStore store(place.path() / "elastic");
        store.declare_alive();
        [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
        ::alarm(30);
        ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_FALSE(mine.nobody_is_alive());
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    EXPECT_TRUE(mine.nobody_is_alive());
    mine.declare_alive();
    EXPECT_FALSE(DirectoryStore(place.path() / "elastic").nobody_is_alive());
}

// By a process that ends without a word.
void leave_control_socket(const std::filesystem::path& path) {
    const pid_t child = ::fork();
    if (child == 0) {
        comm::EventLoop loop;
        const ControlSocket socket(loop, path, [](const std::string&) {});
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

class ControlSockets : public testing::TestWithParam<int> {};

TEST_P(ControlSockets, OfTheDeadAreRemovedAndNoOthers) {
    const TempDir place;
    const auto directory = place.path() / std::string(static_cast<std::size_t>(GetParam()), 'd');
    std::filesystem::create_directory(directory);
    const auto entries = [&] {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(directory)) {
            names.push_back(entry.path().stem().string());
        }
        return names;
    };
    leave_control_socket(directory / "control-node1-aa");
    leave_control_socket(directory / "control-node1-2-bb");  // of another host, where it may be alive
    const auto left = text_of(directory / "control-node1-aa.path");
    comm::EventLoop loop;
    const ControlSocket alive(loop, directory / "control-node1-cc", [](const std::string&) {});
    EXPECT_THAT(entries(), testing::UnorderedElementsAre("control-node1-2-bb", "control-node1-cc"));
    const ControlSocket another(loop, directory / "control-node1-dd", [](const std::string&) {});
    EXPECT_THAT(entries(), testing::UnorderedElementsAre("control-node1-2-bb", "control-node1-cc", "control-node1-dd"));
    EXPECT_EQ(left.empty(), GetParam() < 100) << "a long path is somewhere else";
    EXPECT_TRUE(left.empty() || !std::filesystem::exists(std::filesystem::path(left).parent_path()));
    const std::filesystem::path of_the_other = text_of(directory / "control-node1-2-bb.path");
    if (!of_the_other.empty()) {
        std::filesystem::remove_all(of_the_other.parent_path());
    }
}

INSTANTIATE_TEST_SUITE_P(Paths, ControlSockets, testing::Values(8, 120), [](const auto& length) {
    return "OfDirectoriesOf" + std::to_string(length.param) + "Letters";
});

TEST(Secret, IsMadeOnceAndRefusedIfOthersCanReadIt) {
    const TempDir place;
    const Secret secret = create_or_read_secret(place.path());
    EXPECT_EQ(create_or_read_secret(place.path()), secret);
    EXPECT_NE(secret, Secret{});
    std::filesystem::permissions(place.path() / "secret", std::filesystem::perms(0640));
    EXPECT_THROW(create_or_read_secret(place.path()), Error);
}

TEST(Secret, PurposesGiveDifferentTokens) {
    const Secret secret{};
    EXPECT_NE(derive_token(secret, "data 1"), derive_token(secret, "data 2"));
    EXPECT_EQ(derive_token(secret, "data 1"), derive_token(secret, "data 1"));
    // Python: hmac.new(bytes(32), b"a\\0b", "sha256").hexdigest() begins with 5f4c8963.
    const Mac mac = authenticate(secret, "a", std::as_bytes(std::span("b", 1)));
    EXPECT_EQ(mac[0], std::byte(0x5f));
    EXPECT_EQ(mac[1], std::byte(0x4c));
    EXPECT_EQ(mac[31], std::byte(0x85));
}

TEST(Frames, ComeOutWholeHoweverTheyArrive) {
    Message message{.kind = MessageKind::broken,
                    .generation = 5,
                    .step = 7,
                    .data_port = 9,
                    .text = "\xff bytes",
                    .names = {"a", "b"}};
    message.table = generation_of(4, "x");
    message.member = message.table->members[0];
    const std::string bytes = encode(message) + encode({.kind = MessageKind::beat});
    FrameReader reader;
    std::vector<std::string> frames;
    for (const char byte : bytes) {
        reader.feed(std::as_bytes(std::span(&byte, 1)));
        while (auto content = reader.next()) {
            frames.push_back(*content);
        }
    }
    ASSERT_EQ(frames.size(), 2u);
    const Message back = decode_message(frames[0]);
    EXPECT_EQ(back.kind, MessageKind::broken);
    EXPECT_EQ(back.step, 7);
    EXPECT_EQ(back.names, message.names);
    EXPECT_EQ(back.table, message.table);
    EXPECT_EQ(decode_message(frames[1]).kind, MessageKind::beat);
}

TEST(Frames, NonsenseIsAnError) {
    FrameReader reader;
    reader.feed(std::as_bytes(std::span("\xff\xff\xff\x7f", 4)));
    EXPECT_THROW(reader.next(), Error);
    EXPECT_THROW(decode_message("no json"), Error);
    EXPECT_THROW(decode_message("{\"kind\": \"gossip\"}"), Error);
}

}  // namespace
}  // namespace mastic::elastic
