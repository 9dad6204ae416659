// Program files that can't be run are refused with a reason; nothing aborts.
// REQUIRES: heddle-run, heddlec

// RUN: rm -rf %t && mkdir -p %t
// RUN: heddlec %s -o %t/good.heddle --target-cpu x86-64
// RUN: heddle-run %t/good.heddle --seed 1

// RUN: head -c 6 %t/good.heddle > %t/tiny.heddle
// RUN: not heddle-run %t/tiny.heddle 2>&1 | FileCheck %s --check-prefix=MAGIC
// RUN: echo "no program at all, but long enough to have a header" > %t/text.heddle
// RUN: not heddle-run %t/text.heddle 2>&1 | FileCheck %s --check-prefix=MAGIC
// MAGIC: '{{.*}}.heddle' is not a program file: expected it to begin with 'HEDDLE'

// RUN: head -c 300 %t/good.heddle > %t/short.heddle
// RUN: not heddle-run %t/short.heddle 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: '{{.*}}short.heddle' is truncated: its section 'manifest' should have {{[0-9]+}} bytes from byte {{[0-9]+}} on, the file has 300

// RUN: sed 's/"kind": "temporary"/"kind": "temporarY"/;s/"kind": "argument"/"kind": "argumenT"/' %t/good.heddle > %t/changed.heddle
// RUN: not heddle-run %t/changed.heddle 2>&1 | FileCheck %s --check-prefix=CHANGED
// CHANGED: '{{.*}}changed.heddle' is damaged: the checksum of its section 'manifest' does not match

// RUN: not heddle-run %t/none.heddle 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: '{{.*}}none.heddle': No such file or directory

// No CPU has the extensions of this one and any that is newer.
// RUN: heddlec %s -o %t/other.heddle --target-cpu bdver4
// RUN: not heddle-run %t/other.heddle 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: '{{.*}}other.heddle': the program was compiled for the CPU 'bdver4' and needs what this CPU lacks: {{.*}}xop

func.func @double(%x: !nd.tensor<f32, row: 8> {nd.name = "x"}) -> (!nd.tensor<f32, row: 8> {nd.name = "y"}) {
  %y = nd.pointwise %x, %x : (!nd.tensor<f32, row: 8>, !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  return %y : !nd.tensor<f32, row: 8>
}
