//===- NestSyntax.cpp - parsing and printing of nests ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     %c = nest.compute (m: 64) reduce (k: 16)
//         reads %a[], %b[k = 2 * k + 1] if [k - 3 >= 0] else 0.0 : f32 {
//     ^bb0(%x: f32, %y: f32):
//       ...
//     } combine add [0.0 : f32] finish reads %bias[] {...} {layouts = [...]}
//       : (types of reads) -> types of results
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/NestSyntax.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
/// Operands with maps; an updated tensor, which has no guard, comes first.
struct ParsedReads {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<SmallVector<MapEntry>> entries;
  SmallVector<Attribute> guards;
};
} // namespace

ParseResult nest::parseParenDims(OpAsmParser &parser, nd::DimsAttr &dims) {
  SmallVector<nd::Dim> list;
  if (parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()) && (nd::parseDims(parser, list) || parser.parseRParen()))
    return failure();
  dims = nd::DimsAttr::getSorted(parser.getContext(), list);
  return success();
}

void nest::printParenDims(OpAsmPrinter &printer, Operation *, nd::DimsAttr dims) {
  printer << "(";
  nd::printDims(printer, dims.getDims());
  printer << ")";
}

static ParseResult parseMap(OpAsmParser &parser, SmallVectorImpl<MapEntry> &entries) {
  return parseEntries(parser, AsmParser::Delimiter::Square, entries);
}

static ParseResult parseGuard(OpAsmParser &parser, Attribute &guard) {
  guard = GuardAttr::get(parser.getContext(), {}, TypedAttr());
  if (failed(parser.parseOptionalKeyword("if")))
    return success();
  FailureOr<GuardAttr> written = parseGuardText(parser);
  if (failed(written))
    return failure();
  guard = *written;
  return success();
}

static ParseResult parseReads(OpAsmParser &parser, ParsedReads &reads) {
  do {
    if (parser.parseOperand(reads.operands.emplace_back()) ||
        parseMap(parser, reads.entries.emplace_back()) ||
        parseGuard(parser, reads.guards.emplace_back()))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

/// Adds `name = name` for the names of the tensor without an entry.
static FailureOr<MapAttr> completeMap(OpAsmParser &parser, llvm::SMLoc loc, Type type,
                                      ArrayRef<MapEntry> written) {
  auto tensor = dyn_cast<nd::NdTensorType>(type);
  if (!tensor)
    return LogicalResult(parser.emitError(loc, "expected a named tensor, got ") << type);
  SmallVector<MapEntry> entries(written);
  for (const MapEntry &entry : written)
    if (!tensor.has(entry.name.getValue()))
      return LogicalResult(parser.emitError(loc, "unknown name '")
                           << entry.name.getValue() << "': the tensor read is " << type);
  for (const nd::Dim &dim : tensor.getDims())
    if (llvm::none_of(written, [&](const MapEntry &entry) { return entry.name == dim.name; }))
      entries.emplace_back(parser.getContext(), dim.name.getValue(), Expr::name(dim.name.str()));
  MapAttr map = getCheckedMap(parser, loc, entries);
  if (!map)
    return failure();
  return map;
}

ParseResult nest::parseCombine(OpAsmParser &parser, Region &region, ArrayAttr &neutral,
                               StringRef yieldName) {
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
    return parser.emitError(loc, "expected one neutral element of a type that '")
           << word << "' combines";
  OpBuilder builder(parser.getContext());
  nd::buildCombiner(builder, parser.getEncodedSourceLoc(loc), region, *kind, typed.getType(),
                    yieldName, !isUnsigned);
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
  printer << " if ";
  printGuardText(printer, guard);
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

void nest::printCombine(OpAsmPrinter &printer, Region &region, ArrayAttr neutral) {
  bool isSigned = true;
  nd::CombinerKind kind = nd::combinerKind(region, &isSigned);
  printer << "combine ";
  bool known = kind != nd::CombinerKind::General && neutral.size() == 1;
  if (known)
    printer << (isSigned ? "" : "unsigned ") << nd::spelling(kind) << " ";
  printer << neutral;
  if (!known) {
    printer << " ";
    printer.printRegion(region);
  }
}

/// Parses the type of a nest: resolves its operands and adds its results. Returns the maps.
static FailureOr<SmallVector<Attribute>> parseTypes(OpAsmParser &parser, OperationState &state,
                                                    llvm::SMLoc loc, const ParsedReads &reads) {
  FunctionType type;
  llvm::SMLoc typeLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  if (type.getNumInputs() != reads.operands.size())
    return LogicalResult(parser.emitError(typeLoc, "expected ")
                         << reads.operands.size() << " operand types, got " << type.getNumInputs());
  SmallVector<Attribute> maps;
  for (auto [input, entries] : llvm::zip_equal(type.getInputs(), reads.entries)) {
    auto map = completeMap(parser, loc, input, entries);
    if (failed(map))
      return failure();
    maps.push_back(*map);
  }
  state.addTypes(type.getResults());
  if (parser.resolveOperands(reads.operands, type.getInputs(), loc, state.operands))
    return failure();
  return maps;
}

/// Moves `layouts`, `schedule` and `copies` from the written attributes to the properties.
template <typename Properties>
static ParseResult parseChoices(OpAsmParser &parser, OperationState &state,
                                Properties &properties) {
  if (Attribute layouts = state.attributes.erase("layouts")) {
    properties.layouts = dyn_cast<ArrayAttr>(layouts);
    if (!properties.layouts)
      return parser.emitError(parser.getNameLoc(), "expected a list of layouts, got ") << layouts;
  }
  if (Attribute schedule = state.attributes.erase("schedule")) {
    properties.schedule = dyn_cast<ScheduleAttr>(schedule);
    if (!properties.schedule)
      return parser.emitError(parser.getNameLoc(), "expected a schedule, got ") << schedule;
  }
  if constexpr (requires { properties.copies; })
    if (Attribute copies = state.attributes.erase("copies")) {
      properties.copies = dyn_cast<ArrayAttr>(copies);
      if (!properties.copies)
        return parser.emitError(parser.getNameLoc(), "expected a list of schedules, got ")
               << copies;
    }
  return success();
}

//===----------------------------------------------------------------------===//
// nest.compute
//===----------------------------------------------------------------------===//

ParseResult ComputeOp::parse(OpAsmParser &parser, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  ParsedReads reads;
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
  int32_t ofBody = int32_t(reads.operands.size());
  if (succeeded(parser.parseOptionalKeyword("finish"))) {
    if (succeeded(parser.parseOptionalKeyword("reads")) && parseReads(parser, reads))
      return failure();
    if (parser.parseRegion(*finish))
      return failure();
  }
  auto maps = parseTypes(parser, state, loc, reads);
  if (failed(maps))
    return failure();
  properties.produced = produced;
  properties.reduced = reduced;
  properties.maps = parser.getBuilder().getArrayAttr(*maps);
  properties.guards = parser.getBuilder().getArrayAttr(reads.guards);
  properties.neutral = neutral;
  properties.setOperandSegmentSizes({ofBody, int32_t(reads.operands.size()) - ofBody});
  return parseChoices(parser, state, properties);
}

void ComputeOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printParenDims(printer, *this, getProduced());
  if (isReduction()) {
    printer << " reduce ";
    printParenDims(printer, *this, getReduced());
  }
  size_t count = getReads().size();
  printReads(printer, getReads(), getMaps().getValue().take_front(count),
             getGuards().getValue().take_front(count));
  printer << " ";
  printer.printRegion(getBody());
  if (!getCombine().empty()) {
    printer << " ";
    printCombine(printer, getCombine(), getNeutral());
  }
  if (!getFinish().empty()) {
    printer << " finish";
    printReads(printer, getFinishReads(), getMaps().getValue().drop_front(count),
               getGuards().getValue().drop_front(count));
    printer << " ";
    printer.printRegion(getFinish());
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"produced", "reduced", "maps", "guards",
                                                      "neutral", "operandSegmentSizes"});
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
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parseParenDims(parser, space) || parser.parseOperand(reads.operands.emplace_back()) ||
      parseMap(parser, reads.entries.emplace_back()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("unique")))
    properties.unique = parser.getBuilder().getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("reads")) && parseReads(parser, reads))
    return failure();
  if (parser.parseRegion(*body) || parser.parseKeyword("combine") || parser.parseRegion(*combine))
    return failure();
  auto maps = parseTypes(parser, state, loc, reads);
  if (failed(maps))
    return failure();
  properties.space = space;
  properties.destMap = cast<MapAttr>(maps->front());
  properties.maps = parser.getBuilder().getArrayAttr(ArrayRef(*maps).drop_front());
  properties.guards = parser.getBuilder().getArrayAttr(reads.guards);
  return parseChoices(parser, state, properties);
}

void UpdateOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printParenDims(printer, *this, getSpace());
  printer << " " << getDest();
  printMap(printer, getDestMap());
  if (getUnique())
    printer << " unique";
  printReads(printer, getReads(), getMaps().getValue(), getGuards().getValue());
  printer << " ";
  printer.printRegion(getBody());
  printer << " combine ";
  printer.printRegion(getCombine());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"space", "destMap", "maps", "guards", "unique"});
  printer << " : ";
  printer.printFunctionalType(*this);
}
