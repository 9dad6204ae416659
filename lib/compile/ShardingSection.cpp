//===- ShardingSection.cpp - the table of shardings in a program ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/ShardingSection.h"

#include "dialects/nd/FunctionAttrs.h"
#include "lib/conversion/nest_to_steps/OutlineEntries.h"
#include "lib/transforms/mesh/propagate/ExplainShardings.h"
#include "runtime/memory/RuntimeTensor.h"

using namespace heddle;
using namespace mlir;

/// `{batch: [data]}, at (stage = 1)`, as in `#mesh.sharding<{batch: [data]}, at (stage = 1)>`
static std::string textOf(Attribute sharding) {
  std::string text;
  llvm::raw_string_ostream(text) << sharding;
  return StringRef(text).split('<').second.drop_back().str();
}

/// `f32 {batch: 5, in: 3}`, with the names sorted as the user spells them.
static std::string typeOf(Attribute attribute) {
  std::string text;
  auto type = cast<nd::NdTensorType>(cast<TypeAttr>(attribute).getValue());
  for (const auto &[name, size] : type.sizeExprs())
    text += (text.empty() ? "" : ", ") + name + ": " + size.str();
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  return element + " {" + text + "}";
}

static std::string string(Attribute attribute) { return cast<StringAttr>(attribute).str(); }

void heddle::addShardings(ShardingTable &table, func::FuncOp function, const EntrySpec &spec) {
  auto rows = [&](StringRef name) {
    auto list = function->getAttrOfType<ArrayAttr>(name);
    return list ? llvm::to_vector(list.getAsRange<ArrayAttr>()) : SmallVector<ArrayAttr>();
  };
  auto place = [](ArrayAttr row) { return spellLocation(Location(cast<LocationAttr>(row[0]))); };
  ShardingTable::Entry entry{spec.name, spec.role, {}, {}};
  bool isFirst = llvm::none_of(
      table.entries, [&](const ShardingTable::Entry &other) { return other.name == spec.name; });
  if (isFirst)
    for (ArrayAttr row : rows(nd::notesAttrName))
      entry.values.push_back(
          {string(row[1]), place(row), typeOf(row[2]), textOf(row[3]), string(row[4])});
  for (ArrayAttr row : rows(mesh::collectivesAttrName))
    entry.collectives.push_back({string(row[1]), string(row[2]), place(row),
                                 cast<IntegerAttr>(row[3]).getInt(),
                                 cast<IntegerAttr>(row[4]).getInt()});
  if (!entry.values.empty() || !entry.collectives.empty())
    table.entries.push_back(std::move(entry));
}
