#include "sampler/core_file.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sampler/core_file_testing.h"

namespace wf::sampler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CoreFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("core_file_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    program_ = folder_ / "program";
    Write(program_, Program("right"));
    core_ = Core(AllNotes({program_}), Program("right").substr(0, kPage));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  Result<std::unique_ptr<CoreFile>> Open(const std::string& bytes, const std::string& executable = "") {
    Write(folder_ / "core", bytes);
    return CoreFile::Open(folder_ / "core", executable);
  }
  static std::string Read(CoreFile& core, uint64_t address, size_t bytes) {
    std::string into(bytes, '\0');
    return core.ReadOne(address, into.data(), bytes) ? into : "<unreadable>";
  }

  static std::vector<native::Mapping> MappedFiles(const CoreFile& core) {
    std::vector<native::Mapping> mappings = core.Mappings();
    std::erase_if(mappings, [](const native::Mapping& mapping) { return mapping.path.empty(); });
    return mappings;
  }

  std::filesystem::path folder_;
  std::string program_;
  std::string core_;
};

TEST_F(CoreFileTest, ThreadsProcessAndFilesAreTold) {
  const auto core = Open(core_);
  ASSERT_TRUE(core.ok()) << core.status().message();
  const CoreNotes& notes = (*core)->notes();
  ASSERT_EQ(notes.threads.size(), 2U);
  EXPECT_EQ(notes.threads[0].tid, 42);
  EXPECT_EQ(notes.threads[0].registers.pc(), 0x1234U);
  EXPECT_EQ(notes.signal, 11);
  EXPECT_EQ(notes.pid, 41);
  EXPECT_EQ(notes.command_line, "python3 job.py");
  EXPECT_EQ((*core)->executable(), program_);
  ASSERT_EQ((*core)->Modules().size(), 1U);
  EXPECT_EQ((*core)->Modules()[0].base, kText);
  ASSERT_EQ((*core)->Mappings().size(), 2U);
  EXPECT_TRUE((*core)->Mappings()[0].is_code);
  EXPECT_EQ((*core)->Mappings()[1].path, "");
}

TEST_F(CoreFileTest, WhatIsNotInItIsReadFromTheMappedFile) {
  const auto core = Open(core_);
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(Read(**core, kHeap + kPage - 2, 2), "hh");
  EXPECT_EQ(Read(**core, kText + kPage - 2, 4), "1122");
  EXPECT_EQ(Read(**core, kText + 2 * kPage - 2, 3), "<unreadable>");
  EXPECT_EQ(Read(**core, UINT64_MAX - 3, 8), "<unreadable>");
  EXPECT_THAT((*core)->missing(), IsEmpty());
}

TEST_F(CoreFileTest, AFileWithAnotherBuildIdIsNotRead) {
  Write(program_, Program("wrong"));
  const auto core = Open(core_);
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(Read(**core, kText + kPage, 2), "<unreadable>");
  EXPECT_THAT((*core)->missing(), ElementsAre(program_ + " is another one than the process had"));
}

TEST_F(CoreFileTest, AFileIsCheckedByWhatTheCoreFileHoldsAndNotByAnotherFile) {
  const std::string other = folder_ / "z-other";
  Write(other, Program("wrong"));
  std::string bytes = Core(AllNotes({program_, other}), Program("right").substr(0, kPage));
  bytes.replace(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_filesz), 8, 8, '\0');
  const auto core = Open(bytes);  // without the page that says which file it is
  ASSERT_TRUE(core.ok());
  for (const native::Mapping& mapping : MappedFiles(**core)) EXPECT_TRUE((*core)->OpenFile(mapping).valid());
  EXPECT_THAT((*core)->missing(), IsEmpty());
}

// In time that grows with their number only.
TEST_F(CoreFileTest, OfManyFilesAtOnePlaceEachIsChecked) {
  Write(program_, Program("wrong"));
  std::vector<std::string> paths;
  for (int i = 0; i < 20'000; ++i) {
    std::string path = folder_;
    for (int bit = 0; bit < 15; ++bit) path += (i >> bit & 1) != 0 ? "/." : "/";
    paths.push_back(path + "/program");
  }
  const auto core = Open(Core(AllNotes(paths), Program("right").substr(0, kPage)));
  ASSERT_TRUE(core.ok());
  for (const native::Mapping& mapping : MappedFiles(**core)) EXPECT_FALSE((*core)->OpenFile(mapping).valid());
  EXPECT_EQ((*core)->missing().size(), paths.size());
}

TEST_F(CoreFileTest, AnExecutableThatLiesElsewhereIsReadWhenItIsNamed) {
  std::filesystem::rename(program_, folder_ / "moved");
  const auto without = Open(core_);
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(Read(**without, kText + kPage, 2), "<unreadable>");
  EXPECT_THAT((*without)->missing(), ElementsAre(program_ + " is not here"));
  const auto with = Open(core_, folder_ / "moved");
  ASSERT_TRUE(with.ok());
  EXPECT_EQ(Read(**with, kText + kPage, 2), "22");
  EXPECT_EQ(Open(core_, folder_ / "none").status().code(), Code::kInvalidArgument);
}

TEST_F(CoreFileTest, OneThatIsCutShortIsReadAsFarAsItGoes) {
  const auto core = Open(core_.substr(0, core_.size() - kPage / 2));
  ASSERT_TRUE(core.ok());
  EXPECT_THAT((*core)->missing()[0], HasSubstr("cut short"));
  EXPECT_EQ(Read(**core, kHeap, 2), "hh");
  EXPECT_EQ(Read(**core, kHeap + kPage / 2, 2), "<unreadable>");
  const auto shorter = Open(core_.substr(0, 300));
  EXPECT_EQ(shorter.status().code(), Code::kDataLoss);
  EXPECT_THAT(shorter.status().message(), HasSubstr("ulimit -c unlimited"));
}

TEST_F(CoreFileTest, WhatIsNoCoreFileIsToldBySayingWhatItIs) {
  const auto message = [&](const std::string& bytes) {
    const auto core = Open(bytes);
    EXPECT_EQ(core.status().code(), Code::kInvalidArgument);
    return core.status().message();
  };
  EXPECT_THAT(message(""), HasSubstr("too short"));
  EXPECT_THAT(message(std::string(4096, 'x')), HasSubstr("not in ELF format"));
  EXPECT_THAT(message("\x28\xB5\x2F\xFD" + std::string(4096, 'x')), HasSubstr("zstd -d"));
  std::string other = core_;
  other[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  EXPECT_THAT(message(other), HasSubstr("another architecture"));
  std::string program = core_;
  program[offsetof(Elf64_Ehdr, e_type)] = ET_DYN;
  EXPECT_THAT(message(program), HasSubstr("no core file"));
  EXPECT_EQ(CoreFile::Open(folder_ / "none", "").status().code(), Code::kNotFound);
  EXPECT_EQ(CoreFile::Open(folder_, "").status().code(), Code::kInvalidArgument);
}

TEST_F(CoreFileTest, SpoiltOnesAreReadWithinBounds) {
  std::mt19937_64 random(4711);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = core_;
    for (int i = 0; i < 8; ++i) bytes[random() % 2600] = static_cast<char>(random());
    const auto core = Open(bytes);
    if (!core.ok()) continue;
    for (const cpython::Module& module : (*core)->Modules()) (void)Read(**core, module.base, 64);
    for (const native::Mapping& mapping : (*core)->Mappings()) (void)Read(**core, mapping.end - 8, 16);
  }
}

}  // namespace
}  // namespace wf::sampler
