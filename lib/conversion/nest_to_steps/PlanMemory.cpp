//===- PlanMemory.cpp - buffers of the values of an entry -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/PlanMemory.h"

#include "dialects/nd/NdTypical.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/conversion/nest_to_steps/CoalesceCopies.h"
#include "lib/conversion/nest_to_steps/ControlRanges.h"
#include "runtime/memory/PackArena.h"

using namespace heddle;
using namespace mlir;

using Kind = ValueSpec::Kind;

namespace {
class Planner {
public:
  explicit Planner(OutlinedEntry &entry) : entry(entry), values(entry.spec.values) {}

  int64_t run() {
    coalesceCopies(entry);
    findLifetimes();
    planDonations();
    planInPlace();
    return packArena();
  }

private:
  OutlinedEntry &entry;
  std::vector<ValueSpec> &values;
  std::vector<int32_t> maker, lastRead; ///< steps; -1: none
  std::vector<bool> overwritten;        ///< another value reuses its buffer
  std::vector<bool> hasSeveralMakers;   ///< several steps define it: not reused
  std::vector<std::vector<int32_t>> numberOf;

  void findLifetimes() {
    int32_t steps = int32_t(entry.steps.size());
    maker.assign(values.size(), -1);
    lastRead.assign(values.size(), -1);
    overwritten.assign(values.size(), false);
    hasSeveralMakers.assign(values.size(), false);
    std::vector<int32_t> first(values.size(), -1), last(values.size(), -1);
    for (auto [s, step] : llvm::enumerate(entry.steps)) {
      for (int32_t value : step.operands)
        last[size_t(value)] = lastRead[size_t(value)] = int32_t(s);
      for (int32_t value : step.results) {
        hasSeveralMakers[size_t(value)] = maker[size_t(value)] >= 0;
        last[size_t(value)] = maker[size_t(value)] = int32_t(s);
        if (first[size_t(value)] < 0)
          first[size_t(value)] = int32_t(s);
      }
    }
    // A value that is live across a jump is live throughout the branch or loop.
    ControlRanges ranges(entry.steps);
    std::vector<int32_t> steering{0}; // number of control-flow steps before each step
    for (const OutlinedStep &step : entry.steps)
      steering.push_back(steering.back() + (step.spec.kind != StepKind::Kernel));
    for (size_t v = 0; v < values.size(); ++v) {
      if (last[v] < 0 || steering[size_t(last[v]) + 1] == steering[size_t(std::max(0, first[v]))])
        continue;
      for (int32_t end : {first[v], last[v]})
        for (const ControlRange *each = end < 0 ? nullptr : ranges.of(size_t(end));
             each && llvm::any_of(
                         ArrayRef{each->begin, each->middle, each->end},
                         [&](size_t edge) {
                           return first[v] <= int32_t(edge) && int32_t(edge) <= last[v];
                         });
             each = ranges.outside(*each)) {
          first[v] = std::min(first[v], int32_t(each->begin));
          last[v] = std::max(last[v], int32_t(each->end));
        }
      lastRead[v] = last[v];
    }
    for (auto [v, value] : llvm::enumerate(values)) {
      size_t at = rootOf(v); // the owner of the value's buffer
      value.firstStep = std::max(0, first[at]);
      // Results and arguments are live throughout the program; an unused temporary is live while it
      // is written.
      value.lastStep =
          value.kind == Kind::Temporary ? std::max(0, last[at]) : std::max(0, steps - 1);
    }
  }

  /// The owner of a value's buffer; compresses paths, since chains of aliases may be long.
  size_t rootOf(size_t value) {
    if (values[value].aliasOf < 0)
      return value;
    size_t root = value;
    while (values[root].aliasOf >= 0)
      root = size_t(values[root].aliasOf);
    while (size_t(values[value].aliasOf) != root)
      value = size_t(std::exchange(values[value].aliasOf, int32_t(root)));
    return root;
  }

  /// The step at which `s` has completed: itself, or the step that awaits it.
  int32_t endOf(size_t s) const {
    size_t end = s;
    if (entry.steps[s].spec.kind == StepKind::Start)
      while (entry.steps[end].spec.kind != StepKind::Await ||
             entry.steps[end].transfer != entry.steps[s].transfer)
        ++end;
    return int32_t(end);
  }

  /// True if another step reads the value while the transfer that step `s` starts may write it.
  bool isReadInFlight(size_t s, size_t value) const {
    auto between = ArrayRef(entry.steps).slice(s, size_t(endOf(s)) - s);
    return llvm::any_of(between.drop_front(between.empty() ? 0 : 1), [&](const OutlinedStep &step) {
      return llvm::is_contained(step.operands, int32_t(value));
    });
  }

  /// True if step `s` is the last to read `from` and may write `to` to its buffer.
  bool fits(size_t s, size_t from, size_t to) const {
    if (lastRead[from] != endOf(s) || overwritten[from] || hasSeveralMakers[from] ||
        hasSeveralMakers[to] || values[from].layout != values[to].layout ||
        byteSize(values[from].type.element) != byteSize(values[to].type.element) ||
        values[from].bytes != values[to].bytes)
      return false;
    if (isReadInFlight(s, from))
      return false;
    const OutlinedStep &step = entry.steps[s];
    if (const auto &with = step.spec.communication)
      for (auto [operand, result] : llvm::zip(step.operands, step.results))
        if (size_t(operand) == from)
          return size_t(result) == to && (with->kind == CommunicationSpec::Kind::AllReduce ||
                                          with->kind == CommunicationSpec::Kind::Broadcast);
    if (!step.nest)
      return false;
    for (auto [value, number] : llvm::zip_equal(nest::kernelOperands(step.nest), step.operands))
      if (size_t(number) == from)
        return mayOverwrite(step.nest, value);
    return false;
  }

  /// Finds a chain of values, from `from` to `to`, each of which may reuse the buffer of its
  /// predecessor.
  bool findChain(size_t from, size_t to, std::vector<size_t> &chain) const {
    chain.push_back(to);
    if (from == to)
      return true;
    if (maker[to] >= 0 && chain.size() < 16)
      for (int32_t operand : entry.steps[size_t(maker[to])].operands) {
        auto kind = values[size_t(operand)].kind;
        if ((size_t(operand) == from ||
             (kind == Kind::Temporary && values[size_t(operand)].aliasOf < 0)) &&
            fits(size_t(maker[to]), size_t(operand), to) && findChain(from, size_t(operand), chain))
          return true;
      }
    chain.pop_back();
    return false;
  }

  void planDonations() {
    func::FuncOp function = entry.function;
    EntrySpec &spec = entry.spec;
    for (size_t a = 0; a < spec.arguments.size(); ++a) {
      auto donate = function.getArgAttrOfType<IntegerAttr>(unsigned(a), "heddle.donate");
      if (!donate || donate.getInt() < 0 || donate.getInt() >= int64_t(spec.results.size()))
        continue;
      size_t from = size_t(spec.arguments[a]), to = size_t(spec.results[size_t(donate.getInt())]);
      if (values[from].type != values[to].type || values[to].aliasOf >= 0)
        continue;
      std::vector<size_t> chain; // from the result back to the argument
      if (findChain(from, to, chain)) {
        for (size_t i = 0; i + 1 < chain.size(); ++i)
          reuseBuffer(chain[i], chain[i + 1]);
      } else if (lastRead[from] < values[to].firstStep && !overwritten[from] &&
                 values[from].layout == values[to].layout) {
        // The argument is dead when the result is written.
        reuseBuffer(to, from);
      } else {
        continue;
      }
      spec.donations.emplace_back(int32_t(a), int32_t(donate.getInt()));
    }
  }

  void reuseBuffer(size_t value, size_t from) {
    values[value].aliasOf = int32_t(from);
    overwritten[from] = true;
  }

  void planInPlace() {
    for (auto [s, step] : llvm::enumerate(entry.steps))
      for (int32_t result : step.results) {
        size_t to = size_t(result);
        if (values[to].aliasOf >= 0)
          continue;
        for (int32_t operand : step.operands) {
          size_t from = size_t(operand), root = rootOf(from);
          if (values[from].kind != Kind::Temporary || values[root].kind != Kind::Temporary ||
              !fits(s, from, to))
            continue;
          if (values[to].kind == Kind::Temporary) {
            reuseBuffer(to, from);
          } else {
            // A temporary that is updated in place and becomes a result uses the result's buffer.
            values[root].aliasOf = result;
            overwritten[from] = true;
          }
          break;
        }
      }
  }

  int64_t packArena() {
    std::vector<int32_t> first(values.size()), last(values.size());
    for (auto [v, value] : llvm::enumerate(values)) {
      first[v] = value.firstStep;
      last[v] = value.lastStep;
    }
    for (size_t v = 0; v < values.size(); ++v) {
      size_t root = rootOf(v);
      first[root] = std::min(first[root], values[v].firstStep);
      last[root] = std::max(last[root], values[v].lastStep);
    }
    std::vector<ArenaBuffer> buffers;
    std::vector<size_t> owners;
    for (auto [v, value] : llvm::enumerate(values))
      if (value.kind == Kind::Temporary && value.aliasOf < 0) {
        ArenaBuffer buffer;
        buffer.bytes = typicalBytes(value);
        buffer.first = first[v];
        buffer.last = last[v];
        buffer.alignment = value.layout.alignment;
        buffers.push_back(buffer);
        owners.push_back(v);
      }
    entry.spec.arenaBytes = heddle::packArena(buffers);
    for (auto [buffer, v] : llvm::zip_equal(buffers, owners))
      values[v].offset = buffer.offset;
    return liveBytes(buffers);
  }
};
} // namespace

int64_t heddle::typicalBytes(const ValueSpec &value) {
  if (auto bytes = value.bytes.constant())
    return *bytes;
  auto bytes = value.bytes.evaluate([](const std::string &) { return nd::typicalSymbol; });
  return std::max<int64_t>(bytes.value_or(1), 1);
}

int64_t heddle::planMemory(OutlinedEntry &entry) { return Planner(entry).run(); }

//===----------------------------------------------------------------------===//
// Padding that is zero
//===----------------------------------------------------------------------===//

static size_t zeroKernel(OutlinedProgram &program, const Expr &bytes, Location loc) {
  OutlinedKernel made = clearingKernel(bytes, loc);
  for (auto [i, kernel] : llvm::enumerate(program.kernels))
    if (kernel.source == made.source)
      return i;
  program.kernels.push_back(std::move(made));
  return program.kernels.size() - 1;
}

void heddle::establishPadding(OutlinedProgram &program, OutlinedEntry &entry) {
  std::vector<ValueSpec> &values = entry.spec.values;
  std::vector<OutlinedStep> steps;
  std::vector<int32_t> first, last; // new step numbers: of a step's clearing, and of the step
  for (OutlinedStep &step : entry.steps) {
    first.push_back(int32_t(steps.size()));
    for (int32_t result : step.results) {
      const ValueSpec &value = values[size_t(result)];
      Sizes sizes;
      for (const auto &[name, size] : value.type.dims)
        sizes[name] = size.constant().value_or(0);
      bool isKnown = value.bytes.isConstant();
      bool inPlace = llvm::any_of(step.operands, [&](int32_t operand) {
        return bufferOf(values, operand) == bufferOf(values, result);
      });
      // Transfers copy padding, and combine zeros to zero.
      if (inPlace || step.spec.communication || !value.layout.zeroPadded ||
          (isKnown && !value.layout.hasPadding(sizes)))
        continue;
      OutlinedStep clear;
      clear.nest = nullptr;
      clear.kernel = zeroKernel(program, value.bytes, step.nest->getLoc());
      clear.results = {result};
      if (!isKnown) {
        clear.spec.numbers = {int32_t(entry.spec.symbols.size() + entry.spec.derived.size())};
        entry.spec.derived.push_back(value.bytes);
      }
      clear.spec.name = "zero";
      clear.spec.location = step.spec.location;
      clear.spec.bytesMoved = double(typicalBytes(value));
      steps.push_back(std::move(clear));
    }
    last.push_back(int32_t(steps.size()));
    steps.push_back(std::move(step));
  }
  bool isNothing = steps.size() == first.size();
  entry.steps = std::move(steps);
  if (isNothing)
    return;
  for (ValueSpec &value : values) {
    value.firstStep = first[size_t(value.firstStep)];
    value.lastStep = last[size_t(value.lastStep)];
  }
}
