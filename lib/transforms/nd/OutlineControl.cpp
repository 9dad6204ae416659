//===- OutlineControl.cpp - branches and loops between functions ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/Nest.h"
#include "lib/transforms/nd/ControlFlow.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

#include <set>

namespace heddle::nd {
#define GEN_PASS_DEF_NDOUTLINECONTROLPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {
/// Outlines the regions of one branch or loop into functions.
class ControlOutliner {
public:
  explicit ControlOutliner(Operation *op)
      : op(op), loc(op->getLoc()), builder(op), parent(op->getParentOfType<func::FuncOp>()),
        last(parent) {}

  LogicalResult run() {
    for (Type type : op->getResultTypes())
      if (failed(expectTensors(op, type)))
        return failure();
    // Each region reads the scalars of control flow from their tensors again, and clones literals.
    for (Region &region : op->getRegions()) {
      llvm::SetVector<Value> used;
      getUsedValuesDefinedAbove(region, used);
      for (Value value : used)
        if (Operation *made = value.getDefiningOp();
            isa_and_nonnull<LiteralInterface>(made) || !isa<NdTensorType>(value.getType())) {
          builder.setInsertionPointToStart(&region.front());
          if (failed(expectScalar(op, value)))
            return failure();
          replaceAllUsesInRegionWith(value, builder.clone(*made)->getResult(0), region);
        }
    }
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(op->getRegions(), used);
    captured.assign(used.begin(), used.end());
    builder.setInsertionPoint(op);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return outline(branch);
    return outline(cast<scf::WhileOp>(op));
  }

private:
  Operation *op;
  Location loc;
  OpBuilder builder;
  func::FuncOp parent;
  Operation *last; ///< the last function that was created
  SmallVector<Value> captured;

  /// Creates a private function with parameters for `arguments`, and adds these to `mapping`.
  func::FuncOp start(StringRef name, ValueRange arguments, TypeRange results, IRMapping &mapping) {
    auto function =
        func::FuncOp::create(loc, (parent.getName() + "." + name).str(),
                             FunctionType::get(op->getContext(), arguments.getTypes(), results));
    function.setPrivate();
    if (Attribute names = parent->getAttr("heddle.names"))
      function->setAttr("heddle.names", names);
    // Symbols that no argument determines are the caller's.
    llvm::StringSet<> sizes = nd::sizeSymbols(op);
    std::set<StringRef> sorted(sizes.keys().begin(), sizes.keys().end());
    SmallVector<StringRef> symbols(sorted.begin(), sorted.end());
    if (!symbols.empty())
      function->setAttr(nd::symbolsAttrName, builder.getStrArrayAttr(symbols));
    SymbolTable(parent->getParentOp()).insert(function, std::next(last->getIterator()));
    last = function;
    Block *block = function.addEntryBlock();
    setArgAttrs(function, "nd.layout", [&](unsigned) { return builder.getStringAttr("any"); });
    mapping.map(arguments, block->getArguments());
    builder.setInsertionPointToEnd(block);
    return function;
  }
  /// Clones the ops of `block`; returns the values to which `mapping` maps `values`.
  SmallVector<Value> clone(Block &block, ValueRange values, IRMapping &mapping) {
    inlineBlock(builder, block, mapping);
    return llvm::map_to_vector(values, [&](Value value) { return mapping.lookupOrDefault(value); });
  }
  void replace(ArrayRef<Attribute> functions, ValueRange operands, TypeRange types,
               llvm::function_ref<SmallVector<Value>(ValueRange)> results) {
    builder.setInsertionPoint(op);
    auto control = nest::ControlOp::create(builder, loc, types, builder.getArrayAttr(functions),
                                           operands, ArrayAttr());
    op->replaceAllUsesWith(results(control.getResults()));
    op->erase();
  }

  LogicalResult outline(scf::IfOp branch) {
    Value condition = tensorOfScalar(builder, op, branch.getCondition());
    if (!condition)
      return failure();
    SmallVector<Attribute> functions;
    for (auto [region, name] :
         {std::pair(&branch.getThenRegion(), "then"), std::pair(&branch.getElseRegion(), "else")}) {
      IRMapping mapping;
      functions.push_back(
          FlatSymbolRefAttr::get(start(name, captured, op->getResultTypes(), mapping)));
      Block &block = region->front();
      func::ReturnOp::create(builder, loc,
                             clone(block, block.getTerminator()->getOperands(), mapping));
    }
    SmallVector<Value> operands{condition};
    llvm::append_range(operands, captured);
    replace(functions, operands, op->getResultTypes(),
            [](ValueRange results) { return SmallVector<Value>(results); });
    return success();
  }

  /// Builds the condition and the values that the loop passes to its body, from the carried values.
  FailureOr<SmallVector<Value>> step(scf::WhileOp loop, ValueRange carried, IRMapping &mapping) {
    mapping.map(loop.getBeforeArguments(), carried);
    scf::ConditionOp end = loop.getConditionOp();
    clone(*loop.getBeforeBody(), {}, mapping);
    Value condition = tensorOfScalar(builder, op, mapping.lookupOrDefault(end.getCondition()));
    if (!condition)
      return failure();
    SmallVector<Value> state{condition};
    for (Value value : end.getArgs())
      state.push_back(mapping.lookupOrDefault(value));
    return state;
  }

  LogicalResult outline(scf::WhileOp loop) {
    IRMapping first, mapping;
    FailureOr<SmallVector<Value>> state = step(loop, loop.getInits(), first);
    if (failed(state))
      return failure();
    // A carried value that steps do not change becomes a captured one.
    SmallVector<Value> passed(state->begin() + 1, state->end());
    auto isKept = [&](unsigned i) {
      auto argument = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[i]);
      return argument && argument.getOwner() == loop.getBeforeBody() &&
             loop.getYieldOp().getOperand(argument.getArgNumber()) == loop.getAfterArguments()[i];
    };
    SmallVector<unsigned> carried, kept;
    for (unsigned i = 0; i < passed.size(); ++i)
      (isKept(i) ? kept : carried).push_back(i);
    SmallVector<Value> operands{state->front()};
    for (unsigned i : carried)
      operands.push_back(passed[i]);
    SmallVector<Type> types(ValueRange(operands).getTypes());
    SmallVector<Value> constant;
    for (unsigned i : kept)
      constant.push_back(passed[i]);
    // A value may occur several times as an operand; each has its own argument.
    size_t firstCaptured = operands.size();
    llvm::append_range(operands, constant);
    llvm::append_range(operands, captured);
    func::FuncOp function = start("loop", operands, types, mapping);
    ValueRange arguments = function.getArguments();
    for (auto [value, argument] :
         llvm::zip_equal(captured, arguments.drop_front(firstCaptured + constant.size())))
      mapping.map(value, argument);
    for (auto [k, i] : llvm::enumerate(carried))
      mapping.map(loop.getAfterArguments()[i], arguments[1 + k]);
    for (auto [k, i] : llvm::enumerate(kept))
      mapping.map(loop.getAfterArguments()[i], arguments[firstCaptured + k]);
    setArgAttrs(function, "heddle.donate", [&](unsigned i) {
      return i < types.size() ? builder.getI64IntegerAttr(i) : Attribute();
    });
    SmallVector<Value> after =
        clone(*loop.getAfterBody(), loop.getYieldOp().getOperands(), mapping);
    FailureOr<SmallVector<Value>> next = step(loop, after, mapping);
    if (failed(next))
      return failure();
    SmallVector<Value> yielded{next->front()};
    for (unsigned i : carried)
      yielded.push_back((*next)[1 + i]);
    func::ReturnOp::create(builder, loc, yielded);
    replace(FlatSymbolRefAttr::get(function), operands, types, [&](ValueRange results) {
      SmallVector<Value> all(passed);
      for (auto [k, i] : llvm::enumerate(carried))
        all[i] = results[1 + k];
      return all;
    });
    return success();
  }
};
} // namespace

/// Replaces the remaining `scf.if` and `scf.while` ops of `module` by `nest.control` and functions.
static LogicalResult outlineControl(ModuleOp module) {
  SmallVector<Operation *> ops; // inner ones last: outer ones are copied with them
  auto find = [&] {
    ops.clear();
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<scf::IfOp, scf::WhileOp>(op))
        return WalkResult::advance();
      ops.push_back(op);
      return WalkResult::skip();
    });
    return !ops.empty();
  };
  while (find())
    for (Operation *op : ops) {
      if (!isa<func::FuncOp>(op->getParentOp()))
        return op->emitOpError()
               << "cannot be inside of '" << op->getParentOp()->getName()
               << "'; run nd-expand-control-flow, which converts the scan to a loop";
      if (failed(ControlOutliner(op).run()))
        return failure();
    }
  for (auto function : module.getOps<func::FuncOp>())
    eraseDeadScalarsIn(function);
  return success();
}

namespace {
struct NdOutlineControlPass : nd::impl::NdOutlineControlPassBase<NdOutlineControlPass> {
  void runOnOperation() override {
    if (failed(outlineControl(getOperation())))
      signalPassFailure();
  }
};
} // namespace
