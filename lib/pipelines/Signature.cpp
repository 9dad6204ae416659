//===- Signature.cpp - what functions say of arguments and results --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/Signature.h"

#include "dialects/nest/Nest.h"
#include "lib/analysis/Layouts.h"

using namespace heddle;
using namespace mlir;

static LogicalResult checkLayout(Location loc, const std::string &what, Type type, Attribute attr,
                                 std::optional<Location> made = {}) {
  auto tensor = dyn_cast<nd::NdTensorType>(type);
  if (!attr || attr == StringAttr::get(attr.getContext(), "any") || !tensor)
    return success();
  auto layout = dyn_cast<nest::LayoutAttr>(attr);
  if (!layout)
    return emitError(loc) << "expected nd.layout of " << what
                          << " to be a #nest.layout or \"any\", got " << attr;
  return nest::checkLayout(loc, layout.getLayout(), what, type, made);
}

static Location returned(func::FuncOp function, size_t result) {
  return function.front().getTerminator()->getOperand(unsigned(result)).getLoc();
}

static LogicalResult checkDonation(func::FuncOp function, BlockArgument argument,
                                   const std::string &what) {
  Attribute attr = function.getArgAttr(argument.getArgNumber(), "heddle.donate");
  if (!attr)
    return success();
  auto result = dyn_cast<IntegerAttr>(attr);
  if (!result || !result.getType().isSignlessIntOrIndex() ||
      result.getValue().getSignificantBits() > 64 || result.getInt() < 0 ||
      result.getInt() >= int64_t(function.getNumResults()))
    return emitError(argument.getLoc())
           << "expected heddle.donate of " << what << " to be the number of one of the "
           << function.getNumResults() << " results, got " << attr;
  Type type = function.getResultTypes()[size_t(result.getInt())];
  if (type != argument.getType()) {
    auto error = emitError(argument.getLoc())
                 << what << " is given up to result " << result.getInt() << ", which should be "
                 << argument.getType() << " as well, got " << type;
    error.attachNote(returned(function, size_t(result.getInt()))) << "the result is made here";
    return error;
  }
  return success();
}

LogicalResult heddle::checkSignature(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(number, nd::nameAttrName);
    std::string what =
        name ? "argument '" + name.str() + "'" : "argument " + std::to_string(number);
    if (failed(checkLayout(argument.getLoc(), what, argument.getType(),
                           function.getArgAttr(number, "nd.layout"))) ||
        failed(checkDonation(function, argument, what)))
      return failure();
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(checkLayout(function.getLoc(), "result " + std::to_string(i), type,
                           function.getResultAttr(unsigned(i), "nd.layout"),
                           returned(function, i))))
      return failure();
  return success();
}
