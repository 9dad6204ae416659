//===- Jit.h - compiled functions -------------------------------*- C++ -*-===//
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

#include "heddle/Functions.h"
#include "heddle/Mesh.h"
#include "heddle/Plain.h"
#include "heddle/Ranks.h"
#include "heddle/Scope.h"
#include "heddle/Timeline.h"
#include "heddle/Tree.h"

#include <algorithm>
#include <concepts>
#include <functional>
#include <utility>

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

} // namespace heddle

#endif // HEDDLE_JIT_H
