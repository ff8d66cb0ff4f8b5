#include "app/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/python_environment.h"

namespace wf::app {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

class LaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("wf_launch_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path Program(const std::string& name) {
    const fs::path file = folder_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n";
    ::chmod(file.c_str(), 0755);
    return file;
  }
  RunRequest ValidRequest() {
    RunRequest request;
    request.target = (folder_ / "pipeline.py").string();
    std::ofstream(request.target) << "pass\n";
    return request;
  }

  fs::path folder_;
};

TEST_F(LaunchTest, TargetIsSplitAtItsLastColon) {
  RunRequest request;
  SplitTarget("a:b.py:training", &request);
  EXPECT_EQ(request.target, "a:b.py");
  EXPECT_EQ(request.workflow, "training");
  SplitTarget("pipeline.py", &request);
  EXPECT_EQ(request.target, "pipeline.py");
  EXPECT_EQ(request.workflow, "");
}

TEST_F(LaunchTest, AFileWithAColonInItsNameIsTakenWhole) {
  const std::string file = (folder_ / "odd:name.py").string();
  const std::ofstream made(file);
  RunRequest request;
  SplitTarget(file, &request);
  EXPECT_EQ(request.target, file);
  EXPECT_EQ(request.workflow, "");
}

TEST_F(LaunchTest, AMissingFileIsNamed) {
  RunRequest request;
  request.target = (folder_ / "nothing.py").string();
  const Status status = Validate(request);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("nothing.py: no such file"));
}

TEST_F(LaunchTest, AnAddressThatOthersReachNeedsAToken) {
  RunRequest request = ValidRequest();
  request.metrics_address = "0.0.0.0";
  EXPECT_THAT(Validate(request).message(), HasSubstr("--token-file"));
  request.token_file = request.target;
  EXPECT_TRUE(Validate(request).ok());
}

TEST_F(LaunchTest, NothingGivenBecomesNullSoThatPythonSideDecides) {
  const nlohmann::json document = nlohmann::json::parse(LaunchDocument(ValidRequest()));
  EXPECT_EQ(document["version"], 1);
  for (const char* key : {"workflow", "params_file", "executor", "workers", "mode", "store", "metrics_port",
                          "token_file", "namespace", "stack_rate"}) {
    EXPECT_TRUE(document.at(key).is_null()) << key;
  }
  EXPECT_EQ(document["params"], nlohmann::json::object());
  EXPECT_EQ(document["metrics_address"], "127.0.0.1");
}

TEST_F(LaunchTest, ValuesSurviveWhateverBytesTheyHold) {
  RunRequest request = ValidRequest();
  request.params["text"] = "a \"quoted\" é\nline";
  request.params["bytes"] = "\xff\xfe";
  const nlohmann::json document = nlohmann::json::parse(LaunchDocument(request));
  EXPECT_EQ(document["params"]["text"], "a \"quoted\" é\nline");
}

TEST_F(LaunchTest, AnActiveEnvironmentGoesBeforeThePythonBesideTheProgram) {
  Surroundings s;
  s.self = Program("bin/wf");
  const fs::path beside = Program("bin/python3");
  EXPECT_EQ(FindPython(s).value(), beside);
  s.virtual_env = (folder_ / "env").string();
  const fs::path active = Program("env/bin/python");
  EXPECT_EQ(FindPython(s).value(), active);
}

TEST_F(LaunchTest, ALinkToTheProgramIsLookedBesideAsWell) {
  Surroundings s;
  s.self = Program("build/wf");
  s.invoked_as = "wf";
  s.path = {(folder_ / "venv/bin").string()};
  Program("venv/bin/wf");
  const fs::path python = Program("venv/bin/python3");
  EXPECT_EQ(FindPython(s).value(), python);
}

TEST_F(LaunchTest, AnExplicitPythonThatIsNotThereNeverFallsThrough) {
  Surroundings s;
  s.self = Program("bin/wf");
  Program("bin/python3");
  s.python_option = (folder_ / "gone/python").string();
  EXPECT_EQ(FindPython(s).status().code(), Code::kFailedPrecondition);
  s.python_option.clear();
  s.virtual_env = (folder_ / "gone").string();
  EXPECT_THAT(FindPython(s).status().message(), HasSubstr("VIRTUAL_ENV"));
}

TEST_F(LaunchTest, WithoutAnyPythonTheMessageSaysWhereWasLooked) {
  Surroundings s;
  s.self = folder_ / "nowhere/wf";
  EXPECT_THAT(FindPython(s).status().message(), HasSubstr("nowhere/wf and none on PATH"));
}

TEST_F(LaunchTest, APythonThatCannotBeStartedIsReported) {
  const fs::path file = folder_ / "not_a_program";
  std::ofstream(file) << "text";
  EXPECT_THAT(ExecWorkflow(file, ValidRequest()).message(), HasSubstr("cannot start"));
}

}  // namespace
}  // namespace wf::app
