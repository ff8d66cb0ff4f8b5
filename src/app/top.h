// `wf top`: what a process, or a program that it starts, does right now: on a screen, or as a table now and then.
#ifndef WF_APP_TOP_H_
#define WF_APP_TOP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/top_model.h"
#include "app/record_session.h"
#include "report/style.h"
#include "report/top_view.h"
#include "wf/status.h"

namespace wf::app {

struct TopRequest {
  int32_t pid = 0;                   // 0: `command` is launched
  std::vector<std::string> command;  // program and arguments
  RecordOptions sampling;            // its piece_ns is the time between two pictures
  analysis::TopOptions shown;
  bool full_file_names = false;
};

// A terminal to draw on. Whoever makes one knows that it can be drawn on. Threading: one thread.
class TopScreen {
 public:
  virtual ~TopScreen() = default;  // closed by then
  // Takes the terminal over; false when that cannot be.
  virtual bool Open() = 0;
  // Gives it back as it was. Harmless when it is not open.
  virtual void Close() = 0;
  virtual report::TopSize Size() = 0;
  virtual void Draw(const report::TopPicture& picture) = 0;
  // Waits for so long at most; less when a signal comes or the descriptor `other` can be read.
  virtual std::optional<report::TopKey> ReadKey(int timeout_ms, int other) = 0;
  // Whether there is nobody at the keys any more.
  virtual bool IsGone() const = 0;
};

// Where what is to be seen goes.
struct TopConsole {
  std::unique_ptr<TopScreen> screen;                  // null: tables
  std::function<bool(std::string_view)> print;        // standard output; false: nobody reads it
  std::function<void(std::string_view)> print_error;  // standard error, text of several lines
  std::function<void(const std::string&)> say;        // standard error, a line of ours
  report::Style output_style, error_style;
};

// Returns when there is no more to see or somebody left, and a launched program ended. Tables, and the last one of all
// the time, go to standard output with `pid`, else to standard error. The result is the exit code: of a launched
// program its own, or a LaunchExit. Errors as of Record, before the screen opens.
Result<int> Top(const TopRequest& request, TopConsole& console);

}  // namespace wf::app

#endif  // WF_APP_TOP_H_
