//===- Machine.cpp - what cost models know of a machine -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Machine.h"

#include "lib/cost/Adjustment.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

Rates Rates::of(nest::MachineAttr machine) {
  Rates rates;
  if (!machine)
    return rates;
#define HEDDLE_RATE(member, key, value, unit, what)                                                \
  rates.member = machine.number(key, rates.member);
  HEDDLE_MACHINE_RATES(HEDDLE_RATE)
#undef HEDDLE_RATE
  return rates;
}

std::string Rates::str() const {
  std::string text;
  llvm::raw_string_ostream out(text);
#define HEDDLE_RATE(member, key, value, unit, what)                                                \
  out << (text.empty() ? "" : ", ") << key << " " << llvm::format("%.9g", member);
  HEDDLE_MACHINE_RATES(HEDDLE_RATE)
#undef HEDDLE_RATE
  return text;
}

bool Rates::isRate(StringRef name) {
#define HEDDLE_RATE(member, key, value, unit, what) name == key ||
  return HEDDLE_MACHINE_RATES(HEDDLE_RATE) false;
#undef HEDDLE_RATE
}

double Occupancy::of(int64_t lanes, int64_t registers, int64_t shared) const {
  assert(lanes > 0 && "a block has lanes");
  int64_t blocks = lanesPerCore / lanes;
  if (registersPerCore && registers)
    blocks = std::min(blocks, registersPerCore / (registers * lanes));
  if (shared)
    blocks = std::min(blocks, sharedBytes / shared);
  return double(blocks * lanes) / double(lanesPerCore);
}

/// The number under `key` in a dictionary.
static double numberIn(DictionaryAttr values, StringRef key, double otherwise) {
  return nest::MachineAttr::get(values.getContext(), values).number(key, otherwise);
}

/// The caches whose sizes are stated, and memory.
static std::vector<MemoryFacts> cachesOf(nest::MachineAttr machine, const Rates &r) {
  auto bytes = [&](StringRef key, int64_t otherwise) {
    return double(machine ? machine.integer(key, otherwise) : otherwise);
  };
  return {{"l1", bytes("l1_bytes", 32 << 10), 0, 0, true},
          {"l2", bytes("l2_bytes", 1 << 20), r.l2ByteCycles, r.l2FarCycles, true, r.coldL2Byte},
          {"l3", bytes("l3_bytes", 16 << 20), r.l3ByteCycles, r.l3FarCycles, false, r.coldL3Byte,
           r.coldL3Far},
          {"memory", INFINITY, r.memoryByteCycles, r.memoryFarCycles, false}};
}

static std::vector<MemoryFacts> memoriesOf(ArrayAttr list) {
  std::vector<MemoryFacts> memories;
  for (auto entry : list.getAsRange<DictionaryAttr>()) {
    auto name = entry.getAs<StringAttr>("name");
    auto perCore = entry.getAs<BoolAttr>("per_core");
    memories.push_back({name ? name.str() : "memory", numberIn(entry, "bytes", INFINITY),
                        numberIn(entry, "cycles_per_byte", 0),
                        numberIn(entry, "far_cycles_per_byte", 0), perCore && perCore.getValue()});
  }
  return memories;
}

/// The memories that the machine has: those that it states, or its caches and memory.
static std::vector<MemoryFacts> memoriesOf(nest::MachineAttr machine, const Rates &rates) {
  if (auto list = machine ? machine.getValues().getAs<ArrayAttr>("memories") : ArrayAttr();
      list && !list.empty())
    return memoriesOf(list);
  std::vector<MemoryFacts> memories = cachesOf(machine, rates);
  llvm::erase_if(memories, [](const MemoryFacts &each) { return each.bytes <= 0; });
  return memories;
}

/// Makes the rates of levels those of the memories from which their bytes come.
static void setLevels(ArrayRef<MemoryFacts> memories, Rates &rates) {
  struct Level {
    double Rates::*near, Rates::*far, Rates::*cold = nullptr, Rates::*coldFar = nullptr;
  };
  std::array<Level, memoryLevels> levels = {
      {{&Rates::l2ByteCycles, &Rates::l2FarCycles, &Rates::coldL2Byte},
       {&Rates::l3ByteCycles, &Rates::l3FarCycles, &Rates::coldL3Byte, &Rates::coldL3Far},
       {&Rates::memoryByteCycles, &Rates::memoryFarCycles}}};
  for (auto [level, memory] : llvm::zip(llvm::reverse(levels), llvm::reverse(memories))) {
    rates.*level.near = memory.cyclesPerByte;
    rates.*level.far = memory.farCycles;
    if (level.cold)
      rates.*level.cold = memory.coldCycles;
    if (level.coldFar)
      rates.*level.coldFar = memory.coldFar;
  }
}

double Machine::capacityBefore(MemoryLevel level) const {
  size_t before = memories.size() + size_t(level); // of four memories, the second is L2
  return before < memoryLevels + 1 ? 0 : memories[before - memoryLevels - 1].bytes;
}

std::array<double, memoryLevels> cost::capacitiesOf(nest::MachineAttr attribute) {
  Machine machine;
  machine.memories = memoriesOf(attribute, machine.rates);
  return {machine.capacityBefore(L2), machine.capacityBefore(L3), machine.capacityBefore(Memory)};
}

Machine Machine::of(nest::MachineAttr attribute) {
  Machine machine;
  machine.rates = Rates::of(attribute);
  machine.memories = memoriesOf(attribute, machine.rates);
  setLevels(machine.memories, machine.rates);
  machine.facts = attribute;
  if (!attribute)
    return machine;
  DictionaryAttr values = attribute.getValues();
  auto read = [&](StringRef key, int64_t &fact) { fact = attribute.integer(key, fact); };
  if (auto kind = values.getAs<StringAttr>("kind"))
    machine.kind = kind.str();
  read("vector_bytes", machine.vectorBytes);
  read("vector_registers", machine.registers);
  read("line_bytes", machine.line);
  read("page_bytes", machine.page);
  read("threads", machine.threads);
  Occupancy &gpu = machine.occupancy;
  read("cores", gpu.cores);
  read("warp", gpu.warp);
  read("lanes_per_core", gpu.lanesPerCore);
  read("registers_per_core", gpu.registersPerCore);
  read("shared_bytes", gpu.sharedBytes);
  read("coalesced_bytes", gpu.coalescedBytes);
  for (nest::MatrixUnitAttr unit : attribute.units())
    machine.units.push_back(unit);
  if (auto links = values.getAs<DictionaryAttr>("links"))
    for (NamedAttribute link : links)
      if (auto facts = dyn_cast<DictionaryAttr>(link.getValue()))
        machine.links[link.getName().str()] = {
            numberIn(facts, "bytes_per_second", machine.rates.linkRate),
            numberIn(facts, "start_seconds", machine.rates.linkStart),
            numberIn(facts, "core_bytes_per_second", INFINITY), numberIn(facts, "core_seconds", 0)};
  return machine;
}

/// The facts of a module that states none.
static nest::MachineAttr nominal(MLIRContext *context) {
  Machine machine;
  nest::MachineAttr facts = nest::MachineAttr::get(context, DictionaryAttr::get(context));
  facts = withFact(facts, "vector_bytes", double(machine.vectorBytes));
  return withFact(facts, "vector_registers", double(machine.registers));
}

Machine Machine::at(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto stated =
      module ? module->getAttrOfType<nest::MachineAttr>(machineAttrName) : nest::MachineAttr();
  if (!stated && adjustmentsOf(op->getContext()))
    stated = nominal(op->getContext());
  return of(stated ? adjusted(stated) : stated);
}

const Machine &Machine::ofClass(StringRef kind) {
  static const Machine cpu = [] {
    Machine machine = Machine::of({});
    Rates &r = machine.rates;
    // Vectors of 32 bytes, where the rates are those of 64.
    for (double *rate : {&r.operationCycles, &r.productCycles, &r.loadCycles, &r.storeCycles,
                         &r.coldStore, &r.convertCycles, &r.issueCycles})
      *rate *= 2;
    return machine;
  }();
  assert(kind == "cpu" && "no other class has a machine yet");
  return cpu;
}

Link Machine::linkOf(ArrayRef<std::string> axes) const {
  Link slowest{INFINITY, 0};
  for (const std::string &axis : axes) {
    auto stated = links.find(axis);
    Link link = stated == links.end() ? Link{rates.linkRate, rates.linkStart} : stated->second;
    slowest.bytesPerSecond = std::min(slowest.bytesPerSecond, link.bytesPerSecond);
    slowest.startSeconds = std::max(slowest.startSeconds, link.startSeconds);
    slowest.coreBytesPerSecond = std::min(slowest.coreBytesPerSecond, link.coreBytesPerSecond);
    slowest.coreSeconds = std::max(slowest.coreSeconds, link.coreSeconds);
  }
  return axes.empty() ? Link{rates.linkRate, rates.linkStart} : slowest;
}

nest::MachineAttr cost::withFacts(nest::MachineAttr machine, nest::MachineAttr others) {
  if (!others)
    return machine;
  NamedAttrList values(machine.getValues());
  for (NamedAttribute fact : others.getValues())
    values.set(fact.getName(), fact.getValue());
  return nest::MachineAttr::get(machine.getContext(), values.getDictionary(machine.getContext()));
}

nest::MachineAttr cost::factsOfLinks(MLIRContext *context,
                                     const std::map<std::string, Link> &links) {
  Builder b(context);
  SmallVector<NamedAttribute> axes;
  for (const auto &[axis, link] : links) {
    NamedAttrList of;
    auto state = [&](StringRef key, double number) { of.set(key, b.getF64FloatAttr(number)); };
    state("bytes_per_second", link.bytesPerSecond);
    state("start_seconds", link.startSeconds);
    if (std::isfinite(link.coreBytesPerSecond))
      state("core_bytes_per_second", link.coreBytesPerSecond);
    if (link.coreSeconds > 0)
      state("core_seconds", link.coreSeconds);
    axes.push_back(b.getNamedAttr(axis, of.getDictionary(context)));
  }
  return nest::MachineAttr::get(
      context, b.getDictionaryAttr({b.getNamedAttr("links", b.getDictionaryAttr(axes))}));
}

void cost::stateFacts(ModuleOp module, nest::MachineAttr facts) {
  auto stated = module->getAttrOfType<nest::MachineAttr>(machineAttrName);
  module->setAttr(machineAttrName, stated ? withFacts(stated, facts) : facts);
}

nest::MachineAttr cost::withFact(nest::MachineAttr machine, StringRef key, double number) {
  MLIRContext *context = machine.getContext();
  Builder builder(context);
  NamedAttrList values(machine.getValues());
  if (Rates::isRate(key))
    values.set(key, builder.getF64FloatAttr(number));
  else
    values.set(key, builder.getI64IntegerAttr(int64_t(number)));
  return nest::MachineAttr::get(context, values.getDictionary(context));
}

nest::MachineAttr cost::withoutRates(nest::MachineAttr machine) {
  if (!machine)
    return {};
  MLIRContext *context = machine.getContext();
  auto facts = llvm::filter_to_vector(
      machine.getValues(), [](NamedAttribute fact) { return !Rates::isRate(fact.getName()); });
  return facts.empty() ? nest::MachineAttr()
                       : nest::MachineAttr::get(context, DictionaryAttr::get(context, facts));
}
