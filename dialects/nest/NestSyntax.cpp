//===- NestSyntax.cpp - parsing and printing of nests ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     %c = nest.compute (m: 64) reduce (k: 16) reads %a[], %b[k = 2 * k + 1] if [k - 3 >= 0] else 0.0 : f32 {
//     ^bb0(%x: f32, %y: f32):
//       ...
//     } combine add [0.0 : f32] finish reads %bias[] {...} {layouts = [...]} : (types of reads) -> types of results
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/Nest.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
struct ParsedReads {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<SmallVector<MapEntry>> entries;
  SmallVector<Attribute> guards;
};
} // namespace

static ParseResult parseParenDims(OpAsmParser &parser, nd::DimsAttr &dims) {
  SmallVector<nd::Dim> list;
  if (parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()) && (nd::parseDims(parser, list) || parser.parseRParen()))
    return failure();
  dims = nd::DimsAttr::getSorted(parser.getContext(), list);
  return success();
}

static ParseResult parseMap(OpAsmParser &parser, SmallVector<MapEntry> &entries) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
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

static ParseResult parseGuard(OpAsmParser &parser, Attribute &guard) {
  SmallVector<Condition> conditions;
  TypedAttr otherwise;
  if (succeeded(parser.parseOptionalKeyword("if"))) {
    auto parseOne = [&]() -> ParseResult {
      FailureOr<Expr> expr = nd::parseExpr(parser);
      if (failed(expr))
        return failure();
      bool equality = succeeded(parser.parseOptionalEqual());
      if (!equality && parser.parseGreater())
        return failure();
      int64_t zero;
      llvm::SMLoc loc = parser.getCurrentLocation();
      if (parser.parseEqual() || parser.parseInteger(zero))
        return failure();
      if (zero != 0)
        return parser.emitError(loc, "expected a condition of the form `e >= 0` or `e == 0`");
      conditions.emplace_back(parser.getContext(), *expr, equality);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("else")) && parser.parseAttribute(otherwise))
      return failure();
  }
  guard = GuardAttr::get(parser.getContext(), conditions, otherwise);
  return success();
}

static ParseResult parseReads(OpAsmParser &parser, ParsedReads &reads) {
  do {
    if (parser.parseOperand(reads.operands.emplace_back()) || parseMap(parser, reads.entries.emplace_back()) ||
        parseGuard(parser, reads.guards.emplace_back()))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

/// Adds `name = name` for the names of the tensor that were not written.
static FailureOr<MapAttr> completeMap(OpAsmParser &parser, llvm::SMLoc loc, Type type, ArrayRef<MapEntry> written) {
  auto tensor = dyn_cast<nd::NdTensorType>(type);
  if (!tensor)
    return parser.emitError(loc, "expected a named tensor, got ") << type, failure();
  SmallVector<MapEntry> entries(written);
  for (const MapEntry &entry : written)
    if (!tensor.has(entry.name.getValue()))
      return parser.emitError(loc, "unknown name '") << entry.name.getValue() << "': the tensor read is " << type,
             failure();
  for (const nd::Dim &dim : tensor.getDims())
    if (llvm::none_of(written, [&](const MapEntry &entry) { return entry.name == dim.name; }))
      entries.emplace_back(parser.getContext(), dim.name.getValue(), Expr::name(dim.name.str()));
  llvm::stable_sort(entries,
                    [](const MapEntry &a, const MapEntry &b) { return a.name.getValue() < b.name.getValue(); });
  return parser.getChecked<MapAttr>(loc, parser.getContext(), ArrayRef<MapEntry>(entries));
}

/// `combine add [0.0 : f32]`, or `combine [0.0 : f32, 0 : i64] { region }`.
static ParseResult parseCombine(OpAsmParser &parser, Region &region, ArrayAttr &neutral) {
  StringRef word;
  llvm::SMLoc loc = parser.getCurrentLocation();
  std::optional<nd::CombinerKind> kind;
  bool isUnsigned = succeeded(parser.parseOptionalKeyword("unsigned"));
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    kind = nd::parseCombinerKind(word);
    if (!kind)
      return parser.emitError(loc, "unknown combiner '") << word << "'";
  }
  if (parser.parseAttribute(neutral))
    return failure();
  if (!kind)
    return parser.parseRegion(region);
  auto typed = neutral.size() == 1 ? dyn_cast<TypedAttr>(neutral[0]) : TypedAttr();
  if (!typed || !isa<FloatType, IntegerType>(typed.getType()) ||
      (isa<FloatType>(typed.getType()) && !nd::neutralElement(*kind, typed.getType())))
    return parser.emitError(loc, "expected one neutral element of a type that '") << word << "' combines";
  OpBuilder builder(parser.getContext());
  nd::buildCombiner(builder, parser.getEncodedSourceLoc(loc), region, *kind, typed.getType(), "nest.yield",
                    !isUnsigned);
  return success();
}

static void printMap(OpAsmPrinter &printer, MapAttr map) {
  printer << "[";
  bool first = true;
  for (const MapEntry &entry : map.getEntries()) {
    auto same = entry.expr().asName();
    if (same && *same == entry.name.getValue())
      continue;
    printer << (first ? "" : ", ") << entry.name.getValue() << " = " << entry.expr().str();
    first = false;
  }
  printer << "]";
}

static void printGuard(OpAsmPrinter &printer, GuardAttr guard) {
  if (guard.isTrivial() && !guard.getOtherwise())
    return;
  printer << " if [";
  llvm::interleaveComma(guard.getConditions(), printer.getStream(), [&](const Condition &condition) {
    printer << condition.expr().str() << (condition.equality ? " == 0" : " >= 0");
  });
  printer << "]";
  if (guard.getOtherwise())
    printer << " else " << guard.getOtherwise();
}

static void printReads(OpAsmPrinter &printer, ValueRange operands, ArrayRef<Attribute> maps,
                       ArrayRef<Attribute> guards) {
  bool first = true;
  for (auto [operand, map, guard] : llvm::zip_equal(operands, maps, guards)) {
    printer << (first ? " reads " : ", ") << operand;
    printMap(printer, cast<MapAttr>(map));
    printGuard(printer, cast<GuardAttr>(guard));
    first = false;
  }
}

static void printCombine(OpAsmPrinter &printer, Region &region, ArrayAttr neutral) {
  bool isSigned = true;
  nd::CombinerKind kind = nd::combinerKind(region, &isSigned);
  printer << " combine ";
  bool known = kind != nd::CombinerKind::General && neutral.size() == 1;
  if (known)
    printer << (isSigned ? "" : "unsigned ") << nd::spelling(kind) << " ";
  printer << neutral;
  if (!known) {
    printer << " ";
    printer.printRegion(region);
  }
}

//===----------------------------------------------------------------------===//
// nest.compute
//===----------------------------------------------------------------------===//

ParseResult ComputeOp::parse(OpAsmParser &parser, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  ParsedReads reads, finishReads;
  Region *body = state.addRegion(), *combine = state.addRegion(), *finish = state.addRegion();
  nd::DimsAttr produced, reduced = nd::DimsAttr::get(parser.getContext(), {});
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parseParenDims(parser, produced))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("reduce")) && parseParenDims(parser, reduced))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("reads")) && parseReads(parser, reads))
    return failure();
  if (parser.parseRegion(*body))
    return failure();
  ArrayAttr neutral = parser.getBuilder().getArrayAttr({});
  if (succeeded(parser.parseOptionalKeyword("combine")) && parseCombine(parser, *combine, neutral))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("finish"))) {
    if (succeeded(parser.parseOptionalKeyword("reads")) && parseReads(parser, finishReads))
      return failure();
    if (parser.parseRegion(*finish))
      return failure();
  }
  FunctionType type;
  llvm::SMLoc attrLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  if (type.getNumInputs() != reads.operands.size() + finishReads.operands.size())
    return parser.emitError(attrLoc, "expected ")
           << reads.operands.size() + finishReads.operands.size() << " operand types, got " << type.getNumInputs();
  SmallVector<Attribute> maps, guards(reads.guards);
  guards.append(finishReads.guards);
  for (size_t i = 0; i < type.getNumInputs(); ++i) {
    bool inBody = i < reads.operands.size();
    auto map = completeMap(parser, loc, type.getInput(i),
                           inBody ? reads.entries[i] : finishReads.entries[i - reads.operands.size()]);
    if (failed(map))
      return failure();
    maps.push_back(*map);
  }
  properties.produced = produced;
  properties.reduced = reduced;
  properties.maps = parser.getBuilder().getArrayAttr(maps);
  properties.guards = parser.getBuilder().getArrayAttr(guards);
  properties.neutral = neutral;
  properties.setOperandSegmentSizes({int32_t(reads.operands.size()), int32_t(finishReads.operands.size())});
  if (auto layouts = state.attributes.erase("layouts"))
    properties.layouts = dyn_cast<ArrayAttr>(layouts);
  if (auto schedule = state.attributes.erase("schedule"))
    properties.schedule = dyn_cast<ScheduleAttr>(schedule);
  SmallVector<OpAsmParser::UnresolvedOperand> operands(reads.operands);
  operands.append(finishReads.operands);
  if (parser.resolveOperands(operands, type.getInputs(), loc, state.operands))
    return failure();
  state.addTypes(type.getResults());
  return success();
}

void ComputeOp::print(OpAsmPrinter &printer) {
  printer << " (";
  nd::printDims(printer, getProduced().getDims());
  printer << ")";
  if (isReduction()) {
    printer << " reduce (";
    nd::printDims(printer, getReduced().getDims());
    printer << ")";
  }
  size_t count = getReads().size();
  printReads(printer, getReads(), getMaps().getValue().take_front(count), getGuards().getValue().take_front(count));
  printer << " ";
  printer.printRegion(getBody());
  if (!getCombine().empty())
    printCombine(printer, getCombine(), getNeutral());
  if (!getFinish().empty()) {
    printer << " finish";
    printReads(printer, getFinishReads(), getMaps().getValue().drop_front(count),
               getGuards().getValue().drop_front(count));
    printer << " ";
    printer.printRegion(getFinish());
  }
  printer.printOptionalAttrDict(
      (*this)->getAttrs(), {"produced", "reduced", "maps", "guards", "neutral", "operandSegmentSizes"});
  printer << " : ";
  printer.printFunctionalType(*this);
}

//===----------------------------------------------------------------------===//
// nest.update (space) %dest[map] reads ... { body } combine { region } : types
//===----------------------------------------------------------------------===//

ParseResult UpdateOp::parse(OpAsmParser &parser, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  ParsedReads reads;
  Region *body = state.addRegion(), *combine = state.addRegion();
  nd::DimsAttr space;
  OpAsmParser::UnresolvedOperand dest;
  SmallVector<MapEntry> destEntries;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parseParenDims(parser, space) || parser.parseOperand(dest) || parseMap(parser, destEntries))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("unique")))
    properties.unique = parser.getBuilder().getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("reads")) && parseReads(parser, reads))
    return failure();
  FunctionType type;
  if (parser.parseRegion(*body) || parser.parseKeyword("combine") || parser.parseRegion(*combine) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  if (type.getNumInputs() != reads.operands.size() + 1)
    return parser.emitError(loc, "expected ")
           << reads.operands.size() + 1 << " operand types, got " << type.getNumInputs();
  SmallVector<Attribute> maps;
  auto destMap = completeMap(parser, loc, type.getInput(0), destEntries);
  if (failed(destMap))
    return failure();
  for (size_t i = 0; i < reads.operands.size(); ++i) {
    auto map = completeMap(parser, loc, type.getInput(i + 1), reads.entries[i]);
    if (failed(map))
      return failure();
    maps.push_back(*map);
  }
  properties.space = space;
  properties.destMap = *destMap;
  properties.maps = parser.getBuilder().getArrayAttr(maps);
  properties.guards = parser.getBuilder().getArrayAttr(reads.guards);
  if (auto layouts = state.attributes.erase("layouts"))
    properties.layouts = dyn_cast<ArrayAttr>(layouts);
  if (auto schedule = state.attributes.erase("schedule"))
    properties.schedule = dyn_cast<ScheduleAttr>(schedule);
  SmallVector<OpAsmParser::UnresolvedOperand> operands{dest};
  operands.append(reads.operands);
  if (parser.resolveOperands(operands, type.getInputs(), loc, state.operands))
    return failure();
  state.addTypes(type.getResults());
  return success();
}

void UpdateOp::print(OpAsmPrinter &printer) {
  printer << " (";
  nd::printDims(printer, getSpace().getDims());
  printer << ") " << getDest();
  printMap(printer, getDestMap());
  if (getUnique())
    printer << " unique";
  printReads(printer, getReads(), getMaps().getValue(), getGuards().getValue());
  printer << " ";
  printer.printRegion(getBody());
  printer << " combine ";
  printer.printRegion(getCombine());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"space", "destMap", "maps", "guards", "unique"});
  printer << " : ";
  printer.printFunctionalType(*this);
}

//===----------------------------------------------------------------------===//
// nest.group (names) { ... } : types of results
//===----------------------------------------------------------------------===//

ParseResult GroupOp::parse(OpAsmParser &parser, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  nd::DimsAttr names;
  SmallVector<Type> types;
  if (parseParenDims(parser, names) || parser.parseRegion(*state.addRegion()) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonTypeList(types))
    return failure();
  properties.names = names;
  if (auto layouts = state.attributes.erase("layouts"))
    properties.layouts = dyn_cast<ArrayAttr>(layouts);
  if (auto schedule = state.attributes.erase("schedule"))
    properties.schedule = dyn_cast<ScheduleAttr>(schedule);
  state.addTypes(types);
  return success();
}

void GroupOp::print(OpAsmPrinter &printer) {
  printer << " (";
  nd::printDims(printer, getNames().getDims());
  printer << ") ";
  printer.printRegion(getBody());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"names"});
  printer << " : " << getResultTypes();
}
