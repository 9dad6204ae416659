//===- AnyOptimizer.h - an optimiser chosen at run time ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     nn::OptimizerChoice choice = nn::optimizer<nn::AdamW>({{.decay = 0.1}, {{"*.bias", {}}}});
//     nn::AnyOptimizer state = nn::AnyOptimizer::make(parameters, choice);
//     state.update(parameters, gradient, rate, choice);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_ANYOPTIMIZER_H
#define HEDDLE_NN_ANYOPTIMIZER_H

#include "heddle/nn/Optimizers.h"

#include <variant>

namespace heddle::nn {

/// An optimiser and its options.
template <typename O>
struct Uses {
  typename O::Groups groups;
};
using OptimizerChoice = std::variant<Uses<Sgd>, Uses<Adam>, Uses<AdamW>, Uses<RmsProp>,
                                     Uses<Adagrad>, Uses<Adadelta>, Uses<NovoGrad>, Uses<Lamb>>;

/// `optimizer<nn::Sgd>({.momentum = 0.9})`; with options by path
/// `optimizer<nn::AdamW>({{.decay = 0.1}, {{"*.bias", {}}}})`.
template <typename O>
OptimizerChoice optimizer(const typename O::Options &options) {
  return Uses<O>{typename O::Groups{options}};
}
template <typename O>
OptimizerChoice optimizer(const typename O::Groups &groups) {
  return Uses<O>{groups};
}
template <typename O>
OptimizerChoice optimizer() {
  return Uses<O>{};
}

/// The options as text, those of each pattern: "*.bias decay 0 ...; other paths decay 0.1 ...".
std::string describe(const OptimizerChoice &choice);

/// The state of the chosen optimiser, as the member of its name; the others are empty. Its paths
/// are those of a struct with such a member: "adam.mean.layers.0.weight".
struct AnyOptimizer {
  std::optional<Sgd> sgd;
  std::optional<Adam> adam;
  std::optional<AdamW> adamW;
  std::optional<RmsProp> rmsProp;
  std::optional<Adagrad> adagrad;
  std::optional<Adadelta> adadelta;
  std::optional<NovoGrad> novoGrad;
  std::optional<Lamb> lamb;
  HEDDLE_FIELDS(sgd, adam, adamW, rmsProp, adagrad, adadelta, novoGrad, lamb)

  /// As Optimizer::make if `inMemory`, else as Optimizer::declared.
  static AnyOptimizer make(ByPath &parameters, const OptimizerChoice &choice, bool inMemory = true,
                           Here here = Here::current());
  /// Optimizer::update of the chosen optimiser. Throws Error if `make` had another choice.
  void update(ByPath &parameters, ByPath &gradient, Operand rate, const OptimizerChoice &choice,
              Here here = Here::current());
};

} // namespace heddle::nn

#endif // HEDDLE_NN_ANYOPTIMIZER_H
