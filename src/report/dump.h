// `wf dump`: the stacks of Python processes right now, laid out as py-spy does.
#ifndef WF_REPORT_DUMP_H_
#define WF_REPORT_DUMP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/style.h"

namespace wf::report {

struct DumpLocal {
  std::string name;
  std::string text;      // as repr() would write it
  uint64_t address = 0;  // of the object
  bool argument = false;
};

struct DumpFrame {
  std::string name;            // empty: its code could not be read
  std::string qualname;        // empty before 3.11
  std::string filename;        // as the program has it
  std::string short_filename;  // from the outermost package on
  int32_t line = 0;            // 0: none
  std::string source;          // of that line; empty: not asked for, or not to be had
  std::vector<DumpLocal> locals;
  bool marker = false;   // no function: `name` says what is there, "<interpreter 1>"
  bool native = false;   // of C, C++, Rust; then:
  bool inlined = false;  // into the function of the next frame
  std::string module;    // path of the program or library; empty: the code lies in none
  uint64_t address = 0;  // in the module
};

struct DumpTask {
  std::string name;               // empty: it could not be read
  std::string state;              // "running", "waiting", "ready"
  std::string awaited_task;       // the name of the task that it awaits; empty: none
  bool truncated = false;         // deeper than what was read
  std::vector<DumpFrame> frames;  // its await chain, leaf first
};

// Of a run of Workflow.
struct DumpAttempt {
  std::string task;  // empty: not told
  std::string run;
  uint64_t node = 0;
  uint64_t attempt = 0;
};

struct DumpThread {
  int32_t tid = 0;  // 0: not known
  uint64_t pthread_id = 0;
  int64_t interpreter = 0;
  std::string name;   // empty: none
  std::string state;  // R, S, D, …; "?": not known
  bool active = false;
  bool holds_gil = false;
  bool truncated = false;              // deeper than what was read
  std::string native_end;              // why the native frames end before the root; empty: they do not
  bool has_python = true;              // false: the interpreter does not know it
  std::string reject;                  // why the stack, or what is left of it, is not here; empty: it is whole
  std::vector<DumpFrame> frames;       // leaf first
  std::vector<DumpTask> tasks;         // of asyncio, of its event loop
  std::optional<DumpAttempt> attempt;  // that it works for; nullopt: for none, or that is not certain
};

struct DumpProcess {
  int32_t pid = 0;
  std::string core;  // the core file that it is read from; empty: it lives
  std::string command_line;
  std::string version;
  std::string path;                   // of the interpreter
  std::string note;                   // "stopped by a signal", "traced by process 7 (gdb)"; empty: nothing special
  std::string asyncio;                // what is to be said of its tasks as a whole; empty: nothing
  std::vector<DumpTask> other_tasks;  // whose thread is not known
  std::vector<DumpThread> threads;
  std::map<std::string, uint64_t> rejects;  // stacks not shown whole, by reason
};

struct Dump {
  std::vector<DumpProcess> processes;
  std::vector<std::string> skipped;  // a sentence per process that was left out (--subprocesses)
  bool full_filenames = false;
  bool with_locals = false;  // they were asked for
  bool with_tasks = false;   // those of asyncio were asked for
};

std::string DumpText(const Dump& dump, const Style& style);
// An array of the threads of all processes, with py-spy's keys and ours.
std::string DumpJson(const Dump& dump);

}  // namespace wf::report

#endif  // WF_REPORT_DUMP_H_
