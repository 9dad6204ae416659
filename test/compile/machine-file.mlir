// Measured facts of this machine, from the file that HEDDLE_MACHINE names, change predicted times and no code. (Without a
// cache in the first place: a program in the cache has the predicted times of its file.)
// RUN: rm -rf %t && mkdir -p %t
// RUN: echo '{"heddle_machine": 1, "cpu": "any", "facts": {"step_start_seconds": 7.5, "l2_bytes": 65536, "chunk_flops": 500}, "measured": {"x": [1]}}' > %t/slow.json
// RUN: heddlec %s -o %t/plain.heddle --no-cache
// RUN: env HEDDLE_MACHINE= heddlec %s -o %t/empty.heddle --no-cache
// RUN: cmp %t/plain.heddle %t/empty.heddle
// RUN: env HEDDLE_MACHINE=%t/slow.json heddlec %s -o %t/slow.heddle --no-cache --dump-dir %t
// RUN: FileCheck %s --check-prefix=SLOW < %t/4-manifest.json
// RUN: heddle-translate --program-to-asm %t/plain.heddle > %t/plain.s
// RUN: heddle-translate --program-to-asm %t/slow.heddle > %t/slow.s
// RUN: cmp %t/plain.s %t/slow.s
// RUN: env HEDDLE_MACHINE=%t/slow.json heddlec %s -o %t/again.heddle --no-cache
// RUN: cmp %t/slow.heddle %t/again.heddle
// SLOW: "predicted": {
// SLOW-NEXT: "bound": {{[0-9.e-]+}},
// SLOW-NEXT: "limit": "{{[a-z0-9]+}}",
// SLOW-NEXT: "seconds": 7.5

// The cache tells programs of different files apart.
// RUN: heddlec %s -o %t/plain.cached
// RUN: env HEDDLE_MACHINE=%t/slow.json heddlec %s -o %t/slow.cached
// RUN: cmp %t/plain.cached %t/plain.heddle
// RUN: cmp %t/slow.cached %t/slow.heddle

// The file is of this machine: a named CPU has the defaults of its family.
// RUN: heddlec %s -o %t/haswell.heddle --no-cache --target-cpu haswell
// RUN: env HEDDLE_MACHINE=%t/slow.json heddlec %s -o %t/also.heddle --no-cache --target-cpu haswell
// RUN: cmp %t/haswell.heddle %t/also.heddle

// What a module states is above the file.
// RUN: sed 's/^module {/module attributes {heddle.machine = #nest.machine<{step_start_seconds = 2.5}>} {/' %s > %t/stated.mlir
// RUN: env HEDDLE_MACHINE=%t/slow.json heddlec %t/stated.mlir -o %t/stated.heddle --no-cache --dump-dir %t
// RUN: FileCheck %s --check-prefix=STATED < %t/4-manifest.json
// STATED: "seconds": 2.5

// Mistakes are named with their lines.
// RUN: env HEDDLE_MACHINE=%t/none.json not heddlec %s -o %t/x.heddle 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: can't read '{{.*}}none.json', which HEDDLE_MACHINE names: No such file or directory
// RUN: env HEDDLE_MACHINE=%t not heddlec %s -o %t/x.heddle 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: can't read '{{.*}}', which HEDDLE_MACHINE names: Is a directory
// RUN: printf '{"heddle_machine": 1,\n "facts": {\n  "l2_bytes": 65536,\n  "l9_bytes": 1\n}}' > %t/bad.json
// RUN: env HEDDLE_MACHINE=%t/bad.json not heddlec %s -o %t/x.heddle 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: bad.json:4:1: error: unknown fact 'l9_bytes'
// RUN: printf '{"heddle_machine": 1,\n "facts": {\n  "l2_bytes": 655' > %t/bad.json
// RUN: env HEDDLE_MACHINE=%t/bad.json not heddle-run %s 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: bad.json:3:1: error: malformed JSON: {{.*}}unexpected end of input

module {
  func.func @f(%x: !nd.tensor<f32, i: 40000> {nd.name = "x"}) -> (!nd.tensor<f32, i: 40000> {nd.name = "y"}) {
    %y = nd.pointwise %x : (!nd.tensor<f32, i: 40000>) -> !nd.tensor<f32, i: 40000> {
    ^bb0(%a: f32):
      %b = arith.addf %a, %a : f32
      nd.yield %b : f32
    }
    return %y : !nd.tensor<f32, i: 40000>
  }
}
