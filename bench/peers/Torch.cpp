//===- Torch.cpp - PyTorch in another process -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/peers/Peers.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

#include <sys/wait.h>

using namespace heddle;
using namespace heddle::bench;

namespace {
/// A process that answers "N\n" with the seconds that N runs took.
class Process {
public:
  explicit Process(const std::vector<std::string> &command) {
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
  ~Process() {
    if (out)
      fclose(out);
    if (in)
      fclose(in);
    if (child > 0)
      waitpid(child, nullptr, 0);
  }
  Process(const Process &) = delete;
  Process &operator=(const Process &) = delete;

  /// A line without its end; empty at the end of the output.
  std::string line() {
    char text[512];
    if (!in || !fgets(text, sizeof text, in))
      return {};
    text[strcspn(text, "\n")] = 0;
    return text;
  }
  /// The processor time in seconds that the process has used.
  double processorSeconds() const {
    clockid_t clock;
    timespec time{};
    if (clock_getcpuclockid(child, &clock) == 0)
      clock_gettime(clock, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  }
  void say(int64_t number) {
    fprintf(out, "%lld\n", (long long)number);
    fflush(out);
  }

private:
  pid_t child = -1;
  FILE *in = nullptr, *out = nullptr;
};
} // namespace

std::vector<System> bench::torchPeer(const std::string &workload,
                                     const std::map<std::string, std::string> &settings,
                                     int threads, bool tuned) {
  const char *python = getenv("HEDDLE_PEER_PYTHON");
  std::vector<std::string> command{python ? python : "python3", HEDDLE_BENCH_PEERS "/torch_peer.py",
                                   workload, "threads=" + std::to_string(threads)};
  if (tuned) {
    const char *jemalloc = getenv("HEDDLE_PEER_JEMALLOC");
    std::vector<std::string> environment{
        "env", "LD_PRELOAD=" + std::string(jemalloc ? jemalloc : "libjemalloc.so.2"),
        "THP_MEM_ALLOC_ENABLE=1",
        "MALLOC_CONF=oversize_threshold:1,background_thread:false,metadata_thp:auto,dirty_decay_ms:"
        "-1,"
        "muzzy_decay_ms:-1,thp:always"};
    command.insert(command.begin(), environment.begin(), environment.end());
  }
  for (const auto &[name, value] : settings)
    command.push_back(name + "=" + value);
  signal(SIGPIPE, SIG_IGN);
  auto process = std::make_shared<Process>(command);
  std::string name = process->line(); // "torch-2.9.0" once it is ready
  if (name.rfind("torch", 0) != 0 || tuned != name.ends_with("+tuned"))
    return {};
  return {{.name = name,
           .run =
               [process](int64_t count) {
                 process->say(count);
                 std::string answer = process->line();
                 if (answer.empty())
                   throw Error("the PyTorch process of the benchmark ended early");
                 return std::stod(answer);
               },
           .processorSeconds = [process] { return process->processorSeconds(); },
           .peer = true}};
}
