// Each error message has the expected and the actual value; the exit status is 1.

// RUN: not heddle-run %t.missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: heddle-run: error: can't read '{{.*}}.missing.mlir': No such file or directory

// RUN: not heddle-run %t.missing.heddle 2>&1 | FileCheck %s --check-prefix=MISSING-PROGRAM
// MISSING-PROGRAM: heddle-run: error: {{.*}}.missing.heddle{{.*}}o such file

// RUN: not heddle-run /dev/null 2>&1 | FileCheck %s --check-prefix=NO-FUNCTION
// NO-FUNCTION: heddle-run: error: '/dev/null' has no public function

// RUN: printf '\177ELF\002\001\000\377\376' > %t.binary.mlir
// RUN: not heddle-run %t.binary.mlir 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: binary.mlir:1:1: error: unexpected character

// RUN: not heddle-run %s --seed x 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: expected a number: --seed = x; heddle-run --help lists the options

// RUN: not heddle-run %s --entry nobody 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: heddle-run: error: no entry 'nobody'; there are: 'f', 'g'

// RUN: not heddle-run %s --size M=3 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: heddle-run: error: --size: no argument has a size with the symbol 'M', or the name 'M' with a symbolic size; there are the symbols: 'N', and the names: 'n'

// RUN: not heddle-run %s --size N=3 --size N=4 2>&1 | FileCheck %s --check-prefix=TWO-SIZES
// TWO-SIZES: heddle-run: error: 'N' is given two sizes

// RUN: not heddle-run %s --entry f --input z=%S/Inputs/2x3.npy 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: heddle-run: error: 'f' has no argument 'z'; it takes 'x', 'y'

// RUN: not heddle-run %s --input x=%S/Inputs/2x3.npy 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: heddle-run: error: '{{.*}}errors.mlir' has 2 public functions; say by --entry which one --input and --output mean

// RUN: not heddle-run %s --entry f --input x 2>&1 | FileCheck %s --check-prefix=SPELLING
// SPELLING: heddle-run: error: expected --input NAME=FILE or the name of a .safetensors file, got 'x'

// RUN: not heddle-run %s --entry f --input x=%S/Inputs/2x3.npy --input x=%S/Inputs/2x3.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: heddle-run: error: 'x' is given two files

// RUN: sed 's/"one"/"x"/' %s > %t.x.mlir
// RUN: heddle-run %t.x.mlir --entry f --output %t.x.safetensors > %t.ignored
// RUN: not heddle-run %s --entry f --input %t.x.safetensors --input %t.x.safetensors 2>&1 | FileCheck %s --check-prefix=IN-TWO
// IN-TWO: heddle-run: error: 'x' is in two files, '{{.*}}x.safetensors' and '{{.*}}x.safetensors': name one by --input x=FILE

// RUN: not heddle-run %s --output %t.npy 2>&1 | FileCheck %s --check-prefix=NPY-OUTPUT
// NPY-OUTPUT: heddle-run: error: --output: expected a file that ends in .safetensors, got '{{.*}}.npy'

// RUN: not heddle-run %s --entry f --input x=%t.missing.npy 2>&1 | FileCheck %s --check-prefix=MISSING-NPY
// MISSING-NPY: heddle-run: error: '{{.*}}.missing.npy': can't open: No such file or directory

// RUN: cp %S/Inputs/2x3.npy %t.txt
// RUN: not heddle-run %s --entry f --input x=%t.txt 2>&1 | FileCheck %s --check-prefix=ENDING
// ENDING: heddle-run: error: '{{.*}}.txt': expected a file that ends in .npy or .safetensors

// RUN: head -c 140 %S/Inputs/2x3.npy > %t.short.npy
// RUN: not heddle-run %s --entry f --input x=%t.short.npy 2>&1 | FileCheck %s --check-prefix=SHORT-NPY
// SHORT-NPY: heddle-run: error: '{{.*}}.short.npy': {{.+}}

// RUN: heddle-run %s --entry f --seed 1 --interpret --output %t.good.safetensors > %t.log
// RUN: head -c 100 %t.good.safetensors > %t.short.safetensors
// RUN: not heddle-run %s --entry f --input x=%t.short.safetensors 2>&1 | FileCheck %s --check-prefix=SHORT-SAFETENSORS
// SHORT-SAFETENSORS: heddle-run: error: '{{.*}}.short.safetensors': {{.+}}

// RUN: not heddle-run %s --entry f --input %t.good.safetensors 2>&1 | FileCheck %s --check-prefix=NONE-OF-ALL
// NONE-OF-ALL: heddle-run: error: 'f' has no argument that is in '{{.*}}.good.safetensors'; it takes 'x', 'y'

// RUN: not heddle-run %s --entry f --carry --seed 1 2>&1 | FileCheck %s --check-prefix=CARRY
// CARRY: heddle-run: error: --carry: 'f' has no donated argument
// RUN: not heddle-run %s --entry f --carry --interpret 2>&1 | FileCheck %s --check-prefix=CARRY-INTERPRETED
// CARRY-INTERPRETED: heddle-run: error: --carry: the interpreter does not carry results to a next call

// RUN: not heddle-run %s --entry f --input x=%t.good.safetensors 2>&1 | FileCheck %s --check-prefix=NO-ARRAY
// NO-ARRAY: heddle-run: error: '{{.*}}.good.safetensors': no array 'x'; there are: one, two

// Names, sizes and element types: both sides are shown.
// RUN: not heddle-run %s --entry f --input x=%S/Inputs/2x3.npy:row,depth 2>&1 | FileCheck %s --check-prefix=NAMES
// NAMES: heddle-run: error: argument 'x': expected f32 {column: 3, row: 2}, got f32 [row: 2, depth: 3] in '{{.*}}2x3.npy', whose names are others

// RUN: not heddle-run %s --entry f --input x=%S/Inputs/2x3.npy:row 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: heddle-run: error: argument 'x': expected f32 {column: 3, row: 2}, got {{.*}} in '{{.*}}2x3.npy', which has not one axis for each name given

// RUN: not heddle-run %s --entry f --input x=%S/Inputs/2x3.npy:row,row 2>&1 | FileCheck %s --check-prefix=REPEATED
// REPEATED: heddle-run: error: argument 'x': expected f32 {column: 3, row: 2}, got f32 [row: 2, row: 3] in '{{.*}}2x3.npy', where a name occurs twice

// RUN: not heddle-run %s --entry f --input x=%S/Inputs/2x3.npy 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: heddle-run: error: argument 'x': expected f32 {column: 3, row: 2}, got f32 [column: 2, row: 3] in '{{.*}}2x3.npy'

// RUN: not heddle-run %s --entry f --input y=%S/Inputs/2x3.npy:row,column 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: heddle-run: error: argument 'y': expected i32 {column: 3, row: 2}, got f32 [row: 2, column: 3] in '{{.*}}2x3.npy', whose elements are of another type

// RUN: not heddle-run %s --entry g 2>&1 | FileCheck %s --check-prefix=SYMBOL
// SYMBOL: heddle-run: error: argument 'argument0': the size of 'n' is N; give it by --size or a file

// RUN: not heddle-run %s --entry g --size N=-1 2>&1 | FileCheck %s --check-prefix=SYMBOL-VALUE
// SYMBOL-VALUE: heddle-run: error: expected a size of at least 0 for 'N', got '-1'

// RUN: not heddle-run %s --entry g --size N=0 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: heddle-run: error: argument 'argument1': the size of 'n', N - 1, is -1

// RUN: not heddle-run %s --entry g --seed 1 --size N=4000000000000000000 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: heddle-run: error: {{.*}}2^60

// RUN: not heddle-run %s --entry f --target-cpu no-such-cpu 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: {{.*}}no-such-cpu

// A disk that takes no more leaves the old file as it was.
// RUN: cp %t.good.safetensors %t.kept.safetensors
// RUN: bash -c "ulimit -f 1; not heddle-run %s --entry g --size N=1000 --interpret --output %t.kept.safetensors" 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: cmp %t.good.safetensors %t.kept.safetensors
// FULL-NOT: Stack
// FULL: heddle-run: error: can't write '{{.*}}.kept.safetensors': File too large

// RUN: not heddle-run %s --entry f --interpret --output %t.nowhere/x.safetensors 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: heddle-run: error: can't write '{{.*}}x.safetensors': No such file or directory

func.func @f(%x: !nd.tensor<f32, row: 2, column: 3> {nd.name = "x"}, %y: !nd.tensor<i32, row: 2, column: 3> {nd.name = "y"})
    -> (!nd.tensor<f32, row: 2, column: 3> {nd.name = "one"}, !nd.tensor<i32, row: 2, column: 3> {nd.name = "two"}) {
  return %x, %y : !nd.tensor<f32, row: 2, column: 3>, !nd.tensor<i32, row: 2, column: 3>
}

func.func @g(%x: !nd.tensor<f32, n: N>, %y: !nd.tensor<f32, n: N - 1>) -> !nd.tensor<f32, n: N> {
  return %x : !nd.tensor<f32, n: N>
}
