//===- PerfDumpTest.cpp - functions described to perf ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/Programs.h"

#include "lib/profile/PerfDump.h"
#include "runtime/program/Observers.h"

#include <filesystem>
#include <fstream>

using namespace heddle;

#if defined(__x86_64__) // the program's code
TEST(PerfDump, NamesFunctionsAndTheirLines) {
  ProgramImage image = scaleImage();
  image.manifest.functions = {
      {"twice", "some where/model.cpp:12:7", 16, 5},
      {"entry.scale", "", 21, 3},
      {"fused", "model.cpp:20:1", 16, 8, {"model.cpp:20:1", "layers.h:3:9"}, {{0, 1}, {5, 0}}}};
  std::string folder = testing::TempDir() + "heddle-" + std::to_string(getpid()) + ".perf",
              file = folder + "/jit-" + std::to_string(getpid()) + ".dump";
  std::filesystem::create_directory(folder);
  setenv("HEDDLE_PERF", folder.c_str(), 1);
  setCodeObserver(describeToPerf);
  Program program(image);
  unsetenv("HEDDLE_PERF");
  std::ifstream stream(file, std::ios::binary);
  std::string dump{std::istreambuf_iterator<char>(stream), {}};
  std::filesystem::remove_all(folder);
  size_t at = 0;
  auto number = [&](size_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, dump.data() + at, bytes);
    at += bytes;
    return value;
  };
  auto text = [&] {
    std::string word = dump.c_str() + at;
    at += word.size() + 1;
    return word;
  };
  EXPECT_EQ(number(4), 0x4a695444u);
  EXPECT_EQ(number(4), 1u);
  EXPECT_EQ(number(4), 40u);
  at = 40;
  uint64_t begin = 0;
  struct Line {
    uint64_t offset;
    unsigned line;
    std::string file;
  };
  auto expectLines = [&](const std::vector<Line> &lines) {
    EXPECT_EQ(number(4), 2u) << "lines come before the code";
    size_t bytes = 16 + 16;
    for (const Line &line : lines)
      bytes += 16 + line.file.size() + 1;
    EXPECT_EQ(number(4), bytes);
    at += 8;
    begin = number(8);
    EXPECT_EQ(number(8), lines.size());
    for (const auto &[offset, line, file] : lines) {
      EXPECT_EQ(number(8), begin + offset);
      EXPECT_EQ(number(4), line);
      at += 4;
      EXPECT_EQ(text(), file);
    }
  };
  expectLines({{0, 12, "some where/model.cpp"}, {5, 12, "some where/model.cpp"}});
  for (auto [name, offset, bytes] :
       {std::tuple("twice", 16, 5), std::tuple("entry.scale", 21, 3), std::tuple("fused", 16, 8)}) {
    if (name == std::string("fused"))
      expectLines({{0, 3, "layers.h"}, {5, 20, "model.cpp"}, {8, 20, "model.cpp"}});
    EXPECT_EQ(number(4), 0u);
    EXPECT_EQ(number(4), 16 + 40 + strlen(name) + 1 + size_t(bytes));
    at += 8;
    EXPECT_EQ(number(4), uint64_t(getpid()));
    at += 4;
    EXPECT_EQ(number(8), begin + uint64_t(offset - 16));
    at += 8;
    EXPECT_EQ(number(8), uint64_t(bytes));
    at += 8;
    EXPECT_EQ(text(), name);
    EXPECT_EQ(dump.substr(at, size_t(bytes)), image.code.substr(size_t(offset), size_t(bytes)));
    at += size_t(bytes);
  }
  EXPECT_EQ(at, dump.size());
}
#endif
