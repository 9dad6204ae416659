//===- Dataset.cpp - samples, and batches of them -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Dataset.h"

#include "heddle/Error.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::nn;

Dataset::~Dataset() = default;

const io::HostArray &Batch::array(std::string_view field, Here here) const {
  std::string known;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == field)
      return arrays[i];
    known += (known.empty() ? "'" : ", '") + fields[i].name + "'";
  }
  throw Error("unknown field '" + std::string(field) + "': expected one of " + known, here);
}

std::vector<int64_t> nn::shuffled(int64_t count, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + epoch * 0xbf58476d1ce4e5b9ull + 1;
  auto next = [&] { // SplitMix64 (Steele, Lea, Flood, OOPSLA'14)
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  };
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[next() % i]);
  return order;
}

struct Loader::State {
  const Dataset &dataset;
  LoaderOptions options;
  std::vector<Field> fields;
  std::vector<int64_t> order;
  int64_t batches, position; ///< `position`: the next batch that is read

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Batch> ready;
  std::exception_ptr failure;
  bool done = false, stop = false;
  std::thread thread;
  int64_t handedOut; ///< the next batch that is handed out
  const pid_t process = getpid();

  State(const Dataset &dataset, LoaderOptions given, Here here)
      : dataset(dataset), options(std::move(given)), fields(dataset.fields()) {
    if (options.batch < 1)
      throw Error("expected a batch of at least one sample, got " + std::to_string(options.batch),
                  here);
    if (options.shuffle) {
      order = shuffled(dataset.count(), options.seed, options.epoch);
    } else {
      order.resize(size_t(dataset.count()));
      std::iota(order.begin(), order.end(), 0);
    }
    batches = (dataset.count() + options.batch - 1) / options.batch;
    position = handedOut = std::max<int64_t>(options.skip, 0);
    if (options.ahead > 0)
      thread = std::thread([this] { readAhead(); });
  }

  ~State() {
    {
      std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    if (thread.joinable())
      thread.join();
  }

  bool isHere() const { return process == getpid(); }

  Batch read() {
    Batch batch;
    batch.fields = fields;
    for (const Field &field : fields) {
      std::vector<int64_t> shape{options.batch};
      std::vector<std::string> names{options.batchName};
      shape.insert(shape.end(), field.shape.begin(), field.shape.end());
      names.insert(names.end(), field.names.begin(), field.names.end());
      batch.arrays.push_back(io::HostArray::zeros(field.element, shape, names, Here()));
    }
    batch.weight =
        io::HostArray::zeros(ElementType::F32, {options.batch}, {options.batchName}, Here());
    std::span<float> weight = batch.weight.values<float>();
    int64_t first = position++ * options.batch;
    batch.samples = std::min(options.batch, int64_t(order.size()) - first);
    std::vector<std::byte *> places(fields.size());
    for (int64_t i = 0; i < batch.samples; ++i) {
      for (size_t f = 0; f < fields.size(); ++f)
        places[f] = batch.arrays[f].bytes.data() +
                    batch.arrays[f].bytes.size() / size_t(options.batch) * size_t(i);
      dataset.read(order[size_t(first + i)], places);
      weight[size_t(i)] = 1;
    }
    return batch;
  }

  void readAhead() {
    std::unique_lock lock(mutex);
    while (!stop && position < batches) {
      changed.wait(lock, [&] { return stop || ready.size() < size_t(options.ahead); });
      if (stop)
        break;
      lock.unlock();
      try {
        Batch batch = read();
        lock.lock();
        ready.push_back(std::move(batch));
      } catch (...) {
        if (!lock.owns_lock())
          lock.lock();
        failure = std::current_exception();
        stop = true;
      }
      changed.notify_all();
    }
    done = true;
    changed.notify_all();
  }

  std::optional<Batch> next() {
    if (options.ahead <= 0) {
      handedOut = std::min(position + 1, batches);
      return position < batches ? std::optional(read()) : std::nullopt;
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !ready.empty() || done; });
    if (ready.empty()) {
      // What was read before the failure has been handed on.
      if (failure)
        std::rethrow_exception(failure);
      return std::nullopt;
    }
    Batch batch = std::move(ready.front());
    ready.pop_front();
    ++handedOut;
    lock.unlock();
    changed.notify_all();
    return batch;
  }
};

Loader::Loader(const Dataset &dataset, LoaderOptions options, Here here)
    : state(std::make_unique<State>(dataset, std::move(options), here)) {}

// A child of fork has no thread that reads ahead: it starts one of its own. The parent's state,
// which that thread may have held at the moment, is left as it is.
Loader::~Loader() {
  if (!state->isHere())
    (void)state.release();
}
int64_t Loader::batches() const { return state->batches; }
std::optional<Batch> Loader::next() {
  if (!state->isHere()) {
    LoaderOptions rest = state->options;
    rest.skip = state->handedOut;
    auto own = std::make_unique<State>(state->dataset, std::move(rest), Here());
    (void)state.release();
    state = std::move(own);
  }
  return state->next();
}
