//===- Classify.h - the classifier on the runtime alone ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program file holds the code of the classifier; its weights are arguments,
// which are bound by name from a safetensors file. Only the runtime is needed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_FASHION_CLASSIFY_H
#define HEDDLE_MODELS_FASHION_CLASSIFY_H

#include "heddle/nn/data/Images.h"

namespace fashion {

/// The class of each image. Throws heddle::Error if the weights don't match the program.
std::vector<int> classifyWithRuntime(const std::string &programFile, const std::string &weightsFile,
                                     const heddle::nn::LabelledImages &images, int threads);

/// The number of images whose class was predicted correctly.
int64_t countRight(const heddle::nn::LabelledImages &images, const std::vector<int> &predicted);

} // namespace fashion

#endif // HEDDLE_MODELS_FASHION_CLASSIFY_H
