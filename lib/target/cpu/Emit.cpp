//===- Emit.cpp - emits object code from the LLVM dialect -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/Emit.h"

#include "lib/target/LlvmPasses.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace heddle;
using namespace heddle::cpu;

Emitter::Emitter(CpuTarget target) : target(std::move(target)) {}
Emitter::~Emitter() = default;

llvm::Expected<llvm::TargetMachine &> Emitter::machineFor(Effort effort) {
  auto &machine = effort == Effort::Least ? quick : thorough;
  if (machine)
    return *machine;
  std::string error;
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return llvm::createStringError(error);
  std::string features;
  for (const std::string &feature : target.features)
    features += (features.empty() ? "+" : ",+") + feature;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  machine.reset(found->createTargetMachine(
      triple, target.cpu, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      effort == Effort::Least ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default));
  return *machine;
}

/// Adds attributes before optimisation: without prefer-vector-width 512-bit vectors would be split.
static void addAttributes(llvm::Module &module, const llvm::TargetMachine &machine,
                          const CpuTarget &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (target.has("avx512f"))
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("no-builtins");
    function.addFnAttr("denormal-fp-math", "ieee,ieee");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("no-jump-tables", "true");
  }
}

/// A small part of -O2, which takes half of its time. Emitted loops are counted, their bodies are
/// straight-line code of explicit vectors without calls, and the schedule has decided unrolling. So
/// it is enough to simplify addresses and guards and to hoist them out of loops. The pipeline for
/// `Effort::Some` simplifies once.
static std::string passesOf(Effort effort) {
  std::string instcombine = "instcombine<no-verify-fixpoint>",
              first = "early-cse<memssa>,simplifycfg,",
              loops = "loop-mssa(loop-rotate,licm),loop(indvars,loop-deletion),early-cse<memssa>,",
              last = instcombine + ",loop-mssa(licm),simplifycfg";
  return "function(" + first + (effort == Effort::Most ? instcombine + "," : "") + loops + last +
         ")";
}

/// Replaces a masked store by a scalar store if a constant mask leaves one lane. LLVM 22 does so in
/// instruction selection, but stores a whole i32 if the lanes were narrowed from i32 (x86 with
/// AVX-512), which overwrites the next element.
static void storeSingleLanes(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &each : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *store = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
      if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      llvm::Value *value = store->getArgOperand(0), *address = store->getArgOperand(1);
      auto *mask = llvm::dyn_cast<llvm::Constant>(store->getArgOperand(2));
      auto *lanes = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
      if (!mask || !lanes)
        continue;
      llvm::SmallVector<unsigned> stored;
      for (unsigned lane = 0; lane < lanes->getNumElements(); ++lane)
        if (llvm::Constant *bit = mask->getAggregateElement(lane); !bit || !bit->isZeroValue())
          stored.push_back(lane);
      if (stored.size() != 1)
        continue;
      llvm::IRBuilder<> b(store);
      uint64_t offset =
          stored[0] * module.getDataLayout().getTypeStoreSize(lanes->getElementType());
      b.CreateAlignedStore(b.CreateExtractElement(value, stored[0]),
                           b.CreateConstGEP1_64(b.getInt8Ty(), address, offset),
                           llvm::commonAlignment(store->getParamAlign(1).valueOrOne(), offset));
      store->eraseFromParent();
    }
}

namespace {
/// Keeps loop strength reduction out of large functions, where it takes a fifth of LLVM's time and
/// makes no loop faster. It makes small loops faster, in which addresses are a larger part.
class StrengthReductionGate : public llvm::OptPassGate {
public:
  explicit StrengthReductionGate(const llvm::Module &module)
      : isLarge(module.getInstructionCount() > 300) {}
  bool isEnabled() const override { return isLarge; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != "Loop Strength Reduction";
  }

private:
  bool isLarge;
};
} // namespace

/// Adds LLVM's code generation passes (`addPassesToEmitFile`) except the scheduling after register
/// allocation: it takes an eighth of LLVM's time, mostly in long blocks, and processors reorder
/// instructions that far. Returns false if the target can't emit such a file.
static bool addCodeGeneration(llvm::legacy::PassManager &passes, llvm::TargetMachine &machine,
                              llvm::raw_pwrite_stream &stream, llvm::CodeGenFileType type) {
  auto *module = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  config->disablePass(&llvm::PostRASchedulerID);
  config->disablePass(&llvm::LiveDebugValuesID);
  passes.add(config);
  passes.add(module);
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, type, module->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

llvm::Expected<std::string> Emitter::emit(mlir::ModuleOp source, EmitKind kind, Effort effort) {
  auto machine = machineFor(effort);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(source, context, "heddle");
  if (!module)
    return llvm::createStringError("the module does not translate to LLVM IR");
  module->setTargetTriple(llvm::Triple(target.triple));
  module->setDataLayout(machine->createDataLayout());
  addAttributes(*module, *machine, target);
  if (effort != Effort::Least)
    runPasses(*module, *machine, passesOf(effort));
  storeSingleLanes(*module);
  llvm::SmallString<0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  if (kind == EmitKind::LlvmIr) {
    module->print(stream, nullptr);
    return buffer.str().str();
  }
  StrengthReductionGate gate(*module);
  context.setOptPassGate(gate);
  llvm::legacy::PassManager passes;
  llvm::TargetLibraryInfoImpl library(module->getTargetTriple());
  library.disableAllFunctions();
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  auto type = kind == EmitKind::Object ? llvm::CodeGenFileType::ObjectFile
                                       : llvm::CodeGenFileType::AssemblyFile;
  if (!addCodeGeneration(passes, *machine, stream, type))
    return llvm::createStringError("the target '" + target.triple +
                                   "' can't emit this kind of file");
  passes.run(*module);
  return buffer.str().str();
}
