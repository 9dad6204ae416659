// RUN: heddle-opt %s --nd-inline-calls --split-input-file --verify-diagnostics | FileCheck %s

!k = !nd.tensor<f32, k: 4>
!batch = !nd.tensor<f32, batch: 2>

func.func private @norm(%x: !k, %s: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %p = nd.pointwise %x, %s : (!k, !nd.tensor<f32>) -> !k {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [k] neutral [0.0 : f32] : (!k) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    nd.yield %0 : f32
  }
  return %r : !nd.tensor<f32>
}

// The reduction lists its names, so the lifted one passes through. The scalar lifted alone makes an outer product.
// CHECK-LABEL: @lifted
func.func @lifted(%x: !k, %y: !nd.tensor<f32, batch: 2, k: 4>, %s: !batch, %one: !nd.tensor<f32>) -> (!batch, !batch) {
  // CHECK: nd.pointwise %arg1, %arg3 : (!nd.tensor<f32, batch: 2, k: 4>, !nd.tensor<f32>) -> !nd.tensor<f32, batch: 2, k: 4>
  // CHECK: nd.reduce %{{.*}} over [k] {{.*}} -> !nd.tensor<f32, batch: 2>
  // CHECK: nd.pointwise %arg0, %arg2 crossed : (!nd.tensor<f32, k: 4>, !nd.tensor<f32, batch: 2>)
  // CHECK: nd.reduce %{{.*}} over [k] {{.*}} -> !nd.tensor<f32, batch: 2>
  // CHECK-NOT: nd.call
  %0 = nd.call @norm(%y, %one) : (!nd.tensor<f32, batch: 2, k: 4>, !nd.tensor<f32>) -> !batch
  %1 = nd.call @norm(%x, %s) : (!k, !batch) -> !batch
  return %0, %1 : !batch, !batch
}

// A lifted name that the callee uses inside: the callee's is renamed apart.
// CHECK-LABEL: @hygiene
func.func @hygiene(%x: !k, %s: !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  // CHECK: %[[X:.*]] = nd.rename %arg0 [k] to [k$1]
  // CHECK: nd.pointwise %[[X]], %arg1 crossed
  // CHECK: nd.reduce %{{.*}} over [k$1] {{.*}} -> !nd.tensor<f32, k: 3>
  %0 = nd.call @norm(%x, %s) : (!k, !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3>
  return %0 : !nd.tensor<f32, k: 3>
}

// -----

// Symbols of the callee are bound by the operands; a lifted index needs a lifted destination.
func.func private @add_at(%d: !nd.tensor<f32, a: N>, %u: !nd.tensor<f32>, %i: !nd.tensor<i32>) -> !nd.tensor<f32, a: N> {
  %r = nd.scatter %u into %d [a] at %i : (!nd.tensor<f32, a: N>, !nd.tensor<f32>, !nd.tensor<i32>) -> !nd.tensor<f32, a: N> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    nd.yield %0 : f32
  }
  return %r : !nd.tensor<f32, a: N>
}
// CHECK-LABEL: @scattered
func.func @scattered(%d: !nd.tensor<f32, a: 5>, %u: !nd.tensor<f32>, %i: !nd.tensor<i32, b: 3>) -> !nd.tensor<f32, a: 5, b: 3> {
  // CHECK: %[[D:.*]] = nd.broadcast %arg0 : !nd.tensor<f32, a: 5> -> !nd.tensor<f32, a: 5, b: 3>
  // CHECK: %[[U:.*]] = nd.broadcast %arg1
  // CHECK: nd.scatter %[[U]] into %[[D]] [a] at %arg2
  %0 = nd.call @add_at(%d, %u, %i) : (!nd.tensor<f32, a: 5>, !nd.tensor<f32>, !nd.tensor<i32, b: 3>) -> !nd.tensor<f32, a: 5, b: 3>
  return %0 : !nd.tensor<f32, a: 5, b: 3>
}

// -----

// Random bits repeat along a lifted name that the key lacks, and follow a key that has it.
func.func private @noise(%x: !nd.tensor<f32, a: 4>, %key: !nd.tensor<ui64>) -> !nd.tensor<ui32, a: 4> {
  %bits = nd.random %key by [a] : !nd.tensor<ui64> -> !nd.tensor<ui32, a: 4>
  return %bits : !nd.tensor<ui32, a: 4>
}
// CHECK-LABEL: @noisy
func.func @noisy(%x: !nd.tensor<f32, a: 4, b: 2>, %key: !nd.tensor<ui64>, %keys: !nd.tensor<ui64, b: 2>) -> (!nd.tensor<ui32, a: 4>, !nd.tensor<ui32, a: 4, b: 2>) {
  // CHECK: nd.random %arg1 by [a] : !nd.tensor<ui64> -> !nd.tensor<ui32, a: 4>
  // CHECK: nd.random %arg2 by [a] : !nd.tensor<ui64, b: 2> -> !nd.tensor<ui32, a: 4, b: 2>
  %0 = nd.call @noise(%x, %key) : (!nd.tensor<f32, a: 4, b: 2>, !nd.tensor<ui64>) -> !nd.tensor<ui32, a: 4>
  %1 = nd.call @noise(%x, %keys) : (!nd.tensor<f32, a: 4, b: 2>, !nd.tensor<ui64, b: 2>) -> !nd.tensor<ui32, a: 4, b: 2>
  return %0, %1 : !nd.tensor<ui32, a: 4>, !nd.tensor<ui32, a: 4, b: 2>
}

// -----

// A user's nest is lifted like anything else; a layout that it asks for keeps its inner factors.
func.func private @kernel(%x: !nd.tensor<f32, k: 4>, %w: !nd.tensor<f32, k: 4, o: 8>) -> !nd.tensor<f32, o: 8> {
  %r = nest.compute (o: 8) reduce (k: 4) reads %x[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nest.yield %0 : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[o floordiv 4, o mod 4]>]} : (!nd.tensor<f32, k: 4>, !nd.tensor<f32, k: 4, o: 8>) -> !nd.tensor<f32, o: 8>
  return %r : !nd.tensor<f32, o: 8>
}
// CHECK-LABEL: @lifted_kernel
func.func @lifted_kernel(%x: !nd.tensor<f32, k: 4, o: 2>, %y: !nd.tensor<f32, k: 4, n: 2>, %w: !nd.tensor<f32, k: 4, o: 8>) -> !nd.tensor<f32, n: 2, o: 8> {
  // CHECK: nest.compute (n: 2, o: 8) reduce (k: 4) reads %arg1[], %arg2[]
  // CHECK: #nest.layout<[n, o floordiv 4, o mod 4]>
  %0 = nd.call @kernel(%y, %w) : (!nd.tensor<f32, k: 4, n: 2>, !nd.tensor<f32, k: 4, o: 8>) -> !nd.tensor<f32, n: 2, o: 8>
  return %0 : !nd.tensor<f32, n: 2, o: 8>
}

// -----

// A lifted call may have no results.
func.func private @nothing(%x: !nd.tensor<f32, k: 2>) {
  return
}
func.func private @caller(%x: !nd.tensor<f32, k: 2, n: 3>) {
  nd.call @nothing(%x) : (!nd.tensor<f32, k: 2, n: 3>) -> ()
  return
}
// CHECK-LABEL: @lifted_nothing
// CHECK-NEXT: return
func.func @lifted_nothing(%x: !nd.tensor<f32, k: 2, m: 5, n: 3>) {
  nd.call @caller(%x) : (!nd.tensor<f32, k: 2, m: 5, n: 3>) -> ()
  return
}

// -----

// expected-note @below {{'@even' is defined here}}
func.func private @even(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %0 = nd.call @odd(%x) : (!nd.tensor<f32>) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}
// expected-note @below {{'@odd' is defined here}}
func.func private @odd(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  // expected-error @below {{is recursive: '@even' calls itself; use nest.scan, scf.for or scf.while instead}}
  %0 = nd.call @even(%x) : (!nd.tensor<f32>) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}

// -----

// expected-note @below {{'@outside' is this function}}
func.func private @outside(%x: !nd.tensor<f32>) -> !nd.tensor<f32>
func.func @calls_outside(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  // expected-error @below {{expected '@outside' to be a function with a body of one block, got one without a body}}
  %0 = nd.call @outside(%x) : (!nd.tensor<f32>) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}

// -----

func.func private @shorter(%x: !nd.tensor<f32, row: N>) -> !nd.tensor<f32> {
  // expected-note @below {{in '@shorter' it is N - 3}}
  %0 = nd.slice %x row from 0 size N - 3 : !nd.tensor<f32, row: N> -> !nd.tensor<f32, row: N - 3>
  %1 = nd.reduce %0 over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: N - 3>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  return %1 : !nd.tensor<f32>
}
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 2>'}}
func.func @negative_size(%x: !nd.tensor<f32, row: 2>) -> !nd.tensor<f32> {
  // expected-error @below {{expected a size of 0 to 2^60 for 'row', got -1}}
  %0 = nd.call @shorter(%x) : (!nd.tensor<f32, row: 2>) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}

// -----

func.func private @few(%x: !nd.tensor<f32, row: N>) -> !nd.tensor<f32, row: N> attributes {nd.ranges = {N = [1, 4]}} {
  return %x : !nd.tensor<f32, row: N>
}
// CHECK-LABEL: @within
func.func @within(%x: !nd.tensor<f32, row: M>) -> !nd.tensor<f32, row: M> attributes {nd.ranges = {M = [2, 3]}} {
  // CHECK-NEXT: return
  %0 = nd.call @few(%x) : (!nd.tensor<f32, row: M>) -> !nd.tensor<f32, row: M>
  return %0 : !nd.tensor<f32, row: M>
}

// -----

// expected-note @below {{'@few' is defined here}}
func.func private @few(%x: !nd.tensor<f32, row: N>) -> !nd.tensor<f32, row: N> attributes {nd.ranges = {N = [1, 4]}} {
  return %x : !nd.tensor<f32, row: N>
}
// expected-note @below {{operand 0 is of type}}
func.func @without(%x: !nd.tensor<f32, row: M>) -> !nd.tensor<f32, row: M> {
  // expected-error @below {{expected 1 to 4 for 'N' of '@few', got M, which may be 0 to 2147483648; declare 'nd.ranges' of '@without'}}
  %0 = nd.call @few(%x) : (!nd.tensor<f32, row: M>) -> !nd.tensor<f32, row: M>
  return %0 : !nd.tensor<f32, row: M>
}

// -----

!k = !nd.tensor<f32, k: 4>

// A lifted branch computes both sides at all points. As long as derivatives are requested, a side passes gradients to what
// it reads at its own points alone.
func.func private @root(%x: !nd.tensor<f32>, %w: !k) -> !k {
  %c = nd.pointwise %x : (!nd.tensor<f32>) -> !nd.tensor<i1> {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.cmpf olt, %a, %one : f32
    nd.yield %0 : i1
  }
  %i = nd.item %c : !nd.tensor<i1> -> i1
  %r = scf.if %i -> (!k) {
    scf.yield %w : !k
  } else {
    %s = nd.pointwise %w : (!k) -> !k {
    ^bb0(%a: f32):
      %0 = math.sqrt %a : f32
      nd.yield %0 : f32
    }
    scf.yield %s : !k
  }
  return %r : !k
}
// CHECK-LABEL: func.func private @lifted_root
// CHECK: arith.cmpf olt
// CHECK: %[[ELSE:.*]] = nd.pointwise
// CHECK: arith.xori
// CHECK: %[[CONSTANT:.*]] = nd.stop_gradient %arg1
// CHECK: %[[OWN:.*]] = nd.pointwise %[[ELSE]], %arg1, %[[CONSTANT]] crossed : (!nd.tensor<i1, batch: 2>, !nd.tensor<f32, k: 4>, !nd.tensor<f32, k: 4>)
// CHECK: arith.select
// CHECK: nd.pointwise %[[OWN]]
// CHECK: math.sqrt
// CHECK: arith.select
// CHECK-NOT: nd.stop_gradient
// CHECK: return
func.func private @lifted_root(%x: !nd.tensor<f32, batch: 2>, %w: !k) -> !nd.tensor<f32, batch: 2, k: 4> {
  %0 = nd.call @root(%x, %w) : (!nd.tensor<f32, batch: 2>, !k) -> !nd.tensor<f32, batch: 2, k: 4>
  return %0 : !nd.tensor<f32, batch: 2, k: 4>
}
func.func @gradient(%x: !nd.tensor<f32, batch: 2>, %w: !k, %g: !nd.tensor<f32, batch: 2, k: 4>) -> !k {
  %y, %dw = nd.vjp @lifted_root(%x, %w) cotangents(%g) wrt [1] : (!nd.tensor<f32, batch: 2>, !k, !nd.tensor<f32, batch: 2, k: 4>) -> (!nd.tensor<f32, batch: 2, k: 4>, !k)
  return %dw : !k
}
