//===- NestInterfaces.td - interfaces of nest ops ----------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NEST_INTERFACES_TD
#define HEDDLE_NEST_INTERFACES_TD

include "mlir/IR/OpBase.td"

class Nest_Interface<string name> : OpInterface<name> { let cppNamespace = "::heddle::nest"; }

def Nest_LoopNestInterface : Nest_Interface<"LoopNestInterface"> {
  let description = [{
    A loop nest with a scalar body: at each point of its iteration names it reads tensors by maps and guards, and
    combines the values of the body. Reads of the body come first, those of an epilogue follow.
  }];
  let methods = [
    InterfaceMethod<"The iteration names: first those of the results (of the space of an update), then the reduced ones.",
        "::llvm::SmallVector<::heddle::nd::DimsAttr, 2>", "getIterationNames">,
    InterfaceMethod<"The position of the first read among the operands.", "unsigned", "getFirstRead">,
    InterfaceMethod<"The tensor that it updates; null if its results are new tensors. See `updatedBy`.",
        "::mlir::Value", "getUpdated", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"The number of reads of the body.", "unsigned", "getNumBodyReads", (ins), [{}],
        [{ return $_op.getReads().size(); }]>,
    InterfaceMethod<"One map for each read.", "::mlir::ArrayAttr", "getMapsAttr">,
    InterfaceMethod<"", "void", "setMapsAttr", (ins "::mlir::ArrayAttr":$maps)>,
    InterfaceMethod<"One guard for each read.", "::mlir::ArrayAttr", "getGuardsAttr">,
    InterfaceMethod<"", "void", "setGuardsAttr", (ins "::mlir::ArrayAttr":$guards)>,
    InterfaceMethod<"The scalar code that runs at each point.", "::mlir::Region &", "getBody">,
    InterfaceMethod<"The scalar code of the combiner; empty if there is none.", "::mlir::Region &",
        "getCombine">
  ];
  let extraSharedClassDeclaration = [{
    /// The tensors that are read, including those of an epilogue.
    ::mlir::OperandRange getMappedReads() {
      return $_op->getOperands().drop_front($_op.getFirstRead());
    }
  }];
}

def Nest_HoldsNestsInterface : Nest_Interface<"HoldsNestsInterface"> {
  let description = [{
    An op whose region holds nests, which it runs once for each point of some names: together at each point (a
    group), or point after point (a recurrence).
  }];
  let methods = [
    InterfaceMethod<"The names.", "::heddle::nd::DimsAttr", "getOuterNames">
  ];
}

def Nest_LaidOutInterface : Nest_Interface<"LaidOutInterface"> {
  let description = [{
    An op with attributes for the layouts of its results, chosen by the compiler or written by hand: a nest, or an
    `nd.constant`.
  }];
  let methods = [
    InterfaceMethod<"A layout (or unit) for each result; null if none is stated.", "::mlir::ArrayAttr",
        "getLayoutsAttr">,
    InterfaceMethod<"", "void", "setLayoutsAttr", (ins "::mlir::ArrayAttr":$layouts)>
  ];
  let verify = [{ return ::heddle::nest::detail::verifyLayouts($_op); }];
  let extraSharedClassDeclaration = [{
    /// The layout of result `i`; null if none is stated.
    ::heddle::nest::LayoutAttr layout(unsigned i) {
      ::mlir::ArrayAttr layouts = $_op.getLayoutsAttr();
      return layouts ? ::llvm::dyn_cast<::heddle::nest::LayoutAttr>(layouts[i]) : ::heddle::nest::LayoutAttr();
    }
    void setLayout(unsigned i, ::heddle::nest::LayoutAttr layout) {
      ::llvm::SmallVector<::mlir::Attribute> layouts($_op->getNumResults(), ::mlir::UnitAttr::get(layout.getContext()));
      if (::mlir::ArrayAttr known = $_op.getLayoutsAttr())
        ::llvm::copy(known, layouts.begin());
      layouts[i] = layout;
      $_op.setLayoutsAttr(::mlir::ArrayAttr::get(layout.getContext(), layouts));
    }
  }];
}

def Nest_TransferInterface : Nest_Interface<"TransferInterface"> {
  let description = [{
    An op that moves a buffer between devices, without changing the order of its elements: its result has the layout of
    its operand.
  }];
  let methods = [
    InterfaceMethod<"The names that this layout has outermost, each by itself, the first one outermost.",
        "::llvm::SmallVector<::mlir::StringAttr>", "getOutermostNames">,
    InterfaceMethod<[{
      The number of blocks that a device sends. A block has the smaller of the operand's and the result's size of each
      name.
    }], "double", "getSentBlocks">
  ];
}

def Nest_CopyingInterface : Nest_Interface<"CopyingInterface"> {
  let description = [{
    An op that copies tensors if it can't work in place, with separately scheduled loops.
  }];
  let methods = [
    InterfaceMethod<"The tensors that it may copy.", "::llvm::SmallVector<::heddle::nd::NdTensorType>",
        "getCopiedTypes">,
    InterfaceMethod<"A schedule for each of these copies; null if none is chosen.", "::mlir::ArrayAttr",
        "getCopiesAttr">,
    InterfaceMethod<"", "void", "setCopiesAttr", (ins "::mlir::ArrayAttr":$copies)>
  ];
  let verify = [{ return ::heddle::nest::detail::verifyCopies($_op); }];
  let extraSharedClassDeclaration = [{
    /// The schedule of copy `i`; one without loops if none is chosen.
    ::heddle::nest::Schedule copySchedule(size_t i) {
      ::mlir::ArrayAttr copies = $_op.getCopiesAttr();
      return copies ? ::llvm::cast<::heddle::nest::ScheduleAttr>(copies[i]).getSchedule() : ::heddle::nest::Schedule();
    }
  }];
}

def Nest_ScheduledInterface : Nest_Interface<"ScheduledInterface"> {
  let description = [{ An op with loops, to which `nest-choose-schedules` adds a schedule. }];
  let methods = [
    InterfaceMethod<"The names over which parallel loops may iterate.", "::heddle::nd::DimsAttr",
        "getSharedNames">,
    InterfaceMethod<"Null if none is chosen.", "::heddle::nest::ScheduleAttr", "getScheduleAttr">,
    InterfaceMethod<"", "void", "setScheduleAttr", (ins "::heddle::nest::ScheduleAttr":$schedule)>
  ];
}

#endif // HEDDLE_NEST_INTERFACES_TD
