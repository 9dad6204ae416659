/*===- Builtins.c - functions that instruction sets lack -------------------===*
 *
 * Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Compiled separately, for the oldest CPU of the architecture; the bytes of the
 * object are part of the compiler (Builtins.h). Rounding is to nearest, ties to
 * even. bf16 and half are passed in the same registers, so _Float16 stands for both.
 * It is also compiled to LLVM bitcode for GPUs (lib/target/gpu/Builtins.cmake).
 *
 *===----------------------------------------------------------------------===*/

#include <stddef.h>
#include <stdint.h>

/* Where tables lie; a GPU has an address space for constants. */
#ifndef HEDDLE_CONSTANT
#define HEDDLE_CONSTANT
#endif

typedef union {
  float f;
  uint32_t u;
} Single;
typedef union {
  double f;
  uint64_t u;
} Double;
typedef union {
  _Float16 f;
  uint16_t u;
} Half;

/*===- Memory --------------------------------------------------------------===*/

void *memcpy(void *to, const void *from, size_t bytes) {
  void *result = to;
#if defined(__x86_64__)
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
  for (size_t i = 0; i < bytes; ++i)
    ((volatile char *)to)[i] = ((const char *)from)[i];
#endif
  return result;
}

void *memmove(void *to, const void *from, size_t bytes) {
  if ((uintptr_t)to - (uintptr_t)from >= bytes)
    return memcpy(to, from, bytes);
  for (size_t i = bytes; i-- > 0;)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memset(void *to, int byte, size_t bytes) {
  void *result = to;
#if defined(__x86_64__)
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(byte) : "memory");
#else
  for (size_t i = 0; i < bytes; ++i)
    ((volatile char *)to)[i] = (char)byte;
#endif
  return result;
}

/*===- Rounding to integers ------------------------------------------------===*/

float truncf(float x) {
  Single v = {x};
  int exponent = (int)(v.u >> 23 & 0xff) - 127;
  if (exponent >= 23)
    return x;
  v.u &= exponent < 0 ? 0x80000000u : ~(0x7fffffu >> exponent);
  return v.f;
}
double trunc(double x) {
  Double v = {x};
  int exponent = (int)(v.u >> 52 & 0x7ff) - 1023;
  if (exponent >= 52)
    return x;
  v.u &= exponent < 0 ? (uint64_t)1 << 63 : ~((((uint64_t)1 << 52) - 1) >> exponent);
  return v.f;
}

static float signLikeF(float x, float like) {
  Single v = {x}, l = {like};
  v.u = (v.u & 0x7fffffffu) | (l.u & 0x80000000u);
  return v.f;
}
static double signLike(double x, double like) {
  const uint64_t sign = (uint64_t)1 << 63;
  Double v = {x}, l = {like};
  v.u = (v.u & ~sign) | (l.u & sign);
  return v.f;
}

float floorf(float x) {
  float t = truncf(x);
  return t > x ? t - 1 : t;
}
double floor(double x) {
  double t = trunc(x);
  return t > x ? t - 1 : t;
}
float ceilf(float x) {
  float t = truncf(x);
  return t < x ? signLikeF(t + 1, x) : t;
}
double ceil(double x) {
  double t = trunc(x);
  return t < x ? signLike(t + 1, x) : t;
}
float roundf(float x) {
  float t = truncf(x), rest = signLikeF(x - t, 1);
  return rest >= 0.5f ? t + signLikeF(1, x) : t;
}
double round(double x) {
  double t = trunc(x), rest = signLike(x - t, 1);
  return rest >= 0.5 ? t + signLike(1, x) : t;
}
/* Adding 2^23, the last number before which floats have fractions, rounds. */
float roundevenf(float x) {
  float big = signLikeF(8388608.0f, x);
  return signLikeF(x, 1) < 8388608.0f ? signLikeF((x + big) - big, x) : x;
}
double roundeven(double x) {
  double big = signLike(4503599627370496.0, x);
  return signLike(x, 1) < 4503599627370496.0 ? signLike((x + big) - big, x) : x;
}
float rintf(float x) { return roundevenf(x); }
double rint(double x) { return roundeven(x); }
float nearbyintf(float x) { return roundevenf(x); }
double nearbyint(double x) { return roundeven(x); }

/*===- Fused multiply-add --------------------------------------------------===*/

float fmaf(float a, float b, float c) {
  /* The product is exact in double. The sum is rounded to odd, so that rounding it again to float
     rounds once. */
  double product = (double)a * b;
  Double sum = {product + c};
  double back = sum.f - product;
  double error = (product - (sum.f - back)) + (c - back);
  int isFinite = (sum.u >> 52 & 0x7ff) != 0x7ff;
  if (isFinite && error != 0 && !(sum.u & 1))
    sum.u += (error > 0) == (sum.f > 0) ? 1 : (uint64_t)-1;
  return (float)sum.f;
}

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 Wide;
#else
typedef uint64_t Wide; /* a GPU: it has fma, the only function that needs more bits */
#endif

/* mantissa * 2^exponent, rounded; bits below the mantissa were kept as its last bit ("sticky"). */
static double assemble(uint64_t sign, Wide mantissa, int exponent) {
  if (mantissa == 0)
    return signLike(0, (Double){.u = sign}.f);
#ifdef __SIZEOF_INT128__
  int top = mantissa >> 64 ? 127 - __builtin_clzll((uint64_t)(mantissa >> 64))
                           : 63 - __builtin_clzll((uint64_t)mantissa);
#else
  int top = 63 - __builtin_clzll(mantissa);
#endif
  int drop = top - 52; /* of bits, to leave 53 */
  if (exponent + drop < -1074)
    drop = -1074 - exponent;
  uint64_t kept;
  if (drop <= 0) {
    kept = (uint64_t)(mantissa << -drop);
  } else if (drop > 127) {
    kept = 0;
  } else {
    Wide rest = mantissa & (((Wide)1 << drop) - 1), half = (Wide)1 << (drop - 1);
    kept = (uint64_t)(mantissa >> drop);
    kept += rest > half || (rest == half && (kept & 1));
  }
  /* kept * 2^(exponent + drop), kept <= 2^53 */
  int64_t biased = exponent + drop + 1074;
  Double result;
  if (kept >> 52)
    result.u = ((uint64_t)(biased + 1) << 52) + (kept - ((uint64_t)1 << 52));
  else
    result.u = kept;
  if (biased + 1 >= 0x7ff || result.u >= (uint64_t)0x7ff << 52)
    result.u = (uint64_t)0x7ff << 52;
  result.u |= sign;
  return result.f;
}

static void take(double x, uint64_t *mantissa, int *exponent) {
  Double v = {x};
  int biased = (int)(v.u >> 52 & 0x7ff);
  *mantissa = v.u & (((uint64_t)1 << 52) - 1);
  if (biased)
    *mantissa |= (uint64_t)1 << 52;
  *exponent = (biased ? biased : 1) - 1075;
}

#ifdef __SIZEOF_INT128__
double fma(double a, double b, double c) {
  const uint64_t signBit = (uint64_t)1 << 63;
  Double va = {a}, vb = {b}, vc = {c};
  if ((va.u >> 52 & 0x7ff) == 0x7ff || (vb.u >> 52 & 0x7ff) == 0x7ff || a == 0 || b == 0)
    return a * b + c;
  if ((vc.u >> 52 & 0x7ff) == 0x7ff)
    return c; /* even if a * b does not fit in a double */
  uint64_t ma, mb, mc;
  int ea, eb, ec;
  take(a, &ma, &ea);
  take(b, &mb, &eb);
  take(c, &mc, &ec);
  uint64_t signP = (va.u ^ vb.u) & signBit, signC = vc.u & signBit;
  Wide p = (Wide)ma * mb, q = mc;
  int ep = ea + eb;
  if (mc == 0)
    return assemble(signP, p, ep);
  /* Both get room: p < 2^106 moves up by 20, q < 2^53 by 73; then the smaller one moves down, what
     falls off staying as its last bit. */
  p <<= 20, ep -= 20;
  q <<= 73, ec -= 73;
  int distance = ep - ec;
  Wide *down = distance > 0 ? &q : &p;
  int by = distance > 0 ? distance : -distance;
  if (by > 126)
    *down = *down != 0;
  else if (by)
    *down = *down >> by | ((*down & (((Wide)1 << by) - 1)) != 0);
  int exponent = distance > 0 ? ep : ec;
  if (signP == signC)
    return assemble(signP, p + q, exponent);
  if (p == q)
    return 0;
  return p > q ? assemble(signP, p - q, exponent) : assemble(signC, q - p, exponent);
}
#endif

/*===- Remainders ----------------------------------------------------------===*/

double fmod(double x, double y) {
  Double vx = {x}, vy = {y};
  const uint64_t signBit = (uint64_t)1 << 63;
  uint64_t sign = vx.u & signBit;
  if (y == 0 || y != y || (vx.u >> 52 & 0x7ff) == 0x7ff)
    return (x * y) / (x * y);
  vx.u &= ~signBit, vy.u &= ~signBit;
  if (vx.f < vy.f)
    return x;
  uint64_t mx, my;
  int ex, ey;
  take(vx.f, &mx, &ex);
  take(vy.f, &my, &ey);
  /* my * 2^ey <= mx * 2^ex; the remainder is below my * 2^ey. */
  for (mx %= my; ex > ey && mx; --ex)
    mx = (mx << 1) % my;
  return assemble(sign, mx, ey);
}
float fmodf(float x, float y) { return (float)fmod(x, y); }

/*===- Half precision ------------------------------------------------------===*/

/* The functions of halves as bits are for GPUs that have no type for them. */
float heddle_half_to_float(uint16_t x) {
  uint32_t exponent = x >> 10 & 31, fraction = x & 1023;
  Single v;
  if (exponent == 31) {
    v.u = 0x7f800000u | fraction << 13 | (fraction ? 0x400000u : 0);
  } else if (exponent) {
    v.u = (exponent + 112) << 23 | fraction << 13;
  } else {
    v.f = (float)(int32_t)fraction * 5.9604644775390625e-8f; /* 2^-24 */
  }
  v.u |= (uint32_t)(x & 0x8000u) << 16;
  return v.f;
}
float __extendhfsf2(_Float16 x) {
  Half h = {x};
  return heddle_half_to_float(h.u);
}
double __extendhfdf2(_Float16 x) { return __extendhfsf2(x); }

/* Rounds x to a format with `fractionBits` bits of fraction and exponents up to `maxExponent`;
   returns its bits. */
static uint16_t narrow(double x, int fractionBits, int maxExponent) {
  Double v = {x};
  uint16_t sign = (uint16_t)(v.u >> 48 & 0x8000u);
  uint16_t infinity = (uint16_t)(0x7fffu & ~((1u << fractionBits) - 1));
  if (x != x)
    return (uint16_t)(sign | infinity | 1u << (fractionBits - 1) |
                      ((v.u >> (52 - fractionBits)) & ((1u << fractionBits) - 1)));
  if ((v.u >> 52 & 0x7ff) == 0x7ff)
    return sign | infinity;
  int exponent = (int)(v.u >> 52 & 0x7ff) - 1023, least = 1 - maxExponent;
  uint64_t mantissa = v.u & (((uint64_t)1 << 52) - 1);
  if (exponent > -1023)
    mantissa |= (uint64_t)1 << 52;
  int drop = 52 - fractionBits + (exponent < least ? least - exponent : 0);
  if (drop > 54)
    return sign;
  uint64_t rest = mantissa & (((uint64_t)1 << drop) - 1), half = (uint64_t)1 << (drop - 1);
  uint64_t kept = mantissa >> drop;
  kept += rest > half || (rest == half && (kept & 1));
  /* A carry out of the fraction increments the exponent, which is the correct result. */
  if (exponent >= least)
    kept += (uint64_t)(exponent - least) << fractionBits;
  return sign | (uint16_t)(kept >= infinity ? infinity : kept);
}

uint16_t heddle_double_to_half(double x) { return narrow(x, 10, 15); }
/* Without f64, which a device may lack. */
uint16_t heddle_float_to_half(float x) {
  Single v = {x};
  uint16_t sign = (uint16_t)(v.u >> 16 & 0x8000u);
  v.u &= 0x7fffffffu;
  if (v.u > 0x7f800000u)
    return (uint16_t)(sign | 0x7e00u | (v.u >> 13 & 1023));
  if (v.u >= 0x477ff000u) /* 65520 */
    return sign | 0x7c00u;
  if (v.u < 0x38800000u) { /* below 2^-14: an integer times 2^-24, as the last bits of a sum */
    v.f += 0.5f;
    return (uint16_t)(sign | (v.u - 0x3f000000u));
  }
  v.u += 0xfffu + (v.u >> 13 & 1); /* to nearest, ties to even; may carry into the exponent */
  return (uint16_t)(sign | ((v.u - (112u << 23)) >> 13));
}
_Float16 __truncdfhf2(double x) {
  Half h;
  h.u = heddle_double_to_half(x);
  return h.f;
}
_Float16 __truncsfhf2(float x) { return __truncdfhf2(x); }
_Float16 __truncdfbf2(double x) {
  Half h;
  h.u = narrow(x, 7, 127);
  return h.f;
}
_Float16 __truncsfbf2(float x) { return __truncdfbf2(x); }

#include "BuiltinsMath.h"
