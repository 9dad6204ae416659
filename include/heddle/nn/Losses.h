//===- Losses.h - loss functions --------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loss is one number for each element, or for each sample; the caller chooses the names to
// average or sum over:
//
//     Tensor a = mean(nn::squaredError(y, wanted), over(batch, unit));       // PyTorch's "mean"
//     Tensor b = sum(nn::crossEntropy(logits, label, classes), over(batch)); // its "sum"
//     Tensor c = nn::crossEntropyMean(logits, label, classes, over(batch, time),
//                                     {.weight = frequency, .ignored = -1});
//
// Labels are integer tensors of class indices. The loss of a label out of range is NaN;
// JitOptions::check reports the label.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_LOSSES_H
#define HEDDLE_NN_LOSSES_H

#include "heddle/Ops.h"

#include <optional>

namespace heddle::nn {

/// A mean and its count: the number of elements in it, or the sum of their weights. Means of the
/// parts of a batch are weighted by their counts (Outcome::counts). Without a count it is a mean
/// over samples.
struct CountedMean {
  Tensor mean, count;
  CountedMean(Tensor mean, Tensor count = {}) : mean(std::move(mean)), count(std::move(count)) {}
};
/// The mean of all elements of `each`, weighted by `weight`, in f32 or wider. Weights are numbers
/// of at least 0 or truth values, with names of `each`. An element of weight 0 may have any value,
/// also NaN. If all weights are 0, the mean and its gradient are 0.
///
///     Tensor counts = notEqual(next, 0.0);                  // batch, time: false for padding
///     nn::CountedMean loss = nn::countedMean(nn::crossEntropy(logits, next, word), counts);
CountedMean countedMean(const Tensor &each, const Tensor &weight, Here here = Here::current());

/// (x - wanted)^2 and |x - wanted|, element by element (torch.nn.MSELoss, L1Loss).
Tensor squaredError(const Tensor &x, const Tensor &wanted, Here here = Here::current());
Tensor absoluteError(const Tensor &x, const Tensor &wanted, Here here = Here::current());
/// d^2 / 2 for errors d up to `delta`, delta * (|d| - delta / 2) beyond (Huber, 1964;
/// torch.nn.HuberLoss; SmoothL1Loss is this divided by its beta = delta).
Tensor huber(const Tensor &x, const Tensor &wanted, double delta = 1, Here here = Here::current());

/// -(wanted * log(p) + (1 - wanted) * log(1 - p)), element by element; logarithms are clamped to at
/// least -100 (torch.nn.BCELoss).
Tensor binaryCrossEntropy(const Tensor &probability, const Tensor &wanted,
                          Here here = Here::current());
/// The same for p = sigmoid(logits), without overflow. `positive` (a number, or a tensor with names
/// of the logits) weighs the first term (torch.nn.BCEWithLogitsLoss's pos_weight).
Tensor binaryCrossEntropyOfLogits(const Tensor &logits, const Tensor &wanted,
                                  std::optional<Operand> positive = {},
                                  Here here = Here::current());

struct CrossEntropyOptions {
  Tensor weight = {}; ///< of each class; empty: 1
  /// Samples with this label have loss 0 and weight 0. Not for labels that are probabilities.
  std::optional<int64_t> ignored = {};
  double smoothing = 0; ///< label smoothing: the part of the target spread over all classes
};

/// Minus the logarithm of the probability that softmax over `classes` gives to `label`. A float
/// label that has the name `classes` is the target probability of each class
/// (torch.nn.CrossEntropyLoss with reduction "none"). Throws Error for other labels of floats, and
/// for names that the logits lack.
Tensor crossEntropy(const Tensor &logits, const Tensor &label, const Name &classes,
                    const CrossEntropyOptions &options = {}, Here here = Here::current());
/// Its mean over samples: the sum of their losses divided by that of their weights, as PyTorch's
/// reduction "mean"; divided by their number where labels are probabilities.
Tensor crossEntropyMean(const Tensor &logits, const Tensor &label, const Name &classes,
                        const Names &over, const CrossEntropyOptions &options = {},
                        Here here = Here::current());
/// The same over all names, with the sum of the weights, for Outcome::counts; 0 where that is 0.
CountedMean countedCrossEntropy(const Tensor &logits, const Tensor &label, const Name &classes,
                                const CrossEntropyOptions &options = {},
                                Here here = Here::current());

/// The sum over other classes of max(0, margin - (score of label - score))^power, not divided by
/// the number of classes (torch.nn.MultiMarginLoss times that number).
Tensor hinge(const Tensor &scores, const Tensor &label, const Name &classes, double margin = 1,
             int power = 1, Here here = Here::current());
/// The spread loss of matrix capsules: hinge with power 2 (Hinton, Sabour, Frosst, ICLR'18,
/// equation 3). `margin`, a number or a scalar tensor, should rise from 0.2 to 0.9 during training.
Tensor spread(const Tensor &activations, const Tensor &label, const Name &classes, Operand margin,
              Here here = Here::current());
struct MarginOptions {
  double present = 0.9, absent = 0.1, others = 0.5;
};
/// The margin loss of capsules: max(0, present - length)^2 for the label's class, others * max(0,
/// length - absent)^2 for the rest, summed over the classes (Sabour, Frosst, Hinton, NIPS'17,
/// equation 4).
Tensor margin(const Tensor &lengths, const Tensor &label, const Name &classes,
              MarginOptions options = {}, Here here = Here::current());

struct NllOptions {
  Tensor weight = {};                  ///< of each class; empty: 1
  std::optional<int64_t> ignored = {}; ///< samples with this label have loss 0 and weight 0
};
/// Minus the element of `logProbability` that `label` chooses, times the weight of its class
/// (torch.nn.NLLLoss with reduction "none"; `ignored` is its ignore_index). An ignored sample
/// affects neither value nor gradient, even if it is NaN. Throws Error for labels that are not
/// integers, and for labels with names that `logProbability` lacks.
///
///     Tensor loss = nn::nll(nn::logSoftmax(scores, classes), label, classes);
Tensor nll(const Tensor &logProbability, const Tensor &label, const Name &classes,
           const NllOptions &options = {}, Here here = Here::current());
/// Its mean over samples: the sum of their losses divided by that of their weights, as PyTorch's
/// reduction "mean". Sums of narrower floats and of weights are f32.
Tensor nllMean(const Tensor &logProbability, const Tensor &label, const Name &classes,
               const Names &over, const NllOptions &options = {}, Here here = Here::current());

/// The mean over the classes of the binary cross-entropies of `logits`, for samples that belong to
/// any number of classes; `wanted` is 1 for a class of the sample, else 0; `weight`, if not empty,
/// has the weight of each class (torch.nn.MultiLabelSoftMarginLoss, reduction "none").
Tensor multiLabelSoftMargin(const Tensor &logits, const Tensor &wanted, const Name &classes,
                            const Tensor &weight = {}, Here here = Here::current());
/// The sum of max(0, 1 - (score of a label - score of another class)) over the labels of a sample
/// and all other classes, divided by the number of classes (torch.nn.MultiLabelMarginLoss,
/// reduction "none"). `labels` are classes along `position`, up to the first negative number. NaN
/// for a label beyond the classes.
Tensor multiLabelMargin(const Tensor &scores, const Tensor &labels, const Name &classes,
                        const Name &position, Here here = Here::current());

struct TripletOptions {
  double margin = 1;
  double power = 2;      ///< p of the distance, (sum of |a - b|^p)^(1/p); INFINITY: the maximum
  double epsilon = 1e-6; ///< added to each difference
  bool swap = false;     ///< use d(positive, negative) if less than d(anchor, negative)
};
/// max(0, d(anchor, positive) - d(anchor, negative) + margin), where d is the distance of vectors
/// along `over` (torch.nn.TripletMarginLoss, reduction "none"). The gradient of a distance of 0 is
/// 0.
Tensor tripletMargin(const Tensor &anchor, const Tensor &positive, const Tensor &negative,
                     const Names &over, const TripletOptions &options = {},
                     Here here = Here::current());
/// 1 - cos(x, y) where `wanted` is 1, max(0, cos(x, y) - margin) where it is -1, else NaN. The
/// cosine is that of vectors along `over`; 1e-12 is added to their squared lengths
/// (torch.nn.CosineEmbeddingLoss, reduction "none").
Tensor cosineEmbedding(const Tensor &x, const Tensor &y, const Tensor &wanted, const Names &over,
                       double margin = 0, Here here = Here::current());

struct PoissonOptions {
  bool logarithm = true; ///< x is the logarithm of the rate; if false, the rate
  bool full = false;     ///< add Stirling's formula for log(wanted!) where `wanted` is above 1
  double epsilon = 1e-8; ///< added to a rate before its logarithm is taken
};
/// Minus the logarithm of the probability of a count by Poisson's distribution, element by element,
/// without the term log(wanted!) (torch.nn.PoissonNLLLoss, reduction "none").
Tensor poissonNll(const Tensor &x, const Tensor &wanted, const PoissonOptions &options = {},
                  Here here = Here::current());

struct GaussianOptions {
  bool full = false;     ///< add the constant log(2 pi) / 2
  double epsilon = 1e-6; ///< the least variance
};
/// (log(variance) + (x - wanted)^2 / variance) / 2, element by element. A variance below `epsilon`
/// is replaced by it and gets the gradient of the replacement, as in torch.nn.GaussianNLLLoss
/// (reduction "none"); a negative one gives NaN.
Tensor gaussianNll(const Tensor &x, const Tensor &wanted, const Tensor &variance,
                   const GaussianOptions &options = {}, Here here = Here::current());

/// wanted * (log(wanted) - logProbability), element by element, 0 where `wanted` is 0
/// (torch.nn.KLDivLoss).
Tensor klDivergence(const Tensor &logProbability, const Tensor &wanted,
                    Here here = Here::current());

/// The names of a `ctc` and its blank class, which stands for no label.
struct CtcNames {
  Name time, classes, position;
  int64_t blank = 0;
};
/// Connectionist temporal classification (Graves et al., ICML'06): minus the logarithm of the
/// probability of the label, summed over all its alignments with the steps of `time`, which repeat
/// its elements and insert blanks.
///
///     Tensor losses = nn::ctc(nn::logSoftmax(logits, classes), frames, text, letters,
///                             {time, classes, position});     // logits: batch, time, class
///
/// `logProbability` has the names `time` and `classes`, `label` (integers) `position`; `times` and
/// `positions` (integers) are the lengths of each sample along `time` and `position`, and have the
/// other names, such as the batch. If no alignment exists, because the label, with a blank between
/// equal neighbours, is longer than the time, the loss is infinite and its gradient 0. NaN for
/// lengths above the sizes or below 0, and for elements of the label that are out of range or
/// blank. Narrow floats are computed in f32, which is then the type of the result.
/// (torch.nn.CTCLoss, reduction "none".)
Tensor ctc(const Tensor &logProbability, const Tensor &times, const Tensor &label,
           const Tensor &positions, const CtcNames &names, Here here = Here::current());
/// The edit distance (f32) between the label and the best-path decoding of `scores`, which takes
/// the most probable class of each step, merges repetitions and drops blanks. `scores` are logits
/// or logarithms of probabilities; the other arguments are those of `ctc`. NaN for lengths above
/// the sizes or below 0.
Tensor ctcErrors(const Tensor &scores, const Tensor &times, const Tensor &label,
                 const Tensor &positions, const CtcNames &names, Here here = Here::current());

/// The edit distance (f32): the fewest insertions, deletions and replacements that turn one
/// sequence into the other (Levenshtein, 1965). `got` lies along `time`, and only the elements
/// where `counts` (i1) is true belong to it; `wanted` lies along `position`, and its first
/// `positions` (integers) elements belong to it. NaN for `positions` below 0 or above the size.
/// (EditDistance in heddle/nn/Meters.h is for lists in memory.)
Tensor editDistance(const Tensor &got, const Tensor &counts, const Name &time, const Tensor &wanted,
                    const Tensor &positions, const Name &position, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_LOSSES_H
