//===- main.cpp - train a classifier of clothes ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolutional network, written with named dimensions only, learns 60,000 images: convolution 5x5 to 32 channels, ReLU,
// max-pool, convolution 5x5 to 64, ReLU, max-pool, 1024 hidden units with dropout, 10 classes.
//
//===----------------------------------------------------------------------===//

#include "models/fashion/Fashion.h"

#include "heddle/nn/data/Idx.h"
#include "runtime/program/Program.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace heddle;
using namespace fashion;

namespace {
struct Options {
  int64_t epochs = 5, batch = 64;
  uint64_t seed = 1;
  int threads = 0;
  double rate = 0.02;
  bool resume = false;
  int64_t steps = 0; ///< stop after so many; 0: never
  std::string data, output = "fashion-output";
};

struct Curve {
  std::vector<double> loss, accuracy;
};

/// Fills a batch; a short one is padded with samples of weight zero.
struct Batch {
  std::vector<float> image, weight;
  std::vector<int32_t> label;
};

Batch makeBatch(const nn::LabelledImages &data, const std::vector<int64_t> &order, int64_t first, int64_t size) {
  int64_t pixels = data.rows * data.columns;
  Batch batch{std::vector<float>(size_t(size * pixels)), std::vector<float>(size_t(size)),
              std::vector<int32_t>(size_t(size))};
  for (int64_t i = 0; i < size && first + i < data.count; ++i) {
    int64_t sample = order[size_t(first + i)];
    for (int64_t p = 0; p < pixels; ++p)
      batch.image[size_t(i * pixels + p)] = (float(data.pixels[size_t(sample * pixels + p)]) / 255.0f - 0.286f) / 0.353f;
    batch.label[size_t(i)] = data.labels[size_t(sample)];
    batch.weight[size_t(i)] = 1;
  }
  return batch;
}

Tensor imageOf(const Batch &batch, const nn::LabelledImages &data) {
  return Tensor::of<float>(std::span<const float>(batch.image),
                           {{names().batch, int64_t(batch.label.size())}, {names().row, data.rows},
                            {names().column, data.columns}, {names().channel, 1}});
}
template <typename T>
Tensor vectorOf(const std::vector<T> &values) {
  return Tensor::of<T>(std::span<const T>(values), {{names().batch, int64_t(values.size())}});
}

class Progress {
public:
  explicit Progress(int64_t total) : total(total), shown(isatty(2)), begin(std::chrono::steady_clock::now()) {}
  void update(int64_t done, int64_t images, double loss, double accuracy) {
    if (!shown)
      return;
    double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double left = spent / double(done) * double(total - done);
    int bar = int(30 * done / total);
    fprintf(stderr, "\r[%s%s] %lld/%lld  loss %.4f  accuracy %.1f %%  %.0f images/s  %.0f s left ",
            std::string(size_t(bar), '#').c_str(), std::string(size_t(30 - bar), '.').c_str(), (long long)done,
            (long long)total, loss, 100 * accuracy, double(images) / spent, left);
    if (done == total)
      fprintf(stderr, "\r\033[K");
  }

private:
  int64_t total;
  bool shown;
  std::chrono::steady_clock::time_point begin;
};

/// Images classified right, by a function from a batch of images to classes.
template <typename Classify>
int64_t countRight(const nn::LabelledImages &data, int64_t size, Classify &&classify, std::vector<int> *predicted = nullptr) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < data.count; ++i)
    order.push_back(i);
  int64_t right = 0;
  for (int64_t first = 0; first < data.count; first += size) {
    Batch batch = makeBatch(data, order, first, size);
    std::vector<int64_t> classes = classify(batch);
    for (int64_t i = 0; i < size && first + i < data.count; ++i) {
      right += classes[size_t(i)] == batch.label[size_t(i)];
      if (predicted)
        predicted->push_back(int(classes[size_t(i)]));
    }
  }
  return right;
}

int run(const Options &options) {
  const nn::LabelledImages train = nn::fashionMnist(true, options.data), test = nn::fashionMnist(false, options.data);
  std::filesystem::create_directories(options.output);
  std::string checkpoint = options.output + "/checkpoint.safetensors", programFile = options.output + "/classifier.heddle";

  State state = initialState(options.seed);
  int64_t epoch = 0, done = 0;
  Curve curve;
  if (options.resume && std::filesystem::exists(checkpoint)) {
    std::map<std::string, std::string> notes;
    nn::loadTree(checkpoint, state, &notes);
    if (notes["seed"] != std::to_string(options.seed) || notes["batch"] != std::to_string(options.batch))
      throw Error("'" + checkpoint + "' is of a run with --seed " + notes["seed"] + " --batch " + notes["batch"] +
                  ", expected --seed " + std::to_string(options.seed) + " --batch " + std::to_string(options.batch));
    epoch = std::stoll(notes["epoch"]);
    std::istringstream losses(notes["loss"]), accuracies(notes["accuracy"]);
    for (double value; losses >> value;)
      curve.loss.push_back(value);
    for (double value; accuracies >> value;)
      curve.accuracy.push_back(value);
    printf("resuming after epoch %lld\n", (long long)epoch);
  }

  JitOptions jitOptions;
  jitOptions.threads = options.threads;
  jitOptions.name = "train";
  auto step = jit(
      [&](State &s, Tensor image, Tensor label, Tensor weight, Tensor stepKey, Tensor rate) {
        auto [result, gradient] = valueAndGrad(
            [&](Net net) {
              Tensor logits = forward(net, image, stepKey);
              Tensor loss = sum(nn::crossEntropy(logits, label, names().classes) * weight, over(names().batch)) /
                            sum(weight, over(names().batch));
              return std::pair<Tensor, Tensor>(loss, logits);
            },
            s.net);
        s.sgd.update(s.net, gradient, rate);
        Tensor right = equal(argmaxClass(result.second), label.cast(ElementType::I64));
        return std::pair<Tensor, Tensor>(result.first,
                                         sum(right.cast(ElementType::F32) * weight, over(names().batch)));
      },
      jitOptions);
  jitOptions.name = "classify";
  auto classify = jit([&](Net net, Tensor image) { return argmaxClass(forward(net, image, Tensor())); }, jitOptions);
  auto classifyBatch = [&](const Batch &batch) {
    return classify(state.net, imageOf(batch, test)).to<int64_t>({names().batch});
  };

  int64_t batches = (train.count + options.batch - 1) / options.batch;
  for (; epoch < options.epochs; ++epoch) {
    auto order = nn::shuffled(train.count, options.seed, uint64_t(epoch));
    Progress progress(batches);
    double lossSum = 0, right = 0;
    double rate = options.rate * (epoch + 1 >= options.epochs && options.epochs > 1 ? 0.2 : 1);
    for (int64_t b = 0; b < batches; ++b) {
      Batch batch = makeBatch(train, order, b * options.batch, options.batch);
      Tensor rateTensor = Tensor::of<float>({float(rate)}, {});
      auto [loss, correct] = step(state, imageOf(batch, train), vectorOf(batch.label), vectorOf(batch.weight),
                                  key(options.seed * 1000003 + uint64_t(epoch * batches + b)), rateTensor);
      double value = loss.item();
      if (!(value == value))
        throw Error("the loss is not a number at step " + std::to_string(b) + " of epoch " + std::to_string(epoch + 1) +
                    "; a smaller --rate may help");
      lossSum += value;
      right += correct.item();
      progress.update(b + 1, (b + 1) * options.batch, lossSum / double(b + 1),
                      right / double(std::min((b + 1) * options.batch, train.count)));
      if (options.steps && ++done >= options.steps) {
        printf("loss after %lld steps: %.9g\n", (long long)done, value);
        return 0;
      }
    }
    double accuracy = double(countRight(test, 200, classifyBatch)) / double(test.count);
    curve.loss.push_back(lossSum / double(batches));
    curve.accuracy.push_back(accuracy);
    printf("epoch %lld: loss %.4f, test accuracy %.2f %%\n", (long long)(epoch + 1), curve.loss.back(), 100 * accuracy);
    fflush(stdout);
    std::ostringstream losses, accuracies;
    losses.precision(17);
    accuracies.precision(17);
    for (size_t i = 0; i < curve.loss.size(); ++i) {
      losses << curve.loss[i] << " ";
      accuracies << curve.accuracy[i] << " ";
    }
    nn::saveTree(checkpoint, state,
                 {{"epoch", std::to_string(epoch + 1)}, {"seed", std::to_string(options.seed)},
                  {"batch", std::to_string(options.batch)}, {"loss", losses.str()}, {"accuracy", accuracies.str()}});
  }

  // The classifier as a program of its own, run without the compiler.
  int64_t compiled = countRight(test, 200, classifyBatch);
  Batch shape = makeBatch(test, nn::shuffled(test.count, 0, 0), 0, 200);
  classify.save(programFile, state.net, imageOf(shape, test));
  auto program = Program::load(programFile);
  const EntrySpec &entry = program->entry("classify");
  std::vector<TensorRef> parameters;
  forEachTensor(state.net, [&](const std::string &, Tensor &tensor) { parameters.push_back(tensor.data()); });
  std::vector<int> predicted;
  int64_t loaded = countRight(
      test, 200,
      [&](const Batch &batch) {
        std::vector<TensorRef> arguments = parameters;
        arguments.push_back(imageOf(batch, test).data());
        std::vector<int64_t> classes(batch.label.size());
        program->run(entry, arguments)[0]->copyTo(classes.data(), {names().batch.str()});
        return classes;
      },
      &predicted);
  printf("test accuracy %.2f %%; the program file '%s' classifies %lld of %lld images right%s\n",
         100.0 * double(compiled) / double(test.count), programFile.c_str(), (long long)loaded, (long long)test.count,
         loaded == compiled ? ", as the compiler's session does" : "");
  if (loaded != compiled)
    throw Error("the program file classifies other images right than the compiler's session: " +
                std::to_string(loaded) + " and " + std::to_string(compiled));
  writeReport(options.output + "/report.html", curve.loss, curve.accuracy, test, predicted);
  printf("report: %s/report.html\n", options.output.c_str());
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Trains a convolutional network on Fashion-MNIST, saves a checkpoint and a program file, writes a report.");
  Options options;
  app.add_option("--epochs", options.epochs, "Passes over the training images")->capture_default_str()->check(CLI::Range(0, 100000));
  app.add_option("--batch", options.batch, "Images in a step")->capture_default_str()->check(CLI::Range(1, 60000));
  app.add_option("--seed", options.seed, "Of initial weights, order of images and dropout")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads; 0 for all cores")->capture_default_str()->check(CLI::Range(0, 1024));
  app.add_option("--rate", options.rate, "Learning rate (SGD with momentum 0.9)")->capture_default_str();
  app.add_option("--steps", options.steps, "Stop after this many steps and print the loss");
  app.add_flag("--resume", options.resume, "Go on after the last checkpoint");
  app.add_option("--data", options.data, "Directory of the IDX files; empty: where Debian's package puts them");
  app.add_option("--output", options.output, "Directory for checkpoint, program and report")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception &error) {
    fprintf(stderr, "fashion: %s\n", error.what());
    return 1;
  }
}
