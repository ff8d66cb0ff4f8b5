#include "metrics/exposition.h"

namespace wf::metrics {
namespace {

// The unchanging pieces of the lines of one histogram family.
struct BucketPieces {
  explicit BucketPieces(const Family& family) {
    for (double bound : *family.bounds()) ends.push_back("le=\"" + BoundText(bound) + "\"} ");
    ends.push_back("le=\"+Inf\"} ");
  }
  std::vector<std::string> ends;
};

class Page {
 public:
  Page(Format format, std::string* out) : open_metrics_(format == Format::kOpenMetrics), out_(*out) {}

  void Write(const Family& family) {
    Header(family.spec());
    switch (family.spec().type) {
      case Type::kCounter: return Write(static_cast<const CounterFamily&>(family));
      case Type::kGauge: return Write(static_cast<const GaugeFamily&>(family));
      case Type::kHistogram: return Write(static_cast<const HistogramFamily&>(family));
    }
  }

  void Write(Collector* collector) {
    const CollectorSink sink = collector->Read();
    for (size_t i = 0; i < collector->families().size(); ++i) {
      const FamilySpec& spec = collector->families()[i];
      Header(spec);
      const std::string name = SampleName(spec);
      for (const CollectedSample& sample : sink.samples(i)) {
        Line(name, LabelText(spec.label_names, sample.values), sample.value);
      }
    }
  }

  void End() {
    if (open_metrics_) out_.append("# EOF\n");
  }

 private:
  static std::string SampleName(const FamilySpec& spec) {
    return spec.type == Type::kCounter ? spec.name + "_total" : spec.name;
  }

  void Header(const FamilySpec& spec) {
    const std::string name = open_metrics_ ? spec.name : SampleName(spec);
    if (!spec.help.empty()) {
      out_.append("# HELP ").append(name).append(" ");
      AppendEscaped(&out_, spec.help, open_metrics_);
      out_.push_back('\n');
    }
    out_.append("# TYPE ").append(name).append(" ").append(Name(spec.type)).push_back('\n');
  }

  void Line(std::string_view name, std::string_view label_text, auto value) {
    out_.append(name);
    if (!label_text.empty()) out_.append("{").append(label_text).append("}");
    out_.push_back(' ');
    AppendNumber(&out_, value);
    out_.push_back('\n');
  }

  void Write(const CounterFamily& family) {
    const std::string name = SampleName(family.spec());
    const auto children = family.Children();
    for (const auto& series : *children) Line(name, series->label_text, series->child.Value());
  }

  void Write(const GaugeFamily& family) {
    const auto children = family.Children();
    for (const auto& series : *children) {
      if (series->child.present()) Line(family.spec().name, series->label_text, series->child.Value());
    }
  }

  void Write(const HistogramFamily& family) {
    const BucketPieces pieces(family);
    const std::string& name = family.spec().name;
    const std::string sum_name = name + "_sum";
    const std::string count_name = name + "_count";
    std::string start;
    const auto children = family.Children();
    for (const auto& series : *children) {
      series->child.SnapshotTo(&snapshot_);
      start.assign(name).append("_bucket{").append(series->label_text);
      if (!series->label_text.empty()) start.push_back(',');
      for (size_t i = 0; i < pieces.ends.size(); ++i) {
        out_.append(start).append(pieces.ends[i]);
        AppendNumber(&out_, snapshot_.cumulative[i]);
        out_.push_back('\n');
      }
      Line(sum_name, series->label_text, snapshot_.sum);
      Line(count_name, series->label_text, snapshot_.count());
    }
  }

  const bool open_metrics_;
  std::string& out_;
  HistogramSnapshot snapshot_;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

Labels LabelsOf(const FamilySpec& spec, const std::vector<std::string>& values) {
  Labels labels;
  for (size_t i = 0; i < values.size(); ++i) labels.emplace_back(spec.label_names[i], values[i]);
  return labels;
}

void Take(const HistogramFamily& family, FamilySnapshot* out) {
  const auto children = family.Children();
  for (const auto& series : *children) {
    const HistogramSnapshot snapshot = series->child.Snapshot();
    const Labels labels = LabelsOf(family.spec(), series->values);
    for (size_t i = 0; i < snapshot.cumulative.size(); ++i) {
      Labels with_bound = labels;
      with_bound.emplace_back("le", i < family.bounds()->size() ? BoundText((*family.bounds())[i]) : "+Inf");
      out->samples.push_back({"_bucket", std::move(with_bound), static_cast<double>(snapshot.cumulative[i])});
    }
    out->samples.push_back({"_sum", labels, snapshot.sum});
    out->samples.push_back({"_count", labels, static_cast<double>(snapshot.count())});
  }
}

void Take(const CounterFamily& family, FamilySnapshot* out) {
  const auto children = family.Children();
  for (const auto& series : *children) {
    out->samples.push_back({"_total", LabelsOf(family.spec(), series->values), series->child.Value()});
  }
}

void Take(const GaugeFamily& family, FamilySnapshot* out) {
  const auto children = family.Children();
  for (const auto& series : *children) {
    if (!series->child.present()) continue;
    out->samples.push_back({"", LabelsOf(family.spec(), series->values), series->child.Value()});
  }
}

FamilySnapshot Take(const Family& family) {
  FamilySnapshot out{family.spec(), {}};
  switch (family.spec().type) {
    case Type::kCounter: Take(static_cast<const CounterFamily&>(family), &out); break;
    case Type::kGauge: Take(static_cast<const GaugeFamily&>(family), &out); break;
    case Type::kHistogram: Take(static_cast<const HistogramFamily&>(family), &out); break;
  }
  return out;
}

}  // namespace

std::string_view ContentType(Format format) {
  return format == Format::kText ? "text/plain; version=0.0.4; charset=utf-8"
                                 : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

void RenderTo(const Registry& registry, Format format, std::string* out) {
  Page page(format, out);
  for (const Registry::Part& part : registry.Parts()) {
    if (part.family != nullptr) {
      page.Write(*part.family);
    } else {
      page.Write(part.collector.get());
    }
  }
  page.End();
}

std::string Render(const Registry& registry, Format format) {
  std::string out;
  RenderTo(registry, format, &out);
  return out;
}

std::vector<FamilySnapshot> Snapshot(const Registry& registry) {
  std::vector<FamilySnapshot> all;
  for (const Registry::Part& part : registry.Parts()) {
    if (part.family != nullptr) {
      all.push_back(Take(*part.family));
      continue;
    }
    const CollectorSink sink = part.collector->Read();
    for (size_t i = 0; i < part.collector->families().size(); ++i) {
      FamilySnapshot out{part.collector->families()[i], {}};
      const char* const suffix = out.spec.type == Type::kCounter ? "_total" : "";
      for (const CollectedSample& sample : sink.samples(i)) {
        out.samples.push_back({suffix, LabelsOf(out.spec, sample.values), sample.value});
      }
      all.push_back(std::move(out));
    }
  }
  return all;
}

}  // namespace wf::metrics
