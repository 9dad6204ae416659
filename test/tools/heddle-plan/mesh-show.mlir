// A picture has a row for each operator, with the name that each axis splits, then when a device computes and sends.
// RUN: printf 'batch:node\nop .last.w./out:core\n' > %t.plan
// RUN: heddle-plan show %S/../../transforms/mesh/propagate/Inputs/step.mlir --topology %S/Inputs/four.json --svg %t.svg | FileCheck %s
// CHECK: data parallel: {{[0-9.]+}} ms a step
// RUN: FileCheck %s --check-prefix=SVG < %t.svg
// SVG: <svg
// SVG: data parallel on {{.*}}four.json
// SVG: node
// SVG: core
// SVG: <title>{{.*}}: batch by node</title>
// SVG: split: {{.*}}batch
// SVG: predicted: cores
// SVG: predicted: links
// SVG: memory, at most {{[0-9.]+}} MB
// SVG: </svg>
// RUN: python3 -c "import sys, xml.dom.minidom as d; d.parse(sys.argv[1])" %t.svg

// Beside it a timeline that was measured.
// RUN: heddle-run %S/../../transforms/mesh/propagate/Inputs/step.mlir --mesh node=2,core=2 --shard batch:node+core --repeat 4 --timeline %t.json --seed 1 > %t.log
// RUN: heddle-plan show %S/../../transforms/mesh/propagate/Inputs/step.mlir --topology %S/Inputs/four.json --measured %t.json --svg %t.both.svg | FileCheck %s --check-prefix=BOTH
// BOTH: measured: {{[0-9.]+}} ms
// RUN: FileCheck %s --check-prefix=ROWS < %t.both.svg
// ROWS: predicted, {{[0-9.]+}} ms measured
// ROWS: predicted: cores
// ROWS: measured: cores
// RUN: head -c 200 %t.json > %t.cut.json
// RUN: not heddle-plan show %S/Inputs/step.mlir --topology %S/Inputs/two.json --measured %t.cut.json 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: expected a timeline of heddle-run with steps of rank 0 in '{{.*}}.cut.json', got none
// RUN: not heddle-plan show %S/Inputs/step.mlir --topology %S/Inputs/two.json --measured %t.nowhere.json 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: can't read the timeline '{{.*}}.nowhere.json': No such file or directory

// The times of nests are scaled by a measured step of one device.
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --json > %t.one
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --measured-seconds 2 | FileCheck %s --check-prefix=SCALED
// SCALED: predicted times are scaled by {{[0-9.]+}}: a step on one device is predicted to take {{[0-9.]+}} ms, and was measured to take 2000.000 ms
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --measured-seconds 2 --json > %t.two
// RUN: python3 -c "import json, sys; a, b = [json.load(open(p)) for p in sys.argv[1:]]; print(abs(b['computing_picoseconds'] / (a['computing_picoseconds'] * b['scale']) - 1) < 1e-3, a['scale'])" %t.one %t.two | FileCheck %s --check-prefix=FACTOR
// FACTOR: True 1
// RUN: not heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --measured-seconds -1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: --measured-seconds
