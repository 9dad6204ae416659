//===- Gradients.h - what happens to gradients before an update -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of this is traced as part of a step:
//
//     auto [loss, gradient] = valueAndGrad(lossOf, s.net);
//     Tensor bad = nn::firstNotFinite(gradient);       // after the call: nn::requireFinite(bad, net)
//     Tensor length = nn::clipByNorm(gradient, 1.0);
//     s.optimizer.update(s.net, gradient, rate);
//     s.average.update(s.net, 0.999);                  // a MovingAverage
//
// Where factors are f16 (JitOptions::products), small gradients vanish unless the loss is scaled:
//
//     auto [loss, gradient] = valueAndGrad(
//         [&](Net net) { return s.scale.scaled(lossOf(net)); }, s.net);
//     s.scale.update(gradient, [&] { s.adam.update(s.net, gradient, rate); }, s.net, s.adam);
//
// Several small batches that count as a large one are two compiled functions: one that adds to a
// GradientSum, one that updates by its mean.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_GRADIENTS_H
#define HEDDLE_NN_GRADIENTS_H

#include "heddle/Ops.h"
#include "heddle/nn/Leaves.h"

#include <functional>

namespace heddle::nn {

namespace detail {
/// Floats in the type that sums of them accumulate in, which is f32 for narrower ones. Layers and rules
/// of updates compute in it: counts, factors, epsilons and rates keep their digits, and sums their
/// range.
Tensor widened(const Tensor &x);
} // namespace detail

namespace detail {
void clipByValue(const Leaves &gradient, Operand limit, Here here);
Tensor clipByNorm(const Leaves &gradient, Operand limit, Here here);
Tensor firstNotFinite(const Leaves &tree);
/// Throws Error unless the value is in [low, high]. The message leaves out a `high` from 1e30 on.
void requireRange(const std::string &what, double value, double low, double high, Here here);
void requireFinite(const Tensor &number, const Leaves &tree, const std::string &what, Here here);
/// Divides the gradient by `scale` and gives whether all of it is finite (i1); else it becomes 0.
Tensor unscale(const Leaves &gradient, const Tensor &scale);
/// Copies of the float tensors in memory of their own, by path; or zeros of their sumType.
ByPath copiesOf(const Leaves &tree, bool zero, Here here);
/// The type in which numbers of `type` are summed: f32 of narrower floats.
ElementType sumType(ElementType type);
/// Calls visit(tensor, part of it) for the float tensors. Throws Error for a path or type that
/// `parts` lacks; a part may be of the tensor's sumType.
void forEachPart(const Leaves &tree, ByPath &parts, const char *what, Here here,
                 const std::function<void(Tensor &, Tensor &)> &visit);
} // namespace detail

/// Holds every element between -limit and limit (torch.nn.utils.clip_grad_value_). Throws Error for
/// a number below 0, as the next does.
template <typename T>
void clipByValue(T &gradient, Operand limit, Here here = Here::current()) {
  detail::clipByValue(leavesOf(gradient), limit, here);
}

/// Scales all tensors together so that their common length, the root of the sum of all squares, is
/// at most `limit`; gives the length before (torch.nn.utils.clip_grad_norm_, whose quotient limit /
/// (length + 1e-6) it is).
template <typename T>
Tensor clipByNorm(T &gradient, Operand limit, Here here = Here::current()) {
  return detail::clipByNorm(leavesOf(gradient), limit, here);
}

/// The number of the first tensor of a tree that has a NaN or an infinity, or -1 (i64). It can be a
/// result of a compiled step.
template <typename T>
Tensor firstNotFinite(T &tree) {
  return detail::firstNotFinite(leavesOf(tree));
}
/// Throws Error that names that tensor by its path in a tree of the same shape, such as the
/// parameters: "the gradient of 'layers.0.weight' is not finite".
template <typename T>
void requireFinite(const Tensor &number, T &tree, const std::string &what = "the gradient",
                   Here here = Here::current()) {
  detail::requireFinite(number, leavesOf(tree), what, here);
}

/// Gradients of several batches. Those of narrow floats are summed in f32 and divided there.
///
///     auto add = jit([&](State &s, Tensor x) { s.sum.add(grad(lossOf(x), s.net)); });
///     auto apply = jit([&](State &s) {
///       Net gradient = s.sum.take(s.net);            // the mean; the sum begins anew
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
  /// Adds a gradient that counts as `own` of them.
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
  /// The mean as a gradient for `like`, the parameters; empties the sum. 0 if nothing was added.
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
/// precision training, ICLR'18; torch.amp.GradScaler). It doubles after a number of good steps. A
/// step whose gradient is not finite is skipped, and halves it.
struct LossScale {
  struct Options {
    double first = 65536, factor = 2, most = 16777216;
    int64_t every = 2000; ///< good steps before it grows
  };
  Tensor scale, good; ///< f32; the good steps since it changed, i64
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
  /// The loss that a scaled one was.
  Tensor unscaled(const Tensor &loss) const { return loss / scale.cast(loss.elementType()); }
  /// Divides the gradient by the scale and calls `change`, which updates `state` by it; unless the
  /// gradient was finite, the state is then as before. Gives whether it was (i1).
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

/// Parameters averaged over the steps of training, each with the weight `decay` of the one after
/// it; often better than the last ones (Polyak and Juditsky, 1992; torch.optim.swa_utils).
struct MovingAverage {
  ByPath average;
  HEDDLE_FIELDS(average)

  /// Begins with the parameters.
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
  /// The parameters with averages for floats.
  template <typename T>
  T of(T parameters, Here here = Here::current()) {
    detail::forEachPart(leavesOf(parameters), average, "the average", here,
                        [](Tensor &p, Tensor &a) { p = a; });
    return parameters;
  }
};

} // namespace heddle::nn

#endif // HEDDLE_NN_GRADIENTS_H
