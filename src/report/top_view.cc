#include "report/top_view.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace wf::report {
namespace {

using analysis::TopColumn;
using analysis::TopModel;
using analysis::TopThread;
using analysis::TopUnit;

constexpr size_t kMostFilter = 200;  // bytes

void DropLastCharacter(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
  if (!text.empty()) text.pop_back();
}

}  // namespace

TopView::TopView(const TopViewOptions& options) : names_(options.full_file_names) { choices_.target = options.target; }

TopView::Wish TopView::Press(const TopKey& key, const TopModel& model) {
  if (choices_.is_typing) {
    Type(key);
    return Wish::kNothing;
  }
  const auto page = static_cast<int64_t>(room_);
  switch (key.kind) {
    case TopKey::Kind::kText: return PressText(key.text, model);
    case TopKey::Kind::kUp: Scroll(-1); break;
    case TopKey::Kind::kDown: Scroll(1); break;
    case TopKey::Kind::kPageUp: Scroll(-page); break;
    case TopKey::Kind::kPageDown: Scroll(page); break;
    case TopKey::Kind::kHome: choices_.first_row = 0; break;
    case TopKey::Kind::kEnd: Scroll(std::numeric_limits<int32_t>::max()); break;
    case TopKey::Kind::kLeft: SwitchThread(-1, model); break;
    case TopKey::Kind::kRight: SwitchThread(1, model); break;
    case TopKey::Kind::kEscape:
      if (choices_.page == TopPage::kPlaces) choices_.query.filter.clear();
      choices_.page = TopPage::kPlaces;
      break;
    case TopKey::Kind::kEnter: choices_.page = TopPage::kPlaces; break;
    case TopKey::Kind::kBackspace:
    case TopKey::Kind::kOther: break;
  }
  return Wish::kNothing;
}

// What is typed filters at once; Enter keeps it, Escape takes back the filter before.
void TopView::Type(const TopKey& key) {
  std::string& filter = choices_.query.filter;
  choices_.first_row = 0;
  if (key.kind == TopKey::Kind::kEnter || key.kind == TopKey::Kind::kEscape) choices_.is_typing = false;
  if (key.kind == TopKey::Kind::kEscape) filter = filter_before_;
  if (key.kind == TopKey::Kind::kBackspace) DropLastCharacter(filter);
  if (key.kind == TopKey::Kind::kText && filter.size() + key.text.size() <= kMostFilter) filter += key.text;
}

TopView::Wish TopView::PressText(const std::string& text, const TopModel& model) {
  switch (text.empty() ? '\0' : text[0]) {
    case 'q':
    case 'Q': return Wish::kLeave;
    case '1': SortBy(TopColumn::kOwnShare); break;
    case '2': SortBy(TopColumn::kTotalShare); break;
    case '3': SortBy(TopColumn::kOwnTime); break;
    case '4': SortBy(TopColumn::kTotalTime); break;
    case 'r': choices_.query.reversed = !choices_.query.reversed; break;
    case 'l':
    case 'L':
      choices_.query.unit = choices_.query.unit == TopUnit::kLine ? TopUnit::kFunction : TopUnit::kLine;
      choices_.first_row = 0;
      break;
    case 'R':
      if (paused_) paused_->Reset();
      return Wish::kReset;
    case 't': SwitchThread(1, model); break;
    case 'T': TogglePage(TopPage::kThreads); break;
    case '?':
    case 'h': TogglePage(TopPage::kHelp); break;
    case ' ': TogglePause(model); break;
    case '/':
      choices_.page = TopPage::kPlaces;
      choices_.is_typing = true;
      filter_before_ = std::exchange(choices_.query.filter, "");
      break;
    default: break;
  }
  return Wish::kNothing;
}

void TopView::SortBy(TopColumn column) {
  choices_.query.column = column;
  choices_.first_row = 0;
}

void TopView::Scroll(int64_t rows) {
  choices_.first_row = static_cast<size_t>(std::max<int64_t>(0, static_cast<int64_t>(choices_.first_row) + rows));
}

// Round through all threads together, then each.
void TopView::SwitchThread(int step, const TopModel& model) {
  const std::vector<TopThread> threads = (paused_ ? *paused_ : model).Threads();
  const auto count = static_cast<int64_t>(threads.size()) + 1;
  int64_t at = 0;
  for (size_t i = 0; i < threads.size(); ++i) {
    if (choices_.query.thread == threads[i].number) at = static_cast<int64_t>(i) + 1;
  }
  at = (at + step + count) % count;
  choices_.query.thread.reset();
  if (at > 0) choices_.query.thread = threads[static_cast<size_t>(at - 1)].number;
  choices_.first_row = 0;
  choices_.page = TopPage::kPlaces;
}

void TopView::TogglePage(TopPage page) {
  choices_.page = choices_.page == page ? TopPage::kPlaces : page;
  choices_.first_row = 0;
}

void TopView::TogglePause(const TopModel& model) {
  if (paused_) {
    paused_.reset();
  } else {
    paused_ = model;
  }
  choices_.is_paused = paused_.has_value();
}

// Threads end and rows go while one looks at them.
void TopView::KeepInRange(const TopModel& model, const TopSize& size) {
  room_ = std::max<size_t>(1, TopRoom(size));
  const size_t rows = TopRowCount(model, choices_);
  choices_.first_row = std::min(choices_.first_row, rows > room_ ? rows - room_ : 0);
}

TopPicture TopView::Draw(const TopModel& model, const TopSize& size) {
  const TopModel& shown = paused_ ? *paused_ : model;
  names_.Learn(shown.places());
  KeepInRange(shown, size);
  return DrawTop(shown, choices_, names_, size);
}

}  // namespace wf::report
