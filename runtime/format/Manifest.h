//===- Manifest.h - describes a program -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled program is a block of position-independent machine code that imports nothing, a block
// of constants, and this manifest. The manifest lists the entries; the names, sizes and layouts of
// their arguments and results; and the size and live range of every value. The compiler fills it
// in, `ProgramImage` stores it as JSON, and the runtime runs the program by it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_FORMAT_MANIFEST_H
#define HEDDLE_RUNTIME_FORMAT_MANIFEST_H

#include "runtime/format/Communication.h"
#include "runtime/format/MemorySpace.h"
#include "runtime/format/TensorSpec.h"

#include <algorithm>

namespace heddle {

/// A value of an entry: its origin, type, layout and live range.
struct ValueSpec {
  enum class Kind : uint8_t { Argument, Result, Temporary, Constant };
  Kind kind = Kind::Temporary;
  std::string name;     ///< of the argument or result; for a temporary, of the op
  std::string location; ///< of the op that defines it, "file:line:column"
  TensorSpec type;
  Layout layout;
  Expr bytes;                          ///< over the symbols, padding included
  int32_t firstStep = 0, lastStep = 0; ///< the live range, inclusive
  /// The offset in bytes in the arena, as planned for constant sizes; for a constant, the offset in
  /// the block of constants; -1 for arguments and results.
  int64_t offset = -1;
  /// The value whose memory this one reuses (in place, donated argument); -1: none.
  int32_t aliasOf = -1;
  std::string space = std::string(hostSpace); ///< the memory space of its buffer
  /// For a sharded argument or result: the mesh axes that split each name, outermost first, and the
  /// sizes of the whole tensor.
  Sharding shards = {};
  ExprMap wholeDims = {};
  Place place = {}; ///< for an argument or result that some ranks do not hold
  /// "file" if callers should keep this argument or result in a file (memory/FileMemory.h). An
  /// argument that is elsewhere is read there, but its new value, a result, is in a file.
  std::string memory = {};

  /// True if this entry's ranks do not hold it.
  bool isAbsent() const { return type.dims.count(absentName) > 0; }
};

/// The kinds of steps. Control flow (`If` to `EndLoop`) reads a boolean and decides which steps run
/// next.
///
///     step 5   If c                           step 5   Loop c       while c holds:
///     step 6     ...                          step 6     ...
///     step 7   Else                           step 7     ...        recomputes c
///     step 8     ...                          step 8   EndLoop      back to step 5
///     step 9   EndIf
///
/// `Invoke` calls a function of a library that the runtime loads by name. `Start` begins such a
/// call, and a later `Await` waits for it, so that the steps in between overlap with it. If the
/// step has a `communication`, an engine runs it instead of a library. `Copy` copies its second
/// value into its first, which may be in another memory space; only devices run such steps.
enum class StepKind : uint8_t {
  Kernel,
  If,
  Else,
  EndIf,
  Loop,
  EndLoop,
  Invoke,
  Start,
  Await,
  Copy
};

/// A step of an entry. All threads run its chunks, or thread 0 alone (`serial`). There is a barrier
/// only before steps with `waits`:
///
///     step 0   shared              x -> a
///     step 1   shared              y -> b        no barrier: independent of step 0
///     step 2   serial, waits       a, b -> c
///     step 3   serial              c -> d        no barrier: thread 0 ran step 2 itself
///     step 4   shared, waits       d -> e
struct StepSpec {
  std::string name; ///< for profiles
  std::string location;
  int64_t chunks = 1;
  std::string kernel; ///< symbol of the kernel or library function; empty for control flow
  double flops = 0, bytesMoved = 0; ///< the compiler's estimates
  StepKind kind = StepKind::Kernel;
  bool serial = false, waits = true;
  std::vector<int32_t> values; ///< arguments of the kernel; for control flow, the condition
  /// Further arguments of the kernel, as indices into HeddleCall::symbols.
  std::vector<int32_t> numbers = {};
  int32_t chunksAt = -1;    ///< index of the number of chunks in HeddleCall::symbols; -1: `chunks`
  std::string library = {}; ///< file name of the library that `Invoke` and `Start` call
  int32_t awaits = -1;      ///< the step that `Await` waits for
  std::optional<CommunicationSpec> communication = {}; ///< for `Invoke` and `Start`
  /// The compiler's estimates for one thread, in seconds; 0: unknown. No machine with the rates
  /// that the compiler assumes runs the step in less than `bound` (its roofline).
  double predicted = 0, bound = 0;
  std::string limit = {}; ///< what takes the longest: "arithmetic", "memory", ...

  bool runsInRuntime() const {
    return kind == StepKind::Invoke || kind == StepKind::Start || kind == StepKind::Await;
  }
  bool callsLibrary() const {
    return (kind == StepKind::Invoke || kind == StepKind::Start) && !communication;
  }
  /// True if all threads run its chunks.
  bool isShared() const {
    return kind == StepKind::Kernel && !serial && (chunks > 1 || chunksAt >= 0);
  }
};

/// A condition on sizes that the compiler could not decide: `got` <= `most`.
struct SizeRequirement {
  Expr got, most;       ///< over the symbols
  std::string what;     ///< the quantity that `most` limits: "the size of 'n' in 'nd.sort'"
  std::string location; ///< source location of the op, "file:line:column"
};

/// A function of a program that callers run.
struct EntrySpec {
  std::string name;
  int64_t codeOffset = 0;            ///< of its HeddleEntry in the code block
  std::vector<std::string> symbols;  ///< size symbols, in HeddleCall::symbols order
  std::vector<std::string> supplied; ///< symbols that the caller supplies, such as its rank
  /// The supplied symbols that are this rank's coordinates: (symbol, axis of the mesh).
  std::vector<std::pair<std::string, std::string>> coordinates = {};
  std::string role = {};     ///< ranks that run it; empty: all. One entry per name and role
  std::vector<Expr> derived; ///< computed from the symbols; stored after them
  std::vector<SizeRequirement> requirements; ///< checked before it runs
  std::vector<ValueSpec> values;             ///< index = index into HeddleCall::addresses
  std::vector<int32_t> arguments, results;   ///< indices into `values`
  /// (argument, result) positions: if the caller donates the argument, the result reuses its
  /// memory.
  std::vector<std::pair<int32_t, int32_t>> donations;
  std::vector<StepSpec> steps;
  int64_t arenaBytes = 0; ///< the host's planned arena; the runtime plans other spaces
  Expr scratchBytes;      ///< per thread, over the symbols

  /// The position of a name in `indices`, which is `arguments` or `results`. For an unknown name
  /// throws Error that lists the known ones.
  size_t positionOf(std::string_view name, const std::vector<int32_t> &indices) const;
  /// True if no value's size depends on the symbols.
  bool hasConstantSizes() const {
    return std::all_of(values.begin(), values.end(),
                       [](const ValueSpec &value) { return value.bytes.isConstant(); });
  }
  /// True if sizes of the step depend on its arguments: its estimates are for typical sizes.
  bool isTypical(const StepSpec &step) const {
    return std::any_of(step.numbers.begin(), step.numbers.end(), [&](int32_t number) {
      return size_t(number) >= symbols.size() || !isSupplied(symbols[size_t(number)]);
    });
  }
  bool isSupplied(std::string_view symbol) const {
    return std::find(supplied.begin(), supplied.end(), symbol) != supplied.end();
  }
};

/// A function in the code block, for profilers.
struct FunctionSpec {
  std::string name;     ///< of its op
  std::string location; ///< of the op, "file:line:column"; of the first, if several were fused
  int64_t offset = 0, bytes = 0;
  /// If several ops were fused into the function: their source locations, and a list of code
  /// ranges, each as the offset of its first byte and the index of its location.
  std::vector<std::string> locations = {};
  std::vector<std::pair<int64_t, int32_t>> lines = {};
};

/// The description of a program.
struct Manifest {
  int32_t abiVersion = 2;
  std::string compilerVersion;
  std::string target; ///< triple, e.g. "x86_64-unknown-linux-gnu", or a registered device's name
  std::string cpu;    ///< the CPU that the code was compiled for
  std::vector<std::string> features; ///< CPU features the code needs, e.g. "avx512f"
  MeshSpec mesh;                     ///< without axes: the program is for one rank
  std::vector<RoleSpec> roles;       ///< none: all ranks run all entries
  std::vector<EntrySpec> entries;
  std::vector<FunctionSpec> functions; ///< in order of offsets
  /// In a file, the checksums of its other sections, which `ProgramImage` writes and verifies;
  /// empty in memory.
  std::map<std::string, std::string> sums;

  /// The entry with this name that the rank runs; null: none.
  const EntrySpec *find(std::string_view entry, int64_t rank = 0) const;
  /// The role of an entry; null: all ranks run it.
  const RoleSpec *roleOf(const EntrySpec &entry) const;
  /// Empty if all offsets, indices and live ranges are consistent with code and constants of these
  /// sizes; otherwise a message that names the inconsistency.
  std::string verify(int64_t codeBytes, int64_t constantBytes) const;
  std::string toJson() const;
  /// None for malformed text; `error` then describes the mistake.
  static std::optional<Manifest> fromJson(std::string_view text, std::string &error);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_FORMAT_MANIFEST_H
