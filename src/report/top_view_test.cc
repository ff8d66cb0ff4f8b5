#include "report/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/top_for_test.h"
#include "report/format.h"
#include "report/top_text.h"

namespace wf::report {
namespace {

using profile::kHoldsGil;
using profile::kIdle;
using profile::kOnCpu;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using Kind = TopKey::Kind;
using Wish = TopView::Wish;

std::string TextOf(const TopLine& line) {
  std::string text;
  for (const TopSpan& span : line.spans) {
    text += std::string(static_cast<size_t>(std::max(0, span.column - static_cast<int>(DisplayWidth(text)))), ' ');
    text += span.text;
  }
  return text;
}

class TopViewTest : public testing::Test, protected analysis::TopForTest {
 protected:
  TopViewTest() {
    const uint32_t main = Thread("main");
    const uint32_t worker = Thread("worker");
    Read(main, 0, {"<module>", "wait"}, kIdle);
    Read(worker, 0, {"run", "load"}, kOnCpu | kHoldsGil);
    Read(worker, 250, {"run", "Decoder.read"}, kOnCpu | kHoldsGil);
    EndWindow(1000);
  }
  Wish Press(Kind kind) { return view_.Press({.kind = kind}, model_); }
  // Each letter by itself.
  void Type(std::string_view letters) {
    for (const char letter : letters) EXPECT_EQ(view_.Press({.text = std::string(1, letter)}, model_), Wish::kNothing);
  }
  std::vector<std::string> Lines(const TopSize& size = {}) {
    std::vector<std::string> lines;
    for (const TopLine& line : view_.Draw(model_, size).lines) lines.push_back(TextOf(line));
    return lines;
  }
  std::string Text(const TopSize& size = {}) {
    std::string text;
    for (const std::string& line : Lines(size)) text += line + "\n";
    return text;
  }

  TopView view_{{.target = "process 4711: python app.py"}};
};

TEST_F(TopViewTest, ThePictureSaysWhatItIsOfAndHowItCameToBe) {
  const std::vector<std::string> lines = Lines({.width = 120, .height = 24});
  ASSERT_THAT(lines, SizeIs(24));
  EXPECT_EQ(lines[0], "wf top: process 4711: python app.py");
  EXPECT_THAT(lines[1], StartsWith("2 samples in 1 s, "));
  EXPECT_THAT(lines[1], HasSubstr(" of 100 Hz, 0 missed, 0 rejected, idle time left out"));
  EXPECT_EQ(lines[2], "GIL 100 %, active 100 %, 2 threads (1 active); 100 % = 1 s of the clock");
  EXPECT_EQ(lines[3], "all threads; functions by %Own");
  EXPECT_EQ(lines[4], "   %Own %Total   OwnTime TotalTime  Function (file:first line)");
  EXPECT_EQ(lines[5], "   75.0   75.0     0.75s     0.75s  Decoder.read (prog.py:11)");
  EXPECT_EQ(lines[6], "   25.0   25.0     0.25s     0.25s  load (prog.py:11)");
  EXPECT_EQ(lines[7], "    0.0  100.0     0.00s     1.00s  run (prog.py:1)");
  EXPECT_THAT(lines[23], StartsWith("q quit"));
}

TEST_F(TopViewTest, DigitsChooseTheColumnAndRTurnsItRound) {
  Type("2");
  EXPECT_THAT(Lines()[5], HasSubstr("run"));
  EXPECT_THAT(Lines()[3], HasSubstr("by %Total"));
  Type("r");
  EXPECT_THAT(Lines()[5], HasSubstr("load"));
  EXPECT_THAT(Lines()[3], HasSubstr("smallest first"));
  Type("r3");
  EXPECT_THAT(Lines()[5], HasSubstr("Decoder.read"));
  Type("4");
  EXPECT_THAT(Lines()[5], HasSubstr("run"));
}

TEST_F(TopViewTest, LShowsLinesAndFunctionsInTurn) {
  Type("L");
  EXPECT_THAT(Text(), HasSubstr("Decoder.read (prog.py:20)"));
  Type("L");
  EXPECT_THAT(Text(), HasSubstr("Decoder.read (prog.py:11)"));
}

TEST_F(TopViewTest, AFilterHoldsAfterEnterAndIsTakenBackByEscape) {
  Type("/DEC");
  EXPECT_THAT(Text(), HasSubstr("Decoder.read"));
  EXPECT_THAT(Text(), Not(HasSubstr("load")));
  EXPECT_EQ(Lines()[23], "/DEC");
  EXPECT_EQ(view_.Draw(model_, {}).caret_at, 4);
  Press(Kind::kBackspace);
  EXPECT_EQ(Lines()[23], "/DE");
  Press(Kind::kEnter);
  EXPECT_THAT(Text(), HasSubstr("only \"DE\""));
  EXPECT_THAT(Text(), Not(HasSubstr("load")));
  Type("/load");
  EXPECT_THAT(Text(), HasSubstr("load (prog"));
  Press(Kind::kEscape);  // the filter before
  EXPECT_THAT(Text(), HasSubstr("Decoder.read"));
  EXPECT_THAT(Text(), Not(HasSubstr("load")));
  Press(Kind::kEscape);  // none
  EXPECT_THAT(Text(), HasSubstr("load"));
}

TEST_F(TopViewTest, KeysAreTextWhileAFilterIsTyped) {
  Type("/q1 ");
  EXPECT_EQ(view_.choices().query.filter, "q1 ");
  view_.Press({.text = "é"}, model_);
  view_.Press({.text = "漢"}, model_);
  EXPECT_EQ(view_.choices().query.filter, "q1 é漢");
  EXPECT_EQ(view_.Draw(model_, {}).caret_at, 7);
  Press(Kind::kBackspace);
  Press(Kind::kBackspace);
  EXPECT_EQ(view_.choices().query.filter, "q1 ");
  Type(std::string(1000, 'x'));
  EXPECT_LE(view_.choices().query.filter.size(), 200U);
  const TopPicture picture = view_.Draw(model_, {.width = 20, .height = 5});
  ASSERT_THAT(picture.lines, SizeIs(5));
  EXPECT_LT(picture.caret_at, 20);
}

TEST_F(TopViewTest, ThreadsAreGoneThroughBothWaysAndRound) {
  Press(Kind::kRight);
  EXPECT_THAT(Lines()[3], StartsWith("thread 4711 (main), 1 of 2, idle"));
  EXPECT_THAT(Text(), Not(HasSubstr("Decoder")));
  Type("t");
  EXPECT_THAT(Lines()[3], StartsWith("thread 4711 (worker), 2 of 2, active+gil"));
  EXPECT_THAT(Text(), HasSubstr("Decoder"));
  Type("t");
  EXPECT_THAT(Lines()[3], StartsWith("all threads"));
  Press(Kind::kLeft);
  EXPECT_THAT(Lines()[3], HasSubstr("(worker)"));
}

TEST_F(TopViewTest, AThreadThatEndsWhileItIsShownIsSaidToHave) {
  Type("tt");
  recorder_.EndThread(1, At(1500));
  EndWindow(2000);
  EXPECT_THAT(Lines()[3], StartsWith("a thread that has ended"));
  Type("t");
  EXPECT_THAT(Lines()[3], StartsWith("thread 4711 (main), 1 of 1"));
}

TEST_F(TopViewTest, TheListOfThreadsHasStatesAndShares) {
  Type("T");
  EXPECT_EQ(Lines()[5], "     0.0     0.0  idle           4711  4711 (main)");
  EXPECT_EQ(Lines()[6], "   100.0   100.0  active+gil     4711  4711 (worker)");
  Press(Kind::kEscape);
  EXPECT_THAT(Text(), HasSubstr("Decoder"));
}

TEST_F(TopViewTest, APausedPictureStandsStillAndCanBeSortedStill) {
  Type(" ");
  Read(1, 1000, {"run", "later"});
  EndWindow(2000);
  EXPECT_THAT(Text(), HasSubstr("PAUSED"));
  EXPECT_THAT(Text(), Not(HasSubstr("later")));
  Type("2");
  EXPECT_THAT(Lines()[5], HasSubstr("run"));
  Type(" ");
  EXPECT_THAT(Text(), HasSubstr("later"));
  EXPECT_THAT(Text(), Not(HasSubstr("PAUSED")));
}

TEST_F(TopViewTest, LeavingAndResetAreForTheCaller) {
  EXPECT_EQ(view_.Press({.text = "q"}, model_), Wish::kLeave);
  EXPECT_EQ(view_.Press({.text = "R"}, model_), Wish::kReset);
  EXPECT_EQ(Press(Kind::kOther), Wish::kNothing);
  EXPECT_EQ(view_.Press({.text = "z"}, model_), Wish::kNothing);
}

TEST_F(TopViewTest, HelpNamesEveryKey) {
  Type("?");
  for (const char* key : {"1 2 3 4", "L  ", "R  ", "T  ", "/  ", "space", "q  ", "r  "}) {
    EXPECT_THAT(Text(), HasSubstr(key));
  }
  Type("?");
  EXPECT_THAT(Text(), HasSubstr("Decoder"));
}

TEST_F(TopViewTest, ScrollingStopsAtBothEnds) {
  for (int i = 0; i < 50; ++i) Read(1, 1000 + i, {"run", "f" + std::to_string(i)});
  EndWindow(3000);
  const TopSize size{.width = 80, .height = 15};  // ten rows
  EXPECT_THAT(Text(size), HasSubstr("f49"));
  Press(Kind::kUp);
  EXPECT_THAT(Text(size), HasSubstr("f49"));
  Press(Kind::kPageDown);
  EXPECT_THAT(Text(size), Not(HasSubstr("f49")));
  Press(Kind::kEnd);
  const std::string last = Text(size);
  EXPECT_THAT(last, HasSubstr("load"));
  Press(Kind::kDown);
  EXPECT_EQ(Text(size), last);
  Press(Kind::kPageUp);
  EXPECT_NE(Text(size), last);
  Press(Kind::kHome);
  EXPECT_THAT(Text(size), HasSubstr("f49"));
}

TEST_F(TopViewTest, EverySizeOfScreenHasAPictureThatFits) {
  Read(1, 1000, {"run", std::string("漢字漢字\x1b[2J\n é") + std::string(300, 'x')});
  EndWindow(2000);
  for (const char* keys : {"", "T", "T?", "?/ab"}) {
    Type(keys);
    for (int width = 1; width < 130; width += width < 40 ? 1 : 17) {
      for (int height = 1; height < 30; ++height) {
        const TopPicture picture = view_.Draw(model_, {.width = width, .height = height});
        ASSERT_LE(picture.lines.size(), static_cast<size_t>(height));
        for (const TopLine& line : picture.lines) {
          for (const TopSpan& span : line.spans) {
            ASSERT_LE(span.column + static_cast<int>(DisplayWidth(span.text)), width) << span.text;
            ASSERT_THAT(span.text, Not(Contains('\x1b')));
            ASSERT_THAT(span.text, Not(Contains('\n')));
          }
        }
      }
    }
  }
}

TEST_F(TopViewTest, NarrowScreensKeepTheColumnThatIsSortedBy) {
  EXPECT_EQ(Lines({.width = 50, .height = 8})[1], "   %Own %Total  Function (file:first line)");
  EXPECT_EQ(Lines({.width = 20, .height = 5})[0], "   %Own  Function (…");
  EXPECT_EQ(Lines({.width = 20, .height = 5})[1], "   75.0  Decoder.re…");
  Type("4");
  EXPECT_EQ(Lines({.width = 50, .height = 8})[1], "   OwnTime TotalTime  Function (file:first line)");
  EXPECT_EQ(Lines({.width = 20, .height = 5})[0], " TotalTime  Functio…");
}

TEST(TopViewOfNothingTest, SaysWhatItWaitsFor) {
  TopView view({.target = "process 1"});
  analysis::TopModel model({});
  EXPECT_EQ(TextOf(view.Draw(model, {}).lines[5]), "waiting for Python to begin");
  model.Begin({});
  EXPECT_EQ(TextOf(view.Draw(model, {}).lines[5]), "waiting for the first readings");
  for (const char key : std::string("12r4LTt? /")) view.Press({.text = std::string(1, key)}, model);
  EXPECT_THAT(view.Draw(model, {}).lines, Not(IsEmpty()));
}

TEST_F(TopViewTest, ATableOfTextHasTheSameFiguresAndSaysHowManyRowsAreLeftOut) {
  TopNames names(true);
  TopTextOptions options;
  options.query.most_rows = 2;
  EXPECT_THAT(TopText(model_, options, names, {}),
              HasSubstr("%Own  %Total  OwnTime  TotalTime  Function (file:line)\n"
                        "75.0    75.0    0.75s      0.75s  Decoder.read (/home/ada/prog.py:11)\n"
                        "25.0    25.0    0.25s      0.25s  load (/home/ada/prog.py:11)\nand 1 more\n"));
  EndWindow(1000);
  Read(1, 2000, {"run", "load"});
  EndWindow(3000);
  options.of_all_time = true;
  options.query.column = analysis::TopColumn::kOwnTime;
  EXPECT_THAT(TopText(model_, options, names, {}), HasSubstr("100 % = 3 s of the clock"));
  EXPECT_THAT(TopText(model_, options, names, {}), HasSubstr("\n58.3    58.3    1.75s      1.75s  Decoder.read"));
}

}  // namespace
}  // namespace wf::report
