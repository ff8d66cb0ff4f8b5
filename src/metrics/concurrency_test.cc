// Observers and scrapers at once: every page must be a state that existed, and no later page shows less.
#include <gmock/gmock.h>

#include <atomic>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "metrics/exposition.h"

namespace wf::metrics {
namespace {

constexpr int kObservers = 8;
constexpr int kScrapers = 4;
constexpr int kEach = 125'000;  // a million observations in all

// The values of one family on a page, in order of lines.
std::vector<double> ValuesOf(const std::string& page, const std::string& prefix) {
  std::vector<double> values;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(prefix)) values.push_back(std::stod(line.substr(line.rfind(' ') + 1)));
  }
  return values;
}

// Returns what is wrong with a page, given the buckets of the one before; empty when nothing is.
std::string FaultOf(const std::string& page, std::vector<double>* before) {
  const std::vector<double> buckets = ValuesOf(page, "load_bucket");
  const double count = ValuesOf(page, "load_count").at(0);
  const double sum = ValuesOf(page, "load_sum").at(0);
  for (size_t i = 1; i < buckets.size(); ++i) {
    if (buckets[i] < buckets[i - 1]) return "buckets decrease along the page:\n" + page;
  }
  if (buckets.back() != count) return "+Inf is not the count:\n" + page;
  if (sum != 2 * count) return "the sum belongs to another state:\n" + page;  // every value is 2
  for (size_t i = 0; i < before->size(); ++i) {
    if (buckets[i] < (*before)[i]) return "a bucket fell since the page before:\n" + page;
  }
  *before = buckets;
  return "";
}

TEST(ConcurrencyTest, EveryPageOfAHistogramIsAStateThatExisted) {
  Registry registry;
  Histogram& load = (*registry.AddHistogram("load", "Load."))->At({});
  std::atomic<int> running{kObservers};
  std::vector<std::string> faults(kScrapers);
  std::vector<std::thread> threads;
  for (int i = 0; i < kObservers; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) load.Observe(2);
      --running;
    });
  }
  for (int i = 0; i < kScrapers; ++i) {
    threads.emplace_back([&, i] {
      std::vector<double> before;
      do {
        const std::string fault = FaultOf(Render(registry, i % 2 ? Format::kText : Format::kOpenMetrics), &before);
        if (faults[i].empty()) faults[i] = fault;
      } while (running > 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  EXPECT_EQ(load.Snapshot().count(), uint64_t{kObservers} * kEach);
}

TEST(ConcurrencyTest, CountersAndGaugesLoseNothing) {
  Counter counter;
  Gauge gauge;
  std::vector<std::thread> threads;
  for (int i = 0; i < kObservers; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) {
        counter.Inc();
        counter.Add(0.5);
        gauge.Add(n % 2 ? 1 : -1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.Value(), kObservers * 20'000 * 1.5);
  EXPECT_EQ(gauge.Value(), 0);
}

TEST(ConcurrencyTest, ChildrenMadeDuringScrapesAppearOnce) {
  Registry registry;
  CounterFamily* family = *registry.AddCounter("rows", "", {"id"});
  GaugeFamily* gauges = *registry.AddGauge("depth", "", {"id"});
  std::atomic<int> running{4};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) {
        const std::string id = std::to_string(n);
        family->At({id}).Inc();
        const std::string_view value = id;
        gauges->With(LabelValues(&value, 1))->Set(n);
        gauges->Remove(LabelValues(&value, 1));
      }
      --running;
    });
  }
  while (running > 0) Render(registry, Format::kText);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(family->Children()->size(), 1000);
  const auto children = family->Children();
  for (const auto& series : *children) EXPECT_EQ(series->child.Value(), 4);
  EXPECT_TRUE(gauges->Children()->empty());
}

TEST(ConcurrencyTest, RemovingACollectorWaitsForItsReading) {
  Registry registry;
  std::atomic<bool> stop{false};
  std::thread scraper([&] {
    while (!stop) Render(registry, Format::kText);
  });
  for (int i = 0; i < 200; ++i) {
    auto value = std::make_unique<double>(i);
    const auto number = registry.AddCollector({{Type::kGauge, "depth", "", {}}},
                                              [raw = value.get()](CollectorSink& sink) { sink.Add(0, *raw); });
    ASSERT_TRUE(number.ok());
    EXPECT_TRUE(registry.RemoveCollector(*number));
  }
  stop = true;
  scraper.join();
}

}  // namespace
}  // namespace wf::metrics
