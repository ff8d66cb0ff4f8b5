// Say: one line of ours on standard error, "wf: <sentence>".
//
// Standard error belongs to the user's program, which may have closed it or left nobody who reads it; what cannot be
// said is dropped. (fmt::print would throw, and end a process in which a pipeline runs.)
//
// Threading: any thread; a line goes out whole, in one write.
#ifndef WF_BASE_SAY_H_
#define WF_BASE_SAY_H_

#include <string_view>

namespace wf::base {

void Say(std::string_view sentence) noexcept;

}  // namespace wf::base

#endif  // WF_BASE_SAY_H_
