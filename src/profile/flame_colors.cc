#include "profile/flame_colors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace wf::profile {
namespace {

// Hues of packages lie outside of the program's orange.
constexpr double kFirstHue = 75;
constexpr double kHueRange = 250;

double Spread(std::string_view text) {
  return static_cast<double>(MixBits(std::hash<std::string_view>{}(text)) >> 11) / 9007199254740992.0;  // [0, 1)
}

std::string FromHsl(double hue, double saturation, double lightness) {
  const auto channel = [&](double n) {
    const double k = std::fmod(n + hue / 30, 12);
    const double a = saturation * std::min(lightness, 1 - lightness);
    return static_cast<int>(std::lround(255 * (lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0})))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

struct Tint {
  double hue = 0;
  double saturation = 0;
};

Tint TintOf(const ShownFrame& frame) {
  if (frame.kind == FrameKind::kMarker) return {0, 0};
  if (frame.kind == FrameKind::kKernel) return {270, 0.25};
  if (frame.module.empty()) return {28, 0.9};
  if (frame.module == "python") return {50, 0.75};
  return {kFirstHue + kHueRange * Spread(frame.module), frame.kind == FrameKind::kNative ? 0.35 : 0.6};
}

}  // namespace

std::string ColorGroupOf(const ShownFrame& frame) {
  if (frame.kind == FrameKind::kMarker) return "markers";
  if (!frame.module.empty()) return frame.module == "python" ? "standard library" : frame.module;
  return frame.kind == FrameKind::kNative ? "native" : "program";
}

std::string GroupColor(const ShownFrame& frame) {
  const Tint tint = TintOf(frame);
  return FromHsl(tint.hue, tint.saturation, 0.74);
}

std::string ColorOf(const ShownFrame& frame) {
  const Tint tint = TintOf(frame);
  const double shade = Spread(frame.name);
  const double hue = tint.saturation == 0 ? 0 : tint.hue + 14 * (shade - 0.5);
  return FromHsl(hue, tint.saturation, 0.69 + 0.1 * Spread(frame.label));
}

}  // namespace wf::profile
