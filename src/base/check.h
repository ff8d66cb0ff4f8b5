// WF_CHECK: for our own bugs only. Prints the condition with file and line and aborts; never for bad input.
#ifndef WF_BASE_CHECK_H_
#define WF_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

#define WF_CHECK(condition)                                                                      \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      std::fprintf(stderr, "wf: internal error: %s at %s:%d\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                              \
    }                                                                                            \
  } while (false)

#endif  // WF_BASE_CHECK_H_
