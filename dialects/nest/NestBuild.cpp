//===- NestBuild.cpp - building and querying nests ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/NestBuild.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdTypical.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

SmallVector<Type> nest::scalarTypesOf(ValueRange tensors) {
  SmallVector<Type> types;
  for (Value tensor : tensors)
    types.push_back(tensorType(tensor).scalarType());
  return types;
}

SmallVector<Type> nest::elementTypesOf(ValueRange tensors) {
  return llvm::map_to_vector(
      tensors, [](Value tensor) -> Type { return tensorType(tensor).getElementType(); });
}

TypedAttr nest::zeroOf(nd::NdTensorType type) {
  return cast<TypedAttr>(Builder(type.getContext()).getZeroAttr(type.scalarType()));
}

GuardAttr nest::guardOf(MLIRContext *context, ArrayRef<Expr> atLeastZero, TypedAttr otherwise) {
  auto conditions =
      llvm::map_to_vector(atLeastZero, [&](const Expr &expr) { return Condition(context, expr); });
  return GuardAttr::get(context, conditions, conditions.empty() ? TypedAttr() : otherwise);
}

//===----------------------------------------------------------------------===//
// Building nests
//===----------------------------------------------------------------------===//

NestBuilder::NestBuilder(OpBuilder &builder, Location loc)
    : builder(builder), loc(loc), produced(nd::DimsAttr::get(builder.getContext(), {})),
      reduced(nd::DimsAttr::get(builder.getContext(), {})) {}

NestBuilder::NestBuilder(OpBuilder &builder, ComputeOp op)
    : builder(builder), loc(op.getLoc()), produced(op.getProduced()), reduced(op.getReduced()),
      reads(op.getReads()), finishReads(op.getFinishReads()) {
  ArrayRef<Attribute> allMaps = op.getMaps().getValue(), allGuards = op.getGuards().getValue();
  llvm::append_range(maps, allMaps.take_front(reads.size()));
  llvm::append_range(guards, allGuards.take_front(reads.size()));
  llvm::append_range(finishMaps, allMaps.drop_front(reads.size()));
  llvm::append_range(finishGuards, allGuards.drop_front(reads.size()));
}

static GuardAttr orTrivial(MLIRContext *context, GuardAttr guard) {
  return guard ? guard : GuardAttr::get(context, {}, TypedAttr());
}

unsigned NestBuilder::read(Value value, MapAttr map, GuardAttr guard) {
  reads.push_back(value);
  maps.push_back(map ? map : MapAttr::identity(tensorType(value)));
  guards.push_back(orTrivial(builder.getContext(), guard));
  return reads.size() - 1;
}

unsigned NestBuilder::finishRead(Value value, MapAttr map, GuardAttr guard) {
  finishReads.push_back(value);
  finishMaps.push_back(map);
  finishGuards.push_back(orTrivial(builder.getContext(), guard));
  return finishReads.size() - 1;
}

unsigned NestBuilder::readOrZero(Value value, MapAttr map, ArrayRef<Expr> atLeastZero) {
  return read(value, map, guardOf(builder.getContext(), atLeastZero, zeroOf(tensorType(value))));
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

SmallVector<Type> NestBuilder::resultTypes(TypeRange elements) const {
  SmallVector<Type> types;
  for (Type element : elements)
    types.push_back(nd::NdTensorType::get(builder.getContext(), element, produced));
  return types;
}

void NestBuilder::fill(Region &region, TypeRange arguments, RegionBody body) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  for (Type type : arguments)
    block->addArgument(type, loc);
  SmallVector<Value> results = body(builder, loc, block->getArguments());
  YieldOp::create(builder, loc, results);
}

ComputeOp NestBuilder::create(TypeRange elements, RegionBody body, nd::CombinerKind kind,
                              bool isSigned, RegionBody finish) {
  ComputeOp op = createOp(resultTypes(elements), builder.getArrayAttr({}));
  OpBuilder::InsertionGuard guard(builder);
  fill(op.getBody(), scalarTypesOf(reads), body);
  auto yield = cast<YieldOp>(op.getBody().front().getTerminator());
  SmallVector<Type> accumulators(yield.getValues().getTypes());
  if (reduced.size() != 0) {
    assert(accumulators.size() == 1 && "a named combiner has one accumulator");
    if (nd::isNarrowFloat(accumulators[0]))
      accumulators[0] = builder.getF32Type();
    TypedAttr neutral = nd::buildCombiner(builder, loc, op.getCombine(), kind, accumulators[0],
                                          "nest.yield", isSigned);
    op.setNeutralAttr(builder.getArrayAttr({neutral}));
  }
  if (finish) {
    llvm::append_range(accumulators, scalarTypesOf(finishReads));
    fill(op.getFinish(), accumulators, finish);
  }
  return op;
}

ComputeOp NestBuilder::create(TypeRange elements, RegionBody body, ArrayRef<TypedAttr> neutral,
                              RegionBody combine, RegionBody finish) {
  SmallVector<Attribute> values(neutral.begin(), neutral.end());
  ComputeOp op = createOp(resultTypes(elements), builder.getArrayAttr(values));
  fill(op.getBody(), scalarTypesOf(reads), body);
  SmallVector<Type> accumulators;
  for (TypedAttr value : neutral)
    accumulators.push_back(value.getType());
  SmallVector<Type> both(accumulators);
  llvm::append_range(both, accumulators);
  fill(op.getCombine(), both, combine);
  if (finish) {
    llvm::append_range(accumulators, scalarTypesOf(finishReads));
    fill(op.getFinish(), accumulators, finish);
  }
  return op;
}

static SmallVector<Value> lastOf(OpBuilder &, Location, ValueRange values) {
  return {values.back()};
}

Value NestBuilder::createCopy() {
  return create({tensorType(reads.back()).getElementType()}, lastOf).getResult(0);
}

ComputeOp NestBuilder::createReduction(TypeRange elements, Region &combine, ArrayAttr neutral) {
  ComputeOp op = createOp(resultTypes(elements), neutral);
  fill(op.getBody(), scalarTypesOf(reads),
       [](OpBuilder &, Location, ValueRange read) { return SmallVector<Value>(read); });
  fill(op.getCombine(), combine.getArgumentTypes(),
       [&](OpBuilder &b, Location, ValueRange arguments) {
         return nd::inlineBlock(b, combine.front(), arguments);
       });
  return op;
}

ComputeOp NestBuilder::createLike(ComputeOp like, bool hasFinish) {
  SmallVector<Type> elements(like.getAccumulatorTypes());
  if (hasFinish)
    elements = elementTypesOf(like.getResults());
  ComputeOp op = createOp(resultTypes(elements), like.getNeutral());
  for (auto [from, to] :
       llvm::zip(like->getRegions().take_front(hasFinish ? 3 : 2), op->getRegions())) {
    IRMapping mapping;
    from.cloneInto(&to, mapping);
  }
  if (like.getLayouts())
    op.setLayoutsAttr(like.getLayoutsAttr());
  if (like.getSchedule())
    op.setScheduleAttr(like.getScheduleAttr());
  return op;
}

UpdateOp NestBuilder::createUpdate(Value dest, MapAttr destMap, RegionBody body, RegionBody combine,
                                   bool unique) {
  OperationState state(loc, UpdateOp::getOperationName());
  state.addOperands(dest);
  state.addOperands(reads);
  state.addTypes(dest.getType());
  state.addRegion();
  state.addRegion();
  auto &properties = state.getOrAddProperties<UpdateOp::Properties>();
  properties.space = produced;
  properties.destMap = destMap;
  properties.maps = builder.getArrayAttr(maps);
  properties.guards = builder.getArrayAttr(guards);
  if (unique)
    properties.unique = builder.getUnitAttr();
  auto op = cast<UpdateOp>(builder.create(state));
  fill(op.getBody(), scalarTypesOf(reads), body);
  Type element = tensorType(dest).scalarType();
  fill(op.getCombine(), {element, element}, combine);
  return op;
}

Value NestBuilder::createWrite(Value dest, MapAttr destMap) {
  return createUpdate(dest, destMap, lastOf, lastOf, /*unique=*/true).getResult();
}

Value nest::copyAt(OpBuilder &b, Location loc, Value value, nd::DimsAttr dims, const ExprMap &at,
                   GuardAttr guard, ValueRange numbers) {
  NestBuilder nest(b, loc);
  nest.produced = dims;
  for (Value number : numbers)
    nest.read(number);
  nest.read(value, MapAttr::identity(tensorType(value)).substitute(at), guard);
  return nest.createCopy();
}

Value nest::writeAt(OpBuilder &b, Location loc, Value whole, Value value, const ExprMap &at,
                    ValueRange numbers) {
  NestBuilder nest(b, loc);
  nest.produced = tensorType(value).getDims();
  for (Value number : numbers)
    nest.read(number);
  nest.read(value);
  return nest.createWrite(whole, MapAttr::identity(tensorType(whole)).substitute(at));
}

bool nest::isDivided(Operation *scan) {
  return llvm::any_of(scan->getContext()->getLoadedDialects(), [&](Dialect *dialect) {
    auto *says = dialect->getRegisteredInterface<DividesStepsInterface>();
    return says && says->divides(scan);
  });
}

Value nest::filled(OpBuilder &b, Location loc, nd::NdTensorType type, TypedAttr value) {
  NestBuilder nest(b, loc);
  nest.produced = type.getDims();
  auto constant = [&](OpBuilder &builder, Location where, ValueRange) -> SmallVector<Value> {
    return {arith::ConstantOp::create(builder, where, value)};
  };
  return nest.create({type.getElementType()}, constant).getResult(0);
}

Value nest::zeros(OpBuilder &b, Location loc, nd::NdTensorType type) {
  return filled(b, loc, type, zeroOf(type));
}

ComputeOp NestBuilder::create(TypeRange resultTypes, Region &body, Region &combine, Region &finish,
                              ArrayAttr neutral) {
  ComputeOp op = createOp(resultTypes, neutral);
  op.getBody().takeBody(body);
  op.getCombine().takeBody(combine);
  op.getFinish().takeBody(finish);
  return op;
}

//===----------------------------------------------------------------------===//
// Querying nests
//===----------------------------------------------------------------------===//

Value nest::updatedBy(Operation *op) {
  auto nest = dyn_cast<LoopNestInterface>(op);
  return nest ? nest.getUpdated() : Value();
}

nd::DimsAttr nest::iterationSpace(ComputeOp op) {
  return op.getProduced().with(op.getReduced().getDims());
}

std::string nest::readName(unsigned index) { return "@" + std::to_string(index); }

std::optional<unsigned> nest::readIndex(StringRef name) {
  unsigned index;
  if (!name.consume_front("@") || name.getAsInteger(10, index))
    return std::nullopt;
  return index;
}

bool nest::isGathered(const Expr &expr) {
  return llvm::any_of(expr.terms(), [](const Expr::Term &term) {
    return llvm::any_of(term.factors, [](const Expr::AtomRef &atom) {
      return readIndex(atom->name) ||
             llvm::any_of(atom->operands, [](const Expr &operand) { return isGathered(operand); });
    });
  });
}

bool nest::isGathered(MapAttr map) {
  return llvm::any_of(map.getEntries(),
                      [](const MapEntry &entry) { return isGathered(entry.expr()); });
}

Schedule nest::scheduleOf(Operation *nest) {
  auto scheduled = dyn_cast<ScheduledInterface>(nest);
  ScheduleAttr chosen = scheduled ? scheduled.getScheduleAttr() : ScheduleAttr();
  return chosen ? chosen.getSchedule() : Schedule();
}

std::map<std::string, std::string> nest::freeNames(UpdateOp op, bool owned) {
  std::map<std::string, std::string> free;
  for (const MapEntry &entry : op.getDestMap().getEntries()) {
    Expr coordinate = entry.expr();
    std::vector<std::string> names = coordinate.names();
    nd::SizeAttr size = names.size() == 1 ? op.getSpace().lookup(names[0]) : nd::SizeAttr();
    if (!size || coordinate.coefficient(names[0]) == 0 || !coordinate.isAffine())
      continue;
    // If a name determines several coordinates, prefer one that it owns, regardless of `owned`.
    if (coordinate.asName() && size == tensorType(op.getDest()).size(entry.name.getValue()))
      free[names[0]] = entry.name.str();
    else if (!owned)
      free.try_emplace(names[0], entry.name.str());
  }
  return free;
}

Sizes nest::sizesOf(nd::DimsAttr dims) {
  Sizes sizes;
  for (const nd::Dim &dim : dims)
    sizes[dim.name.str()] = dim.size().typical();
  return sizes;
}

Value nest::emitIndex(OpBuilder &b, Location loc, const Expr &expr, ValueRange reads) {
  using Kind = Expr::Atom::Kind;
  auto constant = [&](int64_t n) -> Value { return arith::ConstantIndexOp::create(b, loc, n); };
  Value sum;
  auto add = [&](Value v) { sum = sum ? Value(arith::AddIOp::create(b, loc, sum, v)) : v; };
  for (const Expr::Term &term : expr.terms()) {
    Value product = term.coefficient == 1 ? Value() : constant(term.coefficient);
    for (const Expr::AtomRef &atom : term.factors) {
      Value factor;
      if (atom->kind == Kind::Name) {
        if (auto read = readIndex(atom->name))
          factor = arith::IndexCastOp::create(b, loc, b.getIndexType(), reads[*read]);
        else
          factor = IndexOp::create(b, loc, b.getIndexType(), b.getStringAttr(atom->name));
      } else {
        Value x = emitIndex(b, loc, atom->operands[0], reads);
        if (atom->kind == Kind::Min || atom->kind == Kind::Max) {
          Value y = emitIndex(b, loc, atom->operands[1], reads);
          factor = atom->kind == Kind::Min ? Value(arith::MinSIOp::create(b, loc, x, y))
                                           : Value(arith::MaxSIOp::create(b, loc, x, y));
        } else {
          // floordiv and mod round down, the ops truncate.
          Value d = constant(atom->divisor);
          Value rest = arith::RemSIOp::create(b, loc, x, d);
          Value isNegative =
              arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, rest, constant(0));
          Value mod = arith::SelectOp::create(b, loc, isNegative,
                                              arith::AddIOp::create(b, loc, rest, d), rest);
          factor = mod;
          if (atom->kind == Kind::FloorDiv)
            factor = arith::DivSIOp::create(b, loc, arith::SubIOp::create(b, loc, x, mod), d);
        }
      }
      product = product ? Value(arith::MulIOp::create(b, loc, product, factor)) : factor;
    }
    add(product);
  }
  if (!sum || expr.offset())
    add(constant(expr.offset()));
  return sum;
}

Expr nest::atTypical(const Expr &expr, llvm::function_ref<bool(const std::string &)> iterates) {
  return expr.substitute([&](const std::string &name) -> std::optional<Expr> {
    if (name.back() == '$' || readIndex(name) || iterates(name))
      return std::nullopt;
    return Expr(nd::typicalOf(name));
  });
}

Ranges nest::iterationRanges(Operation *op) {
  Ranges ranges;
  auto add = [&](nd::DimsAttr dims) {
    for (const nd::Dim &dim : dims)
      ranges[dim.name.str()] = {0, std::max<int64_t>(dim.size().most() - 1, 0)};
  };
  for (; op; op = op->getParentOp())
    if (auto nest = dyn_cast<LoopNestInterface>(op))
      llvm::for_each(nest.getIterationNames(), add);
    else if (auto group = dyn_cast<GroupOp>(op))
      add(group.getNames());
  return ranges;
}

static bool holds(const Condition &condition, const Ranges &ranges) {
  auto bounds = condition.expr().simplify(ranges).bounds(ranges);
  return bounds && bounds->low >= 0 && (!condition.equality || bounds->high <= 0);
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
  return GuardAttr::get(guard.getContext(), conditions,
                        conditions.empty() ? TypedAttr() : guard.getOtherwise());
}

MapAttr nest::simplifyMap(MapAttr map, const Ranges &ranges) {
  SmallVector<MapEntry> entries;
  for (const MapEntry &entry : map.getEntries())
    entries.emplace_back(map.getContext(), entry.name.getValue(), entry.expr().simplify(ranges));
  return MapAttr::get(map.getContext(), entries);
}
