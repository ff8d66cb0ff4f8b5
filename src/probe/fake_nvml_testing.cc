// A stand-in for libnvidia-ml.so.1 with the binary interface of NVIDIA's public API reference, written apart from
// nvml_linux.cc so that one checks the other.
#include "probe/fake_nvml_testing.h"

#include <cstring>
#include <mutex>

namespace {

std::mutex g_mutex;
wf::probe::FakeNvml g_state;
char g_devices[16];  // their addresses are the handles

}  // namespace

extern "C" {

void FakeNvmlSet(const wf::probe::FakeNvml* state) {
  std::lock_guard lock(g_mutex);
  g_state = *state;
}

int nvmlInit_v2() {
  std::lock_guard lock(g_mutex);
  return g_state.init_result;
}
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int result) { return result == 9 ? "Driver Not Loaded" : "Unknown Error"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "999.1", size);
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  std::lock_guard lock(g_mutex);
  *count = g_state.devices;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= sizeof g_devices) return 2;  // INVALID_ARGUMENT
  *device = &g_devices[index];
  return 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::strncpy(text, "Fake GPU", size);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  std::lock_guard lock(g_mutex);
  if (!g_state.memory_supported) return 3;  // NOT_SUPPORTED
  memory[0] = 8ULL << 30;
  memory[1] = (8ULL << 30) - g_state.device_used;
  memory[2] = g_state.device_used;
  return 0;
}
// Bytes 0-3 pid, 8-15 memory, 16-19 GPU instance, 20-23 compute instance. The processes are all on the first device.
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, unsigned char* infos) {
  std::lock_guard lock(g_mutex);
  const unsigned wanted = device == &g_devices[0] ? g_state.process_count : 0;
  const unsigned capacity = *count;
  *count = wanted;
  if (wanted > capacity) return 7;  // INSUFFICIENT_SIZE
  for (unsigned i = 0; i < wanted; ++i) {
    const auto& process = g_state.processes[i];
    std::memcpy(infos + 24 * i, &process.pid, 4);
    std::memcpy(infos + 24 * i + 8, &process.used, 8);
    std::memcpy(infos + 24 * i + 16, &process.gpu_instance, 4);
    std::memcpy(infos + 24 * i + 20, &process.gpu_instance, 4);
  }
  return 0;
}

}  // extern "C"
