// A file descriptor that is closed when its owner goes.
#pragma once

namespace mastic {

class Descriptor {
  public:
    explicit Descriptor(int value = -1) : value_(value) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;

    bool valid() const { return value_ >= 0; }
    int get() const { return value_; }
    int release();  // the caller closes it
    // Closes it, if it is open. Returns 0, or the errno of close(2): with NFS a failed write may only show
    // here.
    int close();

  private:
    int value_;
};

}  // namespace mastic
