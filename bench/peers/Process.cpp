//===- Process.cpp - systems in separate processes ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/peers/Process.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

#include <sys/wait.h>

using namespace heddle;
using namespace heddle::bench;

Process::Process(const std::vector<std::string> &command) {
  signal(SIGPIPE, SIG_IGN);
  int toChild[2], fromChild[2];
  if (pipe2(toChild, O_CLOEXEC) || pipe2(fromChild, O_CLOEXEC))
    return;
  std::vector<char *> words;
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  child = fork();
  if (child == 0) {
    dup2(toChild[0], 0);
    dup2(fromChild[1], 1);
    execvp(words[0], words.data());
    _exit(127);
  }
  close(toChild[0]);
  close(fromChild[1]);
  in = fdopen(fromChild[0], "r");
  out = fdopen(toChild[1], "w");
}

Process::~Process() {
  if (out)
    fclose(out);
  if (in)
    fclose(in);
  if (child > 0)
    waitpid(child, nullptr, 0);
}

std::string Process::line() {
  std::string text;
  if (in)
    for (int c = fgetc(in); c != EOF && c != '\n'; c = fgetc(in))
      text += char(c);
  return text;
}

double Process::run(int64_t count) {
  fprintf(out, "%lld\n", (long long)count);
  fflush(out);
  std::string answer = line();
  if (answer.empty())
    throw Error("a process of the benchmark ended early");
  return std::stod(answer);
}

double Process::processorSeconds() const {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(child, &clock) == 0)
    clock_gettime(clock, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

int64_t Process::peakMemoryBytes() const {
  std::unique_ptr<FILE, int (*)(FILE *)> status(
      fopen(("/proc/" + std::to_string(child) + "/status").c_str(), "r"), fclose);
  char text[256];
  long long kilobytes;
  while (status && fgets(text, sizeof text, status.get()))
    if (sscanf(text, "VmHWM: %lld kB", &kilobytes) == 1)
      return int64_t(kilobytes) << 10;
  return -1;
}

System bench::systemOf(std::shared_ptr<Process> process, std::string name, bool peer) {
  return {.name = std::move(name),
          .run = [process](int64_t count) { return process->run(count); },
          .processorSeconds = [process] { return process->processorSeconds(); },
          .peer = peer};
}

std::vector<std::string> bench::tunedAllocation(std::vector<std::string> command) {
  const char *jemalloc = getenv("HEDDLE_PEER_JEMALLOC");
  std::vector<std::string> environment{
      "env", "LD_PRELOAD=" + std::string(jemalloc ? jemalloc : "libjemalloc.so.2"),
      "THP_MEM_ALLOC_ENABLE=1",
      "MALLOC_CONF=oversize_threshold:1,background_thread:false,metadata_thp:auto,dirty_decay_ms:-"
      "1,"
      "muzzy_decay_ms:-1,thp:always"};
  command.insert(command.begin(), environment.begin(), environment.end());
  return command;
}

std::string bench::peerPython() {
  const char *python = getenv("HEDDLE_PEER_PYTHON");
  return python ? python : "python3";
}
