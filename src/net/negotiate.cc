#include "net/negotiate.h"

#include "net/http.h"

namespace wf::net {
namespace {

// Takes the part before `separator`, trimmed, off `*list`. Quoted strings hold no separators.
std::string_view TakePart(std::string_view* list, char separator) {
  bool quoted = false;
  size_t end = 0;
  for (; end < list->size(); ++end) {
    const char c = (*list)[end];
    if (c == '"') quoted = !quoted;
    if (c == '\\' && quoted) ++end;
    if (c == separator && !quoted) break;
  }
  if (end > list->size()) end = list->size();
  const std::string_view part = list->substr(0, end);
  list->remove_prefix(end < list->size() ? end + 1 : end);
  return TrimSpaces(part);
}

// "0", "0.5", "1.000"; nullopt for anything else.
std::optional<double> ParseQuality(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  double value = text[0] - '0';
  double place = 0.1;
  for (size_t i = 2; i < text.size(); ++i, place /= 10) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value += place * (text[i] - '0');
  }
  if (value > 1) return std::nullopt;
  return value;
}

struct Range {
  std::string_view name;  // "text/plain", "text/*", "*/*"; or a coding
  std::string_view version;
  bool other_parameters = false;
  double q = 1;
  bool valid = true;
};

Range ParseRange(std::string_view part) {
  Range range;
  range.name = TakePart(&part, ';');
  range.valid = !range.name.empty();
  while (!part.empty()) {
    std::string_view parameter = TakePart(&part, ';');
    if (parameter.empty()) continue;
    const std::string_view name = TakePart(&parameter, '=');
    std::string_view value = TrimSpaces(parameter);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    if (EqualIgnoringCase(name, "q")) {
      const std::optional<double> q = ParseQuality(value);
      range.valid = range.valid && q.has_value();
      range.q = q.value_or(0);
    } else if (EqualIgnoringCase(name, "version")) {
      range.version = value;
    } else if (!EqualIgnoringCase(name, "charset") && !EqualIgnoringCase(name, "escaping")) {
      range.other_parameters = true;
    }
  }
  return range;
}

// How exactly `range` names `offer`: 0 not at all, 1 "*/*", 2 "text/*", 3 the type, 4 the type with its version.
int Specificity(const Range& range, const MediaType& offer) {
  if (range.other_parameters) return 0;
  if (range.name == "*/*" || range.name == "*") return 1;
  if (range.name.ends_with("/*")) {
    const std::string_view group = range.name.substr(0, range.name.size() - 1);
    return EqualIgnoringCase(offer.type.substr(0, group.size()), group) ? 2 : 0;
  }
  if (!EqualIgnoringCase(range.name, offer.type)) return 0;
  if (range.version.empty()) return 3;
  return range.version == offer.version ? 4 : 0;
}

}  // namespace

double MediaQuality(std::string_view accept, const MediaType& offer) {
  if (TrimSpaces(accept).empty()) return 1;
  int best = 0;
  double q = 0;
  while (!accept.empty()) {
    const Range range = ParseRange(TakePart(&accept, ','));
    if (!range.valid) continue;
    const int specificity = Specificity(range, offer);
    if (specificity > best || (specificity == best && specificity > 0 && range.q > q)) {
      best = specificity;
      q = range.q;
    }
  }
  return q;
}

std::optional<size_t> BestMedia(std::string_view accept, std::span<const MediaType> offers) {
  std::optional<size_t> best;
  double best_q = 0;
  for (size_t i = 0; i < offers.size(); ++i) {
    const double q = MediaQuality(accept, offers[i]);
    if (q > best_q) {
      best = i;
      best_q = q;
    }
  }
  return best;
}

bool PrefersGzip(std::string_view accept_encoding) {
  std::optional<double> gzip;
  std::optional<double> identity;
  std::optional<double> any;
  while (!accept_encoding.empty()) {
    const Range range = ParseRange(TakePart(&accept_encoding, ','));
    if (!range.valid) continue;
    if (EqualIgnoringCase(range.name, "gzip") || EqualIgnoringCase(range.name, "x-gzip")) gzip = range.q;
    if (EqualIgnoringCase(range.name, "identity")) identity = range.q;
    if (range.name == "*") any = range.q;
  }
  const double gzip_q = gzip.value_or(any.value_or(0));
  return gzip_q > 0 && gzip_q >= identity.value_or(0);
}

}  // namespace wf::net
