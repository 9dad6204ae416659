//===- GpuLoops.cpp - GPU parts of the loop emission ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/GpuLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;
using heddle::gpu::GpuLoops;

/// The address space of memory that a block shares, and the alignment of its start in bytes.
static constexpr unsigned sharedSpace = 3, sharedAlignment = 64;

// On a machine that states no facts, one lane runs each chunk.
static int64_t factOf(nest::MachineAttr machine, StringRef key) {
  return machine ? machine.integer(key, 0) : 0;
}
int64_t GpuLoops::mostLanes() const { return factOf(machine, "lanes_per_block"); }
int64_t GpuLoops::mostSharedBytes() const { return factOf(machine, "shared_bytes"); }
int64_t GpuLoops::mostRegisters() const { return factOf(machine, "registers_per_lane"); }
int64_t GpuLoops::shuffleLanes() const { return factOf(machine, "shuffle_lanes"); }

void GpuLoops::barrier(OpBuilder &b, Location loc, StringRef) const {
  mlir::gpu::BarrierOp::create(b, loc);
}

/// GPUs shuffle integers of 32 bits: narrower values are extended, wider ones are divided.
Value GpuLoops::shuffle(OpBuilder &b, Location loc, Value value, int64_t distance) const {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  Type i32 = b.getI32Type(), whole = b.getIntegerType(bits);
  Value number = value, all;
  if (number.getType() != whole)
    number = arith::BitcastOp::create(b, loc, whole, number);
  for (unsigned at = 0; at < bits; at += 32) {
    Value shift = bits > 32 ? arith::ConstantIntOp::create(b, loc, at, bits) : Value(),
          part = number;
    if (bits > 32)
      part = arith::TruncIOp::create(b, loc, i32, arith::ShRUIOp::create(b, loc, number, shift));
    else if (bits < 32)
      part = arith::ExtUIOp::create(b, loc, i32, number);
    part = mlir::gpu::ShuffleOp::create(b, loc, part, int32_t(distance), int32_t(shuffleLanes()),
                                        mlir::gpu::ShuffleMode::XOR)
               .getShuffleResult();
    if (bits > 32)
      part = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, whole, part), shift);
    else if (bits < 32)
      part = arith::TruncIOp::create(b, loc, whole, part);
    all = all ? Value(arith::OrIOp::create(b, loc, all, part)) : part;
  }
  return value.getType() == whole ? all : arith::BitcastOp::create(b, loc, value.getType(), all);
}

/// Oclgrind's reader of SPIR-V tells by the name which kernel a variable belongs to.
static std::string sharedName(StringRef symbol) { return (symbol + ".shared").str(); }

nest::KernelFrame GpuLoops::begin(OpBuilder &b, Location loc, StringRef symbol, size_t bases,
                                  size_t sizes, int64_t lanes) const {
  b.getContext()->loadDialect<mlir::gpu::GPUDialect>();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), /*addressSpace=*/1);
  Type i64 = b.getI64Type();
  SmallVector<Type> types;
  for (size_t i = 0; i < bases; ++i)
    types.append({pointer, i64});
  types.append(sizes, i64);
  types.append({i64, i64, pointer, i64});
  auto module = mlir::gpu::GPUModuleOp::create(b, loc, "kernels");
  b.setInsertionPointToStart(&module.getBodyRegion().front());
  auto function = mlir::gpu::GPUFuncOp::create(b, loc, symbol, b.getFunctionType(types, {}));
  function->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  bool together = lanes > 0;
  int32_t block = together ? int32_t(lanes) : blockLanes;
  function.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({block, 1, 1}));
  if (together && shuffleLanes() > 0) // devices choose a warp's lanes where SPIR-V leaves it open
    function->setAttr("intel_reqd_sub_group_size", b.getI32IntegerAttr(int32_t(shuffleLanes())));
  Block *body = &function.getBody().front();
  b.setInsertionPointToEnd(body);

  auto at = [&](Value base, Value bytes) -> Value {
    return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  };
  nest::KernelFrame frame;
  for (size_t i = 0; i < bases; ++i)
    frame.bases.push_back(at(body->getArgument(2 * i), body->getArgument(2 * i + 1)));
  ValueRange rest = body->getArguments().drop_front(2 * bases);
  llvm::append_range(frame.sizes, rest.take_front(sizes));
  rest = rest.drop_front(sizes);

  auto number = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, i64, index);
  };
  Value thread = number(mlir::gpu::ThreadIdOp::create(b, loc, mlir::gpu::Dimension::x));
  Value own = number(mlir::gpu::BlockIdOp::create(b, loc, mlir::gpu::Dimension::x));
  Value width = arith::ConstantIntOp::create(b, loc, block, 64);
  Value lane = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, own, width), thread);
  frame.chunk = arith::AddIOp::create(b, loc, rest[0], together ? own : lane);
  if (together) {
    OpBuilder outside = OpBuilder::atBlockBegin(module.getBody());
    // `end` knows its size.
    auto shared = LLVM::GlobalOp::create(
        outside, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
        LLVM::Linkage::Internal, sharedName(symbol), Attribute(), sharedAlignment, sharedSpace);
    frame.lane = thread;
    frame.shared = LLVM::AddressOfOp::create(b, loc, shared);
  }
  Value part = together ? own : lane; // of the scratch
  // Lanes that run a chunk together share its part.
  frame.scratch = at(rest[2], arith::MulIOp::create(b, loc, part, rest[3]));

  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, frame.chunk, rest[1]);
  auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
  guard.thenBlock()->getTerminator()->erase();
  b.setInsertionPointToEnd(guard.thenBlock());
  return frame;
}

void GpuLoops::end(OpBuilder &b, Location loc, int64_t sharedBytes) const {
  Operation *guard = b.getBlock()->getParentOp();
  auto function = guard->getParentOfType<mlir::gpu::GPUFuncOp>();
  if (auto shared =
          function->getParentOfType<mlir::gpu::GPUModuleOp>().lookupSymbol<LLVM::GlobalOp>(
              sharedName(function.getName()))) {
    shared.setGlobalType(LLVM::LLVMArrayType::get(b.getI8Type(), uint64_t(sharedBytes)));
    if (sharedBytes == 0) {
      function.walk([](LLVM::AddressOfOp address) {
        assert(address.use_empty() && "expected no use of shared memory without bytes");
        address.erase();
      });
      shared.erase();
    }
  }
  scf::YieldOp::create(b, loc);
  b.setInsertionPointAfter(guard);
  mlir::gpu::ReturnOp::create(b, loc);
}
