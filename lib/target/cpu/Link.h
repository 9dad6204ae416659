//===- Link.h - objects to one block of code --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code and read-only data of all objects are laid one after another, and references among them are
// resolved once and for all: all of them are relative to the place that refers, so the block runs
// wherever it is mapped. A symbol that no object defines, data that would be written, or a
// reference to an absolute address is refused with a message that names it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_LINK_H
#define HEDDLE_LIB_TARGET_CPU_LINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace heddle::cpu {

struct Object {
  std::string name;  ///< what messages call it
  std::string bytes; ///< an ELF file
};

/// Code that can be mapped anywhere and run.
struct CodeBlock {
  std::string bytes;
  std::map<std::string, int64_t> symbols; ///< offset of each global function
  struct Function {
    std::string name;
    int64_t offset, bytes;
    /// Which line of the source the code is from, from an offset in the function on; 0: none in
    /// particular. Empty if the object does not tell.
    std::vector<std::pair<int64_t, uint32_t>> lines = {};
  };
  std::vector<Function> functions; ///< all of them, as they lie
};

llvm::Expected<CodeBlock> link(llvm::ArrayRef<Object> objects);

/// The symbols that an object refers to and does not define, in order.
llvm::Expected<std::vector<std::string>> undefinedSymbols(llvm::StringRef object);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_LINK_H
