//===- Scalar.cpp - the scalar code of kernels ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/Scalar.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"
#include "lib/builder/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

using Kind = Scalar::Node::Kind;

static Scalar made(Scalar::Node node) {
  return Scalar(std::make_shared<const Scalar::Node>(std::move(node)));
}

Scalar::Scalar(double number, Here here)
    : Scalar(made({.kind = Kind::Number, .here = here, .number = number})) {}
Scalar::Scalar(const Name &name, Here here) : Scalar(Expr(name), here) {}
Scalar::Scalar(const Expr &index, Here here)
    : Scalar(made({.kind = Kind::Index, .here = here, .index = index})) {}

static Scalar applied(std::string op, std::initializer_list<Scalar> operands) {
  Scalar::Node node{.kind = Kind::Apply, .here = operands.begin()->node->here, .op = std::move(op)};
  for (const Scalar &operand : operands)
    node.operands.push_back(operand.node);
  return made(std::move(node));
}

Scalar Scalar::cast(ElementType type) const {
  return made(
      {.kind = Kind::Apply, .here = node->here, .op = "cast", .to = type, .operands = {node}});
}

namespace heddle {
Scalar operator+(const Scalar &a, const Scalar &b) { return applied("add", {a, b}); }
Scalar operator-(const Scalar &a, const Scalar &b) { return applied("sub", {a, b}); }
Scalar operator*(const Scalar &a, const Scalar &b) { return applied("mul", {a, b}); }
Scalar operator/(const Scalar &a, const Scalar &b) { return applied("div", {a, b}); }
Scalar operator-(const Scalar &a) { return applied("neg", {a}); }
Scalar operator<(const Scalar &a, const Scalar &b) { return applied("lt", {a, b}); }
Scalar operator<=(const Scalar &a, const Scalar &b) { return applied("le", {a, b}); }
Scalar operator>(const Scalar &a, const Scalar &b) { return applied("lt", {b, a}); }
Scalar operator>=(const Scalar &a, const Scalar &b) { return applied("le", {b, a}); }
Scalar equal(const Scalar &a, const Scalar &b) { return applied("eq", {a, b}); }
Scalar notEqual(const Scalar &a, const Scalar &b) { return applied("ne", {a, b}); }
Scalar logicalAnd(const Scalar &a, const Scalar &b) { return applied("and", {a, b}); }
Scalar logicalOr(const Scalar &a, const Scalar &b) { return applied("or", {a, b}); }
Scalar logicalXor(const Scalar &a, const Scalar &b) { return applied("xor", {a, b}); }
Scalar shiftLeft(const Scalar &a, const Scalar &bits) { return applied("shl", {a, bits}); }
Scalar shiftRight(const Scalar &a, const Scalar &bits) { return applied("shr", {a, bits}); }
Scalar operator%(const Scalar &a, const Scalar &b) { return applied("rem", {a, b}); }
Scalar logicalNot(const Scalar &a) { return applied("not", {a}); }
Scalar maximum(const Scalar &a, const Scalar &b) { return applied("max", {a, b}); }
Scalar minimum(const Scalar &a, const Scalar &b) { return applied("min", {a, b}); }
Scalar pow(const Scalar &a, const Scalar &b) { return applied("pow", {a, b}); }
Scalar select(const Scalar &condition, const Scalar &yes, const Scalar &no) {
  return applied("select", {condition, yes, no});
}
Scalar atan2(const Scalar &y, const Scalar &x) { return applied("atan2", {y, x}); }
Scalar hypot(const Scalar &x, const Scalar &y) { return applied("hypot", {x, y}); }
Scalar copysign(const Scalar &x, const Scalar &like) { return applied("copysign", {x, like}); }
Scalar exp(const Scalar &x) { return applied("exp", {x}); }
Scalar expm1(const Scalar &x) { return applied("expm1", {x}); }
Scalar exp2(const Scalar &x) { return applied("exp2", {x}); }
Scalar log(const Scalar &x) { return applied("log", {x}); }
Scalar log2(const Scalar &x) { return applied("log2", {x}); }
Scalar log10(const Scalar &x) { return applied("log10", {x}); }
Scalar log1p(const Scalar &x) { return applied("log1p", {x}); }
Scalar sqrt(const Scalar &x) { return applied("sqrt", {x}); }
Scalar rsqrt(const Scalar &x) { return applied("rsqrt", {x}); }
Scalar sinh(const Scalar &x) { return applied("sinh", {x}); }
Scalar cosh(const Scalar &x) { return applied("cosh", {x}); }
Scalar tanh(const Scalar &x) { return applied("tanh", {x}); }
Scalar asinh(const Scalar &x) { return applied("asinh", {x}); }
Scalar acosh(const Scalar &x) { return applied("acosh", {x}); }
Scalar atanh(const Scalar &x) { return applied("atanh", {x}); }
Scalar erf(const Scalar &x) { return applied("erf", {x}); }
Scalar erfc(const Scalar &x) { return applied("erfc", {x}); }
Scalar erfinv(const Scalar &x) { return applied("erfinv", {x}); }
Scalar lgamma(const Scalar &x) { return applied("lgamma", {x}); }
Scalar digamma(const Scalar &x) { return applied("digamma", {x}); }
Scalar sin(const Scalar &x) { return applied("sin", {x}); }
Scalar cos(const Scalar &x) { return applied("cos", {x}); }
Scalar atan(const Scalar &x) { return applied("atan", {x}); }
Scalar acos(const Scalar &x) { return applied("acos", {x}); }
Scalar asin(const Scalar &x) { return applied("asin", {x}); }
Scalar tan(const Scalar &x) { return applied("tan", {x}); }
Scalar abs(const Scalar &x) { return applied("abs", {x}); }
Scalar sign(const Scalar &x) { return applied("sign", {x}); }
Scalar floor(const Scalar &x) { return applied("floor", {x}); }
Scalar trunc(const Scalar &x) { return applied("trunc", {x}); }
Scalar ceil(const Scalar &x) { return applied("ceil", {x}); }
Scalar roundEven(const Scalar &x) { return applied("roundEven", {x}); }
Scalar sigmoid(const Scalar &x) { return applied("sigmoid", {x}); }
} // namespace heddle

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

static bool isComparison(StringRef op) {
  return op == "lt" || op == "le" || op == "eq" || op == "ne";
}

bool ScalarEmitter::hasIndex(const Scalar::Node &node) {
  if (node.operands.empty())
    return node.kind == Kind::Index;
  auto [known, isNew] = indexed.try_emplace(&node);
  if (!isNew)
    return known->second;
  return indexed[&node] = llvm::any_of(
             node.operands, [&](const ScalarRef &operand) { return hasIndex(*operand); });
}

Type ScalarEmitter::typeOf(const ScalarRef &a, const ScalarRef &b, Type otherwise) const {
  for (const ScalarRef &node : {a, b})
    if (Type type = ownType(node))
      return type;
  return otherwise;
}

Type ScalarEmitter::ownType(const ScalarRef &node) const {
  if (node->kind == Kind::Read || node->kind == Kind::Argument)
    return leafType(*node);
  if (node->kind != Kind::Apply)
    return nullptr;
  if (node->op == "cast")
    return toMlir(node->to);
  if (isComparison(node->op))
    return builder.getI1Type();
  auto [known, isNew] = types.try_emplace(node.get());
  if (!isNew)
    return known->second;
  Type found;
  for (const ScalarRef &operand : ArrayRef(node->operands).drop_front(node->op == "select"))
    if ((found = ownType(operand)))
      break;
  return types[node.get()] = found;
}

[[noreturn]] static void refuseInCombiner(const Scalar::Node &node) {
  fail(node.here, "a combiner may use its own arguments and numbers only");
}

Value ScalarEmitter::emit(const ScalarRef &node, Type wanted) {
  if (node->kind == Kind::Number) {
    requireNumber(node->number, wanted, node->here);
    return nd::buildNumber(builder, loc, nd::signless(wanted), node->number);
  }
  if (node->kind == Kind::Read || node->kind == Kind::Argument)
    return leaf(*node);
  // A node without its own type may be used with several types.
  Type type = ownType(node) ? Type() : nd::signless(wanted);
  auto key = std::make_pair(node.get(), type.getAsOpaquePointer());
  if (auto known = done.find(key); known != done.end())
    return known->second;
  Value value;
  if (node->kind == Kind::Index) {
    if (isCombiner)
      refuseInCombiner(*node);
    Type integer = builder.getI64Type();
    Value index = nest::emitIndex(builder, loc, node->index);
    index = arith::IndexCastOp::create(builder, loc, integer, index);
    value = nd::convertScalar(builder, loc, index, integer, wanted);
  } else {
    value = apply(*node, wanted);
  }
  return done[key] = value;
}

Value ScalarEmitter::apply(const Scalar::Node &node, Type wanted) {
  const auto &operands = node.operands;
  auto require = [&](Value value, Type a, Type b = {}) {
    if (value)
      return value;
    std::string types;
    llvm::raw_string_ostream text(types);
    text << a;
    if (b && b != a)
      text << " and " << b;
    fail(node.here,
         "'" + node.op + "' is not defined for elements of type " + types + "; convert with cast");
  };
  if (node.op == "cast") {
    Type from = ownType(operands[0]), to = toMlir(node.to);
    return from ? nd::convertScalar(builder, loc, emit(operands[0], from), from, to)
                : emit(operands[0], to);
  }
  if (node.op == "select") {
    Type truth = builder.getI1Type(), condition = ownType(operands[0]),
         type = typeOf(operands[1], operands[2], wanted);
    Value holds = emit(operands[0], truth), yes = emit(operands[1], type),
          no = emit(operands[2], type);
    require(holds.getType() == truth ? holds : Value(), condition ? condition : truth);
    require(yes.getType() == no.getType() ? yes : Value(), type, ownType(operands[2]));
    return arith::SelectOp::create(builder, loc, holds, yes, no);
  }
  bool isUnary = operands.size() == 1;
  const ScalarRef &second = operands[isUnary ? 0 : 1];
  Type otherwise = !isComparison(node.op) ? wanted
                   : hasIndex(node)       ? Type(builder.getI64Type())
                                          : Type(builder.getF32Type());
  Type type = typeOf(operands[0], second, otherwise);
  auto operand = [&](const ScalarRef &each) {
    if (each->kind != Kind::Number || !isArithmetic(node.op))
      return emit(each, type);
    requireNumber(each->number, type, each->here);
    return nd::buildUnrounded(builder, loc, nd::signless(type), each->number);
  };
  Value a = operand(operands[0]);
  if (isUnary)
    return require(unary(builder, loc, node.op, a, type.isUnsignedInteger()), type);
  if (node.op == "pow" && second->kind == Kind::Number)
    requireExponent(second->number, type, second->here);
  Value b = operand(second);
  Type other = ownType(second);
  bool same = a.getType() == b.getType() && (!other || other == type);
  return require(same ? binary(builder, loc, node.op, a, b, type.isUnsignedInteger()) : Value(),
                 type, other);
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

ScalarCombiner::ScalarCombiner(const Combine &combine, size_t count, Here here) : here(here) {
  Scalars sides[2];
  for (size_t i = 0; i < 2 * count; ++i)
    sides[i / count].push_back(made({.kind = Kind::Argument, .here = here, .position = i}));
  results = combine(sides[0], sides[1]);
  if (results.size() != count || count == 0)
    fail(here, "expected a combiner that gives one scalar for each of " + std::to_string(count) +
                   " neutral elements, at least one, got " + std::to_string(results.size()));
}

SmallVector<Value> ScalarCombiner::emit(OpBuilder &builder, Location loc, ValueRange scalars,
                                        ArrayRef<Type> types) const {
  ScalarEmitter emitter{builder, loc,
                        [&](const Scalar::Node &node) -> Value { return scalars[node.position]; },
                        [&](const Scalar::Node &node) -> Type {
                          if (node.kind != Kind::Argument || node.position >= scalars.size())
                            refuseInCombiner(node);
                          return types[node.position % types.size()];
                        },
                        /*isCombiner=*/true};
  SmallVector<Value> values;
  for (auto [scalar, type] : llvm::zip_equal(results, types)) {
    Type own = emitter.ownType(scalar.node);
    values.push_back(emitter.emit(scalar.node, type));
    if (own && own != type) {
      std::string text;
      llvm::raw_string_ostream(text) << "expected a combiner that gives elements of type " << type
                                     << ", got " << own << "; convert with cast";
      fail(scalar.node->here, text);
    }
  }
  return values;
}

SmallVector<Value> Deferred::run(OpBuilder &builder, Location loc, ArrayRef<Type> types,
                                 function_ref<SmallVector<Value>()> emit) {
  try {
    return emit();
  } catch (...) {
    failure = std::current_exception();
    return llvm::map_to_vector(
        types, [&](Type type) { return nd::buildNumber(builder, loc, nd::signless(type), 0); });
  }
}

TypedAttr heddle::detail::numberAttr(Type type, double value, Here here) {
  requireNumber(value, type, here);
  return nd::numberAttr(nd::signless(type), value);
}

Type heddle::detail::accumulatorFor(Type element, std::optional<ElementType> asked, Here here) {
  if (!asked)
    return nd::isNarrowFloat(element) ? nd::accumulatorType(element) : element;
  Type wide = toMlir(*asked);
  auto narrow = dyn_cast<FloatType>(element), real = dyn_cast<FloatType>(wide);
  if (wide == element || (narrow && real && narrow.getWidth() < real.getWidth()))
    return wide;
  std::string text;
  llvm::raw_string_ostream(text) << "expected an accumulator of type " << element
                                 << " or of wider floats, got " << wide
                                 << "; convert the operand with cast";
  fail(here, text);
}
