#include "net/negotiate.h"

#include <gmock/gmock.h>

#include <array>

namespace wf::net {
namespace {

constexpr std::array<MediaType, 2> kPages = {{{"text/plain", "0.0.4"}, {"application/openmetrics-text", "1.0.0"}}};

TEST(NegotiateTest, HighestQualityWinsAndTheFirstAmongEquals) {
  const auto best = [](std::string_view accept) { return BestMedia(accept, kPages); };
  EXPECT_EQ(best(""), 0u);
  EXPECT_EQ(best("*/*"), 0u);
  EXPECT_EQ(best("text/html, */*;q=0.1"), 0u);
  EXPECT_EQ(best("application/openmetrics-text"), 1u);
  EXPECT_EQ(best("application/openmetrics-text;q=0.5, text/plain;q=0.9"), 0u);
  EXPECT_EQ(best("application/openmetrics-text;q=0, text/plain;q=0.1"), 0u);
  EXPECT_EQ(best("text/*;q=0.2, application/*;q=0.3"), 1u);
  EXPECT_EQ(best("APPLICATION/OpenMetrics-Text ; Q=1"), 1u);
}

TEST(NegotiateTest, WhatPrometheusSendsGetsOpenMetrics) {
  EXPECT_EQ(BestMedia("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                      "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                      kPages),
            1u);
  EXPECT_EQ(BestMedia("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
                      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.8,text/plain;q=0.7",
                      kPages),
            1u);
}

TEST(NegotiateTest, AVersionWeDoNotSpeakDoesNotMatch) {
  EXPECT_EQ(BestMedia("application/openmetrics-text;version=2.0.0, text/plain;q=0.1", kPages), 0u);
  EXPECT_EQ(BestMedia("text/plain;version=\"0.0.4\"", kPages), 0u);
}

TEST(NegotiateTest, NothingAcceptableIsToldApart) {
  EXPECT_EQ(BestMedia("image/png", kPages), std::nullopt);
  EXPECT_EQ(BestMedia("*/*;q=0", kPages), std::nullopt);
}

TEST(NegotiateTest, MalformedRangesAreSkipped) {
  EXPECT_EQ(BestMedia("application/openmetrics-text;q=7, text/plain;q=0.1", kPages), 0u);
  EXPECT_EQ(BestMedia(",;,;q=,text/plain", kPages), 0u);
  EXPECT_EQ(BestMedia("\"unclosed", kPages), std::nullopt);
  EXPECT_EQ(BestMedia("a;b=\"\\", kPages), std::nullopt);
}

TEST(NegotiateTest, GzipIsSentOnlyWhenWanted) {
  for (const char* yes : {"gzip", "deflate, gzip;q=0.5", "*", "GZIP;q=0.001", "identity;q=0.5, gzip;q=0.5", "x-gzip",
                          "gzip;q=1.0, identity; q=0.5, *;q=0"}) {
    EXPECT_TRUE(PrefersGzip(yes)) << yes;
  }
  for (const char* no : {"", "gzip;q=0", "gzip;q=0.000", "identity", "*;q=0", "deflate", "gzip;q=0, *",
                         "gzip;q=0.4, identity;q=0.5", "gzipped"}) {
    EXPECT_FALSE(PrefersGzip(no)) << no;
  }
}

}  // namespace
}  // namespace wf::net
