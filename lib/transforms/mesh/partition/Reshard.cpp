//===- Reshard.cpp - moves values between shardings -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/Reshard.h"

#include "dialects/nd/NdBuild.h"
#include "lib/transforms/mesh/partition/LocalSpace.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

llvm::SetVector<Value> mesh::usesOf(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

SmallVector<Value> Resharder::reduce(ValueRange values, ArrayRef<Axis> axes, Region &combine,
                                     ArrayAttr neutral, const std::string &scattered,
                                     Location loc) {
  Operation *made = createReduction(b, loc, mesh, values, AxesAttr::get(b.getContext(), axes),
                                    scattered, neutral);
  OpBuilder::InsertionGuard restore(b);
  Block *block = b.createBlock(&made->getRegion(0));
  for (BlockArgument argument : combine.front().getArguments())
    block->addArgument(argument.getType(), argument.getLoc());
  YieldOp::create(b, loc, nd::inlineBlock(b, combine.front(), block->getArguments()));
  return SmallVector<Value>(made->getResults());
}

LocalValue Resharder::join(LocalValue value, StringRef name, StringRef split, Location loc) {
  StringAttr joined = b.getStringAttr(name);
  auto axes = AxesAttr::get(b.getContext(), axesOf(value.sharding, name));
  value.sharding.erase(name.str());
  if (!split.empty())
    value.sharding[split.str()] = AxisList(axes.getAxes());
  Type type = blockType(mesh, value.whole, value.sharding);
  if (split.empty())
    value.value = AllGatherOp::create(b, loc, type, value.value, joined, axes, ArrayAttr());
  else
    value.value = AllToAllOp::create(b, loc, type, value.value, joined, b.getStringAttr(split),
                                     axes, ArrayAttr());
  return value;
}

/// Copies the device's block along the names that `to` splits and `from` does not.
LocalValue Resharder::slice(LocalValue from, const Sharding &to, Location loc) {
  Sharding cut;
  for (const auto &[name, axes] : to)
    if (axesOf(from.sharding, name).empty())
      cut[name] = axes;
  LocalSpace space(mesh, {from.whole.getDims()}, cut);
  auto inside = nest::guardOf(b.getContext(), space.inside(), nest::zeroOf(from.whole));
  from.value = nest::copyAt(b, loc, from.value, blockDims(mesh, from.whole.getDims(), to),
                            space.globals(), inside);
  from.sharding = to;
  return from;
}

LocalValue Resharder::move(const LocalValue &from, const Sharding &to, Location loc) {
  if (from.sharding == to)
    return from;
  auto &known = moved[{b.getInsertionBlock(), from.value.getAsOpaquePointer()}];
  for (const LocalValue &other : known)
    if (other.sharding == to)
      return other;
  LocalValue value = from;
  // In sorted order of names; passes see canonical names (nd-neutral-names).
  for (const auto &[name, axes] : from.sharding) {
    if (ArrayRef<Axis>(axes) == axesOf(to, name))
      continue;
    auto other = llvm::find_if(to, [&, &axes = axes](const auto &entry) {
      return entry.second == axes && axesOf(value.sharding, entry.first).empty();
    });
    bool moves = other != to.end() && axesOf(to, name).empty();
    value = join(value, name, moves ? other->first : "", loc);
  }
  if (value.sharding != to)
    value = slice(value, to, loc);
  moved[{b.getInsertionBlock(), from.value.getAsOpaquePointer()}].push_back(value);
  return value;
}
