// RUN: heddle-opt %s --split-input-file --mesh-propagate --mesh-partition | FileCheck %s
// RUN: heddle-opt %s --split-input-file --mesh-propagate=explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// The axis of the batch reaches all nests first. The weights of experts are not gathered: the other operand, which has the
// name of the experts as well, moves to it, and the result moves back where it is summed over experts. None of the first
// three nests would gain by itself, since its large result would move; all together do.
// CHECK-LABEL: @experts
// WHY: remark: {expert: [d]}: 'expert' has [d] as 'expert' of argument 1, rather than 'batch', whose transfers take longer
module attributes {mesh.mesh = #mesh.mesh<d: 4>} {
func.func @experts(%x: !nd.tensor<f32, batch: 64, expert: 4, in: 8> {mesh.sharding = #mesh.sharding<{batch: [d]}>},
                   %w: !nd.tensor<f32, expert: 4, in: 8, inner: 64> {mesh.sharding = #mesh.sharding<{expert: [d] priority 1}>},
                   %v: !nd.tensor<f32, expert: 4, in: 8, inner: 64> {mesh.sharding = #mesh.sharding<{expert: [d] priority 1}>}) -> !nd.tensor<f32, batch: 64, in: 8> {
  // CHECK-NOT: mesh.all_gather
  // CHECK: mesh.all_to_all %arg0 join batch split expert over [d] : (!nd.tensor<f32, batch: 16, expert: 4, in: 8>) -> !nd.tensor<f32, batch: 64, expert: 1, in: 8>
  // CHECK: nest.compute (batch: 64, expert: 1, inner: 64) reduce (in: 8)
  // CHECK: nest.compute (batch: 64, expert: 1, inner: 64)
  // CHECK: nest.compute (batch: 64, expert: 1, in: 8) reduce (inner: 64)
  // CHECK: mesh.all_to_all {{.*}} join expert split batch over [d]
  // CHECK: nest.compute (batch: 16, in: 8) reduce (expert: 4)
  // CHECK-NOT: mesh.all
  // CHECK: return
  %p = nest.compute (batch: 64, expert: 4, inner: 64) reduce (in: 8) reads %x[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 64, expert: 4, in: 8>, !nd.tensor<f32, expert: 4, in: 8, inner: 64>) -> !nd.tensor<f32, batch: 64, expert: 4, inner: 64>
  %q = nest.compute (batch: 64, expert: 4, inner: 64) reads %p[] {
  ^bb0(%a: f32):
    %c = math.absf %a : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, batch: 64, expert: 4, inner: 64>) -> !nd.tensor<f32, batch: 64, expert: 4, inner: 64>
  %o = nest.compute (batch: 64, expert: 4, in: 8) reduce (inner: 64) reads %q[], %v[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 64, expert: 4, inner: 64>, !nd.tensor<f32, expert: 4, in: 8, inner: 64>) -> !nd.tensor<f32, batch: 64, expert: 4, in: 8>
  %r = nest.compute (batch: 64, in: 8) reduce (expert: 4) reads %o[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 64, expert: 4, in: 8>) -> !nd.tensor<f32, batch: 64, in: 8>
  return %r : !nd.tensor<f32, batch: 64, in: 8>
}
}

// -----

// Small weights are gathered: that sends 3 * 64 bytes, the other way 2 * 3 / 4 * 4096.
// CHECK-LABEL: @small
module attributes {mesh.mesh = #mesh.mesh<d: 4>} {
func.func @small(%x: !nd.tensor<f32, batch: 64, expert: 4, in: 16> {mesh.sharding = #mesh.sharding<{batch: [d]}>},
                 %w: !nd.tensor<f32, expert: 4, in: 16> {mesh.sharding = #mesh.sharding<{expert: [d] priority 1}>})
    -> !nd.tensor<f32, batch: 64, expert: 4, in: 16> {
  // CHECK: mesh.all_gather %arg1 name expert over [d]
  // CHECK: nest.compute (batch: 16, expert: 4, in: 16)
  // CHECK-NOT: mesh.all
  // CHECK: return
  %p = nest.compute (batch: 64, expert: 4, in: 16) reads %x[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, batch: 64, expert: 4, in: 16>, !nd.tensor<f32, expert: 4, in: 16>) -> !nd.tensor<f32, batch: 64, expert: 4, in: 16>
  return %p : !nd.tensor<f32, batch: 64, expert: 4, in: 16>
}
}

// -----

// An operand that lacks the name is gathered, where that sends less than to gather the other one: 3 * 256 bytes, not 3 * 4096.
// CHECK-LABEL: @wide
module attributes {mesh.mesh = #mesh.mesh<d: 4>, heddle.machine = #nest.machine<{link_start_seconds = 0.0}>} {
func.func @wide(%x: !nd.tensor<f32, batch: 4, in: 64> {mesh.sharding = #mesh.sharding<{batch: [d]}>},
    %w: !nd.tensor<f32, in: 64, out: 64> {mesh.sharding = #mesh.sharding<{out: [d] priority 1}>})
    -> !nd.tensor<f32, batch: 4, out: 64> {
  // CHECK: mesh.all_gather %arg0 name batch over [d]
  // CHECK: nest.compute (batch: 4, out: 16) reduce (in: 64)
  // CHECK-NOT: mesh.all
  // CHECK: return
  %p = nest.compute (batch: 4, out: 64) reduce (in: 64) reads %x[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 4, in: 64>, !nd.tensor<f32, in: 64, out: 64>) -> !nd.tensor<f32, batch: 4, out: 64>
  return %p : !nd.tensor<f32, batch: 4, out: 64>
}
}

// -----

// But to start takes 10 us in either case, and the bytes 2.5 or 0.15 us: no operand is gathered for that.
// CHECK-LABEL: @wide_by_bytes_alone
module attributes {mesh.mesh = #mesh.mesh<d: 4>} {
func.func @wide_by_bytes_alone(%x: !nd.tensor<f32, batch: 4, in: 64> {mesh.sharding = #mesh.sharding<{batch: [d]}>},
    %w: !nd.tensor<f32, in: 64, out: 64> {mesh.sharding = #mesh.sharding<{out: [d] priority 1}>})
    -> !nd.tensor<f32, batch: 4, out: 64> {
  // CHECK: mesh.all_gather %arg1 name out over [d]
  // CHECK: nest.compute (batch: 1, out: 64) reduce (in: 64)
  // CHECK-NOT: mesh.all
  // CHECK: return
  %p = nest.compute (batch: 4, out: 64) reduce (in: 64) reads %x[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 4, in: 64>, !nd.tensor<f32, in: 64, out: 64>) -> !nd.tensor<f32, batch: 4, out: 64>
  return %p : !nd.tensor<f32, batch: 4, out: 64>
}
}

// -----

// Nor do they where the links of this axis alone are so slow to start.
// CHECK-LABEL: @wide_on_axis
module attributes {mesh.mesh = #mesh.mesh<d: 4>, heddle.machine = #nest.machine<{link_start_seconds = 0.0, links = {d = {start_seconds = 1.0e-5}}}>} {
func.func @wide_on_axis(%x: !nd.tensor<f32, batch: 4, in: 64> {mesh.sharding = #mesh.sharding<{batch: [d]}>},
    %w: !nd.tensor<f32, in: 64, out: 64> {mesh.sharding = #mesh.sharding<{out: [d] priority 1}>})
    -> !nd.tensor<f32, batch: 4, out: 64> {
  // CHECK: mesh.all_gather %arg1 name out over [d]
  // CHECK: nest.compute (batch: 1, out: 64) reduce (in: 64)
  // CHECK-NOT: mesh.all
  // CHECK: return
  %p = nest.compute (batch: 4, out: 64) reduce (in: 64) reads %x[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 4, in: 64>, !nd.tensor<f32, in: 64, out: 64>) -> !nd.tensor<f32, batch: 4, out: 64>
  return %p : !nd.tensor<f32, batch: 4, out: 64>
}
}

// -----

// Where there are more samples, weights are gathered: what is data parallel stays so.
// CHECK-LABEL: @parallel
module attributes {mesh.mesh = #mesh.mesh<d: 4>} {
func.func @parallel(%x: !nd.tensor<f32, batch: 512, in: 64> {mesh.sharding = #mesh.sharding<{batch: [d]}>},
    %w: !nd.tensor<f32, in: 64, out: 64> {mesh.sharding = #mesh.sharding<{out: [d] priority 1}>})
    -> !nd.tensor<f32, batch: 512, out: 64> {
  // CHECK: mesh.all_gather %arg1 name out over [d]
  // CHECK: nest.compute (batch: 128, out: 64) reduce (in: 64)
  // CHECK-NOT: mesh.all
  // CHECK: return
  %p = nest.compute (batch: 512, out: 64) reduce (in: 64) reads %x[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 512, in: 64>, !nd.tensor<f32, in: 64, out: 64>) -> !nd.tensor<f32, batch: 512, out: 64>
  return %p : !nd.tensor<f32, batch: 512, out: 64>
}
}

// -----

// A sum that each reader wants split is scattered, of which a device sends 3 / 4 * 256 bytes. If the nest had the axis at `out`,
// it would send 3 * 96 of %x and 3 / 4 * 96 of %y, which is less than an all-reduce.
// CHECK-LABEL: @scattered
module attributes {mesh.mesh = #mesh.mesh<d: 4>} {
func.func @scattered(%x: !nd.tensor<f32, batch: 12, in: 8> {mesh.sharding = #mesh.sharding<{batch: [d]}>},
    %y: !nd.tensor<f32, batch: 12, out: 8> {mesh.sharding = #mesh.sharding<{batch: [d]}>},
    %w: !nd.tensor<f32, in: 8, out: 8> {mesh.sharding = #mesh.sharding<{out: [d] priority 1}>}) -> !nd.tensor<f32, in: 8, out: 8> {
  // CHECK-NOT: mesh.all
  // CHECK: nest.compute (in: 8, out: 8) reduce (batch: 3)
  // CHECK: mesh.reduce_scatter {{.*}} name out over [d]
  // CHECK-NOT: mesh.
  // CHECK: return
  %d = nest.compute (in: 8, out: 8) reduce (batch: 12) reads %x[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 12, in: 8>, !nd.tensor<f32, batch: 12, out: 8>) -> !nd.tensor<f32, in: 8, out: 8>
  %n = nest.compute (in: 8, out: 8) reads %w[], %d[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, in: 8, out: 8>, !nd.tensor<f32, in: 8, out: 8>) -> !nd.tensor<f32, in: 8, out: 8>
  return %n : !nd.tensor<f32, in: 8, out: 8>
}
}

// -----

// A scattered sum takes one round, as does to move the operand, which has more bytes. An all-reduce would take two.
// CHECK-LABEL: @scattered_in_one_round
module attributes {mesh.mesh = #mesh.mesh<d: 4>} {
func.func @scattered_in_one_round(%x: !nd.tensor<f32, batch: 12, out: 8> {mesh.sharding = #mesh.sharding<{batch: [d]}>},
    %w: !nd.tensor<f32, out: 8> {mesh.sharding = #mesh.sharding<{out: [d] priority 1}>}) -> !nd.tensor<f32, out: 8> {
  // CHECK-NOT: mesh.all
  // CHECK: nest.compute (out: 8) reduce (batch: 3)
  // CHECK: mesh.reduce_scatter {{.*}} name out over [d]
  // CHECK-NOT: mesh.
  // CHECK: return
  %d = nest.compute (out: 8) reduce (batch: 12) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 12, out: 8>) -> !nd.tensor<f32, out: 8>
  %n = nest.compute (out: 8) reads %w[], %d[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, out: 8>, !nd.tensor<f32, out: 8>) -> !nd.tensor<f32, out: 8>
  return %n : !nd.tensor<f32, out: 8>
}
}
