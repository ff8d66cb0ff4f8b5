// Status and Result<T>: how every function of Workflow that can fail reports it.
//
// No exception of ours crosses a function boundary. A Status is either OK (and then costs one null pointer) or carries
// a code and one sentence that says what failed, on what, why, and what to do next. Each outer edge translates once:
// the Python bindings to exceptions, the command line to exit codes, the HTTP API to status codes.
//
// Threading: values; distinct objects may be used from distinct threads.
//
//   wf::Result<int> port = ParsePort(text);
//   if (!port.ok()) return port.status();
//   Use(*port);
#ifndef WF_STATUS_H_
#define WF_STATUS_H_

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace wf {

enum class Code {
  kOk = 0,
  kInvalidArgument,     // wrong usage or input; the caller can mend it
  kNotFound,            // a run, file or task that is not there
  kAlreadyExists,       // a name or port that is taken
  kPermissionDenied,    // the system refuses; the message names the gate
  kFailedPrecondition,  // right request, wrong state (a newer schema, a finished run)
  kUnavailable,         // not measurable or not reachable here; absent, not zero
  kDataLoss,            // bytes that should be readable are not
  kIo,                  // the operating system refused a read or write (full disk, read-only)
  kTimeout,
  kCancelled,
  kInternal,  // a fault of ours
};

// "ok", "invalid argument", ... ; stable, used in JSON output.
std::string_view CodeName(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(Code code, std::string message) : rep_(std::make_unique<Rep>(Rep{code, std::move(message)})) {}
  Status(const Status& other) : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}
  Status& operator=(const Status& other) {
    if (this != &other) rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  // One sentence for a person; empty when OK.
  const std::string& message() const {
    static const std::string kEmpty;
    return rep_ ? rep_->message : kEmpty;
  }
  // The same status with `context` and a colon before its message. OK stays OK.
  Status WithContext(std::string_view context) const;

 private:
  struct Rep {
    Code code;
    std::string message;
  };
  std::unique_ptr<Rep> rep_;
};

// Either a value or a Status that is not OK.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }

  // REQUIRES: ok(). Aborts otherwise: asking an error for its value is a bug of the caller.
  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->Checked(); }
  T&& operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->Checked(); }

 private:
  T& Checked() {
    if (!ok()) std::abort();
    return *std::get_if<0>(&state_);
  }
  std::variant<T, Status> state_;
};

}  // namespace wf

// Early return of an error. `expr` is evaluated once.
#define WF_RETURN_IF_ERROR(expr)             \
  do {                                       \
    ::wf::Status wf_status_ = (expr);        \
    if (!wf_status_.ok()) return wf_status_; \
  } while (false)

#endif  // WF_STATUS_H_
