#include "cpython/layout.h"

#include <array>

namespace wf::cpython {

const Layout* FindLayout(uint32_t minor) {
  static constexpr std::array kLayouts = {&kLayout3_8,  &kLayout3_9,  &kLayout3_10, &kLayout3_11,
                                          &kLayout3_12, &kLayout3_13, &kLayout3_14, &kLayout3_15};
  if (minor < kOldestMinor || minor > kNewestMinor) return nullptr;
  return kLayouts.at(minor - kOldestMinor);
}

}  // namespace wf::cpython
