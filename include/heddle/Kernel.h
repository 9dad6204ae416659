//===- Kernel.h - kernels as index expressions ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel defines one element of its results. It becomes one loop nest, which the compiler
// differentiates, fuses, lays out and schedules like any other.
//
//     // Convolutional capsules: 4x4 pose matrices, summed over a window and the input capsules.
//     Tensor votes = kernel(row, column, out, i, j)
//         .sum(ky, kx, channel, k)
//         .of(at(pose, {{row, 2 * row + ky}, {column, 2 * column + kx}}) *
//             at(weight, {{row_k, ky}, {column_k, kx}}));
//
// A read without a coordinate for a name of its operand uses the iteration name of the same
// spelling. Names of operands that are neither produced nor reduced are lifted over: the results
// have them too. Sizes follow from the operands: first from names read directly, then from the
// largest range for which every read stays inside; `size` states one.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_KERNEL_H
#define HEDDLE_KERNEL_H

#include "heddle/Scalar.h"
#include "heddle/Tensor.h"

#include <array>

namespace heddle {

/// The index of a read along one name: an expression, or a value (an integer scalar, which is
/// clamped to the tensor).
struct Index {
  Index(const Name &name) : expr(name) {}
  Index(const Expr &expr) : expr(expr) {}
  Index(std::integral auto number) : expr(int64_t(number)) {}
  Index(const Scalar &value) : value(value.node) {}
  Expr expr;
  std::shared_ptr<const Scalar::Node> value; ///< if not null, instead of `expr`
};
/// A name with the index of a read along it: `{row, 2 * row + ky}`, `{node, at(edges)}`.
struct Coordinate {
  Name name;
  Index index;
};

/// A read of `tensor`.
Scalar at(const Tensor &tensor, const std::vector<Coordinate> &coordinates = {},
          Here here = Here::current());
/// A read whose value is `otherwise` where a coordinate is out of bounds.
Scalar atOr(const Tensor &tensor, const std::vector<Coordinate> &coordinates, double otherwise,
            Here here = Here::current());

class KernelBuilder {
public:
  KernelBuilder(Names produced, Here here) : produced(std::move(produced)), here(here) {}
  template <typename... N>
  KernelBuilder &sum(const N &...names) {
    return reduce("add", Names{names...});
  }
  template <typename... N>
  KernelBuilder &max(const N &...names) {
    return reduce("max", Names{names...});
  }
  template <typename... N>
  KernelBuilder &min(const N &...names) {
    return reduce("min", Names{names...});
  }
  template <typename... N>
  KernelBuilder &product(const N &...names) {
    return reduce("mul", Names{names...});
  }
  /// By a combiner that has a name: "add", "mul", "max", "min", "and", "or", "xor".
  KernelBuilder &reduce(const std::string &combiner, const Names &names);
  /// By any combiner that is associative and commutative, `neutral` being its neutral element:
  ///
  ///     kernel(row).reduce(over(column), 0, [](Scalar a, Scalar b) { return a + b + a * b; })
  KernelBuilder &reduce(const Names &names, double neutral,
                        const std::function<Scalar(Scalar, Scalar)> &combiner);
  /// The same for several results together: each combiner argument is one scalar for each result.
  ///
  ///     // The largest element, and how often it occurs.
  ///     auto [most, times] =
  ///         kernel(row)
  ///             .reduce(over(column), {-INFINITY, 0},
  ///                     [](const Scalars &a, const Scalars &b) {
  ///                       Scalar kept = select(a[0] < b[0], 0, a[1]);
  ///                       Scalar added = select(b[0] < a[0], 0, b[1]);
  ///                       return Scalars{maximum(a[0], b[0]), kept + added};
  ///                     })
  ///             .of(at(x), 1);
  KernelBuilder &reduce(const Names &names, std::vector<double> neutral, const Combine &combiner);
  /// The type that the reductions of float results run in, no narrower than their elements; by
  /// default f32 or the elements' type.
  KernelBuilder &accumulate(ElementType type);
  /// States the size of an iteration name.
  KernelBuilder &size(const Name &name, const Size &size);
  /// Only points where `condition >= 0` take part in the reduction.
  KernelBuilder &where(const Expr &condition);
  /// Only points where `condition` (a truth value) holds take part in the reduction.
  KernelBuilder &where(const Scalar &condition);
  /// The result; throws Error for names, sizes and element types that do not agree.
  Tensor of(const Scalar &body) const { return all({body})[0]; }
  /// Several results of one nest: `auto [sum, squares] = kernel(row).sum(column).of(x, x * x)`.
  template <typename... S>
    requires(sizeof...(S) > 0)
  std::array<Tensor, 1 + sizeof...(S)> of(const Scalar &first, const S &...more) const {
    std::vector<Tensor> results = all({first, Scalar(more)...});
    std::array<Tensor, 1 + sizeof...(S)> array;
    std::move(results.begin(), results.end(), array.begin());
    return array;
  }
  /// As many results as `bodies`.
  std::vector<Tensor> all(const Scalars &bodies) const;

private:
  class Nest;
  KernelBuilder &combineBy(const std::string &combiner, const Names &names);
  Names produced, reduced;
  std::string combiner;        ///< "" if nothing is reduced, "general" for `combine`
  std::vector<double> neutral; ///< of `combine`
  Scalars combined;            ///< of `combine`, over its arguments
  std::optional<ElementType> accumulator;
  std::map<std::string, Expr> sizes;
  std::vector<Expr> conditions;
  Scalars predicates;
  Here here;
};
/// `kernel(row, column)` begins a kernel that produces these names. (A class, so that its source
/// location can be the last parameter.)
template <typename... N>
struct kernel : KernelBuilder {
  explicit kernel(const N &...names, Here here = Here::current())
      : KernelBuilder(Names{names...}, here) {}
};
template <typename... N>
kernel(const N &...) -> kernel<N...>;

namespace detail {
/// Operations that this thread makes in its lifetime belong to one group.
class GroupScope {
public:
  GroupScope(const Names &names, Here here);
  ~GroupScope();
  GroupScope(const GroupScope &) = delete;
  GroupScope &operator=(const GroupScope &) = delete;
};
} // namespace detail

/// Fuses the operations of `body` into one nest over the points of `names`: values between them
/// stay in a cache instead of going through memory. It changes no value, only the schedule.
///
///     auto [pose, activation] =
///         group(over(batch, row, column), [&] { return route(votes(x), 3); });
///
/// Operations that do not have all of `names`, or read at other points of them, run outside. Of
/// nested groups the inner one wins.
template <typename Body>
auto group(const Names &names, Body &&body, Here here = Here::current()) {
  detail::GroupScope scope(names, here);
  return std::forward<Body>(body)();
}

} // namespace heddle

#endif // HEDDLE_KERNEL_H
