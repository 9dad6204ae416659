//===- Version.h - the version of the compiler ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cached kernels and programs are keyed by their inputs and by the version of the compiler. The
// version is a text such as "0.1.0-5e8f... (LLVM 22.1.8)"; it changes with every source file that
// may change code.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_VERSION_H
#define HEDDLE_LIB_COMPILE_VERSION_H

#include <string>

namespace heddle {

/// The version, a hash of all source files of code generation, and LLVM's version. Compilers that
/// may generate different code from a kernel's source have different texts.
const std::string &compilerVersion();

/// A hash of all source files of the compiler. Compilers that may translate a module to different
/// programs have different texts.
const std::string &passesVersion();

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_VERSION_H
