// The table of a program file: why each value is split as it is, and the bytes of each collective. It says what --explain
// says, with the names of the source, and does not depend on the option.
// RUN: rm -rf %t && mkdir -p %t
// RUN: heddlec %s -o %t/told.heddle --mesh data=2,model=2 --shard batch:data --shard net/out:model --explain --no-cache 2> %t/why
// RUN: heddlec %s -o %t/untold.heddle --mesh data=2,model=2 --shard batch:data --shard net/out:model --no-cache
// RUN: cmp %t/told.heddle %t/untold.heddle
// RUN: heddle-translate --program-to-text %t/told.heddle | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t/why
// RUN: heddlec %s -o %t/one.heddle && heddle-translate --program-to-text %t/one.heddle | FileCheck %s --check-prefix=NONE
// NONE-NOT: shardings of

// CHECK-LABEL: shardings of @step
// CHECK-NEXT:  x: f32 {batch: 5, in: 3} {batch: [data]}: 'batch' has [data] by the rule 'batch:data' at {{.*}}shardings.mlir:[[#@LINE+14]]:17
// CHECK-NEXT:  net.w: f32 {in: 3, out: 3} {out: [model]}: 'out' has [model] by the rule 'net/out:model' at
// CHECK-NEXT:  seen: f32 {a: 2} {}: no axis reaches its names at
// CHECK:       f32 {out: 3} {out: [model]}: 'out' has [model] as 'out' of the argument 'net.w'; 'batch' has [data] as 'batch' of the argument 'x' at
// CHECK-LABEL: collectives of @step, with what a device sends
// CHECK-NEXT:  all_reduce over [data]: 8 bytes, 0 of padding at {{.*}}shardings.mlir:
// CHECK-NEXT:  all_gather over [model]: 8 bytes, 2 of padding at
// CHECK-NEXT:  in all 16 bytes, 2 of padding
// WHY: remark: argument 0 {batch: [data]}: 'batch' has [data] by the rule 'batch:data'
// WHY: remark: argument 1 {out: [model]}: 'out' has [model] by the rule 'net/out:model'
// WHY: remark: {{.*}}batch: [data]{{.*}}: {{.*}}'batch' has [data] as 'batch' of the argument 'x'
// WHY-DAG: remark: mesh.all_reduce over [data]: each device sends 8 bytes
// WHY-DAG: remark: mesh.all_gather over [model]: each device sends 8 bytes, 2 of them padding
// WHY-DAG: remark: 2 collectives, in which each device of 4 sends 16 bytes
func.func @step(%x: !nd.tensor<f32, batch: 5, in: 3> {nd.name = "x"}, %w: !nd.tensor<f32, in: 3, out: 3> {nd.name = "net.w"},
                %seen: !nd.tensor<f32, a: 2> {nd.name = "seen"})
    -> (!nd.tensor<f32, out: 3> {nd.name = "y", mesh.sharding = #mesh.sharding<{out: []}>}, !nd.tensor<f32, a: 2>) {
  %p = nd.pointwise %x, %w : (!nd.tensor<f32, batch: 5, in: 3>, !nd.tensor<f32, in: 3, out: 3>)
      -> !nd.tensor<f32, batch: 5, in: 3, out: 3> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.reduce %p over [batch, in] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 5, in: 3, out: 3>)
      -> !nd.tensor<f32, out: 3> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %y, %seen : !nd.tensor<f32, out: 3>, !nd.tensor<f32, a: 2>
}
