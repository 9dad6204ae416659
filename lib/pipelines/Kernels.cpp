//===- Kernels.cpp - from kernel sources to objects -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/Kernels.h"

#include "lib/pipelines/Cache.h"
#include "lib/pipelines/Extension.h"
#include "lib/pipelines/KernelSource.h"
#include "lib/pipelines/NeutralNames.h"
#include "lib/pipelines/Progress.h"
#include "lib/pipelines/Version.h"
#include "runtime/device/ThreadTeam.h"

#include "mlir/Parser/Parser.h"

#include <atomic>

using namespace heddle;
using namespace mlir;

namespace {
/// A context of one thread's, and what was said in it.
class Workbench {
public:
  Workbench(const CompileOptions &options, const Target &target)
      : context(makeRegistry(options), MLIRContext::Threading::DISABLED),
        compiler(target.makeCompiler(context)), extensions(options.extensions), target(target) {
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        said += (said.empty() ? "" : "; ") + diagnostic.str();
      return success();
    });
  }

  llvm::Expected<KernelCode> compile(const std::string &source, const std::string &symbol) {
    if (auto bytes = zeroedBytes(source))
      return compiler->compileClear(symbol, *bytes);
    return withRequest(source, symbol, [&](const nest::KernelRequest &request) {
      std::optional<CustomKernel> custom = customFor(request);
      return custom ? compiler->compileCustom(symbol, *custom) : compiler->compile(request);
    });
  }

  llvm::Expected<std::string> print(const std::string &source, const std::string &symbol,
                                    KernelForm form) {
    if (zeroedBytes(source))
      return source;
    return withRequest(source, symbol, [&](const nest::KernelRequest &request) {
      std::optional<CustomKernel> custom = customFor(request);
      return compiler->print(request, custom ? &*custom : nullptr, form);
    });
  }

  MLIRContext context;
  std::unique_ptr<KernelCompiler> compiler;

private:
  std::string said;
  Extensions extensions;
  const Target &target;

  /// Extensions are asked only for nests whose sizes are numbers.
  std::optional<CustomKernel> customFor(const nest::KernelRequest &request) const {
    for (const auto &extension : request.sizes.empty() ? extensions : Extensions())
      if (std::optional<CustomKernel> custom = extension->makeKernel(request, target))
        return custom;
    return std::nullopt;
  }

  /// What `use` makes of the kernel's request; an error with what was said.
  template <typename Use>
  auto withRequest(const std::string &source, const std::string &symbol, Use use)
      -> decltype(use(nest::KernelRequest())) {
    said.clear();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return llvm::createStringError("its text can't be read back: " + said);
    auto result = use(kernelRequest(*module, symbol));
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

static std::string symbolOf(const OutlinedKernel &kernel, const Target &target,
                            const Extensions &extensions) {
  std::string text = kernel.source + "|" + target.key() + "|" + compilerVersion();
  for (const auto &extension : extensions)
    text += "|" + extension->key;
  return "k_" + KernelCache::keyOf(text).substr(0, 32);
}

/// In the cache objects follow a line "chunks|scratch" and their sizes.
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

/// Returns what went wrong, if anything.
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
  auto code = bench->compile(source.source, kernel.symbol);
  if (!code)
    return llvm::toString(code.takeError());
  kernel.code = std::move(*code);
  kernel.code.objects[0].name = source.name;
  if (cache)
    cache->store(kernel.symbol, writeEntry(kernel.code));
  return "";
}

FailureOr<std::vector<CompiledKernel>> heddle::compileKernels(ArrayRef<OutlinedKernel> sources,
                                                              const Target &target,
                                                              const KernelCache *cache,
                                                              const CompileOptions &options) {
  std::vector<CompiledKernel> kernels(sources.size());
  std::vector<std::string> errors(sources.size());
  Progress progress("compiling kernels", sources.size(), options.progress, options.onProgress);
  std::atomic<size_t> next{0};
  auto work = [&] {
    std::unique_ptr<Workbench> bench; // made when the first kernel is not cached
    for (size_t i; (i = next.fetch_add(1)) < sources.size();) {
      errors[i] = compileKernel(sources[i], kernels[i], target, cache, options, bench);
      progress.advance();
    }
  };
  size_t threads = options.compileThreads > 0 ? size_t(options.compileThreads)
                                              : std::max(1u, std::thread::hardware_concurrency());
  size_t others = std::min(threads, sources.size());
  std::vector<std::thread> workers = startThreads(others ? others - 1 : 0, work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  progress.finish();
  for (auto [source, error] : llvm::zip_equal(sources, errors))
    if (!error.empty())
      return emitError(source.loc)
                 << "'" << source.name << "' can't be compiled: " << respell(error, source.names),
             failure();
  return kernels;
}

FailureOr<std::string> heddle::printKernel(const OutlinedKernel &kernel, const Target &target,
                                           const CompileOptions &options, KernelForm form) {
  Workbench bench(options, target);
  auto text = bench.print(kernel.source, symbolOf(kernel, target, options.extensions), form);
  if (text)
    return std::move(*text);
  return emitError(kernel.loc) << "'" << kernel.name << "' can't be compiled: "
                               << respell(llvm::toString(text.takeError()), kernel.names),
         failure();
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
  std::unique_ptr<Workbench> bench; // made when the first entry is not cached
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
      return emitError(entry.loc) << llvm::toString(object.takeError()), failure();
    if (cache)
      cache->store(key, object->bytes);
    objects.push_back(std::move(*object));
  }
  return objects;
}
