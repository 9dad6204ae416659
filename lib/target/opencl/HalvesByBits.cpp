//===- HalvesByBits.cpp - f16 for devices that lack it --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/opencl/HalvesByBits.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
class Halves {
public:
  explicit Halves(Module &module) : module(module), b(module.getContext()) {}

  void replace(Function &function) {
    // Definitions come before their uses, except those of phis.
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
      for (Instruction &each : *block)
        if (replaces(each))
          replaced.push_back(&each);
    for (auto [phi, bits] : phis)
      for (auto [value, block] : zip_equal(phi->incoming_values(), phi->blocks())) {
        b.SetInsertPoint(block->getTerminator());
        bits->addIncoming(bitsOf(value), block);
      }
    for (Instruction *each : reverse(replaced)) {
      each->replaceAllUsesWith(PoisonValue::get(each->getType()));
      each->eraseFromParent();
    }
  }

private:
  Module &module;
  IRBuilder<> b;
  DenseMap<Value *, Value *> bits; ///< the i16 of each half
  SmallVector<Instruction *> replaced;
  SmallVector<std::pair<PHINode *, PHINode *>> phis;

  Value *call(StringRef name, Type *result, Value *operand) {
    return b.CreateCall(module.getOrInsertFunction(name, result, operand->getType()), operand);
  }
  Value *bitsOf(Value *half) {
    if (auto *number = dyn_cast<ConstantFP>(half))
      return b.getInt(number->getValueAPF().bitcastToAPInt());
    if (isa<UndefValue>(half))
      return UndefValue::get(b.getInt16Ty());
    Value *known = bits.lookup(half);
    return known ? known : b.CreateBitCast(half, b.getInt16Ty());
  }
  Value *floatOf(Value *half) { return call("heddle_half_to_float", b.getFloatTy(), bitsOf(half)); }
  Value *halfOf(Value *x) {
    StringRef name = x->getType()->isDoubleTy() ? "heddle_double_to_half" : "heddle_float_to_half";
    return call(name, b.getInt16Ty(), x);
  }
  static bool isHalf(Value *value) { return value->getType()->isHalfTy(); }

  /// Emits what replaces an instruction; false: nothing does.
  bool replaces(Instruction &each) {
    if (auto *address = dyn_cast<GetElementPtrInst>(&each)) {
      if (address->getSourceElementType()->isHalfTy())
        address->setSourceElementType(b.getInt16Ty()),
            address->setResultElementType(b.getInt16Ty());
      return false;
    }
    if (!isHalf(&each) && none_of(each.operand_values(), isHalf))
      return false;
    b.SetInsertPoint(&each);
    if (Value *made = isHalf(&each) ? half(each) : ofHalves(each)) {
      if (isHalf(&each))
        bits[&each] = made;
      else if (!each.getType()->isVoidTy())
        each.replaceAllUsesWith(made);
      return true;
    }
    for (Use &use : each.operands()) // it stays, as the insertion into a vector does
      if (Value *known = bits.lookup(use))
        use.set(b.CreateBitCast(known, use->getType()));
    return false;
  }

  /// The bits of an instruction's result.
  Value *half(Instruction &each) {
    if (auto *load = dyn_cast<LoadInst>(&each))
      return b.CreateAlignedLoad(b.getInt16Ty(), load->getPointerOperand(), load->getAlign(),
                                 load->isVolatile());
    if (auto *select = dyn_cast<SelectInst>(&each))
      return b.CreateSelect(select->getCondition(), bitsOf(select->getTrueValue()),
                            bitsOf(select->getFalseValue()));
    if (auto *phi = dyn_cast<PHINode>(&each)) {
      phis.emplace_back(phi, b.CreatePHI(b.getInt16Ty(), phi->getNumIncomingValues()));
      return phis.back().second;
    }
    Value *first = each.getOperand(0);
    switch (each.getOpcode()) {
    case Instruction::BitCast:
      return first->getType()->isIntegerTy() ? first : nullptr;
    case Instruction::Freeze:
      return b.CreateFreeze(bitsOf(first));
    case Instruction::FNeg:
      return b.CreateXor(bitsOf(first), 0x8000);
    case Instruction::FPTrunc:
      return halfOf(first);
    case Instruction::SIToFP: // what f32 rounds is infinite in f16
    case Instruction::UIToFP:
      return halfOf(b.CreateCast(Instruction::CastOps(each.getOpcode()), first, b.getFloatTy()));
    default:
      Value *wide = inFloats(each);
      return wide ? halfOf(wide) : nullptr;
    }
  }

  /// The result of an instruction that takes halves.
  Value *ofHalves(Instruction &each) {
    if (auto *store = dyn_cast<StoreInst>(&each))
      return b.CreateAlignedStore(bitsOf(store->getValueOperand()), store->getPointerOperand(),
                                  store->getAlign(), store->isVolatile());
    if (each.getOpcode() == Instruction::BitCast)
      return b.CreateBitCast(bitsOf(each.getOperand(0)), each.getType());
    if (each.getOpcode() == Instruction::FPExt)
      return b.CreateFPExt(floatOf(each.getOperand(0)), each.getType());
    return inFloats(each);
  }

  /// The same instruction in f32; null for others than arithmetic.
  Value *inFloats(Instruction &each) {
    if (!isa<IntrinsicInst, FCmpInst, BinaryOperator, CastInst>(each))
      return nullptr;
    SmallVector<Value *> operands;
    for (Value *operand : each.operand_values())
      operands.push_back(isHalf(operand) ? floatOf(operand) : operand);
    if (auto *intrinsic = dyn_cast<IntrinsicInst>(&each)) {
      operands.pop_back(); // the callee
      Type *result = isHalf(&each) ? b.getFloatTy() : each.getType();
      return b.CreateIntrinsic(result, intrinsic->getIntrinsicID(), operands);
    }
    if (auto *compare = dyn_cast<FCmpInst>(&each))
      return b.CreateFCmp(compare->getPredicate(), operands[0], operands[1]);
    if (auto *binary = dyn_cast<BinaryOperator>(&each))
      return b.CreateBinOp(binary->getOpcode(), operands[0], operands[1]);
    return b.CreateCast(cast<CastInst>(each).getOpcode(), operands[0], each.getType());
  }
};
} // namespace

void heddle::gpu::replaceHalvesByBits(Module &module) {
  for (Function &function : make_early_inc_range(module))
    if (!function.isDeclaration())
      Halves(module).replace(function);
}
