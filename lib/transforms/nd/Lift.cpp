//===- Lift.cpp - copies of ops over more names ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/Lift.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestGradient.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string NameRewriter::operator()(StringRef name) const {
  if (seen)
    seen->insert(name);
  auto found = names.find(name);
  return found == names.end() ? name.str() : found->second;
}

std::map<std::string, std::string, std::less<>> NameRewriter::sortedNames() const {
  std::map<std::string, std::string, std::less<>> map;
  for (const auto &entry : names)
    map[entry.first().str()] = entry.second;
  return map;
}

/// An expression over iteration names, and perhaps symbols.
Expr NameRewriter::rewriteIndex(const Expr &expr) const {
  return expr.substitute([&](const std::string &name) -> std::optional<Expr> {
    if (nest::readIndex(name))
      return std::nullopt;
    if (names.contains(name) || seen)
      return Expr::name((*this)(name));
    auto symbol = symbols.find(name);
    return symbol == symbols.end() ? std::nullopt : std::optional<Expr>(symbol->second);
  });
}

DimsAttr NameRewriter::rewrite(DimsAttr dims) const {
  SmallVector<Dim> result;
  for (const Dim &dim : dims)
    result.emplace_back(dims.getContext(), (*this)(dim.name),
                        dim.size().getExpr().substitute(symbols));
  return DimsAttr::getSorted(dims.getContext(), result);
}

Type NameRewriter::rewrite(Type type) const {
  auto tensor = dyn_cast<NdTensorType>(type);
  return tensor ? tensor.withDims(rewrite(tensor.getDims()).getDims()) : type;
}

Attribute NameRewriter::rewrite(Attribute attr) const {
  MLIRContext *context = attr.getContext();
  if (auto name = dyn_cast<StringAttr>(attr))
    return StringAttr::get(context, (*this)(name));
  if (auto list = dyn_cast<ArrayAttr>(attr))
    return ArrayAttr::get(context,
                          llvm::map_to_vector(list, [&](Attribute each) { return rewrite(each); }));
  if (auto size = dyn_cast<SizeAttr>(attr))
    return SizeAttr::get(context, size.getExpr().substitute(symbols));
  if (auto dims = dyn_cast<DimsAttr>(attr))
    return rewrite(dims);
  if (auto map = dyn_cast<nest::MapAttr>(attr)) {
    SmallVector<nest::MapEntry> entries;
    for (const nest::MapEntry &entry : map.getEntries())
      entries.emplace_back(context, (*this)(entry.name), rewriteIndex(entry.expr()));
    return nest::MapAttr::getSorted(context, entries);
  }
  if (auto guard = dyn_cast<nest::GuardAttr>(attr)) {
    SmallVector<nest::Condition> conditions;
    for (const nest::Condition &condition : guard.getConditions())
      conditions.emplace_back(context, rewriteIndex(condition.expr()), condition.equality);
    return nest::GuardAttr::get(context, conditions, guard.getOtherwise());
  }
  if (auto layout = dyn_cast<nest::LayoutAttr>(attr))
    return nest::LayoutAttr::get(context, layout.getLayout().rename(sortedNames()));
  if (auto attribute = dyn_cast<nest::ScheduleAttr>(attr)) {
    nest::Schedule schedule = attribute.getSchedule().rename(sortedNames());
    for (nest::Stage &stage : schedule.stages) // over the operand's names
      stage.layout = stage.layout.rename(sortedNames());
    return nest::ScheduleAttr::get(context, schedule);
  }
  return attr;
}

void NameRewriter::rewriteAttributes(Operation *op) const {
  if (!isa_and_nonnull<NdDialect, nest::NestDialect>(op->getDialect()))
    return;
  if (auto index = dyn_cast<nest::IndexOp>(op)) // of a name, or of a size symbol
    if (auto symbol = symbols.find(index.getName().str());
        symbol != symbols.end() && symbol->second.asName() && !names.contains(index.getName()))
      return index.setName(*symbol->second.asName());
  for (NamedAttribute attr : op->getAttrs())
    if (!attr.getName().getValue().contains('.') && !isa<SymbolRefAttr>(attr.getValue()))
      op->setAttr(attr.getName(), rewrite(attr.getValue()));
}

void NameRewriter::rewrite(func::FuncOp function) const {
  function->walk([&](Operation *op) {
    rewriteAttributes(op);
    for (OpResult result : op->getResults())
      result.setType(rewrite(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(rewrite(argument.getType()));
  });
  SmallVector<Type> arguments, results;
  for (Type type : function.getArgumentTypes())
    arguments.push_back(rewrite(type));
  for (Type type : function.getResultTypes())
    results.push_back(rewrite(type));
  function.setFunctionType(FunctionType::get(function.getContext(), arguments, results));
  for (unsigned i = 0; i < arguments.size(); ++i)
    if (auto layout = function.getArgAttrOfType<nest::LayoutAttr>(i, "nd.layout"))
      function.setArgAttr(i, "nd.layout", rewrite(layout));
  for (unsigned i = 0; i < results.size(); ++i)
    if (auto layout = function.getResultAttrOfType<nest::LayoutAttr>(i, "nd.layout"))
      function.setResultAttr(i, "nd.layout", rewrite(layout));
}

llvm::StringSet<> nd::collectNames(Operation *root) {
  llvm::StringSet<> names;
  NameRewriter rewriter;
  rewriter.seen = &names;
  root->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      rewriter.rewrite(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          rewriter.rewrite(type);
    if (isa_and_nonnull<NdDialect, nest::NestDialect>(op->getDialect()))
      for (NamedAttribute attr : op->getAttrs())
        if (!attr.getName().getValue().contains('.') && !isa<SymbolRefAttr>(attr.getValue()))
          rewriter.rewrite(attr.getValue());
  });
  return names;
}

std::string nd::freshName(StringRef base, llvm::StringSet<> &taken) {
  base = base.take_until([](char c) { return c == '$'; });
  for (unsigned n = 1;; ++n) {
    std::string name = (base + "$" + Twine(n)).str();
    if (taken.insert(name).second)
      return name;
  }
}

//===----------------------------------------------------------------------===//
// Lifting
//===----------------------------------------------------------------------===//

/// The dimensions that the new operands have beyond the old ones.
SmallVector<Dim> Lifter::liftedNames(ValueRange old) const {
  SmallVector<Dim> lifted;
  for (Value value : old) {
    auto before = dyn_cast<NdTensorType>(value.getType());
    if (!before)
      continue;
    before = cast<NdTensorType>(rewriter.rewrite(before));
    for (const Dim &dim : tensorType(values.lookupOrDefault(value)).getDims())
      if (!before.has(dim.name) && !llvm::is_contained(lifted, dim))
        lifted.push_back(dim);
  }
  return lifted;
}

Type Lifter::liftedType(Type type, ArrayRef<Dim> lifted) const {
  auto tensor = dyn_cast<NdTensorType>(rewriter.rewrite(type));
  if (!tensor)
    return type;
  SmallVector<Dim> dims(tensor.getDims().getDims());
  for (const Dim &dim : lifted)
    if (!tensor.has(dim.name))
      dims.push_back(dim);
  return tensor.withDims(dims);
}

/// A broadcast that may stand where the builder is: among nests, or in a function.
Value Lifter::broadcast(Location loc, Value value, ArrayRef<Dim> dims) const {
  NdTensorType type = tensorType(value);
  if (llvm::all_of(dims, [&](const Dim &dim) { return type.has(dim.name); }))
    return value;
  if (!isa<nest::ScanOp, nest::GroupOp>(builder.getInsertionBlock()->getParentOp()))
    return buildBroadcast(builder, loc, value, dims);
  return nest::broadcastByNest(builder, loc, value, dims);
}

static DimsAttr withDims(DimsAttr dims, ArrayRef<Dim> more) {
  SmallVector<Dim> all(dims.getDims());
  for (const Dim &dim : more)
    if (!dims.contains(dim.name))
      all.push_back(dim);
  return DimsAttr::getSorted(dims.getContext(), all);
}

static ArrayAttr completeMaps(ArrayAttr maps, ValueRange operands) {
  SmallVector<Attribute> result;
  for (auto [map, operand] : llvm::zip_equal(maps, operands))
    result.push_back(nest::completeMap(cast<nest::MapAttr>(map), tensorType(operand)));
  return ArrayAttr::get(maps.getContext(), result);
}

/// A layout that somebody chose keeps its inner factors; lifted names go outside. A schedule walks
/// names that it does not mention outside of all others, so it stays as it is.
static void liftLayouts(Operation *op, ArrayRef<Dim> lifted) {
  auto layouts = op->getAttrOfType<ArrayAttr>("layouts");
  if (!layouts || lifted.empty())
    return;
  SmallVector<Attribute> result;
  for (Attribute attr : layouts) {
    auto chosen = dyn_cast<nest::LayoutAttr>(attr);
    if (!chosen) {
      result.push_back(attr);
      continue;
    }
    Layout layout = chosen.getLayout();
    for (const Dim &dim : llvm::reverse(lifted))
      layout.factors.insert(layout.factors.begin(), Layout::Factor{{dim.name.str()}});
    result.push_back(nest::LayoutAttr::get(op->getContext(), layout));
  }
  op->setAttr("layouts", ArrayAttr::get(op->getContext(), result));
}

LogicalResult Lifter::copy(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(copyOp(op)))
      return failure();
  return success();
}

LogicalResult Lifter::copyOp(Operation &op) {
  SmallVector<Dim> lifted = liftedNames(op.getOperands());
  if (auto group = dyn_cast<nest::GroupOp>(op))
    return copyGroup(group);
  if (auto scan = dyn_cast<nest::ScanOp>(op)) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(scan.getBody(), captured);
    for (const Dim &dim : liftedNames(captured.getArrayRef()))
      if (!llvm::is_contained(lifted, dim))
        lifted.push_back(dim);
    return copyScan(scan, lifted);
  }
  if (isa_and_nonnull<scf::SCFDialect>(op.getDialect()))
    return copyControl(op);
  if (!lifted.empty() && isa<ItemOp>(op))
    return op.emitOpError()
           << "cannot be lifted over " << namesText(lifted)
           << ": control flow would differ from point to point; compute both ways and "
              "select instead";
  if (!lifted.empty() && !isa_and_nonnull<NdDialect, nest::NestDialect>(op.getDialect()))
    return op.emitOpError() << "cannot be lifted over " << namesText(lifted);
  if (auto call = dyn_cast<CallOp>(op))
    return copyCall(call);
  if (!lifted.empty() && isa<VjpOp, JvpOp>(op))
    return op.emitOpError() << "cannot be lifted over " << namesText(lifted)
                            << "; expected gradients of the callee to be expanded first";

  Operation *copy = builder.clone(op, values);
  for (auto [old, fresh] : llvm::zip_equal(op.getResults(), copy->getResults()))
    fresh.setType(liftedType(old.getType(), lifted));
  if (!rewriter.isIdentity())
    copy->walk([&](Operation *inner) { rewriter.rewriteAttributes(inner); });
  if (lifted.empty())
    return success();

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(copy);
  auto broadcastOperands = [&](MutableArrayRef<OpOperand> operands) {
    for (OpOperand &operand : operands)
      operand.set(broadcast(op.getLoc(), operand.get(), lifted));
  };
  if (auto pointwise = dyn_cast<PointwiseOp>(copy)) {
    // A scalar that is lifted may have no name in common with the others.
    if (isCrossed(llvm::map_to_vector(pointwise.getInputs(), tensorType)))
      pointwise.setCrossed(true);
  } else if (isa<ReduceOp, ScanOp, SortOp, nest::SortOp, ConcatOp>(copy)) {
    broadcastOperands(copy->getOpOperands());
  } else if (isa<AfterOp>(copy)) {
    copy->getResult(0).setType(copy->getOperand(0).getType());
  } else if (isa<ScatterOp, UpdateSliceOp>(copy)) {
    broadcastOperands(copy->getOpOperands().take_front(2));
  } else if (auto compute = dyn_cast<nest::ComputeOp>(copy)) {
    compute.setProducedAttr(withDims(compute.getProduced(), lifted));
    compute.setMapsAttr(completeMaps(compute.getMaps(), compute->getOperands()));
    liftLayouts(copy, lifted);
  } else if (auto update = dyn_cast<nest::UpdateOp>(copy)) {
    broadcastOperands(copy->getOpOperands().take_front(1));
    update.setSpaceAttr(withDims(update.getSpace(), lifted));
    update.setMapsAttr(completeMaps(update.getMaps(), update.getReads()));
    update.setDestMapAttr(nest::completeMap(update.getDestMap(), tensorType(update.getDest())));
    liftLayouts(copy, lifted);
  }
  return success();
}

LogicalResult Lifter::copyScan(nest::ScanOp op, ArrayRef<Dim> lifted) {
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  for (Value init : op.getInits())
    operands.push_back(broadcast(loc, values.lookupOrDefault(init), lifted));
  for (Value read : op.getReads())
    operands.push_back(values.lookupOrDefault(read));
  SmallVector<Type> results;
  for (Type type : op.getResultTypes())
    results.push_back(liftedType(type, lifted));
  OperationState state(loc, op->getName(), operands, results, op->getAttrs());
  state.addRegion();
  Operation *copy = builder.create(state);
  rewriter.rewriteAttributes(copy);
  liftLayouts(copy, lifted);

  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&copy->getRegion(0));
  for (auto [i, argument] : llvm::enumerate(op.getBody().getArguments())) {
    SmallVector<Dim> own(lifted);
    if (i >= op.getInits().size())
      own = liftedNames(op.getReads()[i - op.getInits().size()]);
    values.map(argument, block->addArgument(liftedType(argument.getType(), own), loc));
  }
  if (failed(this->copy(op.getBody().front())))
    return failure();
  SmallVector<Value> yielded;
  for (Value value : op.getBody().front().getTerminator()->getOperands())
    yielded.push_back(broadcast(loc, values.lookupOrDefault(value), lifted));
  nest::YieldOp::create(builder, loc, yielded);
  values.map(op.getResults(), copy->getResults());
  return success();
}

/// A call lifts its callee by itself; names that were replaced are given back to it.
LogicalResult Lifter::copyCall(CallOp op) {
  Location loc = op.getLoc();
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  std::map<StringRef, StringRef> back, forth;
  for (const auto &entry : rewriter.names) {
    back[entry.second] = entry.first();
    forth[entry.first()] = entry.second;
  }
  auto renamed = [&](Value value, const std::map<StringRef, StringRef> &names) {
    SmallVector<StringRef> from, to;
    for (const Dim &dim : tensorType(value).getDims())
      if (auto found = names.find(dim.name.getValue()); found != names.end()) {
        from.push_back(found->first);
        to.push_back(found->second);
      }
    return buildRename(builder, loc, value, from, to);
  };
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    Value value = values.lookupOrDefault(input);
    for (auto [old, fresh] : forth)
      if (tensorType(value).has(old))
        return op.emitOpError() << "cannot be lifted over '" << old
                                << "': its callee has a name that is spelled like that";
    inputs.push_back(renamed(value, back));
  }
  SmallVector<Value> results;
  if (callee)
    results = buildCall(builder, loc, callee, inputs);
  if (results.size() != op.getNumResults() || results.empty())
    return failure();
  auto copy = results[0].getDefiningOp<CallOp>();
  copy->setAttrs(op->getAttrs());
  for (auto [old, fresh] : llvm::zip_equal(op.getResults(), results)) {
    auto type = cast<NdTensorType>(rewriter.rewrite(old.getType()));
    values.map(old, buildBroadcast(builder, loc, renamed(fresh, forth), type.getDims().getDims()));
  }
  return success();
}

/// Branches and loops: their tensors get all names that anything in them is lifted over.
LogicalResult Lifter::copyControl(Operation &op) {
  llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
  getUsedValuesDefinedAbove(op.getRegions(), used);
  SmallVector<Dim> lifted = liftedNames(used.getArrayRef());
  auto operandsOf = [&](Operation &each) {
    return llvm::map_to_vector(each.getOperands(), [&](Value value) {
      Value fresh = values.lookupOrDefault(value);
      return isa<NdTensorType>(fresh.getType()) ? broadcast(op.getLoc(), fresh, lifted) : fresh;
    });
  };
  OperationState state(op.getLoc(), op.getName(), operandsOf(op), {}, op.getAttrs());
  for (Type type : op.getResultTypes())
    state.addTypes(liftedType(type, lifted));
  for (unsigned i = 0; i < op.getNumRegions(); ++i)
    state.addRegion();
  Operation *copy = builder.create(state);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    Block *block = builder.createBlock(&to);
    for (BlockArgument argument : from.getArguments())
      values.map(argument, block->addArgument(liftedType(argument.getType(), lifted), op.getLoc()));
    if (failed(this->copy(from.front())))
      return failure();
    Operation *end = from.front().getTerminator();
    builder.create(
        OperationState(end->getLoc(), end->getName(), operandsOf(*end), {}, end->getAttrs()));
  }
  values.map(op.getResults(), copy->getResults());
  return success();
}

LogicalResult Lifter::copyGroup(nest::GroupOp op) {
  Location loc = op.getLoc();
  OperationState state(loc, op->getName(), {}, op.getResultTypes(), op->getAttrs());
  state.addRegion();
  Operation *copy = builder.create(state);
  rewriter.rewriteAttributes(copy);

  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&copy->getRegion(0));
  if (failed(this->copy(op.getBody().front())))
    return failure();
  SmallVector<Value> yielded;
  SmallVector<Dim> lifted;
  Operation *end = op.getBody().front().getTerminator();
  for (auto [value, result, fresh] :
       llvm::zip_equal(end->getOperands(), op.getResults(), copy->getResults())) {
    yielded.push_back(values.lookupOrDefault(value));
    SmallVector<Dim> own = liftedNames(value);
    fresh.setType(liftedType(result.getType(), own));
    for (const Dim &dim : own)
      if (!llvm::is_contained(lifted, dim))
        lifted.push_back(dim);
  }
  nest::YieldOp::create(builder, loc, yielded);
  liftLayouts(copy, lifted);
  values.map(op.getResults(), copy->getResults());
  return success();
}
