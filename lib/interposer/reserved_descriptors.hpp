// Descriptors are the program's: all communicators together open a quarter of what the process may open, at most.
#pragma once

namespace mastic::interposer {

// Thread-safe.
class ReservedDescriptors {
  public:
    // Throws Error(environment) if that is more than what is left.
    explicit ReservedDescriptors(int count);
    ~ReservedDescriptors();
    ReservedDescriptors(const ReservedDescriptors&) = delete;
    ReservedDescriptors& operator=(const ReservedDescriptors&) = delete;

  private:
    int count_;
};

}  // namespace mastic::interposer
