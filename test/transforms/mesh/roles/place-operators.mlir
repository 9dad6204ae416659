// Rules place operators on the devices of a role, with the pointwise nests around them; what no rule places follows.
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --interpret --seed 3 > %t.whole
// RUN: printf 'mesh stage=2,data=2\nbatch:data\nop .net.last.weight.@stage=1\nop net.last.weight.dw@stage=1\nop net.first.weight.update@stage=1\n' > %t.plan
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --simulate --plan %t.plan --seed 3 | diff - %t.whole
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --compare --plan %t.plan --seed 3 | FileCheck %s --check-prefix=AGREE
// A state keeps its stated place, whatever its operators have.
// RUN: printf 'net.last.weight@stage=0\nop net.first.bias@stage=1\n' >> %t.plan
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --compare --plan %t.plan --seed 3 | FileCheck %s --check-prefix=AGREE
// AGREE: @train: 89 elements agree

// %w and %v have no rule. %r, which does, is at stage 1, so that %v is held there; %q reads %r, and has a rule for stage 0.
// RUN: printf 'mesh stage=2\nop .net.w.@stage=0\nop .net.v.@stage=1\nop .net.u.@stage=0\n' > %t.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate --mesh-partition --mesh-roles | FileCheck %s
// CHECK-LABEL: func.func @"f.stage=0"(%arg0: !nd.tensor<f32, a: 8>
// CHECK-SAME: %arg2: !nd.tensor<f32, mesh$absent: 0>
// CHECK: %[[P:.*]] = nest.compute () reduce (a: 8) reads %arg0[], %arg1[]
// CHECK-NOT: mesh.place
// CHECK: mesh.send %[[P]] to [stage] = 1 channel 0
// CHECK: %[[R:.*]] = mesh.receive from [stage] = 1 channel 1
// CHECK: nest.compute () reduce (a: 8) reads %[[R]][], %arg3[]
// CHECK-LABEL: func.func @"f.stage=1"
// CHECK: mesh.receive from [stage] = 0 channel 0
// CHECK: nest.compute () reduce (a: 8) reads %{{.*}}[], %arg2[]
// The later rule counts.
// RUN: printf 'mesh stage=2\nop .net.v.@stage=0\nop .net.v.@stage=1\nop? z@stage=1\n' > %t.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate | FileCheck %s --check-prefix=LATER
// LATER: nest.compute
// LATER-NOT: mesh.place
// LATER: nest.compute
// LATER: mesh.place = {stage = 1 : i64}
// LATER: math.exp
// LATER: mesh.place = {stage = 1 : i64}
// LATER-NOT: mesh.place
// RUN: heddle-opt %s --mesh-plan="mesh=stage=2 shard='op .net.v.@stage=1'" --mesh-propagate --mesh-partition --mesh-roles | FileCheck %s --check-prefix=FOLLOWS
// FOLLOWS-LABEL: func.func @"f.stage=0"
// FOLLOWS-NOT: mesh.receive
// FOLLOWS-LABEL: func.func @"f.stage=1"
// FOLLOWS-COUNT-3: nest.compute

// RUN: sed 's/heddle.name = "p"/mesh.place = {stage = 2}/' %s > %t.mlir
// RUN: not heddle-opt %t.mlir 2>&1 | FileCheck %s --check-prefix=COORDINATE
// COORDINATE: error: 'nest.compute' op 'mesh.place': expected a coordinate of 'stage' below 2, got 2
// RUN: sed 's/heddle.name = "p"/mesh.place = {data = 0}/' %s > %t.mlir
// RUN: not heddle-opt %t.mlir 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: 'nest.compute' op 'mesh.place': unknown axis 'data', expected one of 'stage'
// RUN: sed 's/stage: 2>/stage: 6>/; s/heddle.name = "p"/mesh.place = {stage = 5, "stage(1)2" = 1}/' %s > %t.mlir
// RUN: not heddle-opt %t.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'nest.compute' op 'mesh.place': expected each axis once, got 'stage' and 'stage(1)2'
// RUN: sed 's/heddle.name = "p"/mesh.place = {}/' %s > %t.mlir
// RUN: not heddle-opt %t.mlir 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: sed 's/heddle.name = "p"/mesh.place = 1 : i64/' %s > %t.mlir
// RUN: not heddle-opt %t.mlir 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// ATTRIBUTE: error: 'nest.compute' op 'mesh.place': expected coordinates of axes of the mesh, of an op in a function's body, got

!a = !nd.tensor<f32, a: 8>
module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
func.func @f(%x: !a {nd.name = "x"}, %w: !a {nd.name = "net.w"}, %v: !a {nd.name = "net.v"}, %u: !a {nd.name = "net.u"}) -> !nd.tensor<f32> {
  %p = nest.compute () reduce (a: 8) reads %x[], %w[] {
  ^bb0(%s: f32, %t: f32):
    %m = arith.mulf %s, %t : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] {heddle.name = "p"} : (!a, !a) -> !nd.tensor<f32>
  %r = nest.compute () reduce (a: 8) reads %p[], %v[] {
  ^bb0(%s: f32, %t: f32):
    %m = arith.mulf %s, %t : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32>, !a) -> !nd.tensor<f32>
  %e = nest.compute () reads %r[] {
  ^bb0(%s: f32):
    %m = math.exp %s : f32
    nest.yield %m : f32
  } : (!nd.tensor<f32>) -> !nd.tensor<f32>
  %q = nest.compute () reduce (a: 8) reads %e[], %u[] {
  ^bb0(%s: f32, %t: f32):
    %m = arith.mulf %s, %t : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32>, !a) -> !nd.tensor<f32>
  return %q : !nd.tensor<f32>
}
}
