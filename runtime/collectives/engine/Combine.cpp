//===- Combine.cpp - sums, products, max and min of arrays ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Combines pieces that fit the first-level cache, in loops that compilers vectorise: conversions of
// narrow floats have no branches or calls.
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/CollectivePhases.h"

#include <algorithm>
#include <bit>

using namespace heddle;

namespace {
/// Elements that are computed in their storage type.
template <typename T>
struct Plain {
  using Stored = T;
  using Computed = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

/// Booleans: integers modulo 2.
struct Bit {
  using Stored = uint8_t;
  using Computed = uint8_t;
  static uint8_t load(uint8_t value) { return value & 1; }
  static uint8_t store(uint8_t value) { return value & 1; }
};

/// Floats narrower than f32, which are computed in f32. `finite`: there are no infinities, and the
/// only NaN has all bits set except the sign.
template <typename Bits, int exponentBits, int fractionBits, bool finite = false>
struct Narrow {
  using Stored = Bits;
  using Computed = float;
  static constexpr int shift = 23 - fractionBits, bias = (1 << (exponentBits - 1)) - 1;
  static constexpr uint32_t sign = 1u << (exponentBits + fractionBits);
  static constexpr uint32_t infinity = (sign - 1) >> fractionBits << fractionBits;
  static constexpr uint32_t nan = finite ? sign - 1 : infinity | 1u << (fractionBits - 1);
  static constexpr uint32_t firstSpecial = finite ? nan : infinity;

  static float load(Bits bits) {
    uint32_t magnitude = bits & (sign - 1);
    // A float with the same exponent field; the multiplication corrects the bias, also for
    // subnormals.
    constexpr float scale = std::bit_cast<float>(uint32_t(254 - bias) << 23);
    uint32_t value = magnitude << shift;
    if constexpr (bias != 127)
      value = std::bit_cast<uint32_t>(std::bit_cast<float>(value) * scale);
    value = magnitude >= firstSpecial ? value | 0x7f800000 | (finite ? 0x400000 : 0) : value;
    return std::bit_cast<float>(value | uint32_t(bits & sign)
                                            << (31 - exponentBits - fractionBits));
  }

  /// Rounds to nearest, ties to even.
  static Bits store(float from) {
    uint32_t all = std::bit_cast<uint32_t>(from), magnitude = all & 0x7fffffff;
    uint32_t odd = magnitude >> shift & 1;
    uint32_t rounded = magnitude + (1u << (shift - 1)) - 1 + odd;
    uint32_t result = (rounded - (uint32_t(127 - bias) << 23)) >> shift;
    if constexpr (bias != 127) {
      // Adding a number whose last bit is the unit of the subnormals rounds to that unit.
      constexpr uint32_t unit = uint32_t(1 - bias - fractionBits + 23 + 127) << 23;
      float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(unit);
      uint32_t small = std::bit_cast<uint32_t>(sum) - unit;
      result = magnitude < uint32_t(128 - bias) << 23 ? small : result;
    }
    uint32_t largest = finite ? nan : infinity;
    result = rounded >= uint32_t(128 + 127) << 23 || result > largest ? largest : result;
    result = magnitude > 0x7f800000 ? nan : result;
    return Bits(result | (all >> (31 - exponentBits - fractionBits) & sign));
  }
};

struct Sum {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return T(uint64_t(a) + uint64_t(b));
  }
};

struct Product {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return T(uint64_t(a) * uint64_t(b));
  }
};

/// The larger or smaller operand. Propagates NaN, and orders -0 before +0.
template <bool larger>
struct Extreme {
  template <typename T>
  static T apply(T a, T b) {
    T first = larger ? a : b, second = larger ? b : a;
    if constexpr (std::is_floating_point_v<T>) {
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      Bits x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
      T equal = std::bit_cast<T>(larger ? Bits(x & y) : Bits(x | y));
      T ordered = first > second ? a : first < second ? b : equal;
      return a != a || b != b ? a + b : ordered;
    } else {
      return first > second ? a : b;
    }
  }
};

/// output[i] = f(a[i], b[i]). `a` and `b` may alias `output`.
template <typename T, typename A, typename B, typename F>
[[gnu::always_inline]] inline void each(T *output, const A *a, const B *b, int64_t count, F &&f) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i)
    output[i] = f(a[i], b[i]);
}

template <typename Format, typename Combiner>
[[gnu::always_inline]] inline void combineAs(const void *const *inputs, int members, void *output,
                                             int64_t count) {
  using Stored = typename Format::Stored;
  using Computed = typename Format::Computed;
  constexpr int64_t piece = 1024;
  Computed values[piece];
  auto load = [](Stored a, Stored) { return Format::load(a); };
  auto first = [](Stored a, Stored b) { return Combiner::apply(Format::load(a), Format::load(b)); };
  auto next = [](Computed a, Stored b) { return Combiner::apply(a, Format::load(b)); };
  for (int64_t begin = 0; begin < count; begin += piece) {
    int64_t length = std::min(piece, count - begin);
    auto input = [&](int member) { return static_cast<const Stored *>(inputs[member]) + begin; };
    auto *to = static_cast<Stored *>(output) + begin;
    auto *last = input(members - 1);
    if (members == 1) {
      each(to, last, last, length, [=](Stored a, Stored b) { return Format::store(load(a, b)); });
    } else if (members == 2) {
      each(to, input(0), last, length,
           [=](Stored a, Stored b) { return Format::store(first(a, b)); });
    } else {
      each(values, input(0), input(1), length, first);
      for (int member = 2; member < members - 1; ++member)
        each(values, values, input(member), length, next);
      each(to, values, last, length,
           [=](Computed a, Stored b) { return Format::store(next(a, b)); });
    }
  }
}

/// A list of types, selected by position.
template <typename... Types>
struct OneOf {
  static constexpr size_t count = sizeof...(Types);
  template <typename F>
  [[gnu::always_inline]] static void call(size_t position, F &&in) {
    size_t next = 0;
    ((next++ == position ? in.template operator()<Types>() : void()), ...);
  }
};
using Combiners = OneOf<Sum, Product, Extreme<true>, Extreme<false>>;
using Formats = OneOf<Bit, Plain<int8_t>, Plain<int16_t>, Plain<int32_t>, Plain<int64_t>,
                      Plain<uint8_t>, Plain<uint16_t>, Plain<uint32_t>, Plain<uint64_t>,
                      Narrow<uint16_t, 5, 10>, Narrow<uint16_t, 8, 7>, Plain<float>, Plain<double>,
                      Narrow<uint8_t, 4, 3, true>, Narrow<uint8_t, 5, 2>>;
static_assert(Formats::count == std::size(heddle::detail::elementTypes));
} // namespace

// The loader selects the version for the CPU.
#if defined(__x86_64__)
__attribute__((target_clones("avx512bw", "avx2", "default")))
#endif
static void combineBy(ElementType type, int32_t combiner, const void *const *inputs, int members,
                      void *output, int64_t count) {
  Formats::call(size_t(type), [&]<typename Format>() __attribute__((always_inline)) {
    Combiners::call(size_t(combiner), [&]<typename Combiner>() __attribute__((always_inline)) {
      combineAs<Format, Combiner>(inputs, members, output, count);
    });
  });
}

void collectives::combine(ElementType type, int32_t combiner, const void *const *inputs,
                          int members, void *output, int64_t count) {
  combineBy(type, combiner, inputs, members, output, count);
}
