//===- NdAccess.cpp - gather and scatter ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Evaluator.h"

#include "dialects/nd/NdInference.h"

using namespace mlir;

namespace heddle::interp {

static void gather(nd::GatherOp op, const TensorValue &input, ArrayRef<const TensorValue *> indices,
                   TensorValue &result) {
  SmallVector<StringRef> names = nd::stringsOf(op.getNames());
  for (Walk walk(result.dims()); walk; ++walk) {
    Sizes at = walk.position(), from = at;
    bool undecided = false;
    for (auto [name, tensor] : llvm::zip_equal(names, indices)) {
      const Scalar &index = tensor->at(at);
      undecided |= index.undecided;
      from[name.str()] = std::clamp<int64_t>(coordinate(index, tensor->elementType()), 0,
                                             std::max<int64_t>(input.size(name) - 1, 0));
    }
    Scalar &element = result.elements[walk.count()];
    if (!input.elements.empty())
      element = input.at(from);
    element.undecided |= undecided;
  }
}

static LogicalResult scatter(nd::ScatterOp op, const TensorValue &updates,
                             ArrayRef<const TensorValue *> indices, TensorValue &result,
                             Evaluator &evaluator) {
  FailureOr<Combiner *> combiner =
      evaluator.combiner(op.getCombiner(), nd::signless(result.elementType()));
  if (failed(combiner))
    return failure();
  SmallVector<StringRef> names = nd::stringsOf(op.getNames());
  // Every place collects what is combined into it, so that the order does not count.
  std::map<size_t, Fold> folds;
  bool anywhere = false;
  for (Walk walk(updates.dims()); walk; ++walk) {
    Sizes at = walk.position(), to = at;
    bool inside = true;
    for (auto [name, tensor] : llvm::zip_equal(names, indices)) {
      const Scalar &index = tensor->at(at);
      anywhere |= index.undecided;
      to[name.str()] = coordinate(index, tensor->elementType());
      inside &= to[name.str()] >= 0 && to[name.str()] < result.size(name);
    }
    if (!inside)
      continue;
    size_t place = result.index(to);
    auto [fold, isNew] = folds.try_emplace(place, **combiner, result.elements[place]);
    if (!isNew && op.getUnique())
      return op.emitOpError() << "is declared unique, but meets " << text(to) << " twice";
    fold->second.add(updates.elements[walk.count()]);
  }
  for (auto &[place, fold] : folds)
    result.elements[place] = fold.result()[0];
  if (anywhere)
    for (Scalar &element : result.elements)
      element.undecided = true;
  return success();
}

std::optional<LogicalResult> Evaluator::evaluateAccess(Operation *op, Frame &frame) {
  if (auto each = dyn_cast<nd::GatherOp>(op)) {
    FailureOr<TensorValue> result = resultOf(op->getResult(0), frame);
    if (failed(result))
      return failure();
    const TensorValue &input = frame[each.getInput()];
    if (input.elements.empty() && !result->elements.empty())
      return op->emitOpError() << "reads from a tensor without elements, " << input.type;
    gather(each, input, frame[each.getIndices()], *result);
    return setResult(op, frame, std::move(*result));
  }
  if (auto each = dyn_cast<nd::ScatterOp>(op)) {
    TensorValue result = frame[each.getDestination()];
    if (failed(scatter(each, frame[each.getUpdates()], frame[each.getIndices()], result, *this)))
      return failure();
    return setResult(op, frame, std::move(result));
  }
  return std::nullopt;
}

} // namespace heddle::interp
