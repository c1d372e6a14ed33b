#include <mastic/core/program_edge.hpp>

#include <iostream>
#include <new>

#include <gtest/gtest.h>

namespace mastic {
namespace {

struct End {
    int code;
    std::string said;
};

End end_of(const ProgramEdge& edge, const std::function<int()>& work) {
    testing::internal::CaptureStderr();
    const int code = run_to_the_edge(edge, [&](ProgramEdge&) { return work(); });
    return {code, testing::internal::GetCapturedStderr()};
}

TEST(ProgramEdge, GivesTheCodeOfTheWork) {
    EXPECT_EQ(end_of({"program"}, [] { return 75; }).code, 75);
}

TEST(ProgramEdge, TellsAnErrorWithItsHint) {
    const End end =
        end_of({"program"}, []() -> int { throw Error(ExitCode::data, "no such file", "look again"); });
    EXPECT_EQ(end.code, 3);
    EXPECT_EQ(end.said, "program: no such file\n  hint: look again\n");
}

TEST(ProgramEdge, ToldOnceByAllRanksTogether) {
    const End end = end_of({"program", 1, 2}, []() -> int { throw Error(ExitCode::data, "no such file"); });
    EXPECT_EQ(end.code, 3);
    EXPECT_EQ(end.said, "");
}

TEST(ProgramEdge, WhatIsNobodysMistakeIsToldByEachRank) {
    const End memory = end_of({"program", 1, 2}, []() -> int { throw std::bad_alloc(); });
    EXPECT_EQ(memory.code, 9);
    EXPECT_EQ(memory.said, "program: rank 1: out of memory\n");
    const End other = end_of({"program"}, []() -> int { throw std::runtime_error("strange"); });
    EXPECT_EQ(other.code, 4);
    EXPECT_EQ(other.said, "program: strange\n");
}

TEST(ProgramEdge, TheWorkMaySayWhoTellsErrors) {
    std::string told;
    const int code = run_to_the_edge({"program"}, [&](ProgramEdge& edge) -> int {
        edge.tell = [&](const Error& error) { told = error.what(); };
        throw Error(ExitCode::io, "disk full");
    });
    EXPECT_EQ(code, 5);
    EXPECT_EQ(told, "disk full");
}

TEST(ProgramEdge, OutputThatCannotBeWrittenIsAnError) {
    const End end = end_of({"program"}, [] {
        std::cout.setstate(std::ios::badbit);
        return 0;
    });
    std::cout.clear();
    EXPECT_EQ(end.code, 5);
}

}  // namespace
}  // namespace mastic
