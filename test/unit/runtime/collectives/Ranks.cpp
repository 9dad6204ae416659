//===- Ranks.cpp - runs scenarios on several ranks ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"

#include <barrier>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;
namespace fs = std::filesystem;

Folder::Folder() : path((fs::temp_directory_path() / "heddle-ranks-XXXXXX").string()) {
  if (!mkdtemp(path.data()))
    throw std::runtime_error("no folder can be made");
}

Folder::~Folder() { fs::remove_all(path); }

std::vector<std::string> Folder::files() const {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(path))
    names.push_back(entry.path().filename().string());
  return names;
}

namespace {
/// The exchange between threads.
struct Meeting {
  explicit Meeting(int32_t size) : barrier(size) {}
  std::barrier<> barrier;
  std::vector<char> all;
  std::mutex mutex;
};
struct Seat {
  Meeting *meeting;
  int32_t rank, size;
};
} // namespace

static int32_t exchange(void *user, const void *mine, int64_t bytes, void *all) {
  auto [meeting, rank, size] = *static_cast<Seat *>(user);
  {
    std::lock_guard lock(meeting->mutex);
    meeting->all.resize(size_t(bytes * size));
    std::memcpy(meeting->all.data() + rank * bytes, mine, size_t(bytes));
  }
  meeting->barrier.arrive_and_wait();
  std::memcpy(all, meeting->all.data(), size_t(bytes * size));
  meeting->barrier.arrive_and_wait();
  return 0;
}

std::vector<Ended> test::runThreads(const std::string &engine, int32_t size,
                                    const Scenario &scenario, const std::string &options) {
  std::vector<Ended> ended(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  Meeting meeting(size);
  for (int32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Seat seat{&meeting, rank, size};
        auto world = std::make_unique<Communicator>(openEngine(engine),
                                                    HeddleWorld{.rank = rank,
                                                                .size = size,
                                                                .exchange = exchange,
                                                                .user = &seat,
                                                                .options = options.c_str()});
        scenario.run(world);
        ++ended[size_t(rank)].done[scenario.name];
      } catch (const std::exception &error) {
        ended[size_t(rank)].text = error.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return ended;
}

/// Starts a program, whose output goes to a file.
static pid_t startProgram(std::vector<std::string> words, const std::string &output) {
  pid_t child = fork();
  if (child != 0)
    return child;
  int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(file, 1);
  dup2(file, 2);
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

static Ended waitFor(pid_t process, const std::string &output) {
  int status = 0;
  waitpid(process, &status, 0);
  Ended ended{.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
              .status = WIFEXITED(status) ? WEXITSTATUS(status) : 0};
  std::ifstream file(output);
  for (std::string line; std::getline(file, line);)
    if (constexpr std::string_view end = ": done"; line.ends_with(end))
      ++ended.done[line.substr(0, line.size() - end.size())];
    else
      ended.text += line + "\n";
  return ended;
}

std::vector<Ended> test::runProcesses(const std::string &engine, int32_t size,
                                      const Scenario &scenario, const std::string &options) {
  Folder folder, outputs;
  std::vector<pid_t> processes;
  auto outputOf = [&](int32_t rank) { return outputs.path + "/" + std::to_string(rank); };
  for (int32_t rank = 0; rank < size; ++rank)
    processes.push_back(startProgram({HEDDLE_TEST_RANK, engine, std::to_string(rank),
                                      std::to_string(size), folder.path, options, scenario.name},
                                     outputOf(rank)));
  std::vector<Ended> ended;
  for (int32_t rank = 0; rank < size; ++rank)
    ended.push_back(waitFor(processes[size_t(rank)], outputOf(rank)));
  for (const std::string &file : folder.files())
    ended[0].text += "left the file " + file;
  return ended;
}

Ended test::runMpi(int32_t size, const std::vector<std::string> &scenarios) {
  Folder outputs;
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  std::vector<std::string> words{
      "mpirun", "--oversubscribe", "-n", std::to_string(size), HEDDLE_TEST_RANK, "mpi", "0",
      "0",      outputs.path,      ""};
  words.insert(words.end(), scenarios.begin(), scenarios.end());
  return waitFor(startProgram(words, outputs.path + "/output"), outputs.path + "/output");
}
