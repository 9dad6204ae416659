//===- FindRank.cpp - which rank of which job this process is -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/FindRank.h"

#include "heddle/Error.h"

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>

#include <unistd.h>

using namespace heddle;

namespace {
/// The environment variables that one launcher sets. Of several names for a variable, the first
/// that is set is used.
struct Launcher {
  const char *source;
  std::initializer_list<const char *> rank, ranks, localRank, localRanks;
  std::initializer_list<const char *> job; ///< distinguishes concurrent jobs
};

class Finder {
public:
  explicit Finder(const Environment &environment) : environment(environment) {}
  RankInfo run();

private:
  const Environment &environment;
  RankInfo info;

  std::string text(const char *name) const {
    const char *value = environment(name);
    return value ? value : "";
  }
  std::string text(std::initializer_list<const char *> names) const {
    for (const char *name : names)
      if (std::string value = text(name); !value.empty())
        return value;
    return "";
  }
  int number(const char *name, int least, int most) const;
  std::optional<int> number(std::initializer_list<const char *> names, int least, int most) const {
    for (const char *name : names)
      if (!text(name).empty())
        return number(name, least, most);
    return std::nullopt;
  }
  bool take(const Launcher &launcher);
  void findMeetingPlace(const Launcher &launcher);
};
} // namespace

static constexpr int mostRanks = 1 << 20;

static const Launcher launchers[] = {
    {"heddle-launch", {"HEDDLE_RANK"}, {"HEDDLE_RANKS"}, {}, {}, {}},
    {"Open MPI",
     {"OMPI_COMM_WORLD_RANK"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"},
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    // Before Slurm: under mpiexec the Slurm variables are those of its helper processes.
    {"PMI", {"PMI_RANK"}, {"PMI_SIZE"}, {"MPI_LOCALRANKID"}, {"MPI_LOCALNRANKS"}, {}},
    {"Slurm",
     {"SLURM_PROCID"},
     {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
     {"SLURM_LOCALID"},
     {},
     {"SLURM_JOB_ID"}},
    {"PMIx", {"PMIX_RANK"}, {}, {}, {}, {"PMIX_NAMESPACE"}},
};

int Finder::number(const char *name, int least, int most) const {
  std::string given = text(name);
  int value = 0;
  const char *end = given.data() + given.size();
  auto [stop, error] = std::from_chars(given.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most)
    throw Error("expected " + std::string(name) + " to be a whole number from " +
                std::to_string(least) + " to " + std::to_string(most) + ", got '" + given + "'");
  return value;
}

/// The first host of a list like "node[003-010,012],other".
static std::string firstHost(const std::string &list) {
  size_t bracket = list.find_first_of("[,");
  std::string host = list.substr(0, bracket);
  if (bracket == std::string::npos || list[bracket] == ',')
    return host;
  size_t digits = list.find_first_of("-,]", bracket), close = list.find(']', bracket);
  if (close == std::string::npos)
    throw Error("expected a list of hosts in SLURM_NODELIST, got '" + list + "'");
  size_t comma = list.find(',', close);
  return host + list.substr(bracket + 1, digits - bracket - 1) +
         list.substr(close + 1, comma == std::string::npos ? comma : comma - close - 1);
}

/// Sets the address at which ranks meet, if HEDDLE_CONTROL does not.
void Finder::findMeetingPlace(const Launcher &launcher) {
  std::string source = launcher.source, job = text(launcher.job);
  if (source == "Slurm")
    job += "." + text({"SLURM_STEP_ID", "SLURM_STEPID"});
  if (source == "PMI") // its proxy is the parent of all ranks of a host
    job = std::to_string(getppid());
  if (!info.severalHosts() && !job.empty() && source != "heddle-launch") {
    uint64_t hash = sipHash({}, source + " " + job);
    info.control = "file:" + meetingFolder() + "/" + std::to_string(hash);
    return;
  }
  std::string hosts = text({"SLURM_STEP_NODELIST", "SLURM_NODELIST"});
  if (source == "heddle-launch" || hosts.empty())
    throw Error(
        "the ranks of " + source + " have no common address: set HEDDLE_CONTROL to an " +
        "address 'host:port' of rank 0, or to 'file:PATH' with a path that all ranks share");
  // Below the range of ephemeral ports.
  uint64_t hash = sipHash({}, text("SLURM_JOB_ID") + "." + text({"SLURM_STEP_ID", "SLURM_STEPID"}));
  info.control = firstHost(hosts) + ":" + std::to_string(20000 + hash % 12000);
  if (text("HEDDLE_JOB_KEY").empty()) // separates jobs; not a secret
    info.key = {hash, getuid()};
}

bool Finder::take(const Launcher &launcher) {
  std::string source = launcher.source;
  // A batch script outside of `srun` has SLURM_PROCID too, but is a single process.
  if (source == "Slurm" && text({"SLURM_STEP_ID", "SLURM_STEPID"}).empty())
    return false;
  auto rank = number(launcher.rank, 0, mostRanks);
  auto ranks = number(launcher.ranks, 1, mostRanks);
  if (!rank && !ranks)
    return false;
  const char *rankName = *launcher.rank.begin();
  if (launcher.ranks.size() == 0)
    throw Error(std::string(rankName) + " is set, but the number of ranks is unknown: set " +
                "HEDDLE_RANK and HEDDLE_RANKS");
  const char *ranksName = *launcher.ranks.begin();
  if (!rank || !ranks)
    throw Error(std::string(rank ? rankName : ranksName) + " is set, but " +
                (rank ? ranksName : rankName) + " is not: " + source + " sets both");
  if (*rank >= *ranks)
    throw Error("expected " + std::string(rankName) + " to be less than " + ranksName + ", got " +
                std::to_string(*rank) + " of " + std::to_string(*ranks));
  info.rank = *rank;
  info.ranks = *ranks;
  info.source = source;
  int hosts = source == "heddle-launch"
                  ? 1
                  : number({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}, 1, mostRanks).value_or(1);
  info.localRank = number(launcher.localRank, 0, mostRanks).value_or(*rank);
  info.localRanks = number(launcher.localRanks, 1, mostRanks).value_or(hosts == 1 ? *ranks : 1);
  if (info.localRanks > *ranks || info.localRank >= *ranks)
    throw Error("the rank on this host is " + std::to_string(info.localRank) + " of " +
                std::to_string(info.localRanks) + ", but the job has " + std::to_string(*ranks) +
                " ranks");
  return true;
}

RankInfo Finder::run() {
  info.engine = text("HEDDLE_ENGINE");
  if (!text("HEDDLE_TIMEOUT").empty())
    info.timeout = std::chrono::seconds(number("HEDDLE_TIMEOUT", 1, 1000000));
  info.control = text("HEDDLE_CONTROL");
  if (std::string key = text("HEDDLE_JOB_KEY"); !key.empty())
    try {
      info.key = JobKey::parse(key);
    } catch (const Error &error) {
      throw Error(std::string("HEDDLE_JOB_KEY: ") + error.what());
    }
  for (const Launcher &launcher : launchers) {
    if (!take(launcher))
      continue;
    info.launcherServes = info.source == "heddle-launch" && !text("HEDDLE_LAUNCHER").empty();
    if (info.ranks > 1 && info.control.empty())
      findMeetingPlace(launcher);
    bool isFile = info.control.starts_with("file:");
    if (info.ranks > 1 && !isFile && info.key == JobKey())
      throw Error("HEDDLE_CONTROL is an address, but HEDDLE_JOB_KEY is not set: all ranks need the "
                  "same secret, 32 hexadecimal digits");
    return info;
  }
  return info;
}

std::string heddle::meetingFolder() { return "/tmp/heddle-" + std::to_string(getuid()); }

RankInfo heddle::findRank(const Environment &environment) { return Finder(environment).run(); }
RankInfo heddle::findRank() {
  return findRank([](const char *name) -> const char * { return std::getenv(name); });
}
