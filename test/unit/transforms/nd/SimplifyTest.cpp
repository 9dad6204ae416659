//===- SimplifyTest.cpp - rules preserve the values of programs -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every example of the lit tests of `nd-simplify` has the same values afterwards, with and without
// permissions. The tests of the laws check this with random programs.
//
//===----------------------------------------------------------------------===//

#include "heddle/FastMath.h"
#include "lib/interp/Interpreter.h"
#include "lib/transforms/nd/Passes.h"

#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace mlir;

namespace {
using Values = SmallVector<interp::TensorValue>;

/// Small numbers that depend only on the coordinates; symbols are 5.
Values drawn(func::FuncOp function) {
  Values values;
  unsigned next = 0;
  for (Type formal : function.getArgumentTypes()) {
    auto type = cast<nd::NdTensorType>(formal);
    SmallVector<nd::Dim> dims;
    for (const nd::Dim &dim : type.getDims()) {
      auto five = [](const std::string &) { return std::optional(Expr(5)); };
      dims.emplace_back(type.getContext(), dim.name, dim.size().getExpr().substitute(five));
    }
    interp::TensorValue value(type.withDims(dims));
    for (interp::Scalar &scalar : value.elements) {
      next = next * 1103515245 + 12345;
      int number = int(next >> 16) % 9 - 4;
      if (auto real = dyn_cast<FloatType>(type.getElementType()))
        scalar = interp::exactly(interp::roundTo(real, number / 3.0));
      else
        scalar = interp::integer(uint64_t(number), interp::widthOf(type.getElementType()));
    }
    values.push_back(std::move(value));
  }
  return values;
}

void hold(StringRef file, ArrayRef<StringRef> words) {
  MLIRContext context;
  context.loadDialect<nd::NdDialect, nest::NestDialect, arith::ArithDialect, math::MathDialect,
                      func::FuncDialect, scf::SCFDialect>();
  auto text = llvm::MemoryBuffer::getFile(file);
  ASSERT_TRUE(bool(text)) << file.str();
  SmallVector<StringRef> modules;
  (*text)->getBuffer().split(modules, "// -----");
  int changed = 0;
  for (StringRef source : modules) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
    ASSERT_TRUE(module) << file.str();
    std::vector<Values> arguments, expected;
    OwningOpRef<ModuleOp> written(module->clone());
    if (llvm::is_contained(words, "excess-precision"))
      written->walk([](Operation *op) {
        if (isa<arith::ExtFOp, arith::TruncFOp>(op))
          nd::keepPrecision(op);
      });
    for (auto function : written->getOps<func::FuncOp>()) {
      arguments.push_back(drawn(function));
      auto values = interp::interpret(function, arguments.back());
      ASSERT_TRUE(succeeded(values)) << function.getName().str();
      expected.push_back(std::move(*values));
    }
    OperationFingerPrint before(*module);
    nd::NdSimplifyPassOptions options;
    options.verifyRules = true;
    for (StringRef word : words)
      options.fastMath.push_back(word.str());
    PassManager manager(&context);
    manager.addNestedPass<func::FuncOp>(nd::createNdSimplifyPass(std::move(options)));
    ASSERT_TRUE(succeeded(manager.run(*module))) << file.str();
    changed += OperationFingerPrint(*module) != before;
    for (auto [function, values, wanted] :
         llvm::zip_equal(module->getOps<func::FuncOp>(), arguments, expected)) {
      auto got = interp::interpret(function, values);
      ASSERT_TRUE(succeeded(got)) << function.getName().str();
      for (auto [a, b] : llvm::zip_equal(wanted, *got)) {
        interp::Comparison comparison = interp::compare(a, b);
        EXPECT_TRUE(comparison.equal())
            << file.str() << " @" << function.getName().str() << ": " << comparison.mismatch;
        EXPECT_LT(comparison.undecided, std::max<int64_t>(1, comparison.compared))
            << function.getName().str();
      }
    }
  }
  if (!words.empty())
    EXPECT_GT(changed, 0) << file.str();
}

class SimplifyTest : public testing::TestWithParam<const char *> {
protected:
  std::string path() const { return std::string(HEDDLE_LIT_TESTS "/") + GetParam() + ".mlir"; }
};
} // namespace

TEST_P(SimplifyTest, ValuesStay) { hold(path(), {}); }
TEST_P(SimplifyTest, ValuesStayWithPermissions) {
  SmallVector<StringRef> words;
  for (const FastMathWord &each : fastMathWords)
    words.push_back(each.word);
  hold(path(), words);
}
INSTANTIATE_TEST_SUITE_P(Examples, SimplifyTest,
                         testing::Values("simplify", "simplify-constants", "simplify-index-maps",
                                         "simplify-reductions", "simplify-pointwise",
                                         "simplify-products", "simplify-fast-math",
                                         "simplify-factors", "simplify-loops"));
