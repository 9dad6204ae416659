//===- ProgramCache.h - compiled programs on disk ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module that was compiled before, by this compiler with these options for this machine, is not
// compiled again: the cache of kernels (KernelCache.h) also holds programs, under the hash of
//
//     the module's text with source locations | options | the machine's facts | the version
//
// A module that differs, even if only in a line number, runs all passes; kernels that did not
// change come from the cache.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_PROGRAMCACHE_H
#define HEDDLE_LIB_COMPILE_PROGRAMCACHE_H

#include "dialects/nest/Nest.h"

#include "lib/compile/Compile.h"
#include "lib/compile/KernelCache.h"
#include "lib/target/Target.h"

namespace heddle {

/// The cache key of the program of `module`; `timed`: the facts for predicted times.
std::string programKey(ModuleOp module, const CompileOptions &options, nest::MachineAttr machine,
                       nest::MachineAttr timed, const Target &target);

/// A line of JSON with the statistics, and the program file.
std::string packProgram(const ProgramImage &image, const CompileStatistics &statistics);
/// Sets `statistics` except for the seconds; none for invalid text.
std::optional<ProgramImage> unpackProgram(StringRef text, CompileStatistics &statistics);

/// The program under `key`, and its statistics except for the seconds; none if the cache lacks it.
std::optional<ProgramImage> findProgram(const KernelCache &cache, const std::string &key,
                                        CompileStatistics &statistics);

void storeProgram(const KernelCache &cache, const std::string &key, const ProgramImage &image,
                  const CompileStatistics &statistics);

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_PROGRAMCACHE_H
