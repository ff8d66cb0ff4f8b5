// The page and its server for Python: what is called once in a while, so through nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "api/metrics_page.h"
#include "api/router.h"
#include "app/worker_watch.h"
#include "base/version.h"
#include "interpreter_end.h"
#include "metrics/exposition.h"
#include "metrics/run_families.h"
#include "metrics_object.h"
#include "metrics_types.h"
#include "net/server.h"

namespace nb = nanobind;

namespace wf::bindings {
namespace {

void Check(const Status& status, const char* error_type = "MetricsError") {
  if (status.ok()) return;
  RaiseFromErrors(error_type, status);
  throw nb::python_error();
}

// The families that a page of this process has besides the users': those of runs, and process_*.
Status EnsureOwnFamilies() {
  const auto families = metrics::DefaultRunFamilies({metrics::DefaultNamePrefix(), std::string(Version())});
  return families.ok() ? app::ShowProcesses() : families.status();
}

class MetricsServer {
 public:
  MetricsServer(int port, const std::string& address, const std::string& token) {
    Check(EnsureOwnFamilies());
    api::AddMetricsRoutes(&router_, &metrics::DefaultRegistry());
    net::ServerOptions options;
    options.address = address;
    options.port = port;
    options.token = token;
    Result<std::unique_ptr<net::Server>> server = net::Server::Start(std::move(options), &router_);
    Check(server.status(), "MetricsServerError");
    server_ = std::move(server).value();
    port_ = server_->port();
    url_ = server_->url();
  }

  int port() const { return port_; }
  const std::string& url() const { return url_; }
  void Close() {
    WithoutGil([this] { server_->Stop(); });
  }

 private:
  api::Router router_;
  std::unique_ptr<net::Server> server_;
  int port_ = 0;
  std::string url_;
};

nb::bytes GenerateLatest(bool openmetrics) {
  Check(EnsureOwnFamilies());
  std::string page;
  const auto format = openmetrics ? metrics::Format::kOpenMetrics : metrics::Format::kText;
  WithoutGil([&] { metrics::RenderTo(metrics::DefaultRegistry(), format, &page); });
  return nb::bytes(page.data(), page.size());
}

nb::list SnapshotList() {
  Check(EnsureOwnFamilies());
  nb::list families;
  for (const metrics::FamilySnapshot& family : metrics::Snapshot(metrics::DefaultRegistry())) {
    nb::list samples;
    for (const metrics::Sample& sample : family.samples) {
      nb::dict labels;
      for (const auto& [name, value] : sample.labels) labels[name.c_str()] = nb::str(value.data(), value.size());
      samples.append(nb::make_tuple(sample.suffix, labels, sample.value));
    }
    const std::string_view type = metrics::Name(family.spec.type);
    families.append(nb::make_tuple(family.spec.name, family.spec.help, std::string(type), samples));
  }
  return families;
}

void SetNamespace(const std::string& name) {
  if (!name.empty() && !metrics::IsMetricName(name)) {
    Check(Status(Code::kInvalidArgument, "metrics namespace \"" + name +
                                             "\" is not allowed; use letters, digits and "
                                             "underscores, not starting with a digit"));
  }
  Check(metrics::DefaultRunFamilies({name, std::string(Version())}).status());
}

}  // namespace

void BindMetrics(PyObject* module_object) {
  nb::module_ module = nb::borrow<nb::module_>(module_object);
  module.def("generate_latest", &GenerateLatest, nb::arg("openmetrics") = false, "The page of this process, as bytes.");
  module.def("metrics_snapshot", &SnapshotList, "[(name, help, type, [(suffix, labels, value)])] of the page.");
  module.def("set_metrics_namespace", &SetNamespace, nb::arg("name"), "Prefix of Workflow's own families; once.");
  module.def("metrics_namespace", &metrics::DefaultNamePrefix, "The prefix in use; empty: none, or not chosen yet.");
  module.def("ensure_metrics", [] { Check(EnsureOwnFamilies()); }, "Make Workflow's own families.");
  nb::class_<MetricsServer>(module, "MetricsServer", "Serves /metrics and /healthz from threads of its own.")
      .def(nb::init<int, const std::string&, const std::string&>(), nb::arg("port") = 0,
           nb::arg("address") = "127.0.0.1", nb::arg("token") = "")
      .def_prop_ro("port", &MetricsServer::port)
      .def_prop_ro("url", &MetricsServer::url)
      .def("close", &MetricsServer::Close);
}

}  // namespace wf::bindings
