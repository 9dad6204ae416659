// A timeline of several ranks has rows for each of them: its steps, and what it moves. Ranks may be threads, or
// processes, of which rank 0 writes.
// REQUIRES: heddle-launch
// RUN: heddle-run %s --mesh data=2 --shard batch:data --repeat 3 --timeline %t.threads | FileCheck %s --check-prefix=VALUES
// RUN: %S/Inputs/trace-rows %t.threads | FileCheck %s
// RUN: heddle-launch -n 2 --no-prefix heddle-run %s --mesh data=2 --shard batch:data --repeat 3 --timeline %t.processes | FileCheck %s --check-prefix=VALUES
// RUN: %S/Inputs/trace-rows %t.processes | FileCheck %s
// CHECK:      rank 0, steps: 6
// CHECK-NEXT: rank 0, transfers: 3
// CHECK-NEXT: rank 1, steps: 6
// CHECK-NEXT: rank 1, transfers: 3
// CHECK-NOT:  {{.}}

// A program file too, and one of one rank. The table and the picture are of rank 0.
// RUN: heddlec %s --mesh data=2 --shard batch:data -o %t.heddle
// RUN: heddle-launch -n 2 --no-prefix heddle-run %t.heddle --repeat 3 --profile --timeline %t.program 2> %t.table | FileCheck %s --check-prefix=VALUES
// RUN: %S/Inputs/trace-rows %t.program | FileCheck %s
// RUN: grep -c all_reduce %t.table | FileCheck %s --check-prefix=ONCE
// ONCE: {{^}}1{{$}}
// RUN: heddle-launch -n 2 --no-prefix heddle-run %t.heddle --timeline %t.svg
// RUN: grep -c "<title>all_reduce" %t.svg | FileCheck %s --check-prefix=ONCE
// VALUES:     @step
// VALUES-NOT: @step

// Where it can't be written the job fails.
// RUN: not heddle-launch -n 2 heddle-run %t.heddle --timeline %t.none/trace.json 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// UNWRITABLE: error: can't write '{{.*}}.none/trace.json': No such file or directory

func.func @step(%x: !nd.tensor<f32, batch: 5, in: 3> {nd.name = "x"},
                %w: !nd.tensor<f32, in: 3, out: 2> {nd.name = "net.w"}) -> (!nd.tensor<f32, out: 2> {nd.name = "y"}) {
  %p = nd.pointwise %x, %w : (!nd.tensor<f32, batch: 5, in: 3>, !nd.tensor<f32, in: 3, out: 2>)
    -> !nd.tensor<f32, batch: 5, in: 3, out: 2> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.reduce %p over [batch, in] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 5, in: 3, out: 2>)
    -> !nd.tensor<f32, out: 2> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %y : !nd.tensor<f32, out: 2>
}
