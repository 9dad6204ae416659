//===- NdArithmetic.cpp - arithmetic of nd --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Evaluator.h"

#include "dialects/nd/NdInference.h"

using namespace mlir;

namespace heddle::interp {

static LogicalResult pointwise(nd::PointwiseOp op, ArrayRef<const TensorValue *> inputs,
                               TensorValue &result, Evaluator &evaluator) {
  FailureOr<ScalarRegion *> body = evaluator.code(op.getBody());
  if (failed(body))
    return failure();
  SmallVector<SmallVector<int64_t>> strides;
  for (const TensorValue *input : inputs)
    strides.push_back(input->strides(result.dims()));
  SmallVector<Scalar> arguments(inputs.size());
  for (Walk walk(result.dims()); walk; ++walk) {
    bool excluded = false;
    for (auto [i, input] : llvm::enumerate(inputs)) {
      arguments[i] = input->elements[dot(walk.coordinates(), strides[i])];
      excluded |= arguments[i].excluded;
      arguments[i].excluded = false;
    }
    Scalar &element = result.elements[walk.count()];
    if (excluded)
      element.excluded = true;
    else
      element = (*body)->run(arguments)[0];
  }
  return success();
}

namespace {
/// The common part of reductions and scans: combiner, and inputs as tuples of the accumulators'
/// types.
struct Reduction {
  Combiner *combiner = nullptr;
  SmallVector<Scalar> neutral;
  SmallVector<const TensorValue *> inputs;
  Arithmetic *arithmetic;
  bool keepsType = false; ///< the accumulator of the first input has its type

  static FailureOr<Reduction> prepare(Operation *op, ArrayAttr neutral,
                                      SmallVector<const TensorValue *> inputs,
                                      Evaluator &evaluator) {
    Reduction result;
    SmallVector<Type> types;
    for (Attribute value : neutral) {
      types.push_back(cast<TypedAttr>(value).getType());
      result.neutral.push_back(ofAttribute(value));
    }
    FailureOr<Combiner *> combiner = evaluator.combiner(op->getRegion(0), types);
    if (failed(combiner))
      return failure();
    result.combiner = *combiner;
    result.inputs = std::move(inputs);
    result.arithmetic = &evaluator.arithmetic;
    result.keepsType = nd::signless(result.inputs[0]->elementType()) == result.combiner->types[0];
    return result;
  }

  /// Adds the elements at `index`, unless a window excludes them.
  void add(Fold &fold, size_t index) const {
    if (inputs.size() == 1 && keepsType) {
      if (const Scalar &scalar = inputs[0]->elements[index]; !scalar.excluded)
        fold.add(scalar);
      return;
    }
    SmallVector<Scalar, 2> element;
    for (auto [input, type] : llvm::zip_equal(inputs, combiner->types)) {
      const Scalar &scalar = input->elements[index];
      if (scalar.excluded)
        return;
      element.push_back(arithmetic->convert(scalar, nd::signless(input->elementType()), type));
    }
    fold.add(element);
  }

  void store(Fold &fold, MutableArrayRef<TensorValue> results, size_t index) const {
    for (auto [result, type, value] : llvm::zip_equal(results, combiner->types, fold.result()))
      result.elements[index] = arithmetic->convert(value, type, nd::signless(result.elementType()));
  }
};
} // namespace

static LogicalResult reduce(nd::ReduceOp op, SmallVector<const TensorValue *> inputs,
                            MutableArrayRef<TensorValue> results, Evaluator &evaluator) {
  FailureOr<Reduction> reduction =
      Reduction::prepare(op, op.getNeutral(), std::move(inputs), evaluator);
  if (failed(reduction))
    return failure();
  const TensorValue &input = *reduction->inputs[0];
  SmallVector<SizedName> reduced;
  for (StringRef name : nd::stringsOf(op.getNames()))
    reduced.emplace_back(name.str(), input.size(name));
  SmallVector<int64_t> outer = input.strides(results[0].dims()), inner = input.strides(reduced);
  for (Walk walk(results[0].dims()); walk; ++walk) {
    Fold fold(*reduction->combiner, reduction->neutral);
    for (Walk along(reduced); along; ++along)
      reduction->add(fold, dot(walk.coordinates(), outer) + dot(along.coordinates(), inner));
    reduction->store(fold, results, walk.count());
  }
  return success();
}

static LogicalResult scan(nd::ScanOp op, SmallVector<const TensorValue *> inputs,
                          MutableArrayRef<TensorValue> results, Evaluator &evaluator) {
  FailureOr<Reduction> reduction =
      Reduction::prepare(op, op.getNeutral(), std::move(inputs), evaluator);
  if (failed(reduction))
    return failure();
  const TensorValue &input = *reduction->inputs[0];
  std::string name = op.getName().str();
  int64_t size = input.size(name);
  for (Walk walk(results[0].dims()); walk; ++walk) {
    Sizes position = walk.position();
    int64_t at = position[name], skip = op.getExclusive() ? 1 : 0;
    // Folds the prefix up to `at`, from the beginning or from the end.
    int64_t first = op.getReverse() ? size - 1 : 0, step = op.getReverse() ? -1 : 1;
    int64_t count = (op.getReverse() ? size - at : at + 1) - skip;
    Fold fold(*reduction->combiner, reduction->neutral);
    for (int64_t i = 0; i < count; ++i) {
      position[name] = first + i * step;
      reduction->add(fold, input.index(position));
    }
    reduction->store(fold, results, walk.count());
  }
  return success();
}

std::optional<LogicalResult> Evaluator::evaluateArithmetic(Operation *op, Frame &frame) {
  if (!isa<nd::ConstantOp, nd::IotaOp, nd::RandomOp, nd::PointwiseOp, nd::ReduceOp, nd::ScanOp,
           nd::RoundOp>(op))
    return std::nullopt;
  FailureOr<SmallVector<TensorValue>> made = resultsOf(op, frame);
  if (failed(made))
    return failure();
  SmallVector<TensorValue> &results = *made;
  SmallVector<const TensorValue *> inputs = frame[op->getOperands()];
  LogicalResult done = success();
  if (auto constant = dyn_cast<nd::ConstantOp>(op)) {
    auto value = literal(op, results[0].type, constant.getValue(), constant.getOrder());
    if (failed(value))
      return failure();
    results[0] = std::move(*value);
  } else if (isa<nd::IotaOp>(op)) {
    iota(results[0], arithmetic);
  } else if (auto draw = dyn_cast<nd::RandomOp>(op)) {
    random(draw, *inputs[0], results[0]);
  } else if (auto each = dyn_cast<nd::PointwiseOp>(op)) {
    done = pointwise(each, inputs, results[0], *this);
  } else if (auto each = dyn_cast<nd::ReduceOp>(op)) {
    done = reduce(each, std::move(inputs), results, *this);
  } else if (auto each = dyn_cast<nd::ScanOp>(op)) {
    done = scan(each, std::move(inputs), results, *this);
  } else if (auto round = dyn_cast<nd::RoundOp>(op)) {
    auto own = cast<FloatType>(inputs[0]->elementType()), narrow = cast<FloatType>(round.getTo());
    for (auto [from, to] : llvm::zip_equal(inputs[0]->elements, results[0].elements))
      to = arithmetic.forceTo(own, arithmetic.forceTo(narrow, arithmetic.forceTo(own, from)));
  }
  return failed(done) ? done : setResults(op, frame, results);
}

} // namespace heddle::interp
