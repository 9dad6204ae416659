//===- MeshVerify.cpp - the numbered constraints of collectives -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comments give the number of the constraint in MeshOps.td that a check belongs to.
//
//===----------------------------------------------------------------------===//

#include "dialects/mesh/MeshSyntax.h"

#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"
#include "lib/support/PlanFile.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The names that a nest iterates over and that can be split; null for other ops.
static nd::DimsAttr iterationNames(Operation *op) {
  if (auto sort = dyn_cast<nest::SortOp>(op))
    return sort.getLines();
  if (auto scan = dyn_cast<nest::ScanOp>(op))
    return scan.getAlong();
  auto nest = dyn_cast<nest::LoopNestInterface>(op);
  if (!nest)
    return {};
  nd::DimsAttr all = nd::DimsAttr::get(op->getContext(), {});
  for (nd::DimsAttr names : nest.getIterationNames())
    all = all.with(names.getDims());
  return all;
}

LogicalResult MeshDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto list = dyn_cast<ArrayAttr>(value);
  auto scan = dyn_cast<nest::ScanOp>(op);
  auto emitError = [&] { return op->emitOpError() << "'" << name << "': "; };
  auto expect = [&](bool holds, const char *what) -> LogicalResult {
    return holds ? success() : emitError() << "expected " << what << ", got " << value;
  };
  if (name == meshAttrName)
    return expect(isa<MeshAttr>(value) && isa<FunctionOpInterface, ModuleOp>(op),
                  "#mesh.mesh of a function or module");
  if (name == rulesAttrName)
    return expect(list && llvm::all_of(list, llvm::IsaPred<StringAttr>), "a list of strings");
  if (name == scheduleAttrName) {
    auto text = dyn_cast<StringAttr>(value);
    return expect(text && isa<ModuleOp>(op) && isSchedule(text.getValue()),
                  "greedy, gpipe, 1f1b or interleaved, of a module");
  }
  if (name == placeAttrName) {
    auto stated = dyn_cast<DictionaryAttr>(value);
    SmallVector<AxisCoordinate> place;
    for (NamedAttribute each : stated ? stated.getValue() : ArrayRef<NamedAttribute>())
      if (auto coordinate = dyn_cast<IntegerAttr>(each.getValue()))
        place.push_back({each.getName(), coordinate.getInt()});
    if (!stated || stated.empty() || place.size() != stated.size() ||
        !isa_and_nonnull<FunctionOpInterface>(op->getParentOp()))
      return expect(false, "coordinates of axes of the mesh, of an op in a function's body");
    MeshAttr mesh = meshOf(op);
    return mesh ? verifyPlace(mesh, place, {}, emitError) : success();
  }
  if (name == skippedAttrName) {
    Type i64 = IntegerType::get(op->getContext(), 64);
    return expect(scan && llvm::is_contained(scan.getReads().take_front().getTypes(),
                                             nd::NdTensorType::get(i64, scan.getAlong().getDims())),
                  "a recurrence whose first read is a number of type i64 a step");
  }
  if (name == roleAttrName) {
    auto role = dyn_cast<DictionaryAttr>(value);
    return expect(role && isa<FunctionOpInterface>(op) && role.getAs<StringAttr>("entry") &&
                      role.getAs<StringAttr>("axis") && role.getAs<IntegerAttr>("coordinate"),
                  "the entry, the axis and the coordinate of a role of a function");
  }
  if (name == shardingAttrName) {
    auto sharding = dyn_cast<ShardingAttr>(value);
    nd::DimsAttr names = iterationNames(op);
    return sharding && names ? verifySharding(meshOf(op), sharding, names, emitError)
                             : expect(false, "#mesh.sharding of a nest");
  }
  if (name != carriedAttrName)
    return success();
  if (!scan || !list || list.size() != scan.getBody().getNumArguments() ||
      !llvm::all_of(list, llvm::IsaPred<ShardingAttr>))
    return expect(false, "#mesh.sharding for each argument of the region");
  for (auto [each, argument] :
       llvm::zip_equal(list.getAsRange<ShardingAttr>(), scan.getBody().getArguments()))
    if (failed(verifySharding(meshOf(op), each, tensorType(argument).getDims(), emitError)))
      return failure();
  return success();
}

/// The attribute of an argument or result.
static LogicalResult verifyBinding(Operation *op, NamedAttribute attribute, bool isResult,
                                   unsigned index) {
  StringRef name = attribute.getName();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || (name != globalAttrName && name != shardingAttrName))
    return success();
  auto all = isResult ? function.getResultAttrDict(index) : function.getArgAttrDict(index);
  Type type = isResult ? function.getResultTypes()[index] : function.getArgumentTypes()[index];
  auto emitError = [&] {
    return op->emitOpError() << (isResult ? "result " : "argument ") << index << ": ";
  };
  auto tensor = dyn_cast<nd::NdTensorType>(type), whole = tensor;
  if (auto stated = all.getAs<TypeAttr>(globalAttrName))
    whole = dyn_cast<nd::NdTensorType>(stated.getValue());
  auto sharding = all.getAs<ShardingAttr>(shardingAttrName);
  if (!tensor || (name == globalAttrName ? !all.getAs<TypeAttr>(name) || !whole : !sharding))
    return emitError() << "expected " << (name == globalAttrName ? "" : "#mesh.sharding of ")
                       << "a named tensor as '" << name << "', got " << attribute.getValue();
  bool isAbsent = tensor.has(absentName); // the sharding is that of other roles
  MeshAttr mesh = meshOf(op);
  if (sharding && whole &&
      failed(verifySharding(mesh, sharding, (isAbsent ? whole : tensor).getDims(), emitError)))
    return failure();
  if (name == globalAttrName && mesh && !isAbsent &&
      blockType(mesh, whole, shardingOf(sharding)) != tensor)
    return emitError() << "expected '" << name << "' to be the tensor of which its type is a "
                       << "block, got " << whole;
  return success();
}

LogicalResult MeshDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                    NamedAttribute attribute) {
  return verifyBinding(op, attribute, /*isResult=*/false, index);
}

LogicalResult MeshDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attribute) {
  return verifyBinding(op, attribute, /*isResult=*/true, index);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult ConstrainOp::verify() {
  return verifySharding(meshOf(*this), getSharding(), tensorType(getInput()).getDims(),
                        [&] { return nd::operandError(*this); }); // c1
}

LogicalResult mesh::verifyGroup(Operation *op, ArrayRef<Axis> axes) {
  MeshAttr mesh = meshOf(op);
  if (!mesh)
    return op->emitOpError() << "expected a function or module around it that states its mesh in '"
                             << meshAttrName << "', got none";
  return verifyAxes(mesh, axes, [&] { return op->emitOpError(); });
}

static LogicalResult verifyHas(Operation *op, nd::NdTensorType type, StringRef name) {
  if (!type.has(name))
    return nd::operandError(op) << "expected one of the operand's names "
                                << nd::namesText(type.getDims()) << ", got '" << name << "'";
  return success();
}

/// c2: `to` is `from` with the blocks along `joined` joined, and the whole along `split` split; one
/// of the two may be empty.
static LogicalResult verifyMoved(CollectiveInterface op, Value from, Value to, StringRef joined,
                                 StringRef split) {
  nd::NdTensorType expected = tensorType(from), got = tensorType(to);
  int64_t parts = op.getParts();
  for (StringRef name : {joined, split})
    if (!name.empty() && failed(verifyHas(op, expected, name)))
      return failure();
  if (!joined.empty()) {
    nd::SizeAttr size = got.size(joined);
    Expr block = expected.size(joined).getExpr();
    if (!size || blockSize(size.getExpr(), parts) != block) // S14
      return nd::operandError(op) << "expected blocks of ceil(size / " << parts << ") along '"
                                  << joined << "', got " << block.str() << " of "
                                  << (size ? size.getExpr().str() : "no size");
    expected = expected.replacing(nd::Dim(op->getContext(), joined, size.getExpr()));
  }
  if (!split.empty())
    expected = blockType(meshOf(op), expected, {{split.str(), AxisList(op.getAxes().getAxes())}});
  if (got != expected)
    return nd::operandError(op) << "expected a result of type " << expected << ", got " << got;
  return success();
}

/// c3
static LogicalResult verifyCombiner(Operation *op, Region &combine, ArrayAttr neutral,
                                    ValueRange inputs) {
  SmallVector<Type> elements = nest::scalarTypesOf(inputs);
  if (elements.empty() || neutral.size() != elements.size())
    return op->emitOpError() << "expected a neutral element for each of " << elements.size()
                             << " inputs, got " << neutral.size();
  for (auto [value, element] : llvm::zip_equal(neutral, elements)) {
    auto typed = dyn_cast<TypedAttr>(value);
    if (!typed || !isa<FloatAttr, IntegerAttr>(value) || typed.getType() != element)
      return op->emitOpError() << "expected a neutral element of type " << element << ", got "
                               << value;
  }
  SmallVector<Type> both(elements);
  both.append(elements);
  Block &block = combine.front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (block.getArgumentTypes() != TypeRange(both) || !yield ||
      yield.getValues().getTypes() != TypeRange(elements))
    return op->emitOpError() << "expected a combiner with arguments (" << both
                             << ") that ends in mesh.yield of (" << elements << "), got ("
                             << block.getArgumentTypes() << ")";
  for (Operation &inner : block.without_terminator())
    if (!nd::isScalarOp(&inner))
      return inner.emitOpError() << "is not a scalar op; expected only scalar ops in a region of '"
                                 << op->getName() << "'";
  return nd::verifyNeutral(op, combine, neutral);
}

LogicalResult AllReduceOp::verify() {
  if (getInputs().getTypes() != getResultTypes()) // c2
    return nd::operandError(*this)
           << "expected results of the types of the inputs, got " << getResultTypes();
  return verifyCombiner(*this, getCombine(), getNeutral(), getInputs()); // c3
}

LogicalResult ReduceScatterOp::verify() {
  if (getInputs().size() != getNumResults()) // c2
    return nd::operandError(*this) << "expected as many results as inputs, got " << getNumResults();
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults()))
    if (failed(verifyMoved(*this, input, result, "", getName()))) // c2
      return failure();
  return verifyCombiner(*this, getCombine(), getNeutral(), getInputs()); // c3
}

LogicalResult AllGatherOp::verify() {
  return verifyMoved(*this, getInput(), getResult(), getName(), ""); // c2
}

LogicalResult AllToAllOp::verify() {
  if (getJoined() == getSplit()) // c2
    return emitOpError() << "expected two names, got '" << getSplit() << "' twice";
  return verifyMoved(*this, getInput(), getResult(), getJoined(), getSplit()); // c2
}

LogicalResult BroadcastOp::verify() {
  int64_t parts = getParts(), root = int64_t(getRoot());
  if (root < 0 || root >= parts) // c2
    return emitOpError() << "expected a part below " << parts << " of " << getAxes().str()
                         << ", got " << root;
  return success();
}

LogicalResult mesh::verifyMessage(MessageInterface op) {
  AxesAttr axis = op.getAxis();
  if (failed(verifyGroup(op, axis.getAxes()))) // c1
    return failure();
  if (axis.empty()) // c1
    return op->emitOpError() << "expected the axes of a role, got " << axis.str();
  int64_t parts = mesh::partsOf(meshOf(op), axis.getAxes());
  if (op.getCoordinate() < 0 || op.getCoordinate() >= parts) // c1
    return op->emitOpError() << "expected a coordinate of " << axis.str() << " below " << parts
                             << ", got " << op.getCoordinate();
  if (op.getChannel() < 0) // c2
    return op->emitOpError() << "expected a channel of at least 0, got " << op.getChannel();
  return success();
}
