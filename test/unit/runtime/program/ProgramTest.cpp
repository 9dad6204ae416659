//===- ProgramTest.cpp - running programs ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/Programs.h"
#include "test/unit/runtime/Random.h"

#include "heddle/Error.h"

#include <thread>

using namespace heddle;

static std::vector<float> ramp(int64_t size, float first) {
  std::vector<float> values(static_cast<size_t>(size));
  std::iota(values.begin(), values.end(), first);
  return values;
}

namespace {
/// Fails at the allocation with this number.
class FailingManager : public SystemManager {
public:
  int64_t failAt = -1;

protected:
  void *obtain(int64_t bytes, int64_t alignment) override {
    return failAt-- == 0 ? nullptr : SystemManager::obtain(bytes, alignment);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST(Program, ArgumentsInOtherLayoutsAreCopied) {
  auto program = smallPrograms();
  auto blocked = tensorOf(ramp(chainSize, 0), "[i mod 8, i floordiv 8]");
  EXPECT_EQ(valuesOf(program->run("chain", {{"x", blocked}})[0]), ramp(chainSize, chainSteps));
  // A prepared call copies again: the argument may have changed.
  auto call = program->prepare("chain");
  call->bind("x", blocked);
  for (float first : {5.0f, 9.0f}) {
    blocked->copyFrom(ramp(chainSize, first).data(), {"i"});
    call->run();
    EXPECT_EQ(valuesOf(call->result("y")), ramp(chainSize, first + chainSteps));
  }
}

TEST(Program, PaddingThatAProgramReadsIsZero) {
  using Kind = ValueSpec::Kind;
  EntrySpec entry;
  entry.name = "sum";
  entry.values = {
      value(Kind::Argument, "x", floats({{"i", 6}}), "[i floordiv 4, i mod 4], zero_padded"),
      value(Kind::Result, "y", floats({}), "[]")};
  entry.arguments = {0};
  entry.results = {1};
  Manifest manifest;
  manifest.entries = {entry};
  auto program = Program::fromFunctions(
      manifest, {[](HeddleCall *call, int32_t thread, int32_t) -> int32_t {
        auto *x = static_cast<const float *>(call->addresses[0]); // all eight
        if (thread == 0)
          *static_cast<float *>(call->addresses[1]) = std::accumulate(x, x + 8, 0.0f);
        return 0;
      }});
  // The layout matches, but the padding is not zero.
  auto loose = tensorOf({1, 2, 3, 4, 5, 6}, "[i floordiv 4, i mod 4]");
  std::fill_n(static_cast<float *>(loose->address()) + 6, 2, 1000.0f);
  EXPECT_EQ(valuesOf(program->run("sum", {{"x", loose}})[0]), std::vector<float>{21});
  auto zeroed = tensorOf({1, 2, 3, 4, 5, 6}, "[i floordiv 4, i mod 4], zero_padded");
  EXPECT_EQ(valuesOf(program->run("sum", {{"x", zeroed}})[0]), std::vector<float>{21});
}

TEST(Program, APreparedCallRunsOften) {
  auto program = smallPrograms();
  auto call = program->prepare("chain");
  program = nullptr; // the call keeps what it needs
  auto x = tensorOf(ramp(chainSize, 0));
  call->bind(0, x);
  for (int repeat = 0; repeat < 100; ++repeat) {
    x->copyFrom(ramp(chainSize, float(repeat)).data(), {"i"});
    call->run();
    ASSERT_EQ(valuesOf(call->result()), ramp(chainSize, float(repeat + chainSteps)));
  }
  auto taken = call->takeResults();
  call->run();
  EXPECT_NE(call->result(), taken[0]);
}

TEST(Program, CallersOnSeveralThreadsDoNotDisturbOneAnother) {
  auto program = smallPrograms();
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      CallOptions options;
      options.team = sharedThreadTeam(caller % 2 + 1);
      options.managed = caller >= 2;
      for (int repeat = 0; repeat < 100; ++repeat) {
        float first = float(caller * 1000 + repeat);
        auto results = program->run("chain", {{"x", tensorOf(ramp(chainSize, first))}}, options);
        ASSERT_EQ(valuesOf(results[0]), ramp(chainSize, first + chainSteps));
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

namespace {
/// Blocks the call that enters it until it is opened, for ten seconds at most.
struct Gate {
  std::atomic<bool> entered{false}, open{false};
  void wait() {
    entered = true;
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!open && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  }
} gate;

/// y = x, where a negative x waits at the gate.
int32_t gatedFunction(HeddleCall *call, int32_t thread, int32_t) {
  return runSteps(
      call, thread, chainSteps, 10, [](HeddleCall *call, int step, int64_t chunk, int64_t chunks) {
        if (step == 1 && chunk == 0 && *static_cast<const float *>(call->addresses[0]) < 0)
          gate.wait();
        chainBody(call, step, chunk, chunks);
      });
}
} // namespace

// One caller waits in a step, or in a callback of a memory manager; the other continues.
TEST(Program, CallersWithTeamsOfTheirOwnDoNotWaitForOneAnother) {
  Manifest manifest;
  manifest.entries = {chainEntry()};
  auto program = Program::fromFunctions(std::move(manifest), {gatedFunction});
  for (bool inManager : {false, true}) {
    gate.entered = gate.open = false;
    auto manager = std::make_shared<CachingManager>();
    CallOptions waiting, other;
    waiting.team = makeThreadTeam(2);
    other.team = makeThreadTeam(2);
    waiting.manager = other.manager = manager;
    waiting.managed = other.managed = inManager;
    std::thread::id waits;
    manager->setListener([&](const MemoryEvent &event) {
      if (inManager && event.name == "t2" && std::this_thread::get_id() == waits)
        gate.wait();
    });
    TensorRef slow = tensorOf(std::vector<float>(chainSize, inManager ? 1.f : -1.f)),
              fast = tensorOf(std::vector<float>(chainSize, 5.f));
    std::atomic<bool> done = false;
    std::thread first([&] {
      waits = std::this_thread::get_id();
      EXPECT_EQ(valuesOf(program->run("chain", {{"x", slow}}, waiting)[0]),
                std::vector<float>(chainSize, chainSteps + (inManager ? 1.f : -1.f)));
      done = true;
    });
    while (!gate.entered)
      std::this_thread::yield();
    EXPECT_EQ(valuesOf(program->run("chain", {{"x", fast}}, other)[0]),
              std::vector<float>(chainSize, chainSteps + 5.f));
    EXPECT_FALSE(done) << "the second caller waited for the first";
    gate.open = true;
    first.join();
    manager->setListener(nullptr);
  }
}

TEST(Program, WithoutSharedStepsTheTeamIsLeftAlone) {
  class Counting : public ThreadTeam {
  public:
    int runs = 0;
    using ThreadTeam::run;
    int threads() const override { return 1; }
    void run(Body body, void *argument) override {
      ++runs;
      Region region(1);
      body(argument, region, 0);
    }
  };
  auto team = std::make_shared<Counting>();
  auto program = smallPrograms();
  CallOptions options;
  options.team = team;
  auto four = tensorOf({1, 2, 3, 4});
  EXPECT_EQ(valuesOf(program->run("count", {{"state", four}, {"other", four}}, options)[0]),
            (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(team->runs, 0);
  program->run("chain", {{"x", tensorOf(ramp(chainSize, 0))}}, options);
  EXPECT_EQ(team->runs, 1);
}

TEST(Program, AProgramMayRunAnotherInAHook) {
  auto program = smallPrograms();
  auto manager = std::make_shared<SystemManager>();
  CallOptions options;
  options.manager = manager;
  options.managed = true;
  options.team = sharedThreadTeam(2);
  int inner = 0;
  manager->setListener([&](const MemoryEvent &event) {
    if (event.kind == MemoryEvent::Kind::Allocate && event.name == "t2") {
      CallOptions same;
      same.team = options.team;
      inner += valuesOf(program->run("chain", {{"x", tensorOf(ramp(chainSize, 0))}}, same)[0]) ==
               ramp(chainSize, chainSteps);
    }
  });
  auto results = program->run("chain", {{"x", tensorOf(ramp(chainSize, 3))}}, options);
  EXPECT_EQ(valuesOf(results[0]), ramp(chainSize, 3 + chainSteps));
  EXPECT_EQ(inner, 1);
}

TEST(Program, ArgumentsAndConstantsCanBeGivenBack) {
  using Kind = ValueSpec::Kind;
  EntrySpec entry;
  entry.name = "same";
  TensorSpec type = floats({{"i", 2}});
  entry.values = {value(Kind::Argument, "x", type, "[i]"), value(Kind::Constant, "c", type, "[i]"),
                  value(Kind::Result, "y", type, "[i]")};
  entry.values[1].offset = 64;
  entry.arguments = {0};
  entry.results = {0, 1, 2, 2};
  Manifest manifest;
  manifest.entries = {entry};
  std::string constants(72, '\0');
  float numbers[2] = {3, 4};
  std::memcpy(constants.data() + 64, numbers, 8);
  HeddleEntry function = [](HeddleCall *call, int32_t thread, int32_t) -> int32_t {
    if (thread == 0)
      std::fill_n(static_cast<float *>(call->addresses[2]), 2, 9.0f);
    return 0;
  };
  auto program = Program::fromFunctions(manifest, {function}, constants);
  auto x = tensorOf({1, 2});
  auto results = program->run("same", {{"x", x}});
  EXPECT_EQ(valuesOf(results[0]), (std::vector<float>{1, 2}));
  EXPECT_NE(results[0], x);
  EXPECT_EQ(valuesOf(results[1]), (std::vector<float>{3, 4}));
  EXPECT_EQ(valuesOf(results[2]), (std::vector<float>{9, 9}));
  EXPECT_EQ(valuesOf(results[3]), (std::vector<float>{9, 9}));
}

//===----------------------------------------------------------------------===//
// Donation
//===----------------------------------------------------------------------===//

TEST(Donation, TheResultTakesTheArgumentsMemory) {
  auto program = smallPrograms();
  const EntrySpec &entry = program->entry("count");
  auto state = tensorOf({1, 2, 3, 4}), other = tensorOf({10, 10, 10, 10});
  void *memory = state->address();
  auto results = program->run(entry, {state, other}, {}, {true, false});
  EXPECT_EQ(results[0]->address(), memory);
  EXPECT_EQ(valuesOf(results[0]), (std::vector<float>{11, 12, 13, 14}));
  expectIn("the argument 'state' of 'count' was donated to 'count'",
           errorOf<Error>([&] { program->run(entry, {state, other}); }));
  expectIn("was donated to 'count'", errorOf<Error>([&] { valuesOf(state); }));
  expectIn("was donated to 'count'",
           errorOf<Error>([&] { state->inLayout(Layout::rowMajor({"i"})); }));
}

TEST(Donation, WithoutItTheArgumentKeepsItsValue) {
  auto program = smallPrograms();
  const EntrySpec &entry = program->entry("count");
  auto state = tensorOf({1, 2, 3, 4}), other = tensorOf({1, 1, 1, 1});
  EXPECT_EQ(valuesOf(program->run(entry, {state, other})[0]), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(valuesOf(state), (std::vector<float>{1, 2, 3, 4}));
  // Memory that has other readers or another layout is not reused.
  EXPECT_EQ(valuesOf(program->run(entry, {state, state}, {}, {true, true})[0]),
            (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(valuesOf(state), (std::vector<float>{1, 2, 3, 4}));
  auto padded = tensorOf({1, 2, 3, 4}, "[i pad(1, 1)]");
  EXPECT_EQ(valuesOf(program->run(entry, {padded, other}, {}, {true, false})[0]),
            (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(valuesOf(padded), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Donation, APreparedCallMustBeBoundAgain) {
  auto program = smallPrograms();
  auto call = program->prepare("count");
  call->bind("state", tensorOf({0, 0, 0, 0}), true);
  call->bind("other", tensorOf({1, 2, 3, 4}));
  call->run();
  expectIn("bind another one", errorOf<Error>([&] { call->run(); }));
  for (int i = 0; i < 3; ++i) {
    call->bind("state", call->result("next"), true);
    call->run();
  }
  EXPECT_EQ(valuesOf(call->result("next")), (std::vector<float>{4, 8, 12, 16}));
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST(Program, MistakesAreNamed) {
  auto program = smallPrograms();
  auto x = tensorOf(ramp(chainSize, 0));
  expectIn("no entry 'classify'; it has: 'chain', 'count'",
           errorOf<Error>([&] { program->run("classify", {}); }));
  expectIn("'chain' lacks its argument 'x'", errorOf<Error>([&] { program->run("chain", {}); }));
  expectIn("'chain' has no argument 'z'; it takes 'x'",
           errorOf<Error>([&] { program->run("chain", {{"x", x}, {"z", x}}); }));
  expectIn("'chain' lacks its argument 'x'",
           errorOf<Error>([&] { program->run("chain", {{"x", nullptr}}); }));
  expectIn("the argument 'x' of 'chain' should be f32 {i: 1000}, got f32 {i: 3}: "
           "expected the size 1000 for 'i', got 3",
           errorOf<Error>([&] { program->run("chain", {{"x", tensorOf({1, 2, 3})}}); }));
  auto renamed =
      std::make_shared<RuntimeTensor>(floats({{"j", chainSize}}), Layout::rowMajor({"j"}));
  expectIn("got f32 {j: 1000}: it lacks the name 'i'",
           errorOf<Error>([&] { program->run("chain", {{"x", renamed}}); }));
  auto halves = std::make_shared<RuntimeTensor>(TensorSpec{ElementType::BF16, {{"i", chainSize}}},
                                                Layout::rowMajor({"i"}));
  expectIn("got bf16 {i: 1000}: expected elements of type f32, got bf16",
           errorOf<Error>([&] { program->run("chain", {{"x", halves}}); }));
  expectIn("'chain' expects 1 arguments, got 2",
           errorOf<Error>([&] { program->run(program->entry("chain"), {x, x}); }));
  auto call = program->prepare("chain");
  expectIn("'chain' lacks its argument 'x'", errorOf<Error>([&] { call->run(); }));
  expectIn("has no argument 'q'; it takes 'x'", errorOf<Error>([&] { call->bind("q", x); }));
  expectIn("there is none at position 1", errorOf<Error>([&] { call->bind(1, x); }));
  call->bind("x", x);
  expectIn("has not run yet", errorOf<Error>([&] { call->result("y"); }));
  expectIn("has no result 'q'; it gives 'y'", errorOf<Error>([&] { call->result("q"); }));
}

TEST(Program, AFailureInsideNamesTheOpAndTheProgramGoesOn) {
  auto program = smallPrograms();
  for (int threads : {1, 2, 4}) {
    auto manager = std::make_shared<FailingManager>();
    CallOptions options;
    options.manager = manager;
    options.managed = true;
    options.team = makeThreadTeam(threads);
    auto x = tensorOf(ramp(chainSize, 0));
    // The first allocation is that of the result.
    for (int64_t failAt = 0; failAt < chainSteps; ++failAt) {
      manager->failAt = failAt;
      try {
        program->run("chain", {{"x", x}}, options);
        FAIL() << "expected an error";
      } catch (const ExecutionError &error) {
        ASSERT_GT(failAt, 0);
        EXPECT_EQ(error.entry, "chain");
        EXPECT_EQ(error.step, "add" + std::to_string(failAt - 1));
        EXPECT_EQ(error.location, "model.cpp:" + std::to_string(failAt) + ":1");
        expectIn("out of memory", error.what());
        expectIn("for 't" + std::to_string(failAt - 1) + "'", error.what());
      } catch (const Error &error) {
        ASSERT_EQ(failAt, 0);
        expectIn("for 'y'", error.what());
      }
    }
    manager->failAt = -1;
    EXPECT_EQ(valuesOf(program->run("chain", {{"x", x}}, options)[0]), ramp(chainSize, chainSteps));
    program->trim();
    EXPECT_EQ(manager->statistics().live, 0);
  }
}

TEST(Program, AnyThreadMayGiveUp) {
  EntrySpec entry = chainEntry();
  Manifest manifest;
  manifest.entries = {entry};
  HeddleEntry function = [](HeddleCall *call, int32_t thread, int32_t threads) -> int32_t {
    if (thread == threads - 1)
      return 42;
    for (int i = 0; i < 3; ++i)
      if (int32_t status = call->table->barrier(call, thread))
        return status;
    return 0;
  };
  auto program = Program::fromFunctions(manifest, {function});
  CallOptions options;
  options.team = makeThreadTeam(3);
  for (int repeat = 0; repeat < 200; ++repeat)
    expectIn("'chain' failed: status 42", errorOf<ExecutionError>([&] {
               program->run("chain", {{"x", tensorOf(ramp(chainSize, 0))}}, options);
             }));
}

TEST(Donation, AFailurePoisonsWhatWasGivenUp) {
  Manifest manifest;
  manifest.entries = {counterEntry()};
  auto program = Program::fromFunctions(
      manifest, {[](HeddleCall *, int32_t, int32_t) -> int32_t { return 7; }});
  auto state = tensorOf({1, 2, 3, 4}), other = tensorOf({1, 1, 1, 1});
  const EntrySpec &entry = program->entry("count");
  expectIn("status 7", errorOf<ExecutionError>(
                           [&] { program->run(entry, {state, other}, {}, {true, false}); }));
  expectIn("was donated to 'count'", errorOf<Error>([&] { program->run(entry, {state, other}); }));
  EXPECT_EQ(valuesOf(other), (std::vector<float>{1, 1, 1, 1}));
}

//===----------------------------------------------------------------------===//
// Managed memory, profiles, symbols
//===----------------------------------------------------------------------===//

TEST(Program, ManagedMemoryLivesAsLongAsItsValues) {
  auto program = smallPrograms();
  auto manager = std::make_shared<CachingManager>();
  std::vector<std::string> log;
  int64_t most = 0, live = 0;
  manager->setListener([&](const MemoryEvent &event) {
    bool made = event.kind == MemoryEvent::Kind::Allocate;
    log.push_back((made ? "+" : "-") + event.name);
    if (event.name[0] == 't')
      most = std::max(most, live += made ? event.bytes : -event.bytes);
  });
  CallOptions options;
  options.manager = manager;
  options.managed = true;
  program->run("chain", {{"x", tensorOf(ramp(chainSize, 0))}}, options);
  EXPECT_EQ(log, (std::vector<std::string>{"+y", "+t0", "+t1", "-t0", "+t2", "-t1", "+t3", "-t2",
                                           "+t4", "-t3", "-t4", "-y"}));
  EXPECT_EQ(most, 2 * chainSize * 4);
  EXPECT_EQ(live, 0);
}

TEST(Program, SizesAreBoundFromTheArguments) {
  auto program = symbolicProgram();
  for (bool managed : {false, true})
    for (int64_t n : {3, 100, 2, 3}) {
      CallOptions options;
      options.managed = managed;
      auto w = std::make_shared<RuntimeTensor>(floats({{"i", n + 1}, {"k", 5}}),
                                               Layout::rowMajor({"i", "k"}));
      auto results = program->run("double", {{"x", tensorOf(ramp(2 * n, 0))}, {"w", w}}, options);
      EXPECT_EQ(valuesOf(results[0]), ramp(2 * n, 10));
    }
}

TEST(Program, SizesThatDoNotFitAreNamed) {
  auto program = symbolicProgram();
  auto weights = [](int64_t i) {
    return std::make_shared<RuntimeTensor>(floats({{"i", i}, {"k", 5}}),
                                           Layout::rowMajor({"i", "k"}));
  };
  expectIn(
      "the argument 'x' of 'double' has the size 3 for 'i', expected a number of the form 2 * N",
      errorOf<Error>(
          [&] { program->run("double", {{"x", tensorOf({1, 2, 3})}, {"w", weights(2)}}); }));
  std::string message =
      errorOf<Error>([&] { program->run("double", {{"x", tensorOf({1, 2})}, {"w", weights(5)}}); });
  expectIn("the argument 'w' of 'double' has the size 5 for 'i', expected 2, which is N + 1",
           message);
  expectIn("M = 5, ", message + ", ");
  std::vector<float> many(598);
  expectIn(
      "model.cpp:1:1: 'double' expected at most what there is, 60 * M = 300, got 301 with N = 299, "
      "M = 5",
      errorOf<Error>(
          [&] { program->run("double", {{"x", tensorOf(many)}, {"w", weights(300)}}); }));
  expectIn("should be f32 {i: 2 * N}, got f32 {}", errorOf<Error>([&] {
             auto scalar = std::make_shared<RuntimeTensor>(floats({}), Layout());
             program->run("double", {{"x", scalar}, {"w", weights(2)}});
           }));
}

// A manifest may have any coefficient and offset.
TEST(Program, SymbolsOfExtremeSizesAreRefused) {
  EntrySpec entry;
  entry.name = "f";
  entry.symbols = {"N"};
  Expr n = Expr::name("N");
  TensorSpec given = floats({{"i", 0}});
  for (const auto &[size, part] : std::initializer_list<std::pair<Expr, const char *>>{
           {Expr(INT64_MIN) - n, "make the size 'N' -9223372036854775808"},
           {n + INT64_MIN, "has the size 0"},
           {-n, ""},
           {n * INT64_MIN, ""},
           {7 - n * 7, ""},
           {6 - n * 7, "the form"}}) {
    entry.values = {value(ValueSpec::Kind::Argument, "x", floats({{"i", size}}), "[i]")};
    entry.arguments = {0};
    std::string message = errorOf<Error>([&] { bindSymbols(entry, {&given}); });
    if (*part)
      expectIn(part, message);
    else
      EXPECT_EQ(message, "") << size.str();
  }
}
