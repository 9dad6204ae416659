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
#include "tools/Tool.h"

#include "mlir/Debug/Counter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static const char overview[] = R"(Heddle: runs passes over IR

  heddle-opt program.mlir --nd-differentiate --nd-cse        single passes, in this order
  heddle-opt program.mlir --nd-pipeline --nest-pipeline      what the compiler does
  heddle-opt program.mlir --nest-fuse --mlir-print-ir-after-all --mlir-print-ir-after-change
)";

/// Groups MLIR's options by topic; those without a topic are listed by `--help-hidden`.
static void sortOptions(DialectRegistry &registry) {
  MlirOptMainConfig::registerCLOptions(registry);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  tracing::DebugCounter::registerCLOptions();
  static llvm::cl::OptionCategory passes(
      "Passes and pipelines, run in the order in which they are given"),
      seeing("Seeing what passes do"), printing("How IR is printed"), reading("Input and output"),
      testing("Tests"), extending("Plugins");
  std::pair<const char *, llvm::cl::OptionCategory *> topics[] = {
      {"mlir-print-ir-", &seeing},
      {"mlir-timing", &seeing},
      {"mlir-pass-pipeline-", &seeing},
      {"mlir-generate-reproducer", &seeing},
      {"run-reproducer", &seeing},
      {"dump-pass-pipeline", &seeing},
      {"list-passes", &seeing},
      {"mlir-print-debuginfo", &printing},
      {"mlir-pretty-", &printing},
      {"mlir-print-local-scope", &printing},
      {"mlir-elide-", &printing},
      {"mlir-use-nameloc", &printing},
      {"split-input-file", &testing},
      {"verify-diagnostics", &testing},
      {"verify-each", &testing},
      {"verify-roundtrip", &testing},
      {"emit-bytecode", &reading},
      {"show-dialects", &reading},
      {"load-", &extending}};
  for (auto &[name, option] : llvm::cl::getRegisteredOptions()) {
    if (name == "mlir-print-op-on-diagnostic") // an op printed alone has no names for its operands
      static_cast<llvm::cl::opt<bool> *>(option)->setInitialValue(false);
    auto *topic = llvm::find_if(
        topics, [&, name = name](auto &each) { return name.starts_with(each.first); });
    if (topic != std::end(topics))
      option->addCategory(*topic->second);
    else if (option->ArgStr.empty())
      option->addCategory(passes); // these are values of one option
    else if (name != "help" && name != "version" && name != "pass-pipeline")
      option->setHiddenFlag(llvm::cl::Hidden);
  }
}

/// Like MLIR's function, but rejects text whose nesting is too deep for its parser.
static LogicalResult transform(StringRef input, StringRef output, DialectRegistry &registry) {
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects()) {
    llvm::outs() << "Available Dialects: ";
    llvm::interleave(registry.getDialectNames(), llvm::outs(), ",");
    llvm::outs() << "\n";
    return success();
  }
  std::string problem;
  auto from = openInputFile(input, &problem);
  auto to = from ? openOutputFile(output, &problem) : nullptr;
  if (!to) {
    llvm::WithColor::error() << problem << "\n";
    return failure();
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(from->getMemBufferRef(), false),
                             llvm::SMLoc());
  if (failed(heddle::requireShallow(sources)) ||
      failed(MlirOptMain(to->os(), std::move(from), registry, config)))
    return failure();
  to->keep();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  DialectRegistry registry;
  heddle::registerCompilerDialects(registry);
  registry.insert<heddle::check::CheckDialect, memref::MemRefDialect>();
  heddle::registerCompilerPasses();
  sortOptions(registry);
  heddle::tellOwnVersion();
  auto [input, output] = registerAndParseCLIOptions(argc, argv, overview, registry);
  return heddle::runTool("heddle-opt", [&, input = input, output = output] {
    return asMainReturnCode(transform(input, output, registry));
  });
}
