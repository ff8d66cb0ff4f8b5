#include "native/demangle.h"

#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace wf::native {
namespace {

constexpr size_t kLongest = 1024;  // longer ones are not worth the time that undoing them may take
constexpr size_t kLongestUndone = 16 << 10;

// Parts of a function that the compiler moved, and copies that it made: for the reader the same function.
std::string_view WithoutSuffixes(std::string_view name) {
  name = name.substr(0, name.find('@'));
  for (const std::string_view mark : {".cold", ".part.", ".constprop.", ".isra.", ".lto_priv.", ".llvm."}) {
    const size_t at = name.find(mark);
    if (at != std::string_view::npos && at > 0) name = name.substr(0, at);
  }
  return name;
}

bool IsHash(std::string_view text) {
  return text.size() == 17 && text[0] == 'h' && text.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

// Rust's older scheme is that of C++ with a hash as last name and marks for what C++ has not.
std::string FromRust(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kMarks = {{{"$LT$", "<"},
                                                                                            {"$GT$", ">"},
                                                                                            {"$RF$", "&"},
                                                                                            {"$BP$", "*"},
                                                                                            {"$LP$", "("},
                                                                                            {"$RP$", ")"},
                                                                                            {"$C$", ","},
                                                                                            {"$SP$", "@"},
                                                                                            {"$u20$", " "},
                                                                                            {"$u27$", "'"},
                                                                                            {"$u5b$", "["},
                                                                                            {"$u5d$", "]"},
                                                                                            {"$u7b$", "{"},
                                                                                            {"..", "::"}}};
  std::string text;
  for (size_t i = 0; i < name.size();) {
    const auto mark = std::find_if(kMarks.begin(), kMarks.end(),
                                   [&](const auto& each) { return name.substr(i).starts_with(each.first); });
    if (mark != kMarks.end()) {
      text += mark->second;
      i += mark->first.size();
    } else if (name.substr(i).starts_with("$u7d$")) {
      text += '}';
      i += 5;
    } else if (name[i] == '_' && name.substr(i + 1).starts_with('$') && (i == 0 || text.ends_with(':'))) {
      ++i;  // stands before a mark at the beginning of a name
    } else {
      text += name[i++];
    }
  }
  return text;
}

// What one name is undone to, as far as it is kept. A name of 300 bytes can stand for 8 GB: each part may name two of
// the part before. What undoes it has no limit of its own, so it is left in the middle; until then it holds nothing.
struct Undone {
  std::array<char, kLongestUndone> text{};
  size_t bytes = 0;
  std::jmp_buf full;
};

void Keep(const char* text, size_t bytes, void* opaque) {
  auto* const undone = static_cast<Undone*>(opaque);
  const size_t kept = std::min(bytes, undone->text.size() - undone->bytes);
  std::memcpy(undone->text.data() + undone->bytes, text, kept);
  undone->bytes += kept;
  if (kept < bytes) std::longjmp(undone->full, 1);  // NOLINT(cert-err52-cpp): over frames of C only
}

enum class Outcome : uint8_t { kNotMangled, kWhole, kCut };

Outcome Undo(const char* name, Undone* undone) {
  if (setjmp(undone->full) != 0) return Outcome::kCut;  // NOLINT(cert-err52-cpp)
  const int done = cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_TYPES, &Keep, undone);
  return done != 0 ? Outcome::kWhole : Outcome::kNotMangled;
}

}  // namespace

std::string ReadableName(std::string_view symbol) {
  const std::string_view plain = WithoutSuffixes(symbol);
  if (!plain.starts_with("_Z") || plain.size() > kLongest) return std::string(plain);
  std::string mangled(plain);
  const auto undone = std::make_unique<Undone>();
  const Outcome outcome = Undo(mangled.c_str(), undone.get());
  if (outcome == Outcome::kNotMangled) return mangled;
  const std::string_view name(undone->text.data(), undone->bytes);
  if (outcome == Outcome::kCut) return std::string(name) + "…";
  const size_t last = name.rfind("::");
  if (last != std::string_view::npos && IsHash(name.substr(last + 2))) return FromRust(name.substr(0, last));
  return std::string(name);
}

}  // namespace wf::native
