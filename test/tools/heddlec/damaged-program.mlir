// A damaged program file is refused before any of it is mapped.
// REQUIRES: heddle-run
// RUN: rm -rf %t && mkdir -p %t
// RUN: heddlec %s -o %t/good.heddle --target-cpu x86-64
// RUN: heddle-run %t/good.heddle --seed 1
// RUN: head -c 100 %t/good.heddle > %t/short.heddle
// RUN: not heddle-run %t/short.heddle 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: short.heddle' is truncated
// RUN: head -c 4 %t/good.heddle > %t/tiny.heddle
// RUN: not heddle-run %t/tiny.heddle 2>&1 | FileCheck %s --check-prefix=TINY
// TINY: tiny.heddle'
// RUN: cp %s %t/text.heddle
// RUN: not heddle-run %t/text.heddle 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: text.heddle' is not a program file
// RUN: cp %t/good.heddle %t/hole.heddle
// RUN: printf ZZZZZZZZ | dd of=%t/hole.heddle bs=1 seek=300 conv=notrunc
// RUN: not heddle-run %t/hole.heddle 2>&1 | FileCheck %s --check-prefix=HOLE
// HOLE: hole.heddle' is damaged: the checksum of its section
// RUN: not heddle-run %t/missing.heddle 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: missing.heddle

func.func @double(%x: !nd.tensor<f32, a: 7> {nd.name = "x"}) -> (!nd.tensor<f32, a: 7> {nd.name = "y"}) {
  %0 = nd.pointwise %x : (!nd.tensor<f32, a: 7>) -> !nd.tensor<f32, a: 7> {
  ^bb0(%a: f32):
    %1 = arith.addf %a, %a : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, a: 7>
}
