//===- TensorValue.h - a tensor with error bounds ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of the interpreter: named dimensions with constant sizes and a Scalar at each coordinate.
// Elements are row-major over the sorted names; `Walk` iterates over coordinates by name:
//
//     TensorValue t(type);                        // !nd.tensor<f32, column: 3, row: 2>
//     t.at({{"row", 1}, {"column", 2}}).value = 4;
//     for (Walk w(t.dims()); w; ++w)              // column outermost, row fastest
//       use(w.position(), t.elements[w.count()]);
//
// `compare` compares two tensors within both error bounds: integers and exact floats must be equal;
// elements that depend on an undecided comparison are counted instead of compared.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_TENSORVALUE_H
#define HEDDLE_LIB_INTERP_TENSORVALUE_H

#include "dialects/nd/Nd.h"
#include "lib/interp/Scalar.h"

namespace heddle::interp {

/// A dimension: its name and its size.
using SizedName = std::pair<std::string, int64_t>;

/// Iterates over all coordinates of some dimensions, the last one fastest.
class Walk {
public:
  explicit Walk(ArrayRef<SizedName> dims);
  explicit operator bool() const { return !done; }
  Walk &operator++();
  /// The coordinates in the order of the dimensions.
  ArrayRef<int64_t> coordinates() const { return index; }
  /// The coordinates by name.
  Sizes position() const;
  /// The number of steps so far.
  int64_t count() const { return steps; }

private:
  std::vector<SizedName> dims;
  SmallVector<int64_t, 6> index;
  int64_t steps = 0;
  bool done = false;
};

class TensorValue {
public:
  nd::NdTensorType type; ///< sizes are constant
  std::vector<Scalar> elements;

  TensorValue() = default;
  /// All elements zero. The sizes of `type` must be constant.
  explicit TensorValue(nd::NdTensorType type);

  Type elementType() const { return type.getElementType(); }
  /// Names and sizes, sorted by name.
  ArrayRef<SizedName> dims() const { return extents; }
  int64_t size(StringRef name) const;
  bool has(StringRef name) const;
  /// The index into `elements`; names in `position` that the tensor lacks do not matter.
  size_t index(const Sizes &position) const;
  Scalar &at(const Sizes &position) { return elements[index(position)]; }
  const Scalar &at(const Sizes &position) const { return elements[index(position)]; }
  /// The stride in `elements` of each of `names`; 0 for a name that the tensor lacks.
  SmallVector<int64_t> strides(ArrayRef<SizedName> names) const;

  /// Float elements rounded to the element type, as in memory; `error` accounts for it.
  TensorValue stored() const;
  /// The slice at `coordinate` of `name`, without that name.
  TensorValue slice(StringRef name, int64_t coordinate) const;
  /// Overwrites the elements that `slice` reads.
  void setSlice(StringRef name, int64_t coordinate, const TensorValue &part);
  bool hasExcluded() const;

private:
  std::vector<SizedName> extents;
};

/// One element as text: `3`, `-2`, `0.5`.
std::string text(const Scalar &scalar, Type type);
/// `{column: 2, row: 1}`
std::string text(const Sizes &position);

/// True if the agreement of an element of type `type` proves little: it is undecided, or its bound
/// is larger than both its magnitude and a thousandth of its scale (Scalar.h). The sum of 1 and -1
/// +- 1e-6 is not uncertain: a fault of a thousandth in either term shows.
bool isUncertain(const Scalar &scalar, Type type);

struct Comparison {
  std::string mismatch;  ///< empty: equal within the bounds
  int64_t compared = 0;  ///< elements compared, or counted as undecided
  int64_t uncertain = 0; ///< of these, uncertain in the expected tensor
  int64_t undecided = 0; ///< of these, undecided and not compared
  int64_t notFinite = 0; ///< of these, expected to be NaN or infinite
  bool equal() const { return mismatch.empty(); }
};
/// Compares `got` with `expected`, which have the same type; both are rounded as stored.
Comparison compare(const TensorValue &expected, const TensorValue &got);

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_TENSORVALUE_H
