// What is predicted is what is compiled: the same transfers with the same bytes.
// RUN: heddle-plan simulate %S/../../transforms/mesh/propagate/Inputs/step.mlir --topology %S/Inputs/four.json | FileCheck %s
// CHECK: data parallel: {{[0-9.]+}} ms a step, of which a device computes {{[0-9.]+}} ms; it sends 342 bytes in 4 transfers, and needs {{[0-9]+}} bytes of memory
// RUN: printf 'mesh node=2,core=2\nbatch:core\nhidden:node\nop last.weight.dw/batch:node\nop .net.first.weight./in:core\n' > %t.plan
// RUN: heddle-plan simulate %S/../../transforms/mesh/propagate/Inputs/step.mlir --topology %S/Inputs/four.json --plan %t.plan > %t.predicted
// RUN: heddlec %S/../../transforms/mesh/propagate/Inputs/step.mlir --plan %t.plan --explain -o %t.heddle 2> %t.compiled
// RUN: grep -o 'sends [0-9]* bytes in [0-9]*' %t.predicted > %t.a
// RUN: sed -n 's/.* \([0-9]*\) collectives, in which each device of 4 \(sends [0-9]* bytes\).*/\2 in \1/p' %t.compiled | diff - %t.a

// The sum of y over 2 devices: 2 rounds, in which a device sends 256 bytes. On the links of `node` that takes 42.56 us, on
// those of `core` 2.0256 us.
// RUN: printf 'mesh node=2,core=2\nx/in:node\n' > %t.slow.plan
// RUN: printf 'mesh node=2,core=2\nx/in:core\n' > %t.fast.plan
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/four.json --plan %t.slow.plan --json > %t.slow
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/four.json --plan %t.fast.plan --json > %t.fast
// RUN: FileCheck %s --check-prefix=SUM < %t.slow
// SUM: "sent_bytes": 256,
// SUM-NEXT: "transfers": 1
// RUN: python3 -c "import json, sys; a, b = [json.load(open(p))['picoseconds'] for p in sys.argv[1:]]; print(a - b)" %t.slow %t.fast | FileCheck %s --check-prefix=LINKS
// LINKS: {{^40534400$}}

// RUN: not heddle-plan simulate %s --topology %S/Inputs/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: can't read the topology '{{.*}}none.json': No such file or directory
// RUN: sed 's/latency_seconds/latency/' %S/Inputs/two.json > %t.json
// RUN: not heddle-plan simulate %s --topology %t.json 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: topology '{{.*}}.json', line 4: unknown key 'latency' of an axis, expected 'axis', 'devices', 'bytes_per_second', 'latency_seconds', 'core_bytes_per_second' and 'core_seconds'
// RUN: not heddle-plan simulate %s --topology %S/Inputs/two.json 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: expected --entry with one of the functions f, g
// RUN: not heddle-plan simulate %s --topology %S/Inputs/two.json --entry h 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: expected --entry with one of the functions f, g, got 'h'
// RUN: heddle-plan simulate %s --topology %S/Inputs/two.json --entry g | FileCheck %s --check-prefix=G
// G: data parallel: {{.*}} sends 0 bytes in 0 transfers
// RUN: printf 'mesh d=4\nbatch:d\n' > %t.mesh.plan
// RUN: not heddle-plan simulate %s --topology %S/Inputs/two.json --entry g --plan %t.mesh.plan 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: 'mesh d=2' contradicts 'mesh d=4' (plan '{{.*}}.plan', line 1)
// RUN: printf 'mesh d=2\nop argument1/batch:d\n' > %t.unknown.plan
// RUN: not heddle-plan simulate %s --topology %S/Inputs/two.json --entry g --plan %t.unknown.plan 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: the rule 'op argument1/batch:d' (plan '{{.*}}.plan', line 2) matches no operator
func.func @f(%x: !nd.tensor<f32, batch: 4>) -> !nd.tensor<f32, batch: 4> {
  return %x : !nd.tensor<f32, batch: 4>
}
func.func @g(%x: !nd.tensor<f32, batch: 4>) -> !nd.tensor<f32, batch: 4> {
  return %x : !nd.tensor<f32, batch: 4>
}
