//===- ExpandTest.cpp - ops that expand themselves ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `nd-expand` replaces ops of extensions. The tests let `nd.after` be such an op, which expands to
// what a test says.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/Expand.h"

#include "dialects/nd/Nd.h"
#include "dialects/nest/Nest.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace mlir;

namespace {
std::function<Value(OpBuilder &, nd::AfterOp)> expansion;

struct ExpandsAsTold : nd::ExpandInterface::ExternalModel<ExpandsAsTold, nd::AfterOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder, SmallVectorImpl<Value> &results) const {
    results.push_back(expansion(builder, cast<nd::AfterOp>(op)));
    return success();
  }
};

/// Runs the pass on a function with two such ops, and returns the function or the first error.
std::string expanded() {
  MLIRContext context;
  context.loadDialect<nd::NdDialect, nest::NestDialect, func::FuncDialect>();
  nd::AfterOp::attachInterface<ExpandsAsTold>(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: !nd.tensor<f32, k: 4>, %y: !nd.tensor<f32, j: 2>) -> !nd.tensor<f32, k: 4> {
      %0 = nd.after %x, %y : !nd.tensor<f32, k: 4>, !nd.tensor<f32, j: 2>
      %1 = nd.after %0, %y : !nd.tensor<f32, k: 4>, !nd.tensor<f32, j: 2>
      return %1 : !nd.tensor<f32, k: 4>
    })",
                                                             &context);
  std::string text;
  llvm::raw_string_ostream stream(text);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (text.empty())
      stream << diagnostic;
  });
  PassManager passes(&context);
  passes.addPass(nd::createNdExpandPass());
  if (module && succeeded(passes.run(*module)))
    module->print(stream);
  return text;
}
} // namespace

TEST(Expand, ReplacesEachOp) {
  expansion = [](OpBuilder &, nd::AfterOp op) { return op.getInput(); };
  std::string text = expanded();
  EXPECT_EQ(text.find("nd.after"), std::string::npos) << text;
  EXPECT_NE(text.find("return %arg0"), std::string::npos) << text;
}

TEST(Expand, ReplacesOpsOfAnExpansion) {
  int more = 3; // of these ops expand to another one
  expansion = [&](OpBuilder &builder, nd::AfterOp op) {
    return more-- > 0 ? builder.clone(*op)->getResult(0) : op.getInput();
  };
  std::string text = expanded();
  EXPECT_EQ(more, -2);
  EXPECT_EQ(text.find("nd.after"), std::string::npos) << text;
}

TEST(Expand, RefusesValuesOfOtherTypes) {
  expansion = [](OpBuilder &, nd::AfterOp op) { return op->getOperand(1); };
  EXPECT_EQ(expanded(), "'nd.after' op expected to be expanded to values of type "
                        "'!nd.tensor<f32, k: 4>', got '!nd.tensor<f32, j: 2>'");
}

TEST(Expand, RefusesAnOpThatExpandsToItself) {
  expansion = [](OpBuilder &builder, nd::AfterOp op) { return builder.clone(*op)->getResult(0); };
  EXPECT_EQ(expanded(), "'nd.after' op expands to ops that expand again, without end");
}
