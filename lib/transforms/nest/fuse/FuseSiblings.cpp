//===- FuseSiblings.cpp - fuses nests that share reads --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/FuseSiblings.h"

#include "dialects/nd/NdBuild.h"
#include "lib/analysis/Canonical.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Cost.h"
#include "lib/transforms/nest/Rewrite.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Returns true if `a` (of the first nest) and `b` (of the second) can become one name.
static bool isAlike(ComputeOp first, StringRef a, ComputeOp second, StringRef b) {
  auto find = [](nd::DimsAttr dims, StringRef name) { return dims.lookup(name); };
  auto p = find(first.getProduced(), a), q = find(second.getProduced(), b);
  if (p || q)
    return p == q;
  auto r = find(first.getReduced(), a);
  return r && r == find(second.getReduced(), b);
}

/// Returns a renaming of the second nest under which its space is that of the first, and its read
/// `i` equals read `k` of the first.
static std::optional<Renaming> namesBy(ComputeOp first, unsigned k, ComputeOp second, unsigned i) {
  Renaming names;
  std::set<std::string> used;
  auto match = [&](const std::string &b, const std::string &a) {
    if (!isAlike(first, a, second, b) || !used.insert(a).second)
      return false;
    names[b] = a;
    return true;
  };
  for (auto [entryA, entryB] :
       llvm::zip_equal(first.readMap(k).getEntries(), second.readMap(i).getEntries())) {
    auto a = entryA.expr().asName(), b = entryB.expr().asName();
    if (!a || !b || readIndex(*a) || readIndex(*b))
      continue; // compared under the names that are found
    auto known = names.find(*b);
    if (known != names.end() ? known->second != *a : !match(*b, *a))
      return std::nullopt;
  }
  nd::DimsAttr space = iterationSpace(second), target = iterationSpace(first);
  if (space.size() != target.size())
    return std::nullopt;
  // Matches the remaining names: by equal spelling, then if there is only one candidate.
  for (const nd::Dim &dim : space)
    if (std::string name = dim.name.str(); !names.count(name) && !used.count(name))
      match(name, name);
  for (const nd::Dim &dim : space) {
    std::string name = dim.name.str();
    if (names.count(name))
      continue;
    SmallVector<std::string> candidates;
    for (const nd::Dim &other : target)
      if (!used.count(other.name.str()) && isAlike(first, other.name.getValue(), second, name))
        candidates.push_back(other.name.str());
    if (candidates.size() != 1 || !match(name, candidates[0]))
      return std::nullopt;
  }
  return names;
}

/// Returns the conditions under which points of a reduction are excluded.
static std::set<Expr> exclusions(ComputeOp op, bool equalities) {
  std::set<Expr> found;
  for (unsigned i = 0; i < op.getReads().size(); ++i)
    if (GuardAttr guard = op.readGuard(i); guard.excludes())
      for (const Condition &condition : guard.getConditions())
        if (condition.equality == equalities)
          found.insert(condition.expr());
  return found;
}

static bool sharesARead(ComputeOp first, ComputeOp second) {
  for (unsigned k = 0; k < first.getReads().size(); ++k)
    for (unsigned i = 0; i < second.getReads().size(); ++i)
      if (first.getReads()[k] == second.getReads()[i] && first.readMap(k) == second.readMap(i) &&
          first.readGuard(k) == second.readGuard(i))
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// The fused nest
//===----------------------------------------------------------------------===//

namespace {
/// Builds a new nest with the same space, to which nests are added one after the other.
class Joined {
public:
  Joined(ComputeOp like, Operation *insertBefore)
      : b(insertBefore), nest(b, like.getLoc()), like(like), insertBefore(insertBefore) {
    nest.produced = like.getProduced();
    nest.reduced = like.getReduced();
  }

  ComputeOp build(ArrayRef<ComputeOp> ops) {
    Region body, combine, finish;
    Location loc = like.getLoc();
    SmallVector<Type> types;
    SmallVector<Attribute> neutral, layouts;
    bool hasFinish = false, hasLayouts = false;
    for (ComputeOp op : ops) {
      llvm::append_range(types, op->getResultTypes());
      llvm::append_range(neutral, op.getNeutral());
      hasFinish |= !op.getFinish().empty();
      hasLayouts |= bool(op.getLayouts());
    }
    // Bodies, with shared reads.
    Block *block = b.createBlock(&body);
    SmallVector<Value> yields;
    for (ComputeOp op : ops) {
      IRMapping mapping;
      ExprMap positions;
      for (unsigned i = 0; i < op.getReads().size(); ++i) {
        unsigned position = share(op.getReads()[i], op.readMap(i).substitute(positions),
                                  op.readGuard(i).substitute(positions), *block);
        positions[readName(i)] = Expr::name(readName(position));
        mapping.map(op.getBody().getArgument(i), block->getArgument(position));
      }
      llvm::append_range(yields, nd::inlineBlock(b, op.getBody().front(), mapping));
    }
    YieldOp::create(b, loc, yields);
    if (like.isReduction())
      joinCombiners(ops, combine, neutral.size());
    if (hasFinish)
      joinFinishes(ops, finish, neutral);
    b.setInsertionPoint(insertBefore);
    ComputeOp made = nest.create(types, body, combine, finish, b.getArrayAttr(neutral));
    for (ComputeOp op : llvm::reverse(ops))
      inheritAttributes(made, {op});
    for (ComputeOp op : ops)
      for (unsigned i = 0; i < op.getNumResults(); ++i)
        layouts.push_back(op.getLayouts() ? (*op.getLayouts())[i] : b.getUnitAttr());
    if (hasLayouts)
      made.setLayoutsAttr(b.getArrayAttr(layouts));
    return made;
  }

private:
  OpBuilder b;
  NestBuilder nest;
  ComputeOp like;
  Operation *insertBefore;

  unsigned share(Value value, MapAttr map, GuardAttr guard, Block &block) {
    for (unsigned k = 0; k < nest.reads.size(); ++k)
      if (nest.reads[k] == value && nest.maps[k] == map && nest.guards[k] == guard)
        return k;
    block.addArgument(tensorType(value).scalarType(), value.getLoc());
    return nest.read(value, map, guard);
  }

  void joinCombiners(ArrayRef<ComputeOp> ops, Region &combine, size_t accumulators) {
    Block *block = b.createBlock(&combine);
    for (int half = 0; half < 2; ++half)
      for (ComputeOp op : ops)
        for (Attribute value : op.getNeutral())
          block->addArgument(cast<TypedAttr>(value).getType(), op.getLoc());
    SmallVector<Value> yields;
    unsigned start = 0;
    for (ComputeOp op : ops) {
      IRMapping mapping;
      unsigned n = unsigned(op.getNeutral().size());
      for (unsigned i = 0; i < n; ++i) {
        mapping.map(op.getCombine().getArgument(i), block->getArgument(start + i));
        mapping.map(op.getCombine().getArgument(n + i),
                    block->getArgument(unsigned(accumulators) + start + i));
      }
      llvm::append_range(yields, nd::inlineBlock(b, op.getCombine().front(), mapping));
      start += n;
    }
    YieldOp::create(b, like.getLoc(), yields);
  }

  void joinFinishes(ArrayRef<ComputeOp> ops, Region &finish, ArrayRef<Attribute> neutral) {
    Block *block = b.createBlock(&finish);
    SmallVector<Value> accumulators, yields;
    for (Attribute value : neutral)
      accumulators.push_back(block->addArgument(cast<TypedAttr>(value).getType(), like.getLoc()));
    size_t start = 0;
    for (ComputeOp op : ops) {
      size_t n = op.getNeutral().size();
      ArrayRef<Value> own = ArrayRef<Value>(accumulators).slice(start, n);
      start += n;
      if (op.getFinish().empty()) {
        for (auto [value, result] : llvm::zip_equal(own, op.getResults()))
          yields.push_back(
              nd::convertFloat(b, op.getLoc(), value, tensorType(result).scalarType()));
        continue;
      }
      IRMapping mapping;
      for (auto [i, value] : llvm::enumerate(own))
        mapping.map(op.getFinish().getArgument(unsigned(i)), value);
      for (unsigned i = 0; i < op.getFinishReads().size(); ++i) {
        BlockArgument argument = op.getFinish().getArgument(unsigned(n) + i);
        mapping.map(argument, block->addArgument(argument.getType(), op.getLoc()));
        nest.finishRead(op.getFinishReads()[i], op.finishMap(i), op.finishGuard(i));
      }
      llvm::append_range(yields, nd::inlineBlock(b, op.getFinish().front(), mapping));
    }
    YieldOp::create(b, like.getLoc(), yields);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// Returns the texts of the values that a block yields, with its i-th argument printed as number
/// standsFor[i].
static std::vector<std::string> yieldedTexts(Block &block, ArrayRef<unsigned> standsFor) {
  std::vector<std::string> leaves;
  for (unsigned i : standsFor)
    leaves.push_back("a" + std::to_string(i));
  return scalarTexts(block, leaves, {});
}

/// Drops accumulators of a reduction that equal earlier ones: their elements and neutral elements
/// are equal, and their combiners are equal under that assumption. Returns the replacement, or null
/// if there are no such accumulators.
static ComputeOp mergeAccumulators(ComputeOp op) {
  unsigned n = unsigned(op.getNeutral().size());
  if (n < 2 || isFixed(op))
    return {};
  auto countedFrom0 = [](unsigned count) { return llvm::to_vector(llvm::seq(count)); };
  std::vector<std::string> elements =
      yieldedTexts(op.getBody().front(), countedFrom0(op.getBody().getNumArguments()));
  SmallVector<unsigned> standsFor = countedFrom0(n);
  bool any = false;
  for (unsigned j = 0; j < n; ++j)
    for (unsigned i = 0; i < j && standsFor[j] == j; ++i) {
      if (op.getNeutral()[i] != op.getNeutral()[j] || standsFor[i] != i ||
          elements[i] != elements[j])
        continue;
      SmallVector<unsigned> arguments = countedFrom0(2 * n);
      arguments[j] = i, arguments[n + j] = n + i;
      std::vector<std::string> combined = yieldedTexts(op.getCombine().front(), arguments);
      if (combined[i] == combined[j])
        standsFor[j] = i, any = true;
    }
  if (!any)
    return {};
  SmallVector<unsigned> left;
  for (unsigned j = 0; j < n; ++j)
    if (standsFor[j] == j)
      left.push_back(j);
  auto position = [&](unsigned j) {
    return unsigned(llvm::find(left, standsFor[j]) - left.begin());
  };
  OpBuilder b(op);
  NestBuilder nest(b, op);
  Region body, combine, finish;
  Location loc = op.getLoc();
  SmallVector<Attribute> neutral;
  for (unsigned j : left)
    neutral.push_back(op.getNeutral()[j]);
  auto rebuild = [&](Region &from, Region &to, unsigned halves, bool dropsYields) {
    Block *block = b.createBlock(&to);
    IRMapping mapping;
    for (unsigned half = 0; half < halves; ++half)
      for (unsigned j : left)
        block->addArgument(from.getArgument(half * n + j).getType(), loc);
    for (unsigned half = 0; half < halves; ++half)
      for (unsigned j = 0; j < n; ++j)
        mapping.map(from.getArgument(half * n + j),
                    block->getArgument(half * unsigned(left.size()) + position(j)));
    for (BlockArgument argument : from.getArguments().drop_front(halves * n))
      mapping.map(argument, block->addArgument(argument.getType(), loc));
    SmallVector<Value> values = nd::inlineBlock(b, from.front(), mapping), yields;
    for (auto [j, value] : llvm::enumerate(values))
      if (!dropsYields || standsFor[j] == j)
        yields.push_back(value);
    YieldOp::create(b, loc, yields);
  };
  rebuild(op.getBody(), body, 0, true);
  rebuild(op.getCombine(), combine, 2, true);
  bool hasFinish = !op.getFinish().empty();
  if (hasFinish)
    rebuild(op.getFinish(), finish, 1, false);
  // Without a finish region the accumulators are the results.
  SmallVector<Type> types;
  SmallVector<Attribute> layouts;
  SmallVector<unsigned> results;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    bool isKept = hasFinish || standsFor[i] == i ||
                  op.getResult(i).getType() != op.getResult(standsFor[i]).getType();
    if (!isKept) {
      results.push_back(position(i));
      continue;
    }
    if (!hasFinish && standsFor[i] != i)
      return {}; // the types differ
    results.push_back(unsigned(types.size()));
    types.push_back(op.getResult(i).getType());
    if (op.getLayouts())
      layouts.push_back((*op.getLayouts())[i]);
  }
  b.setInsertionPoint(op);
  ComputeOp made = nest.create(types, body, combine, finish, b.getArrayAttr(neutral));
  if (op.getLayouts())
    made.setLayoutsAttr(b.getArrayAttr(layouts));
  inheritAttributes(made, {op});
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    op.getResult(i).replaceAllUsesWith(made.getResult(results[i]));
  op->erase();
  return made;
}

//===----------------------------------------------------------------------===//
// Fusion of two nests
//===----------------------------------------------------------------------===//

/// The fraction of the time of two nests that fusing them must save. Large nests that share only
/// scalars, such as the updates of many parameters by one rate, would only save the start of a
/// nest, and would have to share one schedule and the layouts that suit it.
static constexpr double leastShare = 0.05;

/// Replaces the results of both by those of `joined`. `names` are the names of the second nest's
/// dimensions in `joined`; none: unchanged.
static void replace(ComputeOp first, ComputeOp second, ComputeOp joined, const Renaming &names) {
  for (auto [i, result] : llvm::enumerate(first->getResults()))
    result.replaceAllUsesWith(joined.getResult(unsigned(i)));
  Renaming back;
  if (!names.empty())
    for (const nd::Dim &dim : second.getProduced())
      back[names.at(dim.name.str())] = dim.name.str();
  OpBuilder b(joined->getContext());
  b.setInsertionPointAfter(joined);
  for (auto [i, result] : llvm::enumerate(second->getResults())) {
    Value value = joined.getResult(unsigned(first.getNumResults() + i));
    if (!isIdentity(back))
      value = renameDims(b, value.getLoc(), value, back);
    result.replaceAllUsesWith(value);
  }
}

static FusionDecision decisionOn(ComputeOp first, ComputeOp second, bool areJoined, double apart,
                                 double together) {
  std::string joined = "joined with '" + labelOf(second) + "'";
  FusionDecision made{labelOf(first), first.getLoc(), "is " + joined, "run apart",
                      apart - together};
  return areJoined ? made
                   : FusionDecision{made.nest, made.loc, "runs apart", joined, together - apart};
}

/// Fuses two nests, the first before the second. Returns the fused nest, or null if that is not
/// possible. Sets `byContents` to false if the reason is in surrounding ops. `decisions` may be
/// null.
static ComputeOp fuse(ComputeOp first, ComputeOp second, bool &byContents,
                      FusionDecisions *decisions) {
  bool shares = false;
  for (Value read : second.getReads())
    shares |= llvm::is_contained(first.getReads(), read);
  if (!shares || isFixed(first) || isFixed(second) || isRenaming(first) || isRenaming(second) ||
      first.isReduction() != second.isReduction() ||
      (!first.isReduction() && (!first.getFinish().empty() || !second.getFinish().empty())) ||
      first->hasAttr(recomputeAttr) || second->hasAttr(recomputeAttr))
    return {};
  for (Value operand : second->getOperands())
    if (operand.getDefiningOp() == first)
      return {};
  if (areTooLargeTogether(first, second))
    return {};
  std::optional<double> firstAlone, secondAlone;
  Operation *insertBefore = nullptr;
  for (unsigned k = 0; k < first.getReads().size(); ++k)
    for (unsigned i = 0; i < second.getReads().size(); ++i) {
      if (first.getReads()[k] != second.getReads()[i])
        continue;
      auto names = namesBy(first, k, second, i);
      if (!names)
        continue;
      NameRewriter rewriter(*names);
      if (rewriter.rewrite(second.getProduced()) != first.getProduced() ||
          rewriter.rewrite(second.getReduced()) != first.getReduced())
        continue;
      bool renames = !isIdentity(*names);
      // Results under other names are renamed back, which is free only if their users are nests.
      if (renames && llvm::any_of(second->getUsers(), [&](Operation *user) {
            return !isa<LoopNestInterface>(user) || user->getBlock() != second->getBlock();
          })) {
        Renaming ofProduced;
        for (const nd::Dim &dim : second.getProduced())
          ofProduced[dim.name.str()] = (*names)[dim.name.str()];
        if (!isIdentity(ofProduced)) {
          byContents = false;
          continue;
        }
      }
      auto isLegal = [&](ComputeOp alike) {
        return exclusions(alike, false) == exclusions(first, false) &&
               exclusions(alike, true) == exclusions(first, true) && sharesARead(first, alike);
      };
      if (!renames && !isLegal(second))
        continue;
      if (!firstAlone) {
        firstAlone = cost::secondsBySizes(first);
        secondAlone = cost::secondsBySizes(second);
      }
      // Fused, they take at least as long as the slower one.
      double apart = *firstAlone + *secondAlone, most = apart - leastGain - leastShare * apart;
      if (std::max(*firstAlone, *secondAlone) >= most)
        return {};
      if (!insertBefore) // last, since it visits all users of `first`
        insertBefore = insertionPoint(first, second);
      if (!insertBefore) {
        byContents = false;
        return {};
      }
      ComputeOp alike = renames ? withNames(second, *names) : second;
      ComputeOp joined;
      if (!renames || isLegal(alike)) {
        joined = Joined(alike, insertBefore).build({first, alike});
        double together = cost::secondsBySizes(joined);
        if (decisions)
          decisions->add(decisionOn(first, second, together < most, apart, together));
        if (together >= most) {
          joined->erase();
          joined = {};
        }
      }
      if (!joined) {
        if (renames)
          alike->erase();
        continue;
      }
      meet(first, second, insertBefore);
      replace(first, second, joined, renames ? *names : Renaming());
      if (renames)
        alike->erase();
      second->erase();
      first->erase();
      keepOrder(joined);
      ComputeOp merged = mergeAccumulators(joined);
      return merged ? merged : joined;
    }
  return {};
}

namespace {
/// The nests that a walk over a block has visited, in order, by the values that they read. The
/// reads are recorded when an op is added, since fusion changes its operands, and a new op may have
/// the address of an erased one.
class Readers {
public:
  void add(ComputeOp op) {
    llvm::SmallSetVector<Value, 8> reads(op.getReads().begin(), op.getReads().end());
    for (Value read : reads) {
      SmallVector<ComputeOp> &list = readers[read];
      auto position = list.end(); // usually the right one
      while (position != list.begin() && op->isBeforeInBlock(*std::prev(position)))
        --position;
      list.insert(position, op);
    }
    added[op] = reads.takeVector();
  }
  /// `op` may have been erased. Returns true if it had been added.
  bool remove(Operation *op) {
    auto reads = added.find(op);
    if (reads == added.end())
      return false;
    for (Value read : reads->second)
      llvm::erase_if(readers[read], [&](ComputeOp reader) { return reader == op; });
    added.erase(reads);
    return true;
  }
  /// `fused` replaced `first`, which had `results`.
  void replace(Operation *first, ArrayRef<Value> results, ComputeOp fused) {
    remove(first);
    for (Operation *user : llvm::SetVector<Operation *>(fused->user_begin(), fused->user_end()))
      if (remove(user))
        add(cast<ComputeOp>(user));
    for (Value result : results)
      readers.erase(result);
    add(fused);
  }
  /// Returns the nests that share a read with `op`; for each value only the nearest ones, for
  /// linear time.
  SmallVector<ComputeOp> siblings(ComputeOp op) {
    constexpr size_t most = 16;
    llvm::SetVector<Operation *> found;
    for (Value read : op.getReads())
      for (ComputeOp reader : ArrayRef(readers[read]).take_back(most))
        found.insert(reader);
    SmallVector<ComputeOp> list;
    for (Operation *each : found)
      list.push_back(cast<ComputeOp>(each));
    llvm::sort(list, [](ComputeOp a, ComputeOp b) { return a->isBeforeInBlock(b); });
    return list;
  }

private:
  llvm::DenseMap<Value, SmallVector<ComputeOp>> readers;
  llvm::DenseMap<Operation *, SmallVector<Value>> added;
};
} // namespace

bool nest::fuseSiblings(Block &block, Declined &declined) {
  bool any = false;
  Contents contents;
  for (bool changed = true; changed; any |= changed) {
    changed = false;
    Readers readers;
    for (Operation *op = &block.front(), *next; op; op = next) {
      next = op->getNextNode();
      auto second = dyn_cast<ComputeOp>(op);
      if (!second)
        continue;
      for (ComputeOp first : readers.siblings(second)) {
        uint64_t pair = contents.of({first, second});
        if (declined.siblings.contains(pair))
          continue;
        SmallVector<Value> results(first->getResults());
        bool byContents = true;
        Operation *replaced[] = {first, second};
        ComputeOp joined = fuse(first, second, byContents, declined.decisions);
        if (!joined && byContents)
          declined.siblings.insert(pair);
        if (!joined)
          continue;
        for (Operation *each : replaced)
          contents.forget(each);
        readers.replace(first, results, joined);
        changed = true;
        second = {};
        break;
      }
      if (second)
        readers.add(second);
    }
  }
  return any;
}
