//===- NestVerifyGroups.cpp - constraints of groups, scans and control ----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comments give the number of the constraint in NestOps.td that a check belongs to.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"
#include "dialects/nest/NestVerify.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static LogicalResult verifyNestRegion(Operation *op, Block &block) {
  for (Operation &inner : block.without_terminator())
    if (!isa<ScheduledInterface, HoldsNestsInterface, nd::LiteralInterface>(inner) &&
        !(isa<ScanOp>(op) &&
          (isa<arith::ConstantOp, LaidOutInterface>(inner) || inner.hasTrait<nd::Opaque>() ||
           isa_and_nonnull<nd::NdDialect, scf::SCFDialect>(inner.getDialect()))))
      return inner.emitOpError() << "is not a nest; expected only nests in '" << op->getName()
                                 << "'";
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError() << "expected a region that ends in nest.yield, got " << endOf(block);
  return success();
}

LogicalResult ScanOp::verify() {
  if (getAlong().size() != 1)
    return emitOpError() << "expected one name to run along, got " << nd::namesText(getAlong());
  nd::Dim along = *getAlong().begin();
  Block &block = getBody().front();
  if (failed(verifyNestRegion(*this, block)))
    return failure();
  SmallVector<Type> arguments(getInits().getTypes());
  for (Value read : getReads()) {
    nd::NdTensorType type = tensorType(read);
    if (type.size(along.name.getValue()) != along.size()) // c1
      return nd::operandError(*this)
             << "expected a read with '" << along.name.getValue() << ": "
             << along.size().getExpr().str() << "', got " << nd::namesText(type.getDims());
    arguments.push_back(type.without(along.name));
  }
  auto yield = cast<YieldOp>(block.back());
  if (block.getArgumentTypes() != TypeRange(arguments)) // c2
    return nd::operandError(*this) << "expected a region with arguments (" << arguments
                                   << "), got (" << block.getArgumentTypes() << ")";
  if (yield.getValues().size() != getNumResults() || getNumResults() < getInits().size()) // c2
    return yieldError(*this, yield)
           << "expected results and a region that yields as many, " << getInits().size()
           << " carried and then a slice of each output, got " << getNumResults() << " results";
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    auto type = dyn_cast<nd::NdTensorType>(value.getType());
    if (!type) // c2
      return yieldError(*this, yield) << "expected to yield named tensors, got " << value.getType();
    if (i >= getInits().size()) {
      if (type.has(along.name.getValue())) // c3
        return yieldError(*this, yield)
               << "expected slices of outputs without '" << along.name.getValue() << "', got "
               << nd::namesText(type.getDims());
      type = type.with(along);
    }
    if (type != getResult(i).getType()) // c3
      return yieldError(*this, yield)
             << "expected a result of type " << type << ", got " << getResult(i).getType();
  }
  return success();
}

SmallVector<nd::NdTensorType> ScanOp::getCopiedTypes() {
  SmallVector<nd::NdTensorType> types;
  for (unsigned end = 0; end < 2; ++end)
    for (Value init : getInits())
      types.push_back(tensorType(init));
  return types;
}

/// The names that an op iterates over.
static SmallVector<nd::DimsAttr, 2> ownNames(Operation *op) {
  if (auto compute = dyn_cast<ComputeOp>(op))
    return {compute.getProduced(), compute.getReduced()};
  if (auto update = dyn_cast<UpdateOp>(op))
    return {update.getSpace()};
  if (auto group = dyn_cast<GroupOp>(op))
    return {group.getNames()};
  return {};
}

/// An error of `op` with a note at the enclosing group.
static InFlightDiagnostic groupError(Operation *op, GroupOp group) {
  InFlightDiagnostic error = op->emitOpError();
  error.attachNote(group.getLoc())
      << "the enclosing group is over " << nd::namesText(group.getNames());
  return error;
}

LogicalResult GroupOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 0) // c2
    return emitOpError() << "expected a region without arguments, got (" << block.getArgumentTypes()
                         << ")";
  if (failed(verifyNestRegion(*this, block))) // c2
    return failure();
  // A name may be that of a size symbol, which it hides.
  WalkResult inside = block.walk([&](Operation *inner) -> WalkResult {
    for (nd::DimsAttr dims : ownNames(inner))
      for (const nd::Dim &dim : dims)
        if (getNames().contains(dim.name.getValue())) // c1
          return groupError(inner, *this) << "iterates over '" << dim.name.getValue()
                                          << "', which is a name of the enclosing group";
    return WalkResult::advance();
  });
  if (inside.wasInterrupted())
    return failure();
  auto yield = cast<YieldOp>(block.back());
  if (yield.getValues().size() != getNumResults())
    return yieldError(*this, yield)
           << "expected " << yield.getValues().size() << " results, got " << getNumResults();
  for (auto [value, result] : llvm::zip_equal(yield.getValues(), getResults())) {
    auto type = dyn_cast<nd::NdTensorType>(value.getType());
    if (!type)
      return yieldError(*this, yield) << "expected to yield named tensors, got " << value.getType();
    for (const nd::Dim &dim : getNames())
      if (type.has(dim.name.getValue())) // c3
        return yieldError(*this, yield)
               << "expected to yield tensors without '" << dim.name.getValue() << "', got "
               << nd::namesText(type.getDims());
    type = type.with(getNames().getDims());
    if (type != result.getType()) // c3
      return yieldError(*this, yield)
             << "expected a result of type " << type << ", got " << result.getType();
  }
  return verifyPoints(*this); // c4
}

LogicalResult ControlOp::verify() {
  unsigned count = getFunctions().size();
  if (count != 1 && count != 2) // c1
    return emitOpError() << "expected one function (a loop) or two (a branch), got " << count;
  auto condition = nd::NdTensorType::get(IntegerType::get(getContext(), 1), ArrayRef<nd::Dim>());
  if (getOperands().empty() || getOperand(0).getType() != condition) // c2
    return nd::operandError(*this) << "expected a condition of type " << condition << ", got "
                                   << (getOperands().empty() ? Type() : getOperand(0).getType());
  if (isLoop() && (getNumResults() > getNumOperands() ||
                   getResultTypes() != getOperands().take_front(getNumResults()).getTypes())) // c3
    return nd::operandError(*this)
           << "expected results of the types of its first operands, got " << getResultTypes();
  return success();
}

LogicalResult ControlOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FunctionType type = FunctionType::get(getContext(), given().getTypes(), getResultTypes());
  for (Attribute each : getFunctions()) { // c1
    auto name = cast<FlatSymbolRefAttr>(each);
    auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, name);
    if (!function || function.isExternal() || function.getFunctionType() != type) {
      InFlightDiagnostic error = nd::operandError(*this);
      if (function)
        nd::noteDefinition(error, function);
      return error << "expected '@" << name.getValue() << "' to be a function of type " << type
                   << ", got " << (function ? Type(function.getFunctionType()) : Type());
    }
  }
  return success();
}
