#include <elf.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "sampler/core_notes.h"
#include "sampler/registers.h"

namespace wf::sampler {
namespace {

constexpr size_t kMostThreads = 1 << 16;
constexpr size_t kMostFiles = 1 << 16;

// Takes values from the front of the bytes.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  std::optional<T> Take() {
    const auto taken = TakeBytes(sizeof(T));
    if (taken.size() != sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, taken.data(), sizeof(value));
    return value;
  }
  // Empty when there are not as many.
  std::span<const std::byte> TakeBytes(size_t count) {
    if (count > bytes_.size()) {
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  // Up to the next zero byte, which is passed over.
  std::string TakeText() {
    const auto end = std::find(bytes_.begin(), bytes_.end(), std::byte{0});
    const auto count = static_cast<size_t>(end - bytes_.begin());
    std::string text(reinterpret_cast<const char*>(bytes_.data()), count);
    bytes_ = bytes_.subspan(std::min(count + 1, bytes_.size()));
    return text;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

template <size_t kBytes>
std::string TextIn(const char (&field)[kBytes]) {
  return std::string(field, strnlen(field, kBytes));
}

void AddThread(std::span<const std::byte> bytes, CoreNotes* notes) {
  const auto status = Cursor(bytes).Take<elf_prstatus>();
  if (!status || notes->threads.size() >= kMostThreads) return;
  user_regs_struct registers{};
  static_assert(sizeof(registers) == sizeof(status->pr_reg));
  std::memcpy(&registers, &status->pr_reg, sizeof(registers));
  if (notes->threads.empty()) notes->signal = status->pr_cursig;
  notes->threads.push_back({status->pr_pid, RegistersOf(registers)});
}

void AddProcess(std::span<const std::byte> bytes, CoreNotes* notes) {
  const auto info = Cursor(bytes).Take<elf_prpsinfo>();
  if (!info) return;
  notes->pid = info->pr_pid;
  notes->name = TextIn(info->pr_fname);
  notes->command_line = TextIn(info->pr_psargs);
  while (notes->command_line.ends_with(' ')) notes->command_line.pop_back();
}

// count, page size, then begin, end and offset in pages of each, then their names.
void AddFiles(std::span<const std::byte> bytes, CoreNotes* notes) {
  Cursor cursor(bytes);
  const auto count = cursor.Take<uint64_t>();
  const auto page_bytes = cursor.Take<uint64_t>();
  if (!count || !page_bytes || *page_bytes == 0 || *count > kMostFiles) return;
  std::vector<CoreMapping> files;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto begin = cursor.Take<uint64_t>();
    const auto end = cursor.Take<uint64_t>();
    const auto offset = cursor.Take<uint64_t>();
    if (!begin || !end || !offset) return;
    if (*begin >= *end || *offset > UINT64_MAX / *page_bytes) return;
    files.push_back({*begin, *end, *offset * *page_bytes, ""});
  }
  for (CoreMapping& file : files) file.path = cursor.TakeText();
  notes->files.insert(notes->files.end(), files.begin(), files.end());
}

void AddVector(std::span<const std::byte> bytes, CoreNotes* notes) {
  Cursor cursor(bytes);
  while (const auto entry = cursor.Take<Elf64_auxv_t>()) {
    if (entry->a_type == AT_NULL) return;
    if (entry->a_type == AT_PHDR) notes->program_headers = entry->a_un.a_val;
    if (entry->a_type == AT_SYSINFO_EHDR) notes->vdso = entry->a_un.a_val;
  }
}

}  // namespace

void AddNotes(std::span<const std::byte> segment, CoreNotes* notes) {
  const auto padded = [](uint32_t bytes) { return (size_t{bytes} + 3) / 4 * 4; };
  Cursor cursor(segment);
  while (const auto header = cursor.Take<Elf64_Nhdr>()) {
    const auto owner = cursor.TakeBytes(padded(header->n_namesz));
    auto content = cursor.TakeBytes(std::min<size_t>(padded(header->n_descsz), header->n_descsz));
    (void)cursor.TakeBytes(padded(header->n_descsz) - header->n_descsz);
    if (owner.size() < 5 || std::memcmp(owner.data(), "CORE", 5) != 0) continue;
    switch (header->n_type) {
      case NT_PRSTATUS: AddThread(content, notes); break;
      case NT_PRPSINFO: AddProcess(content, notes); break;
      case NT_FILE: AddFiles(content, notes); break;
      case NT_AUXV: AddVector(content, notes); break;
      default: break;
    }
  }
}

}  // namespace wf::sampler
