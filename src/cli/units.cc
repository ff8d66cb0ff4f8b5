#include "cli/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace wf::cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kTimes = {
    Unit{"ns", 1},     Unit{"us", 1e3},   Unit{"ms", 1e6},    Unit{"s", 1e9},         Unit{"m", 60e9},
    Unit{"min", 60e9}, Unit{"h", 3600e9}, Unit{"d", 86400e9}, Unit{"w", 7 * 86400e9},
};

constexpr std::array kRates = {
    Unit{"", 1}, Unit{"Hz", 1}, Unit{"hz", 1}, Unit{"kHz", 1e3}, Unit{"KHz", 1e3}, Unit{"khz", 1e3}, Unit{"MHz", 1e6},
};
constexpr double kLeastRate = 1.0 / 3600;
constexpr double kMostRate = 1e6;

constexpr double kKi = 1024;
constexpr std::array kSizes = {
    Unit{"", 1},
    Unit{"B", 1},
    Unit{"K", kKi},
    Unit{"KiB", kKi},
    Unit{"kB", 1e3},
    Unit{"KB", 1e3},
    Unit{"M", kKi * kKi},
    Unit{"MiB", kKi * kKi},
    Unit{"MB", 1e6},
    Unit{"G", kKi * kKi * kKi},
    Unit{"GiB", kKi * kKi * kKi},
    Unit{"GB", 1e9},
    Unit{"T", kKi * kKi * kKi * kKi},
    Unit{"TiB", kKi * kKi * kKi * kKi},
    Unit{"TB", 1e12},
};

template <size_t N>
std::optional<double> Factor(const std::array<Unit, N>& units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return std::nullopt;
}

// Takes a number off the front of `text`; nullopt when there is none. No signs, no exponents, no "inf".
std::optional<double> TakeNumber(std::string_view* text) {
  if (text->empty() || (text->front() < '0' || text->front() > '9')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return value;
}

std::string_view TakeLetters(std::string_view* text) {
  size_t n = 0;
  while (n < text->size() && ((*text)[n] < '0' || (*text)[n] > '9')) ++n;
  const std::string_view letters = text->substr(0, n);
  text->remove_prefix(n);
  return letters;
}

bool Fits(double value) { return value >= 0 && value < 9.2e18; }

Status BadDuration(std::string_view text) {
  return Status(Code::kInvalidArgument,
                fmt::format("'{}' is no duration; write it as 30s, 5m, 1h30m or 7d (units ns us ms s m h d w)", text));
}

}  // namespace

Result<int64_t> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  double total = 0;
  bool bare_number = true;
  do {
    const std::optional<double> number = TakeNumber(&rest);
    if (!number) return BadDuration(text);
    std::string_view unit = TakeLetters(&rest);
    if (unit.empty()) {
      if (!bare_number) return BadDuration(text);
      unit = "s";
    }
    bare_number = false;
    const std::optional<double> factor = Factor(kTimes, unit);
    if (!factor) return BadDuration(text);
    total += *number * *factor;
  } while (!rest.empty());
  if (!Fits(total)) return BadDuration(text);
  return static_cast<int64_t>(std::llround(total));
}

Result<double> ParseRate(std::string_view text) {
  std::string_view rest = text;
  const std::optional<double> number = TakeNumber(&rest);
  const std::optional<double> factor = Factor(kRates, rest);
  const double rate = number && factor ? *number * *factor : 0;
  if (rate < kLeastRate || rate > kMostRate) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is no rate; write it as 100, 0.5 or 1kHz, at most 1000kHz", text));
  }
  return rate;
}

Result<int32_t> ParsePid(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  int32_t pid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || pid <= 0) {
    return Status(Code::kInvalidArgument, fmt::format("--pid: '{}' is no process id (such as 1234 or 0x4d2)", text));
  }
  return pid;
}

Result<int32_t> ParsePidOrProgram(std::string_view pid, const std::vector<std::string>& program,
                                  std::string_view verb) {
  if (pid.empty() == program.empty()) {
    return Status(Code::kInvalidArgument, program.empty()
                                              ? fmt::format("{} what? --pid PID, or -- PROGRAM ARGUMENTS", verb)
                                              : "--pid and a program: give one of them");
  }
  return pid.empty() ? Result<int32_t>(0) : ParsePid(pid);
}

Result<int64_t> ParseSize(std::string_view text) {
  std::string_view rest = text;
  const std::optional<double> number = TakeNumber(&rest);
  const std::optional<double> factor = Factor(kSizes, rest);
  if (!number || !factor || !Fits(*number * *factor)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("'{}' is no size; write it as 2GiB, 500MB or 4096 (units B KiB MiB GiB TiB kB MB GB TB)", text));
  }
  return static_cast<int64_t>(std::llround(*number * *factor));
}

Result<std::pair<std::string, std::string>> ParseKeyValue(std::string_view flag, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Status(Code::kInvalidArgument, fmt::format("{} {}: write it as key=value", flag, text));
  }
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

}  // namespace wf::cli
