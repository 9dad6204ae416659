//===- NestModel.cpp - the model of a nest for cost models ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/NestModel.h"

#include "dialects/nd/NdTypical.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/analysis/VectorLanes.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numeric>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The number of points of a nest beyond which its size symbols are assumed to be smaller than
/// `typicalSymbol`: several symbols are rarely large together.
static constexpr double typicalPoints = 1e10;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

int64_t Coordinate::at(const std::vector<int64_t> &point,
                       const std::vector<std::string> &names) const {
  if (plain >= 0)
    return point[size_t(plain)];
  if (linear) {
    int64_t value = constant;
    for (int name : mentioned)
      value += steps[size_t(name)] * point[size_t(name)];
    return value;
  }
  auto value = expr.evaluate([&](const std::string &name) -> std::optional<int64_t> {
    for (int i : mentioned)
      if (names[size_t(i)] == name)
        return point[size_t(i)];
    return 0; // read values
  });
  return value.value_or(0);
}

void Coordinate::mention(int name) {
  if (!llvm::is_contained(mentioned, name))
    mentioned.push_back(name);
}

void Coordinate::gather(const NestAccess &read) {
  gathered = true;
  for (const Coordinate &coordinate : read.coordinates)
    for (int name : coordinate.mentioned) {
      mention(name);
      movers.push_back(name);
    }
}

int64_t Coordinate::extent(ArrayRef<int64_t> sizes, int64_t most) const {
  if (plain >= 0)
    return sizes[size_t(plain)];
  if (gathered || !linear)
    return most;
  int64_t extent = 1;
  for (int name : mentioned)
    extent += std::abs(steps[size_t(name)]) * (sizes[size_t(name)] - 1);
  return std::min(extent, most);
}

void NestAccess::add(Coordinate coordinate, size_t names) {
  mentioned.resize(unsigned(names));
  moved.resize(unsigned(names));
  for (int name : coordinate.mentioned)
    mentioned.set(unsigned(name));
  for (int name : coordinate.movers)
    moved.set(unsigned(name));
  coordinates.push_back(std::move(coordinate));
}

int NestAccess::dimOf(unsigned name) const {
  int found = -1;
  for (size_t d = 0; d < coordinates.size(); ++d) {
    if (!llvm::is_contained(coordinates[d].mentioned, int(name)))
      continue;
    if (found >= 0 || coordinates[d].plain != int(name))
      return -1;
    found = int(d);
  }
  return found;
}

int64_t NestAccess::bytes() const { return int64_t(elementBytes(type.getElementType())); }

double NestAccess::storedElements() const {
  double all = 1;
  for (int64_t size : sizes)
    all *= double(size);
  return all;
}

/// Returns the value that stores `value`: for a value that a group yields, the group's result.
/// `steps`: for a slice of a recurrence, the operand or result of which it is one.
static Value storedValue(Value value, bool steps) {
  if (auto argument = dyn_cast<BlockArgument>(value); argument && steps)
    if (auto scan = dyn_cast<ScanOp>(argument.getOwner()->getParentOp()))
      if (argument.getArgNumber() >= scan.getInits().size())
        return scan.getReads()[argument.getArgNumber() - scan.getInits().size()];
  for (Operation *made = value.getDefiningOp(); made && !isa<UpdateOp>(made);
       made = value.getDefiningOp()) {
    Operation *holder = made->getParentOp();
    if (!isa_and_nonnull<GroupOp>(holder) && !(steps && isa_and_nonnull<ScanOp>(holder)))
      break;
    auto yielded = made->getBlock()->getTerminator()->getOperands();
    // The first values that a recurrence yields are its next state.
    size_t states = isa<ScanOp>(holder) ? cast<ScanOp>(holder).getInits().size() : 0;
    auto slices = yielded.drop_front(states);
    auto found = llvm::find(slices, value);
    if (found == slices.end())
      break;
    value = holder->getResult(unsigned(states + size_t(found - slices.begin())));
  }
  return value;
}

static bool isStageable(ComputeOp op, size_t read) {
  MapAttr map = op.readMap(read);
  GuardAttr guard = op.readGuard(read);
  return llvm::all_of(map.getEntries(),
                      [](const MapEntry &entry) { return entry.expr().isAffine(); }) &&
         !isGathered(map) &&
         (guard.isTrivial() || !guard.excludes() ||
          nd::isNarrowFloat(tensorType(op.getReads()[read]).getElementType()));
}

void NestModel::addAccess(Value tensor, MapAttr map, bool isWrite, bool inFinish, bool steps) {
  NestAccess access;
  access.tensor = storedValue(tensor, steps);
  access.type = tensorType(access.tensor);
  access.map = map;
  access.gathered = isGathered(map);
  for (const auto &[name, size] : sizesOf(tensorType(tensor)))
    access.elements *= double(size);
  access.isWrite = isWrite;
  access.inFinish = inFinish;
  for (const nd::Dim &dim : access.type.getDims()) {
    access.dims.push_back(dim.name.str());
    access.sizes.push_back(typicalOf(dim.size()));
    Coordinate coordinate;
    // A group's names map to themselves; loop variables are assumed to be at their start.
    coordinate.expr =
        map.lookup(dim.name.getValue())
            .value_or(Expr::name(dim.name.str()))
            .substitute([&](const std::string &name) -> std::optional<Expr> {
              if (readIndex(name) || indexOf(name) >= 0)
                return std::nullopt;
              return Expr(name.back() == '$' ? 0 : std::min(symbol, nd::typicalOf(name)));
            });
    coordinate.constant = coordinate.expr.offset();
    coordinate.steps.assign(names.size(), 0);
    for (const std::string &name : coordinate.expr.names()) {
      int index = indexOf(name);
      if (index < 0) {
        coordinate.linear = false;
        if (auto read = readIndex(name))
          coordinate.gather(accesses[*read]);
        continue;
      }
      coordinate.mention(index);
      coordinate.linear &= coordinate.expr.isLinearIn(name);
      coordinate.steps[size_t(index)] = coordinate.expr.coefficient(name);
    }
    if (auto name = coordinate.expr.asName())
      coordinate.plain = indexOf(*name);
    access.add(std::move(coordinate), names.size());
  }
  accesses.push_back(std::move(access));
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

int NestModel::indexOf(StringRef name) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name)
      return int(i);
  return -1;
}

std::vector<std::string> NestModel::namesOf(ArrayRef<unsigned> merged) const {
  std::vector<std::string> result;
  for (unsigned name : merged)
    result.push_back(names[name]);
  return result;
}

std::optional<std::vector<unsigned>> NestModel::writtenLanes() const {
  auto scheduled = dyn_cast<ScheduledInterface>(op);
  if (!scheduled || !scheduled.getScheduleAttr())
    return std::nullopt;
  std::vector<unsigned> lanes;
  for (const Loop &loop : scheduled.getScheduleAttr().getSchedule().loops)
    if (loop.level == "vector")
      for (const std::string &name : loop.names)
        lanes.push_back(unsigned(indexOf(name)));
  return lanes;
}

double NestModel::points(size_t begin, size_t end) const {
  double count = 1;
  for (size_t i = begin; i < end; ++i)
    count *= double(sizes[i]);
  return count;
}

int64_t NestModel::sizeOf(ArrayRef<unsigned> merged) const {
  uint64_t size = 1;
  for (unsigned name : merged)
    size = std::min<uint64_t>(llvm::SaturatingMultiply(size, uint64_t(sizes[name])), INT64_MAX / 8);
  return int64_t(size);
}

int64_t NestModel::vectorsOf(ArrayRef<unsigned> merged) const {
  return llvm::divideCeil(sizeOf(merged), lanes);
}

int64_t NestModel::typicalOf(nd::SizeAttr size) const {
  auto value = size.getExpr().evaluate([&](const std::string &name) {
    return name.back() == '$' ? 0 : std::min(symbol, nd::typicalOf(name));
  });
  return std::max<int64_t>(value.value_or(symbol), 1);
}

Sizes NestModel::sizesOf(nd::NdTensorType type) const {
  Sizes result;
  for (const nd::Dim &dim : type.getDims())
    result[dim.name.str()] = typicalOf(dim.size());
  return result;
}

Sizes NestModel::sizesOf(const NestAccess &access) const {
  Sizes result;
  for (auto [name, size] : llvm::zip_equal(access.dims, access.sizes))
    result[name] = size;
  return result;
}

void NestModel::resize(ArrayRef<int64_t> to) {
  sizes.assign(to.begin(), to.end());
  divisors = sizes;
  symbolic.assign(sizes.size(), false);
  for (NestAccess &access : accesses) {
    // The names of groups count as elements of others.
    bool hasOuter = access.storedElements() > access.elements;
    for (auto [size, coordinate] : llvm::zip_equal(access.sizes, access.coordinates)) {
      int64_t before = std::exchange(size, coordinate.extent(sizes, size));
      bool isOuter = coordinate.plain >= 0 && size_t(coordinate.plain) < firstProduced;
      if (!(hasOuter && isOuter))
        access.elements *= double(size) / double(before);
    }
  }
}

bool NestModel::reusesReads() const {
  double work = points(firstProduced, names.size());
  return llvm::any_of(accesses, [&](const NestAccess &access) {
    return !access.isWrite && work >= 8 * access.elements;
  });
}

void NestModel::addNames(nd::DimsAttr dims) {
  for (const nd::Dim &dim : dims) {
    names.push_back(dim.name.str());
    sizes.push_back(typicalOf(dim.size()));
    symbolic.push_back(!dim.size().constant());
    Expr size = dim.size().getExpr();
    int64_t divisor = std::abs(size.offset());
    for (const Expr::Term &term : size.terms())
      divisor = std::gcd(divisor, term.coefficient);
    divisors.push_back(divisor);
  }
}

void NestModel::addGuard(NestAccess &access, GuardAttr guard) const {
  for (const Condition &condition : guard.getConditions()) {
    llvm::SmallBitVector &tested = access.conditions.emplace_back(unsigned(names.size()));
    for (const std::string &name : condition.expr().names())
      if (auto read = readIndex(name))
        tested |= accesses[*read].mentioned;
      else if (int index = indexOf(name); index >= 0)
        tested.set(unsigned(index));
  }
}

NestModel::NestModel(Operation *op, MachineAttr machine, bool shrink, bool steps)
    : op(op), symbol(nd::typicalSymbol) {
  auto compute = dyn_cast<ComputeOp>(op);
  auto update = dyn_cast<UpdateOp>(op);
  auto addAll = [&] {
    names.clear(), sizes.clear(), symbolic.clear(), divisors.clear();
    for (Operation *holder = op->getParentOp(); holder; holder = holder->getParentOp())
      if (isa<GroupOp>(holder) || (steps && isa<ScanOp>(holder)))
        addNames(cast<HoldsNestsInterface>(holder).getOuterNames());
    firstProduced = names.size();
    addNames(compute ? compute.getProduced() : update.getSpace());
    firstReduced = names.size();
    if (compute)
      addNames(compute.getReduced());
  };
  for (addAll(); shrink && points(firstProduced, names.size()) > typicalPoints && symbol > 32;
       addAll())
    symbol /= 2;
  for (const NestRead &read : readsOf(op)) {
    addAccess(read.value, read.map, /*isWrite=*/false, read.inFinish, steps);
    addGuard(accesses.back(), read.guard);
  }
  if (compute)
    for (size_t i = 0; i < compute.getReads().size(); ++i)
      accesses[i].stageable = isStageable(compute, i);
  unsigned bits = 32;
  Region *body = compute ? &compute.getBody() : &update.getBody();
  Region *combine = compute ? &compute.getCombine() : &update.getCombine();
  bodyCost = costOf(*body) + costOf(*combine);
  if (compute) {
    reduction = compute.isReduction();
    finishCost = costOf(compute.getFinish());
    for (Value result : compute.getResults())
      addAccess(result, MapAttr::identity(tensorType(result)), /*isWrite=*/true, false, steps);
    bits = std::max(bits, laneBits(compute));
    accumulators = int64_t(compute.getNeutral().size());
  } else {
    addAccess(update.getResult(), update.getDestMap(), /*isWrite=*/true, false, steps);
  }
  if (reduction)
    operations =
        std::max<int64_t>(1, llvm::range_size(body->front().without_terminator()) +
                                 llvm::range_size(combine->front().without_terminator()) - 1);
  addMachine(machine, bits);
}

NestModel::NestModel() : symbol(nd::typicalSymbol) {}

NestModel NestModel::ofCopy(Value tensor, MachineAttr machine) {
  NestModel copy;
  nd::NdTensorType type = tensorType(tensor);
  copy.addNames(type.getDims());
  copy.firstReduced = copy.names.size();
  for (bool isWrite : {false, true})
    copy.addAccess(tensor, MapAttr::identity(type), isWrite, /*inFinish=*/false, /*steps=*/false);
  copy.addMachine(machine, std::max(32u, unsigned(copy.accesses[0].bytes()) * 8));
  return copy;
}

void NestModel::addMachine(MachineAttr machine, unsigned bits) {
  bitsOfLane = bits;
  if (machine) {
    l1 = machine.integer("l1_bytes", l1);
    l2 = machine.integer("l2_bytes", l2);
    l3 = machine.integer("l3_bytes", l3);
    line = machine.integer("line_bytes", line);
    registers = machine.integer("vector_registers", 16);
  }
  lanes = std::max<int64_t>(2, (machine ? machine.integer("vector_bytes", 32) : 64) * 8 / bits);
}
