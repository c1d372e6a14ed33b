// An error that every rank of a group throws together, so one message is enough and all can end in good order.
#pragma once

#include <mastic/core/error.hpp>

namespace mastic {

class AgreedError : public Error {
  public:
    using Error::Error;
    explicit AgreedError(const Error& error) : Error(error) {}
};

}  // namespace mastic
