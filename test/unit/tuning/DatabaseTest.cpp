//===- DatabaseTest.cpp - measured times of nests on disk -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/tuning/Database.h"
#include "test/unit/support/io/Files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace heddle::tuning;
using namespace heddle::test;
namespace fs = std::filesystem;

namespace {

class DatabaseTest : public testing::Test {
protected:
  TemporaryDirectory folder;
  std::string path = folder / "cache/times.sqlite";
  std::vector<std::string> warnings;
  Key key{"nest", "machine", "1", 2};

  Database open() {
    return Database(path, [this](const std::string &text) { warnings.push_back(text); });
  }
  double secondsOf(const Key &of) {
    auto found = open().find(of);
    return found ? found->seconds : 0;
  }
  void expectWarning(const std::string &part) {
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(part), std::string::npos) << warnings[0];
  }
  /// Starts `work` in a process of its own. No other thread may use SQLite then: the process would
  /// wait forever for a lock that the thread holds.
  static pid_t start(const std::function<bool()> &work) {
    pid_t child = fork();
    if (child == 0)
      _exit(work() ? 0 : 1);
    return child;
  }
  /// The exit status of a process.
  static int statusOf(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  }
  static int apart(const std::function<bool()> &work) { return statusOf(start(work)); }
};

TEST_F(DatabaseTest, KeepsAndFinds) {
  open().store(key, {2.5e-6, 100, 0.5});
  auto found = open().find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->seconds, 2.5e-6);
  EXPECT_EQ(found->samples, 100);
  EXPECT_EQ(found->spread, 0.5);
  open().store(key, {3e-6, 10, 0}); // the newer one wins
  EXPECT_EQ(secondsOf(key), 3e-6);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(DatabaseTest, AllPartsOfTheKeyCount) {
  open().store(key, {1, 1, 0});
  for (Key other : {Key{"nest2", "machine", "1", 2}, Key{"nest", "machine2", "1", 2},
                    Key{"nest", "machine", "2", 2}, Key{"nest", "machine", "1", 1},
                    Key{"machine", "nest", "1", 2}, Key{"", "", "", 2}})
    EXPECT_EQ(secondsOf(other), 0);
  EXPECT_EQ(secondsOf(key), 1);
}

TEST_F(DatabaseTest, TextsMayHaveAnyCharacters) {
  Key odd{std::string("a'\"\0; DROP TABLE times", 21), "\xff", "", 1};
  open().store(odd, {1, 1, 0});
  EXPECT_EQ(secondsOf(odd), 1);
}

TEST_F(DatabaseTest, TimesThatNoNestTakesAreNotFound) {
  for (double seconds : {0.0, -1.0, double(INFINITY), double(NAN)}) {
    open().store(key, {seconds, 1, 0});
    EXPECT_FALSE(open().find(key));
  }
}

TEST_F(DatabaseTest, ThreadsAndProcessesShareAFile) {
  for (int round = 0; round < 3; ++round) {
    fs::remove_all(fs::path(path).parent_path());
    std::atomic<int> warned = 0;
    auto fill = [&](int first) {
      Database times(path, [&](const std::string &) { ++warned; });
      for (int i = first; i < first + 20; ++i)
        times.store({std::to_string(i), "", "", 1}, {double(i), 1, 0});
      return warned == 0;
    };
    std::vector<pid_t> processes;
    for (int i = 0; i < 2; ++i)
      processes.push_back(start([&, i] { return fill(1 + 20 * i); }));
    std::vector<std::thread> threads;
    for (int i = 2; i < 4; ++i)
      threads.emplace_back([&, i] { fill(1 + 20 * i); });
    for (std::thread &thread : threads)
      thread.join();
    for (pid_t process : processes)
      EXPECT_EQ(statusOf(process), 0);
    EXPECT_EQ(warned, 0);
    Database times = open();
    for (int i = 1; i < 81; ++i)
      EXPECT_TRUE(times.find({std::to_string(i), "", "", 1})) << i;
  }
  EXPECT_TRUE(warnings.empty());
}

// Another process makes the table and needs time for it. A lock for reading that was still held
// while this one waits to write would let neither go on, which SQLite refuses at once.
TEST_F(DatabaseTest, WaitsWhileAnotherMakesTheTable) {
  fs::create_directories(fs::path(path).parent_path());
  sqlite3 *other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread opens([&] { open().store(key, {1, 1, 0}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  opens.join();
  sqlite3_close(other);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(secondsOf(key), 1);
}

TEST_F(DatabaseTest, DamagedFilesAreMadeAnew) {
  open().store(key, {1, 1, 0});
  std::string good = contentsOf(path), bad = good;
  std::fill(bad.begin() + 4096, bad.begin() + 4104, '\xff'); // the header of the table's page
  for (std::string damaged : {std::string("no database, but longer than a header of SQLite is"),
                              good.substr(0, 5000), bad}) {
    folder.write("cache/times.sqlite", damaged);
    warnings.clear();
    {
      Database times = open();
      EXPECT_FALSE(times.find(key));
      times.store(key, {2, 1, 0});
      EXPECT_EQ(times.find(key)->seconds, 2);
    }
    expectWarning("are damaged; the file is now '" + path + ".old', and times are measured anew");
    EXPECT_TRUE(contentsOf(path + ".old") == damaged);
    EXPECT_EQ(secondsOf(key), 2);
    EXPECT_EQ(warnings.size(), 1u);
  }
}

TEST_F(DatabaseTest, OtherVersionsAreKept) {
  open().store(key, {1, 1, 0});
  std::string text = contentsOf(path);
  text[63] = 2; // the version of the table, in the file's header
  folder.write("cache/times.sqlite", text);
  EXPECT_EQ(secondsOf(key), 0);
  expectWarning("are of another version or program; the file is now");
  EXPECT_TRUE(contentsOf(path + ".old") == text);
}

TEST_F(DatabaseTest, EmptyFilesAreFilled) {
  fs::create_directory(folder / "cache");
  folder.write("cache/times.sqlite", "");
  open().store(key, {1, 1, 0});
  EXPECT_EQ(secondsOf(key), 1);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(DatabaseTest, WhatCannotBeWrittenIsRead) {
  open().store(key, {1, 1, 0});
  chmod(path.c_str(), 0444);
  chmod((folder / "cache").c_str(), 0555);
  EXPECT_EQ(apart([&] {
              // Root may do everything, so become nobody.
              for (const fs::path &each : {folder.path, folder.path.parent_path()})
                fs::permissions(each, fs::perms::group_exec, fs::perm_options::add);
              if (geteuid() == 0 && setuid(65534) != 0)
                return false;
              Database times = open();
              auto found = times.find(key);
              times.store({"other", "", "", 1}, {1, 1, 0});
              times.store({"third", "", "", 1}, {1, 1, 0});
              return found && !times.find({"other", "", "", 1}) && warnings.size() == 1 &&
                     warnings[0].find("can't be kept in '" + path + "'") != std::string::npos;
            }),
            0);
  chmod((folder / "cache").c_str(), 0755);
}

TEST_F(DatabaseTest, WithoutAFileNothingIsFound) {
  folder.write("cache", "a file where the folder should be");
  Database times = open();
  times.store(key, {1, 1, 0});
  EXPECT_FALSE(times.find(key));
  expectWarning("the times of nests can't be kept in '" + path + "'");
}

TEST_F(DatabaseTest, AFullDiskLosesNothing) {
  open().store(key, {1, 1, 0});
  EXPECT_EQ(apart([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              rlimit small{rlim_t(fs::file_size(path)), RLIM_INFINITY};
              setrlimit(RLIMIT_FSIZE, &small);
              Database times = open();
              for (int i = 0; i < 3; ++i)
                times.store({std::string(100000, 'a' + char(i)), "", "", 1}, {1, 1, 0});
              return warnings.size() == 1 && times.find(key).has_value();
            }),
            0);
  EXPECT_EQ(secondsOf(key), 1);
  EXPECT_TRUE(warnings.empty());
}

} // namespace
