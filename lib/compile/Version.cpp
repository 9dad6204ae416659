//===- Version.cpp - the version of the compiler --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/Version.h"

#include "lib/compile/SourceHash.inc" // written by the build: HEDDLE_VERSION and the hashes
#include "llvm/Config/llvm-config.h"

const std::string &heddle::compilerVersion() {
  static const std::string version =
      HEDDLE_VERSION "-" HEDDLE_CODE_HASH " (LLVM " LLVM_VERSION_STRING ")";
  return version;
}

const std::string &heddle::passesVersion() {
  static const std::string version = HEDDLE_COMPILER_HASH;
  return version;
}
