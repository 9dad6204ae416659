//===- EmitTest.cpp - passes of code beside LLVM's own --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/Emit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

#include <gtest/gtest.h>

using namespace heddle;

namespace {
/// A masked store of 16 narrowed lanes, as optimised LLVM IR or as assembly.
std::string storeWith(const std::string &mask, cpu::EmitKind kind, cpu::Effort effort) {
  mlir::DialectRegistry registry;
  mlir::registerAllToLLVMIRTranslations(registry);
  registry.insert<mlir::LLVM::LLVMDialect>();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "llvm.func @f(%x: vector<16xi32>, %to: !llvm.ptr) {\n"
      "  %n = llvm.trunc %x : vector<16xi32> to vector<16xi16>\n"
      "  %m = llvm.mlir.constant(dense<[" +
          mask +
          "]> : vector<16xi1>) : vector<16xi1>\n"
          "  llvm.intr.masked.store %n, %to, %m {alignment = 2 : i32} : vector<16xi16>, "
          "vector<16xi1> into !llvm.ptr\n"
          "  llvm.return\n}\n",
      &context);
  auto target = cpu::targetFor("skylake-avx512");
  auto text = cpu::Emitter(llvm::cantFail(std::move(target))).emit(*module, kind, effort);
  return text ? *text : llvm::toString(text.takeError());
}

std::string maskOf(std::initializer_list<int> set) {
  std::string text;
  for (int lane = 0; lane < 16; ++lane)
    text += (lane ? ", " : "") + std::string(llvm::is_contained(set, lane) ? "true" : "false");
  return text;
}

// LLVM 22 turns a store of two bytes into one of four.
TEST(Emit, StoresOneLaneAsAScalar) {
  for (cpu::Effort effort : {cpu::Effort::Least, cpu::Effort::Some, cpu::Effort::Most}) {
    for (int lane : {0, 3, 15}) {
      std::string text = storeWith(maskOf({lane}), cpu::EmitKind::LlvmIr, effort);
      EXPECT_NE(text.find("store i16 "), std::string::npos) << text;
      EXPECT_EQ(text.find("call void @llvm.masked.store"), std::string::npos) << text;
      if (lane)
        EXPECT_NE(text.find("i64 " + std::to_string(2 * lane)), std::string::npos) << text;
    }
    EXPECT_NE(storeWith(maskOf({3, 4}), cpu::EmitKind::LlvmIr, effort)
                  .find("call void @llvm.masked.store"),
              std::string::npos);
  }
}
} // namespace
