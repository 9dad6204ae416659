// Rules split the produced and the summed names of operators; the values are those of the whole program.
// RUN: printf 'mesh data=2,model=2\nbatch:data\nop first.weight/in:model\n\nop last.weight.dw/batch:model\nop .net.last.weight./out:model # comment\nop net.first.*.update/hidden:data\nop net.last.weight.2/batch:\n' > %t.plan
// RUN: heddle-run %S/Inputs/step.mlir --interpret --seed 3 > %t.whole
// RUN: heddle-run %S/Inputs/step.mlir --simulate --plan %t.plan --seed 3 | diff - %t.whole
// RUN: heddle-run %S/Inputs/step.mlir --compare --plan %t.plan --seed 3 | FileCheck %s --check-prefix=AGREE
// AGREE: 89 elements agree

// RUN: heddlec %S/Inputs/step.mlir --plan %t.plan --explain -o %t.heddle 2>&1 | FileCheck %s --check-prefix=WHY
// WHY-DAG: 8:8: remark: {{.*}}'in' has [model] by the rule 'op first.weight/in:model'
// WHY-DAG: 24:8: remark: {{.*}}'out' has [model] by the rule 'op .net.last.weight./out:model'
// WHY-DAG: 51:9: remark: {hidden: [data]{{.*}}by the rule 'op net.first.*.update/hidden:data'
// The sum over a summed name is one of all parts.
// WHY-DAG: 8:8: remark: mesh.all_reduce over [model]

// Names are those of the user, and rules say nothing of arguments; the last rule for a name counts. A rule without axes
// keeps the name whole, although its operand is split. What no rule splits follows.
// RUN: printf 'mesh d=2,e=3\nx/a:d\nop net/a:e\nop net.w/k:e\nop net.w/a:\n' > %t.last.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.last.plan" --mesh-propagate | FileCheck %s
// CHECK: mesh.rules = ["x/a:d", "op net/a:e # plan '{{.*}}', line 3",
// CHECK: @f
// CHECK-SAME: %arg0: !nd.tensor<f32, a: 8, k: 6> {mesh.sharding = #mesh.sharding<{a: [d], k: [e]}>
// CHECK: mesh.sharding = #mesh.sharding<{k: [e]}>}
// CHECK: nest.compute (a: 8, b: 5) reads %0
// CHECK-NOT: mesh.sharding
// CHECK: return
// `op?` may match nothing, and then changes nothing.
// RUN: printf 'mesh d=2\nx/a:d\n' > %t.without.plan
// RUN: printf 'mesh d=2\nx/a:d\nop? nothing/a:d\nop? net.w/none:d\n' > %t.nothing.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.without.plan" --mesh-propagate | grep -v ^module > %t.without
// RUN: heddle-opt %s --mesh-plan="plan=%t.nothing.plan" --mesh-propagate | grep -v ^module | diff - %t.without
func.func @f(%x: !nd.tensor<f32, a: 8, k: 6> {nd.name = "x"}, %w: !nd.tensor<f32, b: 5, k: 6> {nd.name = "net.w"}) -> !nd.tensor<f32, a: 8, b: 5> {
  %r = nest.compute (a: 8, b: 5) reduce (k: 6) reads %x[], %w[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 8, k: 6>, !nd.tensor<f32, b: 5, k: 6>) -> !nd.tensor<f32, a: 8, b: 5>
  %s = nest.compute (a: 8, b: 5) reads %r[] {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } : (!nd.tensor<f32, a: 8, b: 5>) -> !nd.tensor<f32, a: 8, b: 5>
  return %s : !nd.tensor<f32, a: 8, b: 5>
}
