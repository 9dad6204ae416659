//===- GenerateShapes.cpp - ops that move elements ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Generator.h"

#include "test/unit/laws/GenerateScalar.h"

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::nd;
using namespace mlir;

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
  // A tensor with excluded elements must be reduced.
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
  if (dice.chance(20)) // a sum of repeated, possibly excluded elements
    y = buildBroadcast(b, loc, y, dim(newName(tensorType(y)), Expr(dice.between(0, 3))));
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
  auto without = [&](NdTensorType type) { return type.withDims(dimsWithout(type, name)); };
  // Gradients need the offset of each part.
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
  if (options.symbols && dice.chance(50)) // one that is a multiple, if there is one
    for (Value value : values)
      for (const Dim &each : tensorType(value).getDims())
        if (Expr size = each.size().getExpr();
            tensorType(value).getDims().size() < mostNames && size.terms().size() == 1 &&
            size.terms()[0].coefficient > 1 && size.offset() == 0)
          x = value, name = each.name.getValue();
  Expr size = sizeOf(x, name);
  if (!size.isConstant()) {
    Dim two = dim(newName(tensorType(x)), Expr(2)), three = dim(two.name, Expr(3));
    Expr n = Expr::name("N"), m = Expr::name("M");
    if (options.relations && size == 3 * n) // an equal expression, stated or not
      keep(dice.chance(50) ? buildSplit(b, loc, x, name, dim(name, 5 * m))
                           : buildSplit(b, loc, x, name, {dim(name, n), three}));
    else if (size == 2 * n || size == 2 * m)
      keep(buildSplit(b, loc, x, name, {dim(name, size == 2 * n ? n : m), two}));
    return;
  }
  if (numberOf(size) == 1 && dice.chance(25)) { // into no names
    keep(buildSplit(b, loc, x, name, {}));
    return;
  }
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
  if (!x) { // of no names
    Value small = any();
    keep(buildMerge(b, loc, small, {}, newName(tensorType(small))));
    return;
  }
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
  if (dice.chance(50)) // swaps names
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
