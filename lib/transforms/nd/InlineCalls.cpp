//===- InlineCalls.cpp - inlines calls, with lifting ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/InlineCalls.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"
#include "lib/analysis/Nesting.h"
#include "lib/transforms/nd/ControlFlow.h"
#include "lib/transforms/nd/Lift.h"
#include "lib/transforms/nd/Passes.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDINLINECALLSPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

FailureOr<func::FuncOp> nd::definedCallee(Operation *op, FlatSymbolRefAttr symbol,
                                          SymbolTableCollection *functions) {
  auto callee = functions ? functions->lookupNearestSymbolFrom<func::FuncOp>(op, symbol)
                          : SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
  if (callee && !callee.isDeclaration() && llvm::hasSingleElement(callee.getBody()))
    return callee;
  InFlightDiagnostic error = op->emitOpError();
  error << "expected '@" << symbol.getValue() << "' to be a function with a body of one block, got "
        << (!callee                  ? "none of that name"
            : callee.isDeclaration() ? "one without a body"
                                     : "several blocks; write branches and loops as scf ops");
  if (callee)
    error.attachNote(callee.getLoc()) << "'@" << symbol.getValue() << "' is this function";
  return error;
}

FlatSymbolRefAttr nd::calleeOf(Operation *op) {
  auto named = dyn_cast<CalleeInterface>(op);
  return named ? named.getCalleeAttr() : FlatSymbolRefAttr();
}

/// Reports a recursion; `chain`: the calls that lead to it.
static InFlightDiagnostic recursionError(Operation *call, func::FuncOp callee,
                                         ArrayRef<func::FuncOp> chain) {
  InFlightDiagnostic error = call->emitOpError();
  error << "is recursive: '@" << callee.getName()
        << "' calls itself; use nest.scan, scf.for or scf.while instead";
  auto inCircle = chain.drop_until([&](func::FuncOp each) { return each == callee; });
  for (func::FuncOp function : inCircle.take_front(4))
    noteDefinition(error, function);
  return error;
}

/// The region depth of `function` including its callees, whose `depths` are known.
static FailureOr<unsigned> requireDepth(func::FuncOp function, const SymbolTable &table,
                                        const DenseMap<Operation *, unsigned> &depths) {
  auto [op, depth] = deepestOp(function, [&](Operation *op) {
    FlatSymbolRefAttr callee = calleeOf(op);
    return callee ? depths.lookup(table.lookup(callee.getValue())) : 0;
  });
  if (depth <= deepestRegion)
    return depth;
  return LogicalResult(op->emitOpError()
                       << "expected at most " << deepestRegion << " regions inside each other, got "
                       << depth
                       << (calleeOf(op) ? ", with those of the functions that it calls" : ""));
}

FailureOr<SmallVector<func::FuncOp>> nd::calleesFirst(ModuleOp module) {
  SymbolTable table(module);
  DenseMap<Operation *, unsigned> depths;
  /// A function in a chain of calls, with the calls in it that were not visited yet, in reverse
  /// order.
  struct Frame {
    func::FuncOp function;
    SmallVector<std::pair<Operation *, func::FuncOp>> calls;
  };
  SmallVector<func::FuncOp> order;
  llvm::DenseSet<Operation *> done, active;
  SmallVector<Frame> open; // no recursion: chains of calls may be long
  auto enter = [&](func::FuncOp function) {
    if (!done.insert(function).second)
      return;
    active.insert(function);
    Frame &frame = open.emplace_back();
    frame.function = function;
    function.walk([&](Operation *op) {
      auto add = [&](FlatSymbolRefAttr symbol, Operation *call) {
        if (auto callee = symbol ? table.lookup<func::FuncOp>(symbol.getValue()) : func::FuncOp())
          frame.calls.emplace_back(call, callee);
      };
      add(calleeOf(op), op);
      if (auto call = dyn_cast<CallOp>(op))
        add(call.getGradientAttr(), nullptr); // may call the function whose gradient it is
    });
    std::reverse(frame.calls.begin(), frame.calls.end());
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (enter(function); !open.empty();) {
      Frame &frame = open.back();
      if (frame.calls.empty()) {
        active.erase(frame.function);
        order.push_back(frame.function);
        FailureOr<unsigned> depth = requireDepth(frame.function, table, depths);
        if (failed(depth))
          return failure();
        depths[frame.function] = *depth;
        open.pop_back();
        continue;
      }
      auto [call, callee] = frame.calls.pop_back_val();
      if (active.contains(callee) && call) {
        auto chain = llvm::map_to_vector(open, [](const Frame &each) { return each.function; });
        return recursionError(call, callee, chain);
      }
      enter(callee);
    }
  }
  return order;
}

namespace {
/// The number of ops of a function after inlining, and the call that contributes most of them.
struct InlinedCount {
  uint64_t ops = 0, derived = 0; ///< after inlining, and a lower bound after differentiation
  Operation *largest = nullptr;
};
using InlinedCounts = llvm::DenseMap<Operation *, InlinedCount>;
} // namespace

/// Attaches notes at the calls that contribute most ops to `function`.
static InFlightDiagnostic tooManyOps(func::FuncOp function, const InlinedCounts &counts,
                                     SymbolTableCollection &table) {
  auto largest = [&](func::FuncOp function) { return counts.lookup(function).largest; };
  InFlightDiagnostic error = largest(function)->emitOpError();
  error << "becomes too large when '@" << function.getName() << "' is inlined: expected at most "
        << mostInlinedOps << " ops, got more; the chain of calls is '@" << function.getName()
        << "'";
  constexpr int shown = 6;
  int more = 0;
  SmallVector<func::FuncOp> chain;
  for (Operation *call = largest(function); call; call = largest(function)) {
    function = table.lookupNearestSymbolFrom<func::FuncOp>(call, calleeOf(call));
    if (int(chain.size()) == shown) {
      ++more;
      continue;
    }
    error << " -> '@" << function.getName() << "'";
    chain.push_back(function);
  }
  if (more)
    error << " and " << more << " more";
  for (func::FuncOp each : chain)
    noteDefinition(error, each);
  return error;
}

LogicalResult nd::requireInlinable(ArrayRef<func::FuncOp> calleesFirst) {
  SymbolTableCollection table;
  InlinedCounts counts;
  for (func::FuncOp function : calleesFirst) {
    InlinedCount count;
    uint64_t most = 0;
    function.walk([&](Operation *op) {
      uint64_t ops = 1, derived = 1;
      if (FlatSymbolRefAttr symbol = calleeOf(op)) {
        auto find = [&](FlatSymbolRefAttr symbol) {
          return counts.lookup(table.lookupNearestSymbolFrom<func::FuncOp>(op, symbol));
        };
        auto call = dyn_cast<CallOp>(op);
        InlinedCount callee = find(symbol);
        ops = call ? callee.ops : callee.derived;
        derived = call && call.getGradientAttr()
                      ? llvm::SaturatingAdd(callee.ops, find(call.getGradientAttr()).ops)
                      : callee.derived;
        if (std::max(ops, derived) > most) {
          most = std::max(ops, derived);
          count.largest = op;
        }
      }
      count.ops = llvm::SaturatingAdd(count.ops, ops);
      count.derived = llvm::SaturatingAdd(count.derived, derived);
    });
    counts[function] = count;
    if (!function.isPrivate() && count.largest && count.ops > uint64_t(mostInlinedOps))
      return tooManyOps(function, counts, table);
  }
  return success();
}

LogicalResult nd::requireExpandable(Operation *request, func::FuncOp callee) {
  int64_t ops = 0;
  for (Operation *each :
       {request->getParentOfType<func::FuncOp>().getOperation(), callee.getOperation()})
    each->walk([&](Operation *) { ++ops; });
  if (ops <= mostInlinedOps)
    return success();
  InFlightDiagnostic error = request->emitOpError();
  error << "requests derivatives of '@" << callee.getName() << "', where there are " << ops
        << " ops already, expected at most " << mostInlinedOps;
  noteDefinition(error, callee);
  return error;
}

/// Requires that every size in the body of `callee` is legal for the call's values of `symbols`.
static LogicalResult requireSizes(CallOp op, func::FuncOp callee, const ExprMap &symbols) {
  if (symbols.empty())
    return success();
  auto caller = op->getParentOfType<func::FuncOp>();
  for (const auto &[symbol, size] : symbols) {
    heddle::Range range = symbolRange(callee, symbol);
    auto given = size.bounds(symbolRanges(caller, size));
    bool isNumber = range.low == 0 && range.high == largestSymbol;
    if (isNumber || (given && given->low >= range.low && given->high <= range.high))
      continue;
    InFlightDiagnostic error = operandError(op);
    error << "expected " << range.low << " to " << range.high << " for '" << symbol << "' of '@"
          << callee.getName() << "', got " << size.str();
    if (given && !size.isConstant())
      error << ", which may be " << given->low << " to " << given->high << "; declare '"
            << rangesAttrName << "' of '@" << caller.getName() << "'";
    noteDefinition(error, callee);
    return error;
  }
  WalkResult walked = callee.walk([&](Operation *inner) -> WalkResult {
    for (Type type : inner->getResultTypes())
      if (auto tensor = dyn_cast<NdTensorType>(type))
        for (const Dim &dim : tensor.getDims()) {
          const Expr &size = dim.size().getExpr();
          auto error = [&] {
            InFlightDiagnostic error = operandError(op);
            error.attachNote(inner->getLoc())
                << "in '@" << callee.getName() << "' it is " << size.str();
            return error;
          };
          if (failed(requireSubstituted(dim.name, size, symbols, error)))
            return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

FailureOr<SmallVector<Value>> nd::inlineCall(CallOp op, SymbolTableCollection *functions,
                                             bool differentiable) {
  FailureOr<func::FuncOp> found = definedCallee(op, op.getCalleeAttr(), functions);
  if (failed(found))
    return failure();
  func::FuncOp callee = *found;
  OpBuilder builder(op);
  Location loc = op.getLoc();

  // Renames names of the callee that collide with a lifted name.
  NameRewriter rewriter;
  llvm::StringSet<> own = collectNames(callee), lifted;
  SmallVector<StringRef> order;
  for (auto [formal, input] : llvm::zip_equal(callee.getArguments(), op.getInputs())) {
    auto type = cast<NdTensorType>(formal.getType());
    for (const Dim &dim : type.getDims())
      if (auto symbol = dim.size().getExpr().asName())
        rewriter.symbols.try_emplace(*symbol, tensorType(input).size(dim.name).getExpr());
    for (const Dim &dim : tensorType(input).getDims())
      if (!type.has(dim.name) && lifted.insert(dim.name).second)
        order.push_back(dim.name);
  }
  if (failed(requireSizes(op, callee, rewriter.symbols)))
    return failure();
  llvm::StringSet<> taken;
  for (StringRef name : order)
    if (own.contains(name)) {
      if (taken.empty()) {
        taken = collectNames(op->getParentOfType<func::FuncOp>());
        for (const auto &entry : own)
          taken.insert(entry.first());
      }
      rewriter.names[name.str()] = freshName(name, taken);
    }
  llvm::erase_if(order, [&](StringRef name) { return !own.contains(name); });

  Lifter lifter(builder, rewriter, functions, differentiable);
  for (auto [formal, input] : llvm::zip_equal(callee.getArguments(), op.getInputs())) {
    SmallVector<StringRef> from, to;
    for (StringRef name : order)
      if (cast<NdTensorType>(formal.getType()).has(name)) {
        from.push_back(name);
        to.push_back(rewriter.names[name.str()]);
      }
    lifter.values.map(formal, buildRename(builder, loc, input, from, to));
  }
  if (failed(lifter.copy(callee.getBody().front())))
    return failure();

  SmallVector<Value> results;
  Operation *end = callee.getBody().front().getTerminator();
  for (auto [value, result] : llvm::zip_equal(end->getOperands(), op.getResults())) {
    Value copy = lifter.values.lookup(value);
    SmallVector<StringRef> from, to;
    for (StringRef name : order)
      if (cast<NdTensorType>(value.getType()).has(name)) {
        from.push_back(rewriter.names[name.str()]);
        to.push_back(name);
      }
    copy = buildRename(builder, loc, copy, from, to);
    // The dependence analysis is conservative: the result may not be lifted after all.
    results.push_back(buildBroadcast(builder, loc, copy, tensorType(result).getDims().getDims()));
  }
  op->replaceAllUsesWith(results);
  op.erase();
  return results;
}

LogicalResult nd::inlineCalls(Operation *root, function_ref<bool(CallOp)> isAsked,
                              SymbolTableCollection &functions, bool differentiable) {
  SmallVector<CallOp> calls;
  auto addFrom = [&](Operation &op) {
    op.walk([&](CallOp call) {
      if (call != root && isAsked(call))
        calls.push_back(call);
    });
  };
  addFrom(*root);
  std::reverse(calls.begin(), calls.end());
  while (!calls.empty()) {
    CallOp call = calls.pop_back_val();
    Block *block = call->getBlock();
    Operation *before = call->getPrevNode(), *after = call->getNextNode();
    bool isOfGradient = isGradient(call.getLoc());
    if (failed(inlineCall(call, &functions, differentiable)))
      return failure();
    size_t known = calls.size();
    auto first = before ? std::next(before->getIterator()) : block->begin();
    auto made = llvm::make_range(first, after->getIterator());
    // A function that itself has derivatives knows which ops are of the forward pass.
    bool isOwn = llvm::any_of(made, [](Operation &op) { return isGradient(op.getLoc()); });
    for (Operation &op : made) {
      if (isOfGradient && !isOwn)
        op.setLoc(gradientLoc(op.getLoc()));
      addFrom(op);
    }
    std::reverse(calls.begin() + known, calls.end());
  }
  return success();
}

/// The functions that lifting calls reach.
static llvm::DenseSet<Operation *> liftedFunctions(ArrayRef<func::FuncOp> calleesFirst,
                                                   SymbolTableCollection &table) {
  auto lifts = [](CallOp call, func::FuncOp callee) {
    return llvm::any_of(llvm::zip(call.getInputs(), callee.getArgumentTypes()), [](auto pair) {
      auto formal = dyn_cast<NdTensorType>(std::get<1>(pair));
      return formal && llvm::any_of(tensorType(std::get<0>(pair)).getDims(),
                                    [&](const Dim &dim) { return !formal.has(dim.name); });
    });
  };
  llvm::DenseSet<Operation *> lifted;
  for (func::FuncOp function : llvm::reverse(calleesFirst))
    function.walk([&](CallOp call) {
      auto callee = table.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (callee && (lifted.contains(function) || lifts(call, callee)))
        lifted.insert(callee);
    });
  return lifted;
}

namespace {
struct NdInlineCallsPass : nd::impl::NdInlineCallsPassBase<NdInlineCallsPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> functions = calleesFirst(getOperation());
    if (failed(functions) || failed(requireInlinable(*functions)))
      return signalPassFailure();
    // Requested derivatives may be those of the copies.
    bool differentiable =
        getOperation()
            ->walk([](Operation *op) {
              return isa<VjpOp, JvpOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted();
    // In branches and loops a callee is lifted with the enclosing op, which may mask it.
    auto isInside = [](CallOp op) { return !isa<func::FuncOp>(op->getParentOp()); };
    SymbolTableCollection table;
    llvm::DenseSet<Operation *> lifted = liftedFunctions(*functions, table);
    for (func::FuncOp function : *functions)
      if (failed(convertLoopsToWhiles(function)) || // these are lifted like other loops
          (lifted.contains(function) &&
           failed(inlineCalls(function, isInside, table, differentiable))))
        return signalPassFailure();
    // Inlines all others from callers to callees, so that an op is copied only once per final copy,
    // however long the chain of calls to it is. Then erases private functions that only calls
    // referenced.
    llvm::DenseSet<Attribute> kept;
    getOperation()->walk([&](Operation *op) {
      if (!isa<CallOp>(op))
        op->getAttrDictionary().walk([&](FlatSymbolRefAttr symbol) { kept.insert(symbol); });
    });
    for (func::FuncOp function : *functions)
      if (!function.isPrivate() || kept.contains(FlatSymbolRefAttr::get(function)))
        if (failed(inlineCalls(function, [](CallOp) { return true; }, table, differentiable)))
          return signalPassFailure();
  }
};
} // namespace
