//===- NdSyntax.cpp - parsing and printing --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/Nd.h"
#include "dialects/nd/NdInference.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace heddle::nd {

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

namespace {
/// A recursive-descent parser that limits the depth of expressions.
class ExprParser {
public:
  explicit ExprParser(AsmParser &parser) : parser(parser) {}
  FailureOr<Expr> parseSum();

private:
  static constexpr int mostNested = 256;
  AsmParser &parser;
  int nested = 0;

  FailureOr<Expr> parseUnary();
  FailureOr<Expr> parseProduct();
  /// Coefficients are computed in 64 bits.
  LogicalResult requireSmall(llvm::SMLoc loc, double coefficients) {
    if (coefficients <= 0x1p62)
      return success();
    return parser.emitError(loc, "expected coefficients up to 2^62 in an expression");
  }
  FailureOr<Expr> limited(llvm::SMLoc loc, const Expr &expr) {
    if (!expr.isTooLarge())
      return expr;
    return LogicalResult(parser.emitError(loc, "expected " + Expr::limits()));
  }
};
} // namespace

FailureOr<Expr> ExprParser::parseUnary() {
  if (nested == mostNested)
    return LogicalResult(
        parser.emitError(parser.getCurrentLocation(), "expected an expression of at most ")
        << mostNested << " levels");
  ++nested;
  llvm::scope_exit leave([&] { --nested; });
  if (succeeded(parser.parseOptionalMinus())) {
    FailureOr<Expr> operand = parseUnary();
    if (failed(operand))
      return failure();
    return -*operand;
  }
  if (succeeded(parser.parseOptionalLParen())) {
    FailureOr<Expr> inside = parseSum();
    if (failed(inside) || parser.parseRParen())
      return failure();
    return inside;
  }
  int64_t value;
  OptionalParseResult integer = parser.parseOptionalInteger(value);
  if (integer.has_value()) {
    if (failed(*integer))
      return failure();
    return Expr(value);
  }
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return LogicalResult(
        parser.emitError(loc, "expected a name, an integer or '(' in an expression"));
  std::string name = keyword.str();
  if (name == "read" && succeeded(parser.parseOptionalLParen())) {
    int64_t index;
    if (parser.parseInteger(index) || parser.parseRParen())
      return failure();
    if (index < 0)
      return LogicalResult(parser.emitError(loc, "expected the number of a read, got ") << index);
    return Expr::name("@" + std::to_string(index));
  }
  if ((name == "min" || name == "max") && succeeded(parser.parseOptionalLParen())) {
    FailureOr<Expr> a = parseSum();
    if (failed(a) || parser.parseComma())
      return failure();
    FailureOr<Expr> b = parseSum();
    if (failed(b) || parser.parseRParen())
      return failure();
    return limited(loc, name == "min" ? Expr::min(*a, *b) : Expr::max(*a, *b));
  }
  if (!isValidName(name))
    return LogicalResult(parser.emitError(loc, "'") << name << "' is not a name");
  return Expr::name(name);
}

FailureOr<Expr> ExprParser::parseProduct() {
  FailureOr<Expr> left = parseUnary();
  while (succeeded(left)) {
    if (succeeded(parser.parseOptionalStar())) {
      llvm::SMLoc loc = parser.getCurrentLocation();
      FailureOr<Expr> right = parseUnary();
      if (failed(right) || failed(requireSmall(loc, magnitude(*left) * magnitude(*right))))
        return failure();
      left = limited(loc, *left * *right);
      continue;
    }
    StringRef operation;
    if (failed(parser.parseOptionalKeyword(&operation, {"floordiv", "ceildiv", "mod"})))
      return left;
    llvm::SMLoc loc = parser.getCurrentLocation();
    int64_t divisor;
    if (parser.parseInteger(divisor))
      return failure();
    if (divisor <= 0)
      return LogicalResult(parser.emitError(loc, "expected a positive divisor after '")
                           << operation << "', got " << divisor);
    left = limited(loc, operation == "mod"        ? left->mod(divisor)
                        : operation == "floordiv" ? left->floordiv(divisor)
                                                  : left->ceildiv(divisor));
  }
  return left;
}

FailureOr<Expr> ExprParser::parseSum() {
  FailureOr<Expr> left = parseProduct();
  while (succeeded(left)) {
    bool plus = succeeded(parser.parseOptionalPlus());
    if (!plus && failed(parser.parseOptionalMinus()))
      return left;
    llvm::SMLoc loc = parser.getCurrentLocation();
    FailureOr<Expr> right = parseProduct();
    if (failed(right) || failed(requireSmall(loc, magnitude(*left) + magnitude(*right))))
      return failure();
    left = limited(loc, plus ? *left + *right : *left - *right);
  }
  return left;
}

FailureOr<Expr> parseExpr(AsmParser &parser) { return ExprParser(parser).parseSum(); }

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

ParseResult parseDims(AsmParser &parser, SmallVectorImpl<Dim> &dims) {
  llvm::StringSet<> seen;
  auto parseOne = [&]() -> ParseResult {
    llvm::SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    std::string kept = name.str();
    if (!seen.insert(kept).second)
      return parser.emitError(loc, "the name '") << kept << "' occurs twice";
    if (parser.parseColon())
      return failure();
    FailureOr<Expr> size = parseExpr(parser);
    if (failed(size))
      return failure();
    if (size->isConstant() && *size->constant() < 0)
      return parser.emitError(loc, "expected a size of at least 0 for '")
             << kept << "', got " << size->str();
    dims.emplace_back(parser.getContext(), kept, *size);
    return success();
  };
  do {
    if (parseOne())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

void printDims(AsmPrinter &printer, ArrayRef<Dim> dims) {
  llvm::interleaveComma(dims, printer.getStream(), [&](const Dim &dim) {
    printer << dim.name.getValue() << ": " << dim.size().getExpr().str();
  });
}

Attribute SizeAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<Expr> expr = parseExpr(parser);
  if (failed(expr) || parser.parseGreater())
    return {};
  return SizeAttr::get(parser.getContext(), *expr);
}

void SizeAttr::print(AsmPrinter &printer) const { printer << "<" << getExpr().str() << ">"; }

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<Dim> dims;
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalGreater()))
    if (parseDims(parser, dims) || parser.parseGreater())
      return {};
  return DimsAttr::getSorted(parser.getContext(), dims);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDims(printer, getDims());
  printer << ">";
}

Type NdTensorType::parse(AsmParser &parser) {
  Type element;
  SmallVector<Dim> dims;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parseDims(parser, dims))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<NdTensorType>(loc, parser.getContext(), element,
                                         DimsAttr::getSorted(parser.getContext(), dims));
}

void NdTensorType::print(AsmPrinter &printer) const {
  printer << "<" << getElementType();
  if (!getDims().getDims().empty()) {
    printer << ", ";
    printDims(printer, getDims().getDims());
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Directives
//===----------------------------------------------------------------------===//

ParseResult parseName(OpAsmParser &parser, StringAttr &name) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (!isValidName(keyword))
    return parser.emitError(loc, "'") << keyword << "' is not a name";
  name = parser.getBuilder().getStringAttr(keyword);
  return success();
}

void printName(OpAsmPrinter &printer, Operation *, StringAttr name) { printer << name.getValue(); }

ParseResult parseNames(OpAsmParser &parser, ArrayAttr &names) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    StringAttr name;
    if (parseName(parser, name))
      return failure();
    list.push_back(name);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  names = parser.getBuilder().getArrayAttr(list);
  return success();
}

void printNames(OpAsmPrinter &printer, Operation *, ArrayAttr names) {
  printer << "[";
  llvm::interleaveComma(names, printer.getStream(),
                        [&](Attribute name) { printer << cast<StringAttr>(name).getValue(); });
  printer << "]";
}

ParseResult parseSize(OpAsmParser &parser, SizeAttr &size) {
  FailureOr<Expr> expr = parseExpr(parser);
  if (failed(expr))
    return failure();
  size = SizeAttr::get(parser.getContext(), *expr);
  return success();
}

void printSize(OpAsmPrinter &printer, Operation *, SizeAttr size) {
  printer << size.getExpr().str();
}

/// `1, 1`: the rows before and after the input.
ParseResult parsePads(OpAsmParser &parser, IntegerAttr &low, IntegerAttr &high) {
  int64_t before, after;
  if (parser.parseInteger(before) || parser.parseComma() || parser.parseInteger(after))
    return failure();
  low = parser.getBuilder().getI64IntegerAttr(before);
  high = parser.getBuilder().getI64IntegerAttr(after);
  return success();
}

void printPads(OpAsmPrinter &printer, Operation *, IntegerAttr low, IntegerAttr high) {
  printer << low.getInt() << ", " << high.getInt();
}

/// `1, 1 value 0.0 : f32`, or `1, 1 exclude`.
ParseResult parsePadding(OpAsmParser &parser, IntegerAttr &low, IntegerAttr &high,
                         TypedAttr &value) {
  return failure(parsePads(parser, low, high) ||
                 (failed(parser.parseOptionalKeyword("exclude")) &&
                  (parser.parseKeyword("value") || parser.parseAttribute(value))));
}

void printPadding(OpAsmPrinter &printer, Operation *op, IntegerAttr low, IntegerAttr high,
                  TypedAttr value) {
  printPads(printer, op, low, high);
  if (value)
    printer << " value " << value;
  else
    printer << " exclude";
}

} // namespace heddle::nd
