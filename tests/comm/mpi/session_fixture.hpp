// The session of an MPI test program: from before the first test to after the last one. The program's main starts MPI
// and ends it; in between, only the session's progress thread calls MPI.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include <mastic/comm/mpi/session.hpp>

namespace mastic::test {

class SessionEnvironment : public testing::Environment {
  public:
    void SetUp() override { session_ = std::make_unique<comm::MpiSession>(); }
    void TearDown() override { session_.reset(); }
    comm::MpiSession& session() { return *session_; }

  private:
    std::unique_ptr<comm::MpiSession> session_;
};

inline auto* const session_environment =
    static_cast<SessionEnvironment*>(testing::AddGlobalTestEnvironment(new SessionEnvironment));

inline comm::MpiSession& session() {
    return session_environment->session();
}

}  // namespace mastic::test
