//===- Stage.cpp - operands copied into scratch ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of an operand that a read accesses inside of a loop is a box: each coordinate is an
// origin, which the outer loops fix, plus a part in [0, extent). The copy of the box is a nest,
// `copy[d] = operand[origin + d]`, and is emitted like any other, with zeros (or the value of the
// read's guard) outside of the operand. If sizes are symbols, elements that no point reads are not
// copied. Narrow floats are widened by the copy.
//
// A stage with two buffers prefetches its next box while the current one is used: each tile of the
// inner loops prefetches a share, so that the next copy reads from the cache.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The maximum number of lines to prefetch in one tile; more cost more than they save.
static constexpr int64_t mostFetches = 96;
/// The number of lines whose addresses are computed together.
static constexpr int64_t linesTogether = 4;
static constexpr int64_t lineBytes = 64;

void ComputeEmitter::Box::read(NestBuilder &copy, Value from, StringRef pairs, int64_t second,
                               const Expr &end) const {
  MLIRContext *context = copy.builder.getContext();
  SmallVector<MapEntry> entries;
  SmallVector<Condition> conditions;
  for (const auto &[name, start] : origin) {
    Expr place = start + Expr::name(name);
    if (name == pairs)
      place = place + Expr::name(name) + Expr(second);
    entries.emplace_back(context, name, place);
    if (name == pairs) {
      conditions.emplace_back(context, end - Expr(1) - place);
    } else if (!withinOperand.count(name)) {
      conditions.emplace_back(context, place);
      conditions.emplace_back(context, tensorTypeOf(tensor).size(name).getExpr() - Expr(1) - place);
    }
  }
  TypedAttr fill = guard.getOtherwise();
  Type type = tensorTypeOf(from).scalarType();
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

FailureOr<Value> ComputeEmitter::emitCopy(const Box &box, const Layout &layout, StringRef pairs) {
  if (!pairs.empty())
    return copyPairs(box, layout, pairs);
  Type from = tensorTypeOf(box.tensor).getElementType(), to = from;
  if (nd::isNarrowFloat(from) && !plan.unit)
    to = e.b.getF32Type();
  OpBuilder builder(op.getContext());
  NestBuilder copy(builder, op.getLoc());
  copy.produced = nd::DimsAttr::getSorted(op.getContext(), box.dims);
  box.read(copy, box.tensor);
  ComputeOp copied = copy.create({to}, [&](OpBuilder &b, Location loc, ValueRange read) {
    Value value = read[0];
    if (to != from)
      value = arith::ExtFOp::create(b, loc, to, value);
    return Values{value};
  });
  Layout source = freeLayout(e.memory.find(box.tensor)->second);
  return emitCopy(copied, box.whole, layout, source, box.memory);
}

FailureOr<Value> ComputeEmitter::emitCopy(ComputeOp copied, ArrayRef<nd::Dim> whole,
                                          const Layout &layout, const Layout &source,
                                          StringRef memory) {
  e.temporaries.push_back(copied);
  Value result = copied.getResult(0);
  auto type = tensorTypeOf(result).withDims(whole);
  e.memory[result] = {e.allocateScratch(bytesOf(layout, type), memory), layout, type, {}, {}};
  if (failed(e.emitAddedCopy(copied, source)))
    return failure();
  return result;
}

Replacement ComputeEmitter::lastPoints() const {
  Replacement last;
  for (const auto &[group, size] : plan.sizes)
    if (group.size() == 1)
      last[group[0]] =
          Expr::min(loops.indexOf(group) + Expr(loops.extentOf(group)), size) - Expr(1);
  return last;
}

std::optional<Expr> ComputeEmitter::lastPlace(const Expr &place, const Replacement &last) const {
  Replacement places = e.bindings;
  for (const std::string &name : place.names())
    if (plan.nameSizes.count(name)) {
      auto found = last.find(name);
      if (found == last.end() || !place.isLinearIn(name) || place.coefficient(name) < 0)
        return std::nullopt;
      places[name] = found->second;
    }
  return place.substitute(places).simplify(e.ranges);
}

std::optional<ComputeEmitter::Box> ComputeEmitter::findBox(unsigned read, StringRef memory) {
  Box box{operandOf[read], {}, {}, {}, {}, guards[read], memory};
  // If all sizes are constants, boxes are not clipped.
  bool anySymbol =
      llvm::any_of(plan.sizes, [](const auto &size) { return !size.second.isConstant(); });
  Replacement last = lastPoints();
  LoopWalker::Saved saved = loops.bindAll();
  std::set<std::string> inside(loops.pending());
  for (const Walk &walk : plan.tile)
    inside.insert(walk.variable);
  inside.insert(laneName);
  bool isBox = true;
  for (const MapEntry &entry : op.readMap(read).getEntries()) {
    std::string name = entry.name.str();
    Expr place = entry.expr().substitute(e.bindings).simplify(e.ranges);
    Expr outer = Expr(place.offset()), inner;
    for (const Expr::Term &term : place.terms()) {
      Expr alone = Expr::ofTerm(term);
      std::vector<std::string> names = alone.names();
      size_t count =
          llvm::count_if(names, [&](const std::string &name) { return inside.count(name); });
      isBox &= count == 0 || count == names.size();
      (count ? inner : outer) = (count ? inner : outer) + alone;
    }
    auto bounds = inner.bounds(e.ranges);
    isBox &= bounds && bounds->high < largestSymbol - 1;
    if (!isBox)
      break;
    box.origin[name] = outer + Expr(bounds->low);
    Expr extent(bounds->high - bounds->low + 1);
    box.whole.emplace_back(op.getContext(), name, extent);
    if (auto end = anySymbol ? lastPlace(entry.expr(), last) : std::nullopt) {
      // Clip the box after the last read; all elements between the first and last are inside.
      extent = Expr::max(Expr::min(extent, *end + Expr(1) - box.origin[name]), 0);
      if (box.guard.isTrivial())
        box.withinOperand.insert(name);
    }
    box.dims.emplace_back(op.getContext(), name, extent.simplify(e.ranges));
  }
  loops.unbind(std::move(saved));
  return isBox ? std::optional(std::move(box)) : std::nullopt;
}

LogicalResult ComputeEmitter::emitStage(const Stage &stage, const Walk *at) {
  unsigned read = stage.operand;
  auto error = [&] { return op.emitOpError() << "stage of read " << read << ": "; };
  MapAttr map = op.readMap(read);
  const Memory source = e.memory.find(operandOf[read])->second;
  std::optional<Box> box = findBox(read, stage.level);
  if (!box)
    return error() << "expected coordinates that are a part which the loops around fix plus a part "
                      "of constant size, got "
                   << map;
  Sizes sizes;
  for (const nd::Dim &dim : box->whole)
    sizes[dim.name.str()] = *dim.size().constant();
  if (std::string problem = stage.layout.verify(sizes); !problem.empty())
    return error() << "the layout does not fit: " << problem;
  if (stage.buffers > 1 && !at)
    return error() << "expected one buffer at the " << schedule.loops[stage.at].level << " over '"
                   << schedule.loops[stage.at].names[0]
                   << "', inside of which the sums stay in registers, got " << stage.buffers;

  FailureOr<Value> copy = emitCopy(*box, stage.layout, pairedPlace(map, stage.layout));
  if (failed(copy))
    return failure();
  if (!stage.level.empty())
    e.target.barrier(e.b, e.loc, stage.level);
  e.memory[*copy].origin = box->origin;
  operandOf[read] = *copy;
  if (stage.buffers > 1 && e.vars.count(at->variable)) {
    for (auto &[name, start] : box->origin)
      start = start.substitute(Replacement{{at->variable, Expr::name(at->variable) + Expr(1)}});
    ahead.push_back({source, box->origin, sizes, at});
  }

  // If the guard only checks that the coordinates are in bounds, the copy implements it. Drop all
  // of its conditions or none: if another one remains, the coordinates may be out of bounds for
  // another reason.
  if (GuardAttr guard = guards[read]; guard.getOtherwise()) {
    bool isKept = llvm::all_of(guard.getConditions(), [&](const Condition &condition) {
      return llvm::any_of(map.getEntries(), [&](const MapEntry &entry) {
        Expr size = tensorTypeOf(box->tensor).size(entry.name.getValue()).getExpr();
        return !condition.equality && (condition.expr() == entry.expr() ||
                                       condition.expr() == size - Expr(1) - entry.expr());
      });
    });
    if (isKept)
      guards[read] = GuardAttr::get(op.getContext(), {}, guard.getOtherwise());
  }
  return success();
}

void ComputeEmitter::fetchAhead(const Share &share) {
  for (const Ahead &box : ahead) {
    // The number of the tile within the stage's loop.
    Expr number;
    int64_t tiles = 1;
    bool inside = false, known = true;
    for (const Walk &walk : ArrayRef<Walk>(plan.loops).take_front(plan.outer)) {
      if (inside) {
        number = number * Expr(walk.count()) +
                 (e.vars.count(walk.variable) ? Expr::name(walk.variable) : Expr(0));
        tiles *= walk.count();
        known &= walk.steps.isConstant();
      }
      inside |= &walk == box.at;
    }
    if (!known)
      continue;
    // Find the contiguous pieces of the box, which are prefetched a few lines at a time.
    const Layout &layout = box.source.layout;
    auto extentOf = [&](const std::string &name) {
      auto found = box.extents.find(name);
      return found == box.extents.end() ? int64_t(1) : found->second;
    };
    std::set<std::string> inPiece;
    int64_t piece = 1;
    for (const Layout::Factor &factor : llvm::reverse(layout.factors)) {
      bool whole = factor.names.size() == 1 && factor.divisor == 1 && !factor.modulus &&
                   !factor.low && !factor.high;
      if (!whole && !inPiece.empty())
        break;
      const std::string &name = factor.names.back();
      inPiece.insert(name);
      piece *= extentOf(name);
      if (!whole || box.source.type.size(name).constant() != extentOf(name))
        break;
    }
    int64_t width = std::max(8u, box.source.type.getElementType().getIntOrFloatBitWidth()) / 8,
            bytes = piece * width, perLine = std::max<int64_t>(lineBytes / width, 1);
    int64_t lines = bytes % lineBytes ? (bytes + lineBytes - 2) / lineBytes + 1 : bytes / lineBytes,
            pieces = 1;
    for (const auto &[name, extent] : box.extents)
      pieces *= inPiece.count(name) ? 1 : extent;
    int64_t shares = tiles * share.count,
            together = std::min({lines, linesTogether, (pieces * lines + shares - 1) / shares}),
            blocks = (lines + together - 1) / together, units = pieces * blocks,
            ofTile = (units + tiles - 1) / tiles, each = (ofTile + share.count - 1) / share.count;
    if (ofTile * together > mostFetches)
      continue;
    std::string step = e.freshVariable();
    auto body = [&]() -> LogicalResult {
      Section section;
      std::string variable = e.freshVariable();
      Expr wanted = number * Expr(ofTile) + share.number * Expr(each) + Expr::name(step);
      Value unit = arith::MinSIOp::create(e.b, e.loc, e.emit(wanted.simplify(e.ranges)),
                                          e.constant(units - 1));
      e.define(variable, unit, {0, units - 1});
      Replacement place;
      int64_t below = blocks;
      for (const auto &[name, extent] : llvm::reverse(box.extents)) {
        Expr part(0);
        if (!inPiece.count(name)) {
          part = Expr::name(variable).floordiv(below).mod(extent);
          below *= extent;
        }
        place[name] = (box.origin.find(name)->second + part).simplify(e.ranges);
      }
      Expr start = e.address(box.source, place) +
                   Expr::name(variable).mod(blocks) * Expr(together * perLine);
      for (int64_t line = 0; line < together; ++line)
        e.prefetch(box.source, (start + Expr(line * perLine)).simplify(e.ranges), section,
                   /*write=*/false);
      e.forget(variable);
      return success();
    };
    // Emit a loop, since unrolling all prefetches would slow the compilation down.
    if (failed(forLoop(e, step, each, body)))
      return;
  }
}
