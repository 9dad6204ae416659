//===- Jit.h - compiled functions and their gradients -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `jit` turns a C++ function on tensors into a compiled function. It is traced once for each
// signature (names, sizes and element types of its arguments), compiled and cached:
//
//     auto step = jit([&](State &s, Tensor image, Tensor label) {
//       auto [loss, gradient] = valueAndGrad(
//           [&](Net net) { return crossEntropy(net(image), label); }, s.net);
//       s.adam.update(s.net, gradient);
//       return loss;
//     });
//     Tensor loss = step(state, image, label);
//
// Arguments are trees of tensors (Tree.h). An argument by non-const reference is state: the call
// writes back what the function assigns to its tensors, in place where type and layout allow (the
// old value is donated; using another handle on it afterwards throws). Tensors that the function
// captures are hidden inputs. Empty tensors, such as the gradients of integers, stay empty in
// arguments (but not in state) and in results.
//
// A call may pass a number for a Tensor parameter: it becomes a tensor without names, f32, i64 of
// integers, i1 of bool. Another number runs the same program:
//
//     auto decay = jit([](Tensor x, Tensor rate) { return x * (1.0 - rate); });
//     Tensor y = decay(x, 0.1), z = decay(x, 0.2);              // compiled once
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_JIT_H
#define HEDDLE_JIT_H

#include "heddle/Ops.h"
#include "heddle/Scope.h"
#include "heddle/Tree.h"

#include <algorithm>
#include <concepts>
#include <functional>
#include <utility>
#include <variant>

namespace heddle {

/// Options of compilation; the defaults suit this machine.
struct JitOptions {
  std::string name = "function"; ///< of the entry point, in messages and profiles
  std::string targetCpu = "native";
  int threads = 0;            ///< that run the program; 0: all cores
  bool managedMemory = false; ///< buffer by buffer instead of a planned arena
  bool cache = true;          ///< use the cache of compiled kernels on disk
  /// Calls check for errors that depend on values: coordinates of gathers and scatters that are out
  /// of bounds, computed starts for which a slice or an update would leave its tensor, and
  /// operations that compute a NaN from operands without one. The first is thrown as an Error with
  /// its source location; results and state are then as before the call. This is slower: every
  /// value is checked, and no state is updated in place. Of kernels only the results are checked,
  /// since a condition may discard intermediate values. Program files (`save`) have no checks.
  bool check = false;
  /// Called with the number of kernels that are compiled, by one thread at a time, any of them.
  /// Long compilations show their progress on a terminal in any case.
  std::function<void(size_t done, size_t total)> onProgress = {};
  /// Positions of arguments that many calls have in common and none of them changes, such as the
  /// weights of a classifier. The program chooses their layouts (other arguments are row-major over
  /// their sorted names), and a tensor in another layout is packed at its first call, not at each.
  std::vector<size_t> kept = {};
  /// Paths of shared objects that add passes, kernels or rules to the compiler, in this order
  /// (docs/plugins.md). `jit` throws Error for one that can't be loaded.
  std::vector<std::string> plugins = {};
  /// Permissions to change floats: words of heddle/FastMath.h. `jit` throws Error for an unknown
  /// word.
  std::vector<std::string> fastMath = {};
  /// Names with symbolic sizes: one program serves all sizes, so that a last, short batch needs no
  /// program of its own. In the traced function such a size is an expression, whose value each call
  /// decides; all arguments that have the name must agree. Each call checks the conditions on
  /// sizes, `batch.between(1, 4096).multipleOf(8)`.
  SymbolicSizes symbolic = {};
  /// Sizes of these names for which specialised programs are compiled as well.
  std::vector<Extent> specialised = {};
};

/// Measured and planned facts of a compiled function.
struct JitStatistics {
  double compileSeconds = 0;
  int64_t arenaBytes = 0, liveBytes = 0; ///< planned memory, and the live-set lower bound
  int steps = 0, kernels = 0, cachedKernels = 0;
};

namespace detail {

/// A tensor of an argument.
struct Leaf {
  std::string path;
  Tensor *tensor;
  bool state; ///< written back
  bool kept;  ///< JitOptions::kept
};
/// A tensor of a result.
struct Output {
  std::string path;
  Tensor tensor;
};
/// The results of a traced function. `shape` is the tree of results without the tensors' values,
/// for later results.
struct Traced {
  std::vector<Output> outputs;
  std::shared_ptr<const void> shape;
};
/// Calls the user's function on formals that have been put into the leaves.
using Trace = std::function<Traced()>;
struct Returned {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> shape;
};

/// The part of `jit` that does not depend on the C++ signature.
class JitCore {
public:
  JitCore(JitOptions options, Here here);
  ~JitCore();
  /// Runs for the tensors in `leaves`, tracing first if their signature is new. Several threads may
  /// call at once.
  Returned call(std::vector<Leaf> leaves, const Trace &trace, Here here);
  /// The traced program as nd IR; the leaves' values are not needed, only their types.
  std::string ir(std::vector<Leaf> leaves, const Trace &trace, Here here);
  /// Writes the compiled program file.
  void save(const std::string &path, std::vector<Leaf> leaves, const Trace &trace, Here here);
  JitStatistics statistics() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
/// Where a function takes a Tensor: one, or a number, which becomes one.
struct Argument {
  Tensor tensor;
  Argument() = default;
  Argument(Tensor tensor) : tensor(std::move(tensor)) {}
  Argument(std::floating_point auto number, Here here = Here::current())
      : tensor(of(double(number), here)) {}
  Argument(Integer auto number, Here here = Here::current())
      : tensor(of(int64_t(number), number > 0, here)) {}
  template <std::same_as<bool> B>
  Argument(B truth, Here here = Here::current()) : tensor(Tensor::of<bool>({truth}, {}, here)) {}

private:
  /// Both throw Error for a number that the type, f32 or i64, does not have.
  static Tensor of(double number, Here here);
  static Tensor of(int64_t number, bool isPositive, Here here);
};
/// The type of the argument that a call passes for a parameter of type T.
template <typename T>
using Given = std::conditional_t<std::is_same_v<std::decay_t<T>, Tensor> &&
                                     !(std::is_lvalue_reference_v<T> &&
                                       !std::is_const_v<std::remove_reference_t<T>>),
                                 Argument, T>;
inline Tensor &treeIn(Argument &argument) { return argument.tensor; }
template <typename T>
T &treeIn(T &tree) {
  return tree;
}

template <typename F>
struct Signature {
  static_assert(isNever<F>, "expected a function with one signature: a generic lambda names its "
                            "parameters' types, [](Tensor x) instead of [](auto x)");
};
template <typename F>
  requires requires { &F::operator(); }
struct Signature<F> : Signature<decltype(&F::operator())> {};
template <typename R, typename... A>
struct Signature<R (*)(A...)> {
  static_assert(std::is_void_v<R> || IsTree<std::decay_t<R>>::value,
                "expected a function that gives a tree of tensors: a Tensor, a struct that lists "
                "its members with HEDDLE_FIELDS(first, second), or a vector, array, map, pair, "
                "tuple or optional of trees; a number becomes a Tensor with constant(x)");
  using Result = R;
  using Arguments = std::tuple<A...>;
};
template <typename R, typename... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <typename R, typename C, typename... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <typename R, typename C, typename... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <typename R, typename C, typename... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <typename R, typename C, typename... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};

template <typename F, typename R, typename Arguments>
class JitFunction;

template <typename F, typename R, typename... A>
class JitFunction<F, R, std::tuple<A...>> {
  static_assert(!(std::is_arithmetic_v<std::decay_t<A>> || ...),
                "expected trees of tensors as parameters: a Tensor takes a number too, which is "
                "one of the program's inputs then: [](Tensor x, Tensor rate) instead of "
                "[](Tensor x, double rate), called with f(x, 0.1)");

public:
  JitFunction(F function, JitOptions options, Here here)
      : function(std::move(function)), kept(options.kept) {
    for (size_t position : kept)
      if (position >= sizeof...(A))
        throw Error("argument " + std::to_string(position) + " of '" + options.name +
                        "' should be kept, but the function has " + std::to_string(sizeof...(A)) +
                        " arguments",
                    here);
    core = std::make_shared<JitCore>(std::move(options), here);
  }

  R operator()(Given<A>... arguments, Here here = Here::current()) const {
    Returned returned = traced(
        [&](auto leaves, const Trace &trace) { return core->call(std::move(leaves), trace, here); },
        treeIn(arguments)...);
    if constexpr (!std::is_void_v<R>) {
      R result = *static_cast<const R *>(returned.shape.get());
      size_t next = 0;
      forEachTensor(result, [&](const std::string &, Tensor &tensor) {
        tensor = std::move(returned.tensors[next++]);
      });
      return result;
    }
  }
  /// The traced program as IR.
  std::string ir(Given<A>... arguments, Here here = Here::current()) const {
    return traced(
        [&](auto leaves, const Trace &trace) { return core->ir(std::move(leaves), trace, here); },
        treeIn(arguments)...);
  }
  /// Compiles for these arguments' types and writes the program file, which the runtime runs
  /// without the compiler. Arguments and results are called by their paths in their trees; a tensor
  /// that is no member of a tree is "argument0", "argument1", ..., or "result".
  void save(const std::string &path, Given<A>... arguments, Here here = Here::current()) const {
    traced(
        [&](auto leaves, const Trace &trace) { core->save(path, std::move(leaves), trace, here); },
        treeIn(arguments)...);
  }
  JitStatistics statistics() const { return core->statistics(); }

private:
  F function;
  std::vector<size_t> kept;
  std::shared_ptr<JitCore> core;

  /// While the function is traced, its arguments hold formals. A tree that it may not change is
  /// copied for that: the caller's may be given several times, or be read by another thread.
  template <typename T>
  using Held = std::conditional_t<std::is_lvalue_reference_v<T> &&
                                      std::is_const_v<std::remove_reference_t<T>>,
                                  std::decay_t<T>, T &>;
  template <typename Use>
  auto traced(Use &&use, A &...arguments) const {
    std::tuple<Held<A>...> held(arguments...);
    return std::apply([&](auto &...each) { return use(leavesOf(each...), tracer(each...)); }, held);
  }

  template <typename T>
  void addLeaves(std::vector<Leaf> &leaves, size_t position, T &tree, bool state) const {
    std::string argument = "argument" + std::to_string(position);
    bool isKept = std::find(kept.begin(), kept.end(), position) != kept.end();
    size_t before = leaves.size();
    forEachTensor(tree, [&](const std::string &path, Tensor &tensor) {
      if (tensor.empty() && !state)
        return;
      bool taken = path.empty() || (path[0] >= '0' && path[0] <= '9');
      for (size_t i = 0; i < before && !taken; ++i)
        taken = leaves[i].path == path;
      std::string name = !taken ? path : path.empty() ? argument : argument + "." + path;
      leaves.push_back({name, &tensor, state, isKept});
    });
  }
  template <typename... T>
  std::vector<Leaf> leavesOf(T &...arguments) const {
    std::vector<Leaf> leaves;
    size_t position = 0;
    (addLeaves(leaves, position++, const_cast<std::remove_const_t<T> &>(arguments),
               std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>),
     ...);
    return leaves;
  }
  template <typename... T>
  Trace tracer(T &...arguments) const {
    return [&, this] {
      Traced traced;
      if constexpr (std::is_void_v<R>) {
        function(arguments...);
        return traced;
      } else {
        auto shape = std::make_shared<R>(function(arguments...));
        forEachTensor(*shape, [&](const std::string &path, Tensor &tensor) {
          traced.outputs.push_back({path, std::exchange(tensor, Tensor())});
        });
        traced.shape = shape;
        return traced;
      }
    };
  }
};

struct GradientResult {
  std::vector<Tensor> values, gradients;
};
/// The gradient of the first of `outputs` with respect to `formals`, for the values `actuals`.
GradientResult gradient(const std::vector<Tensor> &formals, const std::vector<Tensor> &actuals,
                        const std::vector<Tensor> &outputs, Here here);
/// `outputs` for the values `actuals`, and their tangents where formals of floats move by
/// `tangents`.
struct TangentResult {
  std::vector<Tensor> values, tangents;
};
TangentResult tangent(const std::vector<Tensor> &formals, const std::vector<Tensor> &actuals,
                      const std::vector<Tensor> &tangents, const std::vector<Tensor> &outputs,
                      Here here);
/// `outputs` for the values `actuals`; in the backward pass they are computed again.
std::vector<Tensor> checkpointed(const std::vector<Tensor> &formals,
                                 const std::vector<Tensor> &actuals,
                                 const std::vector<Tensor> &outputs, Here here);
/// `outputs` for the values `actuals`; the gradients of the formals of floats are `gradients`,
/// computed from the formals and `cotangents`.
std::vector<Tensor> withGradient(const std::vector<Tensor> &formals,
                                 const std::vector<Tensor> &actuals,
                                 const std::vector<Tensor> &outputs,
                                 const std::vector<Tensor> &cotangents,
                                 const std::vector<Tensor> &gradients, Here here);
/// A part of control flow: `outputs`, computed from `formals`, or by all that was made `since`
/// (nodesMade).
struct Part {
  std::vector<Tensor> formals, outputs;
  std::optional<uint64_t> since = {};
};
uint64_t nodesMade();
std::vector<Tensor> branch(const Tensor &condition, Part yes, Part no, Here here);
/// The first formal of `body` is the counter.
/// `steps` is a number, or an integer tensor without names.
std::vector<Tensor> loop(const std::variant<int64_t, Tensor> &steps, Part body,
                         const std::vector<Tensor> &initial, Here here);
std::vector<Tensor> loopWhile(const Part &condition, Part body, const std::vector<Tensor> &initial,
                              Here here);
/// The formals of `body` are the state, then the slices of `inputs` at a coordinate of `along`; it
/// gives the next state, then slices of outputs. Results: the last state, then the outputs.
std::vector<Tensor> recurrence(const Name &along, Part body, const std::vector<Tensor> &initial,
                               const std::vector<Tensor> &inputs, bool reverse, Here here);
/// An i64 scalar: a loop's counter while its body is traced.
Tensor counterFormal(Here here);

/// `outputs`, computed from `formals`, for the values `actuals`, which have further names.
std::vector<Tensor> lifted(const std::vector<Tensor> &formals, const std::vector<Tensor> &actuals,
                           const std::vector<Tensor> &outputs, const Names &names, Here here);
/// A formal of a function that is being traced, of the type of `like` less the names `without`.
Tensor formalLike(const Tensor &like, const std::string &name, const Names &without, Here here);

template <typename T>
std::vector<Tensor> tensorsOf(T tree) {
  std::vector<Tensor> tensors;
  forEachTensor(tree, [&](const std::string &, Tensor &tensor) { tensors.push_back(tensor); });
  return tensors;
}
/// The tree with other tensors.
template <typename T>
T treeOf(T like, const std::vector<Tensor> &tensors) {
  size_t next = 0;
  forEachTensor(like, [&](const std::string &, Tensor &tensor) { tensor = tensors[next++]; });
  return like;
}
/// The tree with formals for tensors.
template <typename T>
T formalTree(T like, Here here, const Names &without = {}) {
  forEachTensor(like, [&](const std::string &path, Tensor &tensor) {
    tensor = formalLike(tensor, path, without, here);
  });
  return like;
}
/// Calls `use(value, formals, actuals, formalTrees)` with what `function` gives for formals; the
/// result is its value with the tensors that `use` returns.
template <typename F, typename U, typename... T>
auto onFormals(F &function, const Names &without, Here here, U &&use, const T &...trees) {
  BodyScope scope;
  std::tuple<T...> formalTrees{formalTree(trees, here, without)...}; // braces: in order
  auto value = std::apply([&](auto &...formal) { return function(formal...); }, formalTrees);
  scope.close();
  std::vector<Tensor> formals, actuals;
  auto append = [](std::vector<Tensor> &to, std::vector<Tensor> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  std::apply([&](auto &...formal) { (append(formals, tensorsOf(formal)), ...); }, formalTrees);
  (append(actuals, tensorsOf(trees)), ...);
  return treeOf(value, use(value, formals, actuals, formalTrees));
}

} // namespace detail

/// A compiled form of `function`, called in the same way. What it takes by reference is state,
/// which a call updates; a function of state alone may return nothing. Throws Error for options
/// that make no sense.
template <typename F>
auto jit(F function, JitOptions options = {}, Here here = Here::current()) {
  using S = detail::Signature<std::decay_t<F>>;
  return detail::JitFunction<std::decay_t<F>, typename S::Result, typename S::Arguments>(
      std::move(function), std::move(options), here);
}

/// The value of `function(tree)`, a scalar tensor (or a pair of a scalar and any tree), and its
/// gradient with respect to every float tensor of `tree`, in a tree of the same shape; tensors of
/// integers have empty ones.
template <typename F, typename T>
auto valueAndGrad(F &&function, const T &tree, Here here = Here::current()) {
  detail::BodyScope scope;
  T formals = detail::formalTree(tree, here);
  auto value = function(formals);
  scope.close();
  static_assert(
      IsTree<decltype(value)>::value,
      "expected a function that gives its loss as a Tensor, or a pair of that and a tree: "
      "a number, such as item() gives, has no gradient");
  auto result = detail::gradient(detail::tensorsOf(formals), detail::tensorsOf(tree),
                                 detail::tensorsOf(value), here);
  return std::pair<decltype(value), T>(detail::treeOf(value, result.values),
                                       detail::treeOf(tree, result.gradients));
}

/// Only the gradient.
template <typename F, typename T>
T grad(F &&function, const T &tree, Here here = Here::current()) {
  return valueAndGrad(std::forward<F>(function), tree, here).second;
}

/// The value of `function(tree)`, and the tangent of every float tensor in it (a tree of the same
/// shape): its derivative in the direction in which the float tensors of `tree` move by those of
/// `tangents`.
///
///     auto slope = [&](Tensor x) { return grad(loss, x); };
///     Tensor hv = jvp(slope, x, v);                   // the Hessian times v, forward over reverse
template <typename F, typename T>
auto valueAndJvp(F &&function, const T &tree, const T &tangents, Here here = Here::current()) {
  detail::BodyScope scope;
  T formals = detail::formalTree(tree, here);
  auto value = function(formals);
  scope.close();
  static_assert(IsTree<decltype(value)>::value,
                "expected a function that gives a tree of tensors: a number, such as item() gives, "
                "has no tangent");
  auto result = detail::tangent(detail::tensorsOf(formals), detail::tensorsOf(tree),
                                detail::tensorsOf(tangents), detail::tensorsOf(value), here);
  return std::pair(detail::treeOf(value, result.values), detail::treeOf(value, result.tangents));
}

/// Only the tangents.
template <typename F, typename T>
auto jvp(F &&function, const T &tree, const T &tangents, Here here = Here::current()) {
  return valueAndJvp(std::forward<F>(function), tree, tangents, here).second;
}

/// `function` with a gradient of its own: `backward` gets the function's arguments and a tree like
/// its value with the cotangents, and gives the gradients of the arguments' float tensors, in order
/// (as a tensor, a tuple or any tree). What the two capture has no gradient. `backward` should be
/// linear in the cotangents, which forward mode relies on.
///
///     auto clip = withGradient([](Tensor x) { return minimum(x, 1.0); },
///                              [](Tensor x, Tensor g) { return g; });    // straight through
template <typename F, typename B>
auto withGradient(F function, B backward, Here here = Here::current()) {
  return
      [function = std::move(function), backward = std::move(backward), here](const auto &...trees) {
        return detail::onFormals(
            function, {}, here,
            [&](auto &value, const auto &formals, const auto &actuals, auto &formalTrees) {
              auto cotangents = detail::formalTree(value, here);
              auto gradients = std::apply(
                  [&](auto &...formal) { return backward(formal..., cotangents); }, formalTrees);
              return detail::withGradient(formals, actuals, detail::tensorsOf(value),
                                          detail::tensorsOf(cotangents),
                                          detail::tensorsOf(gradients), here);
            },
            trees...);
      };
}

/// `function` as a checkpoint: the backward pass saves only its arguments and recomputes the rest.
///
///     for (Layer &layer : layers)
///       x = checkpoint([&](Layer &l, Tensor x) { return l(x); })(layer, x);
template <typename F>
auto checkpoint(F function, Here here = Here::current()) {
  return [function = std::move(function), here](const auto &...trees) {
    return detail::onFormals(
        function, {}, here,
        [&](auto &value, const auto &formals, const auto &actuals, auto &) {
          return detail::checkpointed(formals, actuals, detail::tensorsOf(value), here);
        },
        trees...);
  };
}

/// `yes()` where `condition` (an i1 scalar) holds, else `no()`: trees of the same types. Only the
/// side taken is differentiated.
template <typename Y, typename N>
auto cond(const Tensor &condition, Y &&yes, N &&no, Here here = Here::current()) {
  uint64_t first = detail::nodesMade();
  detail::BodyScope scope;
  auto value = yes();
  uint64_t second = detail::nodesMade();
  decltype(value) other = no();
  scope.close();
  return detail::treeOf(value, detail::branch(condition, {{}, detail::tensorsOf(value), first},
                                              {{}, detail::tensorsOf(other), second}, here));
}

namespace detail {
template <typename T, typename F>
T forLoop(const std::variant<int64_t, Tensor> &steps, const T &initial, F &&body, Here here) {
  BodyScope scope;
  T formals = formalTree(initial, here);
  Tensor counter = counterFormal(here);
  T next = body(counter, formals);
  scope.close();
  Part part{{counter}, tensorsOf(next)};
  for (const Tensor &formal : tensorsOf(formals))
    part.formals.push_back(formal);
  return treeOf(initial, loop(steps, part, tensorsOf(initial), here));
}
} // namespace detail

/// The tree after `steps` times `state = body(i, state)`, where `i` is the number of the step, a
/// scalar of i64. The types of the state do not change. Its gradient keeps the state of every step;
/// a `checkpoint` in the body keeps it at that.
///
///     Tensor power = forLoop(5, x, [&](Tensor, Tensor y) { return y * x; });    // x^6
template <typename T, typename F>
T forLoop(int64_t steps, const T &initial, F &&body, Here here = Here::current()) {
  return detail::forLoop(steps, initial, body, here);
}
/// The same, as many times as a value says (an integer scalar), but at most `most` times. Without
/// `most` it has tangents, but no gradients.
template <typename T, typename F>
T forLoop(const Tensor &steps, const T &initial, F &&body, int64_t most = -1,
          Here here = Here::current()) {
  if (most < 0)
    return detail::forLoop(steps, initial, body, here);
  return detail::forLoop(
      most, initial,
      [&](const Tensor &i, const T &state) {
        return cond(
            i < steps.cast(ElementType::I64), [&] { return T(body(i, state)); },
            [&] { return state; }, here);
      },
      here);
}

/// The tree after `state = body(state)` as long as `condition(state)` (an i1 scalar) holds, but at
/// most `most` times. Without `most` it has tangents, but no gradients.
template <typename T, typename C, typename F>
T whileLoop(const T &initial, C &&condition, F &&body, int64_t most = -1,
            Here here = Here::current()) {
  if (most >= 0)
    return forLoop(
        most, initial,
        [&](const Tensor &, const T &state) {
          return cond(
              condition(state), [&] { return T(body(state)); }, [&] { return state; }, here);
        },
        here);
  detail::BodyScope scope;
  T formals = detail::formalTree(initial, here);
  T next = body(formals);
  Tensor goesOn = condition(formals);
  scope.close();
  return detail::treeOf(initial,
                        detail::loopWhile({detail::tensorsOf(formals), {goesOn}},
                                          {detail::tensorsOf(formals), detail::tensorsOf(next)},
                                          detail::tensorsOf(initial), here));
}

/// A recurrence: for each coordinate of `along`, in order (from the last one on if `reverse`),
/// `body(state, slices)` gives the next state and an output, where `slices` are those of `inputs`,
/// without the name. The result is the last state and the outputs, which have the name again.
///
///     auto [last, all] = scan(time, h, x, [&](Tensor h, Tensor xt) {    // h: unit; xt: feature
///       Tensor before = sum(h.rename({{unit, from}}) * w, over(from));
///       Tensor next = tanh(before + sum(xt * u, over(feature)));
///       return std::pair(next, next);
///     });                                                               // all: time, unit
template <typename T, typename X, typename F>
auto scan(const Name &along, const T &initial, const X &inputs, F &&body, bool reverse = false,
          Here here = Here::current()) {
  detail::BodyScope scope;
  T state = detail::formalTree(initial, here);
  X slices = detail::formalTree(inputs, here, {along});
  auto [next, output] = body(state, slices);
  scope.close();
  detail::Part part{detail::tensorsOf(state), detail::tensorsOf(T(next))};
  for (const Tensor &slice : detail::tensorsOf(slices))
    part.formals.push_back(slice);
  for (const Tensor &tensor : detail::tensorsOf(output))
    part.outputs.push_back(tensor);
  std::vector<Tensor> results = detail::recurrence(along, part, detail::tensorsOf(initial),
                                                   detail::tensorsOf(inputs), reverse, here);
  T last = detail::treeOf(initial, results);
  results.erase(results.begin(), results.begin() + detail::tensorsOf(initial).size());
  return std::pair<T, decltype(output)>(last, detail::treeOf(output, results));
}

/// `function` for tensors that have `names` besides those that it knows: it is traced without these
/// names, and every result that depends on a tensor that has them gets them too.
///
///     auto attend = [](Tensor q, Tensor k) { return sum(q * k, over(feature)); };
///     Tensor y = lift(attend, over(head))(q, k);      // each head by itself
///
/// A name that the function uses inside is never mixed up with a lifted one of the same spelling; a
/// result that would have a name twice is an Error.
template <typename F>
auto lift(F function, Names names, Here here = Here::current()) {
  return [function = std::move(function), names = std::move(names), here](const auto &...trees) {
    return detail::onFormals(
        function, names, here,
        [&](auto &value, const auto &formals, const auto &actuals, auto &) {
          return detail::lifted(formals, actuals, detail::tensorsOf(value), names, here);
        },
        trees...);
  };
}

} // namespace heddle

#endif // HEDDLE_JIT_H
