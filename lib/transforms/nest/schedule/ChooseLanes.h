//===- ChooseLanes.h - now ChooseVectorLanes.h ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSELANES_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSELANES_H

#include "lib/transforms/nest/schedule/ChooseVectorLanes.h"

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSELANES_H
