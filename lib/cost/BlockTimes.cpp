//===- BlockTimes.cpp - when the ops of a block run -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/BlockTimes.h"

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

class BlockTimes::Filler {
public:
  Filler(BlockTimes &result, Block &block, const BlockTimesOptions &options)
      : times(result.times), taskOf(result.taskOf), block(block), options(options),
        network(Network::at(block.getParentOp())), before(options.places.devices, TaskTimes::none) {
    for (unsigned i = 0; i < options.places.devices; ++i)
      times.addResource(options.order); // stream i
  }

  void run() {
    for (BlockArgument argument : block.getArguments())
      if (auto device = deviceOf(argument))
        times.keep(bufferOf[{argument, *device}] =
                       times.addBuffer(*device, bytesOf(argument), TaskTimes::none));
    for (Operation &op : block)
      add(&op);
  }

private:
  TaskTimes &times;
  DenseMap<Operation *, unsigned> &taskOf;
  Block &block;
  const BlockTimesOptions &options;
  Network network;
  /// The values that a device has, and the tasks that bring those of others.
  DenseMap<std::pair<Value, unsigned>, unsigned> bufferOf;
  DenseMap<std::pair<StringRef, unsigned>, unsigned> linkOf; ///< resources, by axis and device
  std::vector<unsigned> before;       ///< by device: the last task of the stream
  unsigned effect = TaskTimes::none;  ///< the last task with side effects
  unsigned ofCores = TaskTimes::none; ///< what the cores do for the transfer that is being added

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
      entry->second = times.addResource(TaskTimes::Order::FirstCome);
    return entry->second;
  }

  /// The buffer of a value on a device; sends it there if need be.
  unsigned bufferOn(unsigned device, Value value) {
    if (auto known = bufferOf.find({value, device}); known != bufferOf.end())
      return known->second;
    unsigned from = *deviceOf(value);
    ArrayRef<mesh::Axis> axes = options.places.axes;
    int64_t time = picoseconds(
        cost::costOf(Transfer{1, double(bytesOf(value))}, network.groupOf(axes)).seconds);
    unsigned message = times.addTask(link(network.slowest(axes), from), time);
    times.addUse(bufferOn(from, value), message);
    return bufferOf[{value, device}] = times.addBuffer(device, bytesOf(value), message);
  }

  void add(Operation *op) {
    std::optional<unsigned> device = deviceOf(op);
    ofCores = TaskTimes::none;
    unsigned task = taskOf[op] = device ? taskOn(*device, op) : times.addTask(TaskTimes::none, 0);
    for (Value used : nest::kernelOperands(op)) {
      if (used.getParentBlock() != &block)
        continue;
      if (device && deviceOf(used)) {
        times.addUse(bufferOn(*device, used), task);
        if (ofCores != TaskTimes::none)
          times.addUse(bufferOn(*device, used), ofCores);
      } else if (Operation *maker = used.getDefiningOp()) {
        times.addDependence(taskOf.lookup(maker), task);
      }
    }
    if (!isMemoryEffectFree(op)) {
      unsigned last = std::exchange(effect, task);
      if (last != TaskTimes::none)
        times.addDependence(last, task);
    }
    if (options.places.ofResult && op == block.getTerminator())
      for (auto [number, value] : llvm::enumerate(op->getOperands()))
        if (auto home = options.places.ofResult(unsigned(number)); home && deviceOf(value))
          times.addUse(bufferOn(*home, value), task);
    for (Value result : op->getResults())
      if (device)
        bufferOf[{result, *device}] = times.addBuffer(*device, bytesOf(result), task);
  }

  /// Adds the task of an op, on the stream of a device or on one of its links.
  unsigned taskOn(unsigned device, Operation *op) {
    bool isGiven = options.order == TaskTimes::Order::Given;
    bool isFree = options.isFree && options.isFree(op);
    if (isTransfer(op) && !isFree) {
      unsigned resource = link(network.slowest(axesOf(op)), device);
      TransferCost cost = network.costOf(op);
      // A stream that waits anyway has time to move data.
      if (cost.ofCores > 0 && !isUsedNext(op))
        before[device] = ofCores = times.addTask(device, picoseconds(cost.ofCores));
      double rest = cost.seconds - (ofCores == TaskTimes::none ? 0 : cost.ofCores);
      unsigned task = times.addTask(resource, picoseconds(std::max(rest, 0.0)));
      if ((isGiven || ofCores != TaskTimes::none) && before[device] != TaskTimes::none)
        times.addDependence(before[device], task);
      return task;
    }
    return before[device] = times.addTask(device, isFree ? 0 : picoseconds(timeOf(op)));
  }
  static bool isUsedNext(Operation *op) {
    Operation *next = op->getNextNode();
    return next && llvm::is_contained(op->getUsers(), next);
  }
  double timeOf(Operation *op) const {
    if (auto loop = turnsOf(op)) {
      BlockTimesOptions inner;
      inner.secondsOf = options.secondsOf;
      inner.scale = options.scale;
      inner.known = options.known;
      return loop->first * inSeconds(BlockTimes(loop->second.front(), inner).end());
    }
    if (!isa<nest::ScheduledInterface, nest::HoldsNestsInterface>(op))
      return 0;
    std::optional<double> known = options.secondsOf ? options.secondsOf(op) : std::nullopt;
    if (!known)
      known = costOf(op, network.machine, 1, options.known).seconds;
    double seconds = options.scale * *known;
    op->walk([&](nest::TransferInterface inner) {
      seconds += runsOf(inner) * network.costOf(inner).seconds;
    });
    return seconds;
  }
};

BlockTimes::BlockTimes(Block &block, const BlockTimesOptions &options) {
  Filler(*this, block, options).run();
  [[maybe_unused]] bool isDone = times.run();
  assert(isDone && "the ops of a block are in an order of dependence");
}
