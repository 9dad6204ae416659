// The reasons for each value's layout, with names and locations of the source; the option changes no byte of the program.
// RUN: rm -rf %t && mkdir -p %t
// RUN: heddlec %s -o %t/told.heddle --explain --no-cache --target-cpu x86-64 2>&1 | FileCheck %s --check-prefixes=CHECK,SCHEDULE
// RUN: heddlec %s -o %t/untold.heddle --no-cache --target-cpu x86-64 2>&1 | count 0
// RUN: cmp %t/told.heddle %t/untold.heddle
// Of one stage, and where all lies row-major no layout is chosen.
// RUN: heddlec %s --emit=nest --explain --target-cpu x86-64 2>&1 >%t/nest.mlir | FileCheck %s
// RUN: heddlec %s -o %t/plain.heddle --explain --row-major --no-cache --target-cpu x86-64 2>&1 | FileCheck %s --check-prefix=PLAIN --implicit-check-not="has the layout"

// CHECK: explain.mlir:[[@LINE+12]]:1: remark: 3 values, 1 nests, {{[01]}} read or written through a copy; {{[0-9.]+}}k cycles, at least {{[0-9.]+}}k (gap {{[0-9.]+}} %)
// CHECK: remark: 'image' has the layout [k, row], which is given
// CHECK: explain.mlir:[[@LINE+19]]:8: note: 'reduce' runs along {{row|column}}: {{[0-9.]+}}k cycles beside {{[0-9.]+}}k
// CHECK: remark: 'weight' has the layout [
// CHECK: note: {{.*}} would cost {{[0-9.]+}}k cycles more
// CHECK: explain.mlir:[[@LINE+16]]:8: remark: 'reduce' has the layout [{{.*(column|row).*}}]
// CHECK: note: {{.*(column|row).*}} would cost {{[0-9.]+}}k cycles more
// PLAIN: remark: 'pointwise' is recomputed in its reader
// PLAIN: note: stored would take {{[0-9.]+}} us more
// PLAIN: explain.mlir:[[@LINE+3]]:1: remark: 'product' takes {{[0-9.]+}} us in 1 nest, at least {{[0-9.]+}} us for 1294336 bytes of arguments and results, limited by arithmetic;
// PLAIN: remark: 'reduce' has the schedule #nest.schedule
// PLAIN: note: a register tile of {{.*}} would take {{[0-9.]+}} us more
func.func @product(%image: !nd.tensor<f32, row: 60, k: 512> {nd.name = "image"},
                   %weight: !nd.tensor<f32, k: 512, column: 512> {nd.name = "weight", nd.layout = "any"})
    -> !nd.tensor<f32, column: 512, row: 60> {
  %p = nd.pointwise %image, %weight : (!nd.tensor<f32, row: 60, k: 512>, !nd.tensor<f32, k: 512, column: 512>)
      -> !nd.tensor<f32, column: 512, k: 512, row: 60> {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.mulf %x, %y : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [k] neutral [0.0 : f32]
      : (!nd.tensor<f32, column: 512, k: 512, row: 60>) -> !nd.tensor<f32, column: 512, row: 60> {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %y : f32
    nd.yield %0 : f32
  }
  return %r : !nd.tensor<f32, column: 512, row: 60>
}

// Of a symbolic size, too.
// CHECK: remark: {{[0-9]+}} values, 1 nests
// CHECK: remark: 'y' has the layout [batch, class], which is given
// SCHEDULE: remark: 'reduce' has the schedule #nest.schedule<[{{.*}}vector {{row|column}} by 1
// SCHEDULE: note: a register tile of {{.*(row|column) by [0-9]+.*}} would take {{[0-9.]+}} us more
func.func @total(%y: !nd.tensor<f32, batch: N, class: 10> {nd.name = "y"}) -> !nd.tensor<f32, class: 10> {
  %r = nd.reduce %y over [batch] neutral [0.0 : f32]
      : (!nd.tensor<f32, batch: N, class: 10>) -> !nd.tensor<f32, class: 10> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    nd.yield %0 : f32
  }
  return %r : !nd.tensor<f32, class: 10>
}
