//===- MeasureNest.h - compiles one nest and measures it --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest by itself, as a function with its layouts and its schedule (OutlineKernels.h), is compiled
// as any other program, and called on drawn data, as `heddle-bench cost` does. The data stay in the
// caches if they fit. Size symbols have typical values.
//
//     measureNest(kernel, options)->seconds      the median of the calls
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_MEASURENEST_H
#define HEDDLE_LIB_COMPILE_MEASURENEST_H

#include "lib/compile/Compile.h"
#include "lib/tuning/Database.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

namespace heddle {

/// Measures the nest of a kernel on `options.programThreads` threads. `facts`: those of the machine
/// that the user states; may be null. Fails if the nest can't run by itself.
llvm::Expected<tuning::Measurement> measureNest(func::FuncOp kernel, nest::MachineAttr facts,
                                                CompileOptions options);

/// Of the text of nests and the way of measuring them (tuning::Key).
std::string measurementVersion();

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_MEASURENEST_H
