//===- ConformanceTest.cpp - engines do what Collectives.h says -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs all scenarios that fit, by each engine on 1 to 4 ranks.
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {
enum class Way { Threads, Processes };
struct Setting {
  std::string engine;
  Way way;
  int32_t size;
};
class Conformance : public testing::TestWithParam<Setting> {};
} // namespace

static bool fits(const Scenario &scenario, const Setting &setting) {
  if (scenario.name == "emulated" || scenario.least > setting.size)
    return false;
  if (scenario.name == "large" && setting.engine == "net")
    return false; // as shm does it
  return scenario.name != "killed" || setting.way == Way::Processes;
}

TEST_P(Conformance, Scenarios) {
  const Setting &setting = GetParam();
  for (const Scenario &scenario : scenarios()) {
    if (!fits(scenario, setting))
      continue;
    auto run = setting.way == Way::Threads ? runThreads : runProcesses;
    std::vector<Ended> ended = run(setting.engine, setting.size, scenario, scenario.options);
    for (size_t rank = 0; rank < ended.size(); ++rank) {
      EXPECT_EQ(ended[rank].text, "") << scenario.name << ", rank " << rank;
      bool isKilled = scenario.name == "killed" && rank == 1;
      EXPECT_EQ(ended[rank].signal, isKilled ? SIGKILL : 0) << scenario.name << ", rank " << rank;
      EXPECT_EQ(ended[rank].done[scenario.name], isKilled ? 0 : 1)
          << scenario.name << ", rank " << rank;
    }
  }
}

static std::vector<Setting> settings() {
  std::vector<Setting> all{{"null", Way::Threads, 1}, {"net", Way::Processes, 3}};
  for (int32_t size = 1; size <= 4; ++size) {
    all.push_back({"shm", Way::Threads, size});
    all.push_back({"shm", Way::Processes, size});
    all.push_back({"net", Way::Threads, size});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Engines, Conformance, testing::ValuesIn(settings()), [](const auto &info) {
  return info.param.engine + (info.param.way == Way::Threads ? "Threads" : "Processes") +
         std::to_string(info.param.size);
});

#ifdef HEDDLE_HAVE_MPI
namespace {
class MpiConformance : public testing::TestWithParam<int32_t> {};
} // namespace

TEST_P(MpiConformance, Scenarios) {
  std::vector<std::string> names;
  for (const Scenario &scenario : scenarios())
    if (!scenario.fails && scenario.least <= GetParam())
      names.push_back(scenario.name);
  Ended ended = runMpi(GetParam(), names);
  EXPECT_EQ(ended.text, "");
  EXPECT_EQ(ended.status, 0);
  for (const std::string &name : names)
    EXPECT_EQ(ended.done[name], GetParam()) << name;
}

// A context after another: processes live on after a failure.
TEST_P(MpiConformance, Failures) {
  std::vector<std::string> names;
  for (const Scenario &scenario : scenarios())
    if (scenario.fails && scenario.least <= GetParam() && scenario.name != "emulated" &&
        scenario.name != "killed")
      names.push_back(scenario.name);
  // When the first rank has ended mpirun ends the others, since MPI can't be ended after a failure.
  // All ranks begin the last scenario together, so each has printed what became of the others.
  const std::string last = "bad-arguments";
  std::vector<std::string> all = names;
  all.push_back(last);
  Ended ended = runMpi(GetParam(), all);
  for (const std::string &name : names)
    EXPECT_EQ(ended.done[name], GetParam()) << name << ": " << ended.text;
  EXPECT_GE(ended.done[last], 1) << ended.text;
  EXPECT_EQ(ended.text.find(": rank 0: "), std::string::npos) << ended.text; // not as expected
  EXPECT_EQ(ended.text.find("signal 14"), std::string::npos) << ended.text;  // hung
  EXPECT_EQ(ended.signal, 0);
  EXPECT_NE(ended.status, 0);
}

// mpirun ends the others.
TEST(Mpi, ARankThatIsKilledEndsTheJob) {
  Ended ended = runMpi(3, {"killed"});
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.text.find("signal 9"), std::string::npos) << ended.text;
}

INSTANTIATE_TEST_SUITE_P(Ranks, MpiConformance, testing::Range(1, 5),
                         testing::PrintToStringParamName());
#endif

//===----------------------------------------------------------------------===//
// The emulated network
//===----------------------------------------------------------------------===//

static std::string write(const Folder &folder, const std::string &text) {
  std::string file = folder.path + "/network.json";
  std::ofstream(file) << text;
  return file;
}

static bool has(const Ended &ended, const std::string &text) {
  return ended.text.find(text) != std::string::npos;
}

TEST(Network, DataArrivesOverSlowLinks) {
  Folder folder;
  std::string file = write(folder, R"({"latency_us": 30, "gigabytes_per_second": 0.5,
      "links": [{"from": 0, "to": 1, "latency_us": 300}]})");
  for (const char *name : {"in-flight", "groups"})
    for (const Ended &ended : runThreads("net", 3, scenario(name), "network=" + file))
      EXPECT_EQ(ended.text, "") << name;
}

TEST(Network, FaultsAreWhereTheFileSays) {
  Folder folder;
  auto run = [&](const std::string &kind, auto way) {
    std::string file = write(folder, R"({"delay_ms": 300, "faults": [{"kind": ")" + kind +
                                         R"(", "rank": 2, "operation": 7}]})");
    return way("net", 3, scenario("emulated"), "timeout=1,network=" + file);
  };
  for (const Ended &ended : run("delay", runThreads))
    EXPECT_EQ(ended.text, "");
  std::vector<Ended> hung = run("hang", runThreads);
  for (int rank : {0, 1})
    EXPECT_TRUE(
        has(hung[size_t(rank)], "all-reduce #7 of group data: rank 2 did not arrive within 1 s"))
        << hung[size_t(rank)].text;
  EXPECT_TRUE(has(hung[2], "all-reduce #7 of group data: rank ")) << hung[2].text;
  EXPECT_TRUE(has(hung[2], " reports: ")) << hung[2].text;
  std::vector<Ended> dead = run("death", runThreads), killed = run("death", runProcesses);
  EXPECT_TRUE(has(dead[2], "all-reduce #7 of group data: rank 2 died")) << dead[2].text;
  EXPECT_EQ(killed[2].signal, SIGKILL);
  for (const auto &ended : {dead, killed})
    for (size_t rank : {0, 1})
      EXPECT_TRUE(has(ended[rank], "all-reduce #7 of group data: rank 2 is gone"))
          << ended[rank].text;
}

TEST(Network, ASeedDrawsTheSameFaultsAgain) {
  Folder folder;
  std::string file = write(folder, R"({"draw": {"within": 25, "kinds": ["death"]}})");
  auto faultOf = [&](int seed) {
    std::string options = "timeout=10,network=" + file + ",seed=" + std::to_string(seed), fault;
    for (const Ended &ended : runThreads("net", 3, scenario("emulated"), options)) {
      EXPECT_NE(ended.text, "");
      if (has(ended, "died"))
        fault += ended.text;
    }
    return fault;
  };
  std::set<std::string> faults;
  for (int seed = 0; seed < 6; ++seed) {
    std::string fault = faultOf(seed);
    EXPECT_EQ(faultOf(seed), fault);
    EXPECT_NE(fault, "");
    faults.insert(fault);
  }
  EXPECT_GT(faults.size(), 3u);
}

TEST(Network, WrongFilesAreRefused) {
  Folder folder;
  auto refusal = [&](const std::string &text) {
    return runThreads("net", 1, scenario("emulated"), "network=" + write(folder, text))[0].text;
  };
  EXPECT_NE(refusal("{").find("network.json': expected JSON"), std::string::npos);
  EXPECT_NE(refusal(R"({"speed": 1})").find("unknown field 'speed' of the file"),
            std::string::npos);
  EXPECT_NE(
      refusal(R"({"links": [{"from": 0, "to": 3}]})").find("expected 'to' to be 0 to 0, got 3"),
      std::string::npos);
  EXPECT_NE(refusal(R"({"faults": [{"kind": "fire"}]})").find("delay, hang or death, got \"fire\""),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Engines and contexts
//===----------------------------------------------------------------------===//

static std::string messageOf(const std::function<void()> &action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Engines, UnknownOnesAreRefused) {
  EXPECT_NE(
      messageOf([] { openEngine("smoke"); }).find("unknown engine 'smoke'; known engines are "),
      std::string::npos);
  EXPECT_NE(messageOf([] { openEngine("smoke"); })
                .find("; the folders of $HEDDLE_ENGINES are searched for "
                      "libheddle_collectives_NAME.so of others"),
            std::string::npos);
  for (const char *name : {"null", "shm", "net"}) {
    EXPECT_NE(messageOf([] { openEngine("../shm"); }).find(name), std::string::npos);
    EXPECT_STREQ(openEngine(name).name, name);
    EXPECT_EQ(&openEngine(name), &openEngine(name));
  }
#ifndef HEDDLE_HAVE_MPI
  EXPECT_NE(messageOf([] { openEngine("mpi"); }).find("libopenmpi-dev"), std::string::npos);
#endif
}

/// An engine of one rank whose operations fail with a status, and say this or nothing.
static HeddleCollectives failing(const char *(*message)()) {
  HeddleCollectives table = openEngine("null");
  table.name = "failing";
  table.start = [](HeddleGroup *, const HeddleOperation *operation, HeddlePending **) -> int32_t {
    return operation->kind == HEDDLE_BARRIER ? HEDDLE_TIMEOUT : 17;
  };
  table.message = message;
  return table;
}

TEST(Engines, TheStatusOfAFailedStartIsReportedAsItIs) {
  auto outcome = [](const HeddleCollectives &engine, bool barrier) {
    Communicator world(engine, {.rank = 0, .size = 1, .key = "k", .directory = "/"});
    Group all = world.group("all");
    float x = 0;
    try {
      if (barrier)
        all.barrier().wait();
      else
        all.broadcast(&x, &x, 1, 0, ElementType::F32).wait();
    } catch (const CollectiveError &error) {
      return std::pair(error.status, std::string(error.what()));
    }
    return std::pair(0, std::string());
  };
  const HeddleCollectives says = failing([] { return "the cable is out"; }),
                          silent = failing([] { return ""; }), none = failing(nullptr);
  EXPECT_EQ(outcome(says, true), std::pair(3, std::string("the cable is out")));
  for (const HeddleCollectives &engine : {silent, none}) {
    EXPECT_EQ(outcome(engine, true),
              std::pair(3, std::string("the engine 'failing' failed with the status 3 (timeout) "
                                       "and no message")));
    EXPECT_EQ(outcome(engine, false),
              std::pair(17, std::string("the engine 'failing' failed with the status 17 and no "
                                        "message")));
  }
}

TEST(Engines, ContextsRefuseWhatMakesNoSense) {
  Folder folder;
  auto create = [&](const char *engine, HeddleWorld world) {
    return messageOf([&] { Communicator(openEngine(engine), world); });
  };
  EXPECT_EQ(create("shm", {.rank = 2, .size = 2}),
            "expected a rank of 0 to 1 and a size of at least 1, got rank 2 and size 2");
  EXPECT_EQ(create("shm", {.size = 1, .options = "speed=3"}),
            "unknown option 'speed'; known ones are timeout");
  EXPECT_EQ(create("net", {.size = 1, .options = "speed=3"}),
            "unknown option 'speed'; known ones are network, seed, timeout");
  EXPECT_EQ(create("shm", {.size = 1, .options = "timeout=soon"}),
            "option 'timeout': expected a number, got 'soon'");
  EXPECT_NE(create("shm", {.size = 2}).find("expected an exchange, or a key"), std::string::npos);
  EXPECT_NE(create("shm", {.size = 2, .key = "k", .directory = "/nowhere"}).find("/nowhere/k.0.0"),
            std::string::npos);
  EXPECT_NE(create("null", {.size = 2, .key = "k", .directory = "/"}).find("use shm or mpi"),
            std::string::npos);
  EXPECT_NE(
      create("shm",
             {.size = 2, .key = "k", .directory = folder.path.c_str(), .options = "timeout=0.1"})
          .find("rank 1 did not join within 0.1 s"),
      std::string::npos);
  EXPECT_EQ(folder.files().size(), 0u);
}

TEST(Engines, FilesOfOthersAreNotUsed) {
  Folder folder;
  std::string name = folder.path + "/k.0.1";
  auto refusal = [&] {
    return messageOf([&] {
      Communicator(
          openEngine("shm"),
          {.size = 2, .key = "k", .directory = folder.path.c_str(), .options = "timeout=10"});
    });
  };
  std::ofstream(name) << "x"; // readable by all
  std::filesystem::permissions(name, std::filesystem::perms(0644));
  EXPECT_EQ(refusal(),
            "can't use '" + name +
                "', by which ranks meet: other users may open it, expected the mode 0600");
  std::filesystem::permissions(name, std::filesystem::perms(0600));
  EXPECT_NE(refusal().find("'" + name + "' has 1 bytes, expected "), std::string::npos);
  std::filesystem::remove(name);
  std::filesystem::create_symlink("/etc/passwd", name);
  EXPECT_NE(refusal().find("it is a link"), std::string::npos);
  // What another user has put where this rank writes is replaced, never written through.
  std::string victim = folder.path + "/victim";
  std::ofstream(victim) << "kept";
  std::filesystem::create_symlink(victim, folder.path + "/k.0.0");
  EXPECT_NE(refusal(), "");
  std::string kept;
  std::ifstream(victim) >> kept;
  EXPECT_EQ(kept, "kept");
}
