//===- Reference.h - what reductions give, by simple code -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element is its bits. Narrow floats are decoded by their definition and encoded by a search for
// the nearest number.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_COLLECTIVES_REFERENCE_H
#define HEDDLE_TEST_UNIT_RUNTIME_COLLECTIVES_REFERENCE_H

#include "runtime/collectives/Communicator.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::test {

struct NarrowFormat {
  int exponentBits, fractionBits;
  bool hasInfinity;
};

inline NarrowFormat formatOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return {5, 10, true};
  case ElementType::BF16:
    return {8, 7, true};
  case ElementType::F8E5M2:
    return {5, 2, true};
  default:
    return {4, 3, false};
  }
}

inline double decode(NarrowFormat format, uint64_t bits) {
  int all = format.exponentBits + format.fractionBits;
  uint64_t magnitude = bits & ((1u << all) - 1);
  int exponent = int(magnitude >> format.fractionBits), bias = (1 << (format.exponentBits - 1)) - 1;
  auto fraction = double(magnitude & ((1u << format.fractionBits) - 1));
  double unit = std::ldexp(1.0, -format.fractionBits), value;
  if (format.hasInfinity && exponent == (1 << format.exponentBits) - 1)
    value = fraction == 0 ? INFINITY : NAN;
  else if (!format.hasInfinity && magnitude == (1u << all) - 1)
    value = NAN;
  else if (exponent == 0)
    value = std::ldexp(fraction * unit, 1 - bias);
  else
    value = std::ldexp(1 + fraction * unit, exponent - bias);
  return bits >> all & 1 ? -value : value;
}

/// Rounds to the nearest number, to the even one of two.
inline uint64_t encode(NarrowFormat format, float value) {
  int all = format.exponentBits + format.fractionBits;
  uint64_t special = (1u << all) - (format.hasInfinity ? 1u << format.fractionBits : 1);
  uint64_t sign = std::signbit(value) ? uint64_t(1) << all : 0;
  if (std::isnan(value))
    return (1u << all) - 1;
  double magnitude = std::fabs(double(value));
  uint64_t low = 0, high = special; // the largest number that is not above lies in [low, high)
  while (high - low > 1) {
    uint64_t middle = (low + high) / 2;
    (decode(format, middle) <= magnitude ? low : high) = middle;
  }
  // Beyond the largest number the next one is where it would be without specials.
  double below = decode(format, low);
  double above = low + 1 < special ? decode(format, low + 1) : 2 * below - decode(format, low - 1);
  if (magnitude - below > above - magnitude || (magnitude - below == above - magnitude && low % 2))
    ++low;
  return sign | low;
}

template <typename T>
T combineValues(Combiner combiner, T a, T b) {
  switch (combiner) {
  case Combiner::Sum:
    return T(a + b);
  case Combiner::Product:
    return T(a * b);
  default:
    break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    if (a == b)
      return std::signbit(a) == (combiner == Combiner::Min) ? a : b;
  }
  return (a < b) == (combiner == Combiner::Max) ? b : a;
}

/// Integers of so many bits; `sign`: they have one.
inline uint64_t combineIntegers(Combiner combiner, uint64_t a, uint64_t b, int bits, bool sign) {
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  auto extend = [&](uint64_t value) { return int64_t(value << (64 - bits)) >> (64 - bits); };
  if (combiner == Combiner::Sum || combiner == Combiner::Product || !sign)
    return combineValues<uint64_t>(combiner, a, b) & mask;
  return uint64_t(combineValues<int64_t>(combiner, extend(a), extend(b))) & mask;
}

/// The combination of elements in their order.
inline uint64_t combineBits(ElementType type, Combiner combiner,
                            const std::vector<uint64_t> &each) {
  if (each.size() == 1)
    return each[0];
  if (isNarrowFloat(type)) {
    NarrowFormat format = formatOf(type);
    auto value = float(decode(format, each[0]));
    for (size_t i = 1; i < each.size(); ++i)
      value = combineValues(combiner, value, float(decode(format, each[i])));
    return encode(format, value);
  }
  uint64_t result = each[0];
  for (size_t i = 1; i < each.size(); ++i)
    if (type == ElementType::F32)
      result =
          std::bit_cast<uint32_t>(combineValues(combiner, std::bit_cast<float>(uint32_t(result)),
                                                std::bit_cast<float>(uint32_t(each[i]))));
    else if (type == ElementType::F64)
      result = std::bit_cast<uint64_t>(
          combineValues(combiner, std::bit_cast<double>(result), std::bit_cast<double>(each[i])));
    else
      result = combineIntegers(combiner, result, each[i],
                               type == ElementType::I1 ? 1 : int(8 * byteSize(type)),
                               type >= ElementType::I8 && type <= ElementType::I64);
  return result;
}

inline bool isNan(ElementType type, uint64_t bits) {
  return type == ElementType::F64 ? std::isnan(std::bit_cast<double>(bits))
         : type == ElementType::F32
             ? std::isnan(std::bit_cast<float>(uint32_t(bits)))
             : isNarrowFloat(type) && std::isnan(decode(formatOf(type), bits));
}

/// Elements in memory, by their bits.
class Elements {
public:
  Elements(ElementType type, int64_t count)
      : type(type), bytes(size_t(count * byteSize(type)) + 1, '\x5a') {}
  int64_t count() const { return (int64_t(bytes.size()) - 1) / byteSize(type); }
  void *at(int64_t index) { return bytes.data() + index * byteSize(type); }
  uint64_t get(int64_t index) const {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + index * byteSize(type), size_t(byteSize(type)));
    return value;
  }
  void set(int64_t index, uint64_t value) {
    std::memcpy(at(index), &value, size_t(byteSize(type)));
  }
  /// The byte behind the last element is as it was.
  bool intact() const { return bytes.back() == '\x5a'; }

  const ElementType type;

private:
  std::vector<char> bytes;
};

/// The bits of an element of a member's input: any bits at all, often those of ordinary numbers.
inline uint64_t inputBits(ElementType type, int64_t member, int64_t index, int64_t salt) {
  uint64_t mixed = uint64_t(salt * 1000003 + member * 7919 + index + 1) * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58476d1ce4e5b9u;
  mixed ^= mixed >> 32;
  if (type == ElementType::I1)
    return mixed & 1;
  bool ordinary = mixed >> 60 != 0;
  if (type == ElementType::F32 && ordinary)
    return std::bit_cast<uint32_t>(float(int32_t(mixed)) / 65536);
  if (type == ElementType::F64 && ordinary)
    return std::bit_cast<uint64_t>(double(int64_t(mixed)) / 65536);
  int bits = int(8 * byteSize(type));
  return bits == 64 ? mixed : mixed & ((uint64_t(1) << bits) - 1);
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_RUNTIME_COLLECTIVES_REFERENCE_H
