//===- FileMemoryTest.cpp - tensors in files ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/InChild.h"
#include "test/unit/runtime/Programs.h"
#include "test/unit/runtime/Random.h"

#include "heddle/Error.h"
#include "runtime/memory/FileMemory.h"

#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/resource.h>

using namespace heddle;

namespace {
/// A directory for the files, which $HEDDLE_SPILL_DIR names meanwhile.
class FileMemory : public testing::Test {
protected:
  std::string folder = testing::TempDir() + "heddle-spill-" + std::to_string(getpid());
  void SetUp() override {
    std::filesystem::create_directory(folder);
    setenv("HEDDLE_SPILL_DIR", folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("HEDDLE_SPILL_DIR");
    std::filesystem::remove_all(folder);
  }

  /// The line of /proc/self/maps for an address.
  static std::string mappingOf(const void *address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long long begin, end;
      if (sscanf(line.c_str(), "%llx-%llx", &begin, &end) == 2 &&
          reinterpret_cast<uintptr_t>(address) >= begin &&
          reinterpret_cast<uintptr_t>(address) < end)
        return line;
    }
    return "";
  }
  bool isInFolder(const void *address) const {
    std::string line = mappingOf(address);
    return line.find(folder) != std::string::npos && line.find(" rw-s ") != std::string::npos;
  }
};

/// The counter of Programs.h, whose state is in a file.
std::shared_ptr<Program> counterInFile() {
  Manifest manifest;
  manifest.entries = {counterEntry()};
  manifest.entries[0].values[0].memory = manifest.entries[0].values[2].memory = "file";
  return Program::fromFunctions(std::move(manifest), {counterFunction});
}
} // namespace

TEST_F(FileMemory, BuffersAreFilesWithoutNames) {
  FileManager manager;
  forRandomSeeds(5, [&](Random &random) {
    std::map<unsigned char *, std::pair<int64_t, unsigned char>> live;
    for (int i = 0; i < 60; ++i) {
      int64_t bytes = random.between(0, 3) ? random.between(0, 20000) : 0;
      int64_t alignment = int64_t(1) << random.between(0, 17);
      auto *address = static_cast<unsigned char *>(manager.allocate(bytes, alignment, {}));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(address) % uint64_t(alignment), 0u);
      EXPECT_TRUE(isInFolder(address)) << mappingOf(address);
      auto mark = (unsigned char)random.between(0, 255);
      std::memset(address, mark, size_t(bytes));
      live[address] = {bytes, mark};
      if (live.size() > 8) {
        auto first = live.begin();
        for (int64_t k = 0; k < first->second.first; ++k)
          ASSERT_EQ(first->first[k], first->second.second);
        manager.free(first->first);
        live.erase(first);
      }
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    for (const auto &[address, with] : live) {
      manager.free(address);
      EXPECT_FALSE(isInFolder(address));
    }
  });
  EXPECT_EQ(manager.statistics().live, 0);
  EXPECT_EQ(manager.memory(), "file");
}

TEST_F(FileMemory, WhatCantBeReservedIsNamed) {
  AllocationInfo info{"adam.mean", "model.cpp:3:7"};
  auto refused = [&](int64_t bytes) {
    return errorOf<Error>([&] { fileMemory()->free(fileMemory()->allocate(bytes, 64, info)); });
  };
  // No disk has as much. The file is not mapped: to write to it would end the process.
  std::string message = refused(int64_t(1) << 60);
  expectIn("can't reserve a file of 1152921504606846976 bytes in '" + folder +
               "' (HEDDLE_SPILL_DIR): ",
           message);
  expectIn(" for 'adam.mean' at model.cpp:3:7", message);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  setenv("HEDDLE_SPILL_DIR", (folder + "/none").c_str(), 1);
  expectIn("can't make a file of 8 bytes in '" + folder + "/none' (HEDDLE_SPILL_DIR): No such file",
           refused(8));
  std::ofstream(folder + "/file") << "";
  setenv("HEDDLE_SPILL_DIR", (folder + "/file").c_str(), 1);
  expectIn("Not a directory for 'adam.mean'", refused(8));
  setenv("HEDDLE_SPILL_DIR", "", 1); // as if it were not set
  EXPECT_EQ(refused(8), "");
}

TEST_F(FileMemory, ALimitOnFilesIsNoSignal) {
  EXPECT_EQ(test::inChild([&] {
              rlimit most;
              getrlimit(RLIMIT_FSIZE, &most);
              most.rlim_cur = 10000;
              setrlimit(RLIMIT_FSIZE, &most);
              fileMemory()->free(fileMemory()->allocate(10000, 64, {}));
              return errorOf<Error>([&] { fileMemory()->allocate(10001, 64, {"w", ""}); });
            }),
            "can't reserve a file of 10001 bytes in '" + folder +
                "' (HEDDLE_SPILL_DIR): File too large for 'w'");
}

TEST_F(FileMemory, TensorsMayBeLargerThanTheMemory) {
  EXPECT_EQ(test::inChild([&]() -> std::string {
              constexpr int64_t bytes = int64_t(256) << 20;
              rlimit most;
              getrlimit(RLIMIT_DATA, &most);
              most.rlim_cur = bytes / 2;
              setrlimit(RLIMIT_DATA, &most);
              if (mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0) != MAP_FAILED)
                return "the limit does not hold";
              auto *state = static_cast<char *>(fileMemory()->allocate(bytes, 64, {}));
              for (int64_t at = 0; at < bytes; at += bytes / 64)
                state[at] = char(at / (bytes / 64));
              for (int64_t at = 0; at < bytes; at += bytes / 64)
                if (state[at] != char(at / (bytes / 64)))
                  return "it has changed";
              return "";
            }),
            "");
}

TEST_F(FileMemory, StateStaysInItsFile) {
  auto program = counterInFile();
  const EntrySpec &entry = program->entry("count");
  auto other = tensorOf({1, 2, 3, 4});
  // The caller's tensor is in memory: its new value is not.
  TensorRef state = tensorOf({0, 0, 0, 0}), first = state;
  state = program->run(entry, {state, other}, {}, {true, false})[0];
  EXPECT_EQ(state->memory(), "file");
  EXPECT_TRUE(isInFolder(state->address()));
  EXPECT_EQ(valuesOf(first), (std::vector<float>{0, 0, 0, 0})); // it was copied
  void *address = state->address();
  for (int i = 0; i < 3; ++i)
    state = program->run(entry, {state, other}, {}, {true, false})[0];
  EXPECT_EQ(state->address(), address);
  EXPECT_EQ(state->memory(), "file");
  EXPECT_EQ(valuesOf(state), (std::vector<float>{4, 8, 12, 16}));
  // Without donation the new value has a file of its own.
  auto next = program->run(entry, {state, other})[0];
  EXPECT_NE(next->address(), address);
  EXPECT_TRUE(isInFolder(next->address()));
  EXPECT_EQ(valuesOf(next), (std::vector<float>{5, 10, 15, 20}));
  EXPECT_EQ(valuesOf(state), (std::vector<float>{4, 8, 12, 16}));
}

TEST_F(FileMemory, AProgramSaysWhichTensorHasNoFile) {
  auto program = counterInFile();
  setenv("HEDDLE_SPILL_DIR", "/nowhere", 1);
  auto state = tensorOf({1, 1, 1, 1});
  auto run = [&] { program->run(program->entry("count"), {state, state}, {}, {true, false}); };
  expectIn("can't make a file of 16 bytes in '/nowhere' (HEDDLE_SPILL_DIR): No such file or "
           "directory for 'next' at model.cpp:1:1",
           errorOf<Error>(run));
  EXPECT_EQ(valuesOf(state), (std::vector<float>{1, 1, 1, 1})); // nothing is lost
  setenv("HEDDLE_SPILL_DIR", folder.c_str(), 1);
  EXPECT_EQ(errorOf<Error>(run), "");
}
