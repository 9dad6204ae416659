//===- MeasureNestTest.cpp - measures nests by themselves -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/MeasureNest.h"

#include "Programs.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

// Alone in a program, the nest would read its first operand in another layout, after a copy.
static const char *const kernel = R"(
#a = #nest.layout<[d4 floordiv 32, d5, d3, d4 mod 32]>
#b = #nest.layout<[d8 floordiv 32, d7, d6, d8 mod 32]>
#c = #nest.layout<[d13, d14]>
!a = !nd.tensor<f32, d3: 64, d4: 512, d5: 16>
!b = !nd.tensor<f32, d6: 64, d7: 16, d8: 128>
!c = !nd.tensor<f32, d13: 512, d14: 128>
func.func private @kernel(%x: !a {nd.layout = #a}, %y: !b {nd.layout = #b}) -> (!c {nd.layout = #c}) {
  %z = nest.compute (d13: 512, d14: 128) reduce (d11: 64, d12: 16)
      reads %x[d3 = d11, d4 = d13, d5 = d12], %y[d6 = d11, d7 = d12, d8 = d14] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.000000e+00 : f32] {layouts = [#c], schedule = #nest.schedule<[thread d14 by 14,
      thread d13 by 32, loop d12 by 1, loop d11 by 1, register d14 by 1, register d13 by 16,
      vector d13 by 1]>} : (!a, !b) -> !c
  return %z : !c
})";

TEST(MeasureNest, TakesLayoutsAsTheyAre) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernel, &context);
  ASSERT_TRUE(module);
  CompileOptions options;
  options.programThreads = 1;
  options.useCache = false;
  auto found = measureNest(*module->getOps<func::FuncOp>().begin(), /*facts=*/nullptr, options);
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_GT(found->seconds, 0);
  EXPECT_GE(found->samples, 10);
}
