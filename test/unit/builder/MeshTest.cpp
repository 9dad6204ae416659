//===- MeshTest.cpp - functions that several ranks run --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "lib/builder/MeshCall.h"
#include "runtime/control/EngineTransport.h"
#include "test/unit/Refused.h"
#include "test/unit/runtime/control/Ranks.h"

#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <numeric>
#include <sstream>

using namespace heddle;
using namespace heddle::test;

namespace {

const Name batch("batch"), in("in"), out("out");
const MeshAxis data("data"), model("model");

Tensor layer(Tensor x, Tensor weight) {
  return shard(sum(x * weight, over(in)), {{batch, data}, {out, {model}}});
}

Tensor numbered(const std::vector<Extent> &extents) {
  size_t count = 1;
  for (const Extent &extent : extents)
    count *= size_t(int64_t(extent.size));
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return Tensor::of(std::span<const float>(values), extents);
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

//===----------------------------------------------------------------------===//
// Meshes and constraints
//===----------------------------------------------------------------------===//

TEST(Mesh, Text) {
  Mesh mesh{{data, 2}, {"model", 3}};
  EXPECT_EQ(mesh.str(), "data=2,model=3");
  EXPECT_EQ(mesh.ranks(), 6);
  EXPECT_EQ(Mesh::parse("data=2, model=3").str(), mesh.str());
  EXPECT_TRUE(Mesh::parse("").empty());
  EXPECT_EQ(Mesh().ranks(), 1);
  EXPECT_EQ(MeshAxis("data(2)4").str(), "data(2)4");
}

TEST(Mesh, BadMeshesAreRefused) {
  refused([] { Mesh{{"data", 2}, {"data", 3}}; }, {"'data' twice"});
  refused([] { Mesh{{"data", 0}}; }, {"size 0 on 'data'"});
  refused([] { Mesh{{"two words", 2}}; }, {"the name of an axis, got 'two words'"});
  refused([] { Mesh{{"data", 1 << 20}, {"model", 2}}; }, {"1 to 1048576 ranks"});
  refused([] { Mesh::parse("data"); }, {"expected axes with sizes", "got 'data'"});
  refused([] { Mesh::parse("data=2,data=2"); }, {"'data' twice"});
  refused([] { MeshAxis("data("); }, {"expected an axis such as data or data(2)4, got 'data('"});
  refused([] { MeshAxis(""); }, {"expected an axis"});
}

TEST(Mesh, ShardStatesAConstraint) {
  JitOptions options{.mesh = {{data, 2}, {model, 2}}};
  auto f = jit([](Tensor x, Tensor weight) { return layer(x, weight); }, options);
  std::string ir = f.ir(numbered({{batch, 5}, {in, 3}}), numbered({{in, 3}, {out, 4}}));
  EXPECT_TRUE(contains(ir, "to <{batch: [data], out: [model]}>")) << ir;
  auto whole =
      jit([](Tensor x) { return shard(x, {{batch, {}}, {in, MeshAxis("data(2)4")}}); }, options);
  ir = whole.ir(numbered({{batch, 5}, {in, 3}}));
  EXPECT_TRUE(contains(ir, "batch: []")) << ir;
  EXPECT_TRUE(contains(ir, "in: [data(2)4]")) << ir;
}

TEST(Mesh, WithoutAMeshShardChangesNothing) {
  Tensor x = numbered({{batch, 2}, {in, 2}}), weight = numbered({{in, 2}, {out, 1}});
  auto f = jit([](Tensor x, Tensor weight) { return layer(x, weight); });
  EXPECT_FALSE(contains(f.ir(x, weight), "mesh."));
  EXPECT_EQ(f(x, weight).to<float>({batch, out}), (std::vector<float>{5, 11}));
  EXPECT_EQ(layer(x, weight).to<float>({batch, out}), (std::vector<float>{5, 11}));
  // In a gradient's own function as well.
  auto gradient = jit([](Tensor x, Tensor weight) {
    return grad([&](Tensor w) { return sum(layer(x, w), over(batch, out)); }, weight);
  });
  EXPECT_EQ(gradient(x, weight).to<float>({in, out}), (std::vector<float>{4, 6}));
}

TEST(Mesh, BadConstraintsAreRefused) {
  Tensor x = numbered({{batch, 2}, {in, 2}});
  refused([&] { shard(x, {{out, data}}); }, {"unknown name 'out'"});
  refused([&] { shard(x, {{batch, data}, {batch, model}}); }, {"'batch' occurs twice"});
  refused([&] { shard(x, {{batch, data}, {in, data}}); },
          {"'data' shards 'in' and is used before; expected each axis once"});
  refused([&] { shard(x, {{batch, {data, data}}}); }, {"'data'"});
  refused([&] { shard(Tensor(), {{batch, data}}); }, {"this tensor is empty"});
}

TEST(Mesh, BadRulesAreRefused) {
  auto f = [](Tensor x) { return x; };
  Mesh mesh{{data, 2}};
  refused([&] { jit(f, {.mesh = mesh, .rules = {"batch"}}); },
          {"expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]], PATTERN@AXIS=COORDINATE or "
           "PATTERN@MEMORY, "
           "got 'batch'"});
  refused([&] { jit(f, {.mesh = mesh, .rules = {"batch:model"}}); },
          {"the rule 'batch:model' uses the axis 'model', which the mesh data=2 lacks"});
  refused([&] { jit(f, {.rules = {"batch:data"}}); },
          {"the axis 'data', which needs a mesh (JitOptions::mesh)"});
  refused([&] { jit(f, {.plan = "/nowhere/plan"}); },
          {"can't read the plan '/nowhere/plan': No such"});
  std::string path = testing::TempDir() + "heddle-mesh-test.plan";
  std::ofstream(path) << "# a plan\nmesh data=2\nbatch:data\nbatch->data\n";
  refused([&] { jit(f, {.plan = path}); }, {path, "line 4: expected a rule"});
  std::ofstream(path) << "mesh data=2\nbatch:data\nzero 3\n";
  refused([&] { jit(f, {.mesh = {{"data", 4}}, .plan = path}); },
          {"'mesh data=4' contradicts 'mesh data=2' (plan '" + path + "', line 1)"});
  refused([&] { (void)MeshPlan::of({}, {}, path).number("zero", 2); },
          {"'zero 2' contradicts 'zero 3' (plan '" + path + "', line 3)"});
  EXPECT_EQ(MeshPlan::of({}, {}, path).number("zero", {}), 3);
  EXPECT_EQ(MeshPlan::of({}, {}, path).number("zero", 3), 3);
  EXPECT_EQ(MeshPlan::of({}, {}, path).number("micro-batches", 7), 7);
  EXPECT_EQ(MeshPlan::of({}, {}, path).number("micro-batches", {}), std::nullopt);
  refused(
      [&] { jit(f, {.plan = path}); },
      {"'zero 3' (plan '" + path + "', line 3) is a setting of trainers (TrainerOptions::plan)"});
  std::ofstream(path) << "micro-batches 2\nmesh data=2\nbatch:data\n";
  refused([&] { jit(f, {.mesh = mesh, .plan = path}); },
          {"'micro-batches 2' (plan '" + path + "', line 1) is a setting of trainers"});
  std::ofstream(path) << "mesh data=1\ngraph 0123456789abcdef\n";
  Tensor x = numbered({{batch, 2}});
  refused([&] { jit(f, {.plan = path})(x); },
          {"the plan is for another program (plan '" + path +
           "', line 2): expected the graph 0123456789abcdef, got "});
  jit(f, {.plan = path, .unmatchedRules = true})(x); // of one of several functions
  std::ofstream(path) << "mesh data=1\nlinks model 1e9 bytes/s 0 s\n";
  refused([&] { jit(f, {.plan = path})(x); },
          {"'links model 1e+09 bytes/s 0 s' (plan '" + path + "', line 2) uses the axis 'model'"});
  std::ofstream(path) << "mesh data=2\nbatch:data\n";
  jit(f, {.plan = path});
  jit(f, {.mesh = mesh, .plan = path});
  std::remove(path.c_str());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Runs `body` on ranks that are threads of this process; returns what each throws.
template <typename Body>
std::vector<std::string> onRanks(int count, Body &&body) {
  TestJob job(count, 5s);
  return job.run([&](Job &mine) {
    if (count > 1)
      useEngine(mine, "shm", "timeout=60");
    body(Ranks(std::shared_ptr<Job>(&mine, [](Job *) {})));
  });
}

/// y: out 5 of x: batch 2N + 1, and z whole; as a compiler may describe it on two ranks.
EntrySpec entry() {
  Expr size = Expr::name("N") * Expr(2) + Expr(1);
  EntrySpec entry{.name = "train", .symbols = {"N", "mesh.data"}, .supplied = {"mesh.data", "N"}};
  entry.coordinates = {{"mesh.data", "data"}};
  auto add = [&](ValueSpec::Kind kind, const char *name, ExprMap dims) -> ValueSpec & {
    entry.values.push_back({.kind = kind, .name = name, .type = {ElementType::F32, dims}});
    auto &list = kind == ValueSpec::Kind::Argument ? entry.arguments : entry.results;
    list.push_back(int32_t(entry.values.size() - 1));
    return entry.values.back();
  };
  ValueSpec &x = add(ValueSpec::Kind::Argument, "x", {{"batch", size.ceildiv(2)}, {"in", 2}});
  x.shards = {{"batch", {"data"}}};
  x.wholeDims = {{"batch", size}, {"in", 2}};
  x.layout = *Layout::parse("[in, batch]");
  add(ValueSpec::Kind::Argument, "z", {{"in", 2}}).layout = *Layout::parse("[in]");
  ValueSpec &y = add(ValueSpec::Kind::Result, "y", {{"batch", size.ceildiv(2)}});
  y.shards = {{"batch", {"data"}}};
  y.wholeDims = {{"batch", size}};
  return entry;
}

Manifest manifest() {
  Manifest made;
  made.mesh = {{{"data", 2}}};
  return made;
}

TEST(MeshCall, WholeTensorsAreCutAndBlocksGathered) {
  Manifest made = manifest();
  EntrySpec spec = entry();
  auto errors = onRanks(2, [&](const Ranks &ranks) {
    Tensor x = numbered({{batch, 5}, {in, 2}}), z = numbered({{in, 2}});
    heddle::detail::MeshCall call(made, spec, ranks.job(), {x, z}, Here::current());
    EXPECT_EQ(call.supplied(), (SuppliedNumbers{{"N", 2}}));
    EXPECT_EQ(call.argument(1, z, false, Here::current()), z.data());
    TensorRef block = call.argument(0, x, false, Here::current());
    EXPECT_EQ(block->layout().str(), "[in, batch]");
    std::vector<float> values(6);
    block->copyTo(values.data(), {"batch", "in"});
    EXPECT_EQ(values, ranks.isFirst() ? (std::vector<float>{1, 2, 3, 4, 5, 6})
                                      : (std::vector<float>{7, 8, 9, 10, 0, 0}));
    EXPECT_NE(call.argument(0, x, true, Here::current()), block);
    TensorRef kept = call.argument(0, x, true, Here::current());
    EXPECT_EQ(call.argument(0, x, false, Here::current()), kept);

    auto result = std::make_shared<RuntimeTensor>(TensorSpec{ElementType::F32, {{"batch", 3}}},
                                                  Layout::rowMajor({"batch"}));
    std::vector<float> mine(3, float(ranks.rank() + 1));
    result->copyFrom(mine.data(), {"batch"});
    Tensor y = call.result(0, result, Here::current());
    EXPECT_EQ(y.size(batch), 5);
    ASSERT_TRUE(y.split());
    EXPECT_EQ(y.split()->block, result);
    // Operations outside of compiled functions gather as well.
    EXPECT_EQ((y + 1).to<float>({batch}), (std::vector<float>{2, 2, 2, 3, 3}));
    EXPECT_TRUE(y.split()); // and still has its block
    Tensor again = call.result(0, result, Here::current());
    std::ostringstream text;
    text << again;
    EXPECT_TRUE(contains(text.str(), "[1, 1, 1, 2, 2]")) << text.str();
    // A block with the program's sharding is passed unchanged.
    Tensor other = Tensor::fromSplit(std::make_shared<SplitTensor>(
        SplitTensor{Shards(made.mesh, {{"batch", {"data"}}}, {{"batch", 5}, {"in", 2}}), kept,
                    ranks.job(), "other"}));
    EXPECT_EQ(call.argument(0, other, false, Here::current()), kept);
    // A block with another sharding is gathered and cut.
    Shards byIn(made.mesh, {{"in", {"data"}}}, {{"batch", 5}, {"in", 2}});
    Tensor third = Tensor::fromSplit(std::make_shared<SplitTensor>(
        SplitTensor{byIn, byIn.cut(*x.data(), ranks.rank()), ranks.job(), "third"}));
    call.argument(0, third, false, Here::current())->copyTo(values.data(), {"batch", "in"});
    EXPECT_EQ(values.front(), ranks.isFirst() ? 1 : 7);
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(MeshCall, ARankThatPrintsAloneIsNamed) {
  Shards shards({{{"data", 2}}}, {{"batch", {"data"}}}, {{"batch", 3}});
  auto errors = onRanks(2, [&](const Ranks &ranks) {
    Tensor x = Tensor::fromSplit(std::make_shared<SplitTensor>(
        SplitTensor{shards, shards.cut(*numbered({{batch, 3}}).data(), ranks.rank()), ranks.job(),
                    "'y' of 'train'"}));
    if (ranks.isFirst())
      x.to<float>({batch});
    else
      ranks.job()->channel()->agree({{"entry", "'train'"}});
  });
  for (const std::string &error : errors)
    EXPECT_TRUE(contains(error, "gathering 'y' of 'train'") && contains(error, "rank ")) << error;
  EXPECT_TRUE(contains(errors[0], "MeshTest.cpp:")) << errors[0];
}

TEST(MeshCall, OtherMeshesAndSizesAreRefused) {
  Manifest made = manifest();
  EntrySpec spec = entry();
  Tensor x = numbered({{batch, 4}, {in, 2}}), z = numbered({{in, 2}});
  auto message = [&](std::shared_ptr<Job> job) {
    return errorOf(
        [&] { heddle::detail::MeshCall(made, spec, std::move(job), {x, z}, Here::current()); });
  };
  EXPECT_EQ(message(nullptr), "the mesh data=2 has 2 ranks, expected 1, as the job has");
  auto errors = onRanks(2, [&](const Ranks &ranks) {
    std::string error = message(ranks.job());
    EXPECT_TRUE(contains(error, "'x' of 'train' has the size 4 for 'batch'")) << error;
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

//===----------------------------------------------------------------------===//
// Whole functions
//===----------------------------------------------------------------------===//

TEST(MeshJit, TwoRanksComputeWhatOneDoes) {
  auto errors = onRanks(2, [](const Ranks &ranks) {
    Tensor x = numbered({{batch, 5}, {in, 3}}), weight = numbered({{in, 3}, {out, 2}});
    auto f = jit(
        [](Tensor &weight, Tensor x) {
          Tensor y = sum(x * weight, over(in));
          weight = weight + 0.5 * sum(x, over(batch));
          return std::pair(y, sum(y, over(batch, out)));
        },
        {.name = "train", .mesh = {{data, 2}}, .rules = {"batch:data"}, .ranks = ranks});
    auto one = jit([](Tensor &weight, Tensor x) {
      Tensor y = sum(x * weight, over(in));
      weight = weight + 0.5 * sum(x, over(batch));
      return std::pair(y, sum(y, over(batch, out)));
    });
    Tensor mine = weight, other = numbered({{in, 3}, {out, 2}});
    for (int i = 0; i < 3; ++i) {
      auto [y, total] = f(mine, x);
      auto [expected, expectedTotal] = one(other, x);
      EXPECT_EQ(y.to<float>({batch, out}), expected.to<float>({batch, out}));
      EXPECT_EQ(total.item(), expectedTotal.item());
      EXPECT_EQ(mine.to<float>({in, out}), other.to<float>({in, out}));
    }
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

// The rank that compiles reports progress. Ranks may have made captured tensors by different
// operations.
TEST(MeshJit, OneRankCompilesForAll) {
  std::atomic<int> compiling{0};
  auto errors = onRanks(3, [&](const Ranks &ranks) {
    Tensor x = numbered({{batch, 5}, {in, 3}});
    for (int i = 0; i < ranks.rank(); ++i)
      fresh("in");
    Name other = fresh("in"); // another number on each rank
    Tensor captured = sum(numbered({{in, 3}}).rename({{in, other}}), over(other));
    std::atomic<bool> mine{false};
    auto f = jit([&](Tensor x) { return sum(exp(x) * captured, over(batch)); },
                 {.name = "train",
                  .cache = false,
                  .onProgress = [&](size_t, size_t) { mine = true; },
                  .mesh = {{data, 3}},
                  .rules = {"batch:data"},
                  .ranks = ranks});
    EXPECT_EQ(f(x).to<float>({in}).size(), 3u);
    f(numbered({{batch, 7}, {in, 3}}) + 0.0); // another signature
    compiling += mine;
    EXPECT_EQ(mine, ranks.isFirst());
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
  EXPECT_EQ(compiling, 1);
}

// A type lists its names by spelling, so numbers with more digits change their order: in$9, in$10.
TEST(MeshJit, FreshNamesOfOtherOrderAreTheSameProgram) {
  std::deque<Name> drawn;
  auto digitsBefore = [&](size_t count) { return drawn[drawn.size() - count].str().size(); };
  while (drawn.size() < 3 || digitsBefore(3) != digitsBefore(2) ||
         digitsBefore(2) == digitsBefore(1))
    drawn.push_back(fresh("in"));
  auto errors = onRanks(2, [&](const Ranks &ranks) {
    // On the first rank two numbers with as many digits, on the other one with more.
    size_t at = drawn.size() - (ranks.isFirst() ? 3 : 2);
    const Name &first = drawn[at], &second = drawn[at + 1];
    EXPECT_EQ(first.str() < second.str(), ranks.isFirst());
    auto f = jit(
        [&](Tensor x) {
          Tensor y = x.rename({{in, first}, {out, second}});
          Tensor twice = y * y.rename({{first, in}}); // first, second and `in`
          return sum(exp(twice), over(batch, first, second));
        },
        {.name = "train", .mesh = {{data, 2}}, .rules = {"batch:data"}, .ranks = ranks});
    EXPECT_EQ(f(numbered({{batch, 4}, {in, 3}, {out, 5}})).to<float>({in}).size(), 3u);
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(MeshJit, WhatCannotBeCompiledIsAnErrorOfAll) {
  auto errors = onRanks(2, [&](const Ranks &ranks) {
    auto f = jit([](Tensor x) { return x + 1; },
                 {.name = "train", .mesh = {{data, 2}}, .rules = {"rows:data"}, .ranks = ranks});
    std::string error = errorOf([&] { f(numbered({{batch, 4}})); });
    EXPECT_TRUE(contains(error, "the rule 'rows:data' matches no argument")) << error;
    EXPECT_EQ(contains(error, "rank 0 (host "), !ranks.isFirst()) << error;
    auto other =
        jit([&](Tensor x) { return x + (ranks.isFirst() ? 1.0 : 2.0); },
            {.name = "train", .mesh = {{data, 2}}, .rules = {"batch:data"}, .ranks = ranks});
    error = errorOf([&] { other(numbered({{batch, 4}})); });
    EXPECT_TRUE(
        contains(error, ") compiles another program or other options as 'train' than rank 0 ("))
        << error;
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(MeshJit, WhatMatchesNothingAndOtherMeshesAreRefused) {
  Tensor x = numbered({{batch, 4}});
  auto f = [](Tensor x) { return x + 1; };
  auto refusedWith = [&](JitOptions options, const std::string &part) {
    std::string error = errorOf([&] { jit(f, options)(x); });
    EXPECT_TRUE(contains(error, part)) << error;
    EXPECT_TRUE(contains(error, "MeshTest.cpp:")) << error;
  };
  Mesh mesh{{data, 2}};
  refusedWith({.mesh = mesh, .rules = {"rows:data"}, .ranks = Ranks()},
              "the rule 'rows:data' matches no argument");
  auto total = [](Tensor x) { return sum(x, over(batch)); };
  std::string error = errorOf([&] {
    jit(total, {.mesh = {{data, 1}}, .rules = {"op argument1/batch:data"}, .ranks = Ranks()})(x);
  });
  EXPECT_TRUE(contains(error, "the rule 'op argument1/batch:data' matches no operator; the nearest "
                              "one is 'argument0'"))
      << error;
  EXPECT_EQ(jit(total, {.mesh = {{data, 1}},
                        .rules = {"op argument1/batch:data"},
                        .unmatchedRules = true,
                        .ranks = Ranks()})(x)
                .item(),
            10);
  refusedWith({.mesh = mesh, .rules = {"batch:data"}, .ranks = Ranks()},
              "the mesh data=2 has 2 ranks, expected 1, as the job has");
}

// The rule splits no argument; each rank has all of the weight and sums over half of `in`.
TEST(MeshJit, RulesSplitOperators) {
  auto errors = onRanks(2, [](const Ranks &ranks) {
    Tensor weight = numbered({{in, 3}, {out, 2}}), x = numbered({{batch, 5}, {in, 3}});
    auto function = [&](Tensor weight, Tensor x) { return sum(x * weight, over(in)); };
    JitOptions options{.name = "sum"};
    Tensor whole = jit(function, options)(weight, x);
    options.mesh = {{data, 2}};
    options.rules = {"argument0/in:", "argument1/in:", "op argument0/in:data"};
    options.ranks = ranks;
    auto f = jit(function, options);
    EXPECT_EQ(f(weight, x).to<float>({batch, out}), whole.to<float>({batch, out}));
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

// One program for all sizes of a batch: 65 over 2, and one sample. Weights are kept and captured.
TEST(MeshJit, SymbolicSizesAndSharedArguments) {
  auto errors = onRanks(2, [](const Ranks &ranks) {
    Tensor weight = numbered({{in, 3}, {out, 2}}), bias = numbered({{out, 2}});
    auto function = [&](Tensor weight, Tensor x) { return sum(x * weight, over(in)) + bias; };
    JitOptions options{.name = "evaluate", .kept = {0}, .symbolic = over(batch)};
    auto one = jit(function, options);
    options.mesh = {{data, 2}};
    options.rules = {"batch:data", "argument0/out:data"};
    options.unmatchedRules = true;
    options.ranks = ranks;
    auto f = jit(function, options);
    for (int64_t size : {65, 4, 1}) {
      Tensor x = numbered({{batch, size}, {in, 3}}), y = f(weight, x);
      EXPECT_TRUE(y.split());
      EXPECT_EQ(y.to<float>({batch, out}), one(weight, x).to<float>({batch, out})) << size;
      // The result of one call is an argument of the next, with the same blocks.
      auto twice = jit([](Tensor y) { return y * 2.0; },
                       {.mesh = {{data, 2}}, .rules = {"batch:data"}, .ranks = ranks});
      EXPECT_EQ(twice(f(weight, x)).to<float>({batch, out}),
                (one(weight, x) * 2.0).to<float>({batch, out}));
    }
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
  // The size of a split name is the same on all ranks, like that of any other.
  errors = onRanks(2, [](const Ranks &ranks) {
    auto f = jit(
        [](Tensor x) { return sum(x, over(batch)); },
        {.symbolic = over(batch), .mesh = {{data, 2}}, .rules = {"batch:data"}, .ranks = ranks});
    f(numbered({{batch, ranks.isFirst() ? 5 : 7}})).item();
  });
  for (const std::string &error : errors)
    EXPECT_TRUE(contains(error, "rank 1 (") && contains(error, "has the size '") &&
                contains(error, "= 7 at call "))
        << error;
}

TEST(MeshJit, ARankThatReadsAResultAloneIsNamed) {
  auto errors = onRanks(2, [](const Ranks &ranks) {
    auto f = jit([](Tensor x) { return x + 1; },
                 {.name = "train", .mesh = {{data, 2}}, .rules = {"batch:data"}, .ranks = ranks});
    Tensor x = numbered({{batch, 5}});
    Tensor y = f(x);
    if (ranks.isFirst())
      y.to<float>({batch});
    else
      f(x);
  });
  for (const std::string &error : errors)
    EXPECT_TRUE(contains(error, "rank ") && contains(error, "of 'train'")) << error;
}

} // namespace
