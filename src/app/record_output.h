// RecordOutput: where a recording ends up: a file of some format, or a run in the store.
#ifndef WF_APP_RECORD_OUTPUT_H_
#define WF_APP_RECORD_OUTPUT_H_

#include <functional>
#include <memory>
#include <string>

#include "app/record.h"

namespace wf::app {

class RecordOutput {
 public:
  // Before anything is recorded. kInvalidArgument, and those of base::AtomicFile and the store. `request` must outlive
  // it.
  static Result<std::unique_ptr<RecordOutput>> Open(const RecordRequest& request);
  virtual ~RecordOutput() = default;

  // Of the session; null: it keeps what it records.
  virtual RecordSink* sink() { return nullptr; }
  // What there is until now, in place of what was written before. Not OK: that stays.
  virtual Status WriteSoFar(RecordSession& session, const std::function<void(const std::string&)>& say) = 0;
  // Once, last.
  virtual Status Write(RecordSession& session, const std::function<void(const std::string&)>& say) = 0;
};

}  // namespace wf::app

#endif  // WF_APP_RECORD_OUTPUT_H_
