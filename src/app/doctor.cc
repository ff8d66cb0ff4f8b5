#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "app/python_environment.h"
#include "app/python_packages.h"
#include "app/queries.h"
#include "base/version.h"
#include "probe/capabilities.h"
#include "store/folder.h"
#include "store/store.h"

namespace wf::app {
namespace {

namespace fs = std::filesystem;
using report::Check;
using report::Health;

std::vector<Check> MachineChecks() {
  std::vector<Check> checks;
  for (probe::Capability& capability : probe::ProbeCapabilities()) {
    Health health = Health::kNot;
    if (capability.available == probe::Availability::kPartly) health = Health::kPartly;
    if (capability.available == probe::Availability::kYes) health = Health::kGood;
    checks.push_back({std::move(capability.id), std::move(capability.what), health, std::move(capability.evidence),
                      std::move(capability.reason), std::move(capability.remedy)});
  }
  return checks;
}

// The nearest folder upwards that exists.
fs::path ExistingParent(fs::path folder) {
  std::error_code error;
  folder = fs::absolute(folder, error);
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

Check StoreFileSystem(const fs::path& folder) {
  Check check{"store.file_system", "file system of the store", Health::kGood, "local", "", ""};
  if (const Status status = store::CheckFileSystem(folder); !status.ok()) {
    check.health = Health::kNot;
    check.evidence = "network";
    check.reason = status.message();
    check.remedy = "put the store on a local disk: --store DIR or WF_STORE=DIR";
  }
  return check;
}

Check StoreWritable(const fs::path& folder) {
  const fs::path existing = ExistingParent(folder);
  Check check{"store.writable", "writing to the store", Health::kGood, existing.string(), "", ""};
  if (::access(existing.c_str(), W_OK | X_OK) != 0) {
    check.health = Health::kNot;
    check.reason = fmt::format("{} cannot be written: {}", existing.string(), std::strerror(errno));
    check.remedy = "choose another folder with --store DIR or WF_STORE=DIR";
  }
  return check;
}

Check StoreContent(const fs::path& folder) {
  Check check{"store.folder", "store", Health::kGood, folder.string(), "", ""};
  Result<std::unique_ptr<store::Store>> store = store::Store::Open(folder, store::Access::kRead);
  if (!store.ok()) {
    const bool missing = store.status().code() == Code::kNotFound;
    check.health = missing ? Health::kPartly : Health::kNot;
    check.reason = missing ? "there is none yet; the first run makes it" : store.status().message();
    return check;
  }
  const Result<std::vector<store::RunSummary>> runs = (*store)->ListRuns({});
  if (!runs.ok()) {
    check.health = Health::kNot;
    check.reason = runs.status().message();
    return check;
  }
  check.evidence = fmt::format("{}, {} run{}", folder.string(), runs->size(), runs->size() == 1 ? "" : "s");
  return check;
}

void AddPythonChecks(const DoctorRequest& request, std::vector<Check>* checks) {
  const Result<fs::path> python = FindPython(ReadSurroundings(request.program, request.python));
  Check found{"python.program", "Python that wf run takes", Health::kGood, "", "", ""};
  if (!python.ok()) {
    found.health = Health::kNot;
    found.reason = python.status().message();
    checks->push_back(std::move(found));
    return;
  }
  const Result<PythonFacts> facts = AskPython(*python);
  found.evidence = facts.ok() ? fmt::format("{}, {}", python->string(), facts->version) : python->string();
  if (!facts.ok()) {
    found.health = Health::kNot;
    found.reason = facts.status().message();
    checks->push_back(std::move(found));
    return;
  }
  checks->push_back(std::move(found));
  Check package{"python.workflow", "package workflow", Health::kGood, facts->workflow_version, "", ""};
  if (!facts->workflow_error.empty()) {
    package.health = Health::kNot;
    package.reason = fmt::format("import workflow fails there: {}", facts->workflow_error);
    package.remedy = "install it into that Python (pip install workflow-v6), or name another with --python";
  }
  checks->push_back(std::move(package));
  std::string list;
  for (const auto& [name, version] : facts->packages) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name, version);
  }
  checks->push_back({"python.packages", "packages we work with", Health::kGood, list.empty() ? "none" : list, "", ""});
}

}  // namespace

report::Doctor ExamineMachine(const DoctorRequest& request) {
  report::Doctor doctor;
  doctor.version = Version();
  doctor.machine = MachineChecks();
  const fs::path folder = store::Locate(request.store);
  doctor.installation.push_back(StoreContent(folder));
  doctor.installation.push_back(StoreFileSystem(folder));
  doctor.installation.push_back(StoreWritable(folder));
  AddPythonChecks(request, &doctor.installation);
  return doctor;
}

}  // namespace wf::app
