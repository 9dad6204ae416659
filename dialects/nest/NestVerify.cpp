//===- NestVerify.cpp - the numbered constraints of nests -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comments give the number of the constraint in NestOps.td that a check belongs to.
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/NestVerify.h"
#include "dialects/nd/Combiner.h"
#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"
#include "dialects/nest/NestGradient.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

bool NameScope::contains(StringRef name) const {
  if (llvm::any_of(own, [&](nd::DimsAttr dims) { return dims.contains(name); }))
    return true;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (auto group = dyn_cast<GroupOp>(parent); group && group.getNames().contains(name))
      return true;
  if (!symbols)
    symbols = nd::sizeSymbols(op);
  return symbols->contains(name);
}

std::string NameScope::str() const {
  SmallVector<nd::Dim> all;
  for (nd::DimsAttr dims : own)
    llvm::append_range(all, dims);
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (auto group = dyn_cast<GroupOp>(parent))
      llvm::append_range(all, group.getNames());
  return nd::namesText(all);
}

/// True if the size of an iteration name has symbols; its reads are then checked on entry.
static bool hasSymbolicSize(Operation *op, StringRef name) {
  for (; op; op = op->getParentOp()) {
    SmallVector<nd::DimsAttr> spaces;
    if (auto compute = dyn_cast<ComputeOp>(op))
      spaces = {compute.getProduced(), compute.getReduced()};
    else if (auto update = dyn_cast<UpdateOp>(op))
      spaces = {update.getSpace()};
    else if (auto group = dyn_cast<GroupOp>(op))
      spaces = {group.getNames()};
    for (nd::DimsAttr space : spaces)
      if (nd::SizeAttr size = space.lookup(name))
        return !size.constant();
  }
  return false;
}

/// c2, c3, c4 for one read. `earlier`: the reads whose values its map may use. `anywhere`:
/// out-of-bounds coordinates are legal, and have no effect.
static LogicalResult verifyRead(Operation *op, Value value, MapAttr map, GuardAttr guard,
                                ValueRange earlier, const NameScope &scope, const Ranges &ranges,
                                bool mayExclude, bool anywhere = false) {
  nd::NdTensorType type = tensorType(value);
  auto error = [&] {
    InFlightDiagnostic error = op->emitOpError();
    error.attachNote(value.getLoc()) << "the tensor read is of type " << type;
    return error;
  };
  auto sameNames = map.getEntries().size() == type.getDims().size() &&
                   llvm::all_of(map.getEntries(),
                                [&](const MapEntry &e) { return type.has(e.name.getValue()); });
  if (!sameNames) // c2
    return error() << "expected a map with the names " << nd::namesText(type.getDims()) << ", got "
                   << map;
  auto checkNames = [&](const Expr &expr) -> LogicalResult {
    if (expr.isTooLarge())
      return error() << "expected coordinates and conditions to be " << Expr::limits()
                     << ", got more";
    for (const std::string &name : expr.names()) {
      if (name[0] != '@') {
        if (!scope.contains(name)) // c3
          return error() << "unknown iteration name '" << name << "' in '" << expr.str()
                         << "', expected one of " << scope.str();
        continue;
      }
      unsigned index = *readIndex(name);
      if (index >= earlier.size() ||
          !isa<IntegerType>(tensorType(earlier[index]).getElementType())) // c3
        return error() << "expected read(" << index << ") in '" << expr.str()
                       << "' to be an earlier read with integer elements";
    }
    return success();
  };
  for (const MapEntry &entry : map.getEntries())
    if (failed(checkNames(entry.expr())))
      return failure();
  for (const Condition &condition : guard.getConditions())
    if (failed(checkNames(condition.expr())))
      return failure();
  if (guard.getOtherwise() && guard.getOtherwise().getType() != type.scalarType())
    return error() << "expected a value of type " << type.scalarType()
                   << " to be read instead, got " << guard.getOtherwise();
  if (!guard.isTrivial() && guard.excludes() && !mayExclude) // c6
    return error() << "expected `else` in a guard where nothing is reduced";
  if (!guard.isTrivial() || anywhere)
    return success();
  for (const MapEntry &entry : map.getEntries()) {
    auto size = type.size(entry.name.getValue()).constant();
    auto bounds = entry.expr().simplify(ranges).bounds(ranges);
    if (size && bounds && *size > 0 && entry.expr().isAffine() &&
        (bounds->low < 0 || bounds->high >= *size) &&
        llvm::none_of(entry.expr().names(),
                      [&](const std::string &name) { return hasSymbolicSize(op, name); })) // c4
      return error() << "the read of '" << entry.name.getValue() << "' at '" << entry.expr().str()
                     << "' reaches from " << bounds->low << " to " << bounds->high
                     << "; expected to stay in [0, " << *size << ")";
  }
  return success();
}

InFlightDiagnostic nest::yieldError(Operation *op, Operation *yield) {
  InFlightDiagnostic error = op->emitOpError();
  error.attachNote(yield->getLoc())
      << "(" << yield->getOperandTypes() << ") is what the region yields";
  return error;
}

std::string nest::endOf(Block &block) {
  return block.empty() ? "nothing" : "'" + block.back().getName().getStringRef().str() + "'";
}

static LogicalResult verifyRegion(Operation *op, Region &region, StringRef what,
                                  TypeRange arguments, TypeRange results) {
  if (!region.hasOneBlock())
    return op->emitOpError() << "expected a region " << what << " of one block, got "
                             << region.getBlocks().size();
  Block &block = region.front();
  if (block.getArgumentTypes() != arguments)
    return nd::operandError(op) << "expected " << what << " with arguments (" << arguments
                                << "), got (" << block.getArgumentTypes() << ")";
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return op->emitOpError() << "expected " << what << " to end in nest.yield, got "
                             << endOf(block);
  if (yield.getValues().getTypes() != results)
    return yieldError(op, yield) << "expected " << what << " to yield (" << results << "), got ("
                                 << yield.getValues().getTypes() << ")";
  // Elements are combined in any order and grouping, so that a combination has no coordinates.
  bool hasCoordinates = what != "combine";
  for (Operation &inner : block.without_terminator())
    if (!(hasCoordinates && isa<IndexOp>(inner)) && !nd::isScalarOp(&inner))
      return inner.emitOpError() << "is not a scalar op; expected only scalar ops in a region of '"
                                 << op->getName() << "'";
  return success();
}

static bool hasZeroSize(ArrayRef<nd::DimsAttr> spaces) {
  for (nd::DimsAttr dims : spaces)
    for (const nd::Dim &dim : dims)
      if (dim.size().constant() == 0)
        return true;
  return false;
}

/// Verifies the combiner and the neutral elements of a reduction. Returns the accumulators' types:
/// those of the neutral elements or, without a reduction, `elements`, which the body yields.
static FailureOr<SmallVector<Type>> verifyFold(ComputeOp op, ArrayRef<Type> elements) {
  Region &combine = op.getCombine();
  ArrayAttr neutral = op.getNeutral();
  if (op.isReduction() != !neutral.empty() || op.isReduction() != !combine.empty()) // c6
    return op.emitOpError()
           << "expected a combiner and neutral elements exactly where something is reduced, got "
           << (combine.empty() ? "no" : "a") << " combiner and " << neutral.size()
           << " neutral elements for the reduced names " << nd::namesText(op.getReduced());
  if (!op.isReduction())
    return SmallVector<Type>(elements);
  Operation *yield = op.getBody().front().getTerminator();
  if (neutral.size() != elements.size()) // c5
    return yieldError(op, yield) << "expected " << elements.size() << " neutral elements, got "
                                 << neutral.size();
  SmallVector<Type> accumulators;
  for (Attribute value : neutral) {
    if (!isa<FloatAttr, IntegerAttr>(value))
      return op.emitOpError() << "expected neutral elements that are numbers, got " << value;
    accumulators.push_back(cast<TypedAttr>(value).getType());
  }
  for (auto [element, accumulator] : llvm::zip_equal(elements, accumulators))
    if (element != accumulator && !(isa<FloatType>(element) && isa<FloatType>(accumulator)))
      return yieldError(op, yield)
             << "expected elements of type " << accumulator << ", got " << element;
  SmallVector<Type> both(accumulators);
  both.append(accumulators);
  if (failed(verifyRegion(op, combine, "combine", both, accumulators))) // c5
    return failure();
  return accumulators;
}

/// The types of the accumulators must be those of the finish region's arguments or of the results.
static LogicalResult verifyFinish(ComputeOp op, ArrayRef<Type> accumulators) {
  SmallVector<Type> results = scalarTypesOf(op.getResults());
  if (!op.getFinish().empty()) {
    SmallVector<Type> arguments(accumulators);
    arguments.append(scalarTypesOf(op.getFinishReads()));
    return verifyRegion(op, op.getFinish(), "finish", arguments, results); // c5
  }
  if (!op.getFinishReads().empty())
    return nd::operandError(op) << "expected a finish region for its reads, got none";
  Operation *yield = op.getBody().front().getTerminator();
  if (results.size() != accumulators.size())
    return yieldError(op, yield) << "expected " << accumulators.size() << " results, got "
                                 << results.size();
  for (auto [accumulator, result] : llvm::zip_equal(accumulators, results))
    if (accumulator != result && !(isa<FloatType>(accumulator) && isa<FloatType>(result)))
      return yieldError(op, yield)
             << "expected a result of element type " << accumulator << ", got " << result;
  return success();
}

/// c10
static LogicalResult verifyOrder(ComputeOp op) {
  Attribute written = op->getAttr(orderAttrName);
  if (!written)
    return success();
  auto order = dyn_cast<ArrayAttr>(written);
  llvm::StringSet<> names;
  auto isNext = [&](Attribute each) {
    auto name = dyn_cast<StringAttr>(each);
    return name && op.getReduced().contains(name.getValue()) &&
           names.insert(name.getValue()).second;
  };
  if (order && order.size() == op.getReduced().size() && llvm::all_of(order, isNext))
    return success();
  return op.emitOpError() << "expected `order` to list the reduced names "
                          << nd::namesText(op.getReduced()) << " once each, got " << written;
}

LogicalResult ComputeOp::verify() {
  for (const nd::Dim &dim : getProduced())
    if (getReduced().contains(dim.name.getValue())) // c1
      return emitOpError() << "the name '" << dim.name.getValue()
                           << "' is both produced and reduced";
  size_t reads = getReads().size(), all = getNumOperands();
  if (getMaps().size() != all || getGuards().size() != all) // c2
    return nd::operandError(*this)
           << "expected a map and a guard for each of " << all << " reads, got " << getMaps().size()
           << " and " << getGuards().size();
  NameScope scope(*this, {getProduced(), getReduced()});
  NameScope finishScope(*this, {getProduced()});
  Ranges ranges = iterationRanges(*this);
  bool empty = hasZeroSize({getProduced(), getReduced()});
  for (size_t i = 0; i < all; ++i) {
    bool inBody = i < reads;
    auto map = cast<MapAttr>(getMaps()[i]);
    auto guard = cast<GuardAttr>(getGuards()[i]);
    if (failed(verifyRead(*this, getOperand(i), map, guard,
                          inBody ? ValueRange(getReads().take_front(i)) : ValueRange(),
                          inBody ? scope : finishScope, ranges, inBody && isReduction(), empty)))
      return failure();
  }
  SmallVector<Type> elements;
  Block &code = getBody().front();
  if (auto yield = code.empty() ? nullptr : dyn_cast<YieldOp>(code.back()))
    elements = llvm::to_vector(yield.getValues().getTypes());
  if (failed(verifyRegion(*this, getBody(), "body", scalarTypesOf(getReads()), elements))) // c5
    return failure();
  FailureOr<SmallVector<Type>> accumulators = verifyFold(*this, elements);
  if (failed(accumulators) || failed(verifyFinish(*this, *accumulators)) ||
      failed(verifyOrder(*this)))
    return failure();
  for (Value result : getResults())
    if (tensorType(result).getDims() != getProduced()) // c7
      return emitOpError() << "expected a result with the names " << nd::namesText(getProduced())
                           << ", got " << nd::namesText(tensorType(result).getDims());
  if (isReduction() && failed(nd::verifyNeutral(*this, getCombine(), getNeutral()))) // c11
    return failure();
  if (failed(verifySchedule(*this, getProduced(), getReduced(), getReads())))
    return failure();
  for (const Stage &stage : scheduleOf(*this).stages)
    if (isGathered(readMap(stage.operand))) // c9
      return nd::operandError(*this)
             << "expected a stage of a read whose coordinates follow from the "
                "iteration names, got "
             << readMap(stage.operand) << " for read " << stage.operand;
  return success();
}

/// c9: parallel steps and vector lanes may not write the same element.
static LogicalResult verifyUpdateSchedule(UpdateOp op) {
  const Schedule schedule = scheduleOf(op);
  if (!schedule.stages.empty())
    return op.emitOpError() << "expected no stages, got " << schedule.stages.size();
  auto free = freeNames(op), owned = freeNames(op, /*owned=*/true);
  bool onlyParallel = true;
  for (const Loop &loop : schedule.loops) {
    bool isParallel = loop.isShared();
    if (isParallel && !onlyParallel)
      return op.emitOpError() << "expected the " << loop.level << " over '" << loop.names[0]
                              << "' before all other loops";
    onlyParallel &= isParallel;
    bool single = loop.names.size() == 1;
    if (isParallel && !(single && owned.count(loop.names[0])))
      return op.emitOpError() << "expected a " << loop.level
                              << " over a name that is a coordinate of the destination, over its "
                                 "whole size, got '"
                              << loop.names[0] << "'";
    if (loop.level == "vector" && !(single && free.count(loop.names[0])))
      return op.emitOpError() << "expected a " << loop.level
                              << " over a name that alone gives a coordinate of the destination, "
                                 "got '"
                              << loop.names[0] << "'";
  }
  return success();
}

LogicalResult UpdateOp::verify() {
  if (getMaps().size() != getReads().size() || getGuards().size() != getReads().size())
    return nd::operandError(*this)
           << "expected a map and a guard for each of " << getReads().size() << " reads, got "
           << getMaps().size() << " and " << getGuards().size();
  NameScope scope(*this, {getSpace()});
  Ranges ranges = iterationRanges(*this);
  for (auto [i, value] : llvm::enumerate(getReads()))
    if (failed(verifyRead(*this, value, cast<MapAttr>(getMaps()[i]),
                          cast<GuardAttr>(getGuards()[i]), getReads().take_front(i), scope, ranges,
                          /*mayExclude=*/true, hasZeroSize({getSpace()}))))
      return failure();
  auto trivial = GuardAttr::get(getContext(), {}, TypedAttr());
  if (failed(verifyRead(*this, getDest(), getDestMap(), trivial, getReads(), scope, ranges, true,
                        /*anywhere=*/true)))
    return failure();
  Type element = tensorType(getDest()).scalarType();
  if (failed(verifyRegion(*this, getBody(), "body", scalarTypesOf(getReads()), {element})) ||
      failed(verifyRegion(*this, getCombine(), "combine", {element, element}, {element}))) // c6
    return failure();
  if (getResult().getType() != getDest().getType()) // c7
    return nd::operandError(*this) << "expected a result of type " << getDest().getType()
                                   << ", got " << getResult().getType();
  if (failed(verifySchedule(*this, getSpace(), {}, getReads())))
    return failure();
  return verifyUpdateSchedule(*this);
}

LogicalResult SortOp::verify() {
  if (getAlong().size() != 1)
    return emitOpError() << "expected one name to sort along, got " << nd::namesText(getAlong());
  nd::Dim along = *getAlong().begin();
  for (Value input : getInputs())
    if (tensorType(input).size(along.name.getValue()) != along.size()) // c1
      return nd::operandError(*this) << "expected an operand with '" << along.name.getValue()
                                     << ": " << along.size().getExpr().str() << "', got "
                                     << nd::namesText(tensorType(input).getDims());
  if (failed(
          nd::verifySort(*this, along.name, [&] { return nd::operandError(*this); }))) // c1 to c3
    return failure();
  return verifyPoints(*this, getAlong()); // c4
}

nd::DimsAttr SortOp::getLines() {
  return tensorType(getInputs()[0]).getDims().where([&](const nd::Dim &dim) {
    return !getAlong().contains(dim.name);
  });
}

LogicalResult IndexOp::verify() {
  Region *region = (*this)->getParentRegion();
  for (Operation *parent = region->getParentOp(); parent; parent = parent->getParentOp()) {
    if (auto compute = dyn_cast<ComputeOp>(parent))
      if (compute.getProduced().contains(getName()) ||
          (compute.getReduced().contains(getName()) && region == &compute.getBody()))
        return success();
    if (auto update = dyn_cast<UpdateOp>(parent))
      if (update.getSpace().contains(getName()))
        return success();
    if (auto group = dyn_cast<GroupOp>(parent))
      if (group.getNames().contains(getName()))
        return success();
  }
  if (nd::sizeSymbols(*this).contains(getName()))
    return success();
  return emitOpError() << "no enclosing nest has the name '" << getName() << "' here"; // c1
}
