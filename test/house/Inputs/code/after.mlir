func.func @first(%x: !nd.tensor<f32, row: 300>) -> !nd.tensor<f32, row: 300> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, row: 300>) -> !nd.tensor<f32, row: 300> {
  ^bb0(%a: f32):
    %s = math.tanh %a : f32
    %r = math.absf %s : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, row: 300>
}

func.func @scale(%x: !nd.tensor<f32, row: 20000>) -> !nd.tensor<f32, row: 20000> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, row: 20000>) -> !nd.tensor<f32, row: 20000> {
  ^bb0(%a: f32):
    %c = arith.constant 0.7 : f32
    %r = arith.mulf %a, %c : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, row: 20000>
}

func.func @root(%x: !nd.tensor<f32, row: 20000>) -> !nd.tensor<f32, row: 20000> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, row: 20000>) -> !nd.tensor<f32, row: 20000> {
  ^bb0(%a: f32):
    %e = math.sqrt %a : f32
    %r = arith.addf %e, %a : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, row: 20000>
}

func.func @renamed(%x: !nd.tensor<f32, row: 20000>) -> !nd.tensor<f32, row: 20000> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, row: 20000>) -> !nd.tensor<f32, row: 20000> {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, row: 20000>
}
