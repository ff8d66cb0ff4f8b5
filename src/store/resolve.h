// How people name a run: pure matching over the ids that are there.
#ifndef WF_STORE_RESOLVE_H_
#define WF_STORE_RESOLVE_H_

#include <span>
#include <string>
#include <string_view>

#include "base/run_id.h"
#include "wf/status.h"

namespace wf::store {

struct RunName {
  base::RunId id;
  std::string workflow;
};

// `runs`: newest first. `text`: a whole id, a unique beginning or ending of at least 4 characters, "last" or "last~N".
// Errors: kNotFound (names near candidates), kInvalidArgument (several match: names them).
Result<base::RunId> ResolveAmong(std::span<const RunName> runs, std::string_view text);

}  // namespace wf::store

#endif  // WF_STORE_RESOLVE_H_
