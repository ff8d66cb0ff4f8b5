// Flame graph as one SVG file: no network, no other file. Frames of one caller stand by name, side by side; a frame is
// as wide as its share of all weight. Without scripts it is a still picture with tooltips; with them (any browser that
// opens the file) it zooms, searches and takes keys: flame_graph_script.cc.
//
//   <svg> <title/> <style/> heading… <svg id="frames"> <g class="f" data-x data-w data-d><title/><rect/><text/></g>…
//   </svg> <script/> </svg>
//
// data-x, data-w: nanoseconds from the left, and of width; data-d: depth, 0 is the whole.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profile/escape.h"
#include "profile/export.h"
#include "profile/export_text.h"
#include "profile/flame_colors.h"
#include "profile/flame_graph_script.h"
#include "profile/stack_view.h"

namespace wf::profile {
namespace {

constexpr int kRowPx = 17;
constexpr int kHeadingPx = 98;
constexpr int kFootPx = 8;
// What the picture is laid out for until a script measures the real width.
constexpr double kNominalWidthPx = 1'180;
constexpr double kLetterPx = 7.23;  // of the monospaced font at 12 px
constexpr size_t kLegendEntries = 9;

struct Box {
  uint32_t node = 0;
  uint32_t depth = 0;
  int64_t x_ns = 0;
};

struct Layout {
  std::vector<Box> boxes;
  uint32_t depth = 0;  // of the deepest
  size_t left_out = 0;
};

std::vector<std::vector<uint32_t>> ChildrenOf(const StackView& view) {
  std::vector<std::vector<uint32_t>> children(view.node_count());
  for (uint32_t node = 1; node < view.node_count(); ++node) children[view.node(node).parent].push_back(node);
  for (std::vector<uint32_t>& each : children) {
    std::stable_sort(each.begin(), each.end(),
                     [&](uint32_t a, uint32_t b) { return view.frame_of(a).label < view.frame_of(b).label; });
  }
  return children;
}

Layout LayOut(const StackView& view, const std::vector<FoldedWeight>& weights, double least_share) {
  const std::vector<std::vector<uint32_t>> children = ChildrenOf(view);
  const double least_ns = least_share * static_cast<double>(weights[0].total_ns);
  Layout layout;
  std::vector<Box> open = {{}};
  while (!open.empty()) {
    const Box box = open.back();
    open.pop_back();
    layout.boxes.push_back(box);
    layout.depth = std::max(layout.depth, box.depth);
    int64_t x_ns = box.x_ns;
    for (const uint32_t child : children[box.node]) {
      const int64_t width_ns = weights[child].total_ns;
      if (width_ns > 0 && static_cast<double>(width_ns) >= least_ns) {
        open.push_back({child, box.depth + 1, x_ns});
      } else {
        ++layout.left_out;
      }
      x_ns += width_ns;
    }
  }
  return layout;
}

// As many letters as fit, ".." at the end of what does not; nothing where three do not fit.
std::string Fitting(const std::string& text, double width_px) {
  const auto room = static_cast<size_t>(std::max(0.0, (width_px - 6) / kLetterPx));
  size_t letters = 0;
  size_t cut = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<uint8_t>(text[i]) & 0xC0) == 0x80) continue;
    if (letters + 2 == room) cut = i;
    ++letters;
  }
  if (room < 3) return "";
  return letters <= room ? text : text.substr(0, cut) + "..";
}

class Writer {
 public:
  Writer(StackView& view, const ExportOptions& options, std::ostream& out)
      : view_(view), options_(options), out_(out), weights_(view.Fold()) {}

  void Write() {
    const Layout layout = LayOut(view_, weights_, options_.least_share);
    const int frames_px = static_cast<int>(layout.depth + 1) * kRowPx;
    WriteStart(layout, frames_px);
    out_ << fmt::format("<svg id=\"frames\" x=\"10\" y=\"{}\" width=\"98%\" height=\"{}\">\n", kHeadingPx, frames_px);
    for (const Box& box : layout.boxes) WriteBox(box, layout.depth);
    out_ << "</svg>\n";
    WriteHeading(layout);
    out_ << "<script><![CDATA[" << kFlameGraphScript << "]]></script>\n</svg>\n";
  }

 private:
  std::string Label(uint32_t node) const { return node == 0 ? "all" : Visible(view_.frame_of(node).label); }

  void WriteStart(const Layout& layout, int frames_px) {
    const StackProfile& profile = view_.profile();
    const std::string title = TitleOf(profile.meta, options_) + " · " + SubtitleOf(profile, options_);
    out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         << fmt::format(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%\" height=\"{}\" data-icicle=\"{}\" "
                "data-depth=\"{}\">\n",
                kHeadingPx + frames_px + kFootPx, options_.icicle ? 1 : 0, layout.depth)
         << "<title>" << XmlEscaped(title) << "</title>\n<style>" << kFlameGraphStyle << "</style>\n"
         << "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
  }

  // Drawn last, above the frames: the script keeps it in sight when a tall graph is scrolled.
  void WriteHeading(const Layout& layout) {
    const StackProfile& profile = view_.profile();
    out_ << "<g id=\"heading\">\n"
         << fmt::format("<rect class=\"ground\" width=\"100%\" height=\"{}\"/>\n", kHeadingPx - 2)
         << "<text id=\"title\" x=\"10\" y=\"20\">"
         << XmlEscaped(Fitting(Visible(TitleOf(profile.meta, options_)), 740)) << "</text>\n"
         << "<text class=\"sub\" x=\"10\" y=\"37\">" << XmlEscaped(SubtitleOf(profile, options_)) << "</text>\n"
         << "<text class=\"sub\" x=\"10\" y=\"53\">" << XmlEscaped(WeightText(layout)) << "</text>\n";
    WriteLegend();
    out_ << "<text id=\"details\" x=\"10\" y=\"90\"> </text>\n" << kFlameGraphControls << "</g>\n";
  }

  std::string WeightText(const Layout& layout) const {
    std::string text = DurationText(weights_[0].total_ns) + " in all";
    if (layout.left_out == 0) return text + " · every frame is shown";
    return text + fmt::format(" · {} frame{} narrower than {:g} % left out with what they call", layout.left_out,
                              layout.left_out == 1 ? "" : "s", options_.least_share * 100);
  }

  void WriteLegend() {
    std::map<std::string, int64_t> self_ns;
    std::map<std::string, std::string> colors;
    for (uint32_t node = 1; node < view_.node_count(); ++node) {
      const ShownFrame& frame = view_.frame_of(node);
      const std::string group = ColorGroupOf(frame);
      self_ns[group] += weights_[node].self_ns;
      colors.try_emplace(group, GroupColor(frame));
    }
    std::vector<std::pair<int64_t, std::string>> order;
    for (const auto& [group, ns] : self_ns) {
      if (ns > 0) order.emplace_back(ns, group);
    }
    std::sort(order.rbegin(), order.rend());
    if (order.size() > kLegendEntries) order.resize(kLegendEntries);
    double x = 10;
    for (const auto& [ns, group] : order) {
      const std::string text = Fitting(Visible(group), 200) + " " + PercentText(ns, weights_[0].total_ns);
      out_ << fmt::format(
          "<rect x=\"{0:.0f}\" y=\"62\" width=\"10\" height=\"10\" fill=\"{1}\"/><text class=\"sub\" x=\"{2:.0f}\" "
          "y=\"71\">"
          "{3}</text>\n",
          x, colors[group], x + 14, XmlEscaped(text));
      x += 14 + 6.7 * static_cast<double>(text.size()) + 14;
    }
  }

  void WriteBox(const Box& box, uint32_t depth) {
    const FoldedWeight& weight = weights_[box.node];
    const auto whole = static_cast<double>(std::max<int64_t>(1, weights_[0].total_ns));
    const double left = 100.0 * static_cast<double>(box.x_ns) / whole;
    const double width = 100.0 * static_cast<double>(weight.total_ns) / whole;
    const uint32_t row = options_.icicle ? box.depth : depth - box.depth;
    const int y = static_cast<int>(row) * kRowPx;
    const std::string label = Label(box.node);
    const std::string color = box.node == 0 ? "#d8d8d8" : ColorOf(view_.frame_of(box.node));
    std::string tip = fmt::format("{}\n{} ({})", label, DurationText(weight.total_ns),
                                  PercentText(weight.total_ns, weights_[0].total_ns));
    if (weight.self_ns > 0 && weight.self_ns != weight.total_ns) tip += ", itself " + DurationText(weight.self_ns);
    out_ << fmt::format("<g class=\"f\" tabindex=\"-1\" data-x=\"{}\" data-w=\"{}\" data-d=\"{}\"><title>", box.x_ns,
                        weight.total_ns, box.depth)
         << TipEscaped(tip)
         << fmt::format("</title><rect x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"16\" fill=\"{}\" rx=\"1\"/>",
                        left, y, width, color)
         << fmt::format("<text x=\"{:.4f}%\" y=\"{}\" dx=\"3\">{}</text></g>\n", left, y + 12,
                        XmlEscaped(Fitting(label, width / 100 * kNominalWidthPx)));
  }

  // The one newline is ours; those of the name were made visible before.
  static std::string TipEscaped(const std::string& tip) {
    const size_t newline = tip.find('\n');
    return XmlEscaped(tip.substr(0, newline)) + "\n" + XmlEscaped(tip.substr(newline + 1));
  }

  StackView& view_;
  const ExportOptions& options_;
  std::ostream& out_;
  std::vector<FoldedWeight> weights_;
};

}  // namespace

void WriteFlameGraph(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  StackView view(profile, options);
  Writer(view, options, out).Write();
}

}  // namespace wf::profile
