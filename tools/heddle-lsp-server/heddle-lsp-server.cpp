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

#include "OpDocumentation.h"
#include "ResponseFilter.h"

#include "dialects/check/Check.h"
#include "tools/Tool.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  heddle::hideLibraryOptions();
  heddle::tellOwnVersion();
  mlir::DialectRegistry registry;
  heddle::registerCompilerDialects(registry);
  registry.insert<heddle::check::CheckDialect>();
  return heddle::runTool("heddle-lsp-server", [&] {
    heddle::OpDocumentation documentation;
    heddle::ResponseFilter answers(
        [&](llvm::StringRef text) { return documentation.complete(text); });
    return int(mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)));
  });
}
