//===- Transform.cpp - gradients and lifting of functions -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "heddle/Jit.h"
#include "lib/builder/Execute.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace heddle;
using namespace heddle::detail;

Tensor heddle::detail::formalLike(const Tensor &like, const std::string &name,
                                  const Names &without) {
  NodeRef node = nodeOf(like, Here::current());
  llvm::SmallVector<nd::Dim> dims;
  for (const nd::Dim &dim : node->type().getDims())
    if (std::none_of(without.begin(), without.end(),
                     [&](const Name &n) { return dim.name == n.str(); }))
      dims.push_back(dim);
  Tensor formal;
  formal.node = makeLeaf(node->type().withDims(dims), Here::current());
  formal.node->formal = true;
  formal.node->name = name;
  return formal;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// Copies of nodes with formals replaced by other nodes.
class Substitution {
public:
  Substitution(const std::vector<NodeRef> &formals, const std::vector<NodeRef> &actuals) {
    for (size_t i = 0; i < formals.size(); ++i)
      copies[formals[i].get()] = actuals[i];
  }

  NodeRef apply(const NodeRef &root) {
    for (const NodeRef &node :
         dependencies({root}, [&](const NodeRef &n) { return copies.count(n.get()) > 0; }))
      if (!copies.count(node.get()))
        copies[node.get()] = copy(node);
    return copies[root.get()];
  }

private:
  std::map<Node *, NodeRef> copies;
  std::map<Group *, std::shared_ptr<Group>> groups;
  mlir::IRMapping mapping;

  NodeRef copy(const NodeRef &node) {
    bool changed = false;
    for (const NodeRef &operand : node->group->operands)
      changed |= copies[operand.get()] != operand;
    if (!changed)
      return node;
    auto &group = groups[node->group.get()];
    if (!group) {
      group = std::make_shared<Group>();
      group->callee = node->group->callee;
      group->stopsGradient = node->group->stopsGradient;
      for (const NodeRef &operand : node->group->operands) {
        group->operands.push_back(copies[operand.get()]);
        mapping.map(operand->value, copies[operand.get()]->value);
      }
      mlir::OpBuilder builder(graphContext());
      builder.setInsertionPointToEnd(group->block.get());
      for (mlir::Operation &op : *node->group->block)
        builder.clone(op, mapping);
    }
    auto result = std::make_shared<Node>();
    result->group = group;
    result->value = mapping.lookup(node->value);
    return result;
  }
};
} // namespace

/// Emits `roots` as the function "f" of a callee. What depends on the formals by ways that `passes`
/// admits is part of it, the rest is captured.
static Emission emitCallee(Callee &callee, const std::vector<NodeRef> &formals,
                           const std::vector<NodeRef> &roots, Here here,
                           llvm::function_ref<bool(const NodeRef &)> passes) {
  llvm::DenseSet<Node *> depends;
  for (const NodeRef &formal : formals)
    depends.insert(formal.get());
  for (const NodeRef &node : dependencies(roots, [](const NodeRef &) { return false; }))
    if (passes(node))
      for (const NodeRef &operand : node->group->operands)
        if (depends.contains(operand.get()))
          depends.insert(node.get());
  callee.module = mlir::ModuleOp::create(locationOf(here));
  return emit(*callee.module, "f", formals, roots, here, [&](const NodeRef &node) {
    bool isLiteral = node->group->operands.empty() && !node->formal && !node->data;
    return !depends.contains(node.get()) && !isLiteral;
  });
}

GradientResult heddle::detail::gradient(const std::vector<Tensor> &formals,
                                        const std::vector<Tensor> &actuals,
                                        const std::vector<Tensor> &outputs, Here here) {
  GraphLock lock;
  if (outputs.empty())
    fail(here, "expected a function that returns a scalar");
  NodeRef loss = nodeOf(outputs[0], here);
  if (loss->type().getDims().size() != 0 ||
      !llvm::isa<mlir::FloatType>(loss->type().getElementType()))
    fail(here, "expected a scalar of a float type to differentiate, got " + outputs[0].type());
  std::vector<NodeRef> formalNodes, actualNodes;
  for (size_t i = 0; i < formals.size(); ++i) {
    formalNodes.push_back(formals[i].node);
    actualNodes.push_back(nodeOf(actuals[i], here));
  }
  Substitution substitution(formalNodes, actualNodes);

  auto callee = std::make_shared<Callee>();
  Emission emission = emitCallee(*callee, formalNodes, {loss}, here, [](const NodeRef &node) {
    return !node->group->stopsGradient; // what gradients do not pass through is captured
  });
  std::vector<NodeRef> operands = actualNodes;
  for (const NodeRef &node : emission.captured)
    operands.push_back(substitution.apply(node));
  std::vector<int64_t> wrt;
  for (size_t i = 0; i < formals.size(); ++i)
    if (llvm::isa<mlir::FloatType>(formalNodes[i]->type().getElementType()))
      wrt.push_back(int64_t(i));
  std::vector<Tensor> made = makeAll(
      here, operands,
      [&](mlir::OpBuilder &builder, mlir::Location loc) {
        llvm::SmallVector<mlir::Value> inputs;
        llvm::SmallVector<mlir::Type> results{loss->type()};
        for (const NodeRef &operand : operands)
          inputs.push_back(operand->value);
        for (int64_t position : wrt)
          results.push_back(formalNodes[size_t(position)]->type());
        mlir::Value one = nd::buildConstant(builder, loc, loss->type(), 1.0);
        auto op = nd::VjpOp::create(builder, loc, results,
                                    mlir::FlatSymbolRefAttr::get(builder.getContext(), "f"), inputs,
                                    mlir::ValueRange{one}, builder.getDenseI64ArrayAttr(wrt));
        return llvm::SmallVector<mlir::Value>(op.getResults());
      },
      callee);
  GradientResult result;
  result.values.push_back(made[0]);
  for (size_t i = 1; i < outputs.size(); ++i) {
    Tensor value;
    value.node = substitution.apply(nodeOf(outputs[i], here));
    result.values.push_back(value);
  }
  result.gradients.resize(formals.size());
  for (size_t k = 0; k < wrt.size(); ++k)
    result.gradients[size_t(wrt[k])] = made[k + 1];
  return result;
}

//===----------------------------------------------------------------------===//
// Lifting
//===----------------------------------------------------------------------===//

static std::vector<Tensor> call(const std::vector<NodeRef> &formals,
                                const std::vector<NodeRef> &actuals,
                                const std::vector<NodeRef> &roots, Here here) {
  auto callee = std::make_shared<Callee>();
  Emission emission =
      emitCallee(*callee, formals, roots, here, [](const NodeRef &) { return true; });
  std::vector<NodeRef> operands = actuals;
  operands.insert(operands.end(), emission.captured.begin(), emission.captured.end());
  return makeAll(
      here, operands,
      [&](mlir::OpBuilder &builder, mlir::Location loc) {
        llvm::SmallVector<mlir::Value> inputs;
        for (const NodeRef &operand : operands)
          inputs.push_back(operand->value);
        return nd::buildCall(builder, loc, emission.function, inputs);
      },
      callee);
}

std::vector<Tensor> heddle::detail::lifted(const std::vector<Tensor> &formals,
                                           const std::vector<Tensor> &actuals,
                                           const std::vector<Tensor> &outputs, const Names &names,
                                           Here here) {
  GraphLock lock;
  std::vector<NodeRef> formalNodes, actualNodes, roots;
  for (size_t i = 0; i < formals.size(); ++i) {
    formalNodes.push_back(formals[i].node);
    actualNodes.push_back(nodeOf(actuals[i], here));
  }
  for (const Name &name : names)
    if (std::none_of(actuals.begin(), actuals.end(),
                     [&](const Tensor &t) { return t.has(name); })) {
      std::string types;
      for (const Tensor &actual : actuals)
        types += (types.empty() ? "" : " and ") + actual.type();
      fail(here, "no operand has the name '" + name.str() + "' to lift over: they are " + types);
    }
  for (const Tensor &output : outputs)
    roots.push_back(nodeOf(output, here));

  // Where gradients stop the function is cut: what comes before is called by itself, so that the
  // builder still sees the stop between the two.
  llvm::DenseSet<Node *> isFormal;
  for (const NodeRef &formal : formalNodes)
    isFormal.insert(formal.get());
  auto stop = [&](const NodeRef &node) { return isFormal.contains(node.get()); };
  llvm::DenseSet<Node *> depends = isFormal;
  for (const NodeRef &node : dependencies(roots, stop)) {
    if (stop(node))
      continue;
    for (const NodeRef &operand : node->group->operands)
      if (depends.contains(operand.get()))
        depends.insert(node.get());
    if (!node->group->stopsGradient || !depends.contains(node.get()))
      continue;
    Tensor before = call(formalNodes, actualNodes, {node->group->operands[0]}, here)[0];
    formalNodes.push_back(node);
    actualNodes.push_back(stopGradient(before, here).node);
  }
  return call(formalNodes, actualNodes, roots, here);
}
