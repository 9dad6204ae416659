//===- Builtins.cpp - functions that instruction sets lack ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/Builtins.h"

#include "llvm/Object/ELFObjectFile.h"

#include <set>

using namespace heddle;
using namespace heddle::cpu;

/// Builtins.c as an object file; the build writes its bytes.
static const unsigned char builtinsBytes[] = {
#include "lib/target/cpu/Builtins.inc"
};

static llvm::StringRef builtinsObject() {
  return {reinterpret_cast<const char *>(builtinsBytes), sizeof(builtinsBytes)};
}

std::vector<std::string> cpu::builtinNames() {
  std::vector<std::string> names;
  auto file =
      llvm::object::ELF64LEObjectFile::create(llvm::MemoryBufferRef(builtinsObject(), "builtins"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return names;
  }
  for (const llvm::object::ELFSymbolRef &symbol : file->symbols()) {
    if (symbol.getBinding() != llvm::ELF::STB_GLOBAL)
      continue;
    if (auto name = symbol.getName())
      names.push_back(name->str());
    else
      llvm::consumeError(name.takeError());
  }
  llvm::sort(names);
  return names;
}

Object cpu::allBuiltins() { return {"builtins", builtinsObject().str()}; }

llvm::Expected<std::optional<Object>> cpu::builtinsFor(llvm::ArrayRef<Object> objects) {
  std::set<std::string> lacking;
  for (const Object &object : objects) {
    auto names = undefinedSymbols(object.bytes);
    if (!names)
      return names.takeError();
    lacking.insert(names->begin(), names->end());
  }
  for (const std::string &name : builtinNames())
    if (lacking.count(name))
      return allBuiltins();
  return std::nullopt;
}
