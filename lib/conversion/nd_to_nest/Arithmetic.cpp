//===- Arithmetic.cpp - sources, scalar code, reductions and scans --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "lib/conversion/nd_to_nest/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The name that the result of a window has and its operand lacks.
static std::string newName(Operation *op) {
  nd::NdTensorType input = tensorType(op->getOperand(0));
  for (const nd::Dim &dim : tensorType(op->getResult(0)).getDims())
    if (!input.has(dim.name))
      return dim.name.str();
  llvm_unreachable("a window has a tap");
}

bool nest::isTakenIn(Operation *op) {
  return op && op->getName().getDialectNamespace() == "nd" &&
         !isa<nd::LiteralInterface, nd::AfterOp>(op);
}

static bool readsExcluded(Operation *op) {
  return llvm::any_of(op->getOperands(),
                      [](Value value) { return isTakenIn(value.getDefiningOp()); });
}

bool nest::isFused(Operation *op) {
  std::optional<nd::IndexMap> map = nd::indexMapOf(op);
  bool passesOn = map ? !map->outside : isa<nd::PointwiseOp>(op);
  return (map && map->excludes()) || (passesOn && readsExcluded(op));
}

LogicalResult nest::refuseExcluded(Operation *op) {
  while (readsExcluded(op))
    for (Value operand : op->getOperands())
      if (isTakenIn(operand.getDefiningOp())) {
        op = operand.getDefiningOp();
        break;
      }
  std::string tap = newName(op);
  auto map = nd::indexMapOf(op);
  for (const auto &[name, coordinate] : map->coordinates)
    if (coordinate.mentions(tap))
      return op->emitOpError() << "excludes taps along '" << name
                               << "': expected that only a reduction over '" << tap
                               << "' reads it; give a padding value instead";
  llvm_unreachable("an op that excludes elements has a tap");
}

namespace {
struct Arithmetic : Lowering {
  LogicalResult lower(nd::PointwiseOp op, Results results) {
    NestBuilder nest(b, loc);
    nest.produced = tensorType(op.getResult()).getDims();
    for (Value input : op.getInputs())
      nest.read(input, MapAttr::identity(tensorType(input)));
    results.push_back(nest.create({tensorType(op.getResult()).getElementType()},
                                  [&](OpBuilder &builder, Location, ValueRange read) {
                                    return nd::inlineBlock(builder, op.getBody().front(), read);
                                  })
                          .getResult(0));
    return success();
  }

  LogicalResult lower(nd::RoundOp op, Results results) {
    auto type = tensorType(op.getResult());
    auto element = cast<FloatType>(type.getElementType()), to = cast<FloatType>(op.getTo());
    NestBuilder nest(b, loc);
    nest.produced = type.getDims();
    nest.read(op.getInput(), MapAttr::identity(type));
    results.push_back(
        nest.create({element},
                    [&](OpBuilder &builder, Location where, ValueRange read) -> SmallVector<Value> {
                      if (element == to && !nd::isNarrowFloat(element))
                        return {read[0]};
                      // Two casts; between equal types through a wider one.
                      Type narrow = element == to ? builder.getF32Type() : Type(to);
                      Value there = nd::convertScalar(builder, where, read[0], element, narrow);
                      return {nd::convertScalar(builder, where, there, narrow, element)};
                    })
            .getResult(0));
    return success();
  }

  LogicalResult lower(nd::IotaOp op, Results results) {
    NestBuilder nest(b, loc);
    auto type = tensorType(op.getResult());
    nest.produced = type.getDims();
    results.push_back(
        nest.create({type.getElementType()},
                    [&](OpBuilder &builder, Location where, ValueRange) -> SmallVector<Value> {
                      return {indexAs(builder, where, op.getName(), type.getElementType())};
                    })
            .getResult(0));
    return success();
  }

  LogicalResult lower(nd::RandomOp op, Results results) {
    NestBuilder nest(b, loc);
    auto type = tensorType(op.getResult());
    nest.produced = type.getDims();
    nest.read(op.getKey(), MapAttr::identity(tensorType(op.getKey())));
    results.push_back(
        nest.create({type.getElementType()},
                    [&](OpBuilder &builder, Location where, ValueRange read) -> SmallVector<Value> {
                      return {philox(builder, where, read[0], op.getOrder(), type)};
                    })
            .getResult(0));
    return success();
  }

  /// The source of a reduction's elements: a read, or scalar code on other sources.
  struct Source {
    unsigned read = 0;
    nd::PointwiseOp code;
    std::vector<Source> inputs;
  };

  /// Reads `value` at `coordinates`, looking through windows that exclude elements and through ops
  /// computed from them.
  FailureOr<Source> takeIn(NestBuilder &nest, Value value, ExprMap coordinates,
                           SmallVector<Condition> conditions, nd::ReduceOp reduce) {
    Operation *op = value.getDefiningOp();
    Source source;
    if (!isTakenIn(op)) {
      source.read = nest.read(value, mapOf(tensorType(value), coordinates),
                              GuardAttr::get(context(), conditions, TypedAttr()));
      return source;
    }
    if (auto map = nd::indexMapOf(op); map && !map->outside) {
      Value input = op->getOperand(0);
      auto substituted = [&](const Expr &expr) { return expr.substitute(coordinates); };
      if (map->excludes()) {
        std::string tap = newName(op);
        if (!llvm::all_of(coordinates[tap].names(),
                          [&](const std::string &name) { return nest.reduced.contains(name); }))
          return reduce.emitOpError()
                 << "expected a reduction over '" << tap << "', whose window excludes taps";
      }
      ExprMap before;
      for (const nd::Dim &dim : tensorType(input).getDims()) {
        auto moved = map->coordinates.find(dim.name.getValue());
        before[dim.name.str()] = substituted(
            moved == map->coordinates.end() ? Expr::name(dim.name.str()) : moved->second);
      }
      for (const nd::IndexMap::Condition &condition : map->conditions)
        conditions.emplace_back(context(), substituted(condition.expr), condition.isEquality);
      return takeIn(nest, input, before, conditions, reduce);
    }
    if (auto pointwise = dyn_cast<nd::PointwiseOp>(op)) {
      source.code = pointwise;
      for (Value input : pointwise.getInputs()) {
        FailureOr<Source> inner = takeIn(nest, input, coordinates, conditions, reduce);
        if (failed(inner))
          return failure();
        source.inputs.push_back(std::move(*inner));
      }
      return source;
    }
    return refuseExcluded(op);
  }

  Value valueOf(OpBuilder &builder, const Source &source, ValueRange reads) {
    if (!source.code)
      return reads[source.read];
    SmallVector<Value> inputs;
    for (const Source &input : source.inputs)
      inputs.push_back(valueOf(builder, input, reads));
    nd::PointwiseOp code = source.code;
    return nd::inlineBlock(builder, code.getBody().front(), inputs)[0];
  }

  LogicalResult lower(nd::ReduceOp op, Results results) {
    NestBuilder nest(b, loc);
    SmallVector<nd::Dim> reduced, produced;
    for (const nd::Dim &dim : tensorType(op.getInputs()[0]).getDims()) {
      bool isReduced = llvm::is_contained(op.getNames(), Attribute(dim.name));
      (isReduced ? reduced : produced).push_back(dim);
    }
    nest.produced = nd::DimsAttr::getSorted(context(), produced);
    nest.reduced = nd::DimsAttr::getSorted(context(), reduced);
    ExprMap coordinates;
    for (const nd::Dim &dim : tensorType(op.getInputs()[0]).getDims())
      coordinates[dim.name.str()] = Expr::name(dim.name.str());
    SmallVector<Source> sources;
    for (Value input : op.getInputs()) {
      FailureOr<Source> source = takeIn(nest, input, coordinates, {}, op);
      if (failed(source))
        return failure();
      sources.push_back(std::move(*source));
    }
    SmallVector<Type> types(op.getResultTypes());
    Region body, combine, finish;
    OpBuilder::InsertPoint here = b.saveInsertionPoint();
    Block *block = b.createBlock(&body);
    for (Value read : nest.reads)
      block->addArgument(tensorType(read).scalarType(), loc);
    SmallVector<Value> yields;
    for (const Source &source : sources)
      yields.push_back(valueOf(b, source, block->getArguments()));
    YieldOp::create(b, loc, yields);
    b.restoreInsertionPoint(here);
    cloneCombiner(op.getCombiner(), combine);
    b.restoreInsertionPoint(here);
    ComputeOp made = nest.create(types, body, combine, finish, op.getNeutral());
    // nest.compute supports empty reductions and accumulators that are wider than the result.
    results.append(made->result_begin(), made->result_end());
    return success();
  }

  LogicalResult lower(nd::ScanOp op, Results results) {
    if (scanInBlocks(*this, op, results))
      return success();
    std::string along = op.getName().str();
    SmallVector<Value> inits;
    SmallVector<Type> resultTypes, sliceTypes, carriedTypes;
    nd::Dim alongDim(op.getNameAttr(), tensorType(op.getInputs()[0]).size(along));
    for (auto [input, neutral] : llvm::zip_equal(op.getInputs(), op.getNeutral())) {
      nd::NdTensorType slice = tensorType(input).without(along);
      auto value = cast<TypedAttr>(neutral);
      nd::NdTensorType type = slice.withElementType(value.getType());
      inits.push_back(type.isStatic() ? nd::buildConstant(b, loc, type, value)
                                      : filled(b, loc, type, value));
      carriedTypes.push_back(type);
      sliceTypes.push_back(slice);
    }
    resultTypes = carriedTypes;
    resultTypes.append(op.getResultTypes().begin(), op.getResultTypes().end());
    auto loop = ScanOp::create(b, loc, resultTypes, inits, op.getInputs(),
                               nd::DimsAttr::getSorted(context(), {alongDim}), op.getReverse());
    OpBuilder::InsertPoint here = b.saveInsertionPoint();
    Block *block = b.createBlock(&loop.getBody());
    for (Type type : carriedTypes)
      block->addArgument(type, loc);
    for (Type type : sliceTypes)
      block->addArgument(type, loc);
    // The next carried tensors, computed by the combiner at every point.
    NestBuilder step(b, loc);
    step.produced = cast<nd::NdTensorType>(carriedTypes[0]).getDims();
    SmallVector<Type> elements;
    for (Value argument : block->getArguments())
      step.read(argument, MapAttr::identity(tensorType(argument)));
    for (Type type : carriedTypes)
      elements.push_back(cast<nd::NdTensorType>(type).getElementType());
    ComputeOp next =
        step.create(elements, [&](OpBuilder &builder, Location where, ValueRange read) {
          SmallVector<Value> arguments(read.take_front(carriedTypes.size()));
          for (auto [value, type] : llvm::zip_equal(read.drop_front(carriedTypes.size()), elements))
            arguments.push_back(nd::convertFloat(builder, where, value, type));
          return nd::inlineBlock(builder, op.getCombiner().front(), arguments);
        });
    SmallVector<Value> yields(next->result_begin(), next->result_end());
    for (auto [i, slice] : llvm::enumerate(sliceTypes)) {
      NestBuilder out(b, loc);
      Value from = op.getExclusive() ? Value(block->getArgument(i)) : next->getResult(i);
      auto type = cast<nd::NdTensorType>(slice).withElementType(
          tensorType(op.getResult(i)).getElementType());
      out.produced = type.getDims();
      out.read(from, MapAttr::identity(tensorType(from)));
      yields.push_back(
          out.create(
                 {type.getElementType()},
                 [&](OpBuilder &builder, Location where, ValueRange read) -> SmallVector<Value> {
                   return {nd::convertFloat(builder, where, read[0], type.scalarType())};
                 })
              .getResult(0));
    }
    YieldOp::create(b, loc, yields);
    b.restoreInsertionPoint(here);
    results.append(loop->result_begin() + carriedTypes.size(), loop->result_end());
    return success();
  }
};
} // namespace

std::optional<LogicalResult> nest::lowerArithmetic(Lowering lowering, Operation *op,
                                                   Lowering::Results results) {
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<nd::PointwiseOp, nd::RoundOp, nd::IotaOp, nd::RandomOp, nd::ReduceOp, nd::ScanOp>(
          [&](auto each) { return Arithmetic{lowering}.lower(each, results); })
      .Default([](Operation *) { return std::nullopt; });
}
