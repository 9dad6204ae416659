//===- Version.cpp - which compiler this is -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/Version.h"

#include "lib/pipelines/SourceHash.inc" // written by the build: HEDDLE_VERSION, HEDDLE_SOURCE_HASH
#include "llvm/Config/llvm-config.h"

const std::string &heddle::compilerVersion() {
  static const std::string version =
      HEDDLE_VERSION "-" HEDDLE_SOURCE_HASH " (LLVM " LLVM_VERSION_STRING ")";
  return version;
}
