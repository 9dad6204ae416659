// RUN: heddle-opt %s --convert-nd-to-nest --nest-fuse --nest-choose-groups --nest-form-groups --split-input-file | FileCheck %s

// A normalisation over k: x is read from memory once.
// CHECK-LABEL: @normalise
// CHECK: nest.group (batch: 4096) {
// CHECK-NEXT: nest.compute () reduce (k: 768) reads %arg0[] {
// CHECK: nest.compute () reduce (k: 768) reads %arg0[], %{{.*}}[] {
// CHECK: nest.compute (k: 768) reads %arg0[], %{{.*}}[], %{{.*}}[] {
// CHECK: nest.yield
// CHECK-NOT: nest.compute
!k_batch = !nd.tensor<f32, k: 768, batch: 4096>

func.func @normalise(%x: !k_batch) -> !k_batch {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!k_batch) -> !nd.tensor<f32, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %1 = nd.pointwise %x, %0 : (!k_batch, !nd.tensor<f32, batch: 4096>) -> !k_batch {
  ^bb0(%a: f32, %b: f32):
    %c = arith.constant 1.30208333e-03 : f32
    %m = arith.mulf %b, %c : f32
    %s = arith.subf %a, %m : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %1 : (!k_batch) -> !k_batch {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    nd.yield %s : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] : (!k_batch) -> !nd.tensor<f32, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %4 = nd.pointwise %1, %3 : (!k_batch, !nd.tensor<f32, batch: 4096>) -> !k_batch {
  ^bb0(%a: f32, %b: f32):
    %r = math.rsqrt %b : f32
    %s = arith.mulf %a, %r : f32
    nd.yield %s : f32
  }
  return %4 : !k_batch
}

// -----

// The same where elements of other rows are neighbours in memory, as the caller has it: one row at a time would touch
// a line for every element.
// CHECK-LABEL: @across
// CHECK-NOT: nest.group
// CHECK: return
!k_n = !nd.tensor<f32, k: 768, n: 4096>

func.func @across(%x: !k_n) -> !k_n {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!k_n) -> !nd.tensor<f32, n: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %1 = nd.pointwise %x, %0 : (!k_n, !nd.tensor<f32, n: 4096>) -> !k_n {
  ^bb0(%a: f32, %b: f32):
    %c = arith.constant 1.30208333e-03 : f32
    %m = arith.mulf %b, %c : f32
    %s = arith.subf %a, %m : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %1 : (!k_n) -> !k_n {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    nd.yield %s : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] : (!k_n) -> !nd.tensor<f32, n: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %4 = nd.pointwise %1, %3 : (!k_n, !nd.tensor<f32, n: 4096>) -> !k_n {
  ^bb0(%a: f32, %b: f32):
    %r = math.rsqrt %b : f32
    %s = arith.mulf %a, %r : f32
    nd.yield %s : f32
  }
  return %4 : !k_n
}

// -----

// The same with 8 elements in a row: nothing to fill vectors with.
// CHECK-LABEL: @short
// CHECK-NOT: nest.group
// CHECK: return
!k_batch = !nd.tensor<f32, k: 8, batch: 262144>

func.func @short(%x: !k_batch) -> !k_batch {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!k_batch) -> !nd.tensor<f32, batch: 262144> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %1 = nd.pointwise %x, %0 : (!k_batch, !nd.tensor<f32, batch: 262144>) -> !k_batch {
  ^bb0(%a: f32, %b: f32):
    %s = arith.divf %a, %b : f32
    nd.yield %s : f32
  }
  return %1 : !k_batch
}

// -----

// Products of a matrix and a vector use each element of the matrix once, wherever they run: the votes are read from memory
// once.
// CHECK-LABEL: @routed
// CHECK: nest.group (batch: 4096) {
// CHECK: nest.compute (o: 16) reduce (s: 64) reads %arg0[], %arg1[] {
// CHECK: nest.compute (s: 64) reduce (o: 16) reads %{{.*}}[], %arg1[] {
// CHECK: nest.yield
// CHECK-NOT: nest.compute
!batch_o_s = !nd.tensor<f32, batch: 4096, o: 16, s: 64>

func.func @routed(%share: !nd.tensor<f32, batch: 4096, s: 64>, %votes: !batch_o_s) -> !nd.tensor<f32, batch: 4096, s: 64> {
  %0 = nd.broadcast %share : !nd.tensor<f32, batch: 4096, s: 64> -> !batch_o_s
  %1 = nd.pointwise %0, %votes : (!batch_o_s, !batch_o_s) -> !batch_o_s {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nd.yield %p : f32
  }
  %2 = nd.reduce %1 over [s] neutral [0.0 : f32] : (!batch_o_s) -> !nd.tensor<f32, batch: 4096, o: 16> {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %b : f32
    nd.yield %p : f32
  }
  %3 = nd.broadcast %2 : !nd.tensor<f32, batch: 4096, o: 16> -> !batch_o_s
  %4 = nd.pointwise %3, %votes : (!batch_o_s, !batch_o_s) -> !batch_o_s {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nd.yield %p : f32
  }
  %5 = nd.reduce %4 over [o] neutral [0.0 : f32] : (!batch_o_s) -> !nd.tensor<f32, batch: 4096, s: 64> {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %b : f32
    nd.yield %p : f32
  }
  return %5 : !nd.tensor<f32, batch: 4096, s: 64>
}

// -----

// A product of matrices uses the weights for every row of x: it stays outside of the group.
// CHECK-LABEL: @multiplied
// CHECK: nest.compute (batch: 4096, o: 512) reduce (s: 4)
// CHECK: nest.group (batch: 4096) {
// CHECK-NOT: reads %arg1[]
// CHECK: return
!batch_o = !nd.tensor<f32, batch: 4096, o: 512>
!batch_o_s = !nd.tensor<f32, batch: 4096, o: 512, s: 4>

func.func @multiplied(%x: !nd.tensor<f32, batch: 4096, s: 4>, %w: !nd.tensor<f32, o: 512, s: 4>) -> !batch_o {
  %0 = nd.broadcast %x : !nd.tensor<f32, batch: 4096, s: 4> -> !batch_o_s
  %1 = nd.broadcast %w : !nd.tensor<f32, o: 512, s: 4> -> !batch_o_s
  %2 = nd.pointwise %0, %1 : (!batch_o_s, !batch_o_s) -> !batch_o_s {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nd.yield %p : f32
  }
  %3 = nd.reduce %2 over [s] neutral [0.0 : f32] : (!batch_o_s) -> !batch_o {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %b : f32
    nd.yield %p : f32
  }
  %4 = nd.reduce %3 over [o] neutral [0xFF800000 : f32] : (!batch_o) -> !nd.tensor<f32, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %p = arith.maximumf %a, %b : f32
    nd.yield %p : f32
  }
  %5 = nd.broadcast %4 : !nd.tensor<f32, batch: 4096> -> !batch_o
  %6 = nd.pointwise %3, %5 : (!batch_o, !batch_o) -> !batch_o {
  ^bb0(%a: f32, %b: f32):
    %p = arith.subf %a, %b : f32
    nd.yield %p : f32
  }
  %7 = nd.reduce %6 over [o] neutral [0xFF800000 : f32] : (!batch_o) -> !nd.tensor<f32, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %p = arith.maximumf %a, %b : f32
    nd.yield %p : f32
  }
  %8 = nd.broadcast %7 : !nd.tensor<f32, batch: 4096> -> !batch_o
  %9 = nd.pointwise %6, %8 : (!batch_o, !batch_o) -> !batch_o {
  ^bb0(%a: f32, %b: f32):
    %p = arith.divf %a, %b : f32
    nd.yield %p : f32
  }
  return %9 : !batch_o
}

// -----

// Arithmetic that the nominal core takes longer for than for the traffic: the group still saves half of the traffic, which
// bounds cores with wider vectors.
// CHECK-LABEL: @divided
// CHECK: nest.group (batch: 4096) {
// CHECK: nest.compute () reduce (k: 768)
// CHECK: nest.compute () reduce (k: 768)
// CHECK: nest.compute (k: 768)
!k_batch = !nd.tensor<f32, k: 768, batch: 4096>

func.func @divided(%x: !k_batch) -> !k_batch {
  %0 = nd.pointwise %x : (!k_batch) -> !k_batch {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %d = arith.divf %c, %a : f32
    %s = arith.mulf %d, %d : f32
    %t = arith.addf %s, %d : f32
    %u = arith.mulf %t, %s : f32
    nd.yield %u : f32
  }
  %1 = nd.reduce %0 over [k] neutral [0.0 : f32] : (!k_batch) -> !nd.tensor<f32, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %x, %1 : (!k_batch, !nd.tensor<f32, batch: 4096>) -> !k_batch {
  ^bb0(%a: f32, %b: f32):
    %d = arith.divf %b, %a : f32
    %s = arith.mulf %d, %d : f32
    %t = arith.addf %s, %d : f32
    %u = arith.mulf %t, %s : f32
    nd.yield %u : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] : (!k_batch) -> !nd.tensor<f32, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %4 = nd.pointwise %x, %1, %3 : (!k_batch, !nd.tensor<f32, batch: 4096>, !nd.tensor<f32, batch: 4096>) -> !k_batch {
  ^bb0(%a: f32, %b: f32, %e: f32):
    %d = arith.divf %b, %a : f32
    %s = arith.mulf %d, %e : f32
    %t = arith.addf %s, %d : f32
    %u = arith.mulf %t, %s : f32
    nd.yield %u : f32
  }
  return %4 : !k_batch
}

// -----

// At each point no name fills a vector: a group would leave lanes idle. With 16 instead of 12 elements there is one.
// CHECK-LABEL: @narrow
// CHECK-NOT: nest.group
// CHECK-LABEL: @filled
// CHECK: nest.group (batch: 65536)
!batch_k_l = !nd.tensor<f32, batch: 65536, k: 12, l: 12>
!batch_k_l_65536x12x16 = !nd.tensor<f32, batch: 65536, k: 12, l: 16>

func.func @narrow(%x: !batch_k_l) -> !batch_k_l {
  %s = nest.compute (batch: 65536) reduce (k: 12, l: 12) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!batch_k_l) -> !nd.tensor<f32, batch: 65536>
  %y = nest.compute (k: 12, l: 12, batch: 65536) reads %x[], %s[] {
  ^bb0(%v: f32, %m: f32):
    %d = arith.subf %v, %m : f32
    nest.yield %d : f32
  } : (!batch_k_l, !nd.tensor<f32, batch: 65536>) -> !batch_k_l
  return %y : !batch_k_l
}
func.func @filled(%x: !batch_k_l_65536x12x16) -> !batch_k_l_65536x12x16 {
  %s = nest.compute (batch: 65536) reduce (k: 12, l: 16) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!batch_k_l_65536x12x16) -> !nd.tensor<f32, batch: 65536>
  %y = nest.compute (k: 12, l: 16, batch: 65536) reads %x[], %s[] {
  ^bb0(%v: f32, %m: f32):
    %d = arith.subf %v, %m : f32
    nest.yield %d : f32
  } : (!batch_k_l_65536x12x16, !nd.tensor<f32, batch: 65536>) -> !batch_k_l_65536x12x16
  return %y : !batch_k_l_65536x12x16
}

// -----

// The second nest reads the first one through a window, so its vectors would be unaligned and have masks in any layout.
// CHECK-LABEL: @windows
// CHECK-NOT: nest.group
// CHECK-LABEL: @apart
// CHECK: nest.group (batch: 4096)
!batch_n = !nd.tensor<f32, batch: 4096, n: 1024>

func.func @windows(%x: !nd.tensor<f32, batch: 4096, k: 4>, %w: !nd.tensor<f32, k: 4, n: 1024>) -> !batch_n {
  %y = nest.compute (batch: 4096, n: 1024) reduce (k: 4) reads %x[], %w[] {
  ^bb0(%v: f32, %u: f32):
    %m = arith.addf %v, %u : f32
    nest.yield %m : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, batch: 4096, k: 4>, !nd.tensor<f32, k: 4, n: 1024>) -> !batch_n
  %z = nest.compute (batch: 4096, n: 1024) reduce (w: 3) reads %y[n = n + w - 1] if [n + w - 1 >= 0, -n - w + 1024 >= 0] else 0.0 : f32 {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!batch_n) -> !batch_n
  return %z : !batch_n
}
func.func @apart(%x: !nd.tensor<f32, batch: 4096, k: 4>, %w: !nd.tensor<f32, k: 4, n: 1024>) -> !nd.tensor<f32, batch: 4096> {
  %y = nest.compute (batch: 4096, n: 1024) reduce (k: 4) reads %x[], %w[] {
  ^bb0(%v: f32, %u: f32):
    %m = arith.addf %v, %u : f32
    nest.yield %m : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, batch: 4096, k: 4>, !nd.tensor<f32, k: 4, n: 1024>) -> !batch_n
  %z = nest.compute (batch: 4096) reduce (n: 1024) reads %y[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!batch_n) -> !nd.tensor<f32, batch: 4096>
  return %z : !nd.tensor<f32, batch: 4096>
}
