//===- NestGradient.cpp - gradients of nests ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

LogicalResult ComputeOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                       Gradients &gradients) {
  return emitOpError() << "cannot be differentiated";
}
LogicalResult UpdateOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  return emitOpError() << "cannot be differentiated";
}
LogicalResult ScanOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                    Gradients &gradients) {
  return emitOpError() << "cannot be differentiated";
}
LogicalResult GroupOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  return emitOpError() << "cannot be differentiated";
}
