// Names of functions as people know them.
#ifndef WF_NATIVE_DEMANGLE_H_
#define WF_NATIVE_DEMANGLE_H_

#include <string>
#include <string_view>

namespace wf::native {

// "_ZN3foo3barEi.cold" -> "foo::bar(int)", "_ZN4core3ptr4read17h0123456789abcdefE" -> "core::ptr::read",
// "clock_nanosleep@@GLIBC_2.17" -> "clock_nanosleep", "work.part.0" -> "work". What cannot be undone stays as it is.
// The name comes from a foreign file and may be anything; what it stands for is cut, with "…", after 16 KiB.
std::string ReadableName(std::string_view symbol);

}  // namespace wf::native

#endif  // WF_NATIVE_DEMANGLE_H_
