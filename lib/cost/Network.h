//===- Network.h - the links of a mesh --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The groups of devices of a mesh, with the links between them (Machine.h):
//
//     mesh<stage: 2, data: 4>     links = {stage = {bytes_per_second = 1e9}}, others 1e11
//
//     groupOf([data])             4 devices, 1e11 bytes per second
//     groupOf([stage, data])      8 devices, 1e9 bytes per second: those of the slowest links
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_NETWORK_H
#define HEDDLE_LIB_COST_NETWORK_H

#include "dialects/mesh/MeshDialect.h"
#include "lib/cost/Transfer.h"

namespace heddle::cost {

struct Network {
  mesh::MeshAttr mesh;
  Machine machine;

  /// The mesh and the machine of the function or module around an op.
  static Network at(Operation *op);

  Group groupOf(ArrayRef<mesh::Axis> axes) const;
  /// The axis, among these, whose links have the lowest rate; the first one of equals.
  StringRef slowest(ArrayRef<mesh::Axis> axes) const;
  TransferCost costOf(Operation *transfer) const;
};

/// The axes along which the devices of a transfer's group differ.
ArrayRef<mesh::Axis> axesOf(Operation *transfer);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_NETWORK_H
