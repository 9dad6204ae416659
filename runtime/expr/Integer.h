//===- Integer.h - integer arithmetic of expressions ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Division and remainder that round towards minus infinity, and sums and products that wrap: user
// input may contain any numbers. For numbers of bytes, which are not negative, division that rounds
// up.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_EXPR_INTEGER_H
#define HEDDLE_EXPR_INTEGER_H

#include <cstdint>

namespace heddle {

inline int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return (a % b != 0 && (a % b < 0) != (b < 0)) ? quotient - 1 : quotient;
}
inline int64_t floorModulo(int64_t a, int64_t b) {
  int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
/// ceil(a / b) and the next multiple of b, for a >= 0 and b > 0.
inline int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t roundUp(int64_t a, int64_t b) { return ceilDivide(a, b) * b; }
inline int64_t wrappingAdd(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
inline int64_t wrappingMultiply(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

} // namespace heddle

#endif // HEDDLE_EXPR_INTEGER_H
