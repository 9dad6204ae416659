//===- PerfDump.h - compiled functions as perf sees them --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linux's perf finds functions in files, but the mapped code of a program has no file. If
// $HEDDLE_PERF names a folder, every program that is loaded is written to `jit-PID.dump` there, in
// the format of perf's JIT interface: each function with its name, its code, and the source lines
// of the ops that it computes.
//
//     HEDDLE_PERF=. perf record -k mono ./train
//     perf inject --jit -i perf.data -o jit.data
//     perf report -i jit.data --sort symbol,srcline
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_PERFDUMP_H
#define HEDDLE_RUNTIME_PROGRAM_PERFDUMP_H

#include "runtime/program/Manifest.h"

namespace heddle {

/// Describes the functions of `manifest`, mapped to `code`, to perf if $HEDDLE_PERF is set.
/// Throws Error if the file can't be written.
void describeToPerf(const Manifest &manifest, const char *code);

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_PERFDUMP_H
