//===- SplitChecks.cpp - moves checks out of a program --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "dialects/check/Check.h"

#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::run;
using namespace mlir;

/// Moves the checks of `function` to a function of the same name at the end of `checks`.
static void split(func::FuncOp function, ModuleOp checks) {
  SmallVector<Operation *> ops;
  llvm::SetVector<Value> seen;
  for (Operation &op : function.front())
    if (isa<check::CheckDialect>(op.getDialect())) {
      ops.push_back(&op);
      seen.insert(op.operand_begin(), op.operand_end());
    }
  if (ops.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockEnd(checks.getBody());
  SmallVector<Value> values = llvm::to_vector(seen);
  SmallVector<Type> types = llvm::to_vector(ValueRange(values).getTypes());
  auto taker = func::FuncOp::create(builder, function.getLoc(), function.getName(),
                                    builder.getFunctionType(types, {}));
  Block *block = taker.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  IRMapping mapping;
  mapping.map(values, block->getArguments());
  for (Operation *op : ops) {
    builder.clone(*op, mapping);
    op->erase();
  }
  func::ReturnOp::create(builder, function.getLoc());

  SmallVector<Type> results(function.getResultTypes());
  results.append(types);
  for (size_t i = function.getNumResults(); i < results.size(); ++i)
    (void)function.insertResult(unsigned(i), results[i], {});
  Operation *end = function.front().getTerminator();
  end->insertOperands(end->getNumOperands(), values);
}

FailureOr<SplitModule> run::splitChecks(ModuleOp module) {
  SplitModule result{module.clone(), ModuleOp::create(module.getLoc())};
  llvm::DenseSet<Attribute> named; // functions whose results other ops use
  result.program->walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](FlatSymbolRefAttr symbol) { named.insert(symbol); });
  });
  for (auto function : result.program->getOps<func::FuncOp>())
    if (function.isPublic() && !function.isDeclaration() &&
        !named.contains(FlatSymbolRefAttr::get(function)))
      split(function, *result.checks);
  WalkResult left = result.program->walk([](Operation *op) {
    if (!isa_and_nonnull<check::CheckDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError() << "can only be checked by the interpreter here; expected it in the body "
                         "of a public function that no other one calls";
    return WalkResult::interrupt();
  });
  if (left.wasInterrupted())
    return failure();
  return result;
}
