#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <streambuf>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace wf::base {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

Status CannotWrite(const std::filesystem::path& path, int error) {
  const Code code = error == ENOENT || error == ENOTDIR ? Code::kNotFound
                    : error == EACCES || error == EPERM ? Code::kPermissionDenied
                                                        : Code::kIo;
  const char* why = error == ENOENT ? "its folder does not exist" : std::strerror(error);
  return {code, fmt::format("cannot write {}: {}", path.string(), why)};
}

// The mode that a file made by open(2) would have. umask can only be read by setting it; /proc tells without a race.
mode_t NewFileMode() {
  unsigned long mask = 022;
  if (std::FILE* status = std::fopen("/proc/self/status", "re"); status != nullptr) {
    constexpr std::string_view kKey = "Umask:";
    char line[256];
    while (std::fgets(line, sizeof(line), status) != nullptr) {
      if (std::string_view(line).starts_with(kKey)) mask = std::strtoul(line + kKey.size(), nullptr, 8) & 0777;
    }
    std::fclose(status);
  }
  return static_cast<mode_t>(0666 & ~mask);
}

}  // namespace

// A stream buffer over a descriptor that remembers the first error.
class AtomicFile::Output final : public std::streambuf {
 public:
  Output(std::filesystem::path target, std::filesystem::path temporary, Fd fd)
      : target_(std::move(target)), temporary_(std::move(temporary)), fd_(std::move(fd)), buffer_(kBufferBytes) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }
  ~Output() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  Status Commit() {
    if (sync() == 0 && !temporary_.empty()) {
      if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
        error_ = errno;
      } else {
        temporary_.clear();
      }
    }
    return error_ == 0 ? Status() : CannotWrite(target_, error_);
  }
  uint64_t bytes() const { return bytes_ + static_cast<uint64_t>(pptr() - pbase()); }
  bool is_put_in_place() const { return !temporary_.empty(); }
  std::ostream& stream() { return stream_; }

 protected:
  int_type overflow(int_type next) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(next, traits_type::eof())) sputc(traits_type::to_char_type(next));
    return traits_type::not_eof(next);
  }

  int sync() override {
    const char* at = pbase();
    while (at < pptr() && error_ == 0) {
      const ssize_t written = ::write(fd_.get(), at, static_cast<size_t>(pptr() - at));
      if (written >= 0) {
        at += written;
        bytes_ += static_cast<uint64_t>(written);
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return error_ == 0 ? 0 : -1;
  }

 private:
  std::filesystem::path target_, temporary_;  // no temporary: written in place
  Fd fd_;
  std::vector<char> buffer_;
  uint64_t bytes_ = 0;
  int error_ = 0;
  std::ostream stream_{this};
};

AtomicFile::AtomicFile(std::unique_ptr<Output> output) : output_(std::move(output)) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

std::ostream& AtomicFile::stream() { return output_->stream(); }
Status AtomicFile::Commit() { return output_->Commit(); }
uint64_t AtomicFile::bytes() const { return output_->bytes(); }
bool AtomicFile::is_put_in_place() const { return output_->is_put_in_place(); }

Result<AtomicFile> AtomicFile::Create(const std::filesystem::path& path) {
  if (path == "-") return AtomicFile(std::make_unique<Output>(path, "", Fd(::dup(STDOUT_FILENO))));
  std::error_code ignored;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, ignored);
  const std::filesystem::path target = resolved.empty() ? path : resolved;
  struct stat found{};
  const bool exists = ::stat(target.c_str(), &found) == 0;
  if (exists && S_ISDIR(found.st_mode)) {
    return Status(Code::kInvalidArgument, fmt::format("cannot write {}: it is a folder", path.string()));
  }
  if (exists && !S_ISREG(found.st_mode)) {
    Fd fd(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.valid()) return CannotWrite(path, errno);
    return AtomicFile(std::make_unique<Output>(path, "", std::move(fd)));
  }
  // A file that may not be written must not be replaced either, though its folder would allow it.
  if (exists && ::access(target.c_str(), W_OK) != 0) return CannotWrite(path, errno);
  std::string temporary = (target.parent_path() / ".wf-XXXXXX").string();
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return CannotWrite(path, errno);
  (void)::fchmod(fd.get(), exists ? found.st_mode & 07777 : NewFileMode());
  return AtomicFile(std::make_unique<Output>(target, temporary, std::move(fd)));
}

}  // namespace wf::base
