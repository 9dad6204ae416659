//===- Tensor.cpp - values of tensors -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Tensor.h"
#include "lib/builder/Execute.h"
#include "lib/builder/Graph.h"
#include "runtime/device/Device.h"
#include "runtime/program/Gather.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>
#include <ostream>

using namespace heddle;
using namespace heddle::detail;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Name::Name(std::string_view given, Here here) : spelling(given) {
  if (!isValidName(given))
    fail(here, "expected the name of a dimension, a letter or '_' and then letters, digits, '_', "
               "'.' or '$', got '" +
                   spelling + "'");
}

SymbolicSize SymbolicSize::between(int64_t low, int64_t high, Here here) const {
  if (low < 0 || high < low || high > largestSymbol)
    fail(here, "expected sizes of '" + name.str() + "' from 0 to " + std::to_string(largestSymbol) +
                   ", got " + std::to_string(low) + " to " + std::to_string(high));
  SymbolicSize result = *this;
  result.low = low, result.high = high;
  return result;
}

SymbolicSize SymbolicSize::multipleOf(int64_t divisor, Here here) const {
  if (divisor < 1 || divisor > largestSymbol)
    fail(here, "expected sizes of '" + name.str() + "' to be multiples of 1 to " +
                   std::to_string(largestSymbol) + ", got " + std::to_string(divisor));
  SymbolicSize result = *this;
  result.divisor = divisor;
  return result;
}

Size heddle::detail::divided(const Size &a, int64_t b, bool remainder) {
  if (b < 1)
    fail(a.location(), "expected to divide a size by a positive number, got " + a.expr().str() +
                           " by " + std::to_string(b));
  return remainder ? a.expr().mod(b) : a.expr().floordiv(b);
}

Name heddle::fresh(std::string_view base, Here here) {
  return Name(std::string(base.substr(0, base.find('$'))) + "$" + std::to_string(nextFresh()),
              here);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static nd::NdTensorType typeOf(const Tensor &tensor, Here here) {
  if (!tensor.node)
    fail(here, "this tensor is empty: nothing was assigned to it");
  return tensor.node->type();
}

Operand::Operand(const Tensor &tensor, Here here) : tensor(tensor), here(here) {
  (void)typeOf(tensor, here);
}

ElementType Tensor::elementType(Here here) const {
  return *fromMlir(typeOf(*this, here).getElementType());
}

Names Tensor::names(Here here) const {
  Names result;
  for (const nd::Dim &dim : typeOf(*this, here).getDims())
    result.push_back(Name(dim.name.str()));
  return result;
}

bool Tensor::has(const Name &name, Here here) const { return typeOf(*this, here).has(name.str()); }

int64_t Size::refuse() const {
  fail(here, (name.empty() ? "the size" : "the size of '" + name + "'") + " is " + size.str() +
                 " here, not a number: one program serves every size of it (JitOptions::symbolic)");
}

Size Tensor::size(const Name &name, Here here) const {
  nd::SizeAttr size = nodeOf(*this, here)->type().size(name.str());
  if (!size)
    fail(here, "unknown name '" + name.str() + "'; the tensor is " + type());
  return Size(size.getExpr(), name, here);
}

std::vector<Extent> Tensor::extents(Here here) const {
  std::vector<Extent> result;
  for (const nd::Dim &dim : typeOf(*this, here).getDims())
    result.push_back({Name(dim.name.str()), dim.size().getExpr()});
  return result;
}

Sizes Tensor::sizes(Here here) const {
  Sizes result;
  for (const Name &name : names(here))
    result[name] = size(name, here);
  return result;
}

std::string Tensor::type(Here here) const {
  std::string text;
  llvm::raw_string_ostream(text) << typeOf(*this, here);
  return text;
}

size_t Tensor::count(Here here) const {
  size_t count = 1;
  for (const auto &[name, size] : sizes(here))
    count *= size_t(size);
  return count;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A leaf of this type.
template <typename NamedSizes>
static Tensor leafOf(ElementType element, const NamedSizes &sizes, Here here) {
  GraphLock lock;
  SmallVector<nd::Dim> dims;
  for (const auto &[name, size] : sizes)
    dims.emplace_back(graphContext(), name, Expr(size));
  Tensor result;
  result.node = makeLeaf(nd::NdTensorType::get(toMlir(element), dims), here);
  return result;
}

Tensor Tensor::fromData(std::shared_ptr<RuntimeTensor> data, Here here) {
  Tensor result = leafOf(data->spec().element, data->spec().dims, here);
  result.node->data = std::move(data);
  return result;
}

Tensor Tensor::fromSplit(std::shared_ptr<const SplitTensor> split, Here here) {
  Tensor result = leafOf(split->block->spec().element, split->shards.wholeSizes(), here);
  result.node->split = std::move(split);
  return result;
}

std::shared_ptr<const SplitTensor> Tensor::split(Here here) const {
  return nodeOf(*this, here)->split;
}

std::shared_ptr<RuntimeTensor> heddle::detail::wholeOf(Node &node, Here here) {
  if (!node.data && node.split)
    node.data = located(here, [&] { return node.split->gather(); });
  return node.data;
}

Tensor Tensor::ofBytes(const void *data, size_t count, ElementType type,
                       const std::vector<Extent> &extents, Here here) {
  TensorSpec spec{type, {}};
  std::vector<std::string> order;
  size_t expected = 1;
  (void)dimsOf(extents, here); // throws for duplicate names
  for (const Extent &extent : extents) {
    spec.dims[extent.name.str()] = Expr(int64_t(extent.size));
    order.push_back(extent.name.str());
    if (__builtin_mul_overflow(expected, size_t(extent.size), &expected) || expected >> 60)
      fail(here, "expected at most 2^60 elements, got more at '" + extent.name.str() + "'");
  }
  if (expected != count)
    fail(here, "expected " + std::to_string(expected) + " values for " + describe(spec) + ", got " +
                   std::to_string(count));
  std::vector<std::string> sorted;
  for (const auto &[name, size] : spec.dims)
    sorted.push_back(name);
  auto tensor = std::make_shared<RuntimeTensor>(spec, Layout::rowMajor(sorted));
  tensor->copyFrom(data, order);
  return fromData(std::move(tensor), here);
}

std::shared_ptr<RuntimeTensor> Tensor::data(Here here) const {
  NodeRef wanted = nodeOf(*this, here);
  if (!wholeOf(*wanted, here))
    evaluate({wanted}, here);
  return wanted->data;
}

Tensor Tensor::to(const std::string &device, Here here) const {
  TensorRef from = data(here);
  return located(here, [&] {
    auto memory = memoryOfDevice(device);
    if (from->space() == (memory ? memory->space() : hostSpace))
      return *this;
    auto moved = std::make_shared<RuntimeTensor>(from->spec(), from->layout(), memory);
    moved->copyFrom(*from);
    return fromData(std::move(moved), here);
  });
}

void Tensor::toBytes(void *out, ElementType type, const Names &order, Here here) const {
  nodeOf(*this, here);
  if (type != elementType())
    fail(here, "expected elements of type " + std::string(spelling(type)) + ", got " +
                   typeAndOrigin(*this) + "; convert with cast");
  std::vector<std::string> names;
  for (const Name &name : order)
    names.push_back(name.str());
  auto tensor = data(here);
  try {
    tensor->copyTo(out, names);
  } catch (const Error &error) {
    fail(here, error.what() + originOf(node->value.getLoc()));
  }
}

/// The value of the element of type `type` at `address`.
static double asDouble(const char *address, ElementType type) {
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, address, sizeof value);
    return double(value);
  };
  auto narrow = [&](const llvm::fltSemantics &semantics) {
    uint16_t bits = 0;
    std::memcpy(&bits, address, size_t(byteSize(type)));
    return llvm::APFloat(semantics, llvm::APInt(unsigned(byteSize(type)) * 8, bits))
        .convertToDouble();
  };
  switch (type) {
  case ElementType::I1:
  case ElementType::UI8:
    return read(uint8_t());
  case ElementType::I8:
    return read(int8_t());
  case ElementType::I16:
    return read(int16_t());
  case ElementType::I32:
    return read(int32_t());
  case ElementType::I64:
    return read(int64_t());
  case ElementType::UI16:
    return read(uint16_t());
  case ElementType::UI32:
    return read(uint32_t());
  case ElementType::UI64:
    return read(uint64_t());
  case ElementType::F16:
    return narrow(llvm::APFloat::IEEEhalf());
  case ElementType::BF16:
    return narrow(llvm::APFloat::BFloat());
  case ElementType::F32:
    return read(float());
  case ElementType::F64:
    return read(double());
  case ElementType::F8E4M3FN:
    return narrow(llvm::APFloat::Float8E4M3FN());
  case ElementType::F8E5M2:
    return narrow(llvm::APFloat::Float8E5M2());
  }
  llvm_unreachable("covered switch");
}

/// All values, in row-major order of the sorted names.
static std::vector<char> bytesOf(const Tensor &tensor, Here here) {
  ElementType type = tensor.elementType(here);
  size_t size = size_t(byteSize(type));
  tensor.data(here); // throws a better message if memory runs out
  std::vector<char> bytes;
  try {
    bytes.resize(tensor.count(here) * size);
  } catch (const std::bad_alloc &) {
    fail(here, "out of memory: " + std::to_string(tensor.count(here) * size) +
                   " bytes for the values of " + typeAndOrigin(tensor));
  }
  tensor.toBytes(bytes.data(), type, tensor.names(here), here);
  return bytes;
}

double Tensor::item(Here here) const {
  nodeOf(*this, here);
  if (count(here) != 1)
    fail(here, "expected a tensor of one element, got " + typeAndOrigin(*this));
  return asDouble(bytesOf(*this, here).data(), elementType(here));
}

/// Values nested in brackets, at most `most` along each name; `print` prints the one at an offset.
static void printNested(std::ostream &out, const std::vector<int64_t> &shape, size_t depth,
                        size_t &next, function_ref<void(size_t)> print) {
  if (depth == shape.size())
    return print(next++);
  constexpr int64_t most = 12;
  int64_t stride = 1;
  for (size_t i = depth + 1; i < shape.size(); ++i)
    stride *= shape[i];
  out << "[";
  for (int64_t i = 0; i < shape[depth]; ++i) {
    if (shape[depth] > most && i == most / 2) {
      out << ", ...";
      next += size_t((shape[depth] - most) * stride);
      i += shape[depth] - most;
    }
    if (i)
      out << ", ";
    printNested(out, shape, depth + 1, next, print);
  }
  out << "]";
}

std::ostream &heddle::operator<<(std::ostream &out, const Printed &printed) {
  const auto &[tensor, here] = printed;
  if (tensor.empty())
    return out << "(empty)";
  std::vector<int64_t> shape;
  for (const auto &[name, size] : tensor.sizes(here))
    shape.push_back(size);
  std::vector<char> values = bytesOf(tensor, here);
  ElementType type = tensor.elementType(here);
  out << tensor.type() << " ";
  size_t next = 0;
  printNested(out, shape, 0, next, [&](size_t position) {
    const char *value = values.data() + position * size_t(byteSize(type));
    if (isFloat(type)) {
      out << asDouble(value, type);
    } else if (type == ElementType::UI64) {
      uint64_t integer;
      std::memcpy(&integer, value, sizeof(integer));
      out << integer;
    } else if (type == ElementType::I64) { // a double does not represent every i64
      int64_t integer;
      std::memcpy(&integer, value, sizeof(integer));
      out << integer;
    } else {
      out << int64_t(asDouble(value, type));
    }
  });
  return out;
}
