//===- LiftOverDevices.cpp - one program for all devices ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/LiftOverDevices.h"

#include "dialects/nd/FunctionAttrs.h"
#include "lib/transforms/mesh/partition/LocalSpace.h"
#include "lib/transforms/mesh/partition/Reshard.h"
#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::MapAttr;
using nest::MapEntry;

namespace {
class Lifter {
public:
  Lifter(func::FuncOp function, MeshAttr mesh)
      : function(function), mesh(mesh), b(function.getContext()) {
    for (const auto &[name, size] : mesh.getSpec().axes)
      devices.emplace_back(b.getContext(), axisSymbol(name), Expr(size));
  }

  LogicalResult run();

private:
  func::FuncOp function;
  MeshAttr mesh;
  OpBuilder b;
  SmallVector<nd::Dim> devices; ///< mesh axes as names, with their sizes
  IRMapping lifted;

  Type liftedType(Type type) { return cast<nd::NdTensorType>(type).with(devices); }
  SmallVector<Value> valuesOf(ValueRange range) {
    return llvm::map_to_vector(range, [&](Value value) { return lifted.lookup(value); });
  }
  nd::DimsAttr liftedDims(nd::DimsAttr dims) { return dims.with(devices); }

  Value cut(Value whole, nd::NdTensorType local, const Sharding &sharding);
  Value join(Value value, nd::NdTensorType whole, const Sharding &sharding);
  /// The value of the last device, without the names of the axes.
  Value ofLast(Value value);

  LogicalResult lift(Block &block);
  LogicalResult lift(Operation *op);
  void liftNest(nest::LoopNestInterface op);
  LogicalResult liftHolder(nest::HoldsNestsInterface op);
  MapAttr liftMap(MapAttr map, Value operand);
  Operation *changed(Operation *op);
};
} // namespace

/// An element that makes misuse visible: NaN, or all bits set.
static TypedAttr undefinedElement(Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat::getNaN(real.getFloatSemantics()));
  return IntegerAttr::get(type, APInt::getAllOnes(type.getIntOrFloatBitWidth()));
}

Value Lifter::cut(Value whole, nd::NdTensorType local, const Sharding &sharding) {
  nd::NdTensorType type = tensorType(whole);
  LocalSpace space(mesh, {type.getDims()}, sharding);
  return nest::copyAt(
      b, whole.getLoc(), whole, liftedDims(local.getDims()), space.globals(),
      nest::guardOf(b.getContext(), space.inside(), undefinedElement(type.scalarType())));
}

Value Lifter::ofLast(Value value) {
  ExprMap last;
  for (const nd::Dim &dim : devices)
    last[dim.name.str()] = dim.size().getExpr() - 1;
  return nest::copyAt(b, value.getLoc(), value,
                      tensorType(value).getDims().where(
                          [&](const nd::Dim &dim) { return !last.contains(dim.name.str()); }),
                      last);
}

/// Joins the blocks of all devices; of replicated blocks it takes the last.
Value Lifter::join(Value value, nd::NdTensorType whole, const Sharding &sharding) {
  if (sharding.empty())
    return ofLast(value);
  Value dest = nest::zeros(b, value.getLoc(), whole);
  nest::NestBuilder nest(b, value.getLoc());
  SmallVector<nd::Dim> space(blockType(mesh, whole, sharding).getDims().getDims());
  ExprMap from, to;
  for (const nd::Dim &dim : devices)
    from[dim.name.str()] = dim.size().getExpr() - 1;
  for (const auto &[name, axes] : sharding) {
    std::string part = "mesh$part." + name;
    int64_t parts = partsOf(mesh, axes);
    space.emplace_back(b.getContext(), part, Expr(parts));
    to[name] = Expr::name(part) * blockSize(whole.size(name).getExpr(), parts) + Expr::name(name);
    for (const auto &[symbol, coordinate] : partCoordinates(mesh, axes, Expr::name(part)))
      from[symbol] = coordinate.substitute({{symbol, from[symbol]}});
  }
  nest.produced = nd::DimsAttr::getSorted(b.getContext(), space);
  nest.read(value, MapAttr::identity(tensorType(value)).substitute(from));
  return nest.createWrite(dest, MapAttr::identity(whole).substitute(to));
}

MapAttr Lifter::liftMap(MapAttr map, Value operand) {
  SmallVector<MapEntry> entries(map.getEntries());
  for (const nd::Dim &dim : tensorType(operand).getDims())
    if (!map.lookup(dim.name))
      entries.emplace_back(b.getContext(), dim.name.getValue(), Expr::name(dim.name.str()));
  return MapAttr::getSorted(b.getContext(), entries);
}

/// Adds the axes to the names of results, and removes user-written layouts and schedules, which
/// refer to the original names.
Operation *Lifter::changed(Operation *op) {
  for (const char *name : {"layouts", "schedule", "copies", skippedAttrName.data()})
    op->removeAttr(name);
  for (Value result : op->getResults())
    result.setType(liftedType(result.getType()));
  return op;
}

void Lifter::liftNest(nest::LoopNestInterface op) {
  Operation *made = changed(b.clone(*op, lifted));
  auto nest = cast<nest::LoopNestInterface>(made);
  SmallVector<Attribute> maps;
  for (auto [map, operand] : llvm::zip_equal(nest.getMapsAttr(), nest.getMappedReads()))
    maps.push_back(liftMap(cast<MapAttr>(map), operand));
  nest.setMapsAttr(b.getArrayAttr(maps));
  if (auto update = dyn_cast<nest::UpdateOp>(made)) {
    update.setSpaceAttr(liftedDims(update.getSpace()));
    update.setDestMapAttr(liftMap(update.getDestMap(), update.getDest()));
  } else {
    auto compute = cast<nest::ComputeOp>(made);
    compute.setProducedAttr(liftedDims(compute.getProduced()));
  }
}

/// Lifts the nests in the region of a recurrence or a group.
LogicalResult Lifter::liftHolder(nest::HoldsNestsInterface op) {
  Operation *made = changed(b.cloneWithoutRegions(*op, lifted));
  OpBuilder::InsertionGuard restore(b);
  Block *block = b.createBlock(&made->getRegion(0));
  Block &from = op->getRegion(0).front();
  for (BlockArgument argument : from.getArguments())
    lifted.map(argument, block->addArgument(liftedType(argument.getType()), argument.getLoc()));
  if (failed(lift(from)))
    return failure();
  nest::YieldOp::create(b, op->getLoc(), valuesOf(from.getTerminator()->getOperands()));
  return success();
}

LogicalResult Lifter::lift(Operation *op) {
  if (auto nest = dyn_cast<nest::LoopNestInterface>(op))
    return liftNest(nest), success();
  if (auto holder = dyn_cast<nest::HoldsNestsInterface>(op))
    return liftHolder(holder);
  if (auto collective = dyn_cast<CollectiveInterface>(op)) {
    auto results = collective.buildMeaning(b, mesh, valuesOf(op->getOperands()));
    return lifted.map(op->getResults(), ValueRange(results)), success();
  }
  if (isa<nest::SortOp>(op) || passesOn(op))
    return changed(b.clone(*op, lifted)), success();
  if (isa<MessageInterface>(op) ||
      (isa<nd::NdDialect>(op->getDialect()) && op->getNumOperands() > 0))
    return op->emitOpError() << "can't be simulated: expected nests and collectives of one role";
  // Every other op runs on whole tensors, which are equal on all devices.
  IRMapping last;
  for (Value used : usesOf(op))
    last.map(used, ofLast(lifted.lookup(used)));
  Operation *made = b.clone(*op, last);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), made->getResults()))
    lifted.map(result,
               nest::copyAt(b, value.getLoc(), value, liftedDims(tensorType(value).getDims())));
  return success();
}

LogicalResult Lifter::lift(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lift(&op)))
      return failure();
  return success();
}

LogicalResult Lifter::run() {
  Block &from = function.front();
  SmallVector<TypeAttr> wholes; // of arguments, then of results
  unsigned count = function.getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    wholes.push_back(function.getArgAttrOfType<TypeAttr>(i, globalAttrName));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    wholes.push_back(function.getResultAttrOfType<TypeAttr>(i, globalAttrName));
  for (auto [i, whole] : llvm::enumerate(wholes))
    if (!whole)
      return function.emitError() << "expected '" << globalAttrName << "' of each argument and "
                                  << "result, got none of " << (i < count ? "argument " : "result ")
                                  << (i < count ? i : i - count);
  auto *block = new Block();
  function.getBody().push_back(block);
  b.setInsertionPointToEnd(block);
  for (auto [i, argument] : llvm::enumerate(from.getArguments()))
    lifted.map(argument, cut(block->addArgument(wholes[i].getValue(), argument.getLoc()),
                             tensorType(argument),
                             shardingOf(function.getArgAttr(unsigned(i), shardingAttrName))));
  if (failed(lift(from)))
    return failure();
  SmallVector<Value> returned;
  for (auto [i, value] : llvm::enumerate(from.getTerminator()->getOperands()))
    returned.push_back(join(lifted.lookup(value),
                            cast<nd::NdTensorType>(wholes[count + i].getValue()),
                            shardingOf(function.getResultAttr(unsigned(i), shardingAttrName))));
  func::ReturnOp::create(b, from.getTerminator()->getLoc(), returned);
  from.dropAllReferences();
  from.erase();
  nd::retype(function);
  return success();
}

/// Removes the attributes that `partition` wrote.
static void removeAttributes(func::FuncOp function) {
  NamedAttrList ranges(function->getAttrOfType<DictionaryAttr>(nd::rangesAttrName));
  SmallVector<Attribute> symbols(nd::listedSymbols(function));
  llvm::erase_if(symbols, [&](Attribute each) {
    auto symbol = cast<StringAttr>(each);
    bool isCoordinate = symbol.strref().starts_with(axisSymbol(""));
    if (isCoordinate)
      ranges.erase(symbol);
    return isCoordinate;
  });
  nd::listSymbols(function, symbols);
  for (StringRef name : {StringRef(meshAttrName), StringRef(nd::rangesAttrName)})
    function->removeAttr(name);
  if (!ranges.empty())
    function->setAttr(nd::rangesAttrName, ranges.getDictionary(function.getContext()));
  for (StringRef name : {StringRef(globalAttrName), StringRef(shardingAttrName)}) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, name);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.removeResultAttr(i, StringAttr::get(function.getContext(), name));
  }
}

LogicalResult mesh::liftOverDevices(func::FuncOp function) {
  MeshAttr mesh = meshOf(function);
  if (failed(Lifter(function, mesh).run()))
    return failure();
  removeAttributes(function);
  return success();
}
