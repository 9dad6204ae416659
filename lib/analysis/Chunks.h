//===- Chunks.h - the number of chunks of a nest ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads divide the work of a nest into chunks: a chunk is one step of every `thread` loop (or of
// every grid, cluster and block loop) of its schedule. The number of chunks is written on the nest
// with the schedule:
//
//     {heddle.chunks = #nd.size<2 * ((N + 31) floordiv 32)>,
//      schedule = #nest.schedule<[thread row by 32, thread column by 128, ...]>}
//
// for rows of N and 256 columns.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_ANALYSIS_CHUNKS_H
#define HEDDLE_LIB_ANALYSIS_CHUNKS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Returns the number of chunks of a scheduled nest, as an expression over the symbols of its
/// sizes. It is 0 if a compute or a group has no points.
Expr chunksOf(Operation *nest);

} // namespace heddle::nest

#endif // HEDDLE_LIB_ANALYSIS_CHUNKS_H
