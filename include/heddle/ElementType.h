//===- ElementType.h - element types of tensors -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The type of an element of a tensor. Integers keep their signedness (`i8` and `ui8` are two
// types), floats are IEEE's, bfloat16 and two of the eight-bit formats of the OCP. A type's
// spelling is the one that IR, program files and messages use:
//
//     parseElementType("ui8")       ElementType::UI8; none for "u8"
//     byteSize(ElementType::I1)     1: in memory a truth value takes a byte, 0 or 1
//     elementTypeOf<float>()        ElementType::F32; narrow floats have no C++ type
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ELEMENTTYPE_H
#define HEDDLE_ELEMENTTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace heddle {

/// Element types of tensors in memory, by their spelling in IR.
enum class ElementType : uint8_t {
  I1,
  I8,
  I16,
  I32,
  I64,
  UI8,
  UI16,
  UI32,
  UI64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN, ///< without infinities: overflow gives NaN
  F8E5M2
};
namespace detail {
struct ElementTypeInfo {
  ElementType type;
  std::string_view spelling;
  int64_t bytes;
};
/// In the order of the enumeration.
inline constexpr ElementTypeInfo elementTypes[] = {
    {ElementType::I1, "i1", 1},        {ElementType::I8, "i8", 1},
    {ElementType::I16, "i16", 2},      {ElementType::I32, "i32", 4},
    {ElementType::I64, "i64", 8},      {ElementType::UI8, "ui8", 1},
    {ElementType::UI16, "ui16", 2},    {ElementType::UI32, "ui32", 4},
    {ElementType::UI64, "ui64", 8},    {ElementType::F16, "f16", 2},
    {ElementType::BF16, "bf16", 2},    {ElementType::F32, "f32", 4},
    {ElementType::F64, "f64", 8},      {ElementType::F8E4M3FN, "f8E4M3FN", 1},
    {ElementType::F8E5M2, "f8E5M2", 1}};
} // namespace detail

/// The spelling in IR: "f32", "ui8", ...
constexpr std::string_view spelling(ElementType type) {
  return detail::elementTypes[size_t(type)].spelling;
}
/// The inverse of `spelling`; none for any other text.
constexpr std::optional<ElementType> parseElementType(std::string_view text) {
  for (const auto &each : detail::elementTypes)
    if (each.spelling == text)
      return each.type;
  return std::nullopt;
}
/// Bytes of one element in memory (i1 takes one byte).
constexpr int64_t byteSize(ElementType type) { return detail::elementTypes[size_t(type)].bytes; }

/// True for floats of any width.
constexpr bool isFloat(ElementType type) { return type >= ElementType::F16; }
/// True for floats of less than 32 bits.
constexpr bool isNarrowFloat(ElementType type) { return isFloat(type) && byteSize(type) < 4; }

/// The element type of values of the C++ type T; other types than those below do not compile.
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
