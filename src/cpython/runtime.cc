#include "cpython/runtime.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "cpython/debug_offsets.h"

namespace wf::cpython {
namespace {

struct Version {
  uint32_t minor = 0;
  std::string text;
};

// PY_VERSION_HEX: major, minor, micro, then level and serial.
std::optional<Version> FromHex(uint64_t hex) {
  if (hex >> 24 != 3 || (hex >> 16 & 0xFF) > 99) return std::nullopt;
  const auto minor = static_cast<uint32_t>(hex >> 16 & 0xFF);
  std::string text = "3." + std::to_string(minor) + "." + std::to_string(hex >> 8 & 0xFF);
  const uint32_t level = hex >> 4 & 0xF;
  if (level == 0xA || level == 0xB || level == 0xC) {
    text += (level == 0xA ? "a" : level == 0xB ? "b" : "rc") + std::to_string(hex & 0xF);
  }
  return Version{minor, text};
}

// "3.8.18 (default, …" as Py_GetVersion leaves it in its static buffer when sys.version is made. `text` begins at a
// digit.
std::optional<Version> FromBanner(std::string_view text) {
  if (text.size() < 8 || (text[0] != '3' && text[0] != '2') || text[1] != '.') return std::nullopt;
  const size_t end = text.find(" (");
  if (end == std::string_view::npos || end > 16) return std::nullopt;
  uint32_t minor = 0;
  uint32_t micro = 0;
  const auto [dot, error] = std::from_chars(text.data() + 2, text.data() + end, minor);
  if (error != std::errc() || *dot != '.') return std::nullopt;
  if (std::from_chars(dot + 1, text.data() + end, micro).ec != std::errc()) return std::nullopt;
  if (text[0] == '2') minor = 0;
  return Version{minor, std::string(text.substr(0, end))};
}

// Looks for that buffer in the module's data, at most 32 MiB of it.
std::optional<Version> FromData(MemoryReader& memory, const ElfImage& image) {
  constexpr uint64_t kBlock = 1 << 16;
  constexpr uint64_t kOverlap = 32;
  const uint64_t bytes = std::min<uint64_t>(image.data_bytes(), 32 << 20);
  std::vector<char> block(kBlock + kOverlap);
  for (uint64_t at = 0; at < bytes; at += kBlock) {
    const size_t size = std::min(kBlock + kOverlap, bytes - at);
    if (!memory.ReadOne(image.data_address() + at, block.data(), size)) continue;
    const std::string_view text(block.data(), size);
    for (size_t i = text.find("3."); i != std::string_view::npos; i = text.find("3.", i + 1)) {
      if (i > 0 && text[i - 1] != '\0') continue;
      if (auto version = FromBanner(text.substr(i, kOverlap))) return version;
    }
  }
  return std::nullopt;
}

// "/usr/lib/libpython3.8.so.1.0", "/usr/bin/python3.8". Python 2 counts as a minor version before all of ours.
std::optional<Version> FromPath(std::string_view path) {
  for (const std::string_view start : {"python3.", "python2."}) {
    const size_t at = path.rfind(start);
    if (at == std::string_view::npos) continue;
    uint32_t minor = 0;
    const char* const begin = path.data() + at + start.size();
    if (std::from_chars(begin, path.data() + path.size(), minor).ec != std::errc()) continue;
    return Version{start[6] == '2' ? 0 : minor, std::string(start.substr(6)) + std::to_string(minor)};
  }
  return std::nullopt;
}

std::optional<Version> FindVersion(MemoryReader& memory, const Module& module, const DebugHeader& debug,
                                   ElfImage& image) {
  if (debug.present) return FromHex(debug.version_hex);
  if (const auto symbol = image.Find("Py_Version")) {
    if (const auto hex = memory.Get<uint64_t>(*symbol)) return FromHex(*hex);
  }
  if (auto version = FromData(memory, image)) return version;
  return FromPath(module.path);
}

// The one check that catches a wrong table: the first thread must name the interpreter that holds it.
FindOutcome CheckLayoutOnce(MemoryReader& memory, const Runtime& runtime) {
  const Layout& at = runtime.layout;
  const auto interpreter = memory.Get<uint64_t>(runtime.address + at.runtime.interpreters_head);
  if (!interpreter || *interpreter == 0) return FindOutcome::kNotInitialised;
  if (!IsPlausiblePointer(*interpreter)) return FindOutcome::kUnknownLayout;
  const auto thread = memory.Get<uint64_t>(*interpreter + at.interpreter.threads_head);
  if (thread && *thread == 0) return FindOutcome::kNotInitialised;
  if (!thread || !IsPlausiblePointer(*thread)) return FindOutcome::kUnknownLayout;
  const auto back = memory.Get<uint64_t>(*thread + at.thread.interpreter);
  return back == *interpreter ? FindOutcome::kFound : FindOutcome::kUnknownLayout;
}

// The first thread is the newest one, which may end between two reads: only what stays wrong is a wrong table.
FindOutcome CheckLayout(MemoryReader& memory, const Runtime& runtime) {
  constexpr int kAttempts = 50;
  FindOutcome outcome = FindOutcome::kUnknownLayout;
  for (int i = 0; i < kAttempts && outcome == FindOutcome::kUnknownLayout; ++i) {
    outcome = CheckLayoutOnce(memory, runtime);
  }
  return outcome;
}

FoundRuntime Examine(MemoryReader& memory, const Module& module, uint64_t address, ElfImage& image) {
  FoundRuntime found;
  Runtime& runtime = found.runtime;
  runtime.address = address;
  runtime.path = module.path;
  runtime.code_type = image.Find("PyCode_Type").value_or(0);
  std::vector<std::byte> head(kDebugOffsetsBytes);
  if (!memory.ReadOne(address, head.data(), head.size())) head.clear();
  const DebugHeader debug = ReadDebugHeader(head);
  const auto version = FindVersion(memory, module, debug, image);
  if (!version) {
    found.outcome = FindOutcome::kUnknownVersion;
    return found;
  }
  runtime.minor = version->minor;
  runtime.version = version->text;
  runtime.free_threaded = debug.free_threaded;
  const Layout* const layout = FindLayout(version->minor);
  if (layout == nullptr) {
    found.outcome = version->minor < kOldestMinor ? FindOutcome::kTooOld : FindOutcome::kUnknownVersion;
    return found;
  }
  runtime.layout = *layout;
  const bool sound = version->minor < 13 || (debug.present && ApplyDebugOffsets(head, &runtime.layout));
  // A free-threaded build has other objects throughout, and our tables are those of the usual build.
  found.outcome = sound && !debug.free_threaded ? CheckLayout(memory, runtime) : FindOutcome::kUnknownLayout;
  return found;
}

}  // namespace

FoundRuntime FindRuntime(MemoryReader& memory, std::span<const Module> modules) {
  FoundRuntime best;
  for (const Module& module : modules) {
    auto image = ElfImage::At(memory, module.base);
    if (!image) continue;
    std::optional<uint64_t> address = image->Find("_PyRuntime");
    if (!address && module.runtime != 0) address = module.runtime;
    if (address) {
      FoundRuntime found = Examine(memory, module, *address, *image);
      if (found.outcome == FindOutcome::kFound) return found;
      if (best.outcome == FindOutcome::kNotPython || best.outcome == FindOutcome::kTooOld) best = std::move(found);
    } else if (best.outcome == FindOutcome::kNotPython && image->Find("Py_GetVersion")) {
      // Python 2 and 3 before 3.7 have no _PyRuntime.
      best.outcome = FindOutcome::kTooOld;
      best.runtime.path = module.path;
      if (const auto version = FromPath(module.path)) best.runtime.version = version->text;
    }
  }
  return best;
}

}  // namespace wf::cpython
