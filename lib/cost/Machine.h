//===- Machine.h - what cost models know of a machine -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A machine as cost models see it: `#nest.machine`, read once.
//
//     Machine machine = Machine::at(op);
//     machine.vectorBytes           64
//     machine.memories[1]           l2: 2 MiB for each core, 41 bytes per cycle, lines of 64 bytes
//     machine.linkOf("data")        the link of a mesh axis
//
// A target states what it knows (`Target::machine`); the attribute `heddle.machine` of a module
// overrides single facts; all others have the defaults of Rates.h; extensions adjust the result
// (Adjustment.h). While the compiler runs passes, the module states all of that, so a pass that
// decides by cost reads its machine once, and hands it on:
//
//     void runOnOperation() override {
//       cost::Machine machine = cost::Machine::at(getOperation());
//       chooseSchedules(getOperation(), machine);
//     }
//
// No pass sees how many threads will run the program. What a new target has to state:
//
//     kind              "cpu" or "gpu"
//     vector_bytes      bytes of a vector register, or of the accesses of a warp
//     vector_registers  of a core, or of a lane
//     l1_bytes, ...     the capacity of each cache; 0: the machine has no such cache
//     memories          instead: a list of {name, bytes, cycles_per_byte, per_core}, the nearest
//                       first; the last one holds everything. Bytes that come from the last three
//                       cost time, and those of nearer ones none
//     units             matrix units, with their shapes, types and rates (#nest.matrix_unit)
//     cores, warp, lanes_per_core, registers_per_core, shared_bytes, coalesced_bytes     of a GPU
//     links             {axis = {bytes_per_second, start_seconds}, ...} of mesh axes
//
// Decisions that change the order of sums must be the same on all machines of a class. They ask for
// the cost on the class, `Machine::ofClass("cpu")`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_MACHINE_H
#define HEDDLE_LIB_COST_MACHINE_H

#include "lib/cost/Rates.h"

#include <array>
#include <cmath>

namespace heddle {

/// The attribute of a module, or kernel, that states facts of the machine.
inline constexpr StringLiteral machineAttrName("heddle.machine");

} // namespace heddle

namespace heddle::cost {

/// The levels from which bytes come: the last memory, and the two before it.
enum MemoryLevel { L2, L3, Memory, memoryLevels };

/// A level of the memory hierarchy.
struct MemoryFacts {
  std::string name;
  double bytes = 0;         ///< capacity; infinite for the last level
  double cyclesPerByte = 0; ///< from here to the next nearer level, of one core
  double farCycles = 0;     ///< more for each byte in short runs, which are not prefetched
  bool perCore = true;      ///< each core has its own; else all share it
  double coldCycles = 0;    ///< more for each byte if other kernels displaced some
  double coldFar = 0;       ///< more for each byte in short runs, then
};

/// A link between the devices of a mesh axis.
/// An engine may move data by the cores that also compute, which then wait.
struct Link {
  double bytesPerSecond = 0;            ///< that a device sends
  double startSeconds = 0;              ///< until the first byte arrives
  double coreBytesPerSecond = INFINITY; ///< that the cores of a device move
  double coreSeconds = 0;               ///< of the cores, for each round
};

/// Resources of a GPU that limit the lanes resident on a core.
struct Occupancy {
  int64_t cores = 1;
  int64_t warp = 1;             ///< lanes that run in step
  int64_t lanesPerCore = 1;     ///< that may be resident
  int64_t registersPerCore = 0; ///< shared by the resident lanes; 0: unlimited
  int64_t sharedBytes = 0;      ///< of a core, shared by the resident blocks; 0: none
  int64_t coalescedBytes = 64;  ///< of one transaction with memory

  /// Returns the fraction of the resident lanes that fit if each lane needs `registers`, and each
  /// block of `lanes` needs `shared` bytes; 0 if one block doesn't fit.
  double of(int64_t lanes, int64_t registers, int64_t shared) const;
};

struct Machine {
  std::string kind = "cpu";
  int64_t vectorBytes = 64, registers = 32; ///< of a vector; vector registers
  int64_t line = 64, page = 4096;           ///< bytes
  int64_t threads = 1;                      ///< for predictions only, never for a choice
  std::vector<MemoryFacts> memories;        ///< the nearest first, at least one
  SmallVector<nest::MatrixUnitAttr, 2> units;
  Occupancy occupancy; ///< of a GPU
  std::map<std::string, Link> links;
  Rates rates;
  nest::MachineAttr facts; ///< from which this was read; may be null

  /// Reads the facts that `attribute` states. It may be null.
  static Machine of(nest::MachineAttr attribute);
  /// The machine of the module around an op, as extensions adjust it.
  static Machine at(Operation *op);
  /// The machine that stands for all of a class in decisions that change bits.
  static const Machine &ofClass(StringRef kind);

  /// Returns the bytes of the memory in front of a level; 0: there is none.
  double capacityBefore(MemoryLevel level) const;
  /// Returns the link of a mesh axis; the slowest of several.
  Link linkOf(ArrayRef<std::string> axes) const;
  /// Returns how long a core takes for so many cycles.
  double seconds(double cycles) const { return cycles / rates.clock; }
  double cycles(double seconds) const { return seconds * rates.clock; }
};

/// Returns `Machine::capacityBefore` of all levels, without reading the other facts.
std::array<double, memoryLevels> capacitiesOf(nest::MachineAttr machine);

/// Returns `machine` with the facts of `others`, which may be null, instead of its own.
nest::MachineAttr withFacts(nest::MachineAttr machine, nest::MachineAttr others);
/// Returns `machine` with a number instead of its own, which it need not have.
nest::MachineAttr withFact(nest::MachineAttr machine, StringRef key, double number);
/// Returns the facts that state the links of mesh axes.
nest::MachineAttr factsOfLinks(MLIRContext *context, const std::map<std::string, Link> &links);
/// States facts in `heddle.machine` of a module, instead of those that it has.
void stateFacts(ModuleOp module, nest::MachineAttr facts);
/// Returns the facts on which the code of a nest with a schedule may depend: all but rates. Null if
/// there are none. `machine` may be null.
nest::MachineAttr withoutRates(nest::MachineAttr machine);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_MACHINE_H
