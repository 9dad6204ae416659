// Blocks of an operand that each device needs whole go around a ring, if it is large (here: of any size).
// RUN: heddle-run %s --interpret --seed 5 --print-limit 500 > %t.whole
// RUN: heddle-opt %s --mesh-plan='mesh=d=2 shard=batch:d,w/in:d,v/out:d' --nd-pipeline --convert-nd-to-nest --mesh-propagate --mesh-partition=ring=1 -o %t.two.mlir
// RUN: FileCheck %s < %t.two.mlir
// RUN: heddle-opt %t.two.mlir --mesh-simulate -o %t.simulated.mlir
// RUN: heddle-run %t.simulated.mlir --interpret --seed 5 --print-limit 500 | diff - %t.whole
// Ranks of a process.
// RUN: heddle-run %t.two.mlir --seed 5 --print-limit 500 | diff - %t.whole
// 6 over 4 and 5 over 4: the sum gathers, since points beyond the size would count, and results are written block by block.
// RUN: heddle-opt %s --mesh-plan='mesh=d=4,m=2 shard=batch:d,w/in:d,v/out:d,w/out:m' --nd-pipeline --convert-nd-to-nest --mesh-propagate --mesh-partition=ring=1 -o %t.four.mlir
// RUN: heddle-opt %t.four.mlir --mesh-simulate -o %t.simulated.mlir
// RUN: heddle-run %t.simulated.mlir --interpret --seed 5 --print-limit 500 | diff - %t.whole
// RUN: heddle-run %t.four.mlir --seed 5 --print-limit 500 | diff - %t.whole

// CHECK-LABEL: @sum
// CHECK-NOT: mesh.all_gather
// CHECK: nest.compute (batch: 3, out: 3) reduce (in: 3) reads %{{.*}}[], %arg1[]
// CHECK: nest.scan along <mesh$turn: 1> init(%arg1, %{{.*}})
// CHECK: %[[next:.*]] = mesh.permute %{{.*}} over [d] shift 1 wrap : !nd.tensor<i32, in: 3, out: 3>
// CHECK: nest.compute (batch: 3, out: 3) reduce (in: 3) reads %{{.*}}[], %[[next]][]
// CHECK: arith.sitofp
func.func @sum(%x: !nd.tensor<i32, batch: 5, in: 6> {nd.name = "x"}, %w: !nd.tensor<i32, in: 6, out: 3> {nd.name = "w"})
    -> !nd.tensor<f32, batch: 5, out: 3> {
  %y = nest.compute (batch: 5, out: 3) reduce (in: 6) reads %x[], %w[] {
  ^bb0(%a: i32, %b: i32):
    %c = arith.muli %a, %b : i32
    nest.yield %c : i32
  } combine add [0 : i32] finish {
  ^bb0(%s: i32):
    %f = arith.sitofp %s : i32 to f32
    nest.yield %f : f32
  } : (!nd.tensor<i32, batch: 5, in: 6>, !nd.tensor<i32, in: 6, out: 3>) -> !nd.tensor<f32, batch: 5, out: 3>
  return %y : !nd.tensor<f32, batch: 5, out: 3>
}

// Its epilogue reads another tensor at the name that goes around.
// CHECK-LABEL: @produced
// CHECK-NOT: mesh.all_gather
// CHECK: nest.compute (batch: 3, out: 3) reduce (in: 6)
// CHECK: nest.scan along <mesh$turn: 1> init(%arg1, %{{.*}})
// CHECK: mesh.permute %{{.*}} over [d] shift 1 wrap : !nd.tensor<i32, in: 6, out: 3>
// CHECK: nest.compute (batch: 3, out: 3) reduce (in: 6)
// CHECK: nest.update (batch: 3, out: 3) %{{.*}}[out = {{.*}}read(0)
func.func @produced(%x: !nd.tensor<i32, batch: 5, in: 6> {nd.name = "x"}, %v: !nd.tensor<i32, in: 6, out: 5> {nd.name = "v"}, %bias: !nd.tensor<i32, out: 5> {nd.name = "b"})
    -> !nd.tensor<i32, batch: 5, out: 5> {
  %y = nest.compute (batch: 5, out: 5) reduce (in: 6) reads %x[], %v[] {
  ^bb0(%a: i32, %b: i32):
    %c = arith.muli %a, %b : i32
    nest.yield %c : i32
  } combine add [0 : i32] finish reads %bias[] {
  ^bb0(%s: i32, %b: i32):
    %f = arith.addi %s, %b : i32
    nest.yield %f : i32
  } : (!nd.tensor<i32, batch: 5, in: 6>, !nd.tensor<i32, in: 6, out: 5>, !nd.tensor<i32, out: 5>) -> !nd.tensor<i32, batch: 5, out: 5>
  return %y : !nd.tensor<i32, batch: 5, out: 5>
}
