//===- NestGradientInvert.cpp - gradients of reads ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Inverting maps
//===----------------------------------------------------------------------===//

namespace {
/// Solves target = map(iteration names) for the iteration names. Unknowns are `old.name` for names
/// of the space, and `slack.n` for the remainder or quotient that a division discards.
class Solver {
public:
  Solver(MapAttr map, nd::NdTensorType target, nd::DimsAttr space)
      : map(map), target(target), space(space) {}

  std::optional<Inverse> solve();

private:
  MapAttr map;
  nd::NdTensorType target;
  nd::DimsAttr space;
  ExprMap sizes; ///< of unknowns
  Ranges ranges;
  ExprMap solved;
  std::vector<std::pair<Expr, bool>> conditions;

  static std::string unknown(StringRef name) { return ("old." + name).str(); }
  bool isUnknown(const std::string &name) const { return sizes.count(name) && !solved.count(name); }
  std::vector<std::string> unknownsOf(const Expr &expr) const {
    std::vector<std::string> result;
    for (const std::string &name : expr.names())
      if (isUnknown(name))
        result.push_back(name);
    return result;
  }
  void declare(const std::string &name, const Expr &size) {
    sizes[name] = size;
    if (auto constant = size.constant())
      ranges[name] = {0, std::max<int64_t>(*constant - 1, 0)};
  }
  void bind(const std::string &name, const Expr &value) {
    for (auto &[other, expr] : solved)
      expr = expr.substitute({{name, value}}).simplify(ranges);
    for (auto &[expr, equality] : conditions)
      expr = expr.substitute({{name, value}}).simplify(ranges);
    solved[name] = value;
  }
  bool solveOne(const Expr &value, const Expr &coordinate);
  bool solveRadix(const Expr &value, const Expr &coordinate, ArrayRef<std::string> unknowns);
  bool solvePivot(const Expr &value, const Expr &coordinate, ArrayRef<std::string> unknowns);
  bool inRange(const std::string &name, const Expr &value);
};
} // namespace

/// value = c1 * v1 + c2 * v2 + ... with c1 = 1, c2 = size of v1, ...: the digits of a number.
bool Solver::solveRadix(const Expr &value, const Expr &coordinate, ArrayRef<std::string> unknowns) {
  SmallVector<std::pair<int64_t, std::string>> digits;
  Expr rest = value;
  for (const std::string &name : unknowns) {
    if (!value.isLinearIn(name) || value.coefficient(name) <= 0)
      return false;
    digits.emplace_back(value.coefficient(name), name);
    rest = rest - Expr(value.coefficient(name)) * Expr::name(name);
  }
  llvm::sort(digits);
  int64_t next = 1;
  for (auto [i, digit] : llvm::enumerate(digits)) {
    auto size = sizes[digit.second].constant();
    if (digit.first != next || (!size && i + 1 != digits.size()))
      return false;
    next *= size.value_or(1);
  }
  Expr number = coordinate - rest;
  for (auto [i, digit] : llvm::enumerate(digits)) {
    Expr quotient = number.floordiv(digit.first);
    if (i + 1 != digits.size())
      quotient = quotient.mod(*sizes[digit.second].constant());
    bind(digit.second, quotient.simplify(ranges));
  }
  return true;
}

/// Solves the equation for the unknown with the largest size. The others remain free, so that the
/// sum over them is as small as possible.
bool Solver::solvePivot(const Expr &value, const Expr &coordinate, ArrayRef<std::string> unknowns) {
  std::string pivot;
  int64_t best = -1;
  for (const std::string &name : unknowns) {
    if (!value.isLinearIn(name))
      continue;
    int64_t size = sizes[name].constant().value_or(INT64_MAX);
    if (size > best)
      best = size, pivot = name;
  }
  if (pivot.empty())
    return false;
  int64_t coefficient = value.coefficient(pivot);
  Expr moved = coordinate - (value - Expr(coefficient) * Expr::name(pivot));
  if (coefficient < 0)
    moved = -moved;
  int64_t divisor = std::abs(coefficient);
  if (divisor != 1)
    conditions.emplace_back(moved.mod(divisor).simplify(ranges), true);
  bind(pivot, moved.floordiv(divisor).simplify(ranges));
  return true;
}

bool Solver::solveOne(const Expr &value, const Expr &coordinate) {
  std::vector<std::string> unknowns = unknownsOf(value);
  if (unknowns.empty()) {
    conditions.emplace_back((coordinate - value).simplify(ranges), true);
    return true;
  }
  if (solveRadix(value, coordinate, unknowns) || solvePivot(value, coordinate, unknowns))
    return true;
  // `f floordiv c` or `f mod c` alone: the other part of f is a new unknown.
  if (value.terms().size() != 1 || value.terms()[0].coefficient != 1 ||
      value.terms()[0].factors.size() != 1)
    return false;
  const Expr::Atom &atom = *value.terms()[0].factors[0];
  bool isDivision = atom.kind == Expr::Atom::Kind::FloorDiv;
  if (!isDivision && atom.kind != Expr::Atom::Kind::Mod)
    return false;
  Expr inner = atom.operands[0], part = coordinate - Expr(value.offset());
  std::string slack = "slack." + std::to_string(sizes.size());
  Expr size(atom.divisor);
  if (!isDivision) {
    auto bounds = inner.bounds(ranges);
    if (!bounds || bounds->low < 0)
      return false;
    size = Expr(bounds->high / atom.divisor + 1);
    // A remainder is less than the divisor, regardless of the size of the target.
    auto remainder = part.bounds(ranges);
    if (!remainder || remainder->low < 0)
      conditions.emplace_back(part, false);
    if (!remainder || remainder->high >= atom.divisor)
      conditions.emplace_back(Expr(atom.divisor - 1) - part, false);
  }
  declare(slack, size);
  Expr scale(atom.divisor);
  return solveOne(inner,
                  isDivision ? scale * part + Expr::name(slack) : scale * Expr::name(slack) + part);
}

/// Adds conditions that `value` is a coordinate of the unknown; false if they can't be expressed.
bool Solver::inRange(const std::string &name, const Expr &value) {
  auto bounds = value.bounds(ranges);
  auto size = sizes[name].constant();
  if (!size) {
    // With symbols, only a coordinate of the same size is known to be in range.
    auto same = value.asName();
    return same && target.has(*same) && target.size(*same).getExpr() == sizes[name];
  }
  if (!bounds || bounds->low < 0)
    conditions.emplace_back(value, false);
  if (!bounds || bounds->high >= *size)
    conditions.emplace_back(Expr(*size - 1) - value, false);
  return true;
}

std::optional<Inverse> Solver::solve() {
  ExprMap toUnknown;
  for (const nd::Dim &dim : space) {
    declare(unknown(dim.name), dim.size().getExpr());
    toUnknown[dim.name.str()] = Expr::name(unknown(dim.name));
  }
  for (const nd::Dim &dim : target.getDims())
    if (auto size = dim.size().constant())
      ranges[dim.name.str()] = {0, std::max<int64_t>(*size - 1, 0)};

  // Solve entries with one unknown first, because their solution is unique.
  SmallVector<std::pair<Expr, Expr>> open;
  for (const MapEntry &entry : map.getEntries()) {
    if (isGathered(entry.expr()))
      return std::nullopt;
    open.emplace_back(entry.expr().substitute(toUnknown), Expr::name(entry.name.getValue()));
  }
  while (!open.empty()) {
    for (auto &[value, coordinate] : open)
      value = value.substitute(solved).simplify(ranges);
    auto *next = llvm::find_if(
        open, [&](const auto &equation) { return unknownsOf(equation.first).size() <= 1; });
    if (next == open.end())
      next = open.begin();
    auto [value, coordinate] = *next;
    open.erase(next);
    if (!solveOne(value, coordinate))
      return std::nullopt;
  }

  // Free unknowns keep their names unless the target has them.
  Inverse inverse;
  MLIRContext *context = map.getContext();
  ExprMap toName;
  SmallVector<nd::Dim> reduced;
  for (const auto &[name, size] : sizes) {
    if (solved.count(name))
      continue;
    std::string base = StringRef(name).starts_with("old.") ? name.substr(4) : "part", fresh = base;
    auto isTaken = [&](const std::string &candidate) {
      return target.has(candidate) ||
             llvm::any_of(reduced, [&](const nd::Dim &dim) { return dim.name == candidate; });
    };
    for (unsigned n = 1; isTaken(fresh); ++n)
      fresh = StringRef(base).take_until([](char c) { return c == '$'; }).str() + "$" +
              std::to_string(n);
    toName[name] = Expr::name(fresh);
    reduced.emplace_back(context, fresh, size);
  }
  for (const auto &[name, value] : solved)
    if (!inRange(name, value))
      return std::nullopt;
  for (auto &[expr, equality] : conditions) {
    auto bounds = expr.bounds(ranges);
    bool holds = bounds && bounds->low >= 0 && (!equality || bounds->high <= 0);
    if (!holds)
      inverse.conditions.emplace_back(context, expr.substitute(toName), equality);
  }
  for (const nd::Dim &dim : space) {
    Expr value = Expr::name(unknown(dim.name)).substitute(solved).substitute(toName);
    inverse.names[dim.name.str()] = value;
  }
  inverse.produced = target.getDims();
  inverse.reduced = nd::DimsAttr::getSorted(context, reduced);
  return inverse;
}

std::optional<Inverse> nest::invert(MapAttr map, nd::NdTensorType target, nd::DimsAttr space) {
  return Solver(map, target, space).solve();
}

//===----------------------------------------------------------------------===//
// Contributions
//===----------------------------------------------------------------------===//

unsigned Contribution::read(Value value, MapAttr map, GuardAttr guard) {
  reads.push_back(value);
  maps.push_back(map);
  guards.push_back(guard);
  return reads.size() - 1;
}

void Contribution::prune(MapAttr &map, GuardAttr &guard) {
  nd::eraseDeadScalars(block());
  SmallVector<bool> needed(reads.size());
  auto need = [&](MapAttr map, GuardAttr guard) {
    auto mentioned = [&](const Expr &expr) {
      for (const std::string &name : expr.names())
        if (auto index = readIndex(name))
          needed[*index] = true;
    };
    for (const MapEntry &entry : map.getEntries())
      mentioned(entry.expr());
    for (const Condition &condition : guard.getConditions())
      mentioned(condition.expr());
  };
  need(map, guard);
  for (unsigned i = reads.size(); i-- > 0;) {
    needed[i] = needed[i] || i == carrier || !block().getArgument(i).use_empty() ||
                (!guards[i].isTrivial() && guards[i].excludes());
    if (needed[i])
      need(maps[i], guards[i]);
  }
  ExprMap renumbered;
  unsigned next = 0;
  for (unsigned i = 0; i < reads.size(); ++i)
    if (needed[i])
      renumbered[readName(i)] = Expr::name(readName(next++));
  map = map.substitute(renumbered);
  guard = guard.substitute(renumbered);
  for (unsigned i = reads.size(); i-- > 0;) {
    if (needed[i]) {
      maps[i] = maps[i].substitute(renumbered);
      guards[i] = guards[i].substitute(renumbered);
      continue;
    }
    block().eraseArgument(i);
    reads.erase(reads.begin() + i);
    maps.erase(maps.begin() + i);
    guards.erase(guards.begin() + i);
    if (i < carrier)
      --carrier;
  }
}

static GuardAttr withConditions(GuardAttr guard, ArrayRef<Condition> conditions) {
  SmallVector<Condition> all(guard.getConditions());
  for (const Condition &condition : conditions)
    if (!llvm::is_contained(all, condition))
      all.push_back(condition);
  return GuardAttr::get(guard.getContext(), all, guard.getOtherwise());
}

static SmallVector<Value> addScalars(OpBuilder &b, Location loc, ValueRange s) {
  return {arith::AddFOp::create(b, loc, s[0], s[1])};
}

static Value castByNest(OpBuilder &b, Location loc, Value value, Type element) {
  nd::NdTensorType type = tensorType(value);
  if (type.getElementType() == element)
    return value;
  NestBuilder nest(b, loc);
  nest.produced = type.getDims();
  nest.read(value, MapAttr::identity(type));
  return nest
      .create(element,
              [&](OpBuilder &b, Location loc, ValueRange s) {
                return SmallVector<Value>{nd::convertFloat(b, loc, s[0], element)};
              })
      .getResult(0);
}

/// Clamps gathered coordinates to `target`, like reads do; an update would drop points that are out
/// of bounds.
static MapAttr heldInside(MapAttr map, nd::NdTensorType target) {
  SmallVector<MapEntry> entries(map.getEntries());
  for (MapEntry &entry : entries)
    if (Expr coordinate = entry.expr(); isGathered(coordinate))
      entry = MapEntry(
          map.getContext(), entry.name.getValue(),
          Expr::min(Expr::max(coordinate, 0), target.size(entry.name).getExpr() - Expr(1)));
  return MapAttr::getSorted(map.getContext(), entries);
}

Value nest::sumContributions(OpBuilder &b, Location loc, Contribution &what,
                             nd::NdTensorType target, MapAttr map, GuardAttr guard) {
  what.prune(map, guard);
  Type element = target.getElementType();
  std::optional<Inverse> inverse = invert(map, target, what.space);
  SmallVector<Condition> conditions(guard.getConditions());
  NestBuilder nest(b, loc);
  auto body = [&](OpBuilder &b, Location, ValueRange s) {
    return nd::inlineBlock(b, what.block(), s);
  };
  if (!inverse) {
    what.guards[what.carrier] = withConditions(what.guards[what.carrier], conditions);
    nest.produced = what.space;
    for (auto [value, readMap, readGuard] : llvm::zip_equal(what.reads, what.maps, what.guards))
      nest.read(value, readMap, readGuard);
    Type accumulator = nd::accumulatorType(element);
    Value zero = nd::buildZero(b, loc, target.withElementType(accumulator));
    auto converted = [&](OpBuilder &b, Location loc, ValueRange s) {
      return SmallVector<Value>{nd::convertFloat(b, loc, body(b, loc, s)[0], accumulator)};
    };
    UpdateOp update = nest.createUpdate(zero, heldInside(map, target), converted, addScalars);
    return castByNest(b, loc, update.getResult(), element);
  }

  for (Condition &condition : conditions)
    condition =
        Condition(b.getContext(), condition.expr().substitute(inverse->names), condition.equality);
  llvm::append_range(conditions, inverse->conditions);
  nest.produced = inverse->produced;
  nest.reduced = inverse->reduced;
  Ranges ranges;
  for (nd::DimsAttr dims : {nest.produced, nest.reduced})
    for (const nd::Dim &dim : dims)
      if (auto size = dim.size().constant())
        ranges[dim.name.str()] = {0, std::max<int64_t>(*size - 1, 0)};
  bool excludes = false;
  for (unsigned i = 0; i < what.reads.size(); ++i) {
    MapAttr readMap = simplifyMap(what.maps[i].substitute(inverse->names), ranges);
    // Guard each read by the conditions of the inverse; the carrier's guard excludes other points.
    GuardAttr readGuard = what.guards[i].substitute(inverse->names);
    bool mentionsSolved = i == what.carrier || !readGuard.isTrivial() ||
                          llvm::any_of(what.maps[i].getEntries(), [&](const MapEntry &entry) {
                            return !entry.expr().isConstant();
                          });
    // A condition on the value of a read can only guard later reads.
    auto isEarly = [&](const Condition &condition) {
      return llvm::all_of(condition.expr().names(), [&](const std::string &name) {
        auto index = readIndex(name);
        return !index || *index < i;
      });
    };
    if (mentionsSolved)
      readGuard =
          withConditions(readGuard, llvm::to_vector(llvm::make_filter_range(conditions, isEarly)));
    readGuard = simplifyGuard(readGuard, ranges);
    excludes |= !readGuard.isTrivial() && readGuard.excludes();
    nest.read(what.reads[i], readMap, readGuard);
  }
  if (excludes && nest.reduced.size() == 0) {
    // A guard may exclude points only in a reduction, so add one over a single point.
    std::string unit = "unit";
    for (unsigned n = 1; nest.produced.contains(unit); ++n)
      unit = "unit$" + std::to_string(n);
    nest.reduced = nd::DimsAttr::getSorted(b.getContext(), nd::Dim(b.getContext(), unit, Expr(1)));
  }
  ComputeOp compute = nest.create(element, body, nd::CombinerKind::Add);
  for (auto index : llvm::make_early_inc_range(compute.getBody().front().getOps<IndexOp>())) {
    auto found = inverse->names.find(index.getName());
    if (found == inverse->names.end())
      continue;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(index);
    index.replaceAllUsesWith(emitIndex(b, loc, found->second.simplify(ranges)));
    index.erase();
  }
  return compute.getResult(0);
}
