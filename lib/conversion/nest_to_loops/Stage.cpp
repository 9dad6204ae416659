//===- Stage.cpp - operands copied into scratch ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The copy of a box (lib/analysis/StagedCopy.h) is a nest, which is emitted like any other, with
// the loops in the stage's schedule.
//
// A stage with two buffers prefetches its next box while the current one is used: each tile of the
// inner loops prefetches a share, so that the next copy reads from the cache. Where the lanes of a
// block share memory, they load the next box into a second buffer instead (StageAhead.cpp).
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The maximum number of lines to prefetch in one tile; more would cost more than they save.
static constexpr int64_t mostFetches = 96;
/// The number of lines whose addresses are computed together.
static constexpr int64_t linesTogether = 4;
static constexpr int64_t lineBytes = 64;

std::optional<Box> ComputeEmitter::findBox(unsigned read) {
  StageContext context;
  // All lanes of a block read the copy.
  for (const auto &[names, size] : scheduled.sizes)
    std::tie(context.index[names], context.extent[names]) = loops.blockOf(names);
  LoopWalker::Saved saved = loops.bindAll(/*clamps=*/false);
  context.bindings = e.bindings;
  context.ranges = e.ranges;
  context.inside = loops.pending();
  for (const Walk &walk : scheduled.tile)
    context.inside.insert(walk.variable);
  context.inside.insert(laneName);
  context.clips = e.lanes == 0;
  for (const Walk &walk : scheduled.loops)
    if (walk.lane)
      context.inside.insert(walk.variable);
  loops.unbind(std::move(saved));
  return nest::findBox(op, scheduled, context, read, operandOf[read], guards[read]);
}

StagedCopy ComputeEmitter::makeCopy(const Stage &stage, const Box &box) {
  const Memory source = e.memory.find(box.tensor)->second;
  StagedCopy copy =
      makeStagedCopy(op, scheduled, stage.operand, box, stage.layout, freeLayout(source));
  if (copy.halves) {
    e.temporaries.push_back(copy.halves);
    Memory halves = source;
    halves.type = nd::NdTensorType::get(op.getContext(), e.b.getI32Type(), source.type.getDims());
    halves.halves = true;
    e.memory[copy.halves->getResult(0)] = halves;
  }
  e.temporaries.push_back(copy.op);
  Value result = copy.op.getResult(0);
  e.memory[result] = {Value(), copy.to, tensorType(result).withDims(copy.whole), {}, {}};
  return copy;
}

Value ComputeEmitter::readCopy(StagedCopy &copy, const Box &box) {
  // Both elements of a pair are read from the pair's address.
  Value result = copy.op.getResult(0);
  Memory &memory = e.memory[result];
  memory.layout = copy.read;
  memory.type = tensorType(result).withDims(copy.whole).withDims(box.whole);
  memory.origin = box.origin;
  return result;
}

FailureOr<Value> ComputeEmitter::emitCopy(const Stage &stage, const Box &box) {
  StagedCopy copy = makeCopy(stage, box);
  Memory &memory = e.memory[copy.op.getResult(0)];
  memory.base = e.allocateScratch(bytesOf(memory.layout, memory.type), stage.level);
  if (failed(e.emitAddedCopy(copy.op, {stage.copy, {}})))
    return failure();
  return readCopy(copy, box);
}

LogicalResult ComputeEmitter::emitStage(const Stage &stage, const Walk *at, bool isFirst) {
  unsigned read = stage.operand;
  auto error = [&] { return op.emitOpError() << "stage of read " << read << ": "; };
  MapAttr map = op.readMap(read);
  const Memory source = e.memory.find(operandOf[read])->second;
  std::optional<Box> box = findBox(read);
  if (!box)
    return error() << "expected coordinates that are a part which the loops around fix plus a part "
                      "of constant size, got "
                   << map;
  Sizes sizes = box->sizes();
  if (std::string problem = stage.layout.verify(sizes); !problem.empty())
    return error() << "the layout does not fit: " << problem;
  bool carriesSums = !at || at >= scheduled.loops.data() + scheduled.outer;
  if (stage.buffers > 1 && carriesSums && !e.target.mostLanes())
    return error() << "expected one buffer at the " << schedule.loops[stage.at].level << " over '"
                   << schedule.loops[stage.at].names[0]
                   << "', inside of which the sums stay in registers, got " << stage.buffers;

  bool isCopy = operandOf[read] != op.getReads()[read];
  scf::ForOp turns = stage.buffers > 1 && e.lanes && isFirst ? loopOfTurns(at) : scf::ForOp();
  if (isCopy && !turns)
    e.barrier(stage.level); // a copy of a copy, which has to be complete
  FailureOr<Value> copy = turns ? emitFirstCopy(stage, *box, *at, turns) : emitCopy(stage, *box);
  if (failed(copy))
    return failure();
  operandOf[read] = *copy;
  if (stage.buffers > 1 && !e.lanes && !carriesSums && e.vars.count(at->variable)) {
    for (auto &[name, start] : box->origin)
      start = start.substitute(Replacement{{at->variable, Expr::name(at->variable) + Expr(1)}});
    ahead.push_back({source, box->origin, sizes, at, {}});
  }

  // If the guard only checks that the coordinates are in bounds, the copy implements it. Drop
  // either all of its conditions or none: if one remains, coordinates may be out of bounds for
  // another reason.
  if (GuardAttr guard = guards[read]; guard.getOtherwise()) {
    bool isKept = llvm::all_of(guard.getConditions(), [&](const Condition &condition) {
      return llvm::any_of(map.getEntries(), [&](const MapEntry &entry) {
        Expr size = tensorType(box->tensor).size(entry.name.getValue()).getExpr();
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
    if (box.read && llvm::any_of(ArrayRef(&box + 1, ahead.data() + ahead.size()),
                                 [&](const Ahead &each) { return each.read == box.read; }))
      continue;
    // The number of the tile within the stage's loop.
    Expr number;
    int64_t tiles = 1;
    bool inside = false, known = true;
    for (const Walk &walk : ArrayRef<Walk>(scheduled.loops).take_front(scheduled.outer)) {
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
      Replacement position;
      int64_t below = blocks;
      for (const auto &[name, extent] : llvm::reverse(box.extents)) {
        Expr part(0);
        if (!inPiece.count(name)) {
          part = Expr::name(variable).floordiv(below).mod(extent);
          below *= extent;
        }
        position[name] = (box.origin.find(name)->second + part).simplify(e.ranges);
      }
      Expr start = e.address(box.source, position) +
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
