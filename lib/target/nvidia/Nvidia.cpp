//===- Nvidia.cpp - PTX for NVIDIA's GPUs ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `sm_75` to `sm_121`: kernels as PTX, which the driver compiles for its chip, and, if NVIDIA's
// assembler is there, also as machine code, which is loaded at once:
//
//     HEDDLE_PTXAS      its file, instead of `ptxas` in PATH; empty: PTX only
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/Gpu.h"
#include "lib/target/gpu/RunTool.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <mutex>

using namespace heddle;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static const unsigned char builtins[] = {
#include "lib/target/nvidia/Builtins.inc"
};

/// The chips, each with the version of PTX, times 10, that knows it.
static constexpr std::pair<llvm::StringLiteral, int> chips[] = {
    {"sm_75", 63}, {"sm_80", 70},  {"sm_86", 71},  {"sm_87", 74},  {"sm_89", 78},
    {"sm_90", 78}, {"sm_100", 86}, {"sm_103", 88}, {"sm_120", 87}, {"sm_121", 88}};

static int ptxVersionOf(llvm::StringRef name) {
  for (auto [chip, version] : chips)
    if (chip == name)
      return version;
  return 0;
}

/// The assembler; empty: none.
static std::string assembler() {
  if (const char *chosen = std::getenv("HEDDLE_PTXAS"))
    return chosen;
  auto found = llvm::sys::findProgramByName("ptxas");
  return found ? *found : "";
}

/// The version that an assembler prints: other versions make other code.
static std::string versionOf(const std::string &tool) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto [found, isNew] = known.try_emplace(tool);
  if (isNew) {
    auto said = heddle::gpu::askTool(tool, "--version");
    found->second = said ? *said : llvm::toString(said.takeError());
  }
  return found->second;
}

namespace {
class Nvidia : public heddle::gpu::Chip {
public:
  explicit Nvidia(llvm::StringRef chip) : chip(chip.str()) {}
  std::string name() const override { return chip; }
  std::string key() const override {
    std::string tool = assembler();
    return tool.empty() ? chip : chip + " " + versionOf(tool);
  }
  std::string device() const override { return "cuda"; }
  std::vector<std::pair<llvm::StringRef, int64_t>> facts() const override {
    return {{"shuffle_lanes", 32}};
  }

  void registerTranslations(mlir::MLIRContext &context) const override {
    mlir::registerNVVMDialectTranslation(context);
  }
  void addConversion(mlir::OpPassManager &passes) const override {
    passes.addPass(mlir::createConvertGpuOpsToNVVMOps({.indexBitwidth = 64}));
  }

  /// ptxas spills registers of small blocks so that more of them fit a core, although it need not
  /// (bench/gpu-table): it is told that blocks may have more lanes, each with 168 registers.
  void legalize(llvm::Module &module) const override {
    for (llvm::Function &function : module) {
      unsigned lanes = 0;
      llvm::StringRef most = function.getFnAttribute("nvvm.maxntid").getValueAsString();
      if (!most.consumeInteger(10, lanes) && lanes < 384)
        function.addFnAttr("nvvm.maxntid", "384,1,1");
    }
  }

  BackEnd backEnd() const override {
    auto initialize = [] {
      LLVMInitializeNVPTXTargetInfo();
      LLVMInitializeNVPTXTarget();
      LLVMInitializeNVPTXTargetMC();
      LLVMInitializeNVPTXAsmPrinter();
    };
    return {"nvptx64-nvidia-cuda",
            chip,
            "+ptx" + std::to_string(ptxVersionOf(chip)),
            llvm::CodeGenFileType::AssemblyFile,
            initialize,
            {reinterpret_cast<const char *>(builtins), sizeof(builtins)}};
  }

  llvm::Expected<std::string> assemble(llvm::StringRef image) const override {
    std::string tool = assembler(), arch = "-arch=" + chip;
    if (tool.empty())
      return "";
    auto made = heddle::gpu::runTool(tool, image, {arch});
    return made ? std::move(made)
                : llvm::createStringError(llvm::toString(made.takeError()) +
                                          "; without it (HEDDLE_PTXAS=) a program has PTX only");
  }

private:
  std::string chip;
};

const TargetRegistration registered(
    {"sm_80", "sm_90"}, [](llvm::StringRef name) { return ptxVersionOf(name) > 0; },
    [](llvm::StringRef name) { return heddle::gpu::makeTarget(std::make_unique<Nvidia>(name)); });
} // namespace
