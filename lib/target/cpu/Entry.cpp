//===- Entry.cpp - the function that runs a program's steps ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/Entry.h"
#include "runtime/format/Abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringSet.h"

#include <cstddef>

using namespace heddle;
using namespace heddle::cpu;
using namespace mlir;

namespace {
/// The function that is being built, and its values.
struct Writing {
  LLVM::LLVMFuncOp function;
  Value call, thread, addresses, counters, scratch, table, hooked, isFirst, slots, numbers;
  Block *exit = nullptr;
};

class EntryBuilder : Writing {
public:
  EntryBuilder(MLIRContext *context, const std::string &symbol, const std::vector<StepSpec> &steps)
      : b(context), loc(UnknownLoc::get(context)), symbol(symbol), steps(steps) {
    pointer = LLVM::LLVMPointerType::get(context);
    i32 = b.getI32Type();
    i64 = b.getI64Type();
    std::vector<size_t> open;
    for (size_t i = 0; i < steps.size(); ++i) {
      ends.push_back(i + 1);
      StepKind kind = steps[i].kind;
      if (kind == StepKind::If || kind == StepKind::Loop)
        open.push_back(i);
      else if (kind == StepKind::EndIf || kind == StepKind::EndLoop)
        ends[open.back()] = i + 1, open.pop_back();
    }
  }

  OwningOpRef<ModuleOp> build() {
    module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    declareKernels();
    buildHook();
    startFunction(symbol, LLVM::Linkage::External);
    startSteps(0, steps.size());
    emitSteps(0, steps.size());
    meet(int64_t(steps.size()), false);
    finishFunction();
    return std::move(module);
  }

private:
  OpBuilder b;
  Location loc;
  const std::string &symbol;
  const std::vector<StepSpec> &steps;
  Type pointer, i32, i64;
  OwningOpRef<ModuleOp> module;
  LLVM::LLVMFuncOp hook;
  std::vector<size_t> ends; ///< `behind` each step

  Value number(Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value));
  }
  Value compare(LLVM::ICmpPredicate predicate, Value left, Value right) {
    return LLVM::ICmpOp::create(b, loc, predicate, left, right);
  }
  Value offset(Value base, int64_t bytes) {
    return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
  }
  Value load(Value address) { return LLVM::LoadOp::create(b, loc, pointer, address); }
  Value field(int64_t bytes) { return load(offset(call, bytes)); }

  Block *newBlock() {
    Block *block = new Block();
    function.getBody().push_back(block);
    return block;
  }

  void declareKernels() {
    llvm::StringSet<> declared;
    auto nothing = LLVM::LLVMVoidType::get(b.getContext());
    auto type = LLVM::LLVMFunctionType::get(nothing, {pointer, i64, pointer});
    for (const StepSpec &step : steps)
      if (step.kind == StepKind::Kernel && declared.insert(step.kernel).second)
        LLVM::LLVMFuncOp::create(b, loc, step.kernel, type)
            .setVisibility_(LLVM::Visibility::Hidden);
  }

  /// Starts a function of call, thread and a number; block `exit` returns its argument, a status.
  void startFunction(const std::string &name, LLVM::Linkage linkage) {
    b.setInsertionPointToEnd(module->getBody());
    auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i32, i32});
    function = LLVM::LLVMFuncOp::create(b, loc, name, type, linkage);
    Block *entry = function.addEntryBlock(b);
    call = entry->getArgument(0);
    thread = entry->getArgument(1);
    b.setInsertionPointToEnd(entry);
    exit = new Block();
    exit->addArgument(i32, loc);
  }
  void finishFunction() {
    LLVM::BrOp::create(b, loc, ValueRange{number(i32, 0)}, exit);
    function.getBody().push_back(exit);
    b.setInsertionPointToEnd(exit);
    LLVM::ReturnOp::create(b, loc, exit->getArgument(0));
  }

  /// Branches to `exit` with the status if it is not zero.
  void check(Value status) {
    Block *next = newBlock();
    LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::ne, status, number(i32, 0)), exit,
                           ValueRange{status}, next, ValueRange{});
    b.setInsertionPointToEnd(next);
  }
  void callTable(int64_t slot, Value argument) {
    auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i32});
    Value callee = load(offset(table, slot));
    check(LLVM::CallOp::create(b, loc, type, ValueRange{callee, call, argument}).getResult());
  }
  void barrier() { callTable(offsetof(HeddleCallTable, barrier), thread); }

  /// int32_t hook(call, thread, step): a barrier, the call of the hook by thread 0, and a barrier.
  void buildHook() {
    startFunction(symbol + ".hook", LLVM::Linkage::Internal);
    function.setPassthroughAttr(b.getArrayAttr({b.getStringAttr("noinline")}));
    hook = function;
    table = field(offsetof(HeddleCall, table));
    barrier();
    Block *first = newBlock(), *all = newBlock();
    LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::eq, thread, number(i32, 0)), first,
                           all);
    b.setInsertionPointToEnd(first);
    callTable(offsetof(HeddleCallTable, step), function.getArgument(2));
    LLVM::BrOp::create(b, loc, ValueRange{}, all);
    b.setInsertionPointToEnd(all);
    barrier();
    finishFunction();
  }

  /// Loads the values that steps first ... end - 1 use in a function.
  void startSteps(size_t first, size_t end) {
    addresses = field(offsetof(HeddleCall, addresses));
    counters = field(offsetof(HeddleCall, counters));
    Value mine = LLVM::ZExtOp::create(b, loc, i64, thread);
    scratch =
        load(LLVM::GEPOp::create(b, loc, pointer, pointer, field(offsetof(HeddleCall, scratch)),
                                 ArrayRef<LLVM::GEPArg>{mine}));
    table = field(offsetof(HeddleCall, table));
    Value hooks = LLVM::LoadOp::create(b, loc, i64, offset(call, offsetof(HeddleCall, hooks)));
    hooked = compare(LLVM::ICmpPredicate::ne, hooks, number(i64, 0));
    isFirst = compare(LLVM::ICmpPredicate::eq, thread, number(i32, 0));
    size_t most = 1;
    for (size_t i = first; i < end; ++i)
      most = std::max(most, steps[i].values.size() + steps[i].numbers.size());
    numbers = field(offsetof(HeddleCall, symbols));
    slots = LLVM::AllocaOp::create(b, loc, pointer, pointer, number(i64, int64_t(most)));
  }

  /// Returns the step after the branch or loop that begins at `i`, or after step `i`.
  size_t behind(size_t i) const { return ends[i]; }

  /// Emits steps first ... end - 1. The number of steps in a function is limited, since the time of
  /// LLVM's passes is superlinear in its blocks.
  void emitSteps(size_t first, size_t end) {
    constexpr size_t most = 16;
    bool isWhole = end - first <= most;
    // Parts are nested, so that the number of calls in a function is limited too.
    size_t part = most;
    while (part * most < end - first)
      part *= most;
    for (size_t i = first, next; i < end; i = next) {
      next = behind(i);
      if (isWhole || (i == first && next == end)) {
        emitOne(i, next);
        continue;
      }
      while (next < end && behind(next) - i <= part)
        next = behind(next);
      emitPart(i, next);
    }
  }

  /// Emits the steps as a separate function, and a call of it.
  void emitPart(size_t first, size_t end) {
    Writing outer = *this;
    OpBuilder::InsertPoint here = b.saveInsertionPoint();
    startFunction(symbol + "." + std::to_string(first) + "." + std::to_string(end),
                  LLVM::Linkage::Internal);
    function.setPassthroughAttr(b.getArrayAttr({b.getStringAttr("noinline")}));
    LLVM::LLVMFuncOp part = function;
    startSteps(first, end);
    emitSteps(first, end);
    finishFunction();
    static_cast<Writing &>(*this) = outer;
    b.restoreInsertionPoint(here);
    check(LLVM::CallOp::create(b, loc, part, ValueRange{call, thread, number(i32, 0)}).getResult());
  }

  void branchTo(Block *block) { LLVM::BrOp::create(b, loc, ValueRange{}, block); }
  /// Branches to one of the blocks by a condition.
  void branchOn(const StepSpec &step, Block *yes, Block *no) {
    Value truth = LLVM::LoadOp::create(b, loc, b.getI8Type(),
                                       load(offset(addresses, 8 * int64_t(step.values[0]))));
    LLVM::CondBrOp::create(
        b, loc, compare(LLVM::ICmpPredicate::ne, truth, number(b.getI8Type(), 0)), yes, no);
  }

  /// Emits a step, or a branch or loop, which ends before `end`.
  void emitOne(size_t i, size_t end) {
    const StepSpec &step = steps[i];
    if (step.kind == StepKind::Kernel) {
      meet(int64_t(i), step.waits && i > 0);
      return emitStep(step, int64_t(i));
    }
    if (step.runsInRuntime()) {
      meet(int64_t(i), step.waits && i > 0);
      return emitRuntimeStep(step, int64_t(i));
    }
    assert(step.kind != StepKind::Copy && "a CPU has one memory space");
    Block *body = newBlock(), *after = newBlock();
    if (step.kind == StepKind::If) {
      size_t middle = i + 1;
      while (steps[middle].kind != StepKind::Else)
        middle = behind(middle);
      Block *otherwise = newBlock();
      meet(int64_t(i), step.waits);
      branchOn(step, body, otherwise);
      b.setInsertionPointToEnd(body);
      emitSteps(i + 1, middle);
      meet(int64_t(middle), false);
      branchTo(after);
      b.setInsertionPointToEnd(otherwise);
      emitSteps(middle + 1, end - 1);
      branchTo(after);
      b.setInsertionPointToEnd(after);
      return meet(int64_t(end - 1), steps[end - 1].waits);
    }
    Block *head = newBlock();
    branchTo(head);
    b.setInsertionPointToEnd(head);
    meet(int64_t(i), step.waits);
    branchOn(step, body, after);
    b.setInsertionPointToEnd(body);
    emitSteps(i + 1, end - 1);
    meet(int64_t(end - 1), steps[end - 1].waits);
    // After the barrier the chunk counters are reset to zero; the barrier at the loop's start makes
    // that visible.
    Block *reset = newBlock();
    LLVM::CondBrOp::create(b, loc, isFirst, reset, head);
    b.setInsertionPointToEnd(reset);
    // Nested loops have reset their own counters.
    for (size_t s = i + 1; s + 1 < end; s = steps[s].kind == StepKind::Loop ? behind(s) : s + 1)
      if (steps[s].kind == StepKind::Kernel && !steps[s].serial)
        LLVM::StoreOp::create(b, loc, number(i64, 0), offset(counters, 64 * int64_t(s)));
    branchTo(head);
    b.setInsertionPointToEnd(after);
  }

  /// Emits the hook and the barrier before a step (after the last step: before the end).
  void meet(int64_t step, bool waits) {
    Block *withHook = newBlock(), *without = newBlock(), *after = newBlock();
    LLVM::CondBrOp::create(b, loc, hooked, withHook, without);
    b.setInsertionPointToEnd(withHook);
    check(LLVM::CallOp::create(b, loc, hook, ValueRange{call, thread, number(i32, step)})
              .getResult());
    LLVM::BrOp::create(b, loc, ValueRange{}, after);
    b.setInsertionPointToEnd(without);
    if (waits)
      barrier();
    LLVM::BrOp::create(b, loc, ValueRange{}, after);
    b.setInsertionPointToEnd(after);
  }

  /// Thread 0 calls the runtime to run a library's function or an engine, or to wait for it.
  void emitRuntimeStep(const StepSpec &step, int64_t index) {
    Block *first = newBlock(), *after = newBlock();
    LLVM::CondBrOp::create(b, loc, isFirst, first, after);
    b.setInsertionPointToEnd(first);
    callTable(step.kind == StepKind::Invoke  ? offsetof(HeddleCallTable, invoke)
              : step.kind == StepKind::Start ? offsetof(HeddleCallTable, start)
                                             : offsetof(HeddleCallTable, await),
              number(i32, index));
    branchTo(after);
    b.setInsertionPointToEnd(after);
  }

  void emitStep(const StepSpec &step, int64_t index) {
    Block *run = newBlock(), *head = newBlock(), *body = newBlock(), *done = newBlock();
    if (step.serial)
      LLVM::CondBrOp::create(b, loc, isFirst, run, done);
    else
      LLVM::BrOp::create(b, loc, ValueRange{}, run);
    b.setInsertionPointToEnd(run);
    for (auto [position, value] : llvm::enumerate(step.values))
      LLVM::StoreOp::create(b, loc, load(offset(addresses, 8 * int64_t(value))),
                            offset(slots, 8 * int64_t(position)));
    auto numberAt = [&](int32_t position) -> Value {
      return LLVM::LoadOp::create(b, loc, i64, offset(numbers, 8 * int64_t(position)));
    };
    for (auto [i, position] : llvm::enumerate(step.numbers))
      LLVM::StoreOp::create(b, loc, numberAt(position),
                            offset(slots, 8 * int64_t(step.values.size() + i)));
    Value chunks = step.chunksAt < 0 ? number(i64, step.chunks) : numberAt(step.chunksAt);
    // Chunk numbers come from a counter that all threads share, or from a local one.
    ValueRange none;
    Value zero = step.serial ? number(i64, 0) : Value();
    LLVM::BrOp::create(b, loc, step.serial ? ValueRange(zero) : none, head);
    b.setInsertionPointToEnd(head);
    Value chunk = step.serial
                      ? Value(head->addArgument(i64, loc))
                      : LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add,
                                                  offset(counters, 64 * index), number(i64, 1),
                                                  LLVM::AtomicOrdering::monotonic)
                            .getResult();
    LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::ult, chunk, chunks), body, done);
    b.setInsertionPointToEnd(body);
    LLVM::CallOp::create(b, loc, TypeRange{}, step.kernel, ValueRange{slots, chunk, scratch});
    Value next =
        step.serial ? LLVM::AddOp::create(b, loc, chunk, number(i64, 1)).getResult() : Value();
    LLVM::BrOp::create(b, loc, step.serial ? ValueRange(next) : none, head);
    b.setInsertionPointToEnd(done);
  }
};
} // namespace

OwningOpRef<ModuleOp> cpu::buildEntry(MLIRContext *context, const std::string &symbol,
                                      const std::vector<StepSpec> &steps) {
  context->loadDialect<LLVM::LLVMDialect>();
  return EntryBuilder(context, symbol, steps).build();
}
