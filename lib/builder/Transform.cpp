//===- Transform.cpp - gradients and lifting of functions -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "heddle/Jit.h"
#include "lib/builder/Execute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
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

/// Nothing for a single tensor, which has no path.
static std::string forPath(const std::string &path) {
  return path.empty() ? "" : " for '" + path + "'";
}

static std::vector<NodeRef> nodesOf(const std::vector<Tensor> &tensors, Here here) {
  std::vector<NodeRef> nodes;
  for (const Tensor &tensor : tensors)
    nodes.push_back(nodeOf(tensor, here));
  return nodes;
}

static bool isReal(const NodeRef &node) {
  return llvm::isa<mlir::FloatType>(node->type().getElementType());
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Creates the module of `callee` and in it an empty function `f`.
static mlir::func::FuncOp startCallee(Callee &callee, llvm::ArrayRef<NodeRef> arguments,
                                      llvm::ArrayRef<NodeRef> results, Here here) {
  callee.module = mlir::ModuleOp::create(locationOf(here));
  auto builder = mlir::OpBuilder::atBlockEnd(callee.module->getBody());
  auto typeOf = [](const NodeRef &node) -> mlir::Type { return node->type(); };
  auto function =
      mlir::func::FuncOp::create(builder, locationOf(here), "f",
                                 builder.getFunctionType(llvm::map_to_vector(arguments, typeOf),
                                                         llvm::map_to_vector(results, typeOf)));
  function.addEntryBlock();
  return function;
}
/// Returns the value that a call passes for a captured value of a callee with these formals.
static NodeRef actualOf(const NodeRef &captured, llvm::ArrayRef<NodeRef> formals) {
  bool isOwn =
      llvm::any_of(formals, [&](const NodeRef &formal) { return formal->included == captured; });
  return isOwn ? captured->actual : captured;
}

/// True if a value depends only on constants.
static bool isKnown(mlir::Value value) {
  llvm::SetVector<mlir::Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i)
    if (mlir::Operation *op = seen[i].getDefiningOp())
      seen.insert(op->operand_begin(), op->operand_end());
    else
      return false;
  return true;
}

/// Sets `included` of those results of a call from which windows in the callee exclude elements.
static void hideIncluded(llvm::ArrayRef<NodeRef> roots, llvm::ArrayRef<Tensor> results, Here here) {
  for (const auto &[root, result] : llvm::zip(roots, results))
    if (NodeRef included = includedIn(root, here)) {
      llvm::SmallVector<nd::Dim> dims(included->type().getDims().getDims());
      for (const nd::Dim &dim : result.node->type().getDims())
        if (!root->type().has(dim.name) &&
            !isKnown(included->value)) // the name must be a lifted one
          dims.push_back(dim);
      result.node->included = makeLeaf(included->type().withDims(dims), here);
    }
}

/// The results of a function that returns `roots` for the values of `operands`.
static std::vector<Tensor> callOf(mlir::func::FuncOp function, llvm::ArrayRef<NodeRef> roots,
                                  const std::vector<NodeRef> &operands,
                                  const std::shared_ptr<Callee> &callee, Here here,
                                  bool checkpoint = false) {
  std::vector<Tensor> results = makeAll(
      here, operands,
      [&](mlir::OpBuilder &builder, mlir::Location loc) {
        return nd::buildCall(
            builder, loc, function,
            llvm::map_to_vector(operands, [](const NodeRef &node) { return node->value; }),
            /*gradient=*/{}, checkpoint);
      },
      callee);
  hideIncluded(roots, results, here);
  return results;
}

/// Emits `roots` as the function `name` of a callee. Nodes that depend on the formals are part of
/// it, others are captured; with `since`, nodes created since then are part of it.
static Emission emitCallee(Callee &callee, const std::vector<NodeRef> &formals,
                           const std::vector<NodeRef> &roots, Here here, const char *name = "f",
                           std::optional<uint64_t> since = {}) {
  llvm::DenseSet<Node *> depends;
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
    callee.module = mlir::ModuleOp::create(locationOf(here));
  return emit(*callee.module, name, formals, roots, here, [&](const NodeRef &node) {
    bool isLiteral = node->fragment->operands.empty() && !node->formal && !node->isKnown();
    bool isInside = since ? node->number >= *since : depends.contains(node.get());
    return !isLiteral && (node->formal || !isInside);
  });
}

/// Only float tensors are differentiated with respect to; throws Error unless there is at least
/// one.
static void requireReal(llvm::ArrayRef<int64_t> wrt, const std::vector<Tensor> &formals,
                        Here here) {
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
      [&](mlir::OpBuilder &builder, mlir::Location loc) {
        // Only the loss has a cotangent.
        llvm::SmallVector<mlir::Value> cotangents;
        for (mlir::Type type : emission.function.getResultTypes())
          cotangents.push_back(nd::buildConstant(builder, loc, llvm::cast<nd::NdTensorType>(type),
                                                 cotangents.empty() ? 1.0 : 0.0));
        return nd::buildVjp(
            builder, loc, emission.function,
            llvm::map_to_vector(operands, [](const NodeRef &node) { return node->value; }),
            cotangents, wrt);
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
      [&](mlir::OpBuilder &builder, mlir::Location loc) {
        llvm::SmallVector<mlir::Value> inputs;
        for (const NodeRef &operand : operands)
          inputs.push_back(operand->value);
        mlir::ValueRange all(inputs);
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

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

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
      slopes.push_back(make(here, {}, [&](mlir::OpBuilder &builder, mlir::Location loc) {
                         return nd::buildZero(builder, loc, node->type());
                       }).node);
  }
  auto callee = std::make_shared<Callee>();
  mlir::func::FuncOp both = startCallee(*callee, arguments, roots, here);
  mlir::func::FuncOp forward = emitCallee(*callee, arguments, roots, here, "value").function;
  mlir::func::FuncOp gradient =
      emitCallee(*callee, with(arguments), slopes, here, "gradient").function;
  auto builder = mlir::OpBuilder::atBlockEnd(&both.front());
  mlir::func::ReturnOp::create(
      builder, locationOf(here),
      nd::buildCall(builder, locationOf(here), forward, both.getArguments(), gradient));
  return callOf(both, roots, operands, callee, here);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

namespace {
/// Emits each part of control flow as a function, all with the same captured values, and a function
/// that contains the control flow and calls them.
class Control {
public:
  Control(const std::vector<Tensor> &initial, Here here)
      : here(here), operands(nodesOf(initial, here)) {}

  /// Adds a part. Formals that are not carried come first.
  void add(const Part &part) {
    parts.push_back({nodesOf(part.formals, here), nodesOf(part.outputs, here), part.since});
    Callee scratch;
    const Nodes &nodes = parts.back();
    for (const NodeRef &node :
         emitCallee(scratch, nodes.formals, nodes.outputs, here, "f", nodes.since).captured)
      if (actualOf(node, nodes.formals) != node)
        fail(here, "expected a state and inputs of a loop without excluded taps, "
                   "got '" +
                       node->name + "'" + originOf(node->value.getLoc()));
      else if (!llvm::is_contained(captured, node))
        captured.push_back(node);
  }

  using Call = llvm::function_ref<llvm::SmallVector<mlir::Value>(size_t part, mlir::OpBuilder &,
                                                                 mlir::ValueRange)>;
  /// `build` creates the control flow from the operands (carried values, then captured ones); it
  /// calls parts on the operands before the captured values.
  std::vector<Tensor>
  make(llvm::ArrayRef<NodeRef> like,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::ValueRange, Call)>
           build) {
    if (like.empty())
      fail(here, "expected a loop or a branch to return at least one tensor, got none");
    size_t own = operands.size();
    operands.insert(operands.end(), captured.begin(), captured.end());
    auto callee = std::make_shared<Callee>();
    mlir::func::FuncOp function = startCallee(*callee, operands, like, here);
    std::vector<mlir::func::FuncOp> functions;
    for (Nodes &part : parts) {
      part.formals.insert(part.formals.end(), captured.begin(), captured.end());
      functions.push_back(
          emitCallee(*callee, part.formals, part.outputs, here, "part", part.since).function);
      functions.back().setName("part" + std::to_string(functions.size()));
    }
    auto builder = mlir::OpBuilder::atBlockEnd(&function.front());
    mlir::ValueRange arguments = function.getArguments();
    llvm::SmallVector<mlir::Value> results =
        build(builder, arguments, [&](size_t part, mlir::OpBuilder &b, mlir::ValueRange values) {
          llvm::SmallVector<mlir::Value> inputs(values);
          inputs.append(arguments.begin() + own, arguments.end());
          return nd::buildCall(b, locationOf(here), functions[part], inputs);
        });
    mlir::func::ReturnOp::create(builder, locationOf(here), results);
    std::vector<Tensor> made = callOf(function, {}, operands, callee, here);
    for (const Nodes &part : parts)
      hideIncluded(part.outputs, made, here);
    return made;
  }

  /// Requires a part to return tensors of the wanted types. Sizes that are equal for some values of
  /// symbols get the same expression.
  void expect(std::vector<Tensor> &got, const std::vector<Tensor> &wanted,
              const std::string &what) const {
    for (size_t i = 0; i < std::min(got.size(), wanted.size()); ++i)
      for (const Extent &extent : wanted[i].extents())
        if (Expr size = extent.size.expr(); got[i].has(extent.name) &&
                                            got[i].size(extent.name).expr() != size &&
                                            nd::mayEqual(got[i].size(extent.name).expr(), size))
          got[i] = got[i].split(extent.name, {extent}, here);
    for (size_t i = 0; i < std::max(got.size(), wanted.size()); ++i)
      if (i >= got.size() || i >= wanted.size() || got[i].type() != wanted[i].type())
        fail(here, "expected " + what + " of type " +
                       (i < wanted.size() ? typeAndOrigin(wanted[i]) : "none") + ", got " +
                       (i < got.size() ? typeAndOrigin(got[i]) : "none"));
  }

private:
  Here here;
  std::vector<NodeRef> operands, captured;
  struct Nodes {
    std::vector<NodeRef> formals, outputs;
    std::optional<uint64_t> since;
  };
  std::vector<Nodes> parts;
};
} // namespace

static mlir::Value itemOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor) {
  return nd::ItemOp::create(builder, loc, nd::tensorType(tensor).scalarType(), tensor);
}
static NodeRef conditionOf(const Tensor &condition, Here here) {
  NodeRef node = nodeOf(condition, here);
  if (!node->type().getDims().getDims().empty() || !node->type().getElementType().isInteger(1))
    fail(here, "expected a condition of type !nd.tensor<i1>, got " + typeAndOrigin(condition));
  return node;
}

uint64_t heddle::detail::nodesMade() { return Node::made(/*more=*/false); }

Tensor heddle::detail::counterFormal(Here here) {
  return formalLike(constant(0, ElementType::I64, {}, here), "step", {}, here);
}

std::vector<Tensor> heddle::detail::branch(const Tensor &condition, Part yes, Part no, Here here) {
  GraphLock lock;
  Control control({condition}, here);
  conditionOf(condition, here);
  control.expect(no.outputs, yes.outputs, "the other side of a branch to give a value");
  control.add(yes);
  control.add(no);
  std::vector<NodeRef> like = nodesOf(yes.outputs, here);
  return control.make(like, [&](mlir::OpBuilder &b, mlir::ValueRange arguments, auto call) {
    mlir::Location loc = locationOf(here);
    auto types =
        llvm::map_to_vector(like, [](const NodeRef &n) -> mlir::Type { return n->type(); });
    auto op = mlir::scf::IfOp::create(b, loc, types, itemOf(b, loc, arguments[0]), true);
    for (size_t side : {0, 1}) {
      mlir::OpBuilder inner =
          mlir::OpBuilder::atBlockEnd(side == 0 ? op.thenBlock() : op.elseBlock());
      mlir::scf::YieldOp::create(inner, loc, call(side, inner, {}));
    }
    return llvm::SmallVector<mlir::Value>(op.getResults());
  });
}

std::vector<Tensor> heddle::detail::loop(const std::variant<int64_t, Tensor> &steps, Part body,
                                         const std::vector<Tensor> &initial, Here here) {
  std::vector<Tensor> operands = initial;
  if (auto *count = std::get_if<Tensor>(&steps)) {
    nd::NdTensorType type = nodeOf(*count, here)->type();
    if (!type.getDims().getDims().empty() || !type.getElementType().isIntOrIndex())
      fail(here, "expected a number of steps without names, an integer, got " + count->type());
    operands.push_back(count->cast(ElementType::I64));
  }
  GraphLock lock;
  Control control(operands, here);
  control.expect(body.outputs, initial, "the body of a loop to give a state");
  control.add(body);
  return control.make(nodesOf(initial, here), [&](mlir::OpBuilder &b, mlir::ValueRange arguments,
                                                  auto call) {
    mlir::Location loc = locationOf(here);
    auto index = [&](int64_t i) {
      return mlir::arith::ConstantIndexOp::create(b, loc, i).getResult();
    };
    auto *known = std::get_if<int64_t>(&steps);
    mlir::Value count =
        known ? index(*known)
              : nd::ItemOp::create(b, loc, b.getIndexType(), arguments[initial.size()]).getResult();
    auto op = mlir::scf::ForOp::create(
        b, loc, index(0), count, index(1), arguments.take_front(initial.size()),
        [&](mlir::OpBuilder &inner, mlir::Location, mlir::Value i, mlir::ValueRange state) {
          llvm::SmallVector<mlir::Value> values{nd::FromItemOp::create(
              inner, loc, nd::NdTensorType::get(inner.getI64Type(), llvm::ArrayRef<nd::Dim>()), i)};
          llvm::append_range(values, state);
          mlir::scf::YieldOp::create(inner, loc, call(0, inner, values));
        });
    return llvm::SmallVector<mlir::Value>(op.getResults());
  });
}

std::vector<Tensor> heddle::detail::loopWhile(const Part &condition, Part body,
                                              const std::vector<Tensor> &initial, Here here) {
  GraphLock lock;
  Control control(initial, here);
  conditionOf(condition.outputs[0], here);
  control.expect(body.outputs, initial, "the body of a loop to give a state");
  control.add(condition);
  control.add(body);
  return control.make(nodesOf(initial, here),
                      [&](mlir::OpBuilder &b, mlir::ValueRange arguments, auto call) {
                        mlir::Location loc = locationOf(here);
                        mlir::ValueRange carried = arguments.take_front(initial.size());
                        auto op = mlir::scf::WhileOp::create(
                            b, loc, carried.getTypes(), carried,
                            [&](mlir::OpBuilder &inner, mlir::Location, mlir::ValueRange state) {
                              mlir::scf::ConditionOp::create(
                                  inner, loc, itemOf(inner, loc, call(0, inner, state)[0]), state);
                            },
                            [&](mlir::OpBuilder &inner, mlir::Location, mlir::ValueRange state) {
                              mlir::scf::YieldOp::create(inner, loc, call(1, inner, state));
                            });
                        return llvm::SmallVector<mlir::Value>(op.getResults());
                      });
}

std::vector<Tensor> heddle::detail::recurrence(const Name &along, Part body,
                                               const std::vector<Tensor> &initial,
                                               const std::vector<Tensor> &inputs, bool reverse,
                                               Here here) {
  if (inputs.empty())
    fail(here, "expected an input to run along '" + along.str() + "', got none");
  for (const Tensor &input : inputs)
    if (!input.has(along) || input.size(along).expr() != inputs[0].size(along).expr())
      fail(here, "expected inputs that have '" + along.str() + "' with one size, got " +
                     typeAndOrigin(inputs[0]) + " and " + typeAndOrigin(input));
  GraphLock lock;
  std::vector<Tensor> operands = initial;
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  Control control(operands, here);
  auto outputs = body.outputs.begin() + std::min(initial.size(), body.outputs.size());
  std::vector<Tensor> next(body.outputs.begin(), outputs);
  control.expect(next, initial, "the body of a scan to give a state");
  std::copy(next.begin(), next.end(), body.outputs.begin());
  control.add(body);
  nd::Dim dim(graphContext(), along.str(), inputs[0].size(along).expr());
  std::vector<NodeRef> like = nodesOf(initial, here);
  for (const Tensor &slice : llvm::make_range(outputs, body.outputs.end())) {
    nd::NdTensorType type = nodeOf(slice, here)->type();
    if (type.has(along.str()))
      fail(here, "expected output slices without '" + along.str() + "', which a scan adds, got " +
                     typeAndOrigin(slice));
    like.push_back(makeLeaf(type.with(dim), here));
  }
  return control.make(like, [&](mlir::OpBuilder &b, mlir::ValueRange arguments, auto call) {
    mlir::Location loc = locationOf(here);
    auto types =
        llvm::map_to_vector(like, [](const NodeRef &n) -> mlir::Type { return n->type(); });
    auto op = nest::ScanOp::create(b, loc, types, arguments.take_front(initial.size()),
                                   arguments.slice(initial.size(), inputs.size()),
                                   nd::DimsAttr::getSorted(graphContext(), {dim}), reverse);
    mlir::OpBuilder::InsertionGuard guard(b);
    mlir::Block *block = b.createBlock(&op.getBody());
    for (const Tensor &formal : body.formals)
      block->addArgument(formal.node->type(), loc);
    nest::YieldOp::create(b, loc, call(0, b, block->getArguments()));
    return llvm::SmallVector<mlir::Value>(op.getResults());
  });
}

//===----------------------------------------------------------------------===//
// Lifting
//===----------------------------------------------------------------------===//

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
