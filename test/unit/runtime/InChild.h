//===- InChild.h - runs a test in a child of fork ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_INCHILD_H
#define HEDDLE_TEST_UNIT_RUNTIME_INCHILD_H

#include <csignal>
#include <functional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace heddle::test {

/// Forks, and returns the result of `action` in the child, or the message of its exception. A child
/// that hangs is killed after two minutes: "killed by signal 14".
inline std::string inChild(const std::function<std::string()> &action) {
  int ends[2];
  if (pipe(ends) != 0)
    return "no pipe can be had";
  pid_t child = fork();
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    alarm(120);
    std::string text;
    try {
      text = action();
    } catch (const std::exception &error) {
      text = error.what();
    }
    _exit(write(ends[1], text.data(), text.size()) == ssize_t(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, size_t(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return "killed by signal " + std::to_string(WTERMSIG(status));
  return text;
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_RUNTIME_INCHILD_H
