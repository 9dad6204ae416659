//===- Network.cpp - the links of a mesh ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Network.h"

#include "lib/analysis/NestAnalysis.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

ArrayRef<mesh::Axis> cost::axesOf(Operation *transfer) {
  if (auto message = dyn_cast<mesh::MessageInterface>(transfer))
    return message.getAxis().getAxes();
  return cast<mesh::CollectiveInterface>(transfer).getAxes().getAxes();
}

Network Network::at(Operation *op) { return {mesh::meshOf(op), Machine::at(op)}; }

Group Network::groupOf(ArrayRef<mesh::Axis> axes) const {
  SmallVector<std::string> names;
  for (const mesh::Axis &axis : axes)
    names.push_back(axis.name);
  return {mesh::partsOf(mesh, axes), machine.linkOf(names)};
}

StringRef Network::slowest(ArrayRef<mesh::Axis> axes) const {
  assert(!axes.empty() && "a group has axes");
  return std::ranges::min_element(
             axes, {},
             [&](const mesh::Axis &axis) { return machine.linkOf(axis.name).bytesPerSecond; })
      ->name;
}

TransferCost Network::costOf(Operation *op) const {
  Group group = groupOf(axesOf(op));
  if (auto message = dyn_cast<mesh::MessageInterface>(op)) {
    TransferCost cost = cost::costOf({1, tensorBytes(message.getMoved())}, group);
    cost.bytes = message.sends() ? cost.bytes : 0;
    return cost;
  }
  double rounds = double(cast<mesh::CollectiveInterface>(op).getRounds());
  return cost::costOf({rounds, sentBytes(cast<nest::TransferInterface>(op))}, group);
}
