//===- Signature.cpp - attributes of arguments and results ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Signature.h"

#include "dialects/nest/Nest.h"
#include "lib/analysis/Layouts.h"

using namespace heddle;
using namespace mlir;

static LogicalResult checkDonation(func::FuncOp function, BlockArgument argument) {
  Attribute attr = function.getArgAttr(argument.getArgNumber(), "heddle.donate");
  if (!attr)
    return success();
  std::string what = nest::argumentText(function, argument.getArgNumber());
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
                 << what << " is donated to result " << result.getInt() << ", expected both to be "
                 << argument.getType() << ", got " << type;
    if (auto end = dyn_cast<func::ReturnOp>(function.front().getTerminator()))
      error.attachNote(end.getOperand(unsigned(result.getInt())).getLoc())
          << "the result is defined here";
    return error;
  }
  return success();
}

LogicalResult heddle::checkSignature(func::FuncOp function) {
  if (failed(nest::checkLayouts(function)))
    return failure();
  return success(llvm::all_of(function.getArguments(), [&](BlockArgument argument) {
    return succeeded(checkDonation(function, argument));
  }));
}
