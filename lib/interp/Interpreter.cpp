//===- Interpreter.cpp - functions, calls and dispatch --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Evaluator.h"
#include "lib/interp/Meaning.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nest/Nest.h"

#include "lib/interp/MeaningInterface.cpp.inc"

using namespace mlir;

namespace heddle::interp {

/// More elements than this do not fit into memory as scalars with bounds.
static constexpr int64_t mostElements = int64_t(1) << 26;
/// Limit on the total number of calls: in a chain of functions that each call the next one twice,
/// it is 2^depth.
static constexpr int64_t mostCallsInAll = int64_t(1) << 21;

SmallVector<const TensorValue *> Frame::operator[](ValueRange range) const {
  SmallVector<const TensorValue *> tensors;
  for (Value value : range)
    tensors.push_back(&(*this)[value]);
  return tensors;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

FailureOr<ExprMap> bindSymbols(func::FuncOp func, ArrayRef<nd::NdTensorType> arguments,
                               ExprMap known) {
  ExprMap symbols;
  if (func.getNumArguments() != arguments.size())
    return LogicalResult(func.emitError()
                         << "expected " << func.getNumArguments() << " arguments for '@"
                         << func.getName() << "', got " << arguments.size());
  for (Type formalType : func.getArgumentTypes())
    if (!isa<nd::NdTensorType>(formalType))
      return LogicalResult(func.emitError()
                           << "expected named tensors as arguments, got " << formalType);
  // A size that is linear in one unknown symbol determines it.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [formal, argument] : llvm::zip_equal(func.getArgumentTypes(), arguments))
      for (const nd::Dim &dim : cast<nd::NdTensorType>(formal).getDims()) {
        Expr left = dim.size().getExpr().substitute(symbols);
        std::vector<std::string> unknown = left.names();
        nd::SizeAttr size = argument.size(dim.name.getValue());
        if (unknown.size() != 1 || !left.isAffine() || !size)
          continue;
        Expr rest = size.getExpr() - Expr(left.offset());
        int64_t factor = left.coefficient(unknown[0]);
        if (auto number = rest.constant(); factor != 1 && (!number || *number % factor))
          continue;
        symbols[unknown[0]] = factor == 1 ? rest : Expr(*rest.constant() / factor);
        changed = true;
      }
  }
  symbols.insert(known.begin(), known.end());
  for (auto [i, formalType, argument] : llvm::enumerate(func.getArgumentTypes(), arguments)) {
    auto formal = cast<nd::NdTensorType>(formalType);
    SmallVector<nd::Dim> dims;
    bool isNegative = false;
    for (const nd::Dim &dim : formal.getDims()) {
      Expr size = dim.size().getExpr().substitute(symbols);
      isNegative |= size.constant().value_or(0) < 0;
      dims.emplace_back(func.getContext(), dim.name.getValue(), size);
    }
    if (isNegative || formal.withDims(dims) != argument)
      return LogicalResult(func.emitError() << "expected " << formal << " as argument " << i
                                            << " of '@" << func.getName() << "', got " << argument);
  }
  for (const auto &[symbol, size] : symbols) {
    heddle::Range range = nd::symbolRange(func, symbol);
    if (auto value = size.constant(); value && (*value < range.low || *value > range.high))
      return LogicalResult(func.emitError()
                           << "expected " << range.low << " to " << range.high << " for '" << symbol
                           << "' of '@" << func.getName() << "', got " << *value);
  }
  return symbols;
}

FailureOr<SmallVector<SizedName>> Evaluator::extents(Operation *op, nd::DimsAttr dims,
                                                     const Frame &frame) {
  SmallVector<SizedName> result;
  int64_t count = 1;
  bool isEmpty = false;
  for (const nd::Dim &dim : dims) {
    Expr expr = dim.size().getExpr().substitute(frame.symbols);
    auto size = expr.constant();
    if (!size)
      return op->emitOpError() << "expected a size of '" << dim.name.getValue()
                               << "' that follows from the arguments, got " << expr.str();
    if (*size < 0)
      return op->emitOpError() << "expected a size of at least 0 for '" << dim.name.getValue()
                               << "', got " << dim.size().getExpr().str() << ", which is " << *size;
    isEmpty |= *size == 0;
    if (*size > 0)
      count = count > mostElements ? count : count * std::min(*size, mostElements + 1);
    result.emplace_back(dim.name.str(), *size);
  }
  if (!isEmpty && count > mostElements)
    return op->emitOpError() << "has more than " << mostElements
                             << " elements, too many for the interpreter";
  return result;
}

FailureOr<TensorValue> Evaluator::resultOf(Value value, const Frame &frame) {
  auto type = cast<nd::NdTensorType>(value.getType());
  auto sizes = extents(value.getDefiningOp(), type.getDims(), frame);
  if (failed(sizes))
    return failure();
  SmallVector<nd::Dim> dims;
  for (const auto &[name, size] : *sizes)
    dims.emplace_back(type.getContext(), name, Expr(size));
  return TensorValue(type.withDims(dims));
}

FailureOr<SmallVector<TensorValue>> Evaluator::resultsOf(Operation *op, const Frame &frame) {
  SmallVector<TensorValue> results;
  for (Value value : op->getResults()) {
    FailureOr<TensorValue> made = resultOf(value, frame);
    if (failed(made))
      return failure();
    results.push_back(std::move(*made));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Prepared regions
//===----------------------------------------------------------------------===//

FailureOr<ScalarRegion *> Evaluator::code(Region &region) {
  auto found = codes.find(&region);
  if (found == codes.end()) {
    FailureOr<ScalarRegion> prepared = ScalarRegion::prepare(region, arithmetic);
    if (failed(prepared))
      return failure();
    found = codes.emplace(&region, std::move(*prepared)).first;
  }
  return &found->second;
}

FailureOr<Combiner *> Evaluator::combiner(Region &region, ArrayRef<Type> types) {
  auto found = combiners.find(&region);
  if (found == combiners.end()) {
    FailureOr<Combiner> prepared = Combiner::prepare(region, types, arithmetic);
    if (failed(prepared))
      return failure();
    found = combiners.emplace(&region, std::move(*prepared)).first;
  }
  return &found->second;
}

//===----------------------------------------------------------------------===//
// Ops and functions
//===----------------------------------------------------------------------===//

LogicalResult Evaluator::evaluate(Operation *op, Frame &frame) {
  using Family = std::optional<LogicalResult> (Evaluator::*)(Operation *, Frame &);
  for (Family family :
       {&Evaluator::evaluateArithmetic, &Evaluator::evaluateIndexMap, &Evaluator::evaluateAccess,
        &Evaluator::evaluateNest, &Evaluator::evaluateCheck, &Evaluator::evaluateCall,
        &Evaluator::evaluateControl})
    if (std::optional<LogicalResult> result = (this->*family)(op, frame))
      return *result;
  if (isa<nd::CalleeInterface>(op))
    return op->emitOpError() << "expected gradients to be expanded before the interpreter runs";
  if (auto custom = dyn_cast<MeaningInterface>(op)) {
    FailureOr<SmallVector<TensorValue>> results = resultsOf(op, frame);
    if (failed(results) || failed(custom.evaluate(frame[op->getOperands()], *results, arithmetic)))
      return failure();
    return setResults(op, frame, *results);
  }
  return op->emitOpError() << "has no meaning in the interpreter";
}

/// For each op, the values of the block that no later op uses.
const Evaluator::Deaths &Evaluator::deathsIn(Block &block) {
  auto [found, isNew] = deaths.try_emplace(&block);
  if (!isNew)
    return found->second;
  llvm::DenseSet<Value> used;
  for (Operation &op : llvm::reverse(block))
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block && used.insert(operand).second &&
            &op != &block.back())
          found->second[&op].push_back(operand);
    });
  return found->second;
}

LogicalResult Evaluator::run(Block &block, Frame &frame) {
  const Deaths &dead = deathsIn(block);
  for (Operation &op : block.without_terminator()) {
    if (failed(evaluate(&op, frame)))
      return failure();
    if (auto found = dead.find(&op); found != dead.end())
      for (Value value : found->second)
        frame.values.erase(value);
  }
  return success();
}

FailureOr<SmallVector<TensorValue>> interpretLiterals(Operation *op) {
  Evaluator evaluator;
  Frame frame;
  for (Value operand : op->getOperands())
    if (failed(evaluator.evaluate(operand.getDefiningOp(), frame)))
      return failure();
  if (failed(evaluator.evaluate(op, frame)))
    return failure();
  SmallVector<TensorValue> results;
  for (Value result : op->getResults())
    results.push_back(frame[result].stored());
  return results;
}

FailureOr<SmallVector<TensorRef>> Evaluator::call(func::FuncOp func, ArrayRef<TensorRef> arguments,
                                                  Operation *site, const Frame *caller) {
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return LogicalResult(site->emitError()
                         << "expected '@" << func.getName() << "' to have a body of one block");
  if (depth >= mostCalls)
    return LogicalResult(site->emitError()
                         << "calls '@" << func.getName() << "' inside of " << depth
                         << " other calls, too many for the interpreter");
  if (++calls > mostCallsInAll)
    return LogicalResult(site->emitOpError()
                         << "calls '@" << func.getName() << "' after " << mostCallsInAll
                         << " other calls, too many for the interpreter");
  SmallVector<nd::NdTensorType> types;
  for (const TensorRef &argument : arguments)
    types.push_back(argument->type);
  auto symbols = caller ? bindSymbols(func, types, caller->symbols) : bindSymbols(func, types);
  if (failed(symbols) || failed(verifySizes(func, *symbols)))
    return failure();
  Frame frame;
  frame.symbols = std::move(*symbols);
  Block &body = func.getBody().front();
  for (auto [formal, argument] : llvm::zip_equal(body.getArguments(), arguments))
    frame.values[formal] = argument;
  ++depth;
  LogicalResult done = run(body, frame);
  --depth;
  if (failed(done))
    return failure();
  return frame.refs(body.getTerminator()->getOperands());
}

/// Runs the callee on slices, for each point of the lifted names.
static FailureOr<SmallVector<TensorRef>> callLifted(Evaluator &evaluator, nd::CallOp op,
                                                    func::FuncOp callee, Frame &frame) {
  SmallVector<TensorRef> inputs = frame.refs(op.getInputs());
  std::map<std::string, int64_t> lifted;
  for (auto [input, formal] : llvm::zip_equal(inputs, callee.getArgumentTypes()))
    for (const SizedName &dim : input->dims())
      if (!cast<nd::NdTensorType>(formal).has(dim.first))
        lifted.emplace(dim.first, dim.second);
  if (lifted.empty())
    return evaluator.call(callee, inputs, op, &frame);

  FailureOr<SmallVector<TensorValue>> made = evaluator.resultsOf(op, frame);
  if (failed(made))
    return failure();
  SmallVector<TensorValue> &results = *made;
  // A result that lacks a lifted name does not depend on it, so any point gives its value, even if
  // the name has size 0 and the slice is a placeholder.
  SmallVector<SizedName> points;
  for (const auto &[name, size] : lifted)
    points.emplace_back(name, std::max<int64_t>(size, 1));
  for (Walk walk(points); walk; ++walk) {
    Sizes point = walk.position();
    SmallVector<TensorRef> arguments;
    for (auto [input, formal] : llvm::zip_equal(inputs, callee.getArgumentTypes())) {
      TensorValue part = *input;
      for (const auto &[name, coordinate] : point)
        if (part.has(name) && !cast<nd::NdTensorType>(formal).has(name))
          part = lifted[name] == 0 ? TensorValue(part.type.without(name))
                                   : part.slice(name, coordinate);
      arguments.push_back(std::make_shared<const TensorValue>(std::move(part)));
    }
    FailureOr<SmallVector<TensorRef>> parts = evaluator.call(callee, arguments, op, &frame);
    if (failed(parts))
      return failure();
    for (auto [result, part] : llvm::zip_equal(results, *parts)) {
      if (result.elements.empty())
        continue;
      for (Walk inner(part->dims()); inner; ++inner) {
        Sizes position = inner.position();
        position.insert(point.begin(), point.end());
        result.at(position) = part->elements[inner.count()];
      }
    }
  }
  SmallVector<TensorRef> refs;
  for (TensorValue &result : results)
    refs.push_back(std::make_shared<const TensorValue>(std::move(result)));
  return refs;
}

std::optional<LogicalResult> Evaluator::evaluateCall(Operation *op, Frame &frame) {
  FailureOr<SmallVector<TensorRef>> results = failure();
  if (auto call = dyn_cast<nd::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
    if (!callee)
      return op->emitOpError() << "calls '@" << call.getCallee() << "', which is not a function";
    results = callLifted(*this, call, callee, frame);
  } else if (auto direct = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, direct.getCalleeAttr());
    if (!callee)
      return op->emitOpError() << "calls '@" << direct.getCallee() << "', which is not a function";
    SmallVector<TensorRef> inputs = frame.refs(direct.getOperands());
    results = this->call(callee, inputs, op);
  } else {
    return std::nullopt;
  }
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
    frame.values[result] = value;
  return success();
}

FailureOr<SmallVector<TensorValue>>
Evaluator::runEntry(func::FuncOp func, ArrayRef<TensorRef> arguments, const ExprMap &known) {
  Frame outside;
  outside.symbols = known;
  FailureOr<SmallVector<TensorRef>> results = call(func, arguments, func, &outside);
  if (failed(results) || checksFailed)
    return failure();
  SmallVector<TensorValue> values;
  for (auto [i, result] : llvm::enumerate(*results)) {
    if (result->hasExcluded())
      return LogicalResult(func.emitError()
                           << "result " << i
                           << " has taps that a window excludes; a reduction over the "
                              "window's taps must follow");
    values.push_back(*result);
  }
  return values;
}

SmallVector<TensorRef> refsTo(ArrayRef<TensorValue> values) {
  return llvm::map_to_vector(values, [](const TensorValue &value) -> TensorRef {
    return std::make_shared<const TensorValue>(value);
  });
}

FailureOr<SmallVector<TensorValue>> interpret(func::FuncOp func, ArrayRef<TensorValue> arguments,
                                              const ExprMap &known) {
  return Evaluator().runEntry(func, refsTo(arguments), known);
}

} // namespace heddle::interp
