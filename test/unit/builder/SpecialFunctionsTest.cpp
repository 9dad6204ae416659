//===- SpecialFunctionsTest.cpp - functions, slopes and second slopes -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values, slopes and second slopes in forward and reverse mode against 40 digits of mpmath, and at
// zeros, poles, infinities and NaN against C99's Annex F and PyTorch.
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/Refused.h"

#include "gtest/gtest.h"

#include <array>
#include <cmath>

using namespace heddle;

namespace {
const Name place("place");
constexpr double inf = INFINITY, nan = NAN, unchecked = 12345;

using Numbers = std::vector<double>;

struct Function {
  const char *name;
  Tensor (*tensor)(Tensor);
  std::vector<std::array<double, 4>> points; ///< x, f(x), f'(x), f''(x)
};

const Function functions[] = {
    // clang-format off
    {"sinh",
     [](Tensor x) { return sinh(x); },
     {
         {-20, -242582597.70489514, 242582597.70489514, -242582597.70489514},
         {-1, -1.1752011936438014, 1.5430806348152437, -1.1752011936438014},
         {-0.001, -0.001000000166666675, 1.0000005000000416, -0.001000000166666675},
         {0.5, 0.5210953054937474, 1.1276259652063807, 0.5210953054937474},
         {3, 10.017874927409903, 10.067661995777765, 10.017874927409903},
         {40, 1.1769263341851e+17, 1.1769263341851e+17, 1.1769263341851e+17},
         {300, 9.712131976206279e+129, 9.712131976206279e+129, 9.712131976206279e+129},
         {0, 0, 1, 0},
         {-0.0, -0.0, 1, 0},
         {800, inf, inf, inf},
         {-800, -inf, inf, -inf},
         {inf, inf, inf, inf},
         {nan, nan, nan, nan},
     }},
    {"cosh",
     [](Tensor x) { return cosh(x); },
     {
         {-20, 242582597.70489514, -242582597.70489514, 242582597.70489514},
         {-1, 1.5430806348152437, -1.1752011936438014, 1.5430806348152437},
         {-0.001, 1.0000005000000416, -0.001000000166666675, 1.0000005000000416},
         {0.5, 1.1276259652063807, 0.5210953054937474, 1.1276259652063807},
         {3, 10.067661995777765, 10.017874927409903, 10.067661995777765},
         {40, 1.1769263341851e+17, 1.1769263341851e+17, 1.1769263341851e+17},
         {300, 9.712131976206279e+129, 9.712131976206279e+129, 9.712131976206279e+129},
         {0, 1, 0, 1},
         {-0.0, 1, 0, 1},
         {-800, inf, -inf, inf},
         {inf, inf, inf, inf},
         {nan, nan, nan, nan},
     }},
    {"asinh",
     [](Tensor x) { return asinh(x); },
     {
         {-1e9, -21.416413017506358, 1e-09, 1e-18},
         {-3, -1.8184464592320668, 0.31622776601683794, 0.09486832980505137},
         {-0.001, -0.0009999998333334083, 0.999999500000375, 0.000999998500001875},
         {0.5, 0.48121182505960347, 0.8944271909999159, -0.35777087639996635},
         {2, 1.4436354751788103, 0.4472135954999579, -0.17888543819998318},
         {5e8, 20.72326583694641, 2e-09, -4e-18},
         {0, 0, 1, 0},
         {-0.0, -0.0, 1, 0},
         {-inf, -inf, 0, unchecked},
         {nan, nan, nan, nan},
     }},
    {"acosh",
     [](Tensor x) { return acosh(x); },
     {
         {1.0000152587890625, 0.005524264703569267, 181.0186454537414, -5931664.228544299},
         {1.5, 0.9624236501192069, 0.8944271909999159, -1.0733126291998991},
         {3, 1.762747174039086, 0.3535533905932738, -0.13258252147247765},
         {5e8, 20.72326583694641, 2e-09, -4e-18},
         {1, 0, inf, -inf},
         {0.5, nan, nan, nan},
         {-1e300, nan, nan, unchecked},
         {inf, inf, 0, unchecked},
         {nan, nan, nan, nan},
     }},
    {"atanh",
     [](Tensor x) { return atanh(x); },
     {
         {-0.999, -3.8002011672501994, 500.2501250625308, -499999.8748749053},
         {-0.25, -0.25541281188299536, 1.0666666666666667, -0.5688888888888889},
         {0.001, 0.0010000003333335333, 1.000001000001, 0.002000004000006},
         {0.5, 0.5493061443340549, 1.3333333333333333, 1.7777777777777777},
         {0.9375, 1.7169936022425731, 8.258064516129032, 127.86680541103017},
         {0, 0, 1, 0},
         {-0.0, -0.0, 1, 0},
         {1, inf, inf, inf},
         {-1, -inf, inf, -inf},
         {1.5, nan, -0.8, unchecked},
         {nan, nan, nan, nan},
     }},
    {"log10",
     [](Tensor x) { return log10(x); },
     {
         {1e-200, -200.0, 4.342944819032518e+199, -inf},
         {0.125, -0.9030899869919435, 3.4743558552260145, -27.794846841808116},
         {1.0009765625, 0.00042390875196115195, 0.4338707799696877, -0.43344749140386357},
         {1000, 3.0, 0.00043429448190325184, -4.342944819032518e-07},
         {1e22, 22.0, 4.342944819032518e-23, -4.342944819032518e-45},
         {0, -inf, inf, -inf},
         {-0.0, -inf, -inf, -inf},
         {1, 0, 0.4342944819032518, -0.4342944819032518},
         {-2, nan, -0.2171472409516259, unchecked},
         {inf, inf, 0, unchecked},
         {nan, nan, nan, nan},
     }},
    {"erfc",
     [](Tensor x) { return erfc(x); },
     {
         {-3, 1.9999779095030015, -0.00013925305194674786, -0.0008355183116804871},
         {-0.3, 1.3286267594591274, -1.031260909618963, -0.6187565457713778},
         {0.3, 0.6713732405408726, -1.031260909618963, 0.6187565457713778},
         {0.5, 0.4795001221869535, -0.8787825789354448, 0.8787825789354448},
         {1, 0.15729920705028513, -0.4151074974205947, 0.8302149948411894},
         {3, 2.209049699858544e-05, -0.00013925305194674786, 0.0008355183116804871},
         {10, 2.088487583762545e-45, -4.197656231354417e-44, 8.395312462708834e-43},
         {26, 5.663192408856143e-296, -2.9470349932662697e-294, 1.53245819649846e-292},
         {0, 1, -1.1283791670955126, 0},
         {inf, 0, 0, unchecked},
         {-inf, 2, 0, unchecked},
         {28, 0, 0, 0},
         {nan, nan, nan, nan},
     }},
    {"erfinv",
     [](Tensor x) { return erfinv(x); },
     {
         {-0.999, -2.3267537655135246, 198.93951776442475, -184171.54985278228},
         {-0.7, -0.7328690779592167, 1.5163632173337642, -3.370255885361794},
         {-0.001, -0.0008862271574665521, 0.8862276214943954, -0.0013920845503350683},
         {0.3, 0.2724627147267543, 0.9545203588405493, 0.496486526010743},
         {0.71, 0.7482049711849852, 1.5511994048424835, 3.60069092336404},
         {0.95, 1.3859038243496777, 6.049327886384233, 101.43254878074758},
         {0.9999999999, 4.572824958544925, 1068953387.1289288, 1.0450380624683858e+19},
         {0, 0, 0.886226925452758, 0},
         {-0.0, -0.0, 0.886226925452758, 0},
         {1, inf, inf, unchecked},
         {-1, -inf, inf, unchecked},
         {1.5, nan, nan, nan},
         {nan, nan, nan, nan},
     }},
    {"lgamma",
     [](Tensor x) { return lgamma(x); },
     {
         {0.001, 6.907178885383853, -1000.5755719318103, 1000001.6425331958},
         {0.5, 0.5723649429247001, -1.9635100260214235, 4.934802200544679},
         {0.99, 0.005854806764709781, -0.5937863040555952, 1.6693041010718246},
         {1.001, -0.0005763935982833062, -0.5755719318103006, 1.6425331958689784},
         {1.45, -0.12142059074030692, -0.011316422586445888, 0.9780787885942666},
         {2.25, 0.1248717148923966, 0.5725464666237345, 0.5573291545071107},
         {2.999, 0.692224593717571, 0.9223893239548869, 0.39508824014696636},
         {3.5, 1.2009736023470743, 1.103156640645243, 0.3303577561002349},
         {7.9, 8.32426586800881, 2.002238487563571, 0.13493078345663442},
         {8.5, 9.549267257300997, 2.08009081757942, 0.12483811891892602},
         {100, 359.1342053695754, 4.600161852738087, 0.010050166663333571},
         {1e10, 220258509288.81058, 23.025850929890456, 1.00000000005e-10},
         {-0.5, 1.2655121234846454, 0.03648997397857652, 8.934802200544679},
         {-1e-5, 11.512931237209125, 99999.42276788563, 10000000001.644957},
         {-3.3, -0.8243558050174264, 3.620353460592126, 14.817739525515929},
         {-20.75, -43.12325855250223, -0.08514352173418716, 19.6921586563725},
         {0, inf, -inf, unchecked},
         {-0.0, inf, inf, unchecked},
         {1, 0, -0.5772156649015329, 1.6449340668482264},
         {2, 0, 0.42278433509846713, 0.6449340668482264},
         {-1, inf, nan, unchecked},
         {-1e300, inf, nan, unchecked},
         {inf, inf, inf, unchecked},
         {-inf, inf, unchecked, unchecked},
         {nan, nan, nan, nan},
     }},
    {"digamma",
     [](Tensor x) { return digamma(x); },
     {
         {0.001, -1000.5755719318103, 1000001.6425331958, -2000000002.3976321},
         {0.5, -1.9635100260214235, 4.934802200544679, -16.82879664423432},
         {0.99, -0.5937863040555952, 1.6693041010718246, -2.4703181672880192},
         {1.001, -0.5755719318103006, 1.6425331958689784, -2.3976322897333313},
         {1.4616, -3.110625123034165e-05, 0.9677007114650835, -0.8855761967999034},
         {2.25, 0.5725464666237345, 0.5573291545071107, -0.30373993753692036},
         {2.999, 0.9223893239548869, 0.39508824014696636, -0.15423281388889445},
         {3.5, 1.103156640645243, 0.3303577561002349, -0.1082040516417274},
         {7.9, 2.002238487563571, 0.13493078345663442, -0.018179004838322604},
         {8.5, 2.08009081757942, 0.12483811891892602, -0.015564511795903924},
         {100, 4.600161852738087, 0.010050166663333571, -0.00010100499983335},
         {1e10, 23.025850929890456, 1.00000000005e-10, -1.0000000001e-20},
         {-0.8, -4.03903989659219, 27.82987720542379, -247.5717861144361},
         {-1e-5, 99999.42276788563, 10000000001.644957, 1999999999999997.0},
         {-3.3, 3.620353460592126, 14.817739525515929, 68.76944547748523},
         {-20.4, 4.060609840029619, 10.86372849226865, 22.27400907006396},
         {0, -inf, inf, unchecked},
         {-0.0, inf, inf, unchecked},
         {-2, nan, nan, unchecked},
         {inf, inf, 0, unchecked},
         {-inf, nan, nan, unchecked},
         {1, -0.5772156649015329, 1.6449340668482264, -2.404113806319189},
         {nan, nan, nan, nan},
     }},
    // clang-format on
};

template <typename T = double>
Tensor vector(const std::vector<T> &values) {
  return Tensor::of<T>(values, {{place, int64_t(values.size())}});
}

template <typename F>
Tensor slope(const F &f, const Tensor &x, bool forward) {
  if (forward)
    return jvp([&](Tensor z) { return f(z); }, x,
               constant(1, ElementType::F64, {{place, x.size(place)}}));
  return grad([&](Tensor z) { return sum(f(z), over(place)); }, x);
}

bool isNear(double got, double wanted, double tolerance) {
  if (wanted == unchecked)
    return true;
  if (std::isnan(wanted) || std::isinf(wanted))
    return std::isnan(wanted) ? std::isnan(got) : got == wanted;
  return std::fabs(got - wanted) <= tolerance * (wanted == 0 ? 1 : std::fabs(wanted));
}

TEST(SpecialFunctions, ValuesAndSlopes) {
  for (bool forward : {false, true}) {
    std::vector<Tensor> places;
    for (const Function &f : functions) {
      Numbers x;
      for (auto &point : f.points)
        x.push_back(point[0]);
      places.push_back(vector(x));
    }
    auto results = jit([&](std::vector<Tensor> x) {
      std::vector<std::array<Tensor, 3>> all;
      for (size_t i = 0; i < std::size(functions); ++i) {
        auto f = functions[i].tensor;
        auto first = [&](Tensor z) { return slope(f, z, forward); };
        all.push_back({f(x[i]), first(x[i]), slope(first, x[i], forward)});
      }
      return all;
    })(places);
    for (size_t i = 0; i < std::size(functions); ++i)
      for (size_t order = 0; order < 3; ++order) {
        Numbers got = results[i][order].to<double>({place});
        // Digits that differentiation of a polynomial loses.
        double tolerance = std::array{4e-15, 2e-13, 2e-11}[order];
        for (size_t k = 0; k < got.size(); ++k) {
          auto &point = functions[i].points[k];
          EXPECT_TRUE(isNear(got[k], point[order + 1], tolerance))
              << functions[i].name << ", slope " << order << (forward ? ", forward" : "") << " at "
              << point[0] << ": " << got[k] << ", expected " << point[order + 1];
        }
      }
  }
}

// In f32 a slope has the digits of f32.
TEST(SpecialFunctions, SlopesOfSingles) {
  for (const Function &f : functions) {
    Numbers x, wanted;
    for (auto &point : f.points)
      if (double(float(point[0])) == point[0] &&
          (std::fabs(point[2]) < 1e30 && std::fabs(point[2]) > 1e-30)) {
        x.push_back(point[0]);
        wanted.push_back(point[2]);
      }
    Tensor got = grad([&](Tensor z) { return sum(f.tensor(z), over(place)); },
                      vector(x).cast(ElementType::F32));
    Numbers slopes = got.cast(ElementType::F64).to<double>({place});
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_TRUE(isNear(slopes[i], wanted[i], 1e-5))
          << f.name << " at " << x[i] << ": " << slopes[i] << ", expected " << wanted[i];
  }
}

TEST(SpecialFunctions, OfTwoOperands) {
  struct Point {
    double x, y, hypot, dx, dy, dxx, dxy; // with the second slopes of hypot
  } points[] = {{3, 4, 5, 0.6, 0.8, 16.0 / 125, -12.0 / 125},
                {-5, 12, 13, -5.0 / 13, 12.0 / 13, 144.0 / 2197, 60.0 / 2197},
                {-3, 0, 3, -1, 0, 0, 0},
                {0, 2, 2, 0, 1, 0.5, 0},
                {3e300, 4e300, 5e300, 0.6, 0.8, unchecked, unchecked},
                {3e-300, 4e-300, 5e-300, 0.6, 0.8, unchecked, unchecked},
                {0, -0.0, 0, 0, 0, 0, 0},
                {inf, nan, inf, 0, 0, 0, 0},
                {1, -inf, inf, 0, 0, 0, 0},
                {nan, 1, nan, nan, nan, nan, nan}};
  Numbers x, y, wanted[5];
  for (const Point &p : points) {
    x.push_back(p.x), y.push_back(p.y);
    for (auto [list, value] : {std::pair(0, p.hypot), {1, p.dx}, {2, p.dy}, {3, p.dxx}, {4, p.dxy}})
      wanted[list].push_back(value);
  }
  for (bool forward : {false, true}) {
    auto results = jit([&](Tensor x, Tensor y) {
      auto alongX = [&](Tensor x, Tensor y) {
        return slope([&](Tensor z) { return hypot(z, y); }, x, forward);
      };
      return std::array<Tensor, 5>{hypot(x, y), alongX(x, y),
                                   slope([&](Tensor z) { return hypot(x, z); }, y, forward),
                                   slope([&](Tensor z) { return alongX(z, y); }, x, forward),
                                   slope([&](Tensor z) { return alongX(x, z); }, y, forward)};
    })(vector(x), vector(y));
    for (size_t order = 0; order < 5; ++order)
      for (size_t i = 0; i < x.size(); ++i)
        EXPECT_TRUE(isNear(results[order].to<double>({place})[i], wanted[order][i], 1e-14))
            << "hypot, " << order << (forward ? ", forward" : "") << " at " << x[i] << ", " << y[i]
            << ": " << results[order].to<double>({place})[i] << ", expected " << wanted[order][i];
  }
  Numbers size = {0, -0.0, 2, 2, -3, inf}, like = {-0.0, 1, -0.0, 5, -inf, -1},
          slopes = {-1, -1, -1, 1, 1, -1};
  Numbers got = copysign(vector(size), vector(like)).to<double>({place});
  for (size_t i = 0; i < size.size(); ++i)
    EXPECT_TRUE(got[i] == std::copysign(size[i], like[i]) &&
                std::signbit(got[i]) == std::signbit(like[i]))
        << size[i] << ", " << like[i];
  for (bool forward : {false, true}) {
    auto by = [&](const Numbers &x, auto f) {
      return slope(f, vector(x), forward).template to<double>({place});
    };
    EXPECT_EQ(by(size, [&](Tensor z) { return copysign(z, vector(like)); }), slopes);
    EXPECT_EQ(by(like, [&](Tensor z) { return copysign(vector(size), z); }), Numbers(size.size()));
  }
}

TEST(SpecialFunctions, KindsOfNumbers) {
  Numbers x = {0, -1, nan, inf, -inf, 1e308};
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::F16, ElementType::BF16}) {
    Tensor numbers = vector(x).cast(type);
    bool overflows = type != ElementType::F64;
    auto bits = [&](Tensor t) { return t.cast(ElementType::I32).to<int32_t>({place}); };
    std::vector<int32_t> infinite = {0, 0, 0, 1, 1, overflows},
                         finite = {1, 1, 0, 0, 0, !overflows};
    EXPECT_EQ(bits(isInf(numbers)), infinite);
    EXPECT_EQ(bits(isFinite(numbers)), finite);
    Tensor kernels = kernel(place).of(select(isInf(at(numbers)), 1.0, 0.0));
    EXPECT_EQ(bits(kernels), infinite);
  }
  Tensor whole = vector(std::vector<int32_t>{0, 7});
  EXPECT_EQ(isFinite(whole).cast(ElementType::I32).to<int32_t>({place}),
            (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(isInf(whole).cast(ElementType::I32).to<int32_t>({place}), (std::vector<int32_t>{0, 0}));
}

// Scalars in kernels mean what the functions of tensors do.
TEST(SpecialFunctions, InKernels) {
  Tensor x = vector(Numbers{-0.75, 0.25, 0.5}), y = vector(Numbers{2, -3.5, 0.5});
  auto all = [](auto x, auto y) {
    return sinh(x) + cosh(x) + asinh(x) + acosh(y * y + 1.0) + atanh(x) + log10(y * y) + erfc(x) +
           hypot(x, y) + copysign(y, x) + erfinv(x) + lgamma(y) + digamma(x);
  };
  Tensor tensors = all(x, y), scalars = kernel(place).of(all(at(x), at(y)));
  Numbers a = tensors.to<double>({place}), b = scalars.to<double>({place});
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-13);
}

TEST(SpecialFunctions, PowersOfIntegers) {
  std::vector<int64_t> bases = {0, 1, -1, 2, -2, 3, 10};
  // Recorded from PyTorch, tensors with tensors of exponents; 40 and 64 wrap around.
  std::vector<std::pair<int64_t, std::vector<int64_t>>> powers = {
      {-3, {0, 1, -1, 0, 0, 0, 0}},
      {-2, {0, 1, 1, 0, 0, 0, 0}},
      {-1, {0, 1, -1, 0, 0, 0, 0}},
      {0, {1, 1, 1, 1, 1, 1, 1}},
      {1, {0, 1, -1, 2, -2, 3, 10}},
      {40, {0, 1, 1, 1099511627776, 1099511627776, -6289078614652622815, -5047021154770878464}},
      {64, {0, 1, 1, 0, 0, 8733086111712066817, 0}}};
  Tensor x = vector(bases);
  for (auto &[exponent, expected] : powers) {
    Tensor n = vector(std::vector<int64_t>(bases.size(), exponent));
    auto power = [](Tensor x, Tensor n) { return pow(x, n); };
    EXPECT_EQ(power(x, n).to<int64_t>({place}), expected) << exponent;
    EXPECT_EQ(jit(power)(x, n).to<int64_t>({place}), expected) << exponent;
    EXPECT_EQ(kernel(place).of(pow(at(x), at(n))).to<int64_t>({place}), expected) << exponent;
    if (exponent >= 0)
      EXPECT_EQ(pow(x, double(exponent)).to<int64_t>({place}), expected) << exponent;
  }
  Tensor small = vector(std::vector<int8_t>{2, -3, 7}),
         byte = vector(std::vector<uint8_t>{2, 3, 255});
  EXPECT_EQ(pow(small, vector(std::vector<int8_t>{7, 5, -128})).to<int8_t>({place}),
            (std::vector<int8_t>{-128, 13, 0}));
  EXPECT_EQ(pow(byte, vector(std::vector<uint8_t>{8, 5, 255})).to<uint8_t>({place}),
            (std::vector<uint8_t>{0, 243, 255}));
  EXPECT_EQ(pow(2.0, vector(std::vector<int32_t>{0, 5, 31, -1})).to<int32_t>({place}),
            (std::vector<int32_t>{1, 32, -2147483647 - 1, 0}));
  test::refused([&] { pow(small, -1.0); },
                {"expected an exponent of at least 0 for elements of type i8, got -1; convert the "
                 "base with cast"});
  test::refused([&] { kernel(place).of(pow(at(small), -2.0)); },
                {"expected an exponent of at least 0 for elements of type i8, got -2"});
  test::refused([&] { pow(small, 0.5); }, {"expected a number that is one of i8, got 0.5"});
  Tensor truth = small > small;
  test::refused([&] { pow(truth, truth); }, {"not defined for elements of type i1"});
}
} // namespace
