//===- LocalReads.cpp - what a device reads -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/LocalReads.h"

#include "dialects/nd/NdBuild.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::Condition;
using nest::GuardAttr;
using nest::MapAttr;
using nest::MapEntry;

/// Adds conditions that points are inside of these names. A guard that holds everywhere excludes, if
/// the read may, or reads zero instead.
void LocalReads::addConditions(Read &read, const LocalSpace &space,
                               const std::set<std::string> &names) {
  if (names.empty())
    return;
  MLIRContext *context = read.map.getContext();
  SmallVector<Condition> conditions(read.guard.getConditions());
  TypedAttr otherwise = read.guard.getOtherwise();
  if (conditions.empty())
    otherwise = read.mayExclude
                    ? TypedAttr()
                    : cast<TypedAttr>(Builder(context).getZeroAttr(
                          tensorType(read.value).scalarType()));
  for (const std::string &name : names) {
    Condition inside(context, space.isInside(name));
    if (!llvm::is_contained(conditions, inside))
      conditions.push_back(inside);
  }
  read.guard = GuardAttr::get(context, conditions, otherwise);
}

void LocalReads::add(OpBuilder &b, unsigned i, bool mayExclude) {
  Value operand = op.getMappedReads()[i];
  auto map = cast<MapAttr>(op.getMapsAttr()[i]);
  auto guard = cast<GuardAttr>(op.getGuardsAttr()[i]);
  LocalValue held = lookup(operand);
  Sharding wanted;
  SmallVector<MapEntry> entries;
  std::set<std::string> names, beyond; // at which it reads; of these, with whole coordinates
  for (const nd::Dim &dim : held.whole.getDims()) {
    std::string name = dim.name.str();
    Expr at = *map.lookup(name);
    for (const std::string &each : at.names())
      if (space.ragged().contains(each))
        names.insert(each);
    auto only = at.asName();
    ArrayRef<Axis> axes = axesOf(held.sharding, name);
    if (only && !axes.empty() && space.axes(*only) == axes && space.size(*only) == dim.size()) {
      wanted[name] = AxisList(axes);
      entries.emplace_back(b.getContext(), name, at);
      continue;
    }
    for (const std::string &each : at.names())
      if (space.ragged().contains(each))
        beyond.insert(each);
    entries.emplace_back(b.getContext(), name, at.substitute(space.globals()));
  }
  Ranges ranges = space.ranges();
  Value value = resharder.move(held, wanted, op.getLoc()).value;
  Read read{value,
            nest::simplifyMap(MapAttr::getSorted(b.getContext(), entries), ranges),
            nest::simplifyGuard(guard.substitute(space.globals()), ranges),
            names,
            mayExclude,
            i >= op.getNumBodyReads()};
  addConditions(read, space, beyond);
  reads.push_back(std::move(read));
}

void LocalReads::exclude(OpBuilder &b, nd::DimsAttr dims) {
  std::set<std::string> left;
  for (const nd::Dim &dim : dims)
    if (space.ragged().contains(dim.name.str()))
      left.insert(dim.name.str());
  std::set<std::string> all = left;
  for (Read &read : reads) {
    if (read.inFinish)
      continue;
    std::set<std::string> here;
    for (const std::string &name : read.names)
      if (all.contains(name))
        here.insert(name);
    addConditions(read, space, here);
    if (!read.guard.isTrivial() && read.guard.excludes())
      for (const std::string &name : here)
        left.erase(name);
  }
  if (left.empty())
    return;
  auto type = nd::NdTensorType::get(b.getI1Type(), ArrayRef<nd::Dim>());
  Value nothing = nd::buildConstant(b, op.getLoc(), type, b.getBoolAttr(false));
  Read read{nothing, MapAttr::identity(type), GuardAttr::get(b.getContext(), {}, TypedAttr()), left,
            /*mayExclude=*/true, /*inFinish=*/false};
  addConditions(read, space, left);
  // Behind the reads of the body.
  auto end = llvm::find_if(reads, [](const Read &each) { return each.inFinish; });
  reads.insert(end, std::move(read));
  ++added;
}

void LocalReads::addArguments(Region &body, Location loc) const {
  for (unsigned i = 0; i < added; ++i)
    body.addArgument(IntegerType::get(loc.getContext(), 1), loc);
}

void LocalReads::give(nest::NestBuilder &nest, bool finish, bool asBody) const {
  for (const Read &read : reads) {
    if (read.inFinish != finish)
      continue;
    if (finish && !asBody)
      nest.finishRead(read.value, read.map, read.guard);
    else
      nest.read(read.value, read.map, read.guard);
  }
}

SmallVector<Value> LocalReads::values() const {
  return llvm::map_to_vector(reads, [](const Read &read) { return read.value; });
}
ArrayAttr LocalReads::maps(OpBuilder &b) const {
  return b.getArrayAttr(
      llvm::map_to_vector(reads, [](const Read &read) -> Attribute { return read.map; }));
}
ArrayAttr LocalReads::guards(OpBuilder &b) const {
  return b.getArrayAttr(
      llvm::map_to_vector(reads, [](const Read &read) -> Attribute { return read.guard; }));
}
