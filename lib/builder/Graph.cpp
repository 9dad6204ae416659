//===- Graph.cpp - the graph behind tensors -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/Graph.h"

#include "dialects/mesh/MeshDialect.h"
#include "dialects/nd/ElementTypes.h"
#include "dialects/nd/NdGradient.h"
#include "heddle/Kernel.h"
#include "heddle/LayerScope.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"

#include <atomic>
#include <cmath>

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

MLIRContext *heddle::detail::graphContext() {
  static MLIRContext *context = [] {
    auto *made = new MLIRContext(MLIRContext::Threading::DISABLED);
    made->printOpOnDiagnostic(false);
    made->loadDialect<nd::NdDialect, nest::NestDialect, mesh::MeshDialect, func::FuncDialect,
                      arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
    return made;
  }();
  return context;
}

static ForkMutex &graphMutex() {
  static auto &mutex = *new ForkMutex(/*outer=*/true); // tensors may outlive all other statics
  return mutex;
}

GraphLock::GraphLock() : lock(graphMutex()) {}

uint64_t Node::made(bool more) {
  static std::atomic<uint64_t> count = 0;
  return more ? count++ : count.load();
}

// Recursive destruction of a long chain of fragments would overflow the stack, so operands to
// destroy are queued. The queue outlives all tensors of static storage.
Fragment::~Fragment() {
  GraphLock lock;
  static auto &dying = *new std::vector<NodeRef>;
  static bool draining = false;
  block->dropAllReferences();
  block->dropAllUses();
  block.reset();
  for (NodeRef &operand : operands)
    dying.push_back(std::move(operand));
  operands.clear();
  if (draining)
    return;
  draining = true;
  while (!dying.empty()) {
    NodeRef next = std::move(dying.back());
    dying.pop_back();
    next.reset();
  }
  draining = false;
}

std::string heddle::detail::originOf(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  return file ? " (from " + file.getFilename().str() + ":" + std::to_string(file.getLine()) + ")"
              : "";
}

std::string heddle::detail::typeAndOrigin(const Tensor &tensor) {
  return tensor.type() + (tensor.node ? originOf(tensor.node->value.getLoc()) : "");
}

Location heddle::detail::locationOf(Here here) {
  here = CallScope::placed(here);
  MLIRContext *context = graphContext();
  Location place = UnknownLoc::get(context);
  if (here.line())
    place = FileLineColLoc::get(context, here.file_name(), here.line(), here.column());
  const std::string &layer = LayerScope::current();
  return layer.empty() ? place : NameLoc::get(StringAttr::get(context, layer), place);
}

void heddle::detail::fail(Here here, const std::string &message) { refuse(message, here); }

void heddle::detail::requireNumber(double value, Type element, Here here) {
  if (auto type = dyn_cast<FloatType>(element); type && std::isfinite(value)) {
    llvm::APFloat rounded(value);
    bool isInexact;
    rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &isInexact);
    if (!rounded.isFinite()) {
      std::string text;
      llvm::raw_string_ostream(text)
          << "expected a number that " << element << " has, got " << llvm::format("%g", value);
      fail(here, text + "; convert the tensor with cast");
    }
  }
  auto type = dyn_cast<IntegerType>(element);
  if (!type)
    return;
  bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
  double most = std::ldexp(1.0, int(type.getWidth()) - !isUnsigned);
  if (value != std::floor(value) || !(value >= (isUnsigned ? 0 : -most) && value < most)) {
    std::string text;
    llvm::raw_string_ostream(text) << "expected a number that is one of " << Type(type) << ", got "
                                   << llvm::format("%g", value);
    fail(here, text + "; convert the tensor with cast");
  }
}

NodeRef heddle::detail::nodeOf(const Tensor &tensor, Here here) {
  if (!tensor.node)
    fail(here, "this tensor is empty: nothing was assigned to it");
  if (!tensor.node->donatedAt.empty())
    fail(here, "this tensor of type " + tensor.type() + " was donated to the call at " +
                   tensor.node->donatedAt + ", which updated it in place");
  return tensor.node;
}

std::vector<NodeRef> heddle::detail::nodesOf(const std::vector<Tensor> &tensors, Here here) {
  std::vector<NodeRef> nodes;
  for (const Tensor &tensor : tensors)
    nodes.push_back(nodeOf(tensor, here));
  return nodes;
}

SmallVector<Value> heddle::detail::valuesOf(ArrayRef<NodeRef> nodes) {
  return llvm::map_to_vector(nodes, [](const NodeRef &node) { return node->value; });
}

SmallVector<StringRef> heddle::detail::strings(const Names &names) {
  return llvm::map_to_vector(names, [](const Name &name) -> StringRef { return name.str(); });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The attributes of the groups that are open in this thread, innermost last.
static thread_local std::vector<ArrayAttr> openGroups;

heddle::detail::GroupScope::GroupScope(const Names &names, Here here) {
  GraphLock lock;
  static int64_t count = 0;
  MLIRContext *context = graphContext();
  SmallVector<Attribute> request;
  for (const Name &name : names) {
    auto spelling = StringAttr::get(context, name.str());
    if (llvm::is_contained(request, Attribute(spelling)))
      fail(here, "the name '" + name.str() + "' is listed twice");
    request.push_back(spelling);
  }
  if (request.empty())
    fail(here, "expected the names that a group runs over, got none");
  request.push_back(IntegerAttr::get(IntegerType::get(context, 64), count++));
  openGroups.push_back(ArrayAttr::get(context, request));
}

heddle::detail::GroupScope::~GroupScope() { openGroups.pop_back(); }

/// Numbers the groups in the order of the function, so that equal functions have equal texts.
static void numberGroups(func::FuncOp function) {
  llvm::MapVector<Attribute, Attribute> numbered;
  function.walk([&](Operation *op) {
    auto request = op->getAttrOfType<ArrayAttr>("group");
    if (!request)
      return;
    Attribute &known = numbered[request];
    if (!known) {
      SmallVector<Attribute> parts(request.getValue());
      parts.back() =
          IntegerAttr::get(IntegerType::get(op->getContext(), 64), int64_t(numbered.size()) - 1);
      known = ArrayAttr::get(op->getContext(), parts);
    }
    op->setAttr("group", known);
  });
}

//===----------------------------------------------------------------------===//
// Making nodes
//===----------------------------------------------------------------------===//

std::vector<Tensor>
heddle::detail::makeAll(Here here, const std::vector<NodeRef> &operands,
                        function_ref<SmallVector<Value>(OpBuilder &, Location)> build,
                        std::shared_ptr<Callee> callee) {
  GraphLock lock;
  std::string message;
  ScopedDiagnosticHandler handler(graphContext(), [&](Diagnostic &diagnostic) {
    if (!message.empty())
      message += "; ";
    message += diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes())
      message += "; " + note.str() + originOf(note.getLocation());
    return success();
  });
  auto fragment = std::make_shared<Fragment>();
  fragment->operands = operands;
  fragment->callee = std::move(callee);
  OpBuilder builder(graphContext());
  builder.setInsertionPointToEnd(fragment->block.get());
  SmallVector<Value> values = build(builder, locationOf(here));
  if (!openGroups.empty())
    for (Operation &op : *fragment->block)
      op.setAttr("group", openGroups.back());
  bool valid = !values.empty() && llvm::all_of(values, [](Value value) { return bool(value); });
  // Symbols are resolved only once a function is emitted.
  if (valid && !fragment->callee)
    for (Operation &op : *fragment->block)
      valid = valid && succeeded(verify(&op));
  if (!valid)
    fail(here, message.empty() ? "this operation is invalid" : message);
  std::vector<Tensor> results;
  for (Value value : values) {
    Tensor tensor;
    tensor.node = std::make_shared<Node>();
    tensor.node->fragment = fragment;
    tensor.node->value = value;
    results.push_back(tensor);
  }
  return results;
}

Tensor heddle::detail::make(Here here, const std::vector<NodeRef> &operands,
                            function_ref<Value(OpBuilder &, Location)> build) {
  return makeAll(here, operands, [&](OpBuilder &builder, Location loc) {
    return SmallVector<Value>{build(builder, loc)};
  })[0];
}

NodeRef heddle::detail::includedIn(const NodeRef &node, Here here) {
  GraphLock lock;
  if (node->included)
    return node->included;
  std::vector<NodeRef> operands{node};
  DenseMap<Value, Value> known;
  nd::Exclusions exclusions;
  bool isAnyHidden = false;
  for (const NodeRef &each : dependencies({node}, [](const NodeRef &each) {
         return each->included || !nd::carriesExclusion(each->value.getDefiningOp());
       }))
    if (each->included) {
      exclusions.assume(each->value);
      known[each->value] = each->included->value;
      operands.push_back(each->included);
      isAnyHidden |= isHidden(each->included);
    }
  if (!exclusions.reach(node->value))
    return nullptr;
  Tensor included = make(here, operands, [&](OpBuilder &builder, Location loc) {
    return nd::buildIncluded(builder, loc, node->value, std::move(known));
  });
  return isAnyHidden ? makeLeaf(included.node->type(), here) : included.node;
}

bool heddle::detail::isHidden(const NodeRef &included) {
  return included->fragment->operands.empty() && llvm::isa<BlockArgument>(included->value) &&
         !included->actual;
}

NodeRef heddle::detail::makeLeaf(nd::NdTensorType type, Here here) {
  GraphLock lock;
  auto node = std::make_shared<Node>();
  node->fragment = std::make_shared<Fragment>();
  node->value = node->fragment->block->addArgument(type, locationOf(here));
  return node;
}

Type heddle::detail::toMlir(ElementType type) { return nd::mlirType(graphContext(), type); }
std::optional<ElementType> heddle::detail::fromMlir(Type type) { return nd::elementTypeOf(type); }

SmallVector<nd::Dim> heddle::detail::dimsOf(const std::vector<Extent> &extents, Here here) {
  SmallVector<nd::Dim> dims;
  for (const Extent &extent : extents) {
    if (extent.size.isNumber() && extent.size < 0)
      fail(here, "expected a size of at least 0 for '" + extent.name.str() + "', got " +
                     extent.size.expr().str());
    for (const nd::Dim &dim : dims)
      if (dim.name == extent.name.str())
        fail(here, "the name '" + extent.name.str() + "' occurs twice");
    dims.emplace_back(graphContext(), extent.name.str(), extent.size.expr());
  }
  return dims;
}

std::vector<NodeRef> heddle::detail::dependencies(const std::vector<NodeRef> &roots,
                                                  function_ref<bool(const NodeRef &)> stop) {
  std::vector<NodeRef> order;
  DenseSet<Node *> seen;
  std::vector<std::pair<NodeRef, size_t>> stack;
  auto enter = [&](const NodeRef &node) {
    if (seen.insert(node.get()).second)
      stack.emplace_back(node, 0);
  };
  for (const NodeRef &root : roots) {
    enter(root);
    while (!stack.empty()) {
      auto &[node, next] = stack.back();
      if (!stop(node) && next < node->fragment->operands.size()) {
        enter(NodeRef(node->fragment->operands[next++]));
        continue;
      }
      order.push_back(node);
      stack.pop_back();
    }
  }
  return order;
}

/// Moves a callee's functions into the module of `table` under names that are free there, from
/// `f_<next>` on. All references are updated in one walk: one walk per function would take
/// quadratic time.
static FlatSymbolRefAttr addCallee(SymbolTable &table, unsigned &next, Callee &callee) {
  MLIRContext *context = table.getOp()->getContext();
  OwningOpRef<ModuleOp> copy(callee.module->clone());
  DenseMap<Attribute, FlatSymbolRefAttr> names;
  SmallVector<func::FuncOp> functions = llvm::to_vector(copy->getOps<func::FuncOp>());
  for (func::FuncOp function : functions) {
    FlatSymbolRefAttr before = FlatSymbolRefAttr::get(function);
    auto fresh = StringAttr::get(context, "f");
    while (table.lookup(fresh))
      fresh = StringAttr::get(context, "f_" + Twine(next++));
    function->remove();
    function.setSymNameAttr(fresh);
    function.setPrivate(); // not an entry of a program
    table.insert(function);
    names[before] = FlatSymbolRefAttr::get(fresh);
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FlatSymbolRefAttr symbol) -> std::pair<Attribute, WalkResult> {
    return {names.lookup_or(symbol, symbol), WalkResult::skip()};
  });
  for (func::FuncOp function : functions)
    replacer.recursivelyReplaceElementsIn(function);
  return names.lookup(FlatSymbolRefAttr::get(context, "f"));
}

Emission heddle::detail::emit(ModuleOp module, StringRef name, const std::vector<NodeRef> &formals,
                              const std::vector<NodeRef> &roots, Here here,
                              function_ref<bool(const NodeRef &)> captures) {
  GraphLock lock;
  DenseSet<Node *> isFormal;
  for (const NodeRef &formal : formals)
    isFormal.insert(formal.get());
  auto isCaptured = [&](const NodeRef &node) {
    return !isFormal.contains(node.get()) && (node->isKnown() || (captures && captures(node)));
  };
  std::vector<NodeRef> order = dependencies(roots, [&](const NodeRef &node) {
    return isFormal.contains(node.get()) || isCaptured(node);
  });

  Emission emission;
  SmallVector<Type> argumentTypes, resultTypes;
  std::vector<NodeRef> arguments = formals;
  for (const NodeRef &node : order) {
    if (isFormal.contains(node.get()))
      continue;
    if (isCaptured(node)) {
      emission.captured.push_back(node);
      arguments.push_back(node);
    } else if (node->formal) {
      fail(here, "the value '" + node->name +
                     "' belongs to another function that is being traced, or was kept from an "
                     "earlier trace");
    }
  }
  for (const NodeRef &node : arguments)
    argumentTypes.push_back(node->type());
  for (const NodeRef &node : roots)
    resultTypes.push_back(node->type());

  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  emission.function = func::FuncOp::create(builder, locationOf(here), name,
                                           builder.getFunctionType(argumentTypes, resultTypes));
  Block *body = emission.function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  DenseSet<Fragment *> cloned;
  std::optional<SymbolTable> functions;
  unsigned next = 0;
  for (auto [node, argument] : llvm::zip_equal(arguments, body->getArguments()))
    mapping.map(node->value, argument);
  for (const NodeRef &node : order) {
    if (isFormal.contains(node.get()) || isCaptured(node) ||
        !cloned.insert(node->fragment.get()).second)
      continue;
    FlatSymbolRefAttr callee;
    if (node->fragment->callee) {
      if (!functions)
        functions.emplace(module);
      callee = addCallee(*functions, next, *node->fragment->callee);
    }
    for (Operation &op : *node->fragment->block) {
      auto named = dyn_cast<nd::CalleeInterface>(builder.clone(op, mapping));
      if (callee && named)
        named.setCalleeAttr(callee);
    }
  }
  SmallVector<Value> results;
  for (const NodeRef &root : roots)
    results.push_back(mapping.lookup(root->value));
  func::ReturnOp::create(builder, locationOf(here), results);
  numberGroups(emission.function);
  return emission;
}
