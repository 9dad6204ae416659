//===- NdGradientScan.cpp - gradients of scans ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdCombination.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

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
