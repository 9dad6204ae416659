//===- Kernel.h - kernels as index expressions ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel says what one element of its result is. It becomes one `nest.compute`, which is
// differentiated, fused, laid out and scheduled like everything else:
//
//     // Convolutional capsules: 4x4 pose matrices, summed over a window and the input capsules.
//     Tensor votes = kernel(row, column, out, i, j)
//         .sum(ky, kx, channel, k)
//         .of(at(pose, {{row, 2 * row + ky}, {column, 2 * column + kx}}) *
//             at(weight, {{row_k, ky}, {column_k, kx}}));
//
// A name of an operand that has no coordinate written is read at the iteration name of the same
// spelling. Names of operands that are neither produced nor reduced are lifted over: the result has
// them too. Sizes follow from the operands: first from names read directly, then from the largest
// range for which every read stays inside; `size` states one.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_KERNEL_H
#define HEDDLE_KERNEL_H

#include "heddle/Tensor.h"

#include <functional>

namespace heddle {

/// A scalar in the body of a kernel.
class Scalar {
public:
  struct Node;
  Scalar(double number, Here here = Here::current());
  /// The coordinate of an iteration name, as an integer.
  Scalar(const Name &name, Here here = Here::current());
  explicit Scalar(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  std::shared_ptr<const Node> node;
};

/// A read of `tensor`.
Scalar at(const Tensor &tensor, const std::vector<Coordinate> &coordinates = {},
          Here here = Here::current());
/// A read that gives `otherwise` where a coordinate lies outside the tensor.
Scalar atOr(const Tensor &tensor, const std::vector<Coordinate> &coordinates, double otherwise,
            Here here = Here::current());
/// A read at a computed coordinate along `name` (clamped): `index` is a read of an integer tensor.
Scalar atIndex(const Tensor &tensor, const Name &name, const Scalar &index,
               const std::vector<Coordinate> &coordinates = {}, Here here = Here::current());

Scalar operator+(const Scalar &a, const Scalar &b);
Scalar operator-(const Scalar &a, const Scalar &b);
Scalar operator*(const Scalar &a, const Scalar &b);
Scalar operator/(const Scalar &a, const Scalar &b);
Scalar operator<(const Scalar &a, const Scalar &b);
Scalar maximum(const Scalar &a, const Scalar &b);
Scalar minimum(const Scalar &a, const Scalar &b);
Scalar select(const Scalar &condition, const Scalar &yes, const Scalar &no);
Scalar exp(const Scalar &x);
Scalar log(const Scalar &x);
Scalar sqrt(const Scalar &x);
Scalar tanh(const Scalar &x);

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
  KernelBuilder &reduce(const std::string &combiner, const Names &names);
  /// States the size of an iteration name.
  KernelBuilder &size(const Name &name, int64_t size);
  /// Only points where `condition >= 0` take part in the reduction.
  KernelBuilder &where(const Expr &condition);
  Tensor of(const Scalar &body) const;

private:
  Names produced, reduced;
  std::string combiner;
  std::map<std::string, int64_t> sizes;
  std::vector<Expr> conditions;
  Here here;
};

/// `kernel(row, column)` begins a kernel that produces these names. (A class, so that the place
/// where it is written can follow the names.)
template <typename... N>
struct kernel : KernelBuilder {
  explicit kernel(const N &...names, Here here = Here::current())
      : KernelBuilder(Names{names...}, here) {}
};
template <typename... N>
kernel(const N &...) -> kernel<N...>;

namespace detail {
/// While it lives, what this thread makes belongs to one group.
class GroupScope {
public:
  GroupScope(const Names &names, Here here);
  ~GroupScope();
  GroupScope(const GroupScope &) = delete;
  GroupScope &operator=(const GroupScope &) = delete;
};
} // namespace detail

/// What `body` makes runs together, point by point of `names`: values between its operations stay
/// in a cache instead of going through memory as a whole. It changes no value, only how it is
/// computed.
///
///     auto [pose, activation] =
///         group(over(batch, row, column), [&] { return route(votes(x), 3); });
///
/// Operations that do not have all of `names`, or read at other points of them, run outside. Of
/// nested groups the inner one holds.
template <typename Body>
auto group(const Names &names, Body &&body, Here here = Here::current()) {
  detail::GroupScope scope(names, here);
  return std::forward<Body>(body)();
}

} // namespace heddle

#endif // HEDDLE_KERNEL_H
