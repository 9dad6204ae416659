//===- GenerateNests.cpp - kernels ---------------------------------------===//
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

int64_t Generator::Space::points() const {
  int64_t count = 1;
  for (const auto &[name, entry] : names)
    count *= numberOf(entry.first);
  return count;
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
  // A name that there is, or one of `likely` points.
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
  bool gathers = dice.chance(15) && !options.smooth;
  if (gathers) {
    Value index = any([](NdTensorType type) {
      return isa<IntegerType>(type.getElementType()) && !type.getElementType().isInteger(1);
    });
    if (index)
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
    for (const Dim &each : tensorType(read).getDims()) {
      Expr size = each.size().getExpr(), place;
      if (each.name == gathered) {
        place = Expr::name(nest::readName(0));
        conditions.emplace_back(context, place);
        conditions.emplace_back(context, size - 1 - place);
      } else {
        place = drawPlace(space, size, conditions, mayReduce);
      }
      entries.emplace_back(context, each.name, place);
    }
    TypedAttr otherwise;
    bool isReduction = llvm::any_of(space.names, [](auto &entry) { return entry.second.second; });
    // An index that others read by has a value at every point.
    if (!conditions.empty() && (!isReduction || (gathers && isFirst) || dice.chance(60)))
      otherwise = drawNumber(tensorType(read));
    space.reads.push_back(read);
    space.maps.push_back(nest::MapAttr::getSorted(context, entries));
    space.guards.push_back(nest::GuardAttr::get(context, conditions, otherwise));
  }
  return space.points() <= 1500 && space.dims(context, false).size() <= mostNames;
}

static SmallVector<Type> elementsOfAll(ArrayRef<Value> values) {
  return llvm::map_to_vector(values, [](Value v) { return tensorType(v).getElementType(); });
}

/// A kernel: reads through affine maps, some guarded or gathered; a body, perhaps a reduction, and
/// what follows it.
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
  Type to = dice.chance(80) ? dice.pick(from) : drawType();
  auto code = [&](OpBuilder &builder, ValueRange scalars) {
    SmallVector<Value> all(scalars);
    SmallVector<Type> types(from);
    if (!space.names.empty() && dice.chance(20)) {
      auto entry = space.names.begin();
      std::advance(entry, dice.below(int64_t(space.names.size())));
      Value index = nest::IndexOp::create(builder, loc, builder.getIndexType(), entry->first);
      all.push_back(arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index));
      types.push_back(builder.getI64Type());
    }
    return drawScalarCode(dice, builder, loc, all, types, to, options.smooth);
  };
  int64_t count = 1;
  auto elements = [&](OpBuilder &builder, Location, ValueRange scalars) {
    SmallVector<Value> list;
    for (int64_t i = 0; i < count; ++i)
      list.push_back(code(builder, scalars));
    return list;
  };
  nest::ComputeOp op;
  if (!reduced.empty() && dice.chance(25) && !to.isInteger(1)) {
    Combination drawn = drawCombination(to, false);
    count = int64_t(drawn.neutral.size());
    op = nest.create(
        SmallVector<Type>(size_t(count), to), elements, drawn.neutral,
        [&](OpBuilder &builder, Location, ValueRange s) { return drawn.combine(builder, s); });
  } else {
    if (reduced.empty())
      count = dice.pick({1, 1, 1, 2});
    CombinerKind kind = reduced.empty() ? CombinerKind::General : drawCombiner(to);
    // What follows reads what has the produced names.
    Value after;
    if (!reduced.empty() && dice.chance(40))
      after = any([&](NdTensorType type) {
        return llvm::all_of(type.getDims(),
                            [&](const Dim &each) { return llvm::is_contained(produced, each); });
      });
    SmallVector<Type> finished{to};
    if (after) {
      SmallVector<nest::MapEntry> entries;
      for (const Dim &each : tensorType(after).getDims())
        entries.emplace_back(context, each.name, Expr::name(each.name.str()));
      nest.finishRead(after, nest::MapAttr::getSorted(context, entries));
      finished.push_back(tensorType(after).getElementType());
    }
    auto finish = [&](OpBuilder &builder, Location, ValueRange scalars) {
      Type accumulator = scalars[0].getType();
      if (isa<IntegerType>(to))
        accumulator = to;
      finished[0] = accumulator;
      return SmallVector<Value>{
          drawScalarCode(dice, builder, loc, scalars, finished, to, options.smooth)};
    };
    op = nest.create(SmallVector<Type>(size_t(count), to), elements, kind, isSignedElement(to),
                     after ? nest::RegionBody(finish) : nest::RegionBody(nullptr));
  }
  if (reduced.size() > 1 && options.smooth) {
    // Which of equal elements counts.
    SmallVector<StringRef> order =
        llvm::map_to_vector(reduced, [](const Dim &each) { return each.name.getValue(); });
    dice.shuffle(order);
    op->setAttr(nest::orderAttrName, b.getStrArrayAttr(order));
  }
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
  nest::YieldOp::create(b, loc, ValueRange{second});
  b.restoreInsertionPoint(outside);
  SmallVector<Dim> dims(tensorType(second).getDims().begin(), tensorType(second).getDims().end());
  dims.push_back(dim(own, size));
  state.addTypes(NdTensorType::get(element, dims));
  state.getOrAddProperties<nest::GroupOp::Properties>().names =
      DimsAttr::getSorted(context, {dim(own, size)});
  keep(b.create(state)->getResult(0));
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
  NdTensorType carried = tensorType(init);
  SmallVector<Dim> stacked(carried.getDims().begin(), carried.getDims().end());
  stacked.push_back(dim(along, sizeOf(x, along)));
  bool isStacked = dice.chance(60);
  SmallVector<Type> results{carried};
  if (isStacked)
    results.push_back(carried.withDims(stacked));
  OpBuilder::InsertPoint outside = b.saveInsertionPoint();
  auto scan = nest::ScanOp::create(b, loc, results, ValueRange{init}, ValueRange{x},
                                   DimsAttr::getSorted(context, {dim(along, sizeOf(x, along))}),
                                   dice.chance(40) ? b.getUnitAttr() : UnitAttr(), ArrayAttr());
  Block *block = b.createBlock(&scan.getBody(), {}, {carried, type.withDims(rest)}, {loc, loc});
  b.setInsertionPointToEnd(block);
  bool wasInScan = std::exchange(inScan, true);
  Value next = inside({block->getArgument(0), block->getArgument(1)}, carried);
  inScan = wasInScan;
  SmallVector<Value> yielded{next};
  if (isStacked)
    yielded.push_back(dice.chance(50) ? next : Value(block->getArgument(0)));
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
  bool isIndex = isa<IntegerType>(tensorType(space.reads[0]).getElementType()) && !options.smooth;
  StringRef gathered = isIndex && dice.chance(40) ? nameOf(into) : StringRef();
  for (const Dim &each : tensorType(into).getDims())
    entries.emplace_back(context, each.name,
                         each.name == gathered
                             ? Expr::name(nest::readName(0))
                             : drawPlace(space, each.size().getExpr(), dropped, false));
  if (space.points() > 1500)
    return;
  nest.produced = DimsAttr::getSorted(context, space.dims(context, false));
  Type element = tensorType(into).getElementType();
  Combination drawn;
  do // of one value, in the type of the elements
    drawn = drawCombination(element, false);
  while (drawn.neutral.size() != 1);
  if (drawn.neutral[0].getType() != tensorType(into).scalarType())
    return;
  if (options.smooth && (options.symbols || inScan || depth)) // where other gradients are refused
    drawn.combine = [&](OpBuilder &builder, ValueRange s) -> SmallVector<Value> {
      if (isa<FloatType>(element))
        return {arith::AddFOp::create(builder, loc, s[0], s[1])};
      return {arith::AddIOp::create(builder, loc, s[0], s[1])};
    };
  SmallVector<Type> from = elementsOfAll(space.reads);
  keep(
      nest.createUpdate(
              into, nest::MapAttr::getSorted(context, entries),
              [&](OpBuilder &builder, Location, ValueRange scalars) {
                return SmallVector<Value>{
                    drawScalarCode(dice, builder, loc, scalars, from, element, options.smooth)};
              },
              [&](OpBuilder &builder, Location, ValueRange s) { return drawn.combine(builder, s); })
          .getResult());
}
