//===- Optimizers.h - gradient descent and Adam -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An optimiser is a tree that goes along with the parameters; `update` is traced
// as part of a step, so that it fuses with whatever makes the gradients, and
// parameters and optimiser are updated in place:
//
//     struct State { Net net; nn::Adam adam; HEDDLE_FIELDS(net, adam) };
//     auto step = jit([&](State &s, Tensor image, Tensor label) {
//       auto [loss, gradient] = valueAndGrad(...., s.net);
//       s.adam.update(s.net, gradient);
//       return loss;
//     });
//
// Rates are numbers, which are compiled in, or scalar tensors, which may change
// from step to step.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_OPTIMIZERS_H
#define HEDDLE_NN_OPTIMIZERS_H

#include "heddle/Ops.h"
#include "heddle/Tree.h"

#include <cmath>

namespace heddle::nn {

/// A tensor of zeros in memory, of the type of `like`.
Tensor zerosLike(const Tensor &like, Here here = Here::current());

namespace detail {
using Leaves = std::vector<std::pair<std::string, Tensor *>>;
template <typename T>
Leaves leavesOf(T &tree) {
  Leaves leaves;
  forEachTensor(tree,
                [&](const std::string &path, Tensor &leaf) { leaves.emplace_back(path, &leaf); });
  return leaves;
}
/// The gradient has the parameters' paths, and it and each list of an optimiser's `state` a tensor
/// of the type of each float parameter; else an Error names the path.
void requireAlike(const Leaves &parameters, const Leaves &gradient,
                  const std::vector<const std::vector<Tensor> *> &state, Here here);

/// Calls visit(i, parameter, gradient) for all float parameters, in order. Others, which have no
/// gradient, are passed over.
template <typename T, typename V>
void forEachPair(T &parameters, T &gradient, const std::vector<const std::vector<Tensor> *> &state,
                 Here here, V &&visit) {
  Leaves all = leavesOf(parameters), gradients = leavesOf(gradient);
  requireAlike(all, gradients, state, here);
  for (size_t i = 0; i < all.size(); ++i)
    if (!gradients[i].second->empty())
      visit(i, *all[i].second, *gradients[i].second);
}
template <typename T>
std::vector<Tensor> zerosLikeAll(T &parameters) {
  std::vector<Tensor> result;
  forEachTensor(parameters,
                [&](const std::string &, Tensor &p) { result.push_back(zerosLike(p)); });
  return result;
}
} // namespace detail

struct SgdOptions {
  double momentum = 0.9;
  double decay = 0; ///< of weights, in proportion to the rate
};

/// Gradient descent with momentum (Polyak, 1964): v = momentum * v + g, p -= rate * v.
struct Sgd {
  std::vector<Tensor> velocity;
  HEDDLE_FIELDS(velocity)

  template <typename T>
  static Sgd make(T &parameters) {
    return {detail::zerosLikeAll(parameters)};
  }
  template <typename T>
  void update(T &parameters, T &gradient, Operand rate, SgdOptions options = {},
              Here here = Here::current()) {
    detail::forEachPair(parameters, gradient, {&velocity}, here,
                        [&](size_t i, Tensor &p, Tensor &g) {
                          velocity[i] = velocity[i] * options.momentum +
                                        (options.decay ? g + p * options.decay : g);
                          p = p - velocity[i] * rate;
                        });
  }
};

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double decay = 0; ///< of weights, apart from the gradient (Loshchilov and Hutter, ICLR'19)
};

/// Adam (Kingma and Ba, ICLR'15).
struct Adam {
  std::vector<Tensor> mean, square;
  Tensor steps; ///< f32
  HEDDLE_FIELDS(mean, square, steps)

  template <typename T>
  static Adam make(T &parameters) {
    return {detail::zerosLikeAll(parameters), detail::zerosLikeAll(parameters),
            Tensor::of<float>({0.0f}, {})};
  }
  template <typename T>
  void update(T &parameters, T &gradient, Operand rate, AdamOptions options = {},
              Here here = Here::current()) {
    Tensor step = steps + 1.0;
    Tensor meanScale = 1.0 / (1.0 - exp(step * std::log(options.beta1)));
    Tensor squareScale = 1.0 / (1.0 - exp(step * std::log(options.beta2)));
    detail::forEachPair(parameters, gradient, {&mean, &square}, here,
                        [&](size_t i, Tensor &p, Tensor &g) {
                          mean[i] = mean[i] * options.beta1 + g * (1 - options.beta1);
                          square[i] = square[i] * options.beta2 + g * g * (1 - options.beta2);
                          Tensor direction = mean[i] * meanScale /
                                             (sqrt(square[i] * squareScale) + options.epsilon);
                          if (options.decay)
                            direction = direction + p * options.decay;
                          p = p - direction * rate;
                        });
    steps = step;
  }
};

} // namespace heddle::nn

#endif // HEDDLE_NN_OPTIMIZERS_H
