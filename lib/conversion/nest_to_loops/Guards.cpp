//===- Guards.cpp - specialises code by guards ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In each loop the emitter tests the conditions that do not depend on inner loops. The conditions
// of one read at one point of the tile are one bit. Few patterns of these bits occur (a 3x3 window
// with a border: all columns inside, the first outside, the last outside), because the bits depend
// on a few small loop variables. The patterns are found by enumerating the values of these
// variables or, if sizes are symbols, from implications between a few bits. Each pattern gets
// specialised code, selected by testing the fewest bits that distinguish the patterns. That code
// has no tests and omits the points that contribute nothing.
//
// If the bits depend only on the variable of a reduction's loop, the loop is split into pieces in
// which they are constant.
//
// A condition that depends on the lane is also one bit, "holds on all lanes"; if it is false, loads
// are masked.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Points that contribute nothing
//===----------------------------------------------------------------------===//

/// True if `value` is zero whenever `read` is.
static bool vanishesWith(Value value, Value read) {
  if (value == read)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(op))
    return vanishesWith(op->getOperand(0), read) || vanishesWith(op->getOperand(1), read);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp, arith::ExtSIOp, arith::ExtUIOp,
          arith::SIToFPOp, arith::UIToFPOp>(op))
    return vanishesWith(op->getOperand(0), read);
  if (isa<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp>(op))
    return vanishesWith(op->getOperand(0), read) && vanishesWith(op->getOperand(1), read);
  if (isa<arith::SelectOp>(op))
    return vanishesWith(op->getOperand(1), read) && vanishesWith(op->getOperand(2), read);
  return false;
}

static bool isZero(Attribute value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValue().isZero();
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getValue().isZero();
}

void ComputeEmitter::findSkippable() {
  Block &block = op.getBody().front();
  auto yield = cast<YieldOp>(block.getTerminator());
  bool adds = op.isReduction() && yield.getValues().size() == 1 &&
              nd::combinerKind(op.getCombine()) == nd::CombinerKind::Add;
  for (unsigned i = 0; i < op.getReads().size(); ++i) {
    GuardAttr guard = op.readGuard(i);
    bool skips = op.isReduction() &&
                 (guard.excludes() || (adds && isZero(guard.getOtherwise()) &&
                                       vanishesWith(yield.getValues()[0], block.getArgument(i))));
    skippable.push_back(skips);
  }
}

std::string ComputeEmitter::valuesOf(const Point &point) {
  std::string text;
  for (const auto &[name, value] : point.values)
    text += name + value.str() + ";";
  return text;
}

bool ComputeEmitter::fails(unsigned read, const Point &point) {
  GuardAttr guard = guards[read];
  if (guard.isTrivial())
    return false;
  if (!failing.empty() && failing.count({read, valuesOf(point)}))
    return true;
  for (const Condition &condition : guard.getConditions()) {
    Expr expr = condition.expr();
    if (isGathered(expr))
      continue;
    Test test{e.resolve(expr, point), condition.equality};
    if (test.decide(e.ranges) == false)
      return true;
  }
  return false;
}

std::vector<Point> ComputeEmitter::allPoints() const {
  std::vector<Point> all;
  std::vector<Point> steps = loops.points(true);
  for (const Point &produced : loops.points(false))
    for (const Point &step : steps) {
      Point point = produced;
      point.values.insert(step.values.begin(), step.values.end());
      if (step.lanes) {
        point.lanes = step.lanes;
        point.active = step.active;
      }
      all.push_back(std::move(point));
    }
  return all;
}

bool ComputeEmitter::nothingToDo() {
  if (failing.empty())
    return false;
  return llvm::all_of(allPoints(), [&](const Point &point) {
    std::string values = valuesOf(point);
    return llvm::any_of(llvm::seq<unsigned>(0, skippable.size()),
                        [&](unsigned i) { return skippable[i] && failing.count({i, values}); });
  });
}

ComputeEmitter::Clip ComputeEmitter::clipOf(size_t position) {
  Clip clip;
  bool any = llvm::any_of(llvm::seq<unsigned>(0, skippable.size()),
                          [&](unsigned i) { return skippable[i] && !guards[i].isTrivial(); });
  if (!any || !loops.canClip(position))
    return clip;
  const std::string &variable = scheduled.loops[position].variable;
  LoopWalker::Saved saved = loops.bindAll();
  std::vector<Point> points = allPoints();
  std::set<Expr> lows, highs;
  for (unsigned i = 0; i < skippable.size(); ++i) {
    if (!skippable[i])
      continue;
    for (const Condition &condition : guards[i].getConditions()) {
      if (condition.equality || isGathered(condition.expr()))
        continue;
      Test test{e.resolve(condition.expr(), points.front()), false};
      const Expr &expr = test.expr;
      int64_t step = expr.isLinearIn(variable) ? expr.coefficient(variable) : 0;
      if (step == 0 || test.decide(e.ranges) || e.isKnown(test))
        continue;
      Expr rest = expr - Expr::name(variable) * Expr(step);
      // The bound is equal at all points of the tile and known before the loop.
      bool known = llvm::all_of(rest.names(), [&](const std::string &name) {
        auto value = e.vars.find(name);
        return value != e.vars.end() && !isa<VectorType>(value->second.getType());
      });
      bool alike = llvm::all_of(
          points, [&](const Point &point) { return e.resolve(condition.expr(), point) == expr; });
      if (!known || !alike)
        continue;
      clip.facts.insert(test);
      if (step > 0)
        lows.insert((Expr(step - 1) - rest).floordiv(step).simplify(e.ranges));
      else
        highs.insert((rest.floordiv(-step) + Expr(1)).simplify(e.ranges));
    }
  }
  loops.unbind(std::move(saved));
  for (const Expr &low : lows) {
    Value value = e.emit(low);
    clip.low = clip.low ? Value(arith::MaxSIOp::create(e.b, e.loc, clip.low, value)) : value;
  }
  for (const Expr &high : highs) {
    Value value = e.emit(high);
    clip.high = clip.high ? Value(arith::MinSIOp::create(e.b, e.loc, clip.high, value)) : value;
  }
  return clip;
}

std::vector<int64_t> ComputeEmitter::cutsOf(size_t position) {
  bool any = llvm::any_of(guards, [](GuardAttr guard) { return !guard.isTrivial(); });
  if (!any || !loops.canClip(position))
    return {};
  const std::string &variable = scheduled.loops[position].variable;
  int64_t count = loops.extentOf(scheduled.loops[position].names);
  LoopWalker::Saved saved = loops.bindAll();
  std::vector<Point> points = allPoints();
  std::set<Test> tests;
  for (GuardAttr guard : guards)
    for (const Condition &condition : guard.getConditions())
      for (const Point &point : points) {
        if (isGathered(condition.expr()))
          break;
        Test test{e.resolve(condition.expr(), point), condition.equality};
        if (test.expr.names() == std::vector{variable} && !e.isKnown(test))
          tests.insert(test);
      }
  loops.unbind(std::move(saved));
  if (tests.empty() || count * int64_t(tests.size()) > mostEvaluations)
    return {};
  std::vector<int64_t> cuts{0};
  std::vector<bool> before;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<bool> bits;
    for (const Test &test : tests) {
      int64_t value = *test.expr.evaluate([&](const std::string &) { return std::optional(i); });
      bits.push_back(test.equality ? value == 0 : value >= 0);
    }
    if (i > 0 && bits != before)
      cuts.push_back(i);
    before = std::move(bits);
  }
  cuts.push_back(count);
  int64_t price = costOf(points) * int64_t(cuts.size() - 2);
  if (cuts.size() == 2 || cuts.size() > mostPatterns + 1 || price > e.splitBudget)
    return {};
  e.splitBudget -= price;
  return cuts;
}

int64_t ComputeEmitter::costOf(ArrayRef<Point> points) {
  return int64_t(points.size()) * int64_t(4 + op.getBody().front().getOperations().size());
}
