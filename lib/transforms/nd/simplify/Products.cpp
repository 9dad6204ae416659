//===- Products.cpp - sums of products ------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction of a product of several factors can be evaluated in many orders. One rule covers
// them: it collects the factors, through products and sums with one use, and finds the cheapest
// order by dynamic programming over sets of factors (greedily for more than ten):
//
//     sum_jk A_ij B_jk C_kl        two products of matrices instead of one nest over ijkl
//     sum_i (a x_i)                a sum_i x_i
//     sum_ij (a_i b_j)             (sum_i a_i) (sum_j b_j)
//     (A B) c                      A (B c)
//
// The rule needs products that distribute over sums, as in any semiring: minima over maxima, `and`
// over `or`, sums over maxima. For floats only the lattices are exact; the others need fast-math
// flags.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/simplify/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// The cost of moving an element, in multiply-adds, and the factor by which another order has to be
/// cheaper.
static constexpr double moveCost = 8, margin = 1.25;
/// The largest number of factors for the exhaustive search.
static constexpr size_t mostSearched = 10, mostFactors = 64;

bool nd::isSemiring(CombinerKind plus, bool isSigned, Operation *times, unsigned granted) {
  switch (plus) {
  case CombinerKind::Add:
    return isa<arith::MulIOp>(times) || (isa<arith::MulFOp>(times) && (granted & Reassociate));
  case CombinerKind::Max:
    return isa<arith::MinimumFOp>(times) ||
           (isSigned ? isa<arith::MinSIOp>(times) : isa<arith::MinUIOp>(times)) ||
           (isa<arith::AddFOp>(times) && (granted & NoNans));
  case CombinerKind::Min:
    return isa<arith::MaximumFOp>(times) ||
           (isSigned ? isa<arith::MaxSIOp>(times) : isa<arith::MaxUIOp>(times)) ||
           (isa<arith::AddFOp>(times) && (granted & NoNans));
  case CombinerKind::Or:
    return isa<arith::AndIOp>(times);
  case CombinerKind::And:
    return isa<arith::OrIOp>(times);
  default:
    return false;
  }
}

/// Symbols have their typical values.
static double elements(NdTensorType type) {
  double count = 1;
  for (const Dim &dim : type.getDims())
    count *= double(std::max<int64_t>(1, dim.size().typical()));
  return count;
}
double nd::elementsOf(Value value) { return elements(tensorType(value)); }

namespace {
/// One factor: a tensor, or a part of the code of a pointwise op.
struct Factor {
  Value tensor;
  ScalarCodeInterface op; ///< where `tensor` is null
  Value scalar;
  DimsAttr dims;
};

/// A reduction of a product, decomposed into factors.
class Product {
public:
  Product(ReduceOp op, unsigned granted, Exclusions &exclusions)
      : op(op), granted(granted), exclusions(exclusions) {}

  /// False if `op` is not a reduction of a product.
  bool collect();
  /// Finds the cheapest order; false if it is not cheaper than the current one.
  bool choose();
  Value build(PatternRewriter &rewriter);

private:
  using Names = uint64_t; ///< a set of names
  using Set = uint64_t;   ///< a set of factors

  ReduceOp op;
  unsigned granted;
  Exclusions &exclusions;
  CombinerKind plus = CombinerKind::General;
  Operation *times = nullptr;
  SmallVector<Factor> factors;
  llvm::SmallSetVector<StringAttr, 8> reduced; ///< names, in program order
  llvm::DenseSet<StringAttr> seen;             ///< all names of the products
  double written = 0;                          ///< cost of the current order

  SmallVector<StringAttr> names;
  SmallVector<double> sizes;
  SmallVector<Names> has; ///< names of each factor
  Names resultNames = 0;
  DenseMap<Set, std::pair<Set, Set>> parts; ///< best split of each set

  bool isTimes(Operation *each) const { return each && each->getName() == times->getName(); }
  void collect(ScalarCodeInterface product, Value scalar, unsigned &count);
  void countLevel(NdTensorType space, NdTensorType result, unsigned factorCount) {
    double points = elements(space);
    written += points * std::max(1u, factorCount - 1) + moveCost * elements(result);
  }

  double points(Names set) const;
  Names kept(Set set) const;
  double costOf(Set left, Set right) const;
  double search(Set all);
  double searchGreedily(Set all);
  double baseCost(Set single) const;
  Value emit(Set set, PatternRewriter &rewriter);
  Value sumDown(Value value, Set set, Names present, PatternRewriter &rewriter);
  Type element() {
    Type neutral = cast<TypedAttr>(op.getNeutral()[0]).getType();
    // Only the tensor's element type has signedness; scalar code is signless.
    return isa<FloatType>(neutral) ? neutral : tensorType(op.getResult(0)).getElementType();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

static NdTensorType typeOf(ScalarCodeInterface op) { return tensorType(op->getResult(0)); }

/// All scalar values on which `value` depends, including itself.
static llvm::SetVector<Value> usesOf(Value value) {
  llvm::SetVector<Value> uses;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (Operation *code = uses.insert(next) ? next.getDefiningOp() : nullptr)
      llvm::append_range(open, code->getOperands());
  }
  return uses;
}

bool Product::collect() {
  if (op.getInputs().size() != 1 || !op.getInputs()[0].hasOneUse())
    return false;
  auto product = op.getInputs()[0].getDefiningOp<ScalarCodeInterface>();
  bool isSigned = true;
  plus = combinerKind(op.getCombiner(), &isSigned);
  times = product ? product.yielded().getDefiningOp() : nullptr;
  if (!times || !isSemiring(plus, isSigned, times, granted))
    return false;
  for (const Dim &dim : typeOf(product).getDims())
    seen.insert(dim.name);
  for (Attribute name : op.getNames())
    reduced.insert(cast<StringAttr>(name));
  unsigned count = 0;
  collect(product, product.yielded(), count);
  countLevel(typeOf(product), tensorType(op.getResult(0)), count);
  if (factors.size() < 2 || factors.size() > mostFactors)
    return false;
  llvm::SetVector<StringAttr> all;
  std::map<StringRef, double> sizeOf;
  for (Factor &factor : factors)
    for (const Dim &dim : factor.dims) {
      all.insert(dim.name);
      sizeOf[dim.name] = double(std::max<int64_t>(1, dim.size().typical()));
      auto isExcluded = [&](Value value) { return exclusions.reach(value); };
      if (factor.tensor ? isExcluded(factor.tensor)
                        : llvm::any_of(factor.op.getInputs(), isExcluded))
        return false;
    }
  // Names that no factor has belong to operands without a use.
  for (StringAttr name : reduced)
    if (!all.contains(name))
      return false;
  for (const Dim &dim : tensorType(op.getResult(0)).getDims())
    if (!all.contains(dim.name))
      return false;
  if (all.size() > 64)
    return false;
  names.assign(all.begin(), all.end());
  for (StringAttr name : names)
    sizes.push_back(sizeOf[name.getValue()]);
  auto setOf = [&](DimsAttr dims) {
    Names set = 0;
    for (auto [i, name] : llvm::enumerate(names))
      set |= Names(dims.contains(name.getValue())) << i;
    return set;
  };
  for (const Factor &factor : factors)
    has.push_back(setOf(factor.dims));
  resultNames = setOf(tensorType(op.getResult(0)).getDims());
  return true;
}

/// Adds the factors of `scalar`, a value in the code of `product`, and increases `count` by the
/// number of factors that are multiplied there.
void Product::collect(ScalarCodeInterface product, Value scalar, unsigned &count) {
  if (Operation *code = scalar.getDefiningOp(); isTimes(code) && scalar.hasOneUse()) {
    collect(product, code->getOperand(0), count);
    collect(product, code->getOperand(1), count);
    return;
  }
  ++count;
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    Value tensor = product.getInputs()[argument.getArgNumber()];
    written += moveCost * elements(tensorType(tensor));
    bool isOne = tensor.hasOneUse() && argument.hasOneUse();
    Type element = tensorType(tensor).getElementType();
    if (auto inner = tensor.getDefiningOp<ScalarCodeInterface>();
        inner && isOne && isTimes(inner.yielded().getDefiningOp()) &&
        element == typeOf(product).getElementType()) {
      unsigned innerCount = 0;
      collect(inner, inner.yielded(), innerCount);
      countLevel(typeOf(inner), typeOf(inner), innerCount);
      return;
    }
    auto sum = tensor.getDefiningOp<ReduceOp>();
    auto terms = sum && sum.getInputs().size() == 1
                     ? sum.getInputs()[0].getDefiningOp<ScalarCodeInterface>()
                     : ScalarCodeInterface();
    // Its reduced names must not collide with names in scope here.
    if (terms && isOne && terms->hasOneUse() && combinerKind(sum.getCombiner()) == plus &&
        sum.getNeutral() == op.getNeutral() && isTimes(terms.yielded().getDefiningOp()) &&
        element == this->element() && typeOf(terms).getElementType() == element &&
        llvm::none_of(sum.getNames(),
                      [&](Attribute name) { return seen.contains(cast<StringAttr>(name)); })) {
      for (Attribute name : sum.getNames()) {
        seen.insert(cast<StringAttr>(name));
        reduced.insert(cast<StringAttr>(name));
      }
      unsigned innerCount = 0;
      collect(terms, terms.yielded(), innerCount);
      countLevel(typeOf(terms), tensorType(tensor), innerCount);
      return;
    }
    factors.push_back({tensor, {}, {}, tensorType(tensor).getDims()});
    return;
  }
  // Other code is one factor, with the operands that it uses.
  SmallVector<NdTensorType> types;
  for (Value value : usesOf(scalar))
    if (auto argument = dyn_cast<BlockArgument>(value))
      types.push_back(tensorType(product.getInputs()[argument.getArgNumber()]));
  DimsAttr dims = *unionOfNames(op.getContext(), types, [&] { return op.emitError(); });
  for (NdTensorType type : types)
    written += moveCost * elements(type);
  factors.push_back({{}, product, scalar, dims});
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

double Product::points(Names set) const {
  double count = 1;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (set >> i & 1)
      count *= size;
  return count;
}

/// The names of the product of `set` after summing over names that no other factor has.
Product::Names Product::kept(Set set) const {
  Names own = 0, others = resultNames;
  for (auto [i, names] : llvm::enumerate(has))
    (set >> i & 1 ? own : others) |= names;
  return own & others;
}

double Product::baseCost(Set single) const {
  Names all = has[size_t(llvm::countr_zero(single))], left = kept(single);
  return all == left ? 0 : points(all) + moveCost * (points(all) + points(left));
}

double Product::costOf(Set left, Set right) const {
  Names a = kept(left), b = kept(right);
  return points(a | b) + moveCost * (points(a) + points(b) + points(kept(left | right)));
}

/// Computes the minimum cost of every set, smaller sets first; ties go to the first.
double Product::search(Set all) {
  std::vector<double> cost(size_t(all) + 1);
  for (Set set = 1; set <= all; ++set) {
    if (llvm::has_single_bit(set)) {
      cost[set] = baseCost(set);
      continue;
    }
    double best = std::numeric_limits<double>::infinity();
    Set first = set & -set;
    // Every partition of the set into two; the first factor is on the left.
    for (Set right = (set - 1) & set; right; right = (right - 1) & set) {
      if (right & first)
        continue;
      double now = cost[set ^ right] + cost[right] + costOf(set ^ right, right);
      if (now < best) {
        best = now;
        parts[set] = {set ^ right, right};
      }
    }
    cost[set] = best;
  }
  return cost[all];
}

double Product::searchGreedily(Set all) {
  SmallVector<Set> sets;
  double total = 0;
  for (size_t i = 0; i < factors.size(); ++i) {
    sets.push_back(Set(1) << i);
    total += baseCost(sets.back());
  }
  while (sets.size() > 1) {
    size_t bestLeft = 0, bestRight = 1;
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < sets.size(); ++i)
      for (size_t j = i + 1; j < sets.size(); ++j)
        if (double now = costOf(sets[i], sets[j]); now < best) {
          best = now;
          bestLeft = i;
          bestRight = j;
        }
    Set both = sets[bestLeft] | sets[bestRight];
    parts[both] = {sets[bestLeft], sets[bestRight]};
    total += best;
    sets[bestLeft] = both;
    sets.erase(sets.begin() + ptrdiff_t(bestRight));
  }
  return total;
}

bool Product::choose() {
  Set all = factors.size() == 64 ? ~Set(0) : (Set(1) << factors.size()) - 1;
  double cost = factors.size() <= mostSearched ? search(all) : searchGreedily(all);
  return cost * margin < written;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// Sums `value`, which has the names `present`, over those that no factor outside of `set` has.
Value Product::sumDown(Value value, Set set, Names present, PatternRewriter &rewriter) {
  Names gone = present & ~kept(set);
  if (!gone)
    return value;
  SmallVector<StringRef> over;
  for (StringAttr name : reduced)
    if (gone >> (llvm::find(names, name) - names.begin()) & 1)
      over.push_back(name);
  return reduceLike(rewriter, op.getLoc(), op, value, over, element());
}

/// Creates a pointwise op with the code of a factor, on the operands that it uses.
static Value emitCode(Factor factor, PatternRewriter &rewriter) {
  ScalarCodeInterface op = factor.op;
  llvm::SetVector<Value> uses = usesOf(factor.scalar);
  SmallVector<Value> inputs;
  for (auto [argument, input] : llvm::zip_equal(op.getBody().getArguments(), op.getInputs()))
    if (uses.contains(argument))
      inputs.push_back(input);
  auto code = [&](OpBuilder &builder, ValueRange scalars) -> Value {
    IRMapping map;
    auto next = scalars.begin();
    for (Value argument : op.getBody().getArguments())
      if (uses.contains(argument))
        map.map(argument, *next++);
    for (Operation &each : op.getBody().front().without_terminator())
      if (uses.contains(each.getResult(0)))
        builder.clone(each, map);
    return map.lookup(factor.scalar);
  };
  return buildPointwise(rewriter, op.getLoc(), inputs, typeOf(op).getElementType(), code);
}

Value Product::emit(Set set, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  if (llvm::has_single_bit(set)) {
    const Factor &factor = factors[size_t(llvm::countr_zero(set))];
    Value value = factor.tensor ? factor.tensor : emitCode(factor, rewriter);
    return sumDown(value, set, has[size_t(llvm::countr_zero(set))], rewriter);
  }
  auto [left, right] = parts.lookup(set);
  Value a = emit(left, rewriter), b = emit(right, rewriter);
  Type type = element();
  auto multiply = [&](OpBuilder &builder, ValueRange s) -> Value {
    Value x = convertFloat(builder, loc, s[0], type), y = convertFloat(builder, loc, s[1], type);
    Operation *copy = builder.clone(*times);
    copy->setOperands({x, y});
    copy->getResult(0).setType(signless(type));
    return copy->getResult(0);
  };
  Value product = buildPointwise(rewriter, loc, {a, b}, type, multiply);
  return sumDown(product, set, kept(left) | kept(right), rewriter);
}

Value Product::build(PatternRewriter &rewriter) {
  Set all = factors.size() == 64 ? ~Set(0) : (Set(1) << factors.size()) - 1;
  return buildCast(rewriter, op.getLoc(), emit(all, rewriter),
                   tensorType(op.getResult(0)).getElementType());
}

namespace {
LogicalResult orderProducts(ReduceOp op, PatternRewriter &rewriter, const RuleContext &context) {
  Product product(op, context.granted, context.exclusions);
  if (!product.collect() || !product.choose())
    return rewriter.notifyMatchFailure(op, "expected a product with a better order");
  rewriter.replaceOp(op, product.build(rewriter));
  return success();
}
} // namespace

void nd::addProductRules(Rules &rules) {
  rules.add("order-products",
            "Computes sums of products in the cheapest order: moves factors out of sums on whose "
            "names they do not depend, and reorders chains of matrix products. Always for "
            "integers, minima and maxima; for sums of floats with reassociate, for maxima of sums "
            "with no-nans.",
            orderProducts);
}
