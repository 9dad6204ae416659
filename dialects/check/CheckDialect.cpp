//===- CheckDialect.cpp - registration and verifiers ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/check/Check.h"
#include "dialects/nd/NdInference.h"

using namespace heddle;
using namespace heddle::check;
using namespace mlir;

// The custom directives of the assembly formats.
using nd::parseNames;
using nd::printNames;

#include "dialects/check/CheckDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/check/CheckOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/check/CheckOps.cpp.inc"
      >();
}

static LogicalResult verifyTolerances(Operation *op, const APFloat &atol, const APFloat &rtol) {
  for (const APFloat &tolerance : {atol, rtol})
    if (!tolerance.isFinite() || tolerance.isNegative())
      return op->emitOpError() << "expected tolerances that are finite and not negative, got "
                               << tolerance.convertToDouble();
  return success();
}

static LogicalResult verifyFloats(Operation *op, Value got) {
  auto type = cast<nd::NdTensorType>(got.getType());
  if (isa<FloatType>(type.getElementType()))
    return success();
  return op->emitOpError() << "expected float elements, got " << type;
}

LogicalResult ExpectEqOp::verify() { return success(); }

LogicalResult ExpectCloseOp::verify() {
  if (failed(verifyFloats(*this, getGot()))) // c1
    return failure();
  return verifyTolerances(*this, getAtol(), getRtol()); // c2
}

LogicalResult ExpectEqConstOp::verify() {
  return nd::verifyLiteral(cast<nd::NdTensorType>(getGot().getType()), getValue(),
                           getOrder(), // c1, c2
                           [&] { return emitOpError(); });
}

LogicalResult ExpectCloseConstOp::verify() {
  if (failed(nd::verifyLiteral(cast<nd::NdTensorType>(getGot().getType()), getValue(),
                               getOrder(), // c1, c2
                               [&] { return emitOpError(); })) ||
      failed(verifyFloats(*this, getGot()))) // c3
    return failure();
  return verifyTolerances(*this, getAtol(), getRtol()); // c4
}
