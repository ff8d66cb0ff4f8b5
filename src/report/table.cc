#include "report/table.h"

#include <algorithm>

#include "base/check.h"
#include "report/format.h"

namespace wf::report {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeast = 8;

void AppendCell(const Cell& cell, const Column& column, size_t width, const Style& style, std::string* line) {
  const std::string text = Shorten(cell.text, width);
  const std::string padding(width - std::min(width, DisplayWidth(text)), ' ');
  if (column.align == Align::kRight) *line += padding;
  *line += Paint(style, cell.tone, text);
  if (column.align == Align::kLeft) *line += padding;
}

}  // namespace

void Table::AddRow(std::vector<Cell> cells) {
  WF_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<size_t> Table::Widths(int terminal_width) const {
  std::vector<size_t> widths;
  size_t total = 0;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = DisplayWidth(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[c].text));
    widths.push_back(width);
    total += width + (c > 0 ? kGap : 0);
  }
  const auto limit = static_cast<size_t>(std::max(0, terminal_width));
  for (size_t c = 0; limit > 0 && c < columns_.size() && total > limit; ++c) {
    if (!columns_[c].may_shrink || widths[c] <= kLeast) continue;
    const size_t shorter = std::max(kLeast, widths[c] - std::min(widths[c], total - limit));
    total -= widths[c] - shorter;
    widths[c] = shorter;
  }
  return widths;
}

std::string Table::Render(const Style& style) const {
  const std::vector<size_t> widths = Widths(style.width);
  std::string text;
  const auto append_line = [&](const std::vector<Cell>& cells) {
    std::string line;
    for (size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line.append(kGap, ' ');
      AppendCell(cells[c], columns_[c], widths[c], style, &line);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, Tone::kStrong);
  append_line(titles);
  for (const auto& row : rows_) append_line(row);
  return text;
}

}  // namespace wf::report
