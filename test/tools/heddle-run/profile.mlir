// The time of each step over all calls as a table, and a timeline with one event for each step of each call.
// RUN: heddle-run %s --repeat 3 --profile --timeline %t.json 2> %t.table | FileCheck %s --check-prefix=VALUES
// VALUES: @sum
// VALUES-NEXT: y: f32 {row: 4}
// RUN: FileCheck %s --check-prefix=TABLE < %t.table
// TABLE:      seconds % calls GFLOP/s GB/s predicted roofline step
// TABLE-NEXT: {{[0-9.]+}} 100.00 3 {{[0-9.]+}} {{[0-9.]+}} 0.{{[0-9]+}} {{[0-9]+}} % reduce {{.*}}profile.mlir:[[#@LINE+32]]:
// TABLE-NOT:  reduce
// RUN: grep -c '"ph": "X"' %t.json | FileCheck %s --check-prefix=EVENTS
// EVENTS: 3
// RUN: FileCheck %s --check-prefix=ESTIMATE < %t.json
// ESTIMATE:      "% of roofline": {{[0-9.]+}},
// ESTIMATE:      "limit": "{{[a-z0-9]+}}",
// ESTIMATE:      "predicted us": {{[0-9.e-]+}}

// The timeline as a picture.
// RUN: heddle-run %s --repeat 2 --timeline %t.svg
// RUN: FileCheck %s --check-prefix=PICTURE < %t.svg
// PICTURE:      <svg xmlns=
// PICTURE:      2 steps in {{.*}} ms
// PICTURE:      >reduce profile.mlir:[[#@LINE+18]] 100 %</text>
// PICTURE-NEXT: <rect {{.*}}<title>reduce: {{.*}} ms, {{.*}} GFLOP/s, {{.*}} GB/s; predicted {{.*}} ms ({{[a-z0-9]+}}), {{.*}} % of its roofline {{.*}}profile.mlir:{{.*}}</title></rect>
// PICTURE-NEXT: <rect
// PICTURE-NOT:  <rect

// A program file has the same steps.
// RUN: heddlec %s -o %t.heddle
// RUN: heddle-run %t.heddle --repeat 2 --profile 2>&1 > %t.values | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: 100.00 2 {{.*}} reduce

// RUN: not heddle-run %s --interpret --profile 2>&1 | FileCheck %s --check-prefix=INTERPRET
// INTERPRET: error: the interpreter has no steps to --repeat, and none for --profile or --timeline
// RUN: not heddle-run %s --repeat 0 2>&1 | FileCheck %s --check-prefix=REPEAT
// REPEAT: error: --repeat: Value 0 not in range
// RUN: not heddle-run %s --timeline %t.none/steps.json 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// UNWRITABLE: heddle-run: error: can't write '{{.*}}.none/steps.json': No such file or directory

func.func @sum(%x: !nd.tensor<f32, row: 4, column: 100> {nd.name = "x"}) -> (!nd.tensor<f32, row: 4> {nd.name = "y"}) {
  %y = nd.reduce %x over [column] neutral [0.0 : f32] : (!nd.tensor<f32, row: 4, column: 100>) -> !nd.tensor<f32, row: 4> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  return %y : !nd.tensor<f32, row: 4>
}
