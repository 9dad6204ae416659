// RUN: heddle-opt %s --mesh-propagate --mesh-partition --mesh-roles | FileCheck %s
// Together they are the program before.
// RUN: heddle-opt %s --mesh-propagate --mesh-partition --mesh-roles --mesh-simulate | FileCheck %s --check-prefix=MERGED

!a_b = !nd.tensor<f32, a: 6, b: 2>
!a = !nd.tensor<f32, a: 6>

module attributes {mesh.mesh = #mesh.mesh<data: 2, stage: 2>} {

// What is computed from both is at the later one; %x and %half go where they are read. Each device sends its block.
// MERGED-LABEL: @two(
// MERGED-NOT: mesh.send
// CHECK-LABEL: func.func @"two.stage=0"
// CHECK-SAME: %[[X:.*]]: !nd.tensor<f32, a: 3> {mesh.global = !nd.tensor<f32, a: 6>, mesh.sharding = #mesh.sharding<{a: [data]}, at (stage = 0)>}
// CHECK-SAME: !nd.tensor<f32, a: 3> {mesh.global = !nd.tensor<f32, a: 6>, mesh.sharding = #mesh.sharding<{a: [data]}>}
// CHECK-SAME: !nd.tensor<f32, mesh$absent: 0> {mesh.global = !nd.tensor<f32, a: 6>, mesh.sharding = #mesh.sharding<{a: [data]}, at (stage = 1)>}
// CHECK-SAME: -> (!nd.tensor<f32, mesh$absent: 0> {mesh.global = !nd.tensor<f32, a: 6>, mesh.sharding = #mesh.sharding<{a: [data]}, at (stage = 1)>})
// CHECK-SAME: mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "two"}
// CHECK: %[[H:.*]] = nest.compute
// CHECK: mesh.send %[[H]] to [stage] = 1 channel 0 {layouts = [#nest.layout<[a]>]} : !nd.tensor<f32, a: 3>
// CHECK-LABEL: func.func @"two.stage=1"
// CHECK-SAME: !nd.tensor<f32, mesh$absent: 0>
// CHECK: %[[R:.*]] = mesh.receive from [stage] = 0 channel 0
// CHECK-NOT: mesh.receive
// CHECK: %[[M:.*]] = nest.compute
// CHECK: nest.compute (a: 3) reads %[[R]][], %{{.*}}[], %[[M]][]
func.func @two(%x: !a {mesh.sharding = #mesh.sharding<{a: [data]}>}, %half: !a,
               %v: !a {mesh.sharding = #mesh.sharding<{}, at (stage = 1)>}) -> !a {
  %h = nest.compute (a: 6) reduce (one: 1) reads %x[], %half[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!a, !a) -> !a
  %m = nest.compute (a: 6) reads %half[] {
  ^bb0(%a: f32):
    %c = arith.negf %a : f32
    nest.yield %c : f32
  } : (!a) -> !a
  %y = nest.compute (a: 6) reads %h[], %v[], %m[] {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %c = arith.addf %a, %b : f32
    %e = arith.addf %c, %d : f32
    nest.yield %e : f32
  } : (!a, !a, !a) -> !a
  return %y : !a
}

// A role without an argument of the size `n` is told it by the caller.
// CHECK-LABEL: func.func @"sized.stage=0"
// CHECK-SAME: attributes {heddle.symbols = ["mesh.data", "mesh.stage", "n"]
// CHECK-LABEL: func.func @"sized.stage=1"
// CHECK-SAME: attributes {heddle.symbols = ["mesh.data", "mesh.stage"]
func.func @sized(%x: !nd.tensor<f32, a: n>, %v: !nd.tensor<f32> {mesh.sharding = #mesh.sharding<{}, at (stage = 1)>}) -> !nd.tensor<f32, a: n> {
  %h = nest.compute (a: n) reads %x[] {
  ^bb0(%a: f32):
    %c = math.exp %a : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, a: n>) -> !nd.tensor<f32, a: n>
  %y = nest.compute (a: n) reads %h[], %v[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, a: n>, !nd.tensor<f32>) -> !nd.tensor<f32, a: n>
  return %y : !nd.tensor<f32, a: n>
}

// A state without a rule lives with its first reader; gradients return to it, and the sum of all of them is one number.
// CHECK-LABEL: func.func @"step.stage=0"
// CHECK: mesh.send %{{.*}} to [stage] = 1 channel 0 {{.*}} : !nd.tensor<f32, a: 6>
// The gradient is sent as the smaller value that it is on its way, and its norm as a number.
// CHECK: %[[G:.*]] = mesh.receive from [stage] = 1 channel 1 {{.*}} : !nd.tensor<f32, a: 6>
// CHECK: %[[N:.*]] = nest.compute () reduce (a: 6) reads
// CHECK: mesh.send %[[N]] to [stage] = 1 channel 2 {layouts = [#nest.layout<[]>]} : !nd.tensor<f32>
// CHECK: %[[ALL:.*]] = mesh.receive from [stage] = 1 channel 3 {layouts = [#nest.layout<[]>]} : !nd.tensor<f32>
// CHECK: %[[W:.*]] = nest.compute (a: 6) reads %{{.*}}[], %{{.*}}[], %[[ALL]][]
// CHECK: return %[[W]]
// CHECK-LABEL: func.func @"step.stage=1"
// CHECK-COUNT-2: mesh.{{send|receive}} {{.*}}: !nd.tensor<f32, a: 6>
// CHECK-COUNT-2: mesh.{{send|receive}} {{.*}}: !nd.tensor<f32>
// CHECK-NOT: mesh.send
func.func @step(%w: !a {heddle.donate = 0 : i64}, %v: !a_b {heddle.donate = 1 : i64, mesh.sharding = #mesh.sharding<{}, at (stage = 1)>})
    -> (!a, !a_b, !nd.tensor<f32>) {
  %h = nest.compute (a: 6) reads %w[] {
  ^bb0(%a: f32):
    %c = math.exp %a : f32
    nest.yield %c : f32
  } : (!a) -> !a
  %dv = nest.compute (a: 6, b: 2) reads %h[], %v[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } : (!a, !a_b) -> !a_b
  %wide = nest.compute (a: 6, b: 2) reads %v[] {
  ^bb0(%a: f32):
    %c = math.sin %a : f32
    nest.yield %c : f32
  } : (!a_b) -> !a_b
  %back = nest.compute (a: 6) reduce (b: 2) reads %wide[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!a_b) -> !a
  %dw = nest.compute (a: 6) reads %back[], %h[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } : (!a, !a) -> !a
  %nw = nest.compute () reduce (a: 6) reads %dw[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!a) -> !nd.tensor<f32>
  %nv = nest.compute () reduce (a: 6, b: 2) reads %dv[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!a_b) -> !nd.tensor<f32>
  %all = nest.compute () reads %nw[], %nv[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32>
  %w2 = nest.compute (a: 6) reads %w[], %dw[], %all[] {
  ^bb0(%a: f32, %b: f32, %n: f32):
    %c = arith.divf %b, %n : f32
    %d = arith.subf %a, %c : f32
    nest.yield %d : f32
  } : (!a, !a, !nd.tensor<f32>) -> !a
  %v2 = nest.compute (a: 6, b: 2) reads %v[], %dv[], %all[] {
  ^bb0(%a: f32, %b: f32, %n: f32):
    %c = arith.divf %b, %n : f32
    %d = arith.subf %a, %c : f32
    nest.yield %d : f32
  } : (!a_b, !a_b, !nd.tensor<f32>) -> !a_b
  return %w2, %v2, %all : !a, !a_b, !nd.tensor<f32>
}

// A moment without a rule, which is read by itself first, is with what is added to it.
// CHECK-LABEL: func.func @"kept.stage=1"
// CHECK-SAME: %[[S:.*]]: !nd.tensor<f32, a: 6> {heddle.donate = 0 : i64, {{.*}}at (stage = 1)
// CHECK: %[[H:.*]] = nest.compute (a: 6) reads %[[S]][]
// CHECK-NOT: mesh.
// CHECK: nest.compute (a: 6) reads %[[H]][], %
func.func @kept(%m: !a {heddle.donate = 0 : i64}, %v: !a {mesh.sharding = #mesh.sharding<{}, at (stage = 1)>}) -> !a {
  %half = nest.compute (a: 6) reads %m[] {
  ^bb0(%a: f32):
    %h = arith.constant 0.5 : f32
    %c = arith.mulf %a, %h : f32
    nest.yield %c : f32
  } : (!a) -> !a
  %m2 = nest.compute (a: 6) reads %half[], %v[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nest.yield %c : f32
  } : (!a, !a) -> !a
  return %m2 : !a
}

// Without places nothing changes.
// CHECK-LABEL: func.func @one(
// CHECK-NOT: mesh.role
func.func @one(%x: !a) -> !a { return %x : !a }
}
