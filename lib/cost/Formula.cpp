//===- Formula.cpp - the text of the formula ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Formula.h"

#include "lib/cost/Rates.h"

using namespace heddle::cost;

namespace {
/// An expression. Its operators write what those of numbers compute.
struct Text {
  std::string text;
  bool isSum = false;

  std::string asFactor() const { return isSum ? "(" + text + ")" : text; }
};

Text operator+(const Text &a, const Text &b) { return {a.text + " + " + b.text, true}; }
Text operator*(const Text &a, const Text &b) { return {a.asFactor() + " * " + b.asFactor()}; }
Text operator/(const Text &a, const Text &b) { return {a.asFactor() + " / " + b.asFactor()}; }
Text operator*(int number, const Text &b) { return Text{std::to_string(number)} * b; }
/// One thread does all of the work.
Text operator*(const Text &a, double share) {
  assert(share == 1 && "the text is of one thread");
  return a;
}

struct OverlapOfTexts {
  std::string times;
  const char *limit = "";

  void add(const Text &time, const char *) { times += ", " + time.text; }
  Text total(const Text &exposed) const { return {"overlap(" + exposed.text + times + ")"}; }
  Text total(const Text &exposed, const Text &more, const char *) const {
    return total(exposed) + more;
  }
};

struct AmountNames {
#define HEDDLE_AMOUNT(member, what) Text member{#member};
  HEDDLE_AMOUNTS(HEDDLE_AMOUNT)
#undef HEDDLE_AMOUNT
  Text bytes[memoryLevels], scattered[memoryLevels];

  AmountNames() {
    for (int level = 0; level < memoryLevels; ++level) {
      bytes[level] = {bytesNames[level]};
      scattered[level] = {scatteredNames[level]};
    }
  }
};

struct RateNames {
#define HEDDLE_RATE(member, key, value, unit, what) Text member{key};
  HEDDLE_MACHINE_RATES(HEDDLE_RATE)
#undef HEDDLE_RATE
};
} // namespace

std::string heddle::cost::formulaText() {
  return formula<OverlapOfTexts>(AmountNames(), RateNames(), Share<Text>{{"chunks"}}).seconds.text;
}
