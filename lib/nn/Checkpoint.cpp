//===- Checkpoint.cpp - trees of tensors in files -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Checkpoint.h"

#include "heddle/io/Safetensors.h"

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

io::HostArray nn::arrayOf(const Tensor &tensor, Here here) {
  std::vector<int64_t> shape;
  std::vector<std::string> names;
  Names order;
  for (const auto &[name, size] : tensor.sizes(here)) {
    names.push_back(name);
    order.push_back(Name(name));
    shape.push_back(size);
  }
  io::HostArray array = io::HostArray::zeros(tensor.elementType(here), shape, names, here);
  tensor.toBytes(array.bytes.data(), array.element, order, here);
  return array;
}

void nn::saveTensors(const std::string &path,
                     const std::vector<std::pair<std::string, Tensor>> &tensors, const Notes &notes,
                     Here here) {
  io::Safetensors file;
  for (const auto &[name, tensor] : tensors)
    if (!file.arrays.emplace(name, arrayOf(tensor, here)).second)
      throw Error("'" + path + "': two tensors have the name '" + name + "'", here);
  file.metadata.insert(notes.begin(), notes.end());
  io::writeSafetensors(path, file, here);
}

std::map<std::string, Tensor> nn::loadTensors(const std::string &path, Notes *notes, Here here) {
  io::Safetensors file = io::readSafetensors(path, here);
  std::map<std::string, Tensor> result;
  for (const auto &[name, array] : file.arrays) {
    if (array.names.size() != array.shape.size())
      throw Error("'" + path + "': the axes of '" + name + "', " + array.describe() +
                      ", have no names",
                  here);
    result.emplace(name, tensorOf(array, here));
  }
  if (notes)
    notes->insert(file.metadata.begin(), file.metadata.end());
  return result;
}
