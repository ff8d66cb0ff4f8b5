// NVML's binary interface, written down from NVIDIA's public API reference: only what is called here. The functions are
// versioned by name (_v2, _v3) and keep their layout for ever; a structure with a version field checks it.
#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "probe/gpu.h"

namespace wf::probe {
namespace {

// nvmlReturn_t
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
// Where a 64-bit value is not available, all its bits are set.
constexpr unsigned long long kNotAvailable = ~0ULL;
constexpr unsigned kMostDevices = 1024;
constexpr unsigned kMostProcesses = 16 * 1024;

using Device = void*;

struct MemoryV1 {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;  // size and 2 << 24
  unsigned long long total, reserved, free, used;
};
// nvmlProcessInfo_v2_t, the layout of both ComputeRunningProcesses_v2 and _v3.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(MemoryV2) == 40 && sizeof(ProcessInfo) == 24);

struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_index)(unsigned, Device*) = nullptr;
  int (*device_name)(Device, char*, unsigned) = nullptr;
  int (*memory_v1)(Device, MemoryV1*) = nullptr;
  int (*memory_v2)(Device, MemoryV2*) = nullptr;  // may be missing: drivers before 510
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
};

template <typename F>
bool Find(void* library, const char* name, F* function) {
  *function = reinterpret_cast<F>(dlsym(library, name));
  return *function != nullptr;
}

// The name of the first function that is missing; empty when all are there.
std::string FindFunctions(void* library, Functions* f) {
  Find(library, "nvmlErrorString", &f->error_string);
  Find(library, "nvmlSystemGetDriverVersion", &f->driver_version);
  Find(library, "nvmlDeviceGetMemoryInfo_v2", &f->memory_v2);
  if (!Find(library, "nvmlInit_v2", &f->init)) return "nvmlInit_v2";
  if (!Find(library, "nvmlShutdown", &f->shutdown)) return "nvmlShutdown";
  if (!Find(library, "nvmlDeviceGetCount_v2", &f->device_count)) return "nvmlDeviceGetCount_v2";
  if (!Find(library, "nvmlDeviceGetHandleByIndex_v2", &f->device_by_index)) return "nvmlDeviceGetHandleByIndex_v2";
  if (!Find(library, "nvmlDeviceGetName", &f->device_name)) return "nvmlDeviceGetName";
  if (!Find(library, "nvmlDeviceGetMemoryInfo", &f->memory_v1)) return "nvmlDeviceGetMemoryInfo";
  if (!Find(library, "nvmlDeviceGetComputeRunningProcesses_v3", &f->processes) &&
      !Find(library, "nvmlDeviceGetComputeRunningProcesses_v2", &f->processes)) {
    return "nvmlDeviceGetComputeRunningProcesses_v2";
  }
  return "";
}

std::optional<int64_t> Bytes(unsigned long long value) {
  if (value == kNotAvailable || value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

class LoadedNvml final : public Nvml {
 public:
  LoadedNvml(void* library, const Functions& functions) : library_(library), f_(functions) {}
  ~LoadedNvml() override {
    f_.shutdown();
    dlclose(library_);
  }

  std::string DriverVersion() override {
    char text[96] = "";
    if (f_.driver_version == nullptr || f_.driver_version(text, sizeof text - 1) != kSuccess) return "";
    return text;
  }

  std::vector<GpuDevice> Devices() override {
    std::vector<GpuDevice> devices;
    for (const auto& [index, handle] : Handles()) {
      GpuDevice device;
      device.index = index;
      char name[128] = "";
      if (f_.device_name(handle, name, sizeof name - 1) == kSuccess) device.name = name;
      ReadMemory(handle, &device);
      devices.push_back(std::move(device));
    }
    return devices;
  }

  std::vector<GpuProcess> Processes() override {
    std::vector<GpuProcess> all;
    for (const auto& [index, handle] : Handles()) {
      // A process has one entry per MIG slice that it uses.
      std::map<int32_t, std::optional<int64_t>> by_pid;
      for (const ProcessInfo& info : Running(handle)) {
        std::optional<int64_t>& sum = by_pid[static_cast<int32_t>(info.pid)];
        if (const auto bytes = Bytes(info.used_memory)) sum = sum.value_or(0) + std::min(*bytes, INT64_MAX / 65536);
      }
      for (const auto& [pid, bytes] : by_pid) all.push_back({index, pid, bytes});
    }
    return all;
  }

 private:
  // A device that fell off the bus is left out.
  std::vector<std::pair<int, Device>> Handles() {
    std::vector<std::pair<int, Device>> handles;
    unsigned count = 0;
    if (f_.device_count(&count) != kSuccess) return handles;
    for (unsigned i = 0; i < std::min(count, kMostDevices); ++i) {
      Device handle = nullptr;
      if (f_.device_by_index(i, &handle) == kSuccess) handles.emplace_back(static_cast<int>(i), handle);
    }
    return handles;
  }

  void ReadMemory(Device handle, GpuDevice* device) {
    MemoryV2 memory{};
    memory.version = static_cast<unsigned>(sizeof memory) | (2U << 24);
    if (f_.memory_v2 != nullptr && f_.memory_v2(handle, &memory) == kSuccess) {
      device->total_bytes = Bytes(memory.total);
      device->used_bytes = Bytes(memory.used);
      return;
    }
    MemoryV1 old{};
    if (f_.memory_v1(handle, &old) != kSuccess) return;
    device->total_bytes = Bytes(old.total);
    device->used_bytes = Bytes(old.used);
  }

  std::vector<ProcessInfo> Running(Device handle) {
    for (unsigned capacity = 64; capacity <= kMostProcesses; capacity *= 4) {
      std::vector<ProcessInfo> found(capacity);
      unsigned count = capacity;
      const int result = f_.processes(handle, &count, found.data());
      if (result == kInsufficientSize) continue;  // also when processes came between the two calls
      found.resize(result == kSuccess ? std::min(count, capacity) : 0);
      return found;
    }
    return {};
  }

  void* library_;
  Functions f_;
};

}  // namespace

Result<std::unique_ptr<Nvml>> Nvml::Open(const std::string& library) {
  const std::string name = library.empty() ? "libnvidia-ml.so.1" : library;
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return Status(Code::kUnavailable, "no GPU figures: the NVIDIA management library cannot be loaded (" +
                                          std::string(why != nullptr ? why : name) +
                                          "); it comes with NVIDIA's driver");
  }
  Functions functions;
  const std::string missing = FindFunctions(handle, &functions);
  if (!missing.empty()) {
    dlclose(handle);
    return Status(Code::kUnavailable, "no GPU figures: " + name + " has no function " + missing +
                                          "; the driver is too old, version 450 or later is needed");
  }
  if (const int result = functions.init(); result != kSuccess) {
    const char* why = functions.error_string != nullptr ? functions.error_string(result) : nullptr;
    Status status(Code::kUnavailable, "no GPU figures: NVML does not start: " +
                                          std::string(why != nullptr ? why : "error " + std::to_string(result)) +
                                          "; nvidia-smi should say more");
    dlclose(handle);
    return status;
  }
  return std::unique_ptr<Nvml>(std::make_unique<LoadedNvml>(handle, functions));
}

}  // namespace wf::probe
