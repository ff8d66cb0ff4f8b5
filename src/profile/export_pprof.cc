// pprof: profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto), gzipped. Two values a sample:
// readings, and nanoseconds of the mode. Labels name thread, process and attempt. Numbers of fields stand beside their
// use.
#include <zlib.h>

#include <map>

#include "base/check.h"
#include "profile/escape.h"
#include "profile/export.h"
#include "profile/export_text.h"
#include "profile/protobuf_writer.h"
#include "profile/stack_view.h"

namespace wf::profile {
namespace {

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  WF_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out;
  char buffer[1 << 14];
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    // avail_in has 32 bits: a large profile goes in by parts.
    const auto* begin = reinterpret_cast<const char*>(stream.next_in);
    const size_t left = static_cast<size_t>(bytes.data() + bytes.size() - begin);
    stream.avail_in = static_cast<uInt>(std::min<size_t>(left, 1U << 30));
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof(buffer);
    status = deflate(&stream, stream.avail_in == left ? Z_FINISH : Z_NO_FLUSH);
    WF_CHECK(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR);
    out.append(buffer, sizeof(buffer) - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

class Writer {
 public:
  Writer(const StackProfile& profile, const ExportOptions& options)
      : profile_(profile), options_(options), view_(profile, options) {}

  std::string Bytes() {
    String("");
    const std::string_view mode = Name(profile_.meta.mode);
    ValueType(1, "samples", "count");
    ValueType(1, mode, "nanoseconds");
    WriteSamples();
    WriteMapping();
    WriteFrames();
    out_.Number(9, profile_.meta.start_wall_ns);  // time_nanos
    out_.Number(10, profile_.meta.duration_ns);   // duration_nanos
    ValueType(11, mode, "nanoseconds");           // period_type
    const double rate_hz = profile_.meta.rate_hz;
    out_.Number(12, rate_hz > 0 ? static_cast<int64_t>(1e9 / rate_hz) : 0);  // period
    out_.Packed(13, {String(TitleOf(profile_.meta, options_)), String(SubtitleOf(profile_, options_))});
    out_.Number(14, String(mode));  // default_sample_type
    for (const std::string& text : strings_) out_.Bytes(6, text);
    return out_.bytes();
  }

 private:
  int64_t String(std::string_view text) {
    const auto [at, is_new] = numbers_.try_emplace(ValidText(text), static_cast<int64_t>(strings_.size()));
    if (is_new) strings_.push_back(at->first);
    return at->second;
  }

  void ValueType(uint32_t field, std::string_view type, std::string_view unit) {
    ProtobufWriter value;
    value.Number(1, String(type));
    value.Number(2, String(unit));
    out_.Message(field, value);
  }

  void Label(ProtobufWriter& sample, std::string_view key, std::string_view text, int64_t number) {
    ProtobufWriter label;
    label.Number(1, String(key));
    if (!text.empty()) label.Number(2, String(text));  // str
    label.Number(3, number);                           // num
    sample.Message(3, label);
  }

  // In a recording, whose numbers of attempts say nothing to anybody, the task.
  void LabelAttempt(ProtobufWriter& sample, uint64_t attempt) {
    if (attempt == 0) return;
    if (attempt > profile_.attempts.size()) {
      Label(sample, "attempt", "", static_cast<int64_t>(attempt));
    } else {
      Label(sample, "task", profile_.attempts[attempt - 1].task, 0);
    }
  }

  // Samples of one thread, stack and attempt are one.
  void WriteSamples() {
    struct Sum {
      int64_t count = 0;
      int64_t weight_ns = 0;
    };
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Sum> sums;
    for (const StackSample& sample : profile_.samples) {
      if (!view_.Includes(sample)) continue;
      Sum& sum = sums[{sample.thread, view_.NodeOf(sample), sample.attempt}];
      sum.count += sample.count;
      sum.weight_ns += sample.weight_ns;
    }
    for (const auto& [key, sum] : sums) {
      const auto& [thread_index, node, attempt] = key;
      const StackThread& thread = profile_.threads[thread_index];
      ProtobufWriter sample;
      std::vector<int64_t> locations;  // innermost first
      for (uint32_t at = node; at != 0; at = view_.node(at).parent) locations.push_back(view_.node(at).frame + 1);
      sample.Packed(1, locations);
      sample.Packed(2, {sum.count, sum.weight_ns});
      Label(sample, "thread", view_.ThreadLabel(thread), 0);
      Label(sample, "process", view_.ProcessLabel(thread), 0);
      LabelAttempt(sample, attempt);
      out_.Message(2, sample);
    }
  }

  // One mapping that says that nothing is left to symbolize.
  void WriteMapping() {
    ProtobufWriter mapping;
    mapping.Number(1, 1);  // id
    mapping.Number(5, String(TitleOf(profile_.meta, options_)));
    for (const uint32_t has : {7U, 8U, 9U}) mapping.Number(has, 1);  // functions, file names, line numbers
    out_.Message(3, mapping);
  }

  // A location and a function for each shown frame, by the same number.
  void WriteFrames() {
    int64_t id = 0;
    for (const ShownFrame& frame : view_.frames()) {
      ++id;
      ProtobufWriter line;
      line.Number(1, id);  // function_id
      line.Number(2, frame.line);
      ProtobufWriter location;
      location.Number(1, id);
      location.Number(2, 1);  // mapping_id
      location.Message(4, line);
      out_.Message(4, location);
      ProtobufWriter function;
      function.Number(1, id);
      function.Number(2, String(frame.name.empty() ? frame.label : frame.name));
      function.Number(3, String(frame.name));  // system_name
      function.Number(4, String(frame.file));
      function.Number(5, frame.first_line);
      out_.Message(5, function);
    }
  }

  const StackProfile& profile_;
  const ExportOptions& options_;
  StackView view_;
  ProtobufWriter out_;
  std::vector<std::string> strings_;
  std::map<std::string, int64_t> numbers_;
};

}  // namespace

void WritePprof(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  out << Gzip(Writer(profile, options).Bytes());
}

}  // namespace wf::profile
