//===- ProgressTest.cpp - the progress line -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "lib/compile/Progress.h"

#include <gtest/gtest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;
using namespace std::chrono_literals;

namespace {

/// Advances once, after this time.
void work(bool enabled, std::chrono::milliseconds after = 600ms) {
  Progress::Clock::time_point time{};
  Progress progress("weaving", 3, enabled, {}, [&] { return time; });
  time += after;
  progress.advance();
  progress.finish();
}

/// The output of `work` on a terminal.
std::string onTerminal(bool enabled, std::chrono::milliseconds after = 600ms) {
  int terminal = -1;
  pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  // A terminal may lose the last output when the process ends, so the process waits.
  const std::string end = "<end>";
  if (child == 0) {
    work(enabled, after);
    (void)!write(STDERR_FILENO, end.data(), end.size());
    pause();
    _exit(0);
  }
  if (child < 0)
    return "no terminal";
  std::string said;
  char buffer[256];
  for (ssize_t n;
       said.find(end) == std::string::npos && (n = read(terminal, buffer, sizeof buffer)) > 0;)
    said.append(buffer, size_t(n));
  kill(child, SIGKILL);
  close(terminal);
  waitpid(child, nullptr, 0);
  return said.substr(0, said.find(end));
}

TEST(Progress, ShowsOnATerminalAndLeavesNothingBehind) {
  std::string said = onTerminal(true);
  if (said == "no terminal")
    GTEST_SKIP() << said;
  EXPECT_NE(said.find("weaving: 1 of 3"), std::string::npos) << said;
  EXPECT_TRUE(llvm::StringRef(said).ends_with("\r\033[K")) << said;
  EXPECT_EQ(onTerminal(false), "");
  EXPECT_EQ(onTerminal(true, 499ms), "") << "what takes no time needs no line";
}

TEST(Progress, SaysNothingElsewhere) {
  testing::internal::CaptureStderr();
  work(true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, CallbackIsToldAfterEachKernel) {
  CompileOptions options = plainOptions();
  std::vector<std::pair<size_t, size_t>> told;
  options.onProgress = [&](size_t done, size_t total) { told.emplace_back(done, total); };
  Compiled compiled = compile(spell(network, {"batch", "row", "channel", "tap", "out"}), options);
  ASSERT_TRUE(compiled.image) << compiled.errors;
  ASSERT_EQ(told.size(), size_t(compiled.statistics.kernels));
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].first, i + 1);
    EXPECT_EQ(told[i].second, told.size());
  }
}

} // namespace
