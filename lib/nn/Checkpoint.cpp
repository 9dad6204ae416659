//===- Checkpoint.cpp - trees of tensors in files -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Checkpoint.h"

#include "ShardedCheckpoint.h"
#include "TensorSource.h"
#include "heddle/io/Safetensors.h"
#include "heddle/io/ShardDirectory.h"

#include <set>

using namespace heddle;
using namespace heddle::nn;

Tensor nn::tensorOf(const io::HostArray &array, Here here) {
  if (array.names.size() != array.shape.size())
    throw Error("expected an array whose axes have names, got " + array.describe(), here);
  std::vector<Extent> extents;
  for (size_t i = 0; i < array.shape.size(); ++i)
    extents.push_back({Name(array.names[i], here), array.shape[i]});
  return Tensor::ofBytes(array.bytes.data(), size_t(array.count()), array.element, extents, here);
}

io::HostArray nn::headerOf(const Tensor &tensor, Here here) {
  io::HostArray array{tensor.elementType(here), {}, {}, {}};
  for (const auto &[name, size] : tensor.sizes(here)) {
    array.names.push_back(name);
    array.shape.push_back(size);
  }
  return array;
}

io::HostArray nn::arrayOf(const Tensor &tensor, Here here) {
  io::HostArray header = headerOf(tensor, here);
  Names order;
  for (const std::string &name : header.names)
    order.push_back(Name(name));
  io::HostArray array = io::HostArray::zeros(header.element, header.shape, header.names, here);
  tensor.toBytes(array.bytes.data(), array.element, order, here);
  return array;
}

/// Throws Error with the path of an empty tensor; functions on a single tensor can't name its path.
static void requireValue(const std::string &path, const std::string &name, const Tensor &tensor,
                         Here here) {
  if (tensor.empty())
    throw Error("'" + path + "': the tensor '" + name + "' is empty: nothing was assigned to it",
                here);
}

void nn::detail::save(const std::string &path, const Leaves &leaves, const Notes &notes,
                      const SaveOptions &options, Here here) {
  io::Safetensors header;
  header.checksums = true;
  std::map<std::string, const Tensor *> tensors;
  for (const auto &[name, tensor] : leaves) {
    requireValue(path, name, *tensor, here);
    if (!tensor->split(here) || !options.ranks)
      tensor->data(here); // throws for a donated value before anything is written
    header.arrays.emplace(name, headerOf(*tensor, here));
    if (!tensors.emplace(name, tensor).second)
      throw Error("'" + path + "': two tensors have the name '" + name + "'", here);
  }
  header.metadata.insert(notes.begin(), notes.end());
  if (options.ranks)
    return saveShards(path, header, tensors, *options.ranks, here);
  auto source = [&](const std::string &name) { return arrayOf(*tensors.at(name), here); };
  if (path.ends_with(".index.json"))
    io::writeSafetensorsFiles(path, header, source, options.bytesPerFile, here);
  else
    io::writeSafetensors(path, header, source, here);
}

namespace {
/// The array of the file from which a tensor of the tree is loaded, and the part of it.
struct Filling {
  std::string name;
  Selection selection;
};
} // namespace

/// Finds the array for a tensor, or sets `problem` to the reason why none fits.
static Filling fillingOf(const io::Safetensors &header, const std::string &path,
                         const Tensor &tensor, const LoadOptions &options, std::string &problem,
                         Here here) {
  const TensorSource *source = nullptr;
  Filling filling{options.names.empty() ? path : "", {}};
  for (const TensorSource &each : options.names)
    if (auto name = translated(each.path, path, each.name); name && !source) {
      source = &each;
      filling.name = *name;
    }
  std::string type = tensor.type(here);
  if (!options.names.empty() && !source) {
    problem = "no name in the map for '" + path + "', " + type;
    return filling;
  }
  auto found = header.arrays.find(filling.name);
  if (found == header.arrays.end()) {
    problem = "no tensor '" + filling.name + "'" +
              (filling.name == path ? "" : " for '" + path + "'") + ", expected " + type;
    return filling;
  }
  bool isAlike =
      found->second.element == tensor.elementType(here) ||
      (options.convert && isFloat(found->second.element) && isFloat(tensor.elementType(here)));
  auto axes = source && !source->axes.empty() ? source->axes : found->second.names;
  filling.selection = select(found->second, axes, tensor.sizes(here));
  if (!isAlike || !filling.selection.problem.empty())
    problem = "the tensor '" + filling.name + "' is " + found->second.describe() + ", expected " +
              type + (filling.name == path ? "" : " for '" + path + "'") +
              filling.selection.problem;
  return filling;
}

std::vector<Tensor> nn::detail::load(const std::string &path, const Leaves &leaves,
                                     const LoadOptions &options, Notes &notes, Here here) {
  OpenedCheckpoint file(path, here);
  const io::Safetensors &header = file.header();
  std::vector<Filling> fillings;
  std::vector<std::string> problems;
  std::set<std::string> used;
  for (const auto &[name, tensor] : leaves) {
    requireValue(path, name, *tensor, here);
    std::string problem;
    fillings.push_back(fillingOf(header, name, *tensor, options, problem, here));
    used.insert(fillings.back().name);
    if (!problem.empty())
      problems.push_back(problem);
  }
  for (const auto &[name, array] : header.arrays)
    if (!used.contains(name) &&
        std::none_of(options.ignored.begin(), options.ignored.end(),
                     [&, &name = name](const std::string &each) { return matches(each, name); }))
      problems.push_back("no tensor is loaded from '" + name + "', " + array.describe());
  if (!problems.empty()) {
    std::string text = "'" + path + "': ";
    for (size_t i = 0; i < problems.size(); ++i)
      text += (i ? "\n  " : problems.size() > 1 ? "does not fit:\n  " : "") + problems[i];
    throw Error(text, here);
  }
  std::vector<Tensor> result;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Tensor &like = *leaves[i].second;
    ElementType type = like.elementType(here);
    bool isRenamed = !options.names.empty();
    if (like.split(here) && !isRenamed && header.at(fillings[i].name).element == type) {
      result.push_back(file.readBlock(fillings[i].name, like, here));
      continue;
    }
    Tensor tensor =
        tensorOf(selected(file.read(fillings[i].name, here), fillings[i].selection), here);
    result.push_back(tensor.elementType(here) == type ? tensor : tensor.cast(type, here));
    result.back().data(here);
  }
  notes.insert(header.metadata.begin(), header.metadata.end());
  return result;
}
