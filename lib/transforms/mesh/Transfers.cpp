//===- Transfers.cpp - collectives that move whole buffers ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Transfers.h"

#include "dialects/nd/Combiner.h"
#include "dialects/nd/ElementTypes.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::MapAttr;
using nest::NestBuilder;
using Kind = CommunicationSpec::Kind;

static constexpr llvm::StringLiteral partName = "mesh.member"; ///< that gets a part
static constexpr llvm::StringLiteral fromName = "mesh.source"; ///< that a part comes from

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

namespace {
struct EngineCombiner {
  CommunicationSpec::Combiner combiner;
  ElementType element;
};
} // namespace

/// The type in which an engine compares integers.
static ElementType withSign(ElementType element, bool isSigned) {
  using E = ElementType;
  for (auto [plain, other] :
       {std::pair(E::I8, E::UI8), {E::I16, E::UI16}, {E::I32, E::UI32}, {E::I64, E::UI64}})
    if (element == plain || element == other)
      return isSigned ? plain : other;
  return element;
}

/// The combiner and the type by which an engine combines the values of a collective; none if it can't.
static std::optional<EngineCombiner> engineCombiner(Operation *op) {
  using Combiner = CommunicationSpec::Combiner;
  if (op->getNumOperands() != 1)
    return std::nullopt;
  bool isSigned = true;
  nd::CombinerKind kind = nd::combinerKind(op->getRegion(0), &isSigned);
  ElementType element = *nd::elementTypeOf(tensorType(op->getOperand(0)).getElementType());
  bool isTruth = element == ElementType::I1; // sums are modulo 2
  switch (kind) {
  case nd::CombinerKind::Add:
    return EngineCombiner{Combiner::Sum, element};
  case nd::CombinerKind::Mul:
    return EngineCombiner{Combiner::Product, element};
  case nd::CombinerKind::Max:
  case nd::CombinerKind::Min: {
    bool isMax = kind == nd::CombinerKind::Max;
    if (isTruth && isSigned) // true is -1
      isMax = !isMax;
    return EngineCombiner{isMax ? Combiner::Max : Combiner::Min, withSign(element, isSigned)};
  }
  case nd::CombinerKind::And:
    return isTruth ? std::optional(EngineCombiner{Combiner::Min, element}) : std::nullopt;
  case nd::CombinerKind::Or:
    return isTruth ? std::optional(EngineCombiner{Combiner::Max, element}) : std::nullopt;
  case nd::CombinerKind::Xor:
    return isTruth ? std::optional(EngineCombiner{Combiner::Sum, element}) : std::nullopt;
  case nd::CombinerKind::General:
    return std::nullopt;
  }
  llvm_unreachable("all kinds are handled");
}

//===----------------------------------------------------------------------===//
// Forming transfers
//===----------------------------------------------------------------------===//

namespace {
class Former {
public:
  Former(Operation *op, MeshAttr mesh)
      : op(op), b(op), loc(op->getLoc()), axes(cast<CollectiveInterface>(op).getAxes()),
        parts(partsOf(mesh, axes.getAxes())) {}

  void run() {
    if (parts == 1)
      return alone();
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](AllReduceOp each) { allReduce(each); })
        .Case([&](ReduceScatterOp each) { reduceScatter(each); })
        .Case([&](AllGatherOp each) { allGather(each); })
        .Case([&](AllToAllOp each) { allToAll(each); })
        .Case([&](PermuteOp each) { permute(each); })
        .Case([&](BroadcastOp each) { each.getInputMutable().assign(owned(each.getInput())); });
  }

private:
  Operation *op;
  OpBuilder b;
  Location loc;
  AxesAttr axes;
  int64_t parts;

  nd::Dim dim(StringRef name, const Expr &size) { return nd::Dim(b.getContext(), name, size); }
  StringAttr text(StringRef name) { return b.getStringAttr(name); }
  /// The value's names, with these sizes of some.
  nd::DimsAttr dimsWith(Value value, ArrayRef<nd::Dim> changed) {
    return nd::DimsAttr::getSorted(b.getContext(), changed)
        .with(tensorType(value).getDims().getDims());
  }
  Type typeWith(Value value, ArrayRef<nd::Dim> changed) {
    return tensorType(value).withDims(dimsWith(value, changed).getDims());
  }

  /// The elements of `value` at these coordinates, over `dims`; zeros where an expression is
  /// negative.
  Value read(Value value, nd::DimsAttr dims, const ExprMap &at, ArrayRef<Expr> atLeastZero = {}) {
    NestBuilder nest(b, loc);
    nest.produced = dims;
    nest.readOrZero(value, MapAttr::identity(tensorType(value)).substitute(at), atLeastZero);
    return nest.createCopy();
  }
  /// The value in memory of its own: arguments and constants have the layouts that they have.
  Value owned(Value value) {
    bool isNest = isa_and_nonnull<nest::ComputeOp>(value.getDefiningOp());
    return isNest ? value : read(value, tensorType(value).getDims(), {});
  }
  Value withUnit(Value value, StringRef name) {
    return read(value, dimsWith(value, {dim(name, Expr(1))}), {});
  }
  Value withoutUnit(Value value, StringRef name) {
    nd::DimsAttr dims = tensorType(value).getDims();
    return read(value, dims.where([&](const nd::Dim &each) { return each.name != name; }),
                {{name.str(), Expr(0)}});
  }
  /// The blocks along a name as points of `mesh.member`; zeros beyond the size.
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
    nd::DimsAttr dims = dimsWith(value, {dim(name, size)}).where([&](const nd::Dim &each) {
      return each.name != part;
    });
    if (block.isConstant()) {
      int64_t width = std::max<int64_t>(*block.constant(), 1);
      return read(value, dims, {{part.str(), at.floordiv(width)}, {name.str(), at.mod(width)}});
    }
    // A size symbol is no divisor: each block is written to its place.
    nd::NdTensorType type = tensorType(value).withDims(dims.getDims());
    Value dest = nest::zeros(b, loc, type);
    NestBuilder nest(b, loc);
    nest.produced = tensorType(value).getDims();
    nest.read(value, MapAttr::identity(tensorType(value)));
    Expr to = Expr::name(part.str()) * block + at;
    return nest.createWrite(dest, MapAttr::identity(type).substitute({{name.str(), to}}));
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
      nest.read(value, MapAttr::identity(tensorType(value)));
    auto elements = nest::elementTypesOf(op->getResults());
    replace(nest.createReduction(elements, code, neutral)->getResults());
  }
  void replace(ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
  }

  /// A group of one device moves nothing.
  void alone() {
    auto permute = dyn_cast<PermuteOp>(op);
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
  /// Engines move the values of a ring; what comes around the end is replaced by zeros.
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

void mesh::formTransfers(func::FuncOp function, MeshAttr mesh) {
  SmallVector<Operation *> collectives;
  function.walk([&](CollectiveInterface op) { collectives.push_back(op); });
  for (Operation *op : collectives)
    Former(op, mesh).run();
}

//===----------------------------------------------------------------------===//
// Descriptions of transfers for engines
//===----------------------------------------------------------------------===//

MeshSpec mesh::specOf(MeshAttr mesh) {
  MeshSpec spec;
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
    spec.axes.emplace_back(name.str(), size);
  return spec;
}

std::vector<std::string> mesh::spelled(ArrayRef<Axis> axes) {
  std::vector<std::string> names;
  for (const Axis &axis : axes)
    names.push_back(str(axis));
  return names;
}

/// A message between two roles.
static CommunicationSpec messageOf(Operation *op, const Layout &layout) {
  auto send = dyn_cast<SendOp>(op);
  auto type = tensorType(send ? send.getInput() : op->getResult(0));
  CommunicationSpec spec;
  spec.kind = send ? Kind::Send : Kind::Receive;
  spec.element = *nd::elementTypeOf(type.getElementType());
  spec.counts = {layout.elementsOver(type.sizeExprs())};
  if (send) {
    spec.axes = spelled(send.getAxis().getAxes());
    spec.target = Expr(int64_t(send.getCoordinate()));
  } else {
    auto receive = cast<ReceiveOp>(op);
    spec.axes = spelled(receive.getAxis().getAxes());
    spec.source = Expr(int64_t(receive.getCoordinate()));
  }
  return spec;
}

CommunicationSpec mesh::communicationOf(Operation *op, MeshAttr mesh, const Layout &layout) {
  if (isa<SendOp, ReceiveOp>(op))
    return messageOf(op, layout);
  ArrayRef<Axis> axes = cast<CollectiveInterface>(op).getAxes().getAxes();
  int64_t parts = partsOf(mesh, axes);
  auto type = tensorType(op->getOperand(0));
  ExprMap sizes = type.sizeExprs();
  for (StringAttr name : cast<nest::TransferInterface>(op).getOutermostNames())
    sizes[name.str()] = Expr(1);
  Expr part = layout.elementsOver(sizes); // of each member
  CommunicationSpec spec;
  spec.axes = spelled(axes);
  spec.element = *nd::elementTypeOf(type.getElementType());
  auto is = [&](Kind kind, bool hasOutput = false) {
    spec.kind = kind;
    spec.counts = {part};
    if (hasOutput)
      spec.outputCounts = {part};
  };
  if (op->getNumRegions()) {
    EngineCombiner how = *engineCombiner(op);
    spec.combiner = how.combiner;
    spec.element = how.element;
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AllReduceOp) { is(Kind::AllReduce); })
      .Case([&](ReduceScatterOp) { is(Kind::ReduceScatter); })
      .Case([&](AllGatherOp) { is(Kind::AllGather); })
      .Case([&](AllToAllOp) { is(Kind::AllToAll, /*hasOutput=*/true); })
      .Case([&](PermuteOp each) {
        is(Kind::Permute, /*hasOutput=*/true);
        Expr self = partIndex(mesh, axes), shift(int64_t(each.getShift()));
        spec.source = (self + shift).mod(parts);
        spec.target = (self - shift).mod(parts);
      })
      .Case([&](BroadcastOp each) {
        is(Kind::Broadcast);
        spec.source = Expr(int64_t(each.getRoot()));
      });
  return spec;
}
