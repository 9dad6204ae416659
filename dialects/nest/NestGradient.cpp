//===- NestGradient.cpp - gradients of compute ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/NestGradient.h"

#include "dialects/nd/NdBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

static GuardAttr trivialGuard(MLIRContext *context) {
  return GuardAttr::get(context, {}, TypedAttr());
}

FailureOr<bool> nest::fillBody(OpBuilder &b, Location loc, Contribution &what,
                               llvm::function_ref<FailureOr<Value>(Block *)> fill) {
  OpBuilder::InsertionGuard insertion(b);
  Block *block = b.createBlock(&what.body);
  for (Value value : what.reads)
    block->addArgument(tensorType(value).scalarType(), loc);
  FailureOr<Value> result = fill(block);
  if (failed(result))
    return failure();
  if (*result)
    YieldOp::create(b, loc, *result);
  return bool(*result);
}

FailureOr<Value> nest::gradientOf(OpBuilder &b, Location loc, Block &code, ValueRange arguments,
                                  ArrayRef<Value> cotangents, unsigned i) {
  SmallVector<bool> only(arguments.size());
  only[i] = true;
  FailureOr<SmallVector<Value>> all =
      nd::buildScalarGradient(b, loc, code, arguments, cotangents, only);
  if (failed(all))
    return failure();
  return (*all)[i];
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

namespace {
class ComputeGradient {
public:
  ComputeGradient(OpBuilder &b, ComputeOp op) : b(b), op(op), loc(op.getLoc()) {}

  LogicalResult build(ValueRange cotangents, ArrayRef<bool> wanted, Gradients &gradients);

private:
  enum class Rule { Sum, Product, Choice, General };

  OpBuilder &b;
  ComputeOp op;
  Location loc;
  SmallVector<Value> given; ///< cotangents of the accumulators, over the produced names
  /// An accumulator with a cotangent, and the tensors that its rule needs. For selections: the
  /// selected position. For products: within a nest.scan the product of all nonzero elements and
  /// the number of zeros, otherwise for each element the product of the others. For any other
  /// combiner: the cotangents of the elements.
  struct Asked {
    unsigned accumulator;
    Rule rule;
    SmallVector<Value> helpers;
  };
  SmallVector<Asked> asked;

  unsigned numReads() { return op.getReads().size(); }
  SmallVector<Type> accumulators();
  NestBuilder sameSpace();
  MapAttr produced() {
    return MapAttr::identity(
        nd::NdTensorType::get(b.getContext(), b.getF32Type(), op.getProduced()));
  }
  void readProduced(Contribution &what, ArrayRef<Value> values, SmallVectorImpl<int> &positions);
  SmallVector<Value> recompute();
  Type positionType();
  Value position(OpBuilder &b);

  LogicalResult throughFinish(ValueRange cotangents, ArrayRef<bool> wanted, Gradients &gradients);
  LogicalResult prepareRules();
  void prepareChoices(ArrayRef<unsigned> chosen);
  void prepareProduct(Asked &product);
  void prepareOthers(Asked &product);
  LogicalResult prepareGeneral(ArrayRef<unsigned> general);
  SmallVector<Value> elementsOf(OpBuilder &b, ValueRange s);
  SmallVector<Value> elementTensors(StringRef name, TypeRange types,
                                    ArrayRef<unsigned> accumulators, ArrayRef<TypedAttr> neutral,
                                    RegionBody combine);
  std::string freshName();
  bool isPerElement(const Asked &each) {
    return each.rule == Rule::General || (each.rule == Rule::Product && each.helpers.size() == 1);
  }
  SmallVector<Value> elementCotangents(Block *block, ArrayRef<int> positions,
                                       ArrayRef<SmallVector<int>> helpers);
  LogicalResult throughBody(unsigned i, Gradients &gradients);
};
} // namespace

SmallVector<Type> ComputeGradient::accumulators() {
  SmallVector<Type> types;
  if (op.isReduction())
    for (Attribute value : op.getNeutral())
      types.push_back(cast<TypedAttr>(value).getType());
  else
    llvm::append_range(types, op.getBody().front().getTerminator()->getOperandTypes());
  return types;
}

/// A nest with the op's space and the reads of its body.
NestBuilder ComputeGradient::sameSpace() {
  NestBuilder nest(b, loc);
  nest.produced = op.getProduced();
  nest.reduced = op.getReduced();
  for (unsigned i = 0; i < numReads(); ++i)
    nest.read(op.getReads()[i], op.readMap(i), op.readGuard(i));
  return nest;
}

/// Reads tensors over the produced names; `positions` receives their indices, -1 for null ones.
void ComputeGradient::readProduced(Contribution &what, ArrayRef<Value> values,
                                   SmallVectorImpl<int> &positions) {
  for (Value value : values)
    positions.push_back(value ? int(what.read(value, produced(), trivialGuard(b.getContext())))
                              : -1);
}

/// The accumulators as tensors: the op without its finish.
SmallVector<Value> ComputeGradient::recompute() {
  NestBuilder nest = sameSpace();
  SmallVector<Type> types;
  for (Type type : accumulators())
    types.push_back(nd::NdTensorType::get(b.getContext(), type, op.getProduced()));
  Region body, combine, finish;
  IRMapping mapping;
  op.getBody().cloneInto(&body, mapping);
  op.getCombine().cloneInto(&combine, mapping);
  ComputeOp made = nest.create(types, body, combine, finish, op.getNeutral());
  if (Attribute order = op->getAttr(orderAttrName))
    made->setAttr(orderAttrName, order);
  return SmallVector<Value>(made.getResults());
}

LogicalResult ComputeGradient::throughFinish(ValueRange cotangents, ArrayRef<bool> wanted,
                                             Gradients &gradients) {
  if (op.getFinish().empty()) {
    given.assign(cotangents.begin(), cotangents.end());
    return success();
  }
  SmallVector<Type> types = accumulators();
  unsigned n = types.size(), m = op.getFinishReads().size();
  SmallVector<Value> values = recompute();
  // The gradient of argument `i` of the finish: an accumulator, or finish read i - n.
  auto build = [&](unsigned i, nd::NdTensorType target, MapAttr map,
                   GuardAttr guard) -> FailureOr<Value> {
    Contribution what;
    what.space = op.getProduced();
    SmallVector<int> unused, positions;
    readProduced(what, values, unused);
    for (unsigned k = 0; k < m; ++k)
      what.read(op.getFinishReads()[k], op.finishMap(k), op.finishGuard(k));
    readProduced(what, SmallVector<Value>(cotangents), positions);
    what.carrier = what.reads.size() - 1;
    Value passedOn;
    FailureOr<bool> any = fillBody(b, loc, what, [&](Block *block) -> FailureOr<Value> {
      SmallVector<Value> scalars;
      for (int position : positions)
        scalars.push_back(position < 0 ? Value() : block->getArgument(position));
      FailureOr<Value> result = gradientOf(b, loc, op.getFinish().front(),
                                           block->getArguments().take_front(n + m), scalars, i);
      if (succeeded(result) && *result)
        if (auto argument = dyn_cast<BlockArgument>(*result))
          passedOn = what.reads[argument.getArgNumber()];
      return result;
    });
    if (failed(any))
      return failure();
    if (!*any)
      return Value();
    if (passedOn && passedOn.getType() == target && map == produced() && guard.isTrivial())
      return passedOn;
    return sumContributions(b, loc, what, target, map, guard);
  };
  for (unsigned i = 0; i < n; ++i) {
    Value result;
    if (isa<FloatType>(types[i])) {
      auto target = nd::NdTensorType::get(b.getContext(), types[i], op.getProduced());
      FailureOr<Value> built = build(i, target, produced(), trivialGuard(b.getContext()));
      if (failed(built))
        return failure();
      result = *built;
    }
    given.push_back(result);
  }
  for (unsigned k = 0; k < m; ++k) {
    if (!wanted[numReads() + k])
      continue;
    FailureOr<Value> built =
        build(n + k, tensorType(op.getFinishReads()[k]), op.finishMap(k), op.finishGuard(k));
    if (failed(built))
      return failure();
    gradients[numReads() + k] = *built;
  }
  return success();
}

SmallVector<nd::Dim> nest::reducedInOrder(ComputeOp op) {
  auto order = op->getAttrOfType<ArrayAttr>(orderAttrName);
  if (!order)
    return llvm::to_vector(op.getReduced());
  SmallVector<nd::Dim> dims;
  for (auto name : order.getAsRange<StringAttr>())
    dims.emplace_back(name, op.getReduced().lookup(name.getValue()));
  return dims;
}

bool nest::isOrdered(ComputeOp op) {
  return op->hasAttr(orderAttrName) || llvm::count_if(op.getReduced(), [](const nd::Dim &dim) {
                                         return dim.size().constant() != 1;
                                       }) <= 1;
}

Type ComputeGradient::positionType() {
  int64_t count = 1;
  for (const nd::Dim &dim : op.getReduced()) {
    auto size = dim.size().constant();
    if (!size || *size >= INT32_MAX || (count *= std::max<int64_t>(*size, 1)) >= INT32_MAX)
      return b.getI64Type();
  }
  return b.getI32Type();
}

/// The row-major position of a reduced point, in the order of `order`.
Value ComputeGradient::position(OpBuilder &b) {
  Expr linear(0);
  for (const nd::Dim &dim : reducedInOrder(op))
    linear = linear * dim.size().getExpr() + Expr::name(dim.name.getValue());
  return arith::IndexCastOp::create(b, loc, positionType(), emitIndex(b, loc, linear));
}

/// The elements as the combiner receives them.
SmallVector<Value> ComputeGradient::elementsOf(OpBuilder &b, ValueRange s) {
  SmallVector<Value> elements = nd::inlineBlock(b, op.getBody().front(), s);
  for (auto [element, type] : llvm::zip_equal(elements, accumulators()))
    if (isa<FloatType>(type))
      element = nd::convertFloat(b, loc, element, type);
  return elements;
}

void ComputeGradient::prepareChoices(ArrayRef<unsigned> chosen) {
  Type type = positionType();
  SmallVector<Type> all = accumulators();
  unsigned n = all.size(), m = chosen.size();
  all.append(m, type);
  SmallVector<TypedAttr> neutral;
  for (Attribute value : op.getNeutral())
    neutral.push_back(cast<TypedAttr>(value));
  neutral.append(m, IntegerAttr::get(type, APInt::getSignedMaxValue(type.getIntOrFloatBitWidth())));
  NestBuilder nest = sameSpace();
  ComputeOp positions = nest.create(
      all,
      [&](OpBuilder &b, Location, ValueRange s) {
        SmallVector<Value> elements = elementsOf(b, s);
        elements.append(m, position(b));
        return elements;
      },
      neutral,
      [&](OpBuilder &b, Location, ValueRange s) {
        return nd::inlineWithPositions(b, loc, op.getCombine().front(), s.take_front(n),
                                       s.slice(n + m, n), chosen, s.slice(n, m), s.take_back(m));
      });
  if (Attribute order = op->getAttr(orderAttrName))
    positions->setAttr(orderAttrName, order);
  unsigned next = n;
  for (Asked &each : asked)
    if (each.rule == Rule::Choice)
      each.helpers.push_back(positions.getResult(next++));
}

/// The parts of the product that an element contributes as a factor, and its square if it is zero.
static std::pair<nd::ProductFactor, Value> factorOf(OpBuilder &b, Location loc, Value element) {
  Value zero = nd::buildNumber(b, loc, element.getType(), 0),
        one = nd::buildNumber(b, loc, element.getType(), 1);
  Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, element, zero);
  auto choose = [&](Value yes, Value no) -> Value {
    return arith::SelectOp::create(b, loc, isZero, yes, no);
  };
  nd::ProductFactor factor{choose(one, element), choose(one, zero), choose(element, zero)};
  return {factor, arith::MulFOp::create(b, loc, factor.zero, factor.zero)};
}

void ComputeGradient::prepareProduct(Asked &each) {
  Type real = accumulators()[each.accumulator];
  NestBuilder nest = sameSpace();
  TypedAttr zero = nd::numberAttr(real, 0);
  ComputeOp product = nest.create(
      {real, real, real, real},
      [&](OpBuilder &b, Location, ValueRange s) {
        auto [factor, square] = factorOf(b, loc, elementsOf(b, s)[each.accumulator]);
        return SmallVector<Value>{factor.other, factor.isZero, factor.zero, square};
      },
      {nd::numberAttr(real, 1), zero, zero, zero},
      [&](OpBuilder &b, Location, ValueRange s) {
        SmallVector<Value> all{arith::MulFOp::create(b, loc, s[0], s[4])};
        for (unsigned i = 1; i < 4; ++i)
          all.push_back(arith::AddFOp::create(b, loc, s[i], s[4 + i]));
        return all;
      });
  nd::eraseDeadScalars(product.getBody().front());
  each.helpers.append(product.getResults().begin(), product.getResults().end());
}

std::string ComputeGradient::freshName() {
  std::string name = "element";
  while (iterationSpace(op).contains(name))
    name += "$";
  return name;
}

/// The elements of some accumulators as tensors over all names, with the neutral element at
/// excluded points. `name` is new.
SmallVector<Value> ComputeGradient::elementTensors(StringRef name, TypeRange types,
                                                   ArrayRef<unsigned> accumulators,
                                                   ArrayRef<TypedAttr> neutral,
                                                   RegionBody combine) {
  NestBuilder nest = sameSpace();
  nest.produced = iterationSpace(op);
  nest.reduced = nd::DimsAttr::getSorted(b.getContext(), nd::Dim(b.getContext(), name, Expr(1)));
  ComputeOp elements = nest.create(
      types,
      [&](OpBuilder &b, Location, ValueRange s) {
        SmallVector<Value> all = elementsOf(b, s);
        return llvm::map_to_vector(accumulators, [&](unsigned i) { return all[i]; });
      },
      neutral, combine);
  nd::eraseDeadScalars(elements.getBody().front());
  return SmallVector<Value>(elements.getResults());
}

/// Computes the product of the elements before and after each element. Its derivatives of all
/// orders are correct, also for zero elements.
void ComputeGradient::prepareOthers(Asked &each) {
  Type real = accumulators()[each.accumulator];
  std::string name = freshName();
  Value elements =
      elementTensors(name, {real}, {each.accumulator}, {nd::numberAttr(real, 1)},
                     [&](OpBuilder &b, Location, ValueRange s) {
                       return SmallVector<Value>{arith::MulFOp::create(b, loc, s[0], s[1])};
                     })[0];
  SmallVector<StringRef> names;
  for (const nd::Dim &dim : op.getReduced())
    names.push_back(dim.name);
  Value line = names.size() == 1 ? elements : nd::buildMerge(b, loc, elements, names, name);
  StringRef along = names.size() == 1 ? names[0] : StringRef(name);
  auto part = [&](bool reverse) {
    return nd::buildScan(b, loc, line, along, nd::CombinerKind::Mul, /*exclusive=*/true, reverse);
  };
  Value others = nd::mul(b, loc, part(false), part(true));
  if (names.size() > 1)
    others = nd::buildSplit(b, loc, others, name, op.getReduced().getDims());
  each.helpers.push_back(others);
}

/// Reduces the elements, as tensors, by the same combiner and applies its gradient rule.
LogicalResult ComputeGradient::prepareGeneral(ArrayRef<unsigned> general) {
  if (isa<GroupOp>(op->getParentOp()))
    return op.emitOpError() << "cannot be differentiated inside of a group: expected a combiner "
                               "that adds, multiplies or chooses among its elements"
                            << nd::ownGradientHint;
  SmallVector<Type> types = accumulators();
  SmallVector<TypedAttr> neutral;
  for (Attribute value : op.getNeutral())
    neutral.push_back(cast<TypedAttr>(value));
  Block &combiner = op.getCombine().front();
  SmallVector<StringRef> names;
  for (const nd::Dim &dim : op.getReduced())
    names.push_back(dim.name);
  SmallVector<Value> elements = elementTensors(
      freshName(), types, llvm::to_vector(llvm::seq<unsigned>(0, unsigned(types.size()))), neutral,
      [&](OpBuilder &b, Location, ValueRange s) { return nd::inlineBlock(b, combiner, s); });
  auto reduce = nd::buildReduce(
                    b, loc, elements, names, neutral,
                    [&](OpBuilder &b, ValueRange s) { return nd::inlineBlock(b, combiner, s); })[0]
                    .getDefiningOp<nd::DifferentiableInterface>();
  SmallVector<Value> cotangents(types.size()), slopes(types.size());
  for (unsigned i : general)
    cotangents[i] = given[i];
  SmallVector<bool> wanted =
      llvm::map_to_vector(types, [](Type type) { return bool(isa<FloatType>(type)); });
  if (failed(reduce.buildGradient(b, cotangents, wanted, slopes)))
    return failure();
  reduce.erase();
  for (auto [i, slope] : llvm::enumerate(slopes))
    if (slope)
      asked.push_back({unsigned(i), Rule::General, {slope}});
  return success();
}

/// Chooses a rule for each accumulator that has a cotangent.
LogicalResult ComputeGradient::prepareRules() {
  SmallVector<unsigned> chosen, general;
  for (auto [i, cotangent] : llvm::enumerate(given)) {
    if (!cotangent)
      continue;
    Asked each{unsigned(i), Rule::Sum, {}};
    if (op.isReduction()) {
      Block &combiner = op.getCombine().front();
      nd::CombinerKind kind = nd::accumulatorKind(combiner, i);
      if (nd::isSelecting(combiner, i)) {
        each.rule = Rule::Choice;
        chosen.push_back(i);
      } else if (kind == nd::CombinerKind::Mul) {
        each.rule = Rule::Product;
        // A region of nests can't contain ops on tensors.
        if (isa<ScanOp, GroupOp>(op->getParentOp()))
          prepareProduct(each);
        else
          prepareOthers(each);
      } else if (kind != nd::CombinerKind::Add) {
        general.push_back(i);
        continue;
      }
    }
    asked.push_back(std::move(each));
  }
  if (!general.empty() && failed(prepareGeneral(general)))
    return failure();
  if (chosen.empty())
    return success();
  if (!isOrdered(op))
    return op.emitOpError() << "cannot be differentiated: expected `order`, the order of the names "
                            << nd::namesText(op.getReduced())
                            << " that decides between equal elements";
  prepareChoices(chosen);
  return success();
}

/// The cotangents of the values that the body yields, as scalars.
SmallVector<Value> ComputeGradient::elementCotangents(Block *block, ArrayRef<int> positions,
                                                      ArrayRef<SmallVector<int>> helpers) {
  Block &code = op.getBody().front();
  SmallVector<Value> scalars(code.getTerminator()->getNumOperands());
  for (auto [each, extra] : llvm::zip_equal(asked, helpers)) {
    unsigned i = each.accumulator;
    Type element = code.getTerminator()->getOperand(i).getType();
    if (each.rule == Rule::General) {
      Value slope = nd::convertFloat(b, loc, block->getArgument(extra[0]), element);
      scalars[i] = scalars[i] ? Value(arith::AddFOp::create(b, loc, scalars[i], slope)) : slope;
      continue;
    }
    Value g = nd::convertFloat(b, loc, block->getArgument(positions[i]), element);
    Value zero = nd::buildNumber(b, loc, element, 0);
    if (each.rule == Rule::Choice) {
      Value chosen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, position(b),
                                           block->getArgument(extra[0]));
      g = arith::SelectOp::create(b, loc, chosen, g, zero);
    } else if (each.rule == Rule::Product && extra.size() == 1) {
      Value others = nd::convertFloat(b, loc, block->getArgument(extra[0]), element);
      g = arith::MulFOp::create(b, loc, g, others);
    } else if (each.rule == Rule::Product) {
      Value own = nd::inlineBlock(b, code, block->getArguments().take_front(numReads()))[i];
      auto part = [&](unsigned k) {
        return nd::convertFloat(b, loc, block->getArgument(extra[k]), element);
      };
      Value others = nd::productWithout(b, loc, {part(0), part(1), part(2), part(3)},
                                        factorOf(b, loc, own).first);
      g = arith::MulFOp::create(b, loc, g, others);
    }
    scalars[i] = g;
  }
  return scalars;
}

LogicalResult ComputeGradient::throughBody(unsigned i, Gradients &gradients) {
  Contribution what;
  what.space = iterationSpace(op);
  for (unsigned k = 0; k < numReads(); ++k)
    what.read(op.getReads()[k], op.readMap(k), op.readGuard(k));
  SmallVector<int> positions;
  SmallVector<SmallVector<int>> helpers(asked.size());
  readProduced(what, given, positions);
  for (auto [each, extra] : llvm::zip_equal(asked, helpers)) {
    if (isPerElement(each))
      extra.push_back(int(what.read(each.helpers[0], MapAttr::identity(tensorType(each.helpers[0])),
                                    trivialGuard(b.getContext()))));
    else
      readProduced(what, each.helpers, extra);
  }
  what.carrier = *llvm::find_if(positions, [](int position) { return position >= 0; });
  FailureOr<bool> any = fillBody(b, loc, what, [&](Block *block) {
    return gradientOf(b, loc, op.getBody().front(), block->getArguments().take_front(numReads()),
                      elementCotangents(block, positions, helpers), i);
  });
  if (failed(any))
    return failure();
  if (*any)
    gradients[i] = sumContributions(b, loc, what, tensorType(op.getReads()[i]), op.readMap(i),
                                    op.readGuard(i));
  return success();
}

LogicalResult ComputeGradient::build(ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  if (failed(throughFinish(cotangents, wanted, gradients)))
    return failure();
  if (llvm::none_of(given, [](Value value) { return bool(value); }) ||
      !llvm::is_contained(wanted.take_front(numReads()), true))
    return success();
  if (failed(prepareRules()))
    return failure();
  for (unsigned i = 0; i < numReads(); ++i)
    if (wanted[i] && failed(throughBody(i, gradients)))
      return failure();
  return success();
}

LogicalResult ComputeOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                       Gradients &gradients) {
  return ComputeGradient(b, *this).build(cotangents, wanted, gradients);
}
