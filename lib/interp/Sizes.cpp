//===- Sizes.cpp - verifies functions at given sizes ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rejects a call if the verifier would reject the function with numbers instead of its symbols
// (S11). Like type checks, this includes code that does not run: branches that are not taken and
// bodies of zero-trip loops.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nest/NestBuild.h"
#include "lib/interp/Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace heddle::interp {

static LogicalResult refuseNegative(Operation *op, nd::DimsAttr dims, const ExprMap &symbols) {
  for (const nd::Dim &dim : dims)
    if (auto size = dim.size().getExpr().substitute(symbols).constant(); size && *size < 0)
      return op->emitOpError() << "expected a size of at least 0 for '" << dim.name.getValue()
                               << "', got " << dim.size().getExpr().str() << ", which is " << *size;
  return success();
}

static nd::DimsAttr withNumbers(nd::DimsAttr dims, const ExprMap &symbols) {
  SmallVector<nd::Dim> list;
  for (const nd::Dim &dim : dims)
    list.emplace_back(dims.getContext(), dim.name.getValue(),
                      dim.size().getExpr().substitute(symbols));
  return nd::DimsAttr::getSorted(dims.getContext(), list);
}

static Type withNumbers(Type type, const ExprMap &symbols) {
  auto tensor = dyn_cast<nd::NdTensorType>(type);
  return tensor ? tensor.withDims(withNumbers(tensor.getDims(), symbols).getDims()) : type;
}

static Attribute withNumbers(Attribute attr, const ExprMap &symbols) {
  if (auto list = dyn_cast<ArrayAttr>(attr))
    return ArrayAttr::get(attr.getContext(), llvm::map_to_vector(list, [&](Attribute each) {
                            return withNumbers(each, symbols);
                          }));
  if (auto dims = dyn_cast<nd::DimsAttr>(attr))
    return withNumbers(dims, symbols);
  if (auto size = dyn_cast<nd::SizeAttr>(attr))
    return nd::SizeAttr::get(attr.getContext(), size.getExpr().substitute(symbols));
  if (auto map = dyn_cast<nest::MapAttr>(attr))
    return map.substitute(symbols);
  if (auto guard = dyn_cast<nest::GuardAttr>(attr))
    return guard.substitute(symbols);
  return attr;
}

/// Replaces symbols by numbers; rejects negative sizes.
static LogicalResult writeNumbers(func::FuncOp function, const ExprMap &symbols) {
  auto negative = function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<nd::NdTensorType>(type))
        if (failed(refuseNegative(op, tensor.getDims(), symbols)))
          return WalkResult::interrupt();
    for (NamedAttribute attr : op->getAttrs())
      if (auto dims = dyn_cast<nd::DimsAttr>(attr.getValue()))
        if (failed(refuseNegative(op, dims, symbols)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (negative.wasInterrupted())
    return failure();
  function.walk([&](Operation *op) {
    if (auto index = dyn_cast<nest::IndexOp>(op)) // not shadowed by an iteration name
      if (auto found = symbols.find(index.getName().str());
          found != symbols.end() && found->second.isConstant() &&
          !nest::iterationRanges(op->getParentOp()).count(index.getName().str())) {
        OpBuilder b(op);
        Value number = arith::ConstantIndexOp::create(b, op->getLoc(), *found->second.constant());
        op->getResult(0).replaceAllUsesWith(number);
        return op->erase();
      }
    ExprMap meant(symbols); // iteration names shadow symbols
    if (isa<nest::LoopNestInterface>(op))
      for (const auto &[name, range] : nest::iterationRanges(op))
        meant.erase(name);
    for (NamedAttribute attr : op->getAttrs())
      op->setAttr(attr.getName(), isa<nd::DimsAttr>(attr.getValue())
                                      ? withNumbers(attr.getValue(), symbols)
                                      : withNumbers(attr.getValue(), meant));
    for (OpResult result : op->getResults())
      result.setType(withNumbers(result.getType(), symbols));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(withNumbers(argument.getType(), symbols));
  });
  auto all = [&](TypeRange types) {
    return llvm::map_to_vector(types, [&](Type type) { return withNumbers(type, symbols); });
  };
  function->removeAttr(nd::rangesAttrName); // ranges of symbols, which are gone
  function.setFunctionType(FunctionType::get(
      function.getContext(), all(function.getArgumentTypes()), all(function.getResultTypes())));
  return success();
}

LogicalResult Evaluator::verifySizes(func::FuncOp function, const ExprMap &symbols, int within) {
  std::string key;
  for (const auto &[symbol, size] : symbols)
    key += symbol + "=" + size.str() + " ";
  if (!verified.insert({function, key}).second || function.isDeclaration() || within > mostCalls)
    return success();
  OwningOpRef<func::FuncOp> copy;
  func::FuncOp sized = function;
  if (!symbols.empty()) {
    copy = function.clone();
    sized = *copy;
    if (failed(writeNumbers(sized, symbols)) || failed(verify(sized)))
      return failure();
  }
  WalkResult calls = sized.walk([&](nd::CalleeInterface call) {
    auto callee =
        SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(function, call.getCalleeAttr());
    if (!call.lifts() || !callee || callee.getNumArguments() != call.getInputs().size())
      return WalkResult::advance();    // rejected when it is called
    SmallVector<nd::NdTensorType> own; // without lifted names
    for (auto [type, input] : llvm::zip_equal(callee.getArgumentTypes(), call.getInputs())) {
      auto formal = dyn_cast<nd::NdTensorType>(type);
      auto given = cast<nd::NdTensorType>(input.getType());
      own.push_back(given.where(
          [&](const nd::Dim &dim) { return formal && formal.has(dim.name.getValue()); }));
    }
    auto inner = bindSymbols(callee, own, symbols);
    return failed(inner) || failed(verifySizes(callee, *inner, within + 1))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(calls.wasInterrupted());
}

} // namespace heddle::interp
