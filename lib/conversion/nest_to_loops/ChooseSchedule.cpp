//===- ChooseSchedule.cpp - schedules from an analytical model ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model, in order (../../../docs give the measurements behind it):
//
//   1. Vector: the produced name, or merged group that a layout has, along which the result and most reads are contiguous
//      or do not vary. Without one, a reduced name along which the reads are contiguous.
//   2. Register tile: vectors along that name times points of names for which the vector reads do not vary, so that each
//      loaded vector and each broadcast scalar is used several times. Accumulators, one row of vectors and one broadcast must fit
//      the registers.
//   3. Reduced names run inside of the tile, the one contiguous in most reads innermost.
//   4. Threads share the loops over tiles: enough chunks for balance, large enough to be worth a fetch.
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/NestBuild.h"
#include "lib/conversion/nest_to_loops/Kernel.h"

#include <cmath>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

using Group = std::vector<std::string>;

namespace {

/// One read or write: its address as an expression of iteration names.
struct Access {
  Expr address;
  bool isWrite = false;
};

class Chooser {
public:
  Chooser(ComputeOp op, ArrayRef<Layout> operands, ArrayRef<Layout> results, MachineAttr machine) : op(op) {
    ranges = iterationRanges(op);
    for (nd::DimsAttr dims : {op.getProduced(), op.getReduced()})
      for (const nd::Dim &dim : dims)
        sizes[dim.name.str()] = *dim.size().constant();
    int64_t bits = 32;
    for (Value result : op.getResults())
      bits = std::max<int64_t>(bits, tensorTypeOf(result).getElementType().getIntOrFloatBitWidth());
    width = machine ? machine.integer("vector_bytes", 32) * 8 / bits : 8;
    SmallVector<Value> distinct = kernelOperands(op);
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      addAccess(operand, operands[llvm::find(distinct, operand) - distinct.begin()], cast<MapAttr>(op.getMaps()[i]),
                false);
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      addAccess(result, results[i], MapAttr::identity(tensorTypeOf(result)), true);
    registers = machine ? machine.integer("vector_registers", 16) : 16;
    threads = machine ? machine.integer("threads", 1) : 1;
  }

  Schedule choose() {
    pickVector();
    pickTile();
    return write();
  }

private:
  ComputeOp op;
  Ranges ranges;
  Sizes sizes;
  std::vector<Access> accesses;
  std::set<Group> groups; ///< merged groups that layouts have
  int64_t width, registers, threads;

  Group vector;
  bool vectorReduced = false;
  int64_t vectorTile = 1;                          ///< extent along the vector group that a tile covers
  std::vector<std::pair<std::string, int64_t>> rows; ///< names unrolled in the tile, with how many points

  void addAccess(Value tensor, const Layout &layout, MapAttr map, bool isWrite) {
    std::map<std::string, Expr, std::less<>> places;
    for (const MapEntry &entry : map.getEntries())
      places[entry.name.str()] = entry.expr();
    accesses.push_back({layout.address(tensorTypeOf(tensor).sizes()).substitute(places).simplify(ranges), isWrite});
    addGroups(layout, map);
  }

  /// Groups of produced names that an access walks along memory: those that its layout merges, and its last names, merged
  /// until they fill two vectors.
  void addGroups(const Layout &layout, MapAttr map) {
    auto iterationName = [&](const std::string &name) -> std::string {
      auto place = map.lookup(name);
      auto plain = place ? place->asName() : std::nullopt;
      if (!plain || !op.getProduced().contains(*plain))
        return "";
      return llvm::count_if(map.getEntries(), [&](const MapEntry &entry) { return entry.expr().mentions(*plain); }) == 1
                 ? *plain
                 : "";
    };
    auto add = [&](const Group &group) {
      if (group.size() > 1 && !llvm::is_contained(group, ""))
        groups.insert(group);
    };
    for (const Layout::Factor &factor : layout.factors) {
      Group group;
      for (const std::string &name : factor.names)
        group.push_back(iterationName(name));
      add(group);
    }
    Group last;
    for (const Layout::Factor &factor : llvm::reverse(layout.factors)) {
      if (factor.divisor != 1 || factor.modulus || factor.low || factor.high)
        break;
      for (const std::string &name : llvm::reverse(factor.names)) {
        std::string iteration = iterationName(name);
        if (iteration.empty() || sizeOf(last) >= 2 * width)
          return add(last);
        if (sizes[iteration] > 1)
          last.insert(last.begin(), iteration);
      }
    }
    add(last);
  }

  int64_t sizeOf(const Group &group) {
    int64_t size = 1;
    for (const std::string &name : group)
      size *= sizes[name];
    return size;
  }

  /// How an access moves from one lane to the next when `group` is walked by lanes: 0, 1, or 2 for anything else.
  int stride(const Access &access, const Group &group, int64_t lanes) {
    std::map<std::string, Expr, std::less<>> bound;
    Expr lane = Expr::name("lane$");
    Ranges with = ranges;
    int64_t size = sizeOf(group);
    lanes = std::min(lanes, size);
    with["lane$"] = {0, lanes - 1};
    with["tile$"] = {0, std::max<int64_t>((size - 1) / lanes, 0)};
    Expr merged = Expr::name("tile$") * Expr(lanes) + lane;
    int64_t below = 1;
    for (size_t i = group.size(); i-- > 0;) {
      Expr part = merged.floordiv(below);
      if (i > 0)
        part = part.mod(sizes[group[i]]);
      bound[group[i]] = part.simplify(with);
      below *= sizes[group[i]];
    }
    Expr address = access.address.substitute(bound).simplify(with);
    if (!address.mentions("lane$"))
      return 0;
    return address.isLinearIn("lane$") && address.coefficient("lane$") == 1 ? 1 : 2;
  }

  void pickVector() {
    double best = std::numeric_limits<double>::infinity();
    auto consider = [&](const Group &group, bool reduced) {
      int64_t size = sizeOf(group);
      if (size < 2)
        return;
      double cost = 0;
      for (const Access &access : accesses) {
        int kind = stride(access, group, width);
        if (access.isWrite && reduced)
          continue;
        // A write happens once for each point of the reduction.
        double weight = access.isWrite && op.isReduction() ? 0.1 : 1;
        cost += weight * (kind == 0 ? 0.4 : kind == 1 ? 1 : 2.0 * width);
      }
      // Lanes that are idle, and the fold of the lanes at the end.
      double used = double(size) / (double((size + width - 1) / width) * width);
      cost /= used;
      if (reduced)
        cost = cost * 1.3 + 0.5;
      if (cost < best) {
        best = cost;
        vector = group;
        vectorReduced = reduced;
      }
    };
    for (const Group &group : groups)
      consider(group, false);
    for (const nd::Dim &dim : op.getProduced())
      consider({dim.name.str()}, false);
    for (const nd::Dim &dim : op.getReduced())
      consider({dim.name.str()}, true);
  }

  void pickTile() {
    if (vector.empty())
      return;
    int64_t size = sizeOf(vector);
    int64_t vectors = (size + width - 1) / width;
    if (!op.isReduction() || vectorReduced) {
      vectorTile = std::min<int64_t>(vectors, vectorReduced ? 1 : 2) * width;
      if (!op.isReduction())
        return;
    }
    // Names for which some vector read does not vary are the rows: every row uses the same vectors again.
    auto isRow = [&](const std::string &name) {
      if (llvm::is_contained(vector, name) || sizes[name] < 2)
        return false;
      bool reuses = false, matters = false;
      for (const Access &access : accesses) {
        bool onLanes = stride(access, vector, width) != 0;
        if (access.isWrite)
          continue;
        reuses |= onLanes && !access.address.mentions(name);
        matters |= access.address.mentions(name);
      }
      return reuses && matters;
    };
    std::vector<std::string> candidates;
    for (const nd::Dim &dim : op.getProduced())
      if (isRow(dim.name.str()))
        candidates.push_back(dim.name.str());
    int64_t limit = registers - 1;
    double best = 0;
    auto consider = [&](int64_t nv, std::vector<std::pair<std::string, int64_t>> tile) {
      int64_t count = 1;
      double waste = 1;
      for (auto &[name, points] : tile) {
        count *= points;
        waste *= double(sizes[name]) / double((sizes[name] + points - 1) / points * points);
      }
      if (count * nv + nv + 1 > limit)
        return;
      waste *= double(vectors) / double((vectors + nv - 1) / nv * nv);
      // Loads a multiply-add: one vector for each row of points, one broadcast for each vector; at least eight accumulators
      // hide the latency.
      double loads = 1.0 / double(count) + 1.0 / double(nv);
      double score = waste / (1 + std::max(0.0, loads - 0.55)) * std::min(1.0, double(count * nv) / 10.0);
      if (score > best * 1.001) {
        best = score;
        rows = std::move(tile);
        vectorTile = nv * width;
      }
    };
    for (int64_t nv : {2, 1, 3, 4}) {
      if (vectorReduced ? nv > 1 : nv > vectors)
        continue;
      int64_t most = (limit - 1 - nv) / nv;
      consider(nv, {});
      for (const std::string &name : candidates) {
        for (int64_t points = std::min(most, sizes[name]); points >= 2; --points) {
          consider(nv, {{name, points}});
          if (points == sizes[name])
            for (const std::string &second : candidates)
              if (second != name)
                for (int64_t more = std::min(most / points, sizes[second]); more >= 2; --more)
                  consider(nv, {{second, more}, {name, points}});
        }
      }
    }
    if (vectorReduced)
      vectorTile = width;
  }

  /// Produced names in the order of the first result's layout, outermost first.
  std::vector<std::string> producedOrder() {
    std::vector<std::pair<int64_t, std::string>> order;
    for (const nd::Dim &dim : op.getProduced()) {
      int64_t step = 0;
      for (const Access &access : accesses)
        if (access.isWrite)
          step = std::max(step, std::abs(access.address.coefficient(dim.name.str())));
      order.emplace_back(-step, dim.name.str());
    }
    llvm::sort(order);
    std::vector<std::string> names;
    for (auto &[step, name] : order)
      names.push_back(name);
    return names;
  }

  Schedule write() {
    Schedule schedule;
    double flops = 2;
    for (auto &[name, size] : sizes)
      flops *= double(size);
    auto rowOf = [&](const std::string &name) {
      for (auto &[row, points] : rows)
        if (row == name)
          return points;
      return int64_t(1);
    };
    // Loops around tiles; the first ones are shared by threads while chunks stay large.
    struct Around {
      Group group;
      int64_t step, count;
    };
    std::vector<Around> around;
    std::set<std::string> inVector(vector.begin(), vector.end());
    bool placedVector = vectorReduced || vector.empty();
    auto placeVector = [&] {
      if (placedVector)
        return;
      placedVector = true;
      int64_t size = sizeOf(vector), step = std::min(vectorTile, (size + width - 1) / width * width);
      around.push_back({vector, step, (size + step - 1) / step});
    };
    for (const std::string &name : producedOrder()) {
      if (inVector.count(name) && !vectorReduced) {
        placeVector();
        continue;
      }
      int64_t step = std::min(rowOf(name), sizes[name]);
      around.push_back({{name}, step, (sizes[name] + step - 1) / step});
    }
    placeVector();
    double chunkFlops = flops;
    int64_t chunks = 1, most = threads <= 1 && flops < 1e7 ? 64 : 256;
    for (const Around &loop : around) {
      bool share = loop.count > 1 && chunks < 16 && chunks * loop.count <= most * 8 &&
                   chunkFlops / double(loop.count) > 4e4;
      if (loop.count > 1 || loop.step > 1)
        schedule.loops.push_back({share ? "thread" : "cache", loop.group, loop.step, 1});
      if (share) {
        chunks *= loop.count;
        chunkFlops /= double(loop.count);
      }
    }
    // Thread loops first: the order among others is kept.
    std::stable_partition(schedule.loops.begin(), schedule.loops.end(),
                          [](const Loop &loop) { return loop.level == "thread"; });
    // The reduction, the most contiguous name innermost.
    std::vector<std::pair<int64_t, std::string>> reduced;
    for (const nd::Dim &dim : op.getReduced()) {
      std::string name = dim.name.str();
      if (vectorReduced && vector[0] == name)
        continue;
      int64_t step = 0;
      for (const Access &access : accesses)
        if (!access.isWrite && access.address.mentions(name))
          step = std::max(step, std::max<int64_t>(1, std::abs(access.address.coefficient(name))));
      reduced.emplace_back(-step, name);
    }
    llvm::sort(reduced);
    for (auto &[step, name] : reduced)
      schedule.loops.push_back({"loop", {name}, 1, 1});
    if (vectorReduced)
      schedule.loops.push_back({"loop", vector, width, 1});
    for (auto &[name, points] : rows)
      schedule.loops.push_back({"register", {name}, 1, 1});
    if (!vector.empty()) {
      if (!vectorReduced)
        schedule.loops.push_back({"register", vector, width, 1});
      schedule.loops.push_back({"vector", vector, 1, 1});
    }
    return schedule;
  }
};
} // namespace

Schedule nest::chooseSchedule(Operation *nest, ArrayRef<Layout> operandLayouts, ArrayRef<Layout> resultLayouts,
                              MachineAttr machine) {
  auto op = dyn_cast<ComputeOp>(nest);
  if (!op)
    return {};
  for (nd::DimsAttr dims : {op.getProduced(), op.getReduced()})
    for (const nd::Dim &dim : dims)
      if (dim.size().constant() == 0)
        return {};
  return Chooser(op, operandLayouts, resultLayouts, machine).choose();
}
