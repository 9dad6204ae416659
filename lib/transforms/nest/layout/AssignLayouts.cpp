//===- AssignLayouts.cpp - assigns a layout to every value ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/AssignLayouts.h"

#include "lib/transforms/nest/layout/ExplainLayouts.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
class Writer {
public:
  Writer(func::FuncOp function, const LayoutProblem &problem, const LayoutChoice &choice)
      : function(function), problem(problem), choice(choice) {}

  void write() {
    for (auto [v, value] : llvm::enumerate(problem.values))
      for (Value each : value.values)
        setLayout(each, problem.values[v].candidates[choice.layouts[v]]);
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    // If a result's layout differs from the value's (an argument, or a value that is returned
    // twice), the result is a copy.
    nd::setArgAttrs(function, "nd.layout",
                    [&](unsigned i) { return layouts.lookup(function.getArgument(i)); });
    nd::setResultAttrs(function, "nd.layout", [&](unsigned i) {
      return function.getResultAttrOfType<LayoutAttr>(i, "nd.layout")
                 ? Attribute()
                 : layouts.lookup(end.getOperand(i));
    });
    for (const LayoutTerm &term : problem.terms) {
      int copy = problem.termCopy(term, choice.ways[term.nest], choice.layouts[term.value]);
      if (copy >= 0)
        insertCopy(term, problem.values[term.value].candidates[size_t(copy)]);
    }
  }

private:
  func::FuncOp function;
  const LayoutProblem &problem;
  const LayoutChoice &choice;
  llvm::DenseMap<Value, LayoutAttr> layouts;
  llvm::DenseMap<Value, std::vector<std::pair<Layout, Value>>> copies;

  LayoutAttr attributeOf(const Layout &layout) {
    return LayoutAttr::get(function.getContext(), layout);
  }

  void setLayout(Value value, const Layout &layout) {
    LayoutAttr attribute = attributeOf(layout);
    layouts[value] = attribute;
    auto result = dyn_cast<OpResult>(value);
    // Other ops (of nd, before lowering) have no layouts.
    if (auto laid = result ? dyn_cast<LaidOutInterface>(result.getOwner()) : LaidOutInterface())
      laid.setLayout(result.getResultNumber(), attribute);
  }

  ComputeOp makeCopy(OpBuilder &b, Value from, const Layout &layout, StringRef name) {
    NestBuilder copy(b, from.getLoc());
    auto type = tensorType(from);
    copy.produced = type.getDims();
    copy.read(from, MapAttr::identity(type));
    ComputeOp made =
        copy.create({type.getElementType()}, [](OpBuilder &, Location, ValueRange value) {
          return SmallVector<Value>(value);
        });
    made->setAttr("heddle.name", b.getStringAttr(name));
    made.setLayout(0, attributeOf(layout));
    return made;
  }

  void insertCopy(const LayoutTerm &term, const Layout &layout) {
    Operation *nest = problem.nests[term.nest].nest;
    for (Value value : problem.values[term.value].values) {
      if (value.getDefiningOp() == nest) {
        // Compute in the layout that suits the nest, then copy to the value's layout.
        OpBuilder b(nest);
        b.setInsertionPointAfter(nest);
        ComputeOp copy = makeCopy(
            b, value, problem.values[term.value].candidates[choice.layouts[term.value]], "unpack");
        setLayout(value, layout);
        value.replaceAllUsesExcept(copy.getResult(0), copy);
        continue;
      }
      if (!llvm::is_contained(nest->getOperands(), value))
        continue;
      auto &made = copies[value];
      auto known = llvm::find_if(made, [&](const auto &copy) { return copy.first == layout; });
      if (known == made.end()) {
        OpBuilder b(nest);
        made.emplace_back(layout, makeCopy(b, value, layout, "pack").getResult(0));
        known = made.end() - 1;
      }
      Value copy = known->second;
      for (OpOperand &operand : nest->getOpOperands())
        if (operand.get() == value)
          operand.set(copy);
    }
  }
};
} // namespace

/// Writes the lanes of the chosen ways as partial schedules, on nests without a schedule.
static void writeLanes(const LayoutProblem &problem, const LayoutChoice &choice) {
  for (auto [nest, way] : llvm::zip_equal(problem.nests, choice.ways)) {
    auto op = dyn_cast<ComputeOp>(nest.nest);
    if (!op || op.getScheduleAttr())
      continue;
    Schedule schedule;
    schedule.partial = true;
    if (const std::vector<std::string> &lanes = nest.ways[way].lanes; !lanes.empty())
      schedule.loops.push_back({"vector", lanes, 1, 1});
    op.setScheduleAttr(ScheduleAttr::get(op.getContext(), schedule));
  }
}

LogicalResult nest::assignLayouts(func::FuncOp function, const AssignLayoutsOptions &options,
                                  LayoutChooser chooser) {
  if (!function.getBody().hasOneBlock())
    return success();
  FailureOr<LayoutProblem> problem = makeLayoutProblem(function, options.machine);
  if (failed(problem))
    return failure();
  if (options.adjust)
    options.adjust(*problem);
  LayoutChoice choice = chooser(*problem);
  writeLanes(*problem, choice);
  if (options.explain || options.explained) {
    ExplainedLayouts reasons = explainLayouts(function, *problem, choice);
    if (options.explain)
      emitRemarks(reasons);
    if (options.explained)
      options.explained(reasons);
  }
  Writer(function, *problem, choice).write();
  return success();
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

/// Returns true if only nests read the argument, each of them at most half of its elements.
static bool readsAPart(BlockArgument argument) {
  double elements = pointsOf(tensorType(argument).getDims());
  for (Operation *user : argument.getUsers()) {
    auto nest = dyn_cast<ComputeOp>(user);
    if (!nest)
      return false;
    Sizes space = sizesOf(iterationSpace(nest));
    for (const NestRead &read : readsOf(nest)) {
      std::set<std::string> names;
      addNames(nest, read.map, names);
      double most = 1;
      for (const std::string &name : names)
        if (auto found = space.find(name); found != space.end())
          most *= double(found->second);
      if (read.value == argument && most * 2 > elements)
        return false;
    }
  }
  return true;
}

/// Propagates layouts to the arguments of the functions of a branch or loop, where they are not
/// chosen.
static void takeLayouts(ControlOp op, SymbolTable &symbols, llvm::SetVector<func::FuncOp> &order) {
  for (auto name : op.getFunctions().getAsRange<FlatSymbolRefAttr>()) {
    auto callee = symbols.lookup<func::FuncOp>(name.getValue());
    if (!order.insert(callee))
      continue;
    for (auto [argument, operand] : llvm::zip(callee.getArguments(), op.given())) {
      unsigned i = argument.getArgNumber();
      if (!callee.getArgAttr(i, "heddle.donate") &&
          isa_and_nonnull<StringAttr>(callee.getArgAttr(i, "nd.layout")) && readsAPart(argument))
        callee.setArgAttr(i, "nd.layout", LayoutAttr::get(op.getContext(), layoutOf(operand)));
    }
  }
}

LogicalResult nest::assignLayouts(ModuleOp module, const AssignLayoutsOptions &options) {
  SymbolTable symbols(module);
  llvm::SetVector<func::FuncOp> order;
  auto visit = [&](size_t first) -> LogicalResult {
    for (size_t i = first; i < order.size(); ++i) {
      func::FuncOp function = order[i];
      if (function.isExternal())
        continue;
      if (failed(assignLayouts(function, options)))
        return failure();
      function.walk([&](ControlOp op) { takeLayouts(op, symbols, order); });
    }
    return success();
  };
  // Public functions first; then functions without callers.
  for (bool isPublic : {true, false})
    for (auto function : module.getOps<func::FuncOp>()) {
      size_t before = order.size();
      if (function.isPublic() == isPublic && order.insert(function) && failed(visit(before)))
        return failure();
    }
  return success();
}
