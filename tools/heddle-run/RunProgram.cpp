//===- RunProgram.cpp - compiled programs by the runtime ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "heddle/Mesh.h"
#include "runtime/memory/FileMemory.h"
#include "runtime/program/CallShards.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using namespace heddle::run;

Signature run::signatureOf(const EntrySpec &blocks) {
  EntrySpec entry = wholeSignature(blocks);
  Signature signature{entry.name, {}, {}};
  for (int32_t index : entry.arguments)
    signature.arguments.push_back(
        {entry.values[size_t(index)].name, entry.values[size_t(index)].type});
  for (int32_t index : entry.results)
    signature.results.push_back(
        {entry.values[size_t(index)].name, entry.values[size_t(index)].type});
  return signature;
}

std::vector<TensorRef> run::repeat(Program &program, const EntrySpec &entry,
                                   std::vector<TensorRef> &arguments, const CallOptions &how,
                                   const Options &options) {
  if (options.carry && entry.donations.empty())
    throw Error("--carry: '" + entry.name + "' has no donated argument");
  std::vector<bool> donated(arguments.size());
  for (auto [argument, result] : entry.donations)
    donated[size_t(argument)] = options.carry;
  for (int i = 1;; ++i) {
    std::vector<TensorRef> results = program.run(entry, arguments, how, donated);
    if (i >= options.repeat)
      return results;
    if (options.carry)
      for (auto [argument, result] : entry.donations)
        arguments[size_t(argument)] = results[size_t(result)];
  }
}

Arrays run::call(Program &program, const std::string &name, const Arrays &arguments,
                 const Options &options) {
  CallOptions how;
  how.team = sharedThreadTeam(options.threads);
  how.managed = options.managed;
  std::shared_ptr<Job> job = jobOf(options);
  bool isSplit = program.manifest().mesh.ranks() > 1;
  if (job && !isSplit)
    throw Error("'" + options.input + "' is for one device, but " + job->info().source +
                " has started " + std::to_string(job->ranks()) +
                " ranks: expected a program with a mesh (--mesh data=" +
                std::to_string(job->ranks()) + " --shard batch:data)");
  if (job) // all its ranks pass the same arguments
    job->channel()->agree({{"entry", "'" + name + "'"}, {"seed", std::to_string(options.seed)}});
  how.profile = options.profileOf(job ? job->rank() : 0);
  std::vector<TensorRef> tensors;
  const EntrySpec &entry = program.entry(name);
  for (auto [array, index] : llvm::zip_equal(arguments, entry.arguments)) {
    const ValueSpec &value = entry.values[size_t(index)];
    TensorSpec spec{array.element, {}};
    std::vector<std::string> sorted;
    for (auto [name, size] : llvm::zip_equal(array.names, array.shape))
      spec.dims.emplace(name, Expr(size));
    for (const auto &[name, size] : spec.dims)
      sorted.push_back(name);
    tensors.push_back(std::make_shared<RuntimeTensor>(
        spec, Layout::rowMajor(sorted), value.memory == fileMemoryName ? fileMemory() : nullptr,
        AllocationInfo{value.name, value.location}));
    tensors.back()->copyFrom(array.bytes.data(), array.names);
  }
  Arrays results;
  for (const TensorRef &tensor : isSplit ? callOnRanks(program, entry, tensors, how, options)
                                         : repeat(program, entry, tensors, how, options)) {
    std::vector<std::string> names;
    std::vector<int64_t> shape;
    for (const auto &[name, size] : tensor->sizes()) {
      names.push_back(name);
      shape.push_back(size);
    }
    results.push_back(io::HostArray::zeros(tensor->spec().element, shape, names, Here()));
    tensor->copyTo(results.back().bytes.data(), names);
  }
  return results;
}

bool run::runProgram(const Options &options) {
  if (options.interpret || options.compare)
    throw Error("'" + options.input + "' is compiled; the interpreter runs IR");
  std::shared_ptr<Program> program = Program::load(options.input);
  const MeshSpec &mesh = program->manifest().mesh;
  if (const std::string &wanted = options.compile.mesh; !wanted.empty()) {
    Mesh asked = Mesh::parse(wanted, Here());
    MeshSpec given;
    for (const AxisSize &axis : asked.axes())
      given.axes.emplace_back(axis.axis, axis.size);
    if (!(given == mesh))
      throw Error("--mesh: '" + options.input + "' is compiled for " +
                  (mesh.axes.empty() ? "one device" : "the mesh " + mesh.describe()) +
                  ", expected that, got " + given.describe());
  }
  std::vector<Signature> all;
  for (const EntrySpec &entry : program->manifest().entries)
    if (&entry == program->manifest().find(entry.name)) // for several roles, the first
      all.push_back(signatureOf(entry));
  Inputs(options).expectKnown(all);
  std::vector<Signature> entries = all;
  if (!options.entry.empty())
    entries = {signatureOf(program->entry(options.entry))};
  for (size_t run = 0; run < Inputs::runs(options); ++run) {
    Inputs inputs(options, run, entries);
    expectOne(entries, inputs, options);
    for (const Signature &entry : entries)
      report(entry, call(*program, entry.name, inputs.collect(entry), options), options);
  }
  return true;
}

void run::expectOne(const std::vector<Signature> &entries, const Inputs &inputs,
                    const Options &options) {
  if (entries.empty())
    throw Error("'" + options.input + "' has no public function");
  if (entries.size() == 1)
    return inputs.expectUsed(entries[0]);
  if (inputs.any() || !options.output.empty())
    throw Error("'" + options.input + "' has " + std::to_string(entries.size()) +
                " public functions; select by --entry the one that --input and --output mean");
}
