//===- Cpu.cpp - the CPU as a target --------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CPU target lowers a nest to loops, to the LLVM dialect, and to an ELF object (Emit.h), and
// links objects into one block of code that imports nothing (Link.h, Builtins.h).
//
//===----------------------------------------------------------------------===//

#include "lib/target/Target.h"
#include "lib/target/cpu/Builtins.h"
#include "lib/target/cpu/ClearMemory.h"
#include "lib/target/cpu/CpuLoops.h"
#include "lib/target/cpu/CpuTarget.h"
#include "lib/target/cpu/CustomCall.h"
#include "lib/target/cpu/Emit.h"
#include "lib/target/cpu/Entry.h"
#include "lib/target/cpu/Link.h"

#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace heddle;
using namespace heddle::cpu;
using namespace mlir;

namespace {
class CpuCompiler : public KernelCompiler {
public:
  CpuCompiler(MLIRContext &context, const CpuTarget &target) : context(context), emitter(target) {}

  llvm::Expected<KernelCode> compile(const nest::KernelRequest &request) override {
    auto info = lowered(request, /*lines=*/true);
    if (!info)
      return info.takeError();
    return codeOf(request.symbol, std::move(info->module), info->chunks, info->scratchBytes);
  }

  llvm::Expected<KernelCode> compileClear(const std::string &symbol, const Expr &bytes) override {
    return codeOf(symbol, buildClear(&context, symbol, bytes.constant()),
                  bytes.ceildiv(zeroChunkBytes), 0);
  }

  llvm::Expected<KernelCode> compileCustom(const std::string &symbol,
                                           const CustomKernel &kernel) override {
    nest::KernelInfo info = call(symbol, kernel);
    auto code = codeOf(symbol, std::move(info.module), info.chunks, info.scratchBytes);
    if (code)
      llvm::append_range(code->objects, kernel.objects);
    return code;
  }

  llvm::Expected<Object> compileEntry(const std::string &symbol,
                                      const std::vector<StepSpec> &steps) override {
    // With more steps than this, optimise less: each step runs some nanoseconds slower, but
    // compilation is much faster.
    constexpr size_t many = 32;
    auto module = buildEntry(&context, symbol, steps);
    auto bytes = emitter.emitObject(*module, steps.size() > many ? Effort::Least : Effort::Some);
    if (!bytes)
      return bytes.takeError();
    return Object{symbol, std::move(*bytes)};
  }

  llvm::Expected<std::string> print(const nest::KernelRequest &request, const CustomKernel *custom,
                                    KernelForm form) override {
    auto info = custom ? llvm::Expected<nest::KernelInfo>(call(request.symbol, *custom))
                : form == KernelForm::Loops ? loops(request)
                                            : lowered(request, /*lines=*/false);
    if (!info)
      return info.takeError();
    if (form != KernelForm::Loops)
      return emitter.emit(*info->module,
                          form == KernelForm::LlvmIr ? EmitKind::LlvmIr : EmitKind::Assembly);
    std::string text;
    llvm::raw_string_ostream(text) << *info->module;
    return text + "\n";
  }

private:
  MLIRContext &context;
  Emitter emitter;
  std::unique_ptr<PassManager> lowerings[2]; ///< without and with lines; created on first use

  /// All kernels use the same passes, which collect their patterns once.
  PassManager &lowering(bool lines) {
    std::unique_ptr<PassManager> &passes = lowerings[lines];
    if (!passes) {
      passes = std::make_unique<PassManager>(&context);
      passes->enableVerifier(false); // LLVM verifies the result
      nest::buildKernelLowering(*passes);
      if (lines)
        passes->addPass(LLVM::createDIScopeForLLVMFuncOpPass());
    }
    return *passes;
  }

  nest::KernelInfo call(const std::string &symbol, const CustomKernel &kernel) {
    return {buildCustomCall(&context, symbol, kernel.function, kernel.numbers), kernel.chunks,
            kernel.scratchBytes};
  }

  llvm::Expected<nest::KernelInfo> loops(const nest::KernelRequest &request) {
    auto info = nest::emitKernel(request, CpuLoops(request.machine));
    if (failed(info))
      return llvm::createStringError("it can't be emitted");
    return std::move(*info);
  }

  /// Lowers the kernel to the LLVM dialect; if `lines`, numbers its ops as source lines.
  llvm::Expected<nest::KernelInfo> lowered(const nest::KernelRequest &request, bool lines) {
    auto info = loops(request);
    if (!info)
      return info;
    if (failed(lowering(lines).run(*info->module)))
      return llvm::createStringError("its loops can't be lowered");
    return info;
  }

  llvm::Expected<KernelCode> codeOf(const std::string &symbol, OwningOpRef<ModuleOp> module,
                                    Expr chunks, Expr scratchBytes) {
    auto bytes = emitter.emitObject(*module);
    if (!bytes)
      return bytes.takeError();
    return KernelCode{{{symbol, std::move(*bytes)}}, chunks, scratchBytes};
  }
};

class Cpu : public Target {
public:
  explicit Cpu(CpuTarget target) : target(std::move(target)) {}

  std::string key() const override { return target.key(); }
  nest::MachineAttr machine(MLIRContext *context, int threads) const override {
    return machineAttr(context, target, threads);
  }
  nest::MachineAttr machineForTimes(MLIRContext *context,
                                    const MachineFacts &measured) const override {
    return target.native ? withMeasured(machine(context, /*threads=*/1), measured)
                         : machine(context, /*threads=*/1);
  }
  std::unique_ptr<KernelCompiler> makeCompiler(MLIRContext &context) const override {
    return std::make_unique<CpuCompiler>(context, target);
  }
  llvm::Expected<ProgramCode> link(std::vector<Object> objects) const override {
    auto helpers = builtinsFor(objects);
    if (!helpers)
      return helpers.takeError();
    if (*helpers)
      objects.push_back(std::move(**helpers));
    return cpu::link(objects);
  }
  void describe(Manifest &manifest) const override {
    manifest.target = target.triple;
    manifest.cpu = target.cpu;
    manifest.features = target.features;
  }

private:
  CpuTarget target;
};
} // namespace

static llvm::Expected<std::shared_ptr<const Target>> makeTarget(StringRef cpu) {
  auto target = targetFor(cpu);
  if (!target)
    return target.takeError();
  return std::make_shared<Cpu>(std::move(*target));
}

static const TargetRegistration registered({"native", "x86-64", "haswell", "skylake-avx512"},
                                           isCpuName, makeTarget);
