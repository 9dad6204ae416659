//===- CostTest.cpp - costs of nests at three degrees of knowledge --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Amounts are compared with those counted by hand. The bound is compared with the estimates of
// drawn nests with drawn layouts and loops.
//
//===----------------------------------------------------------------------===//

#include "lib/cost/FunctionCost.h"

#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <chrono>
#include <numeric>
#include <random>

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

namespace {
/// Facts of the nests of the first op in a function.
class Nests {
public:
  explicit Nests(const std::string &text) {
    static MLIRContext context;
    context.loadDialect<nd::NdDialect, nest::NestDialect, arith::ArithDialect, math::MathDialect,
                        func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      throw std::runtime_error("invalid: " + text);
    function = *module->getOps<func::FuncOp>().begin();
    facts = factsOf(&function.front().front(), nest::MachineAttr());
  }
  std::vector<NestFacts> facts;
  const cost::Rates rates;
  func::FuncOp function;

private:
  OwningOpRef<ModuleOp> module;
};

std::string product(int64_t m, int64_t k, int64_t n) {
  std::string a = "!nd.tensor<f32, k: " + std::to_string(k) + ", m: " + std::to_string(m) + ">",
              b = "!nd.tensor<f32, k: " + std::to_string(k) + ", n: " + std::to_string(n) + ">",
              c = "!nd.tensor<f32, m: " + std::to_string(m) + ", n: " + std::to_string(n) + ">";
  return "func.func @f(%a: " + a + ", %b: " + b + ") -> " + c +
         " {\n%c = nest.compute (m: " + std::to_string(m) + ", n: " + std::to_string(n) +
         ") reduce (k: " + std::to_string(k) +
         ") reads %a[], %b[] {\n^bb0(%p: f32, %q: f32):\n%r = arith.mulf %p, %q : f32\n"
         "nest.yield %r : f32\n} combine add [0.0 : f32] : (" +
         a + ", " + b + ") -> " + c + "\nreturn %c : " + c + "\n}";
}

/// Tiles of 8 rows and 2 vectors of 16 lanes.
SmallVector<Loop, 6> loopsOfProduct() {
  return {{Loop::Sequential, {0}, 8},
          {Loop::Sequential, {2}, 1},
          {Loop::Register, {0}, 1},
          {Loop::Register, {1}, 16},
          {Loop::Vector, {1}, 1}};
}

std::vector<Layout> rowMajor() {
  return {Layout::rowMajor({"m", "k"}), Layout::rowMajor({"k", "n"}), Layout::rowMajor({"m", "n"})};
}

NestFacts withLayouts(NestFacts facts, ArrayRef<Layout> layouts) {
  facts.setLayouts(layouts);
  return facts;
}
} // namespace

TEST(CostTest, CountsTilesOfAProduct) {
  Nests nests(product(64, 16, 32));
  NestFacts &facts = nests.facts[0];
  EXPECT_EQ(facts.knowledge(), Knowledge::Nothing);
  facts.setLayouts(rowMajor());
  EXPECT_EQ(facts.knowledge(), Knowledge::Layouts);
  facts.setLoops(loopsOfProduct());
  Cost cost = costOf(facts, nests.rates);
  EXPECT_EQ(cost.basis, Knowledge::Schedule);
  // 8 tiles of 16 steps, with 16 multiply-adds, 2 vectors of b and 8 scalars of a.
  EXPECT_EQ(cost.amounts.products, 8 * 16 * 16);
  EXPECT_EQ(cost.amounts.loads, 8 * 16 * (2 + 8));
  EXPECT_EQ(cost.amounts.stores, 8 * 16);
  EXPECT_EQ(cost.amounts.chained, 8 * 16 * 4);
  EXPECT_EQ(cost.amounts.tiles, 8);
  EXPECT_EQ(cost.amounts.bytes[L2], 0);
}

TEST(CostTest, SizesCanBeReplaced) {
  Nests nests(product(64, 16, 32));
  NestFacts &facts = nests.facts[0];
  facts.setLayouts(rowMajor());
  facts.setSizes({32, 32, 16}); // half of the rows
  EXPECT_EQ(facts.knowledge(), Knowledge::Layouts);
  facts.setLoops(loopsOfProduct());
  Cost half = costOf(facts, nests.rates);
  EXPECT_EQ(half.amounts.products, 4 * 16 * 16);
  EXPECT_EQ(half.amounts.stores, 4 * 16);
  EXPECT_EQ(facts.nest().accesses[0].elements, 32 * 16);
  EXPECT_EQ(facts.nest().accesses[1].elements, 32 * 16);
}

TEST(CostTest, CopiesLeaveTheOriginal) {
  Nests nests(product(64, 16, 32));
  const NestFacts &facts = nests.facts[0];
  NestFacts laid = withLayouts(facts, rowMajor()), looped = laid;
  looped.setLoops(loopsOfProduct());
  EXPECT_EQ(facts.knowledge(), Knowledge::Nothing);
  EXPECT_EQ(laid.knowledge(), Knowledge::Layouts);
  EXPECT_EQ(looped.knowledge(), Knowledge::Schedule);
  looped.forget(Knowledge::Nothing);
  EXPECT_EQ(costOf(looped, nests.rates).seconds, costOf(facts, nests.rates).seconds);
}

TEST(CostTest, CountsChange) {
  // Amounts of accesses are kept. After changes they must be those of facts that know nothing else.
  Nests nests(product(64, 16, 32));
  NestFacts facts = withLayouts(nests.facts[0], rowMajor());
  auto expectCopied = [&](ArrayRef<Loop> loops, ArrayRef<Stage> copies, double vectors) {
    SCOPED_TRACE(copies.size());
    NestFacts fresh = withLayouts(nests.facts[0], rowMajor());
    fresh.setLoops(loops, copies);
    EXPECT_EQ(countInstructions(facts).str(), countInstructions(fresh).str());
    EXPECT_EQ(countInstructions(facts).copied, vectors);
  };
  SmallVector<Loop, 6> loops = loopsOfProduct();
  facts.setLoops(loops);
  expectCopied(loops, {}, 0);
  // Each of 8 tiles copies all of b, 32 vectors, or each of its 16 steps copies a row of 2. Half a
  // vector more is counted for each run.
  for (auto [at, vectors] : {std::pair(0u, 8 * 32.5), {1u, 8 * 16 * 2.5}}) {
    facts.setStages(Stage{1, at});
    expectCopied(loops, Stage{1, at}, vectors);
  }
  facts.setStages({});
  expectCopied(loops, {}, 0);
  loops[0].step = 16;
  facts.setLoops(loops);
  expectCopied(loops, {}, 0);
}

TEST(CostTest, PartsOfSumsAreLoaded) {
  // c has 16 MiB. If a loop over k is outside, its parts of sums come back from memory.
  Nests nests(product(2048, 64, 2048));
  NestFacts facts = withLayouts(nests.facts[0], rowMajor());
  SmallVector<Loop, 6> loops = {{Loop::Sequential, {0}, 8},
                                {Loop::Sequential, {1}, 16},
                                {Loop::Sequential, {2}, 1},
                                {Loop::Register, {0}, 1},
                                {Loop::Vector, {1}, 1}};
  auto scattered = [&] {
    Amounts amounts = countInstructions(facts);
    const NestFacts *one = &facts;
    addBytes(one, Fetched::ByLoops, amounts);
    return amounts.scattered[L3] + amounts.scattered[Memory];
  };
  facts.setLoops(loops);
  double whole = scattered();
  loops.insert(loops.begin(), {Loop::Sequential, {2}, 32});
  facts.setLoops(loops);
  // Two passes over c, with runs of 16 elements.
  EXPECT_NEAR(scattered() - whole, 2.0 * 2048 * 2048 * 4, 0.2 * 2048 * 2048 * 4);
}

TEST(CostTest, LanesMatter) {
  Nests nests(product(64, 16, 32));
  NestFacts facts = withLayouts(nests.facts[0], rowMajor());
  facts.setLoops(loopsOfProduct());
  double good = costOf(facts, nests.rates).seconds;
  // Lanes of m: the elements of a and c are 16 and 32 elements apart.
  facts.setLoops({{Loop::Sequential, {1}, 1},
                  {Loop::Sequential, {0}, 16},
                  {Loop::Sequential, {2}, 1},
                  {Loop::Vector, {0}, 1}});
  Cost bad = costOf(facts, nests.rates);
  EXPECT_EQ(bad.amounts.gathered, 64 * 32 * 16 + 64 * 32);
  EXPECT_GT(bad.seconds, 4 * good);
  // Known layouts allow the good lanes.
  facts.forget(Knowledge::Layouts);
  EXPECT_LT(costOf(facts, nests.rates).seconds, 1.5 * good);
}

TEST(CostTest, LayoutsMatter) {
  Nests nests(product(64, 16, 32));
  Rates rates = nests.rates;
  rates.stepStart = rates.coldStart = 0; // the nest is short
  const NestFacts &facts = nests.facts[0];
  double nothing = costOf(facts, rates).seconds;
  EXPECT_LT(costOf(withLayouts(facts, rowMajor()), rates).seconds, 1.2 * nothing);
  // Neither m nor n is contiguous in an operand. Where only the result lies apart, it is
  // transposed.
  std::vector<Layout> turned = {Layout::rowMajor({"m", "k"}), Layout::rowMajor({"n", "k"}),
                                Layout::rowMajor({"m", "n"})};
  EXPECT_GT(costOf(withLayouts(facts, turned), rates).seconds, 1.2 * nothing);
}

TEST(CostTest, ThreadsShareChunks) {
  Nests nests(product(640, 640, 640));
  NestFacts facts = withLayouts(nests.facts[0], rowMajor());
  SmallVector<Loop, 6> loops = loopsOfProduct();
  loops.insert(loops.begin(), Loop(Loop::Thread, {0}, 128)); // 5 chunks
  loops[3].step = 1;
  facts.setLoops(loops);
  auto seconds = [&](unsigned threads) { return costOf(facts, nests.rates, threads).seconds; };
  EXPECT_EQ(costOf(facts, nests.rates).amounts.chunks, 5);
  EXPECT_LT(seconds(2), 0.8 * seconds(1));
  EXPECT_NEAR(seconds(3), seconds(4), 1e-9); // one thread has two chunks
  EXPECT_LT(seconds(5), 0.8 * seconds(4));
  EXPECT_LE(costOf(facts, nests.rates, 5).bound, seconds(5));
}

TEST(CostTest, NestsOfAGroupShareReads) {
  // Two nests read 128 lines of 64 KiB: only L3 holds x, L2 holds a line.
  std::string line = "!nd.tensor<f32, l: 16384>", x = "!nd.tensor<f32, b: 128, l: 16384>",
              one = "!nd.tensor<f32>", z = "!nd.tensor<f32, b: 128>";
  auto nest = [&](const char *result, const char *combine) {
    return std::string("%") + result +
           " = nest.compute () reduce (l: 16384) reads %x[] {\n^bb0(%v: f32):\nnest.yield %v : "
           "f32\n} combine " +
           combine +
           " {layouts = [#nest.layout<[]>], schedule = #nest.schedule<[loop l by 64, register l by "
           "16, vector l by 1]>} : (" +
           x + ") -> " + one + "\n";
  };
  auto text = [&](bool two) {
    return "func.func @f(%x: " + x + ") -> " + z + " {\n%g" + (two ? ":2" : "") +
           " = nest.group (b: 128) {\n" + nest("s", "add [0.0 : f32]") +
           (two ? nest("m", "max [0xFF800000 : f32]") : "") + "nest.yield %s" +
           (two ? ", %m : " + one + ", " : " : ") + one + "\n} {layouts = [#nest.layout<[b]>" +
           (two ? ", #nest.layout<[b]>" : "") +
           "], schedule = #nest.schedule<[cache b by 1]>} : " + z + (two ? ", " + z : "") +
           "\nreturn %g" + (two ? "#0" : "") + " : " + z + "\n}";
  };
  Nests single(text(false)), both(text(true));
  double all = 128 * 16384 * 4;
  Cost one1 = costOf(single.facts, single.rates), two = costOf(both.facts, both.rates);
  EXPECT_EQ(both.facts.size(), 2u);
  EXPECT_NEAR(one1.amounts.bytes[L3], all, 4096);
  EXPECT_NEAR(two.amounts.bytes[L3], all, 8192);       // the second nest finds the line in L2
  EXPECT_NEAR(two.amounts.bytes[L2], all, 0.01 * all); // and the lines of the results
  EXPECT_EQ(two.amounts.loads, 2 * one1.amounts.loads);
}

TEST(CostTest, ResultsOfAGroupAreWritten) {
  // A group writes 128 lines of 64 KiB, of which its nest sees one.
  std::string z = "!nd.tensor<f32, b: 128, l: 16384>", line = "!nd.tensor<f32, l: 16384>";
  Nests nests(
      "func.func @f(%x: " + z + ") -> " + z +
      " {\n%g = nest.group (b: 128) {\n%s = nest.compute (l: 16384) reads %x[] {\n"
      "^bb0(%v: f32):\n%w = arith.mulf %v, %v : f32\nnest.yield %w : f32\n} {layouts = "
      "[#nest.layout<[l]>], schedule = #nest.schedule<[register l by 16, vector l by 1]>} : (" +
      z + ") -> " + line + "\nnest.yield %s : " + line +
      "\n} {layouts = [#nest.layout<[b, l]>], schedule = #nest.schedule<[cache b by 1]>} : " + z +
      "\nreturn %g : " + z + "\n}");
  double all = 128 * 16384 * 4;
  // 8 MiB are read; 8 MiB are fetched and written back.
  Amounts amounts = costOf(nests.facts, nests.rates).amounts;
  EXPECT_NEAR(amounts.bytes[L3] + amounts.bytes[Memory], 3 * all, 8192);
}

//===----------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------===//

namespace {
class Drawer {
public:
  explicit Drawer(unsigned seed) : random(seed) {}

  int64_t between(int64_t low, int64_t high) {
    double log =
        std::uniform_real_distribution<>(std::log(double(low)), std::log(double(high)))(random);
    return int64_t(std::exp(log));
  }
  bool sometimes(double part) { return std::uniform_real_distribution<>()(random) < part; }

  /// A product, a pointwise nest, a reduction or a gather.
  std::string nest() {
    int64_t m = between(1, 400), k = between(1, 400), n = between(1, 400);
    unsigned kind = random() % 4;
    if (kind == 0)
      return product(m, k, n);
    std::string sizes =
        "k: " + std::to_string(k) + ", m: " + std::to_string(m) + ", n: " + std::to_string(n);
    std::string type = "!nd.tensor<f32, " + sizes + ">",
                at = "!nd.tensor<i32, m: " + std::to_string(m) + ">";
    std::string small =
        "!nd.tensor<f32, k: " + std::to_string(k) + ", m: " + std::to_string(m) + ">";
    if (kind == 1)
      return "func.func @f(%a: " + type + ", %b: " + small + ") -> " + type +
             " {\n%c = nest.compute (" + sizes +
             ") reads %a[], %b[] {\n^bb0(%p: f32, %q: f32):\n"
             "%r = arith.addf %p, %q : f32\n%s = math.exp %r : f32\nnest.yield %s : f32\n} : (" +
             type + ", " + small + ") -> " + type + "\nreturn %c : " + type + "\n}";
    if (kind == 2)
      return "func.func @f(%a: " + type + ") -> " + small +
             " {\n%c = nest.compute (k: " + std::to_string(k) + ", m: " + std::to_string(m) +
             ") reduce (n: " + std::to_string(n) +
             ") reads %a[] {\n^bb0(%p: f32):\nnest.yield %p : f32\n} combine "
             "max [0xFF800000 : f32] : (" +
             type + ") -> " + small + "\nreturn %c : " + small + "\n}";
    return "func.func @f(%i: " + at + ", %a: " + type + ") -> " + small +
           " {\n%c = nest.compute (k: " + std::to_string(k) + ", m: " + std::to_string(m) +
           ") reads %i[], %a[n = read(0)] {\n^bb0(%j: i32, %p: f32):\nnest.yield %p : f32\n} : (" +
           at + ", " + type + ") -> " + small + "\nreturn %c : " + small + "\n}";
  }

  /// A chain of nests over matrices, each of which reads earlier values: sums of two, with a
  /// function; sums of rows; corners, which are a part of a matrix; blurs, which are windows.
  std::string function() {
    int64_t m = between(4, 4000), k = between(4, 4000);
    auto type = [](int64_t rows, int64_t columns) {
      return "!nd.tensor<f32, k: " + std::to_string(columns) + ", m: " + std::to_string(rows) + ">";
    };
    std::string all = type(m, k), space = "(k: " + std::to_string(k) + ", m: " + std::to_string(m);
    std::string text = "func.func @f(%v0: " + all + ", %v1: " + all + ") -> (";
    std::string body, returned, types;
    unsigned count = 2 + random() % 5;
    auto any = [&](unsigned before) { return "%v" + std::to_string(random() % before); };
    for (unsigned i = 2; i < 2 + count; ++i) {
      std::string head = "%v" + std::to_string(i) + " = nest.compute " + space;
      switch (random() % 4) {
      case 0:
        body += head + ") reads " + any(i) + "[], " + any(i) +
                "[] {\n^bb0(%p: f32, %q: f32):\n%r = arith.addf %p, %q : f32\n%s = math.exp %r : "
                "f32\nnest.yield %s : f32\n} : (" +
                all + ", " + all + ") -> " + all + "\n";
        break;
      case 1:
        body += head + ") reduce (n: " + std::to_string(k) + ") reads " + any(i) +
                "[k = n] {\n^bb0(%p: f32):\nnest.yield %p : f32\n} combine add [0.0 : f32] : (" +
                all + ") -> " + all + "\n";
        break;
      case 2:
        body += head + ") reads " + any(i) +
                "[k = k floordiv 2, m = 0] {\n^bb0(%p: f32):\nnest.yield %p : f32\n} : (" + all +
                ") -> " + all + "\n";
        break;
      default:
        body += head + ") reduce (n: 3) reads " + any(i) + "[k = k + n - 1] if [k + n - 1 >= 0, " +
                std::to_string(k) +
                " - k - n >= 0] else 0.0 : f32 {\n^bb0(%p: f32):\nnest.yield %p : f32\n} combine "
                "add [0.0 : f32]"
                " : (" +
                all + ") -> " + all + "\n";
      }
      if (i + 1 == 2 + count || sometimes(0.3)) {
        returned += (returned.empty() ? "%v" : ", %v") + std::to_string(i);
        types += (types.empty() ? "" : ", ") + all;
      }
    }
    return text + types + ") {\n" + body + "return " + returned + " : " + types + "\n}";
  }

  std::vector<Layout> layouts(const nest::NestModel &nest) {
    std::vector<Layout> result;
    for (const nest::NestAccess &access : nest.accesses) {
      std::vector<std::string> names = access.dims;
      std::shuffle(names.begin(), names.end(), random);
      Layout layout = Layout::rowMajor(names);
      if (!names.empty() && sometimes(0.3)) { // blocks of 16
        std::string name = names[random() % names.size()];
        for (Layout::Factor &factor : layout.factors)
          if (factor.names[0] == name)
            factor.divisor = 16;
        layout.factors.push_back({{name}, 1, 16});
      }
      result.push_back(std::move(layout));
    }
    return result;
  }

  SmallVector<Loop, 12> loops(const nest::NestModel &nest) {
    std::vector<unsigned> names(nest.names.size());
    std::iota(names.begin(), names.end(), 0);
    std::shuffle(names.begin(), names.end(), random);
    SmallVector<Loop, 12> loops;
    unsigned lanes = names[random() % names.size()];
    for (unsigned name : names)
      if (!nest.isReduced(name) && sometimes(0.3))
        loops.emplace_back(Loop::Thread, Names{name}, between(1, 64) * 64);
    for (unsigned name : names)
      if (name != lanes && sometimes(0.8))
        loops.emplace_back(Loop::Sequential, Names{name}, between(1, 8));
    for (unsigned name : names)
      if (name != lanes)
        loops.emplace_back(Loop::Register, Names{name}, 1);
    if (sometimes(0.9)) {
      loops.emplace_back(Loop::Sequential, Names{lanes}, 16 * between(1, 4));
      loops.emplace_back(Loop::Register, Names{lanes}, 16);
      loops.emplace_back(Loop::Vector, Names{lanes}, 1);
    }
    return loops;
  }

private:
  std::mt19937 random;
};
} // namespace

TEST(BoundTest, IsBelowAllEstimates) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Drawer draw(seed);
    Nests nests(draw.nest());
    NestFacts &facts = nests.facts[0];
    Rates rates = nests.rates.warm(); // others only lengthen estimates
    unsigned threads = seed % 3 + 1;
    Cost nothing = costOf(facts, rates, threads);
    facts.setLayouts(draw.layouts(facts.nest()));
    Cost layouts = costOf(facts, rates, threads);
    facts.setLoops(draw.loops(facts.nest()));
    Cost schedule = costOf(facts, rates, threads);
    for (const Cost *cost : {&nothing, &layouts, &schedule}) {
      EXPECT_EQ(cost->bound, nothing.bound) << seed;
      EXPECT_GT(cost->bound, 0) << seed;
      // `Cost::seconds` is never below it; that is so without this, too.
      EXPECT_GE(secondsOf(cost->amounts, rates, threads), cost->bound) << seed;
      EXPECT_GE(cost->seconds, cost->bound);
    }
  }
}

TEST(BoundTest, OfAFunctionIsBelowTheSumOfItsEstimates) {
  Machine machine;
  double nearest = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Drawer draw(seed);
    Nests nests(draw.function());
    unsigned threads = seed % 3 + 1;
    FunctionCost cost = costOfFunction(nests.function, machine, threads);
    double sum = 0, bounds = 0;
    for (Operation &op : nests.function.front().without_terminator()) {
      Cost each = costOf(&op, machine, threads);
      sum += each.seconds;
      bounds += each.bound;
    }
    EXPECT_EQ(cost.seconds, sum) << seed;
    EXPECT_GT(cost.bound.seconds, 0) << seed;
    // `FunctionCost::bound` is never above the sum; that is so without this, too.
    double bound = boundOf(cost.least, machine.rates, threads).seconds;
    EXPECT_LE(bound, bounds * (1 + 1e-12)) << seed;
    nearest = std::max(nearest, bound / sum);
  }
  EXPECT_GT(nearest, 0.4);
}

/// The bound of a function with one nest is that of the nest.
TEST(BoundTest, OfAFunctionWithOneNestIsThatOfTheNest) {
  Nests nests(product(2048, 2048, 2048));
  Machine machine;
  FunctionCost cost = costOfFunction(nests.function, machine);
  EXPECT_EQ(cost.nests, 1u);
  EXPECT_EQ(cost.bytes, 3 * 2048. * 2048 * 4);
  EXPECT_EQ(cost.least.bytes[Memory], leastAmounts(nests.facts).bytes[Memory]);
  EXPECT_EQ(cost.bound.seconds, costOf(nests.facts, machine.rates).bound);
  EXPECT_STREQ(cost.bound.limit, "arithmetic");
}

/// Two nests read an argument of 64 MiB, the second one half of it; a third reads what the first
/// makes.
TEST(BoundTest, OfAFunctionCountsAnArgumentOnce) {
  std::string all = "!nd.tensor<f32, n: 16777216>", half = "!nd.tensor<f32, n: 8388608>";
  auto nest = [](const std::string &result, const std::string &read, const std::string &from,
                 const std::string &to, const std::string &size) {
    return result + " = nest.compute (n: " + size + ") reads " + read +
           "[] {\n^bb0(%p: f32):\n%r = arith.negf %p : f32\nnest.yield %r : f32\n} : (" + from +
           ") -> " + to + "\n";
  };
  Nests nests("func.func @f(%x: " + all + ") -> (" + half + ", " + half + ") {\n" +
              nest("%a", "%x", all, all, "16777216") + nest("%b", "%x", all, half, "8388608") +
              nest("%c", "%a", all, half, "8388608") + "return %b, %c : " + half + ", " + half +
              "\n}");
  FunctionCost cost = costOfFunction(nests.function, Machine::of({}));
  double mib = 1 << 20;
  EXPECT_EQ(cost.nests, 3u);
  EXPECT_EQ(cost.bytes, (64 + 32 + 32) * mib);
  // L3 holds 16 MiB of %x in the first nest, and of a result in each of the others, which is
  // fetched and written back.
  EXPECT_EQ(cost.least.bytes[Memory], (48 + 2 * 16 + 2 * 16) * mib);
}

TEST(BoundTest, CountsCompulsoryBytes) {
  // 2^24 bytes each of three tensors: 3 * 2^24 - 2^24 do not fit in the L3 of 2^24 bytes.
  Nests nests(product(2048, 2048, 2048));
  Amounts least = leastAmounts(nests.facts);
  double tensor = 2048. * 2048 * 4, moved = 4 * tensor; // the result is fetched and written
  EXPECT_NEAR(least.bytes[Memory], moved * 2 / 3, 1);
  EXPECT_EQ(least.products, 2048. * 2048 * 2048 / 16);
  EXPECT_EQ(least.loads, 0); // registers and caches may keep what is read again
  EXPECT_EQ(least.stores, 2048. * 2048 / 16);
}

/// The second nest writes 16 MiB, which L3 holds alone: 15 MiB, fetched and written, would come
/// from there. Beside the 4 MiB that it reads, less of it does; the bound of the function knows
/// that.
TEST(BoundTest, OfAFunctionCountsNoMoreThanItsNests) {
  std::string small = "!nd.tensor<f32, n: 1048576>", large = "!nd.tensor<f32, m: 4, n: 1048576>";
  auto nest = [](const std::string &result, const std::string &read, const std::string &from,
                 const std::string &to, const std::string &space) {
    return result + " = nest.compute (" + space + ") reads " + read +
           "[] {\n^bb0(%p: f32):\n%r = arith.negf %p : f32\nnest.yield %r : f32\n} : (" + from +
           ") -> " + to + "\n";
  };
  Nests nests("func.func @f(%x: " + small + ") -> " + large + " {\n" +
              nest("%h", "%x", small, small, "n: 1048576") +
              nest("%y", "%h", small, large, "m: 4, n: 1048576") + "return %y : " + large + "\n}");
  FunctionCost cost = costOfFunction(nests.function, Machine::of({}));
  double mib = 1 << 20;
  EXPECT_DOUBLE_EQ(cost.least.bytes[L3], (3 + 15 * 36. / 20) * mib); // of %x, and of %y
}

/// Without L3, what L2 does not hold comes from memory.
TEST(BoundTest, KnowsWhichCachesThereAre) {
  Nests nests(product(512, 512, 512));
  Operation *op = &nests.function.front().front();
  auto bytesOn = [&](std::initializer_list<const char *> missing) {
    auto machine = nest::MachineAttr::get(op->getContext(), DictionaryAttr::get(op->getContext()));
    for (const char *cache : missing)
      machine = withFact(machine, cache, 0);
    return leastAmounts(factsOf(op, machine)).bytes;
  };
  double tensor = 512. * 512 * 4, part = 4. / 3; // the result is fetched and written
  EXPECT_DOUBLE_EQ(bytesOn({})[Memory], 0);
  EXPECT_DOUBLE_EQ(bytesOn({})[L3], (3 * tensor - (1 << 20)) * part);
  EXPECT_DOUBLE_EQ(bytesOn({"l3_bytes"})[Memory], (3 * tensor - (1 << 20)) * part);
  EXPECT_DOUBLE_EQ(bytesOn({"l1_bytes", "l2_bytes", "l3_bytes"})[Memory], 3 * tensor * part);
}

TEST(BoundTest, IsNearAGoodSchedule) {
  Nests nests(product(256, 256, 256));
  Cost cost = costOf(nests.facts[0], nests.rates);
  EXPECT_GT(cost.bound, 0.4 * cost.seconds);
}

/// A nest that runs alone takes less than one among others; the bound is of the former.
TEST(BoundTest, IsOfANestThatRunsAlone) {
  Nests nests(product(256, 256, 256));
  const NestFacts &facts = nests.facts[0];
  Cost among = costOf(facts, nests.rates), alone = costOf(facts, nests.rates.warm());
  EXPECT_EQ(among.bound, alone.bound);
  Amounts some;
  some.stores = some.turned = 1000;
  some.bytes[L2] = 1000;
  double added = (1000 * nests.rates.coldStore + 1000 * nests.rates.coldTurn) / nests.rates.clock +
                 nests.rates.coldStart;
  EXPECT_GE(secondsOf(some, nests.rates) - secondsOf(some, nests.rates.warm()), added);
  EXPECT_EQ(boundOf(some, nests.rates).seconds, boundOf(some, nests.rates.warm()).seconds);
  Amounts bytes;
  bytes.bytes[L2] = 1e9;
  EXPECT_NEAR(secondsOf(bytes, nests.rates) - secondsOf(bytes, nests.rates.warm()),
              1e9 * nests.rates.coldL2Byte / nests.rates.clock + nests.rates.coldStart, 1e-9);
}

/// Run by hand: prints the microseconds of an evaluation.
TEST(CostTest, DISABLED_Time) {
  Nests nests(product(640, 640, 640));
  NestFacts &facts = nests.facts[0];
  auto time = [&](const char *what, int count, llvm::function_ref<void()> act) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i)
      act();
    std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begin;
    llvm::errs() << what << ": " << passed.count() / count << " us\n";
  };
  double sum = 0;
  time("nothing", 1000, [&] { sum += costOf(facts, nests.rates).seconds; });
  facts.setLayouts(rowMajor());
  time("layouts", 1000, [&] { sum += costOf(facts, nests.rates).seconds; });
  SmallVector<Loop, 6> loops = loopsOfProduct();
  time("schedule", 100000, [&] {
    facts.setLoops(loops);
    sum += costOf(facts, nests.rates).seconds;
  });
  EXPECT_GT(sum, 0);
}
