//===- Network.h - a network with its loss ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loss takes a network, the fields of a batch and a mode:
//
//     nn::Outcome lossOf(const Net &net, const nn::Fields &fields, nn::Mode &mode) {
//       Tensor logits = net(fields.at("image"), mode), label = fields.at("label");
//       return {nn::sampleMean(nn::crossEntropy(logits, label, classes), fields),
//               {{"accuracy", nn::sampleMean(nn::isRight(logits, label, classes), fields)}}};
//     }
//
// A `Network` is such a function together with its parameters, by their paths. All networks have
// this type, so that programs can hold a list of them and trainers are compiled once.
//
//     nn::Network network = nn::networkOf(net, lossOf, key(7), batch);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_NETWORK_H
#define HEDDLE_NN_NETWORK_H

#include "heddle/nn/Leaves.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Mode.h"

#include <functional>

namespace heddle::nn {

/// A batch: each field of a data set by its name; "NAME_length", i32, for a field with an axis of
/// any size; "weight", f32: 1 for a sample, 0 for padding of the batch; "progress", f32 without
/// names: the completed fraction of the training.
struct Fields : std::map<std::string, Tensor> {
  using std::map<std::string, Tensor>::map;
  Fields(std::map<std::string, Tensor> tensors) : map(std::move(tensors)) {}
  /// Throws Error that lists the known fields for an unknown name.
  const Tensor &at(const std::string &name, Here here = Here::current()) const;
};

/// The loss of a batch, and measures by their names. All are scalars: means over the samples, or
/// over the elements that `counts` counts.
struct Outcome {
  Tensor loss;
  std::map<std::string, Tensor> measures;
  /// The counts of the means, by "loss" and the names of measures, such as the number of words,
  /// which differs from sample to sample. They are the weights of the parts of a batch, and of the
  /// batches in the mean of an epoch. A value without a count is a mean over the samples.
  std::map<std::string, Tensor> counts = {};
  HEDDLE_FIELDS(loss, measures, counts)
};
/// An outcome with the counts of its means.
///
///     Tensor right = nn::isRight(logits, next, word), counts = notEqual(next, 0.0);
///     return nn::outcomeOf(nn::countedCrossEntropy(logits, next, word, {.ignored = 0}),
///                          {{"accuracy", nn::countedMean(right, counts)}});
Outcome outcomeOf(const CountedMean &loss, const std::map<std::string, CountedMean> &measures = {});

/// The mean of `each`, weighted by the batch's "weight"; further names of `each` are averaged with
/// equal weights. Throws Error for an `each` without the samples' name.
Tensor sampleMean(const Tensor &each, const Fields &fields, Here here = Here::current());
/// 1 where the highest of the logits is that of `label`, else 0 (f32).
Tensor isRight(const Tensor &logits, const Tensor &label, const Name &classes,
               Here here = Here::current());

/// A network of any type.
struct Network {
  ByPath parameters;              ///< all tensors of the network
  std::vector<std::string> order; ///< their paths in the order of its members
  Mode mode;                      ///< for training, before the first step
  std::string samples;            ///< the name along which the samples of a batch lie
  std::function<Outcome(const ByPath &, const Fields &, Mode &)> loss;

  /// The number of elements of its float tensors; computes no tensor.
  int64_t parameterCount() const;
  /// The parameters, or a gradient, in the order of the network's members.
  Leaves leaves(ByPath &tree) const;
};

/// The network's struct with the tensors of `parameters`.
template <typename Net>
Net netFrom(Net like, const ByPath &parameters) {
  forEachTensor(like, [&](const std::string &path, Tensor &leaf) { leaf = parameters.at(path); });
  return like;
}

namespace detail {
/// Returns the outcome. Throws Error for a loss, a measure or a count that is not a scalar, and for
/// a count whose name is neither "loss" nor a measure's.
Outcome requireNumbers(Outcome outcome, Here here);
} // namespace detail

/// `loss(net, fields, mode)` returns an Outcome, which is checked when it is traced; an Error has
/// the location `here`.
template <typename Net, typename F>
Network networkOf(Net net, F loss, const Tensor &key, const Name &samples,
                  Here here = Here::current()) {
  Network network;
  network.samples = samples.str();
  network.mode = Mode::training(net, key, samples, here);
  forEachTensor(net, [&](const std::string &path, Tensor &leaf) {
    network.order.push_back(path);
    network.parameters[path] = std::exchange(leaf, Tensor());
  });
  network.loss = [net = std::move(net), loss = std::move(loss),
                  here](const ByPath &parameters, const Fields &fields, Mode &mode) -> Outcome {
    return detail::requireNumbers(loss(netFrom(net, parameters), fields, mode), here);
  };
  return network;
}

} // namespace heddle::nn

template <>
struct heddle::IsTree<heddle::nn::Fields> : std::true_type {};

#endif // HEDDLE_NN_NETWORK_H
