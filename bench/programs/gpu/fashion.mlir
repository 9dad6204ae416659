// A training step of models/fashion on 64 images (heddle-bench fashion).
module {
  func.func @function(%arg0: !nd.tensor<f32, out: 32> {heddle.donate = 2 : i64, nd.name = "net.first.bias"}, %arg1: !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5> {heddle.donate = 3 : i64, nd.name = "net.first.weight"}, %arg2: !nd.tensor<f32, class: 10> {heddle.donate = 4 : i64, nd.name = "net.last.bias"}, %arg3: !nd.tensor<f32, class: 10, hidden: 1024> {heddle.donate = 5 : i64, nd.name = "net.last.weight"}, %arg4: !nd.tensor<f32, out: 64> {heddle.donate = 6 : i64, nd.name = "net.second.bias"}, %arg5: !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5> {heddle.donate = 7 : i64, nd.name = "net.second.weight"}, %arg6: !nd.tensor<f32, hidden: 1024> {heddle.donate = 8 : i64, nd.name = "net.wide.bias"}, %arg7: !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7> {heddle.donate = 9 : i64, nd.name = "net.wide.weight"}, %arg8: !nd.tensor<ui64> {heddle.donate = 10 : i64, nd.name = "mode.random.key"}, %arg9: !nd.tensor<i64> {heddle.donate = 11 : i64, nd.name = "mode.random.drawn"}, %arg10: !nd.tensor<f32, out: 32> {heddle.donate = 12 : i64, nd.name = "sgd.velocity.first.bias"}, %arg11: !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5> {heddle.donate = 13 : i64, nd.name = "sgd.velocity.first.weight"}, %arg12: !nd.tensor<f32, class: 10> {heddle.donate = 14 : i64, nd.name = "sgd.velocity.last.bias"}, %arg13: !nd.tensor<f32, class: 10, hidden: 1024> {heddle.donate = 15 : i64, nd.name = "sgd.velocity.last.weight"}, %arg14: !nd.tensor<f32, out: 64> {heddle.donate = 16 : i64, nd.name = "sgd.velocity.second.bias"}, %arg15: !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5> {heddle.donate = 17 : i64, nd.name = "sgd.velocity.second.weight"}, %arg16: !nd.tensor<f32, hidden: 1024> {heddle.donate = 18 : i64, nd.name = "sgd.velocity.wide.bias"}, %arg17: !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7> {heddle.donate = 19 : i64, nd.name = "sgd.velocity.wide.weight"}, %arg18: !nd.tensor<f32> {heddle.donate = 20 : i64, nd.name = "sgd.steps"}, %arg19: !nd.tensor<f32, batch: 64, channel: 1, column: 28, row: 28> {nd.name = "image"}, %arg20: !nd.tensor<i32, batch: 64> {nd.name = "label"}, %arg21: !nd.tensor<f32, batch: 64> {nd.name = "weight"}, %arg22: !nd.tensor<f32> {nd.name = "argument2"}) -> (!nd.tensor<f32> {nd.name = "outcome.loss"}, !nd.tensor<f32> {nd.name = "outcome.measures.accuracy"}, !nd.tensor<f32, out: 32> {nd.name = "net.first.bias"}, !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5> {nd.name = "net.first.weight"}, !nd.tensor<f32, class: 10> {nd.name = "net.last.bias"}, !nd.tensor<f32, class: 10, hidden: 1024> {nd.name = "net.last.weight"}, !nd.tensor<f32, out: 64> {nd.name = "net.second.bias"}, !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5> {nd.name = "net.second.weight"}, !nd.tensor<f32, hidden: 1024> {nd.name = "net.wide.bias"}, !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7> {nd.name = "net.wide.weight"}, !nd.tensor<ui64> {nd.name = "mode.random.key"}, !nd.tensor<i64> {nd.name = "mode.random.drawn"}, !nd.tensor<f32, out: 32> {nd.name = "sgd.velocity.first.bias"}, !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5> {nd.name = "sgd.velocity.first.weight"}, !nd.tensor<f32, class: 10> {nd.name = "sgd.velocity.last.bias"}, !nd.tensor<f32, class: 10, hidden: 1024> {nd.name = "sgd.velocity.last.weight"}, !nd.tensor<f32, out: 64> {nd.name = "sgd.velocity.second.bias"}, !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5> {nd.name = "sgd.velocity.second.weight"}, !nd.tensor<f32, hidden: 1024> {nd.name = "sgd.velocity.wide.bias"}, !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7> {nd.name = "sgd.velocity.wide.weight"}, !nd.tensor<f32> {nd.name = "sgd.steps"}) {
    %0 = nd.pointwise %arg21 : (!nd.tensor<f32, batch: 64>) -> !nd.tensor<i1, batch: 64> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %67 = arith.cmpf olt, %cst, %arg23 : f32
      nd.yield %67 : i1
    }
    %1 = nd.iota class : !nd.tensor<i32, class: 10>
    %2 = nd.gather %1 [class] at %arg20 : (!nd.tensor<i32, class: 10>, !nd.tensor<i32, batch: 64>) -> !nd.tensor<i32, batch: 64>
    %3 = nd.pointwise %2, %arg20 : (!nd.tensor<i32, batch: 64>, !nd.tensor<i32, batch: 64>) -> !nd.tensor<i1, batch: 64> {
    ^bb0(%arg23: i32, %arg24: i32):
      %67 = arith.cmpi eq, %arg23, %arg24 : i32
      nd.yield %67 : i1
    }
    %4 = nd.pointwise %arg8, %arg9 : (!nd.tensor<ui64>, !nd.tensor<i64>) -> !nd.tensor<ui64> {
    ^bb0(%arg23: i64, %arg24: i64):
      %c1_i64 = arith.constant 1 : i64
      %67 = arith.addi %arg24, %c1_i64 : i64
      %c-7046029254386353131_i64 = arith.constant -7046029254386353131 : i64
      %68 = arith.muli %67, %c-7046029254386353131_i64 : i64
      %69 = arith.addi %arg23, %68 : i64
      %c30_i64 = arith.constant 30 : i64
      %70 = arith.shrui %69, %c30_i64 : i64
      %71 = arith.xori %69, %70 : i64
      %c-4658895280553007687_i64 = arith.constant -4658895280553007687 : i64
      %72 = arith.muli %71, %c-4658895280553007687_i64 : i64
      %c27_i64 = arith.constant 27 : i64
      %73 = arith.shrui %72, %c27_i64 : i64
      %74 = arith.xori %72, %73 : i64
      %c-7723592293110705685_i64 = arith.constant -7723592293110705685 : i64
      %75 = arith.muli %74, %c-7723592293110705685_i64 : i64
      %c31_i64 = arith.constant 31 : i64
      %76 = arith.shrui %75, %c31_i64 : i64
      %77 = arith.xori %75, %76 : i64
      nd.yield %77 : i64
    }
    %5 = nd.iota batch : !nd.tensor<i64, batch: 64>
    %6 = nd.pointwise %4, %5 : (!nd.tensor<ui64>, !nd.tensor<i64, batch: 64>) -> !nd.tensor<ui64, batch: 64> {
    ^bb0(%arg23: i64, %arg24: i64):
      %c1_i64 = arith.constant 1 : i64
      %67 = arith.addi %arg24, %c1_i64 : i64
      %c-7046029254386353131_i64 = arith.constant -7046029254386353131 : i64
      %68 = arith.muli %67, %c-7046029254386353131_i64 : i64
      %69 = arith.addi %arg23, %68 : i64
      %c30_i64 = arith.constant 30 : i64
      %70 = arith.shrui %69, %c30_i64 : i64
      %71 = arith.xori %69, %70 : i64
      %c-4658895280553007687_i64 = arith.constant -4658895280553007687 : i64
      %72 = arith.muli %71, %c-4658895280553007687_i64 : i64
      %c27_i64 = arith.constant 27 : i64
      %73 = arith.shrui %72, %c27_i64 : i64
      %74 = arith.xori %72, %73 : i64
      %c-7723592293110705685_i64 = arith.constant -7723592293110705685 : i64
      %75 = arith.muli %74, %c-7723592293110705685_i64 : i64
      %c31_i64 = arith.constant 31 : i64
      %76 = arith.shrui %75, %c31_i64 : i64
      %77 = arith.xori %75, %76 : i64
      nd.yield %77 : i64
    }
    %7 = nd.random %6 by [hidden] : !nd.tensor<ui64, batch: 64> -> !nd.tensor<ui32, batch: 64, hidden: 1024>
    %8 = nd.pointwise %7 : (!nd.tensor<ui32, batch: 64, hidden: 1024>) -> !nd.tensor<f32, batch: 64, hidden: 1024> {
    ^bb0(%arg23: i32):
      %c8_i32 = arith.constant 8 : i32
      %67 = arith.shrui %arg23, %c8_i32 : i32
      %68 = arith.uitofp %67 : i32 to f32
      %cst = arith.constant 5.96046448E-8 : f32
      %69 = arith.mulf %68, %cst : f32
      nd.yield %69 : f32
    }
    %9 = nd.pointwise %8 : (!nd.tensor<f32, batch: 64, hidden: 1024>) -> !nd.tensor<i1, batch: 64, hidden: 1024> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 5.000000e-01 : f32
      %67 = arith.cmpf ole, %cst, %arg23 : f32
      nd.yield %67 : i1
    }
    %10 = nd.window %arg19 row -> row$1 size 5 pad 2, 2 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 64, channel: 1, column: 28, row: 28> -> !nd.tensor<f32, batch: 64, channel: 1, column: 28, row: 28, row$1: 5>
    %11 = nd.window %10 column -> column$2 size 5 pad 2, 2 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 64, channel: 1, column: 28, row: 28, row$1: 5> -> !nd.tensor<f32, batch: 64, channel: 1, column: 28, column$2: 5, row: 28, row$1: 5>
    %12 = nd.broadcast %1 : !nd.tensor<i32, class: 10> -> !nd.tensor<i32, batch: 64, class: 10>
    %13 = nd.pointwise %arg20, %12 : (!nd.tensor<i32, batch: 64>, !nd.tensor<i32, batch: 64, class: 10>) -> !nd.tensor<i1, batch: 64, class: 10> {
    ^bb0(%arg23: i32, %arg24: i32):
      %67 = arith.cmpi eq, %arg23, %arg24 : i32
      nd.yield %67 : i1
    }
    %14 = nd.reduce %arg21 over [batch] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64>) -> !nd.tensor<f32> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %15 = nd.pointwise %14 : (!nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %67 = arith.cmpf olt, %cst, %arg23 : f32
      nd.yield %67 : i1
    }
    %16 = nd.pointwise %15, %14 : (!nd.tensor<i1>, !nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%arg23: i1, %arg24: f32):
      %cst = arith.constant 1.000000e+00 : f32
      %67 = arith.select %arg23, %arg24, %cst : f32
      nd.yield %67 : f32
    }
    %17 = nd.pointwise %arg21 : (!nd.tensor<f32, batch: 64>) -> !nd.tensor<i1, batch: 64> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %67 = arith.cmpf olt, %cst, %arg23 : f32
      nd.yield %67 : i1
    }
    %18 = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
    %19 = nd.broadcast %18 : !nd.tensor<i64> -> !nd.tensor<i64, batch: 64, class: 10>
    %20 = nd.pointwise %19 : (!nd.tensor<i64, batch: 64, class: 10>) -> !nd.tensor<i64, batch: 64, class: 10> {
    ^bb0(%arg23: i64):
      %c10_i64 = arith.constant 10 : i64
      %67 = arith.muli %arg23, %c10_i64 : i64
      nd.yield %67 : i64
    }
    %21 = nd.iota class : !nd.tensor<i64, class: 10>
    %22 = nd.broadcast %21 : !nd.tensor<i64, class: 10> -> !nd.tensor<i64, batch: 64, class: 10>
    %23 = nd.pointwise %20, %22 : (!nd.tensor<i64, batch: 64, class: 10>, !nd.tensor<i64, batch: 64, class: 10>) -> !nd.tensor<i64, batch: 64, class: 10> {
    ^bb0(%arg23: i64, %arg24: i64):
      %67 = arith.addi %arg23, %arg24 : i64
      nd.yield %67 : i64
    }
    %24 = nd.pointwise %arg20 : (!nd.tensor<i32, batch: 64>) -> !nd.tensor<i64, batch: 64> {
    ^bb0(%arg23: i32):
      %67 = arith.extsi %arg23 : i32 to i64
      nd.yield %67 : i64
    }
    %25 = nd.reduce %arg21 over [batch] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64>) -> !nd.tensor<f32> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %26 = nd.pointwise %25 : (!nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %67 = arith.cmpf olt, %cst, %arg23 : f32
      nd.yield %67 : i1
    }
    %27 = nd.pointwise %26, %25 : (!nd.tensor<i1>, !nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%arg23: i1, %arg24: f32):
      %cst = arith.constant 1.000000e+00 : f32
      %67 = arith.select %arg23, %arg24, %cst : f32
      nd.yield %67 : f32
    }
    %28 = nd.pointwise %arg9 : (!nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%arg23: i64):
      %c1_i64 = arith.constant 1 : i64
      %67 = arith.addi %arg23, %c1_i64 : i64
      nd.yield %67 : i64
    }
    %29 = nd.constant dense<1.000000e+00> : tensor<f32> by [] : !nd.tensor<f32>
    %30 = nd.constant dense<0.000000e+00> : tensor<f32> by [] : !nd.tensor<f32>
    %31 = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<ui64>
    %32 = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
    %33:12 = nd.vjp @f(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %0, %3, %9, %11, %13, %arg21, %16, %17, %23, %24, %27, %arg8, %28) cotangents(%29, %30, %31, %32) wrt [0, 1, 2, 3, 4, 5, 6, 7] : (!nd.tensor<f32, out: 32>, !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>, !nd.tensor<f32, class: 10>, !nd.tensor<f32, class: 10, hidden: 1024>, !nd.tensor<f32, out: 64>, !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>, !nd.tensor<f32, hidden: 1024>, !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>, !nd.tensor<i1, batch: 64>, !nd.tensor<i1, batch: 64>, !nd.tensor<i1, batch: 64, hidden: 1024>, !nd.tensor<f32, batch: 64, channel: 1, column: 28, column$2: 5, row: 28, row$1: 5>, !nd.tensor<i1, batch: 64, class: 10>, !nd.tensor<f32, batch: 64>, !nd.tensor<f32>, !nd.tensor<i1, batch: 64>, !nd.tensor<i64, batch: 64, class: 10>, !nd.tensor<i64, batch: 64>, !nd.tensor<f32>, !nd.tensor<ui64>, !nd.tensor<i64>, !nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<ui64>, !nd.tensor<i64>) -> (!nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<ui64>, !nd.tensor<i64>, !nd.tensor<f32, out: 32>, !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>, !nd.tensor<f32, class: 10>, !nd.tensor<f32, class: 10, hidden: 1024>, !nd.tensor<f32, out: 64>, !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>, !nd.tensor<f32, hidden: 1024>, !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>)
    %34 = nd.pointwise %arg10 : (!nd.tensor<f32, out: 32>) -> !nd.tensor<f32, out: 32> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.899999976 : f32
      %67 = arith.mulf %arg23, %cst : f32
      nd.yield %67 : f32
    }
    %35 = nd.pointwise %34, %33#4 : (!nd.tensor<f32, out: 32>, !nd.tensor<f32, out: 32>) -> !nd.tensor<f32, out: 32> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %36 = nd.pointwise %35, %arg22 : (!nd.tensor<f32, out: 32>, !nd.tensor<f32>) -> !nd.tensor<f32, out: 32> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.mulf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %37 = nd.pointwise %arg0, %36 : (!nd.tensor<f32, out: 32>, !nd.tensor<f32, out: 32>) -> !nd.tensor<f32, out: 32> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.subf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %38 = nd.pointwise %arg11 : (!nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>) -> !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.899999976 : f32
      %67 = arith.mulf %arg23, %cst : f32
      nd.yield %67 : f32
    }
    %39 = nd.pointwise %38, %33#5 : (!nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>, !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>) -> !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %40 = nd.pointwise %39, %arg22 : (!nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>, !nd.tensor<f32>) -> !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.mulf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %41 = nd.pointwise %arg1, %40 : (!nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>, !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>) -> !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.subf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %42 = nd.pointwise %arg12 : (!nd.tensor<f32, class: 10>) -> !nd.tensor<f32, class: 10> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.899999976 : f32
      %67 = arith.mulf %arg23, %cst : f32
      nd.yield %67 : f32
    }
    %43 = nd.pointwise %42, %33#6 : (!nd.tensor<f32, class: 10>, !nd.tensor<f32, class: 10>) -> !nd.tensor<f32, class: 10> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %44 = nd.pointwise %43, %arg22 : (!nd.tensor<f32, class: 10>, !nd.tensor<f32>) -> !nd.tensor<f32, class: 10> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.mulf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %45 = nd.pointwise %arg2, %44 : (!nd.tensor<f32, class: 10>, !nd.tensor<f32, class: 10>) -> !nd.tensor<f32, class: 10> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.subf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %46 = nd.pointwise %arg13 : (!nd.tensor<f32, class: 10, hidden: 1024>) -> !nd.tensor<f32, class: 10, hidden: 1024> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.899999976 : f32
      %67 = arith.mulf %arg23, %cst : f32
      nd.yield %67 : f32
    }
    %47 = nd.pointwise %46, %33#7 : (!nd.tensor<f32, class: 10, hidden: 1024>, !nd.tensor<f32, class: 10, hidden: 1024>) -> !nd.tensor<f32, class: 10, hidden: 1024> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %48 = nd.pointwise %47, %arg22 : (!nd.tensor<f32, class: 10, hidden: 1024>, !nd.tensor<f32>) -> !nd.tensor<f32, class: 10, hidden: 1024> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.mulf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %49 = nd.pointwise %arg3, %48 : (!nd.tensor<f32, class: 10, hidden: 1024>, !nd.tensor<f32, class: 10, hidden: 1024>) -> !nd.tensor<f32, class: 10, hidden: 1024> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.subf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %50 = nd.pointwise %arg14 : (!nd.tensor<f32, out: 64>) -> !nd.tensor<f32, out: 64> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.899999976 : f32
      %67 = arith.mulf %arg23, %cst : f32
      nd.yield %67 : f32
    }
    %51 = nd.pointwise %50, %33#8 : (!nd.tensor<f32, out: 64>, !nd.tensor<f32, out: 64>) -> !nd.tensor<f32, out: 64> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %52 = nd.pointwise %51, %arg22 : (!nd.tensor<f32, out: 64>, !nd.tensor<f32>) -> !nd.tensor<f32, out: 64> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.mulf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %53 = nd.pointwise %arg4, %52 : (!nd.tensor<f32, out: 64>, !nd.tensor<f32, out: 64>) -> !nd.tensor<f32, out: 64> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.subf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %54 = nd.pointwise %arg15 : (!nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>) -> !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.899999976 : f32
      %67 = arith.mulf %arg23, %cst : f32
      nd.yield %67 : f32
    }
    %55 = nd.pointwise %54, %33#9 : (!nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>, !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>) -> !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %56 = nd.pointwise %55, %arg22 : (!nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>, !nd.tensor<f32>) -> !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.mulf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %57 = nd.pointwise %arg5, %56 : (!nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>, !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>) -> !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.subf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %58 = nd.pointwise %arg16 : (!nd.tensor<f32, hidden: 1024>) -> !nd.tensor<f32, hidden: 1024> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.899999976 : f32
      %67 = arith.mulf %arg23, %cst : f32
      nd.yield %67 : f32
    }
    %59 = nd.pointwise %58, %33#10 : (!nd.tensor<f32, hidden: 1024>, !nd.tensor<f32, hidden: 1024>) -> !nd.tensor<f32, hidden: 1024> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %60 = nd.pointwise %59, %arg22 : (!nd.tensor<f32, hidden: 1024>, !nd.tensor<f32>) -> !nd.tensor<f32, hidden: 1024> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.mulf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %61 = nd.pointwise %arg6, %60 : (!nd.tensor<f32, hidden: 1024>, !nd.tensor<f32, hidden: 1024>) -> !nd.tensor<f32, hidden: 1024> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.subf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %62 = nd.pointwise %arg17 : (!nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>) -> !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 0.899999976 : f32
      %67 = arith.mulf %arg23, %cst : f32
      nd.yield %67 : f32
    }
    %63 = nd.pointwise %62, %33#11 : (!nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>, !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>) -> !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.addf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %64 = nd.pointwise %63, %arg22 : (!nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>, !nd.tensor<f32>) -> !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.mulf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %65 = nd.pointwise %arg7, %64 : (!nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>, !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>) -> !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7> {
    ^bb0(%arg23: f32, %arg24: f32):
      %67 = arith.subf %arg23, %arg24 : f32
      nd.yield %67 : f32
    }
    %66 = nd.pointwise %arg18 : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%arg23: f32):
      %cst = arith.constant 1.000000e+00 : f32
      %67 = arith.addf %arg23, %cst : f32
      nd.yield %67 : f32
    }
    return %33#0, %33#1, %37, %41, %45, %49, %53, %57, %61, %65, %33#2, %33#3, %35, %39, %43, %47, %51, %55, %59, %63, %66 : !nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<f32, out: 32>, !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>, !nd.tensor<f32, class: 10>, !nd.tensor<f32, class: 10, hidden: 1024>, !nd.tensor<f32, out: 64>, !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>, !nd.tensor<f32, hidden: 1024>, !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>, !nd.tensor<ui64>, !nd.tensor<i64>, !nd.tensor<f32, out: 32>, !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>, !nd.tensor<f32, class: 10>, !nd.tensor<f32, class: 10, hidden: 1024>, !nd.tensor<f32, out: 64>, !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>, !nd.tensor<f32, hidden: 1024>, !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>, !nd.tensor<f32>
  }
  func.func private @f(%arg0: !nd.tensor<f32, out: 32>, %arg1: !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5>, %arg2: !nd.tensor<f32, class: 10>, %arg3: !nd.tensor<f32, class: 10, hidden: 1024>, %arg4: !nd.tensor<f32, out: 64>, %arg5: !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5>, %arg6: !nd.tensor<f32, hidden: 1024>, %arg7: !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>, %arg8: !nd.tensor<i1, batch: 64>, %arg9: !nd.tensor<i1, batch: 64>, %arg10: !nd.tensor<i1, batch: 64, hidden: 1024>, %arg11: !nd.tensor<f32, batch: 64, channel: 1, column: 28, column$2: 5, row: 28, row$1: 5>, %arg12: !nd.tensor<i1, batch: 64, class: 10>, %arg13: !nd.tensor<f32, batch: 64>, %arg14: !nd.tensor<f32>, %arg15: !nd.tensor<i1, batch: 64>, %arg16: !nd.tensor<i64, batch: 64, class: 10>, %arg17: !nd.tensor<i64, batch: 64>, %arg18: !nd.tensor<f32>, %arg19: !nd.tensor<ui64>, %arg20: !nd.tensor<i64>) -> (!nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<ui64>, !nd.tensor<i64>) {
    %0 = nd.rename %arg1 [row_k] to [row$1] : !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row_k: 5> -> !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row$1: 5>
    %1 = nd.rename %0 [column_k] to [column$2] : !nd.tensor<f32, channel: 1, column_k: 5, out: 32, row$1: 5> -> !nd.tensor<f32, channel: 1, column$2: 5, out: 32, row$1: 5>
    %2 = nd.pointwise %arg11, %1 : (!nd.tensor<f32, batch: 64, channel: 1, column: 28, column$2: 5, row: 28, row$1: 5>, !nd.tensor<f32, channel: 1, column$2: 5, out: 32, row$1: 5>) -> !nd.tensor<f32, batch: 64, channel: 1, column: 28, column$2: 5, out: 32, row: 28, row$1: 5> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.mulf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %3 = nd.reduce %2 over [channel, row$1, column$2] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64, channel: 1, column: 28, column$2: 5, out: 32, row: 28, row$1: 5>) -> !nd.tensor<f32, batch: 64, column: 28, out: 32, row: 28> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %4 = nd.pointwise %3, %arg0 : (!nd.tensor<f32, batch: 64, column: 28, out: 32, row: 28>, !nd.tensor<f32, out: 32>) -> !nd.tensor<f32, batch: 64, column: 28, out: 32, row: 28> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %5 = nd.rename %4 [out] to [channel] : !nd.tensor<f32, batch: 64, column: 28, out: 32, row: 28> -> !nd.tensor<f32, batch: 64, channel: 32, column: 28, row: 28>
    %6 = nd.pointwise %5 : (!nd.tensor<f32, batch: 64, channel: 32, column: 28, row: 28>) -> !nd.tensor<f32, batch: 64, channel: 32, column: 28, row: 28> {
    ^bb0(%arg21: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %52 = arith.maximumf %arg21, %cst : f32
      nd.yield %52 : f32
    }
    %7 = nd.window %6 row -> row$3 size 2 stride 2 : !nd.tensor<f32, batch: 64, channel: 32, column: 28, row: 28> -> !nd.tensor<f32, batch: 64, channel: 32, column: 28, row: 14, row$3: 2>
    %8 = nd.window %7 column -> column$4 size 2 stride 2 : !nd.tensor<f32, batch: 64, channel: 32, column: 28, row: 14, row$3: 2> -> !nd.tensor<f32, batch: 64, channel: 32, column: 14, column$4: 2, row: 14, row$3: 2>
    %9 = nd.reduce %8 over [row$3, column$4] neutral [0xFF800000 : f32] : (!nd.tensor<f32, batch: 64, channel: 32, column: 14, column$4: 2, row: 14, row$3: 2>) -> !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.maximumf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %10 = nd.window %9 row -> row$5 size 5 pad 2, 2 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14> -> !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14, row$5: 5>
    %11 = nd.window %10 column -> column$6 size 5 pad 2, 2 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14, row$5: 5> -> !nd.tensor<f32, batch: 64, channel: 32, column: 14, column$6: 5, row: 14, row$5: 5>
    %12 = nd.rename %arg5 [row_k] to [row$5] : !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row_k: 5> -> !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row$5: 5>
    %13 = nd.rename %12 [column_k] to [column$6] : !nd.tensor<f32, channel: 32, column_k: 5, out: 64, row$5: 5> -> !nd.tensor<f32, channel: 32, column$6: 5, out: 64, row$5: 5>
    %14 = nd.pointwise %11, %13 : (!nd.tensor<f32, batch: 64, channel: 32, column: 14, column$6: 5, row: 14, row$5: 5>, !nd.tensor<f32, channel: 32, column$6: 5, out: 64, row$5: 5>) -> !nd.tensor<f32, batch: 64, channel: 32, column: 14, column$6: 5, out: 64, row: 14, row$5: 5> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.mulf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %15 = nd.reduce %14 over [channel, row$5, column$6] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64, channel: 32, column: 14, column$6: 5, out: 64, row: 14, row$5: 5>) -> !nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %16 = nd.pointwise %15, %arg4 : (!nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14>, !nd.tensor<f32, out: 64>) -> !nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %17 = nd.rename %16 [out] to [channel] : !nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14> -> !nd.tensor<f32, batch: 64, channel: 64, column: 14, row: 14>
    %18 = nd.pointwise %17 : (!nd.tensor<f32, batch: 64, channel: 64, column: 14, row: 14>) -> !nd.tensor<f32, batch: 64, channel: 64, column: 14, row: 14> {
    ^bb0(%arg21: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %52 = arith.maximumf %arg21, %cst : f32
      nd.yield %52 : f32
    }
    %19 = nd.window %18 row -> row$7 size 2 stride 2 : !nd.tensor<f32, batch: 64, channel: 64, column: 14, row: 14> -> !nd.tensor<f32, batch: 64, channel: 64, column: 14, row: 7, row$7: 2>
    %20 = nd.window %19 column -> column$8 size 2 stride 2 : !nd.tensor<f32, batch: 64, channel: 64, column: 14, row: 7, row$7: 2> -> !nd.tensor<f32, batch: 64, channel: 64, column: 7, column$8: 2, row: 7, row$7: 2>
    %21 = nd.reduce %20 over [row$7, column$8] neutral [0xFF800000 : f32] : (!nd.tensor<f32, batch: 64, channel: 64, column: 7, column$8: 2, row: 7, row$7: 2>) -> !nd.tensor<f32, batch: 64, channel: 64, column: 7, row: 7> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.maximumf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %22 = nd.pointwise %21, %arg7 : (!nd.tensor<f32, batch: 64, channel: 64, column: 7, row: 7>, !nd.tensor<f32, channel: 64, column: 7, hidden: 1024, row: 7>) -> !nd.tensor<f32, batch: 64, channel: 64, column: 7, hidden: 1024, row: 7> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.mulf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %23 = nd.reduce %22 over [row, column, channel] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64, channel: 64, column: 7, hidden: 1024, row: 7>) -> !nd.tensor<f32, batch: 64, hidden: 1024> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %24 = nd.pointwise %23, %arg6 : (!nd.tensor<f32, batch: 64, hidden: 1024>, !nd.tensor<f32, hidden: 1024>) -> !nd.tensor<f32, batch: 64, hidden: 1024> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %25 = nd.pointwise %24 : (!nd.tensor<f32, batch: 64, hidden: 1024>) -> !nd.tensor<f32, batch: 64, hidden: 1024> {
    ^bb0(%arg21: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %52 = arith.maximumf %arg21, %cst : f32
      nd.yield %52 : f32
    }
    %26 = nd.pointwise %25 : (!nd.tensor<f32, batch: 64, hidden: 1024>) -> !nd.tensor<f32, batch: 64, hidden: 1024> {
    ^bb0(%arg21: f32):
      %cst = arith.constant 2.000000e+00 : f32
      %52 = arith.mulf %arg21, %cst : f32
      nd.yield %52 : f32
    }
    %27 = nd.pointwise %arg10, %26 : (!nd.tensor<i1, batch: 64, hidden: 1024>, !nd.tensor<f32, batch: 64, hidden: 1024>) -> !nd.tensor<f32, batch: 64, hidden: 1024> {
    ^bb0(%arg21: i1, %arg22: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %52 = arith.select %arg21, %arg22, %cst : f32
      nd.yield %52 : f32
    }
    %28 = nd.pointwise %27, %arg3 : (!nd.tensor<f32, batch: 64, hidden: 1024>, !nd.tensor<f32, class: 10, hidden: 1024>) -> !nd.tensor<f32, batch: 64, class: 10, hidden: 1024> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.mulf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %29 = nd.reduce %28 over [hidden] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64, class: 10, hidden: 1024>) -> !nd.tensor<f32, batch: 64, class: 10> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %30 = nd.pointwise %29, %arg2 : (!nd.tensor<f32, batch: 64, class: 10>, !nd.tensor<f32, class: 10>) -> !nd.tensor<f32, batch: 64, class: 10> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %31 = nd.reduce %30 over [class] neutral [0xFF800000 : f32] : (!nd.tensor<f32, batch: 64, class: 10>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.maximumf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %32 = nd.stop_gradient %31 : !nd.tensor<f32, batch: 64>
    %33 = nd.pointwise %30, %32 : (!nd.tensor<f32, batch: 64, class: 10>, !nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64, class: 10> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.subf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %34 = nd.pointwise %33 : (!nd.tensor<f32, batch: 64, class: 10>) -> !nd.tensor<f32, batch: 64, class: 10> {
    ^bb0(%arg21: f32):
      %52 = math.exp %arg21 : f32
      nd.yield %52 : f32
    }
    %35 = nd.reduce %34 over [class] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64, class: 10>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %36 = nd.pointwise %35 : (!nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: f32):
      %52 = math.log %arg21 : f32
      nd.yield %52 : f32
    }
    %37 = nd.pointwise %arg12, %33 : (!nd.tensor<i1, batch: 64, class: 10>, !nd.tensor<f32, batch: 64, class: 10>) -> !nd.tensor<f32, batch: 64, class: 10> {
    ^bb0(%arg21: i1, %arg22: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %52 = arith.select %arg21, %arg22, %cst : f32
      nd.yield %52 : f32
    }
    %38 = nd.reduce %37 over [class] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64, class: 10>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %39 = nd.pointwise %36, %38 : (!nd.tensor<f32, batch: 64>, !nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.subf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %40 = nd.pointwise %arg9, %39 : (!nd.tensor<i1, batch: 64>, !nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: i1, %arg22: f32):
      %cst = arith.constant 0x7FC00000 : f32
      %52 = arith.select %arg21, %arg22, %cst : f32
      nd.yield %52 : f32
    }
    %41 = nd.pointwise %40, %arg13 : (!nd.tensor<f32, batch: 64>, !nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.mulf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %42 = nd.pointwise %arg8, %41 : (!nd.tensor<i1, batch: 64>, !nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: i1, %arg22: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %52 = arith.select %arg21, %arg22, %cst : f32
      nd.yield %52 : f32
    }
    %43 = nd.reduce %42 over [batch] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64>) -> !nd.tensor<f32> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %44 = nd.pointwise %43, %arg14 : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.divf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %45:2 = nd.reduce %30, %arg16 over [class] neutral [0x7FC00000 : f32, 9223372036854775807] : (!nd.tensor<f32, batch: 64, class: 10>, !nd.tensor<i64, batch: 64, class: 10>) -> (!nd.tensor<f32, batch: 64>, !nd.tensor<i64, batch: 64>) {
    ^bb0(%arg21: f32, %arg22: i64, %arg23: f32, %arg24: i64):
      %52 = arith.cmpf uno, %arg21, %arg21 : f32
      %53 = arith.cmpf uno, %arg23, %arg23 : f32
      %54 = arith.cmpf ogt, %arg23, %arg21 : f32
      %55 = arith.cmpf ord, %arg23, %arg23 : f32
      %56 = arith.andi %52, %55 : i1
      %57 = arith.ori %54, %56 : i1
      %58 = arith.cmpf oeq, %arg23, %arg21 : f32
      %59 = arith.andi %52, %53 : i1
      %60 = arith.ori %58, %59 : i1
      %61 = arith.cmpi slt, %arg24, %arg22 : i64
      %62 = arith.andi %60, %61 : i1
      %63 = arith.ori %57, %62 : i1
      %64 = arith.select %63, %arg23, %arg21 : f32
      %65 = arith.select %63, %arg24, %arg22 : i64
      nd.yield %64, %65 : f32, i64
    }
    %46 = nd.pointwise %45#1, %arg17 : (!nd.tensor<i64, batch: 64>, !nd.tensor<i64, batch: 64>) -> !nd.tensor<i1, batch: 64> {
    ^bb0(%arg21: i64, %arg22: i64):
      %52 = arith.cmpi eq, %arg21, %arg22 : i64
      nd.yield %52 : i1
    }
    %47 = nd.pointwise %46 : (!nd.tensor<i1, batch: 64>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: i1):
      %52 = arith.uitofp %arg21 : i1 to f32
      nd.yield %52 : f32
    }
    %48 = nd.pointwise %47, %arg13 : (!nd.tensor<f32, batch: 64>, !nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.mulf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %49 = nd.pointwise %arg15, %48 : (!nd.tensor<i1, batch: 64>, !nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64> {
    ^bb0(%arg21: i1, %arg22: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %52 = arith.select %arg21, %arg22, %cst : f32
      nd.yield %52 : f32
    }
    %50 = nd.reduce %49 over [batch] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 64>) -> !nd.tensor<f32> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.addf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    %51 = nd.pointwise %50, %arg18 : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%arg21: f32, %arg22: f32):
      %52 = arith.divf %arg21, %arg22 : f32
      nd.yield %52 : f32
    }
    return %44, %51, %arg19, %arg20 : !nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<ui64>, !nd.tensor<i64>
  }
}
