//===- Run.h - options and inputs of heddle-run -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file has entries: the public functions of IR, or the entries of a compiled program.
// Interpreter, compiler and runtime run an entry on plain arrays with named axes, and return such
// arrays:
//
//     signature:  @scale(image: f32 {column: N, row: 2}) -> (result0: f32 {column: N, row: 2})
//     arguments:  [f32 [column: 3, row: 2]]        N becomes 3
//
// User errors are thrown as Error; a FailureOr that fails has reported its diagnostic.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_HEDDLE_RUN_RUN_H
#define HEDDLE_TOOLS_HEDDLE_RUN_RUN_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"
#include "heddle/io/Safetensors.h"
#include "lib/compile/Compile.h"
#include "lib/profile/Profile.h"
#include "runtime/control/Job.h"
#include "runtime/program/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

namespace heddle::run {

using Arrays = std::vector<io::HostArray>;

struct Formal {
  std::string name;
  TensorSpec type; ///< sizes may mention symbols
};
struct Signature {
  std::string name;
  std::vector<Formal> arguments, results;
};
Signature signatureOf(mlir::func::FuncOp function);
Signature signatureOf(const EntrySpec &entry);

struct Options {
  std::string input, output, entry;
  std::string engine; ///< of programs for several ranks; empty: the launcher's choice, or shm
  std::vector<std::string> inputs; ///< NAME=FILE[:AXIS,AXIS...], or a FILE of several arguments
  /// SYMBOL=NUMBER[,NUMBER...], or for a dimension NAME=NUMBER[,...]: one run for each number
  std::vector<std::string> sizes;
  uint64_t seed = 0;
  int64_t printLimit = 64; ///< elements; larger results are summarised
  int threads = 0;
  bool interpret = false, compare = false, managed = false, specialise = false;
  bool simulate = false; ///< interpret the program of all devices of a mesh
  bool carry = false;    ///< pass results that replace donated arguments to the next call
  int repeat = 1;
  std::map<int, Profile> *profiles =
      nullptr; ///< of compiled programs, recorded by the ranks of this process
  CompileOptions compile;

  Profile *profileOf(int rank) const;
};

/// The sources of inputs (Inputs.cpp).
class Inputs {
public:
  /// The number of runs of the entries: the length of the longest list of sizes.
  static size_t runs(const Options &options);
  /// The inputs of the run with this number.
  explicit Inputs(const Options &options, size_t run = 0,
                  const std::vector<Signature> &entries = {});
  /// The arguments of an entry, each with the sorted names of its formal: read from its file if one
  /// was given, else generated from the seed.
  Arrays collect(const Signature &entry) const;
  /// Throws Error if a file was given for a name that `entry` does not take.
  void expectUsed(const Signature &entry) const;
  /// Throws Error if a size was given for a word that is neither a symbol nor the name of a
  /// dimension with a symbolic size in any of a file's functions.
  void expectKnown(const std::vector<Signature> &all) const;
  bool any() const { return !files.empty(); }

private:
  struct File {
    std::string name, path;
    std::vector<std::string> axes;
    /// Set if the file holds several arguments, whose names are the names of its arrays; else null.
    std::shared_ptr<io::SafetensorsFile> all = nullptr;
  };
  void addAll(const std::string &path);
  /// The values of symbols from the given sizes, which are by the symbols' names or those of
  /// dimensions.
  Sizes symbolsOf(const Signature &entry) const;
  std::vector<File> files;
  std::set<std::string> symbols; ///< of the entries
  Sizes sizes;
  uint64_t seed;

  const File *find(const std::string &name) const;
};

/// Throws Error if files were given and could belong to several entries.
void expectOne(const std::vector<Signature> &entries, const Inputs &inputs, const Options &options);

/// Array elements as text, names sorted and the last one fastest (Print.cpp).
std::string describe(const Formal &formal, const io::HostArray &array, int64_t limit);

/// Runs the entries of an IR file (RunIr.cpp) or a program file (RunProgram.cpp). True on success.
bool runIr(const Options &options);
bool runProgram(const Options &options);
/// The job that this process is a rank of; null if it was not started as a rank (RunRanks.cpp).
std::shared_ptr<Job> jobOf(const Options &options);
/// The Chrome trace of all ranks; empty on ranks of a job other than 0, which must call it as well.
std::string timelineOf(const Options &options);
/// Calls an entry as often as the options say; returns the results of the last call.
std::vector<TensorRef> repeat(Program &program, const EntrySpec &entry,
                              std::vector<TensorRef> &arguments, const CallOptions &how,
                              const Options &options);
/// The same for a program for several ranks, on whole tensors: as one rank of a job, or as all of
/// them on threads of this process.
std::vector<TensorRef> callOnRanks(Program &program, const EntrySpec &entry,
                                   const std::vector<TensorRef> &whole, const CallOptions &how,
                                   const Options &options);
/// Runs an entry of a program on arrays.
Arrays call(Program &program, const std::string &entry, const Arrays &arguments,
            const Options &options);
/// Prints the results of an entry and writes the output file, if any (Print.cpp). `uncertain`: for
/// each result, the number of elements that the interpreter can't determine within its error bound.
void report(const Signature &entry, const Arrays &results, const Options &options,
            llvm::ArrayRef<int64_t> uncertain = {});

/// A module split in two: `program` has no check ops, and its functions return the operands of
/// these ops after their other results; the function of the same name in `checks` checks these
/// values (SplitChecks.cpp).
struct SplitModule {
  mlir::OwningOpRef<mlir::ModuleOp> program, checks;
};
mlir::FailureOr<SplitModule> splitChecks(mlir::ModuleOp module);

} // namespace heddle::run

#endif // HEDDLE_TOOLS_HEDDLE_RUN_RUN_H
