#include "base/say.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace wf::base {
namespace {

TEST(SayTest, PutsOneLineOnStandardError) {
  testing::internal::CaptureStderr();
  Say("no such run");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "wf: no such run\n");
}

TEST(SayTest, AClosedStandardErrorCostsNothing) {
  const int kept = dup(STDERR_FILENO);
  ASSERT_GE(kept, 0);
  close(STDERR_FILENO);
  Say("nobody hears this");
  ASSERT_EQ(dup2(kept, STDERR_FILENO), STDERR_FILENO);
  close(kept);
}

}  // namespace
}  // namespace wf::base
