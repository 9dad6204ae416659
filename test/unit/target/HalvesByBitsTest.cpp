//===- HalvesByBitsTest.cpp - f16 for devices that lack it ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/opencl/HalvesByBits.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;

/// The LLVM IR of a function without its halves.
static std::string withoutHalves(const std::string &function) {
  LLVMContext context;
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseAssemblyString(function, error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  heddle::gpu::replaceHalvesByBits(*module);
  std::string text;
  raw_string_ostream stream(text);
  EXPECT_FALSE(verifyModule(*module, &stream)) << text;
  for (const Function &each : *module)
    if (!each.isDeclaration())
      each.print(stream);
  return text;
}

static bool hasType(const std::string &text) { return text.find(" half") != std::string::npos; }

TEST(HalvesByBits, LoopsCarryBits) {
  std::string text = withoutHalves(R"(define void @f(ptr %p, i64 %n) {
  start:
    %first = load half, ptr %p, align 2
    br label %loop
  loop:
    %i = phi i64 [ 0, %start ], [ %next, %loop ]
    %sum = phi half [ %first, %start ], [ %more, %loop ]
    %at = getelementptr half, ptr %p, i64 %i
    %x = load half, ptr %at, align 2
    %y = fneg half %x
    %less = fcmp olt half %y, 0xH3C00
    %z = select i1 %less, half %y, half 0xH4000
    %root = call half @llvm.sqrt.f16(half %z)
    %more = fadd half %sum, %root
    %next = add i64 %i, 1
    %ends = icmp eq i64 %next, %n
    br i1 %ends, label %end, label %loop
  end:
    %bits = bitcast half %more to i16
    %same = bitcast i16 %bits to half
    %wide = fpext half %same to double
    %narrow = fptrunc double %wide to half
    %whole = fptosi half %narrow to i32
    %back = sitofp i32 %whole to half
    store half %back, ptr %p, align 2
    ret void
  }
  declare half @llvm.sqrt.f16(half))");
  EXPECT_FALSE(hasType(text)) << text;
  EXPECT_NE(text.find("phi i16 [ %0, %start ]"), std::string::npos) << text;
  EXPECT_NE(text.find("getelementptr i16"), std::string::npos) << text;
  EXPECT_NE(text.find(", -32768"), std::string::npos) << text; // the sign
  EXPECT_NE(text.find("call float @llvm.sqrt.f32(float"), std::string::npos) << text;
  EXPECT_NE(text.find("call i16 @heddle_double_to_half(double"), std::string::npos) << text;
}

// What has no replacement keeps its halves, of which others take the bits.
TEST(HalvesByBits, VectorsAndCallsStay) {
  std::string text = withoutHalves(R"(define half @f(ptr %p, <2 x half> %v, half %a) {
    %x = load half, ptr %p, align 2
    %y = extractelement <2 x half> %v, i64 1
    %z = fadd half %x, %y
    %w = insertelement <2 x half> %v, half %z, i64 0
    store <2 x half> %w, ptr %p, align 4
    %c = call half @g(half %z)
    %e = bitcast half %z to <2 x i8>
    store <2 x i8> %e, ptr %p, align 2
    %d = fmul half %c, %a
    ret half %d
  }
  declare half @g(half))");
  EXPECT_NE(text.find("load i16"), std::string::npos) << text;
  EXPECT_NE(text.find("bitcast i16 %"), std::string::npos) << text;
  EXPECT_NE(text.find("insertelement <2 x half> %v, half %"), std::string::npos) << text;
  EXPECT_EQ(text.find("fadd half"), std::string::npos) << text;
  EXPECT_EQ(text.find("fmul half"), std::string::npos) << text;
}
