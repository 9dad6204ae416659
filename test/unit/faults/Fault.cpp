//===- Fault.cpp - a rank that goes wrong ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Fault.h"

#include "heddle/Error.h"
#include "runtime/control/Connection.h"
#include "runtime/control/EngineTransport.h"
#include "test/unit/runtime/Programs.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

static constexpr int calls = 6;

bool Fault::isHarmless() const {
  return kind == "delay" || kind == "unauthenticated" || kind == "net-delay";
}

std::string Fault::describe() const {
  const char *ways[] = {"threads", "heddle-launch", "mpirun"};
  return kind + " of rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " in call " +
         std::to_string(call) + ", " + std::to_string(elements) + " elements over " + engine +
         ", by " + ways[int(way)];
}

Fault test::drawFault(unsigned seed, int index, bool mpi) {
  std::vector<Fault> all;
  auto add = [&](Way way, const std::string &engine, const std::vector<std::string> &kinds) {
    for (const std::string &kind : kinds)
      all.push_back({.way = way, .engine = engine, .kind = kind});
  };
  for (const char *engine : {"shm", "net"}) {
    add(Way::Threads, engine, {"delay", "hang", "fail", "throw", "leave", "differ"});
    add(Way::Launch, engine,
        {"delay", "unauthenticated", "hang", "stop", "pipe", "kill", "exit", "fail", "throw",
         "leave", "differ"});
  }
  for (Way way : {Way::Threads, Way::Launch})
    add(way, "net", {"net-delay", "net-hang", "net-death"});
  if (mpi)
    for (const char *engine : {"mpi", "shm"})
      add(Way::Mpirun, engine, {"delay", "hang", "stop", "kill", "exit", "fail", "differ"});
  // All of them before any occurs again.
  std::mt19937 random(seed + 1000003 * unsigned(size_t(index) / all.size()));
  std::shuffle(all.begin(), all.end(), random);
  Fault fault = all[size_t(index) % all.size()];
  std::mt19937 rest(seed * 7919 + unsigned(index));
  fault.ranks = 2 + int(rest() % 3);
  fault.rank = int(rest() % unsigned(fault.ranks));
  fault.call = int(rest() % calls);
  int64_t sizes[] = {4, 1000, 9000, 70000, 400000};
  fault.elements = sizes[rest() % 5];
  return fault;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The function that each rank calls in the step 'between'; ranks may be threads.
static std::function<int32_t(HeddleCall *)> within[8];

/// The sum is started before and awaited after the step in which faults occur.
static int32_t train(HeddleCall *call, int32_t, int32_t) {
  if (int32_t status = call->table->start(call, 0))
    return status;
  if (auto &action = within[call->symbols[0]])
    if (int32_t status = action(call))
      return status;
  if (int32_t status = call->table->await(call, 2))
    return status;
  if (int32_t status = call->table->invoke(call, 3))
    return status;
  auto *state = static_cast<float *>(call->addresses[1]);
  auto *sum = static_cast<const float *>(call->addresses[2]);
  for (int64_t i = 0; i < call->symbols[1]; ++i)
    state[i] += sum[i];
  return 0;
}

static Manifest manifestOf(const Fault &fault) {
  using Kind = ValueSpec::Kind;
  using Communication = CommunicationSpec;
  TensorSpec part = floats({{"i", Expr::name("N")}});
  EntrySpec entry;
  entry.name = "train";
  entry.symbols = {"d", "N"};
  entry.supplied = {"d"};
  entry.coordinates = {{"d", "data"}};
  entry.values = {
      value(Kind::Argument, "state", part, "[i]"), value(Kind::Result, "next", part, "[i]"),
      value(Kind::Result, "sum", part, "[i]"),
      value(Kind::Result, "all", floats({{"i", Expr::name("N") * fault.ranks}}), "[i]")};
  entry.values[1].aliasOf = 0;
  entry.values[3].bytes = Expr::name("N") * (4 * fault.ranks);
  entry.steps = {{"reduce", "model.cpp:1:1"},
                 {"between", "model.cpp:2:1"},
                 {"", ""},
                 {"gather", "model.cpp:3:1"},
                 {"update", "model.cpp:4:1"}};
  Expr n = Expr::name("N");
  entry.steps[0].kind = StepKind::Start;
  entry.steps[0].values = {0, 2};
  entry.steps[0].communication =
      Communication{.kind = Communication::Kind::AllReduce, .axes = {"data"}, .counts = {n}};
  entry.steps[2].kind = StepKind::Await;
  entry.steps[2].awaits = 0;
  entry.steps[3].kind = StepKind::Invoke;
  entry.steps[3].values = {2, 3};
  entry.steps[3].communication = Communication{.kind = Communication::Kind::AllGather,
                                               .axes = {"data"},
                                               .counts = std::vector<Expr>(size_t(fault.ranks), n)};
  entry.arguments = {0};
  entry.results = {1, 2, 3};
  entry.donations = {{0, 0}};
  Manifest manifest;
  manifest.mesh = {{{"data", fault.ranks}}};
  manifest.entries = {entry, entry};
  manifest.entries[1].name = "eval";
  return manifest;
}

//===----------------------------------------------------------------------===//
// What goes wrong
//===----------------------------------------------------------------------===//

/// Writes to a pipe that nobody reads, for ever.
static void fillPipe() {
  int ends[2];
  char bytes[4096] = {};
  if (pipe(ends) == 0)
    while (write(ends[1], bytes, sizeof bytes) > 0)
      ;
}

/// Processes that do not belong to the job talk to its server.
static void sendUnauthenticated(const RankInfo &info) {
  std::mt19937 random(unsigned(info.rank) + 17);
  std::string reason;
  for (int i = 0; i < 40; ++i) {
    Socket socket = connectTo(Endpoint::parse(info.control),
                              ControlClock::now() + std::chrono::seconds(5), reason);
    std::string bytes(random() % 3000, '\0');
    for (char &each : bytes)
      each = char(random());
    if (i % 3 == 0)
      bytes = packFrame(JobKey::random(), {FrameKind(random() % 14), bytes});
    if (i % 3 == 1)
      bytes = packFrame(info.key, {FrameKind(random() % 14), bytes});
    if (socket)
      (void)!write(socket.get(), bytes.data(), bytes.size());
  }
}

/// In the step.
static int32_t suffer(HeddleCall *call, const Job &job, const std::string &kind,
                      const std::function<void()> &hang) {
  if (kind == "delay")
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (kind == "unauthenticated")
    sendUnauthenticated(job.info());
  if (kind == "fail")
    return call->table->fail(call, 1, "a drawn fault");
  if (kind == "hang")
    hang();
  if (kind == "stop")
    raise(SIGSTOP);
  if (kind == "pipe")
    fillPipe();
  if (kind == "kill")
    raise(SIGKILL);
  if (kind == "exit")
    _exit(3);
  return 0;
}

/// The options of the engine, without a timeout: that of the job counts. `file` is the network's.
static std::string optionsOf(const Fault &fault, const std::string &file) {
  if (!fault.kind.starts_with("net-"))
    return "";
  // Two operations a call.
  std::ofstream(file) << R"({"delay_ms": 300, "faults": [{"kind": ")" << fault.kind.substr(4)
                      << R"(", "rank": )" << fault.rank << R"(, "operation": )"
                      << 2 * fault.call + 1 << "}]}";
  return "network=" + file;
}

void test::runRank(Job &job, const Fault &fault, const std::function<void()> &hang) {
  std::string file =
      (std::filesystem::temp_directory_path() /
       ("heddle-network-" + std::to_string(getpid()) + "-" + std::to_string(job.rank()) + ".json"))
          .string();
  struct Removed {
    const std::string &file;
    ~Removed() { std::filesystem::remove(file); }
  } removed{file};
  useEngine(job, fault.engine, optionsOf(fault, file));
  auto program = Program::fromFunctions(manifestOf(fault), {train, train});
  CallOptions options;
  options.job = std::shared_ptr<Job>(&job, [](Job *) {});
  TensorRef state = tensorOf(std::vector<float>(size_t(fault.elements), float(job.rank() + 1)));
  std::vector<float> expected; // of each rank
  for (int r = 0; r < job.ranks(); ++r)
    expected.push_back(float(r + 1));
  bool isMine = job.rank() == fault.rank;
  auto &action = within[job.rank()];
  for (int i = 0; i < calls; ++i) {
    bool now = isMine && i == fault.call;
    if (now && fault.kind == "throw")
      throw Error("a drawn fault");
    if (now && fault.kind == "leave")
      return job.channel()->leave();
    action = nullptr;
    if (now)
      action = [&](HeddleCall *call) { return suffer(call, job, fault.kind, hang); };
    const char *entry = now && fault.kind == "differ" ? "eval" : "train";
    std::vector<TensorRef> results;
    try {
      results = program->run(program->entry(entry), {state}, options, {true});
    } catch (const ExecutionError &) {
      if (state->donatedTo != entry)
        throw Error("the state is not poisoned");
      // The process lives: it runs programs of its own.
      if (valuesOf(smallPrograms()->run("count", {{"state", tensorOf({1, 1, 1, 1})},
                                                  {"other", tensorOf({1, 2, 3, 4})}})[0])[3] != 5)
        throw Error("a program of this process alone gives wrong values");
      throw;
    }
    state = results[0];
    float sum = std::accumulate(expected.begin(), expected.end(), 0.f);
    for (float &each : expected)
      each += sum;
    auto all = valuesOf(results[2]), mine = valuesOf(state);
    for (size_t at : {size_t(0), all.size() / 2, all.size() - 1})
      if (all[at] != sum || mine[at % mine.size()] != expected[size_t(job.rank())])
        throw Error("wrong values in call " + std::to_string(i));
  }
  job.channel()->leave();
}
