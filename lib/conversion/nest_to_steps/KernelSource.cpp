//===- KernelSource.cpp - the text of a kernel without its names ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/KernelSource.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdTypical.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Chunks.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NameRewriter.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/OrderReads.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace heddle;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

static bool areDistinct(const Labels &labels) {
  std::set<std::string> seen;
  return llvm::all_of(labels, [&](const auto &each) { return seen.insert(each.second).second; });
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
  if (isa<nest::LoopNestInterface>(nest)) {
    Labels labels = canonicalKernel(nest, layoutOf, known);
    if (!areDistinct(labels))
      return result; // too many symmetric orders: keep the names
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
  Labels labels = canonicalTree(nest, operands, layoutOf);
  if (!areDistinct(labels))
    return result;
  result.uniform = true;
  result.operands.assign(operands.size(), labels);
  result.iteration = std::move(labels);
  return result;
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

/// The names of each operand in `nest`, from operand `first` on.
static std::vector<NameRewriter> operandRewriters(Operation *nest, const KernelLabels &labels,
                                                  unsigned first = 0) {
  SmallVector<Value> distinct = nest::kernelOperands(nest);
  std::vector<NameRewriter> result;
  for (Value operand : nest->getOperands().drop_front(first))
    result.emplace_back(labels.operands[size_t(llvm::find(distinct, operand) - distinct.begin())]);
  return result;
}

/// The names of the results; for an update, those of its destination.
static NameRewriter resultRewriter(Operation *nest, const KernelLabels &labels) {
  return nest::updatedBy(nest) ? operandRewriters(nest, labels)[0] : NameRewriter(labels.iteration);
}

/// Renames a nest whose operands already have their new types.
static void renameNest(Operation *nest, const KernelLabels &labels) {
  NameRewriter iteration(labels.iteration);
  if (labels.uniform)
    return iteration.rewrite(nest);
  auto loops = cast<nest::LoopNestInterface>(nest);
  iteration.rewriteNest(loops, operandRewriters(nest, labels, loops.getFirstRead()),
                        resultRewriter(nest, labels));
}

Labels KernelLabels::spelling() const {
  Labels names = inverse(iteration);
  for (const Labels &operand : operands)
    names.merge(inverse(operand));
  return names;
}

/// Sorts the reads of a compute or update by the labels of their operands and maps.
static void sortReads(Operation *op, const KernelLabels &labels) {
  if (labels.ranks.empty())
    return;
  auto nest = cast<nest::LoopNestInterface>(op);
  SmallVector<Value> distinct = nest::kernelOperands(nest);
  std::vector<NameRewriter> reads = operandRewriters(nest, labels, nest.getFirstRead());
  std::vector<std::string> keys;
  NameRewriter names(labels.iteration); // also maps reads to their keys
  for (const NestRead &read : readsOf(nest)) {
    std::string key = labels.ranks[size_t(llvm::find(distinct, read.value) - distinct.begin())];
    key.insert(0, 8 - std::min<size_t>(8, key.size()), ' '); // d9 comes before d10
    llvm::raw_string_ostream(key) << " " << names.rewrite(read.map, reads[read.operand])
                                  << names.rewrite(read.guard);
    names.names[nest::readName(read.operand)] = "h" + llvm::utohexstr(llvm::xxh3_64bits(key));
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

/// Numbers the size symbols in the order of their first use.
static void nameSymbols(func::FuncOp function, func::FuncOp around, const llvm::StringSet<> &known,
                        std::vector<std::string> &symbols) {
  if (known.empty())
    return;
  NameRewriter rewriter;
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
                                 SmallVectorImpl<Location> &locations) {
  MLIRContext *context = nest->getContext();
  SmallVector<Value> operands = nest::kernelOperands(nest);
  OpBuilder builder(context);
  auto types = llvm::map_to_vector(llvm::zip_equal(labels.operands, operands), [](auto each) {
    return NameRewriter(std::get<0>(each)).rewrite(std::get<1>(each).getType());
  });
  OwningOpRef<func::FuncOp> function =
      func::FuncOp::create(builder.getUnknownLoc(), "kernel", builder.getFunctionType(types, {}));
  Block *body = function->addEntryBlock();
  IRMapping mapping;
  mapping.map(operands, body->getArguments());
  builder.setInsertionPointToEnd(body);
  Operation *copy = builder.clone(*nest, mapping);
  // Attributes for earlier passes do not affect a nest's code.
  copy->walk([](Operation *inner) {
    for (NamedAttribute attr : llvm::to_vector(inner->getDiscardableAttrs()))
      inner->removeDiscardableAttr(attr.getName());
  });
  renameNest(copy, labels);
  nest::orderScalars(copy);
  copy->walk<WalkOrder::PreOrder>([&](Operation *op) { locations.push_back(op->getLoc()); });
  Labels resultLabels = resultRewriter(nest, labels).names;
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
  function->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  return text + "\n";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

std::string heddle::printSchedules(Operation *nest) {
  SmallVector<Attribute> schedules;
  nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<nest::ScheduledInterface>(op))
      schedules.push_back(nest::ScheduleAttr::get(op->getContext(), nest::scheduleOf(op)));
    if (auto copying = dyn_cast<nest::CopyingInterface>(op))
      schedules.push_back(copying.getCopiesAttr());
  });
  std::string text;
  llvm::raw_string_ostream(text) << ArrayAttr::get(nest->getContext(), schedules);
  return text;
}

bool heddle::setSchedules(Operation *nest, StringRef schedules, const KernelLabels *labels) {
  auto list = dyn_cast_or_null<ArrayAttr>(parseAttribute(schedules, nest->getContext()));
  if (!list)
    return false;
  KernelLabels back;
  if (labels) {
    back.iteration = inverse(labels->iteration);
    for (const Labels &each : labels->operands)
      back.operands.push_back(inverse(each));
  }
  NameRewriter iteration(back.iteration);
  size_t next = 0;
  bool isRead = true;
  auto take = [&]<typename Attr>(Attr &attr) {
    attr = next < list.size() ? dyn_cast<Attr>(list[next]) : Attr();
    ++next;
    isRead &= bool(attr);
    return bool(attr);
  };
  nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
    nest::ScheduleAttr schedule;
    if (auto scheduled = dyn_cast<nest::ScheduledInterface>(op); scheduled && take(schedule)) {
      if (labels)
        schedule = labels->uniform ? cast<nest::ScheduleAttr>(iteration.rewrite(schedule))
                                   : iteration.rewrite(schedule, operandRewriters(op, back));
      scheduled.setScheduleAttr(schedule);
    }
    ArrayAttr copies;
    if (auto copying = dyn_cast<nest::CopyingInterface>(op); copying && take(copies)) {
      if (labels)
        copies = cast<ArrayAttr>(
            (labels->uniform ? iteration : resultRewriter(op, back)).rewrite(Attribute(copies)));
      copying.setCopiesAttr(copies);
      isRead &= succeeded(nest::detail::verifyCopies(op));
    }
  });
  nest::writeChunks(nest);
  return isRead && next == list.size();
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
