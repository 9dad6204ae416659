//===- FindRankTest.cpp - environments of launchers -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/Programs.h"

#include "heddle/Error.h"
#include "runtime/control/FindRank.h"

#include <unistd.h>

using namespace heddle;

using Variables = std::map<std::string, std::string>;

static RankInfo find(const Variables &variables) {
  return findRank([&](const char *name) -> const char * {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

static Variables with(Variables variables, const Variables &changes) {
  for (const auto &[name, value] : changes)
    variables[name] = value;
  return variables;
}

static const std::string secret = "000102030405060708090a0b0c0d0e0f";
static const Variables launched = {
    {"HEDDLE_RANK", "1"},       {"HEDDLE_RANKS", "4"},     {"HEDDLE_CONTROL", "127.0.0.1:4000"},
    {"HEDDLE_JOB_KEY", secret}, {"HEDDLE_LAUNCHER", "77"}, {"HEDDLE_TIMEOUT", "5"},
    {"HEDDLE_ENGINE", "shm"}};
static const Variables openMpi = {{"OMPI_COMM_WORLD_RANK", "3"},
                                  {"OMPI_COMM_WORLD_SIZE", "4"},
                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                  {"PMIX_RANK", "3"},
                                  {"PMIX_NAMESPACE", "3473539073"}};
static const Variables slurm = {{"SLURM_JOB_ID", "42"},        {"SLURM_STEP_ID", "0"},
                                {"SLURM_PROCID", "5"},         {"SLURM_NTASKS", "8"},
                                {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_NUM_NODES", "2"},
                                {"SLURM_LOCALID", "1"},        {"SLURM_NODELIST", "n[07-08]"}};

TEST(FindRank, NoLauncherIsOneRank) {
  RankInfo info = find({});
  EXPECT_EQ(info.rank, 0);
  EXPECT_EQ(info.ranks, 1);
  EXPECT_EQ(info.source, "");
  EXPECT_EQ(find({{"HEDDLE_ENGINE", "mpi"}}).engine, "mpi");
  // A batch script, which runs once.
  EXPECT_EQ(find({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "1"}}).ranks, 1);
}

TEST(FindRank, HeddleLaunch) {
  RankInfo info = find(launched);
  EXPECT_EQ(info.rank, 1);
  EXPECT_EQ(info.ranks, 4);
  EXPECT_EQ(info.localRank, 1);
  EXPECT_EQ(info.localRanks, 4);
  EXPECT_EQ(info.source, "heddle-launch");
  EXPECT_EQ(info.control, "127.0.0.1:4000");
  EXPECT_EQ(info.key, JobKey::parse(secret));
  EXPECT_EQ(info.engine, "shm");
  EXPECT_EQ(info.timeout, std::chrono::seconds(5));
  EXPECT_TRUE(info.launcherServes);
  // By hand, without a launcher; and within another launcher's job.
  Variables byHand = launched;
  byHand.erase("HEDDLE_LAUNCHER");
  EXPECT_FALSE(find(byHand).launcherServes);
  EXPECT_EQ(find(with(launched, openMpi)).rank, 1);
}

TEST(FindRank, OpenMpi) {
  RankInfo info = find(openMpi);
  EXPECT_EQ(info.rank, 3);
  EXPECT_EQ(info.ranks, 4);
  EXPECT_EQ(info.source, "Open MPI");
  EXPECT_FALSE(info.launcherServes);
  std::string folder = "file:/tmp/heddle-" + std::to_string(getuid()) + "/";
  EXPECT_EQ(info.control.substr(0, folder.size()), folder);
  EXPECT_EQ(find(with(openMpi, {{"OMPI_COMM_WORLD_RANK", "0"}})).control, info.control);
  EXPECT_NE(find(with(openMpi, {{"PMIX_NAMESPACE", "3473539074"}})).control, info.control);
  Variables two =
      with(openMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}});
  expectIn("the ranks of Open MPI have no common address: set HEDDLE_CONTROL",
           errorOf([&] { find(two); }));
  two["HEDDLE_CONTROL"] = "n1:4000";
  expectIn("HEDDLE_JOB_KEY is not set", errorOf([&] { find(two); }));
  two["HEDDLE_JOB_KEY"] = secret;
  info = find(two);
  EXPECT_TRUE(info.severalHosts());
  EXPECT_EQ(info.localRank, 1);
  EXPECT_EQ(
      find(with(two, {{"HEDDLE_CONTROL", "file:/home/me/job"}, {"HEDDLE_JOB_KEY", ""}})).control,
      "file:/home/me/job");
}

TEST(FindRank, Pmi) {
  Variables hydra = {
      {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
  EXPECT_EQ(find(hydra).source, "PMI");
  EXPECT_EQ(find(hydra).rank, 1);
  EXPECT_EQ(find(hydra).localRanks, 2);
  // mpiexec starts one helper on each host by srun, whose variables its ranks have.
  EXPECT_EQ(find(with(slurm, hydra)).ranks, 2);
  expectIn("PMIX_RANK is set, but the number of ranks is unknown",
           errorOf([&] { find({{"PMIX_RANK", "1"}}); }));
}

TEST(FindRank, Slurm) {
  RankInfo info = find(slurm);
  EXPECT_EQ(info.rank, 5);
  EXPECT_EQ(info.ranks, 8);
  EXPECT_EQ(info.localRank, 1);
  EXPECT_TRUE(info.severalHosts());
  EXPECT_EQ(info.control.substr(0, 5), "n07:2");
  EXPECT_NE(info.key, JobKey());
  EXPECT_NE(find(with(slurm, {{"SLURM_JOB_ID", "43"}})).key, info.key);
  EXPECT_EQ(find(with(slurm, {{"HEDDLE_JOB_KEY", secret}})).key, JobKey::parse(secret));
  for (auto [list, first] : std::map<std::string, std::string>{{"a,b", "a"},
                                                               {"a", "a"},
                                                               {"gpu[3,7-9]", "gpu3"},
                                                               {"n[010-012]-ib,x", "n010-ib"},
                                                               {"n[1]", "n1"}}) {
    std::string control = find(with(slurm, {{"SLURM_NODELIST", list}})).control;
    EXPECT_EQ(control.substr(0, control.find(':')), first);
  }
  EXPECT_NE(errorOf([&] { find(with(slurm, {{"SLURM_NODELIST", "n[1"}})); }), "");
  Variables one = with(slurm, {{"SLURM_STEP_NUM_NODES", "1"}});
  EXPECT_FALSE(find(one).severalHosts());
  EXPECT_EQ(find(one).control.substr(0, 5), "file:");
}

TEST(FindRank, WrongAndPartialEnvironmentsAreNamed) {
  auto errorFor = [](const Variables &base, const Variables &changes) {
    return errorOf<Error>([&] { find(with(base, changes)); });
  };
  EXPECT_EQ(errorFor(launched, {{"HEDDLE_RANK", "4"}}),
            "expected HEDDLE_RANK to be less than HEDDLE_RANKS, got 4 of 4");
  for (const char *bad : {"x", "1x", "-1", "99999999999", " 1", "1.0"})
    EXPECT_EQ(errorFor(launched, {{"HEDDLE_RANK", bad}}),
              std::string("expected HEDDLE_RANK to be a whole number from 0 to 1048576, got '") +
                  bad + "'");
  EXPECT_EQ(errorFor(launched, {{"HEDDLE_RANKS", ""}}),
            "HEDDLE_RANK is set, but HEDDLE_RANKS is not: heddle-launch sets both");
  EXPECT_EQ(errorFor({{"OMPI_COMM_WORLD_SIZE", "2"}}, {}),
            "OMPI_COMM_WORLD_SIZE is set, but OMPI_COMM_WORLD_RANK is not: Open MPI sets both");
  expectIn("HEDDLE_TIMEOUT to be a whole number", errorFor(launched, {{"HEDDLE_TIMEOUT", "0"}}));
  expectIn("HEDDLE_JOB_KEY: expected", errorFor(launched, {{"HEDDLE_JOB_KEY", "secret"}}));
  EXPECT_EQ(errorFor(launched, {{"HEDDLE_JOB_KEY", "secret"}}).find("'secret'"), std::string::npos);
  expectIn("HEDDLE_JOB_KEY is not set", errorFor(launched, {{"HEDDLE_JOB_KEY", ""}}));
  expectIn("set HEDDLE_CONTROL", errorFor(launched, {{"HEDDLE_CONTROL", ""}}));
  expectIn("the rank on this host is 7 of 4",
           errorFor(openMpi, {{"OMPI_COMM_WORLD_LOCAL_RANK", "7"}}));
}
