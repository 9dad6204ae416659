//===- FormTransfers.cpp - collectives that move whole buffers ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/transfers/FormTransfers.h"

#include "dialects/nd/Combiner.h"
#include "dialects/nd/ElementTypes.h"
#include "dialects/nest/NestBuild.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::NestBuilder;
using Kind = CommunicationSpec::Kind;

static constexpr llvm::StringLiteral partName = "mesh$member"; ///< the receiver of a part
static constexpr llvm::StringLiteral fromName = "mesh$source"; ///< the source of a part

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

namespace {
struct EngineCombiner {
  CommunicationSpec::Combiner combiner;
  ElementType element;
};
} // namespace

/// The combiner and type by which an engine combines the values of a collective; none if it can't.
static std::optional<EngineCombiner> engineCombiner(Operation *op) {
  using Combiner = CommunicationSpec::Combiner;
  if (op->getNumOperands() != 1)
    return std::nullopt;
  bool isSigned = true;
  nd::CombinerKind kind = nd::combinerKind(op->getRegion(0), &isSigned);
  Type type = tensorType(op->getOperand(0)).getElementType();
  bool isTruth = type.isInteger(1); // sums are modulo 2, and a signed true is -1
  switch (kind) {
  case nd::CombinerKind::Add:
    return EngineCombiner{Combiner::Sum, *nd::elementTypeOf(type)};
  case nd::CombinerKind::Mul:
    return EngineCombiner{Combiner::Product, *nd::elementTypeOf(type)};
  case nd::CombinerKind::Max:
  case nd::CombinerKind::Min: {
    bool isMax = (kind == nd::CombinerKind::Max) != (isTruth && isSigned);
    if (isa<IntegerType>(type) && !isTruth) // engines compare by the type's signedness
      type = IntegerType::get(op->getContext(), type.getIntOrFloatBitWidth(),
                              isSigned ? IntegerType::Signless : IntegerType::Unsigned);
    return EngineCombiner{isMax ? Combiner::Max : Combiner::Min, *nd::elementTypeOf(type)};
  }
  default:
    if (!isTruth || kind == nd::CombinerKind::General)
      return std::nullopt;
    return EngineCombiner{kind == nd::CombinerKind::And  ? Combiner::Min
                          : kind == nd::CombinerKind::Or ? Combiner::Max
                                                         : Combiner::Sum,
                          ElementType::I1};
  }
}

//===----------------------------------------------------------------------===//
// Forming transfers
//===----------------------------------------------------------------------===//

namespace {
class Former {
public:
  explicit Former(CollectiveInterface op)
      : op(op), b(op), loc(op->getLoc()), axes(op.getAxes()), parts(op.getParts()) {}

  void run() {
    if (parts == 1)
      return moveNothing();
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](AllReduceOp each) { allReduce(each); })
        .Case([&](ReduceScatterOp each) { reduceScatter(each); })
        .Case([&](AllGatherOp each) { allGather(each); })
        .Case([&](AllToAllOp each) { allToAll(each); })
        .Case([&](PermuteOp each) { permute(each); })
        .Case([&](BroadcastOp each) { each.getInputMutable().assign(owned(each.getInput())); });
  }

private:
  CollectiveInterface op;
  OpBuilder b;
  Location loc;
  AxesAttr axes;
  int64_t parts;

  nd::Dim dim(StringRef name, const Expr &size) { return nd::Dim(b.getContext(), name, size); }
  StringAttr text(StringRef name) { return b.getStringAttr(name); }
  nd::DimsAttr dimsWith(Value value, ArrayRef<nd::Dim> changed) {
    return tensorType(value).getDims().replacing(changed);
  }
  Type typeWith(Value value, ArrayRef<nd::Dim> changed) {
    return tensorType(value).replacing(changed);
  }

  /// The elements of `value` at these coordinates, over `dims`; zeros where an expression is
  /// negative.
  Value read(Value value, nd::DimsAttr dims, const ExprMap &at = {},
             ArrayRef<Expr> atLeastZero = {}) {
    auto zero = nest::zeroOf(tensorType(value));
    return nest::copyAt(b, loc, value, dims, at, nest::guardOf(b.getContext(), atLeastZero, zero));
  }
  /// A copy of the value: arguments and constants have fixed layouts.
  Value owned(Value value) {
    bool isNest = isa_and_nonnull<nest::ComputeOp>(value.getDefiningOp());
    return isNest ? value : read(value, tensorType(value).getDims());
  }
  Value withUnit(Value value, StringRef name) {
    return read(value, dimsWith(value, {dim(name, Expr(1))}));
  }
  Value withoutUnit(Value value, StringRef name) {
    return read(value, tensorType(value).without(name).getDims(), {{name.str(), Expr(0)}});
  }
  /// The blocks along a name as points of `mesh$member`; zeros beyond the size.
  Value split(Value value, StringRef name) {
    Expr size = tensorType(value).size(name).getExpr(), block = blockSize(size, parts);
    Expr at = Expr::name(partName.str()) * block + Expr::name(name.str());
    SmallVector<Expr> inside;
    if (!dividesEvenly(size, parts))
      inside.push_back(size - 1 - at);
    return read(value, dimsWith(value, {dim(name, block), dim(partName, Expr(parts))}),
                {{name.str(), at}}, inside);
  }
  /// The reverse: the points of `part` as blocks along `name`, of this size.
  Value join(Value value, StringRef part, StringRef name, const Expr &size) {
    Expr block = tensorType(value).size(name).getExpr(), at = Expr::name(name.str());
    nd::NdTensorType type = tensorType(value).replacing(dim(name, size)).without(part);
    if (block.isConstant()) {
      int64_t width = std::max<int64_t>(*block.constant(), 1);
      return read(value, type.getDims(),
                  {{part.str(), at.floordiv(width)}, {name.str(), at.mod(width)}});
    }
    // Maps can't divide by a size symbol: write each block to its position.
    return nest::writeAt(b, loc, nest::zeros(b, loc, type), value,
                         {{name.str(), Expr::name(part.str()) * block + at}});
  }

  Value gather(Value unit) {
    return AllGatherOp::create(b, loc, typeWith(unit, {dim(partName, Expr(parts))}), unit,
                               text(partName), axes, ArrayAttr());
  }
  Value exchange(Value pieces) {
    Value units = withUnit(pieces, fromName);
    Type type = typeWith(units, {dim(fromName, Expr(parts)), dim(partName, Expr(1))});
    Value moved =
        AllToAllOp::create(b, loc, type, units, text(fromName), text(partName), axes, ArrayAttr());
    return withoutUnit(moved, partName);
  }
  /// Combines the values of all members, which are points of `part`.
  void combine(ArrayRef<Value> gathered, StringRef part, Region &code, ArrayAttr neutral) {
    NestBuilder nest(b, loc);
    nest.produced = tensorType(op->getResult(0)).getDims();
    nest.reduced = nd::DimsAttr::getSorted(b.getContext(), {dim(part, Expr(parts))});
    for (Value value : gathered)
      nest.read(value);
    auto elements = nest::elementTypesOf(op->getResults());
    replace(nest.createReduction(elements, code, neutral)->getResults());
  }
  void replace(ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
  }

  /// A group of one device moves nothing.
  void moveNothing() {
    auto permute = dyn_cast<PermuteOp>(*op);
    if (permute && !permute.getWrap() && permute.getShift() != 0)
      replace(nest::zeros(b, loc, tensorType(permute.getResult())));
    else
      replace(op->getOperands());
  }
  void allReduce(AllReduceOp each) {
    if (engineCombiner(each))
      return each.getInputsMutable()[0].set(owned(each.getInputs()[0]));
    auto gathered = llvm::map_to_vector(
        each.getInputs(), [&](Value input) { return gather(withUnit(input, partName)); });
    combine(gathered, partName, each.getCombine(), each.getNeutral());
  }
  void reduceScatter(ReduceScatterOp each) {
    auto pieces = llvm::map_to_vector(each.getInputs(),
                                      [&](Value input) { return split(input, each.getName()); });
    if (!engineCombiner(each)) {
      auto exchanged = llvm::map_to_vector(pieces, [&](Value piece) { return exchange(piece); });
      return combine(exchanged, fromName, each.getCombine(), each.getNeutral());
    }
    auto made =
        ReduceScatterOp::create(b, loc, typeWith(pieces[0], {dim(partName, Expr(1))}), pieces,
                                text(partName), axes, each.getNeutral(), ArrayAttr());
    made.getCombine().takeBody(each.getCombine());
    replace(withoutUnit(made.getResult(0), partName));
  }
  void allGather(AllGatherOp each) {
    Expr size = tensorType(each.getResult()).size(each.getName()).getExpr();
    replace(join(gather(withUnit(each.getInput(), partName)), partName, each.getName(), size));
  }
  void allToAll(AllToAllOp each) {
    Expr size = tensorType(each.getResult()).size(each.getJoined()).getExpr();
    replace(
        join(exchange(split(each.getInput(), each.getSplit())), fromName, each.getJoined(), size));
  }
  /// Engines send around a ring; values that wrap around the end are replaced by zeros.
  void permute(PermuteOp each) {
    each.getInputMutable().assign(owned(each.getInput()));
    if (each.getWrap())
      return;
    each.setWrap(true);
    b.setInsertionPointAfter(each);
    Expr from = partIndex(meshOf(each), axes.getAxes()) + Expr(int64_t(each.getShift()));
    nd::DimsAttr dims = tensorType(each.getResult()).getDims();
    Value inside = read(each.getResult(), dims, {}, {from, Expr(parts - 1) - from});
    each.getResult().replaceAllUsesExcept(inside, inside.getDefiningOp());
  }
};
} // namespace

void mesh::formTransfers(func::FuncOp function) {
  SmallVector<CollectiveInterface> collectives;
  function.walk([&](CollectiveInterface op) { collectives.push_back(op); });
  for (CollectiveInterface op : collectives)
    Former(op).run();
}

//===----------------------------------------------------------------------===//
// Descriptions of transfers for engines
//===----------------------------------------------------------------------===//

CommunicationSpec mesh::communicationOf(Operation *op, const Layout &layout) {
  CommunicationSpec spec;
  if (auto message = dyn_cast<MessageInterface>(op)) {
    auto type = tensorType(message.getMoved());
    spec.axes = message.getAxis().getAxes();
    spec.kind = message.sends() ? Kind::Send : Kind::Receive;
    spec.element = *nd::elementTypeOf(type.getElementType());
    spec.counts = {layout.elementsOver(type.sizeExprs())};
    (message.sends() ? spec.target : spec.source) = Expr(message.getCoordinate());
    return spec;
  }
  auto collective = cast<CollectiveInterface>(op);
  ArrayRef<Axis> axes = collective.getAxes().getAxes();
  auto type = tensorType(op->getOperand(0));
  ExprMap sizes = type.sizeExprs();
  for (StringAttr name : cast<nest::TransferInterface>(op).getOutermostNames())
    sizes[name.str()] = Expr(1);
  spec.axes = axes;
  spec.element = *nd::elementTypeOf(type.getElementType());
  spec.counts = {layout.elementsOver(sizes)}; // per member
  if (isa<AllToAllOp, PermuteOp>(op))
    spec.outputCounts = spec.counts;
  if (op->getNumRegions()) {
    EngineCombiner how = *engineCombiner(op);
    spec.combiner = how.combiner;
    spec.element = how.element;
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AllReduceOp) { spec.kind = Kind::AllReduce; })
      .Case([&](ReduceScatterOp) { spec.kind = Kind::ReduceScatter; })
      .Case([&](AllGatherOp) { spec.kind = Kind::AllGather; })
      .Case([&](AllToAllOp) { spec.kind = Kind::AllToAll; })
      .Case([&](PermuteOp each) {
        spec.kind = Kind::Permute;
        Expr self = partIndex(meshOf(op), axes), shift(int64_t(each.getShift()));
        spec.source = (self + shift).mod(collective.getParts());
        spec.target = (self - shift).mod(collective.getParts());
      })
      .Case([&](BroadcastOp each) {
        spec.kind = Kind::Broadcast;
        spec.source = Expr(int64_t(each.getRoot()));
      });
  return spec;
}
