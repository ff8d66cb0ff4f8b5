// Texts of /proc about a target: maps, status and stat, in which it has a say by its names and paths.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "base/check.h"
#include "base/fuzzer_testing.h"
#include "native/address_space.h"
#include "sampler/proc_files.h"

namespace {

std::string OwnText(const std::string& name) {
  std::ifstream file("/proc/self/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wf;  // NOLINT(google-build-using-namespace)
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  WF_CHECK(sampler::ModulesIn(text).size() <= lines);
  const auto mappings = native::MappingsIn(text);
  WF_CHECK(mappings.size() <= lines);
  for (const native::Mapping& mapping : mappings) WF_CHECK(mapping.begin < mapping.end);
  native::AddressSpace space([](const native::Mapping&) { return base::Fd(); });
  space.SetMappings(mappings);
  for (const native::Mapping& mapping : mappings) {
    WF_CHECK(space.RowAt(mapping.begin) == nullptr);
    WF_CHECK(!space.PlacesAt(mapping.end - 1).empty());
  }
  const size_t half = size / 2;
  const auto status = sampler::StatusIn(std::string_view(text).substr(half), std::string_view(text).substr(0, half));
  WF_CHECK(status.ns_pids.size() <= size);
  (void)sampler::TaskIn(text);
  return 0;
}

std::vector<std::string> wf::base::FuzzerSeeds() {
  return {OwnText("stat") + OwnText("status"), OwnText("maps"), OwnText("stat"), OwnText("status"), "1 (a) b) R 1 1\n",
          "10-20 r-xp 00 08:01 7  /a b\n"};
}
