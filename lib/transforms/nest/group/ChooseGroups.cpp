//===- ChooseGroups.cpp - chooses nests to run as a group -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/group/ChooseGroups.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Cost.h"
#include "lib/transforms/nest/Rewrite.h"
#include "lib/transforms/nest/group/FormGroups.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Returns true for a sum of products that uses the elements of every factor several times, as a
/// matrix product does. At one point of a group it would have nothing to reuse. A matrix-vector
/// product uses the elements of the matrix once in any case.
static bool reusesFactors(ComputeOp op) {
  if (!contractionOf(op))
    return false;
  Sizes sizes = sizesOf(op.getProduced());
  sizes.merge(sizesOf(op.getReduced()));
  return llvm::none_of(readsOf(op), [&](const NestRead &read) {
    return !read.inFinish &&
           footprint(read.map, tensorType(read.value), sizes) >= iterationPoints(op);
  });
}

namespace {
/// Nests that may form a group, and their common names.
class Chain {
public:
  explicit Chain(ComputeOp first) {
    add(first);
    for (const nd::Dim &dim : first.getProduced())
      names.push_back(dim);
  }

  /// Adds the nests that read members, in order, while common names remain. Readers of a nest that
  /// was not added are not added either.
  void extend() {
    constexpr size_t mostOutside = 256, mostMembers = 64; // for linear time
    auto comesBefore = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
    std::set<Operation *, decltype(comesBefore)> readers(comesBefore);
    Block *block = members.front()->getBlock();
    auto open = [&](Operation *op) {
      for (Operation *user : op->getUsers())
        if (Operation *here = block->findAncestorOpInBlock(*user); !members.contains(here))
          readers.insert(here);
    };
    open(members.front());
    while (!readers.empty() && outside.size() < mostOutside && members.size() < mostMembers) {
      Operation *next = *readers.begin();
      readers.erase(readers.begin());
      if (auto compute = dyn_cast<ComputeOp>(next); compute && join(compute))
        add(compute);
      else
        outside.insert(next);
      open(next);
    }
  }

  static bool mayJoin(ComputeOp op) {
    return !isFixed(op) && !op->hasAttr(groupAttr) && !op->hasAttr(materializeAttr) &&
           !op.getLayouts() && !reusesFactors(op);
  }

  /// Returns true if an argument or result with a fixed layout is contiguous along a name of the
  /// group: every point would then touch one cache line per element.
  bool goesAgainstMemory() const {
    for (Operation *op : members) {
      for (const NestRead &read : readsOf(op))
        if (auto last = lastName(read.value))
          if (auto coordinate = read.map.lookup(*last); !coordinate || mentionsGroup(*coordinate))
            return true;
      for (Value result : op->getResults())
        if (auto last = lastName(result); last && mentionsGroup(Expr::name(*last)))
          return true;
    }
    return false;
  }

  /// Returns true if the group saves enough by the cost model, since it restricts the schedules.
  /// `decisions` may be null.
  bool isWorthIt(FusionDecisions *decisions) const {
    if (!suits())
      return false;
    double before = 0;
    for (Operation *op : members)
      before += cost::secondsBySizes(op);
    double saved = cost::secondsSavedAsGroup(members.getArrayRef());
    bool isWorthIt = saved >= std::max(2e-5, 0.25 * before);
    if (decisions)
      decisions->add(decision(isWorthIt, saved));
    return isWorthIt;
  }

  /// Returns true if there are enough points to distribute over threads, and enough elements per
  /// point to fill vectors.
  bool suits() const {
    double points = 1, most = 0;
    for (const nd::Dim &dim : names)
      points *= double(dim.size().typical());
    for (Operation *op : members)
      most = std::max(most, iterationPoints(op));
    return members.size() > 1 && points >= 64 && most / points >= 128 &&
           llvm::all_of(members, [&](Operation *op) { return suits(cast<ComputeOp>(op)); }) &&
           !goesAgainstMemory();
  }

  /// Returns true if a member reads values of others as they are, without windows or gathers, whose
  /// vectors would have masks or strides in any layout; and if one name fills a vector at a point
  /// of the group, unless the nest has one element there.
  bool suits(ComputeOp op) const {
    Sizes space = sizesOf(iterationSpace(op));
    for (const NestRead &read : readsOf(op))
      if (members.contains(read.value.getDefiningOp()))
        for (const nd::Dim &dim : tensorType(read.value).getDims())
          if (auto coordinate = read.map.lookup(dim.name.getValue());
              !coordinate || !coordinate->asName() || !space.count(*coordinate->asName()))
            return false;
    constexpr int64_t lanes = 16; // of 32 bits in the widest vectors
    bool any = false, fills = false;
    for (const nd::DimsAttr &dims : {op.getProduced(), op.getReduced()})
      for (const nd::Dim &dim : dims)
        if (!llvm::is_contained(names, dim) && dim.size().typical() > 1) {
          any = true;
          fills |= dim.size().typical() >= lanes;
        }
    return fills || !any;
  }

  bool join(ComputeOp op) {
    SmallVector<nd::Dim> common;
    for (const nd::Dim &name : names)
      if (llvm::is_contained(op.getProduced().getDims(), name))
        common.push_back(name);
    for (const NestRead &read : readsOf(op)) {
      if (outside.contains(read.value.getDefiningOp()))
        return false;
      if (members.contains(read.value.getDefiningOp()))
        llvm::erase_if(common, [&](const nd::Dim &dim) {
          auto coordinate = read.map.lookup(dim.name.getValue());
          return !coordinate || *coordinate != Expr::name(dim.name.str());
        });
    }
    if (common.empty() || !mayJoin(op) || bytesInside(common) > cost::mostBytesOfPoint())
      return false;
    names = common;
    return true;
  }
  void add(ComputeOp op) {
    members.insert(op);
    for (Value result : op->getResults())
      made += tensorBytes(result);
  }

  FusionDecision decision(bool isGroup, double saved) const {
    std::string group =
        "a group over (" +
        llvm::join(llvm::map_range(names, [](const nd::Dim &dim) { return dim.name.str(); }),
                   ", ") +
        ") of " + std::to_string(members.size()) + " nests";
    FusionDecision made{labelOf(members[0]), members[0]->getLoc(), "runs in " + group,
                        "nests of their own", saved};
    return isGroup ? made : FusionDecision{made.nest, made.loc, "runs alone", group, -saved};
  }

  SetVector<Operation *> members;
  SmallVector<nd::Dim> names;

private:
  DenseSet<Operation *> outside;
  double made = 0; ///< bytes written by members

  bool mentionsGroup(const Expr &coordinate) const {
    return llvm::any_of(names,
                        [&](const nd::Dim &dim) { return coordinate.mentions(dim.name.str()); });
  }

  /// Returns the name along which a value is contiguous, if its layout is fixed.
  static std::optional<std::string> lastName(Value value) {
    nd::NdTensorType type = tensorType(value);
    std::optional<Layout> layout;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      if (!function)
        return std::nullopt;
      if (auto fixed = function.getArgAttrOfType<LayoutAttr>(argument.getArgNumber(), "nd.layout"))
        layout = fixed.getLayout();
      else if (isSortedArgument(argument))
        layout = sortedLayout(function, type);
    } else {
      for (OpOperand &use : value.getUses())
        if (auto end = dyn_cast<func::ReturnOp>(use.getOwner()))
          if (auto fixed = end->getParentOfType<func::FuncOp>().getResultAttrOfType<LayoutAttr>(
                  use.getOperandNumber(), "nd.layout"))
            layout = fixed.getLayout();
    }
    if (!layout)
      return std::nullopt;
    for (const Layout::Factor &factor : llvm::reverse(layout->factors))
      for (const std::string &name : llvm::reverse(factor.names))
        if (type.size(name).constant() != 1)
          return name;
    return std::nullopt;
  }

  /// Returns the bytes of all results of members at one point of the group.
  double bytesInside(ArrayRef<nd::Dim> common) const {
    double points = 1;
    for (const nd::Dim &dim : common)
      points *= double(std::max<int64_t>(1, dim.size().typical()));
    return made / points;
  }
};
} // namespace

bool nest::chooseGroups(Block &block, FusionDecisions *decisions) {
  int64_t count = 0;
  for (auto first : block.getOps<ComputeOp>()) {
    if (!Chain::mayJoin(first) || first.getProduced().size() == 0)
      continue;
    Chain chain(first);
    chain.extend();
    if (!chain.isWorthIt(decisions))
      continue;
    Builder b(block.getParentOp()->getContext());
    SmallVector<Attribute> request;
    for (const nd::Dim &dim : chain.names)
      request.push_back(dim.name);
    request.push_back(b.getI64IntegerAttr(-++count)); // users count from 0
    for (Operation *op : chain.members)
      op->setAttr(groupAttr, b.getArrayAttr(request));
  }
  return count != 0;
}
