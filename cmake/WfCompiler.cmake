# Language level, warnings, ccache, LTO and sanitizers: the same for the core and for bindings built on their own.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_program(WF_CCACHE ccache)
if(WF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WF_CCACHE})
endif()
if(WF_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()
if(WF_SANITIZE)
  add_compile_options(-fsanitize=${WF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WF_SANITIZE})
  if(WF_SANITIZE STREQUAL "thread")
    # gcc warns that TSan does not see fences. Ours order atomics only, which TSan needs no fence to accept.
    add_compile_options(-Wno-tsan)
  endif()
endif()
if(WF_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # counts which code an input reaches
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-fsized-deallocation)  # of C++14; clang leaves it out until 19
endif()

if(NOT TARGET wf_warnings)  # else it came with the core that bindings are built against
  add_library(wf_warnings INTERFACE)
  target_compile_options(wf_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                                               $<$<BOOL:${WF_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(wf_warnings INTERFACE -Wno-restrict)  # false alarms on std::string in GCC 12 (GCC PR 105651)
  endif()
endif()
