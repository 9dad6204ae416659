// A module may describe the machine by an attribute, which is checked. The texts of kernels contain its facts, but not rates,
// on which only schedules depend: a new rate recompiles only the kernels whose schedules change.
// RUN: heddlec %s --emit=kernels --target-cpu znver5 | FileCheck %s
// RUN: sed 's/#nest.machine<{l2_bytes = 4096}>/4096/' %s > %t.mlir
// RUN: not heddlec %t.mlir --emit=kernels 2>&1 | FileCheck %s --check-prefix=REFUSED

// RUN: sed 's/l2_bytes = 4096/chunk_flops = 8.0/' %s > %t.rate.mlir
// RUN: heddlec %t.rate.mlir --emit=kernels --target-cpu znver5 | FileCheck %s --check-prefix=RATE

// CHECK: func.func @kernel
// CHECK-SAME: attributes {heddle.machine = #nest.machine<{l2_bytes = 4096 : i64}>}
// RATE: func.func @kernel
// RATE-NOT: heddle.machine
// RATE: schedule = #nest.schedule<[
// REFUSED: error: expected #nest.machine as 'heddle.machine', got 4096

module attributes {heddle.machine = #nest.machine<{l2_bytes = 4096}>} {
  func.func @f(%x: !nd.tensor<f32, i: 4> {nd.name = "x"}) -> (!nd.tensor<f32, i: 4> {nd.name = "y"}) {
    %y = nd.pointwise %x : (!nd.tensor<f32, i: 4>) -> !nd.tensor<f32, i: 4> {
    ^bb0(%a: f32):
      %b = arith.addf %a, %a : f32
      nd.yield %b : f32
    }
    return %y : !nd.tensor<f32, i: 4>
  }
}
