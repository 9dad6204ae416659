//===- Pointwise.cpp - constants, scalar functions on tensors -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/Pointwise.h"
#include "dialects/nd/NdBuild.h"
#include "heddle/Ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

static std::string elementText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Throws Error for a name with two sizes and for an implicit outer product. Sizes that are equal
/// for some values of symbols get one expression, and each call checks that they are equal.
static void align(Here here, MutableArrayRef<NodeRef> nodes) {
  SmallVector<nd::Dim> dims;
  SmallVector<size_t> owner;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    SmallVector<nd::Dim> resized;
    bool shares = dims.empty() || node->type().getDims().size() == 0;
    for (const nd::Dim &dim : node->type().getDims()) {
      const auto *found =
          llvm::find_if(dims, [&](const nd::Dim &other) { return other.name == dim.name; });
      if (found == dims.end()) {
        dims.push_back(dim);
        owner.push_back(index);
        continue;
      }
      shares = true;
      if (found->sizeAttr == dim.sizeAttr)
        continue;
      resized.push_back(*found);
      if (!nd::mayEqual(found->size().getExpr(), dim.size().getExpr())) {
        const NodeRef &other = nodes[owner[found - dims.begin()]];
        fail(here, "the name '" + dim.name.str() + "' has size " + found->size().getExpr().str() +
                       " in " + nd::namesText(other->type().getDims()) +
                       originOf(other->value.getLoc()) + " and size " + dim.size().getExpr().str() +
                       " in " + nd::namesText(node->type().getDims()) +
                       originOf(node->value.getLoc()));
      }
    }
    if (!shares)
      fail(here, "the operands share no name: " + nd::namesText(nodes[0]->type().getDims()) +
                     originOf(nodes[0]->value.getLoc()) + " and " +
                     nd::namesText(node->type().getDims()) + originOf(node->value.getLoc()) +
                     "; write a broadcast if an outer product is meant");
    for (const nd::Dim &dim : resized)
      node = make(here, {node}, [&](OpBuilder &builder, Location loc) {
               return nd::buildSplit(builder, loc, node->value, dim.name.getValue(), dim);
             }).node;
  }
}

static Tensor build(Here here, SmallVector<NodeRef> nodes, Type resultElement, ScalarBody body) {
  align(here, nodes);
  return make(
      here, std::vector<NodeRef>(nodes.begin(), nodes.end()),
      [&](OpBuilder &builder, Location loc) -> Value {
        SmallVector<Value> inputs;
        for (const NodeRef &node : nodes)
          inputs.push_back(node->value);
        bool isDefined = true;
        Value value = nd::buildPointwise(
            builder, loc, inputs, resultElement, [&](OpBuilder &b, ValueRange s) {
              Value result = body(b, loc, SmallVector<Value>(s));
              isDefined = bool(result);
              return isDefined ? result : nd::buildNumber(b, loc, nd::signless(resultElement), 0);
            });
        if (isDefined)
          return value;
        value.getDefiningOp()->erase();
        std::string types;
        for (const NodeRef &node : nodes)
          types += (types.empty() ? "" : " and ") + elementText(node->type().getElementType());
        fail(here,
             "this function is not defined for elements of type " + types + "; convert with cast");
      });
}

/// `buildNumber`: makes the constants.
static Tensor pointwiseOf(Here here, ArrayRef<Operand> operands, Type result, ScalarBody body,
                          Value (*buildNumber)(OpBuilder &, Location, Type, double)) {
  GraphLock lock;
  SmallVector<NodeRef> nodes;
  Type element;
  for (const Operand &operand : operands) {
    if (!operand.tensor.node)
      continue;
    NodeRef node = nodeOf(operand.tensor, here);
    Type type = node->type().getElementType();
    if (element && element != type)
      fail(here, "expected operands of one element type, got " + elementText(element) + " and " +
                     elementText(type) + "; convert one with cast");
    element = type;
    nodes.push_back(node);
  }
  if (!element)
    fail(here, "expected a tensor among the operands, got numbers only");
  for (const Operand &operand : operands)
    if (!operand.tensor.node)
      requireNumber(operand.number, element, here);
  return build(here, nodes, result ? result : element,
               [&](OpBuilder &builder, Location loc, ArrayRef<Value> scalars) {
                 SmallVector<Value> values;
                 size_t next = 0;
                 for (const Operand &operand : operands)
                   values.push_back(
                       operand.tensor.node
                           ? scalars[next++]
                           : buildNumber(builder, loc, nd::signless(element), operand.number));
                 return body(builder, loc, values);
               });
}

Tensor heddle::detail::pointwise(Here here, ArrayRef<Operand> operands, Type result,
                                 ScalarBody body) {
  return pointwiseOf(here, operands, result, body, nd::buildNumber);
}

Tensor heddle::detail::pointwiseMixed(Here here, ArrayRef<Tensor> operands, Type result,
                                      ScalarBody body) {
  GraphLock lock;
  SmallVector<NodeRef> nodes;
  for (const Tensor &operand : operands)
    nodes.push_back(nodeOf(operand, here));
  return build(here, nodes, result, body);
}

Tensor heddle::detail::converted(const Tensor &x, Type type, Here here) {
  GraphLock lock;
  if (nodeOf(x, here)->type().getElementType() == type)
    return x;
  return pointwiseMixed(here, {x}, type, [&](OpBuilder &b, Location loc, ArrayRef<Value> v) {
    return nd::convertFloat(b, loc, v[0], type);
  });
}

//===----------------------------------------------------------------------===//
// The functions of heddle/Ops.h
//===----------------------------------------------------------------------===//

static bool isUnsigned(const Operand &a, const Operand &b) {
  const Tensor &tensor = a.tensor.node ? a.tensor : b.tensor;
  return tensor.node && tensor.node->type().getElementType().isUnsignedInteger();
}

static Tensor apply(StringRef op, const Operand &a, const Operand &b, bool truth = false) {
  Type result = truth ? Type(IntegerType::get(graphContext(), 1)) : Type();
  return pointwiseOf(
      a.here, {a, b}, result,
      [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) {
        return binary(builder, loc, op, v[0], v[1], isUnsigned(a, b));
      },
      isArithmetic(op) ? nd::buildUnrounded : nd::buildNumber);
}

static Tensor apply(StringRef op, const Operand &x) {
  return pointwise(x.here, {x}, Type(), [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) {
    return unary(builder, loc, op, v[0], isUnsigned(x, x));
  });
}

namespace heddle {
Tensor operator+(Operand a, Operand b) { return apply("add", a, b); }
Tensor operator-(Operand a, Operand b) { return apply("sub", a, b); }
Tensor operator*(Operand a, Operand b) { return apply("mul", a, b); }
Tensor operator/(Operand a, Operand b) { return apply("div", a, b); }
Tensor operator-(Operand a) { return apply("neg", a); }
Tensor operator<(Operand a, Operand b) { return apply("lt", a, b, true); }
Tensor operator<=(Operand a, Operand b) { return apply("le", a, b, true); }
Tensor operator>(Operand a, Operand b) { return apply("lt", b, a, true); }
Tensor operator>=(Operand a, Operand b) { return apply("le", b, a, true); }
Tensor equal(Operand a, Operand b) { return apply("eq", a, b, true); }
Tensor notEqual(Operand a, Operand b) { return apply("ne", a, b, true); }
Tensor logicalAnd(Operand a, Operand b) { return apply("and", a, b); }
Tensor logicalOr(Operand a, Operand b) { return apply("or", a, b); }
Tensor logicalXor(Operand a, Operand b) { return apply("xor", a, b); }
Tensor logicalNot(Operand a) { return apply("not", a); }
Tensor shiftLeft(Operand a, Operand bits) { return apply("shl", a, bits); }
Tensor shiftRight(Operand a, Operand bits) { return apply("shr", a, bits); }
Tensor operator%(Operand a, Operand b) { return apply("rem", a, b); }
Tensor maximum(Operand a, Operand b) { return apply("max", a, b); }
Tensor minimum(Operand a, Operand b) { return apply("min", a, b); }
Tensor pow(Operand base, Operand exponent) {
  GraphLock lock;
  if (base.tensor.node && !exponent.tensor.node)
    requireExponent(exponent.number, nodeOf(base.tensor, base.here)->type().getElementType(),
                    base.here);
  return apply("pow", base, exponent);
}
Tensor atan2(Operand y, Operand x) { return apply("atan2", y, x); }
Tensor hypot(Operand x, Operand y) { return apply("hypot", x, y); }
Tensor copysign(Operand x, Operand like) { return apply("copysign", x, like); }
Tensor exp(Operand x) { return apply("exp", x); }
Tensor exp2(Operand x) { return apply("exp2", x); }
Tensor expm1(Operand x) { return apply("expm1", x); }
Tensor log(Operand x) { return apply("log", x); }
Tensor log2(Operand x) { return apply("log2", x); }
Tensor log10(Operand x) { return apply("log10", x); }
Tensor log1p(Operand x) { return apply("log1p", x); }
Tensor sqrt(Operand x) { return apply("sqrt", x); }
Tensor rsqrt(Operand x) { return apply("rsqrt", x); }
Tensor sinh(Operand x) { return apply("sinh", x); }
Tensor cosh(Operand x) { return apply("cosh", x); }
Tensor tanh(Operand x) { return apply("tanh", x); }
Tensor asinh(Operand x) { return apply("asinh", x); }
Tensor acosh(Operand x) { return apply("acosh", x); }
Tensor atanh(Operand x) { return apply("atanh", x); }
Tensor erf(Operand x) { return apply("erf", x); }
Tensor erfc(Operand x) { return apply("erfc", x); }
Tensor erfinv(Operand x) { return apply("erfinv", x); }
Tensor lgamma(Operand x) { return apply("lgamma", x); }
Tensor digamma(Operand x) { return apply("digamma", x); }
Tensor sin(Operand x) { return apply("sin", x); }
Tensor cos(Operand x) { return apply("cos", x); }
Tensor tan(Operand x) { return apply("tan", x); }
Tensor asin(Operand x) { return apply("asin", x); }
Tensor acos(Operand x) { return apply("acos", x); }
Tensor atan(Operand x) { return apply("atan", x); }
Tensor floor(Operand x) { return apply("floor", x); }
Tensor ceil(Operand x) { return apply("ceil", x); }
Tensor trunc(Operand x) { return apply("trunc", x); }
Tensor roundEven(Operand x) { return apply("roundEven", x); }
Tensor abs(Operand x) { return apply("abs", x); }
Tensor sign(Operand x) { return apply("sign", x); }
Tensor square(Operand x) { return apply("mul", x, x); }
Tensor isNan(Operand x) { return apply("ne", x, x, true); }
Tensor isFinite(Operand x) {
  Operand zero(x - x, x.here); // or NaN
  return equal(zero, zero);
}
Tensor isInf(Operand x) {
  return logicalXor(Operand(isNan(x), x.here), Operand(isNan(Operand(x - x, x.here)), x.here));
}
Tensor clamp(Operand x, Operand low, Operand high) {
  return minimum(Operand(maximum(x, low), x.here), high);
}
Tensor sigmoid(Operand x) { return apply("sigmoid", x); }
Tensor relu(Operand x) { return maximum(x, Operand(0.0, x.here)); }

Tensor select(Operand condition, Operand yes, Operand no) {
  GraphLock lock;
  Here here = condition.here;
  const Tensor &typed = yes.tensor.node ? yes.tensor : no.tensor;
  if (!condition.tensor.node || condition.tensor.elementType() != ElementType::I1)
    fail(here, "expected a condition of element type i1, got " +
                   (condition.tensor.node ? typeAndOrigin(condition.tensor) : "a number"));
  if (!typed.node)
    fail(here, "expected a tensor among the two values of select, got two numbers");
  Type element = nodeOf(typed, here)->type().getElementType();
  std::vector<Tensor> operands{condition.tensor};
  for (const Operand *side : {&yes, &no})
    if (side->tensor.node)
      operands.push_back(side->tensor);
    else
      requireNumber(side->number, element, here);
  for (size_t i = 1; i < operands.size(); ++i)
    if (nodeOf(operands[i], here)->type().getElementType() != element)
      fail(here, "expected values of one element type, got " + yes.tensor.type() + " and " +
                     no.tensor.type());
  return pointwiseMixed(
      here, operands, element, [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) -> Value {
        size_t next = 1;
        Value a = yes.tensor.node
                      ? v[next++]
                      : nd::buildNumber(builder, loc, nd::signless(element), yes.number);
        Value b = no.tensor.node ? v[next++]
                                 : nd::buildNumber(builder, loc, nd::signless(element), no.number);
        return arith::SelectOp::create(builder, loc, v[0], a, b);
      });
}

Tensor Tensor::cast(ElementType type, Here here) const {
  GraphLock lock;
  Type from = nodeOf(*this, here)->type().getElementType(), to = toMlir(type);
  if (from == to)
    return *this;
  return pointwiseMixed(here, {*this}, to,
                        [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) {
                          return nd::convertScalar(builder, loc, v[0], from, to);
                        });
}

Tensor Tensor::round(ElementType type, Here here) const {
  NodeRef input = nodeOf(*this, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildRound(builder, loc, input->value, toMlir(type));
  });
}

Tensor stopGradient(const Tensor &x, Here here) {
  NodeRef node = nodeOf(x, here);
  return make(here, {node}, [&](OpBuilder &builder, Location loc) -> Value {
    return nd::StopGradientOp::create(builder, loc, node->type(), node->value);
  });
}

Tensor constant(double value, ElementType type, const std::vector<Extent> &extents, Here here) {
  GraphLock lock;
  auto dims = dimsOf(extents, here);
  requireNumber(value, toMlir(type), here);
  return make(here, {}, [&](OpBuilder &builder, Location loc) {
    return nd::buildConstant(builder, loc, nd::NdTensorType::get(toMlir(type), dims), value);
  });
}

Tensor zeros(const std::vector<Extent> &extents, ElementType type, Here here) {
  return constant(0, type, extents, here);
}

Tensor iota(const Extent &extent, ElementType type, Here here) {
  GraphLock lock;
  auto dims = dimsOf({extent}, here);
  return make(here, {}, [&](OpBuilder &builder, Location loc) {
    return nd::buildIota(builder, loc, dims[0], toMlir(type));
  });
}

} // namespace heddle
