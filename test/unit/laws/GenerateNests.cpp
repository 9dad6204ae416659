//===- GenerateNests.cpp - kernels ----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Generator.h"

#include "test/unit/laws/GenerateScalar.h"

#include "dialects/nest/NestBuild.h"
#include "dialects/nest/NestGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::nd;
using namespace mlir;

bool Generator::hasFewPoints(const Space &space) const {
  SmallVector<Dim> all = space.dims(context, false);
  all.append(space.dims(context, true));
  return isLarge() ? pointsOf(all, options.scale) <= 4 * mostOfLarge : pointsOf(all, 1) <= 1500;
}

SmallVector<Dim> Generator::Space::dims(MLIRContext *context, bool reduced) const {
  SmallVector<Dim> list;
  for (const auto &[name, entry] : names)
    if (entry.second == reduced)
      list.emplace_back(context, name, entry.first);
  return list;
}

Expr Generator::drawPlace(Space &space, const Expr &size,
                          SmallVectorImpl<nest::Condition> &conditions, bool mayReduce) {
  // An existing name, or a new one of size `likely`.
  auto iteration = [&](const Expr &likely) -> std::pair<std::string, Expr> {
    if (!space.names.empty() && dice.chance(50)) {
      auto entry = space.names.begin();
      std::advance(entry, dice.below(int64_t(space.names.size())));
      return {entry->first, entry->second.first};
    }
    std::string name = (dice.chance(50) ? anyName() : freshName()).str();
    Expr points = likely.isConstant()
                      ? Expr(dice.between(1, std::max<int64_t>(numberOf(likely), 1)))
                      : likely;
    auto entry = space.names.try_emplace(name, points, mayReduce && dice.chance(30)).first;
    return {name, entry->second.first};
  };
  auto [one, oneSize] = iteration(size);
  Expr place = Expr::name(one), low(0), high = oneSize - 1;
  switch (dice.below(6)) {
  case 0: { // a window
    auto [two, twoSize] = iteration(Expr(3));
    int64_t stride = dice.between(1, 2), offset = dice.between(-1, 1);
    if (two != one) {
      place = Expr(stride) * Expr::name(one) + Expr::name(two) + offset;
      low = Expr(offset), high = Expr(stride) * (oneSize - 1) + twoSize - 1 + offset;
    }
    break;
  }
  case 1: // backwards
    place = size - 1 - Expr::name(one);
    low = size - oneSize, high = size - 1;
    break;
  case 2: {
    int64_t divisor = dice.between(2, 3);
    place = Expr::name(one).floordiv(divisor);
    if (oneSize.isConstant())
      high = Expr((numberOf(oneSize) - 1) / divisor);
    break;
  }
  case 3:
    if (size.isConstant() && numberOf(size) > 0) {
      place = Expr::name(one).mod(numberOf(size));
      high = Expr(std::min(numberOf(high), numberOf(size) - 1));
    }
    break;
  case 4:
    if (size.isConstant() && numberOf(size) > 0) {
      place = Expr(dice.below(numberOf(size)));
      low = Expr(0), high = size - 1;
    }
    break;
  default:
    break;
  }
  // With symbols each difference has to be known.
  auto isNatural = [](const Expr &difference) {
    return difference.isConstant() && numberOf(difference) >= 0;
  };
  if (!isNatural(low))
    conditions.emplace_back(context, place);
  if (!isNatural(size - 1 - high))
    conditions.emplace_back(context, size - 1 - place);
  return place;
}

bool Generator::drawReads(Space &space, bool mayReduce) {
  SmallVector<Value> reads{any()};
  if (dice.chance(60))
    reads.push_back(any());
  bool gathers = dice.chance(15);
  if (gathers) {
    if (Value index = places())
      reads.insert(reads.begin(), index);
    else
      gathers = false;
  }
  for (Value read : reads)
    if (elementsOf(tensorType(read)) == 0)
      return false;
  for (Value read : reads) {
    SmallVector<nest::MapEntry> entries;
    SmallVector<nest::Condition> conditions;
    bool isFirst = space.reads.empty();
    StringRef gathered = gathers && !isFirst ? nameOf(read) : StringRef();
    bool isIdentity = dice.chance(30); // by its own names, as in an epilogue
    for (const Dim &each : tensorType(read).getDims()) {
      Expr size = each.size().getExpr(), place;
      if (each.name == gathered) {
        place = Expr::name(nest::readName(0));
        conditions.emplace_back(context, place);
        conditions.emplace_back(context, size - 1 - place);
      } else if (isIdentity &&
                 space.names.try_emplace(each.name.str(), size, mayReduce && dice.chance(20))
                         .first->second.first == size) {
        place = Expr::name(each.name.str());
      } else {
        place = drawPlace(space, size, conditions, mayReduce);
      }
      entries.emplace_back(context, each.name, place);
    }
    if (dice.chance(isIdentity ? 50 : 10) && !space.names.empty()) {
      SmallVector<Dim> names = space.dims(context, false);
      names.append(space.dims(context, true));
      conditions.push_back(drawExclusion(names));
    }
    TypedAttr otherwise;
    bool isReduction = llvm::any_of(space.names, [](auto &entry) { return entry.second.second; });
    // A read that other reads use as index needs a value at every point.
    if (!conditions.empty() && (!isReduction || (gathers && isFirst) || dice.chance(60)))
      otherwise = drawNumber(tensorType(read));
    space.reads.push_back(read);
    space.maps.push_back(nest::MapAttr::getSorted(context, entries));
    space.guards.push_back(nest::GuardAttr::get(context, conditions, otherwise));
  }
  return hasFewPoints(space) && space.dims(context, false).size() <= mostNames;
}

nest::Condition Generator::drawExclusion(ArrayRef<Dim> names) {
  const Dim &one = dice.pick(names), &two = dice.pick(names);
  Expr place = Expr::name(one.name.str()), last = one.size().getExpr() - 1;
  switch (dice.below(4)) {
  case 0:
    return {context, last - dice.between(1, 2) - place};
  case 1:
    return {context, place - dice.between(1, 2)};
  case 2:
    return {context, (place + dice.below(2)).mod(dice.between(2, 3)), /*equality=*/true};
  default:
    return {context, place - Expr::name(two.name.str())};
  }
}

static SmallVector<Type> elementsOfAll(ArrayRef<Value> values) {
  return llvm::map_to_vector(values, [](Value v) { return tensorType(v).getElementType(); });
}

/// Reads at the point, reversed, or at a neighbour, with a replacement value at the edge.
void Generator::finishRead(nest::NestBuilder &nest, Value value) {
  SmallVector<nest::MapEntry> entries;
  SmallVector<nest::Condition> conditions;
  for (const Dim &each : tensorType(value).getDims()) {
    Expr place = Expr::name(each.name.str());
    if (dice.chance(20))
      place = each.size().getExpr() - 1 - place;
    else if (dice.chance(20))
      conditions.emplace_back(context, place = place - 1);
    entries.emplace_back(context, each.name, place);
  }
  if (dice.chance(20) && !tensorType(value).getDims().getDims().empty())
    conditions.push_back(drawExclusion(tensorType(value).getDims().getDims()));
  nest.finishRead(
      value, nest::MapAttr::getSorted(context, entries),
      nest::GuardAttr::get(context, conditions,
                           conditions.empty() ? TypedAttr() : drawNumber(tensorType(value))));
}

/// The body of a kernel, and the combiner if it reduces.
Generator::Combination Generator::drawBody(ArrayRef<Type> from, bool reduces,
                                           SmallVectorImpl<Type> &elements, bool &isLargest) {
  SmallVector<Type> likely(from);
  if (options.smooth) // indices of gathers are integers
    llvm::erase_if(likely, [](Type type) { return !isa<FloatType>(type); });
  if (likely.empty())
    likely.push_back(drawType());
  for (int64_t i = reduces ? dice.pick({1, 1, 1, 2, 3}) : dice.pick({1, 1, 1, 2}); i > 0; --i)
    elements.push_back(dice.chance(80) ? dice.pick(likely) : drawType());
  if (reduces && isa<IntegerType>(elements[0]) && !elements[0].isInteger(1) && dice.chance(50))
    elements[0] = b.getI64Type(); // sums in more bits
  Combination fold;
  if (reduces && elements.size() == 1 && dice.chance(30) && !elements[0].isInteger(1)) {
    fold = drawCombination(elements[0], false);
    elements.resize(fold.neutral.size(), elements[0]);
  } else if (reduces && isa<FloatType>(elements[0]) && dice.chance(15)) {
    fold = largest(elements[0]);
    elements.assign({elements[0], b.getI64Type()});
    isLargest = true;
  } else if (reduces) {
    fold = drawCombiners(elements);
  }
  return fold;
}

/// An operand of the epilogue: a value with some of the produced names, or null.
Value Generator::drawFinishing(ArrayRef<Dim> produced) {
  Value after = any([&](NdTensorType type) {
    return llvm::all_of(type.getDims(),
                        [&](const Dim &each) { return llvm::is_contained(produced, each); });
  });
  if (!dice.chance(40))
    return after;
  SmallVector<Dim> dims(produced);
  dice.shuffle(dims);
  dims.resize(std::min<size_t>(dims.size(), size_t(dice.between(1, 2))));
  return argument(NdTensorType::get(drawType(), dims));
}

/// A kernel: reads through affine maps, some guarded or gathered; a body of one or several values,
/// perhaps a reduction, which may exclude points by a value, and an epilogue.
void Generator::kernel() {
  Space space;
  if (!drawReads(space, true))
    return;
  nest::NestBuilder nest(b, loc);
  for (auto [read, map, guard] : llvm::zip_equal(space.reads, space.maps, space.guards))
    nest.read(read, map, guard);
  SmallVector<Dim> produced = space.dims(context, false), reduced = space.dims(context, true);
  nest.produced = DimsAttr::getSorted(context, produced);
  nest.reduced = DimsAttr::getSorted(context, reduced);
  SmallVector<Type> from = elementsOfAll(space.reads);
  auto coordinate = [&](OpBuilder &builder, StringRef name) -> Value {
    Value index = nest::IndexOp::create(builder, loc, builder.getIndexType(), name);
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  };
  auto code = [&](OpBuilder &builder, ValueRange scalars, Type to) {
    SmallVector<Value> all(scalars);
    SmallVector<Type> types(from);
    if (!space.names.empty() && dice.chance(20)) {
      auto entry = space.names.begin();
      std::advance(entry, dice.below(int64_t(space.names.size())));
      all.push_back(coordinate(builder, entry->first));
      types.push_back(builder.getI64Type());
    }
    return drawScalarCode(dice, builder, loc, all, types, to, options.smooth);
  };
  bool reduces = !reduced.empty(), isLargest = false;
  SmallVector<Type> elements;
  Combination fold = drawBody(from, reduces, elements, isLargest);
  bool predicate = reduces && dice.chance(25);
  auto body = [&](OpBuilder &builder, Location, ValueRange scalars) {
    SmallVector<Value> list;
    for (Type element : isLargest ? ArrayRef(elements).take_front() : ArrayRef(elements))
      list.push_back(code(builder, scalars, element));
    if (isLargest)
      list.push_back(coordinate(builder, dice.pick(reduced).name.getValue()));
    if (!predicate)
      return list;
    Value holds = drawCondition(dice, builder, loc, scalars, from, options.smooth);
    for (auto [value, element, neutral] : llvm::zip_equal(list, elements, fold.neutral)) {
      auto real = dyn_cast<FloatAttr>(neutral);
      Type type = signless(element);
      Value none =
          real ? buildNumber(builder, loc, type, std::clamp(real.getValueAsDouble(), -448.0, 448.0))
               : arith::ConstantOp::create(builder, loc, neutral).getResult();
      value = arith::SelectOp::create(builder, loc, holds, value, none);
    }
    return list;
  };
  // The epilogue reads values with the produced names, and yields as many values or others.
  SmallVector<Type> results(elements);
  for (Type &result : results)
    if (isa<FloatType>(result) && reduces && dice.chance(15))
      result = options.smooth ? b.getF64Type() : dice.pick({b.getF32Type(), b.getF64Type()});
  bool finishes = dice.chance(reduces ? 40 : 15);
  if (finishes && dice.chance(40)) {
    results.resize(size_t(dice.between(1, 2)), elements[0]);
    for (Type &result : results)
      if (dice.chance(20))
        result = drawType();
  }
  SmallVector<Type> finished;
  if (finishes) {
    for (size_t i = 0; i < elements.size(); ++i)
      finished.push_back(reduces && isa<FloatType>(elements[i]) ? fold.neutral[i].getType()
                                                                : elements[i]);
    Value after = drawFinishing(produced);
    if (after && dice.chance(80)) {
      finishRead(nest, after);
      finished.push_back(tensorType(after).getElementType());
    }
  }
  auto finish = [&](OpBuilder &builder, Location, ValueRange scalars) {
    return llvm::map_to_vector(results, [&](Type to) {
      return drawScalarCode(dice, builder, loc, scalars, finished, to, options.smooth);
    });
  };
  auto combine = [&](OpBuilder &at, Location, ValueRange s) { return fold.combine(at, s); };
  nest::RegionBody end = finishes ? nest::RegionBody(finish) : nest::RegionBody(nullptr);
  nest::ComputeOp op = reduces ? nest.create(results, body, fold.neutral, combine, end)
                               : nest.create(results, body, CombinerKind::General, true, end);
  if (reduced.size() > 1 && options.smooth) {
    // Which of equal elements counts.
    SmallVector<StringRef> order =
        llvm::map_to_vector(reduced, [](const Dim &each) { return each.name.getValue(); });
    dice.shuffle(order);
    op->setAttr(nest::orderAttrName, b.getStrArrayAttr(order));
  }
  if (dice.chance(8))
    op->setAttr(dice.chance(50) ? "heddle.materialize" : "heddle.recompute", b.getUnitAttr());
  keep(SmallVector<Value>(op.getResults()));
}

/// Two nests that run together for each coordinate of one name.
void Generator::group() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  NdTensorType type = tensorType(x);
  StringRef shared = nameOf(x), own = freshName();
  SmallVector<Dim> rest;
  SmallVector<nest::MapEntry> whole, inner;
  for (const Dim &each : type.getDims()) {
    Expr place = Expr::name(each.name == shared ? own.str() : each.name.str());
    whole.emplace_back(context, each.name, place);
    if (each.name == shared)
      continue;
    rest.push_back(each);
    inner.emplace_back(context, each.name, place);
  }
  Type element = type.getElementType();
  Expr size = sizeOf(x, shared);
  OpBuilder::InsertionGuard guard(b);
  auto make = [&](Value read, ArrayRef<nest::MapEntry> map, bool reduces) {
    nest::NestBuilder nest(b, loc);
    nest.read(read, nest::MapAttr::getSorted(context, map));
    SmallVector<Dim> produced(rest), reduced;
    if (reduces && !produced.empty())
      reduced.push_back(produced.pop_back_val());
    nest.produced = DimsAttr::getSorted(context, produced);
    nest.reduced = DimsAttr::getSorted(context, reduced);
    return nest
        .create(
            {element},
            [&](OpBuilder &builder, Location, ValueRange scalars) {
              return SmallVector<Value>{
                  drawScalarCode(dice, builder, loc, scalars, {element}, element, options.smooth)};
            },
            reduced.empty() ? CombinerKind::General : drawCombiner(element),
            isSignedElement(element))
        .getResult(0);
  };
  OperationState state(loc, nest::GroupOp::getOperationName());
  Block *block = new Block;
  state.addRegion()->push_back(block);
  OpBuilder::InsertPoint outside = b.saveInsertionPoint();
  b.setInsertionPointToEnd(block);
  Value first = make(x, whole, false);
  Value second = dice.chance(70) ? make(first, inner, dice.chance(60)) : first;
  SmallVector<Value> yielded{second};
  if (first != second && dice.chance(40))
    yielded.push_back(first);
  nest::YieldOp::create(b, loc, yielded);
  b.restoreInsertionPoint(outside);
  for (Value each : yielded) {
    SmallVector<Dim> dims(tensorType(each).getDims().getDims());
    dims.push_back(dim(own, size));
    state.addTypes(NdTensorType::get(element, dims));
  }
  state.getOrAddProperties<nest::GroupOp::Properties>().names =
      DimsAttr::getSorted(context, {dim(own, size)});
  keep(SmallVector<Value>(b.create(state)->getResults()));
}

/// A recurrence: state that is carried along one name.
void Generator::ordered() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  NdTensorType type = tensorType(x);
  StringRef along = nameOf(x);
  if (numberOf(sizeOf(x, along)) > 6)
    return;
  SmallVector<Dim> rest = dimsWithout(type, along);
  Value init = dice.chance(50) ? operandFor(type.withDims(rest))
                               : any([&](NdTensorType other) { return !other.has(along); });
  if (!init)
    return;
  // One tensor is carried or two, slices of one or two are read.
  auto lacks = [&](NdTensorType other) { return !other.has(along); };
  auto hasAlong = [&](NdTensorType other) { return other.size(along) == type.size(along); };
  SmallVector<Value> inits{init}, reads{x};
  if (Value other = dice.chance(30) ? any(lacks) : Value())
    inits.push_back(other);
  if (dice.chance(30))
    reads.push_back(any(hasAlong));
  Dim step = dim(along, sizeOf(x, along));
  SmallVector<Type> inner, results;
  for (Value each : inits)
    results.push_back(each.getType());
  SmallVector<bool> isStacked;
  for (Value each : inits) {
    isStacked.push_back(dice.chance(60));
    SmallVector<Dim> stacked(tensorType(each).getDims().getDims());
    stacked.push_back(step);
    if (isStacked.back())
      results.push_back(tensorType(each).withDims(stacked));
  }
  inner.append(results.begin(), results.begin() + int64_t(inits.size()));
  for (Value each : reads)
    inner.push_back(tensorType(each).withDims(dimsWithout(tensorType(each), along)));
  OpBuilder::InsertPoint outside = b.saveInsertionPoint();
  auto scan = nest::ScanOp::create(b, loc, results, inits, reads,
                                   DimsAttr::getSorted(context, step), dice.chance(40));
  Block *block =
      b.createBlock(&scan.getBody(), {}, inner, SmallVector<Location>(inner.size(), loc));
  b.setInsertionPointToEnd(block);
  bool wasInScan = std::exchange(inScan, true);
  SmallVector<Value> arguments(block->getArguments()), yielded;
  for (Value each : inits) {
    yielded.push_back(inside(arguments, tensorType(each)));
    if (options.control && dice.chance(20))
      yielded.back() = branch(yielded.back());
  }
  inScan = wasInScan;
  for (size_t i = 0; i < inits.size(); ++i)
    if (isStacked[i])
      yielded.push_back(dice.chance(50) ? yielded[i] : arguments[i]);
  nest::YieldOp::create(b, loc, yielded);
  b.restoreInsertionPoint(outside);
  keep(SmallVector<Value>(scan.getResults()));
}

/// Writes through an affine map, or a gathered one.
void Generator::update() {
  Value into = any([](NdTensorType type) {
    return !type.getDims().getDims().empty() && !type.getElementType().isInteger(1);
  });
  Space space;
  if (!into || !drawReads(space, false))
    return;
  nest::NestBuilder nest(b, loc);
  for (auto [read, map, guard] : llvm::zip_equal(space.reads, space.maps, space.guards))
    nest.read(read, map, guard);
  // Places outside are dropped.
  SmallVector<nest::MapEntry> entries;
  SmallVector<nest::Condition> dropped;
  bool isIndex = isa<IntegerType>(tensorType(space.reads[0]).getElementType());
  StringRef gathered = isIndex && dice.chance(40) ? nameOf(into) : StringRef();
  bool isWhole = dice.chance(35);
  for (const Dim &each : tensorType(into).getDims()) {
    Expr place = Expr::name(each.name.str()), size = each.size().getExpr();
    if (each.name == gathered)
      place = Expr::name(nest::readName(0));
    else if (!isWhole ||
             space.names.try_emplace(each.name.str(), size, false).first->second.first != size)
      place = drawPlace(space, size, dropped, false);
    entries.emplace_back(context, each.name, place);
  }
  if (!hasFewPoints(space))
    return;
  nest.produced = DimsAttr::getSorted(context, space.dims(context, false));
  Type element = tensorType(into).getElementType();
  CombinerKind kind = drawCombiner(element);
  bool isGeneral = dice.chance(40);
  // No place is met twice if each name of the space is a coordinate.
  bool unique = llvm::all_of(space.names, [&](const auto &name) {
    return llvm::any_of(
        entries, [&](const nest::MapEntry &entry) { return entry.expr().asName() == name.first; });
  });
  unique &= dice.chance(50);
  if (options.smooth && (options.symbols || inScan || depth)) // where other gradients are refused
    kind = CombinerKind::Add, isGeneral = false;
  auto combine = [&](OpBuilder &at, Location, ValueRange s) -> SmallVector<Value> {
    auto by = [&](CombinerKind kind, Value x, Value y) {
      return combineScalars(at, loc, kind, isSignedElement(element), x, y);
    };
    if (!isGeneral)
      return {by(kind, s[0], s[1])};
    return {by(CombinerKind::Add, by(CombinerKind::Add, s[0], s[1]),
               by(CombinerKind::Mul, s[0], s[1]))};
  };
  SmallVector<Type> from = elementsOfAll(space.reads);
  keep(nest.createUpdate(
               into, nest::MapAttr::getSorted(context, entries),
               [&](OpBuilder &builder, Location, ValueRange scalars) {
                 return SmallVector<Value>{
                     drawScalarCode(dice, builder, loc, scalars, from, element, options.smooth)};
               },
               combine, unique)
           .getResult());
}
