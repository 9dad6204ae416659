//===- Bucket.h - collectives that share a transfer -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transfer has a price of its own, however few bytes it moves. Collectives of one kind, over the same
// axes, with the same combiner and element type, that do not depend on each other are moved together,
// and share the number of a bucket in `mesh.bucket`:
//
//     %a = mesh.all_reduce %x over [data] ...              {mesh.bucket = 0}
//     %u = nest.compute reads %a[], ...            %b = ... {mesh.bucket = 0}
//     %b = mesh.all_reduce %y over [data] ...      %u = nest.compute reads %a[], ...
//
// Ops that use their results move behind the last one. A bucket holds a limited number of bytes, so that
// its transfer begins while later values are computed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_BUCKET_H
#define HEDDLE_LIB_TRANSFORMS_MESH_BUCKET_H

#include "dialects/mesh/Mesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::mesh {

/// The number of the transfer that a collective shares with others.
inline constexpr llvm::StringLiteral bucketAttrName = "mesh.bucket";

/// Moves collectives of the function's body together, up to `mostBytes` in a bucket.
void formBuckets(mlir::func::FuncOp function, double mostBytes);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_BUCKET_H
