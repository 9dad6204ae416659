//===- NestBuild.cpp - making and looking at nests ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

nd::NdTensorType nest::tensorTypeOf(Value value) { return cast<nd::NdTensorType>(value.getType()); }

NestBuilder::NestBuilder(OpBuilder &builder, Location loc)
    : builder(builder), loc(loc), produced(nd::DimsAttr::get(builder.getContext(), {})),
      reduced(nd::DimsAttr::get(builder.getContext(), {})) {}

static GuardAttr orTrivial(MLIRContext *context, GuardAttr guard) {
  return guard ? guard : GuardAttr::get(context, {}, TypedAttr());
}

unsigned NestBuilder::read(Value value, MapAttr map, GuardAttr guard) {
  reads.push_back(value);
  maps.push_back(map);
  guards.push_back(orTrivial(builder.getContext(), guard));
  return reads.size() - 1;
}

unsigned NestBuilder::finishRead(Value value, MapAttr map, GuardAttr guard) {
  finishReads.push_back(value);
  finishMaps.push_back(map);
  finishGuards.push_back(orTrivial(builder.getContext(), guard));
  return finishReads.size() - 1;
}

ComputeOp NestBuilder::createOp(TypeRange resultTypes, ArrayAttr neutral) {
  OperationState state(loc, ComputeOp::getOperationName());
  state.addOperands(reads);
  state.addOperands(finishReads);
  state.addTypes(resultTypes);
  for (int i = 0; i < 3; ++i)
    state.addRegion();
  auto &properties = state.getOrAddProperties<ComputeOp::Properties>();
  SmallVector<Attribute> allMaps(maps), allGuards(guards);
  allMaps.append(finishMaps);
  allGuards.append(finishGuards);
  properties.produced = produced;
  properties.reduced = reduced;
  properties.maps = builder.getArrayAttr(allMaps);
  properties.guards = builder.getArrayAttr(allGuards);
  properties.neutral = neutral;
  properties.setOperandSegmentSizes({int32_t(reads.size()), int32_t(finishReads.size())});
  return cast<ComputeOp>(builder.create(state));
}

ComputeOp NestBuilder::create(TypeRange elements, RegionBody body, nd::CombinerKind kind, bool isSigned) {
  SmallVector<Type> types;
  for (Type element : elements)
    types.push_back(nd::NdTensorType::get(builder.getContext(), element, produced));
  ComputeOp op = createOp(types, builder.getArrayAttr({}));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  for (Value value : reads)
    block->addArgument(tensorTypeOf(value).scalarType(), loc);
  SmallVector<Value> results = body(builder, loc, block->getArguments());
  YieldOp::create(builder, loc, results);
  if (reduced.size() == 0)
    return op;
  assert(results.size() == 1 && "a named combiner has one accumulator");
  Type accumulator = results[0].getType();
  if (accumulator.isF16() || accumulator.isBF16())
    accumulator = builder.getF32Type();
  TypedAttr neutral = nd::buildCombiner(builder, loc, op.getCombine(), kind, accumulator, "nest.yield", isSigned);
  op.setNeutralAttr(builder.getArrayAttr({neutral}));
  return op;
}

ComputeOp NestBuilder::create(TypeRange resultTypes, Region &body, Region &combine, Region &finish,
                              ArrayAttr neutral) {
  ComputeOp op = createOp(resultTypes, neutral);
  op.getBody().takeBody(body);
  op.getCombine().takeBody(combine);
  op.getFinish().takeBody(finish);
  return op;
}

Sizes nest::sizesOf(nd::DimsAttr dims) {
  Sizes sizes;
  for (const nd::Dim &dim : dims)
    sizes[dim.name.str()] = *dim.size().constant();
  return sizes;
}

Ranges nest::iterationRanges(Operation *op) {
  Ranges ranges;
  auto add = [&](nd::DimsAttr dims) {
    for (const nd::Dim &dim : dims)
      if (auto size = dim.size().constant())
        ranges[dim.name.str()] = {0, std::max<int64_t>(*size - 1, 0)};
  };
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    add(compute.getProduced());
    add(compute.getReduced());
  } else if (auto update = dyn_cast<UpdateOp>(op)) {
    add(update.getSpace());
  }
  for (Operation *around = op; around; around = around->getParentOp())
    if (auto group = dyn_cast<GroupOp>(around))
      add(group.getNames());
  return ranges;
}

static bool holds(const Condition &condition, const Ranges &ranges) {
  auto bounds = condition.expr().simplify(ranges).bounds(ranges);
  return bounds && bounds->low >= 0 && (!condition.equality || bounds->high <= 0);
}

bool nest::alwaysHolds(GuardAttr guard, const Ranges &ranges) {
  return llvm::all_of(guard.getConditions(), [&](const Condition &condition) { return holds(condition, ranges); });
}

GuardAttr nest::simplifyGuard(GuardAttr guard, const Ranges &ranges) {
  SmallVector<Condition> conditions;
  for (const Condition &condition : guard.getConditions()) {
    if (holds(condition, ranges))
      continue;
    Condition simple(guard.getContext(), condition.expr().simplify(ranges), condition.equality);
    if (!llvm::is_contained(conditions, simple))
      conditions.push_back(simple);
  }
  return GuardAttr::get(guard.getContext(), conditions, conditions.empty() ? TypedAttr() : guard.getOtherwise());
}

MapAttr nest::simplifyMap(MapAttr map, const Ranges &ranges) {
  SmallVector<MapEntry> entries;
  for (const MapEntry &entry : map.getEntries())
    entries.emplace_back(map.getContext(), entry.name.getValue(), entry.expr().simplify(ranges));
  return MapAttr::get(map.getContext(), entries);
}
