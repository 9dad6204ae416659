//===- NdAccess.cpp - gather, scatter, dynamic slices, sort ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Evaluator.h"

#include "dialects/nd/NdInference.h"

#include <cmath>
#include <numeric>

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
  // Each element collects the updates that are combined into it, so that their order has no effect.
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
    size_t offset = result.index(to);
    auto [fold, isNew] = folds.try_emplace(offset, **combiner, result.elements[offset]);
    if (!isNew && op.getUnique())
      return op.emitOpError() << "is declared unique, but updates " << text(to) << " twice";
    fold->second.add(updates.elements[walk.count()]);
  }
  for (auto &[offset, fold] : folds)
    result.elements[offset] = fold.result()[0];
  if (anywhere)
    for (Scalar &element : result.elements)
      element.undecided = true;
  return success();
}

/// The first coordinate of a range of `size` in `whole`: `start` at `at`, clamped.
static int64_t startOf(const TensorValue &start, const Sizes &at, int64_t whole, int64_t size,
                       bool &undecided) {
  const Scalar &first = start.at(at);
  undecided |= first.undecided;
  return std::clamp<int64_t>(coordinate(first, start.elementType()), 0, whole - size);
}

static void dynamicSlice(const std::string &name, const TensorValue &input,
                         const TensorValue &start, TensorValue &result) {
  for (Walk walk(result.dims()); walk; ++walk) {
    Sizes at = walk.position();
    bool undecided = false;
    at[name] += startOf(start, at, input.size(name), result.size(name), undecided);
    Scalar &element = result.elements[walk.count()];
    element = input.at(at);
    element.undecided |= undecided;
  }
}

static void updateSlice(const std::string &name, const TensorValue &part, const TensorValue &start,
                        TensorValue &result) {
  for (Walk walk(result.dims()); walk; ++walk) {
    Sizes at = walk.position();
    bool undecided = false;
    at[name] -= startOf(start, at, result.size(name), part.size(name), undecided);
    Scalar &element = result.elements[walk.count()];
    if (at[name] >= 0 && at[name] < part.size(name))
      element = part.at(at);
    element.undecided |= undecided;
  }
}

/// True if `a` comes before `b`.
static bool isBefore(const Scalar &a, const Scalar &b, Type type, bool descending) {
  const Scalar &x = descending ? b : a, &y = descending ? a : b;
  if (isa<FloatType>(type)) // NaN comes last in either order
    return std::isnan(a.value) || std::isnan(b.value) ? std::isnan(b.value) && !std::isnan(a.value)
                                                      : x.value < y.value;
  unsigned width = widthOf(type);
  if (width == 1 || type.isUnsignedInteger())
    return x.bits < y.bits;
  return signedValue(x, width) < signedValue(y, width);
}

namespace {
/// A range of the sorted order in which the keys' error bounds overlap, so that any order is legal.
struct Cluster {
  size_t begin;
  double low, high; ///< bounds of the keys
};
} // namespace

void sort(ArrayRef<const TensorValue *> inputs, const std::string &name, bool descending,
          MutableArrayRef<TensorValue> results) {
  const TensorValue &keys = *inputs[0];
  bool isFloat = isa<FloatType>(keys.elementType());
  size_t size = size_t(keys.size(name));
  std::vector<SizedName> others(keys.dims());
  llvm::erase_if(others, [&](const SizedName &dim) { return dim.first == name; });
  for (Walk walk(others); walk; ++walk) {
    Sizes at = walk.position();
    auto element = [&](const TensorValue &tensor, size_t i) -> Scalar {
      at[name] = int64_t(i);
      return tensor.at(at);
    };
    std::vector<size_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](size_t a, size_t b) {
      return isBefore(element(keys, a), element(keys, b), keys.elementType(), descending);
    });
    // Where error bounds overlap, another execution may have another order.
    std::vector<Cluster> clusters;
    bool anyOrder = false;
    for (size_t i = 0; i < size; ++i) {
      Scalar key = element(keys, order[i]);
      anyOrder |= key.undecided;
      double value = descending ? -key.value : key.value;
      Cluster cluster{i, value - key.error, value + key.error};
      while (isFloat && !clusters.empty() && !(clusters.back().high < cluster.low) &&
             !std::isnan(value)) {
        cluster.begin = clusters.back().begin;
        cluster.low = std::min(cluster.low, clusters.back().low);
        cluster.high = std::max(cluster.high, clusters.back().high);
        clusters.pop_back();
      }
      clusters.push_back(cluster);
    }
    for (auto [c, cluster] : llvm::enumerate(clusters)) {
      size_t end = c + 1 < clusters.size() ? clusters[c + 1].begin : size;
      Scalar first = element(keys, order[cluster.begin]);
      bool undecided = anyOrder;
      double error = 0;
      for (size_t i = cluster.begin; i < end; ++i) {
        Scalar key = element(keys, order[i]);
        bool isSame = key.origin != 0 && key.origin == first.origin;
        undecided |= !isSame && (key.error != 0 || first.error != 0) && i != cluster.begin;
        error = std::max(error, key.error);
      }
      for (auto [k, input, result] : llvm::enumerate(inputs, results))
        for (size_t i = cluster.begin; i < std::min(end, size_t(result.size(name))); ++i) {
          Scalar value = element(*input, order[i]);
          if (k == 0 && isFloat && undecided && !anyOrder) {
            // Another order changes the sorted keys by at most their errors.
            value.error = error;
            value.own = 0;
            value.origin = 0;
          } else {
            value.undecided |= undecided;
          }
          at[name] = int64_t(i);
          result.at(at) = value;
        }
    }
  }
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
  // Symbolic sizes are known only at run time.
  auto fits = [&](StringRef name, const TensorValue &part, const TensorValue &whole) {
    if (part.size(name) <= whole.size(name))
      return true;
    op->emitOpError() << "expected at most the size of '" << name << "', " << whole.size(name)
                      << ", got " << part.size(name);
    return false;
  };
  if (auto each = dyn_cast<nd::DynamicSliceOp>(op)) {
    FailureOr<TensorValue> result = resultOf(op->getResult(0), frame);
    if (failed(result) || !fits(each.getName(), *result, frame[each.getInput()]))
      return failure();
    dynamicSlice(each.getName().str(), frame[each.getInput()], frame[each.getStart()], *result);
    return setResult(op, frame, std::move(*result));
  }
  if (auto each = dyn_cast<nd::UpdateSliceOp>(op)) {
    TensorValue result = frame[each.getDestination()];
    if (!fits(each.getName(), frame[each.getPart()], result))
      return failure();
    updateSlice(each.getName().str(), frame[each.getPart()], frame[each.getStart()], result);
    return setResult(op, frame, std::move(result));
  }
  if (auto each = dyn_cast<nd::SortOp>(op)) {
    FailureOr<SmallVector<TensorValue>> results = resultsOf(op, frame);
    if (failed(results) || !fits(each.getName(), results->front(), frame[each.getInputs()[0]]))
      return failure();
    sort(frame[each.getInputs()], each.getName().str(), each.getDescending(), *results);
    return setResults(op, frame, *results);
  }
  return std::nullopt;
}

} // namespace heddle::interp
