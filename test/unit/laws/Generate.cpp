//===- Generate.cpp - random typed programs -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Generate.h"

#include "test/unit/laws/GenerateScalar.h"

#include "dialects/nest/NestBuild.h"
#include "dialects/nest/NestGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::nd;
using namespace mlir;

namespace {
using Strings = SmallVector<StringRef>;

/// With more elements than this the interpreter gets slow.
constexpr int64_t mostElements = 600;
constexpr size_t mostNames = 5;

int64_t numberOf(const Expr &size) {
  return *size.evaluate([](const std::string &symbol) -> std::optional<int64_t> {
    return symbol == "N" ? sizeOfN : sizeOfM;
  });
}

int64_t elementsOf(NdTensorType type) {
  int64_t count = 1;
  for (const Dim &dim : type.getDims())
    count *= numberOf(dim.size().getExpr());
  return count;
}

class Generator {
public:
  Generator(ModuleOp module, StringRef name, uint64_t seed, const GeneratorOptions &options)
      : module(module), context(module.getContext()), b(context), loc(b.getUnknownLoc()),
        dice(seed), options(options), prefix(name.str()) {
    function = func::FuncOp::create(loc, name, b.getFunctionType({}, {}));
    body = function.addEntryBlock();
    b.setInsertionPointToEnd(body);
    for (StringRef each : {"a", "b", "c", "d", "k", "row", "ky"})
      sizes[each.str()] = drawSize();
  }

  func::FuncOp run();

private:
  ModuleOp module;
  MLIRContext *context;
  OpBuilder b;
  Location loc;
  Dice dice;
  GeneratorOptions options;
  std::string prefix;
  func::FuncOp function;
  Block *body;
  SmallVector<Value> values;
  std::map<std::string, Expr> sizes;
  int freshNames = 0, callees = 0;

  // Choices.
  Expr drawSize() {
    if (options.symbols && dice.chance(45))
      return Expr::name(dice.chance(70) ? "N" : "M");
    return Expr(dice.pick({0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 11, 13}));
  }
  Type drawType() { return drawElement(dice, context, options.smooth); }
  StringRef anyName() {
    auto entry = sizes.begin();
    std::advance(entry, dice.below(int64_t(sizes.size())));
    return entry->first;
  }
  Dim dim(StringRef name, const Expr &size) { return Dim(context, name, size); }
  StringRef freshName() {
    // Spelled so that new names sort before, between and after the others. A callee's names may
    // come back as such.
    while (true) {
      auto name =
          b.getStringAttr(std::string(1, "abkrz"[dice.below(5)]) + std::to_string(++freshNames));
      if (llvm::none_of(values, [&](Value value) { return tensorType(value).has(name); }))
        return name.getValue();
    }
  }
  /// A name that `used` lacks: a usual one, or a new one.
  StringRef newName(NdTensorType used) {
    if (dice.chance(60))
      for (int tries = 0; tries < 4; ++tries)
        if (StringRef name = anyName(); !used.has(name))
          return name;
    return freshName();
  }
  NdTensorType drawTensorType(Type element, size_t most = 3) {
    SmallVector<Dim> dims;
    llvm::StringSet<> seen;
    for (size_t i = dice.below(int64_t(most) + 1); i > 0; --i)
      if (StringRef name = anyName(); seen.insert(name).second)
        dims.push_back(dim(name, dice.chance(90) ? sizes[name.str()] : drawSize()));
    auto type = NdTensorType::get(element, dims);
    return elementsOf(type) <= mostElements ? type : NdTensorType::get(element, ArrayRef<Dim>());
  }

  // Values.
  Value argument(NdTensorType type) {
    Value value = body->addArgument(type, loc);
    values.push_back(value);
    return value;
  }
  Value argument() { return argument(drawTensorType(drawType())); }
  Value constant(NdTensorType type);
  /// One of the values for which `fits` holds; a null value if none does.
  Value any(llvm::function_ref<bool(NdTensorType)> fits = nullptr) {
    SmallVector<Value> fitting;
    for (Value value : values)
      if (!fits || fits(tensorType(value)))
        fitting.push_back(value);
    if (fitting.empty())
      return {};
    return dice.chance(40) ? fitting.back() : dice.pick(fitting);
  }
  /// A value of an element type that satisfies `fits`, or an argument.
  Value ofElement(llvm::function_ref<bool(Type)> fits) {
    if (Value value = any([&](NdTensorType type) { return fits(type.getElementType()); }))
      return value;
    Type element = drawType();
    for (int i = 0; i < 50 && !fits(element); ++i)
      element = drawType();
    return fits(element) ? argument(drawTensorType(element)) : Value();
  }
  bool fitsLimits(NdTensorType type) {
    return elementsOf(type) <= mostElements && type.getDims().size() <= mostNames;
  }
  void keep(Value value) {
    if (!value)
      return;
    if (fitsLimits(tensorType(value)))
      values.push_back(value);
    else if (value.use_empty())
      value.getDefiningOp()->erase();
  }
  void keep(ArrayRef<Value> list) {
    if (list.empty() || !llvm::all_of(list, [&](Value v) { return fitsLimits(tensorType(v)); })) {
      if (!list.empty())
        list[0].getDefiningOp()->erase();
      return;
    }
    values.append(list.begin(), list.end());
  }
  /// A name of the value, empty if it has none.
  StringRef nameOf(Value value, llvm::function_ref<bool(int64_t)> fits = nullptr) {
    Strings names;
    for (const Dim &dim : tensorType(value).getDims())
      if (!fits || fits(numberOf(dim.size().getExpr())))
        names.push_back(dim.name);
    return names.empty() ? StringRef() : dice.pick(names);
  }
  Expr sizeOf(Value value, StringRef name) { return tensorType(value).size(name).getExpr(); }
  TypedAttr drawNumber(NdTensorType type) {
    return numberAttr(type.scalarType(), double(dice.between(-6, 6)) /
                                             (isa<FloatType>(type.getElementType()) ? 4 : 1));
  }
  /// `value`, its names changed where they stand in the way of `others`.
  Value compatible(Value value, ArrayRef<Value> others);
  CombinerKind drawCombiner(Type element);

  // Steps.
  void pointwise();
  void reduce();
  void reduceWithIndex();
  void scan();
  void round();
  void window();
  void unwindow();
  void slice();
  void pad();
  void concat();
  void split();
  void merge();
  void rename();
  void broadcast();
  void gather();
  void scatter();
  void dynamicSlice();
  void sort();
  void source();
  void random();
  void call();
  void kernel();
  void request();
  void control();
  void step();
  Value operandFor(NdTensorType type);
};
} // namespace

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

CombinerKind Generator::drawCombiner(Type element) {
  using enum CombinerKind;
  if (isa<FloatType>(element))
    return dice.pick({Add, Add, Add, Max, Min, Mul});
  if (element.isInteger(1))
    return dice.pick({And, Or, Xor});
  return dice.pick({Add, Add, Mul, Max, Min, And, Or, Xor});
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

void Generator::reduce() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  Strings names;
  for (const Dim &each : tensorType(x).getDims())
    if (dice.chance(50))
      names.push_back(each.name);
  if (names.empty())
    names.push_back(nameOf(x));
  dice.shuffle(names);
  keep(buildReduce(b, loc, x, names, drawCombiner(tensorType(x).getElementType())));
}

/// The largest element and where it is; the smallest index wins a tie.
void Generator::reduceWithIndex() {
  Value x = any([](NdTensorType type) {
    return !type.getDims().getDims().empty() && isa<FloatType>(type.getElementType());
  });
  if (!x)
    return;
  StringRef name = nameOf(x);
  Type scalar = tensorType(x).scalarType(), integer = b.getI64Type();
  Value index = buildIota(b, loc, dim(name, sizeOf(x, name)), integer);
  index = buildBroadcast(b, loc, index, tensorType(x).getDims().getDims());
  SmallVector<TypedAttr> neutral{
      cast<TypedAttr>(FloatAttr::get(scalar, -std::numeric_limits<double>::infinity())),
      cast<TypedAttr>(b.getI64IntegerAttr(1 << 20))};
  keep(buildReduce(b, loc, {x, index}, {name}, neutral, [&](OpBuilder &b, ValueRange s) {
    Value more = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, s[2], s[0]);
    Value same = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, s[2], s[0]);
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, s[3], s[1]);
    Value wins = arith::OrIOp::create(b, loc, more, arith::AndIOp::create(b, loc, same, first));
    return SmallVector<Value>{arith::SelectOp::create(b, loc, wins, s[2], s[0]),
                              arith::SelectOp::create(b, loc, wins, s[3], s[1])};
  }));
}

void Generator::scan() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (x)
    keep(buildScan(b, loc, x, nameOf(x), drawCombiner(tensorType(x).getElementType()),
                   dice.chance(40), dice.chance(40)));
}

void Generator::round() {
  Value x = any([](NdTensorType type) { return type.getElementType().isF32(); });
  if (x && !options.smooth)
    keep(buildRound(b, loc, x,
                    dice.pick<Type>({b.getBF16Type(), b.getF16Type(), b.getType<Float8E4M3FNType>(),
                                     b.getType<Float8E5M2Type>()})));
}

void Generator::window() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  WindowShape shape;
  shape.name = nameOf(x);
  shape.tap = newName(tensorType(x));
  shape.size = dice.between(1, 4);
  shape.stride = dice.pick({1, 1, 1, 2, 3});
  shape.dilation = dice.pick({1, 1, 1, 2});
  shape.low = dice.pick({0, 0, 1, 2});
  shape.high = dice.pick({0, 0, 1, 2});
  Type element = tensorType(x).getElementType();
  if (numberOf(windowedSize(sizeOf(x, shape.name), shape)) < 0)
    return;
  bool isInside = shape.low == 0 && shape.high == 0;
  if (dice.chance(60)) {
    keep(buildWindow(b, loc, x, shape, drawNumber(tensorType(x))));
    return;
  }
  // What is excluded must be reduced.
  Value y = buildWindow(b, loc, x, shape);
  if (!y)
    return;
  if (isInside && dice.chance(30)) {
    keep(y);
    return;
  }
  if (dice.chance(40))
    y = buildPointwise(b, loc, {y}, element, [&](OpBuilder &builder, ValueRange scalars) {
      return drawScalarCode(dice, builder, loc, scalars, {element}, element, options.smooth);
    });
  Strings names{shape.tap};
  for (const Dim &each : tensorType(y).getDims())
    if (each.name != shape.tap && dice.chance(20))
      names.push_back(each.name);
  keep(buildReduce(b, loc, y, names, drawCombiner(element)));
}

void Generator::unwindow() {
  Value x = any([&](NdTensorType type) {
    return type.getDims().size() >= 2 && !type.getElementType().isInteger(1) && type.isStatic();
  });
  if (!x)
    return;
  WindowShape shape;
  shape.name = nameOf(x, [](int64_t size) { return size > 0; });
  shape.tap = nameOf(x, [](int64_t size) { return size > 0; });
  if (shape.name.empty() || shape.name == shape.tap)
    return;
  shape.size = numberOf(sizeOf(x, shape.tap));
  shape.stride = dice.pick({1, 1, 2, 3});
  shape.dilation = dice.pick({1, 1, 2});
  shape.low = dice.pick({0, 0, 1, 2});
  shape.high = dice.pick({0, 0, 1});
  int64_t size = (numberOf(sizeOf(x, shape.name)) - 1) * shape.stride +
                 (shape.size - 1) * shape.dilation + 1 - shape.low - shape.high +
                 dice.below(shape.stride);
  if (size >= 0)
    keep(buildUnwindow(b, loc, x, shape, Expr(size)));
}

void Generator::slice() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  StringRef name = nameOf(x);
  Expr size = sizeOf(x, name);
  int64_t number = numberOf(size);
  if (!size.isConstant()) {
    int64_t start = dice.below(number + 1);
    keep(buildSlice(b, loc, x, name, start, size - start));
    return;
  }
  if (number == 0)
    return;
  int64_t stride = dice.pick({1, 1, 2, 3, -1, -2}), start = dice.below(number);
  int64_t most = stride > 0 ? (number - 1 - start) / stride + 1 : start / -stride + 1;
  keep(buildSlice(b, loc, x, name, start, Expr(dice.chance(50) ? most : dice.below(most + 1)),
                  stride));
}

void Generator::pad() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (x)
    keep(buildPad(b, loc, x, nameOf(x), dice.pick({0, 1, 2}), dice.pick({0, 1, 3}),
                  dice.pick({0, 0, 0, 1, 2}), drawNumber(tensorType(x))));
}

void Generator::concat() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  StringRef name = nameOf(x);
  auto without = [&](NdTensorType type) {
    SmallVector<Dim> dims;
    for (const Dim &each : type.getDims())
      if (each.name != name)
        dims.push_back(each);
    return type.withDims(dims);
  };
  // Gradients want to know where each part lies.
  auto isPlaced = [&](NdTensorType type) {
    return !options.smooth || type.size(name).getExpr().isConstant();
  };
  if (!isPlaced(tensorType(x)))
    return;
  SmallVector<Value> inputs{x};
  for (int64_t i = dice.pick({1, 1, 2}); i > 0; --i) {
    Value other = any([&](NdTensorType type) {
      return type.has(name) && isPlaced(type) && without(type) == without(tensorType(x));
    });
    inputs.push_back(other);
  }
  dice.shuffle(inputs);
  keep(buildConcat(b, loc, inputs, name));
}

void Generator::split() {
  Value x = any([](NdTensorType type) {
    return !type.getDims().getDims().empty() && type.getDims().size() < mostNames;
  });
  if (!x)
    return;
  StringRef name = nameOf(x);
  Expr size = sizeOf(x, name);
  if (!size.isConstant())
    return;
  SmallVector<int64_t> divisors;
  for (int64_t d = 1; d <= std::max<int64_t>(numberOf(size), 1); ++d)
    if (numberOf(size) % d == 0)
      divisors.push_back(d);
  int64_t first = dice.pick(divisors);
  StringRef one = dice.chance(30) ? name : newName(tensorType(x)), two = newName(tensorType(x));
  if (one == two)
    return;
  SmallVector<Dim> into{dim(one, Expr(first)), dim(two, Expr(numberOf(size) / first))};
  keep(buildSplit(b, loc, x, name, into));
}

void Generator::merge() {
  Value x = any([](NdTensorType type) { return type.getDims().size() >= 2; });
  if (!x)
    return;
  Strings names;
  for (const Dim &each : tensorType(x).getDims())
    names.push_back(each.name);
  dice.shuffle(names);
  names.resize(size_t(dice.between(2, int64_t(names.size()))));
  StringRef into = dice.chance(30) ? names[0] : newName(tensorType(x));
  keep(buildMerge(b, loc, x, names, into));
}

void Generator::rename() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  Strings from, to;
  for (const Dim &each : tensorType(x).getDims())
    from.push_back(each.name);
  to = from;
  if (dice.chance(50)) // names change places
    dice.shuffle(to);
  if (dice.chance(60))
    to[size_t(dice.below(int64_t(to.size())))] = newName(tensorType(x));
  keep(buildRename(b, loc, x, from, to));
}

void Generator::broadcast() {
  Value x = any([](NdTensorType type) { return type.getDims().size() < mostNames; });
  if (!x)
    return;
  StringRef name = newName(tensorType(x));
  Expr size = sizes.count(name.str()) ? sizes[name.str()] : drawSize();
  keep(buildBroadcast(b, loc, x, dim(name, size)));
}

void Generator::gather() {
  Value x = any([](NdTensorType type) {
    return llvm::any_of(type.getDims(),
                        [](const Dim &dim) { return numberOf(dim.size().getExpr()) > 0; });
  });
  if (!x || elementsOf(tensorType(x)) == 0)
    return;
  Strings names{nameOf(x)};
  if (StringRef other = nameOf(x); other != names[0] && dice.chance(40))
    names.push_back(other);
  // Names of the indices may be shared with the rest of the input, where sizes agree.
  SmallVector<Value> indices, others;
  SmallVector<Dim> rest;
  for (const Dim &each : tensorType(x).getDims())
    if (!llvm::is_contained(names, each.name.getValue()))
      rest.push_back(each);
  for (size_t i = 0; i < names.size(); ++i) {
    Value index = ofElement([](Type type) { return isa<IntegerType>(type) && !type.isInteger(1); });
    if (!index)
      return;
    SmallVector<NdTensorType> types{tensorType(x).withDims(rest)};
    Strings from, to;
    for (const Dim &each : tensorType(index).getDims()) {
      bool clashes = types[0].has(each.name) && types[0].size(each.name) != each.size();
      for (Value other : indices)
        clashes |=
            tensorType(other).has(each.name) && tensorType(other).size(each.name) != each.size();
      if (clashes) {
        from.push_back(each.name);
        to.push_back(freshName());
      }
    }
    indices.push_back(buildRename(b, loc, index, from, to));
  }
  keep(buildGather(b, loc, x, names, indices));
}

void Generator::scatter() {
  Value destination = any([](NdTensorType type) {
    return !type.getDims().getDims().empty() && !type.getElementType().isInteger(1);
  });
  if (!destination)
    return;
  NdTensorType type = tensorType(destination);
  StringRef name = nameOf(destination);
  Value index = options.smooth ? Value() : any([](NdTensorType t) {
    return isa<IntegerType>(t.getElementType()) && !t.getElementType().isInteger(1) &&
           t.getDims().size() <= 2;
  });
  if (!index) {
    // Coordinates from the position itself.
    Dim along = dim(newName(type), Expr(dice.between(0, 6)));
    Value iota = buildIota(b, loc, along, b.getI32Type());
    index =
        buildPointwise(b, loc, {iota}, b.getI32Type(), [&](OpBuilder &b, ValueRange s) -> Value {
          Value scaled = arith::MulIOp::create(
              b, loc, s[0], buildNumber(b, loc, b.getI32Type(), dice.between(1, 3)));
          return arith::SubIOp::create(b, loc, scaled,
                                       buildNumber(b, loc, b.getI32Type(), dice.between(0, 3)));
        });
  }
  SmallVector<Dim> rest;
  for (const Dim &each : type.getDims())
    if (each.name != name)
      rest.push_back(each);
  Strings from, to;
  for (const Dim &each : tensorType(index).getDims())
    if (auto size = type.withDims(rest).size(each.name); size && size != each.size()) {
      from.push_back(each.name);
      to.push_back(freshName());
    }
  index = buildRename(b, loc, index, from, to);
  SmallVector<Dim> dims(rest);
  for (const Dim &each : tensorType(index).getDims())
    if (!type.withDims(rest).has(each.name))
      dims.push_back(each);
  auto updateType = type.withDims(dims);
  if (!fitsLimits(updateType))
    return;
  Value updates = operandFor(updateType);
  CombinerKind kind = options.smooth ? dice.pick({CombinerKind::Add, CombinerKind::Mul})
                                     : drawCombiner(type.getElementType());
  keep(buildScatter(b, loc, destination, updates, {name}, {index}, kind));
}

/// A range at a computed place is read, or written.
void Generator::dynamicSlice() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  NdTensorType type = tensorType(x);
  StringRef name = nameOf(x);
  Expr size = sizeOf(x, name);
  if (!size.isConstant() && dice.chance(50))
    size = size - 1; // most often there are as many
  else if (size.isConstant())
    size = Expr(dice.below(numberOf(size) + 1));
  SmallVector<Dim> rest;
  for (const Dim &each : type.getDims())
    if (each.name != name)
      rest.push_back(each);
  bool writes = dice.chance(50);
  // The start has names of the input, or others that are crossed.
  SmallVector<Dim> own;
  for (const Dim &each : rest)
    if (dice.chance(30))
      own.push_back(each);
  if (!writes && dice.chance(20))
    own.push_back(dim(freshName(), Expr(dice.between(0, 3))));
  auto starts = NdTensorType::get(b.getI32Type(), own);
  Value start;
  if (!options.smooth && dice.chance(70))
    start = operandFor(starts);
  else
    start = constant(starts);
  if (!start)
    return;
  if (!writes) {
    keep(buildDynamicSlice(b, loc, x, name, start, size));
    return;
  }
  SmallVector<Dim> dims(rest);
  dims.push_back(dim(name, size));
  keep(buildUpdateSlice(b, loc, operandFor(type.withDims(dims)), x, name, start));
}

/// Sorts by a tensor, which another one of its names or the coordinate may follow; all, or the
/// first elements.
void Generator::sort() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  StringRef name = nameOf(x);
  NdTensorType type = tensorType(x);
  if (!sizeOf(x, name).isConstant())
    return;
  SmallVector<Value> inputs{x};
  if (dice.chance(40))
    inputs.push_back(any([&](NdTensorType other) { return other.getDims() == type.getDims(); }));
  if (dice.chance(40))
    inputs.push_back(buildBroadcast(b, loc,
                                    buildIota(b, loc, dim(name, sizeOf(x, name)), b.getI64Type()),
                                    type.getDims().getDims()));
  Expr size = sizeOf(x, name);
  if (size.isConstant() && dice.chance(40))
    size = Expr(dice.below(numberOf(size) + 1));
  keep(buildSort(b, loc, inputs, name, dice.chance(50), size));
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

/// A value of exactly this type: one that there is, or an argument.
Value Generator::operandFor(NdTensorType type) {
  if (dice.chance(60))
    if (Value value = any([&](NdTensorType other) { return other == type; }))
      return value;
  return argument(type);
}

void Generator::call() {
  GeneratorOptions inner = options;
  inner.steps = int(dice.between(1, 3));
  inner.calls = options.calls && dice.chance(20);
  inner.control = false; // branches cannot be lifted
  inner.requests = false;
  func::FuncOp callee =
      generateProgram(module, prefix + "_" + std::to_string(callees++), dice.bits(), inner);
  SmallVector<Value> operands;
  llvm::StringMap<Expr> lifted;
  // The callee's symbols are not the caller's.
  Expr n = Expr::name("N"), m = Expr::name("M");
  std::map<std::string, Expr, std::less<>> symbols{// No smaller than what the callee was made for.
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
      StringRef name = anyName(); // often one that the callee uses inside
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
  if (!results.empty() || callee.getNumResults() == 0)
    keep(results);
}

/// A kernel: reads through affine maps, some guarded, a body, perhaps a reduction.
void Generator::kernel() {
  SmallVector<Value> reads{any()};
  if (dice.chance(60))
    reads.push_back(any());
  for (Value read : reads)
    if (elementsOf(tensorType(read)) == 0 || !tensorType(read).isStatic())
      return;
  std::map<std::string, std::pair<int64_t, bool>> space; // size, whether it is reduced
  nest::NestBuilder nest(b, loc);
  auto iteration = [&](int64_t most) -> std::pair<std::string, int64_t> {
    if (!space.empty() && dice.chance(50)) {
      auto entry = space.begin();
      std::advance(entry, dice.below(int64_t(space.size())));
      return {entry->first, entry->second.first};
    }
    std::string name = (dice.chance(50) ? anyName() : freshName()).str();
    auto entry =
        space.try_emplace(name, dice.between(1, std::max<int64_t>(most, 1)), dice.chance(30)).first;
    return {name, entry->second.first};
  };
  for (Value read : reads) {
    SmallVector<nest::MapEntry> entries;
    SmallVector<nest::Condition> conditions;
    for (const Dim &each : tensorType(read).getDims()) {
      int64_t size = numberOf(each.size().getExpr());
      auto [one, oneSize] = iteration(size);
      Expr place = Expr::name(one);
      int64_t low = 0, high = oneSize - 1;
      switch (dice.below(6)) {
      case 0: { // a window
        auto [two, twoSize] = iteration(3);
        int64_t stride = dice.between(1, 2), offset = dice.between(-1, 1);
        if (two != one) {
          place = Expr(stride) * Expr::name(one) + Expr::name(two) + offset;
          low = offset, high = stride * (oneSize - 1) + twoSize - 1 + offset;
        }
        break;
      }
      case 1: { // backwards
        place = Expr(size - 1) - Expr::name(one);
        low = size - oneSize, high = size - 1;
        break;
      }
      case 2: {
        int64_t divisor = dice.between(2, 3);
        place = Expr::name(one).floordiv(divisor);
        high = (oneSize - 1) / divisor;
        break;
      }
      case 3:
        place = Expr::name(one).mod(size);
        high = std::min(high, size - 1);
        break;
      case 4:
        place = Expr(dice.below(size));
        low = 0, high = size - 1;
        break;
      default:
        break;
      }
      if (low < 0)
        conditions.emplace_back(context, place);
      if (high >= size)
        conditions.emplace_back(context, Expr(size - 1) - place);
      entries.emplace_back(context, each.name, place);
    }
    TypedAttr otherwise;
    bool isReduction = llvm::any_of(space, [](auto &entry) { return entry.second.second; });
    if (!conditions.empty() && !(isReduction && dice.chance(40)))
      otherwise = drawNumber(tensorType(read));
    nest.read(read, nest::MapAttr::getSorted(context, entries),
              nest::GuardAttr::get(context, conditions, otherwise));
  }
  int64_t points = 1;
  SmallVector<Dim> produced, reduced;
  for (auto &[name, entry] : space) {
    points *= entry.first;
    (entry.second ? reduced : produced).push_back(dim(name, Expr(entry.first)));
  }
  if (points > 1500 || produced.size() > mostNames)
    return;
  nest.produced = DimsAttr::getSorted(context, produced);
  nest.reduced = DimsAttr::getSorted(context, reduced);
  SmallVector<Type> from =
      llvm::map_to_vector(reads, [](Value v) { return tensorType(v).getElementType(); });
  Type to = dice.chance(80) ? from[0] : drawType();
  CombinerKind kind = reduced.empty() ? CombinerKind::General : drawCombiner(to);
  auto op = nest.create(
      {to},
      [&](OpBuilder &builder, Location loc, ValueRange scalars) {
        SmallVector<Value> all(scalars);
        SmallVector<Type> types(from);
        if (!space.empty() && dice.chance(20)) {
          auto entry = space.begin();
          std::advance(entry, dice.below(int64_t(space.size())));
          Value index = nest::IndexOp::create(builder, loc, builder.getIndexType(), entry->first);
          all.push_back(arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index));
          types.push_back(builder.getI64Type());
        }
        return SmallVector<Value>{
            drawScalarCode(dice, builder, loc, all, types, to, options.smooth)};
      },
      kind, isSignedElement(to));
  if (reduced.size() > 1 && options.smooth) {
    // Which of equal elements counts.
    SmallVector<StringRef> order =
        llvm::map_to_vector(reduced, [](const Dim &each) { return each.name.getValue(); });
    dice.shuffle(order);
    op->setAttr(nest::orderAttrName, b.getStrArrayAttr(order));
  }
  keep(op.getResult(0));
}

/// The gradient of a function made for it.
void Generator::request() {
  GeneratorOptions inner = options;
  inner.smooth = true;
  inner.requests = false;
  inner.steps = int(dice.between(1, 4));
  func::FuncOp callee =
      generateProgram(module, prefix + "_" + std::to_string(callees++), dice.bits(), inner);
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

/// A loop that uses its counter, or a branch on the largest element.
void Generator::control() {
  Value x = any();
  NdTensorType type = tensorType(x);
  Type element = type.getElementType();
  auto code = [&](OpBuilder &at, ValueRange inputs) {
    SmallVector<Type> types =
        llvm::map_to_vector(inputs, [](Value value) { return tensorType(value).getElementType(); });
    return buildPointwise(at, loc, inputs, element, [&](OpBuilder &inner, ValueRange scalars) {
      return drawScalarCode(dice, inner, loc, scalars, types, element, options.smooth);
    });
  };
  auto index = [&](OpBuilder &at, int64_t i) {
    return arith::ConstantIndexOp::create(at, loc, i).getResult();
  };
  auto loop = [&](OpBuilder &outside, Value low, Value high, Value stride, Value start) {
    return scf::ForOp::create(outside, loc, low, high, stride, ValueRange{start},
                              [&](OpBuilder &at, Location, Value i, ValueRange state) {
                                SmallVector<Value> inputs{state[0], x};
                                if (dice.chance(50))
                                  inputs.push_back(nd::FromItemOp::create(
                                      at, loc, NdTensorType::get(at.getI64Type(), ArrayRef<Dim>()),
                                      i));
                                scf::YieldOp::create(at, loc, code(at, inputs));
                              })
        .getResult(0);
  };
  if (dice.chance(40))
    return keep(loop(b, index(b, dice.between(0, 2)), index(b, dice.between(1, 5)),
                     index(b, dice.between(1, 2)), x));
  Strings names;
  for (const Dim &each : type.getDims())
    names.push_back(each.name);
  bool isFloat = isa<FloatType>(element);
  Value most = names.empty()
                   ? x
                   : buildReduce(b, loc, x, names,
                                 element.isInteger(1) ? CombinerKind::Or : CombinerKind::Max);
  Value holds =
      buildPointwise(b, loc, most, b.getI1Type(), [&](OpBuilder &at, ValueRange s) -> Value {
        Value bound = buildNumber(at, loc, s[0].getType(), isFloat ? 0.37 : 0);
        if (isFloat)
          return arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OGT, s[0], bound);
        return arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ne, s[0], bound);
      });
  // As many steps as a value says: 0 to 3.
  auto counted = [&](OpBuilder &at, Value start) {
    Value count = buildPointwise(at, loc, holds, at.getI64Type(), [&](OpBuilder &c, ValueRange s) {
      Value many = buildNumber(c, loc, c.getI64Type(), double(dice.between(0, 3))),
            few = buildNumber(c, loc, c.getI64Type(), double(dice.between(0, 3)));
      return arith::SelectOp::create(c, loc, s[0], many, few).getResult();
    });
    return loop(at, index(at, dice.between(-1, 0)),
                nd::ItemOp::create(at, loc, at.getIndexType(), count), index(at, 1), start);
  };
  if (!options.smooth && dice.chance(40)) // it has no gradients
    return keep(counted(b, x));
  bool holdsLoop = !options.smooth && dice.chance(40);
  auto branch = scf::IfOp::create(b, loc, TypeRange{type},
                                  nd::ItemOp::create(b, loc, b.getI1Type(), holds), true);
  for (Block *side : {branch.thenBlock(), branch.elseBlock()}) {
    OpBuilder at = OpBuilder::atBlockEnd(side);
    Value value = dice.chance(70) ? code(at, {x}) : x;
    scf::YieldOp::create(at, loc, holdsLoop && dice.chance(60) ? counted(at, value) : value);
  }
  keep(branch.getResult(0));
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
      {5, &Generator::dynamicSlice}, {5, &Generator::sort},      {6, &Generator::call},
      {8, &Generator::kernel},       {6, &Generator::request},
      {6, &Generator::control}};
  int total = 0;
  for (auto [weight, function] : steps)
    total += weight;
  int64_t draw = dice.below(total);
  for (auto [weight, function] : steps) {
    if (draw < weight) {
      bool isOff = (function == &Generator::call && !options.calls) ||
                   (function == &Generator::kernel && !options.kernels) ||
                   (function == &Generator::request && !options.requests) ||
                   (function == &Generator::control && !options.control);
      if (!isOff)
        (this->*function)();
      return;
    }
    draw -= weight;
  }
}

func::FuncOp Generator::run() {
  // What does not fit is dropped; the builders' messages about it are of no interest.
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  if (options.symbols) { // arguments say what symbols stand for
    argument(NdTensorType::get(drawType(), dim("a", Expr::name("N"))));
    argument(NdTensorType::get(drawType(), dim("b", Expr::name("M"))));
  }
  for (int64_t i = dice.between(1, 3); i > 0; --i)
    argument();
  for (int i = 0; i < options.steps; ++i)
    step();
  // Results: what nobody uses, at most four, and perhaps something that is used as well.
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

func::FuncOp laws::generateProgram(ModuleOp module, StringRef name, uint64_t seed,
                                   const GeneratorOptions &options) {
  return Generator(module, name, seed, options).run();
}
