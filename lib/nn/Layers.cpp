//===- Layers.cpp - losses, and what layers share -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"

#include "heddle/nn/Optimizers.h"
#include "lib/nn/Filled.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

Tensor nn::uniform(const Tensor &key, const std::vector<Extent> &extents, double low, double high,
                   Here here) {
  CallScope scope(here);
  return randomUniform(key, extents) * (high - low) + low;
}

Tensor nn::filled(float value, const std::vector<Extent> &extents, ElementType type, Here here) {
  if (type != ElementType::F32)
    return constant(value, type, extents, here);
  size_t count = 1;
  for (const Extent &extent : extents)
    count *= size_t(extent.size);
  std::vector<float> values;
  try {
    values.resize(count, value);
  } catch (const std::exception &) { // there are not so many, or not so much memory
    refuse("out of memory: " + std::to_string(count) + " floats for " +
               constant(value, type, extents, here).type(here),
           here);
  }
  return Tensor::of<float>(std::span<const float>(values), extents, here);
}

Tensor nn::zerosLike(const Tensor &like, Here here) {
  return filled(0, like.extents(), like.elementType(), here);
}

std::string nn::quoted(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

void nn::requireHas(const Tensor &x, const Names &names, Here here) {
  for (const Name &name : names)
    if (!x.has(name, here))
      refuse("expected an x with the name '" + name.str() + "', got " + x.type(here), here);
}

// A layer takes the names `in` away from `x` and gives it the others of its weight. Where `x` has
// these already, they would be taken for the same.
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

Tensor nn::crossEntropy(const Tensor &logits, const Tensor &label, const Name &classes, Here here) {
  CallScope scope(here);
  auto expect = [&](const std::string &what) {
    refuse("expected " + what + ", got " + label.type() + " for " + logits.type(), here);
  };
  ElementType type = label.elementType();
  if (isFloat(type))
    expect("labels of integers, the numbers of classes");
  for (const std::string &name : label.names())
    if (!logits.has(Name(name)) || classes == Name(name))
      expect("labels with names of the logits, without '" + classes.str() + "'");
  if (byteSize(type) < 4) // there may be more classes than it counts
    type = ElementType::I32;
  Tensor number = label.cast(type);
  Tensor numbers = iota({classes, logits.size(classes)}, type);
  Tensor shifted = logits - stopGradient(max(logits, classes));
  Tensor normaliser = log(sum(exp(shifted), classes));
  Tensor chosen = equal(number, numbers.broadcast(number.extents()));
  Tensor picked = sum(select(chosen, shifted, 0.0), classes);
  // A gather goes to the next class there is, where a label is none.
  Tensor isClass = equal(numbers.gather(classes, number), number);
  return select(isClass, normaliser - picked, NAN);
}
