//===- AtomicFileTest.cpp - files that are written atomically -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/AtomicFile.h"

#include "Files.h"

#include <csignal>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::io;
using namespace heddle::test;

static void save(const std::string &path, std::string_view text) {
  writeFileAtomically(path, [&](FileSink &sink) { sink.write(text); });
}

/// Runs `action` in a process of its own, which may change its rights and limits; true if it
/// returns true.
template <typename F>
static bool elsewhere(F &&action) {
  pid_t child = fork();
  if (child == 0)
    _exit(action() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// True if saving fails with an Error that has `reason` in it.
static bool refuses(const std::string &path, size_t size, const std::string &reason) {
  try {
    save(path, std::string(size, 'n'));
  } catch (const Error &error) {
    std::string text = error.what();
    return text.find(path) != text.npos && text.find(reason) != text.npos;
  }
  return false;
}

TEST(AtomicFile, new_contents_replace_old_ones) {
  TemporaryDirectory directory;
  save(directory / "a", "old");
  save(directory / "a", "new");
  EXPECT_EQ(contentsOf(directory / "a"), "new");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, small_and_large_writes_keep_their_order) {
  TemporaryDirectory directory;
  std::string expected;
  writeFileAtomically(directory / "a", [&](FileSink &sink) {
    for (size_t size : {1u, 100'000u, 200'000u, 3u, 1'000'000u, 0u, 7u}) {
      std::string piece(size, char('a' + expected.size() % 26));
      sink.write(piece);
      expected += piece;
    }
  });
  EXPECT_EQ(contentsOf(directory / "a"), expected);
}

TEST(AtomicFile, bytes_that_were_written_can_be_replaced) {
  TemporaryDirectory directory;
  for (size_t size : {10u, 1'000'000u}) {
    std::string expected(size, 'n');
    writeFileAtomically(directory / "a", [&](FileSink &sink) {
      sink.write(expected);
      EXPECT_TRUE(sink.rewrite(3, "abc"));
      sink.write("end");
    });
    EXPECT_EQ(contentsOf(directory / "a"), expected.replace(3, 3, "abc") + "end");
  }
  writeFileAtomically("/dev/null", [](FileSink &sink) {
    sink.write("abc");
    EXPECT_FALSE(sink.rewrite(0, "x"));
  });
}

TEST(AtomicFile, readers_see_the_old_file_while_the_new_one_is_written) {
  TemporaryDirectory directory;
  save(directory / "a", "old");
  writeFileAtomically(directory / "a", [&](FileSink &sink) {
    sink.write(std::string(1 << 20, 'n'));
    EXPECT_EQ(contentsOf(directory / "a"), "old");
  });
}

TEST(AtomicFile, exception_of_the_callback_keeps_the_old_file) {
  TemporaryDirectory directory;
  save(directory / "a", "old");
  EXPECT_THROW(writeFileAtomically(directory / "a",
                                   [](FileSink &sink) {
                                     sink.write("half");
                                     throw std::logic_error("no more");
                                   }),
               std::logic_error);
  EXPECT_EQ(contentsOf(directory / "a"), "old");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, too_large_file_keeps_the_old_one) {
  TemporaryDirectory directory;
  save(directory / "a", "old");
  EXPECT_TRUE(elsewhere([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{1 << 16, 1 << 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    return refuses(directory / "a", 1 << 20, "File too large");
  }));
  EXPECT_EQ(contentsOf(directory / "a"), "old");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, full_disk_keeps_the_old_file) {
  TemporaryDirectory directory;
  if (mount("tmpfs", directory.path.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "can't mount a small file system here";
  save(directory / "a", "old");
  bool refused = refuses(directory / "a", 1 << 20, "No space left");
  std::string left = contentsOf(directory / "a");
  size_t entries = directory.entries();
  umount(directory.path.c_str());
  EXPECT_TRUE(refused);
  EXPECT_EQ(left, "old");
  EXPECT_EQ(entries, 1u);
}

TEST(AtomicFile, missing_right_to_the_directory_is_an_error) {
  TemporaryDirectory directory;
  save(directory / "a", "old");
  chmod(directory.path.c_str(), 0555);
  EXPECT_TRUE(elsewhere([&] {
    // Root may do everything, so become nobody.
    if (geteuid() == 0 && setuid(65534) != 0)
      return false;
    return refuses(directory / "a", 3, "Permission denied");
  }));
  chmod(directory.path.c_str(), 0755);
  EXPECT_EQ(contentsOf(directory / "a"), "old");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, impossible_places_are_errors) {
  TemporaryDirectory directory;
  directory.write("file", "x");
  std::filesystem::create_directory(directory / "folder");
  EXPECT_TRUE(refuses(directory / "missing/a", 3, "No such file or directory"));
  EXPECT_TRUE(refuses(directory / "file/a", 3, "Not a directory"));
  EXPECT_TRUE(refuses(directory / "folder", 3, "Is a directory"));
  EXPECT_EQ(directory.entries(), 2u);
}

TEST(AtomicFile, symbolic_link_and_permissions_stay) {
  TemporaryDirectory directory;
  save(directory / "a", "old");
  chmod((directory / "a").c_str(), 0640);
  std::filesystem::create_symlink("a", directory / "link");
  save(directory / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_EQ(contentsOf(directory / "a"), "new");
  struct stat info;
  ASSERT_EQ(stat((directory / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(AtomicFile, process_that_is_killed_leaves_the_old_file) {
  TemporaryDirectory directory;
  save(directory / "a", "old");
  int unnamed = open(directory.path.c_str(), O_TMPFILE | O_WRONLY, 0600);
  close(unnamed);
  EXPECT_FALSE(elsewhere([&] {
    writeFileAtomically(directory / "a", [&](FileSink &sink) {
      sink.write(std::string(1 << 20, 'n'));
      raise(SIGKILL);
    });
    return true;
  }));
  EXPECT_EQ(contentsOf(directory / "a"), "old");
  if (unnamed >= 0)
    EXPECT_EQ(directory.entries(), 1u); // not even a part of the new one
}

TEST(AtomicFile, pipes_and_devices_are_written_to_and_stay) {
  TemporaryDirectory directory;
  std::filesystem::create_symlink("/dev/null", directory / "null");
  save(directory / "null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file(directory / "null"));
  std::filesystem::create_symlink("/dev/full", directory / "full");
  EXPECT_TRUE(refuses(directory / "full", 3, "No space left"));
  EXPECT_TRUE(std::filesystem::is_character_file(directory / "full"));

  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  int reader = open((directory / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  save(directory / "pipe", "through");
  char got[16];
  EXPECT_EQ(std::string(got, size_t(std::max<ssize_t>(0, read(reader, got, sizeof got)))),
            "through");
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(directory / "pipe"));
  EXPECT_EQ(directory.entries(), 3u);
}

TEST(AtomicFile, path_without_a_directory_works) {
  TemporaryDirectory directory;
  EXPECT_TRUE(elsewhere([&] {
    if (chdir(directory.path.c_str()) != 0)
      return false;
    save("a", "new");
    return true;
  }));
  EXPECT_EQ(contentsOf(directory / "a"), "new");
}
