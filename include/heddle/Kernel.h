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
// If a read has no coordinate for a name of its operand, the coordinate is the iteration name of
// the same spelling. The kernel is lifted over names of operands that are neither produced nor
// reduced: the results have these names too. Sizes of iteration names follow from the operands:
// first from reads whose coordinate is a single name, then from the largest range for which every
// read stays in bounds. `size` states one explicitly.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_KERNEL_H
#define HEDDLE_KERNEL_H

#include "heddle/Scalar.h"
#include "heddle/Tensor.h"

#include <array>

namespace heddle {

/// The index of a read along one name: an expression over iteration names, or a computed integer
/// (gather), which is clamped to the bounds of the tensor.
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

/// The element of `tensor` at `coordinates`. Throws Error for a name that the tensor lacks, and for
/// one that has two coordinates.
Scalar at(const Tensor &tensor, const std::vector<Coordinate> &coordinates = {},
          Here here = Here::current());
/// The same, or `otherwise` where one of `coordinates` is out of bounds.
Scalar atOr(const Tensor &tensor, const std::vector<Coordinate> &coordinates, double otherwise,
            Here here = Here::current());

/// Builds a kernel step by step; `kernel(names...)` begins one and `of` ends it. Each function
/// throws Error for names that do not fit.
class KernelBuilder {
public:
  KernelBuilder(Names produced, Here here) : produced(std::move(produced)), here(here) {}
  /// Reduces over `names` by a sum, maximum, minimum or product. A kernel has one combiner.
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
  /// Reduces by the combiner called "add", "mul", "max", "min", "and", "or" or "xor".
  KernelBuilder &reduce(const std::string &combiner, const Names &names);
  /// Reduces by any associative and commutative combiner, whose neutral element is `neutral`:
  ///
  ///     kernel(row).reduce(over(column), 0, [](Scalar a, Scalar b) { return a + b + a * b; })
  KernelBuilder &reduce(const Names &names, double neutral,
                        const std::function<Scalar(Scalar, Scalar)> &combiner);
  /// Reduces several results together. The combiner takes one scalar of each result from either
  /// side, and returns one for each result.
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
  /// The type in which reductions of float results accumulate. It is no narrower than the element
  /// type; by default it is the element type, or f32 for narrower ones.
  KernelBuilder &accumulate(ElementType type);
  /// States the size of an iteration name. Throws Error for a negative one.
  KernelBuilder &size(const Name &name, const Size &size);
  /// Restricts the reduction to the points where `condition >= 0`.
  KernelBuilder &where(const Expr &condition);
  /// Restricts the reduction to the points where `condition` (of type i1) is true.
  KernelBuilder &where(const Scalar &condition);
  /// The result of the kernel with this body. Throws Error for names, sizes and element types that
  /// do not agree.
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
  /// The results of the kernel, one for each body.
  std::vector<Tensor> all(const Scalars &bodies) const;

private:
  class Nest;
  KernelBuilder &combineBy(const std::string &combiner, const Names &names);
  Names produced, reduced;
  std::string combiner;        ///< "" if nothing is reduced, "general" for `combine`
  std::vector<double> neutral; ///< of `combine`
  Scalars combined;            ///< of `combine`, over its arguments
  std::optional<ElementType> accumulator;
  ExprMap sizes;
  std::vector<Expr> conditions;
  Scalars predicates;
  Here here;
};
/// `kernel(row, column)` begins a kernel whose results have these names. (It is a class, because a
/// function could not take the source location after its parameter pack.)
template <typename... N>
struct kernel : KernelBuilder {
  explicit kernel(const N &...names, Here here = Here::current())
      : KernelBuilder(Names{names...}, here) {}
};
template <typename... N>
kernel(const N &...) -> kernel<N...>;

namespace detail {
/// While it lives, operations that this thread makes belong to one group.
class GroupScope {
public:
  GroupScope(const Names &names, Here here);
  ~GroupScope();
  GroupScope(const GroupScope &) = delete;
  GroupScope &operator=(const GroupScope &) = delete;
};
} // namespace detail

/// Fuses the operations of `body` into one nest over the points of `names`, so that their
/// intermediate values stay in a cache. This changes the schedule and no value.
///
///     auto [pose, activation] =
///         group(over(batch, row, column), [&] { return route(votes(x), 3); });
///
/// Operations that do not have all of `names`, or read elements of other points, run outside of the
/// nest. An operation within nested groups belongs to the inner one. Throws Error for a name that
/// is listed twice, and for an empty list.
template <typename Body>
auto group(const Names &names, Body &&body, Here here = Here::current()) {
  detail::GroupScope scope(names, here);
  return std::forward<Body>(body)();
}

} // namespace heddle

#endif // HEDDLE_KERNEL_H
