//===- Link.cpp - links objects into one block ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/Link.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"

using namespace heddle;
using namespace heddle::cpu;
using llvm::object::ELF64LEObjectFile;

namespace {
/// An object whose sections have offsets in the block.
struct Placed {
  const Object *source = nullptr;
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
  llvm::sort(names);
  return names;
}

/// Copies the sections that are mapped at run time into the block. Every object is aligned to a
/// cache line, so that its code and speed do not depend on the preceding objects.
static llvm::Error layOut(Placed &placed, std::string &bytes) {
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
      return llvm::createStringError("writable data in section '" + name->str() + "'");
    auto contents = section.getContents();
    if (!contents)
      return contents.takeError();
    constexpr uint64_t line = 64;
    uint64_t alignment =
        std::max<uint64_t>(section.getAlignment().value(), placed.sections.empty() ? line : 16);
    bytes.resize(llvm::alignTo(bytes.size(), alignment), '\0');
    placed.sections[section.getIndex()] = int64_t(bytes.size());
    bytes.append(contents->begin(), contents->end());
  }
  return llvm::Error::success();
}

static llvm::Error collectSymbols(const Placed &placed, ProgramCode &block) {
  for (const llvm::object::ELFSymbolRef &symbol : placed.file->symbols()) {
    auto section = symbol.getSection();
    if (!section)
      return section.takeError();
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    auto value = symbol.getValue();
    if (!value)
      return value.takeError();
    if (*section == placed.file->section_end())
      continue;
    auto at = placed.sections.find((*section)->getIndex());
    if (at == placed.sections.end())
      continue;
    if (symbol.getELFType() == llvm::ELF::STT_FUNC)
      block.functions.push_back(
          {name->str(), at->second + int64_t(*value), int64_t(symbol.getSize())});
    if (symbol.getBinding() == llvm::ELF::STB_LOCAL)
      continue;
    if (!block.symbols.emplace(name->str(), at->second + int64_t(*value)).second)
      return llvm::createStringError("the symbol '" + name->str() + "' is defined twice");
  }
  return llvm::Error::success();
}

/// Adds the rows of the line table: offsets in the block, and the source line of the code that
/// starts there.
static void collectLines(const Placed &placed, std::map<int64_t, uint32_t> &lines) {
  auto context = llvm::DWARFContext::create(*placed.file);
  for (const auto &unit : context->compile_units())
    if (const auto *table = context->getLineTableForUnit(unit.get()))
      for (const llvm::DWARFDebugLine::Row &row : table->Rows)
        if (auto at = placed.sections.find(row.Address.SectionIndex);
            at != placed.sections.end() && !row.EndSequence)
          lines[at->second + int64_t(row.Address.Address)] = row.Line;
}

/// Returns the offset in the block of the target of a relocation.
static llvm::Expected<int64_t> targetOf(const llvm::object::ELFSymbolRef &symbol,
                                        llvm::StringRef name, const Placed &placed,
                                        const ProgramCode &block) {
  auto section = symbol.getSection();
  if (!section)
    return section.takeError();
  auto value = symbol.getValue();
  if (!value)
    return value.takeError();
  if (*section == placed.file->section_end()) {
    auto found = block.symbols.find(name.str());
    if (found == block.symbols.end())
      return llvm::createStringError("it refers to '" + name.str() +
                                     "', which nothing defines, and programs import nothing");
    return found->second;
  }
  auto found = placed.sections.find((*section)->getIndex());
  if (found == placed.sections.end())
    return llvm::createStringError("it refers to a section that is not mapped");
  return found->second + int64_t(*value);
}

/// Returns true if a relocation changes only bytes of its section.
static bool liesWithin(const llvm::object::ELFRelocationRef &relocation, uint64_t sectionBytes) {
  uint64_t type = relocation.getType(), offset = relocation.getOffset();
  bool opcode = type == llvm::ELF::R_X86_64_REX_GOTPCRELX || type == llvm::ELF::R_X86_64_GOTPCRELX;
  uint64_t before = opcode ? 2 : 0, width = type == llvm::ELF::R_X86_64_PC64 ? 8 : 4;
  return offset >= before && offset <= sectionBytes && width <= sectionBytes - offset;
}

static llvm::Error resolve(const llvm::object::ELFRelocationRef &relocation, int64_t base,
                           const Placed &placed, ProgramCode &block) {
  auto symbol = relocation.getSymbol();
  if (symbol == placed.file->symbol_end())
    return llvm::createStringError("it has a relocation without a symbol");
  auto name = symbol->getName();
  if (!name)
    return name.takeError();
  auto addend = relocation.getAddend();
  if (!addend)
    return addend.takeError();
  auto to = targetOf(*symbol, *name, placed, block);
  if (!to)
    return to.takeError();
  int64_t from = base + int64_t(relocation.getOffset());
  int64_t distance = *to + *addend - from;
  auto near = [&]() -> llvm::Error {
    if (distance != int32_t(distance))
      return llvm::createStringError("'" + name->str() + "' lies more than 2 GiB away");
    llvm::support::endian::write32le(&block.bytes[size_t(from)], uint32_t(int32_t(distance)));
    return llvm::Error::success();
  };
  switch (relocation.getType()) {
  case llvm::ELF::R_X86_64_PC32:
  case llvm::ELF::R_X86_64_PLT32:
    return near();
  case llvm::ELF::R_X86_64_PC64:
    llvm::support::endian::write64le(&block.bytes[size_t(from)], uint64_t(distance));
    return llvm::Error::success();
  case llvm::ELF::R_X86_64_REX_GOTPCRELX:
  case llvm::ELF::R_X86_64_GOTPCRELX: {
    // mov name@GOTPCREL(%rip), %reg becomes lea name(%rip), %reg, since there is no GOT.
    char &opcode = block.bytes[size_t(from) - 2];
    if (uint8_t(opcode) != 0x8b)
      return llvm::createStringError("it uses '" + name->str() + "' through a table");
    opcode = char(0x8d);
    return near();
  }
  default: {
    llvm::SmallString<32> type;
    relocation.getTypeName(type);
    return llvm::createStringError("it needs the address of '" + name->str() +
                                   "' when it is loaded (" + type.str() + ")");
  }
  }
}

static llvm::Error resolveAll(const Placed &placed, ProgramCode &block) {
  for (const llvm::object::ELFSectionRef section : placed.file->sections()) {
    auto patched = section.getRelocatedSection();
    if (!patched)
      return patched.takeError();
    if (*patched == placed.file->section_end())
      continue;
    auto base = placed.sections.find((*patched)->getIndex());
    if (base == placed.sections.end())
      continue;
    for (const llvm::object::ELFRelocationRef relocation : section.relocations())
      if (!liesWithin(relocation, (*patched)->getSize()))
        return llvm::createStringError("a relocation is outside of its section");
      else if (llvm::Error error = resolve(relocation, base->second, placed, block))
        return error;
  }
  return llvm::Error::success();
}

llvm::Expected<ProgramCode> cpu::link(llvm::ArrayRef<Object> objects) {
  ProgramCode block;
  std::vector<Placed> files;
  std::map<int64_t, uint32_t> lines;
  auto blame = [](const Object &object, llvm::Error error) {
    return llvm::createStringError("the code of '" + object.name +
                                   "' can't be linked: " + llvm::toString(std::move(error)));
  };
  for (const Object &object : objects) {
    auto file = open(object.bytes);
    if (!file)
      return blame(object, file.takeError());
    files.push_back({&object, std::move(*file), {}});
    if (llvm::Error error = layOut(files.back(), block.bytes))
      return blame(object, std::move(error));
    if (llvm::Error error = collectSymbols(files.back(), block))
      return blame(object, std::move(error));
    collectLines(files.back(), lines);
  }
  for (const Placed &placed : files)
    if (llvm::Error error = resolveAll(placed, block))
      return blame(*placed.source, std::move(error));
  llvm::sort(block.functions, [](const ProgramCode::Function &a, const ProgramCode::Function &b) {
    return a.offset < b.offset;
  });
  for (ProgramCode::Function &function : block.functions)
    for (auto at = lines.lower_bound(function.offset);
         at != lines.end() && at->first < function.offset + function.bytes; ++at)
      if (function.lines.empty() || function.lines.back().second != at->second)
        function.lines.emplace_back(at->first - function.offset, at->second);
  return block;
}
