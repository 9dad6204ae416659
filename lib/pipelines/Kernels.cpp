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
#include "lib/target/cpu/CustomCall.h"
#include "lib/target/cpu/Zero.h"
#include "runtime/device/ThreadTeam.h"

#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <atomic>

using namespace heddle;
using namespace mlir;

namespace {
/// A context of one thread's, and what was said in it.
class Workbench {
public:
  Workbench(const CompileOptions &options, const cpu::CpuTarget &target)
      : context(makeRegistry(options), MLIRContext::Threading::DISABLED), emitter(target),
        extensions(options.extensions), target(target) {
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        said += (said.empty() ? "" : "; ") + diagnostic.str();
      return success();
    });
  }

  struct Emitted {
    nest::KernelInfo info;
    std::vector<cpu::Object> objects; ///< that the kernel calls
    std::string error;
  };

  /// The kernel as loops, or in the LLVM dialect, if wanted with the numbers of its ops as lines.
  Emitted emit(const std::string &source, const std::string &symbol, bool lower,
               bool lines = false) {
    said.clear();
    Emitted result;
    auto fail = [&](const std::string &what) {
      result.error = what + (said.empty() ? "" : ": " + said);
      return std::move(result);
    };
    if (auto bytes = zeroedBytes(source)) {
      result.info.module = cpu::buildZero(&context, symbol, bytes->constant());
      result.info.chunks = bytes->ceildiv(cpu::zeroChunkBytes);
      return result;
    }
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return fail("its text can't be read back");
    nest::KernelRequest request = kernelRequest(*module, symbol);
    // What an extension knows of a nest are numbers.
    for (const auto &extension : request.sizes.empty() ? extensions : Extensions())
      if (std::optional<CustomKernel> custom = extension->makeKernel(request, target)) {
        result.info.module =
            cpu::buildCustomCall(&context, symbol, custom->function, custom->numbers);
        result.info.chunks = custom->chunks;
        result.info.scratchBytes = custom->scratchBytes;
        result.objects = std::move(custom->objects);
        return result;
      }
    auto info = nest::emitKernel(request);
    if (failed(info))
      return fail("it can't be emitted");
    if (lower) {
      PassManager passes(&context);
      passes.enableVerifier(false); // LLVM verifies what comes out
      nest::buildKernelLowering(passes);
      if (lines)
        passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
      if (failed(passes.run(*info->module)))
        return fail("its loops can't be lowered");
    }
    result.info = std::move(*info);
    return result;
  }

  MLIRContext context;
  cpu::Emitter emitter;
  std::string said;

private:
  Extensions extensions;
  cpu::CpuTarget target;

  static DialectRegistry makeRegistry(const CompileOptions &options) {
    DialectRegistry registry;
    registerCompilerDialects(registry, options.extensions);
    return registry;
  }
};
} // namespace

static std::string symbolOf(const OutlinedKernel &kernel, const cpu::CpuTarget &target,
                            const Extensions &extensions) {
  std::string text = kernel.source + "|" + target.key() + "|" + compilerVersion();
  for (const auto &extension : extensions)
    text += "|" + extension->key;
  return "k_" + KernelCache::keyOf(text).substr(0, 32);
}

/// In the cache objects follow a line "chunks|scratch" and their sizes.
static std::string writeEntry(const CompiledKernel &kernel) {
  std::string line = kernel.chunks.str() + "|" + kernel.scratchBytes.str(), bytes;
  for (const cpu::Object &object : kernel.objects) {
    line += "|" + std::to_string(object.bytes.size());
    bytes += object.bytes;
  }
  return line + "\n" + bytes;
}

static bool readEntry(StringRef bytes, const std::string &name, CompiledKernel &kernel) {
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
                                 const cpu::CpuTarget &target, const KernelCache *cache,
                                 const CompileOptions &options, std::unique_ptr<Workbench> &bench) {
  kernel.symbol = symbolOf(source, target, options.extensions);
  if (cache)
    if (auto found = cache->find(kernel.symbol); found && readEntry(*found, source.name, kernel)) {
      kernel.cached = true;
      return "";
    }
  if (!bench)
    bench = std::make_unique<Workbench>(options, target);
  Workbench::Emitted emitted =
      bench->emit(source.source, kernel.symbol, /*lower=*/true, /*lines=*/true);
  if (!emitted.error.empty())
    return emitted.error;
  auto object = bench->emitter.emitObject(*emitted.info.module);
  if (!object)
    return llvm::toString(object.takeError()) + (bench->said.empty() ? "" : ": " + bench->said);
  kernel.objects = {{source.name, std::move(*object)}};
  std::move(emitted.objects.begin(), emitted.objects.end(), std::back_inserter(kernel.objects));
  kernel.chunks = emitted.info.chunks;
  kernel.scratchBytes = emitted.info.scratchBytes;
  if (cache)
    cache->store(kernel.symbol, writeEntry(kernel));
  return "";
}

FailureOr<std::vector<CompiledKernel>> heddle::compileKernels(ArrayRef<OutlinedKernel> sources,
                                                              const cpu::CpuTarget &target,
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

FailureOr<std::string> heddle::printKernel(const OutlinedKernel &kernel,
                                           const cpu::CpuTarget &target,
                                           const CompileOptions &options, KernelForm form) {
  Workbench bench(options, target);
  auto fail = [&](const std::string &error) -> FailureOr<std::string> {
    return emitError(kernel.loc) << "'" << kernel.name
                                 << "' can't be compiled: " << respell(error, kernel.names),
           failure();
  };
  auto emitted = bench.emit(kernel.source, symbolOf(kernel, target, options.extensions),
                            form != KernelForm::Loops);
  if (!emitted.error.empty())
    return fail(emitted.error);
  if (form == KernelForm::Loops) {
    std::string text;
    llvm::raw_string_ostream(text) << *emitted.info.module;
    return text + "\n";
  }
  auto text = bench.emitter.emit(*emitted.info.module, form == KernelForm::LlvmIr
                                                           ? cpu::EmitKind::LlvmIr
                                                           : cpu::EmitKind::Assembly);
  return text ? FailureOr<std::string>(std::move(*text)) : fail(llvm::toString(text.takeError()));
}

static std::string keyOf(const EntrySource &entry, const cpu::CpuTarget &target) {
  std::string text = entry.symbol + "|" + target.key() + "|" + compilerVersion();
  for (const cpu::EntryStep &step : entry.steps) {
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

FailureOr<std::vector<cpu::Object>> heddle::compileEntries(ArrayRef<EntrySource> entries,
                                                           const cpu::CpuTarget &target,
                                                           const KernelCache *cache) {
  std::vector<cpu::Object> objects;
  std::unique_ptr<Workbench> bench; // made when the first entry is not cached
  for (const EntrySource &entry : entries) {
    std::string key = keyOf(entry, target);
    if (cache)
      if (auto found = cache->find(key)) {
        objects.push_back({entry.name, std::move(*found)});
        continue;
      }
    if (!bench)
      bench = std::make_unique<Workbench>(CompileOptions(), target);
    auto module = cpu::buildEntry(&bench->context, entry.symbol, entry.steps);
    // A step takes some nanoseconds more and a fraction of the time to compile.
    constexpr size_t many = 256;
    auto bytes = bench->emitter.emitObject(*module, entry.steps.size() > many ? cpu::Effort::Least
                                                                              : cpu::Effort::Some);
    if (!bytes)
      return emitError(entry.loc) << llvm::toString(bytes.takeError()), failure();
    if (cache)
      cache->store(key, *bytes);
    objects.push_back({entry.name, std::move(*bytes)});
  }
  return objects;
}
