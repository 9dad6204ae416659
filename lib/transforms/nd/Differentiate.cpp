//===- Differentiate.cpp - expands derivatives ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces `nd.vjp` and `nd.jvp`. Reverse mode visits the callee's ops in reverse order and
// accumulates a cotangent for each value by the rules of dialects/nd/NdGradient.h. Forward mode is
// its transpose: the gradient of <cotangent, f(x)> is linear in the cotangent, and the gradient of
// that, in the direction of the tangent, is the tangent of f(x).
//
//     %y, %dx = nd.vjp @f(%x) cotangents(%c) wrt [0]
//     =>   %y = (ops of f at %x)   %dx = (their cotangents, the last op's first)
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"
#include "dialects/nest/NestGradient.h"
#include "lib/transforms/nd/ControlFlow.h"
#include "lib/transforms/nd/InlineCalls.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDDIFFERENTIATEPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {
/// The copy of a callee's ops for one request. Each argument in `wrt` gets a separate value, since
/// one value may be passed twice. If differentiation replaces an op by one that computes more, the
/// results are updated.
struct Copy {
  SmallVector<Value> arguments;
  SmallVector<Operation *> standIns, ops;
  Operation *keeper;

  Copy(OpBuilder &builder, Location loc, Block &body, ValueRange inputs, ArrayRef<int64_t> wrt)
      : arguments(inputs) {
    for (int64_t i : wrt) {
      arguments[i] = buildAlias(builder, loc, inputs[i]);
      standIns.push_back(arguments[i].getDefiningOp());
    }
    IRMapping mapping;
    mapping.map(body.getArguments(), arguments);
    keeper = UnrealizedConversionCastOp::create(builder, loc, TypeRange(),
                                                inlineBlock(builder, body, mapping, &ops));
    builder.setInsertionPoint(keeper);
  }
  OperandRange results() const { return keeper->getOperands(); }

  void replace(Operation *request, ValueRange values) {
    keeper->erase();
    request->replaceAllUsesWith(values);
    for (Operation *standIn : standIns) {
      standIn->replaceAllUsesWith(standIn->getOperands());
      standIn->erase();
    }
    request->erase();
  }
};

/// Forward mode. Gradients are linear in the cotangents, and the tangent of an op is the transpose
/// of its gradient: if g(u) are the gradients for the cotangents u of the results, the tangents of
/// the results are the gradients of <g(u), tangents of the operands> by u. So reverse mode
/// implements both, and every op with a gradient has a tangent; for example, the tangent of a
/// window is the adjoint of nd.unwindow, a window. The result does not depend on u.
class ForwardMode {
public:
  explicit ForwardMode(OpBuilder &builder) : builder(builder) {}

  void set(Value value, Value tangent) { tangents[value] = tangent; }
  /// Null if the tangent is zero.
  Value tangent(Value value) const {
    while (Value other = replaced.lookup(value))
      value = other;
    return tangents.lookup(value);
  }
  LogicalResult run(SmallVector<Operation *> ops) {
    nest::expandForGradient(
        builder, [&](Value value, Value other) { replaced[value] = other; }, ops,
        /*carries=*/false);
    OpBuilder::InsertionGuard guard(builder);
    for (Operation *op : ops) {
      builder.setInsertionPointAfter(op);
      if (failed(visit(op)))
        return failure();
    }
    return success();
  }

  /// The value, or its replacement after control flow was extended to compute tangents.
  Value value(Value old) const {
    Value fresh = primal.lookup(old);
    return fresh ? fresh : old;
  }

private:
  OpBuilder &builder;
  DenseMap<Value, Value> tangents, replaced, primal;
  Exclusions exclusions;

  LogicalResult visit(Operation *op);
  LogicalResult visitControl(Operation *op);
  LogicalResult visitScan(nest::ScanOp op);
  void setTangents(ValueRange values, ValueRange from);
  void takeBoth(ValueRange old, ValueRange both);
  void appendTangents(Location loc, SmallVectorImpl<Value> &values) const;
  FailureOr<SmallVector<Operation *>> opsSince(Operation *before, SmallVectorImpl<Value> &values);
};
} // namespace

/// True for a call without a custom gradient; differentiation inlines it.
static bool hasNoGradient(CallOp call) { return !call.getGradientAttr(); }

/// The ops after `before`, after inlining calls and turning loops into scans; `values` may be
/// results of these and are updated.
FailureOr<SmallVector<Operation *>> ForwardMode::opsSince(Operation *before,
                                                          SmallVectorImpl<Value> &values) {
  SmallVector<Operation *> ops;
  Block::iterator end = builder.getInsertionPoint();
  SmallVector<Value> some;
  llvm::copy_if(values, std::back_inserter(some), [](Value value) { return bool(value); });
  // Tracks replaced values.
  auto keeper = UnrealizedConversionCastOp::create(builder, before->getLoc(), TypeRange(), some);
  bool isFailure = false;
  for (auto next = std::next(before->getIterator()); !isFailure && &*next != keeper;) {
    auto previous = std::prev(next);
    auto call = dyn_cast<CallOp>(&*next);
    if (auto loop = dyn_cast<scf::ForOp>(&*next))
      isFailure = failed(convertLoopToScan(loop));
    else if (call && !call.getGradientAttr())
      isFailure = failed(inlineCall(call, nullptr, /*differentiable=*/true));
    else {
      SymbolTableCollection functions;
      isFailure = failed(inlineCalls(&*next, hasNoGradient, functions, /*differentiable=*/true));
      ops.push_back(&*next++);
      continue;
    }
    next = std::next(previous);
  }
  unsigned kept = 0;
  for (Value &value : values)
    if (value)
      value = keeper.getOperand(kept++);
  keeper.erase();
  builder.setInsertionPoint(builder.getInsertionBlock(), end);
  if (isFailure)
    return failure();
  return ops;
}

/// Appends the tangents of those `values` that have float elements.
void ForwardMode::appendTangents(Location loc, SmallVectorImpl<Value> &values) const {
  for (Value value : llvm::to_vector(values))
    if (!floatTypes(value.getType()).empty()) {
      Value own = tangent(value);
      values.push_back(own ? own : buildZero(builder, loc, tensorType(value)));
    }
}

/// A branch, or a loop of unknown trip count: adds tangents to the arguments and results of its
/// regions.
LogicalResult ForwardMode::visitControl(Operation *op) {
  Location loc = op->getLoc();
  SmallVector<Value> operands(op->getOperands());
  appendTangents(loc, operands);
  SmallVector<Type> types(op->getResultTypes());
  llvm::append_range(types, floatTypes(op->getResultTypes()));
  OperationState state(loc, op->getName(), operands, types, op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *both = builder.create(state);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), both->getRegions())) {
    if (from.empty())
      continue;
    SmallVector<Type> taken(from.getArgumentTypes());
    llvm::append_range(taken, floatTypes(from.getArgumentTypes()));
    Block *block =
        builder.createBlock(&to, to.end(), taken, SmallVector<Location>(taken.size(), loc));
    ForwardMode inner = *this;
    IRMapping mapping;
    unsigned count = from.getNumArguments();
    ValueRange fresh = block->getArguments();
    mapping.map(from.getArguments(), fresh.take_front(count));
    inner.setTangents(fresh.take_front(count), fresh.drop_front(count));
    SmallVector<Operation *> ops;
    SmallVector<Value> yielded = inlineBlock(builder, from.front(), mapping, &ops);
    Operation *end = from.front().getTerminator();
    if (failed(inner.run(ops)))
      return failure();
    inner.appendTangents(loc, yielded);
    for (Value &value : yielded)
      value = inner.value(value);
    builder.create(OperationState(loc, end->getName(), yielded, {}, end->getAttrs()));
  }
  takeBoth(op->getResults(), both->getResults());
  return success();
}

/// Builds a scan that carries tangents besides its tensors, so that no values are saved.
LogicalResult ForwardMode::visitScan(nest::ScanOp op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op.getBody(), used);
  if (llvm::none_of(used, [&](Value value) { return bool(tangent(value)); }))
    return success();
  Location loc = op.getLoc();
  unsigned n = op.getInits().size();
  SmallVector<Value> inits(op.getInits()), reads(op.getReads());
  appendTangents(loc, inits);
  appendTangents(loc, reads);
  auto withTangents = [](TypeRange types) {
    SmallVector<Type> all(types);
    llvm::append_range(all, floatTypes(types));
    return all;
  };
  SmallVector<Type> types = withTangents(TypeRange(op->getResultTypes()).take_front(n));
  llvm::append_range(types, withTangents(TypeRange(op->getResultTypes()).drop_front(n)));
  auto both =
      nest::ScanOp::create(builder, loc, types, inits, reads, op.getAlong(), op.getReverse());
  OpBuilder::InsertionGuard guard(builder);
  Block &from = op.getBody().front();
  Block *block = builder.createBlock(&both.getBody());
  ForwardMode inner = *this;
  IRMapping mapping;
  for (ValueRange part : {ValueRange(from.getArguments()).take_front(n),
                          ValueRange(from.getArguments()).drop_front(n)}) {
    unsigned first = block->getNumArguments();
    for (Type type : withTangents(part.getTypes()))
      block->addArgument(type, loc);
    ValueRange fresh = ValueRange(block->getArguments()).drop_front(first);
    mapping.map(part, fresh.take_front(part.size()));
    inner.setTangents(fresh.take_front(part.size()), fresh.drop_front(part.size()));
  }
  SmallVector<Operation *> ops;
  SmallVector<Value> yielded = inlineBlock(builder, from, mapping, &ops);
  if (failed(inner.run(ops)))
    return failure();
  SmallVector<Value> carried(ArrayRef(yielded).take_front(n)),
      outputs(ArrayRef(yielded).drop_front(n));
  inner.appendTangents(loc, carried);
  inner.appendTangents(loc, outputs);
  llvm::append_range(carried, outputs);
  for (Value &value : carried)
    value = inner.value(value);
  nest::YieldOp::create(builder, loc, carried);
  eraseDeadScalars(*block);
  unsigned state = unsigned(inits.size());
  takeBoth(op->getResults().take_front(n), both->getResults().take_front(state));
  takeBoth(op->getResults().drop_front(n), both->getResults().drop_front(state));
  return success();
}

/// Sets the tangents of the float values to `from`, in this order.
void ForwardMode::setTangents(ValueRange values, ValueRange from) {
  for (Value value : values)
    if (!floatTypes(value.getType()).empty()) {
      set(value, from.front());
      from = from.drop_front();
    }
}

/// `both` has the same values as `old`, followed by the tangents of the float values.
void ForwardMode::takeBoth(ValueRange old, ValueRange both) {
  ValueRange fresh = both.take_front(old.size());
  setTangents(old, both.drop_front(old.size()));
  setTangents(fresh, both.drop_front(old.size()));
  for (auto [value, copy] : llvm::zip_equal(old, fresh)) {
    primal[value] = copy;
    value.replaceAllUsesWith(copy);
  }
}

LogicalResult ForwardMode::visit(Operation *op) {
  Location loc = op->getLoc();
  if (isa<scf::IfOp, scf::WhileOp>(op))
    return visitControl(op);
  if (auto scan = dyn_cast<nest::ScanOp>(op))
    return visitScan(scan);
  SmallVector<Value> given =
      llvm::map_to_vector(op->getOperands(), [&](Value v) { return tangent(v); });
  if (isa<StopGradientOp>(op) || llvm::none_of(given, [](Value value) { return bool(value); }))
    return success();
  SmallVector<Value> cotangents(op->getNumResults());
  ReverseMode transpose(builder);
  Operation *before = nullptr;
  for (auto [result, cotangent] : llvm::zip_equal(op->getResults(), cotangents)) {
    if (!isa<FloatType>(tensorType(result).getElementType()))
      continue;
    cotangent = buildAlias(builder, loc, buildZero(builder, loc, tensorType(result)));
    before = cotangent.getDefiningOp();
    transpose.want(cotangent);
  }
  if (!before)
    return success();
  SmallVector<bool> wanted = llvm::map_to_vector(given, [](Value value) { return bool(value); });
  SmallVector<Value> gradients(op->getNumOperands());
  if (failed(exclusions.buildGradient(builder, op, cotangents, wanted, gradients)))
    return failure();
  FailureOr<SmallVector<Operation *>> ops = opsSince(before, gradients);
  if (failed(ops))
    return failure();
  nest::expandForGradient(
      builder, [&](Value value, Value other) { transpose.redirect(value, other); }, *ops);
  transpose.propagate(*ops);
  for (auto [gradient, tangent] : llvm::zip_equal(gradients, given))
    if (gradient)
      transpose.accumulate(loc, gradient, tangent);
  if (failed(transpose.run(*ops)))
    return failure();
  for (auto [result, cotangent] : llvm::zip_equal(op->getResults(), cotangents))
    if (Value tangent = cotangent ? transpose.cotangent(cotangent) : Value())
      set(result, tangent);
  return success();
}

static LogicalResult expandJvp(JvpOp op) {
  FailureOr<func::FuncOp> found = definedCallee(op, op.getCalleeAttr());
  if (failed(found) || failed(requireExpandable(op, *found)))
    return failure();
  OpBuilder builder(op);
  Copy copy(builder, op.getLoc(), found->getBody().front(), op.getInputs(), op.getWrt());
  ForwardMode forward(builder);
  for (auto [i, tangent] : llvm::zip_equal(op.getWrt(), op.getTangents()))
    forward.set(copy.arguments[i], tangent);
  if (failed(forward.run(copy.ops)))
    return op.emitRemark() << "while differentiating '@" << op.getCallee() << "'";
  SmallVector<Value> results =
      llvm::map_to_vector(copy.results(), [&](Value value) { return forward.value(value); });
  for (Value value : copy.results())
    if (isa<FloatType>(tensorType(value).getElementType())) {
      Value tangent = forward.tangent(value);
      results.push_back(tangent ? tangent : buildZero(builder, op.getLoc(), tensorType(value)));
    }
  copy.replace(op, results);
  return success();
}

/// Replaces `op` by the callee's ops and those that compute the requested gradients. The callee
/// must not contain calls or requests.
static LogicalResult expandVjp(VjpOp op) {
  FailureOr<func::FuncOp> found = definedCallee(op, op.getCalleeAttr());
  if (failed(found) || failed(requireExpandable(op, *found)))
    return failure();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Copy copy(builder, loc, found->getBody().front(), op.getInputs(), op.getWrt());

  ReverseMode reverse(builder);
  for (int64_t i : op.getWrt())
    reverse.want(copy.arguments[i]);
  nest::expandForGradient(
      builder, [&](Value value, Value other) { reverse.redirect(value, other); }, copy.ops);
  reverse.propagate(copy.ops);
  for (auto [value, cotangent] : llvm::zip_equal(copy.results(), op.getCotangents()))
    reverse.accumulate(loc, value, cotangent);
  Operation *last = copy.keeper->getPrevNode();
  if (failed(reverse.run(copy.ops)))
    return op.emitRemark() << "while differentiating '@" << op.getCallee() << "'";
  for (Operation *made = copy.keeper->getPrevNode(); made != last; made = made->getPrevNode())
    made->setLoc(gradientLoc(made->getLoc()));
  SmallVector<Value> results(copy.results());
  for (int64_t i : op.getWrt()) {
    Value gradient = reverse.cotangent(copy.arguments[i]);
    results.push_back(gradient ? gradient : buildZero(builder, loc, tensorType(op.getInputs()[i])));
  }
  copy.replace(op, results);
  return success();
}

/// The gradient of a checkpoint: recomputes the function from its arguments once the cotangents are
/// known.
static FlatSymbolRefAttr checkpointGradient(func::FuncOp callee) {
  OpBuilder builder(callee);
  builder.setInsertionPointAfter(callee);
  Location loc = callee.getLoc();
  SmallVector<Type> taken(callee.getArgumentTypes());
  llvm::append_range(taken, callee.getResultTypes());
  auto gradient =
      func::FuncOp::create(builder, loc, (callee.getName() + ".gradient").str(),
                           builder.getFunctionType(taken, floatTypes(callee.getArgumentTypes())));
  gradient.setPrivate();
  SymbolTable(callee->getParentOp()).insert(gradient, std::next(callee->getIterator()));
  unsigned n = callee.getNumArguments();
  ValueRange all = gradient.addEntryBlock()->getArguments();
  builder.setInsertionPointToEnd(&gradient.front());
  Value cotangent = *llvm::find_if(all.drop_front(n), [](Value value) {
    return isa<FloatType>(tensorType(value).getElementType());
  });
  SmallVector<Value> again;
  SmallVector<int64_t> wrt;
  for (auto [i, value] : llvm::enumerate(all.take_front(n))) {
    again.push_back(AfterOp::create(builder, loc, value.getType(), value, cotangent));
    if (isa<FloatType>(tensorType(value).getElementType()))
      wrt.push_back(int64_t(i));
  }
  SmallVector<Value> made = buildVjp(builder, loc, callee, again, all.drop_front(n), wrt);
  func::ReturnOp::create(builder, loc, ValueRange(made).drop_front(callee.getNumResults()));
  return FlatSymbolRefAttr::get(gradient);
}

namespace {
struct NdDifferentiatePass : nd::impl::NdDifferentiatePassBase<NdDifferentiatePass> {
  void runOnOperation() override {
    replaceCheckpoints();
    FailureOr<SmallVector<func::FuncOp>> functions = calleesFirst(getOperation());
    if (failed(functions) || failed(requireInlinable(*functions)))
      return signalPassFailure();
    // Inlines only what derivatives need.
    llvm::SetVector<Operation *> asked, differentiated = reached(asked);
    for (func::FuncOp function : *functions) {
      bool inlines = differentiated.contains(function);
      // Gradients may contain loops that are differentiated again.
      if ((inlines && failed(convertLoopsToScans(function))) ||
          failed(expand(function, inlines, asked.contains(function))) ||
          (inlines && failed(convertLoopsToScans(function))))
        return signalPassFailure();
    }
    getOperation().walk([](StopGradientOp op) {
      op.replaceAllUsesWith(op.getInput());
      op.erase();
    });
  }

  /// Expands requests, and the requests in their expansions. Inlines calls in the regions of ops,
  /// or all calls if derivatives of this function itself are requested: then an op is copied once,
  /// however long the chain of calls to it is.
  static LogicalResult expand(func::FuncOp function, bool inlines, bool inlinesAll) {
    while (true) {
      SymbolTableCollection functions;
      auto isAsked = [&](CallOp call) {
        return hasNoGradient(call) && (inlinesAll || !isa<func::FuncOp>(call->getParentOp()));
      };
      if (inlines && failed(inlineCalls(function, isAsked, functions, /*differentiable=*/true)))
        return failure();
      SmallVector<Operation *> requests;
      function.walk([&](Operation *op) {
        if (isa<VjpOp, JvpOp>(op))
          requests.push_back(op);
      });
      if (requests.empty())
        return success();
      for (Operation *request : requests) {
        auto vjp = dyn_cast<VjpOp>(request);
        if (failed(vjp ? expandVjp(vjp) : expandJvp(cast<JvpOp>(request))))
          return failure();
      }
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
        if (isOpTriviallyDead(&op))
          op.erase();
    }
  }

  /// Replaces differentiated checkpoints by calls with a gradient.
  void replaceCheckpoints() {
    llvm::DenseMap<Operation *, FlatSymbolRefAttr> gradients;
    llvm::SetVector<Operation *> asked;
    for (Operation *function : reached(asked))
      function->walk([&](CallOp call) {
        if (!call.getCheckpoint())
          return;
        auto callee =
            SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
        if (!callee || floatTypes(callee.getArgumentTypes()).empty() ||
            floatTypes(callee.getResultTypes()).empty())
          return;
        FlatSymbolRefAttr &gradient = gradients[callee];
        if (!gradient)
          gradient = checkpointGradient(callee);
        call.setGradientAttr(gradient);
        call.setCheckpoint(false);
      });
  }

  /// The functions that requests reach, directly or through calls; adds the named ones to `asked`.
  llvm::SetVector<Operation *> reached(llvm::SetVector<Operation *> &asked) {
    llvm::SetVector<Operation *> set;
    SymbolTable functions(getOperation());
    auto reach = [&](FlatSymbolRefAttr symbol) {
      if (Operation *callee = symbol ? functions.lookup(symbol.getValue()) : nullptr)
        set.insert(callee);
    };
    getOperation().walk([&](Operation *op) {
      if (isa<VjpOp, JvpOp>(op))
        reach(calleeOf(op));
    });
    asked = set;
    for (unsigned i = 0; i < set.size(); ++i)
      set[i]->walk([&](CallOp op) {
        reach(op.getCalleeAttr());
        reach(op.getGradientAttr());
      });
    return set;
  }
};
} // namespace
