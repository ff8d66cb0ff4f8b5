// The controls of the fake libnvidia-ml.so.1 that the tests load in place of NVIDIA's.
#ifndef WF_PROBE_FAKE_NVML_TESTING_H_
#define WF_PROBE_FAKE_NVML_TESTING_H_

namespace wf::probe {

struct FakeNvml {
  int init_result = 0;
  unsigned devices = 1;
  bool memory_supported = true;
  unsigned long long device_used = 0;
  struct Process {
    unsigned pid = 0;
    unsigned long long used = 0;
    unsigned gpu_instance = ~0U;
  };
  Process processes[200] = {};
  unsigned process_count = 0;
};

// Exported by the fake as "FakeNvmlSet"; copies `state`. Thread-safe.
using FakeNvmlSet = void (*)(const FakeNvml* state);

}  // namespace wf::probe

#endif  // WF_PROBE_FAKE_NVML_TESTING_H_
