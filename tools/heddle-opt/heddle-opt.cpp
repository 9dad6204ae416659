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
#include "lib/pipelines/Compile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  heddle::registerCompilerDialects(registry);
  registry.insert<heddle::check::CheckDialect, mlir::memref::MemRefDialect>();
  heddle::registerCompilerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Heddle: runs passes over IR\n", registry));
}
