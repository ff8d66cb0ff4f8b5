#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

#include "context/layout.h"
#include "context/page_reader.h"

namespace wf::context {
namespace {

Status Refused(int32_t pid, int error) {
  const Code code = error == EPERM || error == EACCES                      ? Code::kPermissionDenied
                    : error == ESRCH || error == ENOENT || error == ENOENT ? Code::kNotFound
                                                                           : Code::kIo;
  return {code, fmt::format("cannot read the memory of process {}: {}", pid, std::strerror(error))};
}

// Bytes copied, or -1 with errno.
ssize_t Copy(int32_t pid, uint64_t address, std::span<std::byte> out) {
  const iovec local{out.data(), out.size()};
  // An address of the other process: a number here, never followed.
  const iovec remote{reinterpret_cast<void*>(address), out.size()};  // NOLINT(performance-no-int-to-ptr)
  return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

}  // namespace

Result<PageAddress> FindPageOf(int32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/maps", pid));
  if (!file) return Refused(pid, errno);
  const std::string maps{std::istreambuf_iterator<char>(file), {}};
  // An unreadable maps opens well and reads as nothing; every process has some mapping.
  if (maps.empty()) return Refused(pid, EPERM);
  const Result<PageAddress> found = FindPage(maps);
  return found.ok() ? found : found.status().WithContext(fmt::format("process {}", pid));
}

uint64_t MappedPages(int32_t pid, base::Fd* file) {
  if (!file->valid()) *file = base::Fd(open(fmt::format("/proc/{}/statm", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 32> text{};
  const ssize_t got = pread(file->get(), text.data(), text.size(), 0);
  uint64_t pages = 0;
  if (got > 0) std::from_chars(text.data(), text.data() + got, pages);
  return pages;
}

Result<Snapshot> ReadPage(int32_t pid, const PageAddress& at, std::vector<std::byte>* scratch) {
  if (scratch->size() < sizeof(PageHeader)) scratch->resize(sizeof(PageHeader));
  // The slots that were in use the last time, most of the time all: then one copy is enough.
  for (int copies = 0; copies < 2; ++copies) {
    const ssize_t copied = Copy(pid, at.address, *scratch);
    if (copied < static_cast<ssize_t>(sizeof(PageHeader))) return Refused(pid, copied < 0 ? errno : EIO);
    uint32_t used = 0;
    std::memcpy(&used, scratch->data() + offsetof(PageHeader, used_slots), sizeof(used));
    const uint64_t wanted = sizeof(PageHeader) + uint64_t{std::min(used, kSlotCount)} * sizeof(Slot);
    const uint64_t bytes = std::min({wanted, at.bytes, uint64_t{kPageBytes}});
    if (bytes <= static_cast<uint64_t>(copied)) return DecodePage({scratch->data(), static_cast<size_t>(bytes)});
    scratch->resize(bytes);
  }
  return DecodePage(*scratch);
}

Result<std::string> ReadName(int32_t pid, const PageAddress& at, uint32_t name) {
  const uint64_t offset = kNamesOffset + (uint64_t{name} - 1) * sizeof(NameEntry);
  if (name == 0 || name > kNameCount || offset + sizeof(NameEntry) > at.bytes) {
    return Status(Code::kNotFound, fmt::format("the context page of process {} has no name {}", pid, name));
  }
  std::array<std::byte, sizeof(NameEntry)> entry{};
  const ssize_t copied = Copy(pid, at.address + offset, entry);
  if (copied != static_cast<ssize_t>(entry.size())) return Refused(pid, copied < 0 ? errno : EIO);
  uint32_t bytes = 0;
  std::memcpy(&bytes, entry.data(), sizeof(bytes));
  if (bytes == 0 || bytes > sizeof(NameEntry::text)) {
    return Status(Code::kNotFound, fmt::format("the context page of process {} has no name {}", pid, name));
  }
  return std::string(reinterpret_cast<const char*>(entry.data()) + offsetof(NameEntry, text), bytes);
}

}  // namespace wf::context
