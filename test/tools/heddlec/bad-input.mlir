// heddlec reports each kind of invalid input with its location.
// RUN: rm -rf %t && split-file %s %t
// RUN: not heddlec %t/missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: can't read '{{.*}}missing.mlir': No such file or directory
// RUN: not heddlec %t/syntax.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: syntax.mlir:2:{{[0-9]+}}: error:
// RUN: not heddlec %t/invalid.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: invalid.mlir:2:{{[0-9]+}}: error: {{.*}}'row'
// RUN: not heddlec %t/recursive.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RECURSIVE: recursive.mlir:2:8: error: 'nd.call' op is recursive
// RUN: not heddlec %t/symbol.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=SYMBOL
// SYMBOL: symbol.mlir:1:{{[0-9]+}}: error: argument 'x' has the size N floordiv 2 for 'row', but no argument determines 'N'
// RUN: not heddlec %t/element.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: element.mlir:1:{{[0-9]+}}: error: expected an integer element type of 1, 8, 16, 32 or 64 bits, got 'i7'
// RUN: not heddlec %t/layout.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=LAYOUT
// LAYOUT: layout.mlir:1:{{[0-9]+}}: error: {{.*}}layout
// RUN: not heddlec %t/empty.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: the module has no public function to compile
// RUN: not heddlec %t/recursive.mlir --target-cpu i386 -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: --target-cpu: the target CPU 'i386' has no 64-bit mode; expected one such as 'x86-64'
// RUN: not heddlec /dev/null -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: printf '\177ELF\002\001\000\377\376' > %t/binary.mlir
// RUN: not heddlec %t/binary.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: binary.mlir:1:1: error: unexpected character
// RUN: not heddlec %t/large.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: large.mlir:1:14: error: argument 0 is too large: the sizes multiply to more than 2^48 elements at 'row'
// RUN: not heddlec %t/negative.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: negative.mlir:1:{{[0-9]+}}: error: expected a size of at least 0 for 'row', got -4
// RUN: not heddlec %t/good.mlir -o %t/o.heddle --target-cpu pdp11 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: --target-cpu: unknown target 'pdp11'; expected a name such as {{.*}}native, x86-64
// RUN: not heddlec %t/good.mlir -o %t/o.heddle --target-cpu x86-64+avx2+vector-unit 2>&1 | FileCheck %s --check-prefix=FEATURE
// FEATURE: --target-cpu: unknown feature 'vector-unit' of the target CPU 'x86-64+avx2+vector-unit'
// RUN: not heddlec %t/good.mlir -o %t/o.heddle --emit=porridge 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: --emit: porridge not in {program,nd,nest,kernels,loops,llvm,asm}
// RUN: not heddlec %t/good.mlir -o %t/o.heddle --threads=-1 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: --threads: Value -1 not in range
// RUN: not heddlec %t/good.mlir -o %t/no/such/place.heddle 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: error: can't write '{{.*}}place.heddle'
// RUN: not heddlec %t/good.mlir --emit=nd -o %t/no/such/place.mlir 2>&1 | FileCheck %s --check-prefix=TEXTPLACE
// TEXTPLACE: error: can't write '{{.*}}place.mlir': No such file or directory
// RUN: not heddlec 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: file is required; heddlec --help lists the options
// Failures leave no new files, and keep old ones.
// RUN: not ls %t/o.heddle
// RUN: heddlec %t/good.mlir -o %t/kept.heddle && cp %t/kept.heddle %t/before
// RUN: not heddlec %t/syntax.mlir -o %t/kept.heddle && cmp %t/kept.heddle %t/before
// RUN: not heddlec %t/kept.heddle 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: error: expected IR, '{{.*}}kept.heddle' is a compiled program; heddle-run runs it, heddle-translate shows it
// A full disk: the old file is kept, also by text output; a device is not replaced.
// RUN: heddlec %t/work.mlir --emit=asm -o %t/kept.s && cp %t/kept.s %t/before
// RUN: bash -c "ulimit -f 1; not heddlec %t/work.mlir --no-cache --emit=asm -o %t/kept.s" 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: can't write '{{.*}}kept.s': File too large
// RUN: cmp %t/kept.s %t/before
// RUN: bash -c '! ls %t | grep part'
// RUN: not heddlec %t/good.mlir -o /dev/full 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not heddlec %t/good.mlir --emit=nd -o /dev/full 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: can't write '/dev/full': No space left on device
// RUN: test -c /dev/full
// RUN: bash -c "not heddlec %t/good.mlir --emit=nd > /dev/full" 2>&1 | FileCheck %s --check-prefix=STDOUT
// STDOUT: can't write to standard output: No space left on device
// RUN: heddlec %t/good.mlir -o - | cmp - %t/kept.heddle

//--- syntax.mlir
func.func @f(%x: !nd.tensor<f32, row: 4>) -> !nd.tensor<f32, row: 4> {
  return %y, : !nd.tensor<f32, row: 4>
}
//--- invalid.mlir
func.func @f(%x: !nd.tensor<f32, row: 4>, %y: !nd.tensor<f32, row: 5>) -> !nd.tensor<f32, row: 4> {
  %0 = nd.pointwise %x, %y : (!nd.tensor<f32, row: 4>, !nd.tensor<f32, row: 5>) -> !nd.tensor<f32, row: 4> {
  ^bb0(%a: f32, %b: f32):
    nd.yield %a : f32
  }
  return %0 : !nd.tensor<f32, row: 4>
}
//--- recursive.mlir
func.func @f(%x: !nd.tensor<f32, row: 4>) -> !nd.tensor<f32, row: 4> {
  %0 = nd.call @f(%x) : (!nd.tensor<f32, row: 4>) -> !nd.tensor<f32, row: 4>
  return %0 : !nd.tensor<f32, row: 4>
}
//--- symbol.mlir
func.func @f(%x: !nd.tensor<f32, row: N floordiv 2> {nd.name = "x"}) -> !nd.tensor<f32, row: N floordiv 2> {
  return %x : !nd.tensor<f32, row: N floordiv 2>
}
//--- element.mlir
func.func @f(%x: !nd.tensor<i7, row: 4> {nd.name = "x"}) -> !nd.tensor<i7, row: 4> {
  return %x : !nd.tensor<i7, row: 4>
}
//--- layout.mlir
func.func @f(%x: !nd.tensor<f32, row: 4> {nd.name = "x", nd.layout = #nest.layout<[row, column]>}) -> !nd.tensor<f32, row: 4> {
  return %x : !nd.tensor<f32, row: 4>
}
//--- large.mlir
func.func @f(%x: !nd.tensor<f32, row: 4000000000, column: 4000000000>) -> !nd.tensor<f32, row: 4000000000, column: 4000000000> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, row: 4000000000, column: 4000000000>) -> !nd.tensor<f32, row: 4000000000, column: 4000000000> {
  ^bb0(%a: f32):
    %1 = arith.addf %a, %a : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, row: 4000000000, column: 4000000000>
}
//--- negative.mlir
func.func @f(%x: !nd.tensor<f32, row: -4>) -> !nd.tensor<f32, row: -4> {
  return %x : !nd.tensor<f32, row: -4>
}
//--- empty.mlir
func.func private @f(%x: !nd.tensor<f32, row: 4>) -> !nd.tensor<f32, row: 4> {
  return %x : !nd.tensor<f32, row: 4>
}
//--- good.mlir
func.func @f(%x: !nd.tensor<f32, row: 4>) -> !nd.tensor<f32, row: 4> {
  return %x : !nd.tensor<f32, row: 4>
}
//--- work.mlir
func.func @f(%x: !nd.tensor<f32, row: 40>) -> !nd.tensor<f32, row: 40> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, row: 40>) -> !nd.tensor<f32, row: 40> {
  ^bb0(%a: f32):
    %1 = math.exp %a : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, row: 40>
}
