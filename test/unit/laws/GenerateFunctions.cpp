//===- GenerateFunctions.cpp - calls, derivatives, control flow -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Derivatives.h"
#include "test/unit/laws/Generator.h"

#include "test/unit/laws/GenerateScalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::nd;
using namespace mlir;

/// A value of exactly this type: an existing one, or an argument.
Value Generator::operandFor(NdTensorType type) {
  if (dice.chance(60))
    if (Value value = any([&](NdTensorType other) { return other == type; }))
      return value;
  return argument(type);
}

/// A custom gradient that returns half of each argument, independently of `callee`.
static func::FuncOp halfOf(func::FuncOp callee) {
  OpBuilder b(callee.getContext());
  Location loc = callee.getLoc();
  SmallVector<Type> arguments(callee.getArgumentTypes());
  llvm::append_range(arguments, callee.getResultTypes());
  auto function = func::FuncOp::create(loc, (callee.getName() + "_gradient").str(),
                                       b.getFunctionType(arguments, {}));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  SmallVector<Value> results;
  for (BlockArgument argument : block->getArguments().take_front(callee.getNumArguments()))
    if (NdTensorType type = tensorType(argument); isa<FloatType>(type.getElementType()))
      results.push_back(mul(b, loc, argument, buildConstant(b, loc, type, 0.5)));
  func::ReturnOp::create(b, loc, results);
  function.setFunctionType(b.getFunctionType(arguments, TypeRange(ValueRange(results))));
  callee->getParentOfType<ModuleOp>().push_back(function);
  return function;
}

void Generator::call() {
  GeneratorOptions inner = options;
  inner.steps = int(dice.between(1, 3));
  inner.calls = options.calls && dice.chance(20);
  inner.control = options.control && dice.chance(40);
  inner.requests = inner.relations = false;
  func::FuncOp callee =
      generateProgram(module, prefix + "_" + std::to_string(callees++), dice.bits(), inner);
  SmallVector<Value> operands;
  llvm::StringMap<Expr> lifted;
  // The callee's symbols are not the caller's.
  Expr n = Expr::name("N"), m = Expr::name("M");
  ExprMap symbols{// No smaller than what the callee was made for.
                  {"N", dice.pick({n, n, n + 1, 2 * m, Expr(6)})},
                  {"M", dice.pick({m, m, n, n - 1, Expr(3)})}};
  for (Type formal : callee.getArgumentTypes()) {
    auto type = cast<NdTensorType>(formal);
    SmallVector<Dim> dims;
    for (const Dim &each : type.getDims())
      dims.push_back(dim(each.name, each.size().getExpr().substitute(symbols)));
    auto bound = type.withDims(dims);
    for (int i = 0; i < 2; ++i) {
      if (!dice.chance(35))
        continue;
      StringRef name = anyName(); // often a local name of the callee
      if (llvm::any_of(dims, [&](const Dim &each) { return each.name == name; }))
        continue;
      auto size = lifted.try_emplace(name, Expr(dice.pick({0, 1, 2, 2, 3, 3}))).first->second;
      dims.push_back(dim(name, size));
    }
    auto operandType = type.withDims(dims);
    if (!fitsLimits(operandType))
      operandType = bound;
    operands.push_back(operandFor(operandType));
  }
  SmallVector<Value> results = buildCall(b, loc, callee, operands);
  if (!results.empty() && dice.chance(30)) {
    auto call = results[0].getDefiningOp<nd::CallOp>();
    if (options.gradients && dice.chance(60))
      call.setGradient(halfOf(callee).getName());
    else
      call.setCheckpoint(true);
  }
  if (!results.empty() || callee.getNumResults() == 0)
    keep(results);
}

/// The gradient of a generated function.
void Generator::request() {
  GeneratorOptions inner = options;
  inner.smooth = true;
  inner.requests = false;
  inner.steps = int(dice.between(1, 4));
  func::FuncOp callee =
      generateProgram(module, prefix + "_" + std::to_string(callees++), dice.bits(), inner);
  if (dice.chance(20) && !floatTypes(callee.getArgumentTypes()).empty()) // of a derivative
    callee = (dice.chance(50) ? addGradient : addTangent)(module, callee,
                                                          (callee.getName() + "_derivative").str());
  SmallVector<Value> inputs, cotangents;
  SmallVector<int64_t> wrt;
  for (auto [i, type] : llvm::enumerate(callee.getArgumentTypes())) {
    inputs.push_back(operandFor(cast<NdTensorType>(type)));
    if (isa<FloatType>(cast<NdTensorType>(type).getElementType()) &&
        (wrt.empty() || dice.chance(60)))
      wrt.push_back(int64_t(i));
  }
  if (dice.chance(30)) {
    for (int64_t position : wrt)
      cotangents.push_back(operandFor(cast<NdTensorType>(callee.getArgumentTypes()[position])));
    keep(buildJvp(b, loc, callee, inputs, cotangents, wrt));
    return;
  }
  for (Type type : callee.getResultTypes())
    cotangents.push_back(operandFor(cast<NdTensorType>(type)));
  keep(buildVjp(b, loc, callee, inputs, cotangents, wrt));
}

Value Generator::combined(ArrayRef<Value> inputs, NdTensorType type) {
  // Removes names that the result must not have, and adds those that it must have.
  SmallVector<Value> fitted;
  SmallVector<Type> types;
  for (Value input : inputs) {
    Strings more;
    bool fits = true;
    for (const Dim &each : tensorType(input).getDims()) {
      if (!type.has(each.name))
        more.push_back(each.name);
      else
        fits &= type.size(each.name) == each.size();
    }
    if (!fits)
      continue;
    if (!more.empty())
      input = buildReduce(b, loc, input, more, drawCombiner(tensorType(input).getElementType()));
    fitted.push_back(input);
    types.push_back(tensorType(input).getElementType());
  }
  if (fitted.empty())
    fitted.push_back(constant(type)), types.push_back(type.getElementType());
  fitted[0] = buildBroadcast(b, loc, fitted[0], type.getDims().getDims());
  return buildPointwise(b, loc, fitted, type.getElementType(), [&](OpBuilder &at, ValueRange s) {
    return drawScalarCode(dice, at, loc, s, types, type.getElementType(), options.smooth);
  });
}

Value Generator::inside(ArrayRef<Value> inputs, NdTensorType type) {
  SmallVector<Value> outside(values);
  values.append(inputs.begin(), inputs.end());
  size_t known = values.size();
  ++depth;
  for (int64_t i = dice.pick({0, 0, 1, 1, 2, 3}); i > 0; --i)
    step();
  if (options.control && depth < 2 && dice.chance(30))
    control();
  --depth;
  SmallVector<Value> used(inputs);
  if (values.size() > known && dice.chance(80))
    used.push_back(values.back());
  dice.shuffle(used);
  Value result = combined(used, type);
  // New arguments stay visible, values of the region do not.
  for (Value value : values)
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && argument.getOwner() == body && !llvm::is_contained(outside, value))
      outside.push_back(value);
  values = std::move(outside);
  return result;
}

/// The largest element of `x`, without names.
Value Generator::largestOf(Value x) {
  NdTensorType type = tensorType(x);
  Strings names;
  for (const Dim &each : type.getDims())
    names.push_back(each.name);
  bool isTruth = type.getElementType().isInteger(1);
  return names.empty()
             ? x
             : buildReduce(b, loc, x, names, isTruth ? CombinerKind::Or : CombinerKind::Max);
}

/// Whether the largest element of `x` is large, without names.
Value Generator::isLarge(Value x) {
  bool isFloat = isa<FloatType>(tensorType(x).getElementType());
  return buildPointwise(
      b, loc, largestOf(x), b.getI1Type(), [&](OpBuilder &at, ValueRange s) -> Value {
        Value bound = buildNumber(at, loc, s[0].getType(), isFloat ? 0.37 : 0);
        if (isFloat)
          return arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OGT, s[0], bound);
        return arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ne, s[0], bound);
      });
}

/// A loop that carries `x` and perhaps another value, and may use its counter. Its trip count may
/// depend on values.
Value Generator::loop(Value x) {
  auto index = [&](int64_t i) { return arith::ConstantIndexOp::create(b, loc, i).getResult(); };
  SmallVector<Value> state{x};
  if (dice.chance(30))
    state.push_back(any());
  Value low = index(dice.between(0, 2)), high = index(dice.between(1, 5)),
        stride = index(dice.between(1, 2));
  if (!options.smooth && dice.chance(40)) { // it has no gradient
    Value count =
        buildPointwise(b, loc, isLarge(any()), b.getI64Type(), [&](OpBuilder &at, ValueRange s) {
          Value many = buildNumber(at, loc, at.getI64Type(), double(dice.between(0, 4))),
                few = buildNumber(at, loc, at.getI64Type(), double(dice.between(-1, 2)));
          return arith::SelectOp::create(at, loc, s[0], many, few).getResult();
        });
    high = nd::ItemOp::create(b, loc, b.getIndexType(), count);
  }
  auto loop = scf::ForOp::create(b, loc, low, high, stride, state);
  OpBuilder::InsertionGuard guard(b);
  Block *block = loop.getBody();
  if (!block->empty())
    block->getTerminator()->erase();
  b.setInsertionPointToEnd(block);
  SmallVector<Value> inputs(loop.getRegionIterArgs()), next;
  if (dice.chance(50))
    inputs.push_back(nd::FromItemOp::create(
        b, loc, NdTensorType::get(b.getI64Type(), ArrayRef<Dim>()), loop.getInductionVar()));
  for (Value each : state)
    next.push_back(inside(inputs, tensorType(each)));
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

/// A loop that runs until a condition on its counter or its state fails.
Value Generator::whileLoop(Value x) {
  auto counter = NdTensorType::get(b.getI64Type(), ArrayRef<Dim>());
  SmallVector<Type> types{counter, x.getType()};
  SmallVector<Value> state{buildConstant(b, loc, counter, 0.0), x};
  auto loop = scf::WhileOp::create(b, loc, types, state);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locations(2, loc);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  int64_t most = dice.between(0, 4);
  SmallVector<Value> asked{before->getArgument(0)};
  if (dice.chance(50))
    asked.push_back(isLarge(before->getArgument(1)));
  Value goesOn = buildPointwise(b, loc, asked, b.getI1Type(), [&](OpBuilder &at, ValueRange s) {
    Value few = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::slt, s[0],
                                      buildNumber(at, loc, s[0].getType(), double(most)));
    return s.size() == 1 ? few : arith::AndIOp::create(at, loc, few, s[1]).getResult();
  });
  scf::ConditionOp::create(b, loc, nd::ItemOp::create(b, loc, b.getI1Type(), goesOn),
                           before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  Value next = buildPointwise(
      b, loc, after->getArgument(0), b.getI64Type(), [&](OpBuilder &at, ValueRange s) {
        return arith::AddIOp::create(at, loc, s[0], buildNumber(at, loc, s[0].getType(), 1))
            .getResult();
      });
  scf::YieldOp::create(
      b, loc, {next, inside({after->getArgument(0), after->getArgument(1)}, tensorType(x))});
  return loop.getResult(1);
}

/// The square root of a number that is positive where the largest element of `x` is small, or where
/// it is large, and zero or negative elsewhere.
Value Generator::withPole(Value x, bool whereSmall) {
  return buildPointwise(
      b, loc, largestOf(x), b.getF64Type(), [&](OpBuilder &at, ValueRange s) -> Value {
        auto number = [&](double value) { return buildNumber(at, loc, at.getF64Type(), value); };
        Value most = arith::MaximumFOp::create(at, loc, s[0], number(-2)); // of none it is -inf
        Value bound = number(whereSmall ? 0.5 : 0.25);
        Value above = whereSmall ? arith::SubFOp::create(at, loc, bound, most)
                                 : arith::SubFOp::create(at, loc, most, bound);
        if (dice.chance(50)) // no NaN, but a slope of zero times infinity
          above = arith::MaximumFOp::create(at, loc, above, number(0));
        return math::SqrtOp::create(at, loc, above);
      });
}

/// A branch on the largest element of `x`.
Value Generator::branch(Value x) {
  NdTensorType type = tensorType(x);
  Value holds = isLarge(x);
  auto branch = scf::IfOp::create(b, loc, TypeRange{type},
                                  nd::ItemOp::create(b, loc, b.getI1Type(), holds), true);
  OpBuilder::InsertionGuard guard(b);
  for (Block *side : {branch.thenBlock(), branch.elseBlock()}) {
    b.setInsertionPointToEnd(side);
    SmallVector<Value> inputs{x};
    if (options.branches && isa<FloatType>(type.getElementType()) && dice.chance(70))
      inputs.push_back(withPole(x, side == branch.elseBlock()));
    bool computes = inputs.size() > 1 || dice.chance(70);
    scf::YieldOp::create(b, loc, computes ? inside(inputs, type) : x);
  }
  return branch.getResult(0);
}

void Generator::control() {
  Value x = any();
  if (inScan || dice.chance(45))
    keep(branch(x));
  else
    keep(!options.smooth && dice.chance(40) ? whileLoop(x) : loop(x));
}
