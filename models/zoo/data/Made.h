//===- Made.h - synthetic data ----------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data from simple distributions with noise, generated sample by sample from random numbers that
// depend only on the sample's index. Test samples have the same distribution and are distinct from
// training samples.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_ZOO_DATA_MADE_H
#define HEDDLE_MODELS_ZOO_DATA_MADE_H

#include "models/zoo/Zoo.h"

namespace heddle::zoo {

struct SpeechOptions {
  int64_t tokens = 31, bands = 16;    ///< tokens: includes the blank, 0
  int64_t frames = 96;                ///< of the longest sample, to which batches are padded
  int64_t shortest = 4, longest = 12; ///< tokens of a sample
  double noise = 0.8;                 ///< standard deviation; that of the sounds is 1
  int64_t count = 20000;              ///< training samples; there are a tenth as many test samples
};
/// A token lasts for 4 to 7 frames, whose spectrum moves linearly between two vectors of the token,
/// with noise. Fields "frames", f32 {time: any, band}, and "text", i32 {position: any}, the tokens
/// from 1 on.
Data speech(const SpeechOptions &options);

struct CitationOptions {
  int64_t nodes = 64, words = 48, classes = 5, slots = 8; ///< slots: the most neighbours of a node
  int64_t count = 4000;                                   ///< training graphs
};
/// Graphs of texts that mostly cite texts of their own class; the words of a text are a weak hint
/// of its class. Fields "words", f32 {node, word}, 0 or 1; "neighbour", i32 {node, slot}, the node
/// itself first; "degree", i32 {node}, the number of used slots; "label", i32 {node}.
Data citations(const CitationOptions &options);

struct ClickOptions {
  int64_t dense = 13, tables = 26, rows = 100, count = 100000;
};
/// Items shown to users, and whether they were clicked. The probability of a click is the logistic
/// function of a linear function of the numbers and of products of hidden vectors of adjacent
/// tables' rows. Fields "dense", f32 {number}; "category", i32 {table}, the smaller rows more
/// often; "click", f32, 0 or 1.
Data clicks(const ClickOptions &options);

} // namespace heddle::zoo

#endif // HEDDLE_MODELS_ZOO_DATA_MADE_H
