//===- Link.cpp - objects to one block of code ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/CpuTarget.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"

using namespace heddle;
using namespace heddle::cpu;
using llvm::object::ELF64LEObjectFile;

namespace {
struct Placed {
  std::unique_ptr<ELF64LEObjectFile> file;
  std::map<uint64_t, int64_t> sections; ///< section index -> offset in the block
};
} // namespace

static llvm::Expected<std::unique_ptr<ELF64LEObjectFile>> open(llvm::StringRef object) {
  auto file = ELF64LEObjectFile::create(llvm::MemoryBufferRef(object, "kernel"));
  if (!file)
    return file.takeError();
  return std::make_unique<ELF64LEObjectFile>(std::move(*file));
}

llvm::Expected<std::vector<std::string>> cpu::undefinedSymbols(llvm::StringRef object) {
  auto file = open(object);
  if (!file)
    return file.takeError();
  std::vector<std::string> names;
  for (const llvm::object::ELFSymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty())
      names.push_back(name->str());
  }
  return names;
}

/// Copies the sections that are mapped at run time into the block.
static llvm::Error place(Placed &placed, std::string &bytes) {
  for (const llvm::object::ELFSectionRef section : placed.file->sections()) {
    uint64_t flags = section.getFlags();
    if (!(flags & llvm::ELF::SHF_ALLOC) || section.getSize() == 0)
      continue;
    auto name = section.getName();
    if (!name)
      return name.takeError();
    if (*name == ".eh_frame")
      continue;
    if (flags & llvm::ELF::SHF_WRITE)
      return llvm::createStringError("compiled code has writable data in section '" + name->str() + "'");
    auto contents = section.getContents();
    if (!contents)
      return contents.takeError();
    uint64_t alignment = std::max<uint64_t>(section.getAlignment().value(), 16);
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
    placed.sections[section.getIndex()] = int64_t(bytes.size());
    bytes.append(contents->begin(), contents->end());
  }
  return llvm::Error::success();
}

llvm::Expected<CodeBlock> cpu::link(const std::vector<std::string> &objects) {
  CodeBlock block;
  std::vector<Placed> files;
  for (const std::string &object : objects) {
    auto file = open(object);
    if (!file)
      return file.takeError();
    files.push_back({std::move(*file), {}});
    if (llvm::Error error = place(files.back(), block.bytes))
      return error;
  }
  for (const Placed &placed : files)
    for (const llvm::object::ELFSymbolRef &symbol : placed.file->symbols()) {
      auto section = symbol.getSection();
      auto name = symbol.getName();
      auto value = symbol.getValue();
      if (!section || !name || !value)
        return llvm::createStringError("an object of compiled code has a broken symbol");
      if (*section == placed.file->section_end() || symbol.getBinding() == llvm::ELF::STB_LOCAL)
        continue;
      auto at = placed.sections.find((*section)->getIndex());
      if (at == placed.sections.end())
        continue;
      if (!block.symbols.emplace(name->str(), at->second + int64_t(*value)).second)
        return llvm::createStringError("the symbol '" + name->str() + "' is defined twice");
    }
  for (const Placed &placed : files)
    for (const llvm::object::ELFSectionRef section : placed.file->sections()) {
      auto target = section.getRelocatedSection();
      if (!target)
        return target.takeError();
      if (*target == placed.file->section_end())
        continue;
      auto base = placed.sections.find((*target)->getIndex());
      if (base == placed.sections.end())
        continue;
      for (const llvm::object::ELFRelocationRef relocation : section.relocations()) {
        auto symbol = relocation.getSymbol();
        if (symbol == placed.file->symbol_end())
          return llvm::createStringError("compiled code has a relocation without a symbol");
        auto name = symbol->getName();
        auto in = symbol->getSection();
        auto value = symbol->getValue();
        auto addend = relocation.getAddend();
        if (!name || !in || !value || !addend)
          return llvm::createStringError("an object of compiled code has a broken relocation");
        int64_t to;
        if (*in == placed.file->section_end()) {
          auto found = block.symbols.find(name->str());
          if (found == block.symbols.end())
            return llvm::createStringError("compiled code refers to '" + name->str() +
                                           "', which nothing defines: program files import nothing");
          to = found->second;
        } else {
          auto found = placed.sections.find((*in)->getIndex());
          if (found == placed.sections.end())
            return llvm::createStringError("compiled code refers to a section that is not mapped");
          to = found->second + int64_t(*value);
        }
        int64_t from = base->second + int64_t(relocation.getOffset());
        switch (relocation.getType()) {
        case llvm::ELF::R_X86_64_PC32:
        case llvm::ELF::R_X86_64_PLT32:
          llvm::support::endian::write32le(&block.bytes[size_t(from)], uint32_t(int32_t(to + *addend - from)));
          break;
        case llvm::ELF::R_X86_64_PC64:
          llvm::support::endian::write64le(&block.bytes[size_t(from)], uint64_t(to + *addend - from));
          break;
        case llvm::ELF::R_X86_64_REX_GOTPCRELX:
        case llvm::ELF::R_X86_64_GOTPCRELX: {
          // mov name@GOTPCREL(%rip), %reg becomes lea name(%rip), %reg: there is no table to go through.
          char &opcode = block.bytes[size_t(from) - 2];
          if (uint8_t(opcode) != 0x8b)
            return llvm::createStringError("compiled code uses '" + name->str() + "' through a table");
          opcode = char(0x8d);
          llvm::support::endian::write32le(&block.bytes[size_t(from)], uint32_t(int32_t(to + *addend - from)));
          break;
        }
        default:
          return llvm::createStringError("compiled code needs a relocation of type " +
                                         std::to_string(relocation.getType()) + " for '" + name->str() +
                                         "' when it is loaded");
        }
      }
    }
  return block;
}
