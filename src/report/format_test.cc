#include "report/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wf::report {
namespace {

constexpr Language kEn = Language::kEnglish;

TEST(FormatTest, DurationsHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(Duration(0, kEn), "0 s");
  EXPECT_EQ(Duration(740, kEn), "740 ns");
  EXPECT_EQ(Duration(12'340, kEn), "12.3 µs");
  EXPECT_EQ(Duration(412e6, kEn), "412 ms");
  EXPECT_EQ(Duration(1.834e9, kEn), "1.83 s");
  EXPECT_EQ(Duration(45.24e9, kEn), "45.2 s");
  EXPECT_EQ(Duration(125e9, kEn), "2 min 05 s");
  EXPECT_EQ(Duration(11'220e9, kEn), "3 h 07 min");
  EXPECT_EQ(Duration(3 * 86'400e9, kEn), "3 d 00 h");
}

TEST(FormatTest, DurationsRoundIntoTheNextUnit) {
  EXPECT_EQ(Duration(999.6e3, kEn), "1.00 ms");
  EXPECT_EQ(Duration(59.96e9, kEn), "1 min 00 s");
  EXPECT_EQ(Duration(3599.7e9, kEn), "1 h 00 min");
}

TEST(FormatTest, BytesAreBinary) {
  EXPECT_EQ(Bytes(0, kEn), "0 B");
  EXPECT_EQ(Bytes(512, kEn), "512 B");
  EXPECT_EQ(Bytes(1023, kEn), "1.00 KiB");
  EXPECT_EQ(Bytes(412.0 * 1024 * 1024, kEn), "412 MiB");
  EXPECT_EQ(Bytes(1.83 * 1024 * 1024 * 1024, kEn), "1.83 GiB");
}

TEST(FormatTest, FrenchHasACommaAndOctets) {
  EXPECT_EQ(Duration(1.834e9, Language::kFrench), "1,83 s");
  EXPECT_EQ(Bytes(1.5 * 1024 * 1024, Language::kFrench), "1,50 Mio");
}

TEST(FormatTest, LanguageComesFromTheLocale) {
  EXPECT_EQ(LanguageOf("fr_CA.UTF-8"), Language::kFrench);
  EXPECT_EQ(LanguageOf("fr"), Language::kFrench);
  EXPECT_EQ(LanguageOf("fro"), Language::kEnglish);
  EXPECT_EQ(LanguageOf("C.UTF-8"), Language::kEnglish);
  EXPECT_EQ(LanguageOf(""), Language::kEnglish);
}

TEST(FormatTest, QualityIsPartOfTheFigure) {
  EXPECT_EQ(Marked(profile::Quality::kAbsent, "0 B"), "—");
  EXPECT_EQ(Marked(profile::Quality::kMeasured, "1 B"), "1 B");
  EXPECT_EQ(Marked(profile::Quality::kEstimated, "1 B"), "~1 B");
  EXPECT_EQ(Marked(profile::Quality::kShared, "1 B"), "≈1 B");
}

TEST(FormatTest, NothingFromUsersCanMoveTheCursor) {
  EXPECT_EQ(OneLine("a\x1b[2Jb\nc"), "a\\x1b[2Jb c");
  EXPECT_EQ(Lines("a\tb\nc\r"), "a\tb\nc\\x0d");
  EXPECT_EQ(OneLine("\xc2\x9b"
                    "2J"),
            "\\x9b2J");  // the 8-bit form of ESC [
}

TEST(FormatTest, BytesThatAreNotUtf8AreShownAsSuch) {
  EXPECT_EQ(OneLine("a\xff"), "a\\xff");
  EXPECT_EQ(OneLine("\xe2\x82"), "\\xe2\\x82");
}

TEST(FormatTest, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth("naïve"), 5U);
  EXPECT_EQ(DisplayWidth("日本"), 4U);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1U);
}

TEST(FormatTest, ShortenKeepsWholeLetters) {
  EXPECT_EQ(Shorten("preprocess", 10), "preprocess");
  EXPECT_EQ(Shorten("preprocess", 5), "prep…");
  EXPECT_EQ(Shorten("日本語", 4), "日…");
}

TEST(FormatTest, SecondsWithoutUnit) {
  EXPECT_EQ(Seconds(29.94e9, kEn), "29.9");
  EXPECT_EQ(Seconds(52e6, kEn), "0.052");
  EXPECT_EQ(Seconds(4e6, kEn), "0.0040");
  EXPECT_EQ(Seconds(5240, kEn), "0.0000052");
  EXPECT_EQ(Seconds(0, kEn), "0");
}

}  // namespace
}  // namespace wf::report
