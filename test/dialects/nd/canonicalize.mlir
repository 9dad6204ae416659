// RUN: heddle-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: @rename_of_rename
func.func @rename_of_rename(%x: !nd.tensor<f32, a: 2, b: 3>) -> !nd.tensor<f32, c: 3, d: 2> {
  // CHECK-NEXT: %[[R:.*]] = nd.rename %arg0 [a, b] to [d, c] : !nd.tensor<f32, a: 2, b: 3> -> !nd.tensor<f32, c: 3, d: 2>
  // CHECK-NEXT: return %[[R]]
  %0 = nd.rename %x [a, b] to [b, a] : !nd.tensor<f32, a: 2, b: 3> -> !nd.tensor<f32, a: 3, b: 2>
  %1 = nd.rename %0 [a, b] to [c, d] : !nd.tensor<f32, a: 3, b: 2> -> !nd.tensor<f32, c: 3, d: 2>
  return %1 : !nd.tensor<f32, c: 3, d: 2>
}

// -----

// CHECK-LABEL: @rename_back
func.func @rename_back(%x: !nd.tensor<f32, a: 2, b: 3>) -> !nd.tensor<f32, a: 2, b: 3> {
  // CHECK-NEXT: return %arg0
  %0 = nd.rename %x [a] to [c] : !nd.tensor<f32, a: 2, b: 3> -> !nd.tensor<f32, b: 3, c: 2>
  %1 = nd.rename %0 [c] to [a] : !nd.tensor<f32, b: 3, c: 2> -> !nd.tensor<f32, a: 2, b: 3>
  return %1 : !nd.tensor<f32, a: 2, b: 3>
}

// -----

// Two names of one size that are swapped keep the type and not the value.
// CHECK-LABEL: @rename_exchange
func.func @rename_exchange(%x: !nd.tensor<f32, a: 2, b: 2>) -> !nd.tensor<f32, a: 2, b: 2> {
  // CHECK-NEXT: nd.rename %arg0 [a, b] to [b, a]
  %0 = nd.rename %x [a, b] to [b, a] : !nd.tensor<f32, a: 2, b: 2> -> !nd.tensor<f32, a: 2, b: 2>
  return %0 : !nd.tensor<f32, a: 2, b: 2>
}

// -----

// CHECK-LABEL: @rename_constant
func.func @rename_constant() -> !nd.tensor<i32, b: 2, c: 2> {
  // CHECK-NEXT: nd.constant dense<{{.*}}> : tensor<2x2xi32> by [c, b] : !nd.tensor<i32, b: 2, c: 2>
  // CHECK-NOT: nd.rename
  %0 = nd.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> by [a, b] : !nd.tensor<i32, a: 2, b: 2>
  %1 = nd.rename %0 [a] to [c] : !nd.tensor<i32, a: 2, b: 2> -> !nd.tensor<i32, b: 2, c: 2>
  return %1 : !nd.tensor<i32, b: 2, c: 2>
}

// -----

// The order in which a literal is written is part of its value: these two are different.
// CHECK-LABEL: @constants_in_two_orders
func.func @constants_in_two_orders() -> (!nd.tensor<i32, a: 2, b: 2>, !nd.tensor<i32, a: 2, b: 2>) {
  // CHECK-DAG: %[[X:.*]] = nd.constant {{.*}} by [a, b]
  // CHECK-DAG: %[[Y:.*]] = nd.constant {{.*}} by [b, a]
  // CHECK: return %[[X]], %[[Y]]
  %0 = nd.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> by [a, b] : !nd.tensor<i32, a: 2, b: 2>
  %1 = nd.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> by [b, a] : !nd.tensor<i32, a: 2, b: 2>
  return %0, %1 : !nd.tensor<i32, a: 2, b: 2>, !nd.tensor<i32, a: 2, b: 2>
}

// -----

// CHECK-LABEL: @broadcasts
func.func @broadcasts(%x: !nd.tensor<f32, a: 2>, %sized: !nd.tensor<f32, a: N>) -> (!nd.tensor<f32, a: 2>, !nd.tensor<f32, a: 2, b: 3, c: 4>, !nd.tensor<f32, a: N>) {
  // CHECK-DAG: %[[B:.*]] = nd.broadcast %arg0 : !nd.tensor<f32, a: 2> -> !nd.tensor<f32, a: 2, b: 3, c: 4>
  // CHECK-DAG: %[[C:.*]] = nd.constant dense<1.000000e+00> : tensor<f32> by [a] : !nd.tensor<f32, a: N>
  // CHECK: return %arg0, %[[B]], %[[C]]
  %0 = nd.broadcast %x : !nd.tensor<f32, a: 2> -> !nd.tensor<f32, a: 2>
  %1 = nd.broadcast %x : !nd.tensor<f32, a: 2> -> !nd.tensor<f32, a: 2, b: 3>
  %2 = nd.broadcast %1 : !nd.tensor<f32, a: 2, b: 3> -> !nd.tensor<f32, a: 2, b: 3, c: 4>
  %3 = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %4 = nd.broadcast %3 : !nd.tensor<f32> -> !nd.tensor<f32, a: N>
  return %0, %2, %4 : !nd.tensor<f32, a: 2>, !nd.tensor<f32, a: 2, b: 3, c: 4>, !nd.tensor<f32, a: N>
}

// -----

!a = !nd.tensor<f32, a: N>

// CHECK-LABEL: @nothing_to_do
func.func @nothing_to_do(%x: !a) -> (!a, !a, !a, !a) {
  // CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0
  %0 = nd.slice %x a from 0 size N : !a -> !a
  %1 = nd.pad %x a low 0 high 0 value 0.0 : f32 : !a -> !a
  %2 = nd.concat %x along a : (!a) -> !a
  %3 = nd.round %x to f32 : !a -> !a
  return %0, %1, %2, %3 : !a, !a, !a, !a
}

// -----

// CHECK-LABEL: @pointwise_identity
func.func @pointwise_identity(%x: !nd.tensor<f32, a: 2>, %y: !nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2> {
  // CHECK-NEXT: return %arg1
  %0 = nd.pointwise %x, %y : (!nd.tensor<f32, a: 2>, !nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2> {
  ^bb0(%p: f32, %q: f32):
    nd.yield %q : f32
  }
  return %0 : !nd.tensor<f32, a: 2>
}

// -----

// The first operand alone gives the result a name, and the region does not use it: it goes away.
// CHECK-LABEL: @pointwise_keeps_names
func.func @pointwise_keeps_names(%x: !nd.tensor<f32, a: 2, b: 3>, %y: !nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2, b: 3> {
  // CHECK-NEXT: nd.broadcast %arg1 : !nd.tensor<f32, a: 2> -> !nd.tensor<f32, a: 2, b: 3>
  %0 = nd.pointwise %x, %y : (!nd.tensor<f32, a: 2, b: 3>, !nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2, b: 3> {
  ^bb0(%p: f32, %q: f32):
    nd.yield %q : f32
  }
  return %0 : !nd.tensor<f32, a: 2, b: 3>
}

// -----

// A duplicate operand, and one without a use; without the link the product is crossed.
// CHECK-LABEL: @pointwise_prune
func.func @pointwise_prune(%x: !nd.tensor<f32, a: 2>, %y: !nd.tensor<f32, b: 3>, %z: !nd.tensor<f32, a: 2, b: 3>) -> !nd.tensor<f32, a: 2, b: 3> {
  // CHECK-NEXT: nd.pointwise %arg0, %arg1 crossed : (!nd.tensor<f32, a: 2>, !nd.tensor<f32, b: 3>) -> !nd.tensor<f32, a: 2, b: 3> {
  // CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32):
  // CHECK-NEXT: %[[S:.*]] = arith.mulf %[[P]], %[[P]]
  // CHECK-NEXT: arith.mulf %[[S]], %[[Q]]
  %0 = nd.pointwise %x, %x, %y, %z : (!nd.tensor<f32, a: 2>, !nd.tensor<f32, a: 2>, !nd.tensor<f32, b: 3>, !nd.tensor<f32, a: 2, b: 3>) -> !nd.tensor<f32, a: 2, b: 3> {
  ^bb0(%p: f32, %p2: f32, %q: f32, %r: f32):
    %s = arith.mulf %p, %p2 : f32
    %t = arith.mulf %s, %q : f32
    nd.yield %t : f32
  }
  return %0 : !nd.tensor<f32, a: 2, b: 3>
}

// -----

// Constants stay in the region that uses them.
// CHECK-LABEL: @splat_operand
func.func @splat_operand(%x: !nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2> {
  // CHECK-NEXT: nd.pointwise %arg0 : (!nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2> {
  // CHECK-NEXT: ^bb0(%[[P:.*]]: f32):
  // CHECK-NEXT: %[[Z:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT: arith.maximumf %[[P]], %[[Z]]
  %zero = nd.constant dense<0.0> : tensor<f32> by [a] : !nd.tensor<f32, a: 2>
  %0 = nd.pointwise %x, %zero : (!nd.tensor<f32, a: 2>, !nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, a: 2>
}

// -----

// Operands with different literals are no splats.
// CHECK-LABEL: @no_splat
func.func @no_splat() -> !nd.tensor<f32, a: 2> {
  // CHECK: nd.constant
  // CHECK: nd.pointwise
  %0 = nd.constant dense<[1.0, 2.0]> : tensor<2xf32> by [a] : !nd.tensor<f32, a: 2>
  %1 = nd.pointwise %0 : (!nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2> {
  ^bb0(%p: f32):
    %r = arith.negf %p : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32, a: 2>
}

// An operand without a use that alone gives names goes away as well; the names come by a broadcast.
// CHECK-LABEL: @names_of_an_unused_operand
// CHECK-SAME: (%{{.*}}: !nd.tensor<f32, a: 2>, %[[y:.*]]: !nd.tensor<f32, b: 3>)
func.func @names_of_an_unused_operand(%x: !nd.tensor<f32, a: 2>, %y: !nd.tensor<f32, b: 3>) -> !nd.tensor<f32, a: 2, b: 3> {
  // CHECK: %[[p:.*]] = nd.pointwise %[[y]] : (!nd.tensor<f32, b: 3>) -> !nd.tensor<f32, b: 3>
  // CHECK: nd.broadcast %[[p]] : !nd.tensor<f32, b: 3> -> !nd.tensor<f32, a: 2, b: 3>
  %r = nd.pointwise %x, %y crossed : (!nd.tensor<f32, a: 2>, !nd.tensor<f32, b: 3>) -> !nd.tensor<f32, a: 2, b: 3> {
  ^bb0(%s: f32, %t: f32):
    %n = arith.negf %t : f32
    nd.yield %n : f32
  }
  return %r : !nd.tensor<f32, a: 2, b: 3>
}

// An operand without a use stays where its window excludes taps from the reduction that follows.
// CHECK-LABEL: @unused_operand_that_excludes
func.func @unused_operand_that_excludes(%x: !nd.tensor<f32, a: 4>, %y: !nd.tensor<f32, a: 4, k: 3>) -> !nd.tensor<f32, a: 4> {
  // CHECK: %[[w:.*]] = nd.window
  %w = nd.window %x a -> k size 3 pad 1, 1 exclude : !nd.tensor<f32, a: 4> -> !nd.tensor<f32, a: 4, k: 3>
  // CHECK: nd.pointwise %[[w]], %{{.*}} :
  %p = nd.pointwise %w, %y : (!nd.tensor<f32, a: 4, k: 3>, !nd.tensor<f32, a: 4, k: 3>) -> !nd.tensor<f32, a: 4, k: 3> {
  ^bb0(%s: f32, %t: f32):
    nd.yield %t : f32
  }
  %r = nd.reduce %p over [k] neutral [0.0 : f32] : (!nd.tensor<f32, a: 4, k: 3>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%s: f32, %t: f32):
    %m = arith.addf %s, %t : f32
    nd.yield %m : f32
  }
  return %r : !nd.tensor<f32, a: 4>
}
