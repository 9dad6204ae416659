//===- Access.cpp - windows added up, gather, scatter, sort, join ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdInference.h"
#include "lib/conversion/nd_to_nest/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
struct Access : Lowering {
  /// Element r is tap k of window o where o * stride + k * dilation - low = r. With dilation 1 the
  /// tap is known modulo the stride: k = stride * q + (r + low) mod stride and o = (r + low)
  /// floordiv stride - q, for each q.
  LogicalResult lower(nd::UnwindowOp op, Results results) {
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

  LogicalResult lower(nd::GatherOp op, Results results) {
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

  LogicalResult lower(nd::DynamicSliceOp op, Results results) {
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

  LogicalResult lower(nd::UpdateSliceOp op, Results results) {
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

  LogicalResult lower(nd::ScatterOp op, Results results) {
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
  LogicalResult lower(nd::MergeOp op, Results results) {
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
    results.push_back(update.getResult());
    return success();
  }

  /// Each point reads every part under a guard; more than `most` parts are joined in several steps.
  LogicalResult lower(nd::ConcatOp op, Results results) {
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

  LogicalResult lower(nd::SortOp op, Results results) {
    auto along = *llvm::find_if(tensorType(op.getInputs()[0]).getDims(),
                                [&](const nd::Dim &dim) { return dim.name == op.getName(); });
    auto sorted = SortOp::create(b, loc, op->getResultTypes(), op.getInputs(),
                                 nd::DimsAttr::getSorted(context(), {along}), op.getDescending(),
                                 ArrayAttr(), ScheduleAttr());
    results.append(sorted->result_begin(), sorted->result_end());
    return success();
  }
};
} // namespace

std::optional<LogicalResult> nest::lowerAccess(Lowering lowering, Operation *op,
                                               Lowering::Results results) {
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<nd::UnwindowOp, nd::GatherOp, nd::DynamicSliceOp, nd::UpdateSliceOp, nd::ScatterOp,
            nd::MergeOp, nd::ConcatOp, nd::SortOp>(
          [&](auto each) { return Access{lowering}.lower(each, results); })
      .Default([](Operation *) { return std::nullopt; });
}
