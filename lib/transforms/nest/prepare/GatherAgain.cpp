//===- GatherAgain.cpp - keeps gathered values or gathers again -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/prepare/GatherAgain.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/BlockTimes.h"
#include "lib/cost/Cost.h"
#include "lib/cost/Transfer.h"
#include "lib/transforms/nest/Rewrite.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/FormatVariadic.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// True for a transfer whose result is larger than its operand.
static bool gathers(Operation *op) {
  return isa<TransferInterface>(op) &&
         tensorBytes(op->getResults()) > tensorBytes(op->getOperands());
}

namespace {
/// A gather, copies before it with no other reader, and ops that depend only on its result, in
/// order. Also several consecutive gathers (over different names).
struct Chain {
  llvm::SetVector<Operation *> ops;
  DenseSet<Operation *> moving;   ///< gathers, and their operands
  SmallVector<Operation *> users; ///< other ops of the block, in order

  /// The first gather.
  Operation *gather() const { return *llvm::find_if(ops, gathers); }
};

/// Users of a chain that share one execution of its ops.
struct Segment {
  const Chain *chain;
  SmallVector<Operation *> users;
  double bytes = 0;   ///< gathered bytes
  double seconds = 0; ///< duration of the transfers
};

class Gathers {
public:
  Gathers(Block &block, const cost::Machine &machine, bool explain)
      : block(block), machine(machine), explain(explain),
        // Gathers start so early here that they overlap with nests. Other transfers take time.
        time(block, {.isFree = gathers}),
        mostBytes(double(std::max<int64_t>(1, time.mostBytes()))) {}

  void run() {
    findChains();
    for (auto &chain : chains)
      if (!chain->users.empty() && !chain->users.back()->hasTrait<OpTrait::IsTerminator>())
        divide(*chain);
    llvm::stable_sort(segments, [](const Segment &a, const Segment &b) {
      return a.users[0]->isBeforeInBlock(b.users[0]);
    });
    SmallVector<Operation *> starts;
    for (size_t i = 0; i < segments.size(); ++i)
      starts.push_back(startOf(i));
    for (auto [segment, start] : llvm::zip_equal(segments, starts))
      write(segment, start);
    for (auto &chain : chains)
      for (Operation *op : llvm::reverse(chain->ops))
        if (op->use_empty())
          op->erase();
  }

private:
  Block &block;
  const cost::Machine &machine;
  bool explain;
  cost::BlockTimes time;
  double mostBytes; ///< that the block holds at a time
  std::vector<std::unique_ptr<Chain>> chains;
  DenseMap<Operation *, Chain *> chainOf;
  std::vector<Segment> segments;

  Operation *makerOf(Value value) const {
    Operation *maker = value.getDefiningOp();
    return maker && maker->getBlock() == &block ? maker : nullptr;
  }

  /// The only value that a nest without a reduction reads; null for other ops.
  static Value onlyRead(Operation *op) {
    auto compute = dyn_cast<ComputeOp>(op);
    SmallVector<Value> used = kernelOperands(op);
    return compute && !compute.isReduction() && used.size() == 1 ? used[0] : Value();
  }

  void findChains() {
    for (Operation &op : block) {
      bool isGather = gathers(&op);
      Value from = isGather ? op.getOperand(0) : onlyRead(&op);
      Operation *maker = from ? makerOf(from) : nullptr;
      Chain *chain = maker ? chainOf.lookup(maker) : nullptr;
      if (!chain && isGather) {
        chain = chains.emplace_back(std::make_unique<Chain>()).get();
        SmallVector<Operation *> copies;
        for (; maker && isa<ComputeOp>(maker) && onlyMoves(cast<ComputeOp>(maker)) &&
               maker->hasOneUse();
             maker = makerOf(maker->getOperand(0)))
          copies.push_back(maker);
        for (Operation *copy : llvm::reverse(copies)) {
          chain->ops.insert(copy);
          chainOf[copy] = chain;
        }
      }
      if (chain) {
        chain->ops.insert(&op);
        chainOf[&op] = chain;
        if (isGather)
          chain->moving.insert_range(chain->ops);
        continue;
      }
      for (Value used : kernelOperands(&op))
        if (Operation *made = makerOf(used); made && chainOf.contains(made))
          if (auto &users = chainOf[made]->users; users.empty() || users.back() != &op)
            users.push_back(&op);
    }
  }

  /// The values of a chain that an op uses.
  SmallVector<Value> usedBy(Operation *user, const Chain &chain) const {
    SmallVector<Value> used = kernelOperands(user);
    return llvm::to_vector(llvm::make_filter_range(used, [&](Value value) {
      Operation *maker = makerOf(value);
      return maker && chainOf.lookup(maker) == &chain;
    }));
  }

  /// The cost of running the ops of a chain that compute `values`.
  Segment costOf(const Chain &chain, ArrayRef<Value> values) const {
    Segment cost{&chain, {}};
    DenseSet<Operation *> needed;
    for (Value value : values)
      needed.insert(value.getDefiningOp());
    for (Operation *op : llvm::reverse(chain.ops)) {
      if (!needed.contains(op))
        continue;
      if (Operation *maker = makerOf(op->getOperand(0)); maker && chain.ops.contains(maker))
        needed.insert(maker);
      if (!gathers(op)) {
        cost.seconds += cost::secondsBySizes(op, machine);
        continue;
      }
      cost.bytes += tensorBytes(op->getResults());
      cost.seconds += cost::costOfTransfer(op, machine).seconds;
    }
    return cost;
  }

  /// Starts a new segment where the next use is so far away that the chain runs again.
  void divide(const Chain &chain) {
    Value base = chain.ops[0]->getOperand(0);
    double held = isa<BlockArgument>(base) ? 0 : tensorBytes(base); // then live longer
    size_t first = segments.size();
    for (Operation *user : chain.users) {
      SmallVector<Value> used = usedBy(user, chain);
      Segment next = costOf(chain, used);
      next.users = {user};
      if (segments.size() == first) {
        segments.push_back(std::move(next));
        continue;
      }
      Segment &last = segments.back();
      double apart = cost::inSeconds(time.begin(user) - time.end(last.users.back()));
      double price = apart * (tensorBytes(used) - held) / mostBytes;
      bool again = (price > next.seconds || chain.gather()->hasAttr(recomputeAttr)) &&
                   !chain.gather()->hasAttr(materializeAttr);
      if (explain && apart > 0)
        chain.gather()->emitRemark()
            << (again ? "gathered again" : "kept") << " for a use " << text(apart)
            << " later: gathering again takes " << text(next.seconds) << ", keeping "
            << llvm::formatv("{0:f0} of {1:f0}", tensorBytes(used) - held, mostBytes).str()
            << " bytes costs " << text(price);
      if (again) {
        segments.push_back(std::move(next));
      } else {
        last.users.push_back(user);
        last.bytes = std::max(last.bytes, next.bytes);
        last.seconds = std::max(last.seconds, next.seconds);
      }
    }
  }
  static std::string text(double seconds) { return llvm::formatv("{0:f2} us", seconds * 1e6); }

  /// The op before which the gather of a segment starts: early enough for the transfer to overlap,
  /// but holding at most as many bytes ahead of earlier segments as the largest gathered value.
  Operation *startOf(size_t number) const {
    const Segment &segment = segments[number];
    Operation *use = segment.users[0], *limit = &block.front(), *start = use;
    double most = 0, ahead = segment.bytes;
    for (const Segment &each : segments)
      most = std::max(most, each.bytes);
    for (size_t i = number; i-- > 0; ahead += segments[i].bytes)
      if (ahead + segments[i].bytes > most) {
        limit = segments[i].users[0];
        break;
      }
    if (Operation *maker = makerOf(segment.chain->ops[0]->getOperand(0));
        maker && !maker->isBeforeInBlock(limit))
      limit = maker->getNextNode();
    // Adjacent transfers may share a bucket (mesh-bucket).
    auto isBetween = [](Operation *op) {
      return isa<TransferInterface>(op) && isa_and_nonnull<TransferInterface>(op->getPrevNode());
    };
    while (limit->isBeforeInBlock(start) &&
           (cost::inSeconds(time.begin(use) - time.begin(start)) < 2 * segment.seconds ||
            isBetween(start)))
      start = start->getPrevNode();
    return start;
  }

  /// Clones the chain for the users of a segment: gathers at `start`, dependent ops before their
  /// first use.
  void write(const Segment &segment, Operation *start) {
    const Chain &chain = *segment.chain;
    IRMapping values;
    OpBuilder early(start);
    std::function<void(Operation *, OpBuilder &)> make = [&](Operation *op, OpBuilder &b) {
      if (values.contains(op->getResult(0)))
        return;
      if (Operation *maker = makerOf(op->getOperand(0)); maker && chain.ops.contains(maker))
        make(maker, b);
      (chain.moving.contains(op) ? early : b).clone(*op, values);
    };
    for (Operation *user : segment.users) {
      OpBuilder late(user);
      for (Value value : usedBy(user, chain)) {
        make(value.getDefiningOp(), late);
        Value again = values.lookup(value);
        user->walk([&](Operation *inner) { inner->replaceUsesOfWith(value, again); });
      }
    }
  }
};
} // namespace

void nest::gatherAgain(func::FuncOp function, const cost::Machine &machine, bool explain) {
  auto isTransfer = [](TransferInterface) { return WalkResult::interrupt(); };
  if (!function.walk(isTransfer).wasInterrupted())
    return;
  Gathers(function.front(), machine, explain).run();
  if (!explain)
    return;
  double sent = 0;
  int64_t count = 0;
  function.walk([&](TransferInterface op) {
    sent += cost::costOfTransfer(op, machine).bytes;
    ++count;
  });
  function.emitRemark() << count << " transfers, in which a device sends "
                        << llvm::formatv("{0:f0}", sent).str() << " bytes";
}
