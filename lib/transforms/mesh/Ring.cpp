//===- Ring.cpp - operands of which one block is there at a time ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Ring.h"

#include "lib/transforms/mesh/Links.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::MapAttr;

namespace {
/// A nest, as it looks for an operand that goes around.
class Finder {
public:
  Finder(nest::ComputeOp op, const LocalSpace &space, function_ref<LocalValue(Value)> lookup)
      : op(op), space(space), lookup(lookup) {}

  std::optional<Ring> run(double leastBytes) {
    if (!space.axes(op.getReduced()).empty()) // each turn would reduce over devices
      return std::nullopt;
    for (unsigned i = 0; i < op.getReads().size(); ++i) {
      LocalValue held = lookup(op->getOperand(i));
      if (held.sharding.empty() ||
          bytesOf(held.value) * double(partsOf(space.mesh, held.sharding.begin()->second)) <
              leastBytes)
        continue;
      for (const auto &[name, axes] : held.sharding)
        if (auto at = nameAt(i, name); at && space.axes(*at).empty())
          if (Ring ring{i, name, *at, axes}; fits(ring))
            return ring;
    }
    return std::nullopt;
  }

private:
  nest::ComputeOp op;
  const LocalSpace &space;
  function_ref<LocalValue(Value)> lookup;

  MapAttr map(unsigned read) { return cast<MapAttr>(op.getMapsAttr()[read]); }
  /// The iteration name at which a name of an operand is read, if it has all of its coordinates.
  std::optional<std::string> nameAt(unsigned read, StringRef name) {
    auto at = map(read).lookup(name)->asName();
    bool isAll = at && space.size(*at) == tensorType(op->getOperand(read)).size(name);
    return isAll ? at : std::nullopt;
  }

  /// True if the ring's name is read as it is, and everything else is there.
  bool fits(const Ring &ring) {
    bool isUsed = partsOf(space.mesh, ring.axes) == 1;
    op.walk([&](nest::IndexOp index) {
      isUsed |= index.getName() == ring.at || op.getCombine().isAncestor(index->getParentRegion());
    });
    if (op.getReduced().contains(ring.at) &&
        !dividesEvenly(space.size(ring.at).getExpr(), partsOf(space.mesh, ring.axes)))
      return false; // points beyond the size would have to be excluded
    for (auto [i, value] : llvm::enumerate(op.getMappedReads())) {
      for (const nest::Condition &each :
           cast<nest::GuardAttr>(op.getGuardsAttr()[i]).getConditions())
        isUsed |= llvm::is_contained(each.expr().names(), ring.at);
      Sharding sharding = lookup(value).sharding;
      for (const nd::Dim &dim : tensorType(value).getDims()) {
        auto here = nameAt(unsigned(i), dim.name);
        ArrayRef<Axis> axes = axesOf(sharding, dim.name);
        if (i == ring.read && dim.name == ring.name)
          continue;
        // At the ring's name everything is there to be cut; at other names, the device's own block.
        bool isCut = llvm::is_contained(map(unsigned(i)).lookup(dim.name)->names(), ring.at);
        if (isCut ? !here || !axes.empty() : !axes.empty() && !(here && space.axes(*here) == axes))
          return false;
        // The axes would move to this name by an all-to-all, which sends less.
        if (i == ring.read && here && axes.empty() && space.axes(*here) == ArrayRef(ring.axes))
          return false;
      }
    }
    return !isUsed;
  }
};
} // namespace

std::optional<Ring> mesh::ringOf(nest::ComputeOp op, const LocalSpace &space,
                                 function_ref<LocalValue(Value)> lookup, double leastBytes) {
  return Finder(op, space, lookup).run(leastBytes);
}
