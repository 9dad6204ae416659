// Values of operators that a rule names are computed again for the backward pass, and are those of the whole program.
// RUN: heddle-run %S/Inputs/step.mlir --interpret --seed 3 > %t.whole
// RUN: heddle-run %S/Inputs/step.mlir --compare --shard 'recompute .net.first.weight.' --seed 3 | FileCheck %s --check-prefix=AGREE
// RUN: printf 'mesh data=2,model=2\nbatch:data\nhidden:model\nop net.first.weight/in:model\nop net.first.weight/hidden:\nrecompute *\n' > %t.plan
// RUN: heddle-run %S/Inputs/step.mlir --compare --plan %t.plan --seed 3 | FileCheck %s --check-prefix=AGREE
// RUN: heddle-run %S/Inputs/step.mlir --simulate --plan %t.plan --seed 3 | diff - %t.whole
// AGREE: 89 elements agree

// The first gradient reads what its producer made, at once. Later ones read values that are made again from what is kept,
// after the gradient before them; the operator of %h makes %t too, in a pointwise nest.
// RUN: heddle-opt %s --mesh-plan="shard='recompute net'" --mesh-propagate | FileCheck %s
// CHECK-LABEL: @f
// CHECK: %[[H:.*]] = nest.compute (a: 8) reduce (k: 6) reads %arg0[], %arg1[]
// CHECK: %[[T:.*]] = nest.compute (a: 8) reads %[[H]][]
// CHECK: %[[G:.*]] = nest.compute (a: 8) reads %[[T]][]
// CHECK-DAG: %[[X:.*]] = nd.after %arg0, %[[G]]
// CHECK-DAG: %[[W:.*]] = nd.after %arg1, %[[G]]
// CHECK: %[[H2:.*]] = nest.compute (a: 8) reduce (k: 6) reads %[[X]][], %[[W]][]
// CHECK: %[[T2:.*]] = nest.compute (a: 8) reads %[[H2]][]
// CHECK: nest.compute (a: 8) reads %[[G]][], %[[T2]][]
// What was made again serves all gradients.
// CHECK-NOT: nd.after
// CHECK: nest.compute (a: 8) reads %{{.*}}[], %[[H2]][]
// CHECK-NOT: nd.after
// CHECK: return
// Axes that a rule states hold for both.
// RUN: printf 'mesh d=2\nop net/a:d\nrecompute net\n' > %t.split.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.split.plan" --mesh-propagate --mesh-partition | FileCheck %s --check-prefix=SPLIT
// SPLIT-COUNT-2: nest.compute (a: 4) reduce (k: 6)
// Without a rule, and with one that may match nothing, nothing changes.
// RUN: heddle-opt %s --mesh-plan="shard='recompute? other'" --mesh-propagate | FileCheck %s --check-prefix=NOTHING
// NOTHING-NOT: nd.after

// RUN: not heddle-opt %s --mesh-plan="shard='recompute nothing'" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: the rule 'recompute nothing' matches no operator; the nearest one is 'net.w'
// RUN: not heddle-opt %s --mesh-plan="shard='recompute net.w/a'" 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not heddle-opt %s --mesh-plan="shard='recompute net.w@d=1'" 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: expected a rule recompute PATTERN, got 'recompute net.w{{.+}}'

!a = !nd.tensor<f32, a: 8>

func.func @f(%x: !nd.tensor<f32, a: 8, k: 6> {nd.name = "x"}, %w: !nd.tensor<f32, k: 6> {nd.name = "net.w"})
    -> (!a, !a) {
  %h = nest.compute (a: 8) reduce (k: 6) reads %x[], %w[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 8, k: 6>, !nd.tensor<f32, k: 6>) -> !a
  %t = nest.compute (a: 8) reads %h[] {
  ^bb0(%u: f32):
    %p = math.tanh %u : f32
    nest.yield %p : f32
  } : (!a) -> !a
  %g = nest.compute (a: 8) reads %t[] {
  ^bb0(%u: f32):
    %p = math.exp %u : f32
    nest.yield %p : f32
  } : (!a) -> !a loc(#gradient)
  %d = nest.compute (a: 8) reads %g[], %t[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } : (!a, !a) -> !a loc(#gradient)
  %e = nest.compute (a: 8) reads %d[], %h[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.subf %u, %v : f32
    nest.yield %p : f32
  } : (!a, !a) -> !a loc(#gradient)
  return %h, %e : !a, !a
}
#gradient = loc(fused<"gradient">[unknown])
