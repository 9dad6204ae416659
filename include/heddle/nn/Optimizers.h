//===- Optimizers.h - optimisers --------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An optimiser is a tree, the optimiser's state. `update` is traced as part of a step, so that it
// fuses with the ops that compute the gradients; parameters and state are updated in place:
//
//     struct State { Net net; nn::Adam adam; HEDDLE_FIELDS(net, adam) };
//     State state{net, nn::Adam::make(net)};
//     auto step = jit([&](State &s, Tensor image, Tensor label, Tensor rate) {
//       auto [loss, gradient] = valueAndGrad(...., s.net);
//       nn::clipByNorm(gradient, 1.0);
//       s.adam.update(s.net, gradient, rate);
//       return loss;
//     });
//     step(state, image, label, schedule(done));               // Schedules.h
//
// The paths of the state contain those of the parameters ("adam.mean.layers.0.weight"), so that a
// checkpoint does not depend on the order of a network's members. Options may differ by path; the
// first pattern that matches a parameter decides:
//
//     nn::AdamW::Groups groups{{.decay = 0.1}, {{"*.bias", {}}, {"*.norm.*", {}}}};  // no decay
//     s.adam.update(s.net, gradient, rate, groups);
//
// Options are numbers, which are constants of the program; the rate may be a scalar tensor, which
// can change from step to step. `rate` in the options is a factor of it. Formulas are PyTorch's.
// Integer parameters are not updated.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_OPTIMIZERS_H
#define HEDDLE_NN_OPTIMIZERS_H

#include "heddle/LayerScope.h"
#include "heddle/Ops.h"
#include "heddle/Scope.h"
#include "heddle/nn/Gradients.h"

namespace heddle::nn {

/// Options for parameters by patterns of paths: `groups` in order, `others` for the rest.
template <typename Options>
struct GroupsOf {
  Options others = {};
  std::vector<std::pair<std::string, Options>> groups = {};
};

/// Values that the updates of all parameters share in one step.
class StepContext {
public:
  explicit StepContext(Tensor steps) : steps(std::move(steps)) {}
  const Tensor steps; ///< f32, from 1
  /// The same in the precision of updates of `like`: f64 for f64, else f32.
  Tensor count(const Tensor &like) const;
  /// 1 - beta^steps, of the element type of `like`.
  Tensor correction(double beta, const Tensor &like);

private:
  std::map<std::pair<double, ElementType>, Tensor> corrections;
};

namespace detail {
/// For each parameter the index of its options: 0 for `others`, i + 1 for group i. Throws Error for
/// a pattern that matches no float parameter.
std::vector<size_t> groupsOf(const Leaves &parameters, const std::vector<std::string> &patterns,
                             Here here);
/// Throws Error that names the path unless the gradient has the parameters' paths and, where there
/// is a gradient, their types.
void requireGradient(const Leaves &parameters, const Leaves &gradient, Here here);
/// Throws Error unless the state has all tensors of `expected`, with their types; it may have more
/// for the parameters' paths.
void requireState(const Leaves &parameters, const Leaves &expected, const Leaves &state, Here here);
/// Replaces traced zeros by tensors in memory.
void materialise(const Leaves &state, Here here);
/// p - direction * rate * factor
Tensor moved(const Tensor &p, const Tensor &direction, const Operand &rate, double factor);
} // namespace detail

/// The part that all optimisers share. A `Rule` is a tree with a struct `Options` and two
/// functions: `begin(path, p, options)` makes its state for a parameter, and `direction(path, p, g,
/// options, context)` updates that state and returns d of the update p -= rate * d. A rule gets
/// parameters narrower than f32, and their gradients, in f32, and its state is f32.
template <typename Rule>
struct Optimizer : Rule {
  using Options = typename Rule::Options;
  using Groups = GroupsOf<Options>;
  Tensor steps; ///< f32: the number of updates so far
  auto heddleFields() { return std::tuple_cat(Rule::heddleFields(), std::tie(steps)); }
  static const char *heddleFieldNames() {
    static const std::string names = std::string(Rule::heddleFieldNames()) + ", steps";
    return names.c_str();
  }
  HEDDLE_PLAIN()

  /// The state for these parameters. `options` must be those of the update, since some need further
  /// state (`centred`).
  template <typename T>
  static Optimizer make(T &parameters, const Options &options = {}, Here here = Here::current()) {
    return make(parameters, Groups{options}, here);
  }
  template <typename T>
  static Optimizer make(T &parameters, const Groups &groups, Here here = Here::current()) {
    Optimizer optimizer = started(leavesOf(parameters), groups, here);
    detail::materialise(leavesOf(optimizer), here);
    return optimizer;
  }
  /// The same without memory: it has types only, which suffice to print or save a program.
  template <typename T>
  static Optimizer declared(T &parameters, const Groups &groups, Here here = Here::current()) {
    return started(leavesOf(parameters), groups, here);
  }

  /// Updates parameters and state. Throws Error that names the path if parameters, gradient and
  /// state don't match, and for a pattern that matches no parameter.
  template <typename T>
  void update(T &parameters, T &gradient, Operand rate, const Options &options = {},
              Here here = Here::current()) {
    update(parameters, gradient, rate, Groups{options}, here);
  }
  template <typename T>
  void update(T &parameters, T &gradient, Operand rate, const Groups &groups,
              Here here = Here::current()) {
    CallScope scope(here);
    Leaves all = leavesOf(parameters), slopes = leavesOf(gradient);
    detail::requireGradient(all, slopes, here);
    Optimizer expected = started(all, groups, here);
    detail::requireState(all, leavesOf(expected), leavesOf(*this), here);
    std::vector<size_t> groupOf = numbersOf(all, groups, here);
    StepContext context(steps = steps + 1.0);
    for (size_t i = 0; i < all.size(); ++i) {
      if (slopes[i].second->empty())
        continue;
      const Options &own = groupOf[i] ? groups.groups[groupOf[i] - 1].second : groups.others;
      auto &[path, p] = all[i];
      LayerScope layer(path);
      Tensor direction = Rule::direction(path, detail::widened(*p),
                                         detail::widened(*slopes[i].second), own, context);
      *p = detail::moved(*p, direction, rate, own.rate);
    }
  }

private:
  static std::vector<size_t> numbersOf(const Leaves &all, const Groups &groups, Here here) {
    std::vector<std::string> patterns;
    for (const auto &[pattern, options] : groups.groups)
      patterns.push_back(pattern);
    return detail::groupsOf(all, patterns, here);
  }
  /// The state before the first step, not yet in memory.
  static Optimizer started(const Leaves &all, const Groups &groups, Here here) {
    Optimizer optimizer;
    optimizer.steps = zeros({});
    std::vector<size_t> groupOf = numbersOf(all, groups, here);
    for (size_t i = 0; i < all.size(); ++i)
      if (isFloat(all[i].second->elementType(here)))
        optimizer.begin(all[i].first, detail::widened(*all[i].second),
                        groupOf[i] ? groups.groups[groupOf[i] - 1].second : groups.others);
    return optimizer;
  }
};

/// Gradient descent with momentum (Polyak, 1964; torch.optim.SGD): v = momentum * v + (1 -
/// dampening) * g, in the first step v = g; p -= rate * v, with Nesterov's variant p -= rate * (g +
/// momentum * v).
struct SgdRule {
  struct Options {
    double momentum = 0.9, dampening = 0;
    bool nesterov = false;
    double decay = 0; ///< weight decay: decay * p is added to the gradient
    double rate = 1;
    HEDDLE_FIELDS(momentum, dampening, nesterov, decay, rate)
  };
  ByPath velocity;
  HEDDLE_FIELDS(velocity)
  void begin(const std::string &path, const Tensor &p, const Options &options);
  Tensor direction(const std::string &path, const Tensor &p, const Tensor &g,
                   const Options &options, StepContext &context);
};

/// Adam (Kingma and Ba, ICLR'15, algorithm 1; torch.optim.Adam). Weight decay is added to the
/// gradient.
struct AdamRule {
  struct Options {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0, rate = 1;
    bool largest = false; ///< AMSGrad (Reddi et al., ICLR'18): divide by the largest square so far
    HEDDLE_FIELDS(beta1, beta2, epsilon, decay, rate, largest)
  };
  ByPath mean, square, most; ///< `most`: for AMSGrad
  HEDDLE_FIELDS(mean, square, most)
  void begin(const std::string &path, const Tensor &p, const Options &options);
  Tensor direction(const std::string &path, const Tensor &p, const Tensor &g,
                   const Options &options, StepContext &context);
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, ICLR'19, algorithm 2;
/// torch.optim.AdamW): p -= rate * decay * p, apart from the gradient.
struct AdamWRule : AdamRule {
  Tensor direction(const std::string &path, const Tensor &p, const Tensor &g,
                   const Options &options, StepContext &context);
};

/// RMSprop: divides gradients by the root of the moving average of their squares (Hinton, 2012;
/// torch.optim.RMSprop).
struct RmsPropRule {
  struct Options {
    double alpha = 0.99, epsilon = 1e-8, momentum = 0, decay = 0, rate = 1;
    bool centred = false; ///< divide by the root of the variance instead
    HEDDLE_FIELDS(alpha, epsilon, momentum, decay, rate, centred)
  };
  ByPath square, mean, velocity; ///< `mean`: if centred; `velocity`: with momentum
  HEDDLE_FIELDS(square, mean, velocity)
  void begin(const std::string &path, const Tensor &p, const Options &options);
  Tensor direction(const std::string &path, const Tensor &p, const Tensor &g,
                   const Options &options, StepContext &context);
};

/// Adagrad: divides gradients by the root of the sum of all their squares (Duchi et al., JMLR 2011;
/// torch.optim.Adagrad); the rate falls as 1 / (1 + steps * rateDecay).
struct AdagradRule {
  struct Options {
    double rateDecay = 0, epsilon = 1e-10, decay = 0, rate = 1;
    HEDDLE_FIELDS(rateDecay, epsilon, decay, rate)
  };
  ByPath square;
  HEDDLE_FIELDS(square)
  void begin(const std::string &path, const Tensor &p, const Options &options);
  Tensor direction(const std::string &path, const Tensor &p, const Tensor &g,
                   const Options &options, StepContext &context);
};

/// Adadelta: scales gradients by the ratio of the root mean squares of earlier updates and of
/// gradients (Zeiler, 2012; torch.optim.Adadelta).
struct AdadeltaRule {
  struct Options {
    double rho = 0.9, epsilon = 1e-6, decay = 0, rate = 1;
    HEDDLE_FIELDS(rho, epsilon, decay, rate)
  };
  ByPath square, moved;
  HEDDLE_FIELDS(square, moved)
  void begin(const std::string &path, const Tensor &p, const Options &options);
  Tensor direction(const std::string &path, const Tensor &p, const Tensor &g,
                   const Options &options, StepContext &context);
};

/// NovoGrad: Adam with one second moment for each tensor (Ginsburg et al., 2019): v = beta2 * v +
/// (1 - beta2) * |g|^2, in the first step |g|^2; m = beta1 * m + g / (sqrt(v) + epsilon) + decay *
/// p.
struct NovoGradRule {
  struct Options {
    double beta1 = 0.95, beta2 = 0.98, epsilon = 1e-8, decay = 0, rate = 1;
    HEDDLE_FIELDS(beta1, beta2, epsilon, decay, rate)
  };
  ByPath mean, square;
  HEDDLE_FIELDS(mean, square)
  void begin(const std::string &path, const Tensor &p, const Options &options);
  Tensor direction(const std::string &path, const Tensor &p, const Tensor &g,
                   const Options &options, StepContext &context);
};

/// LAMB: AdamW's direction, scaled to the norm of the parameter (You et al., ICLR'20, algorithm 2);
/// unscaled if one of the two norms is 0.
struct LambRule : AdamRule {
  struct Options {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6, decay = 0, rate = 1;
    HEDDLE_FIELDS(beta1, beta2, epsilon, decay, rate)
  };
  void begin(const std::string &path, const Tensor &p, const Options &options);
  Tensor direction(const std::string &path, const Tensor &p, const Tensor &g,
                   const Options &options, StepContext &context);
};

using Sgd = Optimizer<SgdRule>;
using Adam = Optimizer<AdamRule>;
using AdamW = Optimizer<AdamWRule>;
using RmsProp = Optimizer<RmsPropRule>;
using Adagrad = Optimizer<AdagradRule>;
using Adadelta = Optimizer<AdadeltaRule>;
using NovoGrad = Optimizer<NovoGradRule>;
using Lamb = Optimizer<LambRule>;

} // namespace heddle::nn

#endif // HEDDLE_NN_OPTIMIZERS_H
