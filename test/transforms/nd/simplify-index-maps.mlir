// RUN: heddle-opt %s --nd-simplify=verify-rules --split-input-file | FileCheck %s

// CHECK-LABEL: @pads
func.func @pads(%x: !nd.tensor<f32, a: 5>) -> (!nd.tensor<f32, a: 10>, !nd.tensor<f32, a: 10>) {
  // CHECK: %[[O:.*]] = nd.pad %arg0 a low 1 high 1
  // CHECK: %[[B:.*]] = nd.pad %arg0 a low 3 high 2 value 0.0
  // CHECK: %[[D:.*]] = nd.pad %[[O]] a low 2 high 1 value 1.0
  // CHECK: return %[[B]], %[[D]]
  %0 = nd.pad %x a low 1 high 1 value 0.0 : f32 : !nd.tensor<f32, a: 5> -> !nd.tensor<f32, a: 7>
  %1 = nd.pad %0 a low 2 high 1 value 0.0 : f32 : !nd.tensor<f32, a: 7> -> !nd.tensor<f32, a: 10>
  %2 = nd.pad %0 a low 2 high 1 value 1.0 : f32 : !nd.tensor<f32, a: 7> -> !nd.tensor<f32, a: 10>
  return %1, %2 : !nd.tensor<f32, a: 10>, !nd.tensor<f32, a: 10>
}

// -----

// Inside of what was padded, outside, and over one edge.
// CHECK-LABEL: @slices_of_a_pad
func.func @slices_of_a_pad(%x: !nd.tensor<f32, a: 6>) -> (!nd.tensor<f32, a: 3>, !nd.tensor<f32, a: 2>, !nd.tensor<f32, a: 5>, !nd.tensor<f32, a: 4>) {
  // CHECK-DAG: %[[I:.*]] = nd.slice %arg0 a from 5 size 3 stride -2
  // CHECK-DAG: %[[O:.*]] = nd.constant dense<2.000000e+00> : tensor<f32> by [a] : !nd.tensor<f32, a: 2>
  // CHECK-DAG: %[[S:.*]] = nd.slice %arg0 a from 0 size 3 :
  // CHECK-DAG: %[[E:.*]] = nd.pad %[[S]] a low 2 high 0
  // CHECK-DAG: %[[T:.*]] = nd.slice %{{.*}} a from 1 size 4 stride 3
  // CHECK: return %[[I]], %[[O]], %[[E]], %[[T]]
  %p = nd.pad %x a low 4 high 3 value 2.0 : f32 : !nd.tensor<f32, a: 6> -> !nd.tensor<f32, a: 13>
  %0 = nd.slice %p a from 9 size 3 stride -2 : !nd.tensor<f32, a: 13> -> !nd.tensor<f32, a: 3>
  %1 = nd.slice %p a from 11 size 2 : !nd.tensor<f32, a: 13> -> !nd.tensor<f32, a: 2>
  %2 = nd.slice %p a from 2 size 5 : !nd.tensor<f32, a: 13> -> !nd.tensor<f32, a: 5>
  %3 = nd.slice %p a from 1 size 4 stride 3 : !nd.tensor<f32, a: 13> -> !nd.tensor<f32, a: 4>
  return %0, %1, %2, %3 : !nd.tensor<f32, a: 3>, !nd.tensor<f32, a: 2>, !nd.tensor<f32, a: 5>, !nd.tensor<f32, a: 4>
}

// -----

// CHECK-LABEL: @slices_of_a_join
func.func @slices_of_a_join(%x: !nd.tensor<f32, a: 4>, %y: !nd.tensor<f32, a: 5>, %z: !nd.tensor<f32, a: 6>) -> (!nd.tensor<f32, a: 2>, !nd.tensor<f32, a: 6>) {
  // CHECK-DAG: %[[I:.*]] = nd.slice %arg1 a from 1 size 2 stride 3
  // CHECK-DAG: %[[L:.*]] = nd.slice %arg0 a from 2 size 2 :
  // CHECK-DAG: %[[R:.*]] = nd.slice %arg1 a from 0 size 4 :
  // CHECK-DAG: %[[J:.*]] = nd.concat %[[L]], %[[R]] along a
  // CHECK: return %[[I]], %[[J]]
  %0 = nd.concat %x, %y, %z along a : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 5>, !nd.tensor<f32, a: 6>) -> !nd.tensor<f32, a: 15>
  %1 = nd.slice %0 a from 5 size 2 stride 3 : !nd.tensor<f32, a: 15> -> !nd.tensor<f32, a: 2>
  %2 = nd.concat %x, %y, %z along a : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 5>, !nd.tensor<f32, a: 6>) -> !nd.tensor<f32, a: 15>
  %3 = nd.slice %2 a from 2 size 6 : !nd.tensor<f32, a: 15> -> !nd.tensor<f32, a: 6>
  return %1, %3 : !nd.tensor<f32, a: 2>, !nd.tensor<f32, a: 6>
}

// -----

// A join that others read as a whole stays.
// CHECK-LABEL: @join_of_two_uses
func.func @join_of_two_uses(%x: !nd.tensor<f32, a: 4>, %y: !nd.tensor<f32, a: 5>) -> (!nd.tensor<f32, a: 9>, !nd.tensor<f32, a: 6>) {
  // CHECK: nd.concat %arg0, %arg1
  // CHECK: nd.slice %{{.*}} a from 2 size 6
  %0 = nd.concat %x, %y along a : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 5>) -> !nd.tensor<f32, a: 9>
  %1 = nd.slice %0 a from 2 size 6 : !nd.tensor<f32, a: 9> -> !nd.tensor<f32, a: 6>
  return %0, %1 : !nd.tensor<f32, a: 9>, !nd.tensor<f32, a: 6>
}

// -----

!a = !nd.tensor<f32, a: 7>

// Parts that touch are the whole; parts that do not, or lie the other way round, are not.
// CHECK-LABEL: @joins
func.func @joins(%x: !a, %e: !nd.tensor<f32, a: 0>) -> (!a, !a, !nd.tensor<f32, a: 14>) {
  // CHECK-DAG: %[[L:.*]] = nd.slice %arg0 a from 0 size 3
  // CHECK-DAG: %[[R:.*]] = nd.slice %arg0 a from 3 size 4
  // CHECK-DAG: %[[B:.*]] = nd.concat %[[R]], %[[L]] along a
  // CHECK-DAG: %[[F:.*]] = nd.concat %[[R]], %[[L]], %arg0 along a
  // CHECK: return %arg0, %[[B]], %[[F]]
  %0 = nd.slice %x a from 0 size 3 : !a -> !nd.tensor<f32, a: 3>
  %1 = nd.slice %x a from 3 size 4 : !a -> !nd.tensor<f32, a: 4>
  %2 = nd.concat %0, %e, %1 along a : (!nd.tensor<f32, a: 3>, !nd.tensor<f32, a: 0>, !nd.tensor<f32, a: 4>) -> !a
  %3 = nd.concat %1, %0 along a : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 3>) -> !a
  %4 = nd.concat %1, %0 along a : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 3>) -> !a
  %5 = nd.concat %4, %x along a : (!a, !a) -> !nd.tensor<f32, a: 14>
  return %2, %3, %5 : !a, !a, !nd.tensor<f32, a: 14>
}

// -----

// Slices along another name than that of the join do not touch.
// CHECK-LABEL: @joins_across
func.func @joins_across(%x: !nd.tensor<f32, a: 6, b: 2>) -> !nd.tensor<f32, a: 3, b: 4> {
  // CHECK: nd.concat %{{.*}}, %{{.*}} along b
  %0 = nd.slice %x a from 0 size 3 : !nd.tensor<f32, a: 6, b: 2> -> !nd.tensor<f32, a: 3, b: 2>
  %1 = nd.slice %x a from 3 size 3 : !nd.tensor<f32, a: 6, b: 2> -> !nd.tensor<f32, a: 3, b: 2>
  %2 = nd.concat %0, %1 along b : (!nd.tensor<f32, a: 3, b: 2>, !nd.tensor<f32, a: 3, b: 2>) -> !nd.tensor<f32, a: 3, b: 4>
  return %2 : !nd.tensor<f32, a: 3, b: 4>
}

// -----

// A gather of coordinates along a name that the rest has takes a diagonal: that is no slice.
// CHECK-LABEL: @gathers
func.func @gathers(%x: !nd.tensor<f32, a: 7, b: 4>, %i: !nd.tensor<i32, p: 2>) -> (!nd.tensor<f32, p: 3, b: 4>, !nd.tensor<f32, b: 4>, !nd.tensor<f32, p: 9, b: 4>) {
  // CHECK-DAG: %[[S:.*]] = nd.slice %arg0 a from 0 size 3
  // CHECK-DAG: %[[R:.*]] = nd.rename %[[S]] [a] to [p]
  // CHECK-DAG: %[[D:.*]] = nd.gather %arg0 [a] at
  // CHECK-DAG: %[[C:.*]] = nd.gather %arg0 [a] at
  // CHECK: return %[[R]], %[[D]], %[[C]]
  %0 = nd.iota p : !nd.tensor<i32, p: 3>
  %1 = nd.gather %x [a] at %0 : (!nd.tensor<f32, a: 7, b: 4>, !nd.tensor<i32, p: 3>) -> !nd.tensor<f32, p: 3, b: 4>
  %2 = nd.iota b : !nd.tensor<i32, b: 4>
  %3 = nd.gather %x [a] at %2 : (!nd.tensor<f32, a: 7, b: 4>, !nd.tensor<i32, b: 4>) -> !nd.tensor<f32, b: 4>
  %4 = nd.iota p : !nd.tensor<i32, p: 9>
  %5 = nd.gather %x [a] at %4 : (!nd.tensor<f32, a: 7, b: 4>, !nd.tensor<i32, p: 9>) -> !nd.tensor<f32, p: 9, b: 4>
  return %1, %3, %5 : !nd.tensor<f32, p: 3, b: 4>, !nd.tensor<f32, b: 4>, !nd.tensor<f32, p: 9, b: 4>
}

// -----

// Coordinates that an element type is too narrow for wrap around: those are not in order.
// CHECK-LABEL: @narrow_coordinates
func.func @narrow_coordinates(%x: !nd.tensor<f32, a: 300>, %y: !nd.tensor<f32, a: N>) -> (!nd.tensor<f32, p: 200>, !nd.tensor<f32, p: 3>, !nd.tensor<f32, a: N>, !nd.tensor<f32, p: 127>) {
  // CHECK-DAG: %[[W:.*]] = nd.gather %arg0 [a] at %{{.*}} : (!nd.tensor<f32, a: 300>, !nd.tensor<i8, p: 200>)
  // CHECK-DAG: %[[T:.*]] = nd.gather %arg0 [a] at %{{.*}} : (!nd.tensor<f32, a: 300>, !nd.tensor<i1, p: 3>)
  // CHECK-DAG: %[[N:.*]] = nd.gather %arg1 [a] at %{{.*}} : (!nd.tensor<f32, a: N>, !nd.tensor<i16, a: N>)
  // CHECK-DAG: %[[S:.*]] = nd.slice %arg0 a from 0 size 127
  // CHECK-DAG: %[[R:.*]] = nd.rename %[[S]] [a] to [p]
  // CHECK: return %[[W]], %[[T]], %[[N]], %[[R]]
  %0 = nd.iota p : !nd.tensor<i8, p: 200>
  %1 = nd.gather %x [a] at %0 : (!nd.tensor<f32, a: 300>, !nd.tensor<i8, p: 200>) -> !nd.tensor<f32, p: 200>
  %2 = nd.iota p : !nd.tensor<i1, p: 3>
  %3 = nd.gather %x [a] at %2 : (!nd.tensor<f32, a: 300>, !nd.tensor<i1, p: 3>) -> !nd.tensor<f32, p: 3>
  %4 = nd.iota a : !nd.tensor<i16, a: N>
  %5 = nd.gather %y [a] at %4 : (!nd.tensor<f32, a: N>, !nd.tensor<i16, a: N>) -> !nd.tensor<f32, a: N>
  %6 = nd.iota p : !nd.tensor<i8, p: 127>
  %7 = nd.gather %x [a] at %6 : (!nd.tensor<f32, a: 300>, !nd.tensor<i8, p: 127>) -> !nd.tensor<f32, p: 127>
  return %1, %3, %5, %7 : !nd.tensor<f32, p: 200>, !nd.tensor<f32, p: 3>, !nd.tensor<f32, a: N>, !nd.tensor<f32, p: 127>
}

// -----

!a = !nd.tensor<f32, a: 3>

// A constant start is clamped as a computed one is.
// CHECK-LABEL: @dynamic_slices
func.func @dynamic_slices(%x: !nd.tensor<f32, a: 7>, %i: !nd.tensor<i32>) -> (!a, !a, !a) {
  // CHECK-DAG: nd.slice %arg0 a from 4 size 3
  // CHECK-DAG: nd.slice %arg0 a from 0 size 3
  // CHECK-DAG: nd.dynamic_slice
  %0 = nd.constant dense<6> : tensor<i32> by [] : !nd.tensor<i32>
  %1 = nd.constant dense<-6> : tensor<i32> by [] : !nd.tensor<i32>
  %2 = nd.dynamic_slice %x a from %0 size 3 : (!nd.tensor<f32, a: 7>, !nd.tensor<i32>) -> !a
  %3 = nd.dynamic_slice %x a from %1 size 3 : (!nd.tensor<f32, a: 7>, !nd.tensor<i32>) -> !a
  %4 = nd.dynamic_slice %x a from %i size 3 : (!nd.tensor<f32, a: 7>, !nd.tensor<i32>) -> !a
  return %2, %3, %4 : !a, !a, !a
}

// -----

// One row of a product needs one row of the operand: through the sum, the product, a rename and a repetition.
// CHECK-LABEL: @dead_rows
func.func @dead_rows(%x: !nd.tensor<f32, m: 64, k: 32>, %y: !nd.tensor<f32, k: 32, n: 16>) -> !nd.tensor<f32, r: 1, n: 16> {
  // CHECK: %[[S:.*]] = nd.slice %arg0 m from 63 size 1
  // CHECK: %[[P:.*]] = nd.pointwise %[[S]], %arg1
  // CHECK: %[[R:.*]] = nd.reduce %[[P]] over [k]
  // CHECK-SAME: -> !nd.tensor<f32, m: 1, n: 16>
  // CHECK: nd.rename %[[R]] [m] to [r]
  %p = nd.pointwise %x, %y : (!nd.tensor<f32, m: 64, k: 32>, !nd.tensor<f32, k: 32, n: 16>) -> !nd.tensor<f32, m: 64, n: 16, k: 32> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nd.yield %0 : f32
  }
  %s = nd.reduce %p over [k] neutral [0.0 : f32] : (!nd.tensor<f32, m: 64, n: 16, k: 32>) -> !nd.tensor<f32, m: 64, n: 16> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    nd.yield %0 : f32
  }
  %r = nd.rename %s [m] to [r] : !nd.tensor<f32, m: 64, n: 16> -> !nd.tensor<f32, r: 64, n: 16>
  %0 = nd.slice %r r from 63 size 1 : !nd.tensor<f32, r: 64, n: 16> -> !nd.tensor<f32, r: 1, n: 16>
  return %0 : !nd.tensor<f32, r: 1, n: 16>
}

// -----

!a8 = !nd.tensor<f32, a: 8>
!a2 = !nd.tensor<f32, a: 2>

// An operand with other uses is computed as a whole; a scan needs its prefix; excluded taps of a window stay excluded.
// CHECK-LABEL: @whole
func.func @whole(%x: !a8, %y: !a8) -> (!a8, !a2, !a2, !a2) {
  // CHECK: %[[E:.*]] = nd.pointwise %arg0
  // CHECK: nd.slice %[[E]] a from 1
  // CHECK: %[[C:.*]] = nd.scan %arg0 along a
  // CHECK: nd.slice %[[C]] a from 1
  // CHECK: %[[W:.*]] = nd.window %arg0
  // CHECK: %[[M:.*]] = nd.reduce %[[W]] over [k]
  // CHECK: nd.slice %[[M]] a from 1
  %0 = nd.pointwise %x : (!a8) -> !a8 {
  ^bb0(%p: f32):
    %m = math.exp %p : f32
    nd.yield %m : f32
  }
  %1 = nd.slice %0 a from 1 size 2 : !a8 -> !a2
  %2 = nd.scan %x along a neutral [0.0 : f32] : (!a8) -> !a8 {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  %3 = nd.slice %2 a from 1 size 2 : !a8 -> !a2
  %4 = nd.window %x a -> k size 3 pad 1, 1 exclude : !a8 -> !nd.tensor<f32, a: 8, k: 3>
  %5 = nd.reduce %4 over [k] neutral [0xFF800000 : f32] : (!nd.tensor<f32, a: 8, k: 3>) -> !a8 {
  ^bb0(%p: f32, %q: f32):
    %m = arith.maximumf %p, %q : f32
    nd.yield %m : f32
  }
  %6 = nd.slice %5 a from 1 size 2 : !a8 -> !a2
  return %0, %1, %3, %6 : !a8, !a2, !a2, !a2
}

// -----

// CHECK-LABEL: @slice_of_repeated
// CHECK-NEXT: nd.broadcast %arg0 : !nd.tensor<f32, a: 8> -> !nd.tensor<f32, a: 8, b: 2>
func.func @slice_of_repeated(%x: !nd.tensor<f32, a: 8>) -> !nd.tensor<f32, a: 8, b: 2> {
  %0 = nd.broadcast %x : !nd.tensor<f32, a: 8> -> !nd.tensor<f32, a: 8, b: 9>
  %1 = nd.slice %0 b from 8 size 2 stride -5 : !nd.tensor<f32, a: 8, b: 9> -> !nd.tensor<f32, a: 8, b: 2>
  return %1 : !nd.tensor<f32, a: 8, b: 2>
}
