// How text is to look; decided once by the command line.
#ifndef WF_REPORT_STYLE_H_
#define WF_REPORT_STYLE_H_

#include <string>
#include <string_view>

namespace wf::report {

enum class Language { kEnglish, kFrench };

// Of a locale such as "fr_CA.UTF-8" or "fr"; English for everything that we have no texts for.
Language LanguageOf(std::string_view locale);

struct Style {
  bool color = false;
  int width = 0;  // columns of the terminal; 0: no limit
  Language language = Language::kEnglish;
};

enum class Tone { kPlain, kStrong, kGood, kBad, kFaint };

// `text` in colour when the style has any.
std::string Paint(const Style& style, Tone tone, std::string_view text);

}  // namespace wf::report

#endif  // WF_REPORT_STYLE_H_
