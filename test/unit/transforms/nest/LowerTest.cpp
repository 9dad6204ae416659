//===- LowerTest.cpp - every nd op as nests, in all types and small sizes -===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op is lowered for every element type it takes and with sizes of 0, 1 and more; the oracle
// must give the same before and after, and after fusion.
//
//===----------------------------------------------------------------------===//

#include "test/unit/transforms/nest/Held.h"

#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "lib/transforms/nest/Passes.h"

using namespace heddle;
using namespace mlir;

namespace {
using Values = std::map<std::string, std::string>;

/// Replaces `{name}`.
std::string fill(std::string text, const Values &values) {
  for (auto &[name, value] : values)
    for (size_t at; (at = text.find("{" + name + "}")) != std::string::npos;)
      text.replace(at, name.size() + 2, value);
  return text;
}

struct LowerTest : testing::Test {
  MLIRContext context;
  LowerTest() { loadDialects(context); }

  void hold(const std::string &body) {
    SCOPED_TRACE(body);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(body, &context);
    ASSERT_TRUE(module);
    // Integers used as indices are in bounds of size 1.
    Held held(*module, "f", /*positive=*/false, /*indices=*/1);
    if (!held.pass(createConvertNdToNestPass()))
      return;
    bool left = false;
    module->walk([&](Operation *op) {
      left |= op->getName().getDialectNamespace() == "nd" && !isa<nd::ConstantOp>(op);
    });
    EXPECT_FALSE(left) << held.text();
    held.pass(nest::createNestFusePass());
  }

  static std::string zeroOf(const std::string &type) {
    if (type == "i1")
      return "false";
    return type[0] == 'f' || type[0] == 'b' ? "0.0" : "0";
  }
  /// Attributes are signless.
  static std::string scalarOf(const std::string &type) {
    return type[0] == 'u' ? type.substr(1) : type;
  }
};

const char *const allTypes[] = {"f64", "f32", "f16", "bf16", "i1",   "i8",  "i16",
                                "i32", "i64", "ui8", "ui16", "ui32", "ui64"};

/// An op on %x of {T} with `a: {n}` and `b: {m}`; `size` of its result; `valid` tells for which n.
struct Mover {
  const char *name, *text;
  int64_t (*size)(int64_t n);
  int64_t least = 0;
};
const Mover movers[] = {
    {"slice", "nd.slice %x a from 1 size {r} stride 2",
     [](int64_t n) { return n < 2 ? 0 : (n - 2) / 2 + 1; }, 0},
    {"pad", "nd.pad %x a low 2 high 1 interior 1 value {zero}",
     [](int64_t n) { return 3 + n + std::max<int64_t>(n - 1, 0); }},
    {"rename", "nd.rename %x [a, b] to [b, a]", nullptr},
    {"concat", "nd.concat %x, %x along a", [](int64_t n) { return 2 * n; }},
};
} // namespace

TEST_F(LowerTest, MovesElementsOfAllTypes) {
  for (const std::string type : allTypes)
    for (int64_t n : {0, 1, 5})
      for (int64_t m : {0, 1, 3})
        for (const Mover &mover : movers) {
          if (mover.name == std::string("slice") && n < 2)
            continue;
          Values values{{"T", type},
                        {"n", std::to_string(n)},
                        {"m", std::to_string(m)},
                        {"zero", zeroOf(type) + (type == "i1" ? "" : " : " + scalarOf(type))}};
          values["in"] = fill("!nd.tensor<{T}, a: {n}, b: {m}>", values);
          if (mover.size) {
            values["r"] = std::to_string(mover.size(n));
            values["out"] = fill("!nd.tensor<{T}, a: {r}, b: {m}>", values);
          } else {
            values["out"] = fill("!nd.tensor<{T}, a: {m}, b: {n}>", values);
          }
          std::string op = fill(mover.text, values);
          bool isList = mover.name == std::string("concat");
          hold(fill("func.func @f(%x: {in}) -> {out} {\n %r = ", values) + op +
               fill(isList ? " : ({in}, {in}) -> {out}" : " : {in} -> {out}", values) +
               fill("\n return %r : {out}\n}", values));
          if (HasFailure())
            return;
        }
}

TEST_F(LowerTest, SplitsMergesBroadcasts) {
  for (const std::string type : {"f32", "i8", "i1"})
    for (int64_t n : {0, 1, 3})
      for (int64_t m : {0, 1, 2})
        hold(fill(
            R"(func.func @f(%x: !nd.tensor<{T}, a: {n}, b: {m}>) -> (!nd.tensor<{T}, c: {nm}>, !nd.tensor<{T}, p: {n}, q: {m}>, !nd.tensor<{T}, a: {n}, b: {m}, z: {m}>) {
  %0 = nd.merge %x [b, a] into c : !nd.tensor<{T}, a: {n}, b: {m}> -> !nd.tensor<{T}, c: {nm}>
  %1 = nd.split %0 c into [p, q] : !nd.tensor<{T}, c: {nm}> -> !nd.tensor<{T}, p: {n}, q: {m}>
  %2 = nd.broadcast %x : !nd.tensor<{T}, a: {n}, b: {m}> -> !nd.tensor<{T}, a: {n}, b: {m}, z: {m}>
  return %0, %1, %2 : !nd.tensor<{T}, c: {nm}>, !nd.tensor<{T}, p: {n}, q: {m}>, !nd.tensor<{T}, a: {n}, b: {m}, z: {m}>
})",
            {{"T", type},
             {"n", std::to_string(n)},
             {"m", std::to_string(m)},
             {"nm", std::to_string(n * m)}}));
}

TEST_F(LowerTest, Windows) {
  struct Shape {
    int64_t size, stride, dilation, low, high;
  };
  for (const std::string type : {"f32", "f64", "bf16", "i32", "ui8"})
    for (Shape shape :
         {Shape{1, 1, 1, 0, 0}, Shape{3, 1, 1, 1, 1}, Shape{2, 2, 1, 0, 0}, Shape{3, 2, 1, 1, 0},
          Shape{3, 1, 2, 2, 2}, Shape{2, 3, 2, 1, 1}, Shape{5, 1, 1, 4, 4}})
      for (int64_t n : {0, 1, 2, 7}) {
        int64_t span = (shape.size - 1) * shape.dilation + 1,
                places = n + shape.low + shape.high - span;
        if (places < 0)
          continue;
        Values values{{"T", type},
                      {"S", scalarOf(type)},
                      {"zero", zeroOf(type)},
                      {"n", std::to_string(n)},
                      {"k", std::to_string(shape.size)},
                      {"r", std::to_string(places / shape.stride + 1)},
                      {"sum", type[0] == 'f' || type[0] == 'b' ? "arith.addf" : "arith.addi"}};
        values["way"] = " size " + values["k"] + " stride " + std::to_string(shape.stride) +
                        " dilation " + std::to_string(shape.dilation) + " pad " +
                        std::to_string(shape.low) + ", " + std::to_string(shape.high);
        values["in"] = fill("!nd.tensor<{T}, a: {n}>", values);
        values["win"] = fill("!nd.tensor<{T}, a: {r}, t: {k}>", values);
        values["out"] = fill("!nd.tensor<{T}, a: {r}>", values);
        values["reduce"] =
            fill(R"( = nd.reduce {of} over [t] neutral [{zero} : {S}] : ({win}) -> {out} {
  ^bb0(%p: {S}, %q: {S}):
    %s = {sum} %p, %q : {S}
    nd.yield %s : {S}
  })",
                 values);
        Values first(values), second(values);
        first["of"] = "%0", second["of"] = "%2";
        values["reduceFirst"] = fill(values["reduce"], first);
        values["reduceSecond"] = fill(values["reduce"], second);
        // Read by a value, excluded, excluded and worked on before it is reduced.
        hold(fill(R"(func.func @f(%x: {in}) -> ({win}, {out}, {out}) {
  %v = nd.window %x a -> t{way} value {zero} : {S} : {in} -> {win}
  %0 = nd.window %x a -> t{way} exclude : {in} -> {win}
  %1{reduceFirst}
  %2 = nd.pointwise %0 : ({win}) -> {win} {
  ^bb0(%p: {S}):
    %s = {sum} %p, %p : {S}
    nd.yield %s : {S}
  }
  %3{reduceSecond}
  return %v, %1, %3 : {win}, {out}, {out}
})",
                  values));
        hold(fill(R"(func.func @f(%x: {win}) -> {in} {
  %0 = nd.unwindow %x a -> t{way} : {win} -> {in}
  return %0 : {in}
})",
                  values));
        if (HasFailure())
          return;
      }
}

TEST_F(LowerTest, ReducesAndScans) {
  struct Kind {
    const char *type, *accumulator, *op, *neutral;
  };
  for (Kind kind :
       {Kind{"f64", "f64", "arith.addf", "0.0"}, Kind{"f32", "f32", "arith.mulf", "1.0"},
        Kind{"bf16", "f32", "arith.addf", "0.0"},
        Kind{"f16", "f32", "arith.maximumf", "0xFF800000"}, Kind{"i1", "i1", "arith.ori", "false"},
        Kind{"i8", "i8", "arith.addi", "0"}, Kind{"ui8", "i8", "arith.maxui", "0"},
        Kind{"i32", "i32", "arith.minsi", "2147483647"}, Kind{"i64", "i64", "arith.xori", "0"}})
    for (int64_t n : {0, 1, 4})
      for (int64_t m : {0, 1, 3})
        for (const char *way : {"", " exclusive", " reverse", " exclusive reverse"}) {
          Values values{{"T", kind.type},
                        {"A", kind.accumulator},
                        {"op", kind.op},
                        {"way", way},
                        {"neutral", kind.neutral == std::string("false")
                                        ? "false"
                                        : std::string(kind.neutral) + " : " + kind.accumulator},
                        {"n", std::to_string(n)},
                        {"m", std::to_string(m)}};
          values["in"] = fill("!nd.tensor<{T}, a: {n}, b: {m}>", values);
          values["out"] = fill("!nd.tensor<{T}, b: {m}>", values);
          values["code"] = fill(R"({
  ^bb0(%p: {A}, %q: {A}):
    %s = {op} %p, %q : {A}
    nd.yield %s : {A}
  })",
                                values);
          hold(fill(R"(func.func @f(%x: {in}) -> ({out}, {in}) {
  %0 = nd.reduce %x over [a] neutral [{neutral}] : ({in}) -> {out} {code}
  %1 = nd.scan %x along a{way} neutral [{neutral}] : ({in}) -> {in} {code}
  return %0, %1 : {out}, {in}
})",
                    values));
          if (HasFailure())
            return;
        }
}

TEST_F(LowerTest, MakesNumbers) {
  for (const char *n : {"0", "1", "6"}) {
    for (const std::string type : {"f64", "f32", "bf16", "i8", "i16", "i32", "i64", "ui8", "ui64"})
      hold(fill("func.func @f() -> !nd.tensor<{T}, a: {n}> {\n %0 = nd.iota a : !nd.tensor<{T}, a: "
                "{n}>\n return %0 : "
                "!nd.tensor<{T}, a: {n}>\n}",
                {{"T", type}, {"n", n}}));
    hold(fill(R"(func.func @f(%k: !nd.tensor<ui64, k: 2>) -> !nd.tensor<ui32, a: {n}, b: 3, k: 2> {
  %0 = nd.random %k by [b, a] : !nd.tensor<ui64, k: 2> -> !nd.tensor<ui32, a: {n}, b: 3, k: 2>
  return %0 : !nd.tensor<ui32, a: {n}, b: 3, k: 2>
})",
              {{"n", n}}));
    for (auto [from, to] : {std::pair("f64", "f32"),
                            {"f64", "bf16"},
                            {"f32", "bf16"},
                            {"f32", "f16"},
                            {"f16", "bf16"},
                            {"f32", "f32"}})
      hold(fill("func.func @f(%x: !nd.tensor<{T}, a: {n}>) -> !nd.tensor<{T}, a: {n}> {\n %0 = "
                "nd.round %x to {U} : "
                "!nd.tensor<{T}, a: {n}> -> !nd.tensor<{T}, a: {n}>\n return %0 : !nd.tensor<{T}, "
                "a: {n}>\n}",
                {{"T", from}, {"U", to}, {"n", n}}));
  }
}

TEST_F(LowerTest, GathersAndScatters) {
  for (const std::string type : {"f32", "bf16", "i1", "i64", "ui8"})
    for (const char *index : {"i32", "i64", "ui8"})
      for (const char *n : {"1", "4"})
        for (const char *i : {"0", "1", "3"})
          hold(fill(
              R"(func.func @f(%x: !nd.tensor<{T}, a: {n}, b: 2>, %k: !nd.tensor<{I}, i: {i}>, %u: !nd.tensor<{T}, b: 2, i: {i}>) -> (!nd.tensor<{T}, b: 2, i: {i}>, !nd.tensor<{T}, a: {n}, b: 2>) {
  %0 = nd.gather %x [a] at %k : (!nd.tensor<{T}, a: {n}, b: 2>, !nd.tensor<{I}, i: {i}>) -> !nd.tensor<{T}, b: 2, i: {i}>
  %1 = nd.scatter %u into %x [a] at %k : (!nd.tensor<{T}, a: {n}, b: 2>, !nd.tensor<{T}, b: 2, i: {i}>, !nd.tensor<{I}, i: {i}>) -> !nd.tensor<{T}, a: {n}, b: 2> {
  ^bb0(%old: {S}, %new: {S}):
    %s = {op} %old, %new : {S}
    nd.yield %s : {S}
  }
  return %0, %1 : !nd.tensor<{T}, b: 2, i: {i}>, !nd.tensor<{T}, a: {n}, b: 2>
})",
              {{"T", type},
               {"S", scalarOf(type)},
               {"I", index},
               {"n", n},
               {"i", i},
               {"op", type == "f32" || type == "bf16" ? "arith.addf" : "arith.addi"}}));
}
