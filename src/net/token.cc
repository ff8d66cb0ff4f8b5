#include "net/token.h"

#include "net/http.h"

namespace wf::net {

bool CarriesToken(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!EqualIgnoringCase(authorization.substr(0, kScheme.size()), kScheme)) return false;
  const std::string_view given = TrimSpaces(authorization.substr(kScheme.size()));
  unsigned difference = given.size() == token.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char expected = token.empty() ? '\0' : token[i % token.size()];
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(expected);
  }
  return difference == 0;
}

}  // namespace wf::net
