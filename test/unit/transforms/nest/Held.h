//===- Held.h - tests passes against the oracle -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Held` runs passes on a module; after each the verifier must succeed and the oracle must give the
// values of the original module, within the error bounds.
//
//     Held held(module, random);
//     held.pass(createConvertNdToNestPass());
//     held.pass(nest::createNestFusePass());
//     EXPECT_EQ(held.nests(), 2);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_TRANSFORMS_NEST_HELD_H
#define HEDDLE_TEST_UNIT_TRANSFORMS_NEST_HELD_H

#include "dialects/nest/Nest.h"
#include "lib/interp/Interpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <random>

namespace heddle {

inline void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<nd::NdDialect, nest::NestDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect, mlir::func::FuncDialect>();
}

class Held {
public:
  /// `indices`: integers are drawn from [0, indices).
  Held(mlir::ModuleOp module, llvm::StringRef function, bool positive = false, int indices = 4)
      : module(module), name(function) {
    std::mt19937 random(7);
    auto func = module.lookupSymbol<mlir::func::FuncOp>(name);
    for (mlir::Type type : func.getArgumentTypes()) {
      interp::TensorValue value(llvm::cast<nd::NdTensorType>(type));
      for (interp::Scalar &element : value.elements)
        if (llvm::isa<mlir::FloatType>(value.elementType()))
          // Few bits, so that every float type represents the number.
          element = interp::exactly(double(int(random() % 33) - (positive ? -4 : 16)) / 8);
        else
          element.bits = random() % unsigned(std::max(1, indices));
      arguments.push_back(std::move(value));
    }
    before = run();
  }

  /// True if the pass ran and the values are the same.
  bool pass(std::unique_ptr<mlir::Pass> pass) {
    std::string argument = pass->getArgument().str();
    bool isOfModule = pass->getOpName() && *pass->getOpName() == "builtin.module";
    mlir::PassManager manager(module.getContext());
    if (isOfModule || !pass->getOpName())
      manager.addPass(std::move(pass));
    else
      manager.addNestedPass<mlir::func::FuncOp>(std::move(pass));
    if (failed(manager.run(module))) {
      ADD_FAILURE() << argument << " failed on\n" << text();
      return false;
    }
    auto after = run();
    EXPECT_EQ(after.size(), before.size()) << argument;
    if (after.size() != before.size())
      return false;
    for (size_t i = 0; i < after.size(); ++i) {
      interp::Comparison result = interp::compare(before[i], after[i]);
      EXPECT_TRUE(result.equal()) << "result " << i << " after " << argument << ": "
                                  << result.mismatch << "\n"
                                  << text();
      if (!result.equal())
        return false;
    }
    return true;
  }

  int nests() {
    int count = 0;
    module.lookupSymbol<mlir::func::FuncOp>(name).walk([&](mlir::Operation *op) {
      count +=
          llvm::isa<nest::ComputeOp, nest::UpdateOp, nest::ScanOp, nest::SortOp, nest::GroupOp>(op);
    });
    return count;
  }

  std::string text() {
    std::string all;
    llvm::raw_string_ostream(all) << module;
    return all;
  }

private:
  mlir::ModuleOp module;
  std::string name;
  std::vector<interp::TensorValue> arguments;
  llvm::SmallVector<interp::TensorValue> before;

  llvm::SmallVector<interp::TensorValue> run() {
    auto results = interp::interpret(module.lookupSymbol<mlir::func::FuncOp>(name), arguments);
    EXPECT_TRUE(succeeded(results)) << text();
    return succeeded(results) ? *results : llvm::SmallVector<interp::TensorValue>();
  }
};

} // namespace heddle

#endif // HEDDLE_TEST_UNIT_TRANSFORMS_NEST_HELD_H
