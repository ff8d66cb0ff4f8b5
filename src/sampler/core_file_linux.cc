#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "sampler/build_id.h"
#include "sampler/core_file.h"
#include "sampler/mapped_files.h"

namespace wf::sampler {
namespace {

constexpr uint32_t kMostHeaders = 1 << 20;
constexpr uint64_t kMostNoteBytes = 64 << 20;
constexpr int kMostNoteSegments = 16;

// The bytes of a file at their offsets.
class FileReader final : public cpython::MemoryReader {
 public:
  explicit FileReader(int file) : file_(file) {}
  void Read(std::span<cpython::Segment> segments) override {
    for (cpython::Segment& segment : segments) {
      const ssize_t got = pread(file_, segment.into, segment.bytes, static_cast<off_t>(segment.address));
      segment.ok = got == static_cast<ssize_t>(segment.bytes);
    }
  }

 private:
  const int file_;
};

// Files of the kernel are no programs, and reading them may do something.
base::Fd OpenRegular(const std::string& path) {
  if (path.starts_with("/proc/") || path.starts_with("/sys/")) return {};
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return base::Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
}

Status Wrong(const std::string& path, const std::string& what) {
  return {Code::kInvalidArgument, fmt::format("core file {}: {}", path, what)};
}

// Why the file is none that we read; OK when it is.
Status CheckHeader(const std::string& path, const Elf64_Ehdr& header) {
  const std::string_view start(reinterpret_cast<const char*>(&header), 6);
  if (start.starts_with("\x28\xB5\x2F\xFD")) return Wrong(path, "it is compressed; unpack it first: zstd -d");
  if (start.starts_with("\x04\x22\x4D\x18")) return Wrong(path, "it is compressed; unpack it first: lz4 -d");
  if (start.starts_with("\xFD\x37zXZ")) return Wrong(path, "it is compressed; unpack it first: xz -d");
  if (start.starts_with("\x1F\x8B")) return Wrong(path, "it is compressed; unpack it first: gzip -d");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return Wrong(path, "this is no core file: it is not in ELF format");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64) {
    return Wrong(path, "it is of another architecture; wf reads those of x86-64");
  }
  if (header.e_type != ET_CORE) return Wrong(path, "this is a program or library, and no core file");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) return Wrong(path, "its headers are malformed");
  return {};
}

}  // namespace

Result<std::unique_ptr<CoreFile>> CoreFile::Open(const std::string& path, const std::string& executable) {
  struct stat info{};
  base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid() || fstat(file.get(), &info) != 0) {
    return Status(errno == ENOENT ? Code::kNotFound : Code::kIo,
                  fmt::format("core file {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode)) return Wrong(path, "this is no regular file");
  if (!executable.empty() && !OpenRegular(executable).valid()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--executable {}: there is no such file that can be read", executable));
  }
  std::unique_ptr<CoreFile> core(new CoreFile(std::move(file), static_cast<uint64_t>(info.st_size)));
  WF_RETURN_IF_ERROR(core->ReadHeaders(path));
  core->FindExecutable(executable);
  return core;
}

Status CoreFile::ReadHeaders(const std::string& path) {
  FileReader reader(file_.get());
  const auto header = reader.Get<Elf64_Ehdr>(0);
  if (!header) return Wrong(path, "this is no core file: it is too short");
  WF_RETURN_IF_ERROR(CheckHeader(path, *header));
  uint32_t count = header->e_phnum;
  if (count == PN_XNUM) {  // as many as do not fit there: the first section has the number
    const auto section = reader.Get<Elf64_Shdr>(header->e_shoff);
    count = section ? std::min(section->sh_info, kMostHeaders) : 0;
  }
  std::vector<Elf64_Phdr> headers(count);
  if (!reader.ReadOne(header->e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr))) headers.clear();
  uint64_t end = 0;
  int note_segments = 0;
  for (const Elf64_Phdr& each : headers) {
    if (each.p_filesz > UINT64_MAX - each.p_offset || each.p_memsz > UINT64_MAX - each.p_vaddr) continue;
    end = std::max(end, each.p_offset + each.p_filesz);
    if (each.p_type == PT_LOAD) {
      const uint64_t there = each.p_offset < bytes_ ? bytes_ - each.p_offset : 0;
      loads_.push_back({.begin = each.p_vaddr,
                        .bytes = each.p_memsz,
                        .offset = each.p_offset,
                        .bytes_in_file = std::min({each.p_filesz, each.p_memsz, there}),
                        .is_code = (each.p_flags & PF_X) != 0});
    }
    if (each.p_type != PT_NOTE || each.p_filesz > std::min(bytes_, kMostNoteBytes)) continue;
    if (++note_segments > kMostNoteSegments) continue;
    std::vector<std::byte> notes(each.p_filesz);
    if (!reader.ReadOne(each.p_offset, notes.data(), notes.size())) continue;
    AddNotes(notes, &notes_);
  }
  if (notes_.threads.empty()) {
    return {Code::kDataLoss,
            fmt::format("core file {}: it ends before what tells of its threads ({} of {} bytes are there); write it "
                        "again, with enough space and without a limit (ulimit -c unlimited)",
                        path, bytes_, std::max(end, bytes_))};
  }
  if (end > bytes_)
    missing_.push_back(fmt::format("the core file is cut short: {} of {} bytes are there", bytes_, end));
  std::sort(loads_.begin(), loads_.end(), [](const Load& a, const Load& b) { return a.begin < b.begin; });
  std::sort(notes_.files.begin(), notes_.files.end(),
            [](const CoreMapping& a, const CoreMapping& b) { return a.begin < b.begin; });
  for (const CoreMapping& mapping : notes_.files) {
    if (mapping.offset == 0) begins_.try_emplace(mapping.path, mapping.begin);
  }
  return {};
}

void CoreFile::FindExecutable(const std::string& instead) {
  instead_ = instead;
  const CoreMapping* const mapping = MappingAt(notes_.program_headers);
  if (mapping != nullptr) executable_ = mapping->path;
  if (mapping == nullptr && !notes_.files.empty()) executable_ = notes_.files.front().path;
}

namespace {

// The last element that begins at or before the address, when the address lies in it.
template <typename T, typename End>
const T* Containing(const std::vector<T>& sorted, uint64_t address, End end) {
  const auto after = std::upper_bound(sorted.begin(), sorted.end(), address,
                                      [](uint64_t value, const T& each) { return value < each.begin; });
  if (after == sorted.begin() || address >= end(*std::prev(after))) return nullptr;
  return &*std::prev(after);
}

}  // namespace

const CoreFile::Load* CoreFile::LoadAt(uint64_t address) const {
  return Containing(loads_, address, [](const Load& load) { return load.begin + load.bytes; });
}

const CoreMapping* CoreFile::MappingAt(uint64_t address) const {
  return Containing(notes_.files, address, [](const CoreMapping& mapping) { return mapping.end; });
}

void CoreFile::Read(std::span<cpython::Segment> segments) {
  for (cpython::Segment& segment : segments) {
    segment.ok = ReadRange(segment.address, static_cast<std::byte*>(segment.into), segment.bytes);
  }
}

bool CoreFile::ReadRange(uint64_t address, std::byte* into, size_t bytes) {
  while (bytes > 0) {
    size_t got = ReadPart(address, into, bytes);
    if (got == 0) got = ReadMapped(address, into, bytes);
    if (got == 0) return false;
    address += got;
    into += got;
    bytes -= got;
  }
  return true;
}

// From the core file itself, as much as lies there in one piece.
size_t CoreFile::ReadPart(uint64_t address, std::byte* into, size_t bytes) {
  const Load* const load = LoadAt(address);
  if (load == nullptr || address - load->begin >= load->bytes_in_file) return 0;
  const uint64_t at = address - load->begin;
  const ssize_t got = pread(file_.get(), into, std::min<uint64_t>(bytes, load->bytes_in_file - at),
                            static_cast<off_t>(load->offset + at));
  return got < 0 ? 0 : static_cast<size_t>(got);
}

// From a file that was mapped there.
size_t CoreFile::ReadMapped(uint64_t address, std::byte* into, size_t bytes) {
  const CoreMapping* const mapping = is_checking_ ? nullptr : MappingAt(address);
  if (mapping == nullptr) return 0;
  const int file = FileOf(mapping->path);
  if (file < 0) return 0;
  const ssize_t got = pread(file, into, std::min<uint64_t>(bytes, mapping->end - address),
                            static_cast<off_t>(mapping->offset + (address - mapping->begin)));
  return got < 0 ? 0 : static_cast<size_t>(got);
}

// -1 when it is not here, or is not the one that was mapped.
int CoreFile::FileOf(const std::string& path) {
  const auto [at, is_new] = files_.try_emplace(path);
  if (!is_new) return at->second.get();
  const bool is_replaced = path == executable_ && !instead_.empty();
  const std::string& where = is_replaced ? instead_ : path;
  base::Fd file = OpenRegular(where);
  if (!file.valid()) {
    missing_.push_back(fmt::format("{} is not here", where));
  } else {
    const std::string in_memory = BuildIdInMemory(path);
    FileReader reader(file.get());
    const std::string in_file = in_memory.empty() ? "" : BuildIdAt(reader, 0, /*in_file=*/true);
    if (in_memory == in_file) {
      at->second = std::move(file);
    } else {
      missing_.push_back(fmt::format("{} is another one than the process had", where));
    }
  }
  return at->second.get();
}

// Where the core file holds it: the first page of each program and library is written, as a rule.
std::string CoreFile::BuildIdInMemory(const std::string& path) {
  const auto begin = begins_.find(path);
  if (begin == begins_.end()) return "";
  // A hostile core file lays the files over each other: each would be checked by the next one, which would be opened.
  is_checking_ = true;
  std::string id = BuildIdAt(*this, begin->second, /*in_file=*/false);
  is_checking_ = false;
  return id;
}

std::vector<cpython::Module> CoreFile::Modules() const {
  std::vector<cpython::Module> modules;
  for (const CoreMapping& mapping : notes_.files) {
    if (mapping.offset == 0) modules.push_back({.base = mapping.begin, .path = mapping.path});
  }
  // Those that look like Python first, among them the executable.
  const auto rank = [&](const cpython::Module& module) {
    if (module.path == executable_) return 0;
    return module.path.substr(module.path.rfind('/') + 1).find("python") == std::string::npos ? 2 : 1;
  };
  std::stable_sort(modules.begin(), modules.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return modules;
}

std::vector<native::Mapping> CoreFile::Mappings() const {
  std::vector<native::Mapping> mappings;
  for (const CoreMapping& file : notes_.files) {
    const Load* const load = LoadAt(file.begin);
    const bool is_code = load == nullptr || load->is_code;
    mappings.push_back({file.begin, file.end, file.offset, is_code, /*device=*/"", /*inode=*/0, file.path});
  }
  for (const Load& load : loads_) {
    if (MappingAt(load.begin) != nullptr || load.bytes == 0) continue;
    const std::string path = load.begin == notes_.vdso ? "[vdso]" : "";
    mappings.push_back({load.begin, load.begin + load.bytes, /*offset=*/0, load.is_code, "", 0, path});
  }
  std::sort(mappings.begin(), mappings.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return mappings;
}

base::Fd CoreFile::OpenFile(const native::Mapping& mapping) {
  if (mapping.path == "[vdso]") return CopyOf(mapping, *this);
  const int file = FileOf(mapping.path);
  return file < 0 ? base::Fd() : base::Fd(fcntl(file, F_DUPFD_CLOEXEC, 0));
}

}  // namespace wf::sampler
