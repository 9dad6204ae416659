//===- PrintProgram.cpp - prints the forms of a program -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/CompileKernels.h"
#include "lib/compile/Dump.h"
#include "lib/compile/RunPasses.h"

#include "llvm/ADT/StringSwitch.h"

using namespace heddle;
using namespace mlir;

std::optional<ProgramForm> heddle::parseProgramForm(StringRef word) {
  return llvm::StringSwitch<std::optional<ProgramForm>>(word)
      .Case("nd", ProgramForm::Nd)
      .Case("nest", ProgramForm::Nest)
      .Case("kernels", ProgramForm::Kernels)
      .Case("loops", ProgramForm::Loops)
      .Case("llvm", ProgramForm::LlvmIr)
      .Case("asm", ProgramForm::Assembly)
      .Default(std::nullopt);
}

FailureOr<std::string> heddle::printProgram(ModuleOp module, const CompileOptions &options,
                                            ProgramForm form) {
  auto printed = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << module << "\n";
    return text;
  };
  auto resolved = resolveOptions(module, options);
  if (failed(resolved) || failed(runNdPasses(module, options)))
    return failure();
  if (form == ProgramForm::Nd)
    return printed();
  if (failed(runNestPasses(module, options, *resolved)))
    return failure();
  auto program = makeSteps(module, *resolved, options, /*show=*/form == ProgramForm::Nest);
  if (failed(program))
    return failure();
  if (form == ProgramForm::Nest)
    return printed();
  std::string all;
  for (const OutlinedKernel &kernel : program->kernels) {
    bool isMlir = form == ProgramForm::Kernels || form == ProgramForm::Loops;
    const char *mark = isMlir ? "// " : form == ProgramForm::LlvmIr ? "; " : "# ";
    all += mark + kernel.name + (kernel.key.empty() ? "" : " " + kernel.key) + "\n";
    KernelForm inner = form == ProgramForm::Loops    ? KernelForm::Loops
                       : form == ProgramForm::LlvmIr ? KernelForm::LlvmIr
                                                     : KernelForm::Assembly;
    auto text = form == ProgramForm::Kernels
                    ? FailureOr<std::string>(kernel.source)
                    : printKernel(kernel, *resolved->target, options, inner);
    if (failed(text))
      return failure();
    all += *text;
  }
  return all;
}

LogicalResult heddle::writeProgram(ModuleOp module, const CompileOptions &options, ProgramForm form,
                                   const std::string &path) {
  auto text = printProgram(module, options, form);
  if (failed(text))
    return failure();
  if (!path.empty() && path != "-")
    return writeText(module, path, *text);
  llvm::outs() << *text;
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  llvm::outs().clear_error();
  if (error)
    return module.emitError() << "can't write to standard output: " << error.message();
  return success();
}
