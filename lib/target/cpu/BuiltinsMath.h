/*===- BuiltinsMath.h - mathematical functions --------------------*- C -*-===*
 *
 * Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Included by Builtins.c, so that there is one object. Code generation evaluates
 * polynomials on vectors of f32; for all other types, f64 above all, it calls
 * these functions, one element at a time. Their error is a few units in the last
 * place. Each reduces its argument exactly and sums a series that converges fast.
 *
 *===----------------------------------------------------------------------===*/

#ifndef HEDDLE_LIB_TARGET_CPU_BUILTINSMATH_H
#define HEDDLE_LIB_TARGET_CPU_BUILTINSMATH_H

static const double notANumber = __builtin_nan(""), infinite = __builtin_inf();
static const double ln2 = 0x1.62e42fefa39efp-1;
/* ln 2 as the sum of two numbers. The first has 32 bits, so that its products with exponents are
   exact. */
static const double ln2High = 0x1.62e42feep-1, ln2Low = 0x1.a39ef35793c76p-33;

/* x * 2^n, also where 2^n overflows or underflows. */
static double scaled(double x, int n) {
  for (; n > 1000; n -= 1000)
    x *= 0x1p1000;
  for (; n < -1000; n += 1000)
    x *= 0x1p-1000;
  Double power;
  power.u = (uint64_t)(n + 1023) << 52;
  return x * power.f;
}

/* a * b as the exact sum of the result and *low (Dekker, Numerische Mathematik 18, 1971). */
static double product(double a, double b, double *low) {
  double p = a * b, ca = 0x1.0000002p27 * a, cb = 0x1.0000002p27 * b;
  double ah = ca - (ca - a), al = a - ah, bh = cb - (cb - b), bl = b - bh;
  *low = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
  return p;
}

/*===- Exponentials ---------------------------------------------------------===*/

/* e^r - 1 for |r| <= 0.35. */
static double smallExponential(double r) {
  double sum = 0;
  for (int k = 14; k >= 2; --k)
    sum = (sum + 1) * r / k;
  return r + r * sum;
}
/* e^(x + low) for a finite x. */
static double exponential(double x, double low) {
  if (x > 710)
    return infinite;
  if (x < -746)
    return 0;
  double k = roundeven(x / ln2), r = (x - k * ln2High) - (k * ln2Low - low);
  return scaled(1 + smallExponential(r), (int)k);
}
double exp(double x) { return x != x ? x : exponential(x, 0); }
double exp2(double x) {
  if (x != x)
    return x;
  if (x > 1025)
    return infinite;
  if (x < -1080)
    return 0;
  double k = roundeven(x);
  return scaled(1 + smallExponential((x - k) * ln2), (int)k);
}
double exp10(double x) {
  if (!(signLike(x, 1) < 400))
    return x > 0 ? infinite : x < 0 ? 0 : x;
  double low, high = product(x, 0x1.26bb1bbb55516p1, &low);
  return exponential(high, low + x * -0x1.f48ad494ea3e9p-53);
}
double ldexp(double x, int n) { return scaled(x, n < -4000 ? -4000 : n > 4000 ? 4000 : n); }
double expm1(double x) {
  if (!(signLike(x, 1) < 40))
    return exp(x) - 1;
  double k = roundeven(x / ln2), power = scaled(1, (int)k);
  return signLike(power * smallExponential((x - k * ln2High) - k * ln2Low) + (power - 1), x);
}
double tanh(double x) {
  double size = signLike(x, 1);
  if (!(size < 22))
    return x != x ? x : signLike(1, x);
  double t = expm1(2 * size);
  return signLike(t / (t + 2), x);
}

/*===- Logarithms -----------------------------------------------------------===*/

/* log((1 + s) / (1 - s)) - 2 s for |s| <= 0.18. */
static double logarithmTail(double s) {
  double z = s * s, sum = 0;
  for (int k = 23; k >= 3; k -= 2)
    sum = sum * z + 2.0 / k;
  return s * z * sum;
}
/* Returns f and k such that x = (1 + f) 2^k and 1 + f is in [sqrt(1/2), sqrt(2)], for a finite
   positive x. */
static double parts(double x, int *k) {
  Double v = {x};
  *k = 0;
  if (v.u >> 52 == 0) {
    v.f = x * 0x1p54;
    *k = -54;
  }
  *k += (int)(v.u >> 52) - 1023;
  v.u = (v.u & ((uint64_t)1 << 52) - 1) | (uint64_t)1023 << 52;
  if (v.f > 0x1.6a09e667f3bcdp0) {
    v.f *= 0.5;
    ++*k;
  }
  return v.f - 1;
}
/* Sets *result to the logarithm of 0, a negative number, infinity or NaN; returns 0 for other x. */
static int isSpecial(double x, double *result) {
  *result = x == 0 ? -infinite : x < 0 ? notANumber : x;
  return !(x > 0 && x < infinite);
}
/* a + b as the exact sum of the result and *low, its rounding error (Knuth, TAOCP 2, 4.2.2). */
static double sum(double a, double b, double *low) {
  double s = a + b, back = s - a;
  *low = (a - (s - back)) + (b - back);
  return s;
}
/* The natural logarithm of a finite positive x as the sum of the result and the small number *low.
   pow multiplies its error by up to 1100; therefore the rounding errors of the first terms of
   2 s + 2/3 s^3 + ... are added to *low. */
static double logarithm(double x, double *low) {
  int k;
  double f = parts(x, &k), d = 2 + f, lost = f - (d - 2), s = f / d, error, squareLow, cubeLow,
         thirdLow;
  double back = product(s, d, &error);
  double rest = (((f - back) - error) - s * lost) / d;
  double z = product(s, s, &squareLow), cube = product(s, z, &cubeLow);
  double third = product(cube, 0x1.5555555555555p-1, &thirdLow), series = 0;
  for (int n = 23; n >= 5; n -= 2)
    series = series * z + 2.0 / n;
  thirdLow += cube * 0x1.5555555555555p-55 + (cubeLow + s * squareLow) * 0x1.5555555555555p-1;
  double oneLow, twoLow, one = sum(k * ln2High, 2 * s, &oneLow), two = sum(one, third, &twoLow);
  double tail = 2 * rest * (1 + z) + cube * z * series + thirdLow;
  return sum(two, oneLow + twoLow + tail + k * ln2Low, low);
}
double log(double x) {
  double low, special;
  return isSpecial(x, &special) ? special : logarithm(x, &low) + low;
}
double log2(double x) {
  double special, low;
  int k;
  if (isSpecial(x, &special))
    return special;
  double high = logarithm(1 + parts(x, &k), &low);
  return k + (high + low) / ln2;
}
double log10(double x) {
  double special, low, error;
  if (isSpecial(x, &special))
    return special;
  double high = logarithm(x, &low), digits = product(high, 0x1.bcb7b1526e50ep-2, &error);
  /* 1 / ln 10 as the sum of two numbers */
  return digits + (error + (high * 0x1.95355baaafad3p-57 + low * 0x1.bcb7b1526e50ep-2));
}
double log1p(double x) {
  double sum = 1 + x, s = x / (2 + x), low, special;
  if (x > -0.29 && x < 0.41)
    return x == 0 ? x : 2 * s + logarithmTail(s);
  if (isSpecial(sum, &special))
    return special;
  double result = logarithm(sum, &low);
  return result + (low + (sum < 0x1p53 ? (x - (sum - 1)) / sum : 0));
}

double pow(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (x != x || y != y)
    return notANumber;
  double size = signLike(x, 1), sign = 1;
  int integral = trunc(y) == y, odd = integral && signLike(y, 1) < 0x1p53 && fmod(y, 2) != 0;
  Double v = {x};
  if (v.u >> 63) {
    if (odd)
      sign = -1;
    else if (!integral && x != 0 && size < infinite)
      return notANumber;
  }
  if (size == 1)
    return sign;
  if (signLike(y, 1) == infinite)
    return (size > 1) == (y > 0) ? infinite : 0;
  if (size == 0 || size == infinite)
    return sign * ((size == 0) == (y > 0) ? 0 : infinite);
  double low, error, high = logarithm(size, &low);
  if (signLike(y * high, 1) > 800)
    return sign * (y * high > 0 ? infinite : 0);
  double p = product(y, high, &error);
  return sign * exponential(p, error + y * low);
}

/*===- Sine and cosine ------------------------------------------------------===*/

/* The bits of 2 / pi after the binary point. */
HEDDLE_CONSTANT static const uint64_t twoOverPi[] = {
    0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u,
    0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u,
    0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu,
    0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu,
    0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu, 0xf0cfbc209af4361du};

/* The 64 bits of 2 / pi from bit `at` after the binary point; bits before the point are zero. */
static uint64_t bitsAt(int at) {
  if (at <= -64)
    return 0;
  if (at < 0)
    return twoOverPi[0] >> -at;
  uint64_t word = twoOverPi[at / 64];
  return at % 64 ? word << at % 64 | twoOverPi[at / 64 + 1] >> (64 - at % 64) : word;
}

#ifndef __SIZEOF_INT128__
/* The upper 64 bits of a * b. Optimised, it would be a product of 128 bits again. */
__attribute__((noinline, optnone)) static uint64_t upperHalf(uint64_t a, uint64_t b) {
  uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
  uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (uint32_t)middle;
  return ah * bh + (middle >> 32) + (other >> 32);
}
#endif

/* Returns r and the quadrant such that x = (4 i + quadrant) pi/2 + r and |r| <= pi/4, for a finite
   x. x is an integer times 2^e, so that the leading bits of 2 / pi only add whole turns and are
   skipped (Payne and Hanek, 1983). */
static double reduced(double x, int *quadrant) {
  Double v = {x};
  int exponent = (int)(v.u >> 52 & 0x7ff);
  *quadrant = 0;
  if (signLike(x, 1) <= 0x1.921fb54442d18p-1)
    return x;
  uint64_t m = (v.u & ((uint64_t)1 << 52) - 1) | (uint64_t)1 << 52;
  int at = exponent - 1075 - 2;
#ifdef __SIZEOF_INT128__
  unsigned __int128 low = (unsigned __int128)m * bitsAt(at + 128);
  unsigned __int128 middle = (unsigned __int128)m * bitsAt(at + 64) + (uint64_t)(low >> 64);
  uint64_t top = m * bitsAt(at) + (uint64_t)(middle >> 64), rest = (uint64_t)middle;
#else
  uint64_t low = upperHalf(m, bitsAt(at + 128)), rest = m * bitsAt(at + 64) + low;
  uint64_t top = m * bitsAt(at) + upperHalf(m, bitsAt(at + 64)) + (rest < low);
#endif
  int turn = (int)(top >> 62);
  int64_t fraction =
      (int64_t)(top << 2 | rest >> 62); /* of a quarter turn; 1/2 or more becomes negative */
  turn += fraction < 0;
  double r = (double)fraction * 0x1p-64 + (double)(rest << 2) * 0x1p-128;
  r *= 0x1.921fb54442d18p0;
  *quadrant = (v.u >> 63 ? -turn : turn) & 3;
  return v.u >> 63 ? -r : r;
}
static double smallSine(double r) {
  double z = r * r, sum = 0;
  for (int k = 19; k >= 3; k -= 2)
    sum = (1 - sum) * z / (k * (k - 1));
  return r == 0 ? r : r - r * sum;
}
static double smallCosine(double r) {
  double z = r * r, sum = 0;
  for (int k = 20; k >= 4; k -= 2)
    sum = (1 - sum) * z / (k * (k - 1));
  return 1 - (1 - sum) * z / 2;
}
static double turned(double x, int ahead) {
  int quadrant;
  if (!(signLike(x, 1) < infinite))
    return notANumber;
  double r = reduced(x, &quadrant);
  quadrant += ahead;
  double value = quadrant & 1 ? smallCosine(r) : smallSine(r);
  return quadrant & 2 ? -value : value;
}
double sin(double x) { return turned(x, 0); }
double cos(double x) { return turned(x, 1); }
/* LLVM merges calls of sin and cos into one of sincos. */
void sincos(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}

/* For large |x| adds pi/4 or pi/2 to the arctangent of a smaller number. */
double atan(double x) {
  double slope = signLike(x, 1), turn = 0;
  if (x != x)
    return x;
  if (slope > 0x1.3504f333f9de6p1) {
    slope = -1 / slope;
    turn = 2;
  } else if (slope > 0x1.a827999fcef34p-2) {
    slope = (slope - 1) / (slope + 1);
    turn = 1;
  }
  double z = slope * slope, sum = 0;
  for (int k = 43; k >= 3; k -= 2)
    sum = (1.0 / k - sum) * z;
  /* pi / 4 as the sum of two numbers */
  return signLike(
      turn * 0x1.921fb54442d18p-1 + (turn * 0x1.1a62633145c07p-55 + (slope - slope * sum)), x);
}

/*===- Error function -------------------------------------------------------===*/

/* Coefficients of erf(1.1875 + r) - erf(1.1875) for -0.34 <= r <= 0.32, where both series below are
   inaccurate. */
HEDDLE_CONSTANT static const double middleErf[] = {
    0x1.cb3b329db0e3ap-56,  0x1.1a0dc51a9933ep-2,  -0x1.4ef05a0f95e0ep-2, 0x1.5648b5dc49d44p-3,
    0x1.40fbaba31be91p-7,   -0x1.c0db89d4cc586p-5, 0x1.388c3ee56aa0bp-6,  0x1.aecb7a5a57556p-8,
    -0x1.8bca64bc487c9p-8,  0x1.4ad472b6f71f0p-12, 0x1.05d28cbcf3c2ep-10, -0x1.17cde4c130057p-12,
    -0x1.9ee40d0357ff3p-14, 0x1.bbbbaf83c76bap-15, 0x1.585852e1d87f9p-18};

double erf(double x) {
  double size = signLike(x, 1), low, z = product(size, size, &low);
  if (!(size < 6))
    return x != x ? x : signLike(1, x);
  if (size < 0.85) {
    /* 2 / sqrt(pi) e^(-z) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...) */
    double sum = 0;
    for (int k = 24; k >= 1; --k)
      sum = (sum + 1) * (2 * z) / (2 * k + 1);
    return 0x1.20dd750429b6dp0 * exponential(-z, -low) * (x + x * sum);
  }
  if (size < 1.5) {
    double r = size - 1.1875, sum = 0;
    for (int k = 14; k >= 0; --k)
      sum = sum * r + middleErf[k];
    return signLike(0x1.d0580b2cfd249p-1 + sum, x);
  }
  /* 1 - e^(-z) / sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + ...))) */
  double fraction = size;
  for (int k = 90; k >= 1; --k)
    fraction = size + 0.5 * k / fraction;
  return signLike(1 - exponential(-z, -low) * 0x1.20dd750429b6dp-1 / fraction, x);
}

/*===- The same on floats ---------------------------------------------------===*/

float expf(float x) { return (float)exp(x); }
float exp2f(float x) { return (float)exp2(x); }
float exp10f(float x) { return (float)exp10(x); }
float ldexpf(float x, int n) { return (float)ldexp(x, n); }
float expm1f(float x) { return (float)expm1(x); }
float logf(float x) { return (float)log(x); }
float log2f(float x) { return (float)log2(x); }
float log10f(float x) { return (float)log10(x); }
float log1pf(float x) { return (float)log1p(x); }
float powf(float x, float y) { return (float)pow(x, y); }
float sinf(float x) { return (float)sin(x); }
float cosf(float x) { return (float)cos(x); }
float atanf(float x) { return (float)atan(x); }
void sincosf(float x, float *sine, float *cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
float tanhf(float x) { return (float)tanh(x); }
float erff(float x) { return (float)erf(x); }

#endif /* HEDDLE_LIB_TARGET_CPU_BUILTINSMATH_H */
