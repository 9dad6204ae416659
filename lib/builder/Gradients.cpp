//===- Gradients.cpp - derivatives of functions ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "heddle/Functions.h"
#include "lib/builder/Execute.h"
#include "lib/builder/Functions.h"

using namespace heddle;
using namespace heddle::detail;

/// Nothing for a single tensor, which has no path.
static std::string forPath(const std::string &path) {
  return path.empty() ? "" : " for '" + path + "'";
}

static bool isReal(const NodeRef &node) {
  return llvm::isa<FloatType>(node->type().getElementType());
}

/// Only float tensors are differentiated with respect to; throws Error unless there is at least
/// one.
static void requireReal(ArrayRef<int64_t> wrt, const std::vector<Tensor> &formals, Here here) {
  if (wrt.empty() && !formals.empty())
    fail(here, "expected a tensor of floats to differentiate by, got " + typeAndOrigin(formals[0]) +
                   "; convert with cast");
}

GradientResult heddle::detail::gradient(const std::vector<Tensor> &formals,
                                        const std::vector<Tensor> &actuals,
                                        const std::vector<Tensor> &outputs, Here here) {
  GraphLock lock;
  if (outputs.empty())
    fail(here, "expected a function that returns a scalar");
  std::vector<NodeRef> roots = nodesOf(outputs, here);
  if (roots[0]->type().getDims().size() != 0 || !isReal(roots[0]))
    fail(here,
         "expected a scalar of a float type to differentiate, got " + typeAndOrigin(outputs[0]));
  std::vector<NodeRef> formalNodes = nodesOf(formals, here), operands = nodesOf(actuals, here);

  auto callee = std::make_shared<Callee>();
  Emission emission = emitCallee(*callee, formalNodes, roots, here);
  for (const NodeRef &node : emission.captured)
    operands.push_back(actualOf(node, formalNodes));
  std::vector<int64_t> wrt;
  for (size_t i = 0; i < formals.size(); ++i)
    if (isReal(formalNodes[i]))
      wrt.push_back(int64_t(i));
  requireReal(wrt, formals, here);
  if (TraceScope *trace = TraceScope::current())
    trace->differentiated.emplace_back(operands.begin(),
                                       operands.begin() + ptrdiff_t(formals.size()));
  std::vector<Tensor> made = makeAll(
      here, operands,
      [&](OpBuilder &builder, Location loc) {
        // Only the loss has a cotangent.
        SmallVector<Value> cotangents;
        for (Type type : emission.function.getResultTypes())
          cotangents.push_back(nd::buildConstant(builder, loc, llvm::cast<nd::NdTensorType>(type),
                                                 cotangents.empty() ? 1.0 : 0.0));
        return nd::buildVjp(builder, loc, emission.function, valuesOf(operands), cotangents, wrt);
      },
      callee);
  hideIncluded(roots, made, here);
  GradientResult result;
  result.values.assign(made.begin(), made.begin() + ptrdiff_t(roots.size()));
  result.gradients.resize(formals.size());
  for (size_t k = 0; k < wrt.size(); ++k)
    result.gradients[size_t(wrt[k])] = made[roots.size() + k];
  return result;
}

TangentResult heddle::detail::tangent(const std::vector<Tensor> &formals,
                                      const std::vector<Tensor> &actuals,
                                      const std::vector<Tensor> &tangents,
                                      const std::vector<Tensor> &outputs, Here here) {
  GraphLock lock;
  std::vector<NodeRef> formalNodes = nodesOf(formals, here), operands = nodesOf(actuals, here),
                       roots = nodesOf(outputs, here), moves;
  std::vector<int64_t> wrt;
  for (size_t i = 0; i < formals.size(); ++i)
    if (isReal(formalNodes[i])) {
      wrt.push_back(int64_t(i));
      if (i >= tangents.size() || tangents[i].empty() || tangents[i].type() != formals[i].type())
        fail(here, "expected a tangent of type " + typeAndOrigin(formals[i]) +
                       forPath(formalNodes[i]->name) + ", got " +
                       (i < tangents.size() && !tangents[i].empty() ? typeAndOrigin(tangents[i])
                                                                    : "none"));
      moves.push_back(nodeOf(tangents[i], here));
    }
  requireReal(wrt, formals, here);
  auto callee = std::make_shared<Callee>();
  Emission emission = emitCallee(*callee, formalNodes, roots, here);
  for (const NodeRef &node : emission.captured)
    operands.push_back(actualOf(node, formalNodes));
  size_t count = operands.size();
  operands.insert(operands.end(), moves.begin(), moves.end());
  std::vector<Tensor> made = makeAll(
      here, operands,
      [&](OpBuilder &builder, Location loc) {
        SmallVector<Value> inputs = valuesOf(operands);
        ValueRange all(inputs);
        return nd::buildJvp(builder, loc, emission.function, all.take_front(count),
                            all.drop_front(count), wrt);
      },
      callee);
  hideIncluded(roots, made, here);
  TangentResult result;
  result.tangents.resize(outputs.size());
  size_t next = outputs.size();
  for (size_t i = 0; i < outputs.size(); ++i) {
    result.values.push_back(made[i]);
    if (isReal(roots[i]))
      result.tangents[i] = made[next++];
  }
  return result;
}

std::vector<Tensor> heddle::detail::withGradient(const std::vector<Tensor> &formals,
                                                 const std::vector<Tensor> &actuals,
                                                 const std::vector<Tensor> &outputs,
                                                 const std::vector<Tensor> &cotangents,
                                                 const std::vector<Tensor> &gradients, Here here) {
  GraphLock lock;
  std::vector<NodeRef> arguments = nodesOf(formals, here), operands = nodesOf(actuals, here),
                       roots = nodesOf(outputs, here), slopes = nodesOf(gradients, here);
  size_t next = 0;
  for (const NodeRef &formal : arguments)
    if (isReal(formal)) {
      if (next == slopes.size() || slopes[next]->type() != formal->type())
        fail(here, "expected a gradient of type " +
                       formals[size_t(&formal - arguments.data())].type() + forPath(formal->name) +
                       ", got " + (next == slopes.size() ? "none" : gradients[next].type()));
      ++next;
    }
  if (next != slopes.size())
    fail(here,
         "expected " + std::to_string(next) + " gradients, got " + std::to_string(slopes.size()));
  // Values that either function captures become arguments of both, without a gradient.
  auto with = [&](std::vector<NodeRef> nodes) {
    for (const Tensor &cotangent : cotangents)
      nodes.push_back(cotangent.node);
    return nodes;
  };
  Callee value, backward;
  std::vector<NodeRef> captured = emitCallee(value, arguments, roots, here).captured;
  for (const NodeRef &node : emitCallee(backward, with(arguments), slopes, here).captured)
    if (!llvm::is_contained(captured, node))
      captured.push_back(node);
  for (const NodeRef &node : captured) {
    operands.push_back(actualOf(node, arguments));
    arguments.push_back(node);
    if (isReal(node))
      slopes.push_back(make(here, {}, [&](OpBuilder &builder, Location loc) {
                         return nd::buildZero(builder, loc, node->type());
                       }).node);
  }
  auto callee = std::make_shared<Callee>();
  func::FuncOp both = startCallee(*callee, arguments, roots, here);
  func::FuncOp forward = emitCallee(*callee, arguments, roots, here, "value").function;
  func::FuncOp gradient = emitCallee(*callee, with(arguments), slopes, here, "gradient").function;
  auto builder = OpBuilder::atBlockEnd(&both.front());
  func::ReturnOp::create(
      builder, locationOf(here),
      nd::buildCall(builder, locationOf(here), forward, both.getArguments(), gradient));
  return callOf(both, roots, operands, callee, here);
}
