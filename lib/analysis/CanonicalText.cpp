//===- CanonicalText.cpp - texts of ops under labels ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/CanonicalText.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/AttributeText.h"
#include "lib/analysis/BlockForms.h"
#include "lib/analysis/CanonicalNames.h"
#include "lib/analysis/LiteralText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace heddle;
using namespace heddle::canonical;
using namespace mlir;

static std::string shorten(std::string text) { return text.size() <= 40 ? text : hashed(text); }

std::string canonical::sortedJoin(std::vector<std::string> parts) {
  llvm::sort(parts);
  return llvm::join(parts, ", ");
}

/// `reads` gives the names of values that a map depends on.
static std::string exprText(const Expr &expr, const Labels &labels,
                            ArrayRef<std::string> reads = {}) {
  return expr
      .substitute([&](const std::string &name) -> std::optional<Expr> {
        if (auto index = nest::readIndex(name))
          return *index < reads.size() ? std::optional<Expr>(Expr::name(reads[*index]))
                                       : std::nullopt;
        return Expr::name(labelOf(labels, name));
      })
      .str();
}

static std::string dimsText(nd::DimsAttr dims, const Labels &labels) {
  std::vector<std::string> parts;
  for (const nd::Dim &dim : dims)
    parts.push_back(labelOf(labels, dim.name) + ": " + dim.size().getExpr().str());
  return "{" + sortedJoin(parts) + "}";
}

std::string canonical::typeText(Type type, const Labels &labels) {
  auto tensor = dyn_cast<nd::NdTensorType>(type);
  return tensor ? printed(tensor.getElementType()) + dimsText(tensor.getDims(), labels)
                : printed(type);
}

static const ScalarHead &headOf(Operation &op, ScalarHeads &heads) {
  auto [found, isNew] = heads.try_emplace(&op);
  if (isNew) {
    ScalarHead &head = found->second;
    head.name = op.getName().getStringRef().str();
    if (DictionaryAttr attributes = op.getAttrDictionary();
        !isa<nest::IndexOp>(op) && !attributes.empty())
      head.name += printed(attributes);
    head.type = printed(op.getResult(0).getType());
    head.isCommutative = op.hasTrait<OpTrait::IsCommutative>();
  }
  return found->second;
}

static std::vector<std::string> scalarTexts(Block &block, ArrayRef<std::string> leaves,
                                            const Labels &labels, ScalarHeads &heads) {
  DenseMap<Value, std::string> texts;
  for (auto [argument, leaf] : llvm::zip_equal(block.getArguments(), leaves))
    texts[argument] = shorten(leaf);
  for (Operation &op : block.without_terminator()) {
    const ScalarHead &head = headOf(op, heads);
    SmallVector<StringRef> operands;
    for (Value operand : op.getOperands())
      operands.push_back(texts.find(operand)->second);
    if (head.isCommutative)
      llvm::sort(operands);
    std::string text = head.name;
    if (auto index = dyn_cast<nest::IndexOp>(op))
      text += " " + labelOf(labels, index.getName());
    text += "(" + llvm::join(operands, ", ") + ") " + head.type;
    texts[op.getResult(0)] = shorten(std::move(text));
  }
  std::vector<std::string> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(texts.lookup(value));
  return results;
}

std::vector<std::string> heddle::scalarTexts(Block &block, ArrayRef<std::string> leaves,
                                             const Labels &labels) {
  ScalarHeads heads;
  return ::scalarTexts(block, leaves, labels, heads);
}

static std::string scalarText(Block &block, ArrayRef<std::string> leaves, const Labels &labels,
                              ScalarHeads &heads) {
  return llvm::join(scalarTexts(block, leaves, labels, heads), "; ");
}

/// Returns the text of a combiner, whose arguments have positions and no names.
static std::string combinerText(Region &region, ScalarHeads &heads) {
  if (region.empty())
    return "";
  std::vector<std::string> leaves;
  for (unsigned i = 0; i < region.getNumArguments(); ++i)
    leaves.push_back("a" + std::to_string(i));
  return scalarText(region.front(), leaves, {}, heads);
}

std::string heddle::operandText(const OperandIdentity &operand, Type type, const Labels &labels) {
  auto tensor = dyn_cast<nd::NdTensorType>(type);
  if (!tensor)
    return operand.value;
  std::vector<std::string> parts;
  for (const nd::Dim &dim : tensor.getDims())
    parts.push_back(labelOf(operand.names, dim.name) + "=" + labelOf(labels, dim.name));
  return operand.value + "{" + sortedJoin(parts) + "}";
}

//===----------------------------------------------------------------------===//
// nd
//===----------------------------------------------------------------------===//

std::string heddle::shardingText(mesh::ShardingAttr sharding, const Labels &labels) {
  std::vector<std::string> parts;
  for (const mesh::NamedAxes &entry : sharding.getNames())
    parts.push_back(labelOf(labels, entry.name) + ": " + mesh::str(entry.list()) +
                    (entry.open ? "?" : "") + " " + std::to_string(entry.priority));
  return "{" + sortedJoin(parts) + "}" + printed(sharding.withNames({}));
}

/// An attribute of an nd op in which strings are names.
static std::string attributeText(Attribute attr, const Labels &labels, bool isSet) {
  if (auto name = dyn_cast<StringAttr>(attr))
    return labelOf(labels, name);
  if (auto dims = dyn_cast<nd::DimsAttr>(attr))
    return dimsText(dims, labels);
  if (auto list = dyn_cast<ArrayAttr>(attr)) {
    std::vector<std::string> parts;
    for (Attribute each : list)
      parts.push_back(attributeText(each, labels, false));
    return isSet ? "[" + sortedJoin(parts) + "]" : "[" + llvm::join(parts, ", ") + "]";
  }
  if (auto sharding = dyn_cast<mesh::ShardingAttr>(attr))
    return shardingText(sharding, labels);
  if (auto schedule = dyn_cast<nest::ScheduleAttr>(attr))
    return printed(
        nest::ScheduleAttr::get(attr.getContext(), schedule.getSchedule().rename(labels)));
  return printed(attr);
}

std::string canonical::ndText(Operation *op, ArrayRef<OperandIdentity> operands,
                              const Labels &labels, ScalarHeads &heads) {
  std::string text = op->getName().getStringRef().str();
  auto renaming = nd::renamingOf(op);
  auto literal = dyn_cast<nd::LiteralInterface>(op);
  auto reduction = dyn_cast<nd::ReductionInterface>(op);
  if (renaming) { // a set of pairs
    std::vector<std::string> pairs;
    for (auto [from, to] : llvm::zip_equal(renaming->from.getAsValueRange<StringAttr>(),
                                           renaming->to.getAsValueRange<StringAttr>()))
      pairs.push_back(labelOf(labels, from) + "->" + labelOf(labels, to));
    text += sortedJoin(pairs);
  }
  for (NamedAttribute attr : op->getAttrs()) {
    StringRef name = attr.getName();
    if (name == "crossed" || renaming)
      continue; // implied by the operands, or printed above
    bool isSet = reduction && attr.getValue() == reduction.getReducedNames();
    if (literal && (name == "value" || name == "order"))
      text += name == "value" ? " " + Literal(literal).text(labels) : "";
    else if (name.contains('.'))
      text += (" " + name + "=").str() + printed(attr.getValue());
    else
      text += (" " + name + "=").str() + attributeText(attr.getValue(), labels, isSet);
  }
  std::vector<std::string> parts;
  for (auto [operand, value] : llvm::zip_equal(operands, op->getOperands()))
    parts.push_back(operandText(operand, nd::tensorType(value), labels));
  if (auto pointwise = dyn_cast<nd::ScalarCodeInterface>(op)) {
    // The body refers to the operands; the order in which they are listed does not matter.
    text += " " + scalarText(pointwise.getBody().front(), parts, labels, heads);
    text += " of " + sortedJoin(parts);
  } else {
    text += " of " + llvm::join(parts, ", ");
    for (Region &region : op->getRegions())
      text += " by " + combinerText(region, heads);
  }
  for (Type type : op->getResultTypes())
    text += " -> " + typeText(type, labels);
  return text;
}

//===----------------------------------------------------------------------===//
// nest
//===----------------------------------------------------------------------===//

static std::string mapText(nest::MapAttr map, const OperandIdentity &operand, const Labels &labels,
                           ArrayRef<std::string> reads) {
  std::vector<std::string> parts;
  for (const nest::MapEntry &entry : map.getEntries())
    parts.push_back(labelOf(operand.names, entry.name) + "=" +
                    exprText(entry.expr(), labels, reads));
  return operand.value + "[" + sortedJoin(parts) + "]";
}

static std::string guardText(nest::GuardAttr guard, const Labels &labels,
                             ArrayRef<std::string> reads) {
  if (guard.isTrivial())
    return "";
  std::vector<std::string> parts;
  for (const nest::Condition &condition : guard.getConditions())
    parts.push_back(exprText(condition.expr(), labels, reads) +
                    (condition.equality ? " == 0" : " >= 0"));
  std::string text = " if [" + sortedJoin(parts) + "]";
  return guard.getOtherwise() ? text + " else " + printed(guard.getOtherwise()) : text;
}

static std::string scheduleText(nest::ScheduleAttr attr, ArrayRef<OperandIdentity> operands,
                                const Labels &labels) {
  nest::Schedule schedule = attr.getSchedule();
  std::vector<nest::Stage> stages = std::exchange(schedule.stages, {});
  std::string text = printed(nest::ScheduleAttr::get(attr.getContext(), schedule.rename(labels)));
  for (const nest::Stage &stage : stages) {
    const OperandIdentity &operand = operands[stage.operand];
    text += " stage " + operand.value + " at " + std::to_string(stage.at) + " " + stage.level +
            " " + stage.layout.rename(operand.names).str() + " " + std::to_string(stage.buffers) +
            " " + stage.engine;
    if (!stage.copy.empty())
      text += attributeText(nest::ScheduleAttr::get(attr.getContext(), {stage.copy, {}}),
                            operand.names, false);
  }
  return text;
}

static std::string choicesText(Operation *op, ArrayRef<OperandIdentity> operands,
                               const Labels &labels) {
  std::string text;
  auto laid = dyn_cast<nest::LaidOutInterface>(op);
  if (ArrayAttr layouts = laid ? laid.getLayoutsAttr() : ArrayAttr())
    for (Attribute each : layouts) {
      auto layout = dyn_cast<nest::LayoutAttr>(each);
      text += " in " + (layout ? layout.getLayout().rename(labels).str() : "any");
    }
  auto scheduled = dyn_cast<nest::ScheduledInterface>(op);
  if (nest::ScheduleAttr schedule = scheduled ? scheduled.getScheduleAttr() : nullptr)
    text += " " + scheduleText(schedule, operands, labels);
  return text;
}

/// Texts of reads; each may depend on earlier ones.
static std::vector<std::string> readTexts(ArrayRef<OperandIdentity> operands,
                                          ArrayRef<Attribute> maps, ArrayRef<Attribute> guards,
                                          const Labels &labels) {
  std::vector<std::string> reads, names;
  for (auto [operand, map, guard] : llvm::zip_equal(operands, maps, guards)) {
    reads.push_back(mapText(cast<nest::MapAttr>(map), operand, labels, names) +
                    guardText(cast<nest::GuardAttr>(guard), labels, names));
    // As a variable of an expression it must be an identifier.
    std::string text = "read " + reads.back();
    names.push_back("h" + llvm::utohexstr(llvm::xxh3_64bits(text)));
  }
  return reads;
}

std::string canonical::computeText(nest::ComputeOp op, ArrayRef<OperandIdentity> operands,
                                   const Labels &labels, ScalarHeads &heads) {
  size_t n = op.getReads().size();
  std::string text = "compute " + dimsText(op.getProduced(), labels) + " reduce " +
                     dimsText(op.getReduced(), labels);
  ArrayRef<Attribute> maps = op.getMaps().getValue(), guards = op.getGuards().getValue();
  std::vector<std::string> reads = readTexts(operands, maps, guards, labels);
  std::vector<std::string> ofBody(reads.begin(), reads.begin() + n);
  text += " reads " + sortedJoin(ofBody) + " body " +
          scalarText(op.getBody().front(), ofBody, labels, heads);
  text += " combine " + combinerText(op.getCombine(), heads) + " " + printed(op.getNeutral());
  if (!op.getFinish().empty()) {
    std::vector<std::string> leaves;
    for (unsigned i = 0; i + (reads.size() - n) < op.getFinish().getNumArguments(); ++i)
      leaves.push_back("a" + std::to_string(i));
    leaves.insert(leaves.end(), reads.begin() + n, reads.end());
    text += " finish " + scalarText(op.getFinish().front(), leaves, labels, heads);
  }
  for (Type type : op->getResultTypes())
    text += " -> " + typeText(type, labels);
  return text + choicesText(op, operands, labels);
}

std::string canonical::updateText(nest::UpdateOp op, ArrayRef<OperandIdentity> operands,
                                  const Labels &labels, ScalarHeads &heads) {
  std::vector<std::string> reads =
      readTexts(operands.drop_front(), op.getMaps().getValue(), op.getGuards().getValue(), labels);
  std::vector<std::string> names;
  for (const std::string &read : reads)
    names.push_back("h" + llvm::utohexstr(llvm::xxh3_64bits("read " + read)));
  std::string text = "update " + dimsText(op.getSpace(), labels) + " at " +
                     mapText(op.getDestMap(), operands[0], labels, names);
  text += " reads " + sortedJoin(reads) + " body " +
          scalarText(op.getBody().front(), reads, labels, heads) + " combine " +
          combinerText(op.getCombine(), heads) + (op.getUnique() ? " unique" : "");
  // The result has the names of the destination.
  if (op.getCopies())
    text += " copies " + attributeText(op.getCopiesAttr(), operands[0].names, false);
  return text + " -> " + typeText(op.getType(), operands[0].names) +
         choicesText(op, operands.drop_front(), labels);
}

std::string heddle::headText(Operation *op, ArrayRef<OperandIdentity> operands,
                             const Labels &labels) {
  std::string text = op->getName().getStringRef().str();
  for (NamedAttribute attr : op->getAttrs())
    if (StringRef name = attr.getName(); name != "layouts" && name != "schedule")
      text += (" " + name + "=").str() + (name.contains('.')
                                              ? printed(attr.getValue())
                                              : attributeText(attr.getValue(), labels, false));
  for (auto [operand, value] : llvm::zip_equal(operands, op->getOperands()))
    text += ", " + operandText(operand, value.getType(), labels);
  for (Type type : op->getResultTypes())
    text += " -> " + typeText(type, labels);
  return text + choicesText(op, operands, labels);
}
