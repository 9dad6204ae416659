//===- Partition.cpp - the program of one device --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/Partition.h"

#include "dialects/nd/FunctionAttrs.h"
#include "lib/transforms/mesh/partition/PartialSums.h"
#include "lib/transforms/mesh/partition/Partitioner.h"
#include "lib/transforms/mesh/partition/ScanPipeline.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

/// Drops names whose axes overlap `busy`.
static Sharding without(Sharding sharding, MeshAttr mesh, ArrayRef<Axis> busy) {
  std::erase_if(sharding, [&](const auto &entry) { return overlap(mesh, entry.second, busy); });
  return sharding;
}

Sharding Partitioner::wantedFor(Operation *op) {
  return without(shardingOf(op->getAttr(shardingAttrName)), mesh, busy);
}

DenseSet<Operation *> mesh::functionsOfControl(ModuleOp module) {
  DenseSet<Operation *> functions;
  module.walk([&](nest::ControlOp op) {
    for (auto name : op.getFunctions().getAsRange<FlatSymbolRefAttr>())
      functions.insert(module.lookupSymbol(name));
  });
  return functions;
}

bool mesh::isPartitioned(func::FuncOp function) {
  MeshAttr mesh = meshOf(function);
  llvm::StringSet<> symbols = nd::sizeSymbols(function);
  return mesh && (function->hasAttr(roleAttrName) ||
                  llvm::any_of(mesh.getSpec().axes, [&](const auto &axis) {
                    return symbols.contains(axisSymbol(axis.first));
                  }));
}

/// If axes split the name of the recurrence, each device has a block of its steps (ScanPipeline.h).
/// Devices then run different steps, so collectives within it can't use these axes.
LogicalResult Partitioner::scan(nest::ScanOp op) {
  std::string along = op.getAlong().begin()->name.str();
  auto carried = op->getAttrOfType<ArrayAttr>(carriedAttrName);
  Location loc = op.getLoc();
  LocalSpace space(mesh, {op.getAlong()}, wantedFor(op));
  Sharding steps = space.sharding(op.getAlong());
  size_t outer = busy.size();
  llvm::append_range(busy, space.axes(along));
  SmallVector<std::pair<Value, LocalValue>> captured;
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op.getBody(), used);
  for (Value value : used) {
    captured.emplace_back(value, local(value));
    locals[value] = moved(value, without(local(value).sharding, mesh, busy), loc);
  }
  SmallVector<Value> inits, reads;
  Region body;
  Block &from = op.getBody().front();
  auto *block = new Block();
  body.push_back(block);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    bool isRead = i >= op.getInits().size();
    BlockArgument argument = from.getArgument(unsigned(i));
    Sharding to = without(carried ? shardingOf(carried[i]) : Sharding(), mesh, busy), held = to;
    if (isRead)
      held.insert(steps.begin(), steps.end());
    (isRead ? reads : inits).push_back(moved(operand, held, loc).value);
    define(argument, block->addArgument(blockType(mesh, tensorType(argument), to), loc), to);
  }
  SmallVector<Sharding> ends;
  SmallVector<Type> types;
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToEnd(block);
    if (failed(convert(from)))
      return failure();
    SmallVector<Value> yields;
    for (auto [i, value] : llvm::enumerate(from.getTerminator()->getOperands())) {
      LocalValue end =
          i < inits.size() ? moved(value, local(from.getArgument(i)).sharding, loc) : local(value);
      if (i >= inits.size())
        end.sharding.insert(steps.begin(), steps.end());
      ends.push_back(end.sharding);
      yields.push_back(end.value);
      types.push_back(blockType(mesh, tensorType(op.getResult(i)), end.sharding));
    }
    nest::YieldOp::create(b, from.getTerminator()->getLoc(), yields);
  }
  auto made = nest::ScanOp::create(b, loc, types, inits, reads, space.local(op.getAlong()),
                                   op.getReverse());
  made.getBody().takeBody(body);
  inherit(made, op);
  SmallVector<Value> results(made.getResults());
  reduceAfterSums(made.getBody().front());
  reduceAfterScan(made, mesh, results);
  if (partsOf(mesh, space.axes(along)) > 1)
    pipelineScan(made, space, results);
  busy.resize(outer);
  for (auto &[value, before] : captured)
    locals[value] = before;
  for (auto [result, value, sharding] : llvm::zip_equal(op.getResults(), results, ends))
    define(result, value, sharding);
  return success();
}

void Partitioner::sort(nest::SortOp op) {
  Sharding lines = wantedFor(op);
  lines.erase(op.getAlong().begin()->name.str());
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  for (Value input : op.getInputs())
    inputs.push_back(moved(input, lines, op.getLoc()).value);
  for (Value result : op.getResults())
    types.push_back(blockType(mesh, tensorType(result), lines));
  auto made = nest::SortOp::create(b, op.getLoc(), types, inputs, op.getAlong(), op.getDescending(),
                                   ArrayAttr(), nest::ScheduleAttr());
  inherit(made, op);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), made.getResults()))
    define(result, value, lines);
}

void Partitioner::passOn(Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, local(operand).value);
  LocalValue value = local(op->getOperand(0));
  Value made = b.clone(*op, mapping)->getResult(0);
  made.setType(value.value.getType());
  define(op->getResult(0), made, value.sharding);
}

/// Any other op runs on every device, on whole tensors.
LogicalResult Partitioner::whole(Operation *op) {
  llvm::SetVector<Value> used = usesOf(op), all = used;
  all.insert(op->result_begin(), op->result_end());
  for (Value each : all)
    if (!isa<nd::NdTensorType>(each.getType()))
      return op->emitOpError() << "can't be split over a mesh: expected tensors, got "
                               << each.getType();
  IRMapping mapping;
  for (Value each : used)
    mapping.map(each, moved(each, {}, op->getLoc()).value);
  Operation *made = b.clone(*op, mapping);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), made->getResults()))
    define(result, value, {});
  return success();
}

LogicalResult Partitioner::convert(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](nest::ComputeOp each) { return compute(each), success(); })
      .Case([&](nest::UpdateOp each) { return update(each), success(); })
      .Case([&](nest::ScanOp each) { return scan(each); })
      .Case([&](nest::SortOp each) { return sort(each), success(); })
      .Case([&](ConstrainOp each) {
        Sharding to = without(each.getSharding().getSharding(), mesh, busy);
        locals[each.getResult()] = moved(each.getInput(), to, each.getLoc());
        return success();
      })
      .Default([&](Operation *other) -> LogicalResult {
        if (passesOn(other))
          return passOn(other), success();
        if (isa<CollectiveInterface>(other))
          return other->emitOpError()
                 << "is a collective in a program that is not partitioned; a partitioned one lists "
                    "its coordinates, mesh.AXIS, in heddle.symbols";
        return whole(other);
      });
}

LogicalResult Partitioner::convert(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(convert(&op)))
      return failure();
  return success();
}

/// Loops that were formed for an op with a place have the place instead.
static void hoistPlaces(Block &block) {
  for (Operation &op : block)
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        if (Attribute place = inner->removeAttr(placeAttrName))
          op.setAttr(placeAttrName, place);
      });
}

LogicalResult Partitioner::run(func::FuncOp function) {
  Block &from = function.front();
  auto *block = new Block();
  function.getBody().push_back(block);
  SmallVector<Attribute> wholeArguments, wholeResults, shardings;
  for (auto [i, argument] : llvm::enumerate(from.getArguments())) {
    Sharding sharding = shardingOf(function.getArgAttr(unsigned(i), shardingAttrName));
    Type type = blockType(mesh, tensorType(argument), sharding);
    wholeArguments.push_back(TypeAttr::get(argument.getType()));
    define(argument, block->addArgument(type, argument.getLoc()), sharding);
  }
  b.setInsertionPointToEnd(block);
  if (failed(convert(from)))
    return failure();
  SmallVector<Value> returned;
  for (auto [i, value] : llvm::enumerate(from.getTerminator()->getOperands())) {
    auto stated = function.getResultAttrOfType<ShardingAttr>(unsigned(i), shardingAttrName);
    LocalValue result = stated ? moved(value, stated.getSharding(), value.getLoc()) : local(value);
    returned.push_back(result.value);
    wholeResults.push_back(TypeAttr::get(value.getType()));
    shardings.push_back(ShardingAttr::get(b.getContext(), result.sharding));
  }
  func::ReturnOp::create(b, from.getTerminator()->getLoc(), returned);
  reduceAfterSums(*block);
  hoistPlaces(*block);
  from.dropAllReferences();
  from.erase();
  nd::retype(function);
  nd::setArgAttrs(function, globalAttrName, [&](unsigned i) { return wholeArguments[i]; });
  nd::setResultAttrs(function, globalAttrName, [&](unsigned i) { return wholeResults[i]; });
  nd::setResultAttrs(function, shardingAttrName, [&](unsigned i) { return shardings[i]; });
  return success();
}

/// Declares the device coordinates as symbols of the function, with their ranges.
static void addSymbols(func::FuncOp function, MeshAttr mesh) {
  Builder b(function.getContext());
  SmallVector<Attribute> symbols(nd::listedSymbols(function));
  NamedAttrList ranges(function->getAttrOfType<DictionaryAttr>(nd::rangesAttrName));
  for (const auto &[name, size] : mesh.getSpec().axes) {
    std::string symbol = axisSymbol(name);
    symbols.push_back(b.getStringAttr(symbol));
    ranges.set(symbol, b.getI64ArrayAttr({0, size - 1}));
  }
  nd::listSymbols(function, symbols);
  function->setAttr(nd::rangesAttrName, ranges.getDictionary(b.getContext()));
  function->setAttr(meshAttrName, mesh);
}

LogicalResult mesh::partition(func::FuncOp function, MeshAttr mesh, double leastRing) {
  if (failed(Partitioner(mesh, function.getContext(), leastRing).run(function)))
    return failure();
  addSymbols(function, mesh);
  return success();
}
