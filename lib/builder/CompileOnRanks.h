//===- CompileOnRanks.h - one program for all ranks -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of a job run one program. One rank of each host compiles it for the instruction sets
// that the CPUs of all ranks have; the others load its image:
//
//     ProgramImage image = compileOnRanks(job, "train", module, options, statistics, [&](
//         const CompileOptions &agreed, CompileStatistics &counted) {
//       return compile(module, agreed, counted);
//     });
//
// If all CPUs are equal, the target is this CPU. Otherwise it is the generic x86-64 CPU with the
// common features, so that all hosts generate the same code.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_COMPILEONRANKS_H
#define HEDDLE_LIB_BUILDER_COMPILEONRANKS_H

#include "lib/compile/Compile.h"
#include "runtime/control/Job.h"

namespace heddle::detail {

using CompileForRank =
    std::function<ProgramImage(const CompileOptions &agreed, CompileStatistics &statistics)>;

/// All ranks call it with the same program, except for the numbers of names that `fresh` made.
/// Throws Error on all ranks if programs or options differ, if a CPU lacks a feature that the
/// program needs, and if `compile` throws; throws JobError if a rank dies.
ProgramImage compileOnRanks(Job &job, const std::string &name, ModuleOp module,
                            const CompileOptions &options, CompileStatistics &statistics,
                            const CompileForRank &compile);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_COMPILEONRANKS_H
