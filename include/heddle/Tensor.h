//===- Tensor.h - a value with named dimensions -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Tensor` is a value whose dimensions have names and no order. It is a handle on a node of a
// graph to which each operation adds a node. Nothing is computed until a value is needed (`to`,
// `item`, printing) or the graph is compiled as part of a function (`jit`).
//
//     Name row("row"), column("column");
//     Tensor a = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {{row, 2}, {column, 3}});
//     Tensor b = sum(a * a, over(column));      // row: 2
//     std::vector<float> values = b.to<float>({row});
//
// Pointwise operations align by name and take the union of the names. Arrays on the host have an
// order of dimensions, which `of` and `to` state. All functions throw `Error` for operands that do
// not fit; the message has the source location of the call and the types expected and got.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TENSOR_H
#define HEDDLE_TENSOR_H

#include "heddle/ElementType.h"
#include "heddle/Error.h"
#include "heddle/Name.h"

#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace heddle {

class RuntimeTensor;
struct SplitTensor;
namespace detail {
struct Node;
}

/// The padding of a window. Valid: none. Same: enough for ceil(size / stride) windows, half of it
/// at either end, the odd element at the high end. Explicit: `low` and `high` elements.
struct Padding {
  enum class Kind { Valid, Same, Explicit } kind = Kind::Valid;
  int64_t low = 0, high = 0; ///< elements before the first and after the last one
  double value = 0;          ///< of taps outside the input
  bool exclude = false;      ///< reductions over the tap leave out taps outside the input instead
  static Padding explicitly(int64_t low, int64_t high, double value = 0) {
    return {Kind::Explicit, low, high, value, false};
  }
  Padding excluded() const {
    Padding p = *this;
    p.exclude = true;
    return p;
  }
};
inline constexpr Padding Valid{};
inline constexpr Padding Same{Padding::Kind::Same};

/// The shape of a window: `size` taps, `dilation` elements apart, in windows that are `stride`
/// elements apart.
struct WindowOptions {
  int64_t size = 1, stride = 1, dilation = 1;
  Padding padding = Valid;
};

/// The elements that `pad` repeats: padding 1 2 3 by one element at either end gives 1 1 2 3 3
/// (Edge), 2 1 2 3 2 (Reflect) or 3 1 2 3 1 (Wrap).
enum class PadMode { Edge, Reflect, Wrap };

/// A value with named dimensions; copies are handles on the same value.
class Tensor {
public:
  /// An empty tensor, to which a value can be assigned. All other uses throw Error.
  Tensor() = default;
  bool empty() const { return !node; }
  /// Not a C++ condition: the elements are known only when the program runs. `empty` says whether
  /// the tensor has a value.
  explicit operator bool() const = delete; // write cond, select, logicalAnd/Or/Not, or empty()

  ElementType elementType(Here here = Here::current()) const;
  /// The names, sorted: `sum(x, x.names())`. A function that is lifted does not see lifted names.
  Names names(Here here = Here::current()) const;
  /// True if the tensor has a dimension called `name`.
  bool has(const Name &name, Here here = Here::current()) const;
  /// The size of `name`. Throws Error if the tensor lacks this name.
  Size size(const Name &name, Here here = Here::current()) const;
  /// All names with their sizes. Throws Error if a size is symbolic.
  Sizes sizes(Here here = Here::current()) const;
  /// All names with their sizes, which may be symbolic, sorted by name.
  std::vector<Extent> extents(Here here = Here::current()) const;
  /// The type as in IR: `!nd.tensor<f32, column: 3, row: 2>`.
  std::string type(Here here = Here::current()) const;

  /// The elements under a moving window, with the names of this tensor and `tap`:
  /// result[name = o, tap = k] = this[name = o * stride + k * dilation - low]. A convolution is
  /// `sum(x.window(row, ky, {.size = 3}) * weight, over(ky, ...))`. Throws Error for a window that
  /// reaches over more elements than the padded dimension has.
  Tensor window(const Name &name, const Name &tap, WindowOptions options,
                Here here = Here::current()) const;
  /// The adjoint of `window` (a transposed convolution uses it), without the name `tap`. The result
  /// has size `size` of `name`; each of its elements is the sum of the taps that `window` reads
  /// from it.
  Tensor unwindow(const Name &name, const Name &tap, WindowOptions options, const Size &size,
                  Here here = Here::current()) const;
  /// Renames dimensions, all at once, so that two names can be swapped.
  Tensor rename(const std::vector<Rename> &renames, Here here = Here::current()) const;
  /// Repeats this tensor along new names.
  Tensor broadcast(const std::vector<Extent> &extents, Here here = Here::current()) const;
  /// The `size` elements start, start + stride, ... of `name`. The stride may be negative, not 0.
  Tensor slice(const Name &name, const Size &start, const Size &size, int64_t stride = 1,
               Here here = Here::current()) const;
  /// The `size` elements of `name` from a computed start, an integer tensor. The start is clamped
  /// so that all of them are in bounds. Along names that `start` shares with this tensor, each
  /// coordinate has its own start; its other names are added to the result.
  Tensor slice(const Name &name, const Tensor &start, const Size &size,
               Here here = Here::current()) const;
  /// This tensor with the elements of such a slice replaced by those of `part`.
  Tensor update(const Name &name, const Tensor &start, const Tensor &part,
                Here here = Here::current()) const;
  /// result[name = i] = this[name = size - 1 - i].
  Tensor reverse(const Name &name, Here here = Here::current()) const;
  /// Adds `low` elements before the first and `high` after the last one of `name`, all of them
  /// `value`. Throws Error for windows that exclude taps, and what is computed from them.
  Tensor pad(const Name &name, const Size &low, const Size &high, double value = 0,
             Here here = Here::current()) const;
  /// The same with elements of this tensor. Throws Error for more elements than there are to copy
  /// (Reflect: size - 1, Wrap: size).
  Tensor pad(const Name &name, const Size &low, const Size &high, PadMode mode,
             Here here = Here::current()) const;
  /// Splits one name into several, of which the last varies fastest: `row` = 0 to 5 into {a, 2} and
  /// {b, 3} gives this[row = 3 * a + b].
  Tensor split(const Name &name, const std::vector<Extent> &into,
               Here here = Here::current()) const;
  /// Merges several names into one, the last varying fastest: the inverse of `split`.
  Tensor merge(const Names &names, const Name &into, Here here = Here::current()) const;
  /// Converts elements. Floats are rounded to their own type (dropping excess precision), then to
  /// the nearest number of `type`, ties to even, however operations are fused (docs/precision.md).
  /// Floats become integers by rounding towards zero; out-of-range numbers saturate and NaN becomes
  /// 0. Conversions between integers wrap around.
  Tensor cast(ElementType type, Here here = Here::current()) const;
  /// Rounds elements to a narrower float type and keeps their element type.
  Tensor round(ElementType type, Here here = Here::current()) const;
  /// The elements of `name` at computed coordinates, an integer tensor, which are clamped to the
  /// bounds. Along names that `index` shares with this tensor, each coordinate has its own index;
  /// its other names are added to the result.
  Tensor gather(const Name &name, const Tensor &index, Here here = Here::current()) const;
  /// The same along several names at once.
  Tensor gather(const std::vector<std::pair<Name, Tensor>> &at, Here here = Here::current()) const;
  /// The slice at one coordinate of `name`, without that name. A negative number counts from the
  /// end: `x.at(time, -1)` is the last slice. Throws Error for a coordinate that is out of bounds;
  /// with a symbolic size, the call of the program throws it.
  Tensor at(const Name &name, const Size &coordinate, Here here = Here::current()) const;
  /// The same at computed coordinates. This is `gather`: coordinates that are out of bounds,
  /// negative ones included, are clamped.
  Tensor at(const Name &name, const Tensor &coordinate, Here here = Here::current()) const {
    return gather(name, coordinate, here);
  }

  /// A tensor with the given values, in row-major order of `extents` as listed. Throws Error for
  /// another number of values.
  template <typename T>
  static Tensor of(std::span<const T> values, const std::vector<Extent> &extents,
                   Here here = Here::current()) {
    return ofBytes(values.data(), values.size(), elementTypeOf<T>(), extents, here);
  }
  template <typename T>
  static Tensor of(std::initializer_list<T> values, const std::vector<Extent> &extents,
                   Here here = Here::current()) {
    return ofBytes(values.begin(), values.size(), elementTypeOf<T>(), extents, here);
  }
  /// The same with `count` values of any element type.
  static Tensor ofBytes(const void *data, size_t count, ElementType type,
                        const std::vector<Extent> &extents, Here here = Here::current());
  /// The values in row-major order of `order`, which lists all names. Computes them if necessary.
  /// Throws Error unless T is the element type. If the tensor is split over ranks (Mesh.h), all
  /// ranks have to make the call, as for `item`, `data` and printing, since it gathers the blocks.
  /// A call by one rank alone ends the job with an error that names the rank.
  template <typename T>
  std::vector<T> to(const Names &order, Here here = Here::current()) const {
    data(here); // its message is the best one if there is too little memory
    std::vector<T> values(count(here));
    toBytes(values.data(), elementTypeOf<T>(), order, here);
    return values;
  }
  /// This tensor in the memory of a device, by the words of JitOptions::device, or of the host
  /// ("cpu"). Functions that are compiled for a device copy their arguments there at each call; a
  /// tensor that lies there is not copied. Throws Error for a device that there is not.
  Tensor to(const std::string &device, Here here = Here::current()) const;
  /// The same into `data`, which has space for `count()` elements.
  void toBytes(void *data, ElementType type, const Names &order, Here here = Here::current()) const;
  /// The element of a tensor that has only one, as a double.
  double item(Here here = Here::current()) const;
  /// The number of elements.
  size_t count(Here here = Here::current()) const;

  /// The tensor in memory. Computes it if necessary; throws Error for a value that depends on an
  /// argument of a function that is being traced.
  std::shared_ptr<RuntimeTensor> data(Here here = Here::current()) const;
  static Tensor fromData(std::shared_ptr<RuntimeTensor> data, Here here = Here::current());
  /// This rank's block of a tensor that is split over ranks; null if it is not, or if it is not
  /// computed yet (runtime/program/Gather.h).
  std::shared_ptr<const SplitTensor> split(Here here = Here::current()) const;
  static Tensor fromSplit(std::shared_ptr<const SplitTensor> split, Here here = Here::current());

  std::shared_ptr<detail::Node> node; ///< internal
};

/// A tensor to be printed, with a source location, which an operator can't take as a parameter.
struct Printed {
  Printed(const Tensor &tensor, Here here = Here::current()) : tensor(tensor), here(here) {}
  const Tensor &tensor;
  Here here;
};
/// Prints the type and the values of a tensor, nested in the sorted order of the names. Computes
/// them if necessary.
std::ostream &operator<<(std::ostream &out, const Printed &printed);

/// An operand of an operation: a tensor, or a number, which takes the element type of the other
/// operand. It holds its source location for messages.
struct Operand {
  /// Throws Error for an empty tensor.
  Operand(const Tensor &tensor, Here here = Here::current());
  Operand(double number, Here here = Here::current()) : number(number), here(here) {}
  Tensor tensor;
  double number = 0;
  Here here;
};

} // namespace heddle

#endif // HEDDLE_TENSOR_H
