#include <memory>

#include "app/queries.h"
#include "cli/verb.h"
#include "report/doctor.h"

namespace wf::cli {

Action DeclareDoctor(Options options, Context& context) {
  auto request = std::make_shared<app::DoctorRequest>();
  options.Text("--python", &request->python, "PATH", "the Python to look at, as for wf run");
  AddStore(options, context);
  AddJson(options, context);
  return [request, &context]() -> Result<int> {
    request->store = context.store;
    request->program = context.program;
    const report::Doctor doctor = app::ExamineMachine(*request);
    Result<int> printed = PrintAs(
        context, [&](const report::Style& style) { return report::DoctorText(doctor, style); },
        [&] { return report::DoctorJson(doctor); });
    if (!printed.ok() || *printed != kDone) return printed;
    return report::IsSound(doctor) ? kDone : kSetUpBroken;
  };
}

}  // namespace wf::cli
