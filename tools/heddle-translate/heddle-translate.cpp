//===- heddle-translate.cpp - prints IR for other programs ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's translation tool with translations of IR and of program files.
//
//===----------------------------------------------------------------------===//

#include "Translate.h"

#include "dialects/check/Check.h"
#include "heddle/Error.h"
#include "lib/profile/ArenaPicture.h"
#include "tools/Tool.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace heddle;

static const char overview[] = R"(Heddle: turns IR and program files into what other programs read

  heddle-translate --ir-to-dot program.mlir | dot -Tsvg -o program.svg
  heddle-translate --program-to-text classifier.heddle
  heddle-translate --program-to-svg classifier.heddle -o memory.svg
)";

/// A translation of program files; prints the error of a file that can't be read.
static mlir::TranslateFunction ofProgram(void (*write)(const ProgramImage &, llvm::raw_ostream &)) {
  return [write](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &out,
                 mlir::MLIRContext *) {
    const llvm::MemoryBuffer *buffer = sources->getMemoryBuffer(sources->getMainFileID());
    return mlir::success(runTool("heddle-translate", [&] {
                           std::string name = buffer->getBufferIdentifier().str();
                           ProgramImage image = ProgramImage::parse(buffer->getBuffer(), name);
                           if (std::string reason = image.manifest.verify(
                                   int64_t(image.code.size()), int64_t(image.constants.size()));
                               !reason.empty())
                             throw Error("'" + name + "' can't be read: " + reason);
                           write(image, out);
                           return 0;
                         }) == 0);
  };
}

int main(int argc, char **argv) {
  hideLibraryOptions();
  tellOwnVersion();
  mlir::TranslateRegistration dot(
      "ir-to-dot", "IR as a graph for Graphviz: ops, and the tensors and layouts between them",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &out,
         mlir::MLIRContext *context) -> mlir::LogicalResult {
        mlir::DialectRegistry registry;
        registerCompilerDialects(registry);
        registry.insert<check::CheckDialect>();
        context->appendDialectRegistry(registry);
        context->printOpOnDiagnostic(false);
        if (failed(requireShallow(*sources)))
          return mlir::failure();
        auto module = mlir::parseSourceFile<mlir::ModuleOp>(*sources, context);
        if (!module || failed(requireShallow(*module)))
          return mlir::failure();
        translate::writeDot(*module, out);
        return mlir::success();
      });
  mlir::TranslateRegistration text("program-to-text",
                                   "A program file's entries, values, memory, steps and functions",
                                   ofProgram(translate::writeText));
  mlir::TranslateRegistration picture(
      "program-to-svg", "A program file's memory plan as a picture",
      ofProgram([](const ProgramImage &image, llvm::raw_ostream &out) {
        out << arenaPicture(image.manifest);
      }));
  mlir::TranslateRegistration code("program-to-asm", "A program file's machine code as assembly",
                                   ofProgram(translate::writeAssembly));
  return runTool("heddle-translate",
                 [&] { return int(failed(mlir::mlirTranslateMain(argc, argv, overview))); });
}
