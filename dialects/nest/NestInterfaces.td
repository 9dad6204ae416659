//===- NestInterfaces.td - interfaces of nest ops ----------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NEST_INTERFACES_TD
#define HEDDLE_NEST_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Nest_LoopNestInterface : OpInterface<"LoopNestInterface"> {
  let cppNamespace = "::heddle::nest";
  let description = [{
    A loop nest on its own: it walks iteration names, reads tensors by maps and guards, and combines what its scalar
    body makes of them. Reads of the body come first, those of an epilogue follow.
  }];
  let methods = [
    InterfaceMethod<"The names that it walks: those that it produces or writes by, then those that it reduces.",
        "::llvm::SmallVector<::heddle::nd::DimsAttr, 2>", "getIterationNames">,
    InterfaceMethod<"The position of the first read among the operands.", "unsigned", "getFirstRead">,
    InterfaceMethod<"The tensor that it consumes and writes into; null if it makes new ones. See `updatedBy`.",
        "::mlir::Value", "getUpdated", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"The number of reads that the body gets.", "unsigned", "getNumBodyReads", (ins), [{}],
        [{ return $_op.getReads().size(); }]>,
    InterfaceMethod<"One map for each read.", "::mlir::ArrayAttr", "getMapsAttr">,
    InterfaceMethod<"", "void", "setMapsAttr", (ins "::mlir::ArrayAttr":$maps)>,
    InterfaceMethod<"One guard for each read.", "::mlir::ArrayAttr", "getGuardsAttr">,
    InterfaceMethod<"", "void", "setGuardsAttr", (ins "::mlir::ArrayAttr":$guards)>,
    InterfaceMethod<"The scalar code of a point.", "::mlir::Region &", "getBody">,
    InterfaceMethod<"The scalar code that combines two values; empty if nothing is combined.", "::mlir::Region &",
        "getCombine">
  ];
  let extraSharedClassDeclaration = [{
    /// The tensors that are read, those of an epilogue included.
    ::mlir::OperandRange getMappedReads() {
      return $_op->getOperands().drop_front($_op.getFirstRead());
    }
  }];
}

def Nest_HoldsNestsInterface : OpInterface<"HoldsNestsInterface"> {
  let cppNamespace = "::heddle::nest";
  let description = [{
    An op whose region holds nests, which it runs once for each point of some names: together at each point (a
    group), or point after point (a recurrence).
  }];
  let methods = [
    InterfaceMethod<"These names.", "::heddle::nd::DimsAttr", "getOuterNames">
  ];
}

def Nest_ScheduledInterface : OpInterface<"ScheduledInterface"> {
  let cppNamespace = "::heddle::nest";
  let description = [{ An op whose loops a schedule orders, once one is chosen. }];
  let methods = [
    InterfaceMethod<"Null if none is chosen.", "::heddle::nest::ScheduleAttr", "getScheduleAttr">,
    InterfaceMethod<"", "void", "setScheduleAttr", (ins "::heddle::nest::ScheduleAttr":$schedule)>
  ];
}

#endif // HEDDLE_NEST_INTERFACES_TD
