//===- Tensor.h - a value with named dimensions -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Tensor` is a value whose dimensions have names and no order. It is a handle on a
// node of a graph that grows as operations are applied; nothing is computed until a
// value is needed (`print`, `to`) or the graph is compiled as part of a function (`jit`).
//
//     Name row("row"), column("column");
//     Tensor a = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {{row, 2}, {column, 3}});
//     Tensor b = sum(a * a, over(column));      // row: 2
//     std::vector<float> values = b.to<float>({row});
//
// Pointwise operations align by name and take the union of the names. Data that come from or go to
// the host have an order, which is then stated. Mistakes throw `Error` with the source location of
// the call, both sets of names, expected and got.
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
namespace detail {
struct Node;
}

/// The value of taps outside the input of a window. `exclude`: the reduction over the tap leaves
/// them out.
struct Padding {
  enum class Kind { Valid, Same, Explicit } kind = Kind::Valid;
  int64_t low = 0, high = 0;
  double value = 0;
  bool exclude = false;
  static Padding explicitly(int64_t low, int64_t high, double value = 0) {
    return {Kind::Explicit, low, high, value, false};
  }
  Padding excluded() const {
    Padding p = *this;
    p.exclude = true;
    return p;
  }
};
/// No padding; or as much as keeps ceil(size / stride) windows.
inline constexpr Padding Valid{};
inline constexpr Padding Same{Padding::Kind::Same};

struct WindowOptions {
  int64_t size = 1, stride = 1, dilation = 1;
  Padding padding = Valid;
};

/// The elements of `pad` beyond the ends of 1 2 3: 1 1 2 3 3, 2 1 2 3 2, 3 1 2 3 1.
enum class PadMode { Edge, Reflect, Wrap };

class Tensor {
public:
  /// Empty; may only be assigned to.
  Tensor() = default;
  bool empty() const { return !node; }
  /// Not a C++ condition: its elements are known only when the program runs. `empty` asks whether
  /// anything was assigned.
  explicit operator bool() const = delete; // write cond, select, logicalAnd/Or/Not, or empty()

  ElementType elementType(Here here = Here::current()) const;
  /// The names, sorted.
  std::vector<std::string> names(Here here = Here::current()) const;
  bool has(const Name &name, Here here = Here::current()) const;
  /// The size of `name`; throws if there is none.
  Size size(const Name &name, Here here = Here::current()) const;
  Sizes sizes(Here here = Here::current()) const;
  /// All names with their sizes, sorted by name.
  std::vector<Extent> extents(Here here = Here::current()) const;
  /// `!nd.tensor<f32, column: 3, row: 2>`
  std::string type(Here here = Here::current()) const;

  /// result[name = o, tap = k] = this[name = o * stride + k * dilation - low].
  Tensor window(const Name &name, const Name &tap, WindowOptions options,
                Here here = Here::current()) const;
  /// The adjoint of `window`, for the size that `name` had: every tap adds its element to the one
  /// that it was read from.
  Tensor unwindow(const Name &name, const Name &tap, WindowOptions options, const Size &size,
                  Here here = Here::current()) const;
  /// Renames several names at once, which may swap.
  Tensor rename(const std::vector<Rename> &renames, Here here = Here::current()) const;
  /// Repeats along new names.
  Tensor broadcast(const std::vector<Extent> &extents, Here here = Here::current()) const;
  /// Elements start, start + stride, ... of `name`, `size` of them; a negative stride walks back.
  Tensor slice(const Name &name, const Size &start, const Size &size, int64_t stride = 1,
               Here here = Here::current()) const;
  /// `size` elements from `start` on, an integer tensor; it is clamped so that all of them lie in
  /// this tensor. Names that both have are zipped.
  Tensor slice(const Name &name, const Tensor &start, const Size &size,
               Here here = Here::current()) const;
  /// This tensor with the elements of such a slice replaced by `part`.
  Tensor update(const Name &name, const Tensor &start, const Tensor &part,
                Here here = Here::current()) const;
  /// The last element first.
  Tensor reverse(const Name &name, Here here = Here::current()) const;
  Tensor pad(const Name &name, const Size &low, const Size &high, double value = 0,
             Here here = Here::current()) const;
  Tensor pad(const Name &name, const Size &low, const Size &high, PadMode mode,
             Here here = Here::current()) const;
  /// One name becomes several, the last varying fastest.
  Tensor split(const Name &name, const std::vector<Extent> &into,
               Here here = Here::current()) const;
  /// Several names become one, the last varying fastest.
  Tensor merge(const Names &names, const Name &into, Here here = Here::current()) const;
  /// Converts elements. Floats are rounded to their own type, then to the nearest number of the
  /// other, ties to even, fused or not (docs/precision.md); to integers they are rounded towards
  /// zero, and integers wrap around.
  Tensor cast(ElementType type, Here here = Here::current()) const;
  /// Rounds to a narrower float type and back: a fused computation keeps no more than that.
  Tensor round(ElementType type, Here here = Here::current()) const;
  /// Reads at computed coordinates of `name`; names that the index shares with this tensor are
  /// zipped.
  Tensor gather(const Name &name, const Tensor &index, Here here = Here::current()) const;
  /// The same along several names at once.
  Tensor gather(const std::vector<std::pair<Name, Tensor>> &at, Here here = Here::current()) const;
  /// The part at one coordinate of `name`, without that name. A number below 0 counts from the end:
  /// `x.at(time, -1)` is the last. Throws Error for one outside; where sizes are no numbers, the
  /// call is refused.
  Tensor at(const Name &name, const Size &coordinate, Here here = Here::current()) const;
  /// The same at computed coordinates, which is `gather`: one outside, below 0 too, is clamped.
  Tensor at(const Name &name, const Tensor &coordinate, Here here = Here::current()) const {
    return gather(name, coordinate, here);
  }

  /// A tensor with the given values, in row-major order of `extents` as written.
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
  static Tensor ofBytes(const void *data, size_t count, ElementType type,
                        const std::vector<Extent> &extents, Here here = Here::current());
  /// The values in row-major order of `order`, which lists all names. Evaluates if need be.
  template <typename T>
  std::vector<T> to(const Names &order, Here here = Here::current()) const {
    data(here); // says it best if there is too little memory
    std::vector<T> values(count(here));
    toBytes(values.data(), elementTypeOf<T>(), order, here);
    return values;
  }
  void toBytes(void *data, ElementType type, const Names &order, Here here = Here::current()) const;
  /// The only element of a tensor without names, as a double.
  double item(Here here = Here::current()) const;
  /// Number of elements.
  size_t count(Here here = Here::current()) const;

  /// The tensor in memory; evaluates if need be, throws for a value that depends on a formal of a
  /// function being traced.
  std::shared_ptr<RuntimeTensor> data(Here here = Here::current()) const;
  static Tensor fromData(std::shared_ptr<RuntimeTensor> data, Here here = Here::current());

  std::shared_ptr<detail::Node> node; ///< the library's own
};

/// A tensor to be printed, with the source location, which an operator can't take as a parameter.
struct Printed {
  Printed(const Tensor &tensor, Here here = Here::current()) : tensor(tensor), here(here) {}
  const Tensor &tensor;
  Here here;
};
/// Prints type and values of a tensor, sorted by name; evaluates if need be.
std::ostream &operator<<(std::ostream &out, const Printed &printed);

/// An operand of an operation: a tensor, or a number (which takes the other operand's element
/// type). It notes where it was written, so that messages can say so.
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
