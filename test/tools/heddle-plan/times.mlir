// Nests take measured times. How long they take is not checked.
// RUN: rm -rf %t && mkdir -p %t
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/times.sqlite --measure > %t/first
// RUN: FileCheck %s --check-prefix=FIRST < %t/first
// FIRST: data parallel: {{[0-9.]+}} ms a step
// FIRST-NEXT: times of nests: 3 measured, 0 by rates of the topology, 0 predicted; 3 distinct nests were measured now

// What was measured is not measured again: the prediction is the same, with and without --measure.
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/times.sqlite --measure > %t/second
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/times.sqlite > %t/third
// RUN: FileCheck %s --check-prefix=SECOND < %t/second
// SECOND: times of nests: 3 measured, 0 by rates of the topology, 0 predicted; 0 distinct nests were measured now
// RUN: diff %t/second %t/third
// RUN: sed 's/[0-9]* distinct/0 distinct/' %t/first | diff - %t/second

// Other names of dimensions are the same nests.
// RUN: sed 's/batch/first/g; s/in: 48/second: 48/g; s/\[in\]/[second]/' %S/Inputs/step.mlir > %t/names.mlir
// RUN: heddle-plan simulate %t/names.mlir --topology %S/Inputs/two.json --times %t/times.sqlite --measure | diff - %t/second

// Other sizes are others. What was not measured takes times by the rates of the topology, or those of the cost model.
// RUN: sed 's/batch: 64/batch: 96/g' %S/Inputs/step.mlir > %t/sizes.mlir
// RUN: heddle-plan simulate %t/sizes.mlir --topology %S/Inputs/two.json --times %t/times.sqlite | FileCheck %s --check-prefix=LACKS
// LACKS: times of nests: 1 measured, 2 by rates of the topology, 0 predicted; 0 distinct
// RUN: sed 's/, "facts": {[^}]*}//' %S/Inputs/two.json > %t/two.json
// RUN: heddle-plan simulate %t/sizes.mlir --topology %t/two.json --times %t/times.sqlite --json | FileCheck %s --check-prefix=JSON
// JSON: "nest_times": {
// JSON-NEXT: "by_rates": 0,
// JSON-NEXT: "measured": 1,
// JSON-NEXT: "measured_now": 0,
// JSON-NEXT: "predicted": 2
// RUN: heddle-plan simulate %t/sizes.mlir --topology %S/Inputs/two.json --times %t/times.sqlite --measure | FileCheck %s --check-prefix=SIZES
// SIZES: times of nests: 3 measured, 0 by rates of the topology, 0 predicted; 2 distinct nests were measured now
// RUN: heddle-plan simulate %t/sizes.mlir --topology %S/Inputs/two.json --json | FileCheck %s --check-prefix=NONE
// NONE: "by_rates": 3,
// NONE-NEXT: "measured": 0,

// A search looks up the nests of all its plans; files in the cache directory are the default.
// RUN: env HEDDLE_CACHE_DIR=%t/cache heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 5 --measure | FileCheck %s --check-prefix=SEARCH
// SEARCH: data parallel:
// SEARCH-NEXT: times of nests: 3 measured, {{.*}}; 3 distinct nests were measured now
// SEARCH: found:
// SEARCH-NEXT: times of nests: {{[0-9]+}} measured, 0 by rates of the topology, 0 predicted; {{[4-9]|[1-9][0-9]+}} distinct nests were measured now
// RUN: env HEDDLE_CACHE_DIR=%t/cache heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times default | FileCheck %s --check-prefix=SECOND
// RUN: ls %t/cache/times.sqlite

// Recorded times are what is predicted. A measured step scales them if the prediction of one device is more than 5 % off.
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/times.sqlite --measure --measured-seconds 1 > %t/one
// RUN: python3 -c "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('update times set seconds = 0.5'); c.commit()" %t/times.sqlite
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/times.sqlite --json | FileCheck %s --check-prefix=RECORDED
// RECORDED: "computing_picoseconds": 1500000000000,
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/times.sqlite --measured-seconds 1.05 | FileCheck %s --check-prefix=NEAR
// NEAR: predicted times are not scaled: a step on one device is predicted to take 1000.000 ms, and was measured to take 1050.000 ms
// NEAR-NEXT: data parallel: {{.*}} a device computes 1500.000 ms
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/times.sqlite --measured-seconds 1.06 | FileCheck %s --check-prefix=FAR
// FAR: predicted times are scaled by 1.060:
// FAR-NEXT: data parallel: {{.*}} a device computes 1590.000 ms
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/times.sqlite --measured-seconds 0.945 | FileCheck %s --check-prefix=LESS
// LESS: predicted times are scaled by 0.945:

// The coordinate of a device, which a nest may depend on, is a typical one.
// RUN: printf 'mesh d=2\nbatch:d\nop .net.w./batch:\nop .net.w./in:\n' > %t/symbol.plan
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --plan %t/symbol.plan --times %t/times.sqlite --measure 2>&1 | FileCheck %s --check-prefix=SYMBOL
// SYMBOL-NOT: warning
// SYMBOL: times of nests: {{[1-9]}} measured, 0 by rates of the topology, 0 predicted; {{[1-9]}} distinct

// A damaged file is made anew.
// RUN: head -c 3000 %t/times.sqlite > %t/damaged.sqlite
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/damaged.sqlite --measure 2> %t/warning | FileCheck %s --check-prefix=FIRST
// RUN: FileCheck %s --check-prefix=DAMAGED < %t/warning
// DAMAGED: heddle-plan: warning: the times of nests in '{{.*}}damaged.sqlite' are damaged; the file is now '{{.*}}damaged.sqlite.old', and times are measured anew
// RUN: heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/damaged.sqlite | FileCheck %s --check-prefix=SECOND

// RUN: not heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t/none.sqlite 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: expected times of nests in '{{.*}}none.sqlite', got no file; --measure makes it
// RUN: not heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --times %t --measure 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: expected a file with times of nests, got '{{.*}}'
// RUN: not heddle-plan simulate %S/Inputs/step.mlir --topology %S/Inputs/two.json --measure --tasks 2>&1 | FileCheck %s --check-prefix=TASKS
// TASKS: --tasks excludes --measure

// An update is one step, which changes its argument in place. Nests of loops are measured as well.
// RUN: printf 'mesh d=2\n' > %t/none.plan
// RUN: heddle-plan simulate %s --topology %S/Inputs/two.json --plan %t/none.plan --times %t/others.sqlite --measure 2>&1 | FileCheck %s --check-prefix=UPDATE
// UPDATE-NOT: measured by itself
// UPDATE: times of nests: 1 measured, 0 by rates of the topology, 0 predicted
// RUN: printf 'row:d\n' > %t/loop.plan
// RUN: heddle-plan simulate %S/../../exec/mesh/recurrences.mlir --entry backwards --topology %S/Inputs/two.json --plan %t/loop.plan --times %t/others.sqlite --measure 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP-NOT: measured by itself
// LOOP: times of nests: {{[1-9][0-9]*}} measured, 0 by rates of the topology, 0 predicted
// RUN: python3 -c "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('update times set seconds = 1'); c.commit()" %t/others.sqlite
// RUN: heddle-plan simulate %S/../../exec/mesh/recurrences.mlir --entry backwards --topology %S/Inputs/two.json --plan %t/loop.plan --times %t/others.sqlite --json > %t/loop
// RUN: python3 -c "import json, sys; p = json.load(open(sys.argv[1])); print(p['computing_picoseconds'] / 1e12 > 1.5 * p['nest_times']['measured'])" %t/loop | FileCheck %s --check-prefix=TURNS
// TURNS: True
!table = !nd.tensor<f32, word: 64, feature: 8>
func.func @update(%table: !table {heddle.donate = 0 : i64}, %u: !nd.tensor<f32, feature: 8, p: 16>, %at: !nd.tensor<i32, p: 16>) -> !table {
  %r = nd.scatter %u into %table [word] at %at : (!table, !nd.tensor<f32, feature: 8, p: 16>, !nd.tensor<i32, p: 16>) -> !table {
  ^bb0(%old: f32, %new: f32):
    %sum = arith.addf %old, %new : f32
    nd.yield %sum : f32
  }
  return %r : !table
}
