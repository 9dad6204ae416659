//===- Ops.cpp - index maps, reductions, sources --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Ops.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"
#include "lib/builder/Pointwise.h"
#include "lib/builder/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

static SmallVector<StringRef> strings(const Names &names) {
  SmallVector<StringRef> result;
  for (const Name &name : names)
    result.push_back(name.str());
  return result;
}

namespace heddle {

//===----------------------------------------------------------------------===//
// Index maps
//===----------------------------------------------------------------------===//

namespace {
/// The shape of a window over `whole` elements, and padding to add beforehand: padding that depends
/// on a symbol cannot be part of the shape.
struct Window {
  nd::WindowShape shape;
  Expr low = Expr(0), high = Expr(0);
  bool isPadded = false; ///< pad by `low` and `high` first

  Window(const Name &name, const Name &tap, const WindowOptions &options, const Expr &whole)
      : shape{name.str(), tap.str(), options.size, options.stride, options.dilation, 0, 0} {
    if (options.padding.kind == Padding::Kind::Explicit) {
      shape.low = options.padding.low;
      shape.high = options.padding.high;
    } else if (options.padding.kind == Padding::Kind::Same) {
      // There are ceil(whole / stride) windows; the last one ends with the padding.
      Expr total = Expr((options.size - 1) * options.dilation + 1 - options.stride) +
                   (Expr(0) - whole).mod(options.stride);
      total = Expr::max(total, Expr(0));
      low = total.floordiv(2);
      high = total - low;
      isPadded = !total.constant();
      if (!isPadded) {
        shape.low = *low.constant();
        shape.high = *high.constant();
      }
    }
  }
};
} // namespace

static void requirePositive(const WindowOptions &options, Here here) {
  if (std::min({options.size, options.stride, options.dilation}) < 1)
    fail(here, "expected a window's size, stride and dilation to be at least 1, got " +
                   std::to_string(options.size) + ", " + std::to_string(options.stride) + " and " +
                   std::to_string(options.dilation));
}

/// Throws Error for a window that does not fit in a non-empty tensor.
static void requireFit(const Tensor &tensor, const Name &name, const WindowOptions &options,
                       Here here) {
  Expr whole = tensor.size(name, here).expr();
  int64_t reach = (options.size - 1) * options.dilation + 1,
          most = whole.constant().value_or(INT64_MAX);
  if (options.padding.kind == Padding::Kind::Same || most == 0 || most == INT64_MAX)
    return;
  if (options.padding.kind == Padding::Kind::Explicit)
    most += options.padding.low + options.padding.high;
  if (reach > most)
    fail(here, "expected a window that reaches over at most " + std::to_string(most) +
                   " elements of '" + name.str() + "' of " + typeAndOrigin(tensor) + ", got " +
                   std::to_string(reach));
}

Tensor Tensor::window(const Name &name, const Name &tap, WindowOptions options, Here here) const {
  GraphLock lock;
  NodeRef input = nodeOf(*this, here);
  requirePositive(options, here);
  requireFit(*this, name, options, here);
  nd::SizeAttr whole = input->type().size(name.str());
  Window window(name, tap, options, whole ? whole.getExpr() : Expr(0));
  requireNumber(options.padding.value, input->type().getElementType(), here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    if (window.isPadded && options.padding.exclude) {
      // Makes a window at every element, with the largest padding, and keeps every stride-th one.
      nd::WindowShape everywhere = window.shape;
      int64_t most = (options.size - 1) * options.dilation;
      everywhere.stride = 1;
      everywhere.low = most / 2;
      everywhere.high = most - everywhere.low;
      return nd::buildSlice(builder, loc, nd::buildWindow(builder, loc, input->value, everywhere),
                            name.str(), Expr(everywhere.low) - window.low,
                            (whole.getExpr() + (options.stride - 1)).floordiv(options.stride),
                            options.stride);
    }
    TypedAttr padding;
    if (!options.padding.exclude)
      padding = nd::numberAttr(input->type().scalarType(), options.padding.value);
    if (window.isPadded)
      return nd::buildWindow(
          builder, loc,
          nd::buildPad(builder, loc, input->value, name.str(), window.low, window.high, 0, padding),
          window.shape);
    bool isInside = !window.shape.low && !window.shape.high;
    return nd::buildWindow(builder, loc, input->value, window.shape,
                           isInside ? TypedAttr() : padding);
  });
}

Tensor Tensor::unwindow(const Name &name, const Name &tap, WindowOptions options, const Size &whole,
                        Here here) const {
  NodeRef input = nodeOf(*this, here);
  requirePositive(options, here);
  Window window(name, tap, options, whole.expr());
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    Expr padded = whole.expr() + (window.isPadded ? window.low + window.high : Expr(0));
    Value sum = nd::buildUnwindow(builder, loc, input->value, window.shape, padded);
    return window.isPadded ? nd::buildSlice(builder, loc, sum, name.str(), window.low, whole.expr())
                           : sum;
  });
}

Tensor Tensor::round(ElementType type, Here here) const {
  NodeRef input = nodeOf(*this, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildRound(builder, loc, input->value, toMlir(type));
  });
}

Tensor Tensor::rename(const std::vector<Rename> &renames, Here here) const {
  NodeRef input = nodeOf(*this, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    SmallVector<StringRef> from, to;
    for (const Rename &rename : renames) {
      from.push_back(rename.from.str());
      to.push_back(rename.to.str());
    }
    return nd::buildRename(builder, loc, input->value, from, to);
  });
}

Tensor Tensor::broadcast(const std::vector<Extent> &extents, Here here) const {
  NodeRef input = nodeOf(*this, here);
  auto dims = dimsOf(extents, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildBroadcast(builder, loc, input->value, dims);
  });
}

Tensor Tensor::slice(const Name &name, const Size &start, const Size &size, int64_t stride,
                     Here here) const {
  NodeRef input = nodeOf(*this, here);
  if (stride == 0)
    fail(here, "expected a stride of '" + name.str() + "' other than 0, got 0");
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildSlice(builder, loc, input->value, name.str(), start.expr(), size.expr(),
                          stride);
  });
}

Tensor Tensor::pad(const Name &name, const Size &low, const Size &high, double value,
                   Here here) const {
  NodeRef input = nodeOf(*this, here);
  requireNumber(value, input->type().getElementType(), here);
  bool addsNone = low.expr() == Expr(0) && high.expr() == Expr(0);
  if (!addsNone && includedIn(input, here))
    fail(here, "expected no padding of what windows exclude taps from, got " +
                   typeAndOrigin(*this) + "; pad before the window, or give it a padding value");
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildPad(builder, loc, input->value, name.str(), low.expr(), high.expr(), 0,
                        nd::numberAttr(input->type().scalarType(), value));
  });
}

Tensor Tensor::split(const Name &name, const std::vector<Extent> &into, Here here) const {
  NodeRef input = nodeOf(*this, here);
  auto dims = dimsOf(into, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildSplit(builder, loc, input->value, name.str(), dims);
  });
}

Tensor Tensor::merge(const Names &names, const Name &into, Here here) const {
  NodeRef input = nodeOf(*this, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildMerge(builder, loc, input->value, strings(names), into.str());
  });
}

Tensor Tensor::gather(const Name &name, const Tensor &index, Here here) const {
  return gather({{name, index}}, here);
}

/// The nodes of indices after `nodes`, and the names along which they read.
static SmallVector<StringRef>
addIndices(std::vector<NodeRef> &nodes, const std::vector<std::pair<Name, Tensor>> &at, Here here) {
  SmallVector<StringRef> names;
  for (const auto &[name, index] : at) {
    names.push_back(name.str());
    nodes.push_back(nodeOf(index, here));
  }
  return names;
}
static SmallVector<Value> valuesOf(ArrayRef<NodeRef> nodes) {
  return llvm::map_to_vector(nodes, [](const NodeRef &node) { return node->value; });
}

Tensor Tensor::gather(const std::vector<std::pair<Name, Tensor>> &at, Here here) const {
  std::vector<NodeRef> nodes{nodeOf(*this, here)};
  SmallVector<StringRef> names = addIndices(nodes, at, here);
  return make(here, nodes, [&](OpBuilder &builder, Location loc) {
    return nd::buildGather(builder, loc, nodes[0]->value, names,
                           valuesOf(ArrayRef(nodes).drop_front()));
  });
}

Tensor concat(const std::vector<Tensor> &parts, const Name &along, Here here) {
  if (parts.empty())
    fail(here, "expected tensors to join along '" + along.str() + "', got none");
  std::vector<NodeRef> nodes;
  for (const Tensor &part : parts)
    nodes.push_back(nodeOf(part, here));
  return make(here, nodes, [&](OpBuilder &builder, Location loc) {
    SmallVector<Value> values;
    for (const NodeRef &node : nodes)
      values.push_back(node->value);
    return nd::buildConcat(builder, loc, values, along.str());
  });
}

static nd::CombinerKind kindOf(Combiner combiner) {
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

static Tensor scatterBy(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
                        const Tensor &updates, Here here,
                        llvm::function_ref<Value(OpBuilder &, Location, ArrayRef<NodeRef>,
                                                 ArrayRef<StringRef>, ValueRange)>
                            build) {
  std::vector<NodeRef> nodes{nodeOf(destination, here), nodeOf(updates, here)};
  SmallVector<StringRef> names = addIndices(nodes, at, here);
  return make(here, nodes, [&](OpBuilder &builder, Location loc) {
    return build(builder, loc, nodes, names, valuesOf(ArrayRef(nodes).drop_front(2)));
  });
}

Tensor scatter(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
               const Tensor &updates, Combiner combiner, Here here) {
  return scatterBy(destination, at, updates, here,
                   [&](OpBuilder &builder, Location loc, ArrayRef<NodeRef> nodes,
                       ArrayRef<StringRef> names, ValueRange indices) {
                     return nd::buildScatter(builder, loc, nodes[0]->value, nodes[1]->value, names,
                                             indices, kindOf(combiner));
                   });
}

Tensor scatter(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
               const Tensor &updates, const std::function<Scalar(Scalar, Scalar)> &combiner,
               Here here) {
  ScalarCombiner traced(
      [&](const Scalars &a, const Scalars &b) { return Scalars{combiner(a[0], b[0])}; }, 1, here);
  Type element = nodeOf(destination, here)->type().getElementType();
  Deferred deferred;
  return scatterBy(destination, at, updates, here,
                   [&](OpBuilder &builder, Location loc, ArrayRef<NodeRef> nodes,
                       ArrayRef<StringRef> names, ValueRange indices) {
                     auto code = deferred.codeOf(traced, loc, element);
                     Value made = nd::buildScatter(
                         builder, loc, nodes[0]->value, nodes[1]->value, names, indices,
                         [&](OpBuilder &b, ValueRange scalars) { return code(b, scalars)[0]; });
                     deferred.rethrow();
                     return made;
                   });
}

Tensor scatterUnique(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
                     const Tensor &updates, Here here) {
  return scatterBy(destination, at, updates, here,
                   [&](OpBuilder &builder, Location loc, ArrayRef<NodeRef> nodes,
                       ArrayRef<StringRef> names, ValueRange indices) {
                     return nd::buildScatter(
                         builder, loc, nodes[0]->value, nodes[1]->value, names, indices,
                         [](OpBuilder &, ValueRange s) { return s[1]; }, /*unique=*/true);
                   });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

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
          llvm::function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange,
                                                ArrayRef<TypedAttr>, nd::ScalarsBody)>
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

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

Tensor constant(double value, ElementType type, const std::vector<Extent> &extents, Here here) {
  GraphLock lock;
  auto dims = dimsOf(extents, here);
  requireNumber(value, toMlir(type), here);
  return make(here, {}, [&](OpBuilder &builder, Location loc) {
    return nd::buildConstant(builder, loc, nd::NdTensorType::get(toMlir(type), dims), value);
  });
}

Tensor zeros(const std::vector<Extent> &extents, ElementType type, Here here) {
  return constant(0, type, extents, here);
}

Tensor iota(const Extent &extent, ElementType type, Here here) {
  GraphLock lock;
  auto dims = dimsOf({extent}, here);
  return make(here, {}, [&](OpBuilder &builder, Location loc) {
    return nd::buildIota(builder, loc, dims[0], toMlir(type));
  });
}

Tensor randomBits(const Tensor &key, const std::vector<Extent> &by, Here here) {
  NodeRef keyNode = nodeOf(key, here);
  SmallVector<nd::Dim> dims = dimsOf(by, here); // in the given order
  return make(here, {keyNode}, [&](OpBuilder &builder, Location loc) {
    return nd::buildRandom(builder, loc, keyNode->value, dims);
  });
}

Tensor randomUniform(const Tensor &key, const std::vector<Extent> &by, Here here) {
  Tensor bits = randomBits(key, by, here);
  // 24 bits, the precision of f32.
  Type ui32 = toMlir(ElementType::UI32), f32 = toMlir(ElementType::F32);
  return pointwiseMixed(
      here, {bits}, f32, [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) -> Value {
        Value high = arith::ShRUIOp::create(builder, loc, v[0],
                                            nd::buildNumber(builder, loc, v[0].getType(), 8));
        Value real = nd::convertScalar(builder, loc, high, ui32, f32);
        return arith::MulFOp::create(builder, loc, real,
                                     nd::buildNumber(builder, loc, f32, 1.0 / 16777216.0));
      });
}

Tensor randomNormal(const Tensor &key, const std::vector<Extent> &by, Here here) {
  // Box and Muller, Annals of Mathematical Statistics 29 (1958): from two uniform numbers.
  Tensor radius = randomUniform(fold(key, Operand(1.0, here)), by, here);
  Tensor angle = randomUniform(fold(key, Operand(2.0, here)), by, here);
  auto at = [&](const Tensor &tensor) { return Operand(tensor, here); };
  auto of = [&](double number) { return Operand(number, here); };
  Tensor length = sqrt(at(at(log(at(of(1.0) - at(radius)))) * of(-2.0)));
  return at(length) * at(cos(at(at(angle) * of(6.283185307179586))));
}

Tensor randomIntegers(const Tensor &key, int64_t low, int64_t high, const std::vector<Extent> &by,
                      Here here) {
  if (high <= low || uint64_t(high) - uint64_t(low) > uint64_t(1) << 32)
    fail(here, "expected a range of 1 to 2^32 integers, got " + std::to_string(low) + " to below " +
                   std::to_string(high));
  // The upper half of bits * range (Lemire, ACM TOMACS 29 (2019)).
  Type i64 = toMlir(ElementType::I64);
  return pointwiseMixed(here, {randomBits(key, by, here)}, i64,
                        [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) -> Value {
                          auto literal = [&](int64_t n) -> Value {
                            return arith::ConstantOp::create(builder, loc,
                                                             builder.getI64IntegerAttr(n));
                          };
                          Value wide = arith::ExtUIOp::create(builder, loc, i64, v[0]);
                          wide = arith::MulIOp::create(builder, loc, wide, literal(high - low));
                          wide = arith::ShRUIOp::create(builder, loc, wide, literal(32));
                          return arith::AddIOp::create(builder, loc, wide, literal(low));
                        });
}

Tensor randomPermutation(const Tensor &key, const Extent &extent, Here here) {
  return argsort(Operand(randomBits(key, {extent}, here), here), extent.name);
}

Tensor key(uint64_t seed, Here here) {
  return Tensor::ofBytes(&seed, 1, ElementType::UI64, {}, here);
}

Tensor fold(const Tensor &key, Operand index) {
  // A step of SplitMix64 (Steele, Lea, Flood, OOPSLA'14) on the key moved by the index.
  GraphLock lock;
  Here here = index.here;
  Type ui64 = toMlir(ElementType::UI64);
  std::vector<Tensor> operands{key};
  if (!index.tensor.empty())
    operands.push_back(index.tensor);
  else
    requireNumber(index.number, toMlir(ElementType::I64), here);
  return pointwiseMixed(
      here, operands, ui64, [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) -> Value {
        auto literal = [&](uint64_t n) -> Value {
          return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(int64_t(n)));
        };
        Value moved = index.tensor.empty()
                          ? literal(uint64_t(index.number))
                          : nd::convertScalar(builder, loc, v[1],
                                              index.tensor.node->type().getElementType(), ui64);
        moved = arith::AddIOp::create(builder, loc, moved, literal(1));
        Value z = arith::AddIOp::create(
            builder, loc, v[0],
            arith::MulIOp::create(builder, loc, moved, literal(0x9e3779b97f4a7c15ull)));
        auto mixed = [&](Value x, uint64_t shift, uint64_t factor) -> Value {
          Value y = arith::XOrIOp::create(builder, loc, x,
                                          arith::ShRUIOp::create(builder, loc, x, literal(shift)));
          return factor ? Value(arith::MulIOp::create(builder, loc, y, literal(factor))) : y;
        };
        return mixed(mixed(mixed(z, 30, 0xbf58476d1ce4e5b9ull), 27, 0x94d049bb133111ebull), 31, 0);
      });
}

Tensor stopGradient(const Tensor &x, Here here) {
  NodeRef node = nodeOf(x, here);
  return make(here, {node}, [&](mlir::OpBuilder &builder, mlir::Location loc) -> mlir::Value {
    return nd::StopGradientOp::create(builder, loc, node->type(), node->value);
  });
}

} // namespace heddle
