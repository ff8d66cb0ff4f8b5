// The registers of a thread that is stopped.
#ifndef WF_SAMPLER_REGISTERS_H_
#define WF_SAMPLER_REGISTERS_H_

#include <sys/user.h>

#include <cstdint>
#include <optional>

#include "native/registers.h"

namespace wf::sampler {

// As the kernel lays them out in notes of core files too.
native::Registers RegistersOf(const user_regs_struct& from);

// Of a thread that the calling one has stopped (WhilePaused, within `act`); nullopt when it could not be stopped.
std::optional<native::Registers> ReadRegisters(int32_t tid);

}  // namespace wf::sampler

#endif  // WF_SAMPLER_REGISTERS_H_
