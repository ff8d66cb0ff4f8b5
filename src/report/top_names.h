// TopNames: how places are called in `wf top`: "Decoder.read (json/decoder.py:337)". Whatever a program's names hold,
// what comes of them is one line that moves no cursor.
#ifndef WF_REPORT_TOP_NAMES_H_
#define WF_REPORT_TOP_NAMES_H_

#include <map>
#include <string>

#include "analysis/top_places.h"

namespace wf::report {

class TopNames {
 public:
  // Whole paths instead of the shortest that are unambiguous among all places.
  explicit TopNames(bool full_file_names) : full_(full_file_names) {}

  // Looks at all files again when there are others than before.
  void Learn(const analysis::TopPlaces& places);

  std::string NameOf(const analysis::TopPlace& place) const;
  // "json/decoder.py:337"; empty for what is no function.
  std::string FileOf(const analysis::TopPlace& place) const;
  // Both: "name (file:line)".
  std::string LabelOf(const analysis::TopPlace& place) const;

 private:
  bool full_;
  uint64_t version_ = 0;
  std::map<std::string, std::string, std::less<>> short_files_;
};

}  // namespace wf::report

#endif  // WF_REPORT_TOP_NAMES_H_
