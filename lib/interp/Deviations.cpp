//===- Deviations.cpp - bounds from perturbed executions ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Deviations.h"

#include "lib/interp/Evaluator.h"

#include <cmath>

using namespace mlir;

namespace heddle::interp {

/// A bound is 50 standard deviations in the mean. The probability that five executions are all near
/// the value by chance, and a sixth one is outside of the bound, is about 1e-8.
static constexpr int executions = 5;
static constexpr double strength = 4, multiple = 8;
/// Errors of one part in a thousand must be detected.
static constexpr double usefulBound = 0x1p-13;

static bool isUseful(const Scalar &scalar, bool isFloat) {
  return !scalar.undecided &&
         (!isFloat || scalar.error == 0 || scalar.error <= usefulBound * std::fabs(scalar.value));
}

static bool areUseful(const TensorValue &value) {
  bool isFloat = isa<FloatType>(value.elementType());
  return llvm::all_of(value.elements,
                      [&](const Scalar &scalar) { return isUseful(scalar, isFloat); });
}

/// The distance of one element from another; equal ones (including NaN and infinities) have 0.
static double distance(const Scalar &a, const Scalar &b, bool isFloat) {
  if (!isFloat)
    return a.bits == b.bits ? 0 : INFINITY;
  if (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)))
    return 0;
  double apart = std::fabs(a.value - b.value);
  return std::isnan(apart) ? INFINITY : apart;
}

/// The bound of an element whose largest deviation is known. One that would still be uncertain
/// stays undecided if it was.
static void narrow(Scalar &scalar, double deviation, Type element) {
  Scalar close = scalar;
  auto type = dyn_cast<FloatType>(element);
  if (type && std::isfinite(scalar.value)) {
    double bound = multiple * deviation +
                   functionUnits * unitRoundoff(type) * std::fabs(scalar.value) +
                   smallestError(type);
    close.error = scalar.undecided ? bound : std::min(bound, scalar.error);
    close.own = 0;
    close.undecided = false;
  } else {
    close.undecided &= deviation != 0;
  }
  if (!scalar.undecided || !isUncertain(close, element))
    scalar = close;
}

FailureOr<SmallVector<TensorValue>>
interpretClosely(func::FuncOp func, ArrayRef<TensorValue> arguments, const ExprMap &known) {
  SmallVector<TensorRef> refs = refsTo(arguments);
  FailureOr<SmallVector<TensorValue>> values = Evaluator().runEntry(func, refs, known);
  if (failed(values) || llvm::all_of(*values, areUseful))
    return values;
  std::vector<std::vector<double>> deviations;
  for (const TensorValue &value : *values)
    deviations.emplace_back(value.elements.size());
  // A perturbed execution may fail where the function does not; its result is then ignored.
  ScopedDiagnosticHandler quiet(func.getContext(), [](Diagnostic &) { return success(); });
  for (int seed = 1; seed <= executions; ++seed) {
    auto run = Evaluator(Arithmetic(uint64_t(seed) << 32, strength)).runEntry(func, refs, known);
    for (auto [k, value, most] : llvm::enumerate(*values, deviations)) {
      bool isFloat = isa<FloatType>(value.elementType());
      for (auto [i, scalar] : llvm::enumerate(value.elements))
        most[i] = std::max(most[i], failed(run) ? INFINITY
                                                : distance(scalar, (*run)[k].elements[i], isFloat));
    }
  }
  for (auto [value, most] : llvm::zip_equal(*values, deviations)) {
    Type element = value.elementType();
    for (auto [scalar, deviation] : llvm::zip_equal(value.elements, most))
      if (!isUseful(scalar, isa<FloatType>(element)))
        narrow(scalar, deviation, element);
  }
  return values;
}

} // namespace heddle::interp
