// What drawn plans are predicted to send is what they send when they are compiled: a simulation compiles them by the same
// passes, and counts the bytes of transfers where the compiler does.
// RUN: rm -rf %t
// RUN: heddle-plan space %S/../../transforms/mesh/propagate/Inputs/step.mlir --topology %S/Inputs/four.json --draw 12 --seed 2 -o %t > %t.log
// RUN: python3 %S/Inputs/compare-sent.py %S/../../transforms/mesh/propagate/Inputs/step.mlir %S/Inputs/four.json %t | FileCheck %s
// CHECK: 12 plans agree, which send {{[5-9]|1[0-2]}} different numbers
