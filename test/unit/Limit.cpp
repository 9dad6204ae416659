//===- Limit.cpp - a test that hangs ends, and what it leaves -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every binary of unit tests has this: a test that takes more than half an hour (or as many seconds
// as $HEDDLE_TEST_LIMIT says; 0: no limit) ends the process with its name. Temporary files are made
// in a folder that is removed at the end.
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace {
char message[512]; ///< formatted in advance: few calls are async-signal-safe

class Limit : public testing::EmptyTestEventListener {
  void OnTestProgramStart(const testing::UnitTest &) override {
    folder = (std::filesystem::temp_directory_path() / "heddle-tests-XXXXXX").string();
    if (!mkdtemp(folder.data()))
      folder.clear();
    else
      for (const char *name : {"TMPDIR", "TEST_TMPDIR"})
        setenv(name, folder.c_str(), 1);
  }
  void OnTestProgramEnd(const testing::UnitTest &) override {
    std::error_code ignored;
    if (!folder.empty())
      std::filesystem::remove_all(folder, ignored);
  }
  void OnTestStart(const testing::TestInfo &test) override {
    const char *given = std::getenv("HEDDLE_TEST_LIMIT");
    unsigned seconds = given ? unsigned(std::atol(given)) : 1800;
    snprintf(message, sizeof message,
             "[  FAILED  ] %s.%s took more than %u seconds\n[  FAILED  ] 1 test\n",
             test.test_suite_name(), test.name(), seconds);
    std::signal(SIGALRM, [](int) {
      (void)!write(STDOUT_FILENO, message, strlen(message));
      _exit(1);
    });
    alarm(seconds);
    if (!dumps.empty())
      setenv("HEDDLE_DUMP_DIR", (dumps + "/" + test.test_suite_name() + "." + test.name()).c_str(),
             1);
  }
  void OnTestEnd(const testing::TestInfo &) override { alarm(0); }

  const char *given = std::getenv("HEDDLE_DUMP_DIR");
  const std::string dumps = given ? given : "";
  std::string folder;
};

[[maybe_unused]] const bool appended = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Limit);
  return true;
}();
} // namespace
