// A plan has a hash of the graph that it is for. It depends on what is computed, and on names and sizes, but not on names
// of functions and values, on the numbers of fresh names, on the order of names, on locations, on shardings or on constraints.
// RUN: %S/Inputs/graph-hashes %s %S/Inputs/two.json | FileCheck %s
// The number is that of all versions and machines.
// CHECK:      {{^}}53e93810ed372d61{{$}}
// CHECK-NEXT: functions: the same
// CHECK-NEXT: values: the same
// CHECK-NEXT: fresh: the same
// CHECK-NEXT: order: the same
// CHECK-NEXT: locations: the same
// CHECK-NEXT: unused: the same
// CHECK-NEXT: shardings: the same
// CHECK-NEXT: constraints: the same
// CHECK-NEXT: size: another
// CHECK-NEXT: name: another
// CHECK-NEXT: path: another
// CHECK-NEXT: result: another
// CHECK-NEXT: operator: another
// CHECK-NEXT: operand: another
// CHECK-NEXT: attribute: another
// CHECK-NEXT: type: another
// CHECK-NEXT: callee: another
// CHECK-NEXT: call: another

// A plan for another graph is refused, and one without a graph is not. The hash may be that of any function.
// RUN: heddle-plan search %s --topology %S/Inputs/two.json --proposals 0 -o %t.plan
// RUN: heddlec %s --plan %t.plan -o %t.heddle
// RUN: heddle-run %s --plan %t.plan --seed 1 --compare | FileCheck %s --check-prefix=AGREE
// AGREE: @step: 12 elements agree
// RUN: sed 's/batch: 8/batch: 6/g' %s > %t.other.mlir
// RUN: not heddlec %t.other.mlir --plan %t.plan -o %t.heddle 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not heddle-run %t.other.mlir --plan %t.plan --seed 1 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not heddle-plan simulate %t.other.mlir --topology %S/Inputs/two.json --plan %t.plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: the plan is for another program (plan '{{.*}}.plan', line 3): expected the graph 53e93810ed372d61, got {{[0-9a-f]+}} of 'step'
// RUN: sed -i /graph/d %t.plan
// RUN: heddlec %t.other.mlir --plan %t.plan -o %t.heddle
// RUN: not heddlec %s --mesh d=2 --shard 'graph 12' -o %t.heddle 2>&1 | FileCheck %s --check-prefix=DIGITS
// DIGITS: error: expected 16 hexadecimal digits after 'graph', got '12'

!in = !nd.tensor<f32, in: 3>

// Private
func.func private @inner(%a: !in) -> !in {
  %b = nd.pointwise %a : (!in) -> !in {
  ^bb0(%u: f32):
    %v = math.tanh %u : f32
    nd.yield %v : f32
  }
  return %b : !in
}
func.func private @same(%a: !in) -> !in {
  return %a : !in
}
func.func @step(%x: !nd.tensor<f32, batch: 8, in: 3, from$3: 4> {nd.name = "x"},
                %w: !in {nd.name = "w"}) -> (!nd.tensor<f32, in: 3, from$3: 4> {nd.name = "y"}) {
  %v = nd.call @inner(%w) : (!in) -> !in
  %p = nd.pointwise %x, %v : (!nd.tensor<f32, batch: 8, in: 3, from$3: 4>, !in)
    -> !nd.tensor<f32, batch: 8, in: 3, from$3: 4> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.reduce %p over [batch] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 8, in: 3, from$3: 4>)
    -> !nd.tensor<f32, in: 3, from$3: 4> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %y : !nd.tensor<f32, in: 3, from$3: 4>
} // Last
