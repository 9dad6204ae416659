//===- TensorValue.cpp - a tensor with error bounds -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/TensorValue.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace heddle::interp {

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

Walk::Walk(ArrayRef<SizedName> dims) : dims(dims.begin(), dims.end()), index(dims.size(), 0) {
  done = llvm::any_of(dims, [](const SizedName &dim) { return dim.second == 0; });
}

Walk &Walk::operator++() {
  ++steps;
  for (size_t i = dims.size(); i-- > 0;) {
    if (++index[i] < dims[i].second)
      return *this;
    index[i] = 0;
  }
  done = true;
  return *this;
}

Sizes Walk::position() const {
  Sizes position;
  for (auto [dim, coordinate] : llvm::zip_equal(dims, index))
    position[dim.first] = coordinate;
  return position;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

TensorValue::TensorValue(nd::NdTensorType type) : type(type) {
  for (const nd::Dim &dim : type.getDims())
    extents.emplace_back(dim.name.str(), *dim.size().constant());
  elements.resize(size_t(type.elements()));
}

int64_t TensorValue::size(StringRef name) const {
  for (const SizedName &dim : extents)
    if (dim.first == name)
      return dim.second;
  return -1;
}

bool TensorValue::has(StringRef name) const { return size(name) >= 0; }

size_t TensorValue::index(const Sizes &position) const {
  size_t index = 0;
  for (const SizedName &dim : extents) {
    int64_t coordinate = position.find(dim.first)->second;
    assert(coordinate >= 0 && coordinate < dim.second && "a coordinate lies outside");
    index = index * size_t(dim.second) + size_t(coordinate);
  }
  return index;
}

SmallVector<int64_t> TensorValue::strides(ArrayRef<SizedName> names) const {
  SmallVector<int64_t> strides(names.size(), 0);
  int64_t stride = 1;
  for (const SizedName &dim : llvm::reverse(extents)) {
    for (auto [name, found] : llvm::zip_equal(names, strides))
      if (name.first == dim.first)
        found = stride;
    stride *= dim.second;
  }
  return strides;
}

TensorValue TensorValue::stored() const {
  TensorValue result = *this;
  auto real = dyn_cast<FloatType>(elementType());
  if (!real)
    return result;
  for (Scalar &scalar : result.elements) {
    double value = roundTo(real, scalar.value);
    if (value != scalar.value && std::isfinite(value))
      scalar.own = 0, scalar.error += std::fabs(value - scalar.value);
    if (std::isinf(value) && std::isfinite(scalar.value))
      scalar.undecided = true;
    scalar.value = value;
  }
  return result;
}

TensorValue TensorValue::slice(StringRef name, int64_t coordinate) const {
  TensorValue part(type.without(name));
  for (Walk walk(part.dims()); walk; ++walk) {
    Sizes position = walk.position();
    position[name.str()] = coordinate;
    part.elements[walk.count()] = at(position);
  }
  return part;
}

void TensorValue::setSlice(StringRef name, int64_t coordinate, const TensorValue &part) {
  for (Walk walk(part.dims()); walk; ++walk) {
    Sizes position = walk.position();
    position[name.str()] = coordinate;
    at(position) = part.elements[walk.count()];
  }
}

bool TensorValue::hasExcluded() const {
  return llvm::any_of(elements, [](const Scalar &scalar) { return scalar.excluded; });
}

//===----------------------------------------------------------------------===//
// Text and comparison
//===----------------------------------------------------------------------===//

static std::string digitsOf(double value, int digits) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
  return text;
}

std::string text(const Scalar &scalar, Type type) {
  if (isa<FloatType>(type)) {
    if (std::isnan(scalar.value))
      return "nan";
    if (std::isinf(scalar.value))
      return scalar.value > 0 ? "inf" : "-inf";
    // The fewest digits that identify the value in its type.
    for (int digits : {6, 9, 17}) {
      std::string shown = digitsOf(scalar.value, digits);
      if (roundTo(cast<FloatType>(type), std::strtod(shown.c_str(), nullptr)) == scalar.value ||
          digits == 17)
        return shown;
    }
  }
  return type.isUnsignedInteger() ? std::to_string(scalar.bits)
                                  : std::to_string(coordinate(scalar, type));
}

std::string text(const Sizes &position) {
  std::string result = "{";
  for (const auto &[name, coordinate] : position)
    result += (result.size() > 1 ? ", " : "") + name + ": " + std::to_string(coordinate);
  return result + "}";
}

bool isUncertain(const Scalar &scalar, Type type) {
  auto real = dyn_cast<FloatType>(type);
  double magnitude = std::max(std::fabs(scalar.value), thousandth * scalar.scale());
  return scalar.undecided || (real && scalar.error > magnitude + smallestError(real));
}

static bool agrees(const Scalar &a, const Scalar &b, Type type) {
  auto real = dyn_cast<FloatType>(type);
  if (!real)
    return a.bits == b.bits;
  if (std::isnan(a.value) || std::isnan(b.value))
    return std::isnan(a.value) && std::isnan(b.value);
  if (std::isinf(a.value) || std::isinf(b.value))
    return a.value == b.value;
  double bound = a.error + b.error;
  // Storing may have rounded either value once more.
  if (bound != 0)
    bound += 2 * unitRoundoff(real) * std::fabs(a.value) + smallestError(real);
  return std::fabs(a.value - b.value) <= bound;
}

Comparison compare(const TensorValue &expectedValue, const TensorValue &gotValue) {
  Comparison result;
  if (expectedValue.type != gotValue.type) {
    llvm::raw_string_ostream(result.mismatch)
        << "expected a tensor " << expectedValue.type << ", got " << gotValue.type;
    return result;
  }
  TensorValue expected = expectedValue.stored(), got = gotValue.stored();
  int64_t different = 0;
  std::string first;
  for (Walk walk(expected.dims()); walk; ++walk) {
    const Scalar &a = expected.elements[walk.count()], &b = got.elements[walk.count()];
    ++result.compared;
    result.uncertain += isUncertain(a, expected.elementType());
    if (a.undecided || b.undecided) {
      ++result.undecided;
      result.notFinite += isa<FloatType>(expected.elementType()) && !std::isfinite(a.value);
      continue;
    }
    if (agrees(a, b, expected.elementType()))
      continue;
    if (different++ == 0) {
      first = "expected " + text(a, expected.elementType());
      if (a.error + b.error != 0)
        first += " +- " + digitsOf(a.error + b.error, 3);
      first += " at " + text(walk.position()) + ", got " + text(b, got.elementType());
    }
  }
  if (different)
    result.mismatch = first + " (" + std::to_string(different) + " of " +
                      std::to_string(result.compared) + " elements differ)";
  return result;
}

} // namespace heddle::interp
