// `wf logs RUN`: log records and captured output, in the order of time.
#ifndef WF_REPORT_LOGS_H_
#define WF_REPORT_LOGS_H_

#include <string>
#include <vector>

#include "profile/run_record.h"
#include "report/style.h"

namespace wf::report {

struct RunLogs {
  profile::RunRecord record;
  std::vector<profile::LogLine> lines;
};

// One line of output for each line of text: "+1.83 s  train[3]  stderr  the text".
std::string LogsText(const RunLogs& logs, const Style& style);
std::string LogsJson(const RunLogs& logs);

}  // namespace wf::report

#endif  // WF_REPORT_LOGS_H_
