//===- LocalRanks.cpp - ranks that are threads of a process ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/LocalRanks.h"

#include "runtime/control/EngineTransport.h"

#include <filesystem>
#include <thread>

using namespace heddle;

namespace {
/// A folder of this user alone, where the ranks meet.
struct PrivateFolder {
  std::string path;
  PrivateFolder()
      : path((std::filesystem::temp_directory_path() / "heddle-ranks-XXXXXX").string()) {
    if (!mkdtemp(path.data()))
      throw Error("can't make the folder '" + path + "' for the ranks of a job");
  }
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};
} // namespace

void heddle::onLocalRanks(int ranks, int threads, const std::string &engine,
                          const std::function<void(const std::shared_ptr<Job> &)> &body) {
  PrivateFolder folder;
  RankInfo info;
  info.ranks = info.localRanks = ranks;
  info.control = "file:" + folder.path + "/control";
  info.threads = threads > 0
                     ? threads
                     : std::max(1, int(std::thread::hardware_concurrency()) / std::max(1, ranks));
  std::vector<std::exception_ptr> errors(static_cast<size_t>(ranks));
  auto run = [&](int rank) {
    try {
      RankInfo mine = info;
      mine.rank = mine.localRank = rank;
      std::shared_ptr<Job> job = Job::join(mine);
      useEngine(*job, engine);
      body(job);
    } catch (...) {
      errors[size_t(rank)] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (int rank = 1; rank < ranks; ++rank)
    others.emplace_back(run, rank);
  run(0);
  for (std::thread &other : others)
    other.join();
  for (const std::exception_ptr &error : errors)
    if (error)
      std::rethrow_exception(error);
}
