//===- NdGradientReduce.cpp - gradients of reductions and scans -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

namespace {
/// The common part of the gradients of reduce and scan.
struct Combination {
  Operation *op;
  Block &combiner;
  SmallVector<TypedAttr> neutral;
  SmallVector<unsigned> added;  ///< accumulators with a cotangent: sums
  SmallVector<unsigned> chosen; ///< accumulators that select an element
  SmallVector<unsigned> others; ///< other accumulators

  Combination(Operation *op, Region &region, ArrayAttr attrs, ValueRange cotangents)
      : op(op), combiner(region.front()) {
    for (Attribute value : attrs)
      neutral.push_back(cast<TypedAttr>(value));
    for (auto [i, cotangent] : llvm::enumerate(cotangents))
      if (cotangent)
        (accumulatorKind(combiner, i) == CombinerKind::Add ? added
         : isSelecting(combiner, i)                        ? chosen
                                                           : others)
            .push_back(i);
  }

  unsigned size() const { return neutral.size(); }
  Location loc() const { return op->getLoc(); }
  Type accumulator(unsigned i) const { return neutral[i].getType(); }
  bool isFloat(unsigned i) const { return isa<FloatType>(accumulator(i)); }
  /// The combiner, extended by a position for each selecting accumulator.
  SmallVector<Value> withPositions(OpBuilder &b, ValueRange s) const {
    unsigned n = size(), m = chosen.size();
    return inlineWithPositions(b, loc(), combiner, s.take_front(n), s.slice(n + m, n), chosen,
                               s.slice(n, m), s.take_back(m));
  }
  SmallVector<TypedAttr> neutralWithPositions(Type position) const {
    SmallVector<TypedAttr> result(neutral);
    APInt last = APInt::getSignedMaxValue(position.getIntOrFloatBitWidth());
    result.append(chosen.size(), IntegerAttr::get(position, last));
    return result;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

/// The row-major position in the order of `names`, which are names of `type` with constant sizes.
static Value buildLinearIndex(OpBuilder &b, Location loc, NdTensorType type, Strings names,
                              Type element) {
  SmallVector<Value> iotas;
  for (StringRef name : names)
    iotas.push_back(
        buildIota(b, loc, Dim(b.getContext(), name, type.size(name).getExpr()), element));
  if (iotas.size() == 1)
    return iotas[0];
  return buildPointwise(b, loc, iotas, element, [&](OpBuilder &b, ValueRange s) {
    Value linear = s[0];
    for (unsigned i = 1; i < s.size(); ++i) {
      Value size = buildNumber(b, loc, element, double(*type.size(names[i]).constant()));
      linear = arith::MulIOp::create(b, loc, linear, size);
      linear = arith::AddIOp::create(b, loc, linear, s[i]);
    }
    return linear;
  });
}

/// The type of positions: 32 bits if their number is known to be small.
static Type positionType(OpBuilder &b, NdTensorType type, Strings names) {
  int64_t count = 1;
  for (StringRef name : names) {
    auto size = type.size(name).constant();
    if (!size || *size >= INT32_MAX || (count *= *size) >= INT32_MAX)
      return b.getI64Type();
  }
  return b.getI32Type();
}

/// True if positions over several names can't be computed, because a size has symbols.
static bool mergesNames(NdTensorType type, Strings names) {
  return llvm::any_of(names.drop_front(),
                      [&](StringRef name) { return !type.size(name).constant(); });
}

/// The gradient of the selected element is the cotangent. The combiner carries the position of that
/// element along.
static void selectingGradient(OpBuilder &b, const Combination &c, ValueRange inputs, Strings names,
                              ValueRange cotangents, ArrayRef<bool> wanted, Gradients &gradients) {
  Location loc = c.loc();
  SmallVector<Value> operands(inputs);
  NdTensorType original = tensorType(inputs[0]);
  // Positions depend on all sizes but the first. If these have symbols, merge the names.
  SmallVector<StringRef> order(names);
  SmallVector<Dim> merged;
  if (mergesNames(original, names)) {
    for (StringRef name : names)
      merged.emplace_back(b.getContext(), name, original.size(name).getExpr());
    for (Value &operand : operands)
      operand = buildMerge(b, loc, operand, names, names[0]);
    order = {names[0]};
  }
  NdTensorType type = tensorType(operands[0]);
  Type element = positionType(b, type, order);
  Value linear = buildLinearIndex(b, loc, type, order, element);
  Value everywhere = buildBroadcast(b, loc, linear, type.getDims().getDims());
  operands.append(c.chosen.size(), everywhere);
  SmallVector<Value> results =
      buildReduce(b, loc, operands, order, c.neutralWithPositions(element),
                  [&](OpBuilder &b, ValueRange s) { return c.withPositions(b, s); });
  for (auto [k, i] : llvm::enumerate(c.chosen)) {
    if (!wanted[i])
      continue;
    Type float_ = tensorType(inputs[i]).getElementType();
    Value gradient = buildPointwise(
        b, loc, {linear, results[c.size() + k], cotangents[i]}, float_,
        [&](OpBuilder &b, ValueRange s) -> Value {
          Value chosen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, s[0], s[1]);
          Value given = convertFloat(b, loc, s[2], float_);
          return arith::SelectOp::create(b, loc, chosen, given, buildNumber(b, loc, float_, 0));
        });
    gradients[i] = merged.empty() ? gradient : buildSplit(b, loc, gradient, names[0], merged);
  }
}

/// An operand may affect accumulators of several kinds.
static void addGradient(OpBuilder &b, Location loc, Value &sum, Value more) {
  sum = sum ? nd::add(b, loc, sum, more) : more;
}

/// Emits combine(combine(before, element), after) for the arguments of `block`.
static void composeTwice(OpBuilder &b, const Combination &c, Block *block) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(block);
  unsigned n = c.size();
  for (int part = 0; part < 3; ++part)
    for (unsigned i = 0; i < n; ++i)
      block->addArgument(c.accumulator(i), c.loc());
  ValueRange arguments = block->getArguments();
  SmallVector<Value> both = inlineBlock(b, c.combiner, arguments.take_front(2 * n));
  llvm::append_range(both, arguments.take_back(n));
  YieldOp::create(b, c.loc(), inlineBlock(b, c.combiner, both));
}

/// Any combiner, one name after another: exclusive scans give the combinations of the elements
/// before and after each element, to which the combiner's derivative is applied.
static LogicalResult generalGradient(OpBuilder &b, const Combination &c, ValueRange inputs,
                                     Strings names, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  Location loc = c.loc();
  unsigned n = c.size();
  Region composed;
  Block *block = &composed.emplaceBlock();
  composeTwice(b, c, block);
  auto combine = [&](OpBuilder &b, ValueRange s) { return inlineBlock(b, c.combiner, s); };

  // levels[k]: the tensors after reducing the last k names.
  SmallVector<SmallVector<Value>> levels(1);
  for (unsigned i = 0; i < n; ++i) {
    Type element = tensorType(inputs[i]).getElementType();
    levels[0].push_back(buildCast(b, loc, inputs[i], c.isFloat(i) ? c.accumulator(i) : element));
  }
  for (unsigned k = 0; k + 1 < names.size(); ++k)
    levels.push_back(
        buildReduce(b, loc, levels[k], {names[names.size() - 1 - k]}, c.neutral, combine));
  SmallVector<Value> given(n);
  for (unsigned i : c.others)
    given[i] = buildCast(b, loc, cotangents[i], c.accumulator(i));

  for (unsigned k = names.size(); k-- > 0;) {
    StringRef name = names[names.size() - 1 - k];
    SmallVector<Value> operands =
        buildScan(b, loc, levels[k], name, c.neutral, combine, /*exclusive=*/true);
    llvm::append_range(operands, levels[k]);
    llvm::append_range(operands, buildScan(b, loc, levels[k], name, c.neutral, combine,
                                           /*exclusive=*/true, /*reverse=*/true));
    SmallVector<int> position(n, -1);
    for (unsigned i = 0; i < n; ++i)
      if (given[i]) {
        position[i] = operands.size();
        operands.push_back(given[i]);
      }
    SmallVector<Value> next(n);
    for (unsigned i = 0; i < n; ++i) {
      if (!c.isFloat(i) || (k == 0 && !wanted[i]))
        continue;
      bool isFailure = false, isNull = false;
      Value result = buildPointwise(
          b, loc, operands, c.accumulator(i), [&](OpBuilder &b, ValueRange s) -> Value {
            SmallVector<Value> scalars(n);
            for (unsigned j = 0; j < n; ++j)
              if (position[j] >= 0)
                scalars[j] = s[position[j]];
            SmallVector<bool> only(3 * n);
            only[n + i] = true;
            FailureOr<SmallVector<Value>> slopes =
                buildScalarGradient(b, loc, *block, s.take_front(3 * n), scalars, only);
            isFailure = failed(slopes);
            isNull = isFailure || !(*slopes)[n + i];
            return isNull ? buildNumber(b, loc, c.accumulator(i), 0) : (*slopes)[n + i];
          });
      if (isFailure)
        return failure();
      eraseDeadScalars(result.getDefiningOp()->getRegion(0).front());
      if (!isNull)
        next[i] = result;
    }
    given = next;
  }
  for (unsigned i = 0; i < n; ++i)
    if (wanted[i] && given[i])
      addGradient(b, loc, gradients[i],
                  buildCast(b, loc, given[i], tensorType(inputs[i]).getElementType()));
  return success();
}

/// A neutral element as a tensor without names, of the element type of an input.
static Value buildNeutral(OpBuilder &b, Location loc, Type element, TypedAttr value) {
  auto type = NdTensorType::get(element, ArrayRef<Dim>());
  if (auto real = dyn_cast<FloatAttr>(value))
    return buildConstant(b, loc, type, numberAttr(type.scalarType(), real.getValueAsDouble()));
  return buildConstant(b, loc, type, value);
}

LogicalResult ReduceOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  Combination c(*this, getCombiner(), getNeutral(), cotangents);
  SmallVector<StringRef> names = stringsOf(getNames());
  for (unsigned i : c.added) {
    NdTensorType type = tensorType(getInputs()[i]);
    Value cotangent = buildCast(b, getLoc(), cotangents[i], type.getElementType());
    gradients[i] = buildBroadcast(b, getLoc(), cotangent, type.getDims().getDims());
  }
  // Only the reduction may read a window that excludes elements.
  bool merges = mergesNames(tensorType(getInputs()[0]), names);
  bool fills = !c.others.empty() || (merges && !c.chosen.empty());
  SmallVector<Value> inputs(getInputs());
  Value mask;
  if (fills) { // Excluded points hold neutral elements instead.
    for (Value &input : inputs) {
      auto [filled, own] = fillExcluded(b, input);
      input = filled;
      if (own)
        mask = !mask
                   ? own
                   : buildPointwise(
                         b, getLoc(), {mask, own}, b.getI1Type(), [&](OpBuilder &b, ValueRange s) {
                           return arith::AndIOp::create(b, getLoc(), s[0], s[1]).getResult();
                         });
    }
    if (mask)
      for (auto [input, value] : llvm::zip_equal(inputs, c.neutral)) {
        Type element = tensorType(input).getElementType();
        input = nd::select(b, getLoc(), mask, input, buildNeutral(b, getLoc(), element, value));
      }
  }
  auto addMasked = [&](ArrayRef<Value> own) {
    for (auto [i, gradient] : llvm::enumerate(own)) {
      if (!gradient)
        continue;
      Value kept = gradient;
      if (mask)
        kept = nd::select(
            b, getLoc(), mask, kept,
            buildConstant(b, getLoc(),
                          NdTensorType::get(tensorType(kept).getElementType(), ArrayRef<Dim>()),
                          0.0));
      addGradient(b, getLoc(), gradients[i], kept);
    }
  };
  if (!c.chosen.empty()) {
    SmallVector<Value> own(inputs.size());
    selectingGradient(b, c, merges ? inputs : SmallVector<Value>(getInputs()), names, cotangents,
                      wanted, own);
    addMasked(own);
  }
  if (c.others.empty())
    return success();
  SmallVector<Value> own(inputs.size());
  if (failed(generalGradient(b, c, inputs, names, cotangents, wanted, own)))
    return failure();
  addMasked(own);
  return success();
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// Shifts `value` by one along `name`: each coordinate gets the element at the next one (the
/// previous one if `back`), and the end gets `fill`.
static Value buildShift(OpBuilder &b, Location loc, Value value, StringRef name, bool back,
                        TypedAttr fill = {}) {
  Value longer = buildPad(b, loc, value, name, back ? 1 : 0, back ? 0 : 1, 0, fill);
  return buildSlice(b, loc, longer, name, back ? 0 : 1, tensorType(value).size(name).getExpr());
}

namespace {
/// For the accumulators z[p] = combine(z[p-1], x[p]) with cotangents g[p], the total cotangent of
/// z[p] is l[p] = g[p] + J[p+1]^T l[p+1] with J[p] = d combine(z[p-1], x[p]) / d z[p-1]. This is a
/// scan of affine maps in the opposite direction.
class AffineScanGradient {
public:
  AffineScanGradient(OpBuilder &b, ScanOp op, const Combination &c)
      : b(b), op(op), c(c), loc(c.loc()), name(op.getName()), n(c.size()) {
    auto combine = [&](OpBuilder &b, ValueRange s) { return inlineBlock(b, c.combiner, s); };
    SmallVector<Value> x;
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      x.push_back(buildCast(b, loc, input,
                            c.isFloat(i) ? c.accumulator(i) : tensorType(input).getElementType()));
    operands = buildScan(b, loc, x, name, c.neutral, combine, /*exclusive=*/true, op.getReverse());
    llvm::append_range(operands, x);
  }

  LogicalResult build(ValueRange cotangents, ArrayRef<bool> wanted, Gradients &gradients) {
    if (failed(collectSlopes()))
      return failure();
    SmallVector<Value> sums = scan(cotangents);
    for (unsigned by = 0; by < n; ++by) {
      if (!wanted[by])
        continue;
      for (auto [of, sum] : llvm::zip_equal(used, sums)) {
        FailureOr<Value> own = slope(of, n + by);
        if (failed(own))
          return failure();
        if (!*own)
          continue;
        Value given = buildCast(b, loc, sum, c.accumulator(by));
        Value product = nd::mul(b, loc, given, *own);
        addGradient(b, loc, gradients[by],
                    buildCast(b, loc, product, tensorType(op.getInputs()[by]).getElementType()));
      }
    }
    return success();
  }

private:
  using Entry = std::pair<unsigned, unsigned>; ///< matrix entry: derivative of .first by .second

  /// d (accumulator `of`) / d (argument `by`); null where it does not depend on it.
  FailureOr<Value> slope(unsigned of, unsigned by) {
    bool isFailure = false, isNull = false;
    Type element = c.accumulator(by < n ? by : by - n);
    Value result = buildPointwise(b, loc, operands, element, [&](OpBuilder &b, ValueRange s) {
      SmallVector<Value> given(n);
      SmallVector<bool> only(2 * n);
      given[of] = buildNumber(b, loc, c.accumulator(of), 1);
      only[by] = true;
      FailureOr<SmallVector<Value>> slopes =
          buildScalarGradient(b, loc, c.combiner, s, given, only);
      isFailure = failed(slopes);
      isNull = isFailure || !(*slopes)[by];
      return isNull ? buildNumber(b, loc, element, 0) : (*slopes)[by];
    });
    if (isFailure)
      return failure();
    eraseDeadScalars(result.getDefiningOp()->getRegion(0).front());
    return isNull ? Value() : result;
  }

  /// Collects the accumulators on which the wanted ones depend, and their dependences on each
  /// other.
  LogicalResult collectSlopes() {
    llvm::append_range(used, c.others);
    for (unsigned k = 0; k < used.size(); ++k)
      for (unsigned by = 0; by < n; ++by) {
        if (!c.isFloat(by))
          continue;
        FailureOr<Value> entry = slope(used[k], by);
        if (failed(entry))
          return failure();
        if (!*entry)
          continue;
        jacobian[{used[k], by}] = *entry;
        if (!llvm::is_contained(used, by))
          used.push_back(by);
      }
    return success();
  }

  /// Tensors of the scan: the matrix entries (of, by), then the vector. Returns the vector's sums.
  SmallVector<Value> scan(ValueRange cotangents) {
    auto reaches = jacobian; // entries that may be nonzero in products of the matrices
    for (unsigned k : used)
      reaches[{k, k}];
    for (unsigned via : used)
      for (unsigned of : used)
        for (unsigned by : used)
          if (reaches.count({of, via}) && reaches.count({via, by}))
            reaches[{of, by}];
    SmallVector<Value> inputs;
    SmallVector<TypedAttr> neutral;
    NdTensorType type = tensorType(op.getInputs()[0]);
    auto zero = [&](unsigned i) {
      return buildZero(b, loc, type.withElementType(c.accumulator(i)));
    };
    for (auto &[pair, unused] : reaches) {
      auto entry = jacobian.find(pair);
      position[pair] = inputs.size();
      inputs.push_back(entry == jacobian.end()
                           ? zero(pair.second)
                           : buildShift(b, loc, entry->second, name, /*back=*/op.getReverse()));
      neutral.push_back(numberAttr(c.accumulator(pair.second), pair.first == pair.second));
    }
    for (unsigned i : used) {
      Value g = llvm::is_contained(c.others, i) ? buildCast(b, loc, cotangents[i], c.accumulator(i))
                                                : Value();
      // The result of an exclusive scan at p is z[p-1].
      if (g && op.getExclusive())
        g = buildShift(b, loc, g, name, /*back=*/op.getReverse());
      inputs.push_back(g ? g : zero(i));
      neutral.push_back(numberAttr(c.accumulator(i), 0));
    }
    SmallVector<Value> sums = buildScan(
        b, loc, inputs, name, neutral, [&](OpBuilder &b, ValueRange s) { return compose(b, s); },
        /*exclusive=*/false,
        /*reverse=*/!op.getReverse());
    return llvm::to_vector(ArrayRef(sums).drop_front(position.size()));
  }

  /// The element is the map l -> A^T l + g; the accumulator is applied before it.
  SmallVector<Value> compose(OpBuilder &b, ValueRange s) {
    ValueRange before = s.take_front(s.size() / 2), element = s.drop_front(s.size() / 2);
    auto addTo = [&](Value &sum, Value x, Value y, Type type) {
      Value product = arith::MulFOp::create(b, loc, convertFloat(b, loc, x, type),
                                            convertFloat(b, loc, y, type));
      sum = sum ? arith::AddFOp::create(b, loc, sum, product).getResult() : product;
    };
    SmallVector<Value> results;
    for (auto &[pair, index] : position) {
      Value sum;
      for (unsigned via : used)
        if (position.count({pair.first, via}) && position.count({via, pair.second}))
          addTo(sum, before[position[{pair.first, via}]], element[position[{via, pair.second}]],
                c.accumulator(pair.second));
      results.push_back(sum);
    }
    for (auto [k, i] : llvm::enumerate(used)) {
      Value sum = element[position.size() + k];
      for (auto [m, of] : llvm::enumerate(used))
        if (position.count({of, i}))
          addTo(sum, element[position[{of, i}]], before[position.size() + m], c.accumulator(i));
      results.push_back(sum);
    }
    return results;
  }

  OpBuilder &b;
  ScanOp op;
  const Combination &c;
  Location loc;
  StringRef name;
  unsigned n;
  SmallVector<Value> operands; ///< of the combiner at each point: z[p-1], x[p]
  SmallVector<unsigned> used;  ///< relevant accumulators
  std::map<Entry, Value> jacobian;
  std::map<Entry, unsigned> position; ///< of a matrix entry among the tensors of the scan
};
} // namespace

LogicalResult ScanOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                    Gradients &gradients) {
  Location loc = getLoc();
  Combination c(*this, getCombiner(), getNeutral(), cotangents);
  NdTensorType type = tensorType(getInputs()[0]);
  if (type.size(getName()).constant() == 0)
    return success();
  for (unsigned i : c.added) {
    Value given = buildCast(b, loc, cotangents[i], tensorType(getInputs()[i]).getElementType());
    gradients[i] = buildScan(b, loc, given, getName(), CombinerKind::Add, getExclusive(),
                             /*reverse=*/!getReverse());
  }
  if (!c.chosen.empty()) {
    Type element = b.getI64Type();
    Value linear = buildLinearIndex(b, loc, type, {getName()}, element);
    SmallVector<Value> operands(getInputs());
    operands.append(c.chosen.size(), buildBroadcast(b, loc, linear, type.getDims().getDims()));
    SmallVector<Value> results = buildScan(
        b, loc, operands, getName(), c.neutralWithPositions(element),
        [&](OpBuilder &b, ValueRange s) { return c.withPositions(b, s); }, getExclusive(),
        getReverse());
    for (auto [k, i] : llvm::enumerate(c.chosen)) {
      if (!wanted[i])
        continue;
      // An exclusive scan starts at the neutral element, whose position is out of bounds.
      NdTensorType input = tensorType(getInputs()[i]);
      Value given = buildCast(b, loc, cotangents[i], input.getElementType());
      gradients[i] = buildScatter(b, loc, buildZero(b, loc, input), given, {getName()},
                                  results[c.size() + k], CombinerKind::Add);
    }
  }
  if (c.others.empty())
    return success();
  return AffineScanGradient(b, *this, c).build(cotangents, wanted, gradients);
}
