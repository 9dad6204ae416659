//===- NdRename.h - names across a rename -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps names across a rename. Names that the rename does not list stay:
//
//     nd.rename %x [row] to [r] : ... row, column -> ... r, column
//     nameAfter(rename, "row") is "r", nameBefore(rename, "r") is "row"; "column" is "column"
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_NDRENAME_H
#define HEDDLE_DIALECTS_ND_NDRENAME_H

#include "dialects/nd/Nd.h"

namespace heddle::nd {

llvm::StringRef nameAfter(RenameOp rename, llvm::StringRef inputName);
llvm::StringRef nameBefore(RenameOp rename, llvm::StringRef resultName);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDRENAME_H
