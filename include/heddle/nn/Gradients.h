//===- Gradients.h - clipping, summing and scaling gradients ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These functions are traced as part of a training step:
//
//     auto [loss, gradient] = valueAndGrad(lossOf, s.net);
//     Tensor bad = nn::firstNotFinite(gradient);     // after the call: nn::requireFinite(bad, net)
//     Tensor length = nn::clipByNorm(gradient, 1.0);
//     s.optimizer.update(s.net, gradient, rate);
//     s.average.update(s.net, 0.999);                // a MovingAverage
//
// Where factors are f16 (JitOptions::products), small gradients vanish unless the loss is scaled:
//
//     auto [loss, gradient] = valueAndGrad(
//         [&](Net net) { return s.scale.scaled(lossOf(net)); }, s.net);
//     s.scale.update(gradient, [&] { s.adam.update(s.net, gradient, rate); }, s.net, s.adam);
//
// Gradient accumulation over several batches takes two compiled functions: one adds to a
// GradientSum, the other updates by its mean.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_GRADIENTS_H
#define HEDDLE_NN_GRADIENTS_H

#include "heddle/Ops.h"
#include "heddle/nn/Leaves.h"

#include <functional>

namespace heddle::nn {

namespace detail {
/// Converts narrow floats to f32, the type in which their sums accumulate; other floats stay.
/// Layers and optimisers compute in it, so that counts, factors, epsilons and rates keep their
/// precision and sums their range.
Tensor widened(const Tensor &x);
} // namespace detail

namespace detail {
void clipByValue(const Leaves &gradient, Operand limit, Here here);
Tensor clipByNorm(const Leaves &gradient, Operand limit, Here here);
Tensor firstNotFinite(const Leaves &tree);
/// Throws Error unless the value is in [low, high]. The message omits a `high` of 1e30 or more.
void requireRange(const std::string &what, double value, double low, double high, Here here);
void requireFinite(const Tensor &number, const Leaves &tree, const std::string &what, Here here);
/// Divides the gradient by `scale` and returns whether all of it is finite (i1); if not, sets it to
/// 0.
Tensor unscale(const Leaves &gradient, const Tensor &scale);
/// Copies of the float tensors, by path, that share no memory with them; zeros of their sumType if
/// `zero`.
ByPath copiesOf(const Leaves &tree, bool zero, Here here);
/// The type in which numbers of `type` are summed: f32 for narrower floats, else `type`.
ElementType sumType(ElementType type);
/// Calls visit(tensor, its entry in `parts`) for each float tensor. Throws Error for a path that
/// `parts` lacks and for an entry whose type is neither the tensor's nor its sumType.
void forEachPart(const Leaves &tree, ByPath &parts, const char *what, Here here,
                 const std::function<void(Tensor &, Tensor &)> &visit);
} // namespace detail

/// Clamps every element to [-limit, limit] (torch.nn.utils.clip_grad_value_). Throws Error for a
/// negative limit, as does `clipByNorm`.
template <typename T>
void clipByValue(T &gradient, Operand limit, Here here = Here::current()) {
  detail::clipByValue(leavesOf(gradient), limit, here);
}

/// Scales all tensors by one factor, min(1, limit / (norm + 1e-6)), where `norm` is the root of the
/// sum of squares of all elements; returns the norm before (torch.nn.utils.clip_grad_norm_).
template <typename T>
Tensor clipByNorm(T &gradient, Operand limit, Here here = Here::current()) {
  return detail::clipByNorm(leavesOf(gradient), limit, here);
}

/// The index of the first tensor of a tree that has a NaN or an infinity, or -1 (i64). A compiled
/// step can return it.
template <typename T>
Tensor firstNotFinite(T &tree) {
  return detail::firstNotFinite(leavesOf(tree));
}
/// Throws Error if `number`, a result of firstNotFinite, is not -1. The message has the tensor's
/// path in a tree of the same structure, such as the parameters: "the gradient of 'layers.0.weight'
/// is not finite".
template <typename T>
void requireFinite(const Tensor &number, T &tree, const std::string &what = "the gradient",
                   Here here = Here::current()) {
  detail::requireFinite(number, leavesOf(tree), what, here);
}

/// Accumulates the gradients of several batches. Those of narrow floats are summed and divided in
/// f32.
///
///     auto add = jit([&](State &s, Tensor x) { s.sum.add(grad(lossOf(x), s.net)); });
///     auto apply = jit([&](State &s) {
///       Net gradient = s.sum.take(s.net);            // the mean; sets the sum to 0
///       s.adam.update(s.net, gradient, 1e-3);
///     });
struct GradientSum {
  ByPath sum;
  Tensor weight; ///< f32
  HEDDLE_FIELDS(sum, weight)

  template <typename T>
  static GradientSum make(T &parameters, Here here = Here::current()) {
    return {detail::copiesOf(leavesOf(parameters), /*zero=*/true, here),
            Tensor::of<float>({0.0f}, {}, here)};
  }
  /// Adds a gradient with the weight `own`, such as a number of samples.
  template <typename T>
  void add(T gradient, Operand own = 1.0, Here here = Here::current()) {
    detail::forEachPart(
        leavesOf(gradient), sum, "the gradients' sum", here, [&](Tensor &g, Tensor &all) {
          ElementType type = all.elementType(here);
          Operand times = own.tensor.empty() ? own : Operand(own.tensor.cast(type), here);
          all = all + g.cast(type) * times;
        });
    weight = weight + (own.tensor.empty() ? own : Operand(own.tensor.cast(ElementType::F32), here));
  }
  /// The weighted mean, as a gradient for the parameters `like`; sets the sum to 0. 0 if nothing
  /// was added.
  template <typename T>
  T take(T like, Here here = Here::current()) {
    forEachTensor(like, [&](const std::string &, Tensor &leaf) {
      if (!isFloat(leaf.elementType(here)))
        leaf = Tensor();
    });
    Tensor count = select(notEqual(weight, 0.0), weight, 1.0);
    detail::forEachPart(leavesOf(like), sum, "the gradients' sum", here,
                        [&](Tensor &g, Tensor &all) {
                          ElementType own = g.elementType(here);
                          g = (all / count.cast(all.elementType(here))).cast(own);
                          all = zeros(all.extents(here), all.elementType(here), here);
                        });
    weight = zeros({});
    return like;
  }
};

/// A factor of the loss that keeps gradients within the range of f16 (Micikevicius et al., Mixed
/// precision training, ICLR'18; torch.amp.GradScaler). It grows by `factor` after `every` steps
/// with finite gradients. A step whose gradient is not finite is skipped and divides the scale by
/// `factor`.
struct LossScale {
  struct Options {
    double first = 65536, factor = 2, most = 16777216;
    int64_t every = 2000; ///< steps with finite gradients before it grows
  };
  Tensor scale, good; ///< f32; the finite steps since it changed, i64
  HEDDLE_FIELDS(scale, good)
  Options options = {};

  static LossScale make(const Options &options, Here here = Here::current()) {
    detail::requireRange("a first scale", options.first, 1e-30, 1e30, here);
    detail::requireRange("a largest scale", options.most, 1e-30, 1e30, here);
    detail::requireRange("a factor of the scale", options.factor, 1, 1e30, here);
    detail::requireRange("a number of good steps", double(options.every), 1, 1e18, here);
    return {Tensor::of<float>({float(options.first)}, {}, here), Tensor::of<int64_t>({0}, {}, here),
            options};
  }
  static LossScale make(Here here = Here::current()) { return make(Options(), here); }
  Tensor scaled(const Tensor &loss) const { return loss * scale.cast(loss.elementType()); }
  /// The inverse of `scaled`.
  Tensor unscaled(const Tensor &loss) const { return loss / scale.cast(loss.elementType()); }
  /// Divides the gradient by the scale and calls `change`, which updates `state` by it. If the
  /// gradient is not finite, the state stays as it was. Returns whether it is finite (i1).
  template <typename T, typename F, typename... S>
  Tensor update(T &gradient, F &&change, S &...state) {
    Tensor isGood = detail::unscale(leavesOf(gradient), scale);
    std::vector<Tensor *> places;
    (forEachTensor(state, [&](const std::string &, Tensor &leaf) { places.push_back(&leaf); }),
     ...);
    std::vector<Tensor> before;
    for (Tensor *place : places)
      before.push_back(*place);
    change();
    for (size_t i = 0; i < places.size(); ++i)
      *places[i] = select(isGood, *places[i], before[i]);
    Tensor count = good + 1.0, grows = count >= double(options.every);
    scale = select(isGood, select(grows, minimum(scale * options.factor, options.most), scale),
                   maximum(scale / options.factor, 1 / options.most));
    good = select(logicalAnd(isGood, logicalNot(grows)), count, 0.0);
    return isGood;
  }
};

/// An exponential moving average of the parameters over the steps of training, often better than
/// the last parameters (Polyak and Juditsky, 1992; torch.optim.swa_utils).
struct MovingAverage {
  ByPath average;
  HEDDLE_FIELDS(average)

  /// The average is initialised with the parameters.
  template <typename T>
  static MovingAverage make(T &parameters, Here here = Here::current()) {
    return {detail::copiesOf(leavesOf(parameters), /*zero=*/false, here)};
  }
  /// average = decay * average + (1 - decay) * parameters
  template <typename T>
  void update(T &parameters, double decay, Here here = Here::current()) {
    detail::requireRange("a decay of the average", decay, 0, 1, here);
    detail::forEachPart(leavesOf(parameters), average, "the average", here,
                        [&](Tensor &p, Tensor &a) { a = a * decay + p * (1 - decay); });
  }
  /// The parameters, with the float ones replaced by their averages.
  template <typename T>
  T of(T parameters, Here here = Here::current()) {
    detail::forEachPart(leavesOf(parameters), average, "the average", here,
                        [](Tensor &p, Tensor &a) { p = a; });
    return parameters;
  }
};

} // namespace heddle::nn

#endif // HEDDLE_NN_GRADIENTS_H
