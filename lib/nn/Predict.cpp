//===- Predict.cpp - outputs for all samples of a data set ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/TrainerRun.h"

using namespace heddle;
using namespace heddle::nn;

/// The values of a batch of outputs, with the samples as the first axis. Throws Error if the output
/// lacks them.
static io::HostArray samplesFirst(const Tensor &output, const std::string &samples, int64_t size,
                                  Here here) {
  Sizes sizes = output.sizes(here);
  auto own = sizes.find(samples);
  if (own == sizes.end() || own->second != size)
    throw Error("expected an output for each of the " + std::to_string(size) +
                    " samples of a batch, along '" + samples + "', got " + output.type(here),
                here);
  std::vector<int64_t> shape{size};
  std::vector<std::string> names{samples};
  Names order{Name(samples)};
  for (const auto &[name, extent] : sizes)
    if (name != samples) {
      shape.push_back(extent);
      names.push_back(name);
      order.push_back(Name(name));
    }
  (void)output.data(here);
  io::HostArray array = io::HostArray::zeros(output.elementType(here), shape, names, here);
  output.toBytes(array.bytes.data(), array.element, order, here);
  return array;
}

Tensor AnyTrainer::Run::predict(const Dataset &data, const OutputFunction &output, Here here) {
  if (data.count() == 0)
    throw Error("expected data with samples, got none", here);
  LoaderOptions how = testing();
  how.similar = 0; // grouping would change the order
  how.skipDamaged = false;
  Loader loader(data, how, here);
  using Function = std::function<Tensor(const ByPath &, const Mode &, const Fields &)>;
  JitOptions made = jitOptions("predict", {0});
  made.unmatchedRules = true; // rules for the optimiser's state match nothing
  made.timeline = {};
  auto function = jit(Function([&](const ByPath &net, Mode mode, const Fields &fields) {
                        return output(net, fields, mode);
                      }),
                      made, here);
  Mode mode = state.mode.evaluation();
  ByPath net = trained();
  std::optional<io::HostArray> all;
  ProgressBar bar("predicting", loader.batches(), 0, isQuiet() ? -1 : 2);
  for (int64_t done = 0; std::optional<Batch> batch = loader.next();) {
    Tensor result = function(net, mode, ranks.fieldsOf(*batch, 1, here), here);
    io::HostArray part = samplesFirst(result, network.samples, batch->size, here);
    // Drops the padding of the last batch, which comes last.
    part.bytes.resize(part.bytes.size() / size_t(batch->size) * size_t(batch->samples));
    part.shape[0] = batch->samples;
    bar.show(++done, "");
    if (!all) {
      all = std::move(part);
      continue;
    }
    part.shape[0] = all->shape[0];
    if (part.shape != all->shape || part.names != all->names)
      throw Error("expected outputs of the same sizes in all batches, got " + all->describe() +
                      ", then " + part.describe(),
                  here);
    all->bytes.insert(all->bytes.end(), part.bytes.begin(), part.bytes.end());
    all->shape[0] += batch->samples;
  }
  return tensorOf(*all, here);
}
