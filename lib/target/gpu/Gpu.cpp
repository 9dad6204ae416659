//===- Gpu.cpp - what all GPUs share --------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/Gpu.h"

#include "lib/target/gpu/ClearMemory.h"
#include "lib/target/gpu/CodeGenerator.h"
#include "lib/target/gpu/GpuLoops.h"
#include "runtime/device/KernelImages.h"

#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"

using namespace heddle;
using namespace heddle::gpu;
using namespace mlir;

/// MLIR's conversions refuse these intrinsics, for which they prefer calls of a vendor's library.
static bool isRefused(Operation *op) {
  return isa<LLVM::CopySignOp, LLVM::CosOp, LLVM::ExpOp, LLVM::Exp2Op, LLVM::Exp10Op, LLVM::FAbsOp,
             LLVM::FCeilOp, LLVM::FFloorOp, LLVM::LogOp, LLVM::Log10Op, LLVM::Log2Op, LLVM::PowOp,
             LLVM::RoundEvenOp, LLVM::RoundOp, LLVM::RintOp, LLVM::SinOp, LLVM::SqrtOp,
             LLVM::TanhOp>(op);
}

namespace {
/// Spells intrinsics by name, so that conversions leave them alone, and calls the builtin that
/// computes remainders.
struct KeepIntrinsics : PassWrapper<KeepIntrinsics, OperationPass<mlir::gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepIntrinsics)
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      OpBuilder b(op);
      if (isRefused(op)) {
        StringRef name = op->getName().getStringRef();
        name.consume_front("llvm.intr.");
        op->replaceAllUsesWith(
            LLVM::CallIntrinsicOp::create(b, op->getLoc(), op->getResultTypes()[0],
                                          b.getStringAttr("llvm." + name), op->getOperands()));
        op->erase();
      } else if (auto remainder = dyn_cast<LLVM::FRemOp>(op)) {
        op->replaceAllUsesWith(ValueRange(remainderOf(b, remainder)));
        op->erase();
      }
    });
  }

  Value remainderOf(OpBuilder &b, LLVM::FRemOp op) {
    Location loc = op.getLoc();
    Type element = getElementTypeOrSelf(op.getType());
    auto module = getOperation();
    StringRef name = element.isF32() ? "fmodf" : "fmod";
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!function) {
      OpBuilder before = OpBuilder::atBlockBegin(module.getBody());
      function = LLVM::LLVMFuncOp::create(before, loc, name,
                                          LLVM::LLVMFunctionType::get(element, {element, element}));
    }
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!vector)
      return LLVM::CallOp::create(b, loc, function, op.getOperands()).getResult();
    Value result = LLVM::PoisonOp::create(b, loc, vector);
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
      Value at = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(lane));
      SmallVector<Value> pair;
      for (Value each : op.getOperands())
        pair.push_back(LLVM::ExtractElementOp::create(b, loc, each, at));
      Value one = LLVM::CallOp::create(b, loc, function, pair).getResult();
      result = LLVM::InsertElementOp::create(b, loc, result, one, at);
    }
    return result;
  }
};

class GpuCompiler : public KernelCompiler {
public:
  GpuCompiler(MLIRContext &context, const Chip &chip) : chip(chip), generator(chip) {
    DialectRegistry registry;
    registerConvertFuncToLLVMInterface(registry);
    cf::registerConvertControlFlowToLLVMInterface(registry);
    context.appendDialectRegistry(registry);
    registerGPUDialectTranslation(context);
    chip.registerTranslations(context);
    lowering = std::make_unique<PassManager>(&context);
    lowering->enableVerifier(false); // LLVM verifies the result
    OpPassManager &passes = lowering->nest<mlir::gpu::GPUModuleOp>();
    nest::buildKernelLowering(passes, createConvertToLLVMPass(ConvertToLLVMPassOptions{
                                          .filterDialects = {"cf", "func"}}));
    passes.addPass(std::make_unique<KeepIntrinsics>());
    chip.addConversion(passes);
    lowering->addPass(createReconcileUnrealizedCastsPass());
  }

  llvm::Expected<KernelCode> compile(const nest::KernelRequest &request) override {
    auto info = loops(request);
    if (!info)
      return info.takeError();
    return codeOf(request.symbol, *info);
  }

  llvm::Expected<KernelCode> compileClear(const std::string &symbol, const Expr &bytes) override {
    nest::KernelInfo info{buildClear(context(), symbol, bytes.constant()),
                          bytes.ceildiv(clearChunkBytes), 0, 0};
    return codeOf(symbol, info);
  }

  llvm::Expected<KernelCode> compileCustom(const std::string &symbol,
                                           const CustomKernel &kernel) override {
    return refuseCustom(chip.name(), kernel);
  }

  llvm::Expected<std::string> print(const nest::KernelRequest &request, const CustomKernel *custom,
                                    KernelForm form) override {
    if (custom)
      return compileCustom(request.symbol, *custom).takeError();
    auto info = loops(request);
    if (!info)
      return info.takeError();
    if (form != KernelForm::Loops) {
      if (llvm::Error error = lower(*info->module))
        return error;
      return generator.print(kernelsOf(*info->module), form);
    }
    std::string text;
    llvm::raw_string_ostream(text) << *info->module;
    return text + "\n";
  }

private:
  const Chip &chip;
  CodeGenerator generator;
  std::unique_ptr<PassManager> lowering;

  MLIRContext *context() { return lowering->getContext(); }

  static mlir::gpu::GPUModuleOp kernelsOf(ModuleOp module) {
    return *module.getOps<mlir::gpu::GPUModuleOp>().begin();
  }

  llvm::Expected<nest::KernelInfo> loops(const nest::KernelRequest &request) {
    auto info = nest::emitKernel(request, GpuLoops(request.machine));
    if (failed(info))
      return llvm::createStringError("it can't be emitted");
    return std::move(*info);
  }

  llvm::Error lower(ModuleOp module) {
    if (failed(lowering->run(module)))
      return llvm::createStringError("its loops can't be lowered");
    return llvm::Error::success();
  }

  llvm::Expected<KernelCode> codeOf(const std::string &symbol, nest::KernelInfo &info) {
    if (llvm::Error error = lower(*info.module))
      return error;
    auto image = generator.image(kernelsOf(*info.module));
    if (!image)
      return image.takeError();
    auto assembled = chip.assemble(*image);
    if (!assembled)
      return assembled.takeError();
    KernelImage kernel{symbol, blockLanes, blockLanes, std::move(*image), std::move(*assembled)};
    if (info.lanes > 0) {
      kernel.lanes = int32_t(info.lanes);
      kernel.chunks = 1;
    }
    std::string bytes = writeImage(kernel);
    return KernelCode{{{symbol, std::move(bytes)}}, info.chunks, info.scratchBytes};
  }
};

class GpuTarget : public Target {
public:
  explicit GpuTarget(std::unique_ptr<const Chip> chip) : chip(std::move(chip)) {}

  std::string key() const override { return chip->key(); }

  nest::MachineAttr machine(MLIRContext *context, int) const override {
    Builder b(context);
    NamedAttrList facts;
    facts.set("kind", b.getStringAttr("gpu"));
    std::vector<std::pair<StringRef, int64_t>> all{{"vector_bytes", 16},
                                                   {"vector_registers", 32},
                                                   {"has_fma", 1},
                                                   {"l1_bytes", 32 << 10},
                                                   {"l2_bytes", 1 << 20},
                                                   {"l3_bytes", 16 << 20},
                                                   {"threads", 1},
                                                   {"cores", 64},
                                                   {"warp", 32},
                                                   {"lanes_per_core", 1024},
                                                   {"lanes_per_block", 256},
                                                   {"registers_per_core", 65536},
                                                   {"registers_per_lane", 255},
                                                   {"shared_bytes", 48 << 10},
                                                   {"coalesced_bytes", 64},
                                                   {"points_per_block", 1024}};
    llvm::append_range(all, chip->facts());
    for (auto [name, value] : all)
      facts.set(name, b.getI64IntegerAttr(value));
    return nest::MachineAttr::get(context, facts.getDictionary(context));
  }

  std::unique_ptr<KernelCompiler> makeCompiler(MLIRContext &context) const override {
    return std::make_unique<GpuCompiler>(context, *chip);
  }

  llvm::Expected<ProgramCode> link(std::vector<Object> objects) const override {
    ProgramCode code;
    for (Object &object : objects) {
      code.symbols[object.name] = 0;
      code.bytes += object.bytes;
    }
    return code;
  }

  bool sharesHostMemory() const override { return false; }

  void describe(Manifest &manifest) const override {
    manifest.target = chip->device();
    manifest.cpu = chip->name();
  }

private:
  std::unique_ptr<const Chip> chip;
};
} // namespace

std::shared_ptr<const Target> heddle::gpu::makeTarget(std::unique_ptr<const Chip> chip) {
  return std::make_shared<GpuTarget>(std::move(chip));
}
