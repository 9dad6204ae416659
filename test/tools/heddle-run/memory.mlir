// State in files: an argument of the memory `file`, and the result that takes its place, are in files of a directory.
// RUN: rm -rf %t && mkdir -p %t/spill
// RUN: heddlec %s -o %t/step.heddle --shard 'adam@file'
// RUN: heddle-translate --program-to-text %t/step.heddle | FileCheck %s --check-prefix=TEXT
// TEXT: argument adam.m: f32 {k: 5} [k], 20 bytes, in a file
// TEXT: argument g: f32 {k: 5} [k], 20 bytes at
// TEXT: result adam.m: f32 {k: 5} [k], 20 bytes, in the memory of 0, in a file
// RUN: heddle-run %t/step.heddle --seed 1 --repeat 3 --carry > %t/memory
// RUN: env HEDDLE_SPILL_DIR=%t/spill heddle-run %t/step.heddle --seed 1 --repeat 3 --carry > %t/file
// RUN: cmp %t/memory %t/file
// RUN: env HEDDLE_SPILL_DIR=%t/spill heddle-run %s --compare --shard 'adam@file' --seed 2 | FileCheck %s --check-prefix=AGREE
// RUN: env HEDDLE_SPILL_DIR=%t/spill heddle-run %s --compare --mesh data=2 --shard k:data --shard 'adam@file' | FileCheck %s --check-prefix=AGREE
// RUN: heddle-run %s --simulate --mesh data=2 --shard k:data --shard 'adam@file' | FileCheck %s --check-prefix=SIMULATED
// AGREE: @step: 5 elements agree
// SIMULATED: adam.m: f32 {k: 5}

// A directory that is not there is named, with the tensor; with a mesh by each rank.
// RUN: not env HEDDLE_SPILL_DIR=%t/none heddle-run %t/step.heddle 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not env HEDDLE_SPILL_DIR=%t/none heddle-run %s --mesh data=2 --shard k:data --shard 'adam@file' --repeat 2 --carry 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: can't make a file of {{20|12}} bytes in '{{.*}}/none' (HEDDLE_SPILL_DIR): No such file or directory for 'adam.m' at {{.*}}memory.mlir:

// On a CPU the memory of the host is the device's.
// RUN: heddlec %s -o %t/host.heddle --no-cache --explain --row-major --shard '*@host' 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: heddlec %s -o %t/plain.heddle --no-cache --row-major 2>&1 | count 0
// RUN: cmp %t/host.heddle %t/plain.heddle
// HOST: memory.mlir:[[#@LINE+4]]:17: remark: 'adam.m' is in the memory of the host, which is the device's
// HOST: remark: 'g' is in the memory of the host, which is the device's
// RUN: heddlec %s -o %t/host.heddle --no-cache --explain --row-major --shard 'adam@file' 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: remark: 'adam.m' is in a file, which callers map into memory
func.func @step(%m: !nd.tensor<f32, k: 5> {nd.name = "adam.m", heddle.donate = 0},
                %g: !nd.tensor<f32, k: 5> {nd.name = "g"}) -> (!nd.tensor<f32, k: 5> {nd.name = "adam.m"}) {
  %n = nd.pointwise %m, %g : (!nd.tensor<f32, k: 5>, !nd.tensor<f32, k: 5>) -> !nd.tensor<f32, k: 5> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %n : !nd.tensor<f32, k: 5>
}
