#include "base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace wf::base {
namespace {

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "wf-atomic-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~AtomicFileTest() override { std::filesystem::remove_all(folder_); }
  static std::string TextOf(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t Files() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {})); }
  std::filesystem::path folder_;
};

TEST_F(AtomicFileTest, IsThereOnlyAfterCommit) {
  const std::filesystem::path path = folder_ / "x.svg";
  {
    Result<AtomicFile> file = AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    file->stream() << std::string(200'000, 'a') << 42;
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(file->bytes(), 200'002U);
    EXPECT_TRUE(file->Commit().ok());
  }
  EXPECT_EQ(TextOf(path), std::string(200'000, 'a') + "42");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(AtomicFileTest, WithoutCommitTheOldFileStays) {
  const std::filesystem::path path = folder_ / "x";
  std::ofstream(path) << "old";
  {
    AtomicFile::Create(path)->stream() << "new";
  }
  EXPECT_EQ(TextOf(path), "old");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(AtomicFileTest, AReplacedFileKeepsItsModeAndALinkStaysALink) {
  const std::filesystem::path path = folder_ / "x";
  std::ofstream(path) << "old";
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  std::filesystem::create_symlink("x", folder_ / "link");
  Result<AtomicFile> file = AtomicFile::Create(folder_ / "link");
  file->stream() << "new";
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(TextOf(path), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  struct stat found{};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0640U);
}

TEST_F(AtomicFileTest, WhatCannotBeWrittenIsSaidAtOnce) {
  EXPECT_EQ(AtomicFile::Create(folder_ / "no" / "x").status().code(), Code::kNotFound);
  EXPECT_EQ(AtomicFile::Create(folder_).status().code(), Code::kInvalidArgument);
  EXPECT_THAT(AtomicFile::Create("/nonexistent/x").status().message(), testing::HasSubstr("folder does not exist"));
}

TEST_F(AtomicFileTest, AFullDiskIsAnErrorOfCommit) {
  Result<AtomicFile> file = AtomicFile::Create("/dev/full");
  ASSERT_TRUE(file.ok());
  file->stream() << std::string(1'000'000, 'a');
  const Status status = file->Commit();
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_THAT(status.message(), testing::HasSubstr("No space left"));
}

}  // namespace
}  // namespace wf::base
