// Where each device has all samples, the program has 4 * 4 * 3 plans on 2 devices. The search finds the best one, which
// brute force finds too, and which is not the one where it begins.
// RUN: python3 %S/Inputs/brute-force.py %S/Inputs/step.mlir %S/Inputs/two.json %t.brute.plan > %t.all
// RUN: printf 'mesh d=2\nx/batch:\n' > %t.start.plan
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 400 --beta 5 --plan %t.start.plan --json > %t.json
// RUN: cat %t.json | grep -o '"picoseconds": [0-9]*' | tail -n 1 > %t.found
// RUN: grep -o '"picoseconds": [0-9]*' %t.all | head -n 1 | diff - %t.found
// RUN: grep -o '"picoseconds": [0-9]*' %t.json | head -n 1 | not diff - %t.found
// There are several.
// RUN: FileCheck %s --check-prefix=TIMES < %t.all
// TIMES-COUNT-4: picoseconds

// The same seed gives the same plan, which runs unchanged.
// RUN: heddle-plan search %S/../../transforms/mesh/propagate/Inputs/step.mlir --topology %S/Inputs/four.json --proposals 60 -o %t.first.plan > %t.log
// RUN: heddle-plan search %S/../../transforms/mesh/propagate/Inputs/step.mlir --topology %S/Inputs/four.json --proposals 60 -o - | grep -v ' ms a step, of which' | grep -v ^tried | diff - %t.first.plan
// RUN: FileCheck %s < %t.log
// CHECK: data parallel:
// CHECK: found:
// CHECK: tried {{[0-9]+}} of 10^{{[0-9.]+}} plans in 60 proposals
// RUN: heddle-run %S/../../transforms/mesh/propagate/Inputs/step.mlir --compare --plan %t.first.plan --seed 1 | FileCheck %s --check-prefix=AGREE
// AGREE: 89 elements agree
// What is found is predicted as such, and a search from there ends no worse.
// RUN: heddle-plan search %S/../../transforms/mesh/propagate/Inputs/step.mlir --topology %S/Inputs/four.json --proposals 0 --plan %t.first.plan | sed -n 's/^found/x/p' > %t.again
// RUN: sed -n 's/^found/x/p' %t.log | diff - %t.again

// A limit of the memory holds; one that no plan meets is an error.
// RUN: sed 's/1e9,/6800,/' %S/Inputs/two.json > %t.small.json
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %t.small.json --proposals 100 --json | FileCheck %s --check-prefix=LIMIT
// LIMIT: "memory_bytes": 6848,
// LIMIT: "plan": "found"
// RUN: sed 's/1e9,/40,/' %S/Inputs/two.json > %t.none.json
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %t.none.json --proposals 20 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: no plan fits into 40 bytes; of those tried, one needs {{[0-9]+}}
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 1 -o %t.nowhere/x.plan 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: can't write '{{.*}}x.plan':
