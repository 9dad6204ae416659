//===- Target.cpp - finds targets by name ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/Target.h"

#include "lib/target/cpu/Cpu.h"
#include "lib/target/null/Null.h"

using namespace heddle;

llvm::Expected<std::shared_ptr<const Target>> heddle::findTarget(llvm::StringRef name) {
  if (name == "null")
    return makeNullTarget();
  return cpu::makeTarget(name);
}
