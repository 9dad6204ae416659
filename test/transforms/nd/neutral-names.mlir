// nd-neutral-names: decisions of passes can't depend on the spelling of names; nd-restore-names restores it.
// RUN: heddle-opt %s --nd-neutral-names | FileCheck %s
// RUN: heddle-opt %s -o %t.before.mlir
// RUN: heddle-opt %s --nd-neutral-names --nd-restore-names | diff %t.before.mlir -

// The same program with other names, in another order, is the same but for its dictionary.
// RUN: sed -e 's/row/zebra/g; s/column/b/g; s/: N/: M/g' %s | heddle-opt --nd-neutral-names | sed 's/heddle.names = {[^}]*}//' > %t.other.mlir
// RUN: heddle-opt %s --nd-neutral-names | sed 's/heddle.names = {[^}]*}//' | diff - %t.other.mlir

// The memory of an argument does not change the order of names, which is that of sums.
// RUN: sed 's/ {mesh.sharding = #mesh.sharding<{}, memory file>}//g' %s | heddle-opt --nd-neutral-names > %t.device.mlir
// RUN: heddle-opt %s --nd-neutral-names | sed 's/ {mesh.sharding = #mesh.sharding<{}, memory file>}//g' | diff %t.device.mlir -

!c = !nd.tensor<f32, c: 3>

// CHECK-LABEL: func.func @f
// CHECK-SAME: %arg0: !nd.tensor<f32, n000: size0_, n001: 2> {nd.name = "x"}
// CHECK-SAME: heddle.names = {n000 = "column", n001 = "row", size0_ = "N"}
// CHECK: nd.reduce %0 over [n000]
func.func @f(%x: !nd.tensor<f32, row: 2, column: N> {nd.name = "x"}, %y: !nd.tensor<f32, column: N>) -> !nd.tensor<f32, row: 2> {
  %0 = nd.pointwise %x, %y : (!nd.tensor<f32, row: 2, column: N>, !nd.tensor<f32, column: N>) -> !nd.tensor<f32, row: 2, column: N> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %0 over [column] neutral [0.0 : f32] : (!nd.tensor<f32, row: 2, column: N>) -> !nd.tensor<f32, row: 2> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32, row: 2>
}

// A function that calls another one, and the one that is called, keep their names.
// CHECK-LABEL: func.func private @called(%arg0: !nd.tensor<f32, c: 3>)
func.func private @called(%x: !c) -> !c {
  return %x : !c
}
// CHECK-LABEL: func.func @calls(%arg0: !nd.tensor<f32, b: 2>, %arg1: !nd.tensor<f32, c: 3>)
func.func @calls(%z: !nd.tensor<f32, b: 2>, %x: !c) -> (!nd.tensor<f32, b: 2>, !c) {
  %y = nd.call @called(%x) : (!c) -> !c
  return %z, %y : !nd.tensor<f32, b: 2>, !c
}

func.func @files(%a: !nd.tensor<f32, a: 2> {mesh.sharding = #mesh.sharding<{}, memory file>}, %b: !nd.tensor<f32, b: 3> {mesh.sharding = #mesh.sharding<{}, memory file>},
    %c: !nd.tensor<f32, c: 5> {mesh.sharding = #mesh.sharding<{}, memory file>}, %d: !nd.tensor<f32, d: 7>, %e: !nd.tensor<f32, e: 11>, %f: !nd.tensor<f32, f: 13>) {
  return
}
