//===- NestScheduleAttrs.cpp - layouts, schedules, machines: text ---------===//
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
