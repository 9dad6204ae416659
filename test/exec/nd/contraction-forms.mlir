// Products and sums in many shapes, in the cheapest order and in the written one.
// RUN: heddle-run %s --compare --size N=11,1,0,40 --size M=7,1,5,33
// RUN: heddle-run %s --compare --fast-math=reassociate,reciprocal,no-nans --size N=11,1,40 --size M=7,1,33
// RUN: heddle-run %s --compare --products bf16 --size N=11,1,40 --size M=7,1,33

!i = !nd.tensor<f32, i: N>
!m_n = !nd.tensor<f32, m: M, n: N>
!i_j = !nd.tensor<f32, i: N, j: M>

func.func @chain3(%a: !nd.tensor<f32, i: 3, j: N> {nd.name = "a"}, %b: !nd.tensor<f32, j: N, k: 5> {nd.name = "b"}, %c: !nd.tensor<f32, k: 5, l: M> {nd.name = "c"}) -> (!nd.tensor<f32, i: 3, l: M>) {
  %v1 = nd.pointwise %a, %b : (!nd.tensor<f32, i: 3, j: N>, !nd.tensor<f32, j: N, k: 5>) -> !nd.tensor<f32, i: 3, j: N, k: 5> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v2 = nd.reduce %v1 over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: 3, j: N, k: 5>) -> !nd.tensor<f32, i: 3, k: 5> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v3 = nd.pointwise %v2, %c : (!nd.tensor<f32, i: 3, k: 5>, !nd.tensor<f32, k: 5, l: M>) -> !nd.tensor<f32, i: 3, k: 5, l: M> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v4 = nd.reduce %v3 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: 3, k: 5, l: M>) -> !nd.tensor<f32, i: 3, l: M> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v4 : !nd.tensor<f32, i: 3, l: M>
}

func.func @chainvec(%a: !nd.tensor<f32, i: N, j: 37> {nd.name = "a"}, %b: !nd.tensor<f32, j: 37, k: M> {nd.name = "b"}, %v: !nd.tensor<f32, k: M> {nd.name = "v"}) -> (!i) {
  %v1 = nd.pointwise %a, %b : (!nd.tensor<f32, i: N, j: 37>, !nd.tensor<f32, j: 37, k: M>) -> !nd.tensor<f32, i: N, j: 37, k: M> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v2 = nd.reduce %v1 over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, j: 37, k: M>) -> !nd.tensor<f32, i: N, k: M> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v3 = nd.pointwise %v2, %v : (!nd.tensor<f32, i: N, k: M>, !nd.tensor<f32, k: M>) -> !nd.tensor<f32, i: N, k: M> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v4 = nd.reduce %v3 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, k: M>) -> !i {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v4 : !i
}

func.func @chain4(%a: !nd.tensor<f32, i: N, j: 3> {nd.name = "a"}, %b: !nd.tensor<f32, j: 3, k: 41> {nd.name = "b"}, %c: !nd.tensor<f32, k: 41, l: 2> {nd.name = "c"}, %d: !nd.tensor<f32, l: 2, m: M> {nd.name = "d"}) -> (!nd.tensor<f32, i: N, m: M>) {
  %v1 = nd.pointwise %a, %b : (!nd.tensor<f32, i: N, j: 3>, !nd.tensor<f32, j: 3, k: 41>) -> !nd.tensor<f32, i: N, j: 3, k: 41> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v2 = nd.reduce %v1 over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, j: 3, k: 41>) -> !nd.tensor<f32, i: N, k: 41> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v3 = nd.pointwise %v2, %c : (!nd.tensor<f32, i: N, k: 41>, !nd.tensor<f32, k: 41, l: 2>) -> !nd.tensor<f32, i: N, k: 41, l: 2> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v4 = nd.reduce %v3 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, k: 41, l: 2>) -> !nd.tensor<f32, i: N, l: 2> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v5 = nd.pointwise %v4, %d : (!nd.tensor<f32, i: N, l: 2>, !nd.tensor<f32, l: 2, m: M>) -> !nd.tensor<f32, i: N, l: 2, m: M> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v6 = nd.reduce %v5 over [l] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, l: 2, m: M>) -> !nd.tensor<f32, i: N, m: M> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v6 : !nd.tensor<f32, i: N, m: M>
}

func.func @einsum1(%a: !nd.tensor<f32, i: N, j: 3> {nd.name = "a"}, %b: !nd.tensor<f32, j: 3, k: 41> {nd.name = "b"}, %c: !nd.tensor<f32, i: N, k: 41> {nd.name = "c"}) -> (!i) {
  %v1 = nd.pointwise %a, %b, %c : (!nd.tensor<f32, i: N, j: 3>, !nd.tensor<f32, j: 3, k: 41>, !nd.tensor<f32, i: N, k: 41>) -> !nd.tensor<f32, i: N, j: 3, k: 41> {
  ^bb0(%q0: f32, %q1: f32, %q2: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    %w2 = arith.mulf %w1, %q2 : f32
    nd.yield %w2 : f32
  }
  %v2 = nd.reduce %v1 over [j, k] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, j: 3, k: 41>) -> !i {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v2 : !i
}

func.func @linattn(%q: !nd.tensor<f32, d: 7, n: N> {nd.name = "q"}, %k: !nd.tensor<f32, d: 7, m: M> {nd.name = "k"}, %v: !nd.tensor<f32, e: 5, m: M> {nd.name = "v"}) -> (!nd.tensor<f32, e: 5, n: N>) {
  %v1 = nd.pointwise %q, %k : (!nd.tensor<f32, d: 7, n: N>, !nd.tensor<f32, d: 7, m: M>) -> !nd.tensor<f32, d: 7, m: M, n: N> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v2 = nd.reduce %v1 over [d] neutral [0.0 : f32] : (!nd.tensor<f32, d: 7, m: M, n: N>) -> !m_n {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v3 = nd.pointwise %v2, %v : (!m_n, !nd.tensor<f32, e: 5, m: M>) -> !nd.tensor<f32, e: 5, m: M, n: N> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v4 = nd.reduce %v3 over [m] neutral [0.0 : f32] : (!nd.tensor<f32, e: 5, m: M, n: N>) -> !nd.tensor<f32, e: 5, n: N> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v4 : !nd.tensor<f32, e: 5, n: N>
}

func.func @attn(%q: !nd.tensor<f32, d: 7, n: N> {nd.name = "q"}, %k: !nd.tensor<f32, d: 7, m: M> {nd.name = "k"}, %v: !nd.tensor<f32, e: 5, m: M> {nd.name = "v"}) -> (!nd.tensor<f32, e: 5, n: N>) {
  %v1 = nd.pointwise %q, %k : (!nd.tensor<f32, d: 7, n: N>, !nd.tensor<f32, d: 7, m: M>) -> !nd.tensor<f32, d: 7, m: M, n: N> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v2 = nd.reduce %v1 over [d] neutral [0.0 : f32] : (!nd.tensor<f32, d: 7, m: M, n: N>) -> !m_n {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v3 = nd.pointwise %v2 : (!m_n) -> !m_n {
  ^bb0(%p0: f32):
    %cc = arith.constant 0.25 : f32
    %mm = arith.mulf %p0, %cc : f32
    nd.yield %mm : f32
  }
  %v4 = nd.pointwise %v3 : (!m_n) -> !m_n {
  ^bb0(%p0: f32):
    %mm = math.exp %p0 : f32
    nd.yield %mm : f32
  }
  %v5 = nd.reduce %v4 over [m] neutral [0.0 : f32] : (!m_n) -> !nd.tensor<f32, n: N> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v6 = nd.pointwise %v4, %v5 : (!m_n, !nd.tensor<f32, n: N>) -> !m_n {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.divf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v7 = nd.pointwise %v6, %v : (!m_n, !nd.tensor<f32, e: 5, m: M>) -> !nd.tensor<f32, e: 5, m: M, n: N> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v8 = nd.reduce %v7 over [m] neutral [0.0 : f32] : (!nd.tensor<f32, e: 5, m: M, n: N>) -> !nd.tensor<f32, e: 5, n: N> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v8 : !nd.tensor<f32, e: 5, n: N>
}

func.func @factor(%x: !i_j {nd.name = "x"}, %s: !i {nd.name = "s"}, %t: !i {nd.name = "t"}) -> (!i) {
  %v1 = nd.pointwise %x, %s, %t : (!i_j, !i, !i) -> !i_j {
  ^bb0(%q0: f32, %q1: f32, %q2: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    %w2 = arith.mulf %w1, %q2 : f32
    nd.yield %w2 : f32
  }
  %v2 = nd.reduce %v1 over [j] neutral [0.0 : f32] : (!i_j) -> !i {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v2 : !i
}

func.func @bcast(%x: !i {nd.name = "x"}, %y: !nd.tensor<f32, j: M> {nd.name = "y"}, %z: !i_j {nd.name = "z"}) -> (!i) {
  %v1 = nd.broadcast %x : !i -> !i_j
  %v2 = nd.pointwise %v1 : (!i_j) -> !i_j {
  ^bb0(%p0: f32):
    %mm = math.exp %p0 : f32
    nd.yield %mm : f32
  }
  %v3 = nd.pointwise %v2, %z : (!i_j, !i_j) -> !i_j {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v4 = nd.reduce %v3 over [j] neutral [0.0 : f32] : (!i_j) -> !i {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v4 : !i
}

func.func @distrib(%a: !i_j {nd.name = "a"}, %b: !i_j {nd.name = "b"}, %w: !nd.tensor<f32, j: M, k: 6> {nd.name = "w"}) -> (!nd.tensor<f32, i: N, k: 6>) {
  %v1 = nd.pointwise %a, %w : (!i_j, !nd.tensor<f32, j: M, k: 6>) -> !nd.tensor<f32, i: N, j: M, k: 6> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v2 = nd.reduce %v1 over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, j: M, k: 6>) -> !nd.tensor<f32, i: N, k: 6> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v3 = nd.pointwise %b, %w : (!i_j, !nd.tensor<f32, j: M, k: 6>) -> !nd.tensor<f32, i: N, j: M, k: 6> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v4 = nd.reduce %v3 over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, j: M, k: 6>) -> !nd.tensor<f32, i: N, k: 6> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v5 = nd.pointwise %v2, %v4 : (!nd.tensor<f32, i: N, k: 6>, !nd.tensor<f32, i: N, k: 6>) -> !nd.tensor<f32, i: N, k: 6> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.addf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  return %v5 : !nd.tensor<f32, i: N, k: 6>
}

func.func @trace(%a: !i_j {nd.name = "a"}, %b: !i_j {nd.name = "b"}) -> (!nd.tensor<f32>) {
  %v1 = nd.pointwise %a, %b : (!i_j, !i_j) -> !i_j {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v2 = nd.reduce %v1 over [j] neutral [0.0 : f32] : (!i_j) -> !i {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v3 = nd.reduce %v2 over [i] neutral [0.0 : f32] : (!i) -> !nd.tensor<f32> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v3 : !nd.tensor<f32>
}

func.func @dead(%a: !i_j {nd.name = "a"}) -> (!i) {
  %v1 = nd.broadcast %a : !i_j -> !nd.tensor<f32, i: N, j: M, q: 9>
  %v2 = nd.reduce %v1 over [q, j] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, j: M, q: 9>) -> !i {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v2 : !i
}

func.func @scaled(%a: !i_j {nd.name = "a"}, %b: !nd.tensor<f32, j: M, k: 5> {nd.name = "b"}) -> (!nd.tensor<f32, i: N, k: 5>) {
  %v1 = nd.pointwise %a : (!i_j) -> !i_j {
  ^bb0(%p0: f32):
    %cc = arith.constant 2.0 : f32
    %mm = arith.mulf %p0, %cc : f32
    nd.yield %mm : f32
  }
  %v2 = nd.pointwise %v1, %b : (!i_j, !nd.tensor<f32, j: M, k: 5>) -> !nd.tensor<f32, i: N, j: M, k: 5> {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v3 = nd.reduce %v2 over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, j: M, k: 5>) -> !nd.tensor<f32, i: N, k: 5> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  %v4 = nd.pointwise %v3 : (!nd.tensor<f32, i: N, k: 5>) -> !nd.tensor<f32, i: N, k: 5> {
  ^bb0(%p0: f32):
    %cc = arith.constant 3.0 : f32
    %mm = arith.mulf %p0, %cc : f32
    nd.yield %mm : f32
  }
  return %v4 : !nd.tensor<f32, i: N, k: 5>
}

func.func @sumouter(%a: !i {nd.name = "a"}, %b: !nd.tensor<f32, j: M> {nd.name = "b"}) -> (!nd.tensor<f32>) {
  %v1 = nd.broadcast %a : !i -> !i_j
  %v2 = nd.pointwise %v1, %b : (!i_j, !nd.tensor<f32, j: M>) -> !i_j {
  ^bb0(%q0: f32, %q1: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    nd.yield %w1 : f32
  }
  %v3 = nd.reduce %v2 over [i, j] neutral [0.0 : f32] : (!i_j) -> !nd.tensor<f32> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v3 : !nd.tensor<f32>
}

func.func @hadam(%a: !i_j {nd.name = "a"}, %b: !nd.tensor<f32, i: N, k: 3> {nd.name = "b"}, %c: !nd.tensor<f32, i: N, l: 4> {nd.name = "c"}) -> (!nd.tensor<f32, i: N, k: 3>) {
  %v1 = nd.pointwise %a, %b, %c : (!i_j, !nd.tensor<f32, i: N, k: 3>, !nd.tensor<f32, i: N, l: 4>) -> !nd.tensor<f32, i: N, j: M, k: 3, l: 4> {
  ^bb0(%q0: f32, %q1: f32, %q2: f32):
    %w1 = arith.mulf %q0, %q1 : f32
    %w2 = arith.mulf %w1, %q2 : f32
    nd.yield %w2 : f32
  }
  %v2 = nd.reduce %v1 over [j, l] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, j: M, k: 3, l: 4>) -> !nd.tensor<f32, i: N, k: 3> {
  ^bb0(%p0: f32, %p1: f32):
    %mm = arith.addf %p0, %p1 : f32
    nd.yield %mm : f32
  }
  return %v2 : !nd.tensor<f32, i: N, k: 3>
}
