//===- OpenCl.cpp - SPIR-V for OpenCL -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `opencl`: kernels as SPIR-V 1.2, for any device that takes it (clCreateProgramWithIL). OpenCL
// does not say how many lanes a warp has, so lanes exchange values through memory, unless a module
// states `shuffle_lanes`: shuffles are SPIR-V 1.3.
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/Gpu.h"
#include "lib/target/opencl/HalvesByBits.h"

#include "mlir/Conversion/GPUToLLVMSPV/GPUToLLVMSPVPass.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/TargetParser/Triple.h"

#include <cmath>

using namespace heddle;

extern "C" {
void LLVMInitializeSPIRVTargetInfo();
void LLVMInitializeSPIRVTarget();
void LLVMInitializeSPIRVTargetMC();
void LLVMInitializeSPIRVAsmPrinter();
}

static const unsigned char builtins[] = {
#include "lib/target/opencl/Builtins.inc"
};

/// LLVM 22 selects a wrong type for the extension of a truncated integer if the result is narrower
/// than what was truncated. Makes a mask instead.
static llvm::Value *maskOf(llvm::IRBuilder<> &b, llvm::ZExtInst &wide) {
  auto *narrow = llvm::dyn_cast<llvm::TruncInst>(wide.getOperand(0));
  if (!narrow)
    return nullptr;
  unsigned kept = narrow->getType()->getScalarSizeInBits(),
           bits = wide.getType()->getScalarSizeInBits();
  if (bits >= narrow->getSrcTy()->getScalarSizeInBits())
    return nullptr;
  llvm::Value *cut = b.CreateTrunc(narrow->getOperand(0), wide.getType());
  return b.CreateAnd(cut, llvm::APInt::getLowBitsSet(bits, kept));
}

/// Intel's runtime computes `x << 33 >> 32` of a lane's number as x where it runs a warp as a
/// vector. LLVM makes such shifts of an extended integer: extends again.
static llvm::Value *extensionOf(llvm::IRBuilder<> &b, llvm::BinaryOperator &right) {
  using namespace llvm::PatternMatch;
  llvm::Value *x;
  const llvm::APInt *up, *down;
  if (!match(&right, m_AShr(m_Shl(m_Value(x), m_APInt(up)), m_APInt(down))) || up->ult(*down))
    return nullptr;
  unsigned bits = right.getType()->getScalarSizeInBits() - unsigned(down->getZExtValue());
  if (bits < 8 || !llvm::isPowerOf2_32(bits))
    return nullptr;
  llvm::Type *narrow = b.getIntNTy(bits);
  if (auto *vector = llvm::dyn_cast<llvm::VectorType>(right.getType()))
    narrow = llvm::VectorType::get(narrow, vector->getElementCount());
  llvm::Value *low = b.CreateTrunc(x, narrow);
  return b.CreateSExt(b.CreateShl(low, (*up - *down).getZExtValue()), right.getType());
}

/// LLVM 22 selects OpenCL's fmax, which drops NaN and may take any of two zeros.
static llvm::Value *extremeOf(llvm::IRBuilder<> &b, llvm::IntrinsicInst &call) {
  bool isMax = call.getIntrinsicID() == llvm::Intrinsic::maximum;
  if (!isMax && call.getIntrinsicID() != llvm::Intrinsic::minimum)
    return nullptr;
  llvm::Value *x = call.getArgOperand(0), *y = call.getArgOperand(1);
  llvm::Type *type = x->getType(), *bits = b.getIntNTy(type->getScalarSizeInBits());
  llvm::Value *xBits = b.CreateBitCast(x, bits), *yBits = b.CreateBitCast(y, bits);
  // Of zeros with different signs, -0 is smaller.
  llvm::Value *equal =
      b.CreateBitCast(isMax ? b.CreateAnd(xBits, yBits) : b.CreateOr(xBits, yBits), type);
  llvm::Value *first = isMax ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
  llvm::Value *chosen = b.CreateSelect(b.CreateFCmpOEQ(x, y), equal, b.CreateSelect(first, x, y));
  return b.CreateSelect(b.CreateFCmpUNO(x, y), b.CreateFAdd(x, y), chosen);
}

/// LLVM 22 has no code for reversed bits, which it makes of shifts and masks of few bits: writes
/// one by one.
static llvm::Value *reversalOf(llvm::IRBuilder<> &b, llvm::IntrinsicInst &call) {
  unsigned bits = call.getType()->getScalarSizeInBits();
  llvm::Type *type = b.getIntNTy(std::max(8u, unsigned(llvm::PowerOf2Ceil(bits))));
  llvm::Value *from = call.getArgOperand(0), *reversed = llvm::ConstantInt::get(type, 0);
  if (auto *narrow = llvm::dyn_cast<llvm::TruncInst>(from))
    from = narrow->getOperand(0);
  from = b.CreateZExtOrTrunc(from, type);
  for (unsigned bit = 0; bit < bits; ++bit)
    reversed =
        b.CreateOr(reversed, b.CreateShl(b.CreateAnd(b.CreateLShr(from, bit), 1), bits - 1 - bit));
  return b.CreateTrunc(reversed, call.getType());
}

/// OpenCL 1.2 has no ctz: looks for a one in half of the bits, in half of these, and so on.
static llvm::Value *trailingZerosOf(llvm::IRBuilder<> &b, llvm::Value *x) {
  llvm::Type *type = x->getType();
  llvm::Value *zero = llvm::ConstantInt::get(type, 0), *zeros = zero;
  auto skip = [&](unsigned bits, llvm::Value *ifZero) {
    llvm::Value *isZero = b.CreateICmpEQ(ifZero, zero);
    zeros = b.CreateAdd(zeros, b.CreateSelect(isZero, llvm::ConstantInt::get(type, bits), zero));
    return isZero;
  };
  unsigned width = type->getScalarSizeInBits();
  for (unsigned bits = width / 2; bits > 0; bits /= 2) {
    auto low = llvm::ConstantInt::get(type, llvm::APInt::getLowBitsSet(width, bits));
    llvm::Value *isZero = skip(bits, b.CreateAnd(x, low));
    x = b.CreateSelect(isZero, b.CreateLShr(x, bits), x);
  }
  skip(1, x);
  return zeros;
}

/// Bits of two integers side by side, from the top of the first one on: two shifts, since
/// translators of SPIR-V may lack the function.
static llvm::Value *funnelOf(llvm::IRBuilder<> &b, llvm::IntrinsicInst &call) {
  llvm::Type *type = call.getType();
  unsigned width = type->getScalarSizeInBits();
  llvm::Value *last = llvm::ConstantInt::get(type, width - 1);
  llvm::Value *by = b.CreateURem(call.getArgOperand(2), llvm::ConstantInt::get(type, width));
  llvm::Value *rest = b.CreateLShr(b.CreateLShr(call.getArgOperand(1), 1), b.CreateSub(last, by));
  return b.CreateOr(b.CreateShl(call.getArgOperand(0), by), rest);
}

/// The function of OpenCL that shuffles.
static constexpr llvm::StringLiteral shuffleName = "_Z21sub_group_shuffle_xorij";

/// Devices differ in conversions that saturate: Intel's runtime lacks them where it runs a warp as
/// a vector, and Oclgrind makes the least integer of NaN. Selects instead.
static llvm::Value *saturated(llvm::IRBuilder<> &b, llvm::IntrinsicInst &call) {
  bool isSigned = call.getIntrinsicID() == llvm::Intrinsic::fptosi_sat;
  if (!isSigned && call.getIntrinsicID() != llvm::Intrinsic::fptoui_sat)
    return nullptr;
  llvm::Value *x = call.getArgOperand(0);
  llvm::Type *from = x->getType(), *to = call.getType();
  unsigned bits = to->getScalarSizeInBits();
  auto limit = [&](double at, const llvm::APInt &integer) {
    return std::pair(llvm::ConstantFP::get(from, at), llvm::ConstantInt::get(to, integer));
  };
  auto [low, least] =
      isSigned ? limit(-std::ldexp(1.0, int(bits) - 1), llvm::APInt::getSignedMinValue(bits))
               : limit(0, llvm::APInt(bits, 0));
  auto [high, most] =
      isSigned ? limit(std::ldexp(1.0, int(bits) - 1), llvm::APInt::getSignedMaxValue(bits))
               : limit(std::ldexp(1.0, int(bits)), llvm::APInt::getMaxValue(bits));
  llvm::Value *whole = isSigned ? b.CreateFPToSI(x, to) : b.CreateFPToUI(x, to);
  whole = b.CreateSelect(b.CreateFCmpOGE(x, high), most, whole);
  whole = b.CreateSelect(b.CreateFCmpOLT(x, low), least, whole);
  return b.CreateSelect(b.CreateFCmpUNO(x, x), llvm::ConstantInt::get(to, 0), whole);
}

/// Intel's runtime moves a shuffle behind a branch that only the first lane takes, where that lane
/// finds nobody, unless the block waits in between.
static void waitAfterShuffles(llvm::Module &module) {
  llvm::Type *i32 = llvm::Type::getInt32Ty(module.getContext());
  auto *wait = llvm::cast<llvm::Function>(
      module.getOrInsertFunction("_Z7barrierj", llvm::Type::getVoidTy(module.getContext()), i32)
          .getCallee());
  wait->setCallingConv(llvm::CallingConv::SPIR_FUNC);
  wait->addFnAttr(llvm::Attribute::Convergent);
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function) {
      llvm::CallInst *last = nullptr;
      for (llvm::Instruction &each : block)
        if (auto *call = llvm::dyn_cast<llvm::CallInst>(&each); call && call->getCalledFunction())
          last = call->getCalledFunction()->getName() == shuffleName ? call
                 : call->getCalledFunction() == wait                 ? nullptr
                                                                     : last;
      if (!last)
        continue;
      llvm::IRBuilder<> b(last->getNextNode());
      b.CreateCall(wait, llvm::ConstantInt::get(i32, /*CLK_LOCAL_MEM_FENCE*/ 1))
          ->setCallingConv(llvm::CallingConv::SPIR_FUNC);
    }
}

/// Returns the replacement of an instruction that the back end gets wrong; null: it is right.
static llvm::Value *legal(llvm::Instruction &each) {
  llvm::IRBuilder<> b(&each);
  if (auto *wide = llvm::dyn_cast<llvm::ZExtInst>(&each))
    return maskOf(b, *wide);
  if (auto *shift = llvm::dyn_cast<llvm::BinaryOperator>(&each))
    return extensionOf(b, *shift);
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
  if (!call)
    return nullptr;
  if (call->getIntrinsicID() == llvm::Intrinsic::bitreverse)
    return reversalOf(b, *call);
  if (call->getIntrinsicID() == llvm::Intrinsic::cttz)
    return trailingZerosOf(b, call->getArgOperand(0));
  if (call->getIntrinsicID() == llvm::Intrinsic::fshl)
    return funnelOf(b, *call);
  llvm::Value *whole = saturated(b, *call);
  return whole ? whole : extremeOf(b, *call);
}

namespace {
class OpenCl : public heddle::gpu::Chip {
public:
  std::string name() const override { return "opencl"; }
  std::string device() const override { return "opencl"; }

  void addConversion(mlir::OpPassManager &passes) const override {
    passes.addPass(mlir::createConvertGpuOpsToLLVMSPVOps({.use64bitIndex = true}));
  }

  void expand(llvm::Module &module) const override { gpu::replaceHalvesByBits(module); }

  void legalize(llvm::Module &module) const override {
    bool shuffles = module.getFunction(shuffleName);
    if (shuffles) {
      module.setTargetTriple(llvm::Triple("spirv64v1.3-unknown-unknown"));
      waitAfterShuffles(module);
    }
    for (llvm::Function &function : module) {
      if (!shuffles) // the device chooses
        function.setMetadata("intel_reqd_sub_group_size", nullptr);
      for (llvm::Instruction &each : llvm::make_early_inc_range(llvm::instructions(function)))
        if (llvm::Value *made = legal(each)) {
          each.replaceAllUsesWith(made);
          each.eraseFromParent();
        }
    }
  }

  BackEnd backEnd() const override {
    auto initialize = [] {
      LLVMInitializeSPIRVTargetInfo();
      LLVMInitializeSPIRVTarget();
      LLVMInitializeSPIRVTargetMC();
      LLVMInitializeSPIRVAsmPrinter();
    };
    // The device's compiler optimises. LLVM would make sums with carry, which Intel's can't read.
    return {"spirv64v1.2-unknown-unknown",
            "",
            "",
            llvm::CodeGenFileType::ObjectFile,
            initialize,
            {reinterpret_cast<const char *>(builtins), sizeof(builtins)},
            llvm::CodeGenOptLevel::None,
            /*inOwnProcess=*/true};
  }
};

const TargetRegistration registered(
    {"opencl"}, [](llvm::StringRef name) { return name == "opencl"; },
    [](llvm::StringRef) { return heddle::gpu::makeTarget(std::make_unique<OpenCl>()); });
} // namespace
