// What the store keeps of a Function: its name, where it is defined and what kind it is.
#ifndef WF_BINDINGS_TASK_DESCRIPTION_H_
#define WF_BINDINGS_TASK_DESCRIPTION_H_

#include "function_type.h"
#include "profile/model.h"

namespace wf::bindings {

// False with an error set.
bool DescribeTask(FunctionObject* function, profile::Task* task);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_TASK_DESCRIPTION_H_
