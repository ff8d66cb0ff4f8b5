// The closing line of `wf record`.
#ifndef WF_REPORT_RECORDING_H_
#define WF_REPORT_RECORDING_H_

#include <string>

#include "profile/stacks.h"

namespace wf::report {

// "flame.svg: 1234 samples in 12.3 s, 99.8 of 100 Hz, 2 rounds missed, 1 reading rejected (torn 1), idle time left out"
std::string RecordingText(const profile::StackMeta& meta, const std::string& path);

}  // namespace wf::report

#endif  // WF_REPORT_RECORDING_H_
