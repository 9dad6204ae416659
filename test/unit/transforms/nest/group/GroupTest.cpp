//===- GroupTest.cpp - routing by expectation maximisation as a group -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain of nests that group fusion makes local to a tile has the same values as the
// chain.
//
//===----------------------------------------------------------------------===//

#include "test/unit/transforms/nest/Held.h"

#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "lib/transforms/nest/Passes.h"

using namespace heddle;
using namespace mlir;

TEST(GroupTest, RoutingMeansTheSameInAGroup) {
  // Agreement routing of votes (Hinton, Sabour, Frosst, 2018, in short): weights by softmax over
  // `out` of how near a vote is to the mean of its kind.
  const char *text = R"mlir(
!P = !nd.tensor<f32, c: 3, k: 2, n: 2, row: 5>
!W = !nd.tensor<f32, c: 3, j: 2, k: 2, ky: 3, out: 2>
!V = !nd.tensor<f32, c: 3, j: 2, ky: 3, n: 2, out: 2, row: 2>
!R = !nd.tensor<f32, c: 3, ky: 3, n: 2, out: 2, row: 2>
!S = !nd.tensor<f32, c: 3, ky: 3, n: 2, row: 2>
!M = !nd.tensor<f32, j: 2, n: 2, out: 2, row: 2>
func.func @f(%p: !P, %w: !W) -> !M {
  %v = nest.compute (c: 3, j: 2, ky: 3, n: 2, out: 2, row: 2) reduce (k: 2) reads %p[row = 2 * row + ky], %w[] {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nest.yield %0 : f32
  } combine add [0.0 : f32] {group = ["n", "row", 0]} : (!P, !W) -> !V
  %m = nest.compute (j: 2, n: 2, out: 2, row: 2) reduce (c: 3, ky: 3) reads %v[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] {group = ["n", "row", 0]} : (!V) -> !M
  %d = nest.compute (c: 3, ky: 3, n: 2, out: 2, row: 2) reduce (j: 2) reads %v[], %m[] {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nest.yield %0 : f32
  } combine add [0.0 : f32] {group = ["n", "row", 0]} : (!V, !M) -> !R
  %e = nest.compute (c: 3, ky: 3, n: 2, out: 2, row: 2) reads %d[] {
  ^bb0(%a: f32):
    %s = arith.constant 0.0625 : f32
    %1 = arith.mulf %a, %s : f32
    %0 = math.tanh %1 : f32
    %2 = math.exp %0 : f32
    nest.yield %2 : f32
  } {group = ["n", "row", 0]} : (!R) -> !R
  %s = nest.compute (c: 3, ky: 3, n: 2, row: 2) reduce (out: 2) reads %e[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] {group = ["n", "row", 0]} : (!R) -> !S
  %r = nest.compute (c: 3, ky: 3, n: 2, out: 2, row: 2) reads %e[], %s[] {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    nest.yield %0 : f32
  } {group = ["n", "row", 0]} : (!R, !S) -> !R
  %q = nest.compute (j: 2, n: 2, out: 2, row: 2) reduce (c: 3, ky: 3) reads %r[], %v[] {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nest.yield %0 : f32
  } combine add [0.0 : f32] {group = ["n", "row", 0]} : (!R, !V) -> !M
  return %q : !M
})mlir";
  MLIRContext context;
  loadDialects(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  Held held(*module, "f");
  ASSERT_TRUE(held.pass(nest::createNestFusePass()));
  ASSERT_TRUE(held.pass(nest::createNestFormGroupsPass()));
  auto function = module->lookupSymbol<func::FuncOp>("f");
  // No op is left outside of the group.
  EXPECT_TRUE(isa<nest::GroupOp>(function.front().front())) << held.text();
  EXPECT_EQ(std::distance(function.front().begin(), function.front().end()), 2) << held.text();
  ASSERT_TRUE(held.pass(nest::createNestFusePass()));
}
