//===- FastMath.h - fast-math flags -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By default the compiler keeps the semantics of the program. They leave two things open: the order
// in which a reduction combines its elements, and the excess precision of values between casts. A
// rewrite that changes floats in other ways needs permission: each flag, which users write as a
// word, permits the rewrites that rely on one assumption.
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

/// Fast-math flags, as bits of a mask. `fastMathWords` says what each permits.
enum FastMath : unsigned {
  Strict = 0,
  Reassociate = 1,
  NoNans = 2,
  NoSignedZeros = 4,
  Reciprocal = 8,
  ExcessPrecision = 16,
};

/// The word for a flag, and its meaning for help texts.
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

/// Sets the flag called `word` in the mask `granted`; returns false for an unknown word.
inline bool permit(unsigned &granted, std::string_view word) {
  for (const FastMathWord &each : fastMathWords)
    if (each.word == word) {
      granted |= each.permission;
      return true;
    }
  return false;
}
/// All words, separated by commas, for messages.
inline std::string fastMathList() {
  std::string text;
  for (const FastMathWord &each : fastMathWords)
    text += (text.empty() ? "" : ", ") + std::string(each.word);
  return text;
}

} // namespace heddle

#endif // HEDDLE_FASTMATH_H
