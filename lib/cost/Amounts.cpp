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

/// The names of all amounts that add up, in the order in which they are printed.
static constexpr std::pair<const char *, double Amounts::*> sums[] = {
    {"operations", &Amounts::operations},
    {"products", &Amounts::products},
    {"calls", &Amounts::calls},
    {"loads", &Amounts::loads},
    {"stores", &Amounts::stores},
    {"gathered", &Amounts::gathered},
    {"missed", &Amounts::missed},
    {"turned", &Amounts::turned},
    {"divided", &Amounts::divided},
    {"crowded", &Amounts::crowded},
    {"hops", &Amounts::hops},
    {"rows", &Amounts::rows},
    {"converted", &Amounts::converted},
    {"chained", &Amounts::chained},
    {"steps", &Amounts::steps},
    {"entries", &Amounts::entries},
    {"tiles", &Amounts::tiles},
    {"copied", &Amounts::copied},
    {"spilled", &Amounts::spilled},
    {"pages", &Amounts::pages},
    {"waited", &Amounts::waited}};

Amounts &Amounts::operator+=(const Amounts &other) {
  for (auto [name, amount] : sums)
    this->*amount += other.*amount;
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
  for (auto [name, amount] : sums)
    add(name, this->*amount);
  add("chunks", chunks);
  const char *levels[] = {"l2_bytes", "l3_bytes", "memory_bytes"};
  const char *apart[] = {"l2_scattered", "l3_scattered", "memory_scattered"};
  for (int level = 0; level < memoryLevels; ++level) {
    add(levels[level], bytes[level]);
    add(apart[level], scattered[level]);
  }
  return text;
}
