// RUN: heddle-opt %s --split-input-file --mesh-propagate --mesh-partition | FileCheck %s
// RUN: heddle-opt %s --split-input-file --mesh-propagate --mesh-partition --mesh-form-transfers --mesh-scan-loops | FileCheck %s --check-prefix=LOOPS
// RUN: heddle-opt %s --split-input-file --mesh-propagate=explain=1 --mesh-partition --mesh-form-transfers=explain=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// EXPLAIN: remark: {t: [s]}: 't' has [s] as 't' of argument 1
// EXPLAIN: remark: mesh.permute over [s]: each device sends 64 bytes, in 2 turns
// EXPLAIN: remark: mesh.broadcast over [s]: each device sends 16 bytes

!a = !nd.tensor<f32, a: 8>

// What a recurrence reads and puts out stays split over the name that it runs along. In each turn one device runs its
// steps, and what is carried goes to the next one.
// CHECK-LABEL: @layers
// CHECK-SAME: -> (!nd.tensor<f32, a: 8> {{.*}}, !nd.tensor<f32, a: 8, t: 3> {mesh.global = !nd.tensor<f32, a: 8, t: 5>, mesh.sharding = #mesh.sharding<{t: [s]}>})
// CHECK: %[[own:.*]] = nest.compute (mesh$turn: 2, t: 3) reads %{{.*}}[] if [mesh$turn - mesh.s == 0, -3 * mesh.s - t + 4 >= 0] else -1 : i64
// CHECK: %[[last:.*]]:2 = nest.scan along <mesh$turn: 2> init(%arg0, %{{.*}}) reads(%[[own]])
// CHECK: nest.scan along <t: 3> init(%{{.*}}, %{{.*}}) reads(%{{.*}}, %arg1) {mesh.skipped, nest.heavy}
// CHECK: %[[next:.*]] = nest.compute (a: 8)
// A step beyond the size leaves it as it is.
// CHECK: %[[kept:.*]] = nest.compute (a: 8) reads %{{.*}}[], %{{.*}}[], %[[next]][]
// CHECK: arith.select
// CHECK: %[[all:.*]] = nest.update (a: 8) %{{.*}}[t = read(0)] unique reads %{{.*}}[], %[[next]][]
// CHECK: nest.yield %[[kept]], %[[all]]
// CHECK: mesh.permute %{{.*}} over [s] shift -1 wrap : !nd.tensor<f32, a: 8>
// CHECK: mesh.broadcast %[[last]]#0 over [s] from 0
// CHECK-NOT: mesh.
// CHECK: return
// A device skips the turns of the others: the loop inside runs while its condition holds.
// LOOPS-LABEL: func.func @layers
// LOOPS: nest.control [@layers.scan]
// LOOPS-LABEL: func.func private @layers.scan
// LOOPS: %[[runs:.*]] = nest.compute () reads %{{.*}}[t = 0]
// LOOPS: arith.cmpi sge
// LOOPS: nest.control [@layers.scan.scan] %[[runs]],
// LOOPS: mesh.permute
// LOOPS-LABEL: func.func private @layers.scan.scan
module attributes {mesh.mesh = #mesh.mesh<s: 2>} {
func.func @layers(%h: !a, %w: !nd.tensor<f32, a: 8, t: 5> {mesh.sharding = #mesh.sharding<{t: [s]}>}) -> (!a, !nd.tensor<f32, a: 8, t: 5>) {
  %r:2 = nest.scan along #nd.dims<t: 5> init(%h) reads(%w) {nest.heavy} : (!a, !nd.tensor<f32, a: 8, t: 5>) -> (!a, !nd.tensor<f32, a: 8, t: 5>) {
  ^bb0(%state: !a, %slice: !a):
    %n = nest.compute (a: 8) reads %state[], %slice[] {
    ^bb0(%u: f32, %v: f32):
      %p = arith.addf %u, %v : f32
      nest.yield %p : f32
    } : (!a, !a) -> !a
    nest.yield %n, %n : !a, !a
  }
  return %r#0, %r#1 : !a, !nd.tensor<f32, a: 8, t: 5>
}
}

// -----

!a = !nd.tensor<f32, a: 8>

// From the last device to the first, and over a stated output. Blocks that are full need no select. A recurrence that
// stays a kernel runs in all turns; one of them counts.
// CHECK-LABEL: @backwards
// CHECK: nest.compute (mesh$turn: 2, t: 2) reads %{{.*}}[] if [mesh$turn + mesh.s - 1 == 0] else -1 : i64
// CHECK: %[[all:.*]]:2 = nest.scan along <t: 2> reverse init(%{{.*}}) reads(%[[steps:.*]], %{{.*}}) :
// CHECK-NOT: arith.select
// CHECK: mesh.permute %[[all]]#0 over [s] shift 1 wrap
// CHECK: nest.update (a: 8, t: 2) %{{.*}}[t = read(0)] unique reads %[[steps]][], %[[all]]#1[]
// CHECK: mesh.broadcast %{{.*}} over [s] from 1
module attributes {mesh.mesh = #mesh.mesh<s: 2>} {
func.func @backwards(%h: !a, %w: !nd.tensor<f32, a: 8, t: 4>) -> (!a, !nd.tensor<f32, a: 8, t: 4> {mesh.sharding = #mesh.sharding<{t: [s]}>}) {
  %r:2 = nest.scan along #nd.dims<t: 4> reverse init(%h) reads(%w) : (!a, !nd.tensor<f32, a: 8, t: 4>) -> (!a, !nd.tensor<f32, a: 8, t: 4>) {
  ^bb0(%state: !a, %slice: !a):
    nest.yield %slice, %state : !a, !a
  }
  return %r#0, %r#1 : !a, !nd.tensor<f32, a: 8, t: 4>
}
}

// -----

!a = !nd.tensor<f32, a: 8>

// An axis splits the steps, or names in them: devices at different steps can't meet. What is captured, and what is
// carried, is gathered before.
// CHECK-LABEL: @either
// CHECK: mesh.all_gather %arg2 name a over [s]
// CHECK: mesh.all_gather %arg0 name a over [s]
// CHECK: nest.scan along <mesh$turn: 2>
// CHECK-NOT: mesh.all
// CHECK: mesh.permute
module attributes {mesh.mesh = #mesh.mesh<s: 2>} {
func.func @either(%h: !a {mesh.sharding = #mesh.sharding<{a: [s]}>}, %w: !nd.tensor<f32, a: 8, t: 4> {mesh.sharding = #mesh.sharding<{t: [s]}>}, %c: !a {mesh.sharding = #mesh.sharding<{a: [s]}>}) -> !a {
  %r = nest.scan along #nd.dims<t: 4> init(%h) reads(%w) : (!a, !nd.tensor<f32, a: 8, t: 4>) -> !a {
  ^bb0(%state: !a, %slice: !a):
    %n = nest.compute (a: 8) reads %state[], %slice[], %c[] {
    ^bb0(%u: f32, %v: f32, %w0: f32):
      %p = arith.addf %u, %v : f32
      %q = arith.mulf %p, %w0 : f32
      nest.yield %q : f32
    } : (!a, !a, !a) -> !a
    nest.yield %n : !a
  }
  return %r : !a
}
}

// -----

!a = !nd.tensor<f32, a: 8>

// Axes of a smaller priority spread first: here the steps are not split, and their slices move to `a`.
// CHECK-LABEL: @first
// CHECK: mesh.all_to_all %arg1 join t split a over [s]
// CHECK: nest.scan along <t: 4>
// CHECK-NOT: mesh.permute
module attributes {mesh.mesh = #mesh.mesh<s: 2>} {
func.func @first(%h: !a {mesh.sharding = #mesh.sharding<{a: [s]}>}, %w: !nd.tensor<f32, a: 8, t: 4> {mesh.sharding = #mesh.sharding<{t: [s] priority 1}>}) -> !a {
  %r = nest.scan along #nd.dims<t: 4> init(%h) reads(%w) : (!a, !nd.tensor<f32, a: 8, t: 4>) -> !a {
  ^bb0(%state: !a, %slice: !a):
    %n = nest.compute (a: 8) reads %state[], %slice[] {
    ^bb0(%u: f32, %v: f32):
      %p = arith.addf %u, %v : f32
      nest.yield %p : f32
    } : (!a, !a) -> !a
    nest.yield %n : !a
  }
  return %r : !a
}
}
