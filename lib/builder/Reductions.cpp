//===- Reductions.cpp - sums, means, largest elements, scans --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "heddle/Ops.h"
#include "lib/builder/Pointwise.h"
#include "lib/builder/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

namespace heddle {

nd::CombinerKind detail::kindOf(Combiner combiner) {
  switch (combiner) {
  case Combiner::Add:
    return nd::CombinerKind::Add;
  case Combiner::Multiply:
    return nd::CombinerKind::Mul;
  case Combiner::Max:
    return nd::CombinerKind::Max;
  case Combiner::Min:
    return nd::CombinerKind::Min;
  }
  llvm_unreachable("covered switch");
}

static Tensor reduce(const Operand &x, const Names &over, nd::CombinerKind kind,
                     std::optional<ElementType> accumulator = {}) {
  NodeRef input = nodeOf(x.tensor, x.here);
  Type wide = nd::signless(accumulatorFor(input->type().getElementType(), accumulator, x.here));
  return make(x.here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildReduce(builder, loc, input->value, strings(over), kind, wide);
  });
}

Tensor sum(Operand x, const Names &over, std::optional<ElementType> accumulator) {
  return reduce(x, over, nd::CombinerKind::Add, accumulator);
}
Tensor product(Operand x, const Names &over, std::optional<ElementType> accumulator) {
  return reduce(x, over, nd::CombinerKind::Mul, accumulator);
}
Tensor max(Operand x, const Names &over) { return reduce(x, over, nd::CombinerKind::Max); }
Tensor min(Operand x, const Names &over) { return reduce(x, over, nd::CombinerKind::Min); }

Tensor sum(Operand x) { return sum(x, x.tensor.names(x.here)); }
Tensor product(Operand x) { return product(x, x.tensor.names(x.here)); }
Tensor max(Operand x) { return max(x, x.tensor.names(x.here)); }
Tensor min(Operand x) { return min(x, x.tensor.names(x.here)); }
Tensor mean(Operand x) { return mean(x, x.tensor.names(x.here)); }

/// Combines several tensors by a reduction or a scan, which `build` makes.
static std::vector<Tensor>
combineBy(const std::vector<Tensor> &tensors, const std::vector<double> &neutral,
          const Combine &combiner, Here here,
          function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange, ArrayRef<TypedAttr>,
                                          nd::ScalarsBody)>
              build) {
  if (tensors.size() != neutral.size())
    fail(here, "expected one neutral element for each of " + std::to_string(tensors.size()) +
                   " tensors, got " + std::to_string(neutral.size()));
  ScalarCombiner traced(combiner, tensors.size(), here);
  std::vector<NodeRef> nodes;
  SmallVector<Type> types;
  for (const Tensor &tensor : tensors) {
    nodes.push_back(nodeOf(tensor, here));
    types.push_back(accumulatorFor(nodes.back()->type().getElementType(), {}, here));
  }
  return makeAll(here, nodes, [&](OpBuilder &builder, Location loc) {
    SmallVector<TypedAttr> neutrals;
    for (auto [type, value] : llvm::zip_equal(types, neutral))
      neutrals.push_back(numberAttr(type, value, here));
    Deferred deferred;
    SmallVector<Value> results =
        build(builder, loc, valuesOf(nodes), neutrals, deferred.codeOf(traced, loc, types));
    deferred.rethrow();
    return results;
  });
}

std::vector<Tensor> reduce(const std::vector<Tensor> &tensors, const Names &over,
                           const std::vector<double> &neutral, const Combine &combiner, Here here) {
  return combineBy(tensors, neutral, combiner, here,
                   [&](OpBuilder &builder, Location loc, ValueRange inputs,
                       ArrayRef<TypedAttr> neutrals, nd::ScalarsBody body) {
                     return nd::buildReduce(builder, loc, inputs, strings(over), neutrals, body);
                   });
}

std::vector<Tensor> scan(const std::vector<Tensor> &tensors, const Name &along,
                         const std::vector<double> &neutral, const Combine &combiner,
                         bool exclusive, bool reverse, Here here) {
  return combineBy(tensors, neutral, combiner, here,
                   [&](OpBuilder &builder, Location loc, ValueRange inputs,
                       ArrayRef<TypedAttr> neutrals, nd::ScalarsBody body) {
                     return nd::buildScan(builder, loc, inputs, along.str(), neutrals, body,
                                          exclusive, reverse);
                   });
}

Tensor countOf(Operand x, const Names &names, ElementType type) {
  Tensor included;
  included.node = includedIn(nodeOf(x.tensor, x.here), x.here);
  auto hangs = [&](const Name &name) { return included.has(name, x.here); };
  bool isCounted = !included.empty() && llvm::any_of(names, hangs);
  if (isCounted && isHidden(included.node))
    fail(x.here, "the number of excluded taps of " + typeAndOrigin(x.tensor) +
                     " is unknown outside of the function or branch that returned it; take the "
                     "mean, or the count, inside");
  double known = 1;
  Names along;
  std::vector<Extent> counted; // sizes that are known only at run time
  for (const Name &name : names) {
    Size size = x.tensor.size(name, x.here);
    bool isIncluded = isCounted && hangs(name);
    if (!isIncluded && size.isNumber()) {
      known *= double(size);
      continue;
    }
    along.push_back(name);
    if (!isIncluded)
      counted.push_back({name, size});
  }
  Tensor ones = constant(known, along.empty() ? type : ElementType::I64, {}, x.here);
  if (along.empty())
    return ones;
  ones = ones.broadcast(counted, x.here);
  if (isCounted)
    ones = Operand(included, x.here) *
           Operand(ones.broadcast(included.extents(x.here), x.here), x.here);
  return sum(Operand(ones, x.here), along).cast(type, x.here);
}

Tensor mean(Operand x, const Names &over, std::optional<ElementType> accumulator) {
  if (!isFloat(x.tensor.elementType(x.here)))
    fail(x.here, "expected elements of floats to take the mean of, got " + typeAndOrigin(x.tensor) +
                     "; convert with cast");
  // Computed in the accumulator's type, since the sum and the count may exceed the elements' range.
  Type type = nodeOf(x.tensor, x.here)->type().getElementType();
  Operand wide(converted(x.tensor, accumulatorFor(type, accumulator, x.here), x.here), x.here);
  Tensor total = sum(wide, over);
  bool isKnown = !includedIn(nodeOf(x.tensor, x.here), x.here);
  double count = 1;
  for (const Name &name : over) {
    Size size = x.tensor.size(name, x.here);
    isKnown &= size.isNumber();
    count *= isKnown ? double(size) : 1;
  }
  Tensor result =
      isKnown ? Operand(total, x.here) * Operand(1.0 / count, x.here)
              : Operand(total, x.here) / Operand(countOf(x, over, total.elementType()), x.here);
  return converted(result, type, x.here);
}

/// The index of the largest (Max) or smallest (Min) element.
static Tensor bestIndex(const Operand &x, const Names &over, nd::CombinerKind kind) {
  GraphLock lock;
  // The combiner carries the linear index of each element; on a tie it keeps the smaller index. Any
  // number is better than NaN.
  NodeRef input = nodeOf(x.tensor, x.here);
  std::vector<Extent> extents = x.tensor.extents();
  Tensor first = constant(0, ElementType::I64, {}, x.here);
  for (const Name &name : over) {
    Size size = x.tensor.size(name, x.here);
    if (size.isNumber() && int64_t(size) == 0)
      fail(x.here, "expected at least one element along '" + name.str() +
                       "' to take the index of, got none: " + typeAndOrigin(x.tensor));
    if (!size.isNumber()) // reading an element makes calls check that the size is not 0
      first = Operand(first, x.here) +
              Operand(iota({name, size}, ElementType::I64, x.here).at(name, 0, x.here), x.here);
  }
  Tensor index = first.broadcast(extents, x.here);
  for (const Name &name : over) {
    std::vector<Extent> others;
    for (const Extent &extent : extents)
      if (!(extent.name == name))
        others.push_back(extent);
    Size size = x.tensor.size(name, x.here);
    Tensor position = iota({name, size}, ElementType::I64, x.here).broadcast(others, x.here);
    Operand count = size.isNumber() ? Operand(double(size), x.here)
                                    : Operand(countOf(x, {name}, ElementType::I64), x.here);
    index = Operand(index, x.here) * count + Operand(position, x.here);
  }
  return makeAll(x.here, {input, index.node}, [&](OpBuilder &builder, Location loc) {
    Type element = input->type().scalarType();
    bool isUnsigned = !nd::isSignedElement(input->type().getElementType());
    bool isMax = kind == nd::CombinerKind::Max;
    SmallVector<TypedAttr> neutral{nd::neutralElement(kind, element, !isUnsigned),
                                   builder.getI64IntegerAttr(INT64_MAX)};
    if (auto real = dyn_cast<FloatType>(element))
      neutral[0] = FloatAttr::get(real, APFloat::getNaN(real.getFloatSemantics()));
    return nd::buildReduce(
        builder, loc, {input->value, index.node->value}, strings(over), neutral,
        [&](OpBuilder &b, ValueRange v) -> SmallVector<Value> {
          using arith::CmpFPredicate, arith::CmpIPredicate;
          auto real = [&](CmpFPredicate p, Value l, Value r) -> Value {
            return arith::CmpFOp::create(b, loc, p, l, r);
          };
          auto integer = [&](CmpIPredicate p, Value l, Value r) -> Value {
            return arith::CmpIOp::create(b, loc, p, l, r);
          };
          auto both = [&](Value l, Value r) -> Value {
            return arith::AndIOp::create(b, loc, l, r);
          };
          auto either = [&](Value l, Value r) -> Value {
            return arith::OrIOp::create(b, loc, l, r);
          };
          Value better, same, old = v[0], next = v[2];
          if (isa<FloatType>(element)) {
            Value oldNan = real(CmpFPredicate::UNO, old, old);
            Value nextNan = real(CmpFPredicate::UNO, next, next);
            better = either(real(isMax ? CmpFPredicate::OGT : CmpFPredicate::OLT, next, old),
                            both(oldNan, real(CmpFPredicate::ORD, next, next)));
            same = either(real(CmpFPredicate::OEQ, next, old), both(oldNan, nextNan));
          } else {
            better = integer(isMax ? (isUnsigned ? CmpIPredicate::ugt : CmpIPredicate::sgt)
                                   : (isUnsigned ? CmpIPredicate::ult : CmpIPredicate::slt),
                             next, old);
            same = integer(CmpIPredicate::eq, next, old);
          }
          Value take = either(better, both(same, integer(CmpIPredicate::slt, v[3], v[1])));
          return {arith::SelectOp::create(b, loc, take, next, old),
                  arith::SelectOp::create(b, loc, take, v[3], v[1])};
        });
  })[1];
}

Tensor argmax(Operand x, const Names &over) { return bestIndex(x, over, nd::CombinerKind::Max); }
Tensor argmin(Operand x, const Names &over) { return bestIndex(x, over, nd::CombinerKind::Min); }

Tensor scan(Operand x, const Name &along, Combiner combiner, bool exclusive, bool reverse,
            std::optional<ElementType> accumulator) {
  NodeRef input = nodeOf(x.tensor, x.here);
  Type wide = nd::signless(accumulatorFor(input->type().getElementType(), accumulator, x.here));
  return make(x.here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildScan(builder, loc, input->value, along.str(), kindOf(combiner), exclusive,
                         reverse, wide);
  });
}

} // namespace heddle
