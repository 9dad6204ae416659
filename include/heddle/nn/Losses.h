//===- Losses.h - what training makes small ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loss gives one number for each element, or for each sample, and the caller says by names what
// is averaged or summed:
//
//     Tensor a = mean(nn::squaredError(y, wanted), over(batch, unit));       // PyTorch's "mean"
//     Tensor b = sum(nn::crossEntropy(logits, label, classes), over(batch)); // its "sum"
//     Tensor c = nn::crossEntropyMean(logits, label, classes, over(batch, time),
//                                     {.weight = frequency, .ignored = -1});
//
// Labels are tensors of integers, the numbers of classes. The loss of a label that is no class is
// NaN, which JitOptions::check finds.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_LOSSES_H
#define HEDDLE_NN_LOSSES_H

#include "heddle/Ops.h"

#include <optional>

namespace heddle::nn {

/// A mean, and what it is over: the number of elements that count, or the sum of their weights. Parts of
/// a batch are weighed by it (Outcome::counts). Without a count it is a mean over samples.
struct CountedMean {
  Tensor mean, count;
  CountedMean(Tensor mean, Tensor count = {}) : mean(std::move(mean)), count(std::move(count)) {}
};
/// The mean of all elements of `each`, in f32 at least. Each counts as often as `weight` says, a number of at least
/// 0 or a truth value, with names of `each`. Where that is 0, `each` may be anything; the mean of nothing
/// is 0, and so is its gradient.
///
///     Tensor counts = notEqual(next, 0.0);                  // batch, time: words, not what fills a text
///     nn::CountedMean loss = nn::countedMean(nn::crossEntropy(logits, next, word), counts);
CountedMean countedMean(const Tensor &each, const Tensor &weight, Here here = Here::current());

/// (x - wanted)^2 and |x - wanted|, element by element (torch.nn.MSELoss, L1Loss).
Tensor squaredError(const Tensor &x, const Tensor &wanted, Here here = Here::current());
Tensor absoluteError(const Tensor &x, const Tensor &wanted, Here here = Here::current());
/// d^2 / 2 for errors d up to `delta`, delta * (|d| - delta / 2) beyond (Huber, 1964;
/// torch.nn.HuberLoss; SmoothL1Loss is this divided by its beta = delta).
Tensor huber(const Tensor &x, const Tensor &wanted, double delta = 1, Here here = Here::current());

/// -(wanted * log(p) + (1 - wanted) * log(1 - p)), element by element; logarithms below -100 count
/// as -100 (torch.nn.BCELoss).
Tensor binaryCrossEntropy(const Tensor &probability, const Tensor &wanted,
                          Here here = Here::current());
/// The same for p = sigmoid(logits), without overflow. `positive` (a number, or a tensor with names
/// of the logits) weighs the first term (torch.nn.BCEWithLogitsLoss's pos_weight).
Tensor binaryCrossEntropyOfLogits(const Tensor &logits, const Tensor &wanted,
                                  std::optional<Operand> positive = {},
                                  Here here = Here::current());

struct CrossEntropyOptions {
  Tensor weight = {}; ///< of each class; empty: 1
  /// Samples with this label have the loss and weight 0. Not where labels are probabilities.
  std::optional<int64_t> ignored = {};
  double smoothing = 0; ///< the share of the target that all classes get alike
};

/// Minus the logarithm of the probability that softmax over `classes` gives to `label`. A label of
/// floats that has the name `classes` is the wanted probability of each class
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
/// The loss of matrix capsules: hinge with squares; `margin` rises from 0.2 to 0.9 during training,
/// a number or a scalar tensor (Hinton, Sabour, Frosst, ICLR'18).
Tensor spread(const Tensor &activations, const Tensor &label, const Name &classes, Operand margin,
              Here here = Here::current());
struct MarginOptions {
  double present = 0.9, absent = 0.1, others = 0.5;
};
/// The loss of capsules: max(0, present - length)^2 for the label's class, others * max(0, length -
/// absent)^2 for the rest, summed over the classes (Sabour, Frosst, Hinton, NIPS'17).
Tensor margin(const Tensor &lengths, const Tensor &label, const Name &classes,
              MarginOptions options = {}, Here here = Here::current());

struct NllOptions {
  Tensor weight = {};                  ///< of each class; empty: 1
  std::optional<int64_t> ignored = {}; ///< samples with this label have the loss and weight 0
};
/// Minus the element of `logProbability` that `label` chooses, times the weight of its class
/// (torch.nn.NLLLoss with reduction "none"; `ignored` is its ignore_index). What an ignored sample
/// holds reaches neither value nor gradient. Throws Error for labels that are no integers, and for
/// names that `logProbability` lacks.
///
///     Tensor loss = nn::nll(nn::logSoftmax(scores, classes), label, classes);
Tensor nll(const Tensor &logProbability, const Tensor &label, const Name &classes,
           const NllOptions &options = {}, Here here = Here::current());
/// Its mean over samples: the sum of their losses divided by that of their weights, as PyTorch's
/// reduction "mean". Sums of narrower floats and of weights are f32.
Tensor nllMean(const Tensor &logProbability, const Tensor &label, const Name &classes,
               const Names &over, const NllOptions &options = {}, Here here = Here::current());

/// The mean over the classes of the binary cross-entropies of `logits`, for samples that belong to
/// any number of classes; `wanted` is 1 for these, else 0, and `weight`, if not empty, that of each
/// class (torch.nn.MultiLabelSoftMarginLoss, reduction "none").
Tensor multiLabelSoftMargin(const Tensor &logits, const Tensor &wanted, const Name &classes,
                            const Tensor &weight = {}, Here here = Here::current());
/// The sum of max(0, 1 - (score of a label - score of another class)) over the labels of a sample
/// and all classes that are none, divided by the number of classes
/// (torch.nn.MultiLabelMarginLoss, reduction "none"). `labels` are classes along `position`, up to
/// the first negative number. NaN for a label beyond the classes.
Tensor multiLabelMargin(const Tensor &scores, const Tensor &labels, const Name &classes,
                        const Name &position, Here here = Here::current());

struct TripletOptions {
  double margin = 1;
  double power = 2;      ///< p of the distance, (sum of |a - b|^p)^(1/p); INFINITY: the maximum
  double epsilon = 1e-6; ///< added to each difference
  bool swap = false;     ///< compare with the positive's distance to the negative if that is less
};
/// max(0, d(anchor, positive) - d(anchor, negative) + margin), where d is the distance of vectors
/// along `over` (torch.nn.TripletMarginLoss, reduction "none"). A distance of 0 has the slope 0.
Tensor tripletMargin(const Tensor &anchor, const Tensor &positive, const Tensor &negative,
                     const Names &over, const TripletOptions &options = {},
                     Here here = Here::current());
/// 1 - cos(x, y) where `wanted` is 1, max(0, cos(x, y) - margin) where it is -1, else NaN. The cosine
/// is that of vectors along `over`, to whose squared lengths 1e-12 is added
/// (torch.nn.CosineEmbeddingLoss, reduction "none").
Tensor cosineEmbedding(const Tensor &x, const Tensor &y, const Tensor &wanted, const Names &over,
                       double margin = 0, Here here = Here::current());

struct PoissonOptions {
  bool logarithm = true; ///< x is the logarithm of the rate; else the rate
  bool full = false;     ///< with Stirling's formula for log(wanted!) where `wanted` is above 1
  double epsilon = 1e-8; ///< added to a rate before its logarithm is taken
};
/// Minus the logarithm of the probability of a count by Poisson's distribution, element by element,
/// without the term log(wanted!) (torch.nn.PoissonNLLLoss, reduction "none").
Tensor poissonNll(const Tensor &x, const Tensor &wanted, const PoissonOptions &options = {},
                  Here here = Here::current());

struct GaussianOptions {
  bool full = false;     ///< with the constant log(2 pi) / 2
  double epsilon = 1e-6; ///< smaller variances count as this
};
/// (log(variance) + (x - wanted)^2 / variance) / 2, element by element. A variance below `epsilon`
/// keeps its slope, as in torch.nn.GaussianNLLLoss (reduction "none"), and a negative one gives NaN.
Tensor gaussianNll(const Tensor &x, const Tensor &wanted, const Tensor &variance,
                   const GaussianOptions &options = {}, Here here = Here::current());

/// wanted * (log(wanted) - logProbability), element by element, 0 where `wanted` is 0
/// (torch.nn.KLDivLoss).
Tensor klDivergence(const Tensor &logProbability, const Tensor &wanted,
                    Here here = Here::current());

/// The names of a `ctc`, and the class that means "nothing here".
struct CtcNames {
  Name time, classes, position;
  int64_t blank = 0;
};
/// Connectionist temporal classification (Graves et al., ICML'06): minus the logarithm of the
/// probability that `time` steps spell the label, summed over all ways to stretch it by repeating
/// its elements and inserting blanks.
///
///     Tensor losses = nn::ctc(nn::logSoftmax(logits, classes), frames, text, letters,
///                             {time, classes, position});     // logits: batch, time, class
///
/// `logProbability` has the names `time` and `classes`, `label` (integers) `position`; `times` and
/// `positions` (integers) say how much of each counts, and have the other names, such as the batch.
/// Infinite where no way exists: the label, with a blank between equal neighbours, is longer than
/// the time; the gradient is then 0. NaN for lengths beyond the sizes or below 0, and for elements
/// that are no class or blank. Of narrower floats it is computed in f32, which is its type then.
/// (torch.nn.CTCLoss, reduction "none".)
Tensor ctc(const Tensor &logProbability, const Tensor &times, const Tensor &label,
           const Tensor &positions, const CtcNames &names, Here here = Here::current());
/// The errors in what is spelled if each step of time takes its likeliest class, f32: the fewest
/// insertions, deletions and replacements that make the label of it. `scores` are logits or
/// logarithms of probabilities; the other arguments are those of `ctc`. NaN for lengths beyond the
/// sizes or below 0.
Tensor ctcErrors(const Tensor &scores, const Tensor &times, const Tensor &label,
                 const Tensor &positions, const CtcNames &names, Here here = Here::current());

/// The fewest insertions, deletions and replacements that make one sequence of another (Levenshtein,
/// 1965), f32. `got` lies along `time`, and only the elements where `counts` (i1) is true belong to
/// it; `wanted` lies along `position`, and its first `positions` (integers) elements belong to it.
/// NaN for a number of them that is below 0 or above the size.
/// (EditDistance in heddle/nn/Meters.h is for lists.)
Tensor editDistance(const Tensor &got, const Tensor &counts, const Name &time, const Tensor &wanted,
                    const Tensor &positions, const Name &position, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_LOSSES_H
