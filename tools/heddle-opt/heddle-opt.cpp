//===- heddle-opt.cpp - run passes over IR --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with Heddle's dialects and passes, and the upstream dialects that they lower to.
//
//===----------------------------------------------------------------------===//

#include "dialects/check/Check.h"
#include "dialects/nd/Nd.h"
#include "dialects/nest/Nest.h"

#ifdef HAVE_HeddleNdToNest
#include "lib/conversion/nd_to_nest/NdToNest.h"
#endif
#ifdef HAVE_HeddleNdTransforms
#include "lib/transforms/nd/Passes.h"
#endif
#ifdef HAVE_HeddleNestTransforms
#include "lib/transforms/nest/Passes.h"
#endif

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<heddle::nd::NdDialect, heddle::nest::NestDialect, heddle::check::CheckDialect,
                  mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect>();
  mlir::registerTransformsPasses();
#ifdef HAVE_HeddleNdTransforms
  heddle::nd::registerNdPasses();
#endif
#ifdef HAVE_HeddleNdToNest
  heddle::registerConvertNdToNestPass();
#endif
#ifdef HAVE_HeddleNestTransforms
  heddle::nest::registerNestPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Heddle: runs passes over IR\n", registry));
}
