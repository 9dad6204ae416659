//===- Check.h - assertions on tensors --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that compare tensors, for tests: `check.expect_eq %got, %expected : !nd.tensor<i32, row: 3>`.
// The interpreter evaluates them; the ops are described in CheckOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_CHECK_CHECK_H
#define HEDDLE_DIALECTS_CHECK_CHECK_H

#include "dialects/nd/Nd.h"

#include "dialects/check/CheckDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/check/CheckOps.h.inc"

#endif // HEDDLE_DIALECTS_CHECK_CHECK_H
