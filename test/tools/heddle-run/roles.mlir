// A program file of two stages. Each rank runs the entry of its role; rank 0 prints the results of both.
// REQUIRES: heddle-launch
// RUN: heddlec %S/../../exec/mesh/roles.mlir --mesh stage=2 --shard net.last@stage=1 -o %t.heddle
// RUN: heddle-run %S/../../exec/mesh/roles.mlir --seed 5 --entry step --repeat 2 --carry --print-limit 100 > %t.one
// RUN: heddle-launch -n 2 --no-prefix heddle-run %t.heddle --seed 5 --entry step --repeat 2 --carry --print-limit 100 | diff - %t.one
// RUN: heddle-run %t.heddle --seed 5 --entry step --repeat 2 --carry --print-limit 100 | diff - %t.one

// The devices of a part of an axis.
// RUN: heddlec %S/../../exec/mesh/roles.mlir --mesh d=4 --shard 'net.last@d(1)2=1' -o %t.part.heddle
// RUN: heddle-launch -n 4 --no-prefix heddle-run %t.part.heddle --seed 5 --entry step --repeat 2 --carry --print-limit 100 | diff - %t.one
// RUN: not heddle-launch -n 3 heddle-run %t.heddle --entry step 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: 'step' is for the {{2 ranks of the mesh stage=2, got a job of 3 ranks|ranks of the mesh stage=2, of which rank 2 is none}}

// What each stage sends.
// RUN: heddlec %S/../../exec/mesh/roles.mlir --mesh stage=2 --shard net.last@stage=1 --explain -o %t.heddle 2>&1 | FileCheck %s --check-prefix=SENDS
// SENDS: remark: stage=0 sends 60 bytes to stage=1

// RUN: heddle-run %S/../../exec/mesh/roles.mlir --mesh stage=2 --shard net.last@stage=1 --entry step --timeline %t.json
// RUN: %S/Inputs/trace-rows %t.json | FileCheck %s --check-prefix=ROWS
// ROWS: rank 0, transfers: {{[1-9]}}
// ROWS: rank 1, transfers: {{[1-9]}}
