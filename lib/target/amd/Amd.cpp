//===- Amd.cpp - code objects for AMD's GPUs ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gfx90a` to `gfx1250`: kernels as code objects, which lld links.
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/Gpu.h"
#include "lib/target/gpu/LlvmTool.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "llvm/TargetParser/TargetParser.h"

using namespace heddle;

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
}

static const unsigned char builtins[] = {
#include "lib/target/amd/Builtins.inc"
};

/// Chips for computing, from MI200 on, and those for graphics from RDNA 3 on.
static bool isKnown(llvm::StringRef name) {
  if (!name.starts_with("gfx") || llvm::AMDGPU::parseArchAMDGCN(name) == llvm::AMDGPU::GK_NONE)
    return false;
  llvm::StringRef number = name.drop_front(3);
  return number == "90a" || number.starts_with("94") || number.starts_with("95") ||
         number.starts_with("11") || number.starts_with("12");
}

namespace {
class Amd : public heddle::gpu::Chip {
public:
  explicit Amd(llvm::StringRef chip) : chip(chip.str()) {}
  std::string name() const override { return chip; }
  std::string device() const override { return "hip"; }
  /// LLVM compiles for 64 lanes before RDNA, else for 32.
  std::vector<std::pair<llvm::StringRef, int64_t>> facts() const override {
    int64_t warp = llvm::StringRef(chip).starts_with("gfx9") ? 64 : 32;
    return {{"warp", warp}, {"shuffle_lanes", warp}};
  }

  void registerTranslations(mlir::MLIRContext &context) const override {
    mlir::registerROCDLDialectTranslation(context);
    // The conversion of shuffles creates ops of `arith`, which it converts if it knows how.
    mlir::DialectRegistry registry;
    mlir::arith::registerConvertArithToLLVMInterface(registry);
    context.appendDialectRegistry(registry);
  }
  void addConversion(mlir::OpPassManager &passes) const override {
    mlir::ConvertGpuOpsToROCDLOpsOptions options;
    options.chipset = chip;
    options.indexBitwidth = 64;
    passes.addPass(mlir::createConvertGpuOpsToROCDLOps(options));
  }

  BackEnd backEnd() const override {
    auto initialize = [] {
      LLVMInitializeAMDGPUTargetInfo();
      LLVMInitializeAMDGPUTarget();
      LLVMInitializeAMDGPUTargetMC();
      LLVMInitializeAMDGPUAsmPrinter();
    };
    return {"amdgcn-amd-amdhsa",
            chip,
            "",
            llvm::CodeGenFileType::ObjectFile,
            initialize,
            {reinterpret_cast<const char *>(builtins), sizeof(builtins)}};
  }

  llvm::Expected<std::string> finish(std::string code) const override {
    return heddle::gpu::runLlvmTool({"ld.lld", "lld-22"}, code, {"-shared"});
  }

private:
  std::string chip;
};

const TargetRegistration registered(
    {"gfx942"}, [](llvm::StringRef name) { return isKnown(name); },
    [](llvm::StringRef name) { return heddle::gpu::makeTarget(std::make_unique<Amd>(name)); });
} // namespace
