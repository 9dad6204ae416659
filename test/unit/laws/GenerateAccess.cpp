//===- GenerateAccess.cpp - access by value, sorts ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Generator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::nd;
using namespace mlir;

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
    Value index = places();
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
  Value index = any([](NdTensorType t) {
    return isa<IntegerType>(t.getElementType()) && !t.getElementType().isInteger(1) &&
           t.getDims().size() <= 2;
  });
  if (options.smooth && dice.chance(50))
    index = places();
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
  SmallVector<Dim> rest = dimsWithout(type, name);
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
  if (dice.chance(20) && !(options.smooth && (options.symbols || inScan || depth))) {
    Combination drawn = drawCombination(type.getElementType(), false);
    if (drawn.neutral.size() == 1 && drawn.neutral[0].getType() == type.scalarType()) {
      keep(buildScatter(b, loc, destination, updates, {name}, {index},
                        [&](OpBuilder &at, ValueRange s) { return drawn.combine(at, s)[0]; }));
      return;
    }
  }
  CombinerKind kind = options.smooth ? dice.pick({CombinerKind::Add, CombinerKind::Mul})
                                     : drawCombiner(type.getElementType());
  keep(buildScatter(b, loc, destination, updates, {name}, {index}, kind));
}

/// Reads or writes a range at a computed index.
void Generator::dynamicSlice() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  NdTensorType type = tensorType(x);
  StringRef name = nameOf(x);
  Expr size = sizeOf(x, name);
  if (!size.isConstant() && numberOf(size) > 0 && dice.chance(50))
    size = size - 1; // usually the whole size
  else if (size.isConstant())
    size = Expr(dice.below(numberOf(size) + 1));
  SmallVector<Dim> rest = dimsWithout(type, name);
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
  if (options.smooth && dice.chance(50))
    start = body->addArgument(starts, loc);
  else if (!options.smooth && dice.chance(70))
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

/// Sorts by a tensor, with another one of the same names or the coordinate as further input; all,
/// or the first elements.
void Generator::sort() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  StringRef name = nameOf(x);
  NdTensorType type = tensorType(x);
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
  bool descending = dice.chance(50);
  if (!options.kernels || dice.chance(75)) {
    keep(buildSort(b, loc, inputs, name, descending, size));
    return;
  }
  SmallVector<Type> types;
  for (Value input : inputs) {
    SmallVector<Dim> dims = dimsWithout(type, name);
    dims.push_back(dim(name, size));
    types.push_back(tensorType(input).withDims(dims));
  }
  keep(SmallVector<Value>(nest::SortOp::create(b, loc, types, inputs,
                                               DimsAttr::get(context, dim(name, sizeOf(x, name))),
                                               descending, ArrayAttr(), nest::ScheduleAttr())
                              .getResults()));
}
