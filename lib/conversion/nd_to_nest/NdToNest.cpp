//===- NdToNest.cpp - lowers nd ops to loop nests -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"
#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

namespace heddle {
#define GEN_PASS_DEF_CONVERTNDTONESTPASS
#include "lib/conversion/nd_to_nest/Passes.h.inc"
} // namespace heddle

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {

/// Rewrites the body of a function. Fails with a located message for an op without a lowering.
class Converter {
public:
  explicit Converter(func::FuncOp function) : function(function), b(function.getContext()) {}

  LogicalResult convert() { return convert(function.front()); }

private:
  LogicalResult convert(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (auto scan = dyn_cast<ScanOp>(op)) {
        Block &body = scan.getBody().front();
        if (failed(convert(body)))
          return failure();
        for (auto constant : llvm::make_early_inc_range(body.getOps<nd::LiteralInterface>()))
          constant->moveBefore(scan);
      }
      if (op.getName().getDialectNamespace() != "nd" || isa<nd::LiteralInterface, nd::AfterOp>(op))
        continue;
      if (isa<nd::ItemOp, nd::FromItemOp>(op))
        return op.emitOpError() << "cannot be compiled: expected nd and nest ops, scf.if, scf.for "
                                   "and scf.while on tensors";
      b.setInsertionPoint(&op);
      loc = op.getLoc();
      SmallVector<Value> results;
      if (failed(convertOp(&op, results)))
        return failure();
      if (results.empty())
        continue; // fused into its users
      for (Value result : results)
        if (Operation *made = result.getDefiningOp(); made && !made->hasAttr("heddle.name")) {
          made->setAttr("heddle.name", b.getStringAttr(op.getName().stripDialect()));
          // Copy the op's user attributes to its nest.
          for (NamedAttribute attribute : op.getDiscardableAttrs())
            if (attribute.getName().getValue().starts_with("heddle.") ||
                attribute.getName() == "group")
              made->setAttr(attribute.getName(), attribute.getValue());
        }
      op.replaceAllUsesWith(results);
      op.erase();
    }
    // Erase ops that were fused into reductions.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (!isTakenIn(&op))
        continue;
      if (!op.use_empty())
        return refuseExcluded(&op);
      op.erase();
    }
    return success();
  }

  func::FuncOp function;
  OpBuilder b;
  Location loc = UnknownLoc::get(function.getContext());

  MLIRContext *context() { return b.getContext(); }

  /// True for an nd op that is not lowered itself: a window that excludes elements, or an op
  /// computed from one. Only the reduction that reads it can exclude points, so it is fused into
  /// that.
  static bool isTakenIn(Operation *op) {
    return op && op->getName().getDialectNamespace() == "nd" &&
           !isa<nd::LiteralInterface, nd::AfterOp>(op);
  }
  static bool readsExcluded(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [](Value value) { return isTakenIn(value.getDefiningOp()); });
  }
  static LogicalResult refuseExcluded(Operation *op) {
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

  /// The name that the result of a window has and its operand lacks.
  static std::string newName(Operation *op) {
    nd::NdTensorType input = tensorType(op->getOperand(0));
    for (const nd::Dim &dim : tensorType(op->getResult(0)).getDims())
      if (!input.has(dim.name))
        return dim.name.str();
    llvm_unreachable("a window has a tap");
  }

  /// Builds a nest that copies: result[p] = input[map(p)], guarded.
  Value copy(Value input, nd::NdTensorType result, const nd::IndexMap &map) {
    NestBuilder nest(b, loc);
    nest.produced = result.getDims();
    nest.read(input, mapOf(tensorType(input), map.coordinates),
              GuardAttr::get(context(), conditionsOf(map), map.outside));
    return nest.createCopy();
  }

  MapAttr mapOf(nd::NdTensorType type, const ExprMap &coordinates) {
    SmallVector<MapEntry> entries;
    for (const nd::Dim &dim : type.getDims()) {
      auto found = coordinates.find(dim.name.getValue().str());
      entries.emplace_back(context(), dim.name.getValue(),
                           found == coordinates.end() ? Expr::name(dim.name.str()) : found->second);
    }
    return MapAttr::getSorted(context(), entries);
  }

  SmallVector<Condition> conditionsOf(const nd::IndexMap &map) {
    return llvm::map_to_vector(map.conditions, [&](const nd::IndexMap::Condition &condition) {
      return Condition(context(), condition.expr, condition.isEquality);
    });
  }

  Condition atLeast(const Expr &a, const Expr &c) { return Condition(context(), a - c); }

  static Expr sizeOf(Value value, StringRef name) { return tensorType(value).size(name).getExpr(); }

  LogicalResult convertOp(Operation *op, SmallVectorImpl<Value> &results) {
    std::optional<nd::IndexMap> map = nd::indexMapOf(op);
    bool passesOn = map ? !map->outside : isa<nd::PointwiseOp>(op);
    if ((map && map->excludes()) || (passesOn && readsExcluded(op)))
      return success(); // fused into the reduction that reads it
    if (map) {
      results.push_back(copy(op->getOperand(0), tensorType(op->getResult(0)), *map));
      return success();
    }
    if (auto each = dyn_cast<nd::PointwiseOp>(op))
      return pointwise(each, results);
    if (auto each = dyn_cast<nd::ReduceOp>(op))
      return reduce(each, results);
    if (auto each = dyn_cast<nd::ScanOp>(op))
      return scan(each, results);
    if (auto each = dyn_cast<nd::RoundOp>(op))
      return round(each, results);
    if (auto each = dyn_cast<nd::IotaOp>(op))
      return iota(each, results);
    if (auto each = dyn_cast<nd::RandomOp>(op))
      return random(each, results);
    if (auto each = dyn_cast<nd::UnwindowOp>(op))
      return unwindow(each, results);
    if (auto each = dyn_cast<nd::GatherOp>(op))
      return gather(each, results);
    if (auto each = dyn_cast<nd::ScatterOp>(op))
      return scatter(each, results);
    if (auto each = dyn_cast<nd::ConcatOp>(op))
      return concat(each, results);
    if (auto each = dyn_cast<nd::DynamicSliceOp>(op))
      return dynamicSlice(each, results);
    if (auto each = dyn_cast<nd::UpdateSliceOp>(op))
      return updateSlice(each, results);
    if (auto each = dyn_cast<nd::SortOp>(op)) {
      auto along = *llvm::find_if(tensorType(each.getInputs()[0]).getDims(),
                                  [&](const nd::Dim &dim) { return dim.name == each.getName(); });
      auto sorted = SortOp::create(b, loc, op->getResultTypes(), each.getInputs(),
                                   nd::DimsAttr::getSorted(context(), {along}),
                                   each.getDescending(), ArrayAttr(), ScheduleAttr());
      results.append(sorted->result_begin(), sorted->result_end());
      return success();
    }
    if (auto merge = dyn_cast<nd::MergeOp>(op)) {
      results.push_back(writeMerged(merge));
      return success();
    }
    return op->emitOpError() << "has no lowering to nests; expand calls and gradients first";
  }

  /// Clones scalar code, with nest.yield as its terminator.
  void cloneCombiner(Region &from, Region &to) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&to);
    for (BlockArgument argument : from.front().getArguments())
      block->addArgument(argument.getType(), argument.getLoc());
    YieldOp::create(b, loc, nd::inlineBlock(b, from.front(), block->getArguments()));
  }

  LogicalResult pointwise(nd::PointwiseOp op, SmallVectorImpl<Value> &results) {
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

  LogicalResult reduce(nd::ReduceOp op, SmallVectorImpl<Value> &results) {
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

  LogicalResult scan(nd::ScanOp op, SmallVectorImpl<Value> &results) {
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

  LogicalResult round(nd::RoundOp op, SmallVectorImpl<Value> &results) {
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

  Value indexAs(OpBuilder &builder, Location where, StringRef name, Type type) {
    Value index =
        IndexOp::create(builder, where, builder.getIndexType(), builder.getStringAttr(name));
    Value wide = arith::IndexCastOp::create(builder, where, builder.getI64Type(), index);
    if (isa<FloatType>(type))
      return arith::SIToFPOp::create(builder, where, type, wide);
    unsigned width = type.getIntOrFloatBitWidth();
    if (width < 64)
      return arith::TruncIOp::create(builder, where, nd::signless(type), wide);
    return wide;
  }

  LogicalResult iota(nd::IotaOp op, SmallVectorImpl<Value> &results) {
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

  LogicalResult random(nd::RandomOp op, SmallVectorImpl<Value> &results) {
    NestBuilder nest(b, loc);
    auto type = tensorType(op.getResult());
    nest.produced = type.getDims();
    nest.read(op.getKey(), MapAttr::identity(tensorType(op.getKey())));
    results.push_back(
        nest.create({type.getElementType()},
                    [&](OpBuilder &builder, Location where, ValueRange read) -> SmallVector<Value> {
                      return {philox(builder, where, op, read[0])};
                    })
            .getResult(0));
    return success();
  }

  /// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, SC'11): element p is word
  /// p mod 4 for counter p floordiv 4.
  Value philox(OpBuilder &builder, Location where, nd::RandomOp op, Value key) {
    Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
    auto literal = [&](uint64_t n, unsigned width) -> Value {
      return arith::ConstantOp::create(
          builder, where, builder.getIntegerAttr(builder.getIntegerType(width), APInt(width, n)));
    };
    auto low = [&](Value v) -> Value { return arith::TruncIOp::create(builder, where, i32, v); };
    auto high = [&](Value v) -> Value {
      return low(arith::ShRUIOp::create(builder, where, v, literal(32, 64)));
    };
    Value position = literal(0, 64);
    for (auto name : op.getOrder().getAsValueRange<StringAttr>()) {
      Expr size = sizeOf(op.getResult(), name);
      Value count = size.isConstant() ? literal(uint64_t(*size.constant()), 64)
                                      : Value(arith::IndexCastOp::create(
                                            builder, where, i64, emitIndex(builder, where, size)));
      position = arith::AddIOp::create(builder, where,
                                       arith::MulIOp::create(builder, where, position, count),
                                       indexAs(builder, where, name, i64));
    }
    Value counter = arith::ShRUIOp::create(builder, where, position, literal(2, 64));
    Value word = low(arith::AndIOp::create(builder, where, position, literal(3, 64)));
    Value x[4] = {low(counter), high(counter), literal(0, 32), literal(0, 32)};
    Value k[2] = {low(key), high(key)};
    for (int round = 0; round < 10; ++round) {
      auto product = [&](uint64_t factor, Value v) -> Value {
        return arith::MulIOp::create(builder, where, literal(factor, 64),
                                     arith::ExtUIOp::create(builder, where, i64, v));
      };
      Value p0 = product(0xD2511F53u, x[0]), p1 = product(0xCD9E8D57u, x[2]);
      auto mix = [&](Value a, Value c, Value key) -> Value {
        return arith::XOrIOp::create(builder, where, arith::XOrIOp::create(builder, where, a, c),
                                     key);
      };
      Value next[4] = {mix(high(p1), x[1], k[0]), low(p1), mix(high(p0), x[3], k[1]), low(p0)};
      std::copy(next, next + 4, x);
      k[0] = arith::AddIOp::create(builder, where, k[0], literal(0x9E3779B9u, 32));
      k[1] = arith::AddIOp::create(builder, where, k[1], literal(0xBB67AE85u, 32));
    }
    Value result = x[3];
    for (int i = 2; i >= 0; --i) {
      Value is = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::eq, word,
                                       literal(uint64_t(i), 32));
      result = arith::SelectOp::create(builder, where, is, x[i], result);
    }
    return result;
  }

  /// Element r is tap k of window o where o * stride + k * dilation - low = r. With dilation 1 the
  /// tap is known modulo the stride: k = stride * q + (r + low) mod stride and o = (r + low)
  /// floordiv stride - q, for each q.
  LogicalResult unwindow(nd::UnwindowOp op, SmallVectorImpl<Value> &results) {
    nd::WindowShape shape = nd::windowShape(op);
    std::string name = shape.name.str(), tap = shape.tap.str();
    auto type = tensorType(op.getResult());
    Expr windows = sizeOf(op.getInput(), name);
    if (windows == Expr(0) || type.elements() == 0) {
      results.push_back(zeros(b, loc, type));
      return success();
    }
    Expr moved = Expr::name(name) + Expr(shape.low);
    NestBuilder nest(b, loc);
    nest.produced = type.getDims();
    Expr window, tapCoordinate;
    SmallVector<Condition> conditions;
    if (shape.dilation == 1) {
      int64_t quotients = (shape.size + shape.stride - 1) / shape.stride;
      Expr q = quotients > 1 ? Expr::name(tap) : Expr(0);
      window = moved.floordiv(shape.stride) - q;
      tapCoordinate = Expr(shape.stride) * q + moved.mod(shape.stride);
      if (quotients > 1)
        nest.reduced =
            nd::DimsAttr::getSorted(context(), {nd::Dim(context(), tap, Expr(quotients))});
      conditions.push_back(atLeast(Expr(shape.size - 1), tapCoordinate));
    } else {
      Expr rest = moved - Expr(shape.dilation) * Expr::name(tap);
      window = rest.floordiv(shape.stride);
      tapCoordinate = Expr::name(tap);
      nest.reduced =
          nd::DimsAttr::getSorted(context(), {nd::Dim(context(), tap, Expr(shape.size))});
      if (shape.stride > 1)
        conditions.emplace_back(context(), rest.mod(shape.stride), /*equality=*/true);
    }
    conditions.push_back(atLeast(window, Expr(0)));
    conditions.push_back(atLeast(windows - Expr(1), window));
    MapAttr map = mapOf(tensorType(op.getInput()), {{name, window}, {tap, tapCoordinate}});
    GuardAttr guard = GuardAttr::get(context(), conditions, zeroOf(type));
    nest.read(op.getInput(), map, guard);
    Ranges ranges;
    for (nd::DimsAttr dims : {nest.produced, nest.reduced})
      for (const nd::Dim &dim : dims)
        ranges[dim.name.str()] = {0, std::max<int64_t>(0, dim.size().most() - 1)};
    nest.maps[0] = simplifyMap(map, ranges);
    nest.guards[0] = simplifyGuard(guard, ranges);
    ComputeOp made = nest.create(
        {type.getElementType()},
        [](OpBuilder &, Location, ValueRange read) { return SmallVector<Value>(read); },
        nd::CombinerKind::Add);
    results.push_back(made.getResult(0));
    return success();
  }

  LogicalResult gather(nd::GatherOp op, SmallVectorImpl<Value> &results) {
    NestBuilder nest(b, loc);
    auto type = tensorType(op.getResult());
    bool isEmpty =
        llvm::any_of(type.getDims(), [](const nd::Dim &dim) { return dim.size().constant() == 0; });
    if (tensorType(op.getInput()).elements() == 0 && !isEmpty)
      return nd::operandError(op)
             << "gathers from " << nd::namesText(tensorType(op.getInput()).getDims())
             << ", which has no elements; expected at least one, or no coordinates, got "
             << nd::namesText(type.getDims());
    nest.produced = type.getDims();
    ExprMap coordinates;
    for (auto [index, name] :
         llvm::zip_equal(op.getIndices(), op.getNames().getAsValueRange<StringAttr>())) {
      unsigned position = nest.read(index, MapAttr::identity(tensorType(index)));
      coordinates[name.str()] = Expr::name("@" + std::to_string(position));
    }
    nest.read(op.getInput(), mapOf(tensorType(op.getInput()), coordinates));
    results.push_back(nest.createCopy());
    return success();
  }

  /// Coordinate `name` of a range that starts at read 0, clamped so that the range is in bounds.
  static Expr clampedCoordinate(StringRef name, const Expr &whole, const Expr &size) {
    return Expr::max(Expr::min(Expr::name(readName(0)), whole - size), Expr(0)) +
           Expr::name(name.str());
  }

  LogicalResult dynamicSlice(nd::DynamicSliceOp op, SmallVectorImpl<Value> &results) {
    NestBuilder nest(b, loc);
    auto type = tensorType(op.getInput());
    nest.produced = tensorType(op.getResult()).getDims();
    nest.read(op.getStart(), MapAttr::identity(tensorType(op.getStart())));
    Expr coordinate =
        clampedCoordinate(op.getName(), type.size(op.getName()).getExpr(), op.getSize().getExpr());
    nest.read(op.getInput(), mapOf(type, {{op.getName().str(), coordinate}}));
    results.push_back(nest.createCopy());
    return success();
  }

  LogicalResult updateSlice(nd::UpdateSliceOp op, SmallVectorImpl<Value> &results) {
    NestBuilder nest(b, loc);
    auto type = tensorType(op.getDestination()), part = tensorType(op.getPart());
    nest.produced = part.getDims();
    nest.read(op.getStart(), MapAttr::identity(tensorType(op.getStart())));
    nest.read(op.getPart(), MapAttr::identity(part));
    Expr coordinate = clampedCoordinate(op.getName(), type.size(op.getName()).getExpr(),
                                        part.size(op.getName()).getExpr());
    results.push_back(
        nest.createWrite(op.getDestination(), mapOf(type, {{op.getName().str(), coordinate}})));
    return success();
  }

  LogicalResult scatter(nd::ScatterOp op, SmallVectorImpl<Value> &results) {
    SmallVector<Value> reads(op.getIndices());
    reads.push_back(op.getUpdates());
    SmallVector<Attribute> maps, guards;
    for (Value read : reads) {
      maps.push_back(MapAttr::identity(tensorType(read)));
      guards.push_back(GuardAttr::get(context(), {}, TypedAttr()));
    }
    ExprMap coordinates;
    for (auto [i, name] : llvm::enumerate(op.getNames().getAsValueRange<StringAttr>()))
      coordinates[name.str()] = Expr::name("@" + std::to_string(i));
    auto update = UpdateOp::create(b, loc, op.getResult().getType(), op.getDestination(), reads,
                                   tensorType(op.getUpdates()).getDims(),
                                   mapOf(tensorType(op.getDestination()), coordinates),
                                   b.getArrayAttr(maps), b.getArrayAttr(guards), op.getUnique(),
                                   ArrayAttr(), ScheduleAttr(), ArrayAttr());
    OpBuilder::InsertPoint here = b.saveInsertionPoint();
    Block *body = b.createBlock(&update.getBody());
    for (Value read : reads)
      body->addArgument(tensorType(read).scalarType(), loc);
    YieldOp::create(b, loc, ValueRange{body->getArguments().back()});
    b.restoreInsertionPoint(here);
    cloneCombiner(op.getCombiner(), update.getCombine());
    b.restoreInsertionPoint(here);
    results.push_back(update.getResult());
    return success();
  }

  /// Merges names of symbolic sizes by an update that writes each element to its coordinate, since
  /// a read would have to divide by a symbol.
  Value writeMerged(nd::MergeOp op) {
    auto type = tensorType(op.getResult()), input = tensorType(op.getInput());
    Expr coordinate;
    for (StringRef name : op.getNames().getAsValueRange<StringAttr>())
      coordinate = coordinate * sizeOf(op.getInput(), name) + Expr::name(name.str());
    auto update = UpdateOp::create(b, loc, type, zeros(b, loc, type), ValueRange{op.getInput()},
                                   input.getDims(), mapOf(type, {{op.getInto().str(), coordinate}}),
                                   b.getArrayAttr({MapAttr::identity(input)}),
                                   b.getArrayAttr({GuardAttr::get(context(), {}, TypedAttr())}),
                                   /*unique=*/true, ArrayAttr(), ScheduleAttr(), ArrayAttr());
    OpBuilder::InsertionGuard guard(b);
    Type element = type.scalarType();
    Block *body = b.createBlock(&update.getBody());
    YieldOp::create(b, loc, ValueRange{body->addArgument(element, loc)});
    Block *combine = b.createBlock(&update.getCombine());
    combine->addArgument(element, loc);
    YieldOp::create(b, loc, ValueRange{combine->addArgument(element, loc)});
    return update.getResult();
  }

  /// Each point reads every part under a guard; more than `most` parts are joined in several steps.
  LogicalResult concat(nd::ConcatOp op, SmallVectorImpl<Value> &results) {
    constexpr size_t most = 48;
    auto type = tensorType(op.getResult());
    SmallVector<Value> parts(op.getInputs()), joined;
    for (; parts.size() > most; parts = std::exchange(joined, {})) {
      size_t groups = llvm::divideCeil(parts.size(), most);
      for (size_t i = 0; i < groups; ++i) {
        size_t first = parts.size() * i / groups;
        auto some = ArrayRef(parts).slice(first, parts.size() * (i + 1) / groups - first);
        Expr size;
        for (Value part : some)
          size = size + sizeOf(part, op.getName());
        SmallVector<nd::Dim> dims;
        for (const nd::Dim &dim : type.getDims())
          dims.emplace_back(context(), dim.name.getValue(),
                            dim.name == op.getName() ? size : dim.size().getExpr());
        joined.push_back(join(some, op.getName().str(), type.withDims(dims)));
      }
    }
    results.push_back(join(parts, op.getName().str(), type));
    return success();
  }
  Value join(ArrayRef<Value> parts, const std::string &name, nd::NdTensorType type) {
    NestBuilder nest(b, loc);
    nest.produced = type.getDims();
    SmallVector<Expr> starts;
    Expr start;
    for (Value input : parts) {
      Expr size = sizeOf(input, name), coordinate = Expr::name(name) - start;
      if (size != Expr(0)) {
        nest.readOrZero(input, mapOf(tensorType(input), {{name, coordinate}}),
                        {coordinate, size - Expr(1) - coordinate});
        starts.push_back(start);
      }
      start = start + size;
    }
    if (starts.empty())
      return zeros(b, loc, type);
    return nest
        .create(
            {type.getElementType()},
            [&](OpBuilder &builder, Location where, ValueRange read) -> SmallVector<Value> {
              Value result = read[0];
              Value index = indexAs(builder, where, name, builder.getI64Type());
              for (size_t i = 1; i < read.size(); ++i) {
                Value bound =
                    starts[i].isConstant()
                        ? Value(arith::ConstantIntOp::create(builder, where, *starts[i].constant(),
                                                             64))
                        : Value(arith::IndexCastOp::create(builder, where, builder.getI64Type(),
                                                           emitIndex(builder, where, starts[i])));
                Value is =
                    arith::CmpIOp::create(builder, where, arith::CmpIPredicate::sge, index, bound);
                result = arith::SelectOp::create(builder, where, is, read[i], result);
              }
              return {result};
            })
        .getResult(0);
  }
};

struct ConvertNdToNestPass : heddle::impl::ConvertNdToNestPassBase<ConvertNdToNestPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal() && failed(Converter(getOperation()).convert()))
      signalPassFailure();
  }
};
} // namespace
