#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

namespace wf::cli {
namespace {

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome Wf(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "wf");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.code = Main(static_cast<int>(arguments.size()), arguments.data());
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(CommandLineTest, VersionIsOneLine) {
  const Outcome outcome = Wf({"--version"});
  EXPECT_EQ(outcome.code, kDone);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("wf [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CommandLineTest, EveryVerbExplainsItselfWithExamples) {
  for (const Verb& verb : Verbs()) {
    const std::string name(verb.name);
    const Outcome outcome = Wf({name.c_str(), "--help"});
    EXPECT_EQ(outcome.code, kDone) << name;
    EXPECT_THAT(outcome.out, testing::HasSubstr("Examples:\n  wf " + name)) << name;
  }
}

TEST(CommandLineTest, VerbNamesAreUnique) {
  std::set<std::string_view> names;
  for (const Verb& verb : Verbs()) EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
}

TEST(CommandLineTest, AMistypedVerbIsGuessed) {
  const Outcome outcome = Wf({"rnu"});
  EXPECT_EQ(outcome.code, kWrongUsage);
  EXPECT_THAT(outcome.err, testing::HasSubstr("did you mean 'run'?"));
}

TEST(CommandLineTest, AWrongFlagNamesTheVerbsHelp) {
  const Outcome outcome = Wf({"run", "pipeline.py", "--wrokers", "3"});
  EXPECT_EQ(outcome.code, kWrongUsage);
  EXPECT_THAT(outcome.err, testing::HasSubstr("--wrokers"));
  EXPECT_THAT(outcome.err, testing::HasSubstr("wf run --help"));
}

TEST(CommandLineTest, RepeatedParametersDoNotSwallowTheFile) {
  const Outcome outcome = Wf({"run", "--param", "a=1", "--param", "b=2", "/nonexistent/pipeline.py"});
  EXPECT_EQ(outcome.code, kWrongUsage);
  EXPECT_THAT(outcome.err, testing::HasSubstr("/nonexistent/pipeline.py: no such file"));
}

TEST(CommandLineTest, AParameterGivenTwiceIsRefused) {
  const Outcome outcome = Wf({"run", "x.py", "-p", "a=1", "-p", "a=2"});
  EXPECT_EQ(outcome.code, kWrongUsage);
  EXPECT_THAT(outcome.err, testing::HasSubstr("--param a: given twice"));
}

TEST(CommandLineTest, CompletionsKnowEveryVerb) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = Wf({"completions", shell});
    EXPECT_EQ(outcome.code, kDone);
    for (const Verb& verb : Verbs()) EXPECT_THAT(outcome.out, testing::HasSubstr(std::string(verb.name))) << shell;
    EXPECT_THAT(outcome.out, testing::HasSubstr("inline threads processes async")) << shell;
  }
}

TEST(CommandLineTest, ExitCodesFollowTheKindOfError) {
  EXPECT_EQ(ExitCodeOf(Status()), 0);
  EXPECT_EQ(ExitCodeOf(Status(Code::kInvalidArgument, "x")), 2);
  EXPECT_EQ(ExitCodeOf(Status(Code::kNotFound, "x")), 3);
  EXPECT_EQ(ExitCodeOf(Status(Code::kPermissionDenied, "x")), 3);
}

}  // namespace
}  // namespace wf::cli
