//===- BlockWalk.cpp - when the ops of a block run ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/BlockWalk.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Cost.h"
#include "lib/cost/Network.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

std::optional<std::pair<double, func::FuncOp>> cost::turnsOf(Operation *op) {
  auto turns = op->getAttrOfType<IntegerAttr>(turnsAttrName);
  auto loop = dyn_cast<nest::ControlOp>(op);
  if (!turns || !loop)
    return std::nullopt;
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, cast<FlatSymbolRefAttr>(loop.getFunctions()[0]));
  return std::pair(double(turns.getInt()), function);
}

class BlockWalk::Filler {
public:
  Filler(BlockWalk &result, Block &block, const WalkOptions &options)
      : walk(result.walk), taskOf(result.taskOf), block(block), options(options),
        network(Network::at(block.getParentOp())), before(options.places.devices, Walk::none) {
    for (unsigned i = 0; i < options.places.devices; ++i)
      walk.addResource(options.order); // stream i
  }

  void run() {
    for (BlockArgument argument : block.getArguments())
      if (auto device = deviceOf(argument))
        walk.keep(bufferOf[{argument, *device}] =
                      walk.addBuffer(*device, bytesOf(argument), Walk::none));
    for (Operation &op : block)
      add(&op);
  }

private:
  Walk &walk;
  DenseMap<Operation *, unsigned> &taskOf;
  Block &block;
  const WalkOptions &options;
  Network network;
  /// The values that a device has, and the tasks that bring those of others.
  DenseMap<std::pair<Value, unsigned>, unsigned> bufferOf;
  DenseMap<std::pair<StringRef, unsigned>, unsigned> linkOf; ///< resources, by axis and device
  std::vector<unsigned> before;  ///< by device: the last task of the stream
  unsigned effect = Walk::none;  ///< the last task with side effects
  unsigned ofCores = Walk::none; ///< what the cores do for the transfer that is being added

  std::optional<unsigned> deviceOf(Operation *op) const {
    return options.places.ofOp ? options.places.ofOp(op) : 0;
  }
  std::optional<unsigned> deviceOf(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return deviceOf(value.getDefiningOp());
    return options.places.ofArgument ? options.places.ofArgument(argument) : 0;
  }
  /// At most 100 TB, so that sums fit.
  static int64_t bytesOf(Value value) {
    return isa<nd::NdTensorType>(value.getType()) ? int64_t(std::min(tensorBytes(value), 1e14)) : 0;
  }

  unsigned link(StringRef axis, unsigned device) {
    auto [entry, isNew] = linkOf.try_emplace({axis, device});
    if (isNew)
      entry->second = walk.addResource(Walk::Order::FirstCome);
    return entry->second;
  }

  /// The buffer of a value on a device; sends it there if need be.
  unsigned bufferOn(unsigned device, Value value) {
    if (auto known = bufferOf.find({value, device}); known != bufferOf.end())
      return known->second;
    unsigned from = *deviceOf(value);
    mesh::Axis axis = options.places.axis.getValue();
    int64_t time = picoseconds(
        cost::costOf(Transfer{1, double(bytesOf(value))}, network.groupOf(axis)).seconds);
    unsigned message = walk.addTask(link(options.places.axis, from), time);
    walk.addUse(bufferOn(from, value), message);
    return bufferOf[{value, device}] = walk.addBuffer(device, bytesOf(value), message);
  }

  void add(Operation *op) {
    std::optional<unsigned> device = deviceOf(op);
    ofCores = Walk::none;
    unsigned task = taskOf[op] = device ? taskOn(*device, op) : walk.addTask(Walk::none, 0);
    for (Value used : nest::kernelOperands(op)) {
      if (used.getParentBlock() != &block)
        continue;
      if (device && deviceOf(used)) {
        walk.addUse(bufferOn(*device, used), task);
        if (ofCores != Walk::none)
          walk.addUse(bufferOn(*device, used), ofCores);
      } else if (Operation *maker = used.getDefiningOp()) {
        walk.addDependence(taskOf.lookup(maker), task);
      }
    }
    if (!isMemoryEffectFree(op)) {
      unsigned last = std::exchange(effect, task);
      if (last != Walk::none)
        walk.addDependence(last, task);
    }
    if (options.places.ofResult && op == block.getTerminator())
      for (auto [number, value] : llvm::enumerate(op->getOperands()))
        if (auto home = options.places.ofResult(unsigned(number)); home && deviceOf(value))
          walk.addUse(bufferOn(*home, value), task);
    for (Value result : op->getResults())
      if (device)
        bufferOf[{result, *device}] = walk.addBuffer(*device, bytesOf(result), task);
  }

  /// Adds the task of an op, on the stream of a device or on one of its links.
  unsigned taskOn(unsigned device, Operation *op) {
    bool isGiven = options.order == Walk::Order::Given;
    bool isFree = options.isFree && options.isFree(op);
    if (isTransfer(op) && !isFree) {
      unsigned resource = link(network.slowest(axesOf(op)), device);
      TransferCost cost = network.costOf(op);
      // A stream that waits anyway has time to move data.
      if (cost.ofCores > 0 && !isUsedNext(op))
        before[device] = ofCores = walk.addTask(device, picoseconds(cost.ofCores));
      double rest = cost.seconds - (ofCores == Walk::none ? 0 : cost.ofCores);
      unsigned task = walk.addTask(resource, picoseconds(std::max(rest, 0.0)));
      if ((isGiven || ofCores != Walk::none) && before[device] != Walk::none)
        walk.addDependence(before[device], task);
      return task;
    }
    return before[device] = walk.addTask(device, isFree ? 0 : picoseconds(timeOf(op)));
  }
  static bool isUsedNext(Operation *op) {
    Operation *next = op->getNextNode();
    return next && llvm::is_contained(op->getUsers(), next);
  }
  double timeOf(Operation *op) const {
    if (auto loop = turnsOf(op)) {
      WalkOptions inner;
      inner.scale = options.scale;
      inner.known = options.known;
      return loop->first * inSeconds(BlockWalk(loop->second.front(), inner).end());
    }
    if (!isa<nest::ScheduledInterface, nest::HoldsNestsInterface>(op))
      return 0;
    double seconds = options.scale * costOf(op, network.machine, 1, options.known).seconds;
    op->walk([&](nest::TransferInterface inner) {
      seconds += runsOf(inner) * network.costOf(inner).seconds;
    });
    return seconds;
  }
};

BlockWalk::BlockWalk(Block &block, const WalkOptions &options) {
  Filler(*this, block, options).run();
  [[maybe_unused]] bool isDone = walk.run();
  assert(isDone && "the ops of a block are in an order of dependence");
}
