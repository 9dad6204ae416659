//===- LayoutProblem.cpp - the choice of layouts as numbers ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the problem in three steps: joins values that must share a layout; collects the layouts
// that nests propose for the values that they access (a contraction proposes them from the names of
// its operands, other nests from proposals for their other operands); computes the costs of nests
// and values.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutProblem.h"

#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Way.h"
#include "lib/transforms/nest/Rewrite.h"
#include "lib/transforms/nest/layout/EqualNests.h"
#include "lib/transforms/nest/layout/LayoutWays.h"

#include "llvm/ADT/IntEqClasses.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static constexpr double worst = 4; ///< of the seconds of the fastest way that is known
static constexpr size_t mostCandidates = 10, mostWays = 24;
/// Proposals of nests in a group weigh more: no tile of several points reuses the lines around one.
static constexpr double groupWeight = 8;

namespace {
using Group = std::vector<std::string>;

/// A layout that nests propose for a value, and its weight.
struct Proposal {
  Layout layout;
  double weight;
  int64_t changed; ///< when it was added or its weight last grew
  size_t hash;     ///< of the layout; most comparisons end with it
};

size_t hashOf(const Layout &layout) {
  llvm::hash_code hash = layout.factors.size();
  for (const Layout::Factor &factor : layout.factors)
    hash = llvm::hash_combine(hash, llvm::hash_combine_range(factor.names), factor.divisor,
                              factor.modulus);
  return hash;
}

/// Sorts by a number, stably.
template <typename T, typename Key>
void sortBy(std::vector<T> &list, Key key) {
  std::vector<std::pair<double, size_t>> order;
  for (const T &each : list)
    order.emplace_back(key(each), order.size());
  llvm::sort(order);
  std::vector<T> sorted;
  for (auto [number, i] : order)
    sorted.push_back(std::move(list[i]));
  list = std::move(sorted);
}

class ProblemMaker {
public:
  ProblemMaker(func::FuncOp function, const cost::Machine &machine)
      : function(function), machine(machine) {}

  FailureOr<LayoutProblem> make() {
    if (failed(findValues()) || failed(joinValues()))
      return failure();
    findNests();
    for (NestModel &nest : nests) {
      proposeFromContraction(nest);
      proposeFromGathers(nest);
    }
    for (int round = 0; round < 3; ++round) {
      for (NestModel &nest : nests)
        proposeAlike(nest);
      for (NestModel &nest : llvm::reverse(nests))
        proposeAlike(nest);
    }
    takeCandidates();
    for (const NestModel &nest : nests)
      addNest(nest);
    return std::move(problem);
  }

private:
  func::FuncOp function;
  const cost::Machine &machine;
  LayoutProblem problem;
  llvm::DenseMap<Value, unsigned> index;
  std::vector<NestModel> nests;
  std::vector<std::vector<Proposal>> proposals; ///< of each value
  int64_t changes = 1;                          ///< of proposals, so far
  llvm::DenseMap<const NestAccess *, int64_t>
      offered;                                   ///< `changes` when proposals were last passed
  std::vector<std::vector<SizedLayout>> sized;   ///< the candidates of each value
  std::vector<std::vector<LayoutAttr>> interned; ///< the same
  llvm::DenseMap<Value, Layout> written;
  llvm::DenseSet<Value> rowMajor; ///< values without a choice
  /// Names that a value has outermost because it is moved between devices.
  llvm::DenseMap<unsigned, SmallVector<StringAttr>> outermost;

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  void addValue(Value value, const std::string &name) {
    if (!isa<nd::NdTensorType>(value.getType()))
      return;
    index[value] = unsigned(problem.values.size());
    LaidValue laid;
    laid.values.push_back(value);
    laid.name = name;
    problem.values.push_back(std::move(laid));
  }

  LogicalResult findValues() {
    if (failed(checkLayouts(function)))
      return failure();
    for (BlockArgument argument : function.getArguments()) {
      unsigned number = argument.getArgNumber();
      auto name = function.getArgAttrOfType<StringAttr>(number, nd::nameAttrName);
      addValue(argument, name ? name.str() : "argument " + std::to_string(number));
      Attribute layout = function.getArgAttr(number, "nd.layout");
      if (!isa<nd::NdTensorType>(argument.getType()))
        continue;
      if (auto fixed = dyn_cast_or_null<LayoutAttr>(layout))
        written.try_emplace(argument, fixed.getLayout());
      else if (isSortedArgument(argument))
        rowMajor.insert(argument);
    }
    bool fits = true;
    function.front().walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto laid = dyn_cast<LaidOutInterface>(op);
      for (OpResult result : op->getResults()) {
        if (!isa<nd::NdTensorType>(result.getType()))
          continue;
        addValue(result, labelOf(op));
        if (LayoutAttr fixed = laid ? laid.layout(result.getResultNumber()) : LayoutAttr()) {
          written.try_emplace(result, fixed.getLayout());
          fits &= succeeded(checkLayout(result.getLoc(), fixed.getLayout(),
                                        "a result of '" + op->getName().getStringRef() + "'",
                                        result.getType()));
        }
        bool free = isa<ComputeOp, UpdateOp, TransferInterface>(op) ||
                    (isa<GroupOp, nd::ConstantOp>(op) && op->getBlock() == &function.front());
        if (!free)
          rowMajor.insert(result);
      }
    });
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    for (OpOperand &operand : end->getOpOperands())
      if (auto fixed =
              function.getResultAttrOfType<LayoutAttr>(operand.getOperandNumber(), "nd.layout"))
        if (index.count(operand.get()) && !isa<BlockArgument>(operand.get()))
          written.try_emplace(operand.get(), fixed.getLayout());
    return success(fits);
  }

  /// Joins values that must share one layout.
  LogicalResult joinValues() {
    llvm::IntEqClasses classes(unsigned(problem.values.size()));
    auto join = [&](Value a, Value b) {
      auto x = index.find(a), y = index.find(b);
      if (x != index.end() && y != index.end() && a.getType() == b.getType())
        classes.join(x->second, y->second);
    };
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    for (BlockArgument argument : function.getArguments()) {
      auto donate =
          function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "heddle.donate");
      auto number = donate ? donate.getValue().trySExtValue() : std::nullopt;
      if (number && *number >= 0 && *number < int64_t(end.getNumOperands()))
        join(argument, end.getOperand(unsigned(*number)));
    }
    function.walk([&](UpdateOp update) { join(update.getDest(), update.getResult()); });
    function.walk([&](TransferInterface transfer) {
      for (auto [operand, result] :
           llvm::zip_equal(transfer->getOperands(), transfer->getResults()))
        classes.join(index.lookup(operand), index.lookup(result));
    });

    classes.compress(); // classes are numbered in the order of their first values
    std::vector<LaidValue> joined(classes.getNumClasses());
    for (auto [v, value] : llvm::enumerate(problem.values)) {
      LaidValue &laid = joined[classes[unsigned(v)]];
      index[value.values[0]] = classes[unsigned(v)];
      if (laid.values.empty())
        laid = value;
      else
        laid.values.push_back(value.values[0]);
    }
    problem.values = std::move(joined);
    proposals.resize(problem.values.size());
    function.walk([&](TransferInterface transfer) {
      outermost[index.lookup(transfer->getResult(0))] = transfer.getOutermostNames();
    });
    for (LaidValue &laid : problem.values) {
      Value before;
      for (Value value : laid.values)
        if (auto found = written.find(value); found != written.end()) {
          if (laid.fixed && laid.candidates[0] != found->second) {
            auto error = emitError(value.getLoc())
                         << "'" << laid.name << "' is updated in place, so its layout can't be "
                         << laid.candidates[0].str() << " before and " << found->second.str()
                         << " after";
            return error.attachNote(before.getLoc())
                       << "its layout is " << laid.candidates[0].str() << " here",
                   failure();
          }
          laid.fixed = true;
          before = value;
          laid.candidates = {found->second};
        }
      for (Value value : laid.values)
        if (!laid.fixed && rowMajor.count(value)) {
          laid.fixed = true;
          laid.candidates = {sortedLayout(value)};
        }
    }
    return success();
  }

  /// Returns the row-major layout over the sorted names: for arguments the users' names, since
  /// callers rely on it; for other values the neutral names, so that no choice depends on spelling.
  Layout sortedLayout(Value value) {
    nd::NdTensorType type = tensorType(value);
    return isa<BlockArgument>(value) ? nest::sortedLayout(function, type)
                                     : nest::sortedLayout(type);
  }

  void findNests() {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<ComputeOp, UpdateOp>(op) || op->getParentOfType<ScanOp>())
        return;
      nests.emplace_back(op, machine.facts);
    });
  }

  //===--------------------------------------------------------------------===//
  // Proposals
  //===--------------------------------------------------------------------===//

  /// Merges blocks that are adjacent in memory.
  static Layout simplified(Layout layout, const Sizes &sizes) {
    for (size_t i = 0; i + 1 < layout.factors.size(); ++i) {
      const Layout::Factor &outer = layout.factors[i], &inner = layout.factors[i + 1];
      int64_t size = 1;
      for (const std::string &name : outer.names)
        size *= sizes.find(name)->second;
      if (outer.names != inner.names || outer.modulus || inner.divisor != 1 ||
          inner.modulus != outer.divisor || size % outer.divisor || outer.low || outer.high ||
          inner.low || inner.high)
        continue;
      std::vector<std::string> names = outer.names;
      layout.factors.erase(layout.factors.begin() + long(i), layout.factors.begin() + long(i) + 2);
      for (const std::string &name : llvm::reverse(names))
        layout.factors.insert(layout.factors.begin() + long(i), {{name}, 1, 0, 0, 0});
    }
    return layout;
  }

  void propose(Value value, Layout layout, double weight) {
    auto found = index.find(value);
    if (found == index.end())
      return;
    if (llvm::any_of(layout.factors, [](const Layout::Factor &factor) { return factor.modulus; }))
      layout = simplified(std::move(layout), tensorType(value).sizes());
    if (!putOutermost(layout, outermost.lookup(found->second)))
      return;
    size_t hash = hashOf(layout);
    for (Proposal &known : proposals[found->second])
      if (known.hash == hash && known.layout == layout) {
        if (weight > known.weight) {
          known.weight = weight;
          known.changed = ++changes;
        }
        return;
      }
    if (!layout.verifyAll(tensorType(value).sizeExprs()).empty())
      return;
    proposals[found->second].push_back({layout, weight, ++changes, hash});
  }

  /// For neighbouring dimensions with one iteration name (`h floordiv 64`, `h mod 64`): returns
  /// after how many steps the coordinate changes.
  static int64_t coarseness(const NestModel &nest, const Coordinate &coordinate) {
    if (coordinate.mentioned.empty())
      return std::numeric_limits<int64_t>::max();
    unsigned name = unsigned(coordinate.mentioned.back());
    std::vector<int64_t> point(nest.names.size(), 0);
    int64_t first = coordinate.at(point, nest.names);
    for (int64_t step = 1; step < std::min<int64_t>(nest.sizes[name], 8192); ++step) {
      point[name] = step;
      if (coordinate.at(point, nest.names) != first)
        return step;
    }
    return nest.sizes[name];
  }

  /// Returns the iteration name that represents a coordinate: for a window `row + ky` the larger
  /// one.
  static int principalOf(const NestModel &nest, const Coordinate &coordinate) {
    int principal = -1;
    for (int name : coordinate.mentioned)
      if (principal < 0 || nest.sizes[size_t(name)] > nest.sizes[size_t(principal)])
        principal = name;
    return principal;
  }

  /// Returns the dimensions of an access without those in `lanes`, outermost first: those that
  /// depend only on names of the enclosing group (or none), only on produced names, on produced and
  /// reduced names, only on reduced names.
  std::vector<std::string> othersOf(const NestModel &nest, const LayoutWay &way,
                                    const NestAccess &access, const std::set<size_t> &lanes) {
    struct Entry {
      int kind;
      bool isRow; ///< a row of the register tile: its points are read together
      std::string rank;
      int64_t coarse;
      std::string name;
    };
    std::vector<Entry> entries;
    for (size_t d = 0; d < access.coordinates.size(); ++d) {
      if (lanes.count(d))
        continue;
      const Coordinate &coordinate = access.coordinates[d];
      bool produced = false, reduced = false, windowed = false;
      int principal = principalOf(nest, coordinate);
      std::string rank = principal < 0 ? "" : nest.names[size_t(principal)];
      for (int name : coordinate.mentioned) {
        (nest.isReduced(size_t(name)) ? reduced : produced) = true;
        for (const NestAccess &other : nest.accesses)
          for (const Coordinate &elsewhere : other.coordinates)
            windowed |= elsewhere.isSum() && llvm::is_contained(elsewhere.mentioned, name);
      }
      int kind = windowed ? 1 : reduced ? 2 : 0;
      if (nest.firstProduced > 0 && llvm::all_of(coordinate.mentioned, [&](int name) {
            return name < int(nest.firstProduced);
          }))
        kind = -1;
      if (!access.isWrite && windowed && reduced && !produced)
        kind = 1;
      bool isRow =
          llvm::any_of(way.registers.rows, [&](auto row) { return int(row.first) == principal; });
      entries.push_back({kind, isRow, rank, -coarseness(nest, coordinate), access.dims[d]});
    }
    llvm::sort(entries, [](const Entry &a, const Entry &b) {
      return std::tie(a.kind, a.isRow, a.rank, a.coarse, a.name) <
             std::tie(b.kind, b.isRow, b.rank, b.coarse, b.name);
    });
    std::vector<std::string> names;
    for (const Entry &entry : entries)
      names.push_back(entry.name);
    return names;
  }

  void proposeFromContraction(const NestModel &nest) {
    if (!nest.reduction)
      return;
    std::vector<LayoutWay> ways = waysOfReduction(nest);
    for (size_t w = 0; w < std::min(ways.size(), mostWays); ++w) {
      const LayoutWay &way = ways[w];
      double weight = nest.points(0, nest.names.size()) / (1 + double(w));
      if (nest.firstProduced > 0)
        weight *= groupWeight;
      for (const NestAccess &access : nest.accesses) {
        if (access.gathered || access.inFinish || (access.isWrite && way.reduced))
          continue;
        std::set<size_t> dims;
        Group group;
        bool possible = true, any = false;
        for (unsigned name : way.lanes) {
          int d = access.dimOf(name);
          any |= access.mentions(name);
          possible &= d >= 0;
          if (d >= 0 && dims.insert(size_t(d)).second)
            group.push_back(access.dims[size_t(d)]);
        }
        if (any && !possible)
          continue;
        std::vector<std::string> names =
            othersOf(nest, way, access, any ? dims : std::set<size_t>());
        Layout plain = Layout::rowMajor(names);
        if (any)
          for (const std::string &name : group)
            plain.factors.push_back({{name}, 1, 0, 0, 0});
        propose(access.tensor, plain, weight);
        if (!any && !access.isWrite) {
          // Scalars of neighbouring rows may be contiguous too.
          for (auto [row, points] : way.registers.rows)
            if (int d = access.dimOf(row); d >= 0) {
              std::string last = access.dims[size_t(d)];
              names.erase(llvm::find(names, last));
              names.push_back(last);
              propose(access.tensor, Layout::rowMajor(names), weight);
              break;
            }
        }
        // A panel that is read repeatedly for the rows of a tile has blocks as wide as the tile.
        int64_t block = nest.lanes * 2;
        if (any && !way.reduced && !access.isWrite && way.reuse(access) > 1 &&
            nest.sizeOf(way.lanes) > block) {
          Layout blocked = Layout::rowMajor(names);
          blocked.factors.insert(blocked.factors.begin(), {group, block, 0, 0, 0});
          blocked.factors.push_back({group, 1, block, 0, 0});
          propose(access.tensor, blocked, weight);
        }
      }
    }
  }

  /// Proposes layouts for gathered and scattered tensors: their rows should be contiguous, so a
  /// name that does not depend on gathered values is innermost.
  void proposeFromGathers(const NestModel &nest) {
    for (const NestAccess &access : nest.accesses) {
      if (!access.gathered)
        continue;
      std::vector<std::string> computed, others;
      for (auto [dim, coordinate] : llvm::zip_equal(access.dims, access.coordinates))
        (coordinate.plain >= 0 && !access.gatheredBy(unsigned(coordinate.plain)) ? others
                                                                                 : computed)
            .push_back(dim);
      for (const std::string &last : others) {
        std::vector<std::string> names = computed;
        llvm::copy_if(others, std::back_inserter(names),
                      [&](const std::string &name) { return name != last; });
        names.push_back(last);
        propose(access.tensor, Layout::rowMajor(names), nest.points(0, nest.names.size()));
      }
    }
  }

  /// The iteration name that represents each coordinate of an access, or -1.
  static SmallVector<int> principalsOf(const NestModel &nest, const NestAccess &access) {
    return llvm::map_to_vector(access.coordinates, [&](const Coordinate &coordinate) {
      return principalOf(nest, coordinate);
    });
  }

  /// Maps the dimensions of one access to those of another with the same principals; -1: none.
  static SmallVector<int> match(ArrayRef<int> from, ArrayRef<int> to) {
    SmallVector<int> matched(from.size(), -1);
    for (size_t d = 0; d < from.size(); ++d)
      for (size_t k = 0; k < to.size() && from[d] >= 0; ++k)
        if (from[d] == to[k] && !llvm::is_contained(matched, int(k))) {
          matched[d] = int(k);
          break;
        }
    return matched;
  }

  /// Translates a layout of `from` to the dimensions of `to`, using the nest's maps.
  static std::optional<Layout> translate(ArrayRef<int> matched, const NestAccess &from,
                                         const NestAccess &to, const Layout &layout) {
    Layout result;
    result.alignment = layout.alignment;
    SmallVector<bool> placed(to.dims.size());
    for (const Layout::Factor &factor : layout.factors) {
      Layout::Factor changed{{}, factor.divisor, factor.modulus, factor.low, factor.high};
      for (const std::string &name : factor.names) {
        int dim = matched[size_t(llvm::find(from.dims, name) - from.dims.begin())];
        if (dim < 0)
          continue;
        changed.names.push_back(to.dims[size_t(dim)]);
        placed[size_t(dim)] = true;
      }
      if (changed.names.empty())
        continue;
      if (changed.names.size() != factor.names.size())
        return std::nullopt;
      result.factors.push_back(std::move(changed));
    }
    std::vector<Layout::Factor> outside;
    for (auto [name, isPlaced] : llvm::zip_equal(to.dims, placed))
      if (!isPlaced)
        outside.push_back({{name}, 1, 0, 0, 0});
    result.factors.insert(result.factors.begin(), outside.begin(), outside.end());
    return result;
  }

  /// Returns a key of the parts of an access that `match` depends on.
  static std::string spelled(const NestAccess &access, ArrayRef<int> principals) {
    std::string text;
    for (auto [dim, principal] : llvm::zip_equal(access.dims, principals))
      text += dim + " " + std::to_string(principal) + " ";
    return text;
  }

  /// Proposes the layouts of each operand and result of a nest for the others.
  void proposeAlike(const NestModel &nest) {
    // Records the proposals already passed to accesses with equal keys, since a nest may have
    // thousands of reads.
    struct Passed {
      Value by;
      double toOthers, toIt; ///< weights
    };
    llvm::StringMap<Passed> known;
    std::vector<SmallVector<int>> principals; // of each access, once there is an offer
    for (const NestAccess &from : nest.accesses) {
      auto source = index.find(from.tensor);
      if (source == index.end())
        continue;
      // Proposals that are new, or whose weight grew, since the last time.
      std::vector<Proposal> offers;
      int64_t last = std::exchange(offered[&from], changes);
      if (const LaidValue &value = problem.values[source->second]; value.fixed) {
        if (last < 1)
          offers = {{value.candidates[0], 1, 1, 0}};
      } else {
        llvm::copy_if(proposals[source->second], std::back_inserter(offers),
                      [&](const Proposal &offer) { return offer.changed > last; });
      }
      std::string read = offers.empty() ? "" : spelled(from, principalsOf(nest, from));
      llvm::erase_if(offers, [&](const Proposal &offer) {
        auto [found, isNew] =
            known.try_emplace(read + offer.layout.str(), Passed{from.tensor, offer.weight, -1});
        Passed &passed = found->second;
        if (isNew)
          return false;
        if (offer.weight > passed.toOthers) {
          if (from.tensor != passed.by)
            passed = {from.tensor, 0, passed.toOthers};
          passed.toOthers = offer.weight;
          return false;
        }
        if (from.tensor == passed.by || offer.weight <= passed.toIt)
          return true;
        passed.toIt = offer.weight;
        return false;
      });
      if (offers.empty())
        continue;
      if (principals.empty())
        for (const NestAccess &access : nest.accesses)
          principals.push_back(principalsOf(nest, access));
      ArrayRef<int> own = principals[size_t(&from - nest.accesses.data())];
      for (auto [to, others] : llvm::zip_equal(nest.accesses, principals)) {
        if (&to == &from || to.tensor == from.tensor)
          continue;
        SmallVector<int> matched = match(own, others);
        for (const Proposal &offer : offers)
          if (auto layout = translate(matched, from, to, offer.layout))
            propose(to.tensor, *layout, offer.weight * 0.5);
      }
    }
  }

  void takeCandidates() {
    for (size_t v = 0; v < problem.values.size(); ++v) {
      LaidValue &value = problem.values[v];
      auto type = tensorType(value.values[0]);
      sortBy(proposals[v], [](const Proposal &proposal) { return -proposal.weight; });
      for (const Proposal &proposal : proposals[v])
        if (value.candidates.size() < mostCandidates &&
            !llvm::is_contained(value.candidates, proposal.layout))
          value.candidates.push_back(proposal.layout);
      // Row-major by canonical names, so that no choice depends on spelling.
      std::vector<std::string> names;
      for (const nd::Dim &dim : type.getDims())
        names.push_back(dim.name.str());
      Layout plain = Layout::rowMajor(names);
      putOutermost(plain, outermost.lookup(unsigned(v)));
      if (!value.fixed && !llvm::is_contained(value.candidates, plain))
        value.candidates.push_back(plain);
      sized.emplace_back();
      interned.emplace_back();
      double elements = pointsOf(type.getDims());
      for (const Layout &layout : value.candidates) {
        sized[v].emplace_back(layout, type, type.sizes());
        interned[v].push_back(LayoutAttr::get(function.getContext(), layout));
        if (!value.fixed || value.cost.empty())
          value.cost.push_back(0.3 * (double(sized[v].back().elements()) - elements));
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Costs
  //===--------------------------------------------------------------------===//

  /// Returns lanes along the innermost names of the tensors that a nest accesses.
  std::vector<LayoutWay> waysOfPointwise(const NestModel &nest) {
    std::vector<std::vector<unsigned>> groups;
    for (const NestAccess &access : nest.accesses) {
      auto found = index.find(access.tensor);
      if (found == index.end())
        continue;
      for (const Layout &layout : problem.values[found->second].candidates) {
        std::vector<unsigned> group;
        int64_t size = 1;
        for (const Layout::Factor &factor : llvm::reverse(layout.factors)) {
          bool whole = factor.divisor == 1 && factor.modulus == 0 && !factor.low && !factor.high;
          if (!group.empty() && !whole)
            break;
          bool all = true;
          for (const std::string &name : llvm::reverse(factor.names)) {
            int dim = -1;
            for (size_t d = 0; d < access.coordinates.size(); ++d)
              if (access.dims[d] == name)
                dim = int(d);
            int iteration = dim < 0 ? -1 : access.coordinates[size_t(dim)].plain;
            all &= iteration >= 0 && nest.isProduced(size_t(iteration)) &&
                   access.dimOf(unsigned(iteration)) == dim &&
                   !llvm::is_contained(group, unsigned(iteration));
            if (!all)
              break;
            group.insert(group.begin(), unsigned(iteration));
            size *= nest.sizes[size_t(iteration)];
          }
          if (!all || !whole || size >= 2 * nest.lanes)
            break;
        }
        // Names of size 1 are not lanes.
        llvm::erase_if(group, [&](unsigned name) { return nest.sizes[name] < 2; });
        if (!group.empty() && !llvm::is_contained(groups, group) && groups.size() < mostWays)
          groups.push_back(group);
      }
    }
    std::vector<LayoutWay> ways;
    for (auto &group : groups)
      ways.emplace_back(nest, group, false);
    ways.emplace_back(nest, std::vector<unsigned>(), false);
    return ways;
  }

  /// Returns the facts of a nest, with a layout for each access.
  cost::NestFacts factsOf(const NestModel &nest) const {
    cost::NestFacts facts(nest.op, machine.facts, /*shrink=*/true);
    std::vector<Layout> layouts;
    for (const NestAccess &access : facts.nest().accesses) {
      auto found = index.find(access.tensor);
      layouts.push_back(found == index.end() ? nest::sortedLayout(access.type)
                                             : problem.values[found->second].candidates[0]);
    }
    facts.setLayouts(layouts);
    return facts;
  }

  using ByValue = std::map<unsigned, SmallVector<unsigned>>; ///< accesses to each value

  /// The seconds of a nest that runs in one way.
  struct WaySeconds {
    double least = INFINITY;                ///< with the best layouts
    std::vector<std::vector<double>> costs; ///< by value and candidate, the other values' are good
    std::vector<size_t> layouts;            ///< the good ones, by value
  };

  /// Finds good layouts for a way, one value at a time, and leaves them in `facts`.
  WaySeconds secondsOf(cost::NestFacts &facts, const LayoutWay &lanes,
                       const ByValue &byValue) const {
    cost::Way way(facts, lanes.lanes, lanes.tile, machine.rates, lanes.split);
    WaySeconds seconds;
    for (auto &[v, accesses] : byValue) {
      const std::vector<Layout> &candidates = problem.values[v].candidates;
      std::vector<double> &cost = seconds.costs.emplace_back();
      for (const Layout &candidate : candidates)
        cost.push_back(way.setLayout(accesses, candidate).seconds());
      size_t best = size_t(llvm::min_element(cost) - cost.begin());
      seconds.layouts.push_back(best);
      if (best + 1 < candidates.size()) // the last one is set
        way.setLayout(accesses, candidates[best]);
    }
    seconds.least = way.seconds();
    return seconds;
  }

  /// What a nest adds to the problem: that of equal nests is the same but for names.
  struct Part {
    std::vector<NestWay> ways;                ///< without names
    std::vector<std::vector<unsigned>> lanes; ///< of the ways
    std::vector<LayoutTerm> terms;
  };
  llvm::StringMap<Part> parts;

  void addNest(const NestModel &nest) {
    ByValue byValue;
    for (auto [i, access] : llvm::enumerate(nest.accesses))
      if (auto found = index.find(access.tensor); found != index.end())
        byValue[found->second].push_back(unsigned(i));
    SmallVector<AccessedValue> values;
    for (auto &[v, accesses] : byValue)
      values.push_back({accesses, problem.values[v].candidates, problem.values[v].cost.size()});
    cost::NestFacts facts = factsOf(nest);
    std::string key = keyOf(facts, values) + (mayCopy(nest) ? "c" : "-");
    std::optional<std::vector<unsigned>> lanes = nest.writtenLanes();
    key += lanes ? "" : "?";
    for (unsigned name : lanes.value_or(std::vector<unsigned>()))
      key += " " + std::to_string(name);
    auto [found, isNew] = parts.try_emplace(key);
    Part &part = found->second;
    if (isNew)
      measure(nest, facts, byValue, lanes, part);
    LaidNest laid{nest.op, labelOf(nest.op), part.ways};
    for (auto [way, names] : llvm::zip_equal(laid.ways, part.lanes))
      way.lanes = nest.namesOf(names);
    for (auto [term, v] : llvm::zip_equal(part.terms, llvm::make_first_range(byValue))) {
      problem.terms.push_back(term);
      problem.terms.back().nest = unsigned(problem.nests.size());
      problem.terms.back().value = v;
    }
    problem.nests.push_back(std::move(laid));
  }

  void measure(const NestModel &nest, cost::NestFacts &facts, const ByValue &byValue,
               const std::optional<std::vector<unsigned>> &lanes, Part &part) {
    std::vector<LayoutWay> ways;
    if (lanes)
      addTiles(ways, nest, *lanes);
    else
      ways = nest.reduction ? waysOfReduction(nest) : waysOfPointwise(nest);
    // The sizes of all names but the first are needed to decompose a merged index.
    llvm::erase_if(ways, [&](const LayoutWay &way) {
      return way.lanes.size() > 1 &&
             llvm::any_of(ArrayRef(way.lanes).drop_front(),
                          [&](unsigned name) { return nest.symbolic[name]; });
    });
    if (ways.size() > mostWays)
      ways.erase(ways.begin() + mostWays, ways.end());
    for (unsigned v : llvm::make_first_range(byValue))
      part.terms.emplace_back().value = v;
    double fastest = INFINITY;
    std::vector<size_t> layouts(byValue.size(), 0); // in `facts`
    for (const LayoutWay &way : ways) {
      // The loops depend on layouts, so good ones are found first.
      WaySeconds seconds = secondsOf(facts, way, byValue);
      bool areGood = std::exchange(layouts, seconds.layouts) == seconds.layouts;
      if (seconds.least > worst * fastest)
        continue;
      fastest = std::min(fastest, seconds.least);
      if (!areGood) {
        seconds = secondsOf(facts, way, byValue);
        layouts = seconds.layouts;
      }
      // Merging names has a small cost, so that they are merged only to fill vectors.
      double merged = 1 + 0.05 * double(way.lanes.empty() ? 0 : way.lanes.size() - 1);
      part.ways.push_back({{}, way.reduced, machine.cycles(seconds.least * merged)});
      part.lanes.push_back(way.lanes);
      for (auto [term, accesses, cost] :
           llvm::zip_equal(part.terms, llvm::make_second_range(byValue), seconds.costs)) {
        for (double &each : cost)
          each = machine.cycles(std::max(0.0, each - seconds.least));
        addCosts(nest, term, accesses, cost, seconds.least);
      }
    }
  }

  bool mayCopy(const NestModel &nest) {
    return nest.op->getBlock() == &function.front() && isa<ComputeOp>(nest.op);
  }

  /// Adds the costs of a way, by candidate, to the term of a value. Operands may be copied before
  /// the nest, its results after it.
  void addCosts(const NestModel &nest, LayoutTerm &term, ArrayRef<unsigned> accesses,
                ArrayRef<double> cost, double seconds) {
    unsigned v = term.value;
    size_t open = problem.values[v].cost.size();
    auto isWrite = [&](unsigned access) { return nest.accesses[access].isWrite; };
    bool writes = llvm::any_of(accesses, isWrite), reads = !llvm::all_of(accesses, isWrite);
    bool copies = mayCopy(nest) && reads != writes;
    std::vector<int> copy(open, -1);
    std::vector<double> best(cost.begin(), cost.begin() + long(open));
    if (copies)
      for (size_t c = 0; c < open; ++c)
        for (size_t via = 0; via < cost.size(); ++via)
          if (via != c) {
            double through = cost[via] + copyBetween(v, writes ? via : c, writes ? c : via) +
                             machine.cycles(leastGain * seconds);
            if (through < best[c]) {
              best[c] = through;
              copy[c] = int(via);
            }
          }
    term.cost.insert(term.cost.end(), best.begin(), best.end());
    term.copy.insert(term.copy.end(), copy.begin(), copy.end());
  }

  /// The facts of copies by type, and their cycles by layouts: equal layers have equal copies.
  llvm::DenseMap<Type, std::unique_ptr<cost::NestFacts>> copies;
  llvm::DenseMap<std::tuple<Type, LayoutAttr, LayoutAttr>, double> copyCosts;
  static constexpr double leastGain = 0.05; ///< of the seconds of a nest, which a copy saves
  static constexpr double leastCopy = 1e-6; ///< seconds; so that no copy saves little

  double copyBetween(unsigned v, size_t from, size_t to) {
    Value value = problem.values[v].values[0];
    LayoutAttr a = interned[v][from], b = interned[v][to];
    auto [known, isNew] = copyCosts.try_emplace({value.getType(), a, b}, 0);
    if (!isNew)
      return known->second;
    std::unique_ptr<cost::NestFacts> &copy = copies[value.getType()];
    if (!copy)
      copy = std::make_unique<cost::NestFacts>(cost::NestFacts::ofCopy(value, machine.facts));
    double seconds = cost::secondsOfCopy(*copy, a.getLayout(), b.getLayout(), machine.rates);
    return known->second = machine.cycles(seconds + leastCopy);
  }
};
} // namespace

FailureOr<LayoutProblem> nest::makeLayoutProblem(func::FuncOp function,
                                                 const cost::Machine &machine) {
  return ProblemMaker(function, machine).make();
}
