//===- FastMath.h - permissions to change floats ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without permission the compiler computes values that the program as written may have: sums in any
// order, since a reduction has none, and between casts in any greater precision. Rewrites that
// change floats beyond that need permission, by a word for each assumption; each rewrite lists the
// words that it needs.
//
//     JitOptions options;
//     options.fastMath = {"reassociate"};      // A (B C) for (A B) C, a * sum(x) for sum(a * x)
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_FASTMATH_H
#define HEDDLE_FASTMATH_H

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Permissions as bits.
enum FastMath : unsigned {
  Strict = 0,
  Reassociate = 1,
  NoNans = 2,
  NoSignedZeros = 4,
  Reciprocal = 8,
  ExcessPrecision = 16,
};

struct FastMathWord {
  std::string_view word;
  FastMath permission;
  std::string_view meaning;
};
inline constexpr FastMathWord fastMathWords[] = {
    {"reassociate", Reassociate, "sums and products may be regrouped, factors moved out of sums"},
    {"no-nans", NoNans, "no value is NaN or infinite"},
    {"no-signed-zeros", NoSignedZeros, "-0.0 may become 0.0 and the reverse"},
    {"reciprocal", Reciprocal, "x / y may be x * (1 / y)"},
    {"excess-precision", ExcessPrecision,
     "casts between floats may keep what they would round away"},
};

/// Adds the permission of `word` to `granted`; false for an unknown word.
inline bool permit(unsigned &granted, std::string_view word) {
  for (const FastMathWord &each : fastMathWords)
    if (each.word == word) {
      granted |= each.permission;
      return true;
    }
  return false;
}
/// All words, for messages.
inline std::string fastMathList() {
  std::string text;
  for (const FastMathWord &each : fastMathWords)
    text += (text.empty() ? "" : ", ") + std::string(each.word);
  return text;
}

} // namespace heddle

#endif // HEDDLE_FASTMATH_H
