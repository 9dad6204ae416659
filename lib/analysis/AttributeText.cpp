//===- AttributeText.cpp - texts of types and attributes ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/AttributeText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace heddle;
using namespace mlir;

template <typename T>
static std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

std::string heddle::printed(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return (integer.isSigned()     ? "si"
            : integer.isUnsigned() ? "ui"
                                   : "i") +
           std::to_string(integer.getWidth());
  if (isa<FloatType, IndexType>(type))
    return type.getAbstractType().getName().split('.').second.str();
  return print(type);
}

/// The text of a float depends only on its type and bits. A program has few distinct ones, which
/// are printed repeatedly.
static std::string printedFloat(FloatAttr attr) {
  constexpr size_t most = 1024;
  thread_local std::map<std::pair<const void *, uint64_t>, std::string> known;
  llvm::APInt bits = attr.getValue().bitcastToAPInt();
  if (bits.getBitWidth() > 64)
    return print<Attribute>(attr);
  if (known.size() >= most)
    known.clear();
  auto [found, isNew] =
      known.try_emplace({attr.getType().getTypeID().getAsOpaquePointer(), bits.getZExtValue()});
  if (isNew)
    found->second = print<Attribute>(attr);
  return found->second;
}

std::string heddle::printed(Attribute attr) {
  if (auto flags = dyn_cast_if_present<arith::FastMathFlagsAttr>(attr))
    return "#arith.fastmath<" + arith::stringifyFastMathFlags(flags.getValue()) + ">";
  if (auto flags = dyn_cast_if_present<arith::IntegerOverflowFlagsAttr>(attr))
    return "#arith.overflow<" + arith::stringifyIntegerOverflowFlags(flags.getValue()) + ">";
  if (auto number = dyn_cast_if_present<IntegerAttr>(attr);
      number && number.getType().isSignlessInteger() && !number.getType().isInteger(1) &&
      number.getValue().getBitWidth() <= 64)
    return std::to_string(number.getInt()) + " : " + printed(number.getType());
  if (auto number = dyn_cast_if_present<FloatAttr>(attr))
    return printedFloat(number);
  std::vector<std::string> parts;
  // In a list, floats of 64 bits are printed without a type.
  if (auto list = dyn_cast_if_present<ArrayAttr>(attr);
      list && llvm::all_of(list, [](Attribute each) {
        auto number = dyn_cast<FloatAttr>(each);
        return number && !number.getType().isF64();
      })) {
    for (Attribute each : list)
      parts.push_back(printed(each));
    return "[" + llvm::join(parts, ", ") + "]";
  }
  auto members = dyn_cast_if_present<DictionaryAttr>(attr);
  if (!members || llvm::any_of(members, [](NamedAttribute each) {
        return isa<UnitAttr>(each.getValue()) || each.getName().getValue().contains('.');
      }))
    return print(attr);
  for (NamedAttribute each : members)
    parts.push_back(each.getName().str() + " = " + printed(each.getValue()));
  return "{" + llvm::join(parts, ", ") + "}";
}
