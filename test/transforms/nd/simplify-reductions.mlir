// RUN: heddle-opt %s --nd-simplify=verify-rules --split-input-file | FileCheck %s

// A sum over repeated elements is a multiple, a maximum is the operand; a product is neither. Other broadcasts come last.
// CHECK-LABEL: @repeated
func.func @repeated(%x: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<f32, b: 3>, !nd.tensor<f32, c: 2>) {
  // CHECK: %[[S:.*]] = nd.reduce %arg0 over [a]
  // CHECK: %[[T:.*]] = nd.pointwise %[[S]]
  // CHECK: arith.constant 6.0
  // CHECK: arith.mulf
  // CHECK: %[[M:.*]] = nd.reduce %arg0 over [a]
  // CHECK: maximumf
  // CHECK: arith.constant 2.0
  // CHECK: nd.broadcast %{{.*}} : !nd.tensor<f32> -> !nd.tensor<f32, b: 3>
  // CHECK: nd.reduce %{{.*}} over [a, b] neutral [1.0
  %b = nd.broadcast %x : !nd.tensor<f32, a: 4> -> !nd.tensor<f32, a: 4, b: 3, c: 2>
  %0 = nd.reduce %b over [a, b, c] neutral [0.0 : f32] : (!nd.tensor<f32, a: 4, b: 3, c: 2>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %b over [a, b, c] neutral [0xFF800000 : f32] : (!nd.tensor<f32, a: 4, b: 3, c: 2>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %b over [a, c] neutral [0.0 : f32] : (!nd.tensor<f32, a: 4, b: 3, c: 2>) -> !nd.tensor<f32, b: 3> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %3 = nd.reduce %b over [a, b] neutral [1.0 : f32] : (!nd.tensor<f32, a: 4, b: 3, c: 2>) -> !nd.tensor<f32, c: 2> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nd.yield %r : f32
  }
  return %0, %1, %2, %3 : !nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<f32, b: 3>, !nd.tensor<f32, c: 2>
}

// -----

// Sums are counted in the type of their accumulator; integers wrap around.
// CHECK-LABEL: @repeated_alone
func.func @repeated_alone(%x: !nd.tensor<bf16, a: 4>, %y: !nd.tensor<ui8, a: 4>) -> (!nd.tensor<f32, a: 4>, !nd.tensor<ui8, a: 4>) {
  // CHECK: nd.pointwise %arg0
  // CHECK: arith.constant 3.0{{.*}} : f32
  // CHECK: arith.extf
  // CHECK: nd.pointwise %arg1
  // CHECK: arith.constant 44 : i8
  // CHECK: arith.muli
  // CHECK-NOT: nd.reduce
  %b = nd.broadcast %x : !nd.tensor<bf16, a: 4> -> !nd.tensor<bf16, a: 4, b: 3>
  %c = nd.broadcast %y : !nd.tensor<ui8, a: 4> -> !nd.tensor<ui8, a: 4, b: 300>
  %0 = nd.reduce %b over [b] neutral [0.0 : f32] : (!nd.tensor<bf16, a: 4, b: 3>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %c over [b] neutral [0 : i8] : (!nd.tensor<ui8, a: 4, b: 300>) -> !nd.tensor<ui8, a: 4> {
  ^bb0(%p: i8, %q: i8):
    %r = arith.addi %p, %q : i8
    nd.yield %r : i8
  }
  return %0, %1 : !nd.tensor<f32, a: 4>, !nd.tensor<ui8, a: 4>
}

// -----

// A symbol may be zero: the maximum over nothing is the neutral element.
// CHECK-LABEL: @maybe_none
func.func @maybe_none(%x: !nd.tensor<f32, a: N>) -> (!nd.tensor<f32, a: N>) {
  // CHECK: nd.broadcast
  // CHECK: nd.reduce
  %b = nd.broadcast %x : !nd.tensor<f32, a: N> -> !nd.tensor<f32, a: N, b: N>
  %0 = nd.reduce %b over [b] neutral [0xFF800000 : f32] : (!nd.tensor<f32, a: N, b: N>) -> !nd.tensor<f32, a: N> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, a: N>
}

// -----

// Zeros need not be added; along another name, or in a maximum, they matter.
// CHECK-LABEL: @padded
func.func @padded(%x: !nd.tensor<f32, a: 4, b: 2>) -> (!nd.tensor<f32, b: 2>, !nd.tensor<f32, a: 6>, !nd.tensor<f32, b: 2>) {
  // CHECK: %[[P:.*]] = nd.pad
  // CHECK: nd.reduce %arg0 over [a]
  // CHECK: nd.reduce %[[P]] over [b]
  // CHECK: nd.reduce %[[P]] over [a]
  %b = nd.pad %x a low 1 high 1 value 0.0 : f32 : !nd.tensor<f32, a: 4, b: 2> -> !nd.tensor<f32, a: 6, b: 2>
  %0 = nd.reduce %b over [a] neutral [0.0 : f32] : (!nd.tensor<f32, a: 6, b: 2>) -> !nd.tensor<f32, b: 2> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %b over [b] neutral [0.0 : f32] : (!nd.tensor<f32, a: 6, b: 2>) -> !nd.tensor<f32, a: 6> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %b over [a] neutral [0xFF800000 : f32] : (!nd.tensor<f32, a: 6, b: 2>) -> !nd.tensor<f32, b: 2> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    nd.yield %r : f32
  }
  return %0, %1, %2 : !nd.tensor<f32, b: 2>, !nd.tensor<f32, a: 6>, !nd.tensor<f32, b: 2>
}

// -----

// CHECK-LABEL: @reshaped
func.func @reshaped(%x: !nd.tensor<f32, a: 4, b: 3>, %y: !nd.tensor<f32, c: 12, d: 2>) -> (!nd.tensor<f32>, !nd.tensor<f32, d: 2>, !nd.tensor<f32, p: 4, d: 2>) {
  // CHECK-DAG: nd.reduce %arg0 over [a, b]
  // CHECK-DAG: nd.reduce %arg1 over [c]
  // CHECK-DAG: nd.reduce %{{.*}} over [q]
  %m = nd.merge %x [a, b] into c : !nd.tensor<f32, a: 4, b: 3> -> !nd.tensor<f32, c: 12>
  %s = nd.split %y c into [p, q] : !nd.tensor<f32, c: 12, d: 2> -> !nd.tensor<f32, p: 4, q: 3, d: 2>
  %0 = nd.reduce %m over [c] neutral [0.0 : f32] : (!nd.tensor<f32, c: 12>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %s over [q, p] neutral [0.0 : f32] : (!nd.tensor<f32, p: 4, q: 3, d: 2>) -> !nd.tensor<f32, d: 2> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %s over [q] neutral [0.0 : f32] : (!nd.tensor<f32, p: 4, q: 3, d: 2>) -> !nd.tensor<f32, p: 4, d: 2> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %0, %1, %2 : !nd.tensor<f32>, !nd.tensor<f32, d: 2>, !nd.tensor<f32, p: 4, d: 2>
}

// -----

!a = !nd.tensor<f32, a: 1>

// The exclusive prefix of one element is the neutral element.
// CHECK-LABEL: @scans
func.func @scans(%x: !a) -> (!a, !a) {
  // CHECK: %[[E:.*]] = nd.scan %arg0 along a exclusive
  // CHECK: return %arg0, %[[E]]
  %0 = nd.scan %x along a neutral [0.0 : f32] : (!a) -> !a {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %1 = nd.scan %x along a exclusive neutral [0.0 : f32] : (!a) -> !a {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %0, %1 : !a, !a
}

// A product of complex numbers has no neutral element at infinity.
// CHECK-LABEL: @complexProductOfOne
func.func @complexProductOfOne(%x: !a) -> !a {
  // CHECK: %[[S:.*]]:2 = nd.scan %arg0, %arg0
  // CHECK: return %[[S]]#1
  %0:2 = nd.scan %x, %x along a neutral [1.0 : f32, 0.0 : f32] : (!a, !a) -> (!a, !a) {
  ^bb0(%p: f32, %q: f32, %r: f32, %s: f32):
    %0 = arith.mulf %p, %r : f32
    %1 = arith.mulf %q, %s : f32
    %2 = arith.subf %0, %1 : f32
    %3 = arith.mulf %p, %s : f32
    %4 = arith.mulf %q, %r : f32
    %5 = arith.addf %3, %4 : f32
    nd.yield %2, %5 : f32, f32
  }
  return %0#1 : !a
}

// A sum of sums that collect in other types stays: the outer one would lose what the inner one kept.
// CHECK-LABEL: @otherAccumulators
// CHECK-COUNT-2: nd.reduce
func.func @otherAccumulators(%x: !nd.tensor<f32, a: 4, b: 3>) -> !nd.tensor<f32> {
  %0 = nd.reduce %x over [a] neutral [0.0 : f64] : (!nd.tensor<f32, a: 4, b: 3>) -> !nd.tensor<f32, b: 3> {
  ^bb0(%p: f64, %q: f64):
    %r = arith.addf %p, %q : f64
    nd.yield %r : f64
  }
  %1 = nd.reduce %0 over [b] neutral [0.0 : f32] : (!nd.tensor<f32, b: 3>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32>
}

// Excluded taps are not terms of a sum, even if they are repeated.
// CHECK-LABEL: @repeatedWindow
// CHECK: nd.window
// CHECK: nd.broadcast
// CHECK: nd.reduce
func.func @repeatedWindow(%x: !nd.tensor<f32, a: 3>) -> !nd.tensor<f32, a: 3> {
  %0 = nd.window %x a -> k size 3 pad 1, 1 exclude : !nd.tensor<f32, a: 3> -> !nd.tensor<f32, a: 3, k: 3>
  %1 = nd.broadcast %0 : !nd.tensor<f32, a: 3, k: 3> -> !nd.tensor<f32, a: 3, b: 2, k: 3>
  %2 = nd.reduce %1 over [b, k] neutral [0.0 : f32] : (!nd.tensor<f32, a: 3, b: 2, k: 3>) -> !nd.tensor<f32, a: 3> {
  ^bb0(%s: f32, %t: f32):
    %r = arith.addf %s, %t : f32
    nd.yield %r : f32
  }
  return %2 : !nd.tensor<f32, a: 3>
}

// -----

!a = !nd.tensor<f32, a: 4>

// A merge of no names gives one element: the reduction over it is the element. Over other names as well, it is over these alone.
// CHECK-LABEL: @merge_of_none
// CHECK: %[[S:.*]] = nd.reduce %arg0 over [a]
// CHECK: %[[P:.*]] = nd.reduce %{{.*}} over [d]
// CHECK: return %arg0, %[[S]], %[[P]]
func.func @merge_of_none(%x: !a) -> (!a, !nd.tensor<f32>, !a) {
  %m = nd.merge %x [] into d : !a -> !nd.tensor<f32, a: 4, d: 1>
  %0 = nd.reduce %m over [d] neutral [0.0 : f32] : (!nd.tensor<f32, a: 4, d: 1>) -> !a {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %m over [d, a] neutral [0.0 : f32] : (!nd.tensor<f32, a: 4, d: 1>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  // A combiner without a name may change one element.
  %2 = nd.reduce %m over [d] neutral [0.0 : f32] : (!nd.tensor<f32, a: 4, d: 1>) -> !a {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    %t = arith.mulf %p, %q : f32
    %r = arith.addf %s, %t : f32
    nd.yield %r : f32
  }
  return %0, %1, %2 : !a, !nd.tensor<f32>, !a
}
