// TopPicture: what stands on the screen of `wf top`, as text with tones at places; whoever has a terminal draws it.
#ifndef WF_REPORT_TOP_PICTURE_H_
#define WF_REPORT_TOP_PICTURE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/top_model.h"
#include "report/style.h"
#include "report/top_names.h"

namespace wf::report {

struct TopSize {
  int width = 80;
  int height = 24;
};

// A piece of a line. No control characters; as wide as DisplayWidth says, and never beyond the screen.
struct TopSpan {
  int column = 0;
  std::string text;
  Tone tone = Tone::kPlain;
};

struct TopLine {
  std::vector<TopSpan> spans;
  bool reversed = false;  // the whole line, over all the width
};

struct TopPicture {
  std::vector<TopLine> lines;   // as many as the screen has, or fewer
  std::optional<int> caret_at;  // column of the last line where something is being typed
};

enum class TopPage { kPlaces, kThreads, kHelp };

// What is to be seen of a model.
struct TopChoices {
  TopPage page = TopPage::kPlaces;
  analysis::TopQuery query;
  size_t first_row = 0;  // scrolled to
  bool is_paused = false;
  bool is_typing = false;  // the filter
  std::string target;      // "process 4711"
};

// How many rows of a table have room.
size_t TopRoom(const TopSize& size);
// Rows of the page that is shown.
size_t TopRowCount(const analysis::TopModel& model, const TopChoices& choices);
TopPicture DrawTop(const analysis::TopModel& model, const TopChoices& choices, const TopNames& names,
                   const TopSize& size);

}  // namespace wf::report

#endif  // WF_REPORT_TOP_PICTURE_H_
