// The environment may say how many threads a program runs on that states no number. Results do not depend on it.

// RUN: heddle-run %s --seed 3 > %t
// RUN: env HEDDLE_THREADS=1 heddle-run %s --seed 3 | diff - %t
// RUN: env HEDDLE_THREADS= OMP_NUM_THREADS=3,2 heddle-run %s --seed 3 | diff - %t
// RUN: not env HEDDLE_THREADS=two heddle-run %s 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: expected HEDDLE_THREADS to be a whole number from 1 to 1024, got 'two'
// RUN: not env HEDDLE_THREADS= OMP_NUM_THREADS=0 heddle-run %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected OMP_NUM_THREADS to be a whole number from 1 to 1024, got '0'
// RUN: env HEDDLE_THREADS=two heddle-run %s --seed 3 --threads 2 | diff - %t

func.func @main(%x: !nd.tensor<f32, row: 1000, column: 7>) -> !nd.tensor<f32, column: 7> {
  %0 = nd.reduce %x over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: 1000, column: 7>) -> !nd.tensor<f32, column: 7> {
  ^bb0(%s: f32, %t: f32):
    %r = arith.addf %s, %t : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, column: 7>
}
