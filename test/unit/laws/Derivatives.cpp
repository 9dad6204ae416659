//===- Derivatives.cpp - functions that compute derivatives ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Derivatives.h"

#include "lib/transforms/nd/Passes.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

func::FuncOp laws::addGradient(ModuleOp module, func::FuncOp of, StringRef name) {
  OpBuilder b(module.getContext());
  Location loc = of.getLoc();
  SmallVector<Type> arguments(of.getArgumentTypes()), results;
  llvm::append_range(arguments, of.getResultTypes());
  SmallVector<int64_t> wrt;
  for (auto [i, type] : llvm::enumerate(of.getArgumentTypes()))
    if (isa<FloatType>(cast<nd::NdTensorType>(type).getElementType())) {
      wrt.push_back(int64_t(i));
      results.push_back(type);
    }
  auto gradient = func::FuncOp::create(loc, name, b.getFunctionType(arguments, results));
  Block *block = gradient.addEntryBlock();
  b.setInsertionPointToEnd(block);
  unsigned n = of.getNumArguments();
  SmallVector<Value> values = nd::buildVjp(b, loc, of, block->getArguments().take_front(n),
                                           block->getArguments().drop_front(n), wrt);
  func::ReturnOp::create(b, loc, ValueRange(values).drop_front(of.getNumResults()));
  for (unsigned i = 0; i < arguments.size(); ++i)
    gradient.setArgAttr(i, nd::nameAttrName,
                        b.getStringAttr((i < n ? "x" : "w") + std::to_string(i)));
  module.push_back(gradient);
  return gradient;
}

func::FuncOp laws::addTangent(ModuleOp module, func::FuncOp of, StringRef name) {
  OpBuilder b(module.getContext());
  SmallVector<Type> arguments(of.getArgumentTypes());
  llvm::append_range(arguments, nd::floatTypes(of.getArgumentTypes()));
  SmallVector<int64_t> wrt;
  for (auto [i, type] : llvm::enumerate(of.getArgumentTypes()))
    if (!nd::floatTypes(type).empty())
      wrt.push_back(int64_t(i));
  auto tangent = func::FuncOp::create(
      of.getLoc(), name, b.getFunctionType(arguments, nd::floatTypes(of.getResultTypes())));
  Block *block = tangent.addEntryBlock();
  b.setInsertionPointToEnd(block);
  unsigned n = of.getNumArguments();
  SmallVector<Value> values = nd::buildJvp(b, of.getLoc(), of, block->getArguments().take_front(n),
                                           block->getArguments().drop_front(n), wrt);
  func::ReturnOp::create(b, of.getLoc(), ValueRange(values).drop_front(of.getNumResults()));
  for (unsigned i = 0; i < arguments.size(); ++i)
    tangent.setArgAttr(i, nd::nameAttrName,
                       b.getStringAttr((i < n ? "x" : "v") + std::to_string(i)));
  module.push_back(tangent);
  return tangent;
}

std::optional<std::string> laws::expandDerivatives(ModuleOp module, bool simplifies) {
  std::string messages;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  PassManager passes(module.getContext());
  passes.addPass(nd::createNdDifferentiatePass());
  passes.addPass(nd::createNdInlineCallsPass());
  if (simplifies) {
    passes.addPass(nd::createNdSimplifyPass({.verifyRules = true}));
    passes.addPass(nd::createNdCsePass());
  }
  return succeeded(passes.run(module)) ? std::nullopt : std::optional(messages);
}

double laws::inner(const TensorValue &a, const TensorValue &b) {
  double sum = 0;
  for (auto [x, y] : llvm::zip_equal(a.elements, b.elements))
    sum += x.value * y.value;
  return sum;
}
double laws::size(const TensorValue &a) { return std::sqrt(inner(a, a)); }

bool laws::isReal(const TensorValue &value) { return isa<FloatType>(value.elementType()); }

double laws::loss(func::FuncOp function, Values x, ArrayRef<TensorValue> v, double h,
                  ArrayRef<TensorValue> w) {
  for (auto [value, direction] : llvm::zip_equal(x, v))
    if (isReal(value))
      for (auto [a, d] : llvm::zip_equal(value.elements, direction.elements))
        a = interp::exactly(a.value + h * d.value);
  FailureOr<Values> results = interp::interpret(function, x);
  if (failed(results))
    return NAN;
  double sum = 0;
  for (auto [result, weight] : llvm::zip_equal(*results, w))
    if (isReal(result))
      sum += inner(result, weight);
  return sum;
}

/// The sum of <a, b> over the pairs, and a scale: 1e-9 of it bounds the rounding error. Large terms
/// that cancel lose more precision than the size of the sum suggests.
std::pair<double, double> laws::innerOfAll(ArrayRef<TensorValue> a, ArrayRef<TensorValue> b) {
  double sum = 0, scale = 1e-3;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    sum += inner(x, y);
    scale += size(x) * size(y);
    for (auto [p, q] : llvm::zip_equal(x.elements, y.elements))
      scale += 1e9 * (p.error * std::fabs(q.value) + std::fabs(p.value) * q.error);
  }
  return {sum, scale};
}
Values laws::realsOf(ArrayRef<TensorValue> values) {
  Values reals;
  llvm::copy_if(values, std::back_inserter(reals), isReal);
  return reals;
}
Values laws::joined(ArrayRef<TensorValue> a, ArrayRef<TensorValue> b) {
  Values all(a);
  llvm::append_range(all, b);
  return all;
}
/// Values of @`of`'s results for the arguments; none if the interpreter refuses.
std::optional<Values> laws::valuesOf(ModuleOp module, StringRef of,
                                     ArrayRef<TensorValue> arguments) {
  FailureOr<Values> values = interp::interpret(module.lookupSymbol<func::FuncOp>(of), arguments);
  return failed(values) ? std::nullopt : std::optional<Values>(*values);
}
