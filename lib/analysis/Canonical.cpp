//===- Canonical.cpp - canonical forms up to renaming ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Canonical.h"
#include "lib/analysis/CanonicalNames.h"

#include "lib/analysis/BlockForms.h"
#include "lib/analysis/Literal.h"
#include "lib/analysis/Printed.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <numeric>
#include <set>

using namespace heddle;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Labelling
//===----------------------------------------------------------------------===//

namespace {
using Text = llvm::function_ref<std::string(const Labels &)>;

class Labelling {
public:
  Labelling(ArrayRef<std::string> names, Text text) : names(names), text(text) {}

  /// `alike`: sets of names that were interchangeable when they were singled out.
  void search(std::vector<unsigned> colours, std::vector<std::vector<std::string>> alike = {}) {
    refine(colours);
    while (true) {
      // The first class with several members.
      std::vector<std::vector<unsigned>> classes(names.size());
      for (unsigned i = 0; i < names.size(); ++i)
        classes[colours[i]].push_back(i);
      auto tied = llvm::find_if(classes, [](const auto &members) { return members.size() > 1; });
      if (tied == classes.end())
        break;
      if (isSpent()) {
        singleOut(colours, *tied); // in the listed order
        continue;
      }
      // Of interchangeable names only one is tried first: the others give the same text.
      std::vector<unsigned> representatives;
      for (unsigned i : *tied)
        if (llvm::none_of(representatives,
                          [&](unsigned other) { return areAlike(other, i, colours); }))
          representatives.push_back(i);
      if (representatives.size() == 1) {
        alike.emplace_back();
        for (unsigned i : *tied)
          alike.back().push_back(names[i]);
        singleOut(colours, *tied);
        refine(colours);
        continue;
      }
      for (unsigned i : representatives) {
        std::vector<unsigned> single(colours);
        for (unsigned k = 0; k < names.size(); ++k)
          if (k != i && colours[k] >= colours[i])
            ++single[k];
        search(single, alike);
        if (isSpent())
          break;
      }
      return;
    }
    Labels labels = labelled(colours, "d");
    std::string candidate = textUnder(labels);
    if (best.labels.empty() || candidate < best.text)
      best = {std::move(candidate), std::move(labels), std::move(alike)};
  }

  CanonicalForm best;

private:
  // Beyond this many bytes of text a symmetric op may have several forms, which only reduces
  // sharing.
  static constexpr size_t mostText = 2 << 20;
  ArrayRef<std::string> names;
  Text text;
  size_t written = 0; ///< bytes of text so far

  bool isSpent() const { return written > mostText; }
  std::string textUnder(const Labels &labels) {
    std::string result = text(labels);
    written += result.size();
    return result;
  }
  Labels labelled(ArrayRef<unsigned> colours, const char *prefix) const {
    Labels labels;
    for (auto [name, colour] : llvm::zip_equal(names, colours))
      labels[name] = prefix + std::to_string(colour);
    return labels;
  }
  static void singleOut(std::vector<unsigned> &colours, ArrayRef<unsigned> members) {
    for (auto [rank, i] : llvm::enumerate(members))
      colours[i] += unsigned(rank);
  }

  /// Returns true if exchanging the two does not change the text. Names that belong to them
  /// (`3.row` to `3`) are exchanged too, where they have equal colours.
  bool areAlike(unsigned a, unsigned b, ArrayRef<unsigned> colours) {
    auto whose = [&](unsigned i) { return StringRef(names[i]).split('.').first; };
    auto belongings = [&](unsigned of) {
      SmallVector<std::pair<unsigned, unsigned>> list; // by colour
      for (unsigned i = 0; i < names.size(); ++i)
        if (i == of || (whose(i) == whose(of) && whose(a) != whose(b)))
          list.emplace_back(colours[i], i);
      llvm::stable_sort(list, llvm::less_first());
      return list;
    };
    auto ofA = belongings(a), ofB = belongings(b);
    if (ofA.size() != ofB.size())
      return false;
    std::vector<unsigned> each(names.size());
    std::iota(each.begin(), each.end(), 0u);
    std::string before = textUnder(labelled(each, "d"));
    for (auto [x, y] : llvm::zip_equal(ofA, ofB))
      std::swap(each[x.second], each[y.second]);
    return textUnder(labelled(each, "d")) == before;
  }

  /// Replaces colours by the ranks of (colour, text in which only this name is `self`), up to a
  /// fixed point.
  void refine(std::vector<unsigned> &colours) {
    size_t classes = 0;
    while (true) {
      std::map<unsigned, unsigned> members;
      Labels labels;
      for (auto [name, colour] : llvm::zip_equal(names, colours)) {
        ++members[colour];
        labels[name] = "c" + std::to_string(colour);
      }
      bool stable = members.size() == classes;
      classes = members.size();
      std::vector<std::pair<unsigned, std::string>> signatures;
      for (auto [name, colour] : llvm::zip_equal(names, colours)) {
        signatures.emplace_back(colour, "");
        if (stable || members[colour] == 1)
          continue; // no text can distinguish it
        std::string kept = std::exchange(labels[name], "self");
        signatures.back().second = textUnder(labels);
        labels[name] = kept;
      }
      std::vector<std::pair<unsigned, std::string>> sorted(signatures);
      llvm::sort(sorted);
      for (auto [colour, signature] : llvm::zip_equal(colours, signatures))
        colour = llvm::lower_bound(sorted, signature) - sorted.begin();
      if (stable || classes == names.size())
        return;
    }
  }
};
} // namespace

CanonicalForm heddle::canonicalise(ArrayRef<std::string> names, Text text) {
  if (names.empty())
    return {text({}), {}, {}};
  Labelling labelling(names, text);
  labelling.search(std::vector<unsigned>(names.size()));
  return std::move(labelling.best);
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static std::string shorten(std::string text) {
  if (text.size() <= 40)
    return text;
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return "h" + llvm::utohexstr(hash.high64) + "_" + llvm::utohexstr(hash.low64);
}

static std::string labelOf(const Labels &labels, StringRef name) {
  auto found = labels.find(std::string_view(name));
  return found == labels.end() ? name.str() : found->second;
}

static std::string sortedJoin(std::vector<std::string> parts) {
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

static std::string typeText(Type type, const Labels &labels) {
  auto tensor = dyn_cast<nd::NdTensorType>(type);
  return tensor ? printed(tensor.getElementType()) + dimsText(tensor.getDims(), labels)
                : printed(type);
}

/// The part of a scalar op's text that does not depend on labels; cached, since canonicalisation
/// prints an op many times.
struct ScalarHead {
  std::string name, type;
  bool isCommutative;
};
using ScalarHeads = DenseMap<Operation *, ScalarHead>;

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

static std::string ndText(Operation *op, ArrayRef<OperandIdentity> operands, const Labels &labels,
                          ScalarHeads &heads) {
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

static std::string computeText(nest::ComputeOp op, ArrayRef<OperandIdentity> operands,
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

static std::string updateText(nest::UpdateOp op, ArrayRef<OperandIdentity> operands,
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

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static bool holdsTensors(Operation *op) {
  return isa<nest::HoldsNestsInterface, scf::IfOp, scf::ForOp, scf::WhileOp>(op);
}

/// Returns the names in an op's own text.
static std::vector<std::string> ownNames(Operation *op) {
  std::set<std::string> names;
  auto add = [&](nd::DimsAttr dims) {
    for (const nd::Dim &dim : dims)
      names.insert(dim.name.str());
  };
  if (auto nest = dyn_cast<nest::LoopNestInterface>(op)) {
    llvm::for_each(nest.getIterationNames(), add);
  } else {
    auto addTypes = [&](TypeRange types) {
      for (Type type : types)
        if (auto tensor = dyn_cast<nd::NdTensorType>(type))
          add(tensor.getDims());
    };
    addTypes(op->getOperandTypes());
    addTypes(op->getResultTypes());
    if (auto holder = dyn_cast<nest::HoldsNestsInterface>(op))
      add(holder.getOuterNames());
    if (holdsTensors(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          addTypes(block.getArgumentTypes());
  }
  return {names.begin(), names.end()};
}

static bool hasOwnForm(Operation *op) {
  if (isa<nest::LoopNestInterface, nest::SortOp>(op))
    return true;
  return isa_and_nonnull<nd::NdDialect>(op->getDialect()) && isPure(op) &&
         !isa<nd::ItemOp, nd::FromItemOp>(op) && op->getNumResults() != 0 &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

/// Returns true for ops without names of their own: ops on scalars, and conversions between a
/// scalar and a tensor.
static bool isScalar(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() != 0 && isPure(op) &&
         (isa<nd::ItemOp, nd::FromItemOp>(op) ||
          llvm::none_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                        llvm::IsaPred<nd::NdTensorType>));
}

/// The maximum number of nested levels of regions. Each level is canonicalised for each labelling
/// of the enclosing names, so the time is exponential in the number of levels.
static constexpr unsigned mostLevels = 2;

static bool hasFormWithin(Operation *op, unsigned levels) {
  if (!holdsTensors(op))
    return hasOwnForm(op) || isScalar(op);
  auto isKnown = [&](Operation &each) {
    return nd::renamingOf(&each) || hasFormWithin(&each, levels - 1);
  };
  return levels > 0 && op->getNumResults() != 0 &&
         llvm::all_of(op->getRegions(), [&](Region &region) {
           return region.empty() || (region.hasOneBlock() &&
                                     llvm::all_of(region.front().without_terminator(), isKnown));
         });
}

bool heddle::hasForm(Operation *op) { return hasFormWithin(op, mostLevels); }

static std::string textOf(Operation *op, ArrayRef<OperandIdentity> operands, const Labels &labels,
                          ScalarHeads &heads) {
  if (auto compute = dyn_cast<nest::ComputeOp>(op))
    return computeText(compute, operands, labels, heads);
  if (auto update = dyn_cast<nest::UpdateOp>(op))
    return updateText(update, operands, labels, heads);
  if (isa<nd::NdDialect>(op->getDialect()) && !isScalar(op))
    return ndText(op, operands, labels, heads);
  return headText(op, operands, labels);
}

std::optional<CanonicalForm> heddle::canonicalForm(Operation *op, Identify identify,
                                                   const Surroundings &scope) {
  if (!hasForm(op))
    return std::nullopt;
  SmallVector<OperandIdentity> operands = llvm::map_to_vector(op->getOperands(), identify);
  bool isOfNd = isa<nd::NdDialect>(op->getDialect());
  ScalarHeads heads;
  return canonicalise(ownNames(op), [&](const Labels &own) {
    if (isOfNd)
      return textOf(op, operands, own, heads);
    Labels labels(own);
    labels.insert(scope.labels.begin(), scope.labels.end());
    std::string text = textOf(op, operands, labels, heads);
    if (!holdsTensors(op))
      return text;
    Surroundings inside{{}, scope.depth + 1};
    for (const auto &[name, label] : labels)
      inside.labels[name] = "o" + std::to_string(inside.depth) + label; // unlike inner labels
    for (auto [i, region] : llvm::enumerate(op->getRegions()))
      if (!region.empty())
        text += " {" + blockText(region.front(), identify, inside, i) + "}";
    return text;
  });
}

std::optional<std::string> heddle::textUnder(Operation *op, ArrayRef<OperandIdentity> operands,
                                             const Labels &labels) {
  if (!hasOwnForm(op))
    return std::nullopt;
  ScalarHeads heads;
  return textOf(op, operands, labels, heads);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Returns true if `a` is defined before `b`. Arguments come before results, and values of an outer
/// op before those inside of it.
static bool isMadeBefore(Value a, Value b) {
  auto depth = [](Value value) {
    int levels = 0;
    for (Operation *op = value.getParentBlock()->getParentOp(); op; op = op->getParentOp())
      ++levels;
    return levels;
  };
  if (int first = depth(a), second = depth(b); first != second)
    return first < second;
  auto one = dyn_cast<BlockArgument>(a), two = dyn_cast<BlockArgument>(b);
  if (one || two)
    return one && (!two || one.getArgNumber() < two.getArgNumber());
  if (a.getDefiningOp() == b.getDefiningOp())
    return cast<OpResult>(a).getResultNumber() < cast<OpResult>(b).getResultNumber();
  return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
}

Labels heddle::canonicalKernel(Operation *op, llvm::function_ref<nest::LayoutAttr(Value)> layoutOf,
                               KnownKernels &known) {
  // Names of operands are labelled like iteration names, separately for each operand: `0.row`.
  std::vector<std::string> names = ownNames(op);
  Ranges ranges = nest::iterationRanges(op);
  for (const auto &[name, range] : ranges)
    if (!name.empty() && !llvm::is_contained(names, name))
      names.push_back(name);           // of an enclosing group
  DenseMap<Value, unsigned> positions; // of distinct operands, labelled like names
  SmallVector<Value> distinct;
  for (Value operand : op->getOperands())
    if (positions.try_emplace(operand, positions.size()).second)
      distinct.push_back(operand);
  // Interchangeable operands are ordered by definition.
  llvm::stable_sort(distinct, isMadeBefore);
  for (Value operand : distinct) {
    std::string position = std::to_string(positions.lookup(operand));
    names.push_back(position);
    for (const nd::Dim &dim : nd::tensorType(operand).getDims())
      names.push_back(position + "." + dim.name.str());
  }
  ScalarHeads heads;
  auto text = [&](const Labels &labels) {
    SmallVector<OperandIdentity> operands;
    std::vector<std::string> types;
    for (Value operand : op->getOperands()) {
      unsigned i = positions.lookup(operand);
      OperandIdentity identity{"arg" + labelOf(labels, std::to_string(i)), {}};
      nd::NdTensorType type = nd::tensorType(operand);
      for (const nd::Dim &dim : type.getDims())
        identity.names[dim.name.str()] = labelOf(labels, std::to_string(i) + "." + dim.name.str());
      std::string text = identity.value + ": " + typeText(type, identity.names);
      if (nest::LayoutAttr layout = layoutOf ? layoutOf(operand) : nest::LayoutAttr())
        text += " in " + layout.getLayout().rename(identity.names).str();
      types.push_back(std::move(text));
      operands.push_back(std::move(identity));
    }
    std::vector<std::string> bounds;
    for (const auto &[name, range] : ranges)
      bounds.push_back(labelOf(labels, name) + ": " + std::to_string(range.high));
    return textOf(op, operands, labels, heads) + "\n" + sortedJoin(types) + "\nranges " +
           sortedJoin(bounds);
  };
  Labels listed, result;
  for (auto [i, name] : llvm::enumerate(names))
    listed[name] = "u" + std::to_string(i);
  auto [form, isNew] = known.try_emplace(text(listed));
  if (isNew) {
    result = canonicalise(names, text).labels;
    for (const std::string &name : names)
      form->second.push_back(result[name]);
  } else {
    for (auto [name, label] : llvm::zip_equal(names, form->second))
      result[name] = label;
  }
  return result;
}

/// Returns the text of an op and its nested ops, with values numbered in the order of first use.
static std::string treeText(Operation *op, const Labels &labels, DenseMap<Value, unsigned> &numbers,
                            ScalarHeads &heads) {
  auto identify = [&](Value value) {
    unsigned number = numbers.try_emplace(value, numbers.size()).first->second;
    OperandIdentity identity{"v" + std::to_string(number), {}};
    if (auto type = dyn_cast<nd::NdTensorType>(value.getType()))
      for (const nd::Dim &dim : type.getDims())
        identity.names[dim.name.str()] = labelOf(labels, dim.name);
    return identity;
  };
  SmallVector<OperandIdentity> operands = llvm::map_to_vector(op->getOperands(), identify);
  bool isWhole = hasOwnForm(op); // including its regions
  std::string text = isWhole ? textOf(op, operands, labels, heads) : headText(op, operands, labels);
  for (Value result : op->getResults())
    text += " " + identify(result).value;
  if (isWhole)
    return text;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      text += " {";
      for (Value argument : block.getArguments())
        text += identify(argument).value + ": " + typeText(argument.getType(), labels) + " ";
      for (Operation &inner : block)
        text += "\n" + treeText(&inner, labels, numbers, heads);
      text += "}";
    }
  return text;
}

Labels heddle::canonicalTree(Operation *nest, ArrayRef<Value> operands,
                             llvm::function_ref<nest::LayoutAttr(Value)> layoutOf) {
  std::set<std::string> names;
  nest->walk([&](Operation *op) {
    for (const std::string &name : ownNames(op))
      names.insert(name);
  });
  for (Value operand : operands)
    for (const nd::Dim &dim : nd::tensorType(operand).getDims())
      names.insert(dim.name.str());
  ScalarHeads heads;
  return canonicalise(std::vector<std::string>(names.begin(), names.end()),
                      [&](const Labels &labels) {
                        DenseMap<Value, unsigned> numbers;
                        std::string text;
                        for (Value operand : operands) {
                          numbers.try_emplace(operand, numbers.size());
                          text += typeText(operand.getType(), labels) + " in " +
                                  layoutOf(operand).getLayout().rename(labels).str() + "\n";
                        }
                        return text + treeText(nest, labels, numbers, heads);
                      })
      .labels;
}
