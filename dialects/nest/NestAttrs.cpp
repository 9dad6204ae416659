//===- NestAttrs.cpp - maps, guards, layouts, schedules: parsing and printing ===//
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

llvm::hash_code heddle::hash_value(const Layout &layout) { return llvm::hash_value(layout.str()); }

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

//===----------------------------------------------------------------------===//
// Layouts, schedules
//===----------------------------------------------------------------------===//

/// `a`, or `(a, b)`.
static ParseResult parseGroup(AsmParser &parser, std::vector<std::string> &names) {
  auto parseOne = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    names.push_back(name.str());
    return success();
  };
  if (succeeded(parser.parseOptionalLParen()))
    return failure(parser.parseCommaSeparatedList(parseOne) || parser.parseRParen());
  return parseOne();
}

/// The list of factors.
static FailureOr<Layout> parseFactors(AsmParser &parser) {
  Layout layout;
  auto parseFactor = [&]() -> ParseResult {
    Layout::Factor &factor = layout.factors.emplace_back();
    if (parseGroup(parser, factor.names))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("pad")) &&
        (parser.parseLParen() || parser.parseInteger(factor.low) || parser.parseComma() ||
         parser.parseInteger(factor.high) || parser.parseRParen()))
      return failure();
    llvm::SMLoc loc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalKeyword("floordiv")) && parser.parseInteger(factor.divisor))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("mod")) && parser.parseInteger(factor.modulus))
      return failure();
    if (factor.divisor < 1 || factor.modulus < 0 || factor.low < 0 || factor.high < 0)
      return parser.emitError(loc, "expected a positive block and a border of at least 0 for '")
             << factor.names[0] << "'";
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseFactor))
    return failure();
  return layout;
}

static FailureOr<Layout> parseLayout(AsmParser &parser) {
  FailureOr<Layout> parsed = parseFactors(parser);
  if (failed(parsed))
    return failure();
  Layout &layout = *parsed;
  while (succeeded(parser.parseOptionalComma())) {
    llvm::SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key))
      return failure();
    if (key == "zero_padded") {
      layout.zeroPadded = true;
    } else if (key == "align") {
      if (parser.parseInteger(layout.alignment))
        return failure();
      if (layout.alignment < 1 || (layout.alignment & (layout.alignment - 1)))
        return parser.emitError(loc, "expected an alignment that is a power of two, got ")
               << layout.alignment;
    } else if (key == "swizzle") {
      if (parser.parseLParen() || parser.parseInteger(layout.swizzle.bits) || parser.parseComma() ||
          parser.parseInteger(layout.swizzle.base) || parser.parseComma() ||
          parser.parseInteger(layout.swizzle.shift) || parser.parseRParen())
        return failure();
    } else {
      return parser.emitError(loc, "expected 'align', 'zero_padded' or 'swizzle', got '")
             << key << "'";
    }
  }
  return layout;
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<Layout> layout = parseLayout(parser);
  if (failed(layout) || parser.parseGreater())
    return {};
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const { printer << "<" << getLayout().str() << ">"; }

static ParseResult parseLoop(AsmParser &parser, Loop &loop) {
  StringRef level;
  if (parser.parseKeyword(&level))
    return failure();
  loop.level = level.str();
  if (parseGroup(parser, loop.names) || parser.parseKeyword("by") || parser.parseInteger(loop.step))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("unroll")) && parser.parseInteger(loop.unroll))
    return failure();
  return success();
}

static ParseResult parseLoops(AsmParser &parser, std::vector<Loop> &loops) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parseLoop(parser, loops.emplace_back()); });
}

static ParseResult parseStage(AsmParser &parser, Stage &stage) {
  if (parser.parseKeyword("stage") || parser.parseInteger(stage.operand) ||
      parser.parseKeyword("at") || parser.parseInteger(stage.at))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("level")) && parser.parseString(&stage.level))
    return failure();
  if (parser.parseKeyword("in"))
    return failure();
  LayoutAttr layout;
  if (parser.parseAttribute(layout))
    return failure();
  stage.layout = layout.getLayout();
  if (succeeded(parser.parseOptionalKeyword("copy")) && parseLoops(parser, stage.copy))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("buffers")) && parser.parseInteger(stage.buffers))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("engine")) && parser.parseString(&stage.engine))
    return failure();
  return success();
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  Schedule schedule;
  if (parser.parseLess() || parseLoops(parser, schedule.loops))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    schedule.partial = succeeded(parser.parseOptionalKeyword("partial"));
    if (!schedule.partial && parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parseStage(parser, schedule.stages.emplace_back());
        }))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return ScheduleAttr::get(parser.getContext(), schedule);
}

static void printLoops(raw_ostream &stream, ArrayRef<Loop> loops) {
  stream << "[";
  llvm::interleaveComma(loops, stream, [&](const Loop &loop) {
    stream << loop.level << " ";
    if (loop.names.size() > 1)
      stream << "(";
    llvm::interleaveComma(loop.names, stream, [&](const std::string &name) { stream << name; });
    if (loop.names.size() > 1)
      stream << ")";
    stream << " by " << loop.step;
    if (loop.unroll != 1)
      stream << " unroll " << loop.unroll;
  });
  stream << "]";
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  auto &stream = printer.getStream();
  const Schedule schedule = getSchedule();
  stream << "<";
  printLoops(stream, schedule.loops);
  if (!schedule.stages.empty()) {
    stream << ", [";
    llvm::interleaveComma(schedule.stages, stream, [&](const Stage &stage) {
      stream << "stage " << stage.operand << " at " << stage.at;
      if (!stage.level.empty())
        stream << " level \"" << stage.level << "\"";
      stream << " in ";
      printer << LayoutAttr::get(getContext(), stage.layout);
      if (!stage.copy.empty())
        printLoops(stream << " copy ", stage.copy);
      if (stage.buffers != 1)
        stream << " buffers " << stage.buffers;
      if (!stage.engine.empty())
        stream << " engine \"" << stage.engine << "\"";
    });
    stream << "]";
  }
  stream << (schedule.isPartial() ? ", partial>" : ">");
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

Attribute MatrixUnitAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  llvm::SMLoc loc = parser.getCurrentLocation();
  std::string name;
  SmallVector<nd::Dim> shape;
  Type types[3];
  Layout layouts[3];
  double rate;
  auto parseSide = [&](unsigned i) -> ParseResult {
    if (parser.parseType(types[i]) || parser.parseKeyword("in"))
      return failure();
    FailureOr<Layout> layout = parseFactors(parser);
    if (succeeded(layout))
      layouts[i] = *layout;
    return success(succeeded(layout));
  };
  if (parser.parseLess() || parser.parseString(&name) || parser.parseComma() ||
      parser.parseLParen() || nd::parseDims(parser, shape) || parser.parseRParen() ||
      parser.parseComma() || parseSide(0) || parser.parseStar() || parseSide(1) ||
      parser.parsePlus() || parseSide(2) || parser.parseComma() || parser.parseKeyword("rate") ||
      parser.parseFloat(rate) || parser.parseGreater())
    return {};
  auto error = [&] { return InFlightDiagnostic(parser.emitError(loc)); };
  return MatrixUnitAttr::getChecked(function_ref<InFlightDiagnostic()>(error), context,
                                    StringRef(name), nd::DimsAttr::getSorted(context, shape),
                                    types[0], layouts[0], types[1], layouts[1], types[2],
                                    layouts[2], FloatAttr::get(Float64Type::get(context), rate));
}

void MatrixUnitAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printString(getName());
  printer << ", (";
  nd::printDims(printer, getShape().getDims());
  printer << "), " << getLeftType() << " in " << getLeft().str() << " * " << getRightType()
          << " in " << getRight().str() << " + " << getTotalType() << " in " << getTotal().str()
          << ", rate ";
  printer.printFloat(getRate().getValue());
  printer << ">";
}

LogicalResult MatrixUnitAttr::verify(function_ref<InFlightDiagnostic()> error, StringRef name,
                                     nd::DimsAttr shape, Type leftType, Layout left, Type rightType,
                                     Layout right, Type totalType, Layout total, FloatAttr rate) {
  Sizes sizes;
  for (const nd::Dim &dim : shape)
    sizes[dim.name.str()] = dim.size().constant().value_or(0);
  for (StringRef dim : {"k", "m", "n"})
    if (auto found = sizes.find(dim.str());
        sizes.size() != 3 || found == sizes.end() || found->second < 1)
      return error() << "expected the unit '" << name << "' to have sizes of k, m and n, got "
                     << nd::namesText(shape);
  auto verifySide = [&](StringRef side, Type type, const Layout &layout, StringRef without) {
    Sizes own = sizes;
    own.erase(without.str());
    std::string message = type.isIntOrFloat() ? layout.verify(own) : "expected a number";
    if (message.empty())
      return success();
    return LogicalResult(error() << side << " of the unit '" << name << "': " << message);
  };
  if (failed(verifySide("left side", leftType, left, "n")) ||
      failed(verifySide("right side", rightType, right, "m")) ||
      failed(verifySide("total", totalType, total, "k")))
    return failure();
  if (rate.getValueAsDouble() < 0)
    return error() << "expected the unit '" << name << "' to have a rate of at least 0, got "
                   << rate.getValueAsDouble();
  return success();
}

Attribute MachineAttr::parse(AsmParser &parser, Type) {
  DictionaryAttr values;
  if (parser.parseLess() || parser.parseAttribute(values) || parser.parseGreater())
    return {};
  return MachineAttr::get(parser.getContext(), values);
}

void MachineAttr::print(AsmPrinter &printer) const { printer << "<" << getValues() << ">"; }

int64_t MachineAttr::integer(StringRef key, int64_t otherwise) const {
  auto value = getValues().getAs<IntegerAttr>(key);
  return value ? value.getInt() : otherwise;
}

double MachineAttr::number(StringRef key, double otherwise) const {
  if (auto value = getValues().getAs<FloatAttr>(key))
    return value.getValueAsDouble();
  if (auto value = getValues().getAs<IntegerAttr>(key))
    return double(value.getInt());
  return otherwise;
}

SmallVector<MatrixUnitAttr> MachineAttr::units() const {
  SmallVector<MatrixUnitAttr> units;
  if (auto rows = getValues().getAs<ArrayAttr>("units"))
    for (Attribute row : rows)
      if (auto unit = dyn_cast<MatrixUnitAttr>(row))
        units.push_back(unit);
  return units;
}

double MachineAttr::rate(MatrixUnitAttr unit) const {
  return number((unit.getName() + "_rate").str(), unit.getRate().getValueAsDouble());
}

bool MachineAttr::has(MatrixUnitAttr unit) const {
  return integer(("has_" + unit.getName()).str(), 0);
}
