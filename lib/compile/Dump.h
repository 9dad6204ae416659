//===- Dump.h - the forms of a program as files -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_DUMP_H
#define HEDDLE_LIB_COMPILE_DUMP_H

#include "lib/support/Mlir.h"

#include <string>

namespace heddle {

/// Writes a file as a whole, or fails with a diagnostic of the module.
LogicalResult writeText(ModuleOp module, const std::string &path, StringRef text);

/// Writes the forms of a program to `directory`; if that is empty, to a new folder in
/// $HEDDLE_DUMP_DIR, if that is set. $HEDDLE_DUMP_FILES lists the files to write.
class Dump {
public:
  Dump(ModuleOp module, std::string directory);
  /// Whether files are written at all.
  bool isOn() const { return !directory.empty(); }
  /// Whether a file is written: all of them, or those whose names $HEDDLE_DUMP_FILES lists.
  bool isWanted(StringRef name) const;
  LogicalResult write(ModuleOp module, const std::string &name, StringRef text) const;
  LogicalResult write(ModuleOp module, const std::string &name) const;

private:
  std::string directory, files;
};

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_DUMP_H
