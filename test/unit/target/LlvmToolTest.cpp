//===- LlvmToolTest.cpp - tools of LLVM in processes of their own ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shell scripts stand for LLVM's tools (test/target/gpu/tools.test has those that fail).
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/LlvmTool.h"
#include "lib/target/gpu/RunTool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace heddle;

namespace {

/// A folder with a tool `tool` that runs a script: $1 is the argument, $2 the input, $4 the output.
class Script {
public:
  explicit Script(const std::string &body) {
    std::string path = (std::filesystem::temp_directory_path() / "heddle-tool-XXXXXX").string();
    folder = mkdtemp(path.data());
    std::ofstream(folder / "tool") << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(folder / "tool", std::filesystem::perms::owner_all);
    setenv("HEDDLE_LLVM_TOOLS", folder.c_str(), 1);
  }
  std::string path() const { return folder / "tool"; }
  ~Script() {
    unsetenv("HEDDLE_LLVM_TOOLS");
    std::filesystem::remove_all(folder);
  }

private:
  std::filesystem::path folder;
};

TEST(LlvmTool, ReadsAndWritesBytes) {
  Script script(R"(printf %s "$1" >"$4"; cat "$2" >>"$4")");
  auto output = gpu::runLlvmTool({"tool", "llvm-22"}, llvm::StringRef("a\0b", 3), {"-x"});
  ASSERT_TRUE(bool(output)) << llvm::toString(output.takeError());
  EXPECT_EQ(*output, std::string("-xa\0b", 5));
}

TEST(LlvmTool, EndsAToolThatHangs) {
  Script script("exec sleep 20");
  auto start = std::chrono::steady_clock::now();
  auto output = gpu::runTool(script.path(), "", {}, std::chrono::milliseconds(50));
  ASSERT_FALSE(bool(output));
  std::string error = llvm::toString(output.takeError());
  EXPECT_NE(error.find("takes longer than 50 ms"), std::string::npos) << error;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TEST(LlvmTool, SaysItsVersion) {
  Script script(R"(echo "version of $1"; echo more >&2)");
  auto said = gpu::askTool(script.path(), "-x");
  ASSERT_TRUE(bool(said)) << llvm::toString(said.takeError());
  EXPECT_EQ(*said, "version of -x\nmore\n");
}

TEST(LlvmTool, ThreadsHaveOwnFiles) {
  Script script(R"(sleep 0.05; cat "$2" >"$4")");
  std::vector<std::string> got(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < got.size(); ++i)
    threads.emplace_back([&got, i] {
      auto output = gpu::runLlvmTool({"tool", "llvm-22"}, std::to_string(i), {"-x"});
      got[i] = output ? *output : llvm::toString(output.takeError());
    });
  for (std::thread &each : threads)
    each.join();
  EXPECT_EQ(got, (std::vector<std::string>{"0", "1", "2", "3"}));
}

} // namespace
