//===- NdTypical.h - what decisions take a size symbol for ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion, layouts and schedules are chosen once for all values of a symbol, as though it had this
// one: large enough that caches matter, and a multiple of a power of two from which caches suffer,
// as a real size may be. No decision may be wrong for another value.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_NDTYPICAL_H
#define HEDDLE_ND_NDTYPICAL_H

#include <cstdint>

namespace heddle::nd {
inline constexpr int64_t typicalSymbol = 1024;
} // namespace heddle::nd

#endif // HEDDLE_ND_NDTYPICAL_H
