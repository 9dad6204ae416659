// Places along parts of axes, and along several axes. On the devices 2 and 3 of four: roles are the coordinates of the
// part, and a device sends to that of the other half.
// RUN: printf 'mesh d=4\nop .net.v.@d(1)2=1\n' > %t.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate --mesh-partition --mesh-roles | FileCheck %s --check-prefix=PART
// PART-LABEL: func.func @"f.d(1)2=0"(%arg0: !nd.tensor<f32, a: 8>
// PART-SAME: %arg2: !nd.tensor<f32, mesh$absent: 0> {{{.*}}at (d(1)2 = 1)
// PART-SAME: mesh.role = {axis = "d(1)2", coordinate = 0 : i64, entry = "f"}
// PART: mesh.send %{{.*}} to [d(1)2] = 1 channel 0
// PART-LABEL: func.func @"f.d(1)2=1"
// PART: mesh.receive from [d(1)2] = 0 channel 0

// The inner part of an axis has places, and the outer one splits operators.
// RUN: printf 'mesh d=6\nop .net.v.@d(2)3=2\na:d(1)2\n' > %t.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate --mesh-partition --mesh-roles | FileCheck %s --check-prefix=REST
// REST-LABEL: func.func @"f.d(2)3=0"(%arg0: !nd.tensor<f32, a: 4>
// REST: %[[P:.*]] = nest.compute () reduce (a: 4)
// REST: %[[S:.*]] = mesh.all_reduce %[[P]] over [d(1)2]
// REST: mesh.send %[[S]] to [d(2)3] = 2 channel 0
// REST-LABEL: func.func @"f.d(2)3=1"
// REST-NOT: reduce (
// REST-LABEL: func.func @"f.d(2)3=2"
// REST: %[[R:.*]] = mesh.receive from [d(2)3] = 0 channel 0
// REST: nest.compute () reduce (a: 4) reads %[[R]][], %arg2[]

// Several axes. The operators net.w and net.v have places along one axis each; along the other axis they are where
// their operands are. %x, which has no place, is held where it is read.
// RUN: printf 'mesh stage=2,d=4\nop .net.v.@stage=1\nop .net.u.@d(1)2=1\nnet.v@d(1)2=0\n' > %t.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate --mesh-partition --mesh-roles | FileCheck %s --check-prefix=AXES
// AXES-LABEL: func.func @"f.stage=0,d(1)2=0"(%arg0: !nd.tensor<f32, a: 8> {{{.*}}at (stage = 0, d(1)2 = 0)
// AXES: mesh.send %{{.*}} to [stage, d(1)2] = 2 channel 0
// AXES-NOT: mesh.send
// AXES-LABEL: func.func @"f.stage=0,d(1)2=1"
// AXES-NOT: reduce (
// AXES-LABEL: func.func @"f.stage=1,d(1)2=0"(
// AXES: mesh.receive from [stage, d(1)2] = 0 channel 0
// AXES: mesh.send %{{.*}} to [stage, d(1)2] = 3 channel 1
// AXES-LABEL: func.func @"f.stage=1,d(1)2=1"(
// AXES-SAME: mesh.role = {axis = "stage+d(1)2", coordinate = 3 : i64, entry = "f"}
// AXES: mesh.receive from [stage, d(1)2] = 2 channel 1

// All functions of a program have the same roles. On an axis of which a function states no place, each role runs it.
// RUN: printf 'mesh stage=2,d=4\nop .net.v.@d(1)2=1\ns@stage=1\n' > %t.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate --mesh-partition --mesh-roles | FileCheck %s --check-prefix=FUNCTIONS
// FUNCTIONS-LABEL: func.func @"f.stage=1,d(1)2=0"
// FUNCTIONS: mesh.send %{{.*}} to [stage, d(1)2] = 3 channel 1
// FUNCTIONS-LABEL: func.func @"f.stage=1,d(1)2=1"
// FUNCTIONS: mesh.receive from [stage, d(1)2] = 2 channel 1
// FUNCTIONS-LABEL: func.func @"g.stage=1,d(1)2=0"
// FUNCTIONS: nest.compute () reduce (a: 8)
// FUNCTIONS-LABEL: func.func @"g.stage=1,d(1)2=1"(%arg0: !nd.tensor<f32, a: 8> {{{.*}}at (stage = 1)
// FUNCTIONS: nest.compute () reduce (a: 8)

// A place on the whole axis is one on each of its parts; of several rules for an operator the last one counts on the
// axes with which it overlaps.
// RUN: printf 'mesh d=4\nop .net.w.@d=3\nop .net.v.@d(1)2=0\nop .net.v.@d(1)2=1\nop .net.v.@d(2)2=0\nop .net.u.@d(2)2=1\nop .net.u.@d=0\n' > %t.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate | FileCheck %s --check-prefix=ATTRIBUTES
// ATTRIBUTES: mesh.place = {d = 3 : i64}
// ATTRIBUTES: mesh.place = {"d(1)2" = 1 : i64, "d(2)2" = 0 : i64}
// ATTRIBUTES: mesh.place = {d = 0 : i64}
// RUN: printf 'mesh d=4\nop .net.w.@d=1\nop .net.v.@d(1)2=1\nop .net.v.@d(2)2=0\n' > %t.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate --mesh-partition --mesh-roles | FileCheck %s --check-prefix=WHOLE
// WHOLE-LABEL: func.func @"f.d(1)2=0,d(2)2=1"
// WHOLE: nest.compute () reduce (a: 8) reads %arg0[], %arg1[]
// WHOLE: mesh.send %{{.*}} to [d(1)2, d(2)2] = 2
// WHOLE-LABEL: func.func @"f.d(1)2=1,d(2)2=0"
// WHOLE: mesh.receive from [d(1)2, d(2)2] = 1

// The values are those of the whole program, by the oracle and compiled for 4, 6 and 8 ranks: operators with the rest
// of the axis, gradients, updates and their states; parts that do not divide sizes.
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --interpret --seed 3 > %t.whole
// RUN: printf 'mesh d=4\nop .net.last.weight.@d(1)2=1\nop .net.last.weight./batch:d(2)2\nop net.first.weight.dw@d(1)2=1\n' > %t.plan
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --simulate --plan %t.plan --seed 3 | diff - %t.whole
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --compare --plan %t.plan --seed 3 | FileCheck %s --check-prefix=AGREE
// RUN: printf 'mesh stage=2,d=4\nop net.first.weight.dw@stage=1\nop .net.last.weight.@d(2)2=1\nnet.last.weight@stage=1\nbatch:d(1)2\n' > %t.plan
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --simulate --plan %t.plan --seed 3 | diff - %t.whole
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --compare --plan %t.plan --seed 3 | FileCheck %s --check-prefix=AGREE
// RUN: printf 'mesh d=8\nnet.last.weight@d(1)2=1\nop net.first.weight@d(4)2=1\nin:d(2)2\n' > %t.plan
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --simulate --plan %t.plan --seed 3 | diff - %t.whole
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --compare --plan %t.plan --seed 3 | FileCheck %s --check-prefix=AGREE
// RUN: printf 'mesh d=6\nop .net.first.weight.@d=5\nop .net.last.weight.@d(1)2=0\nnet.last.weight@d(1)3=1\n' > %t.plan
// RUN: not heddle-run %S/../propagate/Inputs/step.mlir --simulate --plan %t.plan 2>&1 | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: the rule 'net.last.weight@d(1)3=1' ({{.*}}line 4) has places along 'd(1)2' and 'd(1)3', which divide 'd' into 2 and 3 parts
// RUN: sed -i 's/d(1)3/d(2)3/' %t.plan
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --simulate --plan %t.plan --seed 3 | diff - %t.whole
// RUN: heddle-run %S/../propagate/Inputs/step.mlir --compare --plan %t.plan --seed 3 | FileCheck %s --check-prefix=AGREE
// AGREE: @train: 89 elements agree

!a = !nd.tensor<f32, a: 8>
module {
func.func @f(%x: !a {nd.name = "x"}, %w: !a {nd.name = "net.w"}, %v: !a {nd.name = "net.v"}, %u: !a {nd.name = "net.u"}) -> !nd.tensor<f32> {
  %p = nest.compute () reduce (a: 8) reads %x[], %w[] {
  ^bb0(%s: f32, %t: f32):
    %m = arith.mulf %s, %t : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!a, !a) -> !nd.tensor<f32>
  %r = nest.compute () reduce (a: 8) reads %p[], %v[] {
  ^bb0(%s: f32, %t: f32):
    %m = arith.mulf %s, %t : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32>, !a) -> !nd.tensor<f32>
  %q = nest.compute () reduce (a: 8) reads %r[], %u[] {
  ^bb0(%s: f32, %t: f32):
    %m = arith.mulf %s, %t : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32>, !a) -> !nd.tensor<f32>
  return %q : !nd.tensor<f32>
}
func.func @g(%s: !a {nd.name = "s"}) -> !nd.tensor<f32> {
  %p = nest.compute () reduce (a: 8) reads %s[] {
  ^bb0(%e: f32):
    nest.yield %e : f32
  } combine add [0.0 : f32] : (!a) -> !nd.tensor<f32>
  return %p : !nd.tensor<f32>
}
}
