#include <mastic/schedule/log_file.hpp>

#include <mastic/core/error.hpp>
#include <mastic/data/content_kind.hpp>

namespace mastic::schedule {

LogFile::LogFile(const std::filesystem::path& path) : content_(data::read_content(path)) {
    const data::ContentKind kind = data::kind_of(content_.bytes);
    if (kind != data::ContentKind::text && kind != data::ContentKind::empty) {
        throw Error(ExitCode::data,
                    path.string() + ": no log: the content " + data::describe_content(content_.bytes),
                    "a log is text: a CSV of idle nodes, SWF, or what sacct prints");
    }
}

std::string_view LogFile::text() const {
    return {reinterpret_cast<const char*>(content_.bytes.data()), content_.bytes.size()};
}

}  // namespace mastic::schedule
