//===- Chunks.h - how many chunks a nest has --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chunks are what threads share: each is one step of every `thread` loop (or of every grid, cluster
// and block loop) of a nest's schedule. Their number is written on the nest beside its schedule:
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

/// The number of chunks of a scheduled nest, over the symbols of its sizes; 0 if a compute or a
/// group has no points.
Expr chunksOf(mlir::Operation *nest);

/// Writes it on the nest, if that has a schedule.
void writeChunks(mlir::Operation *nest);

} // namespace heddle::nest

#endif // HEDDLE_LIB_ANALYSIS_CHUNKS_H
