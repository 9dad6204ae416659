//===- Layers.cpp - what layers share -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/LayerUtils.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::nn;

std::string nn::quoted(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

Names nn::namesBeyond(const Tensor &x, const Tensor &like) {
  Names others;
  for (const Name &name : namesOf(x))
    if (!like.has(name))
      others.push_back(name);
  return others;
}

Tensor nn::across(const Tensor &x, const Tensor &like) {
  std::vector<Extent> others;
  for (const Name &name : namesBeyond(like, x))
    others.push_back({name, like.size(name)});
  return others.empty() ? x : x.broadcast(others);
}

Tensor nn::renameExisting(const Tensor &x, const std::vector<Rename> &renames) {
  std::vector<Rename> own;
  for (const Rename &rename : renames)
    if (x.has(rename.from))
      own.push_back(rename);
  return x.rename(own);
}

void nn::requireHas(const Tensor &x, const Names &names, Here here) {
  for (const Name &name : names)
    if (!x.has(name, here))
      refuse("expected an x with the name '" + name.str() + "', got " + x.type(here), here);
}

void nn::requireEven(const Tensor &x, const Name &name, Here here) {
  requireHas(x, {name}, here);
  if (Size size = x.size(name, here); size.isNumber() && int64_t(size) % 2)
    refuse("expected an even size of '" + name.str() + "', got " + x.type(here), here);
}

// A layer replaces the names `in` of `x` by the other names of its weight. If `x` already had one
// of those, the product would align it with the weight's.
void nn::requireNames(const Tensor &x, const Tensor &weight, const Names &in, Here here) {
  std::vector<std::string> produced;
  for (const std::string &name : weight.names(here))
    if (std::find(in.begin(), in.end(), Name(name)) == in.end())
      produced.push_back(name);
  for (const Name &name : in)
    if (!x.has(name, here))
      refuse("expected an x with the name '" + name.str() + "', which the layer sums over, got " +
                 x.type(here),
             here);
  auto isOfX = [&](const std::string &name) { return x.has(Name(name), here); };
  if (!produced.empty() && std::all_of(produced.begin(), produced.end(), isOfX))
    refuse("expected an x without " + quoted(produced) + ", which the layer produces, got " +
               x.type(here) + "; give it another name before, x.rename({{" + produced[0] +
               ", ...}})",
           here);
}

Tensor nn::zeroBeyond(const Tensor &x, const Name &along, const Tensor &lengths) {
  if (lengths.empty())
    return x;
  Tensor place = iota({along, x.size(along)}).broadcast(lengths.extents());
  return select(place < lengths.cast(ElementType::I64), x, 0.0);
}

Tensor nn::areLengths(const Tensor &lengths, const Name &along, const Size &size, Here here) {
  if (isFloat(lengths.elementType(here)))
    refuse("expected lengths of integers, got " + lengths.type(here), here);
  Tensor wide = lengths.cast(ElementType::I64);
  // `gather` clamps a length out of range, and JitOptions::check reports it.
  return equal(iota({along, size + 1}).gather(along, wide), wide);
}
