//===- BuiltinsTest.cpp - functions without an instruction ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Our functions have the same bits as the C library's, on numbers of all magnitudes and on special
// values.
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/Builtins.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <sys/mman.h>

using namespace heddle;

namespace {

/// The builtins, mapped for execution.
class Mapped {
public:
  Mapped() {
    auto block = cpu::link({cpu::allBuiltins()});
    if (!block) {
      ADD_FAILURE() << llvm::toString(block.takeError());
      return;
    }
    symbols = block->symbols;
    bytes = block->bytes.size();
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(data, block->bytes.data(), bytes);
    mprotect(data, bytes, PROT_READ | PROT_EXEC);
  }
  ~Mapped() {
    if (data)
      munmap(data, bytes);
  }
  template <typename Function>
  Function *get(const std::string &name) {
    auto found = symbols.find(name);
    EXPECT_NE(found, symbols.end()) << name;
    return reinterpret_cast<Function *>(static_cast<char *>(data) + found->second);
  }

private:
  std::map<std::string, int64_t> symbols;
  void *data = nullptr;
  size_t bytes = 0;
};

template <typename Float, typename Bits>
std::vector<Float> samples() {
  std::vector<Float> all = {0,
                            Float(-0.0),
                            1,
                            -1,
                            Float(0.5),
                            Float(-0.5),
                            Float(1.5),
                            2.5,
                            Float(-2.5),
                            1e30f,
                            -1e30f,
                            Float(0.49999997),
                            Float(8388607.5),
                            INFINITY,
                            -INFINITY,
                            NAN,
                            std::numeric_limits<Float>::denorm_min(),
                            std::numeric_limits<Float>::min(),
                            std::numeric_limits<Float>::max()};
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    Bits bits = Bits(random());
    Float value;
    memcpy(&value, &bits, sizeof(value));
    all.push_back(value);
    all.push_back(
        Float(std::ldexp(double(random()) / double(UINT64_MAX) - 0.5, int(random() % 64))));
  }
  return all;
}

template <typename Float>
bool sameBits(Float a, Float b) {
  return (std::isnan(a) && std::isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

TEST(Builtins, RoundingEqualsTheLibrary) {
  Mapped code;
  std::pair<const char *, double (*)(double)> doubles[] = {
      {"trunc", std::trunc}, {"floor", std::floor}, {"ceil", std::ceil},
      {"round", std::round}, {"rint", std::rint},   {"nearbyint", std::nearbyint}};
  for (auto [name, expected] : doubles)
    for (double x : samples<double, uint64_t>())
      ASSERT_TRUE(sameBits(code.get<double(double)>(name)(x), expected(x))) << name << " " << x;
  std::pair<const char *, float (*)(float)> floats[] = {
      {"truncf", std::trunc}, {"floorf", std::floor}, {"ceilf", std::ceil},
      {"roundf", std::round}, {"rintf", std::rint},   {"nearbyintf", std::nearbyint}};
  for (auto [name, expected] : floats)
    for (float x : samples<float, uint32_t>())
      ASSERT_TRUE(sameBits(code.get<float(float)>(name)(x), expected(x))) << name << " " << x;
}

TEST(Builtins, FusedMultiplyAddRoundsOnce) {
  Mapped code;
  auto *fma64 = code.get<double(double, double, double)>("fma");
  auto *fma32 = code.get<float(float, float, float)>("fmaf");
  auto doubles = samples<double, uint64_t>();
  auto floats = samples<float, uint32_t>();
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    double a = doubles[random() % doubles.size()], b = doubles[random() % doubles.size()],
           c = i % 2 ? doubles[random() % doubles.size()] : -(a * b) * (1 + 1e-15 * (random() % 5));
    ASSERT_TRUE(sameBits(fma64(a, b, c), std::fma(a, b, c))) << a << " " << b << " " << c;
    float x = floats[random() % floats.size()], y = floats[random() % floats.size()],
          z = i % 2 ? floats[random() % floats.size()] : -(x * y);
    ASSERT_TRUE(sameBits(fma32(x, y, z), std::fma(x, y, z))) << x << " " << y << " " << z;
  }
}

TEST(Builtins, RemaindersAreExact) {
  Mapped code;
  auto *fmod64 = code.get<double(double, double)>("fmod");
  auto *fmod32 = code.get<float(float, float)>("fmodf");
  auto doubles = samples<double, uint64_t>();
  auto floats = samples<float, uint32_t>();
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    double a = doubles[random() % doubles.size()], b = doubles[random() % doubles.size()];
    ASSERT_TRUE(sameBits(fmod64(a, b), std::fmod(a, b))) << a << " " << b;
    float x = floats[random() % floats.size()], y = floats[random() % floats.size()];
    ASSERT_TRUE(sameBits(fmod32(x, y), std::fmod(x, y))) << x << " " << y;
  }
}

TEST(Builtins, HalvesThereAndBack) {
  Mapped code;
  auto *extend = code.get<float(_Float16)>("__extendhfsf2");
  auto *truncate = code.get<_Float16(float)>("__truncsfhf2");
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint16_t half = uint16_t(bits), back;
    _Float16 value;
    memcpy(&value, &half, 2);
    float wide = extend(value);
    ASSERT_TRUE(sameBits(wide, float(value))) << bits;
    _Float16 narrow = truncate(wide);
    memcpy(&back, &narrow, 2);
    if (!std::isnan(wide)) {
      ASSERT_EQ(back, half);
    }
  }
  for (float x : samples<float, uint32_t>())
    ASSERT_TRUE(sameBits(float(truncate(x)), float(_Float16(x)))) << x;
}

// GPUs without halves call functions of their bits.
TEST(Builtins, HalvesAsBits) {
  Mapped code;
  auto *wide = code.get<float(uint16_t)>("heddle_half_to_float");
  auto *ofFloat = code.get<uint16_t(float)>("heddle_float_to_half");
  auto *ofDouble = code.get<uint16_t(double)>("heddle_double_to_half");
  auto isBits = [](uint16_t bits, _Float16 expected) {
    _Float16 half;
    memcpy(&half, &bits, 2);
    return sameBits(float(half), float(expected));
  };
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    ASSERT_TRUE(isBits(uint16_t(bits), _Float16(wide(uint16_t(bits))))) << bits;
    // The half itself, and what lies beside the middle between it and the next one.
    float x = wide(uint16_t(bits)), next = wide(uint16_t(bits + 1)), middle = x / 2 + next / 2;
    for (float y : {x, middle, std::nextafter(middle, x), std::nextafter(middle, next)}) {
      ASSERT_TRUE(isBits(ofFloat(y), _Float16(y))) << y;
      for (double z : {double(y), std::nextafter(double(y), -1e9), std::nextafter(double(y), 1e9)})
        ASSERT_TRUE(isBits(ofDouble(z), _Float16(z))) << z;
    }
  }
  for (float x : samples<float, uint32_t>())
    ASSERT_TRUE(isBits(ofFloat(x), _Float16(x))) << x;
}

} // namespace
