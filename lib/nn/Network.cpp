//===- Network.cpp - a network with its loss ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Network.h"

#include "lib/nn/LayerUtils.h"

using namespace heddle;
using namespace heddle::nn;

const Tensor &Fields::at(const std::string &name, Here here) const {
  if (auto found = find(name); found != end())
    return found->second;
  std::string known;
  for (const auto &[each, tensor] : *this)
    known += (known.empty() ? "'" : ", '") + each + "'";
  throw Error("no field '" + name + "'; there are " + known, here);
}

/// "'batch', 'time'"
static std::string namesIn(const Tensor &tensor) {
  std::string text;
  for (const Name &name : namesOf(tensor))
    text += (text.empty() ? "'" : ", '") + name.str() + "'";
  return text;
}

Outcome nn::detail::requireNumbers(Outcome outcome, Here here) {
  auto require = [&](const std::string &what, const Tensor &tensor) {
    if (!tensor.empty() && !tensor.names().empty())
      throw Error("expected " + what + " to be one number, got " + tensor.type(here) +
                      ": take the mean over " + namesIn(tensor) + ", as sampleMean does",
                  here);
  };
  require("the loss", outcome.loss);
  for (const auto &[name, value] : outcome.measures)
    require("the measure '" + name + "'", value);
  for (const auto &[name, count] : outcome.counts) {
    if (name != "loss" && !outcome.measures.contains(name))
      throw Error("expected counts of the loss and of measures, got one of '" + name + "'", here);
    require("the count of '" + name + "'", count);
  }
  return outcome;
}

Outcome nn::outcomeOf(const CountedMean &loss, const std::map<std::string, CountedMean> &measures) {
  Outcome outcome{loss.mean, {}};
  auto add = [&](const std::string &name, const Tensor &count) {
    if (!count.empty())
      outcome.counts[name] = count;
  };
  add("loss", loss.count);
  for (const auto &[name, measure] : measures) {
    outcome.measures[name] = measure.mean;
    add(name, measure.count);
  }
  return outcome;
}

Tensor nn::sampleMean(const Tensor &each, const Fields &fields, Here here) {
  CallScope scope(here);
  const Tensor &weight = fields.at("weight");
  Names samples = namesOf(weight), others;
  requireHas(each, samples, here);
  for (const Name &name : namesOf(each))
    if (!weight.has(name))
      others.push_back(name);
  return countedMean(others.empty() ? each : mean(each, others), weight)
      .mean.cast(ElementType::F32);
}

Tensor nn::isRight(const Tensor &logits, const Tensor &label, const Name &classes, Here here) {
  CallScope scope(here);
  return equal(argmax(logits, over(classes)), label.cast(ElementType::I64)).cast(ElementType::F32);
}

int64_t Network::parameterCount() const {
  int64_t count = 0;
  for (const auto &[path, tensor] : parameters)
    if (isFloat(tensor.elementType()))
      count += int64_t(tensor.count());
  return count;
}

Leaves Network::leaves(ByPath &tree) const {
  Leaves leaves;
  for (const std::string &path : order)
    leaves.emplace_back(path, &tree.at(path));
  return leaves;
}
