// Gives libFuzzer a fuzzer's seeds: `x_fuzzer --seeds=FOLDER` writes them there and ends.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "base/fuzzer_testing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);  // NOLINT(readability-identifier-naming): libFuzzer's

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {  // NOLINT(readability-identifier-naming): libFuzzer's
  constexpr std::string_view kSeeds = "--seeds=";
  if (*argc != 2 || !std::string_view((*argv)[1]).starts_with(kSeeds)) return 0;
  const std::string folder = (*argv)[1] + kSeeds.size();
  int number = 0;
  for (const std::string& seed : wf::base::FuzzerSeeds()) {
    std::ofstream file(folder + "/seed-" + std::to_string(number++), std::ios::binary);
    file << seed;
    if (file.flush()) continue;
    std::fprintf(stderr, "%s: seeds cannot be written there\n", folder.c_str());
    std::exit(1);
  }
  std::exit(0);
}
