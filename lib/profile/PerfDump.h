//===- PerfDump.h - describes compiled functions to perf --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linux's perf finds functions in files, but a program's code is mapped without a file. If
// $HEDDLE_PERF names a folder, each loaded program is written to `jit-PID.dump` there, in the
// format of perf's JIT interface: each function with its name, its code, and the source lines of
// its ops.
//
//     HEDDLE_PERF=. perf record -k mono ./train
//     perf inject --jit -i perf.data -o jit.data
//     perf report -i jit.data --sort symbol,srcline
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PROFILE_PERFDUMP_H
#define HEDDLE_LIB_PROFILE_PERFDUMP_H

#include "runtime/format/Manifest.h"

namespace heddle {

/// If $HEDDLE_PERF is set, describes the functions of `manifest`, which are mapped at `code`, to
/// perf. Throws Error if the file can't be written.
void describeToPerf(const Manifest &manifest, const char *code);

} // namespace heddle

#endif // HEDDLE_LIB_PROFILE_PERFDUMP_H
