// How Workflow::Add wraps a user's function and its inputs. Not part of the API: it may change at any time.
#ifndef WF_INTERNAL_TASK_BODY_H_
#define WF_INTERNAL_TASK_BODY_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "wf/future.h"
#include "wf/status.h"

namespace wf::internal {

// A user's function with its inputs. Used by one thread at a time.
class TaskBody {
 public:
  virtual ~TaskBody() = default;
  // One attempt. May throw.
  virtual Status Run(const std::stop_token& stop) = 0;
  // Forgets the value: the attempt returned one, but does not count as a success.
  virtual void Discard() = 0;
  virtual bool wants_stop() const = 0;  // the function takes a stop token
};

struct FutureAccess {
  template <typename T>
  static const std::shared_ptr<Slot<T>>& SlotOf(const Future<T>& future) {
    return future.slot_;
  }
  template <typename T>
  static void SetSlot(Future<T>& future, std::shared_ptr<Slot<T>> slot) {
    future.slot_ = std::move(slot);
  }
};

// What a function's return type gives its future: Result<T> is T, Status is void.
template <typename R>
struct ValueOf {
  using type = std::remove_cvref_t<R>;
};
template <>
struct ValueOf<void> {
  using type = void;
};
template <>
struct ValueOf<Status> {
  using type = void;
};
template <typename T>
struct ValueOf<Result<T>> {
  using type = T;
};

// One input: what is kept of it until the call, and what it becomes in the call.
template <typename Input>
class Argument;

template <typename T>
class Argument<Future<T>> {
 public:
  explicit Argument(const Future<T>& future) : slot_(FutureAccess::SlotOf(future)) {}
  std::tuple<const T&> Get() { return std::tuple<const T&>(**slot_); }

 private:
  std::shared_ptr<Slot<T>> slot_;
};

template <>
class Argument<Future<void>> {
 public:
  explicit Argument(const Future<void>&) {}
  std::tuple<> Get() { return {}; }
};

template <typename T>
class Argument<std::vector<Future<T>>> {
 public:
  explicit Argument(const std::vector<Future<T>>& futures) {
    for (const Future<T>& future : futures) slots_.push_back(FutureAccess::SlotOf(future));
  }
  std::tuple<const std::vector<const T*>&> Get() {
    values_.clear();
    for (const std::shared_ptr<Slot<T>>& slot : slots_) values_.push_back(&**slot);
    return std::tuple<const std::vector<const T*>&>(values_);
  }

 private:
  std::vector<std::shared_ptr<Slot<T>>> slots_;
  std::vector<const T*> values_;
};

template <typename T>
void Collect(const Future<T>& future, std::vector<AnyFuture>& all) {
  all.push_back(future);
}
template <typename T>
void Collect(const std::vector<Future<T>>& futures, std::vector<AnyFuture>& all) {
  all.insert(all.end(), futures.begin(), futures.end());
}

template <typename Function, typename Tuple>
struct CallTraits;
template <typename Function, typename... Args>
struct CallTraits<Function, std::tuple<Args...>> {
  static constexpr bool kWantsStop = std::is_invocable_v<Function&, Args..., std::stop_token>;
  static_assert(kWantsStop || std::is_invocable_v<Function&, Args...>,
                "the function cannot be called with the values of the given futures (const T& each), with or without a "
                "std::stop_token at the end");
};

template <typename Function, typename... Inputs>
class FunctionBody final : public TaskBody {
  using ArgumentTuple = decltype(std::tuple_cat(std::declval<Argument<Inputs>&>().Get()...));
  static constexpr bool kWantsStop = CallTraits<Function, ArgumentTuple>::kWantsStop;

  static decltype(auto) Call(Function& function, ArgumentTuple arguments, const std::stop_token& stop) {
    if constexpr (kWantsStop) {
      return std::apply(function, std::tuple_cat(std::move(arguments), std::tuple<std::stop_token>(stop)));
    } else {
      return std::apply(function, std::move(arguments));
    }
  }

 public:
  using Returned = decltype(Call(std::declval<Function&>(), std::declval<ArgumentTuple>(), std::stop_token()));
  using Value = typename ValueOf<Returned>::type;
  static_assert(!std::is_reference_v<Returned>, "a task must return a value: a reference would outlive what it names");

  explicit FunctionBody(Function function, const Inputs&... inputs)
      : function_(std::move(function)), arguments_(inputs...), slot_(std::make_shared<Slot<Value>>()) {}

  const std::shared_ptr<Slot<Value>>& slot() const { return slot_; }
  void Discard() override { slot_->reset(); }
  bool wants_stop() const override { return kWantsStop; }

  Status Run(const std::stop_token& stop) override {
    slot_->reset();  // of an attempt that returned after its time-out
    auto call = [&]() -> decltype(auto) {
      return Call(function_, std::apply([](auto&... a) { return std::tuple_cat(a.Get()...); }, arguments_), stop);
    };
    if constexpr (std::is_void_v<Returned>) {
      call();
      slot_->emplace();
      return {};
    } else if constexpr (std::is_same_v<Returned, Status>) {
      Status status = call();
      if (status.ok()) slot_->emplace();
      return status;
    } else {
      return Keep(call());
    }
  }

 private:
  template <typename T>
  Status Keep(Result<T> result) {
    if (!result.ok()) return result.status();
    slot_->emplace(std::move(result).value());
    return {};
  }
  template <typename T>
  Status Keep(T value) {
    slot_->emplace(std::move(value));
    return {};
  }

  Function function_;
  std::tuple<Argument<Inputs>...> arguments_;
  std::shared_ptr<Slot<Value>> slot_;
};

}  // namespace wf::internal

#endif  // WF_INTERNAL_TASK_BODY_H_
