//===- NdDialect.td - named-dimension tensors --------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_DIALECT_TD
#define HEDDLE_ND_DIALECT_TD

include "mlir/IR/OpBase.td"

def Nd_Dialect : Dialect {
  let name = "nd";
  let cppNamespace = "::heddle::nd";
  let summary = "Tensors whose dimensions have names and no order";
  let description = [{
    A value of this dialect is a function from named coordinates to scalars. Nothing
    says in which order dimensions lie in memory, and nothing depends on the order in
    which names are written.

    A function may say how large its size symbols are:

    ```mlir
    func.func @f(%x: !nd.tensor<f32, row: 8 * N>) attributes {nd.ranges = {N = [1, 512]}}
    ```

    The runtime refuses a call with another size, and the compiler uses the range. A size that is a
    multiple is written as one, `8 * N`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // HEDDLE_ND_DIALECT_TD
