//===- JoinNests.h - nests of one space as one nest -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds one nest with the results of several that have the same space. It reads each element once,
// and its body, combiner and finish are those of the nests side by side:
//
//     %s = sum over n of %x[]        one nest, reads %x[]: yields x, x * x; combines s + s', q + q'
//     %q = sum over n of %x[]^2
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_JOINNESTS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_JOINNESTS_H

#include "lib/transforms/nest/Rewrite.h"

namespace heddle::nest {

/// Creates the nest before `insertBefore`, with the names of the last of `ops`, which stay.
ComputeOp joinNests(ArrayRef<ComputeOp> ops, Operation *insertBefore);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_JOINNESTS_H
