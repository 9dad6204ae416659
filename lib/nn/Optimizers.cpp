//===- Optimizers.cpp - parameters, gradients and states go together ------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Optimizers.h"

#include "heddle/Error.h"

using namespace heddle;
using namespace heddle::nn;

void nn::detail::requireAlike(const Leaves &parameters, const Leaves &gradient,
                              const std::vector<const std::vector<Tensor> *> &state, Here here) {
  auto refuse = [&](const std::string &message) {
    throw Error(std::string(here.file_name()) + ":" + std::to_string(here.line()) + ":" +
                std::to_string(here.column()) + ": " + message);
  };
  auto counts = [](size_t expected, size_t got) {
    return " (expected " + std::to_string(expected) + " tensors, got " + std::to_string(got) + ")";
  };
  for (size_t i = 0; i < std::max(parameters.size(), gradient.size()); ++i) {
    bool ends = i >= parameters.size() || i >= gradient.size();
    if (!ends && parameters[i].first == gradient[i].first)
      continue;
    refuse(ends ? (i < parameters.size()
                       ? "the gradient lacks '" + parameters[i].first + "'"
                       : "no parameter belongs to the gradient's '" + gradient[i].first + "'") +
                      counts(parameters.size(), gradient.size())
                : "expected the gradient of '" + parameters[i].first + "', got that of '" +
                      gradient[i].first + "'");
  }
  for (const std::vector<Tensor> *list : state) {
    if (list->size() < parameters.size())
      refuse("the optimiser was made without '" + parameters[list->size()].first + "'" +
             counts(parameters.size(), list->size()));
    if (list->size() > parameters.size())
      refuse("the optimiser was made for more parameters than these" +
             counts(parameters.size(), list->size()));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor &own = *gradient[i].second;
    if (own.empty())
      continue;
    auto expect = [&](const Tensor &other, const char *what) {
      std::string expected = parameters[i].second->type(), got = other.type();
      if (got != expected)
        refuse(std::string("expected ") + what + " of '" + parameters[i].first + "' to be " +
               expected + ", got " + got);
    };
    expect(own, "the gradient");
    for (const std::vector<Tensor> *list : state)
      expect((*list)[i], "the optimiser's state");
  }
}
