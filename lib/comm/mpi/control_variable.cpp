#include <mastic/comm/mpi/control_variable.hpp>

#include <dlfcn.h>
#include <mpi.h>

#include <mastic/comm/mpi/detail/check.hpp>
#include <mastic/core/file.hpp>

namespace mastic::comm {

using detail::check;

namespace {

// For the rest of the process: MPICH 4.0 does not survive a second start of the interface after an end.
void start_tools_interface() {
    static const int code = [] {
        int level = 0;
        return MPI_T_init_thread(MPI_THREAD_SERIALIZED, &level);
    }();
    check(code, "MPI_T_init_thread");
}

class Handle {
  public:
    explicit Handle(int index) {
        int count = 0;
        check(MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count), "MPI_T_cvar_handle_alloc");
    }
    ~Handle() { MPI_T_cvar_handle_free(&handle_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    int read() const {
        int value = 0;
        check(MPI_T_cvar_read(handle_, &value), "MPI_T_cvar_read");
        return value;
    }
    int write(int value) const { return MPI_T_cvar_write(handle_, &value); }

  private:
    MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
};

}  // namespace

std::optional<ControlVariable> ControlVariable::find(const std::string& name) {
    start_tools_interface();
    int index = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) {
        return std::nullopt;
    }
    char text[2] = "";
    int name_length = sizeof text, text_length = 0, verbosity = 0, bind = 0, scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_T_cvar_get_info(index, text, &name_length, &verbosity, &type, nullptr, nullptr, &text_length,
                              &bind, &scope),
          "MPI_T_cvar_get_info");
    return type == MPI_INT ? std::optional(ControlVariable(name, index)) : std::nullopt;
}

int ControlVariable::read() const {
    return Handle(index_).read();
}

void ControlVariable::write(int value) const {
    const Handle handle(index_);
    if (handle.write(value) != MPI_SUCCESS || handle.read() != value) {
        throw Error(ExitCode::environment,
                    "the MPI library does not let " + name_ + " be set to " + std::to_string(value));
    }
}

std::string builtin_selection_table() {
    Dl_info library{};
    if (dladdr(reinterpret_cast<const void*>(&MPI_Init), &library) == 0 || library.dli_fname == nullptr) {
        return "";
    }
    const std::string image = read_text_file(library.dli_fname);
    // Texts end with a zero byte. There are tables for other layers, too: this one names the generic algorithms.
    const std::size_t inside = image.find("\"algorithm=MPIR_Allreduce_intra_recursive_doubling\"");
    if (inside == std::string::npos) {
        return "";
    }
    const std::size_t before = image.rfind('\0', inside);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    return image.substr(begin, image.find('\0', inside) - begin);
}

}  // namespace mastic::comm
