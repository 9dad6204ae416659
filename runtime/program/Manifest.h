//===- Manifest.h - describes a program -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled program is one block of position-independent machine code that imports nothing, a
// block of constants, and this manifest. The manifest lists the entries, the names, sizes and
// layouts of their arguments and results, and the size and live range of every value. The compiler
// fills it in, `ProgramImage` writes and reads it as JSON, and the runtime uses it to run the
// program.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PROGRAM_MANIFEST_H
#define HEDDLE_PROGRAM_MANIFEST_H

#include "heddle/ElementType.h"
#include "runtime/expr/Layout.h"
#include "runtime/memory/MemorySpace.h"
#include "runtime/program/Mesh.h"

#include <algorithm>

namespace heddle {

/// A tensor type in the runtime: an element type and named sizes.
struct TensorSpec {
  ElementType element = ElementType::F32;
  ExprMap dims; ///< by name, over symbols
  bool operator==(const TensorSpec &) const = default;
};

/// A value of an entry: its origin, type, layout and live range.
struct ValueSpec {
  enum class Kind : uint8_t { Argument, Result, Temporary, Constant };
  Kind kind = Kind::Temporary;
  std::string name;     ///< the argument's or result's name; of a temporary, the op's
  std::string location; ///< source location of the op that makes it, "file:line:column"
  TensorSpec type;
  Layout layout;
  Expr bytes;                          ///< over the symbols, padding included
  int32_t firstStep = 0, lastStep = 0; ///< the live range, both inclusive
  /// The offset in bytes in the arena, as planned for the sizes of `planSizes`; for a constant the
  /// offset in the block of constants; -1 for arguments and results.
  int64_t offset = -1;
  /// The value whose memory this one reuses (in place, donated argument); -1: none.
  int32_t aliasOf = -1;
  std::string space = std::string(hostSpace); ///< the memory space of its buffer
  /// If an argument or result is a block of a larger tensor, these are the axes of the mesh over
  /// which each name is split, outermost first, and the sizes of the whole.
  std::map<std::string, std::vector<std::string>> shards = {};
  ExprMap wholeDims = {};
  Place place = {}; ///< of an argument or result that some ranks do not hold
  /// Of an argument or result: "file" if callers should keep it in a file (memory/FileMemory.h). An
  /// argument elsewhere is used where it is, but its new value, a result, is in a file.
  std::string memory = {};

  /// True if this entry's ranks do not hold it.
  bool isAbsent() const { return type.dims.count(absentName) > 0; }
};

/// The kinds of steps. Control flow (`If` to `EndLoop`) reads a truth value and decides which steps
/// run next.
///
///     step 5   If c                           step 5   Loop c       while c holds:
///     step 6     ...                          step 6     ...
///     step 7   Else                           step 7     ...        computes c anew
///     step 8     ...                          step 8   EndLoop      back to step 5
///     step 9   EndIf
///
/// `Invoke` calls a function of a library that the runtime opens by name. `Start` begins such a
/// call and a later `Await` waits until it has returned, so that the steps between overlap with it.
/// Where such a step has a `communication`, an engine runs it instead of a library.
/// `Copy` copies its second value into its first, which may be in another memory space; only
/// devices run such steps.
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

/// A step of an entry. Its chunks are run by all threads, or by thread 0 alone (`serial`). There is
/// a barrier only before steps with `waits`:
///
///     step 0   shared              x -> a
///     step 1   shared              y -> b        no barrier: touches nothing that step 0 touches
///     step 2   serial, waits       a, b -> c
///     step 3   serial              c -> d        no barrier: thread 0 ran step 2 itself
///     step 4   shared, waits       d -> e
struct StepSpec {
  std::string name; ///< in profiles
  std::string location;
  int64_t chunks = 1;
  std::string kernel; ///< symbol of the kernel or of the library's function; empty for control flow
  double flops = 0, bytesMoved = 0; ///< the compiler's estimates
  StepKind kind = StepKind::Kernel;
  bool serial = false, waits = true;
  std::vector<int32_t> values; ///< arguments of the kernel; of control flow, the truth value
  /// Further arguments of the kernel, as indices into HeddleCall::symbols.
  std::vector<int32_t> numbers = {};
  int32_t chunksAt = -1;    ///< index of the number of chunks in HeddleCall::symbols; -1: `chunks`
  std::string library = {}; ///< file name of the library that `Invoke` and `Start` call
  int32_t awaits = -1;      ///< the step that `Await` waits for
  std::optional<CommunicationSpec> communication = {}; ///< of `Invoke` and `Start`

  bool runsInRuntime() const {
    return kind == StepKind::Invoke || kind == StepKind::Start || kind == StepKind::Await;
  }
  bool callsLibrary() const {
    return (kind == StepKind::Invoke || kind == StepKind::Start) && !communication;
  }
  /// True if all threads run chunks of it.
  bool isShared() const {
    return kind == StepKind::Kernel && !serial && (chunks > 1 || chunksAt >= 0);
  }
};

/// A condition on sizes that the compiler could not decide: `got` is at most `most`.
struct SizeRequirement {
  Expr got, most;       ///< over the symbols
  std::string what;     ///< the quantity that `most` limits: "the size of 'n' in 'nd.sort'"
  std::string location; ///< source location of the op, "file:line:column"
};

/// A function of a program that callers run.
struct EntrySpec {
  std::string name;
  int64_t codeOffset = 0;            ///< of the HeddleEntry in the code block
  std::vector<std::string> symbols;  ///< size symbols, in HeddleCall::symbols order
  std::vector<std::string> supplied; ///< those that the caller supplies by name, such as its rank
  /// Those of them that are this rank's coordinates: (symbol, axis of the mesh).
  std::vector<std::pair<std::string, std::string>> coordinates = {};
  std::string role = {};     ///< whose ranks run it; empty: all. Each role has one of the name
  std::vector<Expr> derived; ///< numbers derived from the symbols, which follow them
  std::vector<SizeRequirement> requirements; ///< checked before it runs
  std::vector<ValueSpec> values;             ///< index = index into HeddleCall::addresses
  std::vector<int32_t> arguments, results;   ///< indices into `values`
  /// (argument, result) positions: the caller may donate the argument, and the result then reuses
  /// its memory.
  std::vector<std::pair<int32_t, int32_t>> donations;
  std::vector<StepSpec> steps;
  int64_t arenaBytes = 0; ///< planned arena on the host; the runtime plans those of other spaces
  Expr scratchBytes;      ///< of each thread, over the symbols

  /// The position of a name in `indices`, which are `arguments` or `results`. Throws Error with the
  /// known names for an unknown one.
  size_t positionOf(std::string_view name, const std::vector<int32_t> &indices) const;
  /// True if no value's size depends on the symbols.
  bool hasConstantSizes() const {
    return std::all_of(values.begin(), values.end(),
                       [](const ValueSpec &value) { return value.bytes.isConstant(); });
  }
  bool isSupplied(std::string_view symbol) const {
    return std::find(supplied.begin(), supplied.end(), symbol) != supplied.end();
  }
};

/// A function in the code block, for profilers.
struct FunctionSpec {
  std::string name; ///< of the op that it computes
  std::string
      location; ///< source location of the op, "file:line:column"; of the first, if many share it
  int64_t offset = 0, bytes = 0;
  /// For a function into which several ops were fused: their source locations, and a list of code
  /// ranges, each as the offset of its first byte and the index of its location.
  std::vector<std::string> locations = {};
  std::vector<std::pair<int64_t, int32_t>> lines = {};
};

/// The description of a program.
struct Manifest {
  int32_t abiVersion = 2;
  std::string compilerVersion;
  std::string target; ///< triple, e.g. "x86_64-unknown-linux-gnu", or a registered device's name
  std::string cpu;    ///< target CPU the code was made for
  std::vector<std::string> features; ///< CPU features the code needs, e.g. "avx512f"
  MeshSpec mesh;                     ///< without axes: the program is for one rank
  std::vector<RoleSpec> roles;       ///< none: all ranks run all entries
  std::vector<EntrySpec> entries;
  std::vector<FunctionSpec> functions; ///< in the order of their offsets
  /// In a file, the checksums of its other sections, which `ProgramImage` writes and verifies;
  /// empty elsewhere.
  std::map<std::string, std::string> sums;

  /// The entry of this name that the rank runs; null: none.
  const EntrySpec *find(std::string_view entry, int64_t rank = 0) const;
  /// The role of an entry; null: all ranks run it.
  const RoleSpec *roleOf(const EntrySpec &entry) const;
  /// Empty if all offsets, indices and lifetimes are consistent with code and constants of these
  /// sizes; otherwise a sentence that names the inconsistency.
  std::string verify(int64_t codeBytes, int64_t constantBytes) const;
  std::string toJson() const;
  /// None for malformed text, and `error` describes the mistake.
  static std::optional<Manifest> fromJson(std::string_view text, std::string &error);
};

} // namespace heddle

#endif // HEDDLE_PROGRAM_MANIFEST_H
