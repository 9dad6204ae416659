//===- MemoryPlan.cpp - where the values of an entry lie ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/MemoryPlan.h"

#include "dialects/nd/NdTypical.h"
#include "dialects/nest/NestBuild.h"
#include "lib/conversion/nest_to_loops/Kernel.h"
#include "lib/pipelines/KernelSource.h"
#include "runtime/memory/Planner.h"

#include "llvm/ADT/IntervalMap.h"

using namespace heddle;
using namespace mlir;

using Kind = ValueSpec::Kind;

/// True if the map reads the place that has the coordinates of the point.
static bool readsItsOwnPlace(nest::MapAttr map, nd::NdTensorType type) {
  return llvm::all_of(map.getEntries(), [&](const nest::MapEntry &entry) {
    nd::SizeAttr size = type.getDims().lookup(entry.name);
    // A name of size 1 has one coordinate, however it is written.
    return entry.expr() == Expr::name(entry.name.str()) ||
           (size && size.getExpr().constant() == 1 && entry.expr().constant() == 0);
  });
}

/// True if a nest may write a result of the same type and layout where `operand` lies: no point
/// reads a place of it that another point has written.
static bool mayOverwrite(Operation *op, Value operand) {
  if (auto update = dyn_cast<nest::UpdateOp>(op))
    return operand == update.getDest() && !llvm::is_contained(update.getReads(), operand);
  auto compute = dyn_cast<nest::ComputeOp>(op);
  if (!compute)
    return false;
  auto type = nest::tensorTypeOf(operand);
  if (type.getDims() != compute.getProduced())
    return false;
  for (auto [i, read] : llvm::enumerate(op->getOperands())) {
    if (read != operand)
      continue;
    // A point that is met for each point of a reduction would be read again after it was written.
    if (compute.isReduction() && i < compute.getReads().size())
      return false;
    if (!readsItsOwnPlace(cast<nest::MapAttr>(compute.getMaps()[i]), type) ||
        !cast<nest::GuardAttr>(compute.getGuards()[i]).isTrivial())
      return false;
  }
  // A finish that runs while others still reduce must find its reads as they were.
  return true;
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

namespace {
/// Steps from If to EndIf, or from Loop to EndLoop.
struct Extent {
  size_t begin, middle, end; ///< middle: Else, or `begin`
  bool isLoop;
  int32_t outer;          ///< extent around; -1: none
  bool holdsLoop = false; ///< inside
  bool contains(size_t step) const { return begin < step && step < end; }
};

/// Outer ones come before those inside of them.
struct Extents : std::vector<Extent> {
  explicit Extents(const std::vector<OutlinedStep> &steps) {
    int32_t open = -1;
    for (auto [s, step] : llvm::enumerate(steps)) {
      if (step.spec.kind == StepKind::If || step.spec.kind == StepKind::Loop) {
        push_back({s, s, s, step.spec.kind == StepKind::Loop, open});
        open = int32_t(size()) - 1;
      } else if (step.spec.kind == StepKind::Else) {
        at(size_t(open)).middle = s;
      }
      around.push_back(open);
      if (step.spec.kind != StepKind::EndIf && step.spec.kind != StepKind::EndLoop)
        continue;
      at(size_t(open)).end = s;
      open = at(size_t(open)).outer;
    }
    for (const Extent &each : llvm::reverse(*this))
      if (each.outer >= 0)
        at(size_t(each.outer)).holdsLoop |= each.isLoop || each.holdsLoop;
  }
  /// The innermost one that the step lies in, or at the edge of.
  const Extent *of(size_t step) const { return get(around[step]); }
  const Extent *outside(const Extent &extent) const { return get(extent.outer); }

private:
  std::vector<int32_t> around;
  const Extent *get(int32_t i) const { return i < 0 ? nullptr : &at(size_t(i)); }
};
} // namespace

namespace {
/// What several steps make (both sides of a branch, the start and each step of a loop) is copied
/// to one place. Copies go where the value can be made in that place.
class Passing {
public:
  explicit Passing(OutlinedEntry &entry)
      : steps(entry.steps), values(entry.spec.values), extents(steps) {}

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
    extents = Extents(steps);
    findUses();
    for (size_t s = 0; s < steps.size();) {
      const Extent *loop = extents.of(s);
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
  Extents extents;
  std::vector<std::vector<size_t>> makers, readers; ///< steps, in order, of each value

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

  /// What a loop carries and can't make in its place (neighbours read it) lies in two places in
  /// turn: such a loop makes two steps before it goes back, and copies at most at its end.
  ///
  ///     Loop c                          Loop c
  ///       s -> n, c                       s -> n, c
  ///       n -> s      a copy              If c
  ///     EndLoop                             n -> s, c
  ///                                       Else
  ///                                         n -> s      a copy
  ///                                       EndIf
  ///                                     EndLoop
  /// True if it does: `body` has got the steps up to its end.
  bool alternate(const Extent &loop, std::vector<OutlinedStep> &body) {
    std::map<int32_t, int32_t> other; // the value that stands for one in the second step
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
  bool mayAlternate(size_t copy, const Extent &loop) const {
    if (steps[copy].passing != OutlinedStep::Passing::Next)
      return false;
    int32_t from = steps[copy].operands[0], to = steps[copy].results[0];
    const ValueSpec &source = values[size_t(from)], &target = values[size_t(to)];
    return source.kind == Kind::Temporary && source.type == target.type &&
           source.layout == target.layout && isMadeInside(from, loop) &&
           to != steps[loop.begin].operands[0];
  }
  bool isMadeInside(int32_t value, const Extent &loop) const {
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
    using How = OutlinedStep::Passing;
    How how = steps[copy].passing;
    if (how == How::None)
      return false;
    int32_t from = steps[copy].operands[0], to = steps[copy].results[0];
    const ValueSpec &source = values[size_t(from)], &target = values[size_t(to)];
    const std::vector<size_t> &made = makers[size_t(from)];
    if (source.kind != Kind::Temporary || source.type != target.type ||
        source.layout != target.layout || made.empty() || made.back() > copy)
      return false;
    if (how == How::Start) { // nobody needs it afterwards, nor in the next step of a loop around
      for (const Extent *each = extents.of(copy); each; each = extents.outside(*each))
        if (each->isLoop && !each->contains(made[0]))
          return false;
      return !isRead(from, copy + 1, steps.size() - 1);
    }
    const Extent &inner = *extents.of(copy);
    if (!inner.contains(made[0]))
      return false;
    if (how == How::Side)
      return inner.middle > copy || made[0] > inner.middle;
    // The old state must not be needed once the new one is being made.
    if (isRead(to, made[0] + 1, inner.end))
      return false;
    const OutlinedStep &maker = steps[made[0]];
    for (auto [value, number] : llvm::zip_equal(nest::kernelOperands(maker.nest), maker.operands))
      if (number == to && (made.size() > 1 || !mayOverwrite(maker.nest, value)))
        return false;
    return true;
  }
};

class Planner {
public:
  explicit Planner(OutlinedEntry &entry) : entry(entry), values(entry.spec.values) {}

  int64_t run() {
    Passing(entry).run();
    findLifetimes();
    planDonations();
    planInPlace();
    return packArena();
  }

private:
  OutlinedEntry &entry;
  std::vector<ValueSpec> &values;
  std::vector<int32_t> maker, lastRead; ///< steps; -1: none
  std::vector<bool> overwritten;        ///< some value takes its place
  std::vector<bool> shared;             ///< several steps make it: it keeps its place
  std::vector<std::vector<int32_t>> numberOf;

  void findLifetimes() {
    int32_t steps = int32_t(entry.steps.size());
    maker.assign(values.size(), -1);
    lastRead.assign(values.size(), -1);
    overwritten.assign(values.size(), false);
    shared.assign(values.size(), false);
    std::vector<int32_t> first(values.size(), -1), last(values.size(), -1);
    for (auto [s, step] : llvm::enumerate(entry.steps)) {
      for (int32_t value : step.operands)
        last[size_t(value)] = lastRead[size_t(value)] = int32_t(s);
      for (int32_t value : step.results) {
        shared[size_t(value)] = maker[size_t(value)] >= 0;
        last[size_t(value)] = maker[size_t(value)] = int32_t(s);
        if (first[size_t(value)] < 0)
          first[size_t(value)] = int32_t(s);
      }
    }
    // What lives where steps branch or go back lives in all of the branch or loop.
    Extents extents(entry.steps);
    std::vector<int32_t> steering{0}; // steps before each that branch or go back
    for (const OutlinedStep &step : entry.steps)
      steering.push_back(steering.back() + (step.spec.kind != StepKind::Kernel));
    for (size_t v = 0; v < values.size(); ++v) {
      if (last[v] < 0 || steering[size_t(last[v]) + 1] == steering[size_t(std::max(0, first[v]))])
        continue;
      for (int32_t end : {first[v], last[v]})
        for (const Extent *each = end < 0 ? nullptr : extents.of(size_t(end));
             each && llvm::any_of(
                         ArrayRef{each->begin, each->middle, each->end},
                         [&](size_t edge) {
                           return first[v] <= int32_t(edge) && int32_t(edge) <= last[v];
                         });
             each = extents.outside(*each)) {
          first[v] = std::min(first[v], int32_t(each->begin));
          last[v] = std::max(last[v], int32_t(each->end));
        }
      lastRead[v] = last[v];
    }
    for (auto [v, value] : llvm::enumerate(values)) {
      size_t at = place(v); // of what is made in the place of another
      value.firstStep = std::max(0, first[at]);
      // Results and arguments live as long as the program; a temporary that nobody reads is
      // written.
      value.lastStep =
          value.kind == Kind::Temporary ? std::max(0, last[at]) : std::max(0, steps - 1);
    }
  }

  /// Where a value lies; the ways there are kept short, since chains may be long.
  size_t place(size_t value) {
    if (values[value].aliasOf < 0)
      return value;
    size_t root = value;
    while (values[root].aliasOf >= 0)
      root = size_t(values[root].aliasOf);
    while (size_t(values[value].aliasOf) != root)
      value = size_t(std::exchange(values[value].aliasOf, int32_t(root)));
    return root;
  }

  /// True if step `s` may make `to` where `from` lies, which it is the last to read.
  bool fits(size_t s, size_t from, size_t to) const {
    if (lastRead[from] != int32_t(s) || overwritten[from] || shared[from] || shared[to] ||
        values[from].layout != values[to].layout ||
        byteSize(values[from].type.element) != byteSize(values[to].type.element) ||
        values[from].bytes != values[to].bytes)
      return false;
    const OutlinedStep &step = entry.steps[s];
    for (auto [value, number] : llvm::zip_equal(nest::kernelOperands(step.nest), step.operands))
      if (size_t(number) == from)
        return mayOverwrite(step.nest, value);
    return false;
  }

  /// A chain of values, from `from` to `to`, each of which may take the place of the one before.
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
          takePlace(chain[i], chain[i + 1]);
      } else if (lastRead[from] < values[to].firstStep && !overwritten[from] &&
                 values[from].layout == values[to].layout) {
        // Nobody needs the argument any more when the result is made.
        takePlace(to, from);
      } else {
        continue;
      }
      spec.donations.emplace_back(int32_t(a), int32_t(donate.getInt()));
    }
  }

  void takePlace(size_t value, size_t from) {
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
          size_t from = size_t(operand), root = place(from);
          if (values[from].kind != Kind::Temporary || values[root].kind != Kind::Temporary ||
              !fits(s, from, to))
            continue;
          if (values[to].kind == Kind::Temporary) {
            takePlace(to, from);
          } else {
            // What becomes the result lies in the result from the start.
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
      size_t root = place(v);
      first[root] = std::min(first[root], values[v].firstStep);
      last[root] = std::max(last[root], values[v].lastStep);
    }
    std::vector<PlannedBuffer> buffers;
    std::vector<size_t> owners;
    for (auto [v, value] : llvm::enumerate(values))
      if (value.kind == Kind::Temporary && value.aliasOf < 0) {
        PlannedBuffer buffer;
        buffer.bytes = typicalBytes(value);
        buffer.first = first[v];
        buffer.last = last[v];
        buffer.alignment = value.layout.alignment;
        buffers.push_back(buffer);
        owners.push_back(v);
      }
    entry.spec.arenaBytes = planArena(buffers);
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

static size_t placeOf(const std::vector<ValueSpec> &values, int32_t value) {
  while (values[size_t(value)].aliasOf >= 0)
    value = values[size_t(value)].aliasOf;
  return size_t(value);
}

static size_t zeroKernel(OutlinedProgram &program, const Expr &bytes, Location loc) {
  std::string source = zeroSource(bytes);
  for (auto [i, kernel] : llvm::enumerate(program.kernels))
    if (kernel.source == source)
      return i;
  program.kernels.push_back({source, "", "zero", loc, {}, {}});
  return program.kernels.size() - 1;
}

void heddle::establishPadding(OutlinedProgram &program, OutlinedEntry &entry) {
  std::vector<ValueSpec> &values = entry.spec.values;
  std::vector<OutlinedStep> steps;
  std::vector<int32_t> first, last; // new numbers of a step: with its clearing, and of itself
  for (OutlinedStep &step : entry.steps) {
    first.push_back(int32_t(steps.size()));
    for (int32_t result : step.results) {
      const ValueSpec &value = values[size_t(result)];
      Sizes sizes;
      for (const auto &[name, size] : value.type.dims)
        sizes[name] = size.constant().value_or(0);
      bool isKnown = value.bytes.isConstant();
      bool inPlace = llvm::any_of(step.operands, [&](int32_t operand) {
        return placeOf(values, operand) == placeOf(values, result);
      });
      if (inPlace || !value.layout.zeroPadded || (isKnown && !value.layout.hasPadding(sizes)))
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

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

namespace {
/// A byte of the arena (-1), or of the value with this number that lies elsewhere.
using Byte = std::pair<int64_t, int64_t>;
/// Bytes that a step touches.
struct Touched {
  Byte begin, end;
};

/// Bytes that some steps touch.
class Places {
public:
  void add(Touched place) {
    for (auto piece = pieces.find(place.begin); piece.valid() && piece.start() < place.end;
         piece.erase()) {
      place.begin = std::min(place.begin, piece.start());
      place.end = std::max(place.end, piece.stop());
    }
    pieces.insert(place.begin, place.end, true);
  }
  bool overlap(ArrayRef<Touched> places) const {
    return llvm::any_of(
        places, [&](const Touched &place) { return pieces.overlaps(place.begin, place.end); });
  }
  void clear() { pieces.clear(); }

private:
  using Pieces = llvm::IntervalMap<Byte, bool, 4, llvm::IntervalMapHalfOpenInfo<Byte>>;
  Pieces::Allocator allocator;
  Pieces pieces{allocator};
};

/// Steps since a barrier.
struct Open {
  Places reads, writes;
  int32_t firstDeath = INT32_MAX; ///< the first step after which a temporary of theirs is dead

  void clear() {
    reads.clear();
    writes.clear();
    firstDeath = INT32_MAX;
  }
};
} // namespace

std::vector<bool> heddle::planBarriers(const OutlinedEntry &entry,
                                       const std::vector<bool> &serial) {
  const std::vector<ValueSpec> &values = entry.spec.values;
  auto touched = [&](int32_t value) -> Touched {
    while (values[size_t(value)].aliasOf >= 0)
      value = values[size_t(value)].aliasOf;
    const ValueSpec &place = values[size_t(value)];
    int64_t bytes = std::max<int64_t>(1, place.bytes.constant().value_or(1));
    if (place.kind == Kind::Temporary && entry.spec.symbols.empty())
      return {{-1, place.offset}, {-1, place.offset + bytes}};
    return {{value, 0}, {value, bytes}};
  };
  // Where the arena is planned when sizes are known, a value may lie where any did that is dead.
  std::vector<int32_t> last(values.size());
  for (auto [v, value] : llvm::enumerate(values)) {
    int32_t &ofPlace = last[placeOf(values, int32_t(v))];
    ofPlace = std::max(ofPlace, value.lastStep);
  }
  std::vector<bool> waits(entry.steps.size());
  std::vector<int32_t> sharedBefore{0}; // steps with chunks for all threads
  for (auto [s, step] : llvm::enumerate(entry.steps))
    sharedBefore.push_back(sharedBefore.back() +
                           (step.spec.kind == StepKind::Kernel && !serial[s]));
  // Of all threads, and of thread 0, which runs its own (serial) ones in order.
  Open open[2];
  Extents extents(entry.steps);
  for (auto [s, step] : llvm::enumerate(entry.steps)) {
    auto touchedBy = [&](const std::vector<int32_t> &list) {
      return llvm::map_to_vector(list, touched);
    };
    SmallVector<Touched> reads = touchedBy(step.operands), writes = touchedBy(step.results);
    bool makes = !entry.spec.symbols.empty() && llvm::any_of(step.results, [&](int32_t value) {
      return values[placeOf(values, value)].kind == Kind::Temporary;
    });
    for (const Open &before : ArrayRef(open).take_front(serial[s] ? 1 : 2))
      if (before.writes.overlap(reads) || before.reads.overlap(writes) ||
          before.writes.overlap(writes) || (makes && before.firstDeath < int32_t(s)))
        waits[s] = true;
    // Threads meet where they read which way to go, where the ways join, and where a loop goes back
    // if chunks have to be counted anew. What a side of a branch leaves open is nothing to the
    // other.
    StepKind kind = step.spec.kind;
    size_t at = s;
    if (kind == StepKind::EndLoop || kind == StepKind::Else) {
      const Extent &extent = *extents.of(s);
      waits[s] =
          waits[s] || (kind == StepKind::EndLoop && sharedBefore[s] != sharedBefore[extent.begin]);
      llvm::for_each(open, [](Open &each) { each.clear(); });
      at = extent.begin;
      reads = {touched(entry.steps[at].operands[0])};
    } else if (kind != StepKind::Kernel) {
      waits[s] = true;
    }
    if (waits[s])
      llvm::for_each(open, [](Open &each) { each.clear(); });
    Open &own = open[serial[at]];
    llvm::for_each(reads, [&](const Touched &place) { own.reads.add(place); });
    llvm::for_each(writes, [&](const Touched &place) { own.writes.add(place); });
    for (const std::vector<int32_t> *list : {&entry.steps[at].operands, &entry.steps[at].results})
      for (int32_t value : *list)
        if (size_t place = placeOf(values, value); values[place].kind == Kind::Temporary)
          own.firstDeath = std::min(own.firstDeath, last[place]);
  }
  return waits;
}
