//===- ExpandInterface.td - expansion of extension ops -----*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_EXPANDINTERFACE_TD
#define HEDDLE_TRANSFORMS_ND_EXPANDINTERFACE_TD

include "mlir/IR/OpBase.td"

def Nd_ExpandInterface : OpInterface<"ExpandInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op of another dialect that the compiler replaces by ops of nd and nest: `nd-expand` does so
    once gradients have been expanded.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds a value for each result, of its type. Emits an error and fails where it can't.
    }], "::mlir::LogicalResult", "expand",
    (ins "::mlir::OpBuilder &":$builder, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

#endif // HEDDLE_TRANSFORMS_ND_EXPANDINTERFACE_TD
