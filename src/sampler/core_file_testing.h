// A core file of a process with two threads and a program of two pages, and that program; made by hand, for tests.
#ifndef WF_SAMPLER_CORE_FILE_TESTING_H_
#define WF_SAMPLER_CORE_FILE_TESTING_H_

#include <elf.h>
#include <sys/procfs.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace wf::sampler {

inline constexpr uint64_t kText = 0x400000;  // its first page is in the core file, its second only in the mapped file
inline constexpr uint64_t kHeap = 0x800000;
inline constexpr uint64_t kPage = 4096;

template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline std::string Note(const char* owner, uint32_t type, std::string content) {
  const Elf64_Nhdr header = {.n_namesz = static_cast<Elf64_Word>(std::strlen(owner) + 1),
                             .n_descsz = static_cast<Elf64_Word>(content.size()),
                             .n_type = type};
  std::string name(owner);
  name.resize((header.n_namesz + 3) / 4 * 4);
  content.resize((content.size() + 3) / 4 * 4);
  return BytesOf(header) + name + content;
}

inline std::string ThreadNote(int32_t tid, int16_t signal, uint64_t pc) {
  elf_prstatus status{};
  status.pr_pid = tid;
  status.pr_cursig = signal;
  status.pr_reg[16] = pc;  // rip in user_regs_struct
  return Note("CORE", NT_PRSTATUS, BytesOf(status));
}

// All of them are mapped at the same place.
inline std::string FilesNote(const std::vector<std::string>& paths) {
  std::string content = BytesOf(uint64_t{paths.size()}) + BytesOf(kPage);
  for (size_t i = 0; i < paths.size(); ++i) {
    content += BytesOf(kText) + BytesOf(kText + 2 * kPage) + BytesOf(uint64_t{0});
  }
  for (const std::string& path : paths) content += path + '\0';
  return Note("CORE", NT_FILE, content);
}

inline std::string AllNotes(const std::vector<std::string>& paths) {
  elf_prpsinfo process{};
  process.pr_pid = 41;
  std::strcpy(process.pr_fname, "python3");
  std::strcpy(process.pr_psargs, "python3 job.py ");
  const std::string vector = BytesOf(Elf64_auxv_t{AT_PHDR, {kText + 64}}) + BytesOf(Elf64_auxv_t{AT_NULL, {0}});
  return ThreadNote(42, 11, 0x1234) + Note("CORE", NT_PRPSINFO, BytesOf(process)) + Note("CORE", NT_AUXV, vector) +
         FilesNote(paths) + Note("LINUX", NT_PRSTATUS, "not ours") + ThreadNote(41, 0, 0x5678);
}

// Program headers follow it at once.
inline Elf64_Ehdr ElfHeader(uint16_t program_headers) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = program_headers;
  return header;
}

// A program of two pages, with a build id.
inline std::string Program(const std::string& build_id) {
  const std::string note = Note("GNU", NT_GNU_BUILD_ID, build_id);
  const Elf64_Ehdr header = ElfHeader(2);
  const uint64_t at = sizeof(header) + 2 * sizeof(Elf64_Phdr);
  const Elf64_Phdr load = {PT_LOAD, PF_R | PF_X, 0, kText, kText, 2 * kPage, 2 * kPage, kPage};
  const Elf64_Phdr notes = {PT_NOTE, PF_R, at, kText + at, kText + at, note.size(), note.size(), 4};
  std::string bytes = BytesOf(header) + BytesOf(load) + BytesOf(notes) + note;
  bytes.resize(kPage, '1');
  return bytes + std::string(kPage, '2');
}

// A core file: notes, the first page of the text and one page of heap.
inline std::string Core(const std::string& notes, const std::string& first_page) {
  Elf64_Ehdr header = ElfHeader(3);
  header.e_type = ET_CORE;
  header.e_machine = EM_X86_64;
  const uint64_t at = sizeof(header) + 3 * sizeof(Elf64_Phdr);
  const uint64_t pages = (at + notes.size() + kPage - 1) / kPage * kPage;
  const Elf64_Phdr headers[] = {{PT_NOTE, 0, at, 0, 0, notes.size(), 0, 4},
                                {PT_LOAD, PF_R | PF_X, pages, kText, 0, kPage, 2 * kPage, kPage},
                                {PT_LOAD, PF_R | PF_W, pages + kPage, kHeap, 0, kPage, kPage, kPage}};
  std::string bytes = BytesOf(header) + BytesOf(headers) + notes;
  bytes.resize(pages);
  return bytes + first_page + std::string(kPage, 'h');
}

}  // namespace wf::sampler

#endif  // WF_SAMPLER_CORE_FILE_TESTING_H_
