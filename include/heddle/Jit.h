//===- Jit.h - compiled functions and their gradients -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `jit` turns a C++ function on tensors into a compiled function. The function is traced once for
// each signature (names, sizes and element types of its arguments), compiled and cached:
//
//     auto step = jit([&](State &s, Tensor image, Tensor label) {
//       auto [loss, gradient] = valueAndGrad(
//           [&](Net net) { return crossEntropy(net(image), label); }, s.net);
//       s.adam.update(s.net, gradient);
//       return loss;
//     });
//     Tensor loss = step(state, image, label);
//
// Arguments are trees of tensors (Tree.h). Their plain members, such as numbers, belong to the
// signature: a call with another value is traced and compiled anew (docs/closures.md). An argument
// that the function takes by non-const reference is state: the call writes back the values that the
// function assigns to its tensors, in place where type and layout allow (the old value is donated;
// using another handle on it afterwards throws). Tensors that the function captures are hidden
// inputs. Empty tensors, such as the gradients of integers, stay empty in arguments (but not in
// state) and in results.
//
// A call may pass a number for a Tensor parameter. It becomes a tensor without names: i64 for an
// integer, i1 for a bool, f32 for a floating-point number. Another number runs the same program:
//
//     auto decay = jit([](Tensor x, Tensor rate) { return x * (1.0 - rate); });
//     Tensor y = decay(x, 0.1), z = decay(x, 0.2);              // compiled once
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_JIT_H
#define HEDDLE_JIT_H

#include "heddle/Mesh.h"
#include "heddle/Ops.h"
#include "heddle/Plain.h"
#include "heddle/Ranks.h"
#include "heddle/Scope.h"
#include "heddle/Timeline.h"
#include "heddle/Tree.h"

#include <algorithm>
#include <concepts>
#include <functional>
#include <utility>
#include <variant>

namespace heddle {

/// Options of compilation. By default a function is compiled for this machine and uses all cores.
struct JitOptions {
  std::string name = "function"; ///< name of the entry in messages, profiles and program files
  /// An LLVM CPU name, perhaps with features (x86-64+avx2+fma), or "native", this machine's CPU;
  /// ranks on different CPUs use the features that all of them have.
  std::string targetCpu = "native";
  /// Where the function runs: "cpu", a device by NAME or NAME:NUMBER, or "auto", which is a device
  /// if there is one that is faster than the CPU (docs/gpu.md). Results, and so state, stay in the
  /// device's memory until they are read. `jit` throws Error for a word that names no device.
  std::string device = "cpu";
  int threads = 0;            ///< that run the program; 0: HEDDLE_THREADS, else all cores
  bool managedMemory = false; ///< allocate each buffer by itself instead of one planned arena
  bool cache = true;          ///< use the cache of compiled kernels on disk
  /// Calls check for errors that depend on values: coordinates of gathers and scatters that are out
  /// of bounds, computed starts for which a slice or an update would leave its tensor, and
  /// operations that compute a NaN from operands without one. A call throws an Error for the first
  /// one, with its source location; results and state are then as before the call. This is slower:
  /// every value is checked, and no state is updated in place. Only the results of kernels are
  /// checked, since a condition may discard intermediate values. Program files (`save`) have no
  /// checks.
  bool check = false;
  /// Called after each kernel with the number of kernels that are compiled. Several threads make
  /// these calls, one at a time. Long compilations show their progress on a terminal in any
  /// case.
  std::function<void(size_t done, size_t total)> onProgress = {};
  /// Names of the arguments, in order, for messages, program files and rules; C++ can't enumerate a
  /// lambda's parameters. Without them a tensor is "argument0", "argument1", ...; members of a tree
  /// are named by their paths. `jit` throws Error for too many names and for duplicates.
  std::vector<std::string> arguments = {};
  /// Positions of arguments, counted from 0, that many calls share and no call changes, such as the
  /// weights of a classifier. The program chooses their layouts (other arguments are row-major over
  /// their sorted names), and packs a tensor in another layout at its first call only.
  std::vector<size_t> kept = {};
  /// Paths of shared objects that add passes, kernels or rules to the compiler, in this order
  /// (docs/plugins.md). `jit` throws Error for one that can't be loaded.
  std::vector<std::string> plugins = {};
  /// Fast-math flags: words of heddle/FastMath.h. `jit` throws Error for an unknown word.
  std::vector<std::string> fastMath = {};
  /// Mixed precision: a float type narrower than f32 for the factors of products that are summed,
  /// as in matrix products, convolutions and their gradients; products, sums and all other values
  /// stay f32 (docs/precision.md). `jit` throws Error for another type.
  std::optional<ElementType> products = {};
  /// Names with symbolic sizes: one program serves all their sizes, so that a last, short batch
  /// needs no program of its own. In the traced function such a size is an expression, whose value
  /// each call decides; all arguments that have the name must agree. Each call checks the
  /// conditions on sizes, `batch.between(1, 4096).multipleOf(8)`.
  SymbolicSizes symbolic = {};
  /// Sizes of names in `symbolic` for which programs with this constant size are compiled as well.
  std::vector<Extent> specialised = {};
  /// The ranks that run the function together (Mesh.h), and rules that split its arguments over
  /// them, such as "batch:data" and "net.wide/hidden:model": names of arguments by patterns of
  /// their paths. `plan` is a file that has both (docs/distributed.md). The compiler chooses how
  /// all other values are split. `jit` throws Error for an unknown axis and an invalid rule, and
  /// for `zero` and `micro-batches` in the file, which only trainers support. The first call throws
  /// Error for a rule that matches nothing, and if the mesh does not have the size of the job.
  Mesh mesh = {};
  std::vector<std::string> rules = {};
  std::string plan = {};
  bool unmatchedRules = false; ///< ignore rules that match nothing
  /// The job and this process's rank in it; none: the first call joins by `Ranks::join`.
  std::optional<Ranks> ranks = {};
  std::optional<Timeline> timeline = {}; ///< gets the time of each step of the calls
};

/// Statistics of the program that was compiled last.
struct JitStatistics {
  double compileSeconds = 0; ///< wall time
  int64_t arenaBytes = 0;    ///< size of the planned arena
  int64_t liveBytes = 0;     ///< lower bound of the arena: the most bytes that are live at once
  int steps = 0, kernels = 0;
  int cachedKernels = 0; ///< kernels that were read from the cache on disk
};

namespace detail {

/// A tensor of an argument.
struct Leaf {
  std::string path;
  Tensor *tensor;
  bool state; ///< written back
  bool kept;  ///< JitOptions::kept
};
/// The arguments of a call: their tensors and, by their paths, their plain members as text.
struct Inputs {
  std::vector<Leaf> leaves;
  PlainMembers plain;
  /// Adds an argument. Members are named by their paths; if an earlier argument has the same path,
  /// the argument's name is put before it.
  void add(const std::string &argument, std::vector<Leaf> ownLeaves, PlainMembers ownPlain);
};
/// A tensor of a result.
struct Output {
  std::string path;
  Tensor tensor;
};
/// The results of a traced function. `shape` is the tree of results with empty tensors, which later
/// calls fill.
struct Traced {
  std::vector<Output> outputs;
  std::shared_ptr<const void> shape;
};
/// Calls the user's function on the formals that the leaves hold.
using Trace = std::function<Traced()>;
/// The results of a call, and their tree without values.
struct Returned {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> shape;
};

/// The part of `jit` that does not depend on the C++ signature.
class JitCore {
public:
  JitCore(JitOptions options, Here here);
  ~JitCore();
  /// Runs for the tensors in `inputs`, tracing first if their signature is new. Several threads may
  /// call at once.
  Returned call(Inputs inputs, const Trace &trace, Here here);
  /// The traced program as nd IR. Uses the types of the leaves, not their values.
  std::string ir(Inputs inputs, const Trace &trace, Here here);
  /// Writes the compiled program file.
  void save(const std::string &path, Inputs inputs, const Trace &trace, Here here);
  JitStatistics statistics() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
/// An argument for a Tensor parameter: a tensor, or a number that is converted to one.
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
  /// Both throw Error for a number that the type, f32 or i64, can't represent.
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

/// Throws Error for more names than the `count` arguments of a function, and for duplicates.
void requireArgumentNames(const std::vector<std::string> &names, size_t count,
                          const std::string &function, Here here);

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
      : function(std::move(function)), kept(options.kept), names(options.arguments) {
    for (size_t i = names.size(); i < sizeof...(A); ++i)
      names.push_back("argument" + std::to_string(i));
    requireArgumentNames(names, sizeof...(A), options.name, here);
    for (size_t position : kept)
      if (position >= sizeof...(A))
        throw Error("argument " + std::to_string(position) + " of '" + options.name +
                        "' should be kept, but the function has " + std::to_string(sizeof...(A)) +
                        " arguments",
                    here);
    core = std::make_shared<JitCore>(std::move(options), here);
  }

  R operator()(Given<A>... arguments, Here here = Here::current()) const {
    Returned returned =
        traced([&](Inputs inputs,
                   const Trace &trace) { return core->call(std::move(inputs), trace, here); },
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
        [&](Inputs inputs, const Trace &trace) { return core->ir(std::move(inputs), trace, here); },
        treeIn(arguments)...);
  }
  /// Compiles for the types of these arguments and writes the program file `path`, which the
  /// runtime runs without the compiler. Arguments and results are named by their paths in their
  /// trees; a tensor that is not a member of a tree is "argument0", "argument1", ..., or "result".
  /// Throws Error if the function captures tensors, and if the file can't be written.
  void save(const std::string &path, Given<A>... arguments, Here here = Here::current()) const {
    traced([&](Inputs inputs,
               const Trace &trace) { core->save(path, std::move(inputs), trace, here); },
           treeIn(arguments)...);
  }
  JitStatistics statistics() const { return core->statistics(); }

private:
  F function;
  std::vector<size_t> kept;
  std::vector<std::string> names; ///< of the arguments
  std::shared_ptr<JitCore> core;

  /// While the function is traced, its arguments hold formals. An argument that it takes by const
  /// reference is copied first, because the caller may pass one tree several times, or read it in
  /// another thread.
  template <typename T>
  using Held = std::conditional_t<std::is_lvalue_reference_v<T> &&
                                      std::is_const_v<std::remove_reference_t<T>>,
                                  std::decay_t<T>, T &>;
  template <typename Use>
  auto traced(Use &&use, A &...arguments) const {
    std::tuple<Held<A>...> held(arguments...);
    return std::apply([&](auto &...each) { return use(inputsOf(each...), tracer(each...)); }, held);
  }

  template <typename T>
  void add(Inputs &inputs, size_t position, T &tree, bool state) const {
    bool isKept = std::find(kept.begin(), kept.end(), position) != kept.end();
    std::vector<Leaf> leaves;
    PlainMembers plain;
    forEachNode(tree, [&]<typename N>(const std::string &path, N &node) {
      if constexpr (!std::is_same_v<N, Tensor>)
        collectPlain(node, path, plain);
      else if (!node.empty() || state)
        leaves.push_back({path, &node, state, isKept});
    });
    inputs.add(names[position], std::move(leaves), std::move(plain));
  }
  template <typename... T>
  Inputs inputsOf(T &...arguments) const {
    Inputs inputs;
    size_t position = 0;
    (add(inputs, position++, const_cast<std::remove_const_t<T> &>(arguments),
         std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>),
     ...);
    return inputs;
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

/// A compiled form of `function`, called in the same way. Arguments that `function` takes by
/// non-const reference are state, which a call updates; a function of state alone may return void.
/// Throws Error for invalid options (a negative number of threads, an unknown fast-math flag, ...).
template <typename F>
auto jit(F function, JitOptions options = {}, Here here = Here::current()) {
  using S = detail::Signature<std::decay_t<F>>;
  return detail::JitFunction<std::decay_t<F>, typename S::Result, typename S::Arguments>(
      std::move(function), std::move(options), here);
}

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

#endif // HEDDLE_JIT_H
