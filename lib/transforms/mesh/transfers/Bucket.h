//===- Bucket.h - collectives that share a transfer -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transfer takes time to begin, besides that of its bytes. So independent collectives of one
// kind, over the same axes, with the same combiner and element type, are combined into one
// transfer, unless copying a value there takes longer than it saves (lib/cost/Transfer.h,
// lib/cost/Steps.h). They get the same bucket number in `mesh.bucket`:
//
//     %a = mesh.all_reduce %x over [data] ...              {mesh.bucket = 0}
//     %u = nest.compute reads %a[], ...            %b = ... {mesh.bucket = 0}
//     %b = mesh.all_reduce %y over [data] ...      %u = nest.compute reads %a[], ...
//
// Ops that use their results move after the last one. A bucket has a limited size, so that its
// transfer starts while later values are still being computed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_BUCKET_H
#define HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_BUCKET_H

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {

/// The number of the bucket, which the collectives of one transfer share.
inline constexpr StringLiteral bucketAttrName = "mesh.bucket";

/// Groups collectives of the function's body into buckets of up to `mostBytes`.
void formBuckets(func::FuncOp function, double mostBytes);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_BUCKET_H
