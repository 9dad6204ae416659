//===- Property.h - properties tested by RapidCheck -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RapidCheck draws the cases, stops at the first that fails, shrinks it and reports. A case is a
// program, or several that are compiled together; nd::reduceProgram reduces programs:
//
//     std::string said = holdOnCases(1, 2000, [&](uint64_t i) -> std::optional<Fault> {
//       if (isFine(i)) return std::nullopt;
//       return Fault{"program 17: a pass changes values", [=] { return smallestLike(i); }};
//     });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_LAWS_PROPERTY_H
#define HEDDLE_TEST_UNIT_LAWS_PROPERTY_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace heddle::laws {

struct Fault {
  std::string what;
  /// Returns the message for the smallest such case; null if there is no smaller one.
  std::function<std::string()> smaller;
};

/// Tests a property on `count` cases, which are drawn by `seed`; a single one is number 0. Returns
/// RapidCheck's message for the first failure, after shrinking; empty if there is none.
std::string holdOnCases(uint64_t seed, int count,
                        const std::function<std::optional<Fault>(uint64_t number)> &check);

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_PROPERTY_H
