//===- InsertCopies.cpp - copies between steps ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/InsertCopies.h"

#include "dialects/mesh/MeshDialect.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Layouts.h"
#include "lib/transforms/nest/Rewrite.h"
#include "lib/transforms/nest/prepare/PrepareSteps.h"

using namespace heddle;
using namespace mlir;

Layout heddle::layoutOfMessage(Operation *op) {
  if (auto stated = op->getAttrOfType<ArrayAttr>("layouts"))
    return cast<nest::LayoutAttr>(stated[0]).getLayout();
  return nest::sortedLayout(op->getParentOfType<func::FuncOp>(),
                            nd::tensorType(cast<mesh::MessageInterface>(op).getMoved()));
}

static nest::LayoutAttr attributeOf(Operation *op, const Layout &layout) {
  return nest::LayoutAttr::get(op->getContext(), layout);
}

/// Makes `operand` refer to a copy of its value, which precedes `op`.
static nest::ComputeOp copyOperand(Operation *op, OpOperand &operand, const Layout &layout) {
  OpBuilder builder(op);
  nest::ComputeOp copy = nest::createCopy(builder, operand.get());
  copy.setLayout(0, attributeOf(copy, layout));
  operand.set(copy.getResult(0));
  return copy;
}

static void copyIfOther(Operation *op, OpOperand &operand, const Layout &layout) {
  if (nest::layoutOf(operand.get()) != layout)
    copyOperand(op, operand, layout);
}

/// Writes layouts that follow from what happens to the values, which is about to change.
static void stateLayouts(func::FuncOp function) {
  for (Operation &op : function.front())
    if (auto laid = dyn_cast<nest::LaidOutInterface>(op);
        laid && !isa<mesh::MessageInterface>(op)) {
      auto layouts = llvm::map_to_vector(op.getResults(), [&](Value value) -> Attribute {
        return attributeOf(&op, nest::layoutOf(value));
      });
      laid.setLayoutsAttr(ArrayAttr::get(op.getContext(), layouts));
    }
}

/// A side of a branch copies the operands that it needs in another layout itself.
static void copyInside(func::FuncOp side, unsigned number, const Layout &given) {
  BlockArgument argument = side.getArgument(number);
  Layout needed = nest::layoutOf(argument);
  if (needed == given)
    return;
  side.setArgAttr(number, "nd.layout", attributeOf(side, given));
  OpBuilder start = OpBuilder::atBlockBegin(&side.front());
  nest::ComputeOp copy = nest::createCopy(start, argument);
  copy.setLayout(0, attributeOf(copy, needed));
  argument.replaceAllUsesExcept(copy->getResult(0), copy);
}

static void copyIn(func::FuncOp function);

static void copyAround(nest::ControlOp op) {
  SmallVector<Attribute> results; // layouts
  for (auto symbol : op.getFunctions().getAsRange<FlatSymbolRefAttr>()) {
    auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
    for (BlockArgument argument : function.getArguments()) {
      unsigned i = argument.getArgNumber();
      OpOperand &operand = op->getOpOperand(op.isLoop() ? i : i + 1);
      if (!op.isLoop()) {
        copyInside(function, i, nest::layoutOf(operand.get()));
      } else if (i >= op.getNumResults()) {
        copyIfOther(op, operand, nest::layoutOf(argument));
      } else {
        results.push_back(attributeOf(op, nest::layoutOf(argument)));
        copyOperand(op, operand, nest::layoutOf(argument))
            ->setAttr(nest::phiCopyAttrName, UnitAttr::get(op.getContext()));
      }
    }
    copyIn(function);
    Operation *end = function.front().getTerminator();
    for (OpOperand &operand : end->getOpOperands()) {
      unsigned i = operand.getOperandNumber();
      if (i == results.size()) // the first side decides
        results.push_back(attributeOf(op, nest::layoutOf(operand.get())));
      function.setResultAttr(i, "nd.layout", results[i]);
      copyOperand(end, operand, cast<nest::LayoutAttr>(results[i]).getLayout());
    }
  }
  op.setLayoutsAttr(ArrayAttr::get(op.getContext(), results));
}

static void copyIn(func::FuncOp function) {
  stateLayouts(function);
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (auto control = dyn_cast<nest::ControlOp>(op))
      copyAround(control);
    else if (isa<nest::TransferInterface>(op))
      copyIfOther(&op, op.getOpOperand(0), nest::layoutOf(op.getResult(0)));
    else if (auto message = dyn_cast<mesh::MessageInterface>(op); message && message.sends())
      copyIfOther(&op, op.getOpOperand(0), layoutOfMessage(&op));
  }
}

void heddle::insertCopies(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() && function.getBody().hasOneBlock())
      copyIn(function);
}
