//===- NestDialect.cpp - registration and generated definitions -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/NestGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle::nest;

#include "dialects/nest/NestDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/nest/NestAttrs.cpp.inc"
#include "dialects/nest/NestInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/nest/NestOps.cpp.inc"

namespace {
struct ConstantLayouts : LaidOutInterface::ExternalModel<ConstantLayouts, heddle::nd::ConstantOp> {
  mlir::ArrayAttr getLayoutsAttr(mlir::Operation *op) const {
    return llvm::cast<heddle::nd::ConstantOp>(op).getLayoutsAttr();
  }
  void setLayoutsAttr(mlir::Operation *op, mlir::ArrayAttr layouts) const {
    llvm::cast<heddle::nd::ConstantOp>(op).setLayoutsAttr(layouts);
  }
};
} // namespace

void NestDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/nest/NestAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/nest/NestOps.cpp.inc"
      >();
  addRecurrences(*this);
  heddle::nd::ConstantOp::attachInterface<ConstantLayouts>(*getContext());
}
