// Names of functions from raw bytes: they come from files of other people.
#include "base/check.h"
#include "base/fuzzer_testing.h"
#include "native/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMost = 1 << 20;
  const std::string_view symbol(reinterpret_cast<const char*>(data), size);
  WF_CHECK(wf::native::ReadableName(symbol).size() <= std::max(size, kMost));
  WF_CHECK(wf::native::ReadableName("_Z" + std::string(symbol)).size() <= std::max(size + 2, kMost));
  return 0;
}

std::vector<std::string> wf::base::FuzzerSeeds() {
  std::string doubling = "_Z1fSt4pairIiiE";
  for (const char digit : std::string_view("0123456789ABCDEF")) {
    doubling += std::string("S_IS") + digit + "_S" + digit + "_E";
  }
  return {"_ZN3foo3barEi.cold",
          "_ZNSt6vectorIiSaIiEE9push_backERKi",
          "_ZN4core3ptr4read17h0123456789abcdefE",
          "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
          "clock_nanosleep@@GLIBC_2.17",
          "work.constprop.0.isra.0",
          "_ZZN3fooIiEEvT_DpT0_ENKUlvE_clEv",
          "_ZN2wf3MapIXadL_Z1fvEEJLi1ELi2EEEC1IDnEEOT_RKNSt9enable_ifIXsr3std7is_sameIT_S1_EE5valueEvE4typeE",
          "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
          doubling};
}
