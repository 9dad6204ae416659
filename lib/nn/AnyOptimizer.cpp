//===- AnyOptimizer.cpp - an optimiser chosen at run time -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/AnyOptimizer.h"

#include "lib/nn/RunState.h"

using namespace heddle;
using namespace heddle::nn;

/// Calls use(optional, groups) for the member of the chosen type.
template <typename U>
static void withChosen(AnyOptimizer &all, const OptimizerChoice &choice, U &&use) {
  std::visit(
      [&]<typename O>(const Uses<O> &uses) {
        use(std::get<std::optional<O> &>(all.heddleFields()), uses.groups);
      },
      choice);
}

std::string nn::describe(const OptimizerChoice &choice) {
  std::string text;
  auto add = [&](const std::string &paths, auto options) {
    text += paths;
    std::string_view names = options.heddleFieldNames();
    std::apply(
        [&](auto... values) {
          ((text +=
            " " + std::string(heddle::detail::nextField(names)) + " " + exact(double(values))),
           ...);
        },
        options.heddleFields());
  };
  std::visit(
      [&](const auto &uses) {
        for (const auto &[pattern, options] : uses.groups.groups)
          add(pattern, options), text += "; ";
        add("other paths", uses.groups.others);
      },
      choice);
  return text;
}

AnyOptimizer AnyOptimizer::make(ByPath &parameters, const OptimizerChoice &choice, bool inMemory,
                                Here here) {
  AnyOptimizer result;
  withChosen(result, choice, [&]<typename O>(std::optional<O> &own, const auto &groups) {
    own = inMemory ? O::make(parameters, groups, here) : O::declared(parameters, groups, here);
  });
  return result;
}

void AnyOptimizer::update(ByPath &parameters, ByPath &gradient, Operand rate,
                          const OptimizerChoice &choice, Here here) {
  withChosen(*this, choice, [&](auto &own, const auto &groups) {
    if (!own)
      throw Error("expected the state of the optimiser that was chosen, got that of another", here);
    own->update(parameters, gradient, rate, groups, here);
  });
}
