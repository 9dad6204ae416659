//===- Kernels.cpp - from kernel sources to objects -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/Kernels.h"

#include "lib/pipelines/Cache.h"
#include "lib/pipelines/KernelSource.h"
#include "lib/pipelines/NeutralNames.h"
#include "lib/pipelines/Progress.h"
#include "lib/pipelines/Version.h"
#include "lib/target/cpu/Zero.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <atomic>
#include <thread>

using namespace heddle;
using namespace mlir;

namespace {
/// A context of one thread's, and what was said in it.
class Workbench {
public:
  Workbench() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        said += (said.empty() ? "" : "; ") + diagnostic.str();
      return success();
    });
  }

  struct Emitted {
    nest::KernelInfo info;
    std::string error;
  };

  /// The kernel as loops, or in the LLVM dialect.
  Emitted emit(const std::string &source, const std::string &symbol, bool lower) {
    said.clear();
    Emitted result;
    auto fail = [&](const std::string &what) {
      result.error = what + (said.empty() ? "" : ": " + said);
      return std::move(result);
    };
    if (auto bytes = zeroedBytes(source)) {
      result.info.module = cpu::buildZero(&context, symbol, *bytes);
      result.info.chunks = llvm::divideCeil(*bytes, cpu::zeroChunkBytes);
      return result;
    }
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return fail("its text can't be read back");
    auto info = nest::emitKernel(kernelRequest(*module, symbol));
    if (failed(info))
      return fail("it can't be emitted");
    if (lower) {
      PassManager passes(&context);
      nest::buildKernelLowering(passes);
      if (failed(passes.run(*info->module)))
        return fail("its loops can't be lowered");
    }
    result.info = std::move(*info);
    return result;
  }

  MLIRContext context;
  std::string said;

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }
};
} // namespace

static std::string symbolOf(const OutlinedKernel &kernel, const cpu::CpuTarget &target) {
  return "k_" + KernelCache::keyOf(kernel.source + "|" + target.key() + "|" + compilerVersion())
                    .substr(0, 32);
}

/// In the cache the object follows a line "chunks scratch".
static bool readEntry(const std::string &bytes, CompiledKernel &kernel) {
  auto [line, object] = StringRef(bytes).split('\n');
  auto [chunks, scratch] = line.split(' ');
  if (chunks.getAsInteger(10, kernel.chunks) || scratch.getAsInteger(10, kernel.scratchBytes))
    return false;
  kernel.object.bytes = object.str();
  return true;
}

/// Returns what went wrong, if anything.
static std::string compileKernel(const OutlinedKernel &source, CompiledKernel &kernel,
                                 const cpu::CpuTarget &target, const KernelCache *cache,
                                 std::unique_ptr<Workbench> &bench) {
  kernel.symbol = symbolOf(source, target);
  kernel.object.name = source.name;
  if (cache)
    if (auto found = cache->find(kernel.symbol); found && readEntry(*found, kernel)) {
      kernel.cached = true;
      return "";
    }
  if (!bench)
    bench = std::make_unique<Workbench>();
  Workbench::Emitted emitted = bench->emit(source.source, kernel.symbol, /*lower=*/true);
  if (!emitted.error.empty())
    return emitted.error;
  auto object = cpu::emitObject(*emitted.info.module, target);
  if (!object)
    return llvm::toString(object.takeError()) + (bench->said.empty() ? "" : ": " + bench->said);
  kernel.object.bytes = std::move(*object);
  kernel.chunks = emitted.info.chunks;
  kernel.scratchBytes = emitted.info.scratchBytes;
  if (cache)
    cache->store(kernel.symbol, std::to_string(kernel.chunks) + " " +
                                    std::to_string(kernel.scratchBytes) + "\n" +
                                    kernel.object.bytes);
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
      errors[i] = compileKernel(sources[i], kernels[i], target, cache, bench);
      progress.advance();
    }
  };
  size_t threads = options.compileThreads > 0 ? size_t(options.compileThreads)
                                              : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (size_t i = 1; i < std::min(threads, sources.size()); ++i)
    workers.emplace_back(work);
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
                                           const cpu::CpuTarget &target, KernelForm form) {
  Workbench bench;
  auto fail = [&](const std::string &error) -> FailureOr<std::string> {
    return emitError(kernel.loc) << "'" << kernel.name
                                 << "' can't be compiled: " << respell(error, kernel.names),
           failure();
  };
  auto emitted = bench.emit(kernel.source, symbolOf(kernel, target), form != KernelForm::Loops);
  if (!emitted.error.empty())
    return fail(emitted.error);
  if (form == KernelForm::Loops) {
    std::string text;
    llvm::raw_string_ostream(text) << *emitted.info.module;
    return text + "\n";
  }
  auto text =
      cpu::emit(*emitted.info.module, target,
                form == KernelForm::LlvmIr ? cpu::EmitKind::LlvmIr : cpu::EmitKind::Assembly);
  return text ? FailureOr<std::string>(std::move(*text)) : fail(llvm::toString(text.takeError()));
}

llvm::Expected<cpu::Object> heddle::compileEntry(const std::string &name, const std::string &symbol,
                                                 const std::vector<cpu::EntryStep> &steps,
                                                 const cpu::CpuTarget &target,
                                                 const KernelCache *cache) {
  std::string text = symbol + "|" + target.key() + "|" + compilerVersion();
  for (const cpu::EntryStep &step : steps) {
    text += "|" + step.kernel + " " + std::to_string(step.chunks) + (step.serial ? " serial" : "") +
            (step.waits ? " waits" : "");
    for (int32_t value : step.values)
      text += " " + std::to_string(value);
  }
  std::string key = "e_" + KernelCache::keyOf(text);
  if (cache)
    if (auto found = cache->find(key))
      return cpu::Object{name, std::move(*found)};
  Workbench bench;
  auto module = cpu::buildEntry(&bench.context, symbol, steps);
  auto bytes = cpu::emitObject(*module, target);
  if (!bytes)
    return bytes.takeError();
  if (cache)
    cache->store(key, *bytes);
  return cpu::Object{name, std::move(*bytes)};
}
