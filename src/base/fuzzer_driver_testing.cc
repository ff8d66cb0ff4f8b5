// Runs a fuzzer without a fuzzing engine, the same way every time.
//
//   x_fuzzer [--rounds=N]   the seeds, then N mutations of them (2,000; fewer where they take more than 20 seconds)
//   x_fuzzer FILE…          these inputs
//
// The input at which it ends badly is written to x_fuzzer.failing in the current folder, to be given as FILE.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/fuzzer_testing.h"

// Of the sanitizers' runtimes, where one is linked: they end the process without a signal.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());  // NOLINT

namespace {

using Random = std::mt19937_64;

constexpr size_t kLongest = 1 << 16;
constexpr unsigned kSecondsPerInput = 60;
constexpr std::chrono::seconds kMost{20};

std::string input_at_hand;
std::string failing_path;

// In a signal handler too: system calls only.
void KeepInput() {
  const int file = open(failing_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  const ssize_t written = write(file, input_at_hand.data(), input_at_hand.size());
  constexpr std::string_view kNote = "the input is kept in ";
  if (written >= 0) (void)!write(STDERR_FILENO, kNote.data(), kNote.size());
  if (written >= 0) (void)!write(STDERR_FILENO, failing_path.data(), failing_path.size());
  (void)!write(STDERR_FILENO, "\n", 1);
  close(file);
}

void OnSignal(int signal) {
  constexpr std::string_view kNote = "one input takes too long; ";
  if (signal == SIGALRM) (void)!write(STDERR_FILENO, kNote.data(), kNote.size());
  KeepInput();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void Try(std::string input) {
  input_at_hand = std::move(input);
  alarm(kSecondsPerInput);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input_at_hand.data()), input_at_hand.size());
  alarm(0);
}

// A value that parsers stumble over, of 1 to 8 bytes.
std::string Extreme(Random& random) {
  static constexpr uint64_t kValues[] = {0,       1,          0x7F,       0x80,       0xFF,       0xFFFF,
                                         1 << 16, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1ULL << 47, ~0ULL};
  const uint64_t value = kValues[random() % std::size(kValues)] + random() % 3 - 1;
  return wf::base::FuzzerBytes(value).substr(0, size_t{1} << random() % 4);
}

void Overwrite(std::string& input, size_t at, std::string_view bytes) {
  input.replace(at, std::min(bytes.size(), input.size() - at), bytes);
}

void MutateOnce(std::string& input, const std::vector<std::string>& seeds, Random& random) {
  if (input.empty()) input.push_back(static_cast<char>(random()));
  const size_t at = random() % input.size();
  const size_t count = 1 + random() % std::min<size_t>(input.size() - at, size_t{1} << random() % 10);
  switch (random() % 8) {
    case 0: input[at] = static_cast<char>(input[at] ^ (1 << random() % 8)); break;
    case 1: input[at] = static_cast<char>(random()); break;
    case 2: Overwrite(input, at, Extreme(random)); break;
    case 3: input.erase(at, count); break;
    case 4: input.insert(at, input.substr(at, count)); break;
    case 5: input.insert(at, Extreme(random)); break;
    case 6: Overwrite(input, at, input.substr(random() % input.size(), count)); break;
    default: {  // the rest of another one
      const std::string& other = seeds[random() % seeds.size()];
      input = input.substr(0, at) + other.substr(std::min(other.size(), at));
    }
  }
  if (input.size() > kLongest) input.resize(kLongest);
}

void RunAll(uint64_t rounds) {
  std::vector<std::string> seeds = wf::base::FuzzerSeeds();
  seeds.emplace_back();
  for (const std::string& seed : seeds) Try(seed);
  const auto end = std::chrono::steady_clock::now() + kMost;
  uint64_t done = 0;
  for (; done < rounds && std::chrono::steady_clock::now() < end; ++done) {
    Random random(done);
    std::string input = seeds[done % seeds.size()];
    const uint64_t mutations = 1ULL << random() % 6;
    for (uint64_t i = 0; i < mutations; ++i) MutateOnce(input, seeds, random);
    Try(std::move(input));
  }
  std::printf("%zu seeds and %llu mutations of them did no harm\n", seeds.size(),
              static_cast<unsigned long long>(done));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view program(argv[0]);
  failing_path = std::string(program.substr(program.rfind('/') + 1)) + ".failing";
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) std::signal(signal, &OnSignal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(&KeepInput);
  constexpr std::string_view kRounds = "--rounds=";
  if (argc < 2) {
    RunAll(2'000);
  } else if (std::string_view(argv[1]).starts_with(kRounds)) {
    RunAll(std::strtoull(argv[1] + kRounds.size(), nullptr, 10));
  } else {
    for (int i = 1; i < argc; ++i) {
      std::ifstream file(argv[i], std::ios::binary);
      if (!file) {
        std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
        return 1;
      }
      Try(std::string(std::istreambuf_iterator<char>(file), {}));
    }
  }
  return 0;
}
