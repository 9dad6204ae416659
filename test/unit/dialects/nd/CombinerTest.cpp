//===- CombinerTest.cpp - the combiners that have a name ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {

class Combiners : public ::testing::Test {
protected:
  Combiners() : builder(&context), loc(builder.getUnknownLoc()) {
    context.loadDialect<NdDialect, arith::ArithDialect>();
  }
  /// Folds the one op of the combiner on two constants; null if it does not fold.
  Attribute apply(Region &region, Attribute a, Attribute b) {
    SmallVector<OpFoldResult> results;
    if (failed(region.front().front().fold({a, b}, results)) || results.size() != 1)
      return {};
    if (auto value = dyn_cast<Value>(results[0]))
      return value == region.getArgument(0) ? a : b;
    return cast<Attribute>(results[0]);
  }

  MLIRContext context;
  OpBuilder builder;
  Location loc;
};

constexpr CombinerKind all[] = {CombinerKind::Add, CombinerKind::Mul, CombinerKind::Max,
                                CombinerKind::Min, CombinerKind::And, CombinerKind::Or,
                                CombinerKind::Xor};
constexpr CombinerKind ofFloats[] = {CombinerKind::Add, CombinerKind::Mul, CombinerKind::Max,
                                     CombinerKind::Min};

TEST_F(Combiners, AreRecognised) {
  for (Type type :
       {Type(builder.getI64Type()), Type(builder.getI8Type()), Type(builder.getF32Type())})
    for (CombinerKind kind : isa<FloatType>(type) ? ArrayRef(ofFloats) : ArrayRef(all))
      for (bool isSigned : {true, false}) {
        Region region;
        buildCombiner(builder, loc, region, kind, type, "nd.yield", isSigned);
        bool found;
        EXPECT_EQ(combinerKind(region, &found), kind);
        if (isa<IntegerType>(type) && (kind == CombinerKind::Max || kind == CombinerKind::Min)) {
          EXPECT_EQ(found, isSigned);
        }
      }
}

TEST_F(Combiners, NeutralElementsChangeNothing) {
  for (Type type :
       {Type(builder.getI64Type()), Type(builder.getI8Type()), Type(builder.getF32Type())})
    for (CombinerKind kind : isa<FloatType>(type) ? ArrayRef(ofFloats) : ArrayRef(all))
      for (bool isSigned : {true, false})
        for (int number : {-7, 0, 100}) {
          Region region;
          TypedAttr neutral = buildCombiner(builder, loc, region, kind, type, "nd.yield", isSigned);
          EXPECT_EQ(neutral, neutralElement(kind, type, isSigned));
          Attribute value = isa<FloatType>(type) ? Attribute(builder.getFloatAttr(type, number))
                                                 : builder.getIntegerAttr(type, number);
          EXPECT_EQ(apply(region, neutral, value), value) << spelling(kind).str() << " " << number;
        }
}

TEST_F(Combiners, HaveSpellings) {
  for (CombinerKind kind : all)
    EXPECT_EQ(parseCombinerKind(spelling(kind)), kind);
  EXPECT_EQ(spelling(CombinerKind::General), "general");
  EXPECT_EQ(parseCombinerKind("sum"), std::nullopt);
}

TEST_F(Combiners, AnythingElseIsGeneral) {
  Type type = builder.getF32Type();
  {
    Region region; // the same argument twice
    Block *block = builder.createBlock(&region, {}, {type, type}, {loc, loc});
    Value sum = arith::AddFOp::create(builder, loc, block->getArgument(0), block->getArgument(0));
    YieldOp::create(builder, loc, sum);
    EXPECT_EQ(combinerKind(region), CombinerKind::General);
  }
  {
    Region region; // does not yield the op's result
    Block *block = builder.createBlock(&region, {}, {type, type}, {loc, loc});
    arith::AddFOp::create(builder, loc, block->getArgument(0), block->getArgument(1));
    YieldOp::create(builder, loc, block->getArgument(0));
    EXPECT_EQ(combinerKind(region), CombinerKind::General);
  }
  {
    Region region; // an op without a name here
    Block *block = builder.createBlock(&region, {}, {type, type}, {loc, loc});
    Value difference =
        arith::SubFOp::create(builder, loc, block->getArgument(0), block->getArgument(1));
    YieldOp::create(builder, loc, difference);
    EXPECT_EQ(combinerKind(region), CombinerKind::General);
  }
  Region empty;
  EXPECT_EQ(combinerKind(empty), CombinerKind::General);
}

// The verifier visits a reduction before the ops in it, so their attributes may be
// invalid.
TEST_F(Combiners, OfInvalidOpsAreRefused) {
  std::string errors;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { errors += diagnostic.str() + "\n"; });
  context.loadDialect<func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @largest(%x: !nd.tensor<f32, n: 4>) -> !nd.tensor<f32> {
      %y = nd.reduce %x over [n] neutral [0xFF800000 : f32] : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32> {
      ^bb0(%a: f32, %b: f32):
        %c = arith.cmpf ogt, %a, %b : f32
        %r = arith.select %c, %a, %b : f32
        nd.yield %r : f32
      }
      return %y : !nd.tensor<f32>
    })",
                                                             &context);
  ASSERT_TRUE(module) << errors;
  EXPECT_TRUE(succeeded(verify(*module))) << errors;
  module->walk([](arith::CmpFOp op) { op.getProperties().predicate = {}; });
  EXPECT_TRUE(failed(verify(*module)));
  EXPECT_EQ(errors, "'arith.cmpf' op requires attribute 'predicate'\n");
}

} // namespace
