//===- Gradients.cpp - clipping, summing and scaling gradients ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Gradients.h"

#include "heddle/Scope.h"
#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/Initializers.h"

#include <cmath>
#include <fnmatch.h>
#include <sstream>

using namespace heddle;
using namespace heddle::nn;

bool nn::matches(const std::string &pattern, const std::string &path) {
  return fnmatch(pattern.c_str(), path.c_str(), 0) == 0;
}

Names nn::namesOf(const Tensor &tensor) { return tensor.names(); }

Tensor nn::detail::widened(const Tensor &x) {
  return isNarrowFloat(x.elementType()) ? x.cast(ElementType::F32) : x;
}

/// False for an empty tensor, such as the gradient of integers, and for integers.
static bool hasSlope(const Tensor &tensor) {
  return !tensor.empty() && isFloat(tensor.elementType());
}

/// Checks a limit, whose value is only known here if it is a number.
static void requireLimit(const Operand &limit, Here here) {
  if (!limit.tensor.empty() && !limit.tensor.names().empty())
    refuse("expected a limit of gradients without names, got " + limit.tensor.type(), here);
  if (limit.tensor.empty())
    nn::detail::requireRange("a limit of gradients", limit.number, 0, INFINITY, here);
}

void nn::detail::clipByValue(const Leaves &gradient, Operand limit, Here here) {
  CallScope scope(here);
  requireLimit(limit, here);
  for (const auto &[path, g] : gradient)
    if (hasSlope(*g)) {
      Tensor wide = widened(*g);
      Operand own = limit.tensor.empty() ? limit : Operand(limit.tensor.cast(wide.elementType()));
      Operand least = own.tensor.empty() ? Operand(-own.number) : Operand(-own);
      *g = maximum(minimum(wide, own), least).cast(g->elementType());
    }
}

Tensor nn::detail::clipByNorm(const Leaves &gradient, Operand limit, Here here) {
  CallScope scope(here);
  requireLimit(limit, here);
  ElementType type = ElementType::F32;
  for (const auto &[path, g] : gradient)
    if (hasSlope(*g) && g->elementType() == ElementType::F64)
      type = ElementType::F64;
  Tensor squares = zeros({}, type);
  for (const auto &[path, g] : gradient)
    if (hasSlope(*g)) {
      Tensor wide = g->cast(type);
      squares = squares + sum(wide * wide, namesOf(*g));
    }
  Tensor length = sqrt(squares);
  Operand most = limit.tensor.empty() ? limit : Operand(limit.tensor.cast(type));
  Tensor factor = minimum(most / Operand(length + 1e-6), 1.0);
  for (const auto &[path, g] : gradient)
    if (hasSlope(*g))
      *g = (g->cast(type) * factor).cast(g->elementType());
  return length;
}

Tensor nn::detail::firstNotFinite(const Leaves &tree) {
  Tensor first = constant(-1, ElementType::I64);
  for (size_t i = tree.size(); i-- > 0;)
    if (const Tensor &x = *tree[i].second; hasSlope(x)) {
      // x - x is NaN for an infinity or a NaN, and then the sum is NaN too.
      Tensor bad = isNan(sum(x - x, namesOf(x)));
      first = select(bad, constant(double(i), ElementType::I64), first);
    }
  return first;
}

Tensor nn::detail::unscale(const Leaves &gradient, const Tensor &scale) {
  // Does not call firstNotFinite, because overflow is expected here, and JitOptions::check would
  // report its NaN.
  Tensor isGood = constant(1, ElementType::I1);
  for (const auto &[path, g] : gradient)
    if (hasSlope(*g)) {
      Tensor bad = logicalNot(abs(*g) < INFINITY).cast(ElementType::F32);
      isGood = logicalAnd(isGood, equal(sum(bad, namesOf(*g)), 0.0));
    }
  for (const auto &[path, g] : gradient)
    if (hasSlope(*g))
      *g =
          select(isGood,
                 (widened(*g) / scale.cast(widened(*g).elementType())).cast(g->elementType()), 0.0);
  return isGood;
}

void nn::detail::requireRange(const std::string &what, double value, double low, double high,
                              Here here) {
  if (value >= low && value <= high)
    return;
  std::ostringstream text;
  text << "expected " << what;
  if (high >= 1e30)
    text << " of at least " << low;
  else
    text << " from " << low << " to " << high;
  text << ", got " << value;
  refuse(text.str(), here);
}

void nn::detail::requireFinite(const Tensor &number, const Leaves &tree, const std::string &what,
                               Here here) {
  if (double first = number.item(here); first >= 0)
    throw Error(what + " of '" + tree[size_t(first)].first + "' is not finite", here);
}

ElementType nn::detail::sumType(ElementType type) {
  return isNarrowFloat(type) ? ElementType::F32 : type;
}

ByPath nn::detail::copiesOf(const Leaves &tree, bool zero, Here here) {
  ByPath copies;
  for (const auto &[path, tensor] : tree)
    if (hasSlope(*tensor))
      copies[path] =
          zero ? filled(0, tensor->extents(here), sumType(tensor->elementType(here)), here)
               : tensorOf(arrayOf(*tensor, here), here);
  return copies;
}

void nn::detail::forEachPart(const Leaves &tree, ByPath &parts, const char *what, Here here,
                             const std::function<void(Tensor &, Tensor &)> &visit) {
  for (const auto &[path, tensor] : tree) {
    if (!hasSlope(*tensor))
      continue;
    auto found = parts.find(path);
    if (found == parts.end())
      throw Error(std::string(what) + " was made without '" + path + "'", here);
    const Tensor &part = found->second;
    bool isSum = part.elementType(here) == sumType(tensor->elementType(here));
    if (part.type(here) !=
        (isSum ? tensor->cast(part.elementType(here), here) : *tensor).type(here))
      throw Error("expected " + std::string(what) + " of '" + path + "' to be " +
                      tensor->type(here) + ", got " + found->second.type(here),
                  here);
    visit(*tensor, found->second);
  }
}
