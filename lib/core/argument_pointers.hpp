// Words as the exec functions want them: pointers, and a null pointer at the end.
#pragma once

#include <string>
#include <vector>

namespace mastic {

// They point into `words`, which must outlive them; exec changes nothing there.
inline std::vector<char*> argument_pointers(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const std::string& word : words) {
        pointers.push_back(const_cast<char*>(word.c_str()));
    }
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace mastic
