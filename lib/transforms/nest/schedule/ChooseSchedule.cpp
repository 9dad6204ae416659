//===- ChooseSchedule.cpp - schedules from an analytical model ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In order:
//
//   1. Vector: the produced name, or merged group that a layout has, along which the result and
//      most reads are contiguous or do not vary. A read whose lanes lie apart counts as contiguous
//      where it is used often enough to be copied first. Without one, a reduced name along which
//      the reads are contiguous.
//   2. Register tile: vectors along that name times points of names for which the vector reads do
//      not vary, so that each loaded vector and each broadcast scalar is used several times.
//      Accumulators, one row of vectors and one broadcast must fit the registers.
//   3. Reduced names run inside of the tile, the one contiguous in most reads innermost.
//      Contractions leave the loops around tiles, blocks of reduced names and copies to a search
//      (ScheduleModel.h).
//   4. Point by point nests: loops in the order of the result; where a read lies along another
//      name, tiles of both names, which are turned in registers.
//   5. Chunks for threads are large enough to be worth a fetch.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ChooseSchedule.h"

#include "dialects/nd/NdTypical.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Lanes.h"
#include "lib/transforms/nest/schedule/ScheduleModel.h"

#include <cmath>
#include <numeric>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// What tiles are worth that may leave a rest of a symbolic size, which asks for code of its own,
/// where others leave none.
static constexpr double withRest = 0.6;
/// Points of a nest beyond which its size symbols are taken for less than `typicalSymbol`.
static constexpr double typicalPoints = 1e10;

namespace {

/// One read or write: its address as an expression of iteration names.
struct Access {
  Expr address;
  bool isWrite = false;
  bool stageable = false;
  double elements = 1; ///< of the tensor
};

class Chooser {
public:
  Chooser(ComputeOp op, ArrayRef<Layout> operands, ArrayRef<Layout> results, MachineAttr machine)
      : op(op), machine(machine) {
    ranges = iterationRanges(op);
    // Several symbols are seldom large together.
    auto points = [&] {
      double count = 1;
      for (const auto &[name, size] : sizes = typicalOf(iterationSpace(op)))
        count *= double(size);
      return count;
    };
    for (work = points(); work > typicalPoints && symbol > 32; work = points())
      symbol /= 2;
    for (const auto &[name, size] : sizes)
      ranges[name] = {0, std::max<int64_t>(size - 1, 0)};
    width = std::max<int64_t>(2, (machine ? machine.integer("vector_bytes", 32) : 32) * 8 /
                                     std::max(32u, laneBits(op)));
    SmallVector<Value> distinct = kernelOperands(op);
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      auto map = cast<MapAttr>(op.getMaps()[i]);
      auto guard = cast<GuardAttr>(op.getGuards()[i]);
      const Layout &layout = operands[llvm::find(distinct, operand) - distinct.begin()];
      addAccess(operand, layout, map, false);
      bool affine = llvm::all_of(map.getEntries(),
                                 [](const MapEntry &entry) { return entry.expr().isAffine(); });
      // Points that a guard excludes are told apart by tests, whether of a copy or not: then a copy
      // pays where it is widened.
      accesses.back().stageable = i < op.getReads().size() && affine && !isGathered(map) &&
                                  !layout.swizzle.bits &&
                                  (guard.isTrivial() || !guard.excludes() ||
                                   nd::isNarrowFloat(tensorTypeOf(operand).getElementType()));
    }
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      addAccess(result, results[i], MapAttr::identity(tensorTypeOf(result)), true);
    registers = machine ? machine.integer("vector_registers", 16) : 16;
    if (machine) {
      l1 = machine.integer("l1_bytes", l1);
      l2 = machine.integer("l2_bytes", l2);
      l3 = machine.integer("l3_bytes", l3);
    }
  }

  Schedule choose() {
    pickVector();
    pickTile();
    bool again = llvm::any_of(accesses, [&](const Access &access) {
      return !access.isWrite && work >= 8 * access.elements;
    });
    if (op.isReduction() && !vector.empty() && !vectorReduced && again && !tiles.empty())
      return boundStages(contract());
    return write();
  }

private:
  ComputeOp op;
  MachineAttr machine;
  Ranges ranges;
  Sizes sizes;
  std::vector<Access> accesses;
  std::set<Group> groups; ///< merged groups that layouts have
  int64_t width, registers, l1 = 32 << 10, l2 = 1 << 20, l3 = 16 << 20;
  std::vector<Layout> layouts; ///< of each access
  double work = 1;             ///< points of the iteration space
  int64_t symbol = nd::typicalSymbol;

  Sizes typicalOf(nd::DimsAttr dims) const {
    Sizes result;
    for (const nd::Dim &dim : dims) {
      auto size = dim.size().getExpr().evaluate([&](const std::string &name) {
        return name.back() == '$' ? 0 : std::min(symbol, nd::typicalOf(name));
      });
      result[dim.name.str()] = std::max<int64_t>(size.value_or(symbol), !dim.size().constant());
    }
    return result;
  }

  Group vector;
  bool vectorReduced = false;
  int64_t vectorTile = 1; ///< extent along the vector group that a tile covers
  std::vector<std::pair<std::string, int64_t>>
      rows; ///< names unrolled in the tile, with how many points
  /// Tiles that are nearly as good as the best.
  struct Tile {
    double score;
    int64_t vectors;
    std::vector<std::pair<std::string, int64_t>> rows;
    double cycles;
  };
  std::vector<Tile> tiles;

  void addAccess(Value tensor, const Layout &layout, MapAttr map, bool isWrite) {
    std::map<std::string, Expr, std::less<>> places;
    for (const MapEntry &entry : map.getEntries())
      places[entry.name.str()] =
          entry.expr().substitute([&](const std::string &name) -> std::optional<Expr> {
            if (name.back() == '$' || readIndex(name) || ranges.count(name))
              return std::nullopt;
            return Expr(std::min(symbol, nd::typicalOf(name)));
          });
    Sizes tensorSizes = typicalOf(tensorTypeOf(tensor).getDims());
    Expr address = layout.address(tensorSizes).substitute(places).simplify(ranges);
    double elements = 1;
    for (const auto &[name, size] : tensorSizes)
      elements *= double(size);
    accesses.push_back({address, isWrite, false, elements});
    layouts.push_back(layout);
    addGroups(layout, map);
  }

  /// Groups of produced names that an access walks along memory: those that its layout merges, and
  /// its last names, merged until they fill two vectors.
  void addGroups(const Layout &layout, MapAttr map) {
    auto iterationName = [&](const std::string &name) -> std::string {
      auto place = map.lookup(name);
      auto plain = place ? place->asName() : std::nullopt;
      if (!plain || !op.getProduced().contains(*plain))
        return "";
      return llvm::count_if(map.getEntries(),
                            [&](const MapEntry &entry) { return entry.expr().mentions(*plain); }) ==
                     1
                 ? *plain
                 : "";
    };
    auto add = [&](const Group &group) {
      // A merged index is taken apart by the sizes of all names but the first.
      if (group.size() > 1 && !llvm::is_contained(group, "") &&
          llvm::all_of(llvm::drop_begin(group), [&](const std::string &name) {
            return op.getProduced().lookup(name).constant().has_value();
          }))
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

  bool isSymbolic(const std::string &name) {
    nd::SizeAttr size = op.getProduced().lookup(name);
    return size && !size.constant();
  }

  /// What the size of a name is a multiple of, whatever its symbols are.
  int64_t divisorOf(const std::string &name) {
    nd::SizeAttr size = op.getProduced().lookup(name);
    int64_t divisor = size ? std::abs(size.getExpr().offset()) : 1;
    for (const Expr::Term &term : size ? size.getExpr().terms() : std::vector<Expr::Term>())
      divisor = std::gcd(divisor, term.coefficient);
    return divisor;
  }

  int64_t sizeOf(const Group &group) {
    int64_t size = 1;
    for (const std::string &name : group)
      size *= sizes[name];
    return size;
  }

  /// How an access moves from one lane to the next when `group` is walked by lanes: 0, 1, or 2 for
  /// anything else.
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
        double weight = access.isWrite && op.isReduction()
                            ? std::max(0.01, std::min(0.5, access.elements / work))
                            : 1;
        // A copy that is turned costs something for each element, however often it is read.
        double uses = work / access.elements;
        double apart = op.isReduction() && access.stageable && !reduced && uses >= 8
                           ? 1 + 1.2 * double(width) / uses
                       : !op.isReduction() && !access.isWrite && !turnOf(access, group).empty()
                           ? 2.5
                           : 2.0 * width;
        cost += weight * (kind == 0 ? 0.4 : kind == 1 ? 1 : apart);
      }
      // Lanes that are idle, and the fold of the lanes at the end.
      double used = double(size) / (double((size + width - 1) / width) * width);
      cost /= used;
      // A merged name can't be a row of the tile as well: names are merged where that fills
      // vectors.
      cost *= 1 + 0.02 * double(group.size() - 1);
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

  /// Another produced name along which an access is contiguous.
  std::string turnOf(const Access &access, const Group &group) {
    for (const nd::Dim &dim : op.getProduced()) {
      std::string name = dim.name.str();
      if (!llvm::is_contained(group, name) && sizes[name] >= 4 &&
          stride(access, {name}, width) == 1)
        return name;
    }
    return "";
  }

  /// Tiles of two names where reads lie along another one than the lanes.
  void pickTurn() {
    for (const Access &access : accesses) {
      if (access.isWrite || stride(access, vector, width) != 2)
        continue;
      std::string name = turnOf(access, vector);
      if (name.empty())
        continue;
      rows = {{name, std::min(sizes[name], width)}};
      vectorTile = width;
      return;
    }
  }

  /// Names for which some vector read does not vary are the rows: every row uses the same vectors
  /// again.
  std::vector<std::string> rowCandidates() {
    std::vector<std::string> candidates;
    for (const nd::Dim &dim : op.getProduced()) {
      std::string name = dim.name.str();
      if (llvm::is_contained(vector, name) || sizes[name] < 2)
        continue;
      bool reuses = false, matters = false;
      for (const Access &access : accesses) {
        bool onLanes = stride(access, vector, width) != 0;
        if (access.isWrite)
          continue;
        reuses |= onLanes && !access.address.mentions(name);
        matters |= access.address.mentions(name);
      }
      if (reuses && matters)
        candidates.push_back(name);
    }
    return candidates;
  }

  /// The criteria by which register tiles of a reduction are compared.
  struct TileWork {
    int64_t vectors;                  ///< that the lanes' names fill
    int64_t limit, carried;           ///< registers, and accumulators for each element
    unsigned onLanes = 0, onRows = 0; ///< reads
    double operations;                ///< for each element and step
  };
  TileWork tileWork(int64_t vectors) {
    TileWork work{vectors, registers - 1, int64_t(op.getNeutral().size())};
    for (const Access &access : accesses)
      if (!access.isWrite)
        ++(stride(access, vector, width) ? work.onLanes : work.onRows);
    // A multiplication that is added is one operation.
    work.operations = std::max<double>(
        1, double(llvm::range_size(op.getBody().front().without_terminator())) +
               double(llvm::range_size(op.getCombine().front().without_terminator())) - 1);
    return work;
  }

  /// Adds a tile of `nv` vectors and these rows, if it fits into the registers.
  void considerTile(const TileWork &work, int64_t nv,
                    std::vector<std::pair<std::string, int64_t>> rows) {
    int64_t count = 1;
    double waste = 1;
    for (auto &[name, points] : rows) {
      count *= points;
      int64_t known = isSymbolic(name) ? divisorOf(name) : 1;
      waste *= isSymbolic(name)
                   ? (known == 1 || known % points == 0 ? 1 : withRest)
                   : double(sizes[name]) / double((sizes[name] + points - 1) / points * points);
    }
    if (count * nv * work.carried + nv + 1 > work.limit)
      return;
    waste *= double(work.vectors) / double((work.vectors + nv - 1) / nv * nv);
    // Two loads, two operations in a cycle, four of both; a sum is ready for the next after four.
    double loads = double(nv * work.onLanes + count * work.onRows),
           compute = double(count * nv) * work.operations;
    double most = std::max({compute / 2, loads / 2, (compute + loads + 3) / 4, 4.0});
    double cycles = most + 0.1 * (compute / 2 + loads / 2 + (compute + loads + 3) / 4 + 4 - most);
    // What is left over counts less than half: narrower tiles are not lost.
    double score =
        (0.6 * waste + 0.4 * std::sqrt(waste)) * double(count * nv) * work.operations / 2 / cycles;
    tiles.push_back({score, nv, std::move(rows), cycles});
  }

  /// As many points as registers allow, or a little fewer so that the last tile is as large as the
  /// others.
  std::set<int64_t> pointsOf(const std::string &name, int64_t limit) {
    int64_t size = sizes[name];
    std::set<int64_t> result;
    if (isSymbolic(name)) { // whatever divides the typical size says nothing
      result = {limit};
      for (int64_t points = limit, known = divisorOf(name); points >= 2; --points)
        if (known % points == 0) {
          result.insert(points);
          break;
        }
      return result;
    }
    if (size <= limit)
      result.insert(size);
    int64_t fewest = (size + limit - 1) / std::max<int64_t>(limit, 1);
    for (int64_t parts : {fewest, fewest + 1, fewest + 2})
      result.insert(std::min(limit, (size + parts - 1) / parts));
    for (int64_t points = std::min(limit, size); points >= 2; --points)
      if (size % points == 0) {
        result.insert(points);
        break;
      }
    result.insert(std::min(limit, size));
    return result;
  }

  void pickTile() {
    if (vector.empty())
      return;
    int64_t vectors = (sizeOf(vector) + width - 1) / width;
    if (!op.isReduction() || vectorReduced) {
      vectorTile = std::min<int64_t>(vectors, vectorReduced ? 1 : 2) * width;
      if (!op.isReduction()) {
        pickTurn();
        return;
      }
    }
    std::vector<std::string> candidates = rowCandidates();
    TileWork work = tileWork(vectors);
    for (int64_t nv : {2, 1, 3, 4}) {
      if (vectorReduced ? nv > 1 : nv > vectors)
        continue;
      int64_t most = (work.limit - 1 - nv) / (nv * work.carried);
      considerTile(work, nv, {});
      for (const std::string &name : candidates) {
        std::set<int64_t> some = pointsOf(name, most);
        for (int64_t points : llvm::reverse(some)) {
          if (points < 2)
            continue;
          considerTile(work, nv, {{name, points}});
          if (points == sizes[name])
            for (const std::string &second : candidates)
              if (second != name && most / points >= 2)
                for (int64_t more : pointsOf(second, most / points))
                  if (more >= 2)
                    considerTile(work, nv, {{second, more}, {name, points}});
        }
      }
    }
    llvm::stable_sort(tiles, [](const Tile &a, const Tile &b) { return a.score > b.score; });
    if (tiles.empty())
      return;
    rows = tiles[0].rows;
    vectorTile = vectorReduced ? width : tiles[0].vectors * width;
  }

  /// Reduced names that a guard compares with a name of which a tile has several points.
  std::set<std::string> namesInGuardsOfTile() {
    std::set<std::string> unrolled(vector.begin(), vector.end()), result;
    for (const Tile &tile : tiles)
      for (auto &[name, points] : tile.rows)
        unrolled.insert(name);
    for (unsigned i = 0; i < op.getReads().size(); ++i) {
      GuardAttr guard = op.readGuard(i);
      for (const Condition &condition : guard.getConditions()) {
        std::vector<std::string> names = condition.expr().names();
        if (llvm::any_of(names, [&](const std::string &name) { return unrolled.count(name); }))
          for (const nd::Dim &dim : op.getReduced())
            if (llvm::is_contained(names, dim.name.str()))
              result.insert(dim.name.str());
      }
    }
    return result;
  }

  /// Reduced names with the steps in which the loops walk them, what varies first innermost: a name
  /// that a layout has in blocks is walked in blocks.
  std::vector<Loop> reductionOrder(unsigned panel) {
    std::set<std::string> guardsOfTile = namesInGuardsOfTile();
    struct Digit {
      int64_t stride;
      std::string name;
      int64_t step;
    };
    std::map<std::pair<std::string, int64_t>, int64_t> digits; // (name, step) -> stride
    auto note = [&](const std::string &name, int64_t step, int64_t stride) {
      auto [known, isNew] = digits.emplace(std::make_pair(name, step), stride);
      if (!isNew)
        known->second = std::max(known->second, stride);
    };
    {
      MapAttr map = op.readMap(panel);
      const Layout &layout = layouts[panel];
      int64_t below = 1;
      std::vector<int64_t> extents =
          layout.extents(typicalOf(tensorTypeOf(op.getReads()[panel]).getDims()));
      for (size_t i = extents.size(); i-- > 0;) {
        const Layout::Factor &factor = layout.factors[i];
        for (const std::string &name : factor.names)
          if (auto place = map.lookup(name))
            for (const nd::Dim &dim : op.getReduced()) {
              std::string each = dim.name.str();
              if (!place->mentions(each))
                continue;
              bool blocked = factor.names.size() == 1 && place->asName() && factor.divisor > 1 &&
                             factor.divisor < sizes[each];
              note(each, blocked ? factor.divisor : 1, below);
            }
        below *= extents[i];
      }
    }
    std::vector<Digit> order;
    for (const nd::Dim &dim : op.getReduced()) {
      std::string name = dim.name.str();
      note(name, 1, 1);
      int64_t last = sizes[name];
      // Steps that divide one another.
      std::vector<std::pair<int64_t, int64_t>> steps;
      for (const auto &[key, stride] : digits)
        if (key.first == name)
          steps.emplace_back(key.second, stride);
      bool first = true;
      for (auto &[step, stride] : llvm::reverse(steps)) {
        if (!first && last % step != 0)
          continue;
        order.push_back({stride, name, step});
        last = step;
        first = false;
      }
    }
    // Where a guard tells points of a tile apart, the tile has other code for every border: that is
    // decided outside of the other loops.
    auto isGuarded = [&](const std::string &name) { return guardsOfTile.count(name) > 0; };
    llvm::stable_sort(order, [&](const Digit &a, const Digit &b) {
      return std::tuple(!isGuarded(a.name), -a.stride, a.name) <
             std::tuple(!isGuarded(b.name), -b.stride, b.name);
    });
    // A name's larger steps come first.
    std::vector<Loop> loops;
    for (const Digit &digit : order) {
      bool late = llvm::any_of(loops, [&](const Loop &loop) {
        return loop.names[0] == digit.name && loop.step <= digit.step;
      });
      if (!late)
        loops.push_back({"loop", {digit.name}, digit.step, 1});
    }
    return loops;
  }

  /// Loops around tiles of a contraction.
  Schedule contract() {
    unsigned panel = 0;
    Model model = modelOf(panel);
    std::vector<ModelTile> candidates;
    for (const Tile &tile : tiles) {
      if (tile.score < 0.8 * tiles[0].score || candidates.size() == 10)
        break;
      ModelTile made{tile.vectors, {}, tile.cycles};
      for (auto &[name, points] : tile.rows)
        made.rows.emplace_back(model.number(name), points);
      candidates.push_back(std::move(made));
    }
    std::vector<Loop> order = reductionOrder(panel);
    Model::Found best = model.search(candidates, order);
    // Products by a unit, where that is faster than to widen what they are made of.
    UnitUse use = unitOf(op, machine);
    double rate = use.unit ? machine.rate(use.unit) : 0;
    if (rate <= 1)
      return best.schedule;
    for (ModelTile &tile : candidates)
      tile.cycles *= double(depthOf(use.unit)) / rate;
    for (const std::string &name : use.names) {
      model.pair = name;
      std::vector<Loop> paired = order;
      bool isEven = sizes[name] > 1;
      for (Loop &loop : paired)
        if (loop.names[0] == name) {
          isEven &= loop.step == 1 || loop.step % 2 == 0;
          loop.step = std::max<int64_t>(loop.step, 2);
        }
      if (!isEven)
        continue;
      Model::Found found = model.search(candidates, paired);
      if (found.cost < best.cost)
        best = std::move(found);
    }
    return best.schedule;
  }

  /// `panel`: the read that says what varies first in the reduction.
  Model modelOf(unsigned &panel) {
    Model model;
    model.vector = vector;
    model.width = width;
    model.rates = Rates::of(machine);
    model.l1 = l1;
    model.l2 = l2;
    model.l3 = l3;
    for (bool reduced : {false, true})
      for (const nd::Dim &dim : reduced ? op.getReduced() : op.getProduced()) {
        model.names.push_back(dim.name.str());
        model.sizes.push_back(sizes[dim.name.str()]);
        model.reduced.push_back(reduced);
        model.symbolic.push_back(!dim.size().constant());
      }
    bool found = false;
    for (auto [i, access] : llvm::enumerate(accesses)) {
      if (i >= op.getReads().size() && !access.isWrite)
        continue; // the epilogue's reads
      bool isRead = !access.isWrite;
      Value tensor = isRead ? op.getReads()[i] : op.getResult(i - op->getNumOperands());
      MapAttr map = isRead ? op.readMap(i) : MapAttr::identity(tensorTypeOf(tensor));
      const Layout &layout = layouts[i];
      ModelAccess made;
      made.bytes = std::max(8u, tensorTypeOf(tensor).getElementType().getIntOrFloatBitWidth()) / 8;
      made.isWrite = access.isWrite;
      made.stageable = access.stageable;
      int lanes = stride(access, vector, width);
      made.onLanes = lanes != 0;
      made.scattered = lanes == 2;
      Sizes tensorSizes = typicalOf(tensorTypeOf(tensor).getDims());
      std::vector<int64_t> extents = layout.extents(tensorSizes);
      std::map<std::string, ModelAccess::Dim> dims;
      int64_t below = 1;
      for (size_t k = extents.size(); k-- > 0;) {
        for (const std::string &name : llvm::reverse(layout.factors[k].names))
          if (!dims.count(name)) {
            ModelAccess::Dim dim{
                name,      tensorSizes[name], {}, below, k + 1 == extents.size() && dims.empty(),
                extents[k]};
            for (const std::string &each : map.lookup(name)->names())
              if (unsigned number = model.number(each); number < model.names.size())
                dim.terms.emplace_back(
                    number, std::max<int64_t>(1, std::abs(map.lookup(name)->coefficient(each))));
            dims[name] = dim;
            made.order.insert(made.order.begin(), name);
          }
        below *= extents[k];
      }
      for (auto &[name, dim] : dims)
        made.dims.push_back(dim);
      // Merged lanes are staged where the tensor has the merged names whole.
      if (made.scattered && vector.size() > 1)
        made.stageable = false;
      // A copy needs a dimension for each of the lanes' names that is that name alone.
      auto hasDim = [&](const std::string &name) {
        return llvm::any_of(made.dims, [&](const ModelAccess::Dim &dim) {
          return dim.terms.size() == 1 &&
                 dim.terms[0] == std::pair<unsigned, int64_t>(model.number(name), 1);
        });
      };
      if (made.onLanes && !llvm::all_of(vector, hasDim))
        made.stageable = false;
      // The read of vectors has the longest panels: it says what varies first in the reduction.
      if (isRead && made.onLanes && (!found || access.elements > accesses[panel].elements)) {
        panel = unsigned(i);
        found = true;
      }
      model.accesses.push_back(std::move(made));
    }
    return model;
  }

  /// What is copied has a box of constant size: names over symbols of which a copy holds all are
  /// cut into blocks of their typical size.
  Schedule boundStages(Schedule schedule) {
    unsigned front = 0;
    while (front < schedule.loops.size() && schedule.loops[front].level == "thread")
      ++front;
    std::vector<Loop> blocks;
    for (nd::DimsAttr dims : {op.getProduced(), op.getReduced()})
      for (const nd::Dim &dim : dims) {
        std::string name = dim.name.str();
        bool isCopied =
            !dim.size().constant() && llvm::any_of(schedule.stages, [&](const Stage &stage) {
              return llvm::any_of(
                         op.readMap(stage.operand).getEntries(),
                         [&](const MapEntry &entry) { return entry.expr().mentions(name); }) &&
                     llvm::none_of(
                         ArrayRef<Loop>(schedule.loops).take_front(stage.at + 1),
                         [&](const Loop &loop) { return llvm::is_contained(loop.names, name); });
            });
        if (!isCopied)
          continue;
        // Threads share the blocks of what is produced.
        Loop block{op.getProduced().contains(name) ? "thread" : "cache", {name}, 1, 1};
        for (const Loop &loop : llvm::reverse(schedule.loops))
          if (llvm::is_contained(loop.names, name))
            block = {block.level, loop.names, loop.step, 1};
        block.step = llvm::divideCeil(sizeOf(block.names), block.step) * block.step;
        blocks.push_back(block);
      }
    schedule.loops.insert(schedule.loops.begin() + front, blocks.begin(), blocks.end());
    for (Stage &stage : schedule.stages)
      if (!blocks.empty())
        stage.at = std::max(unsigned(stage.at), front ? front - 1 : 0) + unsigned(blocks.size());
    return schedule;
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
      int64_t size = sizeOf(vector),
              step = std::min(vectorTile, (size + width - 1) / width * width);
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
    // Equal parts for threads, of the outermost loops. A size over symbols may be larger than it is
    // taken for: each part is what is worth a fetch.
    double chunkFlops = Rates::of(machine).chunkFlops;
    int64_t parts = int64_t(std::min(64.0, flops / chunkFlops));
    for (const Around &loop : around) {
      flops /= double(loop.count); // of one step
      int64_t each = parts > 1 ? llvm::divideCeil(loop.count, parts) : loop.count;
      bool any =
          llvm::any_of(loop.group, [&](const std::string &name) { return isSymbolic(name); });
      if (any)
        each = std::max<int64_t>(1, int64_t(chunkFlops / flops));
      if (any || each < loop.count) {
        schedule.loops.push_back({"thread", loop.group, loop.step * each, 1});
        parts /= std::max<int64_t>(1, llvm::divideCeil(loop.count, each));
        if (each == 1)
          continue;
      }
      if (loop.count > 1 || loop.step > 1)
        schedule.loops.push_back({"cache", loop.group, loop.step, 1});
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
    // Short bodies have several accumulators side by side.
    int64_t together = width, operations = 0;
    for (Region *region : {&op.getBody(), &op.getCombine()})
      operations += llvm::range_size(region->front());
    if (vectorReduced && rows.empty() && operations <= 10)
      while (together < 4 * width && 4 * together <= sizeOf(vector))
        together *= 2;
    if (vectorReduced)
      schedule.loops.push_back({"loop", vector, together, 1});
    for (auto &[name, points] : rows)
      schedule.loops.push_back({"register", {name}, 1, 1});
    if (!vector.empty()) {
      if (!vectorReduced || together > width)
        schedule.loops.push_back({"register", vector, width, 1});
      schedule.loops.push_back({"vector", vector, 1, 1});
    }
    return schedule;
  }
};
} // namespace

Schedule nest::chooseSchedule(Operation *nest, ArrayRef<Layout> operandLayouts,
                              ArrayRef<Layout> resultLayouts, MachineAttr machine) {
  auto isEmpty = [](nd::DimsAttr dims) {
    return llvm::any_of(dims, [](const nd::Dim &dim) { return dim.size().constant() == 0; });
  };
  if (auto update = dyn_cast<UpdateOp>(nest))
    return isEmpty(update.getSpace()) ? Schedule()
                                      : chooseUpdateSchedule(update, resultLayouts[0], machine);
  if (auto group = dyn_cast<GroupOp>(nest)) {
    Schedule schedule; // a chunk for each point
    for (const nd::Dim &dim : group.getNames())
      schedule.loops.push_back({"thread", {dim.name.str()}, 1, 1});
    return schedule;
  }
  auto op = dyn_cast<ComputeOp>(nest);
  if (!op || isEmpty(op.getProduced()) || isEmpty(op.getReduced()))
    return {};
  return Chooser(op, operandLayouts, resultLayouts, machine).choose();
}
