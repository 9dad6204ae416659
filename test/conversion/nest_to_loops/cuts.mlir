// At each border a tile that covers several window offsets leaves out different ones. The loop of the reduction is cut where
// that changes: at the first column, inside, at the last; no iteration tests a condition.
// RUN: heddlec %s --emit=loops --target-cpu skylake-avx512 --no-cache | FileCheck %s
// RUN: heddle-run %s --compare

func.func @weight(%x: !nd.tensor<f32, column: 20> {nd.name = "x"}, %y: !nd.tensor<f32, column: 20, out: 16> {nd.name = "y"}) -> (!nd.tensor<f32, k: 3, out: 16> {nd.name = "w"}) {
  // CHECK-NOT: scf.if
  // CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>)
  // CHECK-COUNT-2: arith.mulf
  // CHECK-NOT: scf.if
  // CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>)
  // CHECK-COUNT-3: arith.mulf
  // CHECK-NOT: scf.if
  // CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>)
  // CHECK-COUNT-2: arith.mulf
  // CHECK-NOT: scf.if
  %w = nest.compute (k: 3, out: 16) reduce (column: 20) reads %x[column = column + k - 1] if [column + k - 1 >= 0, -column - k + 20 >= 0] else 0.0 : f32, %y[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop column by 1, register k by 1, vector out by 1]>} : (!nd.tensor<f32, column: 20>, !nd.tensor<f32, column: 20, out: 16>) -> !nd.tensor<f32, k: 3, out: 16>
  return %w : !nd.tensor<f32, k: 3, out: 16>
}
