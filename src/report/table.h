// Aligned columns for the terminal.
#ifndef WF_REPORT_TABLE_H_
#define WF_REPORT_TABLE_H_

#include <string>
#include <vector>

#include "report/style.h"

namespace wf::report {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
  bool may_shrink = false;  // shortened first when the terminal is too narrow
};

struct Cell {
  std::string text;  // no colour codes, no control characters
  Tone tone = Tone::kPlain;

  Cell(std::string cell_text, Tone cell_tone = Tone::kPlain)  // NOLINT(google-explicit-constructor): cells are texts
      : text(std::move(cell_text)), tone(cell_tone) {}
};

// Rows of text under titles. Every row has as many cells as there are columns.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void AddRow(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  // Two spaces between columns, no space at the end of a line, a newline after each. On a terminal too narrow the
  // columns that may shrink are shortened, down to eight columns each.
  std::string Render(const Style& style) const;

 private:
  std::vector<size_t> Widths(int terminal_width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace wf::report

#endif  // WF_REPORT_TABLE_H_
