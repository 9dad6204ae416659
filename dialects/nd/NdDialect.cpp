//===- NdDialect.cpp - registration and generated definitions -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/Nd.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle::nd;

#include "dialects/nd/NdDialect.cpp.inc"
#include "dialects/nd/NdInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/nd/NdAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/nd/NdTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/nd/NdOps.cpp.inc"

void NdDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/nd/NdAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/nd/NdTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/nd/NdOps.cpp.inc"
      >();
}
