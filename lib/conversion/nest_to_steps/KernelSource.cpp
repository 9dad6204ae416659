//===- KernelSource.cpp - a nest on its own, without its names ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/KernelSource.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdTypical.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Canonical.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nd/Lift.h"
#include "lib/transforms/nest/ChooseSchedules.h"
#include "lib/transforms/nest/OrderReads.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace heddle;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Renaming
//===----------------------------------------------------------------------===//

static std::string renamed(const Labels &labels, StringRef name) {
  auto found = labels.find(std::string_view(name));
  return found == labels.end() ? name.str() : found->second;
}

static Expr renamed(const Labels &labels, const Expr &expr) {
  return expr.substitute([&](const std::string &name) -> std::optional<Expr> {
    auto found = labels.find(name);
    return found == labels.end() ? std::nullopt : std::optional<Expr>(Expr::name(found->second));
  });
}

static nd::DimsAttr renamed(const Labels &labels, nd::DimsAttr dims) {
  SmallVector<nd::Dim> list;
  for (const nd::Dim &dim : dims)
    list.emplace_back(dims.getContext(), renamed(labels, dim.name.getValue()),
                      dim.size().getExpr());
  return nd::DimsAttr::getSorted(dims.getContext(), list);
}

static Type renamed(const Labels &labels, Type type) {
  auto tensor = dyn_cast<nd::NdTensorType>(type);
  if (!tensor)
    return type;
  return tensor.withDims(renamed(labels, tensor.getDims()).getDims());
}

static nest::LayoutAttr renamed(const Labels &labels, nest::LayoutAttr layout) {
  return nest::LayoutAttr::get(layout.getContext(), layout.getLayout().rename(labels));
}

static nest::GuardAttr renamed(const Labels &labels, nest::GuardAttr guard) {
  SmallVector<nest::Condition> conditions;
  for (const nest::Condition &condition : guard.getConditions())
    conditions.emplace_back(guard.getContext(), renamed(labels, condition.expr()),
                            condition.equality);
  return nest::GuardAttr::get(guard.getContext(), conditions, guard.getOtherwise());
}

/// A tensor's names and the names that iterate have labels of their own.
static nest::MapAttr renamed(const Labels &tensor, const Labels &labels, nest::MapAttr map) {
  SmallVector<nest::MapEntry> entries;
  for (const nest::MapEntry &entry : map.getEntries())
    entries.emplace_back(map.getContext(), renamed(tensor, entry.name.getValue()),
                         renamed(labels, entry.expr()));
  return nest::MapAttr::getSorted(map.getContext(), entries);
}

static nest::ScheduleAttr renamed(const Labels &labels, ArrayRef<Labels> operands,
                                  nest::ScheduleAttr attr) {
  nest::Schedule schedule = attr.getSchedule().rename(labels);
  for (nest::Stage &stage : schedule.stages)
    if (stage.operand < operands.size())
      stage.layout = stage.layout.rename(operands[stage.operand]);
  return nest::ScheduleAttr::get(attr.getContext(), schedule);
}

static ArrayAttr renamedList(ArrayAttr list, llvm::function_ref<Attribute(Attribute)> rename) {
  return ArrayAttr::get(list.getContext(), llvm::map_to_vector(list, rename));
}

/// Names in a written order, as constants have them; null if `attr` is anything else.
static ArrayAttr renamedOrder(const Labels &labels, Attribute attr) {
  auto list = dyn_cast<ArrayAttr>(attr);
  if (!list || list.empty() || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
    return {};
  return renamedList(list, [&](Attribute name) -> Attribute {
    return StringAttr::get(attr.getContext(), renamed(labels, cast<StringAttr>(name).getValue()));
  });
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

static bool areDistinct(const Labels &labels) {
  std::set<std::string> seen;
  return llvm::all_of(labels, [&](const auto &each) { return seen.insert(each.second).second; });
}

/// Replaces names in all attributes and types alike.
static AttrTypeReplacer uniformReplacer(const Labels &labels) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&labels](nd::NdTensorType type) { return renamed(labels, Type(type)); });
  replacer.addReplacement([&labels](nd::DimsAttr dims) -> std::pair<Attribute, WalkResult> {
    return {renamed(labels, dims), WalkResult::skip()};
  });
  replacer.addReplacement([&labels](nest::MapAttr map) -> std::pair<Attribute, WalkResult> {
    return {renamed(labels, labels, map), WalkResult::skip()};
  });
  replacer.addReplacement([&labels](nest::GuardAttr guard) -> std::pair<Attribute, WalkResult> {
    return {renamed(labels, guard), WalkResult::skip()};
  });
  replacer.addReplacement([&labels](nest::LayoutAttr layout) -> std::pair<Attribute, WalkResult> {
    return {renamed(labels, layout), WalkResult::skip()};
  });
  replacer.addReplacement([&labels](nest::ScheduleAttr attr) -> std::pair<Attribute, WalkResult> {
    std::vector<Labels> operands(16, labels);
    return {renamed(labels, operands, attr), WalkResult::skip()};
  });
  return replacer;
}

/// All names in an op with regions: of dimensions, of iteration, of groups.
static std::vector<std::string> namesIn(Operation *op) {
  std::set<std::string> names;
  auto add = [&](nd::DimsAttr dims) {
    for (const nd::Dim &dim : dims)
      names.insert(dim.name.str());
  };
  op->walk([&](Operation *inner) {
    for (NamedAttribute attr : inner->getAttrs())
      if (auto dims = dyn_cast<nd::DimsAttr>(attr.getValue()))
        add(dims);
    auto addTypes = [&](TypeRange types) {
      for (Type type : types)
        if (auto tensor = dyn_cast<nd::NdTensorType>(type))
          add(tensor.getDims());
    };
    addTypes(inner->getOperandTypes());
    addTypes(inner->getResultTypes());
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        addTypes(block.getArgumentTypes());
  });
  return {names.begin(), names.end()};
}

/// Names may share a label while labels are searched for, so that what must have distinct names is
/// written as text.
static std::string dimsText(const Labels &labels, nd::DimsAttr dims) {
  std::vector<std::string> parts;
  for (const nd::Dim &dim : dims)
    parts.push_back(renamed(labels, dim.name.getValue()) + ": " + dim.size().getExpr().str());
  llvm::sort(parts);
  return "(" + llvm::join(parts, ", ") + ")";
}

static std::string textOf(Type type, const Labels &labels, AttrTypeReplacer &replacer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto tensor = dyn_cast<nd::NdTensorType>(type))
    os << tensor.getElementType() << dimsText(labels, tensor.getDims());
  else
    os << replacer.replace(type);
  return text;
}

static std::string textOf(Attribute attr, const Labels &labels, AttrTypeReplacer &replacer) {
  if (auto dims = dyn_cast<nd::DimsAttr>(attr))
    return dimsText(labels, dims);
  std::vector<std::string> parts;
  if (auto list = dyn_cast<ArrayAttr>(attr)) {
    for (Attribute each : list)
      parts.push_back(textOf(each, labels, replacer));
  } else if (auto map = dyn_cast<nest::MapAttr>(attr)) {
    for (const nest::MapEntry &entry : map.getEntries())
      parts.push_back(renamed(labels, entry.name.getValue()) + " = " +
                      renamed(labels, entry.expr()).str());
    llvm::sort(parts);
  } else {
    std::string text;
    llvm::raw_string_ostream(text) << replacer.replace(attr);
    return text;
  }
  return "[" + llvm::join(parts, ", ") + "]";
}

/// An op with its regions, values numbered in the order of their first use.
static void writeText(Operation *op, const Labels &labels, AttrTypeReplacer &replacer,
                      DenseMap<Value, unsigned> &numbers, llvm::raw_ostream &os) {
  auto number = [&](Value value) {
    auto [found, isNew] = numbers.try_emplace(value, numbers.size());
    os << " %" << found->second;
    if (isNew)
      os << ": " << textOf(value.getType(), labels, replacer);
  };
  os << op->getName();
  for (NamedAttribute attr : op->getAttrs())
    if (auto name = dyn_cast<StringAttr>(attr.getValue()); name && isa<nest::IndexOp>(op))
      os << " " << renamed(labels, name.getValue());
    else if (ArrayAttr order = renamedOrder(labels, attr.getValue()))
      os << " " << order;
    else
      os << " " << textOf(attr.getValue(), labels, replacer);
  for (Value operand : op->getOperands())
    number(operand);
  for (Value result : op->getResults())
    number(result);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      os << " {";
      for (Value argument : block.getArguments())
        number(argument);
      for (Operation &inner : block) {
        os << "\n";
        writeText(&inner, labels, replacer, numbers, os);
      }
      os << "}";
    }
}

static KernelLabels labelsOf(Operation *nest, ArrayRef<Layout> operandLayouts,
                             KnownKernels &known) {
  SmallVector<Value> operands = nest::kernelOperands(nest);
  KernelLabels result;
  result.operands.resize(operands.size());
  auto layoutOf = [&](Value value) {
    size_t i = size_t(llvm::find(operands, value) - operands.begin());
    return nest::LayoutAttr::get(nest->getContext(), operandLayouts[i]);
  };
  if (isa<nest::ComputeOp, nest::UpdateOp>(nest)) {
    Labels labels = canonicalKernel(nest, layoutOf, known);
    if (!areDistinct(labels))
      return result; // too symmetric: names stay as they are
    result.ranks.resize(operands.size());
    for (const auto &[name, label] : labels) {
      auto [before, after] = StringRef(name).split('.');
      size_t operand;
      if (before.getAsInteger(10, operand))
        result.iteration[name] = label;
      else if (after.empty())
        result.ranks[operand] = label;
      else
        result.operands[operand][after.str()] = label;
    }
    return result;
  }
  CanonicalForm form = canonicalise(namesIn(nest), [&](const Labels &labels) {
    AttrTypeReplacer replacer = uniformReplacer(labels);
    DenseMap<Value, unsigned> numbers;
    std::string text;
    llvm::raw_string_ostream os(text);
    for (Value operand : operands) {
      numbers.try_emplace(operand, numbers.size());
      os << textOf(operand.getType(), labels, replacer)
         << textOf(layoutOf(operand), labels, replacer) << "\n";
    }
    writeText(nest, labels, replacer, numbers, os);
    return text;
  });
  if (!areDistinct(form.labels))
    return result;
  result.uniform = true;
  result.iteration = form.labels;
  for (Labels &labels : result.operands)
    labels = form.labels;
  return result;
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

/// Renames a nest of which operands have their new types already.
static void renameNest(Operation *nest, const KernelLabels &labels) {
  if (labels.uniform) {
    AttrTypeReplacer replacer = uniformReplacer(labels.iteration);
    replacer.recursivelyReplaceElementsIn(nest, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    nest->walk([&](Operation *op) {
      for (NamedAttribute attr : llvm::to_vector(op->getAttrs()))
        if (ArrayAttr order = renamedOrder(labels.iteration, attr.getValue()))
          op->setAttr(attr.getName(), order);
    });
  } else {
    SmallVector<Value> distinct = nest::kernelOperands(nest);
    auto operandLabels = [&](unsigned position) -> const Labels & {
      return labels
          .operands[size_t(llvm::find(distinct, nest->getOperand(position)) - distinct.begin())];
    };
    bool isUpdate = isa<nest::UpdateOp>(nest);
    const Labels &results = isUpdate ? operandLabels(0) : labels.iteration;
    unsigned read = isUpdate ? 1 : 0; // position of the first read
    std::vector<Labels> staged;
    for (unsigned i = read; i < nest->getNumOperands(); ++i)
      staged.push_back(operandLabels(i));
    for (NamedAttribute attr : llvm::to_vector(nest->getAttrs())) {
      Attribute value = attr.getValue();
      if (auto dims = dyn_cast<nd::DimsAttr>(value))
        value = renamed(labels.iteration, dims);
      else if (auto map = dyn_cast<nest::MapAttr>(value))
        value = renamed(results, labels.iteration, map);
      else if (auto schedule = dyn_cast<nest::ScheduleAttr>(value))
        value = renamed(labels.iteration, staged, schedule);
      else if (attr.getName() == "maps")
        value = renamedList(cast<ArrayAttr>(value), [&, i = read](Attribute map) mutable {
          return renamed(operandLabels(i++), labels.iteration, cast<nest::MapAttr>(map));
        });
      else if (attr.getName() == "guards")
        value = renamedList(cast<ArrayAttr>(value), [&](Attribute guard) {
          return renamed(labels.iteration, cast<nest::GuardAttr>(guard));
        });
      else if (attr.getName() == "layouts")
        value = renamedList(cast<ArrayAttr>(value), [&](Attribute layout) -> Attribute {
          auto chosen = dyn_cast<nest::LayoutAttr>(layout);
          return chosen ? renamed(results, chosen) : layout;
        });
      nest->setAttr(attr.getName(), value);
    }
    for (OpResult result : nest->getResults())
      result.setType(renamed(results, result.getType()));
  }
  nest->walk(
      [&](nest::IndexOp index) { index.setName(renamed(labels.iteration, index.getName())); });
}

static Labels inverse(const Labels &labels) {
  Labels result;
  for (const auto &[name, label] : labels)
    result[label] = name;
  return result;
}

Labels KernelLabels::spelling() const {
  Labels names = inverse(iteration);
  for (const Labels &operand : operands)
    names.merge(inverse(operand));
  return names;
}

/// Sorts the reads of a compute or update by the labels of what they read, and where.
static void sortReads(Operation *nest, const KernelLabels &labels) {
  if (labels.ranks.empty())
    return;
  SmallVector<Value> distinct = nest::kernelOperands(nest);
  unsigned first = isa<nest::UpdateOp>(nest) ? 1 : 0;
  auto maps = nest->getAttrOfType<ArrayAttr>("maps"),
       guards = nest->getAttrOfType<ArrayAttr>("guards");
  std::vector<std::string> keys;
  Labels names = labels.iteration; // and of reads: those that a map mentions, by their keys
  for (unsigned i = 0; i < maps.size(); ++i) {
    size_t operand = size_t(llvm::find(distinct, nest->getOperand(first + i)) - distinct.begin());
    std::string key = labels.ranks[operand];
    key.insert(0, 8 - std::min<size_t>(8, key.size()), ' '); // d9 comes before d10
    llvm::raw_string_ostream(key) << " "
                                  << renamed(labels.operands[operand], names,
                                             cast<nest::MapAttr>(maps[i]))
                                  << renamed(names, cast<nest::GuardAttr>(guards[i]));
    names[nest::readName(i)] = "h" + llvm::utohexstr(llvm::xxh3_64bits(key));
    keys.push_back(std::move(key));
  }
  nest::orderReads(nest, keys);
}

KernelLabels heddle::orderOperands(Operation *nest, llvm::function_ref<Layout(Value)> layoutOf,
                                   KnownKernels &known) {
  SmallVector<Value> before = nest::kernelOperands(nest);
  KernelLabels labels = labelsOf(nest, llvm::map_to_vector(before, layoutOf), known);
  sortReads(nest, labels);
  KernelLabels ordered = labels;
  for (auto [to, value] : llvm::enumerate(nest::kernelOperands(nest))) {
    size_t from = size_t(llvm::find(before, value) - before.begin());
    ordered.operands[to] = labels.operands[from];
    if (!labels.ranks.empty())
      ordered.ranks[to] = labels.ranks[from];
  }
  return ordered;
}

/// Numbers the size symbols in the order in which they are met.
static void nameSymbols(func::FuncOp function, func::FuncOp around, const llvm::StringSet<> &known,
                        std::vector<std::string> &symbols) {
  if (known.empty())
    return;
  nd::NameRewriter rewriter;
  SmallVector<Attribute> labels;
  auto meet = [&](StringRef name) {
    if (!known.contains(name) || llvm::is_contained(symbols, name))
      return;
    std::string label = nd::neutralSymbol(symbols.size(), nd::symbolRange(around, name));
    labels.push_back(StringAttr::get(function.getContext(), label));
    symbols.push_back(name.str());
    rewriter.symbols[name.str()] = Expr::name(label);
  };
  auto meetAll = [&](const Expr &expr) {
    for (const std::string &name : expr.names())
      meet(name);
  };
  auto meetDims = [&](nd::DimsAttr dims) {
    for (const nd::Dim &dim : dims)
      meetAll(dim.size().getExpr());
  };
  for (Type type : function.getArgumentTypes())
    meetDims(cast<nd::NdTensorType>(type).getDims());
  std::function<void(Attribute)> meetIn = [&](Attribute attr) {
    if (auto list = dyn_cast<ArrayAttr>(attr)) {
      for (Attribute each : list)
        meetIn(each);
    } else if (auto dims = dyn_cast<nd::DimsAttr>(attr)) {
      meetDims(dims);
    } else if (auto map = dyn_cast<nest::MapAttr>(attr)) {
      for (const nest::MapEntry &entry : map.getEntries())
        meetAll(entry.expr());
    } else if (auto guard = dyn_cast<nest::GuardAttr>(attr)) {
      for (const nest::Condition &condition : guard.getConditions())
        meetAll(condition.expr());
    }
  };
  function.walk([&](Operation *op) {
    if (auto index = dyn_cast<nest::IndexOp>(op))
      meet(index.getName());
    if (op != function)
      for (NamedAttribute attr : op->getAttrs())
        meetIn(attr.getValue());
  });
  rewriter.rewrite(function);
  if (!labels.empty())
    function->setAttr(nd::symbolsAttrName, ArrayAttr::get(function.getContext(), labels));
}

std::string heddle::kernelSource(Operation *nest, const KernelLabels &labels,
                                 ArrayRef<Layout> operandLayouts, ArrayRef<Layout> resultLayouts,
                                 nest::MachineAttr facts, std::vector<std::string> &symbols,
                                 SmallVectorImpl<Location> &places) {
  MLIRContext *context = nest->getContext();
  SmallVector<Value> operands = nest::kernelOperands(nest);
  OpBuilder builder(context);
  auto types = llvm::map_to_vector(llvm::zip_equal(labels.operands, operands), [](auto each) {
    return renamed(std::get<0>(each), std::get<1>(each).getType());
  });
  OwningOpRef<func::FuncOp> function =
      func::FuncOp::create(builder.getUnknownLoc(), "kernel", builder.getFunctionType(types, {}));
  Block *body = function->addEntryBlock();
  IRMapping mapping;
  mapping.map(operands, body->getArguments());
  builder.setInsertionPointToEnd(body);
  Operation *copy = builder.clone(*nest, mapping);
  // What earlier passes were told about a nest does not change its code.
  copy->walk([](Operation *inner) {
    for (NamedAttribute attr : llvm::to_vector(inner->getDiscardableAttrs()))
      inner->removeDiscardableAttr(attr.getName());
  });
  renameNest(copy, labels);
  nest::orderScalars(copy);
  copy->walk<WalkOrder::PreOrder>([&](Operation *op) { places.push_back(op->getLoc()); });
  bool isUpdate = isa<nest::UpdateOp>(nest);
  const Labels &resultLabels =
      isUpdate
          ? labels.operands[size_t(llvm::find(operands, nest->getOperand(0)) - operands.begin())]
          : labels.iteration;
  func::ReturnOp::create(builder, builder.getUnknownLoc(), copy->getResults());
  function->setFunctionType(builder.getFunctionType(types, copy->getResultTypes()));
  auto attr = [&](const Layout &layout, const Labels &to) {
    return nest::LayoutAttr::get(context, layout.rename(to));
  };
  nd::setArgAttrs(*function, "nd.layout",
                  [&](unsigned i) { return attr(operandLayouts[i], labels.operands[i]); });
  nd::setResultAttrs(*function, "nd.layout",
                     [&](unsigned i) { return attr(resultLayouts[i], resultLabels); });
  if (facts)
    (*function)->setAttr(machineAttrName, facts);
  nameSymbols(*function, nest->getParentOfType<func::FuncOp>(), nd::sizeSymbols(nest), symbols);
  std::string text;
  llvm::raw_string_ostream stream(text);
  function->print(stream, OpPrintingFlags().useLocalScope());
  return text + "\n";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

std::string heddle::printSchedules(Operation *nest) {
  SmallVector<Attribute> schedules;
  nest::forEachScheduled(nest, [&](Operation *op) {
    schedules.push_back(nest::ScheduleAttr::get(op->getContext(), nest::scheduleOf(op)));
  });
  std::string text;
  llvm::raw_string_ostream(text) << ArrayAttr::get(nest->getContext(), schedules);
  return text;
}

bool heddle::setSchedules(Operation *nest, StringRef schedules, const KernelLabels *labels) {
  auto list = dyn_cast_or_null<ArrayAttr>(parseAttribute(schedules, nest->getContext()));
  if (!list || !llvm::all_of(list, llvm::IsaPred<nest::ScheduleAttr>))
    return false;
  SmallVector<Value> operands = nest::kernelOperands(nest);
  Labels iteration = labels ? inverse(labels->iteration) : Labels();
  size_t next = 0;
  nest::forEachScheduled(nest, [&](Operation *op) {
    auto schedule =
        next < list.size() ? cast<nest::ScheduleAttr>(list[next]) : nest::ScheduleAttr();
    ++next;
    if (labels && schedule) {
      std::vector<Labels> back(op->getNumOperands(), iteration);
      if (!labels->uniform)
        for (auto [i, operand] : llvm::enumerate(op->getOperands()))
          back[i] =
              inverse(labels->operands[size_t(llvm::find(operands, operand) - operands.begin())]);
      schedule = renamed(iteration, back, schedule);
    }
    if (schedule)
      op->setAttr("schedule", schedule);
  });
  return next == list.size();
}

std::string heddle::zeroSource(const Expr &bytes) {
  return "zero " + (bytes.isConstant() ? bytes.str() : nd::neutralSymbol(0, {0, largestSymbol})) +
         "\n";
}

std::optional<Expr> heddle::zeroedBytes(StringRef source) {
  return source.consume_front("zero ") ? Expr::parse(source.rtrim().str()) : std::nullopt;
}

nest::MachineAttr heddle::withFacts(nest::MachineAttr machine, nest::MachineAttr facts) {
  if (!facts)
    return machine;
  NamedAttrList values(machine.getValues());
  for (NamedAttribute fact : facts.getValues())
    values.set(fact.getName(), fact.getValue());
  return nest::MachineAttr::get(machine.getContext(), values.getDictionary(machine.getContext()));
}
