// RUN: heddle-opt %s --split-input-file --mesh-propagate | FileCheck %s
// RUN: heddle-opt %s --split-input-file --mesh-propagate=explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// Forwards, backwards, through the names of a nest, and to the memory of a donated argument.
// CHECK-LABEL: @chain
// CHECK-SAME: %arg0: !nd.tensor<f32, a: 8, k: 6> {mesh.sharding = #mesh.sharding<{a: [d]}>}
// CHECK-SAME: %arg1: !nd.tensor<f32, b: 8> {heddle.donate = 0 : i64, mesh.sharding = #mesh.sharding<{b: [d]}>}
// CHECK-SAME: -> (!nd.tensor<f32, b: 8> {mesh.sharding = #mesh.sharding<{b: [d]}>})
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @chain(%x: !nd.tensor<f32, a: 8, k: 6>, %y: !nd.tensor<f32, b: 8> {heddle.donate = 0 : i64, mesh.sharding = #mesh.sharding<{b: [d]}>}) -> !nd.tensor<f32, b: 8> {
  // CHECK: reads %arg0[] {
  // CHECK: } combine add [0.000000e+00 : f32] {mesh.sharding = #mesh.sharding<{a: [d]}>}
  // WHY: remark: {a: [d]}: 'a' has [d] as 'b' of argument 1
  %s = nest.compute (a: 8) reduce (k: 6) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 8, k: 6>) -> !nd.tensor<f32, a: 8>
  // CHECK: nest.compute (b: 8)
  // CHECK: {mesh.sharding = #mesh.sharding<{b: [d]}>}
  %r = nest.compute (b: 8) reads %s[a = b], %y[] {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    nest.yield %w : f32
  } : (!nd.tensor<f32, a: 8>, !nd.tensor<f32, b: 8>) -> !nd.tensor<f32, b: 8>
  return %r : !nd.tensor<f32, b: 8>
}
}

// -----

// Both names of the product could have the axis: the one of the larger tensor gets it, since the smaller one then moves.
// CHECK-LABEL: @conflict
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @conflict(%x: !nd.tensor<f32, a: 80, k: 6> {mesh.sharding = #mesh.sharding<{a: [d]}>}, %w: !nd.tensor<f32, b: 8, k: 6> {mesh.sharding = #mesh.sharding<{b: [d]}>}) -> !nd.tensor<f32, a: 80, b: 8> {
  // CHECK: {mesh.sharding = #mesh.sharding<{a: [d]}>}
  // WHY: remark: {a: [d]}: 'a' has [d] as 'a' of argument 0; 'b' could have [d] (it keeps 192 bytes in place, 'a' 1920 bytes)
  %r = nest.compute (a: 80, b: 8) reduce (k: 6) reads %x[], %w[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 80, k: 6>, !nd.tensor<f32, b: 8, k: 6>) -> !nd.tensor<f32, a: 80, b: 8>
  return %r : !nd.tensor<f32, a: 80, b: 8>
}
}

// -----

// Over slow links fewer bytes take longer: they stay in place.
// CHECK-LABEL: @slow
module attributes {mesh.mesh = #mesh.mesh<d: 2, e: 2>, heddle.machine = #nest.machine<{links = {
    d = {bytes_per_second = 1.0e+9, start_seconds = 0.0}, e = {bytes_per_second = 1.0e+8, start_seconds = 0.0}}}>} {
func.func @slow(%x: !nd.tensor<f32, a: 80, k: 6> {mesh.sharding = #mesh.sharding<{a: [d]}>}, %w: !nd.tensor<f32, a: 80, k: 3> {mesh.sharding = #mesh.sharding<{a: [e]}>}) -> !nd.tensor<f32, a: 80> {
  // CHECK: {mesh.sharding = #mesh.sharding<{a: [e]}>}
  // WHY: remark: {a: [e]}: 'a' has [e] as 'a' of argument 1; 'a' could have [d] (it keeps 1920 bytes in place, 'a' 960 bytes of slower links)
  %r = nest.compute (a: 80) reduce (k: 3) reads %x[k = 2 * k], %w[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 80, k: 6>, !nd.tensor<f32, a: 80, k: 3>) -> !nd.tensor<f32, a: 80>
  return %r : !nd.tensor<f32, a: 80>
}
}

// -----

// A smaller priority goes first, a reduced name pays for the sum over devices, `?` and `closed` say what may be added.
// CHECK-LABEL: @stated
// CHECK-SAME: %arg1: !nd.tensor<f32, k: 60> {mesh.sharding = #mesh.sharding<{k: [d]}>}
// CHECK-SAME: %arg2: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [e, f]}>}
// CHECK-SAME: %arg3: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{}>}
module attributes {mesh.mesh = #mesh.mesh<d: 2, e: 2, f: 2>} {
func.func @stated(%x: !nd.tensor<f32, a: 8, k: 60> {mesh.sharding = #mesh.sharding<{a: [e, f] priority 1}>},
    %w: !nd.tensor<f32, k: 60> {mesh.sharding = #mesh.sharding<{k: [d] priority 2}>},
    %y: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [e, ?] priority 2}>},
    %z: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{}, closed>}) -> !nd.tensor<f32, a: 8> {
  // CHECK: {mesh.sharding = #mesh.sharding<{a: [e, f], k: [d]}>}
  %r = nest.compute (a: 8) reduce (k: 60) reads %x[], %w[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] finish reads %y[], %z[] {
  ^bb0(%s: f32, %v: f32, %t: f32):
    %p = arith.addf %s, %v : f32
    %q = arith.addf %p, %t : f32
    nest.yield %q : f32
  } : (!nd.tensor<f32, a: 8, k: 60>, !nd.tensor<f32, k: 60>, !nd.tensor<f32, a: 8>, !nd.tensor<f32, a: 8>) -> !nd.tensor<f32, a: 8>
  return %r : !nd.tensor<f32, a: 8>
}
}

// -----

// Also where the axes of the greater priority would save more bytes.
// CHECK-LABEL: @ordered
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @ordered(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [d]}>}, %y: !nd.tensor<f32, b: 800> {mesh.sharding = #mesh.sharding<{b: [d] priority 1}>}) -> !nd.tensor<f32, a: 8, b: 800> {
  // CHECK: {mesh.sharding = #mesh.sharding<{a: [d]}>} : (
  %r = nest.compute (a: 8, b: 800) reads %x[], %y[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, a: 8>, !nd.tensor<f32, b: 800>) -> !nd.tensor<f32, a: 8, b: 800>
  return %r : !nd.tensor<f32, a: 8, b: 800>
}
}

// -----

!a = !nd.tensor<f32, a: 8>

// Through a recurrence: what it carries is split as what it starts from.
// CHECK-LABEL: @scan
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @scan(%s: !a {mesh.sharding = #mesh.sharding<{a: [d]}>}, %x: !nd.tensor<f32, a: 8, t: 3>) -> (!a, !nd.tensor<f32, a: 8, t: 3>) {
  // CHECK: nest.scan
  // CHECK-SAME: {mesh.carried = [#mesh.sharding<{a: [d]}>, #mesh.sharding<{a: [d]}>]}
  %r:2 = nest.scan along #nd.dims<t: 3> init(%s) reads(%x) : (!a, !nd.tensor<f32, a: 8, t: 3>) -> (!a, !nd.tensor<f32, a: 8, t: 3>) {
  ^bb0(%state: !a, %slice: !a):
    // CHECK: {mesh.sharding = #mesh.sharding<{a: [d]}>}
    %n = nest.compute (a: 8) reads %state[], %slice[] {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      nest.yield %w : f32
    } : (!a, !a) -> !a
    nest.yield %n, %n : !a, !a
  }
  return %r#0, %r#1 : !a, !nd.tensor<f32, a: 8, t: 3>
}
}

// -----

// What is stated of an argument holds, also where an axis of a rule before reaches another of its names first.
// CHECK-LABEL: @stated
// CHECK-SAME: %arg1: !nd.tensor<f32, a: 8, b: 8> {mesh.sharding = #mesh.sharding<{b: [d]}>}
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @stated(%x: !nd.tensor<f32, a: 8, b: 8> {mesh.sharding = #mesh.sharding<{a: [d]}>}, %y: !nd.tensor<f32, a: 8, b: 8> {mesh.sharding = #mesh.sharding<{b: [d] priority 1}>}) -> !nd.tensor<f32, a: 8, b: 8> {
  // CHECK: {mesh.sharding = #mesh.sharding<{a: [d]}>}
  %r = nest.compute (a: 8, b: 8) reads %x[], %y[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, a: 8, b: 8>, !nd.tensor<f32, a: 8, b: 8>) -> !nd.tensor<f32, a: 8, b: 8>
  return %r : !nd.tensor<f32, a: 8, b: 8>
}
}

// -----

// A result that has the name of an argument is its next value, and is split as that, also where it does not take its memory.
// CHECK-LABEL: @state
// CHECK-SAME: -> (!nd.tensor<f32, a: 8, b: 8> {mesh.sharding = #mesh.sharding<{b: [d]}>, nd.name = "velocity"})
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @state(%x: !nd.tensor<f32, a: 8, b: 8> {mesh.sharding = #mesh.sharding<{a: [d]}>}, %y: !nd.tensor<f32, a: 8, b: 8> {mesh.sharding = #mesh.sharding<{b: [d] priority 1}>, nd.name = "velocity"}) -> (!nd.tensor<f32, a: 8, b: 8> {nd.name = "velocity"}) {
  %r = nest.compute (a: 8, b: 8) reads %x[], %y[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, a: 8, b: 8>, !nd.tensor<f32, a: 8, b: 8>) -> !nd.tensor<f32, a: 8, b: 8>
  return %r : !nd.tensor<f32, a: 8, b: 8>
}
}

// -----

// Of another type, it is no next value, and has no sharding to follow.
// CHECK-LABEL: @other_type
// CHECK-SAME: -> (!nd.tensor<f32, a: 8, b: 8> {nd.name = "velocity"})
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @other_type(%x: !nd.tensor<f32, a: 8, b: 8> {mesh.sharding = #mesh.sharding<{a: [d]}>}, %y: !nd.tensor<f16, a: 8, b: 8> {mesh.sharding = #mesh.sharding<{b: [d] priority 1}>, nd.name = "velocity"}) -> (!nd.tensor<f32, a: 8, b: 8> {nd.name = "velocity"}) {
  %r = nest.compute (a: 8, b: 8) reads %x[], %y[] {
  ^bb0(%u: f32, %v: f16):
    %w = arith.extf %v : f16 to f32
    %p = arith.mulf %u, %w : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, a: 8, b: 8>, !nd.tensor<f16, a: 8, b: 8>) -> !nd.tensor<f32, a: 8, b: 8>
  return %r : !nd.tensor<f32, a: 8, b: 8>
}
}

// -----

// What a nest states is given as well, and spreads; an operand does not bring its axes there.
// CHECK-LABEL: @nests
// CHECK-SAME: (%arg0: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [d]}>}, %arg1: !nd.tensor<f32, b: 8> {mesh.sharding = #mesh.sharding<{b: [d]}>})
// CHECK: nest.compute (a: 8) reads %arg0
// CHECK: {mesh.sharding = #mesh.sharding<{a: [d]}>}
// CHECK: nest.compute (b: 8, c: 8) reads %arg1
// CHECK: {mesh.sharding = #mesh.sharding<{c: [d]}>}
// WHY: remark: argument 0 {a: [d]}: 'a' has [d] as 'a' of a value
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @nests(%x: !nd.tensor<f32, a: 8>, %w: !nd.tensor<f32, b: 8> {mesh.sharding = #mesh.sharding<{b: [d]}>}) -> (!nd.tensor<f32, a: 8>, !nd.tensor<f32, b: 8, c: 8>) {
  %y = nest.compute (a: 8) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {mesh.sharding = #mesh.sharding<{a: [d]}>} : (!nd.tensor<f32, a: 8>) -> !nd.tensor<f32, a: 8>
  %z = nest.compute (b: 8, c: 8) reads %w[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {mesh.sharding = #mesh.sharding<{c: [d]}>} : (!nd.tensor<f32, b: 8>) -> !nd.tensor<f32, b: 8, c: 8>
  return %y, %z : !nd.tensor<f32, a: 8>, !nd.tensor<f32, b: 8, c: 8>
}
}

// -----

// Rules of a plan have priorities from 1: what the program states is not theirs.
// WHY: remark: argument 0 {a: [d]}: 'a' has [d] as stated
// WHY: remark: argument 1 {b: [d]}: 'b' has [d] by the rule 'b:d'
// CHECK-LABEL: @rules
module attributes {mesh.mesh = #mesh.mesh<d: 2>, mesh.rules = ["b:d"]} {
func.func @rules(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [d]}>}, %w: !nd.tensor<f32, b: 8> {mesh.sharding = #mesh.sharding<{b: [d] priority 1}>}) { return }
}
