#include "native/demangle.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace wf::native {
namespace {

TEST(ReadableName, CppNamesAreWrittenOut) {
  EXPECT_EQ(ReadableName("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(ReadableName("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
}

TEST(ReadableName, RustNamesLoseTheirHashAndMarks) {
  EXPECT_EQ(ReadableName("_ZN4core3ptr4read17h0123456789abcdefE"), "core::ptr::read");
  EXPECT_EQ(ReadableName("_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE"),
            "<alloc::string::String as core::fmt::Display>::fmt");
}

TEST(ReadableName, PartsAndCopiesOfAFunctionHaveItsName) {
  EXPECT_EQ(ReadableName("_PyEval_EvalFrameDefault.cold"), "_PyEval_EvalFrameDefault");
  EXPECT_EQ(ReadableName("work.part.0"), "work");
  EXPECT_EQ(ReadableName("work.constprop.0.isra.0"), "work");
  EXPECT_EQ(ReadableName("_ZN3foo3barEi.cold"), "foo::bar(int)");
}

TEST(ReadableName, VersionsOfSymbolsAreLeftOut) {
  EXPECT_EQ(ReadableName("clock_nanosleep@@GLIBC_2.17"), "clock_nanosleep");
}

TEST(ReadableName, WhatIsNotMangledOrBrokenStays) {
  EXPECT_EQ(ReadableName("main"), "main");
  EXPECT_EQ(ReadableName("_Z"), "_Z");
  EXPECT_EQ(ReadableName("_ZNqqqqq"), "_ZNqqqqq");
  EXPECT_EQ(ReadableName(""), "");
  EXPECT_EQ(ReadableName(".cold"), ".cold");
  const std::string deep = "_Z" + std::string(100'000, 'P') + "i";
  EXPECT_EQ(ReadableName(deep), deep);
}

// Each part is a pair of the one before: whole, it would be 2^36 times "int".
TEST(ReadableName, ANameThatStandsForGigabytesIsCut) {
  std::string name = "_Z1fSt4pairIiiE";
  for (const char digit : std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    name += std::string("S_IS") + digit + "_S" + digit + "_E";
  }
  const std::string readable = ReadableName(name);
  EXPECT_TRUE(readable.starts_with("f(std::pair<int, int>, std::pair<std::pair<int, int>"));
  EXPECT_TRUE(readable.ends_with("…"));
  EXPECT_LT(readable.size(), 20'000u);
}

}  // namespace
}  // namespace wf::native
