//===- LayerUtils.h - first values and checks of layers ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files of layers share these functions: initial values of parameters, and checks that a layer's
// names fit those of its input.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_LAYERUTILS_H
#define HEDDLE_LIB_NN_LAYERUTILS_H

#include "heddle/LayerScope.h"
#include "heddle/Scope.h"
#include "heddle/nn/Gradients.h"
#include "heddle/nn/Initializers.h"

#include <map>

namespace heddle::nn {

using detail::widened;

/// The names between quotes, for messages.
std::string quoted(const std::vector<std::string> &names);
template <typename T>
std::vector<std::string> keysOf(const std::map<std::string, T> &map) {
  std::vector<std::string> keys;
  for (const auto &[key, value] : map)
    keys.push_back(key);
  return keys;
}
/// The key of a layer's bias: distinct from the key of its weight and from `fold(key, i)` of
/// sublayers.
inline Tensor biasKey(const Tensor &key) { return fold(key, -1.0); }
/// The names of `x` that `like` lacks.
Names namesBeyond(const Tensor &x, const Tensor &like);
/// `x`, repeated along the names that only `like` has.
Tensor across(const Tensor &x, const Tensor &like);
/// `x`, with those of `renames` whose names it has.
Tensor renameExisting(const Tensor &x, const std::vector<Rename> &renames);
/// Throws Error for a dropout rate outside [0, 1).
void requireDropout(double rate, Here here);
/// Throws Error for an x that lacks one of `names`.
void requireHas(const Tensor &x, const Names &names, Here here);
/// Throws Error for an x whose size along `name` is known to be odd.
void requireEven(const Tensor &x, const Name &name, Here here);
/// Throws Error for an x that lacks a name that a layer sums over, or has one that its weight adds.
void requireNames(const Tensor &x, const Tensor &weight, const Names &in, Here here);
/// True (i1) where a length is from 0 to `size`, the size of `along`. JitOptions::check reports the
/// first that is not; without it, layers give NaN for such lengths. Throws Error for floats.
Tensor areLengths(const Tensor &lengths, const Name &along, const Size &size, Here here);

/// `x` with zeros from each length on along `along`: elements there affect neither values nor
/// gradients. `x` itself if `lengths` is empty.
Tensor zeroBeyond(const Tensor &x, const Name &along, const Tensor &lengths);

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_LAYERUTILS_H
