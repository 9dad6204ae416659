//===- LocalReads.cpp - the reads of one device ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/LocalReads.h"

#include "dialects/nd/NdBuild.h"
#include "lib/transforms/mesh/partition/Halo.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::Condition;
using nest::GuardAttr;
using nest::MapAttr;
using nest::MapEntry;

/// Adds guards that restrict points to the sizes of these names. A guard that would hold everywhere
/// excludes points if the read may do that; otherwise it reads zero.
void LocalReads::addConditions(Read &read, const std::set<std::string> &names) const {
  if (names.empty())
    return;
  MLIRContext *context = read.map.getContext();
  SmallVector<Condition> conditions(read.guard.getConditions());
  TypedAttr otherwise = read.guard.getOtherwise();
  if (conditions.empty())
    otherwise = read.mayExclude ? TypedAttr() : nest::zeroOf(tensorType(read.value));
  for (const std::string &name : names) {
    Condition inside(context, space.isInside(name));
    if (!llvm::is_contained(conditions, inside))
      conditions.push_back(inside);
  }
  read.guard = GuardAttr::get(context, conditions, otherwise);
}

void LocalReads::add(OpBuilder &b, unsigned i, bool mayExclude) {
  auto map = cast<MapAttr>(op.getMapsAttr()[i]);
  auto guard = cast<GuardAttr>(op.getGuardsAttr()[i]);
  LocalValue held = lookup(op.getMappedReads()[i]);
  Ranges ranges = space.ranges();
  Sharding kept;                                   // names that are not gathered
  std::map<std::string, Expr> at;                  // coordinates of the read
  std::vector<std::pair<std::string, Expr>> whole; // of names that are not split
  std::vector<std::pair<std::string, Interval>> exchanged;
  std::set<std::string> names, beyond; // names it reads at; those beyond its own block
  for (const nd::Dim &dim : held.whole.getDims()) {
    std::string name = dim.name.str();
    Expr coordinate = *map.lookup(name);
    std::set<std::string> ragged;
    for (const std::string &each : coordinate.names())
      if (space.ragged().contains(each))
        ragged.insert(each);
    names.insert(ragged.begin(), ragged.end());
    auto only = coordinate.asName();
    ArrayRef<Axis> axes = axesOf(held.sharding, name);
    if (only && !axes.empty() && space.axes(*only) == axes && space.size(*only) == dim.size()) {
      kept[name] = AxisList(axes);
      at[name] = coordinate;
      continue;
    }
    beyond.insert(ragged.begin(), ragged.end());
    at[name] = coordinate.substitute(space.globals()).simplify(ranges);
    if (axes.empty()) {
      if (only && space.size(*only) == dim.size())
        whole.emplace_back(name, coordinate);
      continue;
    }
    if (auto interval = intervalOf(space.mesh, axes, dim.size().getExpr(), at[name], ranges)) {
      kept[name] = AxisList(axes);
      at[name] = interval->coordinate;
      exchanged.emplace_back(name, *interval);
    }
  }
  // The axes of another name of the tensor move to the name at which the nest has them.
  for (const auto &[name, coordinate] : whole) {
    ArrayRef<Axis> axes = space.axes(*coordinate.asName());
    if (!axes.empty() && llvm::any_of(held.sharding, [&](const auto &entry) {
          return ArrayRef<Axis>(entry.second) == axes && !kept.contains(entry.first);
        })) {
      kept[name] = AxisList(axes);
      at[name] = coordinate;
    }
  }
  Value value = resharder.move(held, kept, op.getLoc()).value;
  for (const auto &[name, interval] : exchanged)
    value = exchangeHalo(b, op.getLoc(), value, name, interval);
  SmallVector<MapEntry> entries;
  for (const auto &[name, coordinate] : at)
    entries.emplace_back(b.getContext(), name, coordinate);
  Read read{value, nest::simplifyMap(MapAttr::getSorted(b.getContext(), entries), ranges),
            nest::simplifyGuard(guard.substitute(space.globals()), ranges), names, mayExclude};
  addConditions(read, beyond);
  reads.push_back(std::move(read));
}

void LocalReads::exclude(OpBuilder &b, nd::DimsAttr dims) {
  std::set<std::string> all;
  for (const nd::Dim &dim : dims)
    if (space.ragged().contains(dim.name.str()))
      all.insert(dim.name.str());
  std::set<std::string> left = all;
  for (Read &read : reads) {
    std::set<std::string> here;
    for (const std::string &name : read.names)
      if (all.contains(name))
        here.insert(name);
    addConditions(read, here);
    if (read.guard.excludes())
      for (const std::string &name : here)
        left.erase(name);
  }
  if (left.empty())
    return;
  auto type = nd::NdTensorType::get(b.getI1Type(), ArrayRef<nd::Dim>());
  Value nothing = nd::buildConstant(b, op.getLoc(), type, b.getBoolAttr(false));
  Read read{nothing, MapAttr::identity(type), GuardAttr::get(b.getContext(), {}, TypedAttr()), left,
            /*mayExclude=*/true};
  addConditions(read, left);
  reads.push_back(std::move(read));
  ++added;
}

void LocalReads::addArguments(Region &body, Location loc) const {
  for (unsigned i = 0; i < added; ++i)
    body.addArgument(IntegerType::get(loc.getContext(), 1), loc);
}

void LocalReads::giveBody(nest::NestBuilder &nest) const {
  for (const Read &read : reads)
    nest.read(read.value, read.map, read.guard);
}
void LocalReads::giveFinish(nest::NestBuilder &nest) const {
  for (const Read &read : reads)
    nest.finishRead(read.value, read.map, read.guard);
}
