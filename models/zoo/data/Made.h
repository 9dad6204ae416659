//===- Made.h - data that a program makes -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data from simple laws with noise, made sample by sample from random numbers that depend on the
// sample's index alone. Samples for tests are of the same law and are not among those to train on.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_ZOO_DATA_MADE_H
#define HEDDLE_MODELS_ZOO_DATA_MADE_H

#include "models/zoo/Zoo.h"

namespace heddle::zoo {

struct SpeechOptions {
  int64_t tokens = 31, bands = 16;    ///< tokens: with the blank, which is 0
  int64_t frames = 96;                ///< the longest, which all batches are filled up to
  int64_t shortest = 4, longest = 12; ///< tokens of a sample
  double noise = 0.8;                 ///< its deviation; that of the sounds is 1
  int64_t count = 20000;              ///< samples to train on; a tenth as many for tests
};
/// A token sounds for 4 to 7 frames, in which its spectrum goes in a straight line from one vector of
/// its own to another, with noise. Fields "frames", f32 {time: any, band}, and "text", i32
/// {position: any}, the tokens from 1 on.
Data speech(const SpeechOptions &options);

struct CitationOptions {
  int64_t nodes = 64, words = 48, classes = 5, slots = 8; ///< slots: of neighbours of a node
  int64_t count = 4000;                                   ///< graphs to train on
};
/// Graphs of texts that cite each other, most of them texts of their own class, whose words are
/// only a weak hint. Fields "words", f32 {node, word}, 0 or 1; "neighbour", i32 {node, slot}, the
/// node itself first; "degree", i32 {node}, how many of these count; "label", i32 {node}.
Data citations(const CitationOptions &options);

struct ClickOptions {
  int64_t dense = 13, tables = 26, rows = 100, count = 100000;
};
/// Items that were shown to users, and whether they were clicked, which is drawn with the logistic
/// function of a linear function of numbers and of products of hidden vectors of neighbouring
/// tables' rows. Fields "dense", f32 {number}; "category", i32 {table}, the smaller rows more often;
/// "click", f32, 0 or 1.
Data clicks(const ClickOptions &options);

} // namespace heddle::zoo

#endif // HEDDLE_MODELS_ZOO_DATA_MADE_H
