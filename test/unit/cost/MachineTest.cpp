//===- MachineTest.cpp - facts of machines --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cost::Machine` reads what an attribute states, and has defaults for all else.
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Machine.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

static Machine machineOf(MLIRContext &context, StringRef facts) {
  context.loadDialect<nest::NestDialect>();
  auto attribute = parseAttribute(("#nest.machine<{" + facts + "}>").str(), &context);
  return Machine::of(cast<nest::MachineAttr>(attribute));
}

TEST(Machine, HasTheDefaultsOfACpu) {
  Machine machine = Machine::of({});
  EXPECT_EQ(machine.kind, "cpu");
  ASSERT_EQ(machine.memories.size(), 4u);
  EXPECT_EQ(machine.memories[0].name, "l1");
  EXPECT_EQ(machine.memories[1].bytes, 1 << 20);
  EXPECT_TRUE(machine.memories[1].perCore);
  EXPECT_FALSE(machine.memories[2].perCore);
  EXPECT_EQ(machine.memories[3].bytes, INFINITY);
  EXPECT_EQ(Machine::ofClass("cpu").rates.clock, Rates().clock);
}

TEST(Machine, ReadsFactsAndRates) {
  MLIRContext context;
  Machine machine = machineOf(
      context, "vector_bytes = 32, vector_registers = 16, l2_bytes = 524288, line_bytes = 128, "
               "threads = 8, l2_cycles_per_byte = 0.25");
  EXPECT_EQ(machine.vectorBytes, 32);
  EXPECT_EQ(machine.registers, 16);
  EXPECT_EQ(machine.line, 128);
  EXPECT_EQ(machine.threads, 8);
  EXPECT_EQ(machine.memories[1].bytes, 524288);
  EXPECT_EQ(machine.memories[1].cyclesPerByte, 0.25);
}

TEST(Machine, MayHaveOtherMemories) {
  MLIRContext context;
  Machine machine =
      machineOf(context, R"(memories = [{name = "scratch", bytes = 262144, per_core = true},
                              {name = "dram", cycles_per_byte = 0.5, far_cycles_per_byte = 1.5}])");
  ASSERT_EQ(machine.memories.size(), 2u);
  EXPECT_EQ(machine.memories[0].bytes, 262144);
  EXPECT_TRUE(machine.memories[0].perCore);
  EXPECT_EQ(machine.memories[1].name, "dram");
  EXPECT_EQ(machine.memories[1].bytes, INFINITY);
  EXPECT_EQ(machine.memories[1].farCycles, 1.5);
  EXPECT_FALSE(machine.memories[1].perCore);
}

/// Bytes come from the last three memories. What is in front of the first of them holds the others.
TEST(Machine, LevelsAreTheLastMemories) {
  MLIRContext context;
  Machine none = machineOf(context, "l1_bytes = 0, l2_bytes = 0, l3_bytes = 0");
  ASSERT_EQ(none.memories.size(), 1u);
  for (MemoryLevel level : {L2, L3, Memory})
    EXPECT_EQ(none.capacityBefore(level), 0);
  EXPECT_EQ(none.rates.memoryByteCycles, Rates().memoryByteCycles);
  Machine two = machineOf(context, "l3_bytes = 0");
  EXPECT_EQ(two.capacityBefore(Memory), 1 << 20);
  EXPECT_EQ(two.capacityBefore(L3), 32 << 10);
  EXPECT_EQ(two.capacityBefore(L2), 0);
  EXPECT_EQ(two.rates.l3ByteCycles, Rates().l2ByteCycles); // of L2, before the memory
  EXPECT_EQ(two.rates.coldL3Byte, Rates().coldL2Byte);
  EXPECT_EQ(two.rates.coldL3Far, 0);
  Machine five = machineOf(context, R"(memories = [{name = "a", bytes = 1}, {name = "b", bytes = 2},
      {name = "c", bytes = 3, cycles_per_byte = 0.25}, {name = "d", bytes = 4},
      {name = "e", cycles_per_byte = 0.5, far_cycles_per_byte = 1.5}])");
  EXPECT_EQ(five.capacityBefore(L2), 2);
  EXPECT_EQ(five.capacityBefore(L3), 3);
  EXPECT_EQ(five.capacityBefore(Memory), 4);
  EXPECT_EQ(five.rates.l2ByteCycles, 0.25);
  EXPECT_EQ(five.rates.memoryByteCycles, 0.5);
  EXPECT_EQ(five.rates.memoryFarCycles, 1.5);
  EXPECT_EQ(five.rates.coldL2Byte + five.rates.coldL3Byte + five.rates.coldL3Far, 0); // as stated
  EXPECT_EQ(capacitiesOf(five.facts), (std::array<double, memoryLevels>{2, 3, 4}));
  EXPECT_EQ(capacitiesOf({}), (std::array<double, memoryLevels>{32 << 10, 1 << 20, 16 << 20}));
}

TEST(Machine, AxesHaveLinks) {
  MLIRContext context;
  Machine machine = machineOf(
      context, "link_bytes_per_second = 1.0e9, link_start_seconds = 5.0e-5, "
               "links = {data = {bytes_per_second = 2.0e9}, model = {start_seconds = 1.0e-6}}");
  EXPECT_EQ(machine.linkOf({"data"}).bytesPerSecond, 2e9);
  EXPECT_EQ(machine.linkOf({"data"}).startSeconds, 5e-5);
  EXPECT_EQ(machine.linkOf({"model"}).bytesPerSecond, 1e9);
  EXPECT_EQ(machine.linkOf({"other"}).startSeconds, 5e-5);
  EXPECT_EQ(machine.linkOf({"data", "model"}).bytesPerSecond, 1e9); // the slower one
  EXPECT_EQ(machine.linkOf({"data", "model"}).startSeconds, 5e-5);
  EXPECT_EQ(machine.linkOf({"data"}).coreBytesPerSecond, INFINITY);
  EXPECT_EQ(machine.linkOf({"data"}).coreSeconds, 0);
}

TEST(Machine, LinksAreStatedAsTheyAreRead) {
  MLIRContext context;
  context.loadDialect<nest::NestDialect>();
  std::map<std::string, Link> links{{"a", {1e9, 2e-6}}, {"b", {2e9, 1e-6, 3e9, 4e-6}}};
  Machine machine = Machine::of(factsOfLinks(&context, links));
  EXPECT_EQ(machine.linkOf({"a"}).coreBytesPerSecond, INFINITY);
  Link both = machine.linkOf({"a", "b"});
  EXPECT_EQ(both.bytesPerSecond, 1e9);
  EXPECT_EQ(both.startSeconds, 2e-6);
  EXPECT_EQ(both.coreBytesPerSecond, 3e9);
  EXPECT_EQ(both.coreSeconds, 4e-6);
}

/// The multiprocessors of an imagined GPU hold 2048 lanes, 65536 registers and 100 KiB.
TEST(Machine, AGpuRunsAsManyBlocksAsFit) {
  MLIRContext context;
  Machine machine =
      machineOf(context, R"(kind = "gpu", cores = 100, warp = 32, lanes_per_core = 2048,
      registers_per_core = 65536, shared_bytes = 102400, coalesced_bytes = 32)");
  const Occupancy &gpu = machine.occupancy;
  EXPECT_EQ(machine.kind, "gpu");
  EXPECT_EQ(gpu.cores, 100);
  EXPECT_EQ(gpu.warp, 32);
  EXPECT_EQ(gpu.coalescedBytes, 32);
  EXPECT_EQ(gpu.of(256, 32, 0), 1);           // 8 blocks
  EXPECT_EQ(gpu.of(256, 64, 0), 0.5);         // registers of 4 blocks
  EXPECT_EQ(gpu.of(256, 32, 48 << 10), 0.25); // shared memory of 2 blocks
  EXPECT_EQ(gpu.of(1024, 128, 0), 0);         // 131072 registers
  EXPECT_EQ(gpu.of(1536, 32, 0), 0.75);       // a second block doesn't fit
}
