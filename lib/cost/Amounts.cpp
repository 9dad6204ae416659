//===- Amounts.cpp - what a nest executes and moves -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Amounts.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace heddle::cost;

Amounts &Amounts::operator+=(const Amounts &other) {
#define HEDDLE_AMOUNT(member, what) member += other.member;
  HEDDLE_AMOUNTS(HEDDLE_AMOUNT)
#undef HEDDLE_AMOUNT
  for (int level = 0; level < memoryLevels; ++level) {
    bytes[level] += other.bytes[level];
    scattered[level] += other.scattered[level];
  }
  return *this;
}

std::string Amounts::str() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto add = [&](const char *name, double amount) {
    if (amount)
      out << (text.empty() ? "" : ", ") << name << " " << llvm::format("%.6g", amount);
  };
#define HEDDLE_AMOUNT(member, what) add(#member, member);
  HEDDLE_AMOUNTS(HEDDLE_AMOUNT)
#undef HEDDLE_AMOUNT
  add("chunks", chunks);
  for (int level = 0; level < memoryLevels; ++level) {
    add(bytesNames[level], bytes[level]);
    add(scatteredNames[level], scattered[level]);
  }
  return text;
}
