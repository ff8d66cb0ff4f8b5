// Runtime: a CPython interpreter found in a target: where its _PyRuntime lies, which version, which layout.
#ifndef WF_CPYTHON_RUNTIME_H_
#define WF_CPYTHON_RUNTIME_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cpython/elf_image.h"
#include "cpython/layout.h"
#include "cpython/memory_reader.h"

namespace wf::cpython {

// A program or library in the target: from its memory map, and what its file alone told where the caller read that.
struct Module {
  uint64_t base = 0;     // where its ELF header lies
  std::string path;      // as in the map; for the version when nothing else tells it
  uint64_t runtime = 0;  // address of _PyRuntime from .symtab or section .PyRuntime; 0: not looked for, or not there
};

struct Runtime {
  uint64_t address = 0;    // of _PyRuntime
  uint64_t code_type = 0;  // of PyCode_Type; 0: not known
  uint32_t minor = 0;
  std::string version;  // "3.11.7", or "3.11" when no more is known
  std::string path;     // of the module it was found in
  bool free_threaded = false;
  Layout layout;
};

enum class FindOutcome {
  kFound,
  kNotPython,       // no module holds an interpreter
  kNotInitialised,  // one does, but Py_Initialize has not made an interpreter yet
  kTooOld,          // Python before 3.8; `version` where known
  kUnknownVersion,  // newer than our tables, or it cannot be told
  kUnknownLayout,   // the version is ours but the structs are not: a build with other options
};

struct FoundRuntime {
  FindOutcome outcome = FindOutcome::kNotPython;
  Runtime runtime;
};

// Looks at the modules in this order; the first with an initialised interpreter wins.
FoundRuntime FindRuntime(MemoryReader& memory, std::span<const Module> modules);

}  // namespace wf::cpython

#endif  // WF_CPYTHON_RUNTIME_H_
