//===- CoalesceCopies.cpp - coalesces phi copies --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/CoalesceCopies.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/conversion/nest_to_steps/ControlRanges.h"

using namespace heddle;
using namespace mlir;

using Kind = ValueSpec::Kind;

/// True if the map reads the element at the point's own coordinates.
static bool readsOwnElement(nest::MapAttr map, nd::NdTensorType type) {
  return llvm::all_of(map.getEntries(), [&](const nest::MapEntry &entry) {
    nd::SizeAttr size = type.getDims().lookup(entry.name);
    // A name of size 1 has only one coordinate.
    return entry.expr() == Expr::name(entry.name.str()) ||
           (size && size.getExpr().constant() == 1 && entry.expr().constant() == 0);
  });
}

bool heddle::mayOverwrite(Operation *op, Value operand) {
  if (Value updated = nest::updatedBy(op))
    return operand == updated && llvm::count(op->getOperands(), operand) == 1;
  auto compute = dyn_cast<nest::ComputeOp>(op);
  if (!compute)
    return false;
  auto type = nd::tensorType(operand);
  if (type.getDims() != compute.getProduced())
    return false;
  for (auto [i, read] : llvm::enumerate(op->getOperands())) {
    if (read != operand)
      continue;
    // A reduction reads the element once per reduced point, so possibly after it was written.
    if (compute.isReduction() && i < compute.getReads().size())
      return false;
    if (!readsOwnElement(cast<nest::MapAttr>(compute.getMaps()[i]), type) ||
        !cast<nest::GuardAttr>(compute.getGuards()[i]).isTrivial())
      return false;
  }
  // Each epilogue reads only the point that it writes, so no other point needs the old value.
  return true;
}

namespace {
class Coalescer {
public:
  explicit Coalescer(OutlinedEntry &entry)
      : steps(entry.steps), values(entry.spec.values), ranges(steps) {}

  void run() {
    findUses();
    std::vector<bool> dropped(steps.size());
    for (size_t s = 0; s < steps.size(); ++s)
      if (mayLieThere(s)) {
        int32_t from = steps[s].operands[0], to = steps[s].results[0];
        dropped[s] = true;
        steps[s].operands.clear();
        steps[s].results.clear();
        auto follow = [&](auto &uses, std::vector<int32_t> OutlinedStep::*list) {
          for (size_t use : uses[size_t(from)])
            llvm::replace(steps[use].*list, from, to);
          std::vector<size_t> &all = uses[size_t(to)];
          size_t own = all.size();
          llvm::append_range(all, std::exchange(uses[size_t(from)], {}));
          std::inplace_merge(all.begin(), all.begin() + ptrdiff_t(own), all.end());
          llvm::erase(all, s);
        };
        follow(makers, &OutlinedStep::results);
        follow(readers, &OutlinedStep::operands);
        values[size_t(from)].aliasOf = to;
      }
    std::vector<OutlinedStep> kept, turned;
    for (auto [s, step] : llvm::enumerate(steps))
      if (!dropped[s])
        kept.push_back(std::move(step));
    steps = std::move(kept);
    ranges = ControlRanges(steps);
    findUses();
    for (size_t s = 0; s < steps.size();) {
      const ControlRange *loop = ranges.of(s);
      if (steps[s].spec.kind == StepKind::Loop && !loop->holdsLoop && alternate(*loop, turned))
        s = loop->end;
      else
        turned.push_back(std::move(steps[s++]));
    }
    steps = std::move(turned);
  }

private:
  std::vector<OutlinedStep> &steps;
  std::vector<ValueSpec> &values;
  ControlRanges ranges;
  std::vector<std::vector<size_t>> makers, readers; ///< steps, in order, by value

  void findUses() {
    makers.assign(values.size(), {});
    readers.assign(values.size(), {});
    for (auto [s, step] : llvm::enumerate(steps)) {
      for (int32_t value : step.results)
        makers[size_t(value)].push_back(s);
      for (int32_t value : step.operands)
        readers[size_t(value)].push_back(s);
    }
  }

  /// If steps read neighbouring elements of a carried value, it can't be overwritten in place.
  /// Alternates between two buffers instead: the loop is unrolled by two and copies at most once.
  ///
  ///     Loop c                          Loop c
  ///       s -> n, c                       s -> n, c
  ///       n -> s      a copy              If c
  ///     EndLoop                             n -> s, c
  ///                                       Else
  ///                                         n -> s      a copy
  ///                                       EndIf
  ///                                     EndLoop
  /// Returns true if the loop was unrolled; appends its steps, without EndLoop, to `body`.
  bool alternate(const ControlRange &loop, std::vector<OutlinedStep> &body) {
    std::map<int32_t, int32_t> other; // replacements of values in the second step
    std::vector<OutlinedStep> first, copies;
    for (size_t s = loop.begin + 1; s < loop.end; ++s) {
      bool turns = mayAlternate(s, loop) && !other.count(steps[s].operands[0]) &&
                   !other.count(steps[s].results[0]);
      if (turns) {
        other[steps[s].operands[0]] = steps[s].results[0];
        other[steps[s].results[0]] = steps[s].operands[0];
      }
      (turns ? copies : first).push_back(steps[s]);
    }
    if (copies.empty())
      return false;
    body.push_back(steps[loop.begin]);
    auto renamed = [&](std::vector<int32_t> list) {
      for (int32_t &value : list)
        if (auto found = other.find(value); found != other.end())
          value = found->second;
      return list;
    };
    llvm::append_range(body, first);
    auto steer = [&](StepKind kind) {
      OutlinedStep step;
      step.spec.kind = kind;
      step.spec.name = "if";
      step.spec.location = steps[loop.begin].spec.location;
      if (kind == StepKind::If)
        step.operands = steps[loop.begin].operands;
      body.push_back(std::move(step));
    };
    steer(StepKind::If);
    for (OutlinedStep &step : first) {
      for (int32_t value : step.results)
        if (!other.count(value) && values[size_t(value)].kind == Kind::Temporary &&
            isMadeInside(value, loop)) {
          other[value] = int32_t(values.size());
          values.push_back(ValueSpec(values[size_t(value)]));
        }
      step.operands = renamed(std::move(step.operands));
      step.results = renamed(std::move(step.results));
      body.push_back(std::move(step));
    }
    steer(StepKind::Else);
    llvm::append_range(body, copies);
    steer(StepKind::EndIf);
    return true;
  }
  bool mayAlternate(size_t copy, const ControlRange &loop) const {
    if (steps[copy].phi != OutlinedStep::Phi::Next)
      return false;
    int32_t from = steps[copy].operands[0], to = steps[copy].results[0];
    const ValueSpec &source = values[size_t(from)], &target = values[size_t(to)];
    return source.kind == Kind::Temporary && source.type == target.type &&
           source.layout == target.layout && isMadeInside(from, loop) &&
           to != steps[loop.begin].operands[0];
  }
  bool isMadeInside(int32_t value, const ControlRange &loop) const {
    const std::vector<size_t> &made = makers[size_t(value)];
    return !made.empty() && loop.contains(made.front()) && loop.contains(made.back());
  }

  /// True if a step from `first` to `last` reads the value.
  bool isRead(int32_t value, size_t first, size_t last) const {
    const std::vector<size_t> &read = readers[size_t(value)];
    auto next = llvm::lower_bound(read, first);
    return next != read.end() && *next <= last;
  }

  bool mayLieThere(size_t copy) const {
    using Phi = OutlinedStep::Phi;
    Phi phi = steps[copy].phi;
    if (phi == Phi::None)
      return false;
    int32_t from = steps[copy].operands[0], to = steps[copy].results[0];
    const ValueSpec &source = values[size_t(from)], &target = values[size_t(to)];
    const std::vector<size_t> &made = makers[size_t(from)];
    if (source.kind != Kind::Temporary || source.type != target.type ||
        source.layout != target.layout || made.empty() || made.back() > copy)
      return false;
    if (phi == Phi::Start) { // not read afterwards, nor in the next step of an outer loop
      for (const ControlRange *each = ranges.of(copy); each; each = ranges.outside(*each))
        if (each->isLoop && !each->contains(made[0]))
          return false;
      return !isRead(from, copy + 1, steps.size() - 1);
    }
    const ControlRange &inner = *ranges.of(copy);
    if (!inner.contains(made[0]))
      return false;
    if (phi == Phi::Side)
      return inner.middle > copy || made[0] > inner.middle;
    // The old state must not be read after the new one is written.
    if (isRead(to, made[0] + 1, inner.end))
      return false;
    const OutlinedStep &maker = steps[made[0]];
    if (!maker.nest) // a transfer
      return !llvm::is_contained(maker.operands, to);
    for (auto [value, number] : llvm::zip_equal(nest::kernelOperands(maker.nest), maker.operands))
      if (number == to && (made.size() > 1 || !mayOverwrite(maker.nest, value)))
        return false;
    return true;
  }
};
} // namespace

void heddle::coalesceCopies(OutlinedEntry &entry) { Coalescer(entry).run(); }
