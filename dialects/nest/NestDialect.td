//===- NestDialect.td - layout-agnostic loop nests ---------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NEST_DIALECT_TD
#define HEDDLE_NEST_DIALECT_TD

include "mlir/IR/OpBase.td"

def Nest_Dialect : Dialect {
  let name = "nest";
  let cppNamespace = "::heddle::nest";
  let summary = "Loop nests over named iteration spaces";
  let description = [{
    Operands and results are nd tensors, so that no op depends on addresses. Layouts and schedules are attributes, which
    passes choose or users write; passes keep user-written ones.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::heddle::nd::NdDialect"];
}

#endif // HEDDLE_NEST_DIALECT_TD
