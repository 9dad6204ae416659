//===- NdTypical.h - typical values of size symbols -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler chooses fusion, layouts and schedules once for all values of a size symbol, and
// optimises for a typical value: large enough that caches matter, and a multiple of a power of two,
// which causes cache conflicts as actual sizes may. Every decision must be correct for all values.
// The neutral name of a symbol contains its declared range, `size0_1_64_`; the typical value is
// then the nearest one in the range.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_NDTYPICAL_H
#define HEDDLE_ND_NDTYPICAL_H

#include "heddle/Expr.h"

#include <cstdint>

namespace heddle::nd {
/// The typical value of a symbol without a declared range, in elements.
inline constexpr int64_t typicalSymbol = 1024;
/// The neutral name of symbol `number`, which has values in `range`.
std::string neutralSymbol(size_t number, const Range &range);
/// The range in a neutral name; none for other names.
std::optional<Range> rangeOfNeutral(std::string_view symbol);
/// The typical value of a symbol, in elements.
int64_t typicalOf(std::string_view symbol);
} // namespace heddle::nd

#endif // HEDDLE_ND_NDTYPICAL_H
