//===- LocalReads.h - the reads of one device -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reads of a nest, restricted to the points of one device. If a tensor is split over the axes
// of the iteration name at which it is read, the device reads its own block. If its points need an
// interval that extends into other blocks, neighbours send the rest. For any other read the tensor
// is gathered along the name, and read at the global coordinate:
//
//     %x[row = row]          %x is {row: [data]}, row is [data]:  the block, at [row = row]
//     %x[row = row + 1]      the block and one row of the next device, at [row = row + 1]
//     %x[row = read(0)]      gathered, at [row = read(0)]
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_LOCALREADS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_LOCALREADS_H

#include "lib/transforms/mesh/partition/LocalSpace.h"
#include "lib/transforms/mesh/partition/Reshard.h"

#include <functional>

namespace heddle::mesh {

class LocalReads {
public:
  using Lookup = std::function<LocalValue(Value)>;
  LocalReads(nest::LoopNestInterface op, const LocalSpace &space, Resharder &resharder,
             Lookup lookup)
      : op(op), space(space), resharder(resharder), lookup(std::move(lookup)) {}

  /// Adds read `i` of the nest. `mayExclude`: its guard may exclude points.
  void add(OpBuilder &b, unsigned i, bool mayExclude);
  /// Excludes points beyond the sizes of these names, by an extra read if no existing read may do
  /// so.
  void exclude(OpBuilder &b, nd::DimsAttr names);
  /// Adds an argument to the body for each added read.
  void addArguments(mlir::Region &body, Location loc) const;

  /// Adds the reads to the body of a nest, or to its epilogue.
  void giveBody(nest::NestBuilder &nest) const;
  void giveFinish(nest::NestBuilder &nest) const;

private:
  struct Read {
    Value value;
    nest::MapAttr map;
    nest::GuardAttr guard;
    std::set<std::string> names; ///< ragged names that it reads at
    bool mayExclude;
  };
  nest::LoopNestInterface op;
  const LocalSpace &space;
  Resharder &resharder;
  Lookup lookup;
  std::vector<Read> reads;
  unsigned added = 0; ///< number of added reads

  void addConditions(Read &read, const std::set<std::string> &names) const;
};

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_LOCALREADS_H
