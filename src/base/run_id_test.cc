#include "base/run_id.h"

#include <gtest/gtest.h>

namespace wf::base {
namespace {

TEST(RunId, TextRoundTripsAndIgnoresCase) {
  const RunId id = RunId::Make();
  std::string text = id.ToString();
  EXPECT_EQ(text.size(), 26U);
  EXPECT_EQ(RunId::Parse(text), id);
  for (char& c : text) c = static_cast<char>(std::tolower(c));
  EXPECT_EQ(RunId::Parse(text), id);
}

TEST(RunId, LaterIdsAreGreaterAlsoAsText) {
  RunId previous = RunId::Make();
  for (int i = 0; i < 1000; ++i) {
    const RunId next = RunId::Make();
    EXPECT_LT(previous, next);
    EXPECT_LT(previous.ToString(), next.ToString());
    previous = next;
  }
}

TEST(RunId, RefusesTextThatIsNoId) {
  for (const char* text :
       {"", "01", "0123456789ABCDEFGHJKMNPQRS1", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "0123456789ABCDEFGHJKMNPQRU"}) {
    EXPECT_FALSE(RunId::Parse(text)) << text;
  }
}

TEST(RunId, KnownValueHasTheTextOfTheUlidSpecification) {
  RunId id;
  id.bytes.fill(0xFF);
  EXPECT_EQ(id.ToString(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  EXPECT_EQ(RunId{}.ToString(), std::string(26, '0'));
}

}  // namespace
}  // namespace wf::base
