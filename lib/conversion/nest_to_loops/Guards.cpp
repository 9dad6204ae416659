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

/// The maximum number of patterns. With more, the code only distinguishes "all hold" from the rest.
static constexpr size_t mostPatterns = 10;
/// The maximum number of conditions to evaluate when searching for patterns.
static constexpr int64_t mostEvaluations = 60000;

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

static std::string valuesOf(const Point &point) {
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

/// The points of the tile, including the unrolled steps of the reduction.
static std::vector<Point> allPoints(const LoopWalker &loops, const ScheduledLoops &scheduled) {
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
  return llvm::all_of(allPoints(loops, scheduled), [&](const Point &point) {
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
  std::vector<Point> points = allPoints(loops, scheduled);
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
  std::vector<Point> points = allPoints(loops, scheduled);
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

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace heddle::nest {

struct GuardSplitter {
  ComputeEmitter &c;
  Emitter &e;

  /// The conditions of one read at some points that the ranges do not decide.
  struct Atom {
    std::vector<Test> tests;
    bool lanewise = false;
    int64_t active = 0; ///< number of lanes of a lanewise atom
    std::vector<std::pair<unsigned, std::string>> members;
  };
  using Pattern = std::vector<bool>;
  std::vector<Atom> atoms;
  std::map<Pattern, int64_t> patterns; ///< pattern -> number of occurrences
  int64_t widest = 0;                  ///< lanes of the tile's widest vector

  static Expr atLane(const Expr &expr, int64_t lane) {
    return expr.substitute(Replacement{{laneName, Expr(lane)}});
  }

  bool holds(const Atom &atom,
             llvm::function_ref<std::optional<int64_t>(const std::string &)> lookup) {
    for (const Test &test : atom.tests) {
      for (int64_t lane : {int64_t(0), std::max<int64_t>(atom.active - 1, 0)}) {
        int64_t value = *test.expr.evaluate([&](const std::string &name) {
          return name == laneName ? std::optional<int64_t>(lane) : lookup(name);
        });
        if (test.equality ? value != 0 : value < 0)
          return false;
        if (!atom.lanewise)
          break;
      }
    }
    return true;
  }

  /// Tries all values of the variables in the atoms. False if there are too many.
  bool findPatterns() {
    std::set<std::string> names;
    for (const Atom &atom : atoms)
      for (const Test &test : atom.tests)
        for (const std::string &name : test.expr.names())
          if (name != laneName)
            names.insert(name);
    std::vector<std::pair<std::string, Range>> variables;
    int64_t combinations = 1;
    for (const std::string &name : names) {
      auto range = e.ranges.find(name);
      if (range == e.ranges.end())
        return false;
      variables.emplace_back(name, range->second);
      int64_t count = range->second.high - range->second.low + 1;
      if (count > mostEvaluations ||
          (combinations *= count) * int64_t(atoms.size()) > mostEvaluations)
        return false;
    }
    std::map<std::string, int64_t, std::less<>> values;
    auto lookup = [&](const std::string &name) -> std::optional<int64_t> {
      return values.find(name)->second;
    };
    for (int64_t i = 0; i < combinations; ++i) {
      int64_t rest = i;
      for (const auto &[name, range] : variables) {
        int64_t count = range.high - range.low + 1;
        values[name] = range.low + rest % count;
        rest /= count;
      }
      Pattern pattern;
      for (const Atom &atom : atoms)
        pattern.push_back(holds(atom, lookup));
      ++patterns[pattern];
      if (patterns.size() > mostPatterns)
        return false;
    }
    return true;
  }

  /// True if `a` implies `b`.
  bool implies(const Atom &a, const Atom &b) {
    if (a.tests.size() != 1 || b.tests.size() != 1 || a.lanewise || b.lanewise ||
        a.tests[0].equality || b.tests[0].equality)
      return false;
    auto beyond = (b.tests[0].expr - a.tests[0].expr).bounds(e.ranges);
    return beyond && beyond->low >= 0;
  }

  /// Alternative to `findPatterns` for a few atoms that depend on symbols: all patterns that are
  /// consistent with the implications between atoms. False if there are too many.
  bool combinePatterns() {
    size_t count = atoms.size();
    patterns.clear();
    for (uint64_t bits = 0; count <= 6 && bits < uint64_t(1) << count; ++bits) {
      Pattern pattern;
      for (size_t i = 0; i < count; ++i)
        pattern.push_back(bits >> i & 1);
      bool possible = true;
      for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j < count; ++j)
          possible &= !pattern[i] || pattern[j] || !implies(atoms[i], atoms[j]);
      if (possible)
        ++patterns[pattern];
    }
    return !patterns.empty() && patterns.size() <= mostPatterns;
  }

  /// Emits the test that all atoms hold. Of tests that differ only in a constant it emits the
  /// strictest.
  Value emitTest(ArrayRef<const Atom *> list) {
    std::map<Expr, int64_t> strictest;
    std::set<Test> equalities;
    for (const Atom *atom : list)
      for (const Test &test : atom->tests)
        for (int64_t lane : {int64_t(0), std::max<int64_t>(atom->active - 1, 0)}) {
          Expr expr = atom->lanewise ? atLane(test.expr, lane) : test.expr;
          if (test.equality) {
            equalities.insert({expr, true});
          } else {
            Expr shape = expr - Expr(expr.offset());
            auto [known, isNew] = strictest.emplace(shape, expr.offset());
            known->second = std::min(known->second, expr.offset());
          }
          if (!atom->lanewise)
            break;
        }
    Value all;
    auto add = [&](const Test &test) { all = e.both(all, e.emit(test)); };
    for (const auto &[shape, offset] : strictest)
      add({shape + Expr(offset), false});
    for (const Test &test : equalities)
      add(test);
    return all ? all : Value(arith::ConstantIntOp::create(e.b, e.loc, 1, 1));
  }

  /// Emits code in which the bits of the atoms are known.
  FailureOr<Values> emitLeaf(const Pattern &pattern, ValueRange carried,
                             ComputeEmitter::Next next) {
    auto facts = e.facts;
    auto failing = c.failing;
    for (auto [atom, bit] : llvm::zip_equal(atoms, pattern)) {
      // A fact about a partial vector may not hold on all lanes of a full one.
      if (bit && !(atom.lanewise && atom.active < widest))
        e.facts.insert(atom.tests.begin(), atom.tests.end());
      else if (!bit && !atom.lanewise)
        c.failing.insert(atom.members.begin(), atom.members.end());
    }
    FailureOr<Values> result = next(carried);
    e.facts = std::move(facts);
    c.failing = std::move(failing);
    return result;
  }

  FailureOr<Values> emitTree(const std::vector<std::pair<Pattern, int64_t>> &list,
                             ValueRange carried, ComputeEmitter::Next next) {
    if (list.size() == 1)
      return emitLeaf(list[0].first, carried, next);
    // Find the bit that divides the patterns most evenly.
    size_t best = 0, bestSmaller = 0;
    for (size_t i = 0; i < atoms.size(); ++i) {
      size_t on = llvm::count_if(list, [&](const auto &entry) { return entry.first[i]; });
      size_t smaller = std::min(on, list.size() - on);
      if (smaller > bestSmaller) {
        best = i;
        bestSmaller = smaller;
      }
    }
    std::vector<std::pair<Pattern, int64_t>> on, off;
    for (const auto &entry : list)
      (entry.first[best] ? on : off).push_back(entry);
    Value test = emitTest({&atoms[best]});
    return branch(
        e, test, carried, [&](ValueRange values) { return emitTree(on, values, next); },
        [&](ValueRange values) { return emitTree(off, values, next); });
  }
};

} // namespace heddle::nest

FailureOr<Values> ComputeEmitter::decideGuards(ValueRange carried, Next next) {
  bool any = llvm::any_of(llvm::seq<unsigned>(0, op.getReads().size()),
                          [&](unsigned i) { return !guards[i].isTrivial(); });
  if (!any)
    return next(carried);

  LoopWalker::Saved saved = loops.bindAll();
  std::vector<Point> points;
  auto savedDecided = decided;
  auto savedFailing = failing;
  GuardSplitter splitter{*this, e, {}, {}};
  std::map<std::vector<Test>, size_t> known;
  for (unsigned i = 0; i < op.getReads().size(); ++i) {
    GuardAttr guard = guards[i];
    SmallVector<Condition> ready;
    for (const Condition &condition : guard.getConditions()) {
      std::pair<unsigned, std::string> name{i, condition.expr().str()};
      if (decided.count(name) || isGathered(condition.expr()))
        continue;
      Expr expr = condition.expr().substitute(e.bindings).simplify(e.ranges);
      if (llvm::any_of(expr.names(),
                       [&](const std::string &name) { return loops.pending().count(name); }))
        continue;
      decided.insert(name);
      ready.push_back(condition);
    }
    if (ready.empty())
      continue;
    if (points.empty())
      points = allPoints(loops, scheduled);
    for (const Point &point : points)
      splitter.widest = std::max(splitter.widest, point.active);
    for (const Point &point : points) {
      std::vector<Test> tests;
      bool fails = false, lanewise = false, testable = true;
      for (const Condition &condition : ready) {
        Test test{e.resolve(condition.expr(), point), condition.equality};
        if (e.isKnown(test))
          continue;
        if (test.expr.mentions(laneName)) {
          lanewise = true;
          testable &= !test.equality && test.expr.isLinearIn(laneName);
        }
        fails |= test.decide(e.ranges) == false;
        tests.push_back(test);
      }
      std::string values = valuesOf(point);
      if (fails) {
        failing.insert({i, values});
        continue;
      }
      if (tests.empty() || !testable || failing.count({i, values}))
        continue;
      llvm::sort(tests);
      auto [entry, isNew] = known.emplace(tests, splitter.atoms.size());
      if (isNew)
        splitter.atoms.push_back({tests, lanewise, point.active, {}});
      GuardSplitter::Atom &atom = splitter.atoms[entry->second];
      atom.members.emplace_back(i, values);
      atom.active = std::max(atom.active, point.active);
    }
  }
  loops.unbind(std::move(saved));

  FailureOr<Values> result;
  if (splitter.atoms.empty()) {
    result = next(carried);
  } else {
    std::vector<std::pair<GuardSplitter::Pattern, int64_t>> list;
    bool distinct = splitter.findPatterns() || splitter.combinePatterns();
    int64_t cost = costOf(points);
    if (distinct) {
      list.assign(splitter.patterns.begin(), splitter.patterns.end());
      int64_t price = cost * int64_t(list.size() - 1);
      distinct = e.splitBudget >= price;
      if (distinct)
        e.splitBudget -= price;
    }
    if (distinct) {
      result = splitter.emitTree(list, carried, next);
    } else if ((e.splitBudget -= cost) >= 0) {
      SmallVector<const GuardSplitter::Atom *> all;
      for (const GuardSplitter::Atom &atom : splitter.atoms)
        all.push_back(&atom);
      Value test = splitter.emitTest(all);
      GuardSplitter::Pattern pattern(splitter.atoms.size(), true);
      result = branch(
          e, test, carried,
          [&](ValueRange values) { return splitter.emitLeaf(pattern, values, next); },
          [&](ValueRange values) { return next(values); });
    } else {
      result = next(carried);
    }
  }
  decided = savedDecided;
  failing = savedFailing;
  return result;
}
