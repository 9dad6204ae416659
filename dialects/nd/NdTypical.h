//===- NdTypical.h - what decisions take a size symbol for ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion, layouts and schedules are chosen once for all values of a symbol, as though it had this
// one: large enough that caches matter, and a multiple of a power of two from which caches suffer,
// as a real size may be. No decision may be wrong for another value. The neutral names that
// passes and kernels know symbols by say what range is declared for them, `size0_1_64_`: then the
// one in it that is nearest counts.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_NDTYPICAL_H
#define HEDDLE_ND_NDTYPICAL_H

#include "heddle/Expr.h"

#include <cstdint>

namespace heddle::nd {
inline constexpr int64_t typicalSymbol = 1024;
/// How symbol `number` is called that has values in `range`, and the range that a name tells: of a
/// symbol that is called otherwise, none.
std::string neutralSymbol(size_t number, const Range &range);
std::optional<Range> rangeOfNeutral(std::string_view symbol);
/// What decisions take a symbol for.
int64_t typicalOf(std::string_view symbol);
} // namespace heddle::nd

#endif // HEDDLE_ND_NDTYPICAL_H
