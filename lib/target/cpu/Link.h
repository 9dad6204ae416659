//===- Link.h - links objects into one block --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Concatenates the code and read-only data of all objects and resolves the references among them.
// All references are PC-relative, so the block is position-independent. An undefined symbol,
// writable data, or a reference to an absolute address is rejected with a message that names it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_LINK_H
#define HEDDLE_LIB_TARGET_CPU_LINK_H

#include "lib/target/Target.h"

namespace heddle::cpu {

llvm::Expected<ProgramCode> link(ArrayRef<Object> objects);

/// Returns the symbols that an object refers to and does not define, in order.
llvm::Expected<std::vector<std::string>> undefinedSymbols(StringRef object);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_LINK_H
