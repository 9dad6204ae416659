//===- ControlFlow.cpp - branches, loops and scans ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "heddle/Functions.h"
#include "lib/builder/Functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace heddle;
using namespace heddle::detail;

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

  using Call = function_ref<SmallVector<Value>(size_t part, OpBuilder &, ValueRange)>;
  /// `build` creates the control flow from the operands (carried values, then captured ones); it
  /// calls parts on the operands before the captured values.
  std::vector<Tensor> make(ArrayRef<NodeRef> like,
                           function_ref<SmallVector<Value>(OpBuilder &, ValueRange, Call)> build) {
    if (like.empty())
      fail(here, "expected a loop or a branch to return at least one tensor, got none");
    size_t own = operands.size();
    operands.insert(operands.end(), captured.begin(), captured.end());
    auto callee = std::make_shared<Callee>();
    func::FuncOp function = startCallee(*callee, operands, like, here);
    std::vector<func::FuncOp> functions;
    for (Nodes &part : parts) {
      part.formals.insert(part.formals.end(), captured.begin(), captured.end());
      functions.push_back(
          emitCallee(*callee, part.formals, part.outputs, here, "part", part.since).function);
      functions.back().setName("part" + std::to_string(functions.size()));
    }
    auto builder = OpBuilder::atBlockEnd(&function.front());
    ValueRange arguments = function.getArguments();
    SmallVector<Value> results =
        build(builder, arguments, [&](size_t part, OpBuilder &b, ValueRange values) {
          SmallVector<Value> inputs(values);
          inputs.append(arguments.begin() + own, arguments.end());
          return nd::buildCall(b, locationOf(here), functions[part], inputs);
        });
    func::ReturnOp::create(builder, locationOf(here), results);
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

static Value itemOf(OpBuilder &builder, Location loc, Value tensor) {
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
  return control.make(like, [&](OpBuilder &b, ValueRange arguments, auto call) {
    Location loc = locationOf(here);
    auto types = llvm::map_to_vector(like, [](const NodeRef &n) -> Type { return n->type(); });
    auto op = mlir::scf::IfOp::create(b, loc, types, itemOf(b, loc, arguments[0]), true);
    for (size_t side : {0, 1}) {
      OpBuilder inner = OpBuilder::atBlockEnd(side == 0 ? op.thenBlock() : op.elseBlock());
      mlir::scf::YieldOp::create(inner, loc, call(side, inner, {}));
    }
    return SmallVector<Value>(op.getResults());
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
  return control.make(nodesOf(initial, here), [&](OpBuilder &b, ValueRange arguments, auto call) {
    Location loc = locationOf(here);
    auto index = [&](int64_t i) {
      return mlir::arith::ConstantIndexOp::create(b, loc, i).getResult();
    };
    auto *known = std::get_if<int64_t>(&steps);
    Value count =
        known ? index(*known)
              : nd::ItemOp::create(b, loc, b.getIndexType(), arguments[initial.size()]).getResult();
    auto op = mlir::scf::ForOp::create(
        b, loc, index(0), count, index(1), arguments.take_front(initial.size()),
        [&](OpBuilder &inner, Location, Value i, ValueRange state) {
          SmallVector<Value> values{nd::FromItemOp::create(
              inner, loc, nd::NdTensorType::get(inner.getI64Type(), ArrayRef<nd::Dim>()), i)};
          llvm::append_range(values, state);
          mlir::scf::YieldOp::create(inner, loc, call(0, inner, values));
        });
    return SmallVector<Value>(op.getResults());
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
  return control.make(nodesOf(initial, here), [&](OpBuilder &b, ValueRange arguments, auto call) {
    Location loc = locationOf(here);
    ValueRange carried = arguments.take_front(initial.size());
    auto op = mlir::scf::WhileOp::create(
        b, loc, carried.getTypes(), carried,
        [&](OpBuilder &inner, Location, ValueRange state) {
          mlir::scf::ConditionOp::create(inner, loc, itemOf(inner, loc, call(0, inner, state)[0]),
                                         state);
        },
        [&](OpBuilder &inner, Location, ValueRange state) {
          mlir::scf::YieldOp::create(inner, loc, call(1, inner, state));
        });
    return SmallVector<Value>(op.getResults());
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
  return control.make(like, [&](OpBuilder &b, ValueRange arguments, auto call) {
    Location loc = locationOf(here);
    auto types = llvm::map_to_vector(like, [](const NodeRef &n) -> Type { return n->type(); });
    auto op = nest::ScanOp::create(b, loc, types, arguments.take_front(initial.size()),
                                   arguments.slice(initial.size(), inputs.size()),
                                   nd::DimsAttr::getSorted(graphContext(), {dim}), reverse);
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&op.getBody());
    for (const Tensor &formal : body.formals)
      block->addArgument(formal.node->type(), loc);
    nest::YieldOp::create(b, loc, call(0, b, block->getArguments()));
    return SmallVector<Value>(op.getResults());
  });
}
