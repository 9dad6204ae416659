//===- CombinerVerify.cpp - tries combiners on samples --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifier can't prove that a general combiner has a neutral element. It tests on many samples
// whether the neutral element, combined with a value, gives that value, and rejects an element that
// is neutral for none. One sample suffices, because a combiner may be meant for some values only (a
// maximum of non-negative numbers, ordered pairs).
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/Combiner.h"
#include "dialects/nd/NdInference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/EquivalenceClasses.h"

#include <cmath>

using namespace mlir;

namespace heddle::nd {

void foldScalars(Block &body, DenseMap<Value, Attribute> &known) {
  for (Operation &op : body.without_terminator()) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand));
    SmallVector<OpFoldResult> folded;
    if (llvm::is_contained(operands, Attribute()) || failed(op.fold(operands, folded)) ||
        folded.size() != 1)
      continue;
    auto value = dyn_cast<Value>(folded[0]);
    known[op.getResult(0)] = value ? known.lookup(value) : cast<Attribute>(folded[0]);
  }
}

namespace {
using Row = SmallVector<Attribute>;

/// Sample rows of many kinds: equal numbers, sorted, with zeros, of length 1, of sum 1.
SmallVector<SmallVector<double>> sampleRows(size_t size) {
  SmallVector<SmallVector<double>> rows;
  for (double value : {0.0, 1.0, 2.0, 3.0, 5.0, -1.0, -2.0, 0.5, 0.25, -0.75, 1.0 / double(size)})
    rows.emplace_back(size, value);
  auto add = [&](llvm::function_ref<double(size_t)> value) {
    SmallVector<double> &row = rows.emplace_back();
    for (size_t i = 0; i < size; ++i)
      row.push_back(value(i));
  };
  add([](size_t i) { return double(i + 1); });
  add([&](size_t i) { return double(size - i); });
  add([](size_t i) { return i % 2 ? 0.8 : 0.6; });
  for (double number : {-1.0, 0.5, 1.0, 3.0})
    for (size_t position = 0; position < std::min<size_t>(size, 8); ++position)
      add([&](size_t i) { return i == position ? number : 0.0; });
  return rows;
}

TypedAttr numberOf(Type type, double value) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(real, value);
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(
      type, width == 1 ? APInt(1, value != 0)
                       : APInt(64, uint64_t(int64_t(std::floor(value)))).sextOrTrunc(width));
}

/// True if the values are equal up to rounding.
bool isClose(Attribute got, Attribute wanted) {
  auto a = dyn_cast<FloatAttr>(got), b = dyn_cast<FloatAttr>(wanted);
  if (!a || !b || got == wanted)
    return got == wanted;
  auto precision = int(APFloat::semanticsPrecision(b.getValue().getSemantics()));
  double x = a.getValueAsDouble(), y = b.getValueAsDouble(),
         share = std::max(1e-3, std::ldexp(8.0, -precision));
  return std::abs(x - y) <= share * std::max(1.0, std::abs(y));
}

/// Evaluates the combiner on constants; empty if an op can't be folded.
Row combine(Block &body, ArrayRef<Attribute> left, ArrayRef<Attribute> right) {
  DenseMap<Value, Attribute> known;
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    known[argument] = i < left.size() ? left[i] : right[i - left.size()];
  foldScalars(body, known);
  Row results;
  for (Value value : body.getTerminator()->getOperands()) {
    results.push_back(known.lookup(value));
    if (!isa_and_nonnull<FloatAttr, IntegerAttr>(results.back()))
      return {};
  }
  return results;
}

/// Results that depend on each other's operands get one index.
SmallVector<unsigned> partsOf(Block &body, size_t size) {
  llvm::EquivalenceClasses<void *> classes;
  auto unite = [&](Value a, Value b) {
    classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  };
  for (Operation &op : body.without_terminator())
    for (Value operand : op.getOperands())
      if (!operand.getDefiningOp<arith::ConstantOp>())
        unite(op.getResult(0), operand);
  for (size_t i = 0; i < size; ++i) {
    unite(body.getArgument(unsigned(i)), body.getArgument(unsigned(size + i)));
    unite(body.getArgument(unsigned(i)), body.getTerminator()->getOperand(unsigned(i)));
  }
  SmallVector<unsigned> parts;
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j <= i; ++j)
      if (classes.isEquivalent(body.getArgument(unsigned(i)).getAsOpaquePointer(),
                               body.getArgument(unsigned(j)).getAsOpaquePointer())) {
        parts.push_back(unsigned(j));
        break;
      }
  return parts;
}

/// The elements of one part.
Row pick(ArrayRef<Attribute> row, ArrayRef<unsigned> parts, unsigned part) {
  Row picked;
  for (auto [value, own] : llvm::zip_equal(row, parts))
    if (own == part)
      picked.push_back(value);
  return picked;
}

std::string textOf(ArrayRef<Attribute> row) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(row, stream, [&](Attribute value) { value.print(stream, true); });
  return row.size() == 1 ? text : "(" + text + ")";
}
} // namespace

LogicalResult verifyNeutral(Operation *op, Region &combiner, ArrayAttr neutral, bool fromRight) {
  Block &body = combiner.front();
  Row none(neutral.getValue());
  if (!llvm::all_of(none, llvm::IsaPred<FloatAttr, IntegerAttr>) ||
      llvm::any_of(body.getArgumentTypes(), llvm::IsaPred<IndexType>))
    return success();
  // Folding relies on attributes, and the verifier visits a region after its op.
  for (Operation &inner : body)
    if (failed(verify(&inner, /*verifyRecursively=*/false)))
      return failure();
  bool isSigned;
  CombinerKind kind = combinerKind(combiner, &isSigned);
  if (kind != CombinerKind::General &&
      neutralElement(kind, cast<TypedAttr>(none[0]).getType(), isSigned) == none[0])
    return success();
  SmallVector<unsigned> parts = partsOf(body, none.size());
  SmallVector<Row> rows;
  for (ArrayRef<double> numbers : sampleRows(none.size())) {
    Row &row = rows.emplace_back();
    for (auto [value, number] : llvm::zip_equal(none, numbers))
      row.push_back(numberOf(cast<TypedAttr>(value).getType(), number));
  }
  for (bool right : {false, true}) {
    if (right && !fromRight)
      continue;
    SmallVector<Row> results;
    for (const Row &row : rows)
      results.push_back(right ? combine(body, row, none) : combine(body, none, row));
    for (unsigned part : llvm::SmallSetVector<unsigned, 4>(parts.begin(), parts.end())) {
      Row kept = pick(none, parts, part), value, given;
      bool holds = false;
      for (auto [row, result] : llvm::zip_equal(rows, results)) {
        Row sample = pick(row, parts, part);
        if (result.empty() || sample == kept)
          continue;
        Row got = pick(result, parts, part);
        holds |= llvm::all_of_zip(got, sample, isClose);
        value = sample;
        given = got;
      }
      if (!holds && !value.empty())
        return operandError(op) << "expected a neutral element, which combined with a value gives "
                                << "that value, got " << textOf(kept) << ": combining "
                                << textOf(right ? value : kept) << " and "
                                << textOf(right ? kept : value) << " gives " << textOf(given);
    }
  }
  return success();
}

} // namespace heddle::nd
