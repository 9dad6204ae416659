//===- DirectoryLockTest.cpp - one process writes into a directory --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/DirectoryLock.h"
#include "test/unit/runtime/InChild.h"
#include "test/unit/support/io/Files.h"

#include <csignal>
#include <optional>

using namespace heddle;
using namespace heddle::io;
using namespace heddle::test;

TEST(DirectoryLock, RefusesTheSecondAndNamesTheFirst) {
  TemporaryDirectory directory;
  std::optional<DirectoryLock> lock(directory.path);
  std::string refusal = "the directory '" + directory.path.string() + "' is in use by process " +
                        std::to_string(getpid());
  expectHas(messageOf([&] { DirectoryLock other(directory.path); }), {refusal});
  expectHas(inChild([&] {
              DirectoryLock other(directory.path);
              return std::string("locked");
            }),
            {refusal});
  EXPECT_EQ(contentsOf(directory / "run.lock"), std::to_string(getpid()) + "\n");
  lock.reset();
  EXPECT_EQ(inChild([&] {
              DirectoryLock other(directory.path);
              return std::string("locked");
            }),
            "locked");
}

TEST(DirectoryLock, EndsWithItsProcess) {
  TemporaryDirectory directory;
  EXPECT_EQ(inChild([&]() -> std::string {
              DirectoryLock held(directory.path);
              raise(SIGKILL);
              return "";
            }),
            "killed by signal 9");
  EXPECT_NE(contentsOf(directory / "run.lock"), "");
  DirectoryLock lock(directory.path);
}

TEST(DirectoryLock, NamesWhatItCannotOpen) {
  TemporaryDirectory directory;
  expectHas(messageOf([&] { DirectoryLock lock(directory / "none"); }),
            {directory / "none/run.lock", "No such file or directory"});
}

TEST(DirectoryLock, OverwritesNoFileBehindALink) {
  TemporaryDirectory directory;
  directory.write("mine", "of the user");
  std::filesystem::create_symlink("mine", directory / "run.lock");
  expectHas(messageOf([&] { DirectoryLock lock(directory.path); }),
            {directory / "run.lock", "expected a file, got a symbolic link"});
  EXPECT_EQ(contentsOf(directory / "mine"), "of the user");
}
