//===- BuildTest.cpp - ops with inferred types ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {

/// A function to build into, and the diagnostics so far.
class NdBuild : public ::testing::Test {
protected:
  NdBuild()
      : builder(&context), loc(builder.getUnknownLoc()),
        handler(&context, [this](Diagnostic &diagnostic) { errors += diagnostic.str() + "\n"; }) {
    context.loadDialect<NdDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
    module = ModuleOp::create(loc);
    f32 = builder.getF32Type();
    i64 = builder.getI64Type();
  }

  Dim dim(StringRef name, const Expr &size) { return Dim(&context, name, size); }
  NdTensorType type(Type element, ArrayRef<Dim> dims) { return NdTensorType::get(element, dims); }

  /// Starts function `name`; its arguments are the values returned.
  SmallVector<Value> begin(StringRef name, ArrayRef<NdTensorType> arguments) {
    builder.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> inputs(arguments.begin(), arguments.end());
    function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(inputs, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    return SmallVector<Value>(block->getArguments());
  }
  /// Ends it with these results, and verifies everything.
  void end(ValueRange results = {}) {
    func::ReturnOp::create(builder, loc, results);
    function.setFunctionType(
        builder.getFunctionType(function.getArgumentTypes(), results.getTypes()));
    EXPECT_TRUE(succeeded(verify(*module))) << errors;
    EXPECT_EQ(errors, "");
  }
  std::string text(Value value) {
    std::string out;
    llvm::raw_string_ostream stream(out);
    stream << value.getType();
    return out;
  }

  MLIRContext context;
  OpBuilder builder;
  Location loc;
  std::string errors;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Type f32, i64;
};

TEST_F(NdBuild, TypesAreSets) {
  NdTensorType a = type(f32, {dim("row", 3), dim("column", Expr::name("N"))});
  NdTensorType b = type(f32, {dim("column", Expr::name("N")), dim("row", 3)});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.elements(), -1);
  EXPECT_EQ(type(f32, {dim("row", 3), dim("column", 4)}).elements(), 12);
  EXPECT_TRUE(a.has("row"));
  EXPECT_FALSE(a.has("depth"));
  EXPECT_EQ(a.size("row").constant(), 3);
}

TEST_F(NdBuild, InfersEveryOp) {
  NdTensorType image = type(f32, {dim("batch", 2), dim("row", 8)});
  Type ui64 = builder.getIntegerType(64, false);
  SmallVector<Value> arguments =
      begin("f", {image, type(f32, {dim("channel", 3)}), type(ui64, {}), type(i64, {dim("p", 5)})});
  Value x = arguments[0], c = arguments[1], key = arguments[2], index = arguments[3];

  EXPECT_EQ(text(buildZero(builder, loc, image)), text(x));
  EXPECT_EQ(text(buildIota(builder, loc, dim("row", 8), i64)), "!nd.tensor<i64, row: 8>");
  EXPECT_EQ(text(buildRandom(builder, loc, key, {dim("row", 8)})), "!nd.tensor<ui32, row: 8>");
  auto literal = DenseElementsAttr::get(RankedTensorType::get({1, 2}, f32), ArrayRef<float>{1, 2});
  EXPECT_EQ(text(buildConstant(builder, loc, f32, literal, {"row", "column"})),
            "!nd.tensor<f32, column: 2, row: 1>");

  Value outer = mul(builder, loc, x, c);
  EXPECT_EQ(text(outer), "!nd.tensor<f32, batch: 2, channel: 3, row: 8>");
  EXPECT_TRUE(outer.getDefiningOp<PointwiseOp>().getCrossed());
  Value sum = add(builder, loc, outer, sub(builder, loc, x, neg(builder, loc, x)));
  EXPECT_FALSE(sum.getDefiningOp<PointwiseOp>().getCrossed());

  EXPECT_EQ(text(buildReduce(builder, loc, outer, {"row", "batch"}, CombinerKind::Max)),
            "!nd.tensor<f32, channel: 3>");
  EXPECT_EQ(text(buildSumTo(builder, loc, outer, image)), text(x));
  EXPECT_EQ(text(buildScan(builder, loc, x, "row", CombinerKind::Add, true, true)), text(x));
  EXPECT_EQ(text(buildRound(builder, loc, x, builder.getBF16Type())), text(x));

  WindowShape shape{"row", "ky", 3, 2, 1, 1, 1};
  Value window = buildWindow(builder, loc, x, shape);
  EXPECT_EQ(text(window), "!nd.tensor<f32, batch: 2, ky: 3, row: 4>");
  EXPECT_EQ(text(buildUnwindow(builder, loc, window, shape, 8)), text(x));
  EXPECT_EQ(text(buildSlice(builder, loc, x, "row", 1, 3, 2)), "!nd.tensor<f32, batch: 2, row: 3>");
  EXPECT_EQ(text(buildPad(builder, loc, x, "row", 1, 2, 1)), "!nd.tensor<f32, batch: 2, row: 18>");
  EXPECT_EQ(text(buildConcat(builder, loc, {x, x}, "row")), "!nd.tensor<f32, batch: 2, row: 16>");
  Value split = buildSplit(builder, loc, x, "row", {dim("outer", 2), dim("inner", 4)});
  EXPECT_EQ(text(split), "!nd.tensor<f32, batch: 2, inner: 4, outer: 2>");
  EXPECT_EQ(text(buildMerge(builder, loc, split, {"outer", "inner"}, "row")), text(x));
  EXPECT_EQ(text(buildRename(builder, loc, x, {"row"}, {"r"})), "!nd.tensor<f32, batch: 2, r: 8>");
  EXPECT_EQ(text(buildBroadcast(builder, loc, x, {dim("row", 8), dim("n", 7)})),
            "!nd.tensor<f32, batch: 2, n: 7, row: 8>");

  Value gathered = buildGather(builder, loc, x, {"row"}, index);
  EXPECT_EQ(text(gathered), "!nd.tensor<f32, batch: 2, p: 5>");
  EXPECT_EQ(text(buildScatter(builder, loc, x, gathered, {"row"}, index, CombinerKind::Add)),
            text(x));
  EXPECT_EQ(text(buildScatter(
                builder, loc, x, gathered, {"row"}, index,
                [](OpBuilder &, ValueRange s) { return s[1]; }, true)),
            text(x));
  end(sum);
}

TEST_F(NdBuild, WhatChangesNothingIsNotBuilt) {
  Value x = begin("f", {type(f32, {dim("row", 8)})})[0];
  EXPECT_EQ(buildReduce(builder, loc, x, {}, CombinerKind::Add), x);
  EXPECT_EQ(buildRename(builder, loc, x, {"row"}, {"row"}), x);
  EXPECT_EQ(buildBroadcast(builder, loc, x, {dim("row", 8)}), x);
  EXPECT_EQ(buildCast(builder, loc, x, f32), x);
  EXPECT_EQ(buildSumTo(builder, loc, x, tensorType(x)), x);
  end();
}

TEST_F(NdBuild, MistakesAreReportedWithBothNameSets) {
  SmallVector<Value> arguments = begin("f", {type(f32, {dim("row", 8), dim("batch", 2)}),
                                             type(f32, {dim("row", 9), dim("batch", 2)})});
  EXPECT_FALSE(add(builder, loc, arguments[0], arguments[1]));
  EXPECT_EQ(errors,
            "the name 'row' has size 8 in {batch: 2, row: 8} and size 9 in {batch: 2, row: 9}\n");
  errors.clear();
  EXPECT_FALSE(buildReduce(builder, loc, arguments[0], {"depth"}, CombinerKind::Add));
  EXPECT_EQ(errors, "unknown name 'depth'; the tensor has {batch: 2, row: 8}\n");
  errors.clear();
  EXPECT_TRUE(buildReduce(builder, loc, {arguments[0]}, {"row", "row"},
                          {neutralElement(CombinerKind::Add, f32)},
                          [](OpBuilder &, ValueRange s) { return SmallVector<Value>{s[0]}; })
                  .empty());
  EXPECT_EQ(errors, "the name 'row' is listed twice\n");
}

TEST_F(NdBuild, OuterProductsNeedAWord) {
  NdTensorType row = type(f32, {dim("row", 3)}), column = type(f32, {dim("column", 2)}),
               both = type(f32, {dim("row", 3), dim("column", 2)}), scalar = type(f32, {});
  EXPECT_TRUE(isCrossed({row, column}));
  EXPECT_FALSE(isCrossed({row, column, both}));
  EXPECT_FALSE(isCrossed({scalar, column}));
  EXPECT_FALSE(isCrossed({scalar, scalar}));
  EXPECT_FALSE(isCrossed({}));
  auto report = [&] { return emitError(loc); };
  EXPECT_TRUE(failed(inferPointwise(f32, {row, column}, /*crossed=*/false, report)));
  EXPECT_TRUE(StringRef(errors).starts_with(
      "expected operands that share a name, got {row: 3} and {column: 2}"));
  EXPECT_EQ(*inferPointwise(f32, {row, column}, /*crossed=*/true, report), both);
}

TEST_F(NdBuild, ReductionsOfNarrowFloatsAccumulateWide) {
  Value x = begin("f", {type(builder.getBF16Type(), {dim("row", 8)})})[0];
  Value sum = buildReduce(builder, loc, x, {"row"}, CombinerKind::Add);
  EXPECT_EQ(text(sum), "!nd.tensor<bf16>");
  auto neutral = cast<TypedAttr>(sum.getDefiningOp<ReduceOp>().getNeutral()[0]);
  EXPECT_TRUE(neutral.getType().isF32());
  end();
}

TEST_F(NdBuild, CastsBetweenAllElementTypes) {
  SmallVector<Type> elements{builder.getF16Type(),
                             builder.getBF16Type(),
                             f32,
                             builder.getF64Type(),
                             builder.getI1Type(),
                             builder.getIntegerType(8),
                             i64,
                             builder.getIntegerType(8, false),
                             builder.getIntegerType(64, false)};
  for (auto [i, from] : llvm::enumerate(elements))
    for (auto [j, to] : llvm::enumerate(elements)) {
      Value x = begin("f" + std::to_string(i * 100 + j), {type(from, {dim("row", 3)})})[0];
      Value cast = buildCast(builder, loc, x, to);
      EXPECT_EQ(tensorType(cast).getElementType(), to);
      end(cast);
    }
}

TEST_F(NdBuild, NumbersHaveTheBitsOfTheirType) {
  EXPECT_EQ(cast<IntegerAttr>(numberAttr(builder.getIntegerType(8), -1)).getValue(), APInt(8, 255));
  EXPECT_EQ(cast<FloatAttr>(numberAttr(f32, 0.5)).getValueAsDouble(), 0.5);
}

TEST_F(NdBuild, CallsLiftTheCallee) {
  Expr k = Expr::name("K");
  SmallVector<Value> formals = begin("dot", {type(f32, {dim("k", k)}), type(f32, {dim("k", k)})});
  end(buildReduce(builder, loc, mul(builder, loc, formals[0], formals[1]), {"k"},
                  CombinerKind::Add));
  func::FuncOp callee = function;

  SmallVector<Value> arguments =
      begin("f", {type(f32, {dim("k", 4), dim("m", 2)}), type(f32, {dim("k", 4), dim("n", 3)}),
                  type(f32, {dim("k", 5)})});
  SmallVector<Value> results = buildCall(builder, loc, callee, {arguments[0], arguments[1]});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(text(results[0]), "!nd.tensor<f32, m: 2, n: 3>");
  EXPECT_TRUE(buildCall(builder, loc, callee, {arguments[0], arguments[2]}).empty());
  EXPECT_EQ(errors, "expected size 4 for 'k' of {k: K}, got 5 in {k: 5}\n");
  errors.clear();
  end(results);
}

} // namespace
