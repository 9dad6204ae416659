// One compiled program serves every size. The sizes below are 0, 1, multiples of tiles and sizes that no tile divides.
// RUN: heddle-run %s --compare --size N=1,2,3,7,16,31,33,64,100,0 --size M=5,1,64,2,17,3,40,16,33,4 --size K=3,1,8,200,16,1,0,33,2,5
// RUN: heddle-run %s --compare --row-major --managed --size N=0,5,48 --size M=3,7,100 --size K=1,0,9

!n = !nd.tensor<f32, n: N>
!m_n = !nd.tensor<f32, m: M, n: N>
!i64_b = !nd.tensor<i64, b: M>

func.func @pointwise(%x: !n, %y: !n) -> !n {
  %0 = nd.pointwise %x, %y : (!n, !n) -> !n {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    %r = math.exp %s : f32
    nd.yield %r : f32
  }
  return %0 : !n
}

// With an epilogue.
func.func @matmul(%x: !nd.tensor<f32, k: K, m: M>, %y: !nd.tensor<f32, k: K, n: N>, %z: !n) -> !m_n {
  %0 = nd.pointwise %x, %y : (!nd.tensor<f32, k: K, m: M>, !nd.tensor<f32, k: K, n: N>) -> !nd.tensor<f32, k: K, m: M, n: N> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %0 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: K, m: M, n: N>) -> !m_n {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  %2 = nd.pointwise %1, %z : (!m_n, !n) -> !m_n {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %2 : !m_n
}

// Rows and columns; an integer sum of all; a maximum.
func.func @reduce(%x: !m_n, %i: !nd.tensor<i32, m: M, n: N>) -> (!nd.tensor<f32, m: M>, !n, !nd.tensor<i32>, !nd.tensor<i32, m: M>) {
  %0 = nd.reduce %x over [n] neutral [0.0 : f32] : (!m_n) -> !nd.tensor<f32, m: M> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %x over [m] neutral [0xFF800000 : f32] : (!m_n) -> !n {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %i over [n, m] neutral [0 : i32] : (!nd.tensor<i32, m: M, n: N>) -> !nd.tensor<i32> {
  ^bb0(%a: i32, %b: i32):
    %r = arith.addi %a, %b : i32
    nd.yield %r : i32
  }
  %3 = nd.reduce %i over [n] neutral [0 : i32] : (!nd.tensor<i32, m: M, n: N>) -> !nd.tensor<i32, m: M> {
  ^bb0(%a: i32, %b: i32):
    %r = arith.xori %a, %b : i32
    nd.yield %r : i32
  }
  return %0, %1, %2, %3 : !nd.tensor<f32, m: M>, !n, !nd.tensor<i32>, !nd.tensor<i32, m: M>
}

func.func @softmax(%x: !m_n) -> !m_n {
  %0 = nd.reduce %x over [n] neutral [0xFF800000 : f32] : (!m_n) -> !nd.tensor<f32, m: M> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    nd.yield %r : f32
  }
  %1 = nd.pointwise %x, %0 : (!m_n, !nd.tensor<f32, m: M>) -> !m_n {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %1 over [n] neutral [0.0 : f32] : (!m_n) -> !nd.tensor<f32, m: M> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  %3 = nd.pointwise %1, %2 : (!m_n, !nd.tensor<f32, m: M>) -> !m_n {
  ^bb0(%a: f32, %b: f32):
    %r = arith.divf %a, %b : f32
    nd.yield %r : f32
  }
  return %3 : !m_n
}


// The step of a loop has a size that nothing which it reads tells.
func.func @size_of_the_function_around(%x: !nd.tensor<f32, a: N>, %y: !i64_b, %n: !nd.tensor<i64>) -> !i64_b {
  %zero = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %r:2 = scf.while (%i = %zero, %s = %y) : (!nd.tensor<i64>, !i64_b) -> (!nd.tensor<i64>, !i64_b) {
    %less = nd.pointwise %i, %n : (!nd.tensor<i64>, !nd.tensor<i64>) -> !nd.tensor<i1> {
    ^bb0(%u: i64, %v: i64):
      %four = arith.constant 4 : i64
      %most = arith.minsi %v, %four : i64
      %0 = arith.cmpi slt, %u, %most : i64
      nd.yield %0 : i1
    }
    %c = nd.item %less : !nd.tensor<i1> -> i1
    scf.condition(%c) %i, %s : !nd.tensor<i64>, !i64_b
  } do {
  ^bb0(%i: !nd.tensor<i64>, %s: !i64_b):
    %k = nd.iota a : !nd.tensor<i64, a: N>
    %t = nd.pointwise %s, %k crossed : (!i64_b, !nd.tensor<i64, a: N>) -> !nd.tensor<i64, a: N, b: M> {
    ^bb0(%u: i64, %v: i64):
      %0 = arith.xori %u, %v : i64
      nd.yield %0 : i64
    }
    %sum = nd.reduce %t over [a] neutral [0 : i64] : (!nd.tensor<i64, a: N, b: M>) -> !i64_b {
    ^bb0(%u: i64, %v: i64):
      %0 = arith.addi %u, %v : i64
      nd.yield %0 : i64
    }
    %next = nd.pointwise %i : (!nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%u: i64):
      %one = arith.constant 1 : i64
      %0 = arith.addi %u, %one : i64
      nd.yield %0 : i64
    }
    scf.yield %next, %sum : !nd.tensor<i64>, !i64_b
  }
  return %r#1 : !i64_b
}
