//===- LayoutValues.cpp - values that get layouts -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutValues.h"

#include "dialects/nd/NdInference.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/Rewrite.h"

#include "llvm/ADT/IntEqClasses.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
class ValueFinder {
public:
  explicit ValueFinder(func::FuncOp function) : function(function) {}

  FailureOr<LayoutValues> find() {
    if (failed(findValues()))
      return failure();
    joinValues();
    function.walk([&](TransferInterface transfer) {
      made.outermost[made.index.lookup(transfer->getResult(0))] = transfer.getOutermostNames();
    });
    for (LaidValue &value : made.values)
      if (failed(fixLayout(value)))
        return failure();
    return std::move(made);
  }

private:
  func::FuncOp function;
  LayoutValues made;
  llvm::DenseMap<Value, Layout> written;
  llvm::DenseSet<Value> rowMajor; ///< values without a choice

  void addValue(Value value, const std::string &name) {
    if (!isa<nd::NdTensorType>(value.getType()))
      return;
    made.index[value] = unsigned(made.values.size());
    made.values.push_back({{value}, name, false, {}, {}});
  }

  LogicalResult findValues() {
    if (failed(checkLayouts(function)))
      return failure();
    for (BlockArgument argument : function.getArguments()) {
      unsigned number = argument.getArgNumber();
      auto name = function.getArgAttrOfType<StringAttr>(number, nd::nameAttrName);
      addValue(argument, name ? name.str() : "argument " + std::to_string(number));
      Attribute layout = function.getArgAttr(number, "nd.layout");
      if (!isa<nd::NdTensorType>(argument.getType()))
        continue;
      if (auto fixed = dyn_cast_or_null<LayoutAttr>(layout))
        written.try_emplace(argument, fixed.getLayout());
      else if (isSortedArgument(argument))
        rowMajor.insert(argument);
    }
    bool fits = true;
    function.front().walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto laid = dyn_cast<LaidOutInterface>(op);
      for (OpResult result : op->getResults()) {
        if (!isa<nd::NdTensorType>(result.getType()))
          continue;
        addValue(result, labelOf(op));
        if (LayoutAttr fixed = laid ? laid.layout(result.getResultNumber()) : LayoutAttr()) {
          written.try_emplace(result, fixed.getLayout());
          fits &= succeeded(checkLayout(result.getLoc(), fixed.getLayout(),
                                        "a result of '" + op->getName().getStringRef() + "'",
                                        result.getType()));
        }
        bool free = isa<ComputeOp, UpdateOp, TransferInterface>(op) ||
                    (isa<GroupOp, nd::ConstantOp>(op) && op->getBlock() == &function.front());
        if (!free)
          rowMajor.insert(result);
      }
    });
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    for (OpOperand &operand : end->getOpOperands())
      if (auto fixed =
              function.getResultAttrOfType<LayoutAttr>(operand.getOperandNumber(), "nd.layout"))
        if (made.index.count(operand.get()) && !isa<BlockArgument>(operand.get()))
          written.try_emplace(operand.get(), fixed.getLayout());
    return success(fits);
  }

  /// Joins values that must share one layout.
  void joinValues() {
    llvm::IntEqClasses classes(unsigned(made.values.size()));
    auto join = [&](Value a, Value b) {
      auto x = made.index.find(a), y = made.index.find(b);
      if (x != made.index.end() && y != made.index.end() && a.getType() == b.getType())
        classes.join(x->second, y->second);
    };
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    for (BlockArgument argument : function.getArguments()) {
      auto donate =
          function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "heddle.donate");
      auto number = donate ? donate.getValue().trySExtValue() : std::nullopt;
      if (number && *number >= 0 && *number < int64_t(end.getNumOperands()))
        join(argument, end.getOperand(unsigned(*number)));
    }
    function.walk([&](UpdateOp update) { join(update.getDest(), update.getResult()); });
    function.walk([&](TransferInterface transfer) {
      for (auto [operand, result] :
           llvm::zip_equal(transfer->getOperands(), transfer->getResults()))
        classes.join(made.index.lookup(operand), made.index.lookup(result));
    });

    classes.compress(); // classes are numbered in the order of their first values
    std::vector<LaidValue> joined(classes.getNumClasses());
    for (auto [v, value] : llvm::enumerate(made.values)) {
      LaidValue &laid = joined[classes[unsigned(v)]];
      made.index[value.values[0]] = classes[unsigned(v)];
      if (laid.values.empty())
        laid = value;
      else
        laid.values.push_back(value.values[0]);
    }
    made.values = std::move(joined);
  }

  /// Makes a written or row-major layout the only candidate.
  LogicalResult fixLayout(LaidValue &laid) {
    Value before;
    for (Value value : laid.values)
      if (auto found = written.find(value); found != written.end()) {
        if (laid.fixed && laid.candidates[0] != found->second) {
          auto error = emitError(value.getLoc())
                       << "'" << laid.name << "' is updated in place, so its layout can't be "
                       << laid.candidates[0].str() << " before and " << found->second.str()
                       << " after";
          error.attachNote(before.getLoc())
              << "its layout is " << laid.candidates[0].str() << " here";
          return error;
        }
        laid.fixed = true;
        before = value;
        laid.candidates = {found->second};
      }
    for (Value value : laid.values)
      if (!laid.fixed && rowMajor.count(value)) {
        laid.fixed = true;
        laid.candidates = {sortedLayout(value)};
      }
    return success();
  }

  /// Returns the row-major layout over the sorted names: for arguments the users' names, since
  /// callers rely on it; for other values the neutral names, so that no choice depends on spelling.
  Layout sortedLayout(Value value) {
    nd::NdTensorType type = tensorType(value);
    return isa<BlockArgument>(value) ? nest::sortedLayout(function, type)
                                     : nest::sortedLayout(type);
  }
};
} // namespace

FailureOr<LayoutValues> nest::findLayoutValues(func::FuncOp function) {
  return ValueFinder(function).find();
}
