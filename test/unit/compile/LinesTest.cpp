//===- LinesTest.cpp - source locations of a kernel's code ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Equal nests share code, so the code refers to ops of the nest by number, and each program has the
// source locations of these ops.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "lib/target/cpu/Emit.h"
#include "lib/target/cpu/Link.h"
#include "test/unit/support/io/Files.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <set>

using namespace heddle;
using namespace heddle::test;

namespace {

/// exp(x) summed over a name, as two ops at two locations.
std::string sumOfExponentials(const std::string &exponential, const std::string &sum) {
  return R"(
func.func @f(%x: !nd.tensor<f32, row: 64, column: 100> {nd.name = "x"})
    -> (!nd.tensor<f32, row: 64> {nd.name = "y"}) {
  %e = nd.pointwise %x : (!nd.tensor<f32, row: 64, column: 100>)
      -> !nd.tensor<f32, row: 64, column: 100> {
  ^bb0(%a: f32):
    %s = math.exp %a : f32 loc("model.cpp":)" +
         exponential + R"()
    nd.yield %s : f32
  } loc("model.cpp":)" +
         exponential + R"()
  %y = nd.reduce %e over [column] neutral [0.0 : f32]
      : (!nd.tensor<f32, row: 64, column: 100>) -> !nd.tensor<f32, row: 64> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32 loc("model.cpp":)" +
         sum + R"()
    nd.yield %s : f32
  } loc("model.cpp":)" +
         sum + R"()
  return %y : !nd.tensor<f32, row: 64>
})";
}

/// The bytes of the only kernel by source location.
std::map<std::string, int64_t> bytesByPlace(const Compiled &compiled) {
  std::map<std::string, int64_t> bytes;
  for (const FunctionSpec &function : compiled.image->manifest.functions)
    for (size_t i = 0; i < function.lines.size(); ++i) {
      auto [from, place] = function.lines[i];
      int64_t end = i + 1 < function.lines.size() ? function.lines[i + 1].first : function.bytes;
      EXPECT_LT(from, end);
      bytes[function.locations[size_t(place)]] += end - from;
    }
  return bytes;
}

TEST(Lines, EachFusedOpKeepsItsOwn) {
  Compiled compiled = compile(sumOfExponentials("12:3", "20:5"));
  ASSERT_TRUE(compiled.image) << compiled.errors;
  ASSERT_EQ(compiled.statistics.kernels, 1) << "the two ops are one kernel";
  auto bytes = bytesByPlace(compiled);
  EXPECT_EQ(bytes.size(), 2u);
  EXPECT_GT(bytes["model.cpp:12:3"], bytes["model.cpp:20:5"])
      << "an exponential is longer than a sum";
  EXPECT_GT(bytes["model.cpp:20:5"], 0);
}

TEST(Lines, CachedCodeHasThoseOfWhoUsesIt) {
  TemporaryDirectory around;
  CompileOptions options = plainOptions();
  options.useCache = true;
  options.cacheDirectory = around / "cache";
  Compiled first = compile(sumOfExponentials("12:3", "20:5"), options);
  Compiled second = compile(sumOfExponentials("7:1", "3:9"), options);
  ASSERT_TRUE(first.image && second.image) << first.errors << second.errors;
  EXPECT_EQ(second.statistics.cachedKernels, second.statistics.kernels);
  EXPECT_TRUE(first.image->code == second.image->code);
  auto before = bytesByPlace(first), after = bytesByPlace(second);
  EXPECT_EQ(after.size(), 2u);
  EXPECT_EQ(after["model.cpp:7:1"], before["model.cpp:12:3"]);
  EXPECT_EQ(after["model.cpp:3:9"], before["model.cpp:20:5"]);
}

TEST(Lines, FilesKeepThem) {
  Compiled compiled = compile(sumOfExponentials("12:3", "20:5"));
  ASSERT_TRUE(compiled.image) << compiled.errors;
  const Manifest &manifest = compiled.image->manifest;
  std::string error;
  auto again = Manifest::fromJson(manifest.toJson(), error);
  ASSERT_TRUE(again) << error;
  ASSERT_EQ(again->functions.size(), manifest.functions.size());
  for (size_t i = 0; i < manifest.functions.size(); ++i) {
    EXPECT_EQ(again->functions[i].locations, manifest.functions[i].locations);
    EXPECT_EQ(again->functions[i].lines, manifest.functions[i].lines);
  }
}

TEST(Lines, OfOneOpAreNotListed) {
  Compiled compiled = compile(sumOfExponentials("12:3", "12:3"));
  ASSERT_TRUE(compiled.image) << compiled.errors;
  EXPECT_TRUE(bytesByPlace(compiled).empty());
  EXPECT_EQ(compiled.image->manifest.functions.at(0).location, "model.cpp:12:3");
}

/// `fast` decides whether a divisor is checked; its two sides are on lines of their own.
const char *const branches = R"(
llvm.func @f(%n: i64 loc("ops":1:0), %p: !llvm.ptr loc("ops":1:0)) {
  %zero = llvm.mlir.constant(0 : i64) : i64 loc("ops":1:0)
  %one = llvm.mlir.constant(1 : i64) : i64 loc("ops":2:0)
  llvm.br ^loop(%zero : i64) loc("ops":2:0)
^loop(%i: i64 loc("ops":1:0)):
  %at = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32 loc("ops":3:0)
  %x = llvm.load %at : !llvm.ptr -> f32 loc("ops":3:0)
  %y = llvm.fmul %x, %x : f32 loc("ops":4:0)
  %z = llvm.fdiv %y, %x : f32 loc("ops":5:0)
  llvm.store %z, %at : f32, !llvm.ptr loc("ops":6:0)
  %next = llvm.add %i, %one : i64 loc("ops":7:0)
  %more = llvm.icmp "slt" %next, %n : i64 loc("ops":7:0)
  llvm.cond_br %more, ^loop(%next : i64), ^end loc("ops":7:0)
^end:
  llvm.return loc("ops":8:0)
} loc("ops":1:0))";

TEST(Lines, ChangeNoCode) {
  auto target = cpu::targetFor("haswell");
  ASSERT_TRUE(bool(target));
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto build = [&](bool lines) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(branches, &context);
    mlir::PassManager passes(&context);
    if (lines)
      passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass());
    EXPECT_TRUE(mlir::succeeded(passes.run(*module)));
    auto object = cpu::emitObject(*module, *target);
    EXPECT_TRUE(bool(object));
    auto block = cpu::link({{"f", *object}});
    EXPECT_TRUE(bool(block));
    return *block;
  };
  ProgramCode plain = build(false), told = build(true);
  EXPECT_TRUE(plain.bytes == told.bytes);
  EXPECT_TRUE(plain.functions.at(0).lines.empty());
  std::set<uint32_t> lines;
  for (auto [offset, line] : told.functions.at(0).lines)
    lines.insert(line);
  for (uint32_t line : {3, 4, 5, 6, 7})
    EXPECT_TRUE(lines.count(line)) << line;
}

} // namespace
