// RecordStore: a recording that goes to the store while it is made, as a run of kind "recording". What is there when
// the recorder dies stays readable.
#ifndef WF_APP_RECORD_STORE_H_
#define WF_APP_RECORD_STORE_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/record_session.h"
#include "profile/model.h"
#include "profile/stack_recorder.h"
#include "store/store.h"
#include "wf/status.h"

namespace wf::app {

class RecordStore final : public RecordSink {
 public:
  // The errors of store::Store::Open. `folder`: --store, or empty.
  static Result<RecordStore> Open(const std::string& folder, const std::string& name,
                                  const std::vector<std::string>& command);

  // Number 1 is the process that records.
  uint32_t first_process() const override { return 2; }
  // The run begins. Errors are kept until Close.
  void Begin(const profile::StackMeta& meta) override;
  void PutProcess(const profile::Process& process) override;
  void PutAttempt(const profile::StackAttempt& attempt) override;
  void PutStacks(profile::StackDelta stacks) override;
  // Once, last. The first error of all.
  Status Close(int64_t end_ns);

  // "run 01M8… in /home/ada/.wf"
  std::string Where() const;

 private:
  explicit RecordStore(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}

  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::RunWriter> writer_;
  uint32_t TaskOf(const std::string& name);

  std::unordered_map<std::string, uint32_t> tasks_;  // by name; bounded by AttemptBook
  profile::Run run_;
  Status status_;
};

}  // namespace wf::app

#endif  // WF_APP_RECORD_STORE_H_
