#include "cli/program_words.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace wf::cli {
namespace {

class ProgramWordsTest : public ::testing::Test {
 protected:
  ProgramWordsTest() {
    command_.add_option("--rate,-r", rate_);
    command_.add_flag("--idle,-i", idle_);
  }
  // Our own words, "|", the program's.
  std::string Split(const std::vector<const char*>& words) {
    const size_t own = OwnWords(command_, words);
    std::string text;
    for (size_t i = 0; i < own; ++i) text += std::string(words[i]) + " ";
    text += '|';
    for (const std::string& word : ProgramWords(std::span(words).subspan(own))) text += " " + word;
    return text;
  }

  CLI::App command_;
  std::string rate_;
  bool idle_ = false;
};

TEST_F(ProgramWordsTest, TheProgramBeginsAtTheFirstWordThatIsNoOptionAndNoValue) {
  EXPECT_EQ(Split({"-r", "5", "-i", "prog", "-r", "7"}), "-r 5 -i | prog -r 7");
  EXPECT_EQ(Split({"-ir", "5", "prog"}), "-ir 5 | prog");
  EXPECT_EQ(Split({"-r5", "prog"}), "-r5 | prog");
  EXPECT_EQ(Split({"--rate=5", "prog"}), "--rate=5 | prog");
  EXPECT_EQ(Split({"--rate", "-5", "prog"}), "--rate -5 | prog");
}

TEST_F(ProgramWordsTest, TwoDashesEndOurWordsAndAreNotPassedOn) {
  EXPECT_EQ(Split({"-i", "--", "-i", "--", "x"}), "-i | -i -- x");
  EXPECT_EQ(Split({"--"}), "|");
}

TEST_F(ProgramWordsTest, WithoutAProgramAllWordsAreOurs) {
  EXPECT_EQ(Split({}), "|");
  EXPECT_EQ(Split({"--rate"}), "--rate |");
  EXPECT_EQ(Split({"--unknown"}), "--unknown |");
}

}  // namespace
}  // namespace wf::cli
