// One rank of a host compiles, the others load its image: each compilation would write a folder of its own.
// REQUIRES: heddle-launch
// RUN: rm -rf %t && mkdir -p %t/cache %t/dump %t/first
// RUN: env HEDDLE_CACHE_DIR=%t/cache HEDDLE_DUMP_DIR=%t/dump heddle-launch -n 3 --no-prefix heddle-run %s --entry good --mesh data=3 --shard batch:data | FileCheck %s --check-prefix=VALUES
// VALUES:     @good
// VALUES-NOT: @good
// RUN: ls %t/dump | wc -l | FileCheck %s --check-prefix=ONE
// ONE: {{^ *}}1{{$}}

// What it can't compile is an error on all. The one that compiles says where, once; the launcher says at the end what
// the first rank that failed said.
// RUN: not env HEDDLE_CACHE_DIR=%t/cache heddle-launch -n 2 heddle-run %s --entry good --mesh data=2 --shard nobody/batch:data > %t/bad 2>&1
// RUN: FileCheck %s --check-prefix=BAD < %t/bad
// RUN: grep "^\[" %t/bad | grep -c "nobody" | FileCheck %s --check-prefix=TWO
// TWO: {{^}}2{{$}}
// BAD-DAG: [0] {{.*}}error: {{.*}}'nobody/batch:data'
// BAD-DAG: [1] heddle-run: error: rank 0 (host {{.*}}) failed at compiling '{{.*}}compile-on-ranks.mlir': {{.*}}'nobody/batch:data'
// BAD:     heddle-launch: rank {{[01]}} (host {{.*}}) ended with exit status 1; its last output: {{.*}}'nobody/batch:data'{{.*}}
// BAD-NOT: {{.}}

// Different programs, and other options.
// RUN: not env HEDDLE_CACHE_DIR=%t/cache heddle-launch -n 2 sh -c 'heddle-run %s --entry good --mesh data=2 --shard $(if [ $HEDDLE_RANK = 1 ]; then echo in; else echo batch; fi):data' 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER-DAG: [0] heddle-run: error: rank 1 (host {{.*}}) compiles another program or other options as '{{.*}}' than rank 0 (host
// OTHER-DAG: [1] heddle-run: error: rank 1 (host {{.*}}) compiles another program or other options as '{{.*}}' than rank 0 (host

// Other elements of the same arguments.
// RUN: heddlec %s --mesh data=2 --shard batch:data -o %t/good.heddle
// RUN: not heddle-launch -n 2 sh -c 'heddle-run %t/good.heddle --seed $((7 + HEDDLE_RANK))' 2>&1 | FileCheck %s --check-prefix=SEED
// RUN: not heddle-launch -n 2 sh -c 'heddle-run %s --mesh data=2 --shard batch:data --seed $((7 + HEDDLE_RANK))' 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: heddle-launch: rank 1 (host {{.*}}) has the seed 8 at call {{.*}}(entry 'good'), but rank 0 (host {{.*}}) has 7

// A program without a mesh.
// RUN: not heddle-launch -n 2 heddle-run %s 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: heddle-run: error: '{{.*}}' is for one device, but heddle-launch has started 2 ranks: expected a program with a mesh (--mesh data=2 --shard batch:data)

// Where CPUs differ the program is for what both have: here rank 1 has no AVX.
// DEFINE: %{without} = HEDDLE_CPU_WITHOUT=avx,amx
// RUN: env HEDDLE_CACHE_DIR=%t/cache HEDDLE_DUMP_DIR=%t/first HEDDLE_DUMP_FILES=4-manifest.json heddle-launch -n 2 --no-prefix sh -c 'if [ $HEDDLE_RANK = 1 ]; then export %{without}; fi; heddle-run %s --entry good --mesh data=2 --shard batch:data' | FileCheck %s --check-prefix=VALUES
// RUN: cat %t/first/*/4-manifest.json | FileCheck %s --check-prefix=COMMON
// COMMON:     "sse2"
// COMMON-NOT: "avx
// RUN: not env HEDDLE_CACHE_DIR=%t/cache heddle-launch -n 2 sh -c 'if [ $HEDDLE_RANK = 1 ]; then export %{without}; fi; heddle-run %s --entry good --mesh data=2 --shard batch:data --target-cpu x86-64+avx' > %t/cpus 2>&1
// RUN: FileCheck %s --check-prefix=CPUS < %t/cpus
// CPUS-DAG: [0] heddle-run: error: '{{.*}}' is compiled for CPUs with avx, which the CPU of rank 1 (host {{.*}}) lacks
// CPUS-DAG: [1] heddle-run: error: '{{.*}}' is compiled for CPUs with avx, which the CPU of rank 1 (host {{.*}}) lacks

func.func @good(%x: !nd.tensor<f32, batch: 5, in: 3> {nd.name = "x"},
                %w: !nd.tensor<f32, in: 3, out: 2> {nd.name = "net.w"}) -> (!nd.tensor<f32, out: 2> {nd.name = "y"}) {
  %p = nd.pointwise %x, %w : (!nd.tensor<f32, batch: 5, in: 3>, !nd.tensor<f32, in: 3, out: 2>)
    -> !nd.tensor<f32, batch: 5, in: 3, out: 2> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.reduce %p over [batch, in] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 5, in: 3, out: 2>)
    -> !nd.tensor<f32, out: 2> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %y : !nd.tensor<f32, out: 2>
}
