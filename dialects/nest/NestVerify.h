//===- NestVerify.h - verifies schedules ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_NESTVERIFY_H
#define HEDDLE_DIALECTS_NEST_NESTVERIFY_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// c9; `operands` are the operands that a schedule may stage.
LogicalResult verifySchedule(ScheduledInterface op, nd::DimsAttr produced,
                             nd::DimsAttr reduced = {}, ValueRange operands = {});
/// The same for an op that runs its own code at each point of some names, and over reduced ones.
LogicalResult verifyPoints(ScheduledInterface op, nd::DimsAttr reduced = {});

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_NESTVERIFY_H
