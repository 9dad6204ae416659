//===- Program.cpp - program files as text --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translate.h"

#include "heddle/Error.h"
#include "runtime/memory/RuntimeTensor.h"

#include "llvm-c/Disassembler.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

using namespace heddle;

static std::string at(const std::string &location) {
  return location.empty() ? "" : "  at " + location;
}

static void writeValue(const EntrySpec &entry, size_t index, llvm::raw_ostream &out) {
  static constexpr const char *kinds[] = {"argument", "result", "temporary", "constant"};
  const ValueSpec &value = entry.values[index];
  out << llvm::formatv("  {0,4}  {1,-9}  {2}: {3}  {4}, {5} bytes", index, kinds[int(value.kind)],
                       value.name, describe(value.type), value.layout.str(), value.bytes.str());
  if (value.kind == ValueSpec::Kind::Temporary)
    out << ", in steps " << value.firstStep << " to " << value.lastStep;
  if (value.aliasOf >= 0)
    out << ", in the memory of " << value.aliasOf;
  else if (value.offset >= 0)
    out << ", at " << value.offset
        << (value.kind == ValueSpec::Kind::Constant ? " of the constants" : " of the arena");
  if (!value.shards.empty())
    out << ", split over " << describe(value.shards) << " of "
        << describe(TensorSpec{value.type.element, value.wholeDims});
  if (!value.memory.empty())
    out << ", in a " << value.memory;
  if (value.space != hostSpace)
    out << ", in '" << value.space << "'";
  out << at(value.location) << "\n";
}

/// How many chunks a kernel has, and which threads run them: thread 0 alone, or all.
static std::string chunksOf(const StepSpec &step, const EntrySpec &entry) {
  Expr chunks = step.chunks;
  if (step.chunksAt >= 0) { // a symbol, or a value derived from symbols
    size_t at = size_t(step.chunksAt), symbols = entry.symbols.size();
    chunks = at < symbols ? Expr::name(entry.symbols[at]) : entry.derived[at - symbols];
  }
  std::string text = chunks.str() + (chunks == Expr(1) ? " chunk" : " chunks");
  return step.serial && chunks != Expr(1) ? text + " in one thread" : text;
}

static std::string describe(const StepSpec &step, const EntrySpec &entry, const MeshSpec &mesh) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (const auto &with = step.communication)
    out << spelling(with->kind) << " over "
        << llvm::join(llvm::map_range(with->axes, std::mem_fn(&AxisPart::str)), ", ")
        << (step.kind == StepKind::Start ? ", started" : "")
        << llvm::formatv(", {0} values", step.values.size())
        << (with->sentBytes(mesh) ? llvm::formatv(", sends {0} bytes", *with->sentBytes(mesh)).str()
                                  : "");
  else if (step.kind == StepKind::Copy)
    out << "from '" << entry.values[size_t(step.values[1])].space << "' to '"
        << entry.values[size_t(step.values[0])].space << "'";
  else if (step.kind == StepKind::Await)
    return "awaits step " + std::to_string(step.awaits);
  else
    out << step.kernel << ", " << chunksOf(step, entry) << llvm::format(", %.4g flops", step.flops);
  out << llvm::format(", %.4g bytes", step.bytesMoved);
  return text;
}

static void writeEntry(const EntrySpec &entry, const MeshSpec &mesh, llvm::raw_ostream &out) {
  auto names = [&](const std::vector<int32_t> &indices) {
    return llvm::join(llvm::map_range(indices, [&](int32_t i) { return entry.values[i].name; }),
                      ", ");
  };
  out << "\n@" << entry.name << "(" << names(entry.arguments) << ") -> (" << names(entry.results)
      << ")\n  code at " << llvm::format_hex(entry.codeOffset, 6) << ", arena " << entry.arenaBytes
      << " bytes, " << entry.scratchBytes.str() << " bytes for each thread\n";
  auto write = [&](const char *from, bool supplied) {
    std::vector<std::string> some;
    llvm::copy_if(entry.symbols, std::back_inserter(some),
                  [&](const std::string &symbol) { return entry.isSupplied(symbol) == supplied; });
    if (!some.empty())
      out << "  " << from << ": " << llvm::join(some, ", ") << "\n";
  };
  write("sizes from the arguments", false);
  write("supplied by the caller", true);
  for (const SizeRequirement &each : entry.requirements)
    out << "  requires " << each.got.str() << " <= " << each.most.str() << ", " << each.what
        << at(each.location) << "\n";
  for (auto [argument, result] : entry.donations)
    out << "  if '" << entry.values[size_t(entry.arguments[size_t(argument)])].name
        << "' is donated, '" << entry.values[size_t(entry.results[size_t(result)])].name
        << "' takes its memory\n";
  out << "values\n";
  for (size_t i = 0; i < entry.values.size(); ++i)
    writeValue(entry, i, out);
  out << "steps\n";
  for (auto [i, step] : llvm::enumerate(entry.steps))
    out << llvm::formatv("  {0,4}  {1}: ", i, step.name) << describe(step, entry, mesh)
        << at(step.location) << "\n";
}

static void writeShardings(const ShardingTable::Entry &entry, llvm::raw_ostream &out) {
  std::string name = entry.name + (entry.role.empty() ? "" : " of " + entry.role);
  if (!entry.values.empty())
    out << "\nshardings of @" << entry.name << "\n";
  for (const ShardingTable::Value &each : entry.values)
    out << "  " << each.name << ": " << each.type << "  " << each.sharding << ": " << each.reason
        << at(each.location) << "\n";
  out << "\ncollectives of @" << name << ", with what a device sends\n";
  int64_t bytes = 0, padding = 0;
  for (const ShardingTable::Collective &each : entry.collectives) {
    out << "  " << each.kind << " over " << each.axes << ": " << each.bytes << " bytes, "
        << each.padding << " of padding" << at(each.location) << "\n";
    bytes += each.bytes;
    padding += each.padding;
  }
  out << "  in all " << bytes << " bytes, " << padding << " of padding\n";
}

void translate::writeText(const ProgramImage &image, llvm::raw_ostream &out) {
  const Manifest &manifest = image.manifest;
  out << "compiled by " << manifest.compilerVersion << " for "
      << (manifest.cpu.empty() ? "" : manifest.cpu + ", ") << manifest.target << "\n"
      << "needs " << (manifest.features.empty() ? "nothing" : llvm::join(manifest.features, ", "))
      << "\ncode " << image.code.size() << " bytes, constants " << image.constants.size()
      << " bytes\n";
  for (const EntrySpec &entry : manifest.entries)
    writeEntry(entry, manifest.mesh, out);
  for (const ShardingTable::Entry &entry : image.shardings.entries)
    writeShardings(entry, out);
  out << "\nfunctions\n";
  for (const FunctionSpec &function : manifest.functions)
    out << "  " << llvm::format_hex(function.offset, 6) << "  " << function.bytes << " bytes  "
        << function.name << at(function.location) << "\n";
}

namespace {
/// Replaces the targets of jumps: an address in the current function by a label with its offset,
/// the beginning of another function by its name.
struct Targets {
  llvm::DenseMap<uint64_t, std::string> functions;
  uint64_t begin = 0, bytes = 0;
  std::string name;

  static const char *lookUp(void *self, uint64_t value, uint64_t *type, uint64_t, const char **) {
    bool isBranch = *type == LLVMDisassembler_ReferenceType_In_Branch;
    *type = LLVMDisassembler_ReferenceType_InOut_None;
    return isBranch ? static_cast<Targets *>(self)->nameOf(value) : nullptr;
  }

private:
  const char *nameOf(uint64_t target) {
    if (target >= begin && target - begin < bytes)
      name = ".L" + llvm::utohexstr(target - begin, /*LowerCase=*/true, /*Width=*/6);
    else
      name = functions.lookup(target);
    return name.empty() ? nullptr : name.c_str();
  }
};
} // namespace

/// Prints the constants after a function, up to the next function, without trailing zeros.
static void writeData(llvm::StringRef data, uint64_t offset, llvm::raw_ostream &out) {
  data = data.rtrim('\0');
  for (; !data.empty(); data = data.drop_front(std::min<size_t>(data.size(), 4)), offset += 4) {
    char word[4] = {};
    std::copy_n(data.begin(), std::min<size_t>(data.size(), 4), word);
    out << llvm::format_hex_no_prefix(offset, 6) << "\t.long\t"
        << llvm::format_hex(llvm::support::endian::read32le(word), 10) << "\n";
  }
}

void translate::writeAssembly(const ProgramImage &image, llvm::raw_ostream &out) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllDisassemblers();
  const Manifest &manifest = image.manifest;
  Targets targets;
  for (const FunctionSpec &function : manifest.functions)
    targets.functions[uint64_t(function.offset)] = function.name;
  std::unique_ptr<void, void (*)(LLVMDisasmContextRef)> disassembler(
      LLVMCreateDisasmCPU(manifest.target.c_str(), manifest.cpu.c_str(), &targets, 0, nullptr,
                          Targets::lookUp),
      LLVMDisasmDispose);
  if (!disassembler)
    throw Error("can't write code for '" + manifest.target + "' as assembly");
  LLVMSetDisasmOptions(disassembler.get(), LLVMDisassembler_Option_PrintImmHex);
  std::string code = image.code;
  for (auto [i, function] : llvm::enumerate(manifest.functions)) {
    targets.begin = uint64_t(function.offset);
    targets.bytes = uint64_t(function.bytes);
    out << function.name << ":" << at(function.location) << "\n";
    auto line = function.lines.begin();
    uint64_t done = 0;
    while (done < targets.bytes) {
      for (; line != function.lines.end() && uint64_t(line->first) <= done; ++line)
        out << "#" << at(function.locations[size_t(line->second)]) << "\n";
      char text[256];
      uint64_t offset = targets.begin + done;
      size_t length = LLVMDisasmInstruction(disassembler.get(),
                                            reinterpret_cast<uint8_t *>(code.data()) + offset,
                                            targets.bytes - done, offset, text, sizeof text);
      out << llvm::format_hex_no_prefix(done, 6)
          << (length ? text : llvm::formatv("\t.byte {0:x}", int(uint8_t(code[offset]))).str())
          << "\n";
      done += length ? length : 1;
    }
    size_t next =
        i + 1 < manifest.functions.size() ? manifest.functions[i + 1].offset : code.size();
    done = llvm::alignTo(done, 4);
    writeData(llvm::StringRef(code).slice(targets.begin + done, next), done, out);
  }
}
