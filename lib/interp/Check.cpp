//===- Check.cpp - assertions ---------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/check/Check.h"
#include "lib/interp/Evaluator.h"

#include <cmath>

using namespace mlir;

namespace heddle::interp {

/// Compares `got` with `expected`, both as stored; `same` compares two elements.
static LogicalResult expect(Operation *op, const TensorValue &gotValue,
                            const TensorValue &expectedValue,
                            llvm::function_ref<bool(const Scalar &, const Scalar &)> same) {
  TensorValue got = gotValue.stored(), expected = expectedValue.stored();
  int64_t different = 0;
  std::string first;
  for (Walk walk(got.dims()); walk; ++walk) {
    const Scalar &a = got.elements[walk.count()], &b = expected.elements[walk.count()];
    if (!a.excluded && same(a, b))
      continue;
    if (different++ == 0)
      first = "expected " + text(b, got.elementType()) + " at " + text(walk.position()) + ", got " +
              (a.excluded ? "a tap that a window excludes" : text(a, got.elementType()));
  }
  if (!different)
    return success();
  return op->emitOpError() << "failed: " << first << " (" << different << " of "
                           << got.elements.size() << " elements differ)";
}

static LogicalResult expectEqual(Operation *op, const TensorValue &got,
                                 const TensorValue &expected) {
  bool isFloat = isa<FloatType>(got.elementType());
  return expect(op, got, expected, [&](const Scalar &a, const Scalar &b) {
    if (!isFloat)
      return a.bits == b.bits;
    if (std::isnan(a.value) || std::isnan(b.value))
      return std::isnan(a.value) && std::isnan(b.value);
    return a.value == b.value && std::signbit(a.value) == std::signbit(b.value);
  });
}

static LogicalResult expectClose(Operation *op, const TensorValue &got, const TensorValue &expected,
                                 double absolute, double relative) {
  return expect(op, got, expected, [&](const Scalar &a, const Scalar &b) {
    if (std::isnan(a.value) || std::isnan(b.value))
      return std::isnan(a.value) && std::isnan(b.value);
    if (std::isinf(a.value) || std::isinf(b.value))
      return a.value == b.value;
    return std::fabs(a.value - b.value) <= absolute + relative * std::fabs(b.value);
  });
}

std::optional<LogicalResult> Evaluator::evaluateCheck(Operation *op, Frame &frame) {
  LogicalResult outcome = success();
  if (auto each = dyn_cast<check::ExpectEqOp>(op)) {
    outcome = expectEqual(op, frame[each.getGot()], frame[each.getExpected()]);
  } else if (auto each = dyn_cast<check::ExpectCloseOp>(op)) {
    outcome = expectClose(op, frame[each.getGot()], frame[each.getExpected()],
                          each.getAtol().convertToDouble(), each.getRtol().convertToDouble());
  } else if (auto each = dyn_cast<check::ExpectEqConstOp>(op)) {
    const TensorValue &got = frame[each.getGot()];
    auto expected = literal(op, got.type, each.getValue(), each.getOrder());
    if (failed(expected))
      return failure();
    outcome = expectEqual(op, got, *expected);
  } else if (auto each = dyn_cast<check::ExpectCloseConstOp>(op)) {
    const TensorValue &got = frame[each.getGot()];
    auto expected = literal(op, got.type, each.getValue(), each.getOrder());
    if (failed(expected))
      return failure();
    outcome = expectClose(op, got, *expected, each.getAtol().convertToDouble(),
                          each.getRtol().convertToDouble());
  } else {
    return std::nullopt;
  }
  // Evaluation continues, so that all failures are reported.
  checksFailed |= failed(outcome);
  return success();
}

} // namespace heddle::interp
