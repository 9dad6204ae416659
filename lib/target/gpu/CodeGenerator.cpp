//===- CodeGenerator.cpp - from the LLVM dialect to a GPU's code ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/CodeGenerator.h"

#include "lib/target/LlvmPasses.h"
#include "lib/target/gpu/LlvmTool.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace heddle;
using namespace heddle::gpu;

CodeGenerator::CodeGenerator(const Chip &chip) : chip(chip) {}
CodeGenerator::~CodeGenerator() = default;

/// Expands reductions of masks. LLVM would compare integers of as many bits as there are lanes,
/// which GPUs do not have.
static void expandMaskReductions(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &each : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
      if (!call || !call->getType()->isIntegerTy(1) ||
          !llvm::is_contained(
              {llvm::Intrinsic::vector_reduce_or, llvm::Intrinsic::vector_reduce_and},
              call->getIntrinsicID()))
        continue;
      llvm::IRBuilder<> b(call);
      llvm::Value *mask = call->getArgOperand(0), *all = nullptr;
      auto lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
      for (unsigned lane = 0; lane < lanes; ++lane) {
        llvm::Value *bit = b.CreateExtractElement(mask, lane);
        all = !all                                                          ? bit
              : call->getIntrinsicID() == llvm::Intrinsic::vector_reduce_or ? b.CreateOr(all, bit)
                                                                            : b.CreateAnd(all, bit);
      }
      call->replaceAllUsesWith(all);
      call->eraseFromParent();
    }
}

/// The pass for masked accesses tests the bits of such an integer on targets without divergence,
/// which SPIR-V's is said to be. Takes the lanes of the mask instead.
static void takeLanesOfMasks(llvm::Module &module) {
  llvm::SmallVector<llvm::Instruction *> dead;
  for (llvm::Function &function : module)
    for (llvm::Instruction &each : llvm::instructions(function)) {
      auto *cast = llvm::dyn_cast<llvm::BitCastInst>(&each);
      auto *type = cast ? llvm::dyn_cast<llvm::FixedVectorType>(cast->getSrcTy()) : nullptr;
      if (!type || !type->getElementType()->isIntegerTy(1))
        continue;
      for (llvm::User *user : cast->users()) {
        const llvm::APInt *bit;
        if (!match(user, llvm::PatternMatch::m_And(llvm::PatternMatch::m_Specific(cast),
                                                   llvm::PatternMatch::m_Power2(bit))))
          continue;
        for (llvm::User *test : llvm::make_early_inc_range(user->users())) {
          auto *compare = llvm::dyn_cast<llvm::ICmpInst>(test);
          if (!compare || compare->getPredicate() != llvm::ICmpInst::ICMP_NE)
            continue;
          llvm::IRBuilder<> b(compare);
          compare->replaceAllUsesWith(
              b.CreateExtractElement(cast->getOperand(0), uint64_t(bit->logBase2())));
          dead.push_back(compare);
        }
      }
    }
  for (llvm::Instruction *each : dead)
    each->eraseFromParent();
}

/// The functions that chips lack; all of them are builtins, for f32 with "f" at the end.
static bool isBuiltin(llvm::Intrinsic::ID id) {
  using namespace llvm;
  switch (id) {
  case Intrinsic::exp:
  case Intrinsic::exp2:
  case Intrinsic::exp10:
  case Intrinsic::log:
  case Intrinsic::log2:
  case Intrinsic::log10:
  case Intrinsic::pow:
  case Intrinsic::sin:
  case Intrinsic::cos:
  case Intrinsic::tanh:
    return true;
  default:
    return false;
  }
}

/// Replaces mathematics that chips lack by calls of builtins, and fixes what LLVM leaves open:
/// whether a product and a sum are fused.
static void callBuiltins(llvm::Module &module) {
  auto callee = [&](const std::string &name, llvm::FunctionType *type) {
    return module.getOrInsertFunction(name, type);
  };
  for (llvm::Function &function : llvm::make_early_inc_range(module))
    for (llvm::Instruction &each : llvm::make_early_inc_range(llvm::instructions(function))) {
      llvm::Type *type = each.getType();
      std::string suffix = type->isFloatTy() ? "f" : "";
      llvm::IRBuilder<> b(&each);
      llvm::Value *made = nullptr;
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&each)) {
        if (call->getIntrinsicID() == llvm::Intrinsic::fmuladd) {
          made = b.CreateIntrinsic(
              llvm::Intrinsic::fma, {type},
              {call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2)});
        } else if (isBuiltin(call->getIntrinsicID())) {
          llvm::StringRef name = llvm::Intrinsic::getBaseName(call->getIntrinsicID());
          llvm::SmallVector<llvm::Value *> arguments(call->args());
          made = b.CreateCall(callee(name.drop_front(5).str() + suffix, call->getFunctionType()),
                              arguments);
        }
      }
      if (made) {
        each.replaceAllUsesWith(made);
        each.eraseFromParent();
      }
    }
}

/// Links the builtins that are called.
static llvm::Error linkBuiltins(llvm::Module &module, llvm::StringRef bitcode) {
  llvm::SmallVector<std::string> lacking;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        !function.getName().starts_with("_Z")) // builtin variables of OpenCL
      lacking.push_back(function.getName().str());
  if (lacking.empty())
    return llvm::Error::success();
  auto builtins = llvm::parseBitcodeFile({bitcode, "builtins"}, module.getContext());
  if (!builtins)
    return builtins.takeError();
  (*builtins)->setDataLayout(module.getDataLayout());
  (*builtins)->setTargetTriple(module.getTargetTriple());
  if (llvm::Linker::linkModules(module, std::move(*builtins), llvm::Linker::LinkOnlyNeeded))
    return llvm::createStringError("the builtins can't be linked");
  for (const std::string &name : lacking) {
    llvm::Function *function = module.getFunction(name);
    if (function->isDeclaration())
      return llvm::createStringError("it calls '" + name + "', which GPUs lack");
    for (llvm::User *user : function->users())
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(user)) // else the call would be undefined
        call->setCallingConv(function->getCallingConv());
  }
  return llvm::Error::success();
}

/// No pass of these moves a call of a convergent function (a barrier) into or out of a branch.
static constexpr llvm::StringLiteral withoutMasks =
    "function(early-cse<memssa>,simplifycfg,expand-reductions,scalarize-masked-mem-intrin)";
static constexpr llvm::StringLiteral toScalars =
    "function(scalarizer<load-store;variable-insert-extract>)";
static constexpr llvm::StringLiteral optimisation =
    "always-inline,function(early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),loop(indvars,loop-deletion),early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg),globaldce";

/// Registers a back end, once for all threads, and looks it up.
static const llvm::Target *targetOf(const llvm::Triple &triple, const Chip::BackEnd &back,
                                    std::string &error) {
  static std::mutex registry;
  std::lock_guard<std::mutex> lock(registry);
  back.initialize();
  return llvm::TargetRegistry::lookupTarget(triple, error);
}

llvm::Expected<std::unique_ptr<llvm::Module>> CodeGenerator::optimised(mlir::Operation *source,
                                                                       llvm::LLVMContext &context) {
  Chip::BackEnd back = chip.backEnd();
  llvm::Triple triple(back.triple);
  std::string error;
  const llvm::Target *found = targetOf(triple, back, error);
  if (!found)
    return llvm::createStringError(error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // A new one each time: SPIR-V's has state of the last module.
  machine.reset(found->createTargetMachine(triple, back.cpu, back.features, options,
                                           llvm::Reloc::PIC_, std::nullopt, back.effort));
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(source, context, "heddle");
  if (!module)
    return llvm::createStringError("the module does not translate to LLVM IR");
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  expandMaskReductions(*module);
  runPasses(*module, *machine, withoutMasks);
  takeLanesOfMasks(*module);
  runPasses(*module, *machine, toScalars);
  chip.expand(*module);
  callBuiltins(*module);
  if (llvm::Error error = linkBuiltins(*module, back.builtins))
    return error;
  for (llvm::Function &function : *module)
    if (!function.isDeclaration()) {
      function.addFnAttr(llvm::Attribute::NoUnwind);
      function.addFnAttr("no-builtins");
      if (!back.cpu.empty())
        function.addFnAttr("target-cpu", back.cpu);
      if (function.getCallingConv() == llvm::CallingConv::C ||
          function.getCallingConv() == llvm::CallingConv::SPIR_FUNC)
        function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  runPasses(*module, *machine, optimisation);
  chip.legalize(*module);
  return module;
}

/// Runs the back end in a process of its own.
static llvm::Expected<std::string>
generateApart(const llvm::Module &module, const Chip::BackEnd &back, llvm::CodeGenFileType file) {
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  std::string effort = "-O" + std::to_string(int(back.effort)),
              triple = "-mtriple=" + module.getTargetTriple().str();
  bool isText = file == llvm::CodeGenFileType::AssemblyFile;
  return runLlvmTool(
      {"llc", "llvm-22"}, bitcode,
      {effort, triple, "-fp-contract=off", isText ? "-filetype=asm" : "-filetype=obj"});
}

llvm::Expected<std::string> CodeGenerator::generate(llvm::Module &module,
                                                    llvm::CodeGenFileType file) {
  if (chip.backEnd().inOwnProcess)
    return generateApart(module, chip.backEnd(), file);
  llvm::SmallString<0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, file, /*DisableVerify=*/true))
    return llvm::createStringError("the target '" + chip.name() + "' can't emit this kind of file");
  passes.run(module);
  return buffer.str().str();
}

llvm::Expected<std::string> CodeGenerator::image(mlir::Operation *source) {
  llvm::LLVMContext context;
  auto module = optimised(source, context);
  if (!module)
    return module.takeError();
  auto code = generate(**module, chip.backEnd().file);
  if (!code)
    return code.takeError();
  return chip.finish(std::move(*code));
}

llvm::Expected<std::string> CodeGenerator::print(mlir::Operation *source, KernelForm form) {
  llvm::LLVMContext context;
  auto module = optimised(source, context);
  if (!module)
    return module.takeError();
  if (form == KernelForm::Assembly)
    return generate(**module, llvm::CodeGenFileType::AssemblyFile);
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream, nullptr);
  return text;
}
