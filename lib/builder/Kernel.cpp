//===- Kernel.cpp - kernels as index expressions --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel's body is a small tree of scalars. `of` collects its reads, finds the iteration space
// and its sizes, and makes one nest.compute.
//
//===----------------------------------------------------------------------===//

#include "heddle/Kernel.h"
#include "dialects/nest/NestGradient.h"
#include "lib/builder/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseMap.h"

#include <set>

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

struct Scalar::Node {
  enum class Kind { Number, Index, Read, Apply } kind;
  Here here;
  double number = 0;
  std::string name; ///< the iteration name of Index, the op of Apply
  // Read
  Tensor tensor;
  std::map<std::string, Expr> coordinates;
  std::map<std::string, std::shared_ptr<const Node>> gathered; ///< tensor name -> an integer Read
  std::optional<double> otherwise;
  std::vector<std::shared_ptr<const Node>> operands; ///< of Apply
};

using NodePtr = std::shared_ptr<const Scalar::Node>;

Scalar::Scalar(double number, Here here)
    : node(std::make_shared<Node>(
          Node{.kind = Node::Kind::Number, .here = here, .number = number})) {}
Scalar::Scalar(const Name &name, Here here)
    : node(std::make_shared<Node>(
          Node{.kind = Node::Kind::Index, .here = here, .name = name.str()})) {}

static Scalar read(const Tensor &tensor, const std::vector<Coordinate> &coordinates,
                   std::optional<double> otherwise, Here here) {
  Scalar::Node node{
      .kind = Scalar::Node::Kind::Read, .here = here, .tensor = tensor, .otherwise = otherwise};
  NodeRef source = nodeOf(tensor, here);
  for (const Coordinate &coordinate : coordinates) {
    if (!source->type().has(coordinate.name.str()))
      fail(here, "unknown name '" + coordinate.name.str() + "': the tensor read is " +
                     typeAndOrigin(tensor));
    if (!node.coordinates.emplace(coordinate.name.str(), coordinate.place).second)
      fail(here, "the name '" + coordinate.name.str() + "' has two coordinates");
  }
  return Scalar(std::make_shared<Scalar::Node>(std::move(node)));
}

static Scalar applied(std::string op, std::initializer_list<Scalar> operands) {
  Scalar::Node node{.kind = Scalar::Node::Kind::Apply,
                    .here = operands.begin()->node->here,
                    .name = std::move(op)};
  for (const Scalar &operand : operands)
    node.operands.push_back(operand.node);
  return Scalar(std::make_shared<Scalar::Node>(std::move(node)));
}

namespace heddle {
Scalar at(const Tensor &tensor, const std::vector<Coordinate> &coordinates, Here here) {
  return read(tensor, coordinates, std::nullopt, here);
}
Scalar atOr(const Tensor &tensor, const std::vector<Coordinate> &coordinates, double otherwise,
            Here here) {
  return read(tensor, coordinates, otherwise, here);
}
Scalar atIndex(const Tensor &tensor, const Name &name, const Scalar &index,
               const std::vector<Coordinate> &coordinates, Here here) {
  if (index.node->kind != Scalar::Node::Kind::Read)
    fail(here, "expected the index along '" + name.str() + "' to be a read of an integer tensor");
  if (!nodeOf(tensor, here)->type().has(name.str()))
    fail(here, "unknown name '" + name.str() + "': the tensor read is " + typeAndOrigin(tensor));
  Scalar::Node node = *read(tensor, coordinates, std::nullopt, here).node;
  node.gathered[name.str()] = index.node;
  return Scalar(std::make_shared<Scalar::Node>(std::move(node)));
}
Scalar operator+(const Scalar &a, const Scalar &b) { return applied("add", {a, b}); }
Scalar operator-(const Scalar &a, const Scalar &b) { return applied("sub", {a, b}); }
Scalar operator*(const Scalar &a, const Scalar &b) { return applied("mul", {a, b}); }
Scalar operator/(const Scalar &a, const Scalar &b) { return applied("div", {a, b}); }
Scalar operator<(const Scalar &a, const Scalar &b) { return applied("lt", {a, b}); }
Scalar maximum(const Scalar &a, const Scalar &b) { return applied("max", {a, b}); }
Scalar minimum(const Scalar &a, const Scalar &b) { return applied("min", {a, b}); }
Scalar select(const Scalar &condition, const Scalar &yes, const Scalar &no) {
  return applied("select", {condition, yes, no});
}
Scalar exp(const Scalar &x) { return applied("exp", {x}); }
Scalar log(const Scalar &x) { return applied("log", {x}); }
Scalar sqrt(const Scalar &x) { return applied("sqrt", {x}); }
Scalar tanh(const Scalar &x) { return applied("tanh", {x}); }
} // namespace heddle

KernelBuilder &KernelBuilder::reduce(const std::string &kind, const Names &names) {
  if (!combiner.empty() && combiner != kind)
    fail(here, "a kernel has one combiner, got '" + combiner + "' and '" + kind + "'");
  if (!nd::parseCombinerKind(kind))
    fail(here, "unknown combiner '" + kind + "'");
  combiner = kind;
  for (const Name &name : names)
    reduced.push_back(name);
  return *this;
}
KernelBuilder &KernelBuilder::size(const Name &name, int64_t size) {
  sizes[name.str()] = size;
  return *this;
}
KernelBuilder &KernelBuilder::where(const Expr &condition) {
  conditions.push_back(condition);
  return *this;
}

namespace {
/// The reads of a body, each once, an index before the read that it serves.
struct Reads {
  std::vector<NodePtr> list;
  llvm::DenseMap<const Scalar::Node *, unsigned> position;

  void collect(const NodePtr &node) {
    if (position.count(node.get()))
      return;
    for (const NodePtr &operand : node->operands)
      collect(operand);
    if (node->kind != Scalar::Node::Kind::Read)
      return;
    for (const auto &[name, index] : node->gathered)
      collect(index);
    position[node.get()] = list.size();
    list.push_back(node);
  }
};

struct Space {
  SizeExprs sizes; ///< of the names whose size is known
  std::map<std::string, std::string> from;
};
} // namespace

/// The place read along `name`: what was written, a gathered index, or the name itself.
static Expr placeAlong(const Reads &reads, const Scalar::Node &node, StringRef name) {
  if (auto found = node.gathered.find(name.str()); found != node.gathered.end())
    return Expr::name("@" + std::to_string(reads.position.lookup(found->second.get())));
  if (auto found = node.coordinates.find(name.str()); found != node.coordinates.end())
    return found->second;
  return Expr::name(name.str());
}

/// Sizes of iteration names: from names read directly, then from the largest range that stays
/// inside every tensor.
static Space findSizes(const Reads &reads, const std::map<std::string, int64_t> &stated,
                       const std::set<std::string> &names, Here here) {
  Space space;
  space.sizes = {stated.begin(), stated.end()};
  for (const NodePtr &read : reads.list)
    for (const nd::Dim &dim : read->tensor.node->type().getDims()) {
      auto name = placeAlong(reads, *read, dim.name.getValue()).asName();
      Expr size = dim.size().getExpr();
      if (!name || name->starts_with("@") || read->otherwise)
        continue;
      auto [known, isNew] = space.sizes.emplace(*name, size);
      if (isNew)
        space.from[*name] = read->tensor.type();
      else if (known->second != size && !stated.count(*name))
        fail(read->here, "the name '" + *name + "' has size " + known->second.str() + " in " +
                             space.from[*name] + " and size " + size.str() + " in " +
                             read->tensor.type());
    }
  // A window's output: (N - 1 - the largest value of the rest) floordiv coefficient + 1, for the
  // one unknown name.
  for (bool changed = true; changed;) {
    changed = false;
    SizeExprs found;
    for (const NodePtr &read : reads.list)
      for (const nd::Dim &dim : read->tensor.node->type().getDims()) {
        Expr place = placeAlong(reads, *read, dim.name.getValue());
        std::vector<std::string> unknown;
        Ranges ranges;
        for (const std::string &name : place.names())
          if (auto known = space.sizes.find(name); known == space.sizes.end())
            unknown.push_back(name);
          else if (auto size = known->second.constant())
            ranges[name] = {0, *size - 1};
        if (unknown.size() != 1 || read->otherwise || !place.isLinearIn(unknown[0]) ||
            place.coefficient(unknown[0]) <= 0)
          continue;
        Expr rest = place - place.coefficient(unknown[0]) * Expr::name(unknown[0]);
        auto bounds = rest.bounds(ranges);
        if (!bounds)
          continue;
        Expr room = dim.size().getExpr() - Expr(1 + bounds->high);
        Expr size = room.floordiv(place.coefficient(unknown[0])) + Expr(1);
        if (size.isConstant())
          size = Expr::max(size, Expr(0));
        auto [entry, isNew] = found.emplace(unknown[0], size);
        entry->second = Expr::min(entry->second, size);
      }
    for (const auto &[name, size] : found)
      changed |= space.sizes.emplace(name, size).second;
  }
  for (const std::string &name : names)
    if (!space.sizes.count(name))
      fail(here,
           "the size of '" + name + "' does not follow from the operands; state it with size()");
  return space;
}

namespace {
/// Builds the body's ops; numbers take the type of what they meet.
struct BodyBuilder {
  OpBuilder &builder;
  Location loc;
  const Reads &reads;
  ValueRange arguments;
  Type element; ///< the kernel's element type, with signedness
  llvm::DenseMap<const Scalar::Node *, Value> done;

  Value build(const NodePtr &node, Type wanted) {
    switch (node->kind) {
    case Scalar::Node::Kind::Number:
      return number(builder, loc, node->number, nd::signless(wanted));
    case Scalar::Node::Kind::Read:
      return arguments[reads.position.lookup(node.get())];
    default:
      break;
    }
    if (Value made = done.lookup(node.get()))
      return made;
    Value made =
        node->kind == Scalar::Node::Kind::Index ? index(*node, wanted) : apply(*node, wanted);
    if (!made)
      fail(node->here, "'" + node->name + "' is not defined for these element types");
    done[node.get()] = made;
    return made;
  }

  Value index(const Scalar::Node &node, Type wanted) {
    Value coordinate = nest::IndexOp::create(builder, loc, builder.getIndexType(),
                                             builder.getStringAttr(node.name));
    Type integer = builder.getI64Type();
    coordinate = arith::IndexCastOp::create(builder, loc, integer, coordinate);
    return convert(builder, loc, coordinate, integer, wanted);
  }

  Value apply(const Scalar::Node &node, Type wanted) {
    const auto &operands = node.operands;
    if (node.name == "select") {
      Value condition = build(operands[0], builder.getI1Type());
      Value yes = build(operands[1], typeOf(operands[1], operands[2], wanted));
      Value no = build(operands[2], typeOf(operands[1], operands[2], wanted));
      return yes.getType() == no.getType() && condition.getType().isInteger(1)
                 ? Value(arith::SelectOp::create(builder, loc, condition, yes, no))
                 : Value();
    }
    if (operands.size() == 1) {
      Value x = build(operands[0], wanted);
      if (!isa<FloatType>(x.getType()))
        return nullptr;
      if (node.name == "exp")
        return math::ExpOp::create(builder, loc, x);
      if (node.name == "log")
        return math::LogOp::create(builder, loc, x);
      if (node.name == "sqrt")
        return math::SqrtOp::create(builder, loc, x);
      if (node.name == "tanh")
        return math::TanhOp::create(builder, loc, x);
      return nullptr;
    }
    Type type = typeOf(operands[0], operands[1], element);
    Value a = build(operands[0], type), b = build(operands[1], type);
    if (a.getType() != b.getType())
      fail(node.here, "the two sides of '" + node.name +
                          "' have different element types; convert one tensor with cast");
    return binary(builder, loc, node.name, a, b, type.isUnsignedInteger());
  }

  /// The element type of the first of two operands that has one of its own.
  Type typeOf(const NodePtr &a, const NodePtr &b, Type otherwise) {
    for (const NodePtr &node : {a, b})
      if (Type type = ownType(node))
        return type;
    return otherwise;
  }
  Type ownType(const NodePtr &node) {
    if (node->kind == Scalar::Node::Kind::Read)
      return node->tensor.node->type().getElementType();
    if (node->name == "lt")
      return builder.getI1Type();
    for (size_t i = node->name == "select" ? 1 : 0; i < node->operands.size(); ++i)
      if (Type type = ownType(node->operands[i]))
        return type;
    return nullptr;
  }
};
} // namespace

Tensor KernelBuilder::of(const Scalar &body) const {
  GraphLock lock;
  Reads reads;
  reads.collect(body.node);
  std::set<std::string> producedNames, reducedNames, all;
  for (const Name &name : produced)
    if (!producedNames.insert(name.str()).second)
      fail(here, "the name '" + name.str() + "' is produced twice");
  llvm::SmallVector<std::string> orderNames;
  for (const Name &name : reduced) {
    if (producedNames.count(name.str()) || !reducedNames.insert(name.str()).second)
      fail(here, "the name '" + name.str() + "' is listed twice");
    orderNames.push_back(name.str());
  }
  for (const NodePtr &read : reads.list) {
    (void)nodeOf(read->tensor, read->here);
    for (const std::string &name : read->tensor.names())
      for (const std::string &used : placeAlong(reads, *read, name).names())
        if (!used.starts_with("@") && !reducedNames.count(used))
          producedNames.insert(used); // lifted over, or already there
  }
  all = producedNames;
  all.insert(reducedNames.begin(), reducedNames.end());
  Space space = findSizes(reads, sizes, all, here);

  std::vector<NodeRef> operands;
  for (const NodePtr &read : reads.list)
    operands.push_back(read->tensor.node);
  return make(here, operands, [&](OpBuilder &builder, Location loc) -> Value {
    MLIRContext *context = graphContext();
    auto dimsAttr = [&](const std::set<std::string> &names) {
      SmallVector<nd::Dim> dims;
      for (const std::string &name : names)
        dims.emplace_back(context, name, space.sizes.at(name));
      return nd::DimsAttr::getSorted(context, dims);
    };
    SmallVector<Value> inputs;
    SmallVector<Attribute> maps, guards;
    for (const NodePtr &read : reads.list) {
      nd::NdTensorType type = read->tensor.node->type();
      SmallVector<nest::MapEntry> entries;
      SmallVector<nest::Condition> inside;
      for (const nd::Dim &dim : type.getDims()) {
        Expr place = placeAlong(reads, *read, dim.name.getValue());
        entries.emplace_back(context, dim.name.getValue(), place);
        if (read->otherwise) {
          inside.emplace_back(context, place);
          inside.emplace_back(context, dim.size().getExpr() - 1 - place);
        }
      }
      if (maps.empty() && !reducedNames.empty())
        for (const Expr &condition : conditions)
          inside.emplace_back(context, condition);
      TypedAttr otherwise;
      if (read->otherwise) {
        Type scalar = type.scalarType();
        otherwise = isa<FloatType>(scalar)
                        ? TypedAttr(builder.getFloatAttr(scalar, *read->otherwise))
                        : TypedAttr(builder.getIntegerAttr(scalar, int64_t(*read->otherwise)));
      }
      inputs.push_back(read->tensor.node->value);
      maps.push_back(nest::MapAttr::getSorted(context, entries));
      guards.push_back(nest::GuardAttr::get(context, inside, otherwise));
    }
    Type element = Float32Type::get(context);
    BodyBuilder probe{builder, loc,     reads,
                      {},      element, llvm::DenseMap<const Scalar::Node *, Value>()};
    if (Type own = probe.ownType(body.node))
      element = own;
    nd::DimsAttr produced = dimsAttr(producedNames), reduced = dimsAttr(reducedNames);
    auto type = nd::NdTensorType::get(context, element, produced);

    OperationState state(loc, nest::ComputeOp::getOperationName());
    Region *bodyRegion = state.addRegion(), *combineRegion = state.addRegion();
    state.addRegion();
    state.addOperands(inputs);
    state.addTypes(type);
    auto &properties = state.getOrAddProperties<nest::ComputeOp::Properties>();
    properties.setOperandSegmentSizes({int32_t(inputs.size()), 0});
    properties.produced = produced;
    properties.reduced = reduced;
    properties.maps = builder.getArrayAttr(maps);
    properties.guards = builder.getArrayAttr(guards);

    OpBuilder::InsertPoint outside = builder.saveInsertionPoint();
    Block *block = builder.createBlock(bodyRegion);
    for (const NodePtr &read : reads.list)
      block->addArgument(read->tensor.node->type().scalarType(), loc);
    BodyBuilder bodyBuilder{builder, loc,
                            reads,   block->getArguments(),
                            element, llvm::DenseMap<const Scalar::Node *, Value>()};
    nest::YieldOp::create(builder, loc, bodyBuilder.build(body.node, element));
    SmallVector<Attribute> neutral;
    if (!reducedNames.empty()) {
      Type accumulator = nd::signless(element);
      if (nd::isNarrowFloat(accumulator))
        accumulator = builder.getF32Type();
      neutral.push_back(nd::buildCombiner(builder, loc, *combineRegion,
                                          *nd::parseCombinerKind(combiner), accumulator,
                                          "nest.yield", !element.isUnsignedInteger()));
    }
    properties.neutral = builder.getArrayAttr(neutral);
    llvm::SmallVector<llvm::StringRef> order(orderNames.begin(), orderNames.end());
    if (order.size() > 1 && (combiner == "max" || combiner == "min"))
      state.addAttribute(nest::orderAttrName, builder.getStrArrayAttr(order));
    builder.restoreInsertionPoint(outside);
    return builder.create(state)->getResult(0);
  });
}
