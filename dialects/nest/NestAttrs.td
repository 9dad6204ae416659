//===- NestAttrs.td - maps, guards, layouts, schedules -----*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NEST_ATTRS_TD
#define HEDDLE_NEST_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "dialects/nest/NestDialect.td"
include "dialects/nd/NdAttrs.td"

class Nest_Attr<string name, string attrMnemonic> : AttrDef<Nest_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Nest_MapAttr : Nest_Attr<"Map", "map"> {
  let summary = "where a nest reads or writes: an expression for each name of the tensor";
  let description = [{
    Variables are iteration names (of the nest and of the groups around it); `read(2)` is the value of the nest's
    third read, which makes the map a gathered one. Entries are sorted by tensor name. In an op
    names that map to themselves are not printed.

    ```mlir
    #nest.map<row = 2 * row + ky, column = column, channel = read(0)>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::heddle::nest::MapEntry">:$entries);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static MapAttr getSorted(::mlir::MLIRContext *context, ::llvm::ArrayRef<MapEntry> entries);
    /// Every name of `type` maps to itself.
    static MapAttr identity(::heddle::nd::NdTensorType type);
    /// The expression for `name`; none if the tensor has no such name.
    std::optional<::heddle::Expr> lookup(::llvm::StringRef name) const;
    MapAttr substitute(const std::map<std::string, ::heddle::Expr, std::less<>> &replacement) const;
    bool mentions(::llvm::StringRef name) const;
  }];
}

def Nest_GuardAttr : Nest_Attr<"Guard", "guard"> {
  let summary = "when a read happens, and what is read instead";
  let description = [{
    A conjunction of conditions `e >= 0` and `e == 0` over iteration names. Where it fails the read gives
    `otherwise`; without `otherwise` the point is excluded (it contributes nothing to the reduction). An empty conjunction always holds.

    ```mlir
    #nest.guard<[row + ky - 1 ge 0, 28 - row - ky ge 0] else 0.0 : f32>   #nest.guard<[(row - ky) mod 2 == 0]>
    ```
    Ops write `>=`, which the body of an attribute can't hold.
  }];
  let parameters = (ins ArrayRefParameter<"::heddle::nest::Condition">:$conditions,
                        OptionalParameter<"::mlir::TypedAttr">:$otherwise);
  let extraClassDeclaration = [{
    bool isTrivial() const { return getConditions().empty(); }
    bool excludes() const { return !getOtherwise(); }
    GuardAttr substitute(const std::map<std::string, ::heddle::Expr, std::less<>> &replacement) const;
  }];
}

def Nest_LayoutParameter : AttrParameter<"::heddle::Layout", "factors of names in memory order"> {
  let comparator = "$_lhs == $_rhs";
}
def Nest_LayoutAttr : Nest_Attr<"Layout", "layout"> {
  let summary = "where the elements of a value lie (runtime/expr/Layout.h)";
  let description = [{
    ```mlir
    #nest.layout<[batch, channel floordiv 16, row, column, channel mod 16]>
    #nest.layout<[row, (out, j) floordiv 16, (out, j) mod 16], align 128, zero_padded>
    ```
  }];
  let parameters = (ins Nest_LayoutParameter:$layout);
}

def Nest_ScheduleParameter : AttrParameter<"::heddle::nest::Schedule", "loops and stages"> {
  let comparator = "$_lhs == $_rhs";
}
def Nest_ScheduleAttr : Nest_Attr<"Schedule", "schedule"> {
  let summary = "in which loops a nest runs, and which operands are staged (Schedule.h)";
  let description = [{
    ```mlir
    #nest.schedule<[thread batch by 1, thread row by 1, cache out by 32, cache column by 14, loop ky by 1,
                    loop channel by 1, register column by 1, register out by 16, vector out by 1],
                   [stage 0 at 2 in #nest.layout<[row, column, channel]>]>
    ```

    A partial schedule states the lanes alone, and the rest is chosen later:

    ```mlir
    #nest.schedule<[vector out by 1], partial>
    ```
  }];
  let parameters = (ins Nest_ScheduleParameter:$schedule);
}

def Nest_MatrixUnitAttr : Nest_Attr<"MatrixUnit", "unit"> {
  let summary = "an instruction that multiplies and adds a tile of a product";
  let description = [{
    `total[m, n] += left[m, k] * right[k, n]` for the sizes in parentheses. The layouts say which element lies where in a
    register, or which lane of it: below, each lane of 32 bits has two neighbours along k. `rate` is how many products it
    adds in the time that one of the wider type takes without it; 0: the machine has it for tests only, and schedules
    may ask for it (`unit` over a reduced name), but none is chosen.

    ```mlir
    #nest.unit<"bf16_dot", (k: 2, m: 1, n: 16), bf16 in [m, k] * bf16 in [n, k] + f32 in [m, n], rate 2.0>
    #nest.unit<"amx_bf16", (k: 32, m: 16, n: 16),
               bf16 in [m, k] * bf16 in [k floordiv 2, n, k mod 2] + f32 in [m, n], rate 16.0>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "::heddle::nd::DimsAttr":$shape,
                        "::mlir::Type":$leftType, Nest_LayoutParameter:$left,
                        "::mlir::Type":$rightType, Nest_LayoutParameter:$right,
                        "::mlir::Type":$totalType, Nest_LayoutParameter:$total,
                        "::mlir::FloatAttr":$rate);
  let genVerifyDecl = 1;
}

def Nest_MachineAttr : Nest_Attr<"Machine", "machine"> {
  let summary = "what analysis and transforms know of a machine: data, filled in by target/";
  let description = [{
    Registers, vectors, caches (bytes), `units`, a list of `#nest.unit`, and rates: `dialects/nest/Rates.h` lists these,
    with the values that hold where a machine states none. Unknown keys are kept, so that new targets fill in values only.
    For a unit called `bf16_dot`, `has_bf16_dot` says that there is an instruction for it; without it each product is added
    by itself. `bf16_dot_rate` replaces the unit's own rate; schedules with a unit are chosen above 1.

    ```mlir
    #nest.machine<{kind = "cpu", vector_bytes = 64, vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152,
                   l3_bytes = 37748736, threads = 2, l2_bytes_per_cycle = 48.0}>
    ```
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$values);
  let extraClassDeclaration = [{
    /// The integer called `key`, or `otherwise`.
    int64_t integer(::llvm::StringRef key, int64_t otherwise) const;
    double number(::llvm::StringRef key, double otherwise) const;
    ::llvm::SmallVector<MatrixUnitAttr> units() const;
    /// Products of a unit in the time of one without it.
    double rate(MatrixUnitAttr unit) const;
    /// Whether there is an instruction for a unit.
    bool has(MatrixUnitAttr unit) const;
  }];
}

#endif // HEDDLE_NEST_ATTRS_TD
