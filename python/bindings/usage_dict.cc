#include "usage_dict.h"

#include <array>

namespace wf::bindings {
namespace {

struct Field {
  const char* name;
  profile::Figure profile::Usage::* member;
};

constexpr std::array<Field, 12> kFields{{
    {"cpu_ns", &profile::Usage::cpu_ns},
    {"memory_peak_bytes", &profile::Usage::memory_peak_bytes},
    {"read_bytes", &profile::Usage::read_bytes},
    {"write_bytes", &profile::Usage::write_bytes},
    {"device_read_bytes", &profile::Usage::device_read_bytes},
    {"device_write_bytes", &profile::Usage::device_write_bytes},
    {"net_received_bytes", &profile::Usage::net_received_bytes},
    {"net_sent_bytes", &profile::Usage::net_sent_bytes},
    {"gpu_memory_bytes", &profile::Usage::gpu_memory_bytes},
    {"gpu_busy_ns", &profile::Usage::gpu_busy_ns},
    {"energy_uj", &profile::Usage::energy_uj},
    {"cpu_wait_ns", &profile::Usage::cpu_wait_ns},
}};

}  // namespace

nanobind::dict UsageToDict(const profile::Usage& usage) {
  nanobind::dict dict;
  for (const Field& field : kFields) {
    const profile::Figure& figure = usage.*field.member;
    if (figure.present()) dict[field.name] = nanobind::make_tuple(figure.value, static_cast<int>(figure.quality));
  }
  return dict;
}

profile::Usage UsageFromDict(const nanobind::dict& dict) {
  profile::Usage usage;
  for (const Field& field : kFields) {
    if (!dict.contains(field.name)) continue;
    const auto pair = nanobind::cast<nanobind::tuple>(dict[field.name]);
    const int quality = nanobind::cast<int>(pair[1]);
    if (quality < 0 || quality > static_cast<int>(profile::Quality::kShared)) continue;
    usage.*field.member = {nanobind::cast<int64_t>(pair[0]), static_cast<profile::Quality>(quality)};
  }
  return usage;
}

}  // namespace wf::bindings
