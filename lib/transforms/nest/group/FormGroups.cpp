//===- FormGroups.cpp - forms requested groups of nests -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/group/FormGroups.h"

#include "lib/transforms/nest/Rewrite.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
class Former {
public:
  explicit Former(ArrayAttr request) : request(request) {
    for (Attribute each : request)
      if (auto name = dyn_cast<StringAttr>(each))
        names.push_back(name);
  }

  /// Forms the group from the nests between the two that request it.
  bool form(Operation *first, Operation *last) {
    collect(first, last);
    if (members.size() < 2 || !llvm::all_of(outside, isMemoryEffectFree))
      return false;
    // The group is inserted after the last member, and before all users of members.
    last = members.back();
    for (Operation *op : outside)
      if (op->isBeforeInBlock(members.back())) {
        op->moveAfter(last);
        last = op;
      }
    build();
    return true;
  }

private:
  ArrayAttr request;
  SmallVector<StringAttr> names;
  SetVector<Operation *> members;
  SetVector<Operation *> outside; ///< ops outside of the group that depend on members

  bool isAtSamePoint(MapAttr map) {
    return llvm::all_of(names, [&](StringAttr name) {
      auto coordinate = map.lookup(name.getValue());
      return coordinate && *coordinate == Expr::name(name.str());
    });
  }

  bool mayJoin(Operation &op) {
    auto compute = dyn_cast<ComputeOp>(op);
    if (!compute || op.getAttr(groupAttr) != request || isFixed(&op))
      return false;
    for (StringAttr name : names) {
      if (!compute.getProduced().contains(name.getValue()))
        return false;
      if (!members.empty() && tensorType(compute.getResult(0)).size(name) !=
                                  tensorType(members[0]->getResult(0)).size(name))
        return false;
    }
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      Operation *maker = operand.getDefiningOp();
      if (maker && members.contains(maker) && !isAtSamePoint(cast<MapAttr>(compute.getMaps()[i])))
        return false;
    }
    return true;
  }

  void collect(Operation *first, Operation *last) {
    for (Operation &op : llvm::make_range(first->getIterator(), std::next(last->getIterator()))) {
      bool ofMember = false, ofOutside = false;
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *maker = operand.getDefiningOp()) {
            ofMember |= members.contains(maker);
            ofOutside |= outside.contains(maker);
          }
      });
      if (!ofOutside && mayJoin(op))
        members.insert(&op);
      else if (ofMember || ofOutside)
        outside.insert(&op);
    }
  }

  nd::DimsAttr without(nd::DimsAttr dims) {
    return dims.where([&](const nd::Dim &dim) { return !llvm::is_contained(names, dim.name); });
  }

  /// Adds the member as a nest on one point of the group's names.
  ComputeOp addTo(OpBuilder &b, ComputeOp op, IRMapping &inner) {
    NestBuilder nest(b, op);
    nest.produced = without(op.getProduced());
    auto local = [&](Value &value, Attribute &map) {
      Value made = inner.lookupOrNull(value);
      if (!made)
        return;
      value = made;
      SmallVector<MapEntry> entries;
      for (const MapEntry &entry : cast<MapAttr>(map).getEntries())
        if (!llvm::is_contained(names, entry.name))
          entries.push_back(entry);
      map = MapAttr::getSorted(b.getContext(), entries);
    };
    for (size_t i = 0; i < nest.reads.size(); ++i)
      local(nest.reads[i], nest.maps[i]);
    for (size_t i = 0; i < nest.finishReads.size(); ++i)
      local(nest.finishReads[i], nest.finishMaps[i]);
    ComputeOp made = nest.createLike(op);
    made.removeLayoutsAttr();
    inheritAttributes(made, {op});
    made->removeAttr(groupAttr);
    return made;
  }

  void build() {
    OpBuilder b(members.back());
    Location loc = members.back()->getLoc();
    nd::DimsAttr shared = cast<ComputeOp>(members[0]).getProduced().where([&](const nd::Dim &dim) {
      return llvm::is_contained(names, dim.name);
    });
    SmallVector<Value> results;
    for (Operation *op : members)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(),
                         [&](Operation *user) { return !members.contains(user); }))
          results.push_back(result);
    auto group = GroupOp::create(b, loc, TypeRange(ValueRange(results)), shared, ArrayAttr(),
                                 ScheduleAttr());
    group->setAttr("heddle.name", b.getStringAttr("group"));
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&group.getBody());
    IRMapping inner;
    for (Operation *op : members)
      inner.map(op->getResults(), addTo(b, cast<ComputeOp>(op), inner)->getResults());
    SmallVector<Value> yields;
    for (Value result : results)
      yields.push_back(inner.lookup(result));
    YieldOp::create(b, loc, yields);
    for (auto [result, made] : llvm::zip_equal(results, group.getResults()))
      result.replaceUsesWithIf(made,
                               [&](OpOperand &use) { return !members.contains(use.getOwner()); });
    for (Operation *op : llvm::reverse(members))
      op->erase();
  }
};
} // namespace

bool nest::formGroups(Block &block) {
  llvm::MapVector<Attribute, SmallVector<Operation *>> requests;
  for (Operation &op : block)
    if (auto request = op.getAttrOfType<ArrayAttr>(groupAttr))
      requests[request].push_back(&op);
  bool any = false;
  for (auto &[request, asking] : requests) {
    // Forming a group may change the order of nests that request another one.
    llvm::sort(asking, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    any |= Former(cast<ArrayAttr>(request)).form(asking.front(), asking.back());
  }
  for (Operation &op : block)
    op.removeAttr(groupAttr);
  return any;
}
