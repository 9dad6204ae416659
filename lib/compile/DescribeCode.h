//===- DescribeCode.h - maps machine code to ops ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_DESCRIBECODE_H
#define HEDDLE_LIB_COMPILE_DESCRIBECODE_H

#include "lib/compile/CompileKernels.h"

namespace heddle {

/// The functions of a program's code, for the manifest. A kernel is named after the first step that
/// runs it, and functions that kernels share after their symbols. Lines are the source locations of
/// the ops that were fused into a kernel.
std::vector<FunctionSpec> describeFunctions(const ProgramCode &code,
                                            const std::vector<EntrySpec> &entries,
                                            ArrayRef<OutlinedKernel> sources,
                                            ArrayRef<CompiledKernel> kernels);

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_DESCRIBECODE_H
