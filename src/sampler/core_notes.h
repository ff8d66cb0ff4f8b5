// What the notes of a core file tell: threads with their registers, mapped files, the process. Formats: elf_prstatus
// and elf_prpsinfo of <sys/procfs.h>; NT_FILE and NT_AUXV of the kernel's fs/binfmt_elf.c.
#ifndef WF_SAMPLER_CORE_NOTES_H_
#define WF_SAMPLER_CORE_NOTES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "native/registers.h"

namespace wf::sampler {

struct CoreThread {
  int32_t tid = 0;
  native::Registers registers;
};

struct CoreMapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // in the file, in bytes
  std::string path;
};

struct CoreNotes {
  std::vector<CoreThread> threads;  // that of the signal first
  std::vector<CoreMapping> files;
  int32_t pid = 0;               // 0: not told
  std::string name;              // of the program, at most 15 bytes
  std::string command_line;      // the first 79 bytes of it
  int32_t signal = 0;            // that ended the process, or stopped it for the debugger; 0: none
  uint64_t program_headers = 0;  // of the executable, where they lie in memory; 0: not told
  uint64_t vdso = 0;             // likewise
};

// Adds what the bytes of one PT_NOTE segment say. They are hostile: what is malformed is passed over, and nothing is
// read beyond them.
void AddNotes(std::span<const std::byte> segment, CoreNotes* notes);

}  // namespace wf::sampler

#endif  // WF_SAMPLER_CORE_NOTES_H_
