//===- ManifestVerify.cpp - verifies manifests ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/base/Formatted.h"
#include "runtime/format/Manifest.h"

#include <algorithm>
#include <set>

using namespace heddle;

namespace {
class Verifier {
public:
  Verifier(const Manifest &manifest, const EntrySpec &entry, int64_t codeBytes,
           int64_t constantBytes)
      : manifest(manifest), entry(entry), codeBytes(codeBytes), constantBytes(constantBytes),
        isStatic(entry.hasConstantSizes()) {}

  std::string run() {
    if (entry.codeOffset < 0 || entry.codeOffset >= codeBytes)
      return "it is outside of the program's code";
    if (entry.arenaBytes < 0 || entry.scratchBytes.constant().value_or(0) < 0)
      return "its memory has a negative size";
    std::vector<Expr> numbers = entry.derived;
    numbers.push_back(entry.scratchBytes);
    for (const SizeRequirement &each : entry.requirements) {
      numbers.push_back(each.got);
      numbers.push_back(each.most);
    }
    for (const ValueSpec &value : entry.values)
      for (const ExprMap *dims : {&value.type.dims, &value.wholeDims})
        for (const auto &[name, size] : *dims)
          numbers.push_back(size);
    for (const StepSpec &step : entry.steps)
      if (const auto &with = step.communication) {
        for (const auto *list : {&with->counts, &with->outputCounts})
          numbers.insert(numbers.end(), list->begin(), list->end());
        numbers.push_back(with->source);
        numbers.push_back(with->target);
      }
    for (const Expr &number : numbers)
      for (const std::string &name : number.names())
        if (std::find(entry.symbols.begin(), entry.symbols.end(), name) == entry.symbols.end())
          return "it mentions '" + name + "', which is no size symbol of it";
    for (size_t i = 0; i < entry.values.size(); ++i)
      if (std::string message = value(i); !message.empty())
        return message;
    for (const std::string &name : entry.supplied)
      if (std::find(entry.symbols.begin(), entry.symbols.end(), name) == entry.symbols.end())
        return "its caller should supply '" + name + "', which is no size symbol of it";
    if (std::string message = placement(); !message.empty())
      return message;
    std::set<int32_t> seen;
    for (int32_t index : entry.arguments)
      if (!isValue(index) || entry.values[size_t(index)].kind != ValueSpec::Kind::Argument ||
          !seen.insert(index).second)
        return "its argument " + std::to_string(index) + " is not a value of its own";
    for (int32_t index : entry.results)
      if (!isValue(index) || entry.values[size_t(index)].kind == ValueSpec::Kind::Temporary)
        return "its result " + std::to_string(index) + " is not a value that it gives back";
      else if (const ValueSpec &value = entry.values[size_t(index)];
               value.space != hostSpace &&
               (value.kind != ValueSpec::Kind::Result || !seen.insert(index).second))
        return "its result '" + value.name + "' in the memory space '" + value.space +
               "' would have to be copied by the host";
    if (std::string message = bound(); !message.empty())
      return message;
    if (std::string message = steps(); !message.empty())
      return message;
    if (std::string message = donations(); !message.empty())
      return message;
    return overwritten();
  }

private:
  const Manifest &manifest;
  const EntrySpec &entry;
  int64_t codeBytes, constantBytes;
  bool isStatic;

  bool isValue(int32_t index) const { return index >= 0 && size_t(index) < entry.values.size(); }
  /// The value that owns the memory of a value, after `value` has checked the aliases.
  size_t ownerOf(size_t index) const {
    while (entry.values[index].aliasOf >= 0)
      index = size_t(entry.values[index].aliasOf);
    return index;
  }

  std::string value(size_t index) const {
    const ValueSpec &value = entry.values[index];
    std::string name = "its value '" + value.name + "'";
    bool constant = std::all_of(value.type.dims.begin(), value.type.dims.end(),
                                [](const auto &dim) { return dim.second.isConstant(); });
    if (constant) {
      Sizes sizes;
      for (const auto &[dim, size] : value.type.dims)
        if ((sizes[dim] = *size.constant()) < 0)
          return name + " has the size " + size.str() + " for '" + dim + "'";
      if (std::string message = value.layout.verify(sizes); !message.empty())
        return "of " + name + ", " + message;
      int64_t bytes = value.layout.elements(sizes) * byteSize(value.type.element);
      if (value.bytes != Expr(bytes))
        return name + " should take " + std::to_string(bytes) + " bytes, got " + value.bytes.str();
    }
    // Follow the aliases, which must not form a cycle.
    int32_t at = int32_t(index);
    for (size_t hops = 0; entry.values[size_t(at)].aliasOf != -1; ++hops) {
      at = entry.values[size_t(at)].aliasOf;
      if (!isValue(at) || hops > entry.values.size())
        return name + " takes the memory of one that does not exist";
    }
    using Kind = ValueSpec::Kind;
    if (value.kind == Kind::Constant &&
        (!constant || value.offset < 0 || value.offset > constantBytes ||
         *value.bytes.constant() > constantBytes - value.offset))
      return name + " is outside of the program's constants";
    if (value.space != entry.values[size_t(at)].space)
      return name + " in the memory space '" + value.space + "' takes the memory of one in '" +
             entry.values[size_t(at)].space + "'";
    if (value.kind == Kind::Temporary && value.aliasOf < 0 && constant && isStatic &&
        value.space == hostSpace &&
        (value.offset < 0 || value.offset > entry.arenaBytes ||
         *value.bytes.constant() > entry.arenaBytes - value.offset))
      return name + " is outside of the arena";
    if (value.kind == Kind::Temporary &&
        (value.firstStep < 0 || value.firstStep > value.lastStep ||
         value.lastStep >= std::max<int32_t>(1, int32_t(entry.steps.size()))))
      return name + " lives beyond the program's steps";
    if (const ValueSpec &owner = entry.values[size_t(at)];
        owner.kind == Kind::Temporary && value.firstStep < owner.firstStep)
      return name + " lives from step " + std::to_string(value.firstStep) +
             ", but its memory, of '" + owner.name + "', from step " +
             std::to_string(owner.firstStep);
    if (value.kind == Kind::Result && value.aliasOf >= 0 &&
        entry.values[size_t(at)].kind != Kind::Argument)
      return name + " takes the memory of '" + entry.values[size_t(at)].name +
             "', which is no argument";
    return "";
  }

  /// Checks the entry against the mesh: its role, its coordinates, the shards of its values.
  std::string placement() const {
    const MeshSpec &mesh = manifest.mesh;
    auto hasName = [&](const RoleSpec &role) { return role.name == entry.role; };
    if (!entry.role.empty() && std::none_of(manifest.roles.begin(), manifest.roles.end(), hasName))
      return "its role '" + entry.role + "' does not exist";
    for (const auto &[symbol, axis] : entry.coordinates)
      if (std::string message = verifyAxes(mesh, {axis}); !message.empty())
        return "its symbol '" + symbol + "' is a coordinate on " + message;
      else if (!entry.isSupplied(symbol))
        return "its coordinate '" + symbol + "' is no symbol that is supplied";
    for (const ValueSpec &value : entry.values) {
      std::string name = "its value '" + value.name + "'";
      AxisList axes;
      for (const auto &[dim, over] : value.shards) {
        axes.insert(axes.end(), over.begin(), over.end());
        if (!(value.isAbsent() || value.type.dims.count(dim)) || !value.wholeDims.count(dim))
          return name + " is split along '" + dim + "', which it lacks";
      }
      if (std::string message = verifyAxes(mesh, axes); !message.empty())
        return name + " is split over " + message;
      if (std::string message = block(value); !message.empty())
        return name + " " + message;
      if (std::string message = verifyPlace(mesh, value.place); !message.empty())
        return name + " is at " + message;
      bool isGiven =
          value.kind == ValueSpec::Kind::Argument || value.kind == ValueSpec::Kind::Result;
      if (!(axes.empty() && value.place.empty()) && !isGiven)
        return name + " is split, but no argument or result";
      if (!value.memory.empty() &&
          (value.memory != fileMemoryName || !isGiven || value.space != hostSpace))
        return name + " is in the memory '" + value.memory +
               "', expected arguments and results of the host in 'file'";
    }
    return "";
  }

  /// Checks that a value is a block of the whole tensor that it states.
  std::string block(const ValueSpec &value) const {
    if ((value.shards.empty() && value.place.empty()) || value.isAbsent())
      return "";
    auto sameName = [](const auto &a, const auto &b) { return a.first == b.first; };
    if (!std::ranges::equal(value.type.dims, value.wholeDims, sameName))
      return "has other names than the tensor of which it is a block";
    for (const auto &[name, size] : value.type.dims) {
      auto axes = value.shards.find(name);
      int64_t parts = axes == value.shards.end() ? 1 : manifest.mesh.sizeOf(axes->second);
      auto held = size.constant(), whole = value.wholeDims.at(name).constant();
      if (held && whole && (*whole < 0 || *held != blockSize(*whole, parts)))
        return "has the size " + std::to_string(*held) + " for '" + name +
               "', expected a block of " + std::to_string(*whole) + " in " + std::to_string(parts) +
               (parts == 1 ? " part" : " parts");
    }
    return "";
  }

  /// Callers bind arguments and take results, so each value of these kinds must be in the lists.
  std::string bound() const {
    std::vector<bool> isBound(entry.values.size());
    for (const auto *list : {&entry.arguments, &entry.results})
      for (int32_t index : *list)
        isBound[size_t(index)] = true;
    for (size_t i = 0; i < entry.values.size(); ++i)
      if (ValueSpec::Kind kind = entry.values[i].kind;
          !isBound[i] && (kind == ValueSpec::Kind::Argument || kind == ValueSpec::Kind::Result))
        return "its value '" + entry.values[i].name + "' is " +
               (kind == ValueSpec::Kind::Argument ? "an argument" : "a result") +
               " that is not in the list of these";
    return "";
  }

  /// Only donated memory may be overwritten.
  std::string overwritten() const {
    std::set<size_t> donated;
    for (auto [argument, result] : entry.donations)
      donated.insert(size_t(entry.arguments[size_t(argument)]));
    for (size_t i = 0; i < entry.values.size(); ++i)
      if (size_t owner = ownerOf(i); owner != i && !donated.count(owner) &&
                                     entry.values[owner].kind == ValueSpec::Kind::Argument)
        return "its value '" + entry.values[i].name + "' takes the memory of the argument '" +
               entry.values[owner].name + "', which is not donated";
    return "";
  }

  /// Checks the sizes of the values of a step that communicates.
  std::string communicates(const StepSpec &step) const {
    if (step.kind != StepKind::Invoke && step.kind != StepKind::Start)
      return "communicates, but is neither invoked nor started";
    if (!step.library.empty() || !step.kernel.empty())
      return "communicates, and calls '" + step.kernel + "' of a library";
    std::vector<std::optional<int64_t>> bytes;
    for (int32_t value : step.values)
      bytes.push_back(entry.values[size_t(value)].bytes.constant());
    if (auto message = verifyCommunication(manifest.mesh, *step.communication, bytes);
        !message.empty())
      return message;
    for (int32_t index : step.values) {
      const ValueSpec &value = entry.values[size_t(index)];
      ElementType moved = step.communication->element, held = value.type.element;
      // The storage of integers has no sign: a sum of i16 may be stored as ui16.
      if (isFloat(moved) || isFloat(held) ? moved != held : byteSize(moved) != byteSize(held))
        return "communicates elements of type " + std::string(spelling(moved)) + ", but '" +
               value.name + "' has " + std::string(spelling(held));
    }
    return "";
  }

  /// Checks a step that calls a library, awaits a call, or copies. `started` maps each started step
  /// that is not awaited yet to its depth of branches and loops.
  std::string asynchronous(size_t s, size_t depth, std::map<int32_t, size_t> &started) const {
    const StepSpec &step = entry.steps[s];
    std::string name = "its step " + std::to_string(s);
    if (step.communication)
      if (std::string message = communicates(step); !message.empty())
        return name + " " + message;
    if (step.callsLibrary() && (step.library.empty() || step.kernel.empty()))
      return name + " should name a library and a function of it";
    if (step.kind == StepKind::Start)
      started[int32_t(s)] = depth;
    if (step.kind == StepKind::Await) {
      auto found = started.find(step.awaits);
      if (found == started.end() || found->second != depth)
        return name + " awaits the step " + std::to_string(step.awaits) +
               ", which is not started before it in the same branch or loop";
      for (int32_t index : entry.steps[size_t(step.awaits)].values)
        if (const ValueSpec &value = entry.values[size_t(index)];
            value.kind == ValueSpec::Kind::Temporary && value.lastStep < int32_t(s))
          return name + " awaits the step " + std::to_string(step.awaits) + ", whose value '" +
                 value.name + "' lives until step " + std::to_string(value.lastStep);
      started.erase(found);
    }
    if (step.kind == StepKind::Copy) {
      if (step.values.size() != 2)
        return name + " should copy one value into another, got " +
               std::to_string(step.values.size()) + " values";
      const ValueSpec &to = entry.values[size_t(step.values[0])],
                      &from = entry.values[size_t(step.values[1])];
      if (!(to.type == from.type) || to.layout != from.layout)
        return name + " copies '" + from.name + "' into '" + to.name +
               "', which has another type or layout";
    }
    return "";
  }

  std::string steps() const {
    std::vector<StepKind> open; // branches and loops around a step
    std::map<int32_t, size_t> started;
    auto numbers = int32_t(entry.symbols.size() + entry.derived.size());
    for (size_t s = 0; s < entry.steps.size(); ++s) {
      const StepSpec &step = entry.steps[s];
      std::string name = "its step " + std::to_string(s);
      bool reads = step.kind == StepKind::If || step.kind == StepKind::Loop;
      if (reads && step.values.size() != 1)
        return name + " should read one truth value, got " + std::to_string(step.values.size()) +
               " values";
      for (int32_t index : step.values)
        if (!isValue(index))
          return name + " uses the value " + std::to_string(index) + ", which does not exist";
        else if (const ValueSpec &value = entry.values[size_t(index)];
                 value.kind == ValueSpec::Kind::Temporary &&
                 (int32_t(s) < value.firstStep || int32_t(s) > value.lastStep))
          return name + " uses '" + value.name + "', which lives from step " +
                 std::to_string(value.firstStep) + " to " + std::to_string(value.lastStep);
      if (reads)
        if (const ValueSpec &value = entry.values[size_t(step.values[0])];
            value.type.element != ElementType::I1 || !value.type.dims.empty())
          return name + " should read one truth value, got " + describe(value.type) + " of '" +
                 value.name + "'";
      if (reads || step.runsInRuntime())
        for (int32_t index : step.values)
          if (const ValueSpec &value = entry.values[size_t(index)]; value.space != hostSpace)
            return name + " should use values in the memory space 'host', got '" + value.name +
                   "' in '" + value.space + "'";
      if (!(step.bound >= 0 && step.bound <= step.predicted))
        return name + formatted(" is predicted to take %g s, and at least %g s", step.predicted,
                                step.bound);
      auto isNumber = [&](int32_t index) { return index >= 0 && index < numbers; };
      if (step.chunks < 0 || (step.chunksAt != -1 && !isNumber(step.chunksAt)) ||
          !std::all_of(step.numbers.begin(), step.numbers.end(), isNumber))
        return name + " uses a number that does not exist";
      if (std::string message = asynchronous(s, open.size(), started); !message.empty())
        return message;
      bool ends = step.kind == StepKind::Else || step.kind == StepKind::EndIf ||
                  step.kind == StepKind::EndLoop;
      for (auto [each, depth] : started)
        if (ends && depth == open.size())
          return "its step " + std::to_string(each) + " is started and never awaited";
      StepKind innermost = open.empty() ? StepKind::Kernel : open.back();
      bool fits = true;
      if (reads)
        open.push_back(step.kind);
      else if (step.kind == StepKind::Else && (fits = innermost == StepKind::If))
        open.back() = StepKind::Else;
      else if ((step.kind == StepKind::EndIf && (fits = innermost == StepKind::Else)) ||
               (step.kind == StepKind::EndLoop && (fits = innermost == StepKind::Loop)))
        open.pop_back();
      if (!fits)
        return name + " ends a branch or loop that does not begin";
    }
    if (!started.empty())
      return "its step " + std::to_string(started.begin()->first) + " is started and never awaited";
    return open.empty() ? "" : "a branch or loop among its steps has no end";
  }

  std::string donations() const {
    std::set<int32_t> given, taken;
    for (auto [argument, result] : entry.donations) {
      if (argument < 0 || size_t(argument) >= entry.arguments.size() || result < 0 ||
          size_t(result) >= entry.results.size() || !given.insert(argument).second ||
          !taken.insert(result).second)
        return "its donation of argument " + std::to_string(argument) + " to result " +
               std::to_string(result) + " is not a pair of its own";
      const ValueSpec &from = entry.values[size_t(entry.arguments[size_t(argument)])];
      const ValueSpec &to = entry.values[size_t(entry.results[size_t(result)])];
      if (!(from.type == to.type) || from.layout != to.layout)
        return "it makes '" + to.name + "' in the memory of '" + from.name +
               "', which has another type or layout";
      if (ownerOf(size_t(entry.results[size_t(result)])) !=
          size_t(entry.arguments[size_t(argument)]))
        return "its donation of '" + from.name + "' to '" + to.name +
               "' has no effect: the result has other memory";
    }
    return "";
  }
};
} // namespace

std::string Manifest::verify(int64_t codeBytes, int64_t constantBytes) const {
  if (std::string message = verifyMesh(mesh, roles); !message.empty())
    return message;
  std::set<std::string> names;
  for (const EntrySpec &entry : entries) {
    if (!names.insert(entry.name + " " + entry.role).second)
      return "the entry '" + entry.name + "' occurs twice";
    if (std::string message = Verifier(*this, entry, codeBytes, constantBytes).run();
        !message.empty())
      return "the entry '" + entry.name + "' is not consistent: " + message;
  }
  for (const FunctionSpec &function : functions)
    if (function.offset < 0 || function.bytes < 0 || function.offset > codeBytes ||
        function.bytes > codeBytes - function.offset)
      return "the function '" + function.name + "' is outside of the program's code";
    else
      for (auto [offset, number] : function.lines)
        if (offset < 0 || offset >= function.bytes || number < 0 ||
            size_t(number) >= function.locations.size())
          return "the function '" + function.name + "' has lines for code that it lacks";
  return "";
}
