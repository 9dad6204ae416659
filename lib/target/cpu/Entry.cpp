//===- Entry.cpp - the function that runs a program's steps ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/Entry.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace heddle::cpu;
using namespace mlir;

namespace {
class EntryBuilder {
public:
  EntryBuilder(MLIRContext *context, const std::string &symbol, const std::vector<EntryStep> &steps)
      : b(context), loc(UnknownLoc::get(context)), steps(steps), symbol(symbol) {
    pointer = LLVM::LLVMPointerType::get(context);
    i32 = b.getI32Type();
    i64 = b.getI64Type();
  }

  OwningOpRef<ModuleOp> build() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    llvm::StringSet<> declared;
    auto kernelType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, pointer});
    for (const EntryStep &step : steps)
      if (declared.insert(step.kernel).second)
        LLVM::LLVMFuncOp::create(b, loc, step.kernel, kernelType)
            .setVisibility_(LLVM::Visibility::Hidden);
    function = LLVM::LLVMFuncOp::create(b, loc, symbol, LLVM::LLVMFunctionType::get(i32, {pointer, i32, i32}));
    Block *entry = function.addEntryBlock(b);
    call = entry->getArgument(0);
    thread = entry->getArgument(1);
    b.setInsertionPointToEnd(entry);
    addresses = field(0);
    counters = field(8);
    scratch = loadAt(element(field(16), LLVM::ZExtOp::create(b, loc, i64, thread)));
    table = field(32);
    hooks = LLVM::LoadOp::create(b, loc, i64, offset(call, 40));
    isFirst = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, thread, number(i32, 0));
    exit = new Block();
    exit->addArgument(i32, loc);
    bool pendingSerial = false; // thread 0 may be behind the others
    for (auto [i, step] : llvm::enumerate(steps)) {
      callHook(int64_t(i), pendingSerial);
      if (!step.serial && pendingSerial)
        barrier();
      emitStep(step, int64_t(i));
      if (!step.serial)
        barrier();
      pendingSerial = step.serial;
    }
    callHook(int64_t(steps.size()), pendingSerial);
    if (pendingSerial || steps.empty())
      barrier();
    LLVM::BrOp::create(b, loc, ValueRange{number(i32, 0)}, exit);
    function.getBody().push_back(exit);
    b.setInsertionPointToEnd(exit);
    LLVM::ReturnOp::create(b, loc, exit->getArgument(0));
    return module;
  }

private:
  OpBuilder b;
  Location loc;
  const std::vector<EntryStep> &steps;
  std::string symbol;
  Type pointer, i32, i64;
  LLVM::LLVMFuncOp function;
  Value call, thread, addresses, counters, scratch, table, hooks, isFirst;
  Block *exit = nullptr;

  Value number(Type type, int64_t value) { return LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value)); }
  Value offset(Value base, int64_t bytes) {
    return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
  }
  Value element(Value base, Value index) {
    return LLVM::GEPOp::create(b, loc, pointer, pointer, base, ArrayRef<LLVM::GEPArg>{index});
  }
  Value loadAt(Value place) { return LLVM::LoadOp::create(b, loc, pointer, place); }
  Value field(int64_t bytes) { return loadAt(offset(call, bytes)); }

  Block *newBlock() {
    Block *block = new Block();
    function.getBody().push_back(block);
    return block;
  }

  /// Calls a function of the table; a status other than zero leaves.
  void callTable(int64_t slot, Value argument) {
    Value callee = loadAt(offset(table, slot));
    auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i32});
    Value status = LLVM::CallOp::create(b, loc, type, ValueRange{callee, call, argument}).getResult();
    Value failed = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, status, number(i32, 0));
    Block *next = newBlock();
    LLVM::CondBrOp::create(b, loc, failed, exit, ValueRange{status}, next, ValueRange{});
    b.setInsertionPointToEnd(next);
  }

  void barrier() { callTable(0, thread); }

  /// With hooks every step starts with: barrier (if others may be ahead), thread 0 calls the hook, barrier.
  void callHook(int64_t step, bool &pendingSerial) {
    Block *hooked = newBlock(), *after = newBlock();
    Value any = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, hooks, number(i64, 0));
    LLVM::CondBrOp::create(b, loc, any, hooked, after);
    b.setInsertionPointToEnd(hooked);
    if (pendingSerial)
      barrier();
    Block *first = newBlock(), *all = newBlock();
    LLVM::CondBrOp::create(b, loc, isFirst, first, all);
    b.setInsertionPointToEnd(first);
    callTable(8, number(i32, step));
    LLVM::BrOp::create(b, loc, ValueRange{}, all);
    b.setInsertionPointToEnd(all);
    barrier();
    LLVM::BrOp::create(b, loc, ValueRange{}, after);
    b.setInsertionPointToEnd(after);
  }

  void emitStep(const EntryStep &step, int64_t index) {
    Block *run = newBlock(), *done = new Block();
    if (step.serial)
      LLVM::CondBrOp::create(b, loc, isFirst, run, done);
    else
      LLVM::BrOp::create(b, loc, ValueRange{}, run);
    b.setInsertionPointToEnd(run);
    Value slots = slotsOf(step);
    Block *head = newBlock(), *body = newBlock();
    if (step.serial) {
      head->addArgument(i64, loc);
      LLVM::BrOp::create(b, loc, ValueRange{number(i64, 0)}, head);
    } else {
      LLVM::BrOp::create(b, loc, ValueRange{}, head);
    }
    b.setInsertionPointToEnd(head);
    Value chunk = step.serial
                      ? Value(head->getArgument(0))
                      : Value(LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, offset(counters, 64 * index),
                                                        number(i64, 1), LLVM::AtomicOrdering::monotonic));
    Value more = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, chunk, number(i64, step.chunks));
    LLVM::CondBrOp::create(b, loc, more, body, done);
    b.setInsertionPointToEnd(body);
    LLVM::CallOp::create(b, loc, TypeRange{}, step.kernel, ValueRange{slots, chunk, scratch});
    if (step.serial)
      LLVM::BrOp::create(b, loc, ValueRange{LLVM::AddOp::create(b, loc, chunk, number(i64, 1))}, head);
    else
      LLVM::BrOp::create(b, loc, ValueRange{}, head);
    function.getBody().push_back(done);
    b.setInsertionPointToEnd(done);
  }

  /// The addresses that a kernel is given, on this thread's stack.
  Value slotsOf(const EntryStep &step) {
    OpBuilder::InsertPoint here = b.saveInsertionPoint();
    b.setInsertionPointToStart(&function.getBody().front());
    Value slots = LLVM::AllocaOp::create(b, loc, pointer, pointer,
                                         number(i64, std::max<int64_t>(1, int64_t(step.values.size()))));
    b.restoreInsertionPoint(here);
    for (auto [position, value] : llvm::enumerate(step.values)) {
      Value address = loadAt(offset(addresses, 8 * int64_t(value)));
      LLVM::StoreOp::create(b, loc, address, offset(slots, 8 * int64_t(position)));
    }
    return slots;
  }
};
} // namespace

OwningOpRef<ModuleOp> cpu::buildEntry(MLIRContext *context, const std::string &symbol,
                                      const std::vector<EntryStep> &steps) {
  context->loadDialect<LLVM::LLVMDialect>();
  return EntryBuilder(context, symbol, steps).build();
}
