//===- Evaluate.cpp - nests point by point --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/nest_to_loops/Harness.h"

#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nest;
using namespace heddle::test;
using namespace mlir;

size_t Plain::at(const Sizes &position) const {
  size_t index = 0;
  for (const nd::Dim &dim : type.getDims())
    index = index * *dim.size().constant() + position.find(dim.name.str())->second;
  return index;
}

/// Visits every point of `dims` (the last name fastest).
static void forAll(ArrayRef<nd::Dim> dims, Sizes &point, llvm::function_ref<void()> visit) {
  if (dims.empty())
    return visit();
  int64_t size = *dims[0].size().constant();
  for (int64_t i = 0; i < size; ++i) {
    point[dims[0].name.str()] = i;
    forAll(dims.drop_front(), point, visit);
  }
  point.erase(dims[0].name.str());
}

static int64_t valueOf(const Expr &expr, const Sizes &point, ArrayRef<Attribute> reads,
                       ArrayRef<bool> isUnsigned) {
  auto lookup = [&](const std::string &name) -> std::optional<int64_t> {
    if (auto read = readIndex(name)) {
      APInt value = cast<IntegerAttr>(reads[*read]).getValue();
      return isUnsigned[*read] ? int64_t(value.getZExtValue()) : value.getSExtValue();
    }
    auto found = point.find(name);
    return found == point.end() ? std::nullopt : std::optional<int64_t>(found->second);
  };
  return *expr.evaluate(lookup);
}

static double number(Attribute value) { return cast<FloatAttr>(value).getValueAsDouble(); }

/// The functions that have no folder of their own.
static Attribute callFunction(Operation *op, ArrayRef<Attribute> operands) {
  StringRef name = op->getName().getStringRef();
  auto real = dyn_cast<FloatType>(op->getResult(0).getType());
  if (!real || name.substr(0, 5) != "math.")
    return {};
  double x = number(operands[0]), y = operands.size() > 1 ? number(operands[1]) : 0;
  name = name.drop_front(5);
  double result = 0;
  if (name == "exp") result = std::exp(x);
  else if (name == "exp2") result = std::exp2(x);
  else if (name == "expm1") result = std::expm1(x);
  else if (name == "log") result = std::log(x);
  else if (name == "log1p") result = std::log1p(x);
  else if (name == "log2") result = std::log2(x);
  else if (name == "tanh") result = std::tanh(x);
  else if (name == "erf") result = std::erf(x);
  else if (name == "sin") result = std::sin(x);
  else if (name == "cos") result = std::cos(x);
  else if (name == "sqrt") result = std::sqrt(x);
  else if (name == "rsqrt") result = 1 / std::sqrt(x);
  else if (name == "powf") result = std::pow(x, y);
  else if (name == "fma") result = std::fma(x, y, number(operands[2]));
  else return {};
  return FloatAttr::get(real, result);
}

/// A float in another float type, rounded.
static Attribute convert(Attribute value, Type type) {
  type = nd::signless(type);
  auto real = dyn_cast<FloatAttr>(value);
  if (!real || real.getType() == type)
    return value;
  APFloat converted = real.getValue();
  bool inexact;
  converted.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return FloatAttr::get(type, converted);
}

static SmallVector<Attribute> runRegion(Region &region, ArrayRef<Attribute> arguments,
                                        const Sizes &point) {
  llvm::DenseMap<Value, Attribute> values;
  for (auto [argument, value] : llvm::zip_equal(region.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : region.front().without_terminator()) {
    Attribute &result = values[op.getResult(0)];
    if (auto index = dyn_cast<IndexOp>(op)) {
      result = IntegerAttr::get(IndexType::get(op.getContext()), point.find(index.getName())->second);
      continue;
    }
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    if (Attribute called = callFunction(&op, operands)) {
      result = called;
      continue;
    }
    if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
      result = convert(operands[0], op.getResult(0).getType());
      continue;
    }
    if (isa<arith::FPToUIOp, arith::FPToSIOp>(op) && std::isnan(number(operands[0])))
      llvm::report_fatal_error("the test converts NaN to an integer");
    SmallVector<OpFoldResult> folded;
    if (failed(op.fold(operands, folded)) || folded.empty())
      llvm::report_fatal_error(llvm::Twine("the evaluation does not know ") + op.getName().getStringRef());
    result = llvm::dyn_cast<Attribute>(folded[0]);
    if (!result)
      result = values.lookup(llvm::cast<Value>(folded[0]));
  }
  SmallVector<Attribute> results;
  for (Value value : region.front().getTerminator()->getOperands())
    results.push_back(values.lookup(value));
  return results;
}

namespace {
struct Reads {
  SmallVector<Attribute> values;
  bool excluded = false;
};
} // namespace

static Reads readAll(ValueRange tensors, ArrayRef<Attribute> maps, ArrayRef<Attribute> guards,
                     const Sizes &point, std::map<void *, Plain> &known) {
  Reads reads;
  SmallVector<bool> isUnsigned;
  for (auto [tensor, mapAttr, guardAttr] : llvm::zip_equal(tensors, maps, guards)) {
    const Plain &plain = known[tensor.getAsOpaquePointer()];
    auto guard = cast<GuardAttr>(guardAttr);
    bool holds = true;
    for (const Condition &condition : guard.getConditions()) {
      int64_t value = valueOf(condition.expr(), point, reads.values, isUnsigned);
      holds &= condition.equality ? value == 0 : value >= 0;
    }
    isUnsigned.push_back(plain.type.getElementType().isUnsignedInteger());
    if (!holds) {
      reads.excluded |= guard.excludes();
      reads.values.push_back(guard.excludes() ? Attribute(cast<TypedAttr>(Builder(tensor.getContext()).getZeroAttr(plain.type.scalarType())))
                                              : Attribute(guard.getOtherwise()));
      continue;
    }
    Sizes place;
    for (const MapEntry &entry : cast<MapAttr>(mapAttr).getEntries()) {
      int64_t at = valueOf(entry.expr(), point, reads.values, isUnsigned);
      int64_t size = *plain.type.size(entry.name.getValue()).constant();
      if (isGathered(entry.expr()))
        at = std::min(std::max<int64_t>(at, 0), size - 1);
      place[entry.name.str()] = at;
    }
    reads.values.push_back(plain.elements[plain.at(place)]);
  }
  return reads;
}

static Plain emptyPlain(nd::NdTensorType type) {
  Plain plain{type, {}};
  int64_t count = 1;
  for (const nd::Dim &dim : type.getDims())
    count *= *dim.size().constant();
  plain.elements.resize(count);
  return plain;
}

static std::vector<Plain> evaluateCompute(ComputeOp op, std::map<void *, Plain> &known,
                                          const Sizes &outer) {
  std::vector<Plain> results;
  for (Value result : op.getResults())
    results.push_back(emptyPlain(tensorTypeOf(result)));
  ArrayRef<Attribute> maps = op.getMaps().getValue(), guards = op.getGuards().getValue();
  size_t bodyReads = op.getReads().size();
  Sizes point = outer;
  forAll(op.getProduced().getDims(), point, [&] {
    SmallVector<Attribute> values;
    auto body = [&] {
      Reads reads = readAll(op.getReads(), maps.take_front(bodyReads), guards.take_front(bodyReads),
                            point, known);
      if (reads.excluded)
        return;
      SmallVector<Attribute> elements = runRegion(op.getBody(), reads.values, point);
      if (!op.isReduction()) {
        values = elements;
        return;
      }
      SmallVector<Attribute> arguments(values);
      for (auto [element, neutral] : llvm::zip_equal(elements, op.getNeutral()))
        arguments.push_back(convert(element, cast<TypedAttr>(neutral).getType()));
      values = runRegion(op.getCombine(), arguments, point);
    };
    if (op.isReduction()) {
      values.assign(op.getNeutral().begin(), op.getNeutral().end());
      Sizes saved = point;
      forAll(op.getReduced().getDims(), point, body);
      point = saved;
    } else {
      body();
    }
    if (!op.getFinish().empty()) {
      Reads reads = readAll(op.getFinishReads(), maps.drop_front(bodyReads),
                            guards.drop_front(bodyReads), point, known);
      values.append(reads.values);
      values = runRegion(op.getFinish(), values, point);
    }
    for (auto [result, value] : llvm::zip_equal(results, values))
      result.elements[result.at(point)] = convert(value, result.type.getElementType());
  });
  return results;
}

static std::vector<Plain> evaluateUpdate(UpdateOp op, std::map<void *, Plain> &known,
                                         const Sizes &outer) {
  Plain result = known[op.getDest().getAsOpaquePointer()];
  Sizes point = outer;
  forAll(op.getSpace().getDims(), point, [&] {
    Reads reads = readAll(op.getReads(), op.getMaps().getValue(), op.getGuards().getValue(), point, known);
    if (reads.excluded)
      return;
    SmallVector<bool> isUnsigned;
    for (Value read : op.getReads())
      isUnsigned.push_back(tensorTypeOf(read).getElementType().isUnsignedInteger());
    Sizes place;
    for (const MapEntry &entry : op.getDestMap().getEntries()) {
      int64_t at = valueOf(entry.expr(), point, reads.values, isUnsigned);
      if (at < 0 || at >= *result.type.size(entry.name.getValue()).constant())
        return;
      place[entry.name.str()] = at;
    }
    SmallVector<Attribute> arguments{result.elements[result.at(place)]};
    arguments.append(runRegion(op.getBody(), reads.values, point));
    Type accumulator = op.getCombine().getArgument(0).getType();
    for (Attribute &argument : arguments)
      argument = convert(argument, accumulator);
    result.elements[result.at(place)] =
        convert(runRegion(op.getCombine(), arguments, point)[0], result.type.getElementType());
  });
  return {result};
}

static void evaluateBlock(Block &block, std::map<void *, Plain> &known, const Sizes &outer) {
  for (Operation &op : block.without_terminator()) {
    std::vector<Plain> results = evaluate(&op, known, outer);
    for (auto [value, plain] : llvm::zip_equal(op.getResults(), results))
      known[value.getAsOpaquePointer()] = plain;
  }
}

std::vector<Plain> test::evaluate(Operation *nest, std::map<void *, Plain> &known, const Sizes &outer) {
  if (auto op = dyn_cast<ComputeOp>(nest))
    return evaluateCompute(op, known, outer);
  if (auto op = dyn_cast<UpdateOp>(nest))
    return evaluateUpdate(op, known, outer);
  std::vector<Plain> results;
  for (Value result : nest->getResults())
    results.push_back(emptyPlain(tensorTypeOf(result)));
  Block &block = nest->getRegion(0).front();
  ValueRange yielded = block.getTerminator()->getOperands();
  auto insert = [&](Plain &into, const Plain &slice, const Sizes &at) {
    Sizes place = at;
    forAll(slice.type.getDims().getDims(), place, [&] { into.elements[into.at(place)] = slice.elements[slice.at(place)]; });
  };
  if (auto op = dyn_cast<GroupOp>(nest)) {
    Sizes point = outer;
    forAll(op.getNames().getDims(), point, [&] {
      evaluateBlock(block, known, point);
      for (auto [result, value] : llvm::zip_equal(results, yielded))
        insert(result, known[value.getAsOpaquePointer()], point);
    });
    return results;
  }
  auto op = cast<ScanOp>(nest);
  nd::Dim along = *op.getAlong().begin();
  int64_t count = *along.size().constant();
  size_t carried = op.getInits().size();
  for (auto [i, init] : llvm::enumerate(op.getInits()))
    known[block.getArgument(i).getAsOpaquePointer()] = results[i] = known[init.getAsOpaquePointer()];
  for (int64_t step = 0; step < count; ++step) {
    int64_t at = op.getReverse() ? count - 1 - step : step;
    Sizes fixed{{along.name.str(), at}};
    for (auto [i, read] : llvm::enumerate(op.getReads())) {
      BlockArgument argument = block.getArgument(carried + i);
      Plain slice = emptyPlain(tensorTypeOf(argument));
      const Plain &whole = known[read.getAsOpaquePointer()];
      Sizes place = fixed;
      forAll(slice.type.getDims().getDims(), place, [&] { slice.elements[slice.at(place)] = whole.elements[whole.at(place)]; });
      known[argument.getAsOpaquePointer()] = slice;
    }
    evaluateBlock(block, known, outer);
    std::vector<Plain> next;
    for (Value value : yielded)
      next.push_back(known[value.getAsOpaquePointer()]);
    for (size_t i = 0; i < carried; ++i)
      known[block.getArgument(i).getAsOpaquePointer()] = results[i] = next[i];
    for (size_t i = carried; i < results.size(); ++i)
      insert(results[i], next[i], fixed);
  }
  return results;
}
