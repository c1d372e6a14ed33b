// A program that does not know MPI and loads a module that does, for itself alone: as Python does.
#include <cstdio>

#include <dlfcn.h>

int main(int, char** argv) {
    void* module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
        std::puts(dlerror());
        return 1;
    }
    return reinterpret_cast<int (*)()>(dlsym(module, "run_plugin"))();
}
