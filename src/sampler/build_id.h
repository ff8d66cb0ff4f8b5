// The build id by which a program or library is known to be the one that was mapped.
#ifndef WF_SAMPLER_BUILD_ID_H_
#define WF_SAMPLER_BUILD_ID_H_

#include <cstdint>
#include <string>

#include "cpython/memory_reader.h"

namespace wf::sampler {

// Of the image whose ELF header lies at `base`, as bytes; empty when it has none, or it cannot be read. `in_file`: what
// is read is a file, where things lie at their file offsets.
std::string BuildIdAt(cpython::MemoryReader& memory, uint64_t base, bool in_file);

}  // namespace wf::sampler

#endif  // WF_SAMPLER_BUILD_ID_H_
