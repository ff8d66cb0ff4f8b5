#include "report/rule_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wf::report {
namespace {

using analysis::Finding;
using testing::HasSubstr;
using testing::Not;

// A finding with every figure that any rule has.
Finding Full(std::string_view rule) {
  Finding finding;
  finding.rule = rule;
  finding.task = "train";
  for (const char* name : {"wall_ns",
                           "share",
                           "path_ns",
                           "path_share",
                           "attempts",
                           "concurrency",
                           "cores_used",
                           "cores_per_attempt",
                           "machine_cores_used",
                           "usable_cores",
                           "idle_cores",
                           "gpu_share",
                           "waiting_share",
                           "disk_bytes_per_s",
                           "network_bytes_per_s",
                           "io_bytes_per_s",
                           "memory_peak_bytes",
                           "memory_limit_bytes",
                           "memory_share",
                           "idle_ns",
                           "idle_share",
                           "idle_ready_ns",
                           "before_first_ns",
                           "after_last_ns",
                           "run_wall_ns",
                           "median_ns",
                           "work_ns"}) {
    finding.figures[name] = 0.5;
  }
  finding.absent = {"network_bytes"};
  return finding;
}

TEST(RuleTextsTest, EveryRuleHasACompleteTextInBothLanguages) {
  for (const std::string_view rule : analysis::AllRules()) {
    const RuleText english = TextOf(Full(rule), Language::kEnglish);
    const RuleText french = TextOf(Full(rule), Language::kFrench);
    for (const RuleText* text : {&english, &french}) {
      EXPECT_FALSE(text->why.empty()) << rule;
      EXPECT_THAT(text->why, Not(HasSubstr("—"))) << rule << " names a figure that no rule has";
      EXPECT_THAT(text->why, Not(HasSubstr("{"))) << rule;
      EXPECT_THAT(text->why, Not(HasSubstr("="))) << rule << " has no text";
    }
    EXPECT_NE(english.why, french.why) << rule;
    EXPECT_EQ(english.advice.size(), french.advice.size()) << rule;
  }
}

TEST(RuleTextsTest, OneCoreSuggestsVectorisedBatchesAndParallelWorkers) {
  const RuleText text = TextOf(Full(analysis::rule::kCpuOneCore), Language::kEnglish);
  ASSERT_EQ(text.advice.size(), 2U);
  EXPECT_THAT(text.advice[0], HasSubstr("vectorised batches"));
  EXPECT_THAT(text.advice[1], HasSubstr("parallel workers"));
}

TEST(RuleTextsTest, WhatCannotBeToldSaysWhatIsMissing) {
  const RuleText text = TextOf(Full(analysis::rule::kWaitUnknown), Language::kEnglish);
  EXPECT_THAT(text.why, HasSubstr("cannot be told"));
  EXPECT_THAT(text.why, HasSubstr("network traffic"));
}

TEST(RuleTextsTest, ARuleOfANewerVersionIsShownAsItsFigures) {
  Finding finding;
  finding.rule = "io.tape";
  finding.figures["reels"] = 3;
  EXPECT_EQ(TextOf(finding, Language::kEnglish).why, "io.tape reels=3");
}

TEST(FillTest, UnitsAndOptionalParts) {
  Finding finding;
  finding.figures = {{"t", 1.5e9}, {"b", 2048}, {"p", 0.5}, {"n", 7.0}, {"x", 0.987}};
  EXPECT_EQ(Fill("{t:time} {b:bytes} {b:rate} {p:percent} {n:cores} {n} {x}", finding, Language::kEnglish),
            "1.50 s 2.00 KiB 2.00 KiB/s 50 % 7 7.00 0.99");
  EXPECT_EQ(Fill("a[ and {missing:time}] b[ and {n}]", finding, Language::kEnglish), "a b and 7.00");
  EXPECT_EQ(Fill("{missing}", finding, Language::kEnglish), "—");
}

}  // namespace
}  // namespace wf::report
