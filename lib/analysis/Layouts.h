//===- Layouts.h - the layout of a value ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After nest-assign-layouts every value has one layout, which is written where the value is
// defined: `nd.layout` on a function's arguments and results, `layouts` on a nest. The arguments
// and yielded values of a region are parts of tensors outside of the region:
//
//     %y = nest.group (batch: 8) {                     %y has the layout [batch, row]
//       %0 = nest.compute (row: 4) ...                 so %0 has [row] at each point of the group
//       nest.yield %0
//     }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_LAYOUTS_H
#define HEDDLE_ANALYSIS_LAYOUTS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Returns the default layout: row-major over the sorted names.
Layout sortedLayout(nd::NdTensorType type);

/// Returns the layout of a value at one point of the enclosing groups and scans.
Layout layoutOf(Value value);

/// Returns the layout of a slice: `layout` at one index of each of `names`.
Layout layoutAt(Layout layout, nd::DimsAttr names);

/// Moves the factors of these names to the front. Returns false if a name is not a factor by
/// itself.
bool putOutermost(Layout &layout, ArrayRef<StringAttr> names);

/// Rejects a layout of `what`, written at `loc`, in which elements of `type` do not have distinct
/// offsets. If the value is defined elsewhere (`made`), a note says where.
LogicalResult checkLayout(Location loc, const Layout &layout, const llvm::Twine &what, Type type,
                          std::optional<Location> made = {});
/// Names an argument in messages: "argument 'x'", or "argument 0" if it has no name.
std::string argumentText(func::FuncOp function, unsigned argument);
/// Rejects `nd.layout` of an argument or result of `function` unless it is "any" or a layout that
/// fits its type.
LogicalResult checkLayouts(func::FuncOp function);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_LAYOUTS_H
