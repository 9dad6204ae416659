// Drawn plans differ, are the same for the same seed, and the compiler takes all of them.
// RUN: rm -rf %t && mkdir %t
// RUN: heddle-plan space %S/Inputs/step.mlir --topology %S/Inputs/two.json --draw 12 --seed 3 -o %t/a/b | FileCheck %s --check-prefix=SPACE
// SPACE: 3 operators: 10^1.7 plans
// RUN: heddle-plan space %S/Inputs/step.mlir --topology %S/Inputs/two.json --draw 12 --seed 3 -o %t/again --json | FileCheck %s --check-prefix=JSON
// JSON: "digits": 1.68
// JSON: "operators": 3
// RUN: diff -r %t/a/b %t/again
// RUN: heddle-plan space %S/Inputs/step.mlir --topology %S/Inputs/two.json --draw 12 --seed 4 -o %t/other > %t/log
// RUN: not diff -rq %t/other %t/again
// RUN: cat %t/again/*.plan | grep -v '^#' | grep -c '^mesh d=2$' | FileCheck %s --check-prefix=COUNT
// COUNT: {{^12$}}
// RUN: bash -c 'for p in %t/again/*.plan; do grep -v "^#" $p | md5sum; done' | sort | uniq -d | count 0
// RUN: bash -c 'for p in %t/again/*.plan; do heddle-run %S/Inputs/step.mlir --compare --plan $p --seed 1; done' | FileCheck %s --check-prefix=AGREE
// AGREE-COUNT-12: elements agree
// An operator that the plan pins is no choice.
// RUN: printf 'batch:d\nop .net.w./in:d\n' > %t/pins.plan
// RUN: heddle-plan space %S/Inputs/step.mlir --topology %S/Inputs/two.json --plan %t/pins.plan | FileCheck %s --check-prefix=PINNED
// PINNED: 2 operators: 10^1.1 plans
// A space with fewer plans.
// RUN: heddle-plan space %S/Inputs/step.mlir --topology %S/Inputs/two.json --draw 1000 -o %t/all > %t/log
// RUN: ls %t/all | wc -l | FileCheck %s --check-prefix=ALL
// ALL: {{^[34][0-9]$}}

// A file where the folder should be.
// RUN: touch %t/file
// RUN: not heddle-plan space %S/Inputs/step.mlir --topology %S/Inputs/two.json --draw 2 -o %t/file 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: can't write '{{.*}}0.plan': Not a directory
// RUN: not heddle-plan space %S/Inputs/step.mlir --topology %S/Inputs/two.json --draw 2 2>&1 | FileCheck %s --check-prefix=NEEDS
// NEEDS: --draw requires --output
