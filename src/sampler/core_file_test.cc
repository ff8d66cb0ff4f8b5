#include "sampler/core_file.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/procfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace wf::sampler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kText = 0x400000;  // its first page is in the core file, its second only in the mapped file
constexpr uint64_t kHeap = 0x800000;
constexpr uint64_t kPage = 4096;

template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string Note(const char* owner, uint32_t type, std::string content) {
  const Elf64_Nhdr header = {.n_namesz = static_cast<Elf64_Word>(std::strlen(owner) + 1),
                             .n_descsz = static_cast<Elf64_Word>(content.size()),
                             .n_type = type};
  std::string name(owner);
  name.resize((header.n_namesz + 3) / 4 * 4);
  content.resize((content.size() + 3) / 4 * 4);
  return BytesOf(header) + name + content;
}

std::string ThreadNote(int32_t tid, int16_t signal, uint64_t pc) {
  elf_prstatus status{};
  status.pr_pid = tid;
  status.pr_cursig = signal;
  status.pr_reg[16] = pc;  // rip in user_regs_struct
  return Note("CORE", NT_PRSTATUS, BytesOf(status));
}

std::string FilesNote(const std::string& path) {
  std::string content;
  for (const uint64_t value : {uint64_t{1}, kPage, kText, kText + 2 * kPage, uint64_t{0}}) content += BytesOf(value);
  return Note("CORE", NT_FILE, content + path + '\0');
}

std::string AllNotes(const std::string& path) {
  elf_prpsinfo process{};
  process.pr_pid = 41;
  std::strcpy(process.pr_fname, "python3");
  std::strcpy(process.pr_psargs, "python3 job.py ");
  const std::string vector = BytesOf(Elf64_auxv_t{AT_PHDR, {kText + 64}}) + BytesOf(Elf64_auxv_t{AT_NULL, {0}});
  return ThreadNote(42, 11, 0x1234) + Note("CORE", NT_PRPSINFO, BytesOf(process)) + Note("CORE", NT_AUXV, vector) +
         FilesNote(path) + Note("LINUX", NT_PRSTATUS, "not ours") + ThreadNote(41, 0, 0x5678);
}

// A program of two pages, with a build id.
std::string Program(const std::string& build_id) {
  const std::string note = Note("GNU", NT_GNU_BUILD_ID, build_id);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  const uint64_t at = sizeof(header) + 2 * sizeof(Elf64_Phdr);
  const Elf64_Phdr load = {PT_LOAD, PF_R | PF_X, 0, kText, kText, 2 * kPage, 2 * kPage, kPage};
  const Elf64_Phdr notes = {PT_NOTE, PF_R, at, kText + at, kText + at, note.size(), note.size(), 4};
  std::string bytes = BytesOf(header) + BytesOf(load) + BytesOf(notes) + note;
  bytes.resize(kPage, '1');
  return bytes + std::string(kPage, '2');
}

std::string Core(const std::string& notes, const std::string& first_page) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_CORE;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  const uint64_t at = sizeof(header) + 3 * sizeof(Elf64_Phdr);
  const uint64_t pages = (at + notes.size() + kPage - 1) / kPage * kPage;
  const Elf64_Phdr headers[] = {{PT_NOTE, 0, at, 0, 0, notes.size(), 0, 4},
                                {PT_LOAD, PF_R | PF_X, pages, kText, 0, kPage, 2 * kPage, kPage},
                                {PT_LOAD, PF_R | PF_W, pages + kPage, kHeap, 0, kPage, kPage, kPage}};
  std::string bytes = BytesOf(header) + BytesOf(headers) + notes;
  bytes.resize(pages);
  return bytes + first_page + std::string(kPage, 'h');
}

class CoreFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("core_file_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    program_ = folder_ / "program";
    Write(program_, Program("right"));
    core_ = Core(AllNotes(program_), Program("right").substr(0, kPage));
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
