//===- NdIndex.cpp - index maps of nd -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function maps the coordinates of the result to those of the operand that it reads.
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Evaluator.h"
#include "lib/interp/Fold.h"

#include "dialects/nd/NdInference.h"

using namespace mlir;

namespace heddle::interp {

namespace {
/// The coordinates of one element of a result, and those of the operand's element that it reads.
struct Place {
  ArrayRef<SizedName> to, from;
  SmallVector<int64_t, 6> at, source;

  Place(const TensorValue &result, const TensorValue &input)
      : to(result.dims()), from(input.dims()), source(from.size()) {}
  static size_t find(ArrayRef<SizedName> dims, StringRef name) {
    return size_t(llvm::find_if(dims, [&](const SizedName &dim) { return dim.first == name; }) -
                  dims.begin());
  }
  size_t ofResult(StringRef name) const { return find(to, name); }
  size_t ofInput(StringRef name) const { return find(from, name); }
};
} // namespace

/// Fills the result. A name of the operand gets the coordinate of the name that `same` maps it to
/// (its own, by default); then `change` sets other coordinates, or returns false for the element
/// `otherwise`.
static void fill(TensorValue &result, const TensorValue &input, const Scalar &otherwise,
                 llvm::function_ref<bool(Place &)> change,
                 llvm::function_ref<StringRef(StringRef)> same = nullptr) {
  Place place(result, input);
  SmallVector<size_t, 6> sources;
  for (const SizedName &dim : place.from)
    sources.push_back(place.ofResult(same ? same(dim.first) : dim.first));
  for (Walk walk(result.dims()); walk; ++walk) {
    place.at.assign(walk.coordinates().begin(), walk.coordinates().end());
    for (auto [coordinate, source] : llvm::zip_equal(place.source, sources))
      coordinate = source < place.at.size() ? place.at[source] : 0;
    if (!change(place)) {
      result.elements[walk.count()] = otherwise;
      continue;
    }
    size_t index = 0;
    for (auto [dim, coordinate] : llvm::zip_equal(place.from, place.source))
      index = index * size_t(dim.second) + size_t(coordinate);
    result.elements[walk.count()] = input.elements[index];
  }
}

/// The size of `name` in the value's type.
static Expr tensorSize(Value value, StringRef name) {
  return cast<nd::NdTensorType>(value.getType()).size(name).getExpr();
}

static Scalar excludedElement() {
  Scalar element;
  element.excluded = true;
  return element;
}

static void window(nd::WindowOp op, const TensorValue &input, TensorValue &result) {
  nd::WindowShape shape = nd::windowShape(op);
  std::string name = shape.name.str(), tap = shape.tap.str();
  int64_t size = input.size(name);
  Scalar outside = op.getPaddingAttr() ? ofAttribute(op.getPaddingAttr()) : excludedElement();
  Place names(result, input);
  size_t read = names.ofInput(name), o = names.ofResult(name), k = names.ofResult(tap);
  fill(result, input, outside, [&](Place &place) {
    int64_t coordinate = place.at[o] * shape.stride + place.at[k] * shape.dilation - shape.low;
    place.source[read] = coordinate;
    return coordinate >= 0 && coordinate < size;
  });
}

/// Adds each tap to the element from which the window reads it.
static void unwindow(nd::UnwindowOp op, const TensorValue &input, TensorValue &result,
                     Arithmetic &arithmetic) {
  nd::WindowShape shape = nd::windowShape(op);
  std::string name = shape.name.str(), tap = shape.tap.str();
  auto real = dyn_cast<FloatType>(input.elementType());
  int64_t windows = input.size(name);
  size_t read = Place(result, input).ofResult(name);
  SmallVector<int64_t> strides = input.strides(result.dims());
  int64_t along = std::exchange(strides[read], 0), tapStride = input.strides({{tap, 0}})[0];
  for (Walk walk(result.dims()); walk; ++walk) {
    int64_t coordinate = walk.coordinates()[read];
    size_t first = dot(walk.coordinates(), strides);
    Scalar sum;
    FloatSum floats;
    for (int64_t k = shape.size - 1; k >= 0; --k) {
      int64_t start = coordinate + shape.low - k * shape.dilation;
      if (start < 0 || start % shape.stride != 0 || start / shape.stride >= windows)
        continue;
      const Scalar &x =
          input.elements[first + size_t(start / shape.stride * along + k * tapStride)];
      if (x.excluded)
        continue;
      floats.add(x);
      sum.bits += x.bits;
      sum.undecided |= x.undecided;
    }
    Scalar &element = result.elements[walk.count()];
    if (real) {
      element = floats.result(real, arithmetic);
    } else {
      element = integer(sum.bits, widthOf(input.elementType()));
      element.undecided = sum.undecided;
    }
  }
}

static LogicalResult slice(nd::SliceOp op, const TensorValue &input, TensorValue &result,
                           int64_t start) {
  std::string name = op.getName().str();
  int64_t size = input.size(name), count = result.size(name), stride = op.getStride();
  for (int64_t coordinate : {start, start + (count - 1) * stride})
    if (count > 0 && (coordinate < 0 || coordinate >= size))
      return op.emitOpError() << "reads element " << coordinate << " of '" << name
                              << "', expected one of at least 0 and less than "
                              << tensorSize(op.getInput(), name).str() << ", which is " << size;
  size_t read = Place(result, input).ofInput(name);
  fill(result, input, {}, [&](Place &place) {
    place.source[read] = start + place.source[read] * stride;
    return true;
  });
  return success();
}

static void pad(nd::PadOp op, const TensorValue &input, TensorValue &result, int64_t low) {
  std::string name = op.getName().str();
  int64_t step = int64_t(op.getInterior()) + 1, size = input.size(name);
  size_t read = Place(result, input).ofInput(name);
  fill(result, input, ofAttribute(op.getValue()), [&](Place &place) {
    int64_t coordinate = place.source[read] - low;
    place.source[read] = coordinate / step;
    return coordinate >= 0 && coordinate % step == 0 && coordinate / step < size;
  });
}

static void concat(nd::ConcatOp op, ArrayRef<const TensorValue *> inputs, TensorValue &result) {
  std::string name = op.getName().str();
  for (Walk walk(result.dims()); walk; ++walk) {
    Sizes at = walk.position();
    size_t i = 0;
    for (; at[name] >= inputs[i]->size(name); ++i)
      at[name] -= inputs[i]->size(name);
    result.elements[walk.count()] = inputs[i]->at(at);
  }
}

static LogicalResult split(nd::SplitOp op, const TensorValue &input, TensorValue &result) {
  SmallVector<StringRef> into = nd::stringsOf(op.getInto());
  StringRef name = op.getName();
  Expr product(1), number(1);
  for (StringRef part : into) {
    product = product * tensorSize(op.getResult(), part);
    number = number * Expr(result.size(part.str()));
  }
  if (number != Expr(input.size(name.str())))
    return op.emitOpError() << "expected sizes whose product is the size of '" << name << "', "
                            << tensorSize(op.getInput(), name).str() << ", which is "
                            << input.size(name.str()) << ", got " << product.str() << ", which is "
                            << number.str();
  Place names(result, input);
  size_t read = names.ofInput(name);
  SmallVector<size_t> parts =
      llvm::map_to_vector(into, [&](StringRef part) { return names.ofResult(part); });
  // The row-major index of the parts, the last fastest.
  fill(result, input, {}, [&](Place &place) {
    int64_t index = 0;
    for (size_t part : parts)
      index = index * place.to[part].second + place.at[part];
    place.source[read] = index;
    return true;
  });
  return success();
}

static void merge(nd::MergeOp op, const TensorValue &input, TensorValue &result) {
  SmallVector<StringRef> names = nd::stringsOf(op.getNames());
  Place places(result, input);
  size_t into = places.ofResult(op.getInto());
  SmallVector<size_t> parts =
      llvm::map_to_vector(names, [&](StringRef name) { return places.ofInput(name); });
  fill(result, input, {}, [&](Place &place) {
    int64_t index = place.at[into];
    for (size_t part : llvm::reverse(parts)) {
      place.source[part] = index % place.from[part].second;
      index /= place.from[part].second;
    }
    return true;
  });
}

static void rename(nd::RenameOp op, const TensorValue &input, TensorValue &result) {
  std::map<std::string, std::string, std::less<>> after;
  for (const SizedName &dim : result.dims())
    after[op.getRenaming()->before(dim.first).str()] = dim.first;
  fill(
      result, input, {}, [](Place &) { return true; },
      [&](StringRef name) { return StringRef(after.find(name)->second); });
}

std::optional<LogicalResult> Evaluator::evaluateIndexMap(Operation *op, Frame &frame) {
  if (!isa<nd::WindowOp, nd::UnwindowOp, nd::SliceOp, nd::PadOp, nd::ConcatOp, nd::SplitOp,
           nd::MergeOp, nd::RenameOp, nd::BroadcastOp>(op))
    return std::nullopt;
  FailureOr<TensorValue> made = resultOf(op->getResult(0), frame);
  if (failed(made))
    return failure();
  TensorValue &result = *made;
  SmallVector<const TensorValue *> inputs = frame[op->getOperands()];
  const TensorValue &input = *inputs[0];
  auto number = [&](nd::SizeAttr size) {
    return size.getExpr().substitute(frame.symbols).constant().value_or(0);
  };
  LogicalResult done = success();
  if (auto each = dyn_cast<nd::WindowOp>(op))
    window(each, input, result);
  else if (auto each = dyn_cast<nd::UnwindowOp>(op))
    unwindow(each, input, result, arithmetic);
  else if (auto each = dyn_cast<nd::SliceOp>(op))
    done = slice(each, input, result, number(each.getStart()));
  else if (auto each = dyn_cast<nd::PadOp>(op))
    pad(each, input, result, number(each.getLow()));
  else if (auto each = dyn_cast<nd::ConcatOp>(op))
    concat(each, inputs, result);
  else if (auto each = dyn_cast<nd::SplitOp>(op))
    done = split(each, input, result);
  else if (auto each = dyn_cast<nd::MergeOp>(op))
    merge(each, input, result);
  else if (auto each = dyn_cast<nd::RenameOp>(op))
    rename(each, input, result);
  else
    fill(result, input, {}, [](Place &) { return true; });
  if (failed(done))
    return failure();
  return setResult(op, frame, std::move(result));
}

} // namespace heddle::interp
