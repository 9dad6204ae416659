//===- Compile.cpp - from a module to a program ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/Compile.h"
#include "dialects/nest/NestBuild.h"
#include "lib/conversion/nest_to_loops/Kernel.h"
#include "lib/pipelines/Cache.h"
#include "lib/target/cpu/CpuTarget.h"
#include "lib/target/cpu/Entry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace mlir;

static constexpr const char *compilerVersion = "0.1.0-1";

namespace {

std::string text(Attribute attribute) {
  std::string result;
  llvm::raw_string_ostream(result) << attribute;
  return result;
}

std::string place(Location loc) {
  std::string result;
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    result = file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
  return result;
}

Layout defaultLayout(nd::NdTensorType type) {
  std::vector<std::string> names;
  for (const nd::Dim &dim : type.getDims())
    names.push_back(dim.name.str());
  return Layout::rowMajor(names);
}

TensorSpec specOf(nd::NdTensorType type) {
  TensorSpec spec;
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  spec.element = *parseElementType(element);
  for (const nd::Dim &dim : type.getDims())
    spec.dims[dim.name.str()] = dim.size().getExpr();
  return spec;
}

/// A distinct kernel: the text of a module with one function that holds the nest alone, in canonical form.
struct Kernel {
  std::string source, symbol;
  std::string object, error;
  int64_t chunks = 1, scratchBytes = 0;
  bool cached = false;
};

/// Everything about a program that is being compiled.
class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module, const CompileOptions &options, const cpu::CpuTarget &target,
                 nest::MachineAttr machine)
      : module(module), options(options), target(target), machine(machine) {}

  LogicalResult build(ProgramImage &image, CompileStatistics &statistics);

private:
  ModuleOp module;
  const CompileOptions &options;
  const cpu::CpuTarget &target;
  nest::MachineAttr machine;
  std::vector<Kernel> kernels;
  std::map<std::string, size_t> kernelOf; ///< by source

  struct Step {
    size_t kernel;
    std::vector<int32_t> values;
    StepSpec spec;
  };
  struct Entry {
    func::FuncOp function;
    EntrySpec spec;
    std::vector<Step> steps;
  };
  std::vector<Entry> entries;
  std::string constants;

  LogicalResult collect(func::FuncOp function);
  FailureOr<size_t> addKernel(Operation *nest, ArrayRef<Layout> operands, ArrayRef<Layout> results);
  LogicalResult compileKernels();
  void plan(Entry &entry, CompileStatistics &statistics);
};

} // namespace

/// A function returns each value once, and none that it was given or that is a constant: such results are copied.
static void makeResultsDistinct(func::FuncOp function) {
  auto end = cast<func::ReturnOp>(function.front().getTerminator());
  llvm::DenseSet<Value> seen;
  for (OpOperand &operand : end->getOpOperands()) {
    Value value = operand.get();
    Operation *maker = value.getDefiningOp();
    if (maker && !isa<nd::ConstantOp>(maker) && seen.insert(value).second)
      continue;
    OpBuilder builder(end);
    auto type = nest::tensorTypeOf(value);
    nest::NestBuilder copy(builder, value.getLoc());
    copy.produced = type.getDims();
    copy.read(value, nest::MapAttr::identity(type));
    auto op = copy.create({type.getElementType()},
                          [](OpBuilder &, Location, ValueRange read) { return SmallVector<Value>(read); });
    operand.set(op.getResult(0));
  }
}

FailureOr<size_t> ProgramBuilder::addKernel(Operation *nestOp, ArrayRef<Layout> operands, ArrayRef<Layout> results) {
  if (isa<nest::ComputeOp>(nestOp) && !nestOp->hasAttr("schedule")) {
    nest::Schedule schedule = nest::chooseSchedule(nestOp, operands, results, machine);
    nestOp->setAttr("schedule", nest::ScheduleAttr::get(nestOp->getContext(), schedule));
  }
  // A module of its own, with layouts as attributes of the function.
  OwningOpRef<ModuleOp> holder = ModuleOp::create(UnknownLoc::get(nestOp->getContext()));
  OpBuilder builder = OpBuilder::atBlockEnd(holder->getBody());
  SmallVector<Value> values = nest::kernelOperands(nestOp);
  SmallVector<Type> types;
  for (Value value : values)
    types.push_back(value.getType());
  auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "kernel",
                                       builder.getFunctionType(types, nestOp->getResultTypes()));
  Block *body = function.addEntryBlock();
  IRMapping mapping;
  mapping.map(values, body->getArguments());
  builder.setInsertionPointToEnd(body);
  Operation *copy = builder.clone(*nestOp, mapping);
  copy->removeAttr("heddle.name");
  func::ReturnOp::create(builder, builder.getUnknownLoc(), copy->getResults());
  auto layoutList = [&](ArrayRef<Layout> layouts) {
    SmallVector<Attribute> list;
    for (const Layout &layout : layouts)
      list.push_back(nest::LayoutAttr::get(builder.getContext(), layout));
    return builder.getArrayAttr(list);
  };
  function->setAttr("heddle.operands", layoutList(operands));
  function->setAttr("heddle.results", layoutList(results));
  function->setAttr("heddle.machine", machine);
  std::string source;
  llvm::raw_string_ostream stream(source);
  holder->print(stream, OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(INT64_MAX));
  auto [known, isNew] = kernelOf.try_emplace(source, kernels.size());
  if (isNew) {
    Kernel kernel;
    kernel.source = source;
    std::string features;
    for (const std::string &feature : target.features)
      features += feature + ",";
    kernel.symbol = "k_" + KernelCache::keyOf(source + "|" + target.triple + "|" + target.cpu + "|" + features + "|" +
                                              compilerVersion)
                               .substr(0, 32);
    kernels.push_back(std::move(kernel));
  }
  return known->second;
}

LogicalResult ProgramBuilder::collect(func::FuncOp function) {
  makeResultsDistinct(function);
  Entry entry;
  entry.function = function;
  entry.spec.name = function.getName().str();
  llvm::DenseMap<Value, int32_t> index;
  llvm::DenseMap<Value, Layout> layouts;
  auto addValue = [&](Value value, ValueSpec::Kind kind, const std::string &name, const Layout &layout) {
    ValueSpec spec;
    spec.kind = kind;
    spec.name = name;
    spec.location = place(value.getLoc());
    spec.type = specOf(nest::tensorTypeOf(value));
    spec.layout = layout;
    spec.bytes = Expr(byteCount(spec.type, layout));
    index[value] = int32_t(entry.spec.values.size());
    layouts[value] = layout;
    entry.spec.values.push_back(spec);
    return index[value];
  };
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<nd::NdTensorType>(argument.getType());
    if (!type || !type.isStatic())
      return function.emitError() << "expected arguments that are tensors of constant sizes, got "
                                  << argument.getType();
    unsigned position = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(position, nd::nameAttrName);
    auto layout = function.getArgAttrOfType<nest::LayoutAttr>(position, "nd.layout");
    entry.spec.arguments.push_back(addValue(argument, ValueSpec::Kind::Argument,
                                            name ? name.str() : "argument" + std::to_string(position),
                                            layout ? layout.getLayout() : defaultLayout(type)));
  }
  auto end = cast<func::ReturnOp>(function.front().getTerminator());
  llvm::DenseMap<Value, unsigned> resultPosition;
  for (OpOperand &operand : end->getOpOperands())
    resultPosition[operand.get()] = operand.getOperandNumber();

  for (Operation &op : function.front().without_terminator()) {
    if (auto constant = dyn_cast<nd::ConstantOp>(op)) {
      nd::NdTensorType type = nest::tensorTypeOf(constant.getResult());
      int32_t value = addValue(constant.getResult(), ValueSpec::Kind::Constant, "constant", defaultLayout(type));
      constants.resize((constants.size() + 63) / 64 * 64, '\0');
      entry.spec.values[value].offset = int64_t(constants.size());
      std::vector<std::string> order;
      for (auto name : constant.getOrder().getAsValueRange<StringAttr>())
        order.push_back(name.str());
      // The bytes of the literal in its written order, then in the layout's.
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      int64_t width = std::max<int64_t>(1, type.getElementType().getIntOrFloatBitWidth() / 8);
      std::string dense;
      auto append = [&](const APInt &bits) {
        uint64_t word = bits.zextOrTrunc(64).getZExtValue();
        dense.append(reinterpret_cast<const char *>(&word), size_t(width));
      };
      int64_t count = type.elements();
      if (isa<FloatType>(type.getElementType())) {
        auto values = elements.getValues<APFloat>().begin();
        for (int64_t i = 0; i < count; ++i)
          append((elements.isSplat() ? elements.getSplatValue<APFloat>() : *(values + i)).bitcastToAPInt());
      } else {
        auto values = elements.getValues<APInt>().begin();
        for (int64_t i = 0; i < count; ++i)
          append(elements.isSplat() ? elements.getSplatValue<APInt>() : *(values + i));
      }
      RuntimeTensor tensor(specOf(type), layouts[constant.getResult()]);
      tensor.copyFrom(dense.data(), order);
      constants.append(static_cast<const char *>(tensor.address()), size_t(tensor.bytes()));
      continue;
    }
    if (!isa<nest::ComputeOp, nest::UpdateOp, nest::ScanOp, nest::GroupOp>(op))
      return op.emitOpError() << "was not lowered to a nest";
    SmallVector<Layout> operandLayouts, resultLayouts;
    Step step;
    for (Value operand : nest::kernelOperands(&op)) {
      operandLayouts.push_back(layouts.lookup(operand));
      step.values.push_back(index.lookup(operand));
    }
    auto name = op.getAttrOfType<StringAttr>("heddle.name");
    for (OpResult result : op.getResults()) {
      auto type = dyn_cast<nd::NdTensorType>(result.getType());
      if (!type || !type.isStatic())
        return op.emitOpError() << "expected results of constant sizes, got " << result.getType();
      Layout layout = defaultLayout(type);
      if (auto list = op.getAttrOfType<ArrayAttr>("layouts"))
        if (auto chosen = dyn_cast<nest::LayoutAttr>(list[result.getResultNumber()]))
          layout = chosen.getLayout();
      auto returned = resultPosition.find(result);
      std::string valueName = name ? name.str() : op.getName().getStringRef().str();
      if (returned != resultPosition.end()) {
        auto resultName = function.getResultAttrOfType<StringAttr>(returned->second, nd::nameAttrName);
        valueName = resultName ? resultName.str() : "result" + std::to_string(returned->second);
        auto fixed = function.getResultAttrOfType<nest::LayoutAttr>(returned->second, "nd.layout");
        layout = fixed ? fixed.getLayout() : op.hasAttr("layouts") ? layout : defaultLayout(type);
      }
      resultLayouts.push_back(layout);
      step.values.push_back(addValue(result,
                                     returned == resultPosition.end() ? ValueSpec::Kind::Temporary
                                                                      : ValueSpec::Kind::Result,
                                     valueName, layout));
    }
    auto kernel = addKernel(&op, operandLayouts, resultLayouts);
    if (failed(kernel))
      return failure();
    step.kernel = *kernel;
    step.spec.name = name ? name.str() : entry.spec.values[size_t(step.values.back())].name;
    step.spec.location = place(op.getLoc());
    step.spec.kernel = kernels[*kernel].symbol;
    if (auto compute = dyn_cast<nest::ComputeOp>(op)) {
      double points = 1;
      for (nd::DimsAttr dims : {compute.getProduced(), compute.getReduced()})
        for (const nd::Dim &dim : dims)
          points *= double(*dim.size().constant());
      step.spec.flops = points * double(llvm::range_size(compute.getBody().front()));
    } else {
      step.spec.flops = 1e9;
    }
    for (int32_t value : step.values)
      step.spec.bytesMoved += double(*entry.spec.values[size_t(value)].bytes.constant());
    entry.steps.push_back(std::move(step));
  }
  entry.spec.results.resize(end.getNumOperands());
  for (OpOperand &operand : end->getOpOperands())
    entry.spec.results[operand.getOperandNumber()] = index.lookup(operand.get());
  entries.push_back(std::move(entry));
  return success();
}

/// Compiles one kernel in a context of its own.
static void compileKernel(Kernel &kernel, const cpu::CpuTarget &target, const KernelCache *cache) {
  std::string key = kernel.symbol;
  if (cache)
    if (auto found = cache->find(key)) {
      // Chunks and scratch bytes come before the object: "chunks scratch\n".
      size_t line = found->find('\n');
      if (line != std::string::npos && sscanf(found->c_str(), "%ld %ld", &kernel.chunks, &kernel.scratchBytes) == 2) {
        kernel.object = found->substr(line + 1);
        kernel.cached = true;
        return;
      }
    }
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kernel.source, &context);
  auto fail = [&](const std::string &stage) { kernel.error = stage + (message.empty() ? "" : ": " + message); };
  if (!module)
    return fail("a nest could not be read back");
  auto function = *module->getOps<func::FuncOp>().begin();
  nest::KernelRequest request;
  request.nest = &function.front().front();
  for (auto layout : function->getAttrOfType<ArrayAttr>("heddle.operands").getAsRange<nest::LayoutAttr>())
    request.operandLayouts.push_back(layout.getLayout());
  for (auto layout : function->getAttrOfType<ArrayAttr>("heddle.results").getAsRange<nest::LayoutAttr>())
    request.resultLayouts.push_back(layout.getLayout());
  if (auto schedule = request.nest->getAttrOfType<nest::ScheduleAttr>("schedule"))
    request.schedule = schedule.getSchedule();
  request.machine = function->getAttrOfType<nest::MachineAttr>("heddle.machine");
  request.symbol = kernel.symbol;
  auto info = nest::emitKernel(request);
  if (failed(info))
    return fail("a nest could not be emitted");
  PassManager passes(&context);
  passes.enableVerifier(false);
  nest::buildKernelLowering(passes);
  if (failed(passes.run(*info->module)))
    return fail("a kernel could not be lowered");
  auto object = cpu::emitObject(*info->module, target);
  if (!object)
    return fail("a kernel could not be compiled (" + llvm::toString(object.takeError()) + ")");
  kernel.object = std::move(*object);
  kernel.chunks = info->chunks;
  kernel.scratchBytes = info->scratchBytes;
  if (cache)
    cache->store(key, std::to_string(kernel.chunks) + " " + std::to_string(kernel.scratchBytes) + "\n" + kernel.object);
}

LogicalResult ProgramBuilder::compileKernels() {
  std::optional<KernelCache> cache;
  if (options.useCache)
    cache.emplace(options.cacheDirectory);
  std::atomic<size_t> next{0}, done{0};
  bool show = options.progress && isatty(2) && kernels.size() > 4;
  auto begin = std::chrono::steady_clock::now();
  auto work = [&](bool isFirst) {
    for (size_t i; (i = next.fetch_add(1)) < kernels.size();) {
      compileKernel(kernels[i], target, cache ? &*cache : nullptr);
      ++done;
      auto spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (show && isFirst && spent > 0.5)
        fprintf(stderr, "\rcompiling kernels: %zu of %zu", done.load(), kernels.size());
    }
  };
  size_t threads = options.compileThreads > 0 ? size_t(options.compileThreads)
                                              : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (size_t i = 1; i < std::min(threads, kernels.size()); ++i)
    workers.emplace_back(work, false);
  work(true);
  for (std::thread &worker : workers)
    worker.join();
  if (show)
    fprintf(stderr, "\r\033[K");
  for (size_t i = 0; i < kernels.size(); ++i)
    if (!kernels[i].error.empty())
      return module.emitError() << kernels[i].error;
  return success();
}

/// True if result `r` of `op` may take the place of operand `o`: every point reads the place that it writes and no other.
static bool mayOverwrite(Operation *op, unsigned operand, const Layout &from, const Layout &to) {
  if (auto update = dyn_cast<nest::UpdateOp>(op))
    return operand == 0 && from == to && !llvm::is_contained(update.getReads(), update.getDest());
  auto compute = dyn_cast<nest::ComputeOp>(op);
  if (!compute || compute.isReduction() || from != to)
    return false;
  Value value = op->getOperand(operand);
  auto type = nest::tensorTypeOf(value);
  for (auto [i, other] : llvm::enumerate(op->getOperands())) {
    if (other != value)
      continue;
    bool identity = cast<nest::MapAttr>(compute.getMaps()[i]) == nest::MapAttr::identity(type);
    if (!identity || !cast<nest::GuardAttr>(compute.getGuards()[i]).isTrivial())
      return false;
  }
  return type.getDims() == compute.getProduced();
}

void ProgramBuilder::plan(Entry &entry, CompileStatistics &statistics) {
  EntrySpec &spec = entry.spec;
  int32_t stepCount = int32_t(entry.steps.size());
  for (ValueSpec &value : spec.values) {
    value.firstStep = value.kind == ValueSpec::Kind::Argument || value.kind == ValueSpec::Kind::Constant ? 0 : stepCount;
    value.lastStep = value.kind == ValueSpec::Kind::Temporary ? -1 : std::max(0, stepCount - 1);
  }
  std::vector<int32_t> lastUse(spec.values.size(), -1), maker(spec.values.size(), -1);
  std::vector<Operation *> ops;
  for (Operation &op : entry.function.front().without_terminator())
    if (!isa<nd::ConstantOp>(op))
      ops.push_back(&op);
  for (auto [s, step] : llvm::enumerate(entry.steps)) {
    size_t operands = step.values.size() - ops[s]->getNumResults();
    for (auto [k, v] : llvm::enumerate(step.values)) {
      ValueSpec &value = spec.values[size_t(v)];
      value.firstStep = std::min(value.firstStep, int32_t(s));
      value.lastStep = std::max(value.lastStep, int32_t(s));
      if (k < operands)
        lastUse[size_t(v)] = int32_t(s);
      else
        maker[size_t(v)] = int32_t(s);
    }
  }
  auto sameBytes = [&](size_t a, size_t b) {
    return byteSize(spec.values[a].type.element) == byteSize(spec.values[b].type.element);
  };
  // Donated arguments first: the result is made where the argument is read for the last time.
  std::vector<bool> overwritten(spec.values.size());
  for (size_t a = 0; a < spec.arguments.size(); ++a) {
    auto donate = entry.function.getArgAttrOfType<IntegerAttr>(unsigned(a), "heddle.donate");
    if (!donate)
      continue;
    size_t from = size_t(spec.arguments[a]), to = size_t(spec.results[size_t(donate.getInt())]);
    int32_t s = maker[to];
    if (s < 0 || lastUse[from] > s || spec.values[from].layout != spec.values[to].layout || !sameBytes(from, to) ||
        spec.values[to].aliasOf >= 0)
      continue;
    bool fits = true;
    if (lastUse[from] == s)
      for (auto [k, v] : llvm::enumerate(entry.steps[size_t(s)].values))
        if (size_t(v) == from && k < ops[size_t(s)]->getNumOperands())
          fits &= mayOverwrite(ops[size_t(s)], unsigned(k), spec.values[from].layout, spec.values[to].layout);
        else if (size_t(v) == from && k < entry.steps[size_t(s)].values.size() - ops[size_t(s)]->getNumResults())
          fits = false;
    if (!fits)
      continue;
    spec.values[to].aliasOf = int32_t(from);
    overwritten[from] = true;
    spec.donations.emplace_back(int32_t(a), int32_t(donate.getInt()));
  }
  // A temporary whose last reader may overwrite it gives its place away.
  for (auto [s, step] : llvm::enumerate(entry.steps)) {
    Operation *op = ops[s];
    size_t operands = step.values.size() - op->getNumResults();
    for (size_t r = 0; r < op->getNumResults(); ++r) {
      size_t to = size_t(step.values[operands + r]);
      if (spec.values[to].kind != ValueSpec::Kind::Temporary || spec.values[to].aliasOf >= 0)
        continue;
      for (size_t k = 0; k < op->getNumOperands() && k < operands; ++k) {
        size_t from = size_t(step.values[k]);
        bool repeated = llvm::count(ArrayRef<int32_t>(step.values).take_front(operands), step.values[k]) > 1;
        if (spec.values[from].kind != ValueSpec::Kind::Temporary || overwritten[from] || repeated ||
            lastUse[from] != int32_t(s) || !sameBytes(from, to) ||
            !mayOverwrite(op, unsigned(k), spec.values[from].layout, spec.values[to].layout))
          continue;
        spec.values[to].aliasOf = int32_t(from);
        overwritten[from] = true;
        break;
      }
    }
  }
  // Lifetimes of places, and the arena.
  auto root = [&](size_t v) {
    while (spec.values[v].aliasOf >= 0)
      v = size_t(spec.values[v].aliasOf);
    return v;
  };
  std::vector<PlannedBuffer> buffers;
  std::vector<size_t> owner;
  std::vector<int32_t> last(spec.values.size(), 0);
  for (size_t v = 0; v < spec.values.size(); ++v)
    last[root(v)] = std::max(last[root(v)], spec.values[v].lastStep);
  for (size_t v = 0; v < spec.values.size(); ++v)
    if (spec.values[v].kind == ValueSpec::Kind::Temporary && spec.values[v].aliasOf < 0) {
      buffers.push_back({*spec.values[v].bytes.constant(), spec.values[v].firstStep, last[v], -1});
      owner.push_back(v);
    }
  spec.arenaBytes = planArena(buffers);
  statistics.arenaBytes += spec.arenaBytes;
  statistics.liveBytes += liveBytes(buffers);
  for (auto [buffer, v] : llvm::zip_equal(buffers, owner))
    spec.values[v].offset = buffer.offset;
}

LogicalResult ProgramBuilder::build(ProgramImage &image, CompileStatistics &statistics) {
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() && failed(collect(function)))
      return failure();
  if (failed(compileKernels()))
    return failure();
  std::vector<std::string> objects;
  for (Kernel &kernel : kernels) {
    objects.push_back(kernel.object);
    statistics.cachedKernels += kernel.cached;
  }
  statistics.kernels += int(kernels.size());
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  for (Entry &entry : entries) {
    plan(entry, statistics);
    std::vector<cpu::EntryStep> steps;
    for (Step &step : entry.steps) {
      const Kernel &kernel = kernels[step.kernel];
      step.spec.chunks = kernel.chunks;
      entry.spec.scratchBytes = std::max(entry.spec.scratchBytes, kernel.scratchBytes);
      // Below about five microseconds a barrier costs more than the second thread saves.
      bool serial = kernel.chunks <= 1 || (step.spec.flops < 1e5 && step.spec.bytesMoved < 1e5);
      steps.push_back({kernel.symbol, kernel.chunks, serial, step.values});
      entry.spec.steps.push_back(step.spec);
    }
    statistics.steps += int(steps.size());
    auto entryModule = cpu::buildEntry(&context, "entry_" + entry.spec.name, steps);
    auto object = cpu::emitObject(*entryModule, target);
    if (!object)
      return entry.function.emitError() << llvm::toString(object.takeError());
    objects.push_back(std::move(*object));
  }
  auto block = cpu::link(objects);
  if (!block)
    return module.emitError() << llvm::toString(block.takeError());
  image.code = std::move(block->bytes);
  image.constants = std::move(constants);
  image.manifest.abiVersion = HEDDLE_ABI_VERSION;
  image.manifest.compilerVersion = compilerVersion;
  image.manifest.target = target.triple;
  image.manifest.cpu = target.cpu;
  image.manifest.features = target.features;
  for (Entry &entry : entries) {
    entry.spec.codeOffset = block->symbols.at("entry_" + entry.spec.name);
    image.manifest.entries.push_back(std::move(entry.spec));
  }
  return success();
}

static void dump(ModuleOp module, const CompileOptions &options, StringRef stage) {
  if (options.dumpDirectory.empty())
    return;
  llvm::sys::fs::create_directories(options.dumpDirectory);
  llvm::SmallString<128> path(options.dumpDirectory);
  llvm::sys::path::append(path, stage + ".mlir");
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error)
    module.print(stream);
}

FailureOr<ProgramImage> heddle::compileProgram(ModuleOp module, const CompileOptions &options,
                                               CompileStatistics *statistics) {
  auto begin = std::chrono::steady_clock::now();
  auto target = cpu::targetFor(options.targetCpu);
  if (!target)
    return module.emitError() << llvm::toString(target.takeError()), failure();
  int threads = options.programThreads > 0 ? options.programThreads : int(std::thread::hardware_concurrency());
  nest::MachineAttr machine = cpu::machineAttr(module.getContext(), *target, threads);
  dump(module, options, "0-input");
  PassManager first(module.getContext());
  buildNdPipeline(first, options);
  if (failed(first.run(module)))
    return failure();
  dump(module, options, "1-nd");
  PassManager second(module.getContext());
  buildNestPipeline(second, options, machine);
  if (failed(second.run(module)))
    return failure();
  dump(module, options, "2-nest");
  ProgramImage image;
  CompileStatistics counted;
  if (failed(ProgramBuilder(module, options, *target, machine).build(image, counted)))
    return failure();
  dump(module, options, "3-scheduled");
  counted.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (statistics)
    *statistics = counted;
  return image;
}
