// The tasks of step.mlir on two devices of 1 operation a ns, with links of 1 byte a ns. With the samples in halves, each
// device computes half of the two sums of 64 * 48 products; then one sends 48 partial sums, 192 bytes, to the other one,
// which adds them and 48 parameters, and sends the next values back.
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --json > %t.paper
// RUN: FileCheck %s < %t.paper
// CHECK: "computing_picoseconds": 12384000,
// CHECK-NEXT: "messages": 2,
// CHECK-NEXT: "picoseconds": 6624002,
// CHECK-NEXT: "plan": "data parallel",
// CHECK-NEXT: "sent_bytes": 384

// Otherwise there are latencies (a step ends when the last byte is sent), operators have plans of their own, and no update
// waits for all gradients: the first device has the sum that the optimiser reads, and makes the next value.
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/graph.json --tasks --json | FileCheck %s --check-prefix=TASKS
// TASKS: "messages": 2,
// TASKS-NEXT: "picoseconds": 7624000,
// TASKS-NEXT: "plan": "data parallel",
// TASKS-NEXT: "sent_bytes": 384

// The search ends no worse than it began; the same seed gives the same plan; the exact search proves it.
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 50 --exact 1000 -o %t.first | FileCheck %s --check-prefix=FOUND
// FOUND: data parallel: 0.007 ms a step; all tasks together compute 0.012 ms, and send 384 bytes in 2 messages
// FOUND: found:
// FOUND: tried {{[0-9]+}} of 10^{{[0-9.]+}} plans in 100 proposals
// FOUND: no plan takes less time; {{[0-9]+}} were computed to prove it
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 50 --exact 1000 -o - | grep -v ' a step; ' | grep -v '^tried\|^no plan' | diff - %t.first
// RUN: FileCheck %s --check-prefix=PLAN < %t.first
// PLAN: # 0.{{[0-9]+}} ms a step, predicted by heddle-plan for tasks
// PLAN-NEXT: net.w {{.*}}on d.{{[01]}}
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --tasks --proposals 0 --exact 3 | FileCheck %s --check-prefix=CUT
// CUT: not proved with 3 plans; none takes less than 0.00{{[0-9]}} ms

// Groups of devices are links along axes.
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/four.json --tasks --json | FileCheck %s --check-prefix=GROUPS
// GROUPS: "messages": 6,
// GROUPS: "sent_bytes": 1152

// RUN: not heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/graph.json 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: expected --tasks or --paper with '{{.*}}graph.json': the devices of a mesh are in groups that are alike
// RUN: not heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --plan x 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: expected --plan without --tasks and --paper: plans are of a mesh
// RUN: not heddle-plan simulate %s --topology %S/Inputs/graph.json --paper 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected a function with operators, got none in 'f'
func.func @f(%x: !nd.tensor<f32, batch: 4>) -> !nd.tensor<f32, batch: 4> {
  return %x : !nd.tensor<f32, batch: 4>
}
