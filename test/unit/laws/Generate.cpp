//===- Generate.cpp - random typed programs -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Generator.h"

#include "test/unit/laws/GenerateScalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::nd;
using namespace mlir;

Type Generator::drawType() { return drawElement(dice, context, options.smooth); }

Value Generator::compatible(Value value, ArrayRef<Value> others) {
  Strings from, to;
  for (const Dim &each : tensorType(value).getDims())
    for (Value other : others)
      if (auto size = tensorType(other).size(each.name); size && size != each.size()) {
        from.push_back(each.name);
        to.push_back(freshName());
        break;
      }
  return buildRename(b, loc, value, from, to);
}

void Generator::pointwise() {
  SmallVector<Value> inputs{any()};
  for (int64_t i = dice.pick({0, 0, 1, 1, 1, 2}); i > 0; --i)
    inputs.push_back(compatible(any(), inputs));
  SmallVector<Type> from =
      llvm::map_to_vector(inputs, [](Value v) { return tensorType(v).getElementType(); });
  Type to = dice.chance(80) ? dice.pick(from) : drawType();
  keep(buildPointwise(b, loc, inputs, to, [&](OpBuilder &builder, ValueRange scalars) {
    return drawScalarCode(dice, builder, loc, scalars, from, to, options.smooth);
  }));
}

/// Ops that only guide passes.
void Generator::marks() {
  Value x = any();
  keep(dice.chance(50) ? Value(nd::StopGradientOp::create(b, loc, x.getType(), x))
                       : Value(nd::AfterOp::create(b, loc, x.getType(), x, any())));
}

void Generator::round() {
  Value x = any([](NdTensorType type) { return isa<FloatType>(type.getElementType()); });
  if (!x || options.smooth)
    return;
  Type to = dice.pick<Type>({b.getBF16Type(), b.getF16Type(), b.getType<Float8E4M3FNType>(),
                             b.getType<Float8E5M2Type>()});
  Type element = tensorType(x).getElementType();
  bool narrows = to.getIntOrFloatBitWidth() <= element.getIntOrFloatBitWidth();
  keep(narrows && dice.chance(50) ? buildRound(b, loc, x, to)
                                  : buildCast(b, loc, buildCast(b, loc, x, to), element));
}

/// The same step on a tensor and on that tensor with two names swapped: the results differ only by
/// these names, and are different values.
void Generator::twins() {
  auto pairOf = [](NdTensorType type) -> std::optional<std::pair<StringRef, StringRef>> {
    for (const Dim &one : type.getDims())
      for (const Dim &two : type.getDims())
        if (one.name != two.name && one.size() == two.size())
          return std::pair(one.name.getValue(), two.name.getValue());
    return std::nullopt;
  };
  Value x = any([&](NdTensorType type) { return bool(pairOf(type)); });
  if (!x) {
    StringRef one = anyName(), two = freshName();
    auto type =
        NdTensorType::get(drawType(), {dim(one, sizes[one.str()]), dim(two, sizes[one.str()])});
    if (!fitsLimits(type))
      return;
    x = argument(type);
  }
  auto [one, two] = *pairOf(tensorType(x));
  using Step = void (Generator::*)();
  SmallVector<Step> steps{&Generator::reduce, &Generator::reduceWithIndex, &Generator::scan,
                          &Generator::window, &Generator::slice,           &Generator::pad,
                          &Generator::split,  &Generator::merge,           &Generator::sort};
  if (options.kernels)
    steps.append({&Generator::kernel, &Generator::group});
  Step step = dice.pick(steps);
  bool comesBack = dice.chance(60);
  Dice drawn = dice;
  SmallVector<Value> outside(values);
  for (Value each : {x, buildRename(b, loc, x, {one, two}, {two, one})}) {
    dice = drawn;
    values = {each};
    (this->*step)();
    for (Value made : ArrayRef(values).drop_front()) {
      Strings from, to;
      for (auto [name, other] : {std::pair(one, two), std::pair(two, one)})
        if (comesBack && each != x && tensorType(made).has(name)) {
          from.push_back(name);
          to.push_back(other);
        }
      outside.push_back(from.empty() ? made : buildRename(b, loc, made, from, to));
    }
  }
  values = std::move(outside);
}

Value Generator::constant(NdTensorType type) {
  if (!type.isStatic() || dice.chance(30))
    return buildConstant(b, loc, type, drawNumber(type));
  Strings order;
  for (const Dim &each : type.getDims())
    order.push_back(each.name);
  dice.shuffle(order);
  SmallVector<int64_t> shape;
  for (StringRef name : order)
    shape.push_back(numberOf(type.size(name).getExpr()));
  SmallVector<Attribute> elements;
  for (int64_t i = elementsOf(type); i > 0; --i)
    elements.push_back(drawNumber(type));
  auto shaped = RankedTensorType::get(shape, type.scalarType());
  return buildConstant(b, loc, type.getElementType(), DenseElementsAttr::get(shaped, elements),
                       order);
}

void Generator::source() {
  NdTensorType type = drawTensorType(drawType());
  if (dice.chance(50)) {
    keep(constant(type));
    return;
  }
  StringRef name = anyName();
  Type element = options.smooth    ? b.getF64Type()
                 : dice.chance(50) ? Type(b.getI32Type())
                                   : drawType();
  if (!element.isInteger(1))
    keep(buildIota(b, loc, dim(name, sizes[name.str()]), element));
}

void Generator::random() {
  if (options.smooth)
    return;
  auto unsigned64 = IntegerType::get(context, 64, IntegerType::Unsigned);
  Value key = any([&](NdTensorType type) {
    return type.getElementType() == unsigned64 && type.getDims().size() <= 2;
  });
  if (!key)
    key = argument(drawTensorType(unsigned64, 1));
  SmallVector<Dim> order;
  for (int i = 0; i < 2; ++i) {
    StringRef name = newName(tensorType(key));
    if (order.empty() || order[0].name != name)
      order.push_back(dim(name, sizes.count(name.str()) ? sizes[name.str()] : drawSize()));
  }
  Value bits = buildRandom(b, loc, key, order);
  if (!bits || !fitsLimits(tensorType(bits)))
    return;
  if (dice.chance(50)) { // uniform in [0, 1)
    bits = buildPointwise(b, loc, {bits}, b.getF32Type(), [&](OpBuilder &b, ValueRange s) -> Value {
      Value shifted = arith::ShRUIOp::create(b, loc, s[0], buildNumber(b, loc, b.getI32Type(), 8));
      Value real = arith::UIToFPOp::create(b, loc, b.getF32Type(), shifted);
      return arith::MulFOp::create(b, loc, real, buildNumber(b, loc, b.getF32Type(), 0x1p-24));
    });
  }
  keep(bits);
}

void Generator::step() {
  using Step = void (Generator::*)();
  static constexpr std::pair<int, Step> steps[] = {
      {26, &Generator::pointwise},   {12, &Generator::reduce},   {4, &Generator::reduceWithIndex},
      {6, &Generator::scan},         {2, &Generator::round},     {10, &Generator::window},
      {5, &Generator::unwindow},     {6, &Generator::slice},     {6, &Generator::pad},
      {5, &Generator::concat},       {5, &Generator::split},     {6, &Generator::merge},
      {6, &Generator::rename},       {5, &Generator::broadcast}, {7, &Generator::gather},
      {6, &Generator::scatter},      {5, &Generator::source},    {3, &Generator::random},
      {5, &Generator::dynamicSlice}, {6, &Generator::sort},      {6, &Generator::call},
      {3, &Generator::quantize},     {12, &Generator::kernel},   {6, &Generator::request},
      {6, &Generator::control},      {3, &Generator::group},     {3, &Generator::ordered},
      {4, &Generator::update},       {4, &Generator::marks},     {6, &Generator::twins},
      {12, &Generator::variant}};
  int total = 0;
  for (auto [weight, function] : steps)
    total += weight;
  int64_t draw = dice.below(total);
  for (auto [weight, function] : steps) {
    if (draw < weight) {
      bool isOff = (function == &Generator::call && !options.calls) ||
                   ((function == &Generator::kernel || function == &Generator::group ||
                     function == &Generator::ordered || function == &Generator::update) &&
                    !options.kernels) ||
                   (function == &Generator::quantize && options.smooth) ||
                   // Finite differences ignore stop_gradient.
                   (function == &Generator::marks && options.smooth && !options.gradients) ||
                   (function == &Generator::request && !options.requests) ||
                   (function == &Generator::control && (!options.control || depth >= 2));
      if (!isOff)
        (this->*function)();
      return;
    }
    draw -= weight;
  }
}

func::FuncOp Generator::run() {
  // Drops invalid steps, without the builders' diagnostics.
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  if (options.symbols) { // sizes of arguments bind the symbols
    argument(NdTensorType::get(drawType(), dim("a", Expr::name("N"))));
    argument(NdTensorType::get(drawType(), dim("b", Expr::name("M"))));
  }
  for (int64_t i = dice.between(1, 3); i > 0; --i)
    argument();
  if (options.branches)
    keep(branch(any()));
  for (int i = isLarge() ? std::min(options.steps, 5) : options.steps; i > 0; --i)
    step();
  // Results: at most four unused values, and perhaps one that has uses.
  SmallVector<Value> results;
  for (Value value : llvm::reverse(values))
    if (value.use_empty() && !isa<BlockArgument>(value) && results.size() < 4)
      results.push_back(value);
  if (results.empty() || dice.chance(20))
    results.push_back(any());
  func::ReturnOp::create(b, loc, results);
  SmallVector<Type> resultTypes = llvm::map_to_vector(results, [](Value v) { return v.getType(); });
  function.setFunctionType(b.getFunctionType(body->getArgumentTypes(), resultTypes));
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttr(i, nameAttrName, b.getStringAttr("x" + std::to_string(i)));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttr(i, nameAttrName, b.getStringAttr("y" + std::to_string(i)));
  module.push_back(function);
  return function;
}

int64_t laws::scaleOf(uint64_t seed) {
  Dice dice(seed + 4711);
  return dice.chance(3) ? dice.between(8, 20) : 1 + int64_t(seed % 3);
}

func::FuncOp laws::generateProgram(ModuleOp module, StringRef name, uint64_t seed,
                                   const GeneratorOptions &options) {
  return Generator(module, name, seed, options).run();
}
