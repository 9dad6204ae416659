// A recurrence with a place, whose steps another axis splits: the loop of its turns has the place.
// RUN: heddle-run %s --interpret --seed 2 > %t.whole
// RUN: heddle-run %s --simulate --plan %S/Inputs/place-part.plan --seed 2 | diff - %t.whole
// RUN: heddle-run %s --compare --plan %S/Inputs/place-part.plan --seed 2 | FileCheck %s
// RUN: heddle-run %s --simulate --plan %S/Inputs/place-stage.plan --seed 2 | diff - %t.whole
// RUN: heddle-run %s --compare --plan %S/Inputs/place-stage.plan --seed 2 | FileCheck %s
// CHECK: 15 elements agree

!x = !nd.tensor<f32, batch: 3, time: 5>
func.func @main(%x: !x {nd.name = "x"}) -> !x {
  %y = nd.scan %x along time neutral [0.0 : f32] : (!x) -> !x {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %y : !x
}
