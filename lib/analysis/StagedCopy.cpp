//===- StagedCopy.cpp - the copies of stages ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/StagedCopy.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdTypical.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/Support/MathExtras.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

StageContext nest::stageContext(ComputeOp op, const ScheduledLoops &scheduled, size_t entered) {
  StageContext context;
  context.clips = scheduled.boundLanes() <= 1;
  if (auto function = op->getParentOfType<func::FuncOp>())
    for (const auto &symbol : nd::sizeSymbols(op))
      context.ranges[symbol.getKey().str()] =
          nd::rangeOfNeutral(symbol.getKey()).value_or(nd::symbolRange(function, symbol.getKey()));
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto group = dyn_cast<GroupOp>(parent))
      for (const nd::Dim &dim : group.getNames()) {
        std::string variable = dim.name.str() + "$";
        context.bindings[dim.name.str()] = Expr::name(variable);
        context.ranges[variable] = {0, std::max<int64_t>(dim.size().most() - 1, 0)};
      }
  std::map<MergedNames, Expr> all;
  for (const auto &[names, most] : scheduled.most) {
    context.index[names] = all[names] = Expr(0);
    context.extent[names] = most;
  }
  auto walk = [&](const Walk &walk, int64_t count) {
    context.ranges[walk.variable] = {0, std::max<int64_t>(count - 1, 0)};
    all[walk.names] = all[walk.names] + Expr::name(walk.variable) * Expr(walk.step);
  };
  for (auto [i, loop] : llvm::enumerate(scheduled.loops)) {
    walk(loop, loop.count());
    if (i >= entered || loop.lane) { // all lanes of a block read a copy
      context.inside.insert(loop.variable);
      continue;
    }
    context.index[loop.names] = all[loop.names];
    context.extent[loop.names] = loop.step;
  }
  for (const Walk &loop : scheduled.tile) {
    walk(loop, llvm::divideCeil(std::min(context.extent[loop.names], loop.tile), loop.step));
    context.inside.insert(loop.variable);
  }
  context.ranges[laneName] = {0, std::max<int64_t>(scheduled.lanes - 1, 0)};
  context.inside.insert(laneName);
  if (scheduled.lanes)
    all[scheduled.laneNames] = all[scheduled.laneNames] + Expr::name(laneName);
  for (const auto &[names, index] : all)
    scheduled.bind(names, index, context.ranges, context.bindings);
  return context;
}

/// Returns the coordinate of a read at the last points of the inner loops; none if it does not
/// increase with them.
static std::optional<Expr> lastCoordinate(const ScheduledLoops &scheduled, const StageContext &at,
                                          const Expr &coordinate) {
  Replacement last = at.bindings;
  for (const std::string &name : coordinate.names())
    if (auto size = scheduled.sizes.find(MergedNames{name}); size != scheduled.sizes.end()) {
      if (!coordinate.isLinearIn(name) || coordinate.coefficient(name) < 0)
        return std::nullopt;
      last[name] =
          Expr::min(at.index.at(size->first) + Expr(at.extent.at(size->first)), size->second) -
          Expr(1);
    } else if (scheduled.nameSizes.count(name)) {
      return std::nullopt;
    }
  return coordinate.substitute(last).simplify(at.ranges);
}

std::optional<Box> nest::findBox(ComputeOp op, const ScheduledLoops &scheduled,
                                 const StageContext &at, unsigned read, Value tensor,
                                 GuardAttr guard) {
  Box box{tensor, {}, {}, {}, {}, guard};
  // A copy has all elements that the loops inside read, also those beyond the operand.
  bool isCopy = tensor != op.getReads()[read];
  // If all sizes are constants, boxes are not clipped.
  bool anySymbol = at.clips && llvm::any_of(scheduled.sizes, [](const auto &size) {
                     return !size.second.isConstant();
                   });
  for (const MapEntry &entry : op.readMap(read).getEntries()) {
    std::string name = entry.name.str();
    Expr coordinate = entry.expr().substitute(at.bindings).simplify(at.ranges);
    Expr outer = Expr(coordinate.offset()), inner;
    for (const Expr::Term &term : coordinate.terms()) {
      Expr summand = Expr::ofTerm(term);
      std::vector<std::string> names = summand.names();
      size_t count =
          llvm::count_if(names, [&](const std::string &name) { return at.inside.count(name); });
      if (count != 0 && count != names.size())
        return std::nullopt;
      (count ? inner : outer) = (count ? inner : outer) + summand;
    }
    auto bounds = inner.bounds(at.ranges);
    if (!bounds || bounds->high >= largestSymbol - 1)
      return std::nullopt;
    box.origin[name] = outer + Expr(bounds->low);
    Expr extent(bounds->high - bounds->low + 1);
    box.whole.emplace_back(op.getContext(), name, extent);
    auto end = anySymbol ? lastCoordinate(scheduled, at, entry.expr()) : std::nullopt;
    if (end) // clip the box after the last read; all elements between the first and last are inside
      extent = Expr::max(Expr::min(extent, *end + Expr(1) - box.origin[name]), 0);
    if (isCopy || (end && box.guard.isTrivial()))
      box.within.insert(name);
    box.dims.emplace_back(op.getContext(), name, extent.simplify(at.ranges));
  }
  return box;
}

Sizes Box::sizes() const {
  Sizes sizes;
  for (const nd::Dim &dim : whole)
    sizes[dim.name.str()] = *dim.size().constant();
  return sizes;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Adds a read of a box to a copy with the same dims, or, along `pairs`, a read of every first or
/// second of two coordinates below `end`.
static void addRead(const Box &box, NestBuilder &copy, Value from, StringRef pairs = {},
                    int64_t second = 0, const Expr &end = {}) {
  MLIRContext *context = copy.builder.getContext();
  SmallVector<MapEntry> entries;
  SmallVector<Condition> conditions;
  for (const auto &[name, start] : box.origin) {
    Expr coordinate = start + Expr::name(name);
    if (name == pairs)
      coordinate = coordinate + Expr::name(name) + Expr(second);
    entries.emplace_back(context, name, coordinate);
    if (name == pairs) {
      conditions.emplace_back(context, end - Expr(1) - coordinate);
    } else if (!box.within.count(name)) {
      conditions.emplace_back(context, coordinate);
      conditions.emplace_back(context,
                              tensorType(box.tensor).size(name).getExpr() - Expr(1) - coordinate);
    }
  }
  TypedAttr fill = box.guard.getOtherwise();
  Type type = tensorType(from).scalarType();
  if (auto real = dyn_cast_or_null<FloatAttr>(fill); real && type.isInteger(32)) {
    // For pairs, repeat the number in both halves.
    APInt bits = real.getValue().bitcastToAPInt();
    bits = bits.lshr(bits.getBitWidth() - 16).zextOrTrunc(16);
    fill = copy.builder.getIntegerAttr(type, bits.concat(bits));
  } else if (!fill) {
    fill = cast<TypedAttr>(copy.builder.getZeroAttr(type));
  }
  copy.read(from, MapAttr::getSorted(context, entries), GuardAttr::get(context, conditions, fill));
}

/// Returns the operand's name along which the layout stores pairs that are multiplied together; "":
/// none.
static std::string pairedName(const ScheduledLoops &scheduled, MapAttr map, const Layout &layout) {
  if (!scheduled.unit || layout.factors.empty() || layout.swizzle.bits)
    return "";
  const Layout::Factor &last = layout.factors.back();
  if (last.names.size() != 1 || last.divisor != 1 || last.modulus != 2)
    return "";
  const std::string &name = last.names[0];
  for (const Layout::Factor &factor : ArrayRef<Layout::Factor>(layout.factors).drop_back())
    if (llvm::is_contained(factor.names, name) &&
        (factor.names.size() > 1 || factor.divisor % 2 || factor.low % 2 || factor.high % 2))
      return "";
  return map.lookup(name)->asName() == scheduled.pairNames()[0] ? name : "";
}

/// Halves the sizes of `name` in a layout, so that it is a layout of pairs.
static Layout halved(Layout layout, StringRef name) {
  for (Layout::Factor &factor : layout.factors)
    if (factor.names.size() == 1 && factor.names[0] == name)
      factor = {factor.names, factor.divisor / 2, factor.modulus, factor.low / 2, factor.high / 2};
  return layout;
}

/// True if the elements 2i and 2i + 1 along `name` are contiguous.
static bool isInnermost(const Layout &layout, StringRef name) {
  if (layout.factors.empty() || layout.swizzle.bits)
    return false;
  const Layout::Factor &last = layout.factors.back();
  return last.names.size() == 1 && last.names[0] == name && last.divisor == 1 &&
         last.modulus % 2 == 0 && last.low % 2 == 0;
}

static StagedCopy copyPairs(ComputeOp op, const ScheduledLoops &scheduled, const Box &box,
                            const Layout &layout, const Layout &from, StringRef pairs) {
  MLIRContext *context = op.getContext();
  OpBuilder builder(context);
  NestBuilder copy(builder, op.getLoc());
  auto inPairs = [&](ArrayRef<nd::Dim> dims) {
    SmallVector<nd::Dim> result(dims);
    for (nd::Dim &dim : result)
      if (dim.name.getValue() == pairs)
        dim = nd::Dim(context, pairs, dim.size().getExpr().ceildiv(2));
    return result;
  };
  copy.produced = nd::DimsAttr::getSorted(context, inPairs(box.dims));
  StagedCopy made{{}, nullptr, inPairs(box.whole), from, {}, layout};
  made.read.factors.pop_back();
  made.to = halved(made.read, pairs);
  const Expr &end = scheduled.sizes.find(scheduled.pairNames())->second;
  Type i32 = builder.getI32Type();
  bool isPaired = tensorType(box.tensor).getElementType() == i32;
  if (isPaired || (isInnermost(from, pairs) && end.mod(2).constant() == 0)) {
    // Copy both elements together, as a tensor of pairs.
    Value both = box.tensor;
    if (!isPaired) {
      auto type = nd::NdTensorType::get(context, i32, tensorType(box.tensor).getDims());
      made.halves = UnrealizedConversionCastOp::create(builder, op.getLoc(), type, box.tensor);
      both = made.halves->getResult(0);
      made.from.factors.back().divisor = 2;
      made.from.factors.back().modulus /= 2;
    }
    addRead(box, copy, both, pairs, 0, end);
    made.op = copy.create(
        {i32}, [](OpBuilder &, Location, ValueRange read) { return SmallVector<Value>(read); });
    return made;
  }
  addRead(box, copy, box.tensor, pairs, 0, end);
  addRead(box, copy, box.tensor, pairs, 1, end);
  made.op = copy.create({i32}, [&](OpBuilder &b, Location loc, ValueRange read) {
    auto bitsOf = [&](Value value) -> Value {
      value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
      return arith::BitcastOp::create(b, loc, i32, value);
    };
    Value bits = arith::ConstantIntOp::create(b, loc, 16, 32),
          upper = arith::ConstantIntOp::create(b, loc, -(int64_t(1) << 16), 32);
    Value low = arith::ShRUIOp::create(b, loc, bitsOf(read[0]), bits),
          high = arith::AndIOp::create(b, loc, bitsOf(read[1]), upper);
    return SmallVector<Value>{arith::OrIOp::create(b, loc, low, high)};
  });
  return made;
}

StagedCopy nest::makeStagedCopy(ComputeOp op, const ScheduledLoops &scheduled, unsigned read,
                                const Box &box, const Layout &layout, const Layout &from) {
  if (std::string pairs = pairedName(scheduled, op.readMap(read), layout); !pairs.empty())
    return copyPairs(op, scheduled, box, layout, from, pairs);
  OpBuilder builder(op.getContext());
  Type element = tensorType(box.tensor).getElementType(), to = element;
  if (nd::isNarrowFloat(element) && !scheduled.unit)
    to = builder.getF32Type();
  NestBuilder copy(builder, op.getLoc());
  copy.produced = nd::DimsAttr::getSorted(op.getContext(), box.dims);
  addRead(box, copy, box.tensor);
  ComputeOp made = copy.create({to}, [&](OpBuilder &b, Location loc, ValueRange read) {
    Value value = read[0];
    if (to != element)
      value = arith::ExtFOp::create(b, loc, to, value);
    return SmallVector<Value>{value};
  });
  return {made, nullptr, box.whole, from, layout, layout};
}

void StagedCopy::destroy() {
  op->destroy();
  if (halves)
    halves->destroy();
}
