//===- NestAttrs.cpp - maps and guards: parsing and printing --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestSyntax.h"

#include "mlir/IR/DialectImplementation.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

MapEntry::MapEntry(MLIRContext *context, StringRef name, const Expr &expr)
    : name(StringAttr::get(context, name)), exprAttr(nd::SizeAttr::get(context, expr)) {}
const Expr &MapEntry::expr() const { return cast<nd::SizeAttr>(exprAttr).getExpr(); }

Condition::Condition(MLIRContext *context, const Expr &expr, bool equality)
    : exprAttr(nd::SizeAttr::get(context, expr)), equality(equality) {}
const Expr &Condition::expr() const { return cast<nd::SizeAttr>(exprAttr).getExpr(); }

MapAttr MapAttr::getSorted(MLIRContext *context, ArrayRef<MapEntry> entries) {
  SmallVector<MapEntry> sorted(entries);
  llvm::sort(sorted, [](const MapEntry &a, const MapEntry &b) {
    return a.name.getValue() < b.name.getValue();
  });
  return MapAttr::get(context, sorted);
}

MapAttr MapAttr::identity(nd::NdTensorType type) {
  SmallVector<MapEntry> entries;
  for (const nd::Dim &dim : type.getDims())
    entries.emplace_back(type.getContext(), dim.name.getValue(), Expr::name(dim.name.str()));
  return getSorted(type.getContext(), entries);
}

LogicalResult MapAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<MapEntry> entries) {
  for (size_t i = 1; i < entries.size(); ++i)
    if (entries[i - 1].name.getValue() >= entries[i].name.getValue())
      return emitError() << "expected each name once and in sorted order, got '"
                         << entries[i].name.getValue() << "' after '"
                         << entries[i - 1].name.getValue() << "'";
  return success();
}

std::optional<Expr> MapAttr::lookup(StringRef name) const {
  for (const MapEntry &entry : getEntries())
    if (entry.name.getValue() == name)
      return entry.expr();
  return std::nullopt;
}

static bool mentionsAny(const Expr &expr, const ExprMap &names) {
  return llvm::any_of(names, [&](const auto &each) { return expr.mentions(each.first); });
}

MapAttr MapAttr::substitute(const ExprMap &replacement) const {
  SmallVector<MapEntry> entries(getEntries());
  bool changed = false; // most maps have none of the names, and uniquing is slow
  for (MapEntry &entry : entries)
    if (mentionsAny(entry.expr(), replacement)) {
      entry = {getContext(), entry.name.getValue(), entry.expr().substitute(replacement)};
      changed = true;
    }
  return changed ? get(getContext(), entries) : *this;
}

bool MapAttr::mentions(StringRef name) const {
  return llvm::any_of(getEntries(),
                      [&](const MapEntry &entry) { return entry.expr().mentions(name.str()); });
}

GuardAttr GuardAttr::substitute(const ExprMap &replacement) const {
  SmallVector<Condition> conditions;
  bool changed = false;
  for (const Condition &condition : getConditions()) {
    changed |= mentionsAny(condition.expr(), replacement);
    conditions.emplace_back(getContext(), condition.expr().substitute(replacement),
                            condition.equality);
  }
  return changed ? get(getContext(), conditions, getOtherwise()) : *this;
}

ParseResult nest::parseEntries(AsmParser &parser, AsmParser::Delimiter delimiter,
                               SmallVectorImpl<MapEntry> &entries) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    std::string kept = name.str();
    if (parser.parseEqual())
      return failure();
    FailureOr<Expr> expr = nd::parseExpr(parser);
    if (failed(expr))
      return failure();
    entries.emplace_back(parser.getContext(), kept, *expr);
    return success();
  });
}

MapAttr nest::getCheckedMap(AsmParser &parser, llvm::SMLoc loc,
                            SmallVectorImpl<MapEntry> &entries) {
  llvm::sort(entries, [](const MapEntry &a, const MapEntry &b) {
    return a.name.getValue() < b.name.getValue();
  });
  return parser.getChecked<MapAttr>(loc, parser.getContext(), ArrayRef<MapEntry>(entries));
}

Attribute MapAttr::parse(AsmParser &parser, Type) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<MapEntry> entries;
  if (parseEntries(parser, AsmParser::Delimiter::LessGreater, entries))
    return {};
  return getCheckedMap(parser, loc, entries);
}

void MapAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getEntries(), printer.getStream(), [&](const MapEntry &entry) {
    printer << entry.name.getValue() << " = " << entry.expr().str();
  });
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

static ParseResult parseConditions(AsmParser &parser, SmallVectorImpl<Condition> &conditions) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    FailureOr<Expr> expr = nd::parseExpr(parser);
    if (failed(expr))
      return failure();
    int64_t zero;
    llvm::SMLoc loc = parser.getCurrentLocation();
    bool equality = false;
    if (succeeded(parser.parseOptionalEqual())) {
      equality = true;
      if (parser.parseEqual())
        return failure();
    } else if (failed(parser.parseOptionalKeyword("ge")) &&
               (parser.parseGreater() || parser.parseEqual())) {
      return failure();
    }
    if (parser.parseInteger(zero))
      return failure();
    if (zero != 0)
      return parser.emitError(loc, "expected a condition of the form `e >= 0` or `e == 0`");
    conditions.emplace_back(parser.getContext(), *expr, equality);
    return success();
  });
}

FailureOr<GuardAttr> nest::parseGuardText(AsmParser &parser) {
  SmallVector<Condition> conditions;
  TypedAttr otherwise;
  if (parseConditions(parser, conditions))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("else")) && parser.parseAttribute(otherwise))
    return failure();
  return GuardAttr::get(parser.getContext(), conditions, otherwise);
}

void nest::printGuardText(AsmPrinter &printer, GuardAttr guard, StringRef atLeast) {
  printer << "[";
  llvm::interleaveComma(
      guard.getConditions(), printer.getStream(), [&](const Condition &condition) {
        printer << condition.expr().str() << " " << (condition.equality ? "==" : atLeast) << " 0";
      });
  printer << "]";
  if (guard.getOtherwise())
    printer << " else " << guard.getOtherwise();
}

Attribute GuardAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<GuardAttr> guard = parseGuardText(parser);
  if (failed(guard) || parser.parseGreater())
    return {};
  return *guard;
}

void GuardAttr::print(AsmPrinter &printer) const {
  // The bodies of attributes are read in pairs of brackets, which `>=` would break.
  printer << "<";
  printGuardText(printer, *this, "ge");
  printer << ">";
}
