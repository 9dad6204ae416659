//===- MeaningInterface.td - meanings of extension ops -----*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_INTERP_MEANINGINTERFACE_TD
#define HEDDLE_INTERP_MEANINGINTERFACE_TD

include "mlir/IR/OpBase.td"

def Interp_MeaningInterface : OpInterface<"MeaningInterface"> {
  let cppNamespace = "::heddle::interp";
  let description = [{
    An op of another dialect that defines how the oracle evaluates it.
  }];
  let methods = [
    InterfaceMethod<[{
      Computes the elements of the results from those of the operands. `results` have their types, with
      numbers as sizes, and no elements yet. `arithmetic` computes with error bounds. Emits an error
      and fails if the op has no value.
    }], "::mlir::LogicalResult", "evaluate",
    (ins "::llvm::ArrayRef<const ::heddle::interp::TensorValue *>":$operands,
         "::llvm::MutableArrayRef<::heddle::interp::TensorValue>":$results,
         "::heddle::interp::Arithmetic &":$arithmetic)>
  ];
}

#endif // HEDDLE_INTERP_MEANINGINTERFACE_TD
