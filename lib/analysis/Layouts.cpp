//===- Layouts.cpp - the layout of a value --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Layouts.h"

#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

Layout nest::sortedLayout(nd::NdTensorType type) {
  std::vector<std::string> names;
  for (const nd::Dim &dim : type.getDims())
    names.push_back(dim.name.str());
  return Layout::rowMajor(names);
}

Layout nest::layoutAt(Layout layout, nd::DimsAttr names) {
  for (Layout::Factor &factor : layout.factors)
    llvm::erase_if(factor.names, [&](const std::string &name) { return names.contains(name); });
  llvm::erase_if(layout.factors, [](const Layout::Factor &factor) { return factor.names.empty(); });
  return layout;
}

bool nest::putOutermost(Layout &layout, ArrayRef<StringAttr> names) {
  for (StringAttr name : llvm::reverse(names)) {
    auto at = llvm::find(layout.factors, Layout::Factor{{name.str()}, 1, 0, 0, 0});
    if (at == layout.factors.end())
      return false;
    std::rotate(layout.factors.begin(), at, at + 1);
  }
  return true;
}

static Layout layoutOf(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto scan = dyn_cast<ScanOp>(parent)) {
    size_t carried = scan.getInits().size();
    if (number < carried)
      return nest::layoutOf(scan.getResult(number));
    return layoutAt(nest::layoutOf(scan.getReads()[number - carried]), scan.getAlong());
  }
  auto function = dyn_cast<func::FuncOp>(parent);
  auto chosen =
      function ? function.getArgAttrOfType<LayoutAttr>(number, "nd.layout") : LayoutAttr();
  return chosen ? chosen.getLayout() : sortedLayout(tensorType(argument));
}

/// Returns the layout of the tensor that the first yield or return of `result` writes; none for a
/// value that is copied there.
static std::optional<Layout> layoutOfTarget(OpResult result) {
  Block *block = result.getOwner()->getBlock();
  if (!block)
    return std::nullopt;
  Operation *end = block->getTerminator();
  auto yielded = llvm::find(end->getOperands(), Value(result));
  if (yielded == end->operand_end())
    return std::nullopt;
  unsigned number = unsigned(yielded - end->operand_begin());
  Operation *parent = end->getParentOp();
  if (auto function = dyn_cast<func::FuncOp>(parent)) {
    auto chosen = function.getResultAttrOfType<LayoutAttr>(number, "nd.layout");
    return chosen ? std::optional(chosen.getLayout()) : std::nullopt;
  }
  auto holder = dyn_cast<HoldsNestsInterface>(parent); // null: scf, which is not lowered yet
  if (!holder || updatedBy(result.getOwner()))
    return std::nullopt;
  Layout whole = nest::layoutOf(parent->getResult(number));
  auto scan = dyn_cast<ScanOp>(parent);
  bool isCarried = scan && number < scan.getInits().size();
  return isCarried ? whole : layoutAt(whole, holder.getOuterNames());
}

Layout nest::layoutOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return ::layoutOf(cast<BlockArgument>(value));
  if (auto target = layoutOfTarget(result))
    return *target;
  Operation *op = result.getOwner();
  if (auto laid = dyn_cast<LaidOutInterface>(op))
    if (LayoutAttr stated = laid.layout(result.getResultNumber()))
      return stated.getLayout();
  if (Value updated = updatedBy(op))
    return layoutOf(updated); // so that it can work in place
  Layout plain = sortedLayout(tensorType(value));
  if (auto transfer = dyn_cast<TransferInterface>(op))
    putOutermost(plain, transfer.getOutermostNames());
  return plain;
}

LogicalResult nest::checkLayout(Location loc, const Layout &layout, const Twine &what, Type type,
                                std::optional<Location> made) {
  auto tensor = cast<nd::NdTensorType>(type);
  std::string problem = layout.verifyAll(tensor.sizeExprs());
  if (problem.empty())
    return success();
  if (!sortedLayout(tensor).verifyAll(tensor.sizeExprs()).empty())
    return emitError(loc) << what << " is too large: " << problem << ", got " << type;
  auto error = emitError(loc) << "the layout of " << what << " does not fit " << type << ": "
                              << problem;
  if (made && *made != loc)
    error.attachNote(*made) << "the value with this layout is defined here, with the names "
                            << nd::namesText(tensor.getDims());
  return error;
}

std::string nest::argumentText(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, nd::nameAttrName);
  return name ? "argument '" + name.str() + "'" : "argument " + std::to_string(argument);
}

LogicalResult nest::checkLayouts(func::FuncOp function) {
  auto check = [](Location loc, const std::string &what, Type type, Attribute stated,
                  std::optional<Location> made = {}) -> LogicalResult {
    if (!stated || stated == StringAttr::get(stated.getContext(), "any") ||
        !isa<nd::NdTensorType>(type))
      return success();
    if (auto layout = dyn_cast<LayoutAttr>(stated))
      return checkLayout(loc, layout.getLayout(), what, type, made);
    return emitError(loc) << "expected nd.layout of " << what
                          << " to be a #nest.layout or \"any\", got " << stated;
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(check(function.isExternal() ? function.getLoc() : function.getArgument(i).getLoc(),
                     argumentText(function, i), type, function.getArgAttr(i, "nd.layout"))))
      return failure();
  auto end = function.isExternal() ? func::ReturnOp()
                                   : dyn_cast<func::ReturnOp>(function.front().getTerminator());
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(check(function.getLoc(), "result " + std::to_string(i), type,
                     function.getResultAttr(i, "nd.layout"),
                     end ? std::optional(end->getOperand(i).getLoc()) : std::nullopt)))
      return failure();
  return success();
}
