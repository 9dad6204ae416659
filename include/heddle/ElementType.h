//===- ElementType.h - element types of C++ types ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ELEMENTTYPE_H
#define HEDDLE_ELEMENTTYPE_H

#include "runtime/program/Manifest.h"

#include <cstdint>
#include <type_traits>

namespace heddle {

/// The element type of host values of type T.
template <typename T>
constexpr ElementType elementTypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return ElementType::I1;
  else if constexpr (std::is_same_v<T, int8_t>)
    return ElementType::I8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return ElementType::I16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return ElementType::I32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return ElementType::I64;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return ElementType::UI8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return ElementType::UI16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return ElementType::UI32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return ElementType::UI64;
  else if constexpr (std::is_same_v<T, float>)
    return ElementType::F32;
  else {
    static_assert(std::is_same_v<T, double>, "no element type for this C++ type");
    return ElementType::F64;
  }
}

} // namespace heddle

#endif // HEDDLE_ELEMENTTYPE_H
