//===- LayoutChooser.h - solves the choice of layouts -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chooser maps a LayoutProblem to a LayoutChoice, and depends on nothing else.
// `chooseLayouts` states it as a PairwiseProblem, whose unknowns are the layouts of values and the
// ways of nests, and solves that (PairwiseChoice.h). Unknowns are visited in the order of
// the problem, and effort is counted in steps, so a choice is deterministic.
//
// Another function can take its place.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTCHOOSER_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTCHOOSER_H

#include "lib/transforms/nest/layout/LayoutProblem.h"

namespace heddle::nest {

using LayoutChooser = function_ref<LayoutChoice(const LayoutProblem &)>;

/// Its choices have bounds: most are the cheapest ones.
LayoutChoice chooseLayouts(const LayoutProblem &problem);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTCHOOSER_H
