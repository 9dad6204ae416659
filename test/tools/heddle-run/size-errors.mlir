// Calls check symbolic sizes; a mismatch is reported with the name of the dimension.

// RUN: heddle-run %s --compare --size N=7 --size M=3 --size K=7 --size n=7 --size R=2
// RUN: heddle-run %s --compare --size N=20 --size M=0 --size K=5 --size n=5 --size R=4

!nN = !nd.tensor<f32, n: N>
!n5 = !nd.tensor<f32, n: 5>
!nM = !nd.tensor<f32, n: M>

// Parts of a tensor: its first sorted elements, a range at a computed start, an update of one.
// RUN: not heddle-run %s --entry first --size N=3 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: heddle-run: error: {{.*}}size-errors.mlir:[[#@LINE+2]]:8: 'first' expected at least 5 for the size of 'n' in 'nd.sort', got N = 3{{$}}
func.func @first(%x: !nN) -> !n5 {
  %0 = nd.sort %x along n : (!nN) -> !n5
  return %0 : !n5
}

// RUN: not heddle-run %s --entry part --size N=3 --size M=4 2>&1 | FileCheck %s --check-prefix=PART
// PART: 'part' expected at most the size of 'n' in 'nd.dynamic_slice', N = 3, got 4 with
func.func @part(%x: !nN, %y: !nM, %s: !nd.tensor<i64>) -> !nM {
  %0 = nd.dynamic_slice %x n from %s size M : (!nN, !nd.tensor<i64>) -> !nM
  %1 = nd.pointwise %0, %y : (!nM, !nM) -> !nM {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %1 : !nM
}

// RUN: not heddle-run %s --entry put --size N=3 --size M=4 2>&1 | FileCheck %s --check-prefix=PUT
// PUT: 'put' expected at most the size of 'n' in 'nd.update_slice', N = 3, got 4 with
func.func @put(%x: !nN, %y: !nM, %s: !nd.tensor<i64>) -> !nN {
  %0 = nd.update_slice %y into %x n from %s : (!nM, !nN, !nd.tensor<i64>) -> !nN
  return %0 : !nN
}

// Every second element from the third on; backwards from the fourth. Nothing is read where there are none.
// RUN: not heddle-run %s --entry second --size N=6 --size M=3 2>&1 | FileCheck %s --check-prefix=SECOND
// SECOND: 'second' expected at most the size of 'n' in 'nd.slice', N = 6, got 7 with
// RUN: heddle-run %s --compare --entry second --size N=1 --size M=0
func.func @second(%x: !nN, %y: !nM) -> !nM {
  %0 = nd.slice %x n from 2 size M stride 2 : !nN -> !nM
  return %0 : !nM
}

// RUN: not heddle-run %s --entry back --size N=3 --size M=1 2>&1 | FileCheck %s --check-prefix=BACK
// BACK: 'back' expected at most the size of 'n' in 'nd.slice', N = 3, got 4 with
// RUN: not heddle-run %s --entry back --size N=100 --size M=5 2>&1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: 'back' expected at most the elements up to the first along 'n' in 'nd.slice', 4, got 5 with
// RUN: heddle-run %s --compare --entry back --size N=1 --size M=0
func.func @back(%x: !nN, %y: !nM) -> !nM {
  %0 = nd.slice %x n from 3 size M stride -1 : !nN -> !nM
  return %0 : !nM
}

// In what is called and in what may run.
// RUN: not heddle-run %s --entry calls --size K=4 2>&1 | FileCheck %s --check-prefix=CALLS
// CALLS: 'calls' expected at least 5 for the size of 'n' in 'nd.sort', got K = 4{{$}}
func.func @calls(%x: !nd.tensor<f32, n: K>) -> !n5 {
  %0 = nd.call @first(%x) : (!nd.tensor<f32, n: K>) -> !n5
  return %0 : !n5
}

// A branch that is not taken, and the body of a scan that makes no step: no value decides whether a call is refused.
// RUN: heddle-run %s --compare --entry branch --size N=3
// RUN: not heddle-run %s --entry branch --size N=2 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: not heddle-run %s --entry branch --interpret --size N=2 2>&1 | FileCheck %s --check-prefix=BRANCH-ORACLE
// BRANCH: 'branch' expected at least 0 for the size of 'n' in 'nd.slice', got N - 3 = -1 with N = 2
// BRANCH-ORACLE: 'nd.slice' op expected a size of at least 0 for 'n', got N - 3, which is -1
func.func @branch(%x: !nN, %y: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %0 = nd.pointwise %y : (!nd.tensor<f32>) -> !nd.tensor<i1> {
  ^bb0(%a: f32):
    %least = arith.constant -1.0 : f32
    %square = arith.mulf %a, %a : f32
    %never = arith.cmpf olt, %square, %least : f32
    nd.yield %never : i1
  }
  %1 = nd.item %0 : !nd.tensor<i1> -> i1
  %2 = scf.if %1 -> !nd.tensor<f32> {
    %3 = nd.slice %x n from 3 size N - 3 : !nN -> !nd.tensor<f32, n: N - 3>
    %4 = nd.reduce %3 over [n] neutral [0.0 : f32] : (!nd.tensor<f32, n: N - 3>) -> !nd.tensor<f32> {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      nd.yield %r : f32
    }
    scf.yield %4 : !nd.tensor<f32>
  } else {
    scf.yield %y : !nd.tensor<f32>
  }
  return %2 : !nd.tensor<f32>
}

// RUN: heddle-run %s --compare --entry steps --size N=5 --size M=0
// RUN: not heddle-run %s --entry steps --size N=4 --size M=0 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not heddle-run %s --entry steps --interpret --size N=4 --size M=0 2>&1 | FileCheck %s --check-prefix=STEPS-ORACLE
// STEPS: 'steps' expected at least 5 for the size of 'n' in 'nd.sort', got N = 4
// STEPS-ORACLE: 'nd.sort' op
func.func @steps(%x: !nN, %s: !nd.tensor<f32, m: M>, %init: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %0 = nest.scan along <m: M> init(%init) reads(%s) : (!nd.tensor<f32>, !nd.tensor<f32, m: M>) -> !nd.tensor<f32> {
  ^bb0(%state: !nd.tensor<f32>, %each: !nd.tensor<f32>):
    %1 = nd.call @first(%x) : (!nN) -> !n5
    %2 = nd.reduce %1 over [n] neutral [0.0 : f32] : (!n5) -> !nd.tensor<f32> {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      nd.yield %r : f32
    }
    %3 = nd.pointwise %state, %each, %2 : (!nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %p, %c : f32
      nd.yield %r : f32
    }
    nest.yield %3 : !nd.tensor<f32>
  }
  return %0 : !nd.tensor<f32>
}

// Windows that do not fit, also where nobody would write them down.
// RUN: not heddle-run %s --entry windows --size N=1 2>&1 | FileCheck %s --check-prefix=WINDOW
// WINDOW: size-errors.mlir:[[#@LINE+4]]:8: 'windows' expected at least 0 for the size of 'n' in 'nd.window', got N - 2 = -1 with N = 1
// RUN: heddle-run %s --compare --entry windows --size N=2
// RUN: heddle-run %s --compare --entry windows --size N=5
func.func @windows(%x: !nN) -> !nd.tensor<f32> {
  %0 = nd.window %x n -> k size 3 : !nN -> !nd.tensor<f32, k: 3, n: N - 2>
  %1 = nd.reduce %0 over [n, k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 3, n: N - 2>) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32>
}

// A symbol that is spelled like a dimension.
// RUN: not heddle-run %s --entry spelled --size n=3 2>&1 | FileCheck %s --check-prefix=SPELLED
// SPELLED: 'spelled' expected at least 5 for the size of 'n' in 'nd.sort', got
func.func @spelled(%x: !nd.tensor<f32, n: n>) -> !n5 {
  %0 = nd.sort %x along n : (!nd.tensor<f32, n: n>) -> !n5
  return %0 : !n5
}

// Declared ranges: without them the sort would be checked. The interpreter holds them as well.
// RUN: heddle-run %s --compare --entry ranged --size R=1
// RUN: not heddle-run %s --entry ranged --size R=0 2>&1 | FileCheck %s --check-prefix=LOW
// LOW: 'ranged' expected at least 1 for 'R', whose range is declared, got R = 0{{$}}
// RUN: not heddle-run %s --entry ranged --size R=5 2>&1 | FileCheck %s --check-prefix=HIGH
// HIGH: 'ranged' expected at most 'R', whose range is declared, 4, got 5 with R = 5
// RUN: not heddle-run %s --entry ranged --interpret --size R=5 2>&1 | FileCheck %s --check-prefix=INTERPRETED
// INTERPRETED: expected 1 to 4 for 'R' of '@ranged', got 5
// RUN: heddle-opt %s --nd-require-sizes | FileCheck %s --check-prefix=RANGED
// RANGED: func.func @ranged{{.*}}heddle.requires = [{got = "1", location = {{.*}}, most = "R", what = "'R', whose range is declared"}, {got = "R", location = {{.*}}, most = "4", what = "'R', whose range is declared"}], nd.ranges = {R = [1, 4]}
func.func @ranged(%x: !nd.tensor<f32, n: 8 * R>) -> !n5 attributes {nd.ranges = {R = [1, 4]}} {
  %0 = nd.sort %x along n : (!nd.tensor<f32, n: 8 * R>) -> !n5
  return %0 : !n5
}
