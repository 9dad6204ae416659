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
  let summary = "How a value is computed: loop nests over named iteration spaces";
  let description = [{
    Operands and results are nd tensors, so nothing here knows an address. Layouts and
    schedules are attributes: chosen by passes or written by hand, printed, and kept.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::heddle::nd::NdDialect"];
}

#endif // HEDDLE_NEST_DIALECT_TD
