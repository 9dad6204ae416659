//===- Print.cpp - results as text and as a file --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "heddle/io/Safetensors.h"
#include "lib/interp/HostTensor.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace heddle;
using namespace heddle::run;

namespace {
/// Prints elements by the MLIR type that corresponds to the array's element type.
struct ElementText {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::Type type;
  const io::HostArray &array;

  explicit ElementText(const io::HostArray &array)
      : type(nd::mlirType(&context, array.element)), array(array) {}
  interp::Scalar load(int64_t i) const {
    return interp::loadElement(array.element, array.bytes.data() + i * byteSize(array.element));
  }
  std::string at(int64_t i) const { return text(load(i), type); }
};
} // namespace

/// The elements from `first` on as nested lists, from axis `axis` inwards.
static std::string nested(const ElementText &elements, size_t axis, int64_t &next) {
  const std::vector<int64_t> &shape = elements.array.shape;
  if (axis == shape.size())
    return elements.at(next++);
  std::string result = "[";
  for (int64_t i = 0; i < shape[axis]; ++i)
    result += (i ? ", " : "") + nested(elements, axis + 1, next);
  return result + "]";
}

static std::string summary(const ElementText &elements) {
  double low = INFINITY, high = -INFINITY, sum = 0;
  int64_t notNumbers = 0, count = elements.array.count();
  bool isFloat = mlir::isa<mlir::FloatType>(elements.type);
  for (int64_t i = 0; i < count; ++i) {
    interp::Scalar scalar = elements.load(i);
    double value = isFloat ? scalar.value
                   : elements.type.isUnsignedInteger()
                       ? double(scalar.bits)
                       : double(interp::coordinate(scalar, elements.type));
    if (std::isnan(value)) {
      ++notNumbers;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << ", " << count << " elements: ";
  if (notNumbers < count)
    stream << llvm::format("from %.6g to %.6g, mean %.6g", low, high,
                           sum / double(count - notNumbers));
  if (notNumbers)
    stream << (notNumbers < count ? ", " : "") << notNumbers << " are nan";
  return result;
}

std::string run::describe(const Formal &formal, const io::HostArray &array, int64_t limit) {
  TensorSpec shown{array.element, {}};
  for (auto [name, size] : llvm::zip_equal(array.names, array.shape))
    shown.dims.emplace(name, Expr(size));
  ElementText elements(array);
  std::string result = formal.name + ": " + describe(shown);
  int64_t next = 0;
  if (array.count() <= limit)
    return result + " = " + nested(elements, 0, next);
  return result + summary(elements);
}

void run::report(const Signature &entry, const Arrays &results, const Options &options,
                 llvm::ArrayRef<int64_t> uncertain) {
  if (auto job = jobOf(options); job && job->rank() != 0)
    return;
  if (!results.empty())
    llvm::outs() << "@" << entry.name << "\n";
  for (auto [i, formal, array] : llvm::enumerate(entry.results, results)) {
    llvm::outs() << "  " << describe(formal, array, options.printLimit);
    if (i < uncertain.size() && uncertain[i])
      llvm::outs() << ", " << uncertain[i] << " of " << array.count() << " uncertain";
    llvm::outs() << "\n";
  }
  if (options.output.empty())
    return;
  io::Safetensors file;
  for (auto [formal, array] : llvm::zip_equal(entry.results, results))
    file.arrays.emplace(formal.name, array);
  io::writeSafetensors(options.output, file, Here()); // a fault of the command line has no location
}
