//===- Fold.cpp - reductions with bounds for any order --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Fold.h"

#include "dialects/nd/NdGradient.h"

#include <cmath>

using namespace mlir;

namespace heddle::interp {

FailureOr<Combiner> Combiner::prepare(Region &region, ArrayRef<Type> types,
                                      Arithmetic &arithmetic) {
  FailureOr<ScalarRegion> code = ScalarRegion::prepare(region, arithmetic);
  if (failed(code))
    return failure();
  Combiner result;
  result.kind = nd::combinerKind(region);
  result.types.assign(types.begin(), types.end());
  for (unsigned i = 0; i < types.size(); ++i)
    result.selects.push_back(nd::isSelecting(region.front(), i));
  result.region = std::move(*code);
  result.arithmetic = &arithmetic;
  return result;
}

SmallVector<Scalar, 2> Combiner::apply(ArrayRef<Scalar> a, ArrayRef<Scalar> b) {
  SmallVector<Scalar, 4> both(a.begin(), a.end());
  both.append(b.begin(), b.end());
  ArrayRef<Scalar> result = region.run(both);
  return {result.begin(), result.end()};
}

bool Combiner::isFloatSum() const {
  return kind == nd::CombinerKind::Add && isa<FloatType>(types[0]);
}

bool Combiner::isOrderFree() const {
  return llvm::none_of(types, [](Type type) { return isa<FloatType>(type); }) ||
         kind == nd::CombinerKind::Max || kind == nd::CombinerKind::Min;
}

Fold::Fold(Combiner &combiner, ArrayRef<Scalar> neutral)
    : combiner(combiner), neutral(neutral.begin(), neutral.end()), running(this->neutral),
      floats(combiner.isFloatSum() ? std::copysign(0.0, neutral[0].value) : 0.0) {
  if (combiner.isFloatSum())
    add(neutral);
}

/// The weight of the lowest bit of a finite number that is not 0.
static double lowestBit(double value) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value), implicit = uint64_t(1) << 52;
  int exponent = int(bits >> 52) & 0x7ff;
  int lowest = llvm::countr_zero(bits | (exponent ? implicit : 0)) + std::max(exponent, 1) - 52;
  return lowest > 0 ? llvm::bit_cast<double>(uint64_t(lowest) << 52)
                    : std::ldexp(1.0, lowest - 1023);
}

void FloatSum::add(const Scalar &x) {
  ++count;
  undecided |= x.undecided;
  errors += x.error;
  scale = std::max(scale, x.scale());
  if (x.value == 0) {
    sum += x.value; // the sign of two zeros
    return;
  }
  if (std::isfinite(x.value)) {
    double lowest = lowestBit(x.value);
    grain = grain == 0 ? lowest : std::min(grain, lowest);
  }
  magnitude += std::fabs(x.value);
  squares += x.value * x.value;
  roundings += x.own * x.own;
  // Compensated summation, so that rounding here does not count.
  double next = sum + x.value;
  if (std::isfinite(next))
    compensation +=
        std::fabs(sum) >= std::fabs(x.value) ? (sum - next) + x.value : (x.value - next) + sum;
  sum = next;
  farthest = std::max(farthest, std::fabs(sum));
}

Scalar FloatSum::result(FloatType type, Arithmetic &arithmetic) const {
  double value = std::isfinite(sum) ? sum + compensation : sum;
  // No partial sum in any order needs more bits than the type has.
  double most =
      grain * std::ldexp(1.0, int(llvm::APFloat::semanticsPrecision(type.getFloatSemantics())));
  bool exact = errors == 0 && magnitude <= most;
  if (arithmetic.isPerturbed() && !(exact && roundings == 0)) {
    // Each step rounds a partial sum. In another order the partial sums are as large as random
    // sums.
    double partial = std::max(farthest, std::min(std::sqrt(squares), magnitude));
    value += std::sqrt(roundings) * arithmetic.draw() +
             std::sqrt(double(count)) * unitRoundoff(type) * partial * arithmetic.draw();
    return arithmetic.rounded(type, value, 0, false);
  }
  double error = exact ? 0 : errors + double(count) * unitRoundoff(type) * (magnitude + errors);
  return withTerms(arithmetic.rounded(type, value, error, exact, undecided), scale);
}

void Fold::add(ArrayRef<Scalar> element) {
  if (combiner.isFloatSum())
    floats.add(element[0]);
  else if (combiner.isOrderFree())
    running = combiner.apply(running, element);
  else
    kept.emplace_back(element.begin(), element.end());
}

static bool areFinite(ArrayRef<Scalar> values) {
  return llvm::all_of(values, [](const Scalar &x) { return std::isfinite(x.value); });
}

SmallVector<Scalar, 2> Fold::result() {
  if (combiner.isFloatSum())
    return {floats.result(cast<FloatType>(combiner.types[0]), *combiner.arithmetic)};
  if (combiner.isOrderFree() || kept.empty())
    return running;
  if (combiner.arithmetic->isPerturbed()) { // one order
    if (combiner.arithmetic->draw() < 0)
      std::reverse(kept.begin(), kept.end());
    for (const auto &element : kept)
      running = combiner.apply(running, element);
    return running;
  }
  SmallVector<Scalar, 2> forwards = neutral, backwards = neutral;
  SmallVector<double> most(neutral.size()), grain(neutral.size()), total(neutral.size());
  auto note = [&](ArrayRef<Scalar> values) {
    for (auto [i, x] : llvm::enumerate(values))
      if (isa<FloatType>(combiner.types[i]) && std::isfinite(x.value) && x.value != 0) {
        double lowest = lowestBit(x.value);
        grain[i] = grain[i] == 0 ? lowest : std::min(grain[i], lowest);
        most[i] = std::max(most[i], std::fabs(x.value));
      }
  };
  bool overflows = false; // in this order
  auto combine = [&](SmallVector<Scalar, 2> &sofar, ArrayRef<Scalar> element) {
    bool wasFinite = areFinite(sofar) && areFinite(element);
    note(sofar = combiner.apply(sofar, element));
    overflows |= wasFinite && !areFinite(sofar);
  };
  for (const auto &element : kept) {
    note(element);
    for (auto [i, x] : llvm::enumerate(element))
      total[i] += std::isfinite(x.value) ? std::fabs(x.value) : 0;
    combine(forwards, element);
  }
  for (const auto &element : llvm::reverse(kept))
    combine(backwards, element);
  for (auto [i, type, a, b] : llvm::enumerate(combiner.types, forwards, backwards)) {
    a.undecided |= b.undecided || overflows;
    // Exact in two orders, but in others steps may need more bits than the type has.
    auto real = dyn_cast<FloatType>(type);
    double largest = std::max(most[i], total[i]);
    if (real && kept.size() > 2 && !combiner.selects[i] &&
        largest > grain[i] * std::ldexp(1.0, int(llvm::APFloat::semanticsPrecision(
                                                 real.getFloatSemantics()))))
      a.own = 0, a.error = std::max(a.error, double(kept.size()) * unitRoundoff(real) * largest);
    double apart = std::fabs(a.value - b.value);
    if (!isa<FloatType>(type)) {
      a.undecided |= a.bits != b.bits;
    } else if (std::isfinite(apart) && (a.error != 0 || b.error != 0)) {
      a.own = 0, a.error = 2 * std::max(a.error, b.error) + apart;
      a.origin = combiner.arithmetic->freshOrigin();
    } else {
      a.undecided |= a.value != b.value && !(std::isnan(a.value) && std::isnan(b.value));
    }
  }
  return forwards;
}

} // namespace heddle::interp
