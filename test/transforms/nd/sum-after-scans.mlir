// RUN: heddle-opt %s --nd-sum-after-scans --split-input-file | FileCheck %s

// The gradient of a weight: the scan yields the factor that it computes, and one product over all steps is summed over
// batch and time. %h is read from outside, renamed as in the step.
// CHECK-LABEL: @weight
// CHECK: %[[S:.*]]:2 = nest.scan along <time: 9> reverse init(%arg1) reads(%arg3)
// CHECK: ^bb0(%[[D:.*]]: !nd.tensor<f32, batch: 2, to: 5>, %{{.*}}: !nd.tensor<f32, batch: 2, from: 64>):
// CHECK: %[[G:.*]] = nd.pointwise %[[D]]
// CHECK: nest.yield %[[G]], %[[G]] :
// CHECK: %[[H:.*]] = nd.rename %arg3 [from] to [row] : {{.*}} -> !nd.tensor<f32, batch: 2, row: 64, time: 9>
// CHECK: %[[P:.*]] = nd.pointwise %[[H]], %[[S]]#1
// CHECK: %[[R:.*]] = nd.reduce %[[P]] over [batch, time]
// CHECK: %[[W:.*]] = nd.pointwise %arg2, %[[R]] : (!nd.tensor<f32, row: 64, to: 5>, !nd.tensor<f32, row: 64, to: 5>)
// CHECK: return %[[S]]#0, %[[W]]
!batch_to = !nd.tensor<f32, batch: 2, to: 5>
!row_to = !nd.tensor<f32, row: 64, to: 5>

func.func @weight(%unused: !nd.tensor<f32>, %d: !batch_to, %dw: !row_to,
                  %h: !nd.tensor<f32, batch: 2, from: 64, time: 9>)
    -> (!batch_to, !row_to) {
  %r:2 = nest.scan along <time: 9> reverse init(%d, %dw) reads(%h) : (!batch_to, !row_to, !nd.tensor<f32, batch: 2, from: 64, time: 9>) -> (!batch_to, !row_to) {
  ^bb0(%before: !batch_to, %sum: !row_to, %read: !nd.tensor<f32, batch: 2, from: 64>):
    %g = nd.pointwise %before : (!batch_to) -> !batch_to {
    ^bb0(%x: f32):
      %e = math.exp %x : f32
      nd.yield %e : f32
    }
    %row = nd.rename %read [from] to [row] : !nd.tensor<f32, batch: 2, from: 64> -> !nd.tensor<f32, batch: 2, row: 64>
    %p = nd.pointwise %row, %g : (!nd.tensor<f32, batch: 2, row: 64>, !batch_to) -> !nd.tensor<f32, batch: 2, row: 64, to: 5> {
    ^bb0(%x: f32, %y: f32):
      %e = arith.mulf %x, %y : f32
      nd.yield %e : f32
    }
    %part = nd.reduce %p over [batch] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 2, row: 64, to: 5>) -> !row_to {
    ^bb0(%x: f32, %y: f32):
      %e = arith.addf %x, %y : f32
      nd.yield %e : f32
    }
    %next = nd.pointwise %sum, %part : (!row_to, !row_to) -> !row_to {
    ^bb0(%x: f32, %y: f32):
      %e = arith.addf %x, %y : f32
      nd.yield %e : f32
    }
    nest.yield %g, %next : !batch_to, !row_to
  }
  return %r#0, %r#1 : !batch_to, !row_to
}

// -----

!to = !nd.tensor<f32, to: 5>

// The values of all 90 steps would take more memory than the sum.
// CHECK-LABEL: @large
// CHECK: nest.scan along <time: 90> init(%arg0, %arg1) reads()
func.func @large(%d: !to, %db: !to) -> !to {
  %r:2 = nest.scan along <time: 90> init(%d, %db) reads() : (!to, !to) -> (!to, !to) {
  ^bb0(%before: !to, %sum: !to):
    %g = nd.pointwise %before : (!to) -> !to {
    ^bb0(%x: f32):
      %e = math.exp %x : f32
      nd.yield %e : f32
    }
    %next = nd.pointwise %sum, %g : (!to, !to) -> !to {
    ^bb0(%x: f32, %y: f32):
      %e = arith.addf %x, %y : f32
      nd.yield %e : f32
    }
    nest.yield %g, %next : !to, !to
  }
  return %r#1 : !to
}

// -----

!to = !nd.tensor<f32, to: 5>

// What is read is there for all steps: a plain sum over them. The order of the operands does not matter.
// CHECK-LABEL: @read
// CHECK: %[[S:.*]] = nest.scan along <time: 90> init(%arg0) reads(%arg2)
// CHECK: %[[R:.*]] = nd.reduce %arg2 over [time]
// CHECK: nd.pointwise %arg1, %[[R]]
func.func @read(%d: !to, %db: !to, %x: !nd.tensor<f32, time: 90, to: 5>)
    -> (!to, !to) {
  %r:2 = nest.scan along <time: 90> init(%d, %db) reads(%x) : (!to, !to, !nd.tensor<f32, time: 90, to: 5>) -> (!to, !to) {
  ^bb0(%before: !to, %sum: !to, %read: !to):
    %next = nd.pointwise %read, %sum : (!to, !to) -> !to {
    ^bb0(%x0: f32, %y: f32):
      %e = arith.addf %x0, %y : f32
      nd.yield %e : f32
    }
    nest.yield %before, %next : !to, !to
  }
  return %r#0, %r#1 : !to, !to
}

// -----

!to = !nd.tensor<f32, to: 5>

// A sum that the steps look at, a difference, and a sum of equal parts are carried.
// CHECK-LABEL: @carried
// CHECK: nest.scan along <time: 9> init(%arg0, %arg1, %arg2) reads(%arg3)
func.func @carried(%a: !to, %b: !to, %c: !to, %x: !nd.tensor<f32, time: 9, to: 5>)
    -> (!to, !to, !to, !nd.tensor<f32, time: 9, to: 5>) {
  %r:4 = nest.scan along <time: 9> init(%a, %b, %c) reads(%x) : (!to, !to, !to, !nd.tensor<f32, time: 9, to: 5>) -> (!to, !to, !to, !nd.tensor<f32, time: 9, to: 5>) {
  ^bb0(%first: !to, %second: !to, %third: !to, %read: !to):
    %one = nd.pointwise %first, %read : (!to, !to) -> !to {
    ^bb0(%u: f32, %v: f32):
      %e = arith.addf %u, %v : f32
      nd.yield %e : f32
    }
    %two = nd.pointwise %second, %read : (!to, !to) -> !to {
    ^bb0(%u: f32, %v: f32):
      %e = arith.subf %u, %v : f32
      nd.yield %e : f32
    }
    %three = nd.pointwise %third, %a : (!to, !to) -> !to {
    ^bb0(%u: f32, %v: f32):
      %e = arith.addf %u, %v : f32
      nd.yield %e : f32
    }
    nest.yield %one, %two, %three, %first : !to, !to, !to, !to
  }
  return %r#0, %r#1, %r#2, %r#3 : !to, !to, !to, !nd.tensor<f32, time: 9, to: 5>
}

// -----

!to = !nd.tensor<f32, to: 5>

// A factor may be a renamed value from outside, which all steps read; a sum of such factors alone is carried.
// CHECK-LABEL: @outside
// CHECK: %[[S:.*]] = nest.scan along <time: 9> init(%arg1) reads(%arg2)
// CHECK: nest.yield %{{.*}} : !nd.tensor<f32, to: 5>{{$}}
// CHECK: %[[A:.*]] = nd.rename %arg3 [from] to [to] : !nd.tensor<f32, from: 5> -> !nd.tensor<f32, to: 5>
// CHECK: %[[P:.*]] = nd.pointwise %arg2, %[[A]]
// CHECK: nd.reduce %[[P]] over [time]
func.func @outside(%a: !to, %b: !to, %x: !nd.tensor<f32, time: 9, to: 5>, %y: !nd.tensor<f32, from: 5>)
    -> (!to, !to) {
  %r:2 = nest.scan along <time: 9> init(%a, %b) reads(%x) : (!to, !to, !nd.tensor<f32, time: 9, to: 5>) -> (!to, !to) {
  ^bb0(%first: !to, %second: !to, %read: !to):
    %z = nd.rename %y [from] to [to] : !nd.tensor<f32, from: 5> -> !to
    %p = nd.pointwise %read, %z : (!to, !to) -> !to {
    ^bb0(%u: f32, %v: f32):
      %e = arith.mulf %u, %v : f32
      nd.yield %e : f32
    }
    %one = nd.pointwise %first, %p : (!to, !to) -> !to {
    ^bb0(%u: f32, %v: f32):
      %e = arith.addf %u, %v : f32
      nd.yield %e : f32
    }
    %two = nd.pointwise %second, %z : (!to, !to) -> !to {
    ^bb0(%u: f32, %v: f32):
      %e = arith.addf %u, %v : f32
      nd.yield %e : f32
    }
    nest.yield %one, %two : !to, !to
  }
  return %r#0, %r#1 : !to, !to
}

// -----

!bf16_to = !nd.tensor<bf16, to: 5>

// Sums of bf16 round in each step.
// CHECK-LABEL: @narrow
// CHECK: nest.scan along <time: 9> init(%arg0) reads(%arg1)
func.func @narrow(%a: !bf16_to, %x: !nd.tensor<bf16, time: 9, to: 5>) -> !bf16_to {
  %r = nest.scan along <time: 9> init(%a) reads(%x) : (!bf16_to, !nd.tensor<bf16, time: 9, to: 5>) -> !bf16_to {
  ^bb0(%sum: !bf16_to, %read: !bf16_to):
    %one = nd.pointwise %sum, %read : (!bf16_to, !bf16_to) -> !bf16_to {
    ^bb0(%u: bf16, %v: bf16):
      %e = arith.addf %u, %v : bf16
      nd.yield %e : bf16
    }
    nest.yield %one : !bf16_to
  }
  return %r : !bf16_to
}

// -----

// A value of a step that has the name of the steps, before it is renamed, can't have another one for them.
// CHECK-LABEL: @named
// CHECK: nest.scan along <time: 9> init(%arg0, %arg1) reads()
!from_to = !nd.tensor<f32, from: 9, to: 64>

func.func @named(%a: !from_to, %d: !nd.tensor<f32>, %x: !nd.tensor<f32, time: 9>, %y: !nd.tensor<f32, to: 64>)
    -> !from_to {
  %r:2 = nest.scan along <time: 9> init(%a, %d) reads() : (!from_to, !nd.tensor<f32>) -> (!from_to, !nd.tensor<f32>) {
  ^bb0(%sum: !from_to, %before: !nd.tensor<f32>):
    %p = nd.pointwise %x, %before : (!nd.tensor<f32, time: 9>, !nd.tensor<f32>) -> !nd.tensor<f32, time: 9> {
    ^bb0(%u: f32, %v: f32):
      %e = arith.mulf %u, %v : f32
      nd.yield %e : f32
    }
    %q = nd.rename %p [time] to [from] : !nd.tensor<f32, time: 9> -> !nd.tensor<f32, from: 9>
    %m = nd.pointwise %q, %y crossed : (!nd.tensor<f32, from: 9>, !nd.tensor<f32, to: 64>) -> !from_to {
    ^bb0(%u: f32, %v: f32):
      %e = arith.mulf %u, %v : f32
      nd.yield %e : f32
    }
    %next = nd.pointwise %sum, %m : (!from_to, !from_to) -> !from_to {
    ^bb0(%u: f32, %v: f32):
      %e = arith.addf %u, %v : f32
      nd.yield %e : f32
    }
    nest.yield %next, %before : !from_to, !nd.tensor<f32>
  }
  return %r#0 : !from_to
}
