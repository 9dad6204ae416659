// What a compiled program can't follow is refused, before anything runs.
// RUN: heddlec %s -o %t.heddle
// RUN: heddlec %s --mesh d=2 --shard n:d -o %t.split.heddle
// RUN: not heddle-run %t.heddle --target-cpu x86-64 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: heddle-run: error: --target-cpu: '{{.*}}.heddle' is compiled already; expected IR
// RUN: not heddle-run %t.heddle --products bf16 2>&1 | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS: error: --products: '{{.*}}.heddle' is compiled already; expected IR
// RUN: not heddle-run %t.heddle --row-major 2>&1 | FileCheck %s --check-prefix=LAYOUTS
// LAYOUTS: error: --row-major: '{{.*}}.heddle' is compiled already; expected IR
// RUN: not heddle-run %t.split.heddle --shard n:d 2>&1 | FileCheck %s --check-prefix=SHARD
// SHARD: error: --shard: '{{.*}}.heddle' is compiled already; expected IR
// RUN: not heddle-run %t.heddle --specialise 2>&1 | FileCheck %s --check-prefix=SPECIALISE
// SPECIALISE: error: --specialise: '{{.*}}.heddle' is compiled already; expected IR
// RUN: not heddle-run %t.split.heddle --mesh d=4 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: error: --mesh: '{{.*}}.heddle' is compiled for the mesh d=2, expected that, got d=4
// RUN: not heddle-run %t.heddle --mesh d=2 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: --mesh: '{{.*}}.heddle' is compiled for one device, expected that, got d=2
// RUN: heddle-run %t.split.heddle --mesh d=2 --threads 2 --no-cache --compile-threads 1 --cache-dir %t.none | FileCheck %s --check-prefix=VALUES
// VALUES: @f

func.func @f(%x: !nd.tensor<f32, n: 6> {nd.name = "x"}) -> (!nd.tensor<f32, n: 6> {nd.name = "y"}) {
  %y = nd.pointwise %x : (!nd.tensor<f32, n: 6>) -> !nd.tensor<f32, n: 6> {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    nd.yield %b : f32
  }
  return %y : !nd.tensor<f32, n: 6>
}
