// A program file, the second time from the cache with the same bytes; and the intermediate stages.
// RUN: rm -rf %t && mkdir -p %t
// RUN: heddlec %s -o %t/a.heddle --cache-dir %t/cache --target-cpu x86-64 --statistics 2>&1 | FileCheck %s --check-prefix=COLD
// RUN: heddlec %s -o %t/b.heddle --cache-dir %t/cache --target-cpu x86-64 --statistics 2>&1 | FileCheck %s --check-prefix=WARM
// RUN: heddlec %s -o %t/c.heddle --no-cache --target-cpu x86-64 --compile-threads 1
// RUN: cmp %t/a.heddle %t/b.heddle && cmp %t/a.heddle %t/c.heddle
// RUN: heddlec - -o %t/d.heddle --no-cache --target-cpu x86-64 < %s
// RUN: cp %s %t/input.mlir && heddlec %t/input.mlir --no-cache --target-cpu x86-64
// RUN: heddlec %s -o %t/e.heddle --no-cache --target-cpu haswell --dump-dir %t/dump
// RUN: ls %t/dump | FileCheck %s --check-prefix=DUMP && cmp %t/dump/5-program.heddle %t/e.heddle
// RUN: env HEDDLE_DUMP_FILES=2-nest.mlir,kernels heddlec %s -o %t/e.heddle --dump-dir %t/some && ls %t/some | FileCheck %s --check-prefix=SOME
// SOME-NOT:  {{^[^2k]}}
// SOME:      2-nest.mlir
// SOME-NEXT: kernels
// SOME-NOT:  {{.}}
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/dump/4-manifest.json
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// COLD: 2 steps (2 serial, 0 barriers), 1 kernels (0 cached)
// WARM: 2 steps (2 serial, 0 barriers), 1 kernels (1 cached)
// DUMP: 0-input.mlir
// DUMP: 1-nd.mlir
// DUMP: 2-nest.mlir
// DUMP: 3-scheduled.mlir
// DUMP: 4-manifest.json
// DUMP: 5-program.heddle
// DUMP: kernels
// MANIFEST-DAG: "name": "double"
// MANIFEST-DAG: "name": "twice"
// MANIFEST-DAG: "cpu": "haswell"
// A function of the code has the name and the source location of the first step that runs it.
// MANIFEST: "functions": [
// MANIFEST:   "bytes": {{[1-9][0-9]*}},
// MANIFEST:   "location": "{{.*}}program.mlir:{{[0-9]+}}:{{[0-9]+}}",
// MANIFEST:   "name": "pointwise",
// Nothing is left over beside the files that were asked for.
// FILES: a.heddle
// FILES-NEXT: b.heddle
// FILES-NEXT: c.heddle
// FILES-NEXT: cache
// FILES-NEXT: d.heddle
// FILES-NEXT: dump
// FILES-NEXT: e.heddle
// FILES-NEXT: input.heddle
// FILES-NEXT: input.mlir

// Two entries that differ in names alone share one kernel.
func.func @double(%x: !nd.tensor<f32, a: 7, b: 9> {nd.name = "x"}) -> (!nd.tensor<f32, a: 7, b: 9> {nd.name = "y"}) {
  %0 = nd.pointwise %x : (!nd.tensor<f32, a: 7, b: 9>) -> !nd.tensor<f32, a: 7, b: 9> {
  ^bb0(%a: f32):
    %1 = arith.addf %a, %a : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, a: 7, b: 9>
}
func.func @twice(%x: !nd.tensor<f32, row: 7, zone: 9> {nd.name = "x"}) -> (!nd.tensor<f32, row: 7, zone: 9> {nd.name = "y"}) {
  %0 = nd.pointwise %x : (!nd.tensor<f32, row: 7, zone: 9>) -> !nd.tensor<f32, row: 7, zone: 9> {
  ^bb0(%a: f32):
    %1 = arith.addf %a, %a : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, row: 7, zone: 9>
}
