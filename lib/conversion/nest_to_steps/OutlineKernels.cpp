//===- OutlineKernels.cpp - one function for each distinct nest -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/OutlineKernels.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdTypical.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nd/NeutralNames.h"
#include "lib/transforms/nest/prepare/OrderReads.h"
#include "lib/transforms/nest/schedule/ChooseSchedules.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace heddle;
using namespace mlir;

/// Numbers the size symbols in the order of their first use.
static void nameSymbols(func::FuncOp function, func::FuncOp caller, const llvm::StringSet<> &known,
                        std::vector<std::string> &symbols) {
  if (known.empty())
    return;
  NameRewriter rewriter;
  SmallVector<Attribute> labels;
  auto meet = [&](StringRef name) {
    if (!known.contains(name) || llvm::is_contained(symbols, name))
      return;
    auto range = nd::rangeOfNeutral(name);
    std::string label =
        nd::neutralSymbol(symbols.size(), range ? *range : nd::symbolRange(caller, name));
    labels.push_back(StringAttr::get(function.getContext(), label));
    symbols.push_back(name.str());
    rewriter.symbols[name.str()] = Expr::name(label);
  };
  auto meetAll = [&](const Expr &expr) {
    for (const std::string &name : expr.names())
      meet(name);
  };
  std::function<void(Attribute)> meetIn = [&](Attribute attr) {
    if (auto list = dyn_cast<ArrayAttr>(attr)) {
      for (Attribute each : list)
        meetIn(each);
    } else if (auto dims = dyn_cast<nd::DimsAttr>(attr)) {
      for (const nd::Dim &dim : dims)
        meetAll(dim.size().getExpr());
    } else if (auto map = dyn_cast<nest::MapAttr>(attr)) {
      for (const nest::MapEntry &entry : map.getEntries())
        meetAll(entry.expr());
    } else if (auto guard = dyn_cast<nest::GuardAttr>(attr)) {
      for (const nest::Condition &condition : guard.getConditions())
        meetAll(condition.expr());
    }
  };
  for (Type type : function.getArgumentTypes())
    meetIn(cast<nd::NdTensorType>(type).getDims());
  function.front().walk([&](Operation *op) {
    if (auto index = dyn_cast<nest::IndexOp>(op))
      meet(index.getName());
    for (NamedAttribute attr : op->getAttrs())
      meetIn(attr.getValue());
  });
  rewriter.rewrite(function);
  if (!labels.empty())
    function->setAttr(nd::symbolsAttrName, ArrayAttr::get(function.getContext(), labels));
}

/// Hashes what `areEqual` compares.
static size_t hashOf(func::FuncOp kernel) {
  llvm::hash_code hash = llvm::hash_combine(kernel.getFunctionType(), kernel.getArgAttrsAttr(),
                                            kernel.getResAttrsAttr());
  kernel.front().walk([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

/// True if the functions have the same code, whatever their names and source locations.
static bool areEqual(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() && a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         a.getResAttrsAttr() == b.getResAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

namespace {
class KernelOutliner {
public:
  KernelOutliner(ModuleOp module, nest::MachineAttr facts) : symbols(module), facts(facts) {}

  OutlinedKernels result;

  void run(func::FuncOp function) {
    for (Operation &op : function.front()) {
      if (auto control = dyn_cast<nest::ControlOp>(op))
        for (auto callee : control.getFunctions().getAsRange<FlatSymbolRefAttr>())
          run(symbols.lookup<func::FuncOp>(callee.getValue()));
      else if (isa<nest::ScheduledInterface, nest::HoldsNestsInterface>(op))
        outline(&op);
    }
  }

private:
  SymbolTable symbols;
  nest::MachineAttr facts;
  KnownKernels known;
  llvm::DenseMap<size_t, SmallVector<size_t, 1>> byHash;

  void outline(Operation *nest) {
    KernelLabels labels = orderOperands(nest, known);
    std::vector<std::string> sizes;
    func::FuncOp function = kernelOf(nest, labels, sizes);
    SmallVector<size_t, 1> &alike = byHash[hashOf(function)];
    auto same = llvm::find_if(
        alike, [&](size_t i) { return areEqual(result.kernels[i].function, function); });
    size_t number = same == alike.end() ? result.kernels.size() : *same;
    Builder builder(nest->getContext());
    if (!sizes.empty())
      nest->setAttr(numbersAttrName,
                    builder.getArrayAttr(llvm::map_to_vector(sizes, [&](const std::string &size) {
                      return Attribute(nd::SizeAttr::get(nest->getContext(), Expr::name(size)));
                    })));
    if (same == alike.end())
      alike.push_back(number), add(nest, function, labels);
    else
      function.erase();
    nest->setAttr(nest::kernelAttrName, FlatSymbolRefAttr::get(result.kernels[number].symbol));
    result.uses.push_back({nest, number, std::move(labels)});
  }

  void add(Operation *nest, func::FuncOp function, const KernelLabels &labels) {
    symbols.insert(function);
    OutlinedKernel &kernel = result.kernels.emplace_back(
        OutlinedKernel{function, function.getSymNameAttr(), "", nestKey(function),
                       heddle::nameOf(nest), nest->getLoc()});
    kernel.names = inverse(labels.iteration);
    for (const Labels &operand : labels.operands)
      kernel.names.merge(inverse(operand));
    Labels written = spellings(nest->getParentOfType<func::FuncOp>());
    for (auto &[label, name] : kernel.names)
      name = respell(name, written);
    if (auto sizes = function->getAttrOfType<ArrayAttr>(nd::symbolsAttrName))
      for (auto size : sizes.getAsRange<StringAttr>())
        kernel.sizes.push_back(size.str());
    function.front().front().walk<WalkOrder::PreOrder>(
        [&](Operation *op) { kernel.locations.push_back(op->getLoc()); });
  }

  /// Copies `nest`, after `orderOperands` has sorted its reads, to a function. It includes the
  /// schedule of the nest, if any. `sizes` receives the size symbols that are its arguments.
  func::FuncOp kernelOf(Operation *nest, const KernelLabels &labels,
                        std::vector<std::string> &sizes) const {
    SmallVector<Value> operands = nest::kernelOperands(nest);
    OpBuilder builder(nest->getContext());
    auto types = llvm::map_to_vector(llvm::zip_equal(labels.operands, operands), [](auto each) {
      return NameRewriter(std::get<0>(each)).rewrite(std::get<1>(each).getType());
    });
    auto function =
        func::FuncOp::create(builder.getUnknownLoc(), "kernel", builder.getFunctionType(types, {}));
    function.setPrivate();
    Block *body = function.addEntryBlock();
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
    func::ReturnOp::create(builder, builder.getUnknownLoc(), copy->getResults());
    function.setFunctionType(builder.getFunctionType(types, copy->getResultTypes()));
    auto layoutOf = [&](Value value, const Labels &to) {
      return nest::LayoutAttr::get(nest->getContext(), nest::layoutOf(value).rename(to));
    };
    Labels ofResults = resultRewriter(nest, labels).names;
    nd::setArgAttrs(function, "nd.layout",
                    [&](unsigned i) { return layoutOf(operands[i], labels.operands[i]); });
    nd::setResultAttrs(function, "nd.layout",
                       [&](unsigned i) { return layoutOf(nest->getResult(i), ofResults); });
    if (facts)
      function->setAttr(machineAttrName, facts);
    nameSymbols(function, nest->getParentOfType<func::FuncOp>(), nd::sizeSymbols(nest), sizes);
    return function;
  }
};
} // namespace

OutlinedKernels heddle::outlineKernels(ModuleOp module, nest::MachineAttr facts) {
  KernelOutliner outliner(module, facts);
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.isPublic() && !function.isExternal())
      outliner.run(function);
  return std::move(outliner.result);
}

//===----------------------------------------------------------------------===//
// Scheduled kernels
//===----------------------------------------------------------------------===//

/// The ops of a nest with schedules, which are in the same order in its kernel.
static SmallVector<Operation *> scheduledOps(Operation *nest) {
  SmallVector<Operation *> ops;
  nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<nest::ScheduledInterface, nest::CopyingInterface>(op))
      ops.push_back(op);
  });
  return ops;
}

void heddle::showSchedules(const OutlinedKernels &outlined) {
  for (const OutlinedKernels::Use &use : outlined.uses) {
    KernelLabels back;
    for (const Labels &each : use.labels.operands)
      back.operands.push_back(inverse(each));
    NameRewriter iteration(inverse(use.labels.iteration));
    func::FuncOp kernel = outlined.kernels[use.kernel].function;
    for (auto [op, from] :
         llvm::zip_equal(scheduledOps(use.nest), scheduledOps(&kernel.front().front()))) {
      if (auto to = dyn_cast<nest::ScheduledInterface>(op)) {
        nest::ScheduleAttr schedule = cast<nest::ScheduledInterface>(from).getScheduleAttr();
        to.setScheduleAttr(use.labels.uniform
                               ? cast<nest::ScheduleAttr>(iteration.rewrite(Attribute(schedule)))
                               : iteration.rewrite(schedule, operandRewriters(op, back)));
      }
      if (auto to = dyn_cast<nest::CopyingInterface>(op))
        to.setCopiesAttr(cast<ArrayAttr>(
            (use.labels.uniform ? iteration : resultRewriter(op, back))
                .rewrite(Attribute(cast<nest::CopyingInterface>(from).getCopiesAttr()))));
    }
    nest::writeChunks(use.nest);
  }
}

std::string heddle::sourceOf(func::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  StringAttr name = kernel.getSymNameAttr(); // has a number, which depends on other kernels
  kernel.setName("kernel");
  kernel.setPublic();
  kernel->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  kernel.setPrivate();
  kernel.setSymNameAttr(name);
  return text + "\n";
}

std::string heddle::nestKey(func::FuncOp kernel) {
  Attribute facts = kernel->removeAttr(machineAttrName); // of the machine, not of the nest
  auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(sourceOf(kernel)));
  if (facts)
    kernel->setAttr(machineAttrName, facts);
  return llvm::toHex(hash, /*LowerCase=*/true).substr(0, 32);
}

OutlinedKernel heddle::clearingKernel(const Expr &bytes, Location loc) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  Builder builder(loc.getContext());
  std::string size = nd::neutralSymbol(0, {0, largestSymbol});
  stream << "func.func private @kernel() attributes {" << clearAttrName << " = "
         << nd::SizeAttr::get(loc.getContext(), bytes.isConstant() ? bytes : Expr::name(size))
         << "}\n";
  return {{}, {}, text, "", "zero", loc, {}, {size}};
}
