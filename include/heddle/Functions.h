//===- Functions.h - gradients, lifting and control flow --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of functions. They trace a C++ function on tensors or trees of tensors (Tree.h), and
// may be used inside of each other and of `jit`:
//
//     auto [loss, gradient] = valueAndGrad([&](Net net) { return crossEntropy(net(x), y); }, net);
//     Tensor hv = jvp([&](Tensor x) { return grad(loss, x); }, x, v);
//     Tensor all = lift(attend, over(head))(q, k);
//     Tensor power = forLoop(5, x, [&](Tensor, Tensor y) { return y * x; });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_FUNCTIONS_H
#define HEDDLE_FUNCTIONS_H

#include "heddle/Ops.h"
#include "heddle/Scope.h"
#include "heddle/Tree.h"

#include <utility>
#include <variant>

namespace heddle {
namespace detail {

struct GradientResult {
  std::vector<Tensor> values, gradients;
};
/// The gradient of the first of `outputs` with respect to `formals`, at the values `actuals`.
GradientResult gradient(const std::vector<Tensor> &formals, const std::vector<Tensor> &actuals,
                        const std::vector<Tensor> &outputs, Here here);
/// The values of `outputs` at `actuals`, and their derivatives in the direction `tangents`, one for
/// each float formal.
struct TangentResult {
  std::vector<Tensor> values, tangents;
};
TangentResult tangent(const std::vector<Tensor> &formals, const std::vector<Tensor> &actuals,
                      const std::vector<Tensor> &tangents, const std::vector<Tensor> &outputs,
                      Here here);
/// The values of `outputs` at `actuals`; the backward pass computes them again.
std::vector<Tensor> checkpointed(const std::vector<Tensor> &formals,
                                 const std::vector<Tensor> &actuals,
                                 const std::vector<Tensor> &outputs, Here here);
/// The values of `outputs` at `actuals`, where the gradients of the float formals are `gradients`,
/// computed from the formals and `cotangents`.
std::vector<Tensor> withGradient(const std::vector<Tensor> &formals,
                                 const std::vector<Tensor> &actuals,
                                 const std::vector<Tensor> &outputs,
                                 const std::vector<Tensor> &cotangents,
                                 const std::vector<Tensor> &gradients, Here here);
/// A traced region of control flow: a loop body, a condition or a branch. It computes `outputs`
/// from `formals`, or, if it has no formals, by the nodes that were made after `since` (nodesMade).
struct Part {
  std::vector<Tensor> formals, outputs;
  std::optional<uint64_t> since = {};
};
/// The number of nodes that this process has made.
uint64_t nodesMade();
std::vector<Tensor> branch(const Tensor &condition, Part yes, Part no, Here here);
/// The first formal of `body` is the counter. `steps` is a number, or an integer tensor without
/// names.
std::vector<Tensor> loop(const std::variant<int64_t, Tensor> &steps, Part body,
                         const std::vector<Tensor> &initial, Here here);
std::vector<Tensor> loopWhile(const Part &condition, Part body, const std::vector<Tensor> &initial,
                              Here here);
/// The formals of `body` are the state, then the slices of `inputs` at a coordinate of `along`. Its
/// outputs are the next state, then the slices of outputs. Returns the last state, then all
/// outputs.
std::vector<Tensor> recurrence(const Name &along, Part body, const std::vector<Tensor> &initial,
                               const std::vector<Tensor> &inputs, bool reverse, Here here);
/// An i64 scalar that stands for the counter of a loop while its body is traced.
Tensor counterFormal(Here here);

/// The values of `outputs` at `actuals`, which have some of `names` besides those of the formals.
std::vector<Tensor> lifted(const std::vector<Tensor> &formals, const std::vector<Tensor> &actuals,
                           const std::vector<Tensor> &outputs, const Names &names, Here here);
/// A formal of a function that is being traced, of the type of `like` without the names `without`.
Tensor formalLike(const Tensor &like, const std::string &name, const Names &without, Here here);

/// The tensors of a tree, in the order of its members.
template <typename T>
std::vector<Tensor> tensorsOf(T tree) {
  std::vector<Tensor> tensors;
  forEachTensor(tree, [&](const std::string &, Tensor &tensor) { tensors.push_back(tensor); });
  return tensors;
}
/// A tree with the structure of `like` that holds `tensors`: the inverse of `tensorsOf`.
template <typename T>
T treeOf(T like, const std::vector<Tensor> &tensors) {
  size_t next = 0;
  forEachTensor(like, [&](const std::string &, Tensor &tensor) { tensor = tensors[next++]; });
  return like;
}
/// A tree with the structure of `like` that holds a formal for each tensor.
template <typename T>
T formalTree(T like, Here here, const Names &without = {}) {
  forEachTensor(like, [&](const std::string &path, Tensor &tensor) {
    tensor = formalLike(tensor, path, without, here);
  });
  return like;
}
/// Traces `function` on formals for `trees`, calls `use(value, formals, actuals, formalTrees)` with
/// its value, and returns a tree like that value that holds the tensors that `use` returns.
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

/// The value of `function(tree)` and its gradient with respect to every float tensor of `tree`. The
/// value is a scalar tensor, or a pair of a scalar and any tree, of which the scalar is
/// differentiated. The gradient is a tree like `tree`; where that has a tensor of integers, the
/// gradient has an empty tensor. Throws Error unless the value is a scalar of a float type.
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

/// The gradient of `valueAndGrad`, without the value.
template <typename F, typename T>
T grad(F &&function, const T &tree, Here here = Here::current()) {
  return valueAndGrad(std::forward<F>(function), tree, here).second;
}

/// The value of `function(tree)` and, in a tree like the value, its tangents: the derivatives of
/// its float tensors in the direction `tangents`, a tree like `tree` with a tangent for each float
/// tensor. Throws Error for a tangent that is missing or has another type than its tensor.
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

/// The tangents of `valueAndJvp`, without the value.
template <typename F, typename T>
auto jvp(F &&function, const T &tree, const T &tangents, Here here = Here::current()) {
  return valueAndJvp(std::forward<F>(function), tree, tangents, here).second;
}

/// `function` with a custom gradient: `backward` takes the function's arguments and a tree like its
/// value with the cotangents, and returns the gradients of the arguments' float tensors, in order
/// (as a tensor, a tuple or any tree). Tensors that the two functions capture have no gradient.
/// `backward` must be linear in the cotangents, which forward mode relies on. Throws Error for a
/// gradient that is missing or has another type than its tensor.
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

/// `function` with gradient checkpointing (rematerialisation): only its arguments are kept for the
/// backward pass, which computes the intermediate values again.
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

/// The value of `yes()` if `condition` (an i1 scalar) holds, else that of `no()`. Gradients flow
/// through the chosen side only. (The compiler may compute both sides of a cheap branch.) Throws
/// Error unless both sides return tensors of the same types.
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

/// The tree after `steps` times `state = body(i, state)`, where `i` is the number of the step (from
/// 0), a scalar of i64. The types of the state must not change. The backward pass keeps the state
/// of every step and the intermediate values that it needs; with a `checkpoint` in the body it
/// keeps only the states.
///
///     Tensor power = forLoop(5, x, [&](Tensor, Tensor y) { return y * x; });    // x^6
template <typename T, typename F>
T forLoop(int64_t steps, const T &initial, F &&body, Here here = Here::current()) {
  return detail::forLoop(steps, initial, body, here);
}
/// The same with a computed number of steps, an integer scalar, but at most `most` steps. Without
/// `most` the loop has tangents, but no gradients.
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

/// The tree after `state = body(state)` while `condition(state)` (an i1 scalar) holds, but at most
/// `most` times. Without `most` the loop has tangents, but no gradients.
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

/// A recurrence. For each coordinate of `along`, in order (from the last one if `reverse`),
/// `body(state, slices)` returns the next state and an output, where `slices` are those of `inputs`
/// at this coordinate, without the name. Returns the last state and the outputs of all steps, which
/// have the name `along`. Throws Error unless all inputs have `along` with one size.
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

/// `function`, lifted over `names` (`vmap` in JAX): the function is traced without these names, and
/// every result that depends on a tensor that has them has them too.
///
///     auto attend = [](Tensor q, Tensor k) { return sum(q * k, over(feature)); };
///     Tensor y = lift(attend, over(head))(q, k);      // for each head separately
///
/// A name that the function uses inside is distinct from a lifted one of the same spelling. Throws
/// Error for a result that would have a name twice, and for a name that no operand has.
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

#endif // HEDDLE_FUNCTIONS_H
