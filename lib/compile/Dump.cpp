//===- Dump.cpp - the forms of a program as files -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/Dump.h"

#include "runtime/base/AtomicFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <atomic>

using namespace heddle;
using namespace mlir;

LogicalResult heddle::writeText(ModuleOp module, const std::string &path, StringRef text) {
  std::string reason = writeAtomically(path, text);
  return reason.empty() ? success() : LogicalResult(module.emitError() << reason);
}

Dump::Dump(ModuleOp module, std::string given) : directory(std::move(given)) {
  if (const char *listed = std::getenv("HEDDLE_DUMP_FILES"); listed && *listed)
    files = listed;
  const char *everything = std::getenv("HEDDLE_DUMP_DIR");
  if (!directory.empty() || !everything || !*everything)
    return;
  // Numbers the programs of this process in the order of compilation.
  static std::atomic<int> count{0};
  std::string name = std::to_string(count++);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic()) {
      name += "-" + function.getName().str();
      break;
    }
  llvm::SmallString<128> path(everything);
  llvm::sys::path::append(path, name);
  directory = std::string(path);
}

bool Dump::isWanted(StringRef name) const {
  return !directory.empty() && (files.empty() || llvm::is_contained(llvm::split(files, ','), name));
}

LogicalResult Dump::write(ModuleOp module, const std::string &name, StringRef text) const {
  if (!isWanted(StringRef(name).split('/').first))
    return success();
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  if (auto error = llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)))
    return module.emitError() << "can't write '" << path << "': " << error.message();
  return writeText(module, path.str().str(), text);
}

LogicalResult Dump::write(ModuleOp module, const std::string &name) const {
  if (!isWanted(name))
    return success();
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  return write(module, name, text);
}
