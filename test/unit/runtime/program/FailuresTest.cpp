//===- FailuresTest.cpp - memory, files and threads that fail -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every system call in loading, running and saving fails once: each time there is an error, or the
// program copes without, and no existing data is lost. `operator new` does not fail while a
// manifest is written or read as JSON: the library's destructors allocate memory there, and abort
// if there is none.
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/Faults.h"
#include "test/unit/runtime/Programs.h"

#include "heddle/Error.h"
#include "heddle/runtime.h"
#include "lib/profile/Profile.h"
#include "runtime/base/AtomicFile.h"

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {
constexpr unsigned calls = Fault::Files | Fault::Maps | Fault::Threads;
constexpr unsigned everything = calls | Fault::Memory;

class Failures : public testing::Test {
protected:
  std::string folder = testing::TempDir() + "heddle-failures-" + std::to_string(getpid());
  std::string path = folder + "/x.heddle";
  void SetUp() override { std::filesystem::create_directory(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string contents() const {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};
} // namespace

TEST_F(Failures, OutOfMemorySaysWhere) {
  scaleImage().write(path);
  armFaults(Fault::Memory, 1);
  heddle_program *program = heddle_program_load(path.c_str());
  ASSERT_TRUE(disarmFaults());
  EXPECT_EQ(program, nullptr);
  expectIn("out of memory in 'heddle_program_load', in a process that holds up to ",
           heddle_last_error());
}

TEST_F(Failures, Loading) {
  scaleImage().write(path);
  std::string before = contents();
  std::shared_ptr<Program> program;
  auto holds = [&](bool threw) {
    EXPECT_EQ(contents(), before);
    EXPECT_EQ(program == nullptr, threw);
#if defined(__x86_64__)
    if (program)
      EXPECT_EQ(valuesOf(program->run("scale", {{"x", tensorOf({2, 2, 2, 2})}})[0]),
                (std::vector<float>{5, 5, 5, 5}));
#endif
  };
  failEach(calls, [&] { program = nullptr, program = Program::load(path); }, holds);
  ProgramImage image = ProgramImage::read(path);
  failEach(
      everything, [&] { program = nullptr, program = std::make_shared<Program>(image); }, holds);
}

TEST_F(Failures, SavingLeavesTheOldFileOrTheNew) {
  ProgramImage first = scaleImage(), second = scaleImage();
  second.constants.resize(1 << 19, 'x'); // more than the write buffer
  second.write(path);
  std::string newer = contents();
  first.write(path);
  std::string older = contents();
  auto holds = [&](bool threw) {
    std::string now = contents();
    EXPECT_TRUE(now == newer || (threw && now == older));
    for (const auto &file : std::filesystem::directory_iterator(folder))
      EXPECT_EQ(file.path(), path) << "left behind";
    first.write(path);
  };
  failEach(calls, [&] { second.write(path); }, holds);
  auto writeNewer = [&] {
    AtomicFile file(path);
    file.write(std::string_view(newer).substr(0, 1000));
    file.write(std::string_view(newer).substr(1000));
    file.commit();
  };
  failEach(everything, writeNewer, holds);
}

TEST_F(Failures, RunningLosesNoArgument) {
  auto program = smallPrograms();
  for (bool managed : {false, true}) {
    auto manager = std::make_shared<CachingManager>();
    CallOptions options;
    options.manager = manager;
    options.managed = managed;
    options.team = sharedThreadTeam(2);
    Profile profile;
    options.profile = &profile;
    std::vector<float> ramp(static_cast<size_t>(chainSize));
    std::iota(ramp.begin(), ramp.end(), 1.0f);
    auto x = tensorOf(ramp, "[i mod 8, i floordiv 8]");
    std::vector<TensorRef> results;
    failEach(
        everything,
        [&] {
          results.clear();
          results = program->run("chain", {{"x", x}}, options);
        },
        [&](bool threw) {
          EXPECT_EQ(valuesOf(x), ramp);
          ASSERT_EQ(results.empty(), threw);
          if (!threw)
            EXPECT_EQ(valuesOf(results[0])[0], 1 + chainSteps);
          results.clear();
          program->trim();
          EXPECT_EQ(manager->statistics().live, 0);
        });
  }
}

TEST_F(Failures, WhatIsGivenUpIsInTheResultOrPoisoned) {
  auto program = smallPrograms();
  const EntrySpec &entry = program->entry("count");
  auto other = tensorOf({10, 10, 10, 10});
  TensorRef state;
  std::vector<TensorRef> results;
  failEach(
      everything,
      [&] {
        results.clear();
        state = nullptr;
        TensorRef fresh = tensorOf({1, 2, 3, 4});
        std::vector<TensorRef> arguments = {fresh, other};
        state = fresh;
        results = program->run(entry, std::move(arguments), {}, {true, false});
      },
      [&](bool threw) {
        if (!threw)
          EXPECT_EQ(valuesOf(results[0]), (std::vector<float>{11, 12, 13, 14}));
        else if (state && state->donatedTo.empty())
          EXPECT_EQ(valuesOf(state), (std::vector<float>{1, 2, 3, 4}));
        EXPECT_EQ(valuesOf(other), (std::vector<float>{10, 10, 10, 10}));
      });
}

TEST_F(Failures, APreparedCallRunsAgain) {
  auto program = symbolicProgram();
  auto bindTo = [](Call &call, int64_t n) {
    std::vector<float> values(static_cast<size_t>(2 * n), 1.0f);
    call.bind("x", tensorOf(values));
    call.bind("w", std::make_shared<RuntimeTensor>(floats({{"i", n + 1}, {"k", 5}}),
                                                   Layout::rowMajor({"i", "k"})));
  };
  for (bool managed : {false, true}) {
    CallOptions options;
    options.managed = managed;
    auto call = program->prepare("double", options);
    auto runs = [&](int64_t n) {
      bindTo(*call, n);
      call->run();
      return valuesOf(call->result()) == std::vector<float>(static_cast<size_t>(2 * n), 11.0f);
    };
    ASSERT_TRUE(runs(100));
    bool right = false;
    failEach(
        everything,
        [&] {
          right = false;
          right = runs(250); // more memory than available
        },
        [&](bool threw) {
          EXPECT_EQ(right, !threw);
          EXPECT_TRUE(runs(50)); // less
          call = program->prepare("double", options);
          EXPECT_TRUE(runs(100));
        });
  }
}

TEST_F(Failures, ManagersStayWhole) {
  std::pair<const char *, std::shared_ptr<MemoryManager>> managers[] = {
      {"system", std::make_shared<SystemManager>()},
      {"caching", std::make_shared<CachingManager>()},
      {"arena", std::make_shared<ArenaManager>(1 << 16)}};
  for (auto &[name, manager] : managers) {
    SCOPED_TRACE(name);
    std::vector<void *> held;
    held.reserve(100);
    failEach(
        Fault::Memory,
        [&, &manager = manager] {
          for (int64_t i = 0; i < 12; ++i) {
            int64_t bytes = 100 + 977 * (i % 5);
            auto *memory = static_cast<char *>(
                manager->allocate(bytes, i % 3 ? 64 : 1024, {"buffer", "model.cpp:1:1"}));
            std::fill_n(memory, bytes, char(i));
            held.push_back(memory);
            if (i % 4 == 3) { // leaves gaps, which are merged later
              manager->free(held[held.size() - 3]);
              held.erase(held.end() - 3);
            }
          }
        },
        [&, &manager = manager](bool) {
          EXPECT_EQ(manager->statistics().live > 0, !held.empty());
          for (void *memory : held)
            manager->free(memory);
          held.clear();
          EXPECT_EQ(manager->statistics().live, 0);
        });
  }
  // The memory of the last manager is one piece again.
  MemoryManager &arena = *managers[2].second;
  int64_t reserved = arena.statistics().reserved;
  arena.free(arena.allocate(reserved - 64, 64, {}));
  EXPECT_EQ(arena.statistics().reserved, reserved);
}

TEST_F(Failures, TeamsStartWholeOrNotAtAll) {
  std::shared_ptr<ThreadTeam> team;
  failEach(
      everything, [&] { team = nullptr, team = makeThreadTeam(4); },
      [&](bool threw) {
        ASSERT_EQ(team == nullptr, threw);
        std::atomic<int> runs{0};
        if (team)
          team->run([&](Region &region, int) { runs += region.barrier(); });
        EXPECT_EQ(runs, threw ? 0 : 4);
      });
  // Work continues with the threads that could be started.
  for (int64_t n = 1; n <= 3; ++n) {
    armFaults(Fault::Threads, n);
    std::atomic<int> runs{0};
    auto threads = startThreads(3, [&] { ++runs; });
    disarmFaults();
    EXPECT_EQ(threads.size(), size_t(n - 1));
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(runs, n - 1);
  }
}

TEST_F(Failures, OutOfMemorySaysHowMuchForWhat) {
  std::string message = errorOf<Error>(
      [&] { RuntimeTensor tensor(floats({{"i", int64_t(1) << 47}}), Layout::rowMajor({"i"})); });
  expectIn("out of memory: 562949953421312 bytes for 'a tensor of type f32 {i: 140737488355328}'",
           message);
}
