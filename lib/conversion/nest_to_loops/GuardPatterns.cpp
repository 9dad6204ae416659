//===- GuardPatterns.cpp - code for each pattern of guards ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

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
      if (count > ComputeEmitter::mostEvaluations ||
          (combinations *= count) * int64_t(atoms.size()) > ComputeEmitter::mostEvaluations)
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
      if (patterns.size() > ComputeEmitter::mostPatterns)
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
    return !patterns.empty() && patterns.size() <= ComputeEmitter::mostPatterns;
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
      points = allPoints();
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
