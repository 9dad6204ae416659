//===- PrepareSteps.cpp - makes each nest a step --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/prepare/PrepareSteps.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/analysis/Nesting.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Creates a nest that copies a value.
ComputeOp nest::createCopy(OpBuilder &builder, Value value) {
  auto type = tensorType(value);
  NestBuilder copy(builder, value.getLoc());
  copy.produced = type.getDims();
  copy.read(value, MapAttr::identity(type));
  auto op = copy.create({type.getElementType()}, [](OpBuilder &, Location, ValueRange read) {
    return SmallVector<Value>(read);
  });
  op->setAttr("heddle.name", builder.getStringAttr("copy"));
  return op;
}

/// Makes a function, group or scan return each value once, and no values defined outside, literals
/// or results of a branch or loop: these are copied. A group or scan also copies the result of an
/// update, which may reuse the buffer of its destination.
static void makeResultsDistinct(Operation *end) {
  bool isFunction = isa<func::FuncOp>(end->getParentOp());
  llvm::DenseSet<Value> seen;
  for (OpOperand &operand : end->getOpOperands()) {
    Value value = operand.get();
    if (!isa<nd::NdTensorType>(value.getType()))
      continue;
    Operation *maker = value.getDefiningOp();
    bool isControl = isa_and_nonnull<ControlOp>(maker);
    if (maker && maker->getBlock() == end->getBlock() && !isa<nd::LiteralInterface>(maker) &&
        !isControl && (isFunction || !updatedBy(maker)) && seen.insert(value).second)
      continue;
    OpBuilder builder(end);
    ComputeOp copy = createCopy(builder, value);
    if (isControl)
      copy->setAttr(phiCopyAttrName, builder.getUnitAttr());
    operand.set(copy.getResult(0));
  }
}

void nest::copyYielded(Operation *root) {
  root->walk([](Operation *op) {
    if (isa<HoldsNestsInterface>(op))
      makeResultsDistinct(op->getRegion(0).front().getTerminator());
  });
}

bool nest::isFilled(nd::LiteralInterface constant) {
  Value value = constant->getResult(0);
  nd::NdTensorType type = tensorType(value);
  return nd::splatOf(value) && !(type.isStatic() && type.elements() < 4096);
}

ComputeOp nest::createFill(OpBuilder &builder, nd::LiteralInterface constant) {
  Value value = constant->getResult(0);
  TypedAttr splat = nd::splatOf(value);
  NestBuilder fill(builder, constant.getLoc());
  fill.produced = tensorType(value).getDims();
  auto op = fill.create({tensorType(value).getElementType()},
                        [&](OpBuilder &b, Location loc, ValueRange) {
                          return SmallVector<Value>{arith::ConstantOp::create(b, loc, splat)};
                        });
  op->setAttr("heddle.name", builder.getStringAttr("fill"));
  return op;
}

/// Replaces splat literals that are large or of symbolic size by nests that fill them.
static void fillSplats(func::FuncOp function) {
  for (auto constant : llvm::make_early_inc_range(function.getOps<nd::LiteralInterface>())) {
    if (!isFilled(constant))
      continue;
    OpBuilder builder(constant);
    ComputeOp op = createFill(builder, constant);
    op.setLayoutsAttr(cast<LaidOutInterface>(constant.getOperation()).getLayoutsAttr());
    constant->getResult(0).replaceAllUsesWith(op.getResult(0));
    constant->erase();
  }
}

/// A result that reuses the buffer of an argument must be computed after all other reads of the
/// argument: moves the nest that computes it, and its users, after them.
static void delayOverwriting(func::FuncOp function) {
  Operation *end = function.front().getTerminator();
  for (BlockArgument argument : function.getArguments()) {
    auto donate = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "heddle.donate");
    if (!donate || donate.getInt() < 0 || donate.getInt() >= int64_t(end->getNumOperands()))
      continue;
    Operation *maker = end->getOperand(unsigned(donate.getInt())).getDefiningOp();
    if (!maker || !llvm::is_contained(kernelOperands(maker), argument))
      continue;
    Operation *last = maker;
    for (Operation *user : argument.getUsers()) {
      Operation *reader = function.front().findAncestorOpInBlock(*user);
      if (reader != end && last->isBeforeInBlock(reader))
        last = reader;
    }
    if (last == maker)
      continue;
    llvm::SetVector<Operation *> moved;
    moved.insert(maker);
    for (Operation *op = maker->getNextNode(); op != last->getNextNode(); op = op->getNextNode()) {
      bool depends = llvm::any_of(kernelOperands(op), [&](Value operand) {
        return operand.getDefiningOp() && moved.contains(operand.getDefiningOp());
      });
      if (depends)
        moved.insert(op);
    }
    bool legal = llvm::none_of(moved.getArrayRef().drop_front(), [&](Operation *op) {
      return llvm::is_contained(kernelOperands(op), argument) || !isMemoryEffectFree(op);
    });
    if (!legal)
      continue;
    for (Operation *op : moved) {
      op->moveAfter(last);
      last = op;
    }
  }
}

/// Gives constants that only branches and loops use, such as initial values, the layouts that their
/// functions expect.
static void layLiteralsAsGiven(func::FuncOp function) {
  for (auto constant : function.getOps<nd::LiteralInterface>()) {
    Value value = constant->getResult(0);
    auto uses = value.getUses();
    if (uses.empty() ||
        !llvm::all_of(uses, [](OpOperand &use) { return isa<ControlOp>(use.getOwner()); }))
      continue;
    auto op = cast<ControlOp>(uses.begin()->getOwner());
    auto symbol = cast<FlatSymbolRefAttr>(op.getFunctions()[0]);
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
    for (auto [argument, operand] : llvm::zip(callee.getArguments(), op.given()))
      if (operand == value)
        cast<LaidOutInterface>(constant.getOperation())
            .setLayout(0, LayoutAttr::get(op.getContext(), layoutOf(argument)));
  }
}

/// Clones functions so that every branch and loop has its own. Rejects recursion and too many ops;
/// `ops` counts those of copies.
static LogicalResult ownFunctions(func::FuncOp function, SymbolTable &symbols,
                                  llvm::SetVector<Operation *> &callers,
                                  llvm::DenseSet<Operation *> &owned, int64_t &ops) {
  callers.insert(function);
  for (auto op : function.getOps<ControlOp>()) {
    SmallVector<Attribute> own;
    for (auto name : op.getFunctions().getAsRange<FlatSymbolRefAttr>()) {
      auto callee = symbols.lookup<func::FuncOp>(name.getValue());
      if (callers.contains(callee))
        return op.emitOpError() << "is recursive: '@" << name.getValue()
                                << "' calls itself; use a loop instead";
      if (callers.size() > deepestRegion)
        return op.emitOpError() << "expected at most " << deepestRegion
                                << " branches and loops inside each other, got more";
      if (!owned.insert(callee).second) {
        callee.walk([&](Operation *) { ++ops; });
        if (ops > mostInlinedOps)
          return op.emitOpError() << "needs more than " << mostInlinedOps
                                  << " ops of branches and loops: '@" << name.getValue()
                                  << "' is called by several, and is copied for each";
        callee = callee.clone();
        symbols.insert(callee);
        owned.insert(callee);
      }
      if (failed(ownFunctions(callee, symbols, callers, owned, ops)))
        return failure();
      own.push_back(FlatSymbolRefAttr::get(callee));
    }
    op.setFunctionsAttr(ArrayAttr::get(op.getContext(), own));
  }
  callers.remove(function);
  return success();
}

LogicalResult nest::prepareSteps(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SetVector<Operation *> callers;
  llvm::DenseSet<Operation *> owned;
  int64_t ops = 0;
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.isPublic() && !function.isExternal() &&
        failed(ownFunctions(function, symbols, callers, owned, ops)))
      return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.getBody().hasOneBlock())
      continue;
    if (failed(checkLayouts(function)))
      return failure();
    layLiteralsAsGiven(function);
    fillSplats(function);
    makeResultsDistinct(function.front().getTerminator());
    copyYielded(function);
    delayOverwriting(function);
  }
  return success();
}
