//===- Layers.h - layers, losses, optimisers --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers are structs of tensors (trees, heddle/Tree.h) with a call operator; state is changed by assignment. Names are
// members, so that a layer works along whatever names a model uses.
//
//     struct Net {
//       nn::Conv first; nn::Linear last;
//       HEDDLE_FIELDS(first, last)
//     };
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_LAYERS_H
#define HEDDLE_NN_LAYERS_H

#include "heddle/Ops.h"
#include "heddle/Tree.h"

#include <cmath>

namespace heddle::nn {

/// y[out] = sum over in of x[in] * weight[in, out] + bias[out].
struct Linear {
  Tensor weight, bias;
  HEDDLE_FIELDS(weight, bias)
  /// Weights uniform in +-1/sqrt(inputs), as LeCun et al. (Efficient BackProp, 1998) advise; bias zero.
  static Linear make(const Names &in, const std::vector<int64_t> &inSizes, const Extent &out, const Tensor &key,
                     Here here = Here::current());
  /// `in`: the names that are summed over.
  Tensor operator()(const Tensor &x, const Names &in) const { return sum(x * weight, in) + bias; }
};

/// A convolution over two names, with padding that keeps the size, and a bias.
struct Conv {
  Tensor weight, bias; ///< weight: ky, kx, in, out
  HEDDLE_FIELDS(weight, bias)
  static Conv make(int64_t window, const Extent &in, const Extent &out, const Tensor &key, Here here = Here::current());
  /// The result has `out` renamed to `in`.
  Tensor operator()(const Tensor &x, const Name &row, const Name &column, const Name &in, const Name &out) const;
};

/// The largest element of each window x window square.
Tensor maxPool(const Tensor &x, const Name &row, const Name &column, int64_t window);

/// Sets elements to zero with probability `rate` and scales the others by 1 / (1 - rate).
Tensor dropout(const Tensor &x, double rate, const Tensor &key, const std::vector<Extent> &by);

/// Minus the logarithm of the probability that softmax over `classes` gives to `label` (an integer tensor).
Tensor crossEntropy(const Tensor &logits, const Tensor &label, const Name &classes);

/// Subtracts rate * velocity, where velocity = momentum * velocity + gradient.
struct Sgd {
  std::vector<Tensor> velocity;
  HEDDLE_FIELDS(velocity)
  template <typename T>
  static Sgd make(T &parameters) {
    Sgd sgd;
    forEachTensor(parameters, [&](const std::string &, Tensor &p) { sgd.velocity.push_back(zerosLike(p)); });
    return sgd;
  }
  template <typename T>
  void update(T &parameters, T &gradient, Operand rate, double momentum = 0.9) {
    std::vector<Tensor *> gradients;
    forEachTensor(gradient, [&](const std::string &, Tensor &g) { gradients.push_back(&g); });
    size_t next = 0;
    forEachTensor(parameters, [&](const std::string &, Tensor &p) {
      velocity[next] = velocity[next] * momentum + *gradients[next];
      p = p - velocity[next] * rate;
      ++next;
    });
  }
  static Tensor zerosLike(const Tensor &like);
};

/// Adam (Kingma and Ba, ICLR'15).
struct Adam {
  std::vector<Tensor> mean, square;
  Tensor steps; ///< f32
  HEDDLE_FIELDS(mean, square, steps)
  template <typename T>
  static Adam make(T &parameters) {
    Adam adam;
    forEachTensor(parameters, [&](const std::string &, Tensor &p) {
      adam.mean.push_back(Sgd::zerosLike(p));
      adam.square.push_back(Sgd::zerosLike(p));
    });
    adam.steps = Tensor::of<float>({0.0f}, {});
    return adam;
  }
  template <typename T>
  void update(T &parameters, T &gradient, double rate = 1e-3, double beta1 = 0.9, double beta2 = 0.999,
              double epsilon = 1e-8) {
    std::vector<Tensor *> gradients;
    forEachTensor(gradient, [&](const std::string &, Tensor &g) { gradients.push_back(&g); });
    steps = steps + 1.0;
    Tensor meanScale = rate / (1.0 - exp(steps * std::log(beta1)));
    Tensor squareScale = 1.0 / (1.0 - exp(steps * std::log(beta2)));
    size_t next = 0;
    forEachTensor(parameters, [&](const std::string &, Tensor &p) {
      Tensor &g = *gradients[next];
      mean[next] = mean[next] * beta1 + g * (1 - beta1);
      square[next] = square[next] * beta2 + g * g * (1 - beta2);
      p = p - mean[next] * meanScale / (sqrt(square[next] * squareScale) + epsilon);
      ++next;
    });
  }
};

/// Writes the tensors of a tree in the safetensors format, whole or not at all. Throws Error.
void saveTensors(const std::string &path, const std::vector<std::pair<std::string, Tensor>> &tensors,
                 const std::map<std::string, std::string> &metadata = {});
/// Reads a file that `saveTensors` wrote. Throws Error that names the file and the tensor.
std::map<std::string, Tensor> loadTensors(const std::string &path, std::map<std::string, std::string> *metadata = nullptr);

/// Saves all tensors of a tree by their paths.
template <typename T>
void saveTree(const std::string &path, T &tree, const std::map<std::string, std::string> &metadata = {}) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  forEachTensor(tree, [&](const std::string &name, Tensor &tensor) { tensors.emplace_back(name, tensor); });
  saveTensors(path, tensors, metadata);
}
/// Fills a tree from a file; names, sizes and element types must match.
template <typename T>
void loadTree(const std::string &path, T &tree, std::map<std::string, std::string> *metadata = nullptr) {
  auto tensors = loadTensors(path, metadata);
  forEachTensor(tree, [&](const std::string &name, Tensor &tensor) {
    auto found = tensors.find(name);
    if (found == tensors.end())
      throw Error("'" + path + "' has no tensor '" + name + "'");
    if (found->second.type() != tensor.type())
      throw Error("'" + path + "': the tensor '" + name + "' is " + found->second.type() + ", expected " +
                  tensor.type());
    tensor = found->second;
  });
}

} // namespace heddle::nn

#endif // HEDDLE_NN_LAYERS_H
