//===- Mode.h - training or evaluation --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function describes a network for training and for evaluation. It passes a mode to the layers
// that differ: dropout draws from its random key, batch normalisation keeps its moments in it.
//
//     struct Net {
//       nn::Conv conv;  nn::BatchNorm norm;  nn::Linear last;
//       HEDDLE_FIELDS(conv, norm, last)
//       Tensor operator()(Tensor x, nn::Mode &mode) const {
//         x = norm(conv(x, over(row, column), channel, out), over(batch, row, column), mode);
//         x = nn::dropout(relu(x), 0.5, channel, mode);
//         return last(x, over(row, column, channel));
//       }
//     };
//     struct State {
//       Net net;  nn::Mode mode;  nn::Adam adam;
//       HEDDLE_FIELDS(net, mode, adam)
//     };
//     State state{net, nn::Mode::training(net, key(7), batch), nn::Adam::make(net)};
//
//     auto step = jit([](State &s, Tensor image, Tensor label) {
//       auto [loss, gradient] = nn::valueAndGrad([&](Net net, nn::Mode &mode) {
//         return mean(nn::crossEntropy(net(image, mode), label, classes), over(batch));
//       }, s.net, s.mode);
//       s.adam.update(s.net, gradient, 1e-3);
//       return loss;
//     });
//     auto classify = jit([](const Net &net, nn::Mode mode, Tensor image) {
//       return net(image, mode);
//     });
//     Tensor scores = classify(state.net, state.mode.evaluation(), image);
//
// A mode is a tree: the key, the number of draws so far, and the moments of each layer by its path.
// A checkpoint that holds it resumes with the same random numbers. A mode for evaluation has no
// key, so it has another signature and another program.
//
// Layers change the mode that they are given. So a body that is traced on its own (of a scan, a
// loop, a branch, a checkpoint) must take the mode as an argument and return it; using a captured
// mode for training throws Error.
//
//     std::tie(x, mode) = checkpoint([](Block block, Tensor x, nn::Mode mode) {
//       x = block(x, mode);
//       return std::pair(x, mode);
//     })(block, x, mode);
//
// A test that inspects the outputs of layers makes a mode that records them:
//
//     x = mode.seen("block.1", block(x, mode));                          // in the network
//     nn::Mode mode = state.mode.observing();                            // in the test
//     ...                                                // mode.outputs.at("block.1") after a call
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_MODE_H
#define HEDDLE_NN_MODE_H

#include "heddle/Jit.h"

#include <optional>

namespace heddle::nn {

/// Running means and variances, which evaluation uses.
struct RunningMoments {
  Tensor mean, variance;
  HEDDLE_FIELDS(mean, variance)
};

/// Identifies in a layer the moments, of these extents, that a mode keeps for it. Copies of a layer
/// share the slot.
struct MomentsSlot {
  Sizes extents;
  uint64_t layer = next(); ///< not plain: networks of one type run the same program
  HEDDLE_PLAIN(extents)
  static uint64_t next();
};

/// The source of random numbers: no two draws get the same key.
struct RandomState {
  Tensor key, drawn; ///< ui64; the number of draws so far, i64
  /// While a part of a batch is traced: the position of the part's first sample in the batch, i64.
  std::optional<Tensor> first = {};
  HEDDLE_FIELDS(key, drawn, first)
};

class Mode {
public:
  std::optional<RandomState> random; ///< in training only
  std::map<std::string, RunningMoments> moments;
  std::map<std::string, Tensor> outputs; ///< what `seen` recorded, in an observing mode
  std::vector<std::string> outputPaths;  ///< their paths in the order of recording
  HEDDLE_FIELDS(random, moments, outputs)
  HEDDLE_PLAIN(outputPaths, samples, keepsOutputs, dropping)

  /// For evaluation of a network without moments.
  Mode() = default;
  Mode(const Mode &) = default;
  Mode(Mode &&) = default;
  /// Assigns to the existing map entries of equal paths, whose addresses `jit` holds while it
  /// traces a state.
  Mode &operator=(const Mode &other);
  /// For training: moments of mean 0 and variance 1 for each layer of `net` that keeps them. Along
  /// `samples`, such as the batch, each sample has its own random numbers. Throws Error if two
  /// layers are copies of one another, since they would share moments.
  template <typename T>
  static Mode training(const T &net, const Tensor &key, const Names &samples,
                       Here here = Here::current()) {
    Mode mode = training(key, samples, here);
    forEachNode(const_cast<T &>(net), [&]<typename N>(const std::string &path, N &node) {
      if constexpr (requires { node.slot.layer; })
        mode.add(path, node.slot, here);
    });
    return mode;
  }
  /// For training of a network without moments.
  static Mode training(const Tensor &key, const Names &samples, Here here = Here::current());
  /// The same moments, for evaluation.
  Mode evaluation() const;
  bool isTraining() const { return random.has_value(); }
  /// The same mode with `dropout` disabled, for comparisons with other programs.
  Mode withoutDropout() const;
  bool drops() const { return isTraining() && dropping; }

  /// The same mode, which records outputs by `seen`, with no recorded outputs yet.
  Mode observing() const;
  /// Returns x, the output of the layer at `path`; an observing mode records it. Rules
  /// of a plan find an operator that reads no parameter by this path. An observing mode throws
  /// Error for a path that was recorded before, and in a body that captures the mode.
  Tensor seen(const std::string &path, const Tensor &x, Here here = Here::current());

  /// The names of samples that `x` has.
  Names samplesOf(const Tensor &x) const;
  /// A new key. Throws Error in evaluation, and in a body that captures the mode.
  Tensor draw(Here here = Here::current());
  /// A key for each sample, with the names of samples that `x` has. It depends on the sample's
  /// position in the batch alone: a sample gets the same numbers whether its batch is whole, in
  /// parts (Training::microBatches) or on several ranks.
  Tensor drawEach(const Tensor &x, Here here = Here::current());
  /// The moments of a layer. Throws Error if the mode was made for a network without this layer.
  const RunningMoments &running(const MomentsSlot &slot, Here here = Here::current()) const;
  /// Moves them by `rate` of the way towards `mean` and `variance`.
  void track(const MomentsSlot &slot, const Tensor &mean, const Tensor &variance, double rate,
             Here here = Here::current());

private:
  /// The number of the body that is being traced when a mode is made or copied; a move keeps it.
  struct Body {
    uint64_t number = heddle::detail::BodyScope::current();
    Body() = default;
    Body(const Body &) : Body() {}
    Body(Body &&) = default;
    Body &operator=(const Body &) { return *this = Body(); }
    Body &operator=(Body &&) = default;
  };
  Body body;
  std::map<uint64_t, std::string> paths; ///< of layers
  std::vector<std::string> samples;
  bool keepsOutputs = false, dropping = true;
  void add(const std::string &path, const MomentsSlot &slot, Here here);
  void requireOwnBody(Here here) const;
  const std::string &pathOf(const MomentsSlot &slot, Here here) const;
};

/// heddle::valueAndGrad of function(tree, mode), which returns a loss, or a pair of a loss and any
/// tree; `mode` gets the changes that the function makes to it.
template <typename F, typename T>
auto valueAndGrad(F &&function, const T &tree, Mode &mode, Here here = Here::current()) {
  auto [result, gradient] = heddle::valueAndGrad(
      [&](T formals) {
        Mode inner = mode;
        auto value = function(formals, inner);
        return std::pair(value, inner);
      },
      tree, here);
  mode = result.second;
  return std::pair(result.first, gradient);
}

/// Sets elements to zero with probability `rate` and scales the others by 1 / (1 - rate); returns x
/// unchanged in evaluation (torch.nn.Dropout). Draws are independent along the mode's samples and
/// `by`, and shared along other names of x: `dropout(x, 0.2, channel, mode)` drops whole channels
/// of images (torch.nn.Dropout2d). A draw depends on the coordinates along these names and not on
/// their sizes, so that padding a text to another length changes no draw. Throws Error for a rate
/// outside [0, 1).
Tensor dropout(const Tensor &x, double rate, const Names &by, Mode &mode,
               Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_MODE_H
