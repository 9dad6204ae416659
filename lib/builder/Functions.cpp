//===- Functions.cpp - calls, lifting and checkpoints of functions --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/Functions.h"
#include "dialects/nd/NdBuild.h"
#include "heddle/Functions.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::detail;

Tensor heddle::detail::formalLike(const Tensor &like, const std::string &name, const Names &without,
                                  Here here) {
  auto leafLike = [&](const NodeRef &node) {
    auto stays = [&](const nd::Dim &dim) {
      return llvm::none_of(without, [&](const Name &name) { return dim.name == name.str(); });
    };
    NodeRef leaf = makeLeaf(node->type().where(stays), Here());
    leaf->value.setLoc(node->value.getLoc()); // messages show the location of the actual argument
    leaf->formal = true;
    leaf->name = name;
    return leaf;
  };
  NodeRef node = nodeOf(like, here);
  Tensor formal;
  formal.node = leafLike(node);
  if (NodeRef included = includedIn(node, here)) {
    formal.node->included = leafLike(included);
    formal.node->included->actual = isHidden(included) ? nullptr : included;
  }
  return formal;
}

func::FuncOp heddle::detail::startCallee(Callee &callee, ArrayRef<NodeRef> arguments,
                                         ArrayRef<NodeRef> results, Here here) {
  callee.module = ModuleOp::create(locationOf(here));
  auto builder = OpBuilder::atBlockEnd(callee.module->getBody());
  auto typeOf = [](const NodeRef &node) -> Type { return node->type(); };
  auto function =
      func::FuncOp::create(builder, locationOf(here), "f",
                           builder.getFunctionType(llvm::map_to_vector(arguments, typeOf),
                                                   llvm::map_to_vector(results, typeOf)));
  function.addEntryBlock();
  return function;
}

NodeRef heddle::detail::actualOf(const NodeRef &captured, ArrayRef<NodeRef> formals) {
  bool isOwn =
      llvm::any_of(formals, [&](const NodeRef &formal) { return formal->included == captured; });
  return isOwn ? captured->actual : captured;
}

/// True if a value depends only on constants.
static bool isKnown(Value value) {
  llvm::SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i)
    if (Operation *op = seen[i].getDefiningOp())
      seen.insert(op->operand_begin(), op->operand_end());
    else
      return false;
  return true;
}

void heddle::detail::hideIncluded(ArrayRef<NodeRef> roots, ArrayRef<Tensor> results, Here here) {
  for (const auto &[root, result] : llvm::zip(roots, results))
    if (NodeRef included = includedIn(root, here)) {
      SmallVector<nd::Dim> dims(included->type().getDims().getDims());
      for (const nd::Dim &dim : result.node->type().getDims())
        if (!root->type().has(dim.name) &&
            !isKnown(included->value)) // the name must be a lifted one
          dims.push_back(dim);
      result.node->included = makeLeaf(included->type().withDims(dims), here);
    }
}

std::vector<Tensor> heddle::detail::callOf(func::FuncOp function, ArrayRef<NodeRef> roots,
                                           const std::vector<NodeRef> &operands,
                                           const std::shared_ptr<Callee> &callee, Here here,
                                           bool checkpoint) {
  std::vector<Tensor> results = makeAll(
      here, operands,
      [&](OpBuilder &builder, Location loc) {
        return nd::buildCall(builder, loc, function, valuesOf(operands),
                             /*gradient=*/{}, checkpoint);
      },
      callee);
  hideIncluded(roots, results, here);
  return results;
}

Emission heddle::detail::emitCallee(Callee &callee, const std::vector<NodeRef> &formals,
                                    const std::vector<NodeRef> &roots, Here here, const char *name,
                                    std::optional<uint64_t> since) {
  DenseSet<Node *> depends;
  for (const NodeRef &formal : formals) {
    depends.insert(formal.get());
    if (formal->included)
      depends.insert(formal->included.get());
  }
  for (const NodeRef &node : dependencies(roots, [](const NodeRef &) { return false; }))
    for (const NodeRef &operand : node->fragment->operands)
      if (depends.contains(operand.get()))
        depends.insert(node.get());
  if (!callee.module)
    callee.module = ModuleOp::create(locationOf(here));
  return emit(*callee.module, name, formals, roots, here, [&](const NodeRef &node) {
    bool isLiteral = node->fragment->operands.empty() && !node->formal && !node->isKnown();
    bool isInside = since ? node->number >= *since : depends.contains(node.get());
    return !isLiteral && (node->formal || !isInside);
  });
}

static std::vector<Tensor> call(const std::vector<NodeRef> &formals,
                                const std::vector<NodeRef> &actuals,
                                const std::vector<NodeRef> &roots, Here here,
                                bool checkpoint = false) {
  auto callee = std::make_shared<Callee>();
  Emission emission = emitCallee(*callee, formals, roots, here);
  std::vector<NodeRef> operands = actuals;
  for (const NodeRef &node : emission.captured)
    operands.push_back(actualOf(node, formals));
  return callOf(emission.function, roots, operands, callee, here, checkpoint);
}

std::vector<Tensor> heddle::detail::checkpointed(const std::vector<Tensor> &formals,
                                                 const std::vector<Tensor> &actuals,
                                                 const std::vector<Tensor> &outputs, Here here) {
  GraphLock lock;
  return call(nodesOf(formals, here), nodesOf(actuals, here), nodesOf(outputs, here), here,
              /*checkpoint=*/true);
}

std::vector<Tensor> heddle::detail::lifted(const std::vector<Tensor> &formals,
                                           const std::vector<Tensor> &actuals,
                                           const std::vector<Tensor> &outputs, const Names &names,
                                           Here here) {
  GraphLock lock;
  for (const Name &name : names)
    if (std::none_of(actuals.begin(), actuals.end(),
                     [&](const Tensor &t) { return t.has(name); })) {
      std::string types;
      for (const Tensor &actual : actuals)
        types += (types.empty() ? "" : " and ") + typeAndOrigin(actual);
      fail(here, "no operand has the name '" + name.str() + "' to lift over: they are " + types);
    }
  return call(nodesOf(formals, here), nodesOf(actuals, here), nodesOf(outputs, here), here);
}
