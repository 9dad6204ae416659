//===- FuseSiblings.cpp - fuses nests that share reads --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/FuseSiblings.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Cost.h"
#include "lib/transforms/nest/fuse/CommonNames.h"
#include "lib/transforms/nest/fuse/JoinNests.h"
#include "lib/transforms/nest/fuse/MergeAccumulators.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

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
      auto names = commonNames(first, k, second, i);
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
        joined = joinNests({first, alike}, insertBefore);
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
      moveDependentsAfter(first, second, insertBefore);
      replace(first, second, joined, renames ? *names : Renaming());
      if (renames)
        alike->erase();
      second->erase();
      first->erase();
      assignBlockOrder(joined);
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
