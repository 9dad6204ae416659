//===- Relayout.h - copies between layouts ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In any layout the offset of an element is a sum of independent terms, one per group of names that
// the layout merges. So a copy is a loop nest with one loop per group (a single name is a group of
// one). The iterations of a loop are tabulated as runs in which both sides have a constant stride.
// Runs that are contiguous on both sides are block copies; a transposition is tiled so that both
// sides stay in the cache.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_MEMORY_RELAYOUT_H
#define HEDDLE_RUNTIME_MEMORY_RELAYOUT_H

#include "runtime/expr/Layout.h"

namespace heddle {

/// Copies all elements of a tensor with these sizes from one layout to another. Both layouts must
/// have passed `Layout::verify`. Padding of the target becomes zero if its layout has
/// `zero_padded`, and is unchanged otherwise.
void relayout(const void *from, const Layout &fromLayout, void *to, const Layout &toLayout,
              const Sizes &sizes, int64_t elementBytes);

} // namespace heddle

#endif // HEDDLE_RUNTIME_MEMORY_RELAYOUT_H
