//===- ShardingSection.h - the table of shardings in a program --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of lib/transforms/mesh write rows to attributes of an entry's function
// (ExplainShardings.h). They become the section "shardings" of the program file.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_SHARDINGSECTION_H
#define HEDDLE_LIB_COMPILE_SHARDINGSECTION_H

#include "lib/support/Mlir.h"
#include "runtime/format/Manifest.h"
#include "runtime/format/ShardingTable.h"

namespace heddle {

/// Adds the rows of the function that became `entry`, if any.
void addShardings(ShardingTable &table, func::FuncOp function, const EntrySpec &entry);

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_SHARDINGSECTION_H
