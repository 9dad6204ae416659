//===- Classify.cpp - the classifier on the runtime alone -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/fashion/Classify.h"

#include "heddle/Error.h"
#include "heddle/io/Safetensors.h"
#include "heddle/nn/data/Loader.h"
#include "runtime/program/Program.h"

using namespace heddle;

/// The array as a tensor with this layout; an empty layout is row-major.
static TensorRef toRuntime(const io::HostArray &array, Layout layout = {}) {
  TensorSpec spec{array.element, {}};
  for (size_t i = 0; i < array.names.size(); ++i)
    spec.dims[array.names[i]] = Expr(array.shape[i]);
  std::vector<std::string> sorted;
  for (const auto &[name, size] : spec.dims)
    sorted.push_back(name);
  if (layout.factors.empty())
    layout = Layout::rowMajor(sorted);
  auto tensor = std::make_shared<RuntimeTensor>(spec, layout);
  tensor->copyFrom(array.bytes.data(), array.names);
  return tensor;
}

std::vector<int> fashion::classifyWithRuntime(const std::string &programFile,
                                              const std::string &weightsFile,
                                              const nn::LabelledImages &images, int threads) {
  auto program = Program::load(programFile);
  io::Safetensors weights = io::readSafetensors(weightsFile);
  CallOptions options;
  options.team = sharedThreadTeam(threads);
  auto call = program->prepare("classify", options);
  int64_t size = 0;
  for (int32_t index : call->entry().arguments) {
    const auto &value = call->entry().values[size_t(index)];
    if (value.name == "image")
      size = constantSizes(value.type).at("batch");
    else
      call->bind(value.name, toRuntime(weights.at(value.name), value.layout)); // packed once
  }
  if (size == 0)
    throw Error("'" + programFile + "': the entry 'classify' has no argument 'image'");
  std::vector<int> predicted;
  std::vector<int64_t> labels(static_cast<size_t>(size));
  nn::Loader loader(images, {.batch = size});
  while (std::optional<nn::Batch> batch = loader.next()) {
    call->bind("image", toRuntime(batch->array("image")));
    call->run();
    call->result("label")->copyTo(labels.data(), {"batch"});
    predicted.insert(predicted.end(), labels.begin(), labels.begin() + batch->samples);
  }
  return predicted;
}

int64_t fashion::countRight(const nn::LabelledImages &images, const std::vector<int> &predicted) {
  int64_t right = 0;
  for (size_t i = 0; i < predicted.size(); ++i)
    right += predicted[i] == images.label(int64_t(i));
  return right;
}
