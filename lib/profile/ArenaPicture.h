//===- ArenaPicture.h - a memory plan as a picture --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PROFILE_ARENAPICTURE_H
#define HEDDLE_LIB_PROFILE_ARENAPICTURE_H

#include "runtime/base/Formatted.h"
#include "runtime/format/Manifest.h"

namespace heddle {

/// The memory plan of each entry as SVG: x is the step, y the offset in the arena, and a box is the
/// live range of a temporary, with its name, size and source location as a tooltip.
std::string arenaPicture(const Manifest &manifest);

/// `Network.cpp:32` of the location `models/fashion/Network.cpp:32:19`.
std::string shortened(const std::string &location);
/// Escapes <, >, & and ' for HTML and SVG.
std::string escapedForHtml(const std::string &text);

} // namespace heddle

#endif // HEDDLE_LIB_PROFILE_ARENAPICTURE_H
