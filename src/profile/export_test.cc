// What every format must do, and what is easy to check here; strict parsers of each format are in
// tests/integration/test_export_formats.py, which reads what WriteNastyFiles below leaves in $WF_EXPORT_DIR.
#include "profile/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "profile/call_sums.h"
#include "profile/export_text.h"
#include "profile/file_names.h"
#include "profile/marshal_writer.h"
#include "profile/protobuf_writer.h"
#include "profile/stack_view.h"
#include "profile/stacks_for_test.h"

namespace wf::profile {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Exported(const StackProfile& profile, std::string_view format, const ExportOptions& options = {}) {
  std::ostringstream out;
  FindExportFormat(format)->write(profile, options, out);
  return out.str();
}

// main for 60 ms, of which work 30 ms; sleeping for 40 ms.
StackProfile Small() {
  StackRecorder recorder({.rate_hz = 100, .start_ns = 1'000, .command = "python prog.py"});
  const uint32_t main = StackOf(recorder.table(), {"main"});
  const uint32_t work = StackOf(recorder.table(), {"main", "work"});
  const uint32_t wait = StackOf(recorder.table(), {"main", "wait"});
  const uint32_t thread = recorder.AddThread(1, 7, "MainThread", 1'000);
  int64_t time = 1'000;
  for (const auto& [stack, count, state] :
       {std::tuple(main, 3, kOnCpu), std::tuple(work, 3, kOnCpu), std::tuple(wait, 4, kIdle)}) {
    for (int i = 0; i < count; ++i, time += 10'000'000) {
      recorder.Record(thread,
                      {.time_ns = time, .clock_ns = time, .stack = stack, .state = static_cast<uint8_t>(state)});
      recorder.CountRound();
    }
  }
  recorder.Finish(time);
  StackAssembler assembler;
  EXPECT_TRUE(assembler.Add(recorder.Take(time)).ok());
  return assembler.Finish();
}

TEST(ExportTest, CollapsedCountsPeriodsOfTheSampler) {
  EXPECT_EQ(Exported(Small(), "collapsed"),
            "main (prog.py:10) 3\nmain (prog.py:10);wait (prog.py:20) 4\nmain (prog.py:10);work (prog.py:20) 3\n");
}

TEST(ExportTest, OptionsChangeWhatAFrameIs) {
  EXPECT_THAT(Exported(Small(), "raw", {.by_function = true}), HasSubstr("main (prog.py:1);work (prog.py:11) 3\n"));
  EXPECT_THAT(Exported(Small(), "raw", {.line_numbers = false}), HasSubstr("main (prog.py);work (prog.py) 3\n"));
  EXPECT_THAT(Exported(Small(), "raw", {.full_file_names = true}), HasSubstr("main (/home/ada/prog.py:10) 3\n"));
  EXPECT_THAT(Exported(Small(), "raw", {.threads = true}), HasSubstr("thread 7 (MainThread);main (prog.py:10) 3\n"));
  EXPECT_THAT(Exported(Small(), "raw", {.threads = true, .processes = true}), HasSubstr("process ?;thread 7"));
  EXPECT_THAT(Exported(Small(), "raw", {.selection = StackSelection::kActive}), Not(HasSubstr("wait")));
}

TEST(ExportTest, OnlySamplesOfTheAttemptsAskedFor) {
  StackProfile profile = Small();
  profile.samples[1].attempt = 7;
  ExportOptions options;
  options.attempts = {7};
  EXPECT_EQ(Exported(profile, "raw", options), "main (prog.py:10);work (prog.py:20) 3\n");
}

TEST(ExportTest, EveryTitleSaysWhatWasMeasuredAndWhatIsMissing) {
  StackProfile profile = Small();
  profile.meta.missed = 4;
  profile.meta.rejected = {{"torn", 2}};
  const std::string says =
      "wall time, idle included · 100 Hz asked, 100 achieved · 10 readings, 4 missed, 2 rejected (torn 2) · 100 ms · 1 "
      "thread";
  EXPECT_EQ(SubtitleOf(profile, {}), says);
  for (const std::string_view format : {"flamegraph", "speedscope", "chrometrace", "gecko", "heatmap"}) {
    EXPECT_THAT(Exported(profile, format), HasSubstr(says)) << format;
  }
  profile.meta.not_kept = 1;
  EXPECT_THAT(SubtitleOf(profile, {}), HasSubstr("more different stacks than are kept"));
  EXPECT_THAT(SubtitleOf(profile, {.selection = StackSelection::kActive}), HasSubstr("idle left out"));
  profile.meta.mode = SampleMode::kCpu;
  EXPECT_THAT(SubtitleOf(profile, {}), HasSubstr("CPU time"));
}

TEST(ExportTest, FlameGraphPutsRootsAtTheFootAndIciclesAtTheTop) {
  const std::string flame = Exported(Small(), "flamegraph");
  EXPECT_THAT(flame, HasSubstr("<rect x=\"0.0000%\" y=\"34\" width=\"100.0000%\""));
  EXPECT_THAT(Exported(Small(), "flamegraph", {.icicle = true}),
              HasSubstr("<rect x=\"0.0000%\" y=\"0\" width=\"100.0000%\""));
  EXPECT_THAT(flame, HasSubstr("every frame is shown"));
  EXPECT_THAT(Exported(Small(), "flamegraph", {.least_share = 0.35}), HasSubstr("1 frame narrower than 35 % left out"));
  EXPECT_THAT(flame, Not(HasSubstr("http://www.speedscope")));
}

TEST(ExportTest, RecursionIsCountedOnce) {
  StackRecorder recorder({});
  const uint32_t deep = StackOf(recorder.table(), {"f", "g", "f", "g"});
  recorder.Record(recorder.AddThread(1, 7, "", 0), {.time_ns = 0, .clock_ns = 0, .stack = deep});
  recorder.Finish(100);
  StackAssembler assembler;
  ASSERT_TRUE(assembler.Add(recorder.Take(100)).ok());
  const StackProfile profile = assembler.Finish();
  const ExportOptions options;
  StackView view(profile, options);
  const std::vector<FoldedWeight> weights = view.Fold();
  const std::vector<uint32_t> keys = {0, 1, 0, 1};  // f, g
  const CallSums sums = SumCalls(view, weights, keys, 2);
  EXPECT_EQ(sums.keys[0].total_ns, 100);
  EXPECT_EQ(sums.keys[0].self_ns, 0);
  EXPECT_EQ(sums.keys[1].self_ns, 100);
  EXPECT_EQ(sums.calls.at({1, 0}).total_ns, 100);
}

TEST(ExportTest, StacksOfThousandsOfFramesPassThroughEveryFormat) {
  StackRecorder recorder({.rate_hz = 100});
  uint32_t stack = kEmptyStack;
  for (int i = 0; i < 6'000; ++i) {
    Frame frame;
    frame.name = recorder.table().Intern("recurse");
    frame.line = 1 + i % 2;
    stack = recorder.table().Push(stack, recorder.table().AddFrame(frame));
  }
  recorder.Record(recorder.AddThread(1, 7, "", 0), {.time_ns = 0, .clock_ns = 0, .stack = stack});
  recorder.Finish(1'000'000'000);
  StackAssembler assembler;
  ASSERT_TRUE(assembler.Add(recorder.Take(1'000'000'000)).ok());
  const StackProfile profile = assembler.Finish();
  for (const ExportFormat& format : ExportFormats()) EXPECT_FALSE(Exported(profile, format.name).empty());
}

TEST(ExportTest, AnEmptyRecordingIsStillAFileOfItsFormat) {
  const StackProfile nothing;
  for (const ExportFormat& format : ExportFormats()) {
    const std::string text = Exported(nothing, format.name);
    EXPECT_EQ(text.empty(), format.name == "collapsed" || format.name == "raw") << format.name;
  }
}

TEST(FileNamesTest, ShortNamesAreTheShortestThatTellFilesApart) {
  const std::vector<std::string_view> files = {"/home/a/app/util.py",
                                               "/home/a/lib/util.py",
                                               "/home/a/main.py",
                                               "/usr/lib/python3.11/json/decoder.py",
                                               "/v/lib/python3.11/site-packages/numpy/core/numeric.py",
                                               "",
                                               "util.py"};
  const auto names = ShortFileNames(files);
  EXPECT_EQ(names.at(files[0]), "app/util.py");
  EXPECT_EQ(names.at(files[1]), "lib/util.py");
  EXPECT_EQ(names.at(files[2]), "main.py");
  EXPECT_EQ(names.at(files[3]), "json/decoder.py");
  EXPECT_EQ(names.at(files[4]), "numpy/core/numeric.py");
  EXPECT_EQ(names.at(files[6]), "util.py");
  EXPECT_EQ(ModuleOf(FrameKind::kPython, files[4]), "numpy");
  EXPECT_EQ(ModuleOf(FrameKind::kPython, files[3]), "python");
  EXPECT_EQ(ModuleOf(FrameKind::kPython, files[0]), "");
  EXPECT_EQ(ModuleOf(FrameKind::kNative, "/usr/lib/libc.so.6"), "libc");
}

TEST(ProtobufWriterTest, BytesAreThoseOfTheSpecification) {
  // https://protobuf.dev/programming-guides/encoding: 150 in field 1 is 08 96 01, "testing" in field 2 is 12 07 …,
  // packed 3, 270, 86942 in field 6 is 32 06 03 8e 02 9e a7 05.
  ProtobufWriter writer;
  writer.Number(1, 150);
  writer.Bytes(2, "testing");
  writer.Packed(6, {3, 270, 86'942});
  EXPECT_EQ(writer.bytes(), "\x08\x96\x01\x12\x07testing\x32\x06\x03\x8e\x02\x9e\xa7\x05");
}

// The files that strict parsers read, for several seeds and options.
TEST(ExportTest, WriteNastyFiles) {
  const char* folder = std::getenv("WF_EXPORT_DIR");
  for (const unsigned seed : {1U, 2U, 3U}) {
    for (const bool variant : {false, true}) {
      const StackProfile profile = NastyProfile(seed, seed == 3 ? SampleMode::kCpu : SampleMode::kWall);
      ExportOptions options;
      if (variant) {
        options = {.by_function = true, .threads = true, .processes = true, .icicle = true, .least_share = 0};
        options.selection = StackSelection::kActive;
      }
      const StackView view(profile, options);
      int64_t total_ns = 0;
      for (const StackSample& sample : profile.samples) total_ns += view.Includes(sample) ? sample.weight_ns : 0;
      EXPECT_GT(total_ns, 0);
      for (const ExportFormat& format : ExportFormats()) {
        const std::string text = Exported(profile, format.name, options);
        EXPECT_FALSE(text.empty());
        if (folder == nullptr) continue;
        std::ofstream file(std::string(folder) + "/" + std::to_string(seed) + (variant ? "b-" : "a-") +
                           std::to_string(total_ns) + "-" + std::string(format.name));
        file << text;
        ASSERT_TRUE(file.flush().good());
      }
    }
  }
}

}  // namespace
}  // namespace wf::profile
