//===- Tool.h - shared by all mains -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads IR, reports errors, and hides the options of LLVM's libraries.
//
//     return runTool("heddlec", [&] {
//       InputModule module(registry);
//       if (!module.read(path))
//         return 1;
//       ... module.get() ...
//       return 0;
//     });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_TOOL_H
#define HEDDLE_TOOLS_TOOL_H

#include "lib/analysis/Nesting.h"
#include "lib/compile/Compile.h"
#include "lib/compile/Version.h"
#include "lib/support/LargeStack.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

#include <csignal>
#include <new>
#include <sys/resource.h>

namespace heddle {

/// Hides the hundreds of options of LLVM's code generators from `--help`; `--help-hidden` lists
/// them. Must be called before a tool registers its own options.
inline void hideLibraryOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "version" && name != "help-hidden")
      option->setHiddenFlag(llvm::cl::Hidden);
}

/// `--version` prints Heddle's version too, not only LLVM's.
inline void tellOwnVersion() {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &out) { out << compilerVersion() << "\n"; });
}

/// Runs a tool on a large stack; `work` returns the exit status. If `work` throws an exception,
/// such as std::bad_alloc, prints its message.
template <typename Work>
int runTool(const char *name, Work &&work) {
  // LLVM's handlers would end the process with a stack trace.
  std::set_new_handler(nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    int status = 1;
    onLargeStack([&] { status = work(); });
    llvm::outs().flush();
    if (!llvm::outs().has_error())
      return status;
    // LLVM would end the process by a signal.
    llvm::WithColor::error(llvm::errs(), name)
        << "can't write the output: " << llvm::outs().error().message() << "\n";
    llvm::outs().clear_error();
  } catch (const std::bad_alloc &) {
    struct rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    llvm::WithColor::error(llvm::errs(), name)
        << "out of memory, in a process that holds up to " << usage.ru_maxrss << " KiB\n";
  } catch (const std::exception &error) {
    llvm::WithColor::error(llvm::errs(), name) << error.what() << "\n";
  }
  return 1;
}

/// Prints a diagnostic with its source line. Of a long line only the part around the column is
/// shown: the signature of a model's function has tens of thousands of characters.
inline void printDiagnostic(const llvm::SMDiagnostic &diagnostic, void * = nullptr) {
  constexpr size_t width = 160, before = 60;
  llvm::StringRef line = diagnostic.getLineContents();
  if (line.size() <= width || diagnostic.getColumnNo() < 0)
    return diagnostic.print(nullptr, llvm::errs());
  auto column = size_t(diagnostic.getColumnNo());
  size_t begin = column > before ? column - before : 0;
  llvm::StringRef prefix = begin ? "..." : "";
  std::string shown = (prefix + line.substr(begin, width)).str();
  if (begin + width < line.size())
    shown += "...";
  // The column in the file, not in the part that is shown.
  llvm::errs() << diagnostic.getFilename() << ":" << diagnostic.getLineNo() << ":" << column + 1
               << ": ";
  llvm::SMDiagnostic(*diagnostic.getSourceMgr(), diagnostic.getLoc(), "", 0,
                     int(column - begin + prefix.size()), diagnostic.getKind(),
                     diagnostic.getMessage(), shown, {})
      .print(nullptr, llvm::errs());
}

/// IR from a file ("-": standard input), in a new context. Diagnostics are printed to standard
/// error, with the source line.
class InputModule {
public:
  explicit InputModule(const mlir::DialectRegistry &registry)
      : context(registry, mlir::MLIRContext::Threading::DISABLED), handler(sources, &context) {
    context.printOpOnDiagnostic(false);
    sources.setDiagHandler(printDiagnostic);
  }

  /// Returns false, after reporting an error, if the file can't be read or is not valid.
  bool read(const std::string &path) {
    auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
    if (!file) {
      llvm::WithColor::error() << "can't read '" << path << "': " << file.getError().message()
                               << "\n";
      return false;
    }
    if ((*file)->getBuffer().starts_with("HEDDLE\r\n")) {
      llvm::WithColor::error() << "expected IR, '" << path << "' is a compiled program; heddle-run "
                               << "runs it, heddle-translate shows it\n";
      return false;
    }
    sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
    if (failed(requireShallow(sources)))
      return false;
    module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
    return module && succeeded(requireShallow(*module));
  }
  mlir::ModuleOp get() { return *module; }

private:
  llvm::SourceMgr sources;
  mlir::MLIRContext context;
  mlir::SourceMgrDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_TOOL_H
