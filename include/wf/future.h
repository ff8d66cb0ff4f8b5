// Future: the value that a node of a Workflow will have.
//
// Workflow::Add returns one; given to another Add it is an input and so an edge of the graph. After Run its value can
// be read:
//
//   wf::Future<int> answer = flow.Add({.name = "ask"}, [] { return 42; });
//   flow.Run();
//   if (answer.value()) std::cout << *answer.value() << "\n";
//
// A future is cheap to copy and keeps its value alive, also after the workflow is gone.
#ifndef WF_FUTURE_H_
#define WF_FUTURE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>

#include "wf/report.h"

namespace wf {

class Workflow;

namespace internal {
struct FutureAccess;
struct WorkflowImpl;
struct NoValue {};
template <typename T>
using Slot = std::optional<std::conditional_t<std::is_void_v<T>, NoValue, T>>;
}  // namespace internal

// A future of any type, for the order of nodes alone.
class AnyFuture {
 public:
  AnyFuture() = default;
  // False for one that Add could not add (Run says why), and for AnyFuture().
  bool valid() const { return index_ != kNoIndex; }
  // Into RunReport::nodes.
  size_t index() const { return index_; }

 private:
  friend class Workflow;
  friend struct internal::WorkflowImpl;
  const void* owner_ = nullptr;
  size_t index_ = kNoIndex;
};

template <typename T>
class Future : public AnyFuture {
 public:
  // The value; null while there is none: before the end of Run, and for ever if the node did not succeed. To be called
  // after Run only (inside tasks the values arrive as arguments).
  const T* value() const { return slot_ && slot_->has_value() ? &**slot_ : nullptr; }

 private:
  friend struct internal::FutureAccess;
  std::shared_ptr<internal::Slot<T>> slot_;
};

template <>
class Future<void> : public AnyFuture {
 private:
  friend struct internal::FutureAccess;
  std::shared_ptr<internal::Slot<void>> slot_;
};

}  // namespace wf

#endif  // WF_FUTURE_H_
