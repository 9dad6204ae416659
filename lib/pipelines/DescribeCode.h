//===- DescribeCode.h - which ops machine code is from ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_DESCRIBECODE_H
#define HEDDLE_LIB_PIPELINES_DESCRIBECODE_H

#include "lib/pipelines/Kernels.h"

namespace heddle {

/// The functions of a program's code, for the manifest: a kernel is called after the first step that
/// runs it, what it shares with others after its symbol; lines are the source locations of the ops
/// that were fused into it.
std::vector<FunctionSpec> describeFunctions(const ProgramCode &code,
                                            const std::vector<EntrySpec> &entries,
                                            llvm::ArrayRef<OutlinedKernel> sources,
                                            llvm::ArrayRef<CompiledKernel> kernels);

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_DESCRIBECODE_H
