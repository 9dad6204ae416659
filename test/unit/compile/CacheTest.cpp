//===- CacheTest.cpp - compiled kernels on disk ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "lib/compile/CompileKernels.h"
#include "lib/compile/KernelCache.h"
#include "lib/pipelines/Extension.h"
#include "lib/target/cpu/CpuTarget.h"
#include "test/unit/support/io/Files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;
namespace fs = std::filesystem;

namespace {

class CacheTest : public testing::Test {
protected:
  CompileOptions options() const {
    CompileOptions options = plainOptions();
    options.useCache = true;
    options.cacheDirectory = directory.string();
    return options;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const auto &each : fs::recursive_directory_iterator(directory))
      if (each.is_regular_file())
        files.push_back(each.path());
    std::sort(files.begin(), files.end());
    return files;
  }
  TemporaryDirectory around;
  fs::path directory = around / "cache";
  std::string text = spell(product, {"m", "n", "k"});
};

TEST_F(CacheTest, KeepsAndFinds) {
  KernelCache cache(directory.string());
  std::string key = KernelCache::keyOf("kernel");
  EXPECT_FALSE(cache.find(key));
  cache.store(key, std::string("code\0with a zero", 16));
  EXPECT_EQ(cache.find(key), std::string("code\0with a zero", 16));
  EXPECT_FALSE(cache.find(KernelCache::keyOf("another")));
  cache.store(key, ""); // the newer one wins
  EXPECT_EQ(cache.find(key), "");
}

TEST_F(CacheTest, FolderMayHaveAnyName) {
  KernelCache cache((directory / "50%, 100 %%%").string());
  std::string key = KernelCache::keyOf("kernel");
  cache.store(key, "code");
  EXPECT_EQ(cache.find(key), "code");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CacheTest, WhatIsNoFileIsNoEntry) {
  KernelCache cache(directory.string());
  std::string key = KernelCache::keyOf("kernel");
  cache.store(key, "code");
  fs::path place = files().at(0);
  fs::remove(place);
  ASSERT_EQ(mkfifo(place.c_str(), 0600), 0); // reading it would block
  EXPECT_FALSE(cache.find(key));
  fs::remove(place);
  fs::create_directory(place);
  EXPECT_FALSE(cache.find(key));
}

TEST_F(CacheTest, SecondCompilationEmitsNothing) {
  Compiled cold = compile(text, options()), warm = compile(text, options());
  ASSERT_TRUE(cold.image && warm.image) << cold.errors << warm.errors;
  EXPECT_EQ(cold.statistics.cachedKernels, 0);
  EXPECT_EQ(warm.statistics.cachedKernels, warm.statistics.kernels);
  EXPECT_TRUE(cold.image->code == warm.image->code);
  // Names do not matter, the target does.
  Compiled renamed = compile(spell(productReversed, {"b", "c", "a"}), options());
  EXPECT_EQ(renamed.statistics.cachedKernels, renamed.statistics.kernels);
  CompileOptions other = options();
  other.targetCpu = "x86-64";
  EXPECT_EQ(compile(text, other).statistics.cachedKernels, 0);
}

/// The number of kernels that the cache had, and whether it had the program: then no pass ran.
std::pair<int, bool> found(const Compiled &compiled) {
  return {compiled.statistics.cachedKernels, compiled.statistics.passSeconds == 0};
}

TEST_F(CacheTest, ProgramIsFoundWithoutItsKernels) {
  Compiled cold = compile(text, options());
  ASSERT_TRUE(cold.image) << cold.errors;
  EXPECT_EQ(found(cold), std::pair(0, false));
  Compiled warm = compile(text, options());
  ASSERT_TRUE(warm.image) << warm.errors;
  EXPECT_EQ(found(warm), std::pair(cold.statistics.kernels, true));
  EXPECT_EQ(warm.image->bytes(), cold.image->bytes());
  auto numbers = [](const CompileStatistics &s) {
    return std::tuple(s.steps, s.serialSteps, s.barriers, s.kernels, s.arenaBytes, s.liveBytes,
                      s.codeBytes, s.constantBytes);
  };
  EXPECT_EQ(numbers(warm.statistics), numbers(cold.statistics));
}

/// Each of these changes the program or what it says of itself, so the passes run.
TEST_F(CacheTest, ProgramOfOtherTextOrOptionsIsNotFound) {
  ASSERT_TRUE(compile(text, options()).image);
  std::pair<const char *, std::function<void(CompileOptions &)>> changes[] = {
      {"threads", [](CompileOptions &o) { o.programThreads = 3; }},
      {"the target", [](CompileOptions &o) { o.targetCpu = "skylake-avx512"; }},
      {"layouts", [](CompileOptions &o) { o.assignLayouts = false; }},
      {"fast math", [](CompileOptions &o) { o.fastMath = {"reassociate"}; }},
      {"bf16", [](CompileOptions &o) { o.products = ElementType::BF16; }},
      {"checks", [](CompileOptions &o) { o.check = true; }},
      {"explanations", [](CompileOptions &o) { o.explainLayouts = true; }},
      {"an extension without a key",
       [](CompileOptions &o) { o.extensions = {std::make_shared<const Extension>()}; }},
  };
  for (auto &[what, change] : changes) {
    CompileOptions changed = options();
    change(changed);
    Compiled compiled = compile(text, changed);
    EXPECT_TRUE(compiled.image) << what << ": " << compiled.errors;
    EXPECT_FALSE(found(compiled).second) << what;
  }
  // A line more: diagnostics at run time name another place.
  EXPECT_FALSE(found(compile("\n" + text, options())).second);
  EXPECT_TRUE(found(compile(text, options())).second);
}

/// An extension that changes the sizes of caches, on which schedules depend.
struct Caches : Extension {
  double bytes;
  Caches(double bytes, const std::string &key) : bytes(bytes) { this->key = key; }
  nest::MachineAttr adjustMachine(nest::MachineAttr machine) const override {
    for (const char *cache : {"l1_bytes", "l2_bytes", "l3_bytes"})
      machine = cost::withFact(machine, cache, bytes);
    return machine;
  }
};

TEST_F(CacheTest, ExtensionsThatAdjustCostsHaveOwnSchedules) {
  // Without chosen layouts only the order of loops depends on caches of these sizes.
  const double few = 1 << 14, many = 1 << 20;
  auto codeWith = [&](double bytes, const std::string &key, bool isCached) {
    CompileOptions with = isCached ? options() : plainOptions();
    with.extensions = {std::make_shared<const Caches>(bytes, key)};
    with.assignLayouts = false;
    Compiled compiled = compile(text, with);
    EXPECT_TRUE(compiled.image) << compiled.errors;
    EXPECT_EQ(found(compiled), std::pair(0, false)) << bytes << key;
    return compiled.image->code;
  };
  auto small = codeWith(few, "few", false), large = codeWith(many, "many", false);
  EXPECT_FALSE(small == large);
  EXPECT_TRUE(codeWith(few, "few", true) == small);
  EXPECT_TRUE(codeWith(many, "many", true) == large);
  // Without a key, nothing tells them apart, so nothing is kept.
  size_t kept = files().size();
  EXPECT_TRUE(codeWith(few, "", true) == small);
  EXPECT_TRUE(codeWith(many, "", true) == large);
  EXPECT_EQ(files().size(), kept);
}

TEST_F(CacheTest, MessagesOfChecksAreKept) {
  CompileOptions checking = options();
  checking.check = true;
  std::string gather = R"(
func.func @pick(%x: !nd.tensor<f32, row: 5>, %i: !nd.tensor<i32, at: 3>) -> !nd.tensor<f32, at: 3> {
  %0 = nd.gather %x [row] at %i : (!nd.tensor<f32, row: 5>, !nd.tensor<i32, at: 3>) -> !nd.tensor<f32, at: 3>
  return %0 : !nd.tensor<f32, at: 3>
})";
  Compiled cold = compile(gather, checking), warm = compile(gather, checking);
  ASSERT_TRUE(cold.image && warm.image) << cold.errors;
  EXPECT_TRUE(found(warm).second);
  EXPECT_FALSE(cold.statistics.checks.empty());
  EXPECT_EQ(warm.statistics.checks, cold.statistics.checks);
}

/// Every change of an entry's code changes its key, such as the positions of barriers.
TEST_F(CacheTest, EntriesThatDifferAreNotTakenForEachOther) {
  using Steps = std::vector<StepSpec>;
  mlir::MLIRContext context;
  auto target = findTarget("native");
  ASSERT_TRUE(bool(target));
  KernelCache cache(directory.string());
  StepSpec first, second;
  first.kernel = "k_a", second.kernel = "k_b";
  first.chunks = second.chunks = 4;
  first.values = {0, 1}, second.values = {1, 2};
  second.numbers = {0}, second.chunksAt = 1;
  auto codeOf = [&](const Steps &steps, const KernelCache *kept, std::string symbol = "entry.f") {
    auto objects = compileEntries(EntrySource{"f", symbol, mlir::UnknownLoc::get(&context), steps},
                                  **target, kept);
    return succeeded(objects) ? (*objects)[0].bytes : std::string();
  };
  std::string base = codeOf({first, second}, &cache);
  ASSERT_FALSE(base.empty());
  EXPECT_TRUE(codeOf({first, second}, &cache) == base);
  std::pair<const char *, std::function<void(Steps &)>> changes[] = {
      {"a barrier", [](Steps &s) { s[1].waits = false; }},
      {"serial", [](Steps &s) { s[0].serial = true; }},
      {"chunks", [](Steps &s) { s[0].chunks = 5; }},
      {"symbolic chunks", [](Steps &s) { s[1].chunksAt = 0; }},
      {"a kernel", [](Steps &s) { s[0].kernel = "k_c"; }},
      {"a value", [](Steps &s) { s[0].values[1] = 3; }},
      {"a number", [](Steps &s) { s[1].numbers[0] = 1; }},
      {"the order", [](Steps &s) { std::swap(s[0], s[1]); }},
      {"a step", [](Steps &s) { s.pop_back(); }},
      {"a branch",
       [](Steps &s) {
         StepSpec begin, middle, end;
         begin.kind = StepKind::If, middle.kind = StepKind::Else;
         end.kind = StepKind::EndIf;
         begin.values = {0};
         s.insert(s.begin() + 1, begin);
         s.push_back(middle);
         s.push_back(end);
       }},
      {"a loop",
       [](Steps &s) {
         StepSpec begin, end;
         begin.kind = StepKind::Loop, end.kind = StepKind::EndLoop;
         begin.values = {0};
         s.insert(s.begin() + 1, begin);
         s.push_back(end);
       }},
  };
  for (auto &[what, change] : changes) {
    Steps steps{first, second};
    change(steps);
    std::string code = codeOf(steps, nullptr);
    EXPECT_FALSE(code == base) << what << " should make other code";
    EXPECT_TRUE(codeOf(steps, &cache) == code) << what;
  }
  EXPECT_FALSE(codeOf({first, second}, &cache, "entry.g") == base);
}

TEST_F(CacheTest, DamagedFilesAreWrittenAnew) {
  Compiled cold = compile(text, options());
  ASSERT_TRUE(cold.image) << cold.errors;
  std::vector<fs::path> kept = files();
  ASSERT_FALSE(kept.empty());
  auto damages = {
      +[](const fs::path &path) { fs::resize_file(path, fs::file_size(path) / 2); },
      +[](const fs::path &path) { fs::resize_file(path, 0); },
      +[](const fs::path &path) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(20);
        file.put('\x5a');
      },
      +[](const fs::path &path) { std::ofstream(path, std::ios::app) << "more"; },
  };
  for (auto damage : damages) {
    for (const fs::path &path : kept)
      damage(path);
    Compiled again = compile(text, options());
    ASSERT_TRUE(again.image) << again.errors;
    EXPECT_EQ(again.statistics.cachedKernels, 0);
    EXPECT_TRUE(again.image->code == cold.image->code);
    EXPECT_EQ(compile(text, options()).statistics.cachedKernels, cold.statistics.kernels);
  }
}

TEST_F(CacheTest, DirectoryThatCannotBeWritten) {
  // A file has the name of the directory, which fails for root, too.
  std::ofstream(directory) << "in the way";
  testing::internal::CaptureStderr();
  Compiled compiled = compile(text, options());
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(compiled.image) << compiled.errors;
  EXPECT_EQ(compiled.errors, "");
  EXPECT_NE(said.find("warning: "), std::string::npos) << said;
  EXPECT_NE(said.find(directory.string()), std::string::npos) << said;
  // Once is enough.
  testing::internal::CaptureStderr();
  EXPECT_TRUE(compile(text, options()).image);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(CacheTest, ProcessesShareADirectory) {
  KernelCache cache(directory.string());
  std::string key = KernelCache::keyOf("shared"), big(1 << 20, 'x');
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    pid_t pid = fork();
    if (pid == 0) {
      for (int round = 0; round < 20; ++round) {
        cache.store(key, big);
        auto found = cache.find(key);
        if (!found || *found != big)
          _exit(1);
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(files().size(), 1u); // no partial file is left
}

} // namespace
