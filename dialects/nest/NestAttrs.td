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
  let summary = "an index map: the coordinate along each name of a tensor that a nest accesses";
  let description = [{
    The variables are iteration names of the nest and of enclosing groups. `read(2)` is the value of the nest's third
    read: such a map is gathered. Entries are sorted by the names of the tensor. Ops do not print names that map to
    themselves.

    ```mlir
    #nest.map<row = 2 * row + ky, column = column, channel = read(0)>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::heddle::nest::MapEntry">:$entries);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static MapAttr getSorted(::mlir::MLIRContext *context, ::llvm::ArrayRef<MapEntry> entries);
    /// The map that maps every name of `type` to itself.
    static MapAttr identity(::heddle::nd::NdTensorType type);
    /// The expression for `name`; none if the tensor has no such name.
    std::optional<::heddle::Expr> lookup(::llvm::StringRef name) const;
    MapAttr substitute(const ::heddle::ExprMap &replacement) const;
    bool mentions(::llvm::StringRef name) const;
  }];
}

def Nest_GuardAttr : Nest_Attr<"Guard", "guard"> {
  let summary = "the condition of a read, and its value where that fails";
  let description = [{
    A conjunction of conditions `e >= 0` and `e == 0` over iteration names; an empty one always holds. If it fails, the
    value of the read is `otherwise`. Without `otherwise` the point is excluded: it contributes nothing to the
    reduction.

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
    GuardAttr substitute(const ::heddle::ExprMap &replacement) const;
  }];
}

def Nest_LayoutParameter : AttrParameter<"::heddle::Layout", "factors of names in memory order"> {
  let comparator = "$_lhs == $_rhs";
}
def Nest_LayoutAttr : Nest_Attr<"Layout", "layout"> {
  let summary = "the order of a value's elements in memory (runtime/expr/Layout.h)";
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
  let summary = "the loops of a nest, outermost first, and its stages (Schedule.h)";
  let description = [{
    ```mlir
    #nest.schedule<[thread batch by 1, thread row by 1, cache out by 32, cache column by 14, loop ky by 1,
                    loop channel by 1, register column by 1, register out by 16, vector out by 1],
                   [stage 0 at 2 in #nest.layout<[row, column, channel]>]>
    ```

    A partial schedule states only the vector lanes; `nest-choose-schedules` chooses the rest:

    ```mlir
    #nest.schedule<[vector out by 1], partial>
    ```
  }];
  let parameters = (ins Nest_ScheduleParameter:$schedule);
}

def Nest_MatrixUnitAttr : Nest_Attr<"MatrixUnit", "unit"> {
  let summary = "an instruction that multiplies and adds a tile of a product";
  let description = [{
    `total[m, n] += left[m, k] * right[k, n]` for the sizes in parentheses. The layouts give the position of each
    element in a register: in the example, each 32-bit lane holds two neighbours along k. `rate` is the number of
    products that the unit adds in the time of one multiply-add of the total's type. A unit with rate 0 is for tests: a
    schedule may request it (`unit` over a reduced name), but the compiler never chooses it.

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
  let summary = "a description of a machine for analyses and transforms, which lib/target fills in";
  let description = [{
    A dictionary of facts: numbers of registers, sizes of vectors and caches in bytes, `units` (a list of `#nest.unit`),
    and rates. `lib/cost/Rates.h` lists the rates with their units and defaults. Unknown keys are kept. For a unit
    called `bf16_dot`, `has_bf16_dot` states whether the machine has an instruction for it; without one, products are
    added one at a time. `bf16_dot_rate` replaces the rate of the unit; the compiler chooses schedules with the unit if
    the rate exceeds 1.

    ```mlir
    #nest.machine<{kind = "cpu", vector_bytes = 64, vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152,
                   l3_bytes = 37748736, threads = 2, l2_cycles_per_byte = 0.02}>
    ```
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$values);
  let extraClassDeclaration = [{
    /// The fact called `key`, or `otherwise` if the machine does not state it.
    int64_t integer(::llvm::StringRef key, int64_t otherwise) const;
    double number(::llvm::StringRef key, double otherwise) const;
    ::llvm::SmallVector<MatrixUnitAttr> units() const;
    /// The number of products that the unit adds in the time of one multiply-add.
    double rate(MatrixUnitAttr unit) const;
    /// True if the machine has an instruction for the unit.
    bool has(MatrixUnitAttr unit) const;
  }];
}

#endif // HEDDLE_NEST_ATTRS_TD
