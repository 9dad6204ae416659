//===- OutlineEntries.cpp - translates a function to values and steps -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/OutlineEntries.h"

#include "dialects/nd/ElementTypes.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/conversion/nest_to_steps/ConstantBytes.h"
#include "lib/conversion/nest_to_steps/InsertCopies.h"
#include "lib/conversion/nest_to_steps/PlanMemory.h"
#include "lib/transforms/mesh/partition/Partition.h"
#include "lib/transforms/mesh/roles/CheckMessageOrder.h"
#include "lib/transforms/mesh/roles/Roles.h"
#include "lib/transforms/mesh/transfers/Bucket.h"
#include "lib/transforms/mesh/transfers/FormTransfers.h"
#include "lib/transforms/nd/RequireSizes.h"
#include "lib/transforms/nest/prepare/PrepareSteps.h"
#include "lib/transforms/nest/schedule/ChooseSchedules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace mlir;

std::string heddle::spellLocation(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
         std::to_string(file.getColumn());
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

namespace {
/// The numbers of kernels by the names of their functions.
using KernelNumbers = llvm::DenseMap<Attribute, size_t>;

class Outliner {
public:
  Outliner(OutlinedProgram &program, ConstantBlock &constants, const KernelNumbers &kernelOf)
      : program(program), constants(constants), kernelOf(kernelOf) {}

  LogicalResult run(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return function.emitError() << "expected a body of one block, got "
                                  << function.getBody().getBlocks().size()
                                  << "; write branches and loops as scf ops";
    entry.function = function;
    entry.spec.name = function.getName().str();
    if (auto role = mesh::Role::of(function)) {
      entry.spec.name = role->entry;
      entry.spec.role = role->name();
    }
    supplyCoordinates();
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
    addShards();
    program.entries.push_back(std::move(entry));
    return success();
  }

private:
  OutlinedProgram &program;
  ConstantBlock &constants;
  const KernelNumbers &kernelOf;
  OutlinedEntry entry;
  llvm::DenseMap<Value, int32_t> values;
  llvm::DenseMap<Value, unsigned> resultNumber;
  llvm::DenseMap<Operation *, OutlinedStep::Phi> phis; ///< copies at the end of called functions
  llvm::MapVector<Value, int32_t> inFlight; ///< results of transfers that are not awaited yet
  std::set<int32_t> sent; ///< steps of this branch or loop that send and are not awaited yet
  int32_t transfers = 0;
  IntegerAttr lastBucket; ///< of the last transfer; null: no bucket

  LogicalResult addSteps(func::FuncOp function) {
    std::set<int32_t> before = std::exchange(sent, {}); // outside of this branch or loop
    for (Operation &op : llvm::make_early_inc_range(function.front().without_terminator())) {
      auto constant = dyn_cast<nd::LiteralInterface>(op);
      auto control = dyn_cast<nest::ControlOp>(op);
      bool isTransfer = isa<nest::TransferInterface>(op);
      SmallVector<Value> used = nest::kernelOperands(&op);
      awaitTransfers([&](Value value) { return control || llvm::is_contained(used, value); });
      if (failed(constant                          ? addConstant(constant)
                 : control                         ? addControl(control)
                 : isTransfer                      ? addTransfer(&op)
                 : isa<mesh::MessageInterface>(op) ? addMessage(cast<mesh::MessageInterface>(op))
                                                   : addStep(&op)))
        return failure();
    }
    awaitTransfers([](Value) { return true; });
    await(std::exchange(sent, std::move(before)));
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Meshes
  //===--------------------------------------------------------------------===//

  /// The coordinates of the device are size symbols that the runtime supplies.
  void supplyCoordinates() {
    if (!mesh::isPartitioned(entry.function))
      return;
    for (const auto &[axis, size] : mesh::meshOf(entry.function).getSpec().axes) {
      std::string symbol = mesh::axisSymbol(axis);
      entry.spec.symbols.push_back(symbol);
      entry.spec.supplied.push_back(symbol);
      entry.spec.coordinates.emplace_back(symbol, axis);
    }
  }

  /// Records which arguments and results are shards of tensors.
  void addShards() {
    func::FuncOp function = entry.function;
    auto add = [&](ValueSpec &spec, DictionaryAttr attributes) {
      auto whole = attributes ? attributes.getAs<TypeAttr>(mesh::globalAttrName) : TypeAttr();
      auto sharding =
          attributes ? attributes.getAs<mesh::ShardingAttr>(mesh::shardingAttrName) : nullptr;
      if (!whole || !sharding)
        return;
      spec.shards = sharding.getSharding();
      for (const mesh::AxisCoordinate &each : sharding.getPlace())
        spec.place.emplace_back(each.axis.str(), each.coordinate);
      if (!spec.shards.empty() || !spec.place.empty())
        spec.wholeDims = cast<nd::NdTensorType>(whole.getValue()).sizeExprs();
    };
    for (auto [i, value] : llvm::enumerate(entry.spec.arguments)) {
      add(entry.spec.values[size_t(value)], function.getArgAttrDict(unsigned(i)));
      addMemory(unsigned(i));
    }
    for (auto [i, value] : llvm::enumerate(entry.spec.results))
      add(entry.spec.values[size_t(value)], function.getResultAttrDict(unsigned(i)));
  }

  /// Records that an argument is in a file, as is the result that may reuse its memory.
  void addMemory(unsigned argument) {
    auto sharding =
        entry.function.getArgAttrOfType<mesh::ShardingAttr>(argument, mesh::shardingAttrName);
    if (!sharding || !sharding.getMemory() || sharding.getMemory() != fileMemoryName)
      return;
    entry.spec.values[size_t(entry.spec.arguments[argument])].memory = fileMemoryName;
    auto donate = entry.function.getArgAttrOfType<IntegerAttr>(argument, "heddle.donate");
    if (donate && donate.getInt() >= 0 && donate.getInt() < int64_t(entry.spec.results.size()))
      if (ValueSpec &to = entry.spec.values[size_t(entry.spec.results[size_t(donate.getInt())])];
          to.kind == ValueSpec::Kind::Result)
        to.memory = fileMemoryName;
  }

  LogicalResult addTransfer(Operation *op) {
    auto transfer = cast<nest::TransferInterface>(op);
    Value operand = op->getOperand(0), result = op->getResult(0);
    Layout layout = nest::layoutOf(result), needed = layout;
    if (!nest::putOutermost(needed, transfer.getOutermostNames()) || needed != layout)
      return op->emitOpError() << "expected the names that it moves along to be outermost in the "
                                  "layout of its result, got "
                               << layout.str();
    if (failed(checkLayout(result, layout)))
      return failure();
    awaitScatters();
    CommunicationSpec with = mesh::communicationOf(op, layout);
    auto bucket = op->getAttrOfType<IntegerAttr>(mesh::bucketAttrName);
    // A member of a bucket is added to the previous member's step.
    bool joins = bucket && bucket == lastBucket && !entry.steps.empty() &&
                 entry.steps.back().spec.kind == StepKind::Start;
    lastBucket = bucket;
    if (!joins)
      addStart(op, with);
    OutlinedStep &step = entry.steps.back();
    if (joins)
      step.spec.communication->counts.push_back(with.counts[0]);
    step.operands.push_back(values.lookup(operand));
    step.results.push_back(addResult(cast<OpResult>(result), labelOf(op), layout));
    for (int32_t value : {step.operands.back(), step.results.back()})
      step.spec.bytesMoved += double(typicalBytes(entry.spec.values[size_t(value)]));
    inFlight[result] = int32_t(entry.steps.size()) - 1;
    return success();
  }

  OutlinedStep &addStart(Operation *op, CommunicationSpec with) {
    OutlinedStep &step = entry.steps.emplace_back();
    step.transfer = transfers++;
    step.spec.kind = StepKind::Start;
    step.spec.name = labelOf(op);
    step.spec.location = spellLocation(op->getLoc());
    step.spec.communication = std::move(with);
    return step;
  }

  /// A send is awaited at the end of the entry, and its operand is live until then.
  LogicalResult addMessage(mesh::MessageInterface op) {
    lastBucket = {};
    bool sends = op.sends();
    Value value = op.getMoved();
    Layout layout = layoutOfMessage(op);
    if (failed(checkLayout(value, layout)))
      return failure();
    int32_t number =
        sends ? values.lookup(value)
              : addResult(cast<OpResult>(value), op->getName().stripDialect().str(), layout);
    OutlinedStep &step = addStart(op, mesh::communicationOf(op, layout));
    (sends ? step.operands : step.results).push_back(number);
    step.spec.bytesMoved = double(typicalBytes(entry.spec.values[size_t(number)]));
    int32_t at = int32_t(entry.steps.size()) - 1;
    if (sends)
      sent.insert(at);
    else
      inFlight[value] = at;
    return success();
  }

  /// A scatter's operand is larger than its result, and would be live until the result is used,
  /// possibly at the end of a training step. So when another transfer starts, all but the last of
  /// the scatters in flight are awaited.
  void awaitScatters() {
    SmallVector<Value> scatters;
    for (auto [value, at] : inFlight) {
      const OutlinedStep &start = entry.steps[size_t(at)];
      if (!start.operands.empty() && typicalBytes(entry.spec.values[size_t(start.operands[0])]) >
                                         typicalBytes(entry.spec.values[size_t(start.results[0])]))
        scatters.push_back(value);
    }
    if (scatters.size() > 1)
      awaitTransfers(
          [&](Value value) { return llvm::is_contained(ArrayRef(scatters).drop_back(), value); });
  }

  /// Awaits the transfers in flight with a result for which `isNeeded` holds.
  void awaitTransfers(llvm::function_ref<bool(Value)> isNeeded) {
    std::set<int32_t> needed; // steps
    for (auto [value, at] : inFlight)
      if (isNeeded(value))
        needed.insert(at);
    inFlight.remove_if([&](const auto &each) { return needed.contains(each.second); });
    await(needed);
  }
  void await(const std::set<int32_t> &started) {
    for (int32_t at : started) {
      OutlinedStep &start = entry.steps[size_t(at)];
      if (size_t(at) + 1 == entry.steps.size()) { // nothing to overlap with
        start.spec.kind = StepKind::Invoke;
        continue;
      }
      OutlinedStep wait;
      wait.transfer = start.transfer;
      wait.operands = start.operands;
      llvm::append_range(wait.operands, start.results);
      wait.spec.kind = StepKind::Await;
      wait.spec.name = start.spec.name;
      wait.spec.location = start.spec.location;
      entry.steps.push_back(std::move(wait));
    }
  }

  /// The value assumed for a known symbol: a prime, so that divisions by other numbers have a
  /// remainder, as they may for actual sizes.
  static constexpr int64_t anyPrime = 1000003;

  /// Lists the symbols that the arguments' sizes determine, as the runtime binds them: a size that
  /// is linear in one unknown symbol determines it.
  void bindSymbols() {
    std::vector<std::string> &symbols = entry.spec.symbols;
    auto bind = [&](ArrayRef<Type> types) {
      for (size_t before = SIZE_MAX; before != symbols.size();) {
        before = symbols.size();
        for (Type type : types)
          if (auto tensor = dyn_cast<nd::NdTensorType>(type))
            for (const nd::Dim &dim : tensor.getDims()) {
              Expr left = dim.size().getExpr().substitute(
                  [&](const std::string &name) -> std::optional<Expr> {
                    if (llvm::is_contained(symbols, name))
                      return Expr(anyPrime);
                    return std::nullopt;
                  });
              if (left.names().size() == 1 && left.isAffine())
                symbols.push_back(left.names()[0]);
            }
      }
    };
    bind(entry.function.getArgumentTypes());
    // The size of a block does not determine the global size, so the caller supplies it.
    size_t known = symbols.size();
    SmallVector<Type> whole;
    for (unsigned i = 0; i < entry.function.getNumArguments(); ++i)
      if (auto type = entry.function.getArgAttrOfType<TypeAttr>(i, mesh::globalAttrName))
        whole.push_back(type.getValue());
    bind(whole);
    entry.spec.supplied.insert(entry.spec.supplied.end(), symbols.begin() + long(known),
                               symbols.end());
  }

  /// Every value needs an element type with a memory format, and sizes that arguments determine.
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
               nest::TransferInterface, nd::LiteralInterface, mesh::MessageInterface>(op))
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
    step.spec.name = inLayer(op.getLoc(), op.isLoop() ? "while" : "if");
    step.spec.location = spellLocation(op.getLoc());
    entry.steps.push_back(std::move(step));
  }

  LogicalResult addControl(nest::ControlOp op) {
    SmallVector<int32_t> results; // carried values, or what the first side defines
    if (op.isLoop())
      for (Value operand : op.getOperands().take_front(op.getNumResults()))
        results.push_back(values.lookup(operand));
    addControlFlow(op.isLoop() ? StepKind::Loop : StepKind::If, op,
                   values.lookup(op.getOperand(0)));
    for (auto [side, symbol] : llvm::enumerate(op.getFunctions().getAsRange<FlatSymbolRefAttr>())) {
      auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
      if (side == 1)
        addControlFlow(StepKind::Else, op);
      for (auto [argument, operand] : llvm::zip_equal(function.getArguments(), op.given()))
        values[argument] = values.lookup(operand);
      ValueRange returned = function.front().getTerminator()->getOperands();
      for (Value copy : returned)
        phis[copy.getDefiningOp()] =
            op.isLoop() ? OutlinedStep::Phi::Next : OutlinedStep::Phi::Side;
      for (auto [copy, result] : llvm::zip(returned, results))
        values[copy] = result;
      if (failed(checkTypes(function)) || failed(addSteps(function)))
        return failure();
      if (results.empty())
        results = llvm::map_to_vector(returned, [&](Value copy) { return values.lookup(copy); });
    }
    addControlFlow(op.isLoop() ? StepKind::EndLoop : StepKind::EndIf, op);
    for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
      values[result] = value;
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// The number of an op's result, which other steps may define as well.
  int32_t addResult(OpResult result, const std::string &name, const Layout &layout) {
    if (auto known = values.find(result); known != values.end())
      return known->second;
    auto returned = resultNumber.find(result);
    if (returned == resultNumber.end())
      return add(result, ValueSpec::Kind::Temporary, name, layout);
    unsigned number = returned->second;
    auto given = entry.function.getResultAttrOfType<StringAttr>(number, nd::nameAttrName);
    return add(result, ValueSpec::Kind::Result,
               given ? given.str() : "result" + std::to_string(number), layout);
  }

  LogicalResult addStep(Operation *op) {
    OutlinedStep step;
    step.nest = op;
    if (op->removeAttr(nest::phiCopyAttrName))
      step.phi = OutlinedStep::Phi::Start;
    if (auto phi = phis.find(op); phi != phis.end())
      step.phi = phi->second;
    for (Value operand : nest::kernelOperands(op))
      step.operands.push_back(values.lookup(operand));
    std::string label = labelOf(op);
    for (OpResult result : op->getResults()) {
      Layout layout = nest::layoutOf(result);
      if (failed(checkLayout(result, layout)))
        return failure();
      step.results.push_back(addResult(result, label, layout));
    }
    if (Attribute kernel = op->removeAttr(nest::kernelAttrName))
      step.kernel = kernelOf.lookup(cast<FlatSymbolRefAttr>(kernel).getAttr());
    if (Attribute numbers = op->removeAttr(numbersAttrName))
      for (auto size : cast<ArrayAttr>(numbers).getAsRange<nd::SizeAttr>()) {
        std::string symbol = *size.getExpr().asName();
        auto found = llvm::find(entry.spec.symbols, symbol);
        if (found == entry.spec.symbols.end())
          return op->emitOpError()
                 << "has a size with the symbol '" << symbol << "', but no argument of '@"
                 << entry.spec.name << "' determines it";
        step.spec.numbers.push_back(int32_t(found - entry.spec.symbols.begin()));
      }
    step.spec.name = op->hasAttr("heddle.name") || step.results.empty()
                         ? label
                         : entry.spec.values[size_t(step.results.back())].name;
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

FailureOr<OutlinedProgram> heddle::outline(ModuleOp module, std::vector<OutlinedKernel> kernels) {
  OutlinedProgram program;
  ConstantBlock constants;
  KernelNumbers kernelOf;
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    kernelOf[kernel.symbol] = i;
    if (kernel.function)
      std::exchange(kernel.function, {}).erase();
  }
  program.kernels = std::move(kernels);
  if (failed(mesh::checkMessageOrder(module))) // passes may have moved messages
    return failure();
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.isPublic() && !function.isExternal() &&
        failed(Outliner(program, constants, kernelOf).run(function)))
      return failure();
  program.constants = constants.take();
  if (!program.kernels.empty())
    keepDistinctKernels(program);
  return program;
}

void heddle::keepDistinctKernels(OutlinedProgram &program) {
  llvm::StringMap<size_t> numbers;
  std::vector<OutlinedKernel> kept;
  for (OutlinedEntry &entry : program.entries)
    for (OutlinedStep &step : entry.steps) {
      if (step.spec.kind != StepKind::Kernel)
        continue;
      OutlinedKernel &kernel = program.kernels[step.kernel];
      auto [number, isNew] = numbers.try_emplace(kernel.source, kept.size());
      if (isNew)
        kept.push_back(kernel);
      step.kernel = number->second;
    }
  program.kernels = std::move(kept);
}
