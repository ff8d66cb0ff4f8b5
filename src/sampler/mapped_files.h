// The files that are mapped in a process, wherever it sees them.
#ifndef WF_SAMPLER_MAPPED_FILES_H_
#define WF_SAMPLER_MAPPED_FILES_H_

#include <cstdint>

#include "base/fd.h"
#include "cpython/memory_reader.h"
#include "native/address_space.h"

namespace wf::sampler {

// The file of a mapping of a live process: also one that was deleted or lies in another mount namespace, as far as our
// rights go; never another file that took its name. Of the vDSO, which is no file, a copy. Invalid when it cannot be
// had or is no regular file.
base::Fd OpenMapped(int32_t pid, const native::Mapping& mapping, cpython::MemoryReader& memory);

// A file in memory with what lies between the mapping's ends.
base::Fd CopyOf(const native::Mapping& mapping, cpython::MemoryReader& memory);

}  // namespace wf::sampler

#endif  // WF_SAMPLER_MAPPED_FILES_H_
