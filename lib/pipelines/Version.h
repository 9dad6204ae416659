//===- Version.h - which compiler this is -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels and programs on the disk are found by what they were made from and by what made them. The
// latter is this text, "0.1.0-5e8f... (LLVM 22.1.8)": it changes with every source file that may
// change code.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_VERSION_H
#define HEDDLE_LIB_PIPELINES_VERSION_H

#include <string>

namespace heddle {

/// The version, a hash of all source files that code generation consists of, and LLVM's version:
/// compilers that may give different code never say the same.
const std::string &compilerVersion();

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_VERSION_H
