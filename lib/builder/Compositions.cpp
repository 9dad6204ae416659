//===- Compositions.cpp - functions made of operations --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Compositions.h"
#include "dialects/nd/NdTypical.h"
#include "lib/builder/At.h"
#include "lib/builder/Pointwise.h"
#include "lib/builder/Scalar.h"

using namespace heddle;
using namespace heddle::detail;

/// `x` in the type that its sums accumulate in.
static Tensor widened(const Operand &x, std::optional<ElementType> accumulator = {}) {
  Type type = nodeOf(x.tensor, x.here)->type().getElementType();
  return converted(x.tensor, accumulatorFor(type, accumulator, x.here), x.here);
}

//===----------------------------------------------------------------------===//
// Products and sums
//===----------------------------------------------------------------------===//

namespace {
/// The remaining factors of an einsum.
class Contraction {
public:
  Contraction(std::vector<Tensor> factors, const Names &over,
              std::optional<ElementType> accumulator, Here here)
      : factors(std::move(factors)), over(over), accumulator(accumulator), here(here) {
    if (this->factors.empty())
      fail(here, "expected at least one operand");
    for (size_t i = 0; i < over.size(); ++i) {
      std::string types;
      for (const Tensor &factor : this->factors)
        types += (types.empty() ? "" : ", ") + typeAndOrigin(factor);
      if (!countOf(over[i]))
        fail(here, "no operand has the name '" + over[i].str() + "' that is summed over: " + types);
      if (std::find(over.begin(), over.begin() + i, over[i]) != over.begin() + i)
        fail(here, "the name '" + over[i].str() + "' occurs twice among the names to sum over");
    }
  }

  Tensor run() {
    for (Tensor &factor : factors)
      factor = reduced(factor);
    while (factors.size() > 1) {
      auto [i, j] = cheapest();
      At at{here};
      Tensor product = at(factors[i]) * at(factors[j]);
      factors.erase(factors.begin() + j);
      factors[i] = product;
      factors[i] = reduced(product);
    }
    return factors[0];
  }

private:
  std::vector<Tensor> factors;
  const Names &over;
  std::optional<ElementType> accumulator;
  Here here;

  size_t countOf(const Name &name) const {
    return size_t(std::count_if(factors.begin(), factors.end(),
                                [&](const Tensor &factor) { return factor.has(name, here); }));
  }
  /// Sums a factor over the names that no other factor has.
  Tensor reduced(const Tensor &factor) const {
    Names own;
    for (const Name &name : over)
      if (factor.has(name, here) && countOf(name) == 1)
        own.push_back(name);
    return own.empty() ? factor : sum(Operand(factor, here), own, accumulator);
  }

  static double sizeOf(const Extent &extent) {
    return double(*extent.size.expr().evaluate(
        [](const std::string &symbol) { return std::optional(nd::typicalOf(symbol)); }));
  }
  /// The pair that takes the fewest products; of equal ones the pair with the smaller result, then
  /// the first. A pair that shares no name is the last choice; its product reports the error.
  std::pair<size_t, size_t> cheapest() const {
    std::pair<size_t, size_t> best{0, 1};
    std::tuple<bool, double, double> least{true, 0, 0};
    for (size_t i = 0; i < factors.size(); ++i)
      for (size_t j = i + 1; j < factors.size(); ++j) {
        std::vector<Extent> all = factors[i].extents(here), more = factors[j].extents(here);
        size_t own = all.size();
        bool isApart = own > 0 && !more.empty();
        for (const Extent &extent : more) {
          bool isShared = factors[i].has(extent.name, here);
          isApart &= !isShared;
          if (!isShared)
            all.push_back(extent);
        }
        double products = 1, kept = 1;
        for (const Extent &extent : all) {
          products *= sizeOf(extent);
          size_t both = size_t(factors[i].has(extent.name)) + factors[j].has(extent.name);
          bool isSummed = std::find(over.begin(), over.end(), extent.name) != over.end() &&
                          countOf(extent.name) == both;
          kept *= isSummed ? 1 : sizeOf(extent);
        }
        std::tuple cost{isApart, products, kept};
        if ((i == 0 && j == 1) || cost < least) {
          least = cost;
          best = {i, j};
        }
      }
    return best;
  }
};
} // namespace

Tensor heddle::einsum(const std::vector<Tensor> &operands, const Names &over,
                      std::optional<ElementType> accumulator, Here here) {
  return Contraction(operands, over, accumulator, here).run();
}

Tensor heddle::variance(Operand x, const Names &over, double correction,
                        std::optional<ElementType> accumulator) {
  At at{x.here};
  Type type = nodeOf(x.tensor, x.here)->type().getElementType();
  // Squares of narrow floats easily exceed their range.
  Tensor wide = widened(x, accumulator);
  Tensor centred = at(wide) - at(mean(at(wide), over));
  Tensor result = mean(at(at(centred) * at(centred)), over);
  if (correction != 0) {
    Tensor count = countOf(x, over, wide.elementType(x.here));
    result = at(result) * at(at(count) / at(at(count) - at(correction)));
  }
  return converted(result, type, x.here);
}

//===----------------------------------------------------------------------===//
// Logarithms of sums
//===----------------------------------------------------------------------===//

Tensor heddle::variance(Operand x) { return variance(x, x.tensor.names(x.here)); }
Tensor heddle::logSumExp(Operand x) { return logSumExp(x, x.tensor.names(x.here)); }

Tensor heddle::logSumExp(Operand narrow, const Names &over) {
  At at{narrow.here};
  Type own = nodeOf(narrow.tensor, narrow.here)->type().getElementType();
  Operand x = at(widened(narrow)); // the sum may exceed a narrow type's range
  Tensor most = stopGradient(max(x, over), x.here);
  Tensor isInfinite = equal(at(abs(at(most))), at(INFINITY));
  Tensor isImpossible = logicalAnd(at(isInfinite), at(at(most) < at(0.0)));
  Tensor power = exp(at(x - at(select(at(isInfinite), at(0.0), at(most)))));
  // If all elements are -inf, the sum is 0 and the derivative of its logarithm infinite. Adding 1
  // makes it finite; the gradient is still 0, since the derivatives of the exponentials are 0.
  ElementType type = x.tensor.elementType(x.here);
  Tensor total = at(sum(at(power), over)) + at(isImpossible.cast(type, x.here));
  return converted(at(log(at(total))) + at(most), own, x.here);
}

Tensor heddle::logAddExp(Operand a, Operand b) {
  At at{a.here};
  Tensor isFirst = a > b;
  Tensor most = select(at(isFirst), a, b), least = select(at(isFirst), b, a);
  // The difference of two equal infinities is NaN.
  Tensor isInfinite =
      logicalAnd(at(equal(at(least), at(most))), at(equal(at(abs(at(most))), at(INFINITY))));
  Tensor base = select(at(isInfinite), at(stopGradient(most, a.here)), at(most));
  Tensor distance = at(select(at(isInfinite), at(0.0), at(least))) -
                    at(select(at(isInfinite), at(0.0), at(most)));
  return at(base) + at(log1p(at(exp(at(distance)))));
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

/// Throws Error unless the elements are integers.
static void requireIntegers(const Tensor &tensor, const char *what, Here here) {
  if (isFloat(tensor.elementType(here)) || tensor.elementType(here) == ElementType::I1)
    fail(here, std::string("expected integers as ") + what + ", got " + typeAndOrigin(tensor));
}

Tensor heddle::oneHot(const Tensor &index, const Extent &classes, ElementType type, Here here) {
  requireIntegers(index, "the index", here);
  if (index.has(classes.name, here))
    fail(here,
         "the index has the name '" + classes.name.str() + "' already: " + typeAndOrigin(index));
  At at{here};
  Tensor coordinates = iota(classes, ElementType::I64, here).broadcast(index.extents(here), here);
  return equal(at(index.cast(ElementType::I64, here)), at(coordinates)).cast(type, here);
}

Tensor Tensor::at(const Name &name, const Size &coordinate, Here here) const {
  Size whole = size(name, here);
  Expr index = coordinate.expr();
  if (coordinate.isNumber() && whole.isNumber()) {
    int64_t number = coordinate, count = whole;
    if (number < -count || number >= count)
      fail(here, "coordinate " + index.str() + " of '" + name.str() +
                     "' is out of bounds: expected " +
                     (count ? std::to_string(-count) + " to " + std::to_string(count - 1)
                            : std::string("none")) +
                     ", the tensor is " + typeAndOrigin(*this));
  }
  if (coordinate.isNumber() && int64_t(coordinate) < 0)
    index = whole.expr() + index;
  return slice(name, index, 1, 1, here).split(name, {}, here);
}

Tensor heddle::roll(const Tensor &x, const Name &name, int64_t shift, Here here) {
  Size size = x.size(name, here);
  if (!size.isNumber())
    return roll(x, name, constant(double(shift), ElementType::I64, {}, here), here);
  int64_t whole = size, low = whole ? (shift % whole + whole) % whole : 0;
  if (!low)
    return x;
  return concat({x.slice(name, whole - low, low, 1, here), x.slice(name, 0, whole - low, 1, here)},
                name, here);
}

Tensor heddle::roll(const Tensor &x, const Name &name, const Tensor &shift, Here here) {
  requireIntegers(shift, "the shift", here);
  if (shift.has(name, here))
    fail(here,
         "the shift along '" + name.str() + "' has that name itself: " + typeAndOrigin(shift));
  At at{here};
  Tensor whole = countOf(at(x), name, ElementType::I64);
  Tensor to =
      iota({name, x.size(name, here)}, ElementType::I64, here).broadcast(shift.extents(here), here);
  // A remainder has the sign of the dividend. The shift is reduced first, so that nothing
  // overflows.
  Tensor moved = at(shift.cast(ElementType::I64, here)) % at(whole);
  Tensor from = at(at(at(to) - at(moved)) + at(whole)) % at(whole);
  return x.gather(name, from, here);
}

Tensor heddle::leakyRelu(Operand x, double slope) {
  At at{x.here};
  return select(at(x > at(0.0)), x, at(x * at(slope)));
}
