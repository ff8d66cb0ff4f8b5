// TopView: what the keys of `wf top` do, and the picture that comes of it. Knows no terminal.
//
//   TopView view({.target = "process 4711"});
//   if (view.Press(key, model) == TopView::Wish::kLeave) …
//   screen.Draw(view.Draw(model, screen.size()));
//
// Threading: one thread at a time.
#ifndef WF_REPORT_TOP_VIEW_H_
#define WF_REPORT_TOP_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/top_model.h"
#include "report/top_names.h"
#include "report/top_picture.h"

namespace wf::report {

struct TopKey {
  enum class Kind : uint8_t {
    kText,  // `text` was typed
    kUp,
    kDown,
    kLeft,
    kRight,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kEnter,
    kEscape,
    kBackspace,
    kOther,  // such as a change of the screen's size: to be drawn anew
  };
  Kind kind = Kind::kText;
  std::string text = {};  // one character, UTF-8

  bool operator==(const TopKey&) const = default;
};

struct TopViewOptions {
  std::string target;  // "process 4711"
  bool full_file_names = false;
};

class TopView {
 public:
  // What the view cannot do itself. After kReset the model is to be reset.
  enum class Wish : uint8_t { kNothing, kLeave, kReset };

  explicit TopView(const TopViewOptions& options);

  Wish Press(const TopKey& key, const analysis::TopModel& model);
  // While paused, of the model as it was then.
  TopPicture Draw(const analysis::TopModel& model, const TopSize& size);

  const TopChoices& choices() const { return choices_; }

 private:
  void Type(const TopKey& key);
  Wish PressText(const std::string& text, const analysis::TopModel& model);
  void SortBy(analysis::TopColumn column);
  void Scroll(int64_t rows);
  void SwitchThread(int step, const analysis::TopModel& model);
  void TogglePage(TopPage page);
  void TogglePause(const analysis::TopModel& model);
  void KeepInRange(const analysis::TopModel& model, const TopSize& size);

  TopChoices choices_;
  TopNames names_;
  std::string filter_before_;  // while one is being typed
  size_t room_ = 1;            // rows of the last picture
  std::optional<analysis::TopModel> paused_;
};

}  // namespace wf::report

#endif  // WF_REPORT_TOP_VIEW_H_
