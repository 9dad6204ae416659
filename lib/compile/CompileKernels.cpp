//===- CompileKernels.cpp - from kernel sources to objects ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/CompileKernels.h"

#include "dialects/nd/FunctionAttrs.h"
#include "lib/analysis/Layouts.h"
#include "lib/compile/KernelCache.h"
#include "lib/compile/Progress.h"
#include "lib/compile/Version.h"
#include "lib/pipelines/Extension.h"
#include "lib/transforms/nd/NeutralNames.h"
#include "lib/transforms/nest/schedule/ChooseSchedules.h"
#include "runtime/device/ThreadTeam.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <atomic>

using namespace heddle;
using namespace mlir;

/// The request for the emitter for a parsed source; for a clearing kernel it has no nest. `machine`
/// is the target's. The line numbers of the nest's ops are their indices: all nests with this text
/// share the code, so the code records the op of each instruction, and each program records the
/// source locations of these ops.
static nest::KernelRequest kernelRequest(func::FuncOp function, const std::string &symbol,
                                         nest::MachineAttr machine) {
  nest::KernelRequest request;
  if (function.isExternal())
    return request;
  request.nest = &function.front().front();
  unsigned number = 0;
  auto file = StringAttr::get(function.getContext(), "ops");
  request.nest->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { op->setLoc(FileLineColLoc::get(file, ++number, 0)); });
  for (Value argument : function.getArguments())
    request.operandLayouts.push_back(nest::layoutOf(argument));
  for (Value result : request.nest->getResults())
    request.resultLayouts.push_back(nest::layoutOf(result));
  request.machine =
      cost::withFacts(machine, function->getAttrOfType<nest::MachineAttr>(machineAttrName));
  request.symbol = symbol;
  if (auto symbols = function->getAttrOfType<ArrayAttr>(nd::symbolsAttrName))
    for (auto name : symbols.getAsRange<StringAttr>())
      request.sizes.push_back(name.str());
  return request;
}

namespace {
/// The MLIRContext of one thread, and the diagnostics that it emitted.
class Workbench {
public:
  Workbench(const CompileOptions &options, const Target &target)
      : context(makeRegistry(options), MLIRContext::Threading::DISABLED),
        compiler(target.makeCompiler(context)), extensions(options.extensions), target(target) {
    context.loadDialect<nest::NestDialect>(); // of the machine; a clearing kernel mentions no nest
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        said += (said.empty() ? "" : "; ") + diagnostic.str();
      return success();
    });
  }

  llvm::Expected<KernelCode> compile(const OutlinedKernel &kernel, const std::string &symbol) {
    return withRequest(kernel, symbol,
                       [&](const nest::KernelRequest &request, nd::SizeAttr clears) {
                         if (clears)
                           return compiler->compileClear(symbol, clears.getExpr());
                         std::optional<Custom> custom = customFor(request);
                         return custom ? compiler->compileCustom(symbol, custom->kernel)
                                       : compiler->compile(request);
                       });
  }

  llvm::Expected<std::string> print(const OutlinedKernel &kernel, const std::string &symbol,
                                    KernelForm form) {
    return withRequest(kernel, symbol, [&](const nest::KernelRequest &request, nd::SizeAttr) {
      std::optional<Custom> custom = customFor(request);
      return compiler->print(request, custom ? &custom->kernel : nullptr, form);
    });
  }

  /// Describes which plugin provides the kernel, or that all plugins decline it.
  llvm::Expected<std::string> explain(const OutlinedKernel &kernel) {
    auto quoted = [](const std::shared_ptr<const Extension> &extension) {
      return "'" + extension->name + "'";
    };
    return withRequest(kernel, "", [&](const nest::KernelRequest &request, nd::SizeAttr) {
      using Text = llvm::Expected<std::string>;
      if (std::optional<Custom> custom = customFor(request))
        return Text("is made by the plugin " + quoted(custom->extension) + ", as '" +
                    custom->kernel.function + "'");
      if (!request.sizes.empty())
        return Text("has symbolic sizes, for which plugins make no kernels");
      return Text("is declined by the plugin" + std::string(extensions.size() > 1 ? "s " : " ") +
                  llvm::join(llvm::map_range(extensions, quoted), ", "));
    });
  }

  MLIRContext context;
  std::unique_ptr<KernelCompiler> compiler;

private:
  std::string said;
  Extensions extensions;
  const Target &target;

  struct Custom {
    std::shared_ptr<const Extension> extension;
    CustomKernel kernel;
  };
  /// Extensions provide kernels only for nests of constant sizes.
  std::optional<Custom> customFor(const nest::KernelRequest &request) const {
    for (const auto &extension : request.sizes.empty() ? extensions : Extensions())
      if (std::optional<CustomKernel> custom = extension->makeKernel(request, target))
        return Custom{extension, std::move(*custom)};
    return std::nullopt;
  }

  /// Calls `use` with the kernel's request, and the number of bytes if it is a clearing kernel;
  /// returns its result, or an error with the diagnostics.
  template <typename Use>
  auto withRequest(const OutlinedKernel &kernel, const std::string &symbol, Use use)
      -> decltype(use(nest::KernelRequest(), nd::SizeAttr())) {
    said.clear();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kernel.source, &context);
    if (!module)
      return llvm::createStringError("its text can't be read back: " + said);
    auto function = *module->getOps<func::FuncOp>().begin();
    // The number of threads that run a program does not change its code.
    auto result = use(kernelRequest(function, symbol, target.machine(&context, /*threads=*/1)),
                      function->getAttrOfType<nd::SizeAttr>(clearAttrName));
    if (result || said.empty())
      return result;
    return llvm::createStringError(llvm::toString(result.takeError()) + ": " + said);
  }

  static DialectRegistry makeRegistry(const CompileOptions &options) {
    DialectRegistry registry;
    registerCompilerDialects(registry, options.extensions);
    return registry;
  }
};
} // namespace

std::string heddle::cacheKey(std::string text,
                             ArrayRef<std::shared_ptr<const Extension>> extensions) {
  text += "|" + compilerVersion();
  for (const auto &extension : extensions)
    text += "|" + extension->key;
  return KernelCache::keyOf(text).substr(0, 32);
}

static std::string symbolOf(const OutlinedKernel &kernel, const Target &target,
                            const Extensions &extensions) {
  return "k_" + cacheKey(kernel.source + "|" + target.key(), extensions);
}

/// The cache stores objects after a line "chunks|scratch" and their sizes.
static std::string writeEntry(const KernelCode &kernel) {
  std::string line = kernel.chunks.str() + "|" + kernel.scratchBytes.str(), bytes;
  for (const Object &object : kernel.objects) {
    line += "|" + std::to_string(object.bytes.size());
    bytes += object.bytes;
  }
  return line + "\n" + bytes;
}

static bool readEntry(StringRef bytes, const std::string &name, KernelCode &kernel) {
  auto [line, rest] = bytes.split('\n');
  SmallVector<StringRef> numbers;
  line.split(numbers, '|');
  if (numbers.size() < 3)
    return false;
  auto chunks = Expr::parse(numbers[0]), scratch = Expr::parse(numbers[1]);
  if (!chunks || !scratch)
    return false;
  kernel.chunks = *chunks;
  kernel.scratchBytes = *scratch;
  kernel.objects.clear();
  for (StringRef number : ArrayRef(numbers).drop_front(2)) {
    size_t size;
    if (number.getAsInteger(10, size) || size > rest.size())
      return false;
    kernel.objects.push_back({name, rest.take_front(size).str()});
    rest = rest.drop_front(size);
  }
  return rest.empty();
}

/// Returns an error message, or an empty string.
static std::string compileKernel(const OutlinedKernel &source, CompiledKernel &kernel,
                                 const Target &target, const KernelCache *cache,
                                 const CompileOptions &options, std::unique_ptr<Workbench> &bench) {
  kernel.symbol = symbolOf(source, target, options.extensions);
  if (cache)
    if (auto found = cache->find(kernel.symbol);
        found && readEntry(*found, source.name, kernel.code)) {
      kernel.cached = true;
      return "";
    }
  if (!bench)
    bench = std::make_unique<Workbench>(options, target);
  auto code = bench->compile(source, kernel.symbol);
  if (!code)
    return llvm::toString(code.takeError());
  kernel.code = std::move(*code);
  kernel.code.objects[0].name = source.name;
  if (cache)
    cache->store(kernel.symbol, writeEntry(kernel.code));
  return "";
}

/// The number of threads to start besides the caller's, for work of `count` parts.
static size_t threadsFor(size_t count, const CompileOptions &options) {
  size_t threads = options.compileThreads > 0 ? size_t(options.compileThreads)
                                              : std::max(1u, std::thread::hardware_concurrency());
  size_t most = std::min(threads, count);
  return most ? most - 1 : 0;
}

/// The cache stores scheduled kernels after a line "seconds for choices|predicted|bound|limit".
static std::string writeScheduled(const OutlinedKernel &kernel) {
  const Prediction &predicted = kernel.predicted;
  return llvm::formatv("{0:e2}|{1:e2}|{2:e2}|{3}\n", kernel.seconds, predicted.seconds,
                       predicted.bound, predicted.limit)
             .str() +
         kernel.source;
}

static bool readScheduled(StringRef entry, OutlinedKernel &kernel) {
  auto [line, source] = entry.split('\n');
  auto [seconds, prediction] = line.split('|');
  auto [predicted, rest] = prediction.split('|');
  auto [bound, limit] = rest.split('|');
  if (source.empty() || seconds.getAsDouble(kernel.seconds) ||
      predicted.getAsDouble(kernel.predicted.seconds) || bound.getAsDouble(kernel.predicted.bound))
    return false;
  kernel.predicted.limit = limit.str();
  kernel.source = source.str();
  return true;
}

void heddle::scheduleKernels(ModuleOp module, OutlinedKernels &outlined,
                             const cost::Machine &machine, const cost::Machine &timed,
                             const KernelCache *cache, const CompileOptions &options) {
  std::string facts;
  llvm::raw_string_ostream out(facts);
  out << machine.facts << timed.facts;
  if (!outlined.kernels.empty()) // of the user, a part of the sources
    if (Attribute stated = outlined.kernels[0].function->getAttr(machineAttrName))
      out << stated;
  std::vector<std::string> keys;
  for (OutlinedKernel &kernel : outlined.kernels) {
    keys.push_back("s_" + cacheKey(kernel.key + facts, options.extensions));
    if (auto found = cache ? cache->find(keys.back()) : std::nullopt;
        found && readScheduled(*found, kernel))
      std::exchange(kernel.function, {}).erase();
  }
  std::vector<func::FuncOp> functions;
  for (OutlinedKernel &kernel : outlined.kernels)
    if (kernel.function)
      functions.push_back(kernel.function);
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < functions.size();)
      nest::chooseSchedules(functions[i], machine);
  };
  // Not by the context's own threads, which abort if the system can't create them. Other passes
  // have little to do in parallel, and a context with threads is slower.
  size_t others = threadsFor(functions.size(), options);
  MLIRContext *context = module.getContext();
  bool isSet = others == 0 || context->isMultithreadingEnabled();
  if (!isSet)
    context->enableMultithreading();
  std::vector<std::thread> workers = startThreads(others, work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  if (!isSet)
    context->disableMultithreading();
  for (auto [kernel, key] : llvm::zip_equal(outlined.kernels, keys))
    if (kernel.function) {
      kernel.source = sourceOf(kernel.function);
      Operation *nest = &kernel.function.front().front();
      kernel.predicted = predict(nest, timed);
      kernel.seconds = predict(nest, machine).seconds;
      if (cache)
        cache->store(key, writeScheduled(kernel));
    }
}

static LogicalResult refuse(const OutlinedKernel &kernel, StringRef error) {
  return emitError(kernel.loc) << "'" << kernel.name
                               << "' can't be compiled: " << respell(error, kernel.names);
}

FailureOr<std::vector<CompiledKernel>> heddle::compileKernels(ArrayRef<OutlinedKernel> sources,
                                                              const Target &target,
                                                              const KernelCache *cache,
                                                              const CompileOptions &options) {
  size_t count = sources.size();
  std::vector<CompiledKernel> kernels(count);
  std::vector<std::string> errors(count);
  auto order = llvm::to_vector(llvm::seq(count)); // long kernels first, for load balance
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return sources[a].source.size() > sources[b].source.size();
  });
  Progress progress("compiling kernels", count, options.progress, options.onProgress);
  std::atomic<size_t> next{0};
  auto work = [&] {
    std::unique_ptr<Workbench> bench; // made when it is needed
    for (size_t i; (i = next.fetch_add(1)) < count; progress.advance())
      errors[order[i]] =
          compileKernel(sources[order[i]], kernels[order[i]], target, cache, options, bench);
  };
  std::vector<std::thread> workers = startThreads(threadsFor(count, options), work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  progress.finish();
  for (auto [kernel, error] : llvm::zip_equal(sources, errors))
    if (!error.empty())
      return refuse(kernel, error);
  return kernels;
}

LogicalResult heddle::explainKernels(ArrayRef<OutlinedKernel> kernels, const Target &target,
                                     const CompileOptions &options) {
  if (options.extensions.empty())
    return success();
  Workbench bench(options, target);
  for (const OutlinedKernel &kernel : kernels) {
    if (!kernel.symbol)
      continue; // a clearing kernel
    auto text = bench.explain(kernel);
    if (!text)
      return refuse(kernel, llvm::toString(text.takeError()));
    emitRemark(kernel.loc) << "the kernel of '" << kernel.name << "' " << *text;
  }
  return success();
}

FailureOr<std::string> heddle::printKernel(const OutlinedKernel &kernel, const Target &target,
                                           const CompileOptions &options, KernelForm form) {
  Workbench bench(options, target);
  auto text = bench.print(kernel, symbolOf(kernel, target, options.extensions), form);
  if (!text)
    return refuse(kernel, llvm::toString(text.takeError()));
  return std::move(*text);
}

static std::string keyOf(const EntrySource &entry, const Target &target) {
  std::string text = entry.symbol + "|" + target.key() + "|" + compilerVersion();
  for (const StepSpec &step : entry.steps) {
    text += "|" + step.kernel + " " + std::to_string(int(step.kind)) + " " +
            std::to_string(step.chunks) + (step.serial ? " serial" : "") +
            (step.waits ? " waits" : "");
    for (int32_t value : step.values)
      text += " " + std::to_string(value);
    for (int32_t number : step.numbers)
      text += " #" + std::to_string(number);
    text += " @" + std::to_string(step.chunksAt);
  }
  return "e_" + KernelCache::keyOf(text);
}

FailureOr<std::vector<Object>> heddle::compileEntries(ArrayRef<EntrySource> entries,
                                                      const Target &target,
                                                      const KernelCache *cache) {
  std::vector<Object> objects;
  std::unique_ptr<Workbench> bench; // created for the first entry that is not cached
  for (const EntrySource &entry : entries) {
    std::string key = keyOf(entry, target);
    if (cache)
      if (auto found = cache->find(key)) {
        objects.push_back({entry.symbol, std::move(*found)});
        continue;
      }
    if (!bench)
      bench = std::make_unique<Workbench>(CompileOptions(), target);
    auto object = bench->compiler->compileEntry(entry.symbol, entry.steps);
    if (!object)
      return LogicalResult(emitError(entry.loc) << llvm::toString(object.takeError()));
    if (cache)
      cache->store(key, object->bytes);
    objects.push_back(std::move(*object));
  }
  return objects;
}
