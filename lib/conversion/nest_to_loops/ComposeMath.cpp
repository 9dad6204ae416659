//===- ComposeMath.cpp - functions made of other functions ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/ComposeMath.h"
#include "lib/conversion/nest_to_loops/FloatCode.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

/// e^size / 2 as a product, since e^size may be too large where its half is not.
static Value halfExponential(FloatCode &a, Value size) {
  Value root = a.call<math::ExpOp>(a.mul(size, 0.5));
  return a.mul(a.mul(root, 0.5), root);
}

Value nest::composeSinh(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  // From 32 on, e^-x does not count.
  Value size = a.abs(x[0]), t = a.call<math::ExpM1Op>(size);
  Value near = a.mul(a.add(t, a.div(t, a.add(t, 1))), 0.5);
  Value value = a.select(a.compare(Is::ULT, size, 32), near, halfExponential(a, size));
  return a.signLike(value, x[0]);
}

Value nest::composeCosh(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Value half = halfExponential(a, a.abs(x[0]));
  return a.add(half, a.div(a.number(half, 0.25), half));
}

/// True where x^2 + 1 is x^2, and the square does not overflow below.
static Value isLarge(FloatCode &a, Value x) {
  return a.compare(Is::OGT, x, getElementTypeOrSelf(x.getType()).isF64() ? 0x1p28 : 0x1p13);
}
/// log(2 x).
static Value doubledLog(FloatCode &a, Value x) {
  return a.add(a.call<math::LogOp>(x), 0.6931471805599453);
}

Value nest::composeAsinh(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Value size = a.abs(x[0]), square = a.mul(size, size);
  Value root = a.call<math::SqrtOp>(a.add(square, 1));
  Value near = a.call<math::Log1pOp>(a.add(size, a.div(square, a.add(root, 1))));
  return a.signLike(a.select(isLarge(a, size), doubledLog(a, size), near), x[0]);
}

Value nest::composeAcosh(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Value t = a.add(x[0], -1), root = a.call<math::SqrtOp>(a.mul(t, a.add(t, 2)));
  Value near = a.call<math::Log1pOp>(a.add(t, root));
  Value value = a.select(isLarge(a, x[0]), doubledLog(a, x[0]), near);
  return a.select(a.compare(Is::OLT, x[0], 1), notANumber, value);
}

Value nest::composeAtanh(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Value size = a.abs(x[0]), rest = a.sub(a.number(size, 1), size);
  Value value = a.call<math::Log1pOp>(a.div(a.mul(size, 2), rest));
  return a.signLike(a.mul(value, 0.5), x[0]);
}

//===----------------------------------------------------------------------===//
// Error function
//===----------------------------------------------------------------------===//

/// erf(x) / x as a polynomial in x^2, for |x| <= 0.6.
static const double nearErf[] = {
    1.1283791670955126,    -0.37612638903183704,   0.1128379167095059,     -0.0268661706435161,
    0.005223977596212891,  -0.0008548323981793935, 0.00012055139954657011, -1.4918046220845441e-05,
    1.628002129733572e-06, -1.3916404409140413e-07};
/// x e^(x^2) erfc(x) as a polynomial in (x - 1.5) / (x + 1.5), for x from 0.6 to 30 (after Shepherd
/// and Laframboise, Mathematics of Computation 36, 1981).
static const double tailErfc[] = {
    0.48237812468147623,     0.22845311956643222,     -0.21611410197766373,
    0.061695087943843194,    0.019824285864024547,    -0.008790586329499474,
    -0.005135845845600075,   0.00048077977285823577,  0.0013280262694256868,
    0.00041894869264316986,  -0.00015155450638171432, -0.0001915938519816181,
    -6.272421269374554e-05,  1.9707558299714707e-05,  3.162755664794684e-05,
    1.484557396281534e-05,   -5.96172443904559e-08,   -5.903938203618757e-06,
    -3.5167274307703387e-06, 9.98345410832427e-07,    -1.5923361288883878e-06,
    -8.881875796779e-07,     4.323225556104095e-06,   -1.3283322721957773e-06,
    -1.0610727817458366e-06, 4.654330813711036e-07};

Value nest::composeErfc(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Value size = a.abs(x[0]);
  Value near = a.sub(a.number(size, 1), a.mul(x[0], a.polynomial(a.mul(size, size), nearErf)));
  // x^2 is the exact square of the leading bits of x and a small rest, so that its exponential is
  // precise. From 30 on the result is 0.
  Value far = a.atMost(size, 30), head = a.leading(far);
  Value rest = a.mul(a.sub(head, far), a.add(head, far));
  Value power = a.call<math::ExpOp>(a.neg(a.mul(head, head)));
  Value series = a.polynomial(rest, {1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120});
  Value t = a.div(a.add(far, -1.5), a.add(far, 1.5));
  Value scaled = a.div(a.polynomial(t, tailErfc), far);
  Value tail = a.mul(power, a.fma(a.mul(scaled, rest), series, scaled));
  Value isNegative = a.compare(Is::OLT, x[0], 0);
  tail = a.select(isNegative, a.sub(a.number(tail, 2), tail), tail);
  return a.select(a.compare(Is::OLT, size, 0.6), near, tail);
}
