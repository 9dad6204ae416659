//===- LocalReads.h - what a device reads -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reads of a nest, for the points of one device. A tensor that is split over the axes of the
// iteration name at which it is read is the device's own block. If the points of a device need an
// interval that reaches into other blocks, neighbours send it; any other read gathers the tensor
// along the name, and reads it at the whole coordinate:
//
//     %x[row = row]          %x is {row: [data]}, row is [data]:  the block, at [row = row]
//     %x[row = row + 1]      the block and one row of the next device, at [row = row + 1]
//     %x[row = read(0)]      gathered, at [row = read(0)]
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_LOCALREADS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_LOCALREADS_H

#include "lib/transforms/mesh/LocalSpace.h"
#include "lib/transforms/mesh/Reshard.h"

#include <functional>

namespace heddle::mesh {

class LocalReads {
public:
  using Lookup = std::function<LocalValue(mlir::Value)>;
  LocalReads(nest::LoopNestInterface op, const LocalSpace &space, Resharder &resharder,
             Lookup lookup)
      : op(op), space(space), resharder(resharder), lookup(std::move(lookup)) {}

  /// Adds read `i` of the nest. `mayExclude`: its guard may exclude points.
  void add(mlir::OpBuilder &b, unsigned i, bool mayExclude);
  /// Excludes the points beyond the sizes of these names, by a read of their own if no read may.
  void exclude(mlir::OpBuilder &b, nd::DimsAttr names);
  /// Adds an argument to the body for each read that it does not know.
  void addArguments(mlir::Region &body, mlir::Location loc) const;

  /// Adds the reads to the body of a nest; to its epilogue.
  void giveBody(nest::NestBuilder &nest) const;
  void giveFinish(nest::NestBuilder &nest) const;

private:
  struct Read {
    mlir::Value value;
    nest::MapAttr map;
    nest::GuardAttr guard;
    std::set<std::string> names; ///< ragged names at which it reads
    bool mayExclude;
  };
  nest::LoopNestInterface op;
  const LocalSpace &space;
  Resharder &resharder;
  Lookup lookup;
  std::vector<Read> reads;
  unsigned added = 0; ///< reads that the nest did not have

  void addConditions(Read &read, const std::set<std::string> &names) const;
};

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_LOCALREADS_H
