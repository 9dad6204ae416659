// The tasks of step.mlir on two devices of 1 operation a ns, with links of 1 byte a ns. With the samples in halves, each
// device computes half of the two sums of 64 * 48 products; then one sends 48 partial sums, 192 bytes, to the other one,
// which adds them and 48 parameters, and sends the next values back.
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --json > %t.paper
// RUN: FileCheck %s < %t.paper
// CHECK: "computing_picoseconds": 12384000,
// CHECK-NEXT: "memory_bytes": 576,
// CHECK-NEXT: "messages": 2,
// CHECK-NEXT: "picoseconds": 6624002,
// CHECK-NEXT: "plan": "data parallel",
// CHECK-NEXT: "sent_bytes": 384

// Otherwise there are latencies (a step ends when the last byte is sent), operators have plans of their own, and no update
// waits for all gradients: the first device has the sum that the optimiser reads, and makes the next value.
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/graph.json --tasks --json | FileCheck %s --check-prefix=TASKS
// TASKS: "memory_bytes": 576,
// TASKS-NEXT: "messages": 2,
// TASKS-NEXT: "picoseconds": 7624000,
// TASKS-NEXT: "plan": "data parallel",
// TASKS-NEXT: "sent_bytes": 384

// The search ends no worse than it began; the same seed gives the same plan; the exact search proves it.
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 50 --exact 1000 -o %t.first | FileCheck %s --check-prefix=FOUND
// FOUND: data parallel: 0.007 ms a step; all tasks together compute 0.012 ms, and send 384 bytes in 2 messages
// FOUND: found:
// FOUND: tried {{[0-9]+}} of 10^{{[0-9.]+}} plans in {{[0-9]+}} proposals
// FOUND: no plan takes less time; {{[0-9]+}} were computed to prove it
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 50 --exact 1000 -o - | grep -v ' a step; ' | grep -v '^tried\|^no plan' | diff - %t.first
// RUN: FileCheck %s --check-prefix=PLAN < %t.first
// PLAN: # 0.{{[0-9]+}} ms a step, predicted by heddle-plan for tasks
// PLAN-NEXT: net.w {{.*}}on d.{{[01]}}
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --tasks --proposals 0 --exact 3 | FileCheck %s --check-prefix=CUT
// CUT: not proved with {{[123]}} plans; none takes less than 0.00{{[0-9]}} ms

// The same plan if all tasks are made anew, or simulated to the end; one that no single change makes faster.
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 50 --exact 1000 --full -o - | grep -v ' a step; ' | grep -v '^tried\|^no plan' | diff - %t.first
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 50 --exact 1000 --full --to-the-end -o - | grep -v ' a step; ' | grep -v '^tried\|^no plan' | diff - %t.first
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 50 --exact 1000 --to-the-end -o - | grep -v ' a step; ' | grep -v '^tried\|^no plan' | diff - %t.first
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --tasks --proposals 0 --no-random-start --single-changes | FileCheck %s --check-prefix=SINGLE
// SINGLE: no single change makes it faster

// Ctrl-C ends a search with the best plan so far; so it does one of plans of a mesh.
// RUN: python3 %S/Inputs/interrupted.py %t.stopped heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 1000000000 --exact 5 | FileCheck %s --check-prefix=STOP
// STOP: status 0
// STOP-NEXT: # 0.{{[0-9]+}} ms a step, predicted by heddle-plan for tasks
// RUN: python3 %S/Inputs/interrupted.py %t.stopped heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 1000000000 | FileCheck %s --check-prefix=STOP-MESH
// STOP-MESH: status 0
// STOP-MESH-NEXT: # {{.*}} where the search began
// STOP-MESH-NEXT: mesh d=2

// Spaces in which plans are searched, one inside of another, never faster than those outside; the ceiling is that of step
// time if all devices computed all the time.
// RUN: heddle-plan compare %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 50 | FileCheck %s --check-prefix=COMPARE
// COMPARE: | data-parallel | 0.007 ms | 1.00 | 0.00 GB | 0.00 s | 0.00 GB |
// COMPARE-NEXT: | expert |
// COMPARE-NEXT: | megatron | none by its rule |
// COMPARE-NEXT: | zero3 | none by its rule |
// COMPARE-NEXT: | placement |
// COMPARE-NEXT: | optcnn |
// COMPARE-NEXT: | one-map |
// COMPARE-NEXT: | layers |
// COMPARE-NEXT: | soap |
// COMPARE-NEXT: | all |
// COMPARE-NEXT: No plan with the tasks of data parallelism is more than 1.07 times faster than it.
// RUN: heddle-plan compare %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --proposals 5 --json | FileCheck %s --check-prefix=JSON
// JSON: "ceiling": 1.0697{{.*}},
// JSON-NEXT: "devices": 2,
// JSON: "plan": "data-parallel",
// JSON: "plan": "all",
// RUN: heddle-plan space %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper | FileCheck %s --check-prefix=SPACE
// SPACE: net.w: {{.*}}; {{[0-9]+}} configurations
// SPACE: operators in {{[0-9]+}} choices: 10^{{[0-9.]+}} plans

// A plan that was found, why, and how it looks. The devices are those at the beginning of the list.
// RUN: heddle-plan explain %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --space placement --devices 1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: placement: 0.012 ms a step;
// EXPLAIN-NEXT: net.w on d.0
// EXPLAIN: device d.0 is busiest, for 0.012 ms of 0.012 ms; idle devices: none
// RUN: heddle-plan show %S/Inputs/step.mlir --topology %S/Inputs/graph.json --paper --space data-parallel --svg %t.svg --trace %t.json --rates 2 | FileCheck %s --check-prefix=SHOW
// SHOW: data-parallel: 0.004 ms a step
// RUN: python3 -c 'import json, sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1]); print(len([e for e in json.load(open(sys.argv[2])) if e["ph"] == "X" and e["tid"] < 2]))' %t.svg %t.json | FileCheck %s --check-prefix=TRACE
// TRACE: {{^[1-9][0-9]*$}}

// A device that is too small for any plan.
// RUN: sed 's/"kind": "[^"]*", /&"memory_bytes": 100, /' %S/Inputs/graph.json > %t.small.json
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %t.small.json --tasks --proposals 20 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: no plan of 'all' was found that fits; the one that needs least, of those tried, has {{[0-9]+}} bytes on 'd.{{[01]}}', which has 100; parameters and other state have 192 bytes, at least 96 on one of 2 devices
// RUN: sed 's/"kind": "[^"]*", /&"memory_bytes": 90, /' %S/Inputs/graph.json > %t.tiny.json
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %t.tiny.json --tasks --proposals 20 2>&1 | FileCheck %s --check-prefix=TINY
// TINY: no plan fits; the one that needs least, of those tried, has {{[0-9]+}} bytes on 'd.{{[01]}}', which has 90; parameters and other state have 192 bytes, at least 96 on one of 2 devices
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/graph.json --tasks --devices 3 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: expected at most the 2 devices of '{{.*}}graph.json', got --devices 3

// Groups of devices are links along axes. Sums and next values pass around a ring, at once.
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/four.json --tasks --json | FileCheck %s --check-prefix=GROUPS
// GROUPS: "messages": 2,
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
