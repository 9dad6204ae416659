// RUN: heddle-opt %s -nest-assign-layouts=explain=true -o /dev/null 2>&1 | FileCheck %s

// CHECK: remark: 3 values, 1 nests, 0 read or written through a copy; {{.*}} cycles, at least {{.*}} (gap {{.*}} %)
// CHECK: remark: 'a' has the layout [k, m], which is given
// CHECK: remark: 'b' has the layout [k, n], which is given
// CHECK: note: 'product' runs along {{[mn]}}: {{.*}} cycles beside {{.*}}
// CHECK: remark: 'product' has the layout [{{.*}}]
// CHECK: note: [{{.*}}] would cost {{.*}} cycles more
func.func @product(%a: !nd.tensor<f32, k: 512, m: 60> {nd.name = "a"}, %b: !nd.tensor<f32, k: 512, n: 512> {nd.name = "b"})
    -> !nd.tensor<f32, m: 60, n: 512> {
  %c = nest.compute (m: 60, n: 512) reduce (k: 512) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {heddle.name = "product"}
      : (!nd.tensor<f32, k: 512, m: 60>, !nd.tensor<f32, k: 512, n: 512>) -> !nd.tensor<f32, m: 60, n: 512>
  return %c : !nd.tensor<f32, m: 60, n: 512>
}
