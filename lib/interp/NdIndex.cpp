//===- NdIndex.cpp - index maps of nd -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function maps a coordinate of the result to the coordinate of the operand that it reads.
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Evaluator.h"
#include "lib/interp/Fold.h"

#include "dialects/nd/NdInference.h"

using namespace mlir;

namespace heddle::interp {

/// Fills the result from `source`, which maps the result's coordinates to the input's; where it
/// returns none, the element is `otherwise`.
static void fill(TensorValue &result, const TensorValue &input, const Scalar &otherwise,
                 llvm::function_ref<std::optional<Sizes>(Sizes)> source) {
  for (Walk walk(result.dims()); walk; ++walk) {
    std::optional<Sizes> from = source(walk.position());
    result.elements[walk.count()] = from ? input.at(*from) : otherwise;
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
  fill(result, input, outside, [&](Sizes at) -> std::optional<Sizes> {
    int64_t coordinate = at[name] * shape.stride + at[tap] * shape.dilation - shape.low;
    if (coordinate < 0 || coordinate >= size)
      return std::nullopt;
    at[name] = coordinate;
    at.erase(tap);
    return at;
  });
}

/// Sums each tap into the element that the window reads it from.
static void unwindow(nd::UnwindowOp op, const TensorValue &input, TensorValue &result,
                     Arithmetic &arithmetic) {
  nd::WindowShape shape = nd::windowShape(op);
  std::string name = shape.name.str(), tap = shape.tap.str();
  auto real = dyn_cast<FloatType>(input.elementType());
  int64_t windows = input.size(name);
  for (Walk walk(result.dims()); walk; ++walk) {
    Sizes at = walk.position();
    int64_t coordinate = at[name];
    Scalar sum;
    FloatSum floats;
    for (int64_t o = 0; o < windows; ++o)
      for (int64_t k = 0; k < shape.size; ++k) {
        if (o * shape.stride + k * shape.dilation - shape.low != coordinate)
          continue;
        at[name] = o;
        at[tap] = k;
        const Scalar &x = input.at(at);
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
  fill(result, input, {}, [&](Sizes at) {
    at[name] = start + at[name] * stride;
    return at;
  });
  return success();
}

static void pad(nd::PadOp op, const TensorValue &input, TensorValue &result, int64_t low) {
  std::string name = op.getName().str();
  int64_t step = int64_t(op.getInterior()) + 1, size = input.size(name);
  fill(result, input, ofAttribute(op.getValue()), [&](Sizes at) -> std::optional<Sizes> {
    int64_t coordinate = at[name] - low;
    if (coordinate < 0 || coordinate % step != 0 || coordinate / step >= size)
      return std::nullopt;
    at[name] = coordinate / step;
    return at;
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

/// The row-major index of some names, the last fastest.
static int64_t merged(const Sizes &at, ArrayRef<StringRef> names, const TensorValue &tensor) {
  int64_t index = 0;
  for (StringRef name : names)
    index = index * tensor.size(name) + at.find(name.str())->second;
  return index;
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
  fill(result, input, {}, [&](Sizes at) {
    int64_t index = merged(at, into, result);
    for (StringRef name : into)
      at.erase(name.str());
    at[op.getName().str()] = index;
    return at;
  });
  return success();
}

static void merge(nd::MergeOp op, const TensorValue &input, TensorValue &result) {
  SmallVector<StringRef> names = nd::stringsOf(op.getNames());
  fill(result, input, {}, [&](Sizes at) {
    int64_t index = at[op.getInto().str()];
    at.erase(op.getInto().str());
    for (StringRef name : llvm::reverse(names)) {
      at[name.str()] = index % input.size(name);
      index /= input.size(name);
    }
    return at;
  });
}

static void rename(nd::RenameOp op, const TensorValue &input, TensorValue &result) {
  fill(result, input, {}, [&](Sizes at) {
    Sizes source;
    for (const auto &[name, coordinate] : at)
      source[op.getRenaming()->before(name).str()] = coordinate;
    return source;
  });
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
    fill(result, input, {}, [](Sizes at) { return at; });
  if (failed(done))
    return failure();
  return setResult(op, frame, std::move(result));
}

} // namespace heddle::interp
