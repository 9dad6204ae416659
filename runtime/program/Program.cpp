//===- Program.cpp - loading and running compiled programs ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Program.h"

#include "heddle/Error.h"
#include "runtime/control/Frame.h"
#include "runtime/device/CpuFeatures.h"
#include "runtime/program/LoadedProgram.h"

#include <algorithm>
#include <atomic>

using namespace heddle;

static std::atomic<CodeObserver> codeObserver;

void heddle::setCodeObserver(CodeObserver observer) { codeObserver = observer; }

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static void requireConsistent(const Manifest &manifest, int64_t codeBytes, int64_t constantBytes) {
  if (manifest.abiVersion != HEDDLE_ABI_VERSION)
    throw Error("the program was compiled for version " + std::to_string(manifest.abiVersion) +
                " of the runtime's interface, expected version " +
                std::to_string(HEDDLE_ABI_VERSION));
  if (std::string message = manifest.verify(codeBytes, constantBytes); !message.empty())
    throw Error("the program can't be loaded: " + message);
}

void LoadedProgram::resolve(Device *serving) {
  std::string where = serving ? "the device '" + serving->name() + "'" : "this CPU";
  std::map<std::string, std::string> named; // a space in the file and its name here
  for (EntrySpec &entry : manifest.entries) {
    auto fail = [&](const std::string &what, const std::string &location,
                    const std::string &reason) {
      throw Error("the program can't be loaded: " + what + " of '" + entry.name + "'" +
                  (location.empty() ? "" : " (" + location + ")") + " " + reason);
    };
    for (ValueSpec &value : entry.values) {
      if (value.space == hostSpace)
        continue;
      std::string &name = named[value.space];
      if (name.empty()) {
        auto manager = serving ? serving->memory(value.space) : nullptr;
        if (!manager)
          fail("the value '" + value.name + "'", value.location,
               "lies in the memory space '" + value.space + "', which " + where +
                   " does not serve");
        name = manager->space();
        managers[name] = std::move(manager);
      }
      value.space = name;
    }
    copyConstants(entry);
    for (const StepSpec &step : entry.steps) {
      if (!step.callsLibrary())
        continue;
      std::string what = "the step '" + step.name + "'",
                  callee = "calls '" + step.kernel + "' of the library '" + step.library + "', ";
      auto library = std::find_if(libraries.begin(), libraries.end(),
                                  [&](auto &each) { return each->name == step.library; });
      try {
        if (library == libraries.end())
          library = libraries.insert(library, std::make_unique<Library>(step.library));
      } catch (const Error &error) {
        fail(what, step.location, callee + "which can't be opened: " + error.what());
      }
      void *function = (*library)->find(step.kernel);
      if (!function)
        fail(what, step.location, callee + "which has no such function");
      libraryFunctions[&step] = reinterpret_cast<HeddleLibraryFunction>(function);
    }
  }
}

void LoadedProgram::copyConstants(const EntrySpec &entry) {
  for (const ValueSpec &value : entry.values)
    if (value.kind == ValueSpec::Kind::Constant && value.space != hostSpace &&
        !copiedConstants.count(value.space)) {
      MemoryManager &manager = *managers[value.space];
      auto bytes = int64_t(constants.bytes().size());
      void *address = manager.allocate(bytes, 64, {"constants", "", value.space});
      copiedConstants[value.space] = static_cast<char *>(address);
      manager.copy(MemoryManager::Way::In, address, constants.data(), bytes);
    }
}

LoadedProgram::~LoadedProgram() {
  for (auto &[space, address] : copiedConstants)
    managers[space]->free(address);
}

static std::string hostTarget() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "";
#endif
}

Program::Program(ProgramImage image) : loaded(std::make_shared<LoadedProgram>()) {
  const Manifest &manifest = image.manifest;
  requireConsistent(manifest, int64_t(image.code.size()), int64_t(image.constants.size()));
  std::string machine = manifest.target.substr(0, manifest.target.find('-'));
  Device *device = findDevice(manifest.target);
  if (device) {
    std::string error;
    loaded->device = device->load(image, error);
    if (!loaded->device)
      throw Error("the program can't be loaded by the device '" + manifest.target + "': " + error);
  } else if (!machine.empty() && machine != hostTarget()) {
    throw Error("the program was compiled for '" + manifest.target + "': this machine is '" +
                hostTarget() + "', and no library that is loaded runs programs of '" +
                manifest.target + "'");
  }
  if (auto missing = missingCpuFeatures(manifest.features); !missing.empty()) {
    std::string list;
    for (const std::string &feature : missing)
      list += (list.empty() ? "" : ", ") + feature;
    throw Error("the program was compiled for the CPU '" + manifest.cpu +
                "' and needs what this CPU lacks: " + list +
                "; compile it for this CPU, or for an older one that both know");
  }
  loaded->constants = Mapping(image.constants, Mapping::Use::Constants);
  loaded->manifest = std::move(image.manifest);
  if (device && loaded->manifest.mesh.ranks() > 1)
    loaded->hash(); // ranks compare it: of the file, without the numbers of devices
  loaded->resolve(device);
  if (!loaded->device) {
    loaded->code = Mapping(image.code, Mapping::Use::Code);
    if (CodeObserver observer = codeObserver)
      observer(loaded->manifest, loaded->code.data());
  }
  loaded->setFunctions([&](const EntrySpec &entry) -> DeviceProgram::Entry {
    if (loaded->device)
      return loaded->device->entry(entry);
    return {reinterpret_cast<HeddleEntry>(loaded->code.data() + entry.codeOffset), nullptr};
  });
}

std::shared_ptr<Program> Program::load(const std::string &path) {
  ProgramImage image = ProgramImage::read(path);
  try {
    return std::make_shared<Program>(std::move(image));
  } catch (const Error &error) {
    throw Error("'" + path + "': " + error.what());
  }
}

std::shared_ptr<Program> Program::fromFunctions(Manifest manifest,
                                                std::vector<HeddleEntry> functions,
                                                std::string_view constants) {
  requireConsistent(manifest, int64_t(functions.size()), int64_t(constants.size()));
  std::shared_ptr<Program> program(new Program());
  program->loaded = std::make_shared<LoadedProgram>();
  program->loaded->constants = Mapping(constants, Mapping::Use::Constants);
  program->loaded->manifest = std::move(manifest);
  program->loaded->resolve(nullptr);
  program->loaded->setFunctions([&](const EntrySpec &entry) -> DeviceProgram::Entry {
    return {functions[size_t(entry.codeOffset)], nullptr};
  });
  return program;
}

Program::~Program() = default;

std::shared_ptr<MemoryManager> Program::memory(const ValueSpec &value) const {
  return value.space == hostSpace ? nullptr : loaded->managers.find(value.space)->second;
}

const Manifest &Program::manifest() const { return loaded->manifest; }

const EntrySpec &Program::entry(std::string_view name, int64_t rank) const {
  if (const EntrySpec *found = loaded->manifest.find(name, rank))
    return *found;
  std::string known;
  for (const EntrySpec &each : loaded->manifest.entries) {
    if (each.name == name)
      throw Error("'" + each.name + "' is for the ranks of the mesh " +
                  loaded->manifest.mesh.describe() + ", of which rank " + std::to_string(rank) +
                  " is none");
    known += (known.empty() ? "'" : ", '") + each.name + "'";
  }
  throw Error("the program has no entry '" + std::string(name) +
              "'; it has: " + (known.empty() ? "none" : known));
}

const std::string &LoadedProgram::hash() {
  std::lock_guard lock(mutex);
  if (hashText.empty()) {
    JobKey sums{sipHash({}, manifest.toJson()), sipHash({}, constants.bytes())};
    hashText = std::to_string(sipHash(sums, code.bytes()));
  }
  return hashText;
}

std::shared_ptr<const SizedEntry> LoadedProgram::sizedFor(const EntrySpec &entry,
                                                          const std::vector<int64_t> &symbols) {
  std::lock_guard lock(mutex);
  auto &sized = sizedEntries[{&entry, symbols}];
  if (!sized)
    sized = std::make_shared<const SizedEntry>(sizedEntry(entry, symbols));
  return sized;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::unique_ptr<Call> Program::prepare(std::string_view name, const CallOptions &options) {
  return std::make_unique<Call>(loaded, entry(name), options);
}

std::unique_ptr<Call> Program::acquire(const EntrySpec &entry, const CallOptions &options) {
  auto manager = options.manager ? options.manager : defaultMemoryManager();
  auto team = teamOf(options);
  {
    std::lock_guard lock(mutex);
    idle.reserve(8);
    for (auto &call : idle)
      if (&call->spec == &entry && call->settings.manager == manager &&
          call->settings.managed == options.managed && call->settings.team == team &&
          call->settings.supplied == options.supplied && call->belongsTo(options.job)) {
        auto found = std::move(call);
        call = std::move(idle.back());
        idle.pop_back();
        found->settings.profile = options.profile;
        found->settings.job = options.job;
        return found;
      }
  }
  return std::make_unique<Call>(
      loaded, entry,
      CallOptions{team, manager, options.managed, options.profile, options.supplied, options.job});
}

std::vector<TensorRef> Program::run(const EntrySpec &entry, std::vector<TensorRef> arguments,
                                    const CallOptions &options, const std::vector<bool> &donate) {
  if (arguments.size() != entry.arguments.size())
    throw Error("'" + entry.name + "' expects " + std::to_string(entry.arguments.size()) +
                " arguments, got " + std::to_string(arguments.size()));
  auto call = acquire(entry, options);
  for (size_t i = 0; i < arguments.size(); ++i)
    call->bind(i, std::move(arguments[i]), i < donate.size() && donate[i]);
  std::vector<TensorRef> results(entry.results.size());
  call->run();
  // Nothing below may fail: the results own the donated memory.
  call->takeResults(results);
  call->unbind();
  // A cached call must not keep its job alive.
  call->owner = call->settings.job;
  call->settings.job = nullptr;
  std::lock_guard lock(mutex);
  std::erase_if(idle, [](const auto &each) { return !each->belongsTo(each->owner.lock()); });
  if (idle.size() < idle.capacity())
    idle.push_back(std::move(call));
  return results;
}

std::vector<TensorRef> Program::run(std::string_view name,
                                    const std::map<std::string, TensorRef> &arguments,
                                    const CallOptions &options) {
  const EntrySpec &chosen = entry(name);
  std::vector<TensorRef> ordered(chosen.arguments.size());
  for (const auto &[given, tensor] : arguments)
    ordered[chosen.positionOf(given, chosen.arguments)] = tensor;
  return run(chosen, std::move(ordered), options);
}

void Program::trim() {
  std::vector<std::unique_ptr<Call>> released;
  std::lock_guard lock(mutex);
  released.swap(idle);
}
