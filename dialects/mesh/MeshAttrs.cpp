//===- MeshAttrs.cpp - parsing and printing of meshes and shardings -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/mesh/MeshSyntax.h"
#include "lib/support/PlanFile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

/// An upper bound of the number of devices.
static constexpr int64_t mostDevices = int64_t(1) << 20;

ArrayRef<Axis> NamedAxes::list() const { return cast<AxesAttr>(axes).getAxes(); }

static ParseResult parseWord(AsmParser &parser, std::string &word) {
  StringRef text;
  ParseResult parsed = parser.parseKeyword(&text);
  word = text.str();
  return parsed;
}

static ParseResult parseWord(AsmParser &parser, StringAttr &word) {
  std::string text;
  ParseResult parsed = parseWord(parser, text);
  word = StringAttr::get(parser.getContext(), text);
  return parsed;
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError, MeshSpec spec) {
  llvm::StringSet<> seen;
  int64_t devices = 1;
  for (const auto &[name, size] : spec.axes) {
    if (!seen.insert(name).second) // m1
      return emitError() << "expected each axis of a mesh once, got '" << name << "' twice";
    if (size < 1 || size > mostDevices || (devices *= size) > mostDevices) // m2
      return emitError() << "expected 1 to " << mostDevices << " devices, got " << size
                         << " along '" << name << "'";
  }
  return success();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  MeshSpec spec;
  llvm::SMLoc loc = parser.getCurrentLocation();
  auto parseOne = [&]() -> ParseResult {
    auto &[name, size] = spec.axes.emplace_back();
    return failure(parseWord(parser, name) || parser.parseColon() || parser.parseInteger(size));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), spec);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getSpec().axes, printer.getStream(),
                        [&](const auto &axis) { printer << axis.first << ": " << axis.second; });
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

std::string AxesAttr::str() const { return mesh::str(getAxes()); }

/// `data`, or `data(1)2`
static ParseResult parseAxis(AsmParser &parser, Axis &axis) {
  if (parseWord(parser, axis.name))
    return failure();
  if (failed(parser.parseOptionalLParen()))
    return success();
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(axis.before) || parser.parseRParen() || parser.parseInteger(axis.count))
    return failure();
  if (axis.before < 1 || axis.before > mostDevices || axis.count < 1 || axis.count > mostDevices)
    return parser.emitError(loc, "expected a part of an axis such as '")
           << axis.name << "(2)4', with numbers from 1 to " << mostDevices;
  return success();
}

/// `[data, model]`; `[data, ?]` where `open` is given.
static FailureOr<AxesAttr> parseAxes(AsmParser &parser, bool *open = nullptr) {
  AxisList axes;
  auto parseOne = [&]() -> ParseResult {
    if (open && succeeded(parser.parseOptionalQuestion())) {
      *open = true;
      return success();
    }
    return parseAxis(parser, axes.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  return AxesAttr::get(parser.getContext(), axes);
}

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxesAttr> axes = parseAxes(parser);
  if (failed(axes) || parser.parseGreater())
    return {};
  return *axes;
}

void AxesAttr::print(AsmPrinter &printer) const { printer << "<" << str() << ">"; }

ParseResult mesh::parseAxisList(OpAsmParser &parser, AxesAttr &axes) {
  FailureOr<AxesAttr> parsed = parseAxes(parser);
  axes = succeeded(parsed) ? *parsed : AxesAttr();
  return failure(failed(parsed));
}

void mesh::printAxisList(OpAsmPrinter &printer, Operation *, AxesAttr axes) {
  printer << axes.str();
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

ShardingAttr ShardingAttr::get(MLIRContext *context, const Sharding &sharding) {
  SmallVector<NamedAxes> names;
  for (const auto &[name, axes] : sharding)
    if (!axes.empty())
      names.push_back({StringAttr::get(context, name), AxesAttr::get(context, axes)});
  return get(context, names, /*closed=*/false, AxesAttr::get(context, {}), StringAttr(), {},
             StringAttr());
}

static void sortNames(SmallVectorImpl<NamedAxes> &names) {
  llvm::stable_sort(names, [](const NamedAxes &a, const NamedAxes &b) {
    return a.name.getValue() < b.name.getValue();
  });
}

ShardingAttr ShardingAttr::withNames(ArrayRef<NamedAxes> names) const {
  SmallVector<NamedAxes> sorted(names);
  sortNames(sorted);
  return get(getContext(), sorted, getClosed(), getPartial(), getCombiner(), getPlace(),
             getMemory());
}

ShardingAttr ShardingAttr::at(ArrayRef<AxisCoordinate> place, StringAttr memory) const {
  return get(getContext(), getNames(), getClosed(), getPartial(), getCombiner(), place,
             memory ? memory : getMemory());
}

Sharding ShardingAttr::getSharding() const {
  Sharding sharding;
  for (const NamedAxes &entry : getNames())
    if (AxisList list = entry.list(); !list.empty())
      sharding[entry.name.str()] = list;
  return sharding;
}

const NamedAxes *ShardingAttr::lookup(StringRef name) const {
  auto found = llvm::find_if(getNames(),
                             [&](const NamedAxes &entry) { return entry.name.getValue() == name; });
  return found == getNames().end() ? nullptr : found;
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<NamedAxes> names, bool, AxesAttr partial,
                                   StringAttr combiner, ArrayRef<AxisCoordinate>,
                                   StringAttr memory) {
  // Parts with the same beginning overlap on any mesh; the mesh itself is not known here.
  std::set<std::pair<StringRef, int64_t>> seen;
  for (auto [i, entry] : llvm::enumerate(names)) {
    if (i > 0 && names[i - 1].name.getValue() >= entry.name.getValue()) // s1
      return emitError() << "expected each name once and in sorted order, got '"
                         << entry.name.getValue() << "' after '" << names[i - 1].name.getValue()
                         << "'";
    if (entry.priority < 0) // s4
      return emitError() << "expected a priority of at least 0, got " << entry.priority;
    for (const Axis &axis : entry.list())
      if (!seen.emplace(axis.name, axis.before).second) // s2
        return emitError() << "the axis '" << axis.str() << "' shards '" << entry.name.getValue()
                           << "' and is used before; expected each "
                           << "axis once";
  }
  for (const Axis &axis : partial.getAxes())
    if (seen.contains({axis.name, axis.before})) // s2
      return emitError() << "the value is partial over the axis '" << axis.str()
                         << "', which shards a name";
  if (partial.empty() != !combiner || (combiner && !nd::parseCombinerKind(combiner))) // s3
    return emitError() << "expected a combiner such as add after the axes of a partial value, got '"
                       << (combiner ? combiner.getValue() : "") << "'";
  if (memory && !isMemory(memory))
    return emitError() << "expected device, host or file as memory, got '" << memory.getValue()
                       << "'";
  return success();
}

/// `batch: [data, ?] priority 1`
static ParseResult parseEntry(AsmParser &parser, SmallVectorImpl<NamedAxes> &names) {
  NamedAxes &entry = names.emplace_back();
  if (parseWord(parser, entry.name) || parser.parseColon())
    return failure();
  FailureOr<AxesAttr> axes = parseAxes(parser, &entry.open);
  if (failed(axes))
    return failure();
  entry.axes = *axes;
  return failure(succeeded(parser.parseOptionalKeyword("priority")) &&
                 parser.parseInteger(entry.priority));
}

/// `(stage = 1)`, or `(data(1)2 = 1)`
static ParseResult parsePlace(AsmParser &parser, SmallVectorImpl<AxisCoordinate> &place) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
    AxisCoordinate &each = place.emplace_back();
    Axis axis;
    if (parseAxis(parser, axis))
      return failure();
    each.axis = StringAttr::get(parser.getContext(), axis.str());
    return failure(parser.parseEqual() || parser.parseInteger(each.coordinate));
  });
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<NamedAxes> names;
  SmallVector<AxisCoordinate> place;
  bool closed = false;
  AxesAttr partial = AxesAttr::get(context, {});
  StringAttr combiner, memory;
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
        return parseEntry(parser, names);
      }))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("closed"))) {
      closed = true;
    } else if (succeeded(parser.parseOptionalKeyword("partial"))) {
      FailureOr<AxesAttr> axes = parseAxes(parser);
      if (failed(axes) || parseWord(parser, combiner))
        return {};
      partial = *axes;
    } else if (succeeded(parser.parseOptionalKeyword("at"))) {
      if (parsePlace(parser, place))
        return {};
    } else if (parser.parseKeyword("memory") || parseWord(parser, memory)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  sortNames(names);
  return parser.getChecked<ShardingAttr>(loc, context, ArrayRef(names), closed, partial, combiner,
                                         ArrayRef(place), memory);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<{";
  llvm::interleaveComma(getNames(), printer.getStream(), [&](const NamedAxes &entry) {
    std::string axes = mesh::str(entry.list());
    if (entry.open)
      axes.insert(axes.size() - 1, axes.size() > 2 ? ", ?" : "?");
    printer << entry.name.getValue() << ": " << axes;
    if (entry.priority)
      printer << " priority " << entry.priority;
  });
  printer << "}";
  if (getClosed())
    printer << ", closed";
  if (!getPartial().empty())
    printer << ", partial " << getPartial().str() << " " << getCombiner().getValue();
  if (!getPlace().empty()) {
    printer << ", at (";
    llvm::interleaveComma(getPlace(), printer.getStream(), [&](const AxisCoordinate &each) {
      printer << each.axis.getValue() << " = " << each.coordinate;
    });
    printer << ")";
  }
  if (getMemory())
    printer << ", memory " << getMemory().getValue();
  printer << ">";
}
