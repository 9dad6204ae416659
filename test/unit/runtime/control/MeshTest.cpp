//===- MeshTest.cpp - meshes and communicating steps of programs ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/control/Ranks.h"

#include "heddle/Error.h"
#include "runtime/control/EngineTransport.h"
#include "runtime/control/JobTransport.h"

#include <optional>

using namespace heddle;
using namespace heddle::test;
using Kind = ValueSpec::Kind;
using Communication = CommunicationSpec;

TEST(Mesh, RanksAreNumberedRowByRow) {
  MeshSpec mesh{{{"data", 2}, {"model", 3}, {"stage", 2}}};
  EXPECT_EQ(mesh.ranks(), 12);
  EXPECT_EQ(mesh.describe(), "data=2, model=3, stage=2");
  for (int64_t rank = 0; rank < 12; ++rank) {
    EXPECT_EQ(mesh.coordinate(rank, "data"), rank / 6);
    EXPECT_EQ(mesh.coordinate(rank, "model"), rank / 2 % 3);
    EXPECT_EQ(mesh.coordinate(rank, "stage"), rank % 2);
  }
  EXPECT_EQ(mesh.group(9, {"data"}), (std::vector<int32_t>{3, 9}));
  EXPECT_EQ(mesh.group(9, {"model"}), (std::vector<int32_t>{7, 9, 11}));
  EXPECT_EQ(mesh.group(9, {"stage", "data"}), (std::vector<int32_t>{2, 8, 3, 9}));
  EXPECT_EQ(mesh.group(9, {"data", "stage"}), (std::vector<int32_t>{2, 3, 8, 9}));
  EXPECT_EQ(mesh.sizeOf(AxisList{"data", "stage"}), 4);
  EXPECT_EQ(MeshSpec{}.ranks(), 1);
}

/// y = the sum of x over the ranks of "data", started before and awaited after step 1.
static Manifest manifest() {
  EntrySpec entry;
  entry.name = "sum";
  entry.symbols = entry.supplied = {"d"};
  entry.coordinates = {{"d", "data"}};
  entry.role = "all";
  entry.values = {value(Kind::Argument, "x", floats({{"i", 4}}), "[i]"),
                  value(Kind::Result, "y", floats({{"i", 4}}), "[i]")};
  entry.values[0].shards = {{"i", {"data"}}};
  entry.values[0].wholeDims = {{"i", 7}};
  entry.steps = {{"all-reduce", "model.cpp:1:1"}, {"between", "model.cpp:2:1"}, {"", ""}};
  entry.steps[0].kind = StepKind::Start;
  entry.steps[0].values = {0, 1};
  entry.steps[0].communication =
      Communication{.kind = Communication::Kind::AllReduce, .axes = {"data"}, .counts = {4}};
  entry.steps[2].kind = StepKind::Await;
  entry.steps[2].awaits = 0;
  entry.arguments = {0};
  entry.results = {1};
  Manifest made;
  made.mesh = {{{"data", 2}, {"model", 2}}};
  made.roles = {{"all", {0, 1, 2, 3}}};
  made.entries = {entry};
  return made;
}

TEST(Mesh, ManifestsKeepWhatTheySayOfIt) {
  Manifest made = manifest();
  Communication &with = *made.entries[0].steps[0].communication;
  with.source = Expr::name("d");
  EXPECT_EQ(made.verify(1, 0), "");
  std::string error;
  auto again = Manifest::fromJson(made.toJson(), error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(again->toJson(), made.toJson());
  EXPECT_EQ(again->mesh, made.mesh);
  EXPECT_EQ(again->roles[0].ranks, made.roles[0].ranks);
  const EntrySpec &entry = again->entries[0];
  EXPECT_EQ(entry.coordinates, made.entries[0].coordinates);
  EXPECT_EQ(entry.role, "all");
  EXPECT_EQ(entry.values[0].shards, made.entries[0].values[0].shards);
  EXPECT_EQ(entry.values[0].wholeDims, made.entries[0].values[0].wholeDims);
  ASSERT_TRUE(entry.steps[0].communication);
  EXPECT_EQ(entry.steps[0].communication->kind, Communication::Kind::AllReduce);
  EXPECT_EQ(entry.steps[0].communication->counts, with.counts);
  EXPECT_EQ(entry.steps[0].communication->source, with.source);
  // A program for one rank says nothing of it.
  Manifest plain;
  plain.entries = {chainEntry()};
  for (const char *word : {"mesh", "role", "shards", "communication", "coordinates"})
    EXPECT_EQ(plain.toJson().find(word), std::string::npos) << word;
}

TEST(Mesh, ManifestsThatAreWrongAreRefused) {
  using Change = std::function<void(Manifest &, EntrySpec &, Communication &)>;
  std::vector<std::pair<Change, const char *>> cases = {
      {[](auto &m, auto &, auto &) { m.mesh.axes[1].first = "data"; }, "the axis 'data' twice"},
      {[](auto &m, auto &, auto &) { m.mesh.axes[1].second = 0; }, "the size 0 on 'model'"},
      {[](auto &m, auto &, auto &) { m.mesh.axes[0].second = m.mesh.axes[1].second = 1 << 20; },
       "expected 1 to 1048576 ranks in all"},
      {[](auto &m, auto &, auto &) { m.roles[0].ranks.push_back(4); },
       "has the rank 4, the mesh has 4"},
      {[](auto &m, auto &, auto &) { m.roles[0].ranks.push_back(3); }, "the rank 3 has two roles"},
      {[](auto &m, auto &, auto &) { m.roles[0].ranks.pop_back(); }, "the rank 3 has no role"},
      {[](auto &m, auto &, auto &) { m.roles.push_back({"all", {}}); },
       "the role 'all' occurs twice"},
      {[](auto &, auto &e, auto &) { e.role = "some"; }, "its role 'some' does not exist"},
      {[](auto &, auto &e, auto &) { e.coordinates[0].second = "stage"; },
       "its symbol 'd' is a coordinate on the axis 'stage', which the mesh data=2, model=2 lacks"},
      {[](auto &, auto &e, auto &) { e.coordinates[0].first = "x"; },
       "its coordinate 'x' is no symbol that is supplied"},
      {[](auto &, auto &e, auto &) { e.values[0].shards["k"] = {"model"}; },
       "its value 'x' is split along 'k', which it lacks"},
      {[](auto &, auto &e, auto &) { e.values[0].shards["i"] = {"data", "data"}; },
       "its value 'x' is split over the axis 'data' twice"},
      {[](auto &, auto &e, auto &) { e.values[0].wholeDims["i"] = Expr::name("N"); },
       "it mentions 'N', which is no size symbol"},
      {[](auto &, auto &e, auto &) { e.values[0].wholeDims["i"] = Expr(9); },
       "its value 'x' has the size 4 for 'i', expected a block of 9 in 2 parts"},
      {[](auto &, auto &e, auto &) { e.values[0].wholeDims["k"] = Expr(2); },
       "its value 'x' has other names than the tensor of which it is a block"},
      {[](auto &, auto &, auto &c) { c.element = ElementType::I32; },
       "its step 0 communicates elements of type i32, but 'x' has f32"},
      {[](auto &, auto &, auto &c) { c.axes = {"stage"}; },
       "its step 0 has the axis 'stage', which"},
      {[](auto &, auto &, auto &c) { c.axes = {}; }, "its step 0 has no axis of the mesh"},
      {[](auto &, auto &, auto &c) { c.counts = {Expr(4), Expr(4)}; },
       "its step 0 has 2 values, expected 4"},
      {[](auto &, auto &, auto &c) { c.counts = {Expr(5)}; },
       "its step 0 has 5 elements of its input, whose memory has 16 bytes"},
      {[](auto &, auto &, auto &c) { c.counts = {Expr(-1)}; }, "has a negative count of its input"},
      {[](auto &, auto &, auto &c) { c.counts = {Expr::name("N")}; }, "it mentions 'N'"},
      {[](auto &, auto &, auto &c) { c.element = ElementType::F64; },
       "its step 0 has 4 elements of its input, whose memory has 16 bytes"},
      {[](auto &, auto &, auto &c) { c.outputCounts = {Expr(4)}; },
       "its step 0 has 1 counts of its output, expected 0"},
      {[](auto &, auto &, auto &c) { c.kind = Communication::Kind::AllGather; },
       "its step 0 has 8 elements of its output, whose memory has 16 bytes"},
      {[](auto &, auto &, auto &c) { c.kind = Communication::Kind::AllToAll; },
       "its step 0 has 8 elements of its input, whose memory has 16 bytes"},
      {[](auto &, auto &, auto &c) { c.kind = Communication::Kind::Barrier; },
       "its step 0 has 2 values, expected 0"},
      {[](auto &, auto &, auto &c) { c.kind = Communication::Kind::Broadcast; },
       "its step 0 has the member -1 of a group of 2"},
      {[](auto &, auto &, auto &c) { c.target = Expr(2); }, "has the member 2 of a group of 2"},
      {[](auto &, auto &e, auto &) { e.steps[0].kernel = "f"; },
       "communicates, and calls 'f' of a library"},
      {[](auto &, auto &e, auto &) { e.steps[0].kind = StepKind::Kernel; },
       "communicates, but is neither invoked nor started"}};
  for (const auto &[change, message] : cases) {
    Manifest made = manifest();
    change(made, made.entries[0], *made.entries[0].steps[0].communication);
    expectIn(message, made.verify(1, 0));
    std::string error; // and so it is in a file
    auto again = Manifest::fromJson(made.toJson(), error);
    ASSERT_TRUE(again) << error;
    expectIn(message, again->verify(1, 0));
  }
}

TEST(Mesh, MalformedTextIsRefused) {
  std::string text = manifest().toJson(), error;
  for (auto [part, other] : std::vector<std::pair<std::string, std::string>>{
           {"\"kind\": \"all-reduce\"", "\"kind\": \"all-reduced\""},
           {"\"combiner\": \"sum\"", "\"combiner\": \"mean\""},
           {"\"model\",\n   2", "\"model\",\n   2e30"},
           {"\"model\",\n   2", "2,\n   \"model\""}}) {
    std::string changed = text;
    size_t at = changed.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    changed.replace(at, part.size(), other);
    EXPECT_FALSE(Manifest::fromJson(changed, error)) << part;
    expectIn("malformed manifest: ", error);
  }
}

//===----------------------------------------------------------------------===//
// Running steps that communicate
//===----------------------------------------------------------------------===//

namespace {
/// Sums floats over the threads that are the ranks of a test.
class Adding : public JobTransport {
public:
  struct Hub {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::vector<int32_t>, std::pair<size_t, std::vector<float>>> sums; ///< by the group
    std::string aborted;
  };
  explicit Adding(Hub &hub) : hub(hub) {}

  struct Sum : Pending {
    Hub &hub;
    Operation operation;
    Sum(Hub &hub, Operation operation) : hub(hub), operation(std::move(operation)) {}
    void wait() override {
      std::unique_lock lock(hub.mutex);
      auto &[arrived, sum] = hub.sums[operation.group];
      hub.changed.wait(lock,
                       [&] { return arrived == operation.group.size() || !hub.aborted.empty(); });
      if (!hub.aborted.empty())
        throw Error("aborted: " + hub.aborted);
      std::copy(sum.begin(), sum.end(), static_cast<float *>(operation.output));
    }
  };
  std::unique_ptr<Pending> start(const Operation &operation) override {
    std::lock_guard lock(hub.mutex);
    auto &[arrived, sum] = hub.sums[operation.group];
    sum.resize(size_t(operation.counts[0]));
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += static_cast<const float *>(operation.input)[i];
    ++arrived;
    hub.changed.notify_all();
    return std::make_unique<Sum>(hub, operation);
  }
  void abort(const std::string &reason) override {
    std::lock_guard lock(hub.mutex);
    hub.aborted = reason;
    hub.changed.notify_all();
  }

private:
  Hub &hub;
};

/// Starts the sum, adds the coordinate to x in between if it is 1, awaits the sum.
int32_t summing(HeddleCall *call, int32_t, int32_t) {
  if (int32_t status = call->table->start(call, 0))
    return status;
  return call->table->await(call, 2);
}
int32_t failingOnThree(HeddleCall *call, int32_t, int32_t) {
  if (*static_cast<const float *>(call->addresses[0]) == 3)
    return call->table->fail(call, 1, "three is too much");
  return summing(call, 0, 1);
}

/// Rank 3 reports a failure that is of no step, as the server does of a rank that has died.
std::atomic<ControlChannel *> channelOfThree{nullptr};
int32_t goneOnThree(HeddleCall *call, int32_t, int32_t) {
  if (*static_cast<const float *>(call->addresses[0]) != 3)
    return summing(call, 0, 1);
  channelOfThree.load()->fail("has gone fishing");
  return 1;
}

struct Summed {
  std::vector<float> values;
  std::string error, donatedTo;
  int rank = -2;
};
/// `engine`: none for the transport of this test.
std::vector<Summed> sumOnFourRanks(HeddleEntry function, const char *engine = nullptr) {
  auto program = Program::fromFunctions(manifest(), {function});
  std::vector<Summed> results(4);
  Adding::Hub hub;
  TestJob job(4);
  auto errors = job.run([&](Job &mine) {
    if (engine)
      useEngine(mine, engine, "timeout=60");
    else
      mine.setTransport(std::make_shared<Adding>(hub));
    CallOptions options;
    options.job = std::shared_ptr<Job>(&mine, [](Job *) {});
    if (mine.rank() == 3)
      channelOfThree = mine.channel();
    Summed &result = results[size_t(mine.rank())];
    try {
      result.values = valuesOf(program->run(
          "sum", {{"x", tensorOf(std::vector<float>(4, float(mine.rank())))}}, options)[0]);
    } catch (const ExecutionError &error) {
      result.error = error.what();
      result.rank = error.rank;
    }
  });
  EXPECT_EQ(errors, std::vector<std::string>(4));
  return results;
}
} // namespace

TEST(Mesh, StepsCommunicateInTheirGroups) {
  auto results = sumOnFourRanks(summing);
  for (int r = 0; r < 4; ++r) // ranks 0 and 2, ranks 1 and 3
    EXPECT_EQ(results[size_t(r)].values, std::vector<float>(4, r % 2 ? 4.f : 2.f));
}

TEST(Mesh, EnginesRunTheSteps) {
  for (const char *engine : {"shm", "net"}) {
    auto results = sumOnFourRanks(summing, engine);
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(results[size_t(r)].error, "") << engine;
      EXPECT_EQ(results[size_t(r)].values, std::vector<float>(4, r % 2 ? 4.f : 2.f)) << engine;
    }
    results = sumOnFourRanks(failingOnThree, engine);
    for (int r : {1, 3}) {
      EXPECT_EQ(results[size_t(r)].rank, 3) << engine;
      expectIn(": three is too much", results[size_t(r)].error);
    }
  }
  TestJob job(2);
  auto errors = job.run([&](Job &mine) { useEngine(mine, "pigeons"); });
  expectIn("'pigeons'", errors[0]);
}

// A rank that hangs in a call sends heartbeats, so that only the engine can notice it.
TEST(Mesh, EnginesWaitAsLongAsTheJobUnlessTheirOptionsSayHowLong) {
  struct Case {
    std::chrono::milliseconds timeout;
    const char *options, *message;
  };
  for (const Case &each :
       {Case{2s, "", "did not arrive within 2 s"}, Case{2500ms, "", "did not arrive within 2.5 s"},
        Case{20s, "timeout=0.5", "did not arrive within 0.5 s"}}) {
    TestJob job(2, each.timeout);
    std::atomic<bool> over{false};
    auto errors = job.run([&](Job &mine) {
      struct End { // of the hanging rank, also if an error ends the other one early
        Job &job;
        std::atomic<bool> &over;
        ~End() {
          if (job.rank() == 0)
            over = true;
        }
      } end{mine, over};
      useEngine(mine, "shm", each.options);
      Communication sum{.kind = Communication::Kind::AllReduce, .axes = {"data"}};
      float value = 1;
      JobTransport::Operation operation{.spec = &sum, .group = {0, 1}, .counts = {1}};
      operation.input = operation.output = &value;
      mine.transport()->start(operation)->wait();
      EXPECT_EQ(value, 2);
      while (mine.rank() == 1 && !over)
        std::this_thread::sleep_for(10ms);
      if (mine.rank() == 0)
        mine.transport()->start(operation)->wait();
    });
    expectIn(std::string("rank 1 ") + each.message, errors[0]);
  }
}

TEST(Mesh, AFailureEndsCommunication) {
  auto results = sumOnFourRanks(failingOnThree);
  // Ranks 0 and 2 need nothing of rank 3, and may be done before they hear of it.
  for (int r : {1, 3}) {
    EXPECT_EQ(results[size_t(r)].rank, 3);
    expectIn("'between' (model.cpp:2:1)", results[size_t(r)].error);
    expectIn(": three is too much", results[size_t(r)].error);
  }
}

TEST(Mesh, WhatWaitsForARankThatHasGoneIsNamed) {
  for (const char *engine : {(const char *)nullptr, "shm"}) {
    Summed waiting = sumOnFourRanks(goneOnThree, engine)[1];
    expectIn("'sum' was ended at 'all-reduce' (model.cpp:1:1): rank 3 (host ", waiting.error);
    expectIn(": has gone fishing", waiting.error);
    EXPECT_EQ(waiting.rank, 3);
  }
}

TEST(Mesh, ProgramsForOtherJobsAreRefused) {
  auto run = [](const Manifest &made, int rank, int ranks, bool engine) {
    auto program = Program::fromFunctions(made, {summing});
    std::string error;
    Adding::Hub hub;
    TestJob job(ranks);
    auto errors = job.run([&](Job &mine) {
      if (engine)
        mine.setTransport(std::make_shared<Adding>(hub));
      CallOptions options;
      options.job = std::shared_ptr<Job>(&mine, [](Job *) {});
      std::string message = errorOf<Error>([&] { program->prepare("sum", options); });
      if (mine.rank() == rank)
        error = message;
    });
    return error;
  };
  EXPECT_EQ(run(manifest(), 0, 2, true),
            "'sum' is for the 4 ranks of the mesh data=2, model=2, got a job of 2 ranks");
  EXPECT_EQ(run(manifest(), 1, 4, true), "");
  EXPECT_EQ(run(manifest(), 1, 4, false),
            "'sum' communicates at 'all-reduce' (model.cpp:1:1), but the job has no engine");
  Manifest roles = manifest();
  roles.roles = {{"all", {0, 1}}, {"rest", {2, 3}}};
  EXPECT_EQ(run(roles, 3, 4, true),
            "'sum' is run by ranks of the role 'all', rank 3 is none of them");
  auto program = Program::fromFunctions(manifest(), {summing});
  EXPECT_EQ(errorOf<Error>([&] { program->prepare("sum"); }),
            "'sum' is for the 4 ranks of the mesh data=2, model=2, got a job of 1 rank");
}
