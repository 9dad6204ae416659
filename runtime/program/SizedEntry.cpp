//===- SizedEntry.cpp - an entry for given sizes --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/SizedEntry.h"

#include "heddle/Error.h"
#include "runtime/memory/PackArena.h"
#include "runtime/program/SymbolText.h"

#include <algorithm>

using namespace heddle;

SizedEntry heddle::sizedEntry(const EntrySpec &entry, std::vector<int64_t> symbols) {
  SizedEntry sized;
  ExprMap known;
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    known[entry.symbols[i]] = Expr(symbols[i]);
  sized.symbols = std::move(symbols);
  auto valueOf = [&](const Expr &expr) {
    auto value = expr.substitute(known).constant();
    if (!value)
      throw Error("a size of '" + entry.name + "' is too large: " + expr.str());
    return *value;
  };
  for (const auto &[got, most, what, location] : entry.requirements)
    if (int64_t taken = valueOf(got), there = valueOf(most); taken > there)
      throw Error((location.empty() ? "" : location + ": ") + "'" + entry.name + "' expected at " +
                  (got.isConstant() ? "least " + std::to_string(taken) + " for " + what + ", got "
                                    : "most " + what + ", ") +
                  (most.isConstant() ? "" : most.str() + " = ") + std::to_string(there) +
                  (got.isConstant() ? "" : ", got " + std::to_string(taken)) +
                  symbolText(entry, sized.symbols, {most}));
  for (const Expr &each : entry.derived)
    sized.symbols.push_back(valueOf(each));
  sized.scratchBytes = valueOf(entry.scratchBytes);
  size_t count = entry.values.size();
  std::vector<int32_t> last(count);
  for (size_t i = 0; i < count; ++i) {
    const ValueSpec &value = entry.values[i];
    TensorSpec type = value.type;
    for (auto &[name, size] : type.dims)
      if (int64_t number = valueOf(size); number < 0)
        throw Error("the value '" + value.name + "' of '" + entry.name + "' would have the size " +
                    std::to_string(number) + " for '" + name + "', which is " + size.str() +
                    symbolText(entry, sized.symbols, {size}));
      else
        size = Expr(number);
    try {
      sized.types.push_back(storedTypeOf(std::move(type), value.layout, value.space));
    } catch (const Error &error) {
      throw Error("the value '" + value.name + "' of '" + entry.name +
                  "' does not fit: " + error.what());
    }
    sized.offsets.push_back(value.offset);
    int32_t owner = int32_t(i);
    while (entry.values[size_t(owner)].aliasOf >= 0)
      owner = entry.values[size_t(owner)].aliasOf;
    sized.storage.push_back(owner);
    last[i] = value.lastStep;
  }
  for (size_t i = 0; i < count; ++i)
    if (auto owner = size_t(sized.storage[i]); sized.types[i]->bytes > sized.types[owner]->bytes)
      throw Error("the value '" + entry.values[i].name + "' of '" + entry.name + "' takes " +
                  std::to_string(sized.types[i]->bytes) + " bytes in the memory of '" +
                  entry.values[owner].name + "', which has " +
                  std::to_string(sized.types[owner]->bytes));
  // An allocation is live until the last value that aliases it is dead.
  for (size_t i = 0; i < count; ++i)
    last[size_t(sized.storage[i])] =
        std::max(last[size_t(sized.storage[i])], entry.values[i].lastStep);
  sized.makeBefore.resize(entry.steps.size() + 1);
  sized.freeBefore.resize(entry.steps.size() + 1);
  std::vector<std::vector<ArenaBuffer>> buffers; // by arena
  std::vector<std::vector<size_t>> owners;       // the value of each buffer, by arena
  sized.arenaOf.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const ValueSpec &value = entry.values[i];
    if (value.kind != ValueSpec::Kind::Temporary || value.aliasOf >= 0)
      continue;
    sized.makeBefore[size_t(value.firstStep)].push_back(int32_t(i));
    sized.freeBefore[std::min(size_t(last[i]) + 1, entry.steps.size())].push_back(int32_t(i));
    auto found = std::find_if(sized.arenas.begin(), sized.arenas.end(),
                              [&](const auto &arena) { return arena.space == value.space; });
    auto a = size_t(found - sized.arenas.begin());
    if (found == sized.arenas.end()) {
      sized.arenas.push_back({value.space});
      buffers.emplace_back();
      owners.emplace_back();
    }
    sized.arenaOf[i] = int32_t(a);
    sized.arenas[a].alignment = std::max(sized.arenas[a].alignment, value.layout.alignment);
    buffers[a].push_back(
        {sized.types[i]->bytes, value.firstStep, last[i], -1, value.layout.alignment});
    owners[a].push_back(i);
  }
  for (size_t a = 0; a < sized.arenas.size(); ++a) {
    SizedEntry::Arena &arena = sized.arenas[a];
    arena.live = liveBytes(buffers[a]);
    bool stored = arena.space == hostSpace && entry.hasConstantSizes();
    arena.bytes = stored ? entry.arenaBytes : packArena(buffers[a]);
    for (size_t i = 0; !stored && i < owners[a].size(); ++i)
      sized.offsets[owners[a][i]] = buffers[a][i].offset;
  }
  return sized;
}

EntryMemory heddle::memoryOf(const EntrySpec &entry, const SizedEntry &sized) {
  EntryMemory memory;
  using Kind = ValueSpec::Kind;
  for (size_t i = 0; i < entry.values.size(); ++i) {
    if (sized.storage[i] != int32_t(i))
      continue;
    Kind kind = entry.values[i].kind;
    if (kind == Kind::Argument)
      memory.arguments += sized.types[i]->bytes;
    else if (kind == Kind::Result)
      memory.results += sized.types[i]->bytes;
    else if (kind == Kind::Constant)
      memory.constants += sized.types[i]->bytes;
  }
  for (const SizedEntry::Arena &arena : sized.arenas) {
    memory.arena += arena.bytes;
    memory.live += arena.live;
  }
  memory.scratch = sized.scratchBytes;
  return memory;
}

EntryMemory heddle::memoryOf(const EntrySpec &entry, const std::vector<int64_t> &symbols) {
  if (symbols.size() != entry.symbols.size())
    throw Error("'" + entry.name + "' has " + std::to_string(entry.symbols.size()) +
                " size symbols, got values for " + std::to_string(symbols.size()));
  return memoryOf(entry, sizedEntry(entry, symbols));
}
