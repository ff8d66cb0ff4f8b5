// `wf doctor`: what this machine lets us measure and what to change.
#ifndef WF_REPORT_DOCTOR_H_
#define WF_REPORT_DOCTOR_H_

#include <string>
#include <vector>

#include "report/style.h"

namespace wf::report {

enum class Health { kGood, kPartly, kNot };

// One thing that was looked at.
struct Check {
  std::string id;  // stable, for JSON
  std::string what;
  Health health = Health::kGood;
  std::string evidence;  // what was seen
  std::string reason;    // why it is not good
  std::string remedy;    // what to change; empty when there is nothing to do
};

struct Doctor {
  std::string version;
  std::vector<Check> machine;       // CPUs, memory, probes
  std::vector<Check> installation;  // store, Python, packages
};

// True when workflows can run and be stored here; what cannot be measured does not count.
bool IsSound(const Doctor& doctor);
std::string DoctorText(const Doctor& doctor, const Style& style);
std::string DoctorJson(const Doctor& doctor);

}  // namespace wf::report

#endif  // WF_REPORT_DOCTOR_H_
