#include "report/top_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "profile/escape.h"
#include "report/format.h"
#include "report/top_text.h"

namespace wf::report {
namespace {

using analysis::TopColumn;
using analysis::TopModel;
using analysis::TopRow;
using analysis::TopThread;
using analysis::TopUnit;

constexpr int kTallEnough = 12;  // for all lines above the table
constexpr int kFlat = 6;         // too flat for anything but the table
constexpr int kWideEnough = 60;  // for all columns
constexpr int kNarrow = 34;      // too narrow for two of them
constexpr int kGap = 2;

constexpr std::array<std::string_view, 14> kHelp = {
    "1 2 3 4     sort by %Own, %Total, OwnTime, TotalTime",
    "r           sort the other way round",
    "L           lines instead of functions, and back",
    "/           only functions and files with this text; Enter, Escape",
    "t, arrows   the next thread, the one before; all threads in between",
    "T           the list of threads",
    "R           reset: times begin anew",
    "space       the picture stands still, sampling goes on",
    "up, down, page up, page down, home, end: scroll",
    "q           leave          ?  this page, and back",
    "",
    "Own: it was the innermost function; total: it was anywhere in the stack.",
    "%: share of the last window; the times are since the start or R.",
    "100 % is the clock's time, or that of all threads if that is more.",
};

struct Layout {
  int head = 0;
  int foot = 0;
};

Layout LayoutOf(const TopSize& size) {
  if (size.height < kFlat) return {.head = 1, .foot = 0};
  return {.head = size.height < kTallEnough ? 2 : 5, .foot = 1};
}

// Columns of figures, by the width; the one that is sorted by is always among them.
std::vector<TopColumn> ColumnsFor(int width, TopColumn sorted) {
  using enum TopColumn;
  if (width >= kWideEnough) return {kOwnShare, kTotalShare, kOwnTime, kTotalTime};
  if (width < kNarrow) return {sorted};
  if (sorted == kOwnTime || sorted == kTotalTime) return {kOwnTime, kTotalTime};
  return {kOwnShare, kTotalShare};
}

int WidthOf(TopColumn column) { return column == TopColumn::kOwnShare || column == TopColumn::kTotalShare ? 7 : 10; }

std::string PadLeft(std::string_view text, int width) { return fmt::format("{:>{}}", text, width); }

// At most what is left of the line.
void Append(TopLine& line, int column, std::string_view text, Tone tone, int width) {
  if (column >= width || text.empty()) return;
  line.spans.push_back({column, Shorten(text, static_cast<size_t>(width - column)), tone});
}

TopLine Plain(std::string_view text, const TopSize& size, Tone tone = Tone::kPlain) {
  TopLine line;
  Append(line, 0, text, tone, size.width);
  return line;
}

std::string CountsLine(const TopModel& model) {
  const profile::StackMeta meta = model.Meta();
  std::string text = fmt::format("{} samples in {:.4g} s, {:.4g} of {:g} Hz, {} missed, {} rejected", meta.samples,
                                 static_cast<double>(meta.duration_ns) / 1e9, meta.achieved_rate_hz, meta.rate_hz,
                                 meta.missed, meta.rejected_total());
  text += meta.mode == profile::SampleMode::kGil ? ", only with the GIL"
          : meta.idle_included                   ? ", idle time included"
                                                 : ", idle time left out";
  for (const auto& [reason, count] : meta.rejected) text += fmt::format("; {}: {}", reason, count);
  if (model.forgotten() > 0) text += fmt::format("; {} quiet places forgotten", model.forgotten());
  if (meta.not_kept > 0) text += fmt::format("; tables full: {} not kept", meta.not_kept);
  return text;
}

std::string ThreadName(const TopThread& thread) {
  const std::string tid = thread.tid == 0 ? "?" : fmt::format("{}", thread.tid);
  return thread.name.empty() ? tid : fmt::format("{} ({})", tid, profile::Visible(thread.name));
}

std::string ThreadWords(const TopModel& model, std::optional<uint32_t> number) {
  if (!number) return "all threads";
  const std::vector<TopThread> threads = model.Threads();
  for (size_t i = 0; i < threads.size(); ++i) {
    if (threads[i].number != *number) continue;
    return fmt::format("thread {}, {} of {}, {}", ThreadName(threads[i]), i + 1, threads.size(), TopState(threads[i]));
  }
  return "a thread that has ended";
}

std::string ChoicesLine(const TopModel& model, const TopChoices& choices) {
  const analysis::TopQuery& query = choices.query;
  std::string text = choices.is_paused ? "PAUSED; " : "";
  text += ThreadWords(model, query.thread);
  text += query.unit == TopUnit::kLine ? "; lines" : "; functions";
  text += fmt::format(" by {}{}", TopTitles().at(static_cast<size_t>(query.column)),
                      query.reversed ? ", smallest first" : "");
  if (!query.filter.empty()) text += fmt::format("; only \"{}\"", profile::Visible(query.filter));
  return text;
}

void DrawHead(const TopModel& model, const TopChoices& choices, const TopSize& size, std::vector<TopLine>& lines) {
  const int head = LayoutOf(size).head;
  const std::string target = fmt::format("wf top: {}", profile::Visible(choices.target));
  if (head > 2) {
    lines.push_back(Plain(target, size, Tone::kStrong));
    lines.push_back(Plain(CountsLine(model), size));
    lines.push_back(Plain(fmt::format("{}; {}", TopThreadsLine(model),
                                      TopBasis(model.WindowBasisNs(choices.query.thread), model.window_ns())),
                          size));
  }
  if (head > 1)
    lines.push_back(Plain(ChoicesLine(model, choices), size, choices.is_paused ? Tone::kBad : Tone::kPlain));
}

std::string Figure(const TopRow& row, TopColumn column, int64_t basis_ns) {
  switch (column) {
    case TopColumn::kOwnShare: return TopShare(row.window.own_ns, basis_ns);
    case TopColumn::kTotalShare: return TopShare(row.window.total_ns, basis_ns);
    case TopColumn::kOwnTime: return TopSeconds(row.all.own_ns);
    case TopColumn::kTotalTime: break;
  }
  return TopSeconds(row.all.total_ns);
}

TopLine PlacesTitle(const TopChoices& choices, const std::vector<TopColumn>& columns, const TopSize& size) {
  TopLine line{.spans = {}, .reversed = true};
  int at = 0;
  for (const TopColumn column : columns) {
    Append(line, at, PadLeft(TopTitles().at(static_cast<size_t>(column)), WidthOf(column)),
           column == choices.query.column ? Tone::kStrong : Tone::kPlain, size.width);
    at += WidthOf(column);
  }
  Append(line, at + kGap, choices.query.unit == TopUnit::kLine ? "Function (file:line)" : "Function (file:first line)",
         Tone::kPlain, size.width);
  return line;
}

void DrawPlaces(const TopModel& model, const TopChoices& choices, const TopNames& names, const TopSize& size,
                std::vector<TopLine>& lines) {
  const std::vector<TopColumn> columns = ColumnsFor(size.width, choices.query.column);
  lines.push_back(PlacesTitle(choices, columns, size));
  if (model.windows() == 0) {
    lines.push_back(Plain(model.has_begun() ? "waiting for the first readings" : "waiting for Python to begin", size));
  }
  analysis::TopQuery query = choices.query;
  query.most_rows = choices.first_row + TopRoom(size);
  const std::vector<TopRow> rows = model.Rows(query);
  const int64_t basis_ns = model.WindowBasisNs(query.thread);
  for (size_t i = choices.first_row; i < rows.size(); ++i) {
    const TopRow& row = rows[i];
    TopLine line;
    const Tone tone = row.window.total_ns > 0 ? Tone::kPlain : Tone::kFaint;
    int at = 0;
    for (const TopColumn column : columns) {
      Append(line, at, PadLeft(Figure(row, column, basis_ns), WidthOf(column)), tone, size.width);
      at += WidthOf(column);
    }
    at += kGap;
    const std::string name = names.NameOf(*row.place);
    Append(line, at, name, tone, size.width);
    const std::string file = names.FileOf(*row.place);
    if (!file.empty())
      Append(line, at + static_cast<int>(DisplayWidth(name)) + 1, "(" + file + ")", Tone::kFaint, size.width);
    lines.push_back(std::move(line));
  }
}

void DrawThreads(const TopModel& model, const TopChoices& choices, const TopSize& size, std::vector<TopLine>& lines) {
  TopLine title = Plain(" %Active    %GIL  State       Process  Thread", size);
  title.reversed = true;
  lines.push_back(std::move(title));
  const std::vector<TopThread> threads = model.Threads();
  const size_t end = std::min(threads.size(), choices.first_row + TopRoom(size));
  for (size_t i = choices.first_row; i < end; ++i) {
    const TopThread& thread = threads[i];
    lines.push_back(
        Plain(fmt::format("{:>8} {:>7}  {:<10}  {:>7}  {}", TopShare(thread.window.active_ns, model.window_ns()),
                          TopShare(thread.window.gil_ns, model.window_ns()), TopState(thread), thread.pid,
                          ThreadName(thread)),
              size, choices.query.thread == thread.number ? Tone::kStrong : Tone::kPlain));
  }
}

void DrawHelp(const TopChoices& choices, const TopSize& size, std::vector<TopLine>& lines) {
  TopLine title = Plain("Keys", size);
  title.reversed = true;
  lines.push_back(std::move(title));
  const size_t end = std::min(kHelp.size(), choices.first_row + TopRoom(size));
  for (size_t i = choices.first_row; i < end; ++i) lines.push_back(Plain(kHelp.at(i), size));
}

void DropFirstCharacter(std::string& text) {
  size_t end = 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
  text.erase(0, end);
}

void DrawFoot(const TopChoices& choices, const TopSize& size, TopPicture& picture) {
  const auto last = static_cast<size_t>(std::max(0, size.height - 1));
  if (!choices.is_typing && LayoutOf(size).foot == 0) return;
  picture.lines.resize(last);
  if (!choices.is_typing) {
    picture.lines.push_back(Plain(
        "q quit  ? help  1-4 sort  L lines  t thread  T threads  / filter  space pause  R reset", size, Tone::kFaint));
    return;
  }
  // What does not fit is the beginning: the end is where one types.
  std::string typed = profile::Visible(choices.query.filter);
  const int room = std::max(1, size.width - 2);
  while (static_cast<int>(DisplayWidth(typed)) > room) DropFirstCharacter(typed);
  picture.lines.push_back(Plain("/" + typed, size, Tone::kStrong));
  picture.caret_at = 1 + static_cast<int>(DisplayWidth(typed));
}

}  // namespace

size_t TopRoom(const TopSize& size) {
  const Layout layout = LayoutOf(size);
  return static_cast<size_t>(std::max(0, size.height - layout.head - layout.foot));
}

size_t TopRowCount(const TopModel& model, const TopChoices& choices) {
  switch (choices.page) {
    case TopPage::kPlaces: return model.CountRows(choices.query);
    case TopPage::kThreads: return model.Threads().size();
    case TopPage::kHelp: break;
  }
  return kHelp.size();
}

TopPicture DrawTop(const TopModel& model, const TopChoices& choices, const TopNames& names, const TopSize& size) {
  TopPicture picture;
  DrawHead(model, choices, size, picture.lines);
  switch (choices.page) {
    case TopPage::kPlaces: DrawPlaces(model, choices, names, size, picture.lines); break;
    case TopPage::kThreads: DrawThreads(model, choices, size, picture.lines); break;
    case TopPage::kHelp: DrawHelp(choices, size, picture.lines); break;
  }
  DrawFoot(choices, size, picture);
  if (picture.lines.size() > static_cast<size_t>(std::max(0, size.height))) {
    picture.lines.resize(static_cast<size_t>(std::max(0, size.height)));
  }
  return picture;
}

}  // namespace wf::report
