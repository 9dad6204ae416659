// Translations of IR and program files for other programs and for people.
// REQUIRES: heddle-translate

// The graph: arguments and ops, edges with names, boxes for ops with regions of ops.
// RUN: heddle-translate --ir-to-dot %s | FileCheck %s --check-prefix=ND
// ND:      digraph program {
// ND:      label="@softmax";
// ND-NEXT: n0 [shape=ellipse, label="x"];
// ND-NEXT: n1 [shape=box, label="nd.reduce"];
// ND-NEXT: n2 [shape=box, label="nd.pointwise"];
// ND-NEXT: n3 [shape=ellipse, label="func.return"];
// ND-NEXT: }
// ND:      label="@twice";
// ND-NEXT: n4 [shape=ellipse, label="argument 0"];
// ND-NEXT: n5 [shape=ellipse, label="argument 1"];
// ND-NEXT: subgraph cluster2 {
// ND-NEXT: label="";
// ND-NEXT: n6 [shape=box, label="nest.scan\nalong {t: 3}"];
// ND-NEXT: n7 [shape=box, label="nest.compute\nproduced {a: 7}"];
// ND-NEXT: n8 [shape=ellipse, label="nest.yield"];
// ND-NEXT: }
// ND:      n0 -> n1 [label="f32 {column: 40, row: N}"];
// ND:      n1 -> n2 [label="f32 {row: N}"];
// ND:      n6 -> n7 [label="f32 {a: 7}"];
// ND-NEXT: n6 -> n7 [label="f32 {}"];
// ND-NEXT: n7 -> n8

// Layouts, once they are chosen.
// RUN: heddle-opt %s --nd-pipeline --nest-pipeline | heddle-translate --ir-to-dot | FileCheck %s --check-prefix=NEST
// NEST: label="nest.compute\nproduced {row: N}\nreduced {column: 40}"
// NEST: [label="f32 {column: 40, row: N}\n[column, row]"];

// The contents of a program file.
// RUN: heddlec %s -o %t.heddle --target-cpu haswell
// RUN: heddle-translate --program-to-text %t.heddle | FileCheck %s --check-prefix=TEXT
// TEXT:      compiled by {{.*}} for haswell, x86_64
// TEXT-NEXT: needs {{.*}}avx2
// TEXT-NEXT: code {{[0-9]+}} bytes, constants 0 bytes
// TEXT:      @softmax(x) -> (y)
// TEXT-NEXT: code at 0x{{[0-9a-f]+}}, arena {{[0-9]+}} bytes
// TEXT-NEXT: sizes from the arguments: N
// TEXT-NEXT: values
// TEXT-NEXT: 0  argument   x: f32 {column: 40, row: N}  [column, row], 160 * N bytes  at {{.*}}translate.mlir:
// TEXT:      temporary  reduce: f32 {row: N}  [row], 4 * N bytes, in steps 0 to 1, at 0 of the arena
// TEXT:      steps
// TEXT-NEXT: 0  reduce: k_{{[0-9a-f]+}}, (N + {{[0-9]+}}) floordiv {{[0-9]+}} chunks, {{[0-9.e+]+}} flops, {{[0-9.e+]+}} bytes  at
// TEXT:      functions
// TEXT-NEXT: 0x{{[0-9a-f]+}}  {{[0-9]+}} bytes  reduce  at {{.*}}translate.mlir:

// RUN: heddle-translate --program-to-asm %t.heddle -o %t.s
// RUN: FileCheck %s --check-prefix=ASM < %t.s
// ASM:      reduce:  at {{.*}}translate.mlir:
// The lines of the ops that were fused stand before what is from them.
// ASM-NEXT: # at {{.*}}translate.mlir:[[#]]:[[#]]
// ASM-NEXT: 000000 {{[a-z]+}}
// ASM:      vmaxps {{.*}}%ymm
// Jumps name an offset in the function, the constants that it loads stand behind it.
// ASM:      {{j[a-z]+}} .L000{{[0-9a-f]+$}}
// ASM:      retq
// ASM-NOT:  .byte
// ASM:      pointwise:  at
// ASM:      {{[0-9a-f]+}} .long 0x3fb8aa3b
// ASM:      entry.softmax:
// ASM:      callq reduce
// The memory plan as a picture; where sizes are symbols it is known when the program is called.
// RUN: heddle-translate --program-to-svg %t.heddle | FileCheck %s --check-prefix=SVG
// SVG:      <svg xmlns='http://www.w3.org/2000/svg'
// SVG:      @softmax: 2 steps, arena of {{[0-9]+}} bytes; sizes over symbols are placed when it is called
// SVG-NOT:  <title>
// SVG:      @twice
// SVG:      </svg>
// RUN: sed 's/row: N/row: 40/g' %s > %t.static.mlir && heddlec %t.static.mlir -o %t.static.heddle
// RUN: heddle-translate --program-to-svg %t.static.heddle | FileCheck %s --check-prefix=STATIC
// STATIC: @softmax: 2 steps, arena of [[#]] bytes<
// STATIC: <title>reduce: 160 bytes, steps 0 to 1 {{.*}}static.mlir:

// RUN: not heddle-translate --program-to-text %s 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: heddle-translate: error: '{{.*}}translate.mlir' is not a program file: expected it to begin with 'HEDDLE'
// RUN: head -c 300 %t.heddle > %t.short
// RUN: not heddle-translate --program-to-asm %t.short 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: heddle-translate: error: '{{.*}}.short' is truncated
// RUN: not heddle-translate --ir-to-dot %t.short 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: .short:{{[0-9]+}}:1: error: unexpected character

!a = !nd.tensor<f32, a: 7>

func.func @softmax(%x: !nd.tensor<f32, row: N, column: 40> {nd.name = "x"}) -> (!nd.tensor<f32, row: N, column: 40> {nd.name = "y"}) {
  %m = nd.reduce %x over [column] neutral [0xFF800000 : f32] : (!nd.tensor<f32, row: N, column: 40>) -> !nd.tensor<f32, row: N> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    nd.yield %r : f32
  }
  %0 = nd.pointwise %x, %m : (!nd.tensor<f32, row: N, column: 40>, !nd.tensor<f32, row: N>) -> !nd.tensor<f32, row: N, column: 40> {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    %1 = math.exp %d : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, row: N, column: 40>
}

func.func @twice(%x: !a, %y: !nd.tensor<f32, t: 3>) -> !a {
  %0 = nest.scan along #nd.dims<t: 3> init(%x) reads(%y) : (!a, !nd.tensor<f32, t: 3>) -> !a {
  ^bb0(%s: !a, %u: !nd.tensor<f32>):
    %1 = nest.compute (a: 7) reads %s[], %u[] {
    ^bb0(%v: f32, %w: f32):
      %2 = arith.addf %v, %w : f32
      nest.yield %2 : f32
    } : (!a, !nd.tensor<f32>) -> !a
    nest.yield %1 : !a
  }
  return %0 : !a
}
