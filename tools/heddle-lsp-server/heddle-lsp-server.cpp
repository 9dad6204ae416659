//===- heddle-lsp-server.cpp - Heddle's IR in an editor -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server with Heddle's dialects: diagnostics while typing, definitions and uses of
// values, documentation of ops. docs/tools.md describes how editors start it.
//
//===----------------------------------------------------------------------===//

#include "dialects/check/Check.h"
#include "tools/Tool.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  heddle::hideLibraryOptions();
  mlir::DialectRegistry registry;
  heddle::registerCompilerDialects(registry);
  registry.insert<heddle::check::CheckDialect>();
  heddle::tellOwnVersion();
  return heddle::runTool("heddle-lsp-server", [&] {
    return int(mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)));
  });
}
