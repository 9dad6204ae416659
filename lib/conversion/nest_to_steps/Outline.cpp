//===- Outline.cpp - a function as values and steps -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/Outline.h"

#include "dialects/nd/ElementTypes.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/conversion/nest_to_steps/Constants.h"
#include "lib/conversion/nest_to_steps/KernelSource.h"
#include "lib/conversion/nest_to_steps/PlanMemory.h"
#include "lib/transforms/nd/RequireSizes.h"
#include "lib/transforms/nest/PrepareSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace mlir;

int32_t OutlinedStep::operand(Value value) const {
  SmallVector<Value> distinct = nest::kernelOperands(nest);
  return operands[size_t(llvm::find(distinct, value) - distinct.begin())];
}

std::string heddle::spellLocation(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
         std::to_string(file.getColumn());
}

//===----------------------------------------------------------------------===//
// Reading a function off
//===----------------------------------------------------------------------===//

namespace {
class Outliner {
public:
  Outliner(OutlinedProgram &program, ConstantBlock &constants,
           std::map<std::string, size_t> &kernelOf, nest::MachineAttr facts)
      : program(program), constants(constants), kernelOf(kernelOf), facts(facts) {}

  LogicalResult run(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return function.emitError() << "expected a body of one block, got "
                                  << function.getBody().getBlocks().size()
                                  << "; write branches and loops as scf ops";
    entry.function = function;
    entry.spec.name = function.getName().str();
    bindSymbols();
    entry.spec.requirements = requirementsOf(function, entry.spec.symbols, spellLocation);
    if (failed(checkTypes(function)))
      return failure();
    for (BlockArgument argument : function.getArguments())
      if (failed(addArgument(argument)))
        return failure();
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    for (OpOperand &operand : end->getOpOperands())
      resultNumber[operand.get()] = operand.getOperandNumber();
    if (failed(addSteps(function)))
      return failure();
    for (Value value : end.getOperands())
      entry.spec.results.push_back(values.lookup(value));
    program.entries.push_back(std::move(entry));
    return success();
  }

private:
  OutlinedProgram &program;
  ConstantBlock &constants;
  std::map<std::string, size_t> &kernelOf; ///< by source
  nest::MachineAttr facts;
  OutlinedEntry entry;
  KnownKernels known;
  llvm::DenseMap<Value, int32_t> values;
  llvm::DenseMap<Value, unsigned> resultNumber;

  LogicalResult addSteps(func::FuncOp function) {
    for (Operation &op : llvm::make_early_inc_range(function.front().without_terminator())) {
      auto constant = dyn_cast<nd::LiteralInterface>(op);
      auto control = dyn_cast<nest::ControlOp>(op);
      if (failed(constant ? addConstant(constant) : control ? addControl(control) : addStep(&op)))
        return failure();
    }
    return success();
  }

  /// Lists the symbols that the arguments' sizes determine, as the runtime binds them: a size that
  /// is linear in one unknown symbol determines it.
  void bindSymbols() {
    std::vector<std::string> &symbols = entry.spec.symbols;
    for (size_t before = SIZE_MAX; before != symbols.size();) {
      before = symbols.size();
      for (Type type : entry.function.getArgumentTypes())
        if (auto tensor = dyn_cast<nd::NdTensorType>(type))
          for (const nd::Dim &dim : tensor.getDims()) {
            Expr left = nest::atTypical(dim.size().getExpr(), [&](const std::string &name) {
              return !llvm::is_contained(symbols, name);
            });
            if (left.names().size() == 1 && left.isAffine())
              symbols.push_back(left.names()[0]);
          }
    }
  }

  /// Every value needs an element type with a format in memory and sizes that arguments determine.
  LogicalResult checkTypes(func::FuncOp function) {
    auto check = [&](Location loc, Type type, const Twine &what) -> LogicalResult {
      auto tensor = dyn_cast<nd::NdTensorType>(type);
      if (!tensor)
        return emitError(loc) << what << " should be a tensor, got " << type;
      if (!nd::elementTypeOf(tensor.getElementType()))
        return emitError(loc) << what << " has the element type " << tensor.getElementType()
                              << ", which compiled programs do not have";
      for (const nd::Dim &dim : tensor.getDims())
        for (const std::string &symbol : dim.size().getExpr().names())
          if (!llvm::is_contained(entry.spec.symbols, symbol))
            return emitError(loc) << what << " has the size " << dim.size().getExpr().str()
                                  << " for '" << dim.name.getValue()
                                  << "', but no argument determines '" << symbol << "'";
      return success();
    };
    for (BlockArgument argument : function.getArguments())
      if (failed(
              check(argument.getLoc(), argument.getType(), "argument '" + nameOf(argument) + "'")))
        return failure();
    for (Operation &op : function.front().without_terminator()) {
      if (!isa<nest::ScheduledInterface, nest::HoldsNestsInterface, nest::ControlOp,
               nd::LiteralInterface>(op))
        return op.emitOpError() << "was not lowered to a nest";
      for (Type type : op.getResultTypes())
        if (failed(check(op.getLoc(), type, "a result of '" + op.getName().getStringRef() + "'")))
          return failure();
    }
    return success();
  }

  std::string nameOf(BlockArgument argument) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nd::nameAttrName);
    return name ? name.str() : "argument" + std::to_string(argument.getArgNumber());
  }

  const ValueSpec &spec(Value value) const {
    return entry.spec.values[size_t(values.lookup(value))];
  }

  int32_t add(Value value, ValueSpec::Kind kind, const std::string &name, const Layout &layout) {
    ValueSpec spec;
    spec.kind = kind;
    spec.name = name;
    spec.location = spellLocation(value.getLoc());
    auto type = nd::tensorType(value);
    spec.type = specOf(type);
    spec.layout = layout;
    spec.bytes = layout.elementsOver(type.sizeExprs()) * Expr(byteSize(spec.type.element));
    int32_t index = int32_t(entry.spec.values.size());
    values[value] = index;
    entry.spec.values.push_back(std::move(spec));
    return index;
  }

  LogicalResult checkLayout(Value value, const Layout &layout) {
    return nest::checkLayout(value.getLoc(), layout, "this value", value.getType());
  }

  LogicalResult addArgument(BlockArgument argument) {
    Layout layout = nest::layoutOf(argument);
    if (failed(checkLayout(argument, layout)))
      return failure();
    entry.spec.arguments.push_back(
        add(argument, ValueSpec::Kind::Argument, nameOf(argument), layout));
    return success();
  }

  LogicalResult addConstant(nd::LiteralInterface constant) {
    Value value = constant->getResult(0);
    if (value.use_empty())
      return success();
    Layout layout = nest::layoutOf(value);
    auto offset = constants.add(constant, layout);
    if (!offset)
      return constant->emitOpError() << "has a literal that can't be stored";
    int32_t index = add(value, ValueSpec::Kind::Constant, "constant", layout);
    entry.spec.values[size_t(index)].offset = *offset;
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Branches and loops
  //===--------------------------------------------------------------------===//

  void addControlFlow(StepKind kind, nest::ControlOp op, ArrayRef<int32_t> reads = {}) {
    OutlinedStep step;
    step.spec.kind = kind;
    step.operands = reads;
    step.spec.name = op.isLoop() ? "while" : "if";
    step.spec.location = spellLocation(op.getLoc());
    entry.steps.push_back(std::move(step));
  }

  /// Copies `from` to a new value, or to `to`, by a nest that `builder` inserts.
  FailureOr<int32_t> addPhiCopy(OpBuilder builder, Value from, const Layout &layout,
                                OutlinedStep::Phi phi, std::optional<int32_t> to = {}) {
    auto copy = nest::createCopy(builder, from);
    copy.setLayout(0, nest::LayoutAttr::get(copy->getContext(), layout));
    if (to)
      values[copy->getResult(0)] = *to;
    if (failed(addStep(copy)))
      return failure();
    entry.steps.back().phi = phi;
    return values.lookup(copy->getResult(0));
  }

  LogicalResult addControl(nest::ControlOp op) {
    OpBuilder before(op);
    SmallVector<func::FuncOp> functions;
    SmallVector<SmallVector<int32_t>> given;
    SmallVector<int32_t> results; // of a loop: the carried values
    for (auto symbol : op.getFunctions().getAsRange<FlatSymbolRefAttr>()) {
      auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
      functions.push_back(function);
      given.emplace_back();
      if (failed(checkTypes(function)))
        return failure();
      for (auto [i, operand] : llvm::enumerate(op.given())) {
        Layout layout = nest::layoutOf(function.getArgument(unsigned(i)));
        bool isCarried = op.isLoop() && i < op.getNumResults();
        if (!isCarried && layout == spec(operand).layout) {
          given.back().push_back(values.lookup(operand));
          continue;
        }
        FailureOr<int32_t> copy =
            addPhiCopy(before, operand, layout,
                       isCarried ? OutlinedStep::Phi::Start : OutlinedStep::Phi::None);
        if (failed(copy))
          return failure();
        given.back().push_back(*copy);
        if (isCarried)
          results.push_back(*copy);
      }
    }
    addControlFlow(op.isLoop() ? StepKind::Loop : StepKind::If, op,
                   op.isLoop() ? results[0] : values.lookup(op.getOperand(0)));
    for (auto [side, function] : llvm::enumerate(functions)) {
      if (side == 1)
        addControlFlow(StepKind::Else, op);
      for (auto [argument, value] : llvm::zip_equal(function.getArguments(), given[side]))
        values[argument] = value;
      if (failed(addSteps(function)))
        return failure();
      OpBuilder end(function.front().getTerminator());
      for (auto [i, value] : llvm::enumerate(function.front().getTerminator()->getOperands())) {
        bool isFirst = i == results.size();
        FailureOr<int32_t> to = addPhiCopy(
            end, value, isFirst ? spec(value).layout : entry.spec.values[size_t(results[i])].layout,
            op.isLoop() ? OutlinedStep::Phi::Next : OutlinedStep::Phi::Side,
            isFirst ? std::nullopt : std::optional(results[i]));
        if (failed(to))
          return failure();
        if (isFirst)
          results.push_back(*to);
      }
    }
    addControlFlow(op.isLoop() ? StepKind::EndLoop : StepKind::EndIf, op);
    for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
      values[result] = value;
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  LogicalResult addStep(Operation *op) {
    OutlinedStep step;
    step.nest = op;
    if (op->removeAttr(nest::phiCopyAttrName))
      step.phi = OutlinedStep::Phi::Start;
    SmallVector<Layout> operandLayouts, resultLayouts;
    KernelLabels labels =
        orderOperands(op, [&](Value operand) { return spec(operand).layout; }, known);
    for (Value operand : nest::kernelOperands(op)) {
      operandLayouts.push_back(spec(operand).layout);
      step.operands.push_back(values.lookup(operand));
    }
    auto label = op->getAttrOfType<StringAttr>("heddle.name");
    std::string name = label ? label.str() : op->getName().stripDialect().str();
    SmallVector<Attribute> layouts;
    for (OpResult result : op->getResults()) {
      Layout layout = nest::layoutOf(result);
      if (failed(checkLayout(result, layout)))
        return failure();
      auto kind = ValueSpec::Kind::Temporary;
      std::string valueName = name;
      if (auto returned = resultNumber.find(result); returned != resultNumber.end()) {
        kind = ValueSpec::Kind::Result;
        auto given =
            entry.function.getResultAttrOfType<StringAttr>(returned->second, nd::nameAttrName);
        valueName = given ? given.str() : "result" + std::to_string(returned->second);
      }
      resultLayouts.push_back(layout);
      layouts.push_back(nest::LayoutAttr::get(op->getContext(), layout));
      auto known = values.find(result); // other steps define it as well
      step.results.push_back(known != values.end() ? known->second
                                                   : add(result, kind, valueName, layout));
    }
    cast<nest::LaidOutInterface>(op).setLayoutsAttr(ArrayAttr::get(op->getContext(), layouts));
    std::vector<std::string> symbols;
    SmallVector<Location> locations;
    std::string source =
        kernelSource(op, labels, operandLayouts, resultLayouts, facts, symbols, locations);
    for (const std::string &symbol : symbols) {
      auto told = llvm::find(entry.spec.symbols, symbol);
      if (told == entry.spec.symbols.end())
        return op->emitOpError() << "has a size with the symbol '" << symbol
                                 << "', but no argument of '@" << entry.spec.name
                                 << "' determines it";
      step.spec.numbers.push_back(int32_t(told - entry.spec.symbols.begin()));
    }
    auto [known, isNew] = kernelOf.try_emplace(source, program.kernels.size());
    if (isNew)
      program.kernels.push_back(
          {source, "", name, op->getLoc(), labels.spelling(), std::move(locations)});
    step.kernel = known->second;
    step.labels = std::move(labels);
    step.spec.name =
        label || step.results.empty() ? name : entry.spec.values[size_t(step.results.back())].name;
    step.spec.location = spellLocation(op->getLoc());
    step.spec.flops = arithmeticOf(op);
    for (const std::vector<int32_t> *list : {&step.operands, &step.results})
      for (int32_t value : *list)
        step.spec.bytesMoved += double(typicalBytes(entry.spec.values[size_t(value)]));
    entry.steps.push_back(std::move(step));
    return success();
  }
};
} // namespace

FailureOr<OutlinedProgram> heddle::outline(ModuleOp module, nest::MachineAttr facts) {
  OutlinedProgram program;
  ConstantBlock constants;
  std::map<std::string, size_t> kernelOf;
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.isPublic() && !function.isExternal() &&
        failed(Outliner(program, constants, kernelOf, facts).run(function)))
      return failure();
  program.constants = constants.take();
  return program;
}

void heddle::showSchedules(const OutlinedProgram &program) {
  for (const OutlinedEntry &entry : program.entries)
    for (const OutlinedStep &step : entry.steps)
      if (step.nest && !program.kernels[step.kernel].schedules.empty()) {
        bool isSet = setSchedules(step.nest, program.kernels[step.kernel].schedules, &step.labels);
        assert(isSet && "they were printed from the kernel of this nest");
        (void)isSet;
      }
}

void heddle::dropUnusedKernels(OutlinedProgram &program) {
  constexpr size_t unused = SIZE_MAX;
  std::vector<size_t> number(program.kernels.size(), unused);
  std::vector<OutlinedKernel> kept;
  for (OutlinedEntry &entry : program.entries)
    for (OutlinedStep &step : entry.steps) {
      if (step.spec.kind != StepKind::Kernel)
        continue;
      size_t &to = number[step.kernel];
      if (to == unused) {
        to = kept.size();
        kept.push_back(std::move(program.kernels[step.kernel]));
      }
      step.kernel = to;
    }
  program.kernels = std::move(kept);
}
