//===- Loader.cpp - batches of samples ------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Loader.h"

#include "Collate.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <unistd.h>
#include <variant>

using namespace heddle;
using namespace heddle::nn;

static const io::HostArray &fieldOf(const std::vector<Field> &fields,
                                    const std::vector<io::HostArray> &arrays,
                                    std::string_view field, Here here) {
  std::string known;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == field)
      return arrays[i];
    known += (known.empty() ? "'" : ", '") + fields[i].name + "'";
  }
  throw Error("unknown field '" + std::string(field) + "': expected one of " + known, here);
}

const io::HostArray &Batch::array(std::string_view field, Here here) const {
  return fieldOf(fields, arrays, field, here);
}
const io::HostArray &Batch::lengths(std::string_view field, Here here) const {
  return fieldOf(fields, sizes, field, here);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

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

/// Sorts the samples of each group of batches by length, then shuffles its complete batches.
static void groupByLength(std::vector<int64_t> &order, const Dataset &dataset,
                          const LoaderOptions &options) {
  int64_t count = int64_t(order.size()), batch = options.batch * options.together;
  int64_t group = batch * std::min(options.similar, count / batch + 1);
  std::vector<int64_t> length(order.size()), place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    length[size_t(order[i])] = dataset.length(order[i]);
    place[size_t(order[i])] = int64_t(i);
  }
  for (int64_t begin = 0; begin < count; begin += group) {
    auto first = order.begin() + begin, last = order.begin() + std::min(begin + group, count);
    auto at = [&](int64_t index) { // equal lengths keep their order
      return std::pair(length[size_t(index)], place[size_t(index)]);
    };
    std::sort(first, last, [&](int64_t a, int64_t b) { return at(a) < at(b); });
    if (!options.shuffle)
      continue;
    std::vector<int64_t> sorted(first, last);
    int64_t whole = int64_t(sorted.size()) / batch;
    std::vector<int64_t> places =
        shuffled(whole, options.seed ^ uint64_t(begin + 1), options.epoch);
    for (int64_t i = 0; i < whole; ++i)
      std::copy_n(sorted.begin() + places[size_t(i)] * batch, batch, first + i * batch);
  }
}

static std::vector<int64_t> orderOf(const Dataset &dataset, const LoaderOptions &options) {
  std::vector<int64_t> order;
  if (options.shuffle) {
    order = shuffled(dataset.count(), options.seed, options.epoch);
  } else {
    order.resize(size_t(dataset.count()));
    std::iota(order.begin(), order.end(), 0);
  }
  if (options.similar > 0)
    groupByLength(order, dataset, options);
  return order;
}

//===----------------------------------------------------------------------===//
// Reading ahead
//===----------------------------------------------------------------------===//

/// Threads take indices of batches in order and read these batches; `next` returns them in order. A
/// batch that failed stays in the queue, so that `next` throws again.
struct Loader::State {
  const Dataset &dataset;
  LoaderOptions options;
  std::vector<Field> fields;
  std::vector<int64_t> order;
  int64_t batches;

  using Result = std::variant<Batch, std::exception_ptr>;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int64_t, Result> ready;
  int64_t position, handedOut; ///< the next batch to read, and to return
  bool stop = false;
  std::vector<std::thread> threads;
  const pid_t process = getpid();

  State(const Dataset &dataset, LoaderOptions given, Here here)
      : dataset(dataset), options(std::move(given)), fields(dataset.fields()) {
    if (options.batch < 1)
      throw Error("expected a batch of at least one sample, got " + std::to_string(options.batch),
                  here);
    if (options.parts < 1 || options.part < 0 || options.part >= options.parts)
      throw Error("expected a part of a batch from 0 to the number of parts, got part " +
                      std::to_string(options.part) + " of " + std::to_string(options.parts),
                  here);
    if (options.skip < 0 || options.similar < 0 || options.together < 1 || options.ahead < 0 ||
        options.threads < 0 || options.multipleOf < 1)
      throw Error("expected skip, similar, ahead and threads of at least 0, "
                  "together and multipleOf of at least 1, got " +
                      std::to_string(options.skip) + ", " + std::to_string(options.similar) + ", " +
                      std::to_string(options.ahead) + ", " + std::to_string(options.threads) +
                      ", " + std::to_string(options.together) + " and " +
                      std::to_string(options.multipleOf),
                  here);
    for (const Field &field : fields)
      if (std::count(field.names.begin(), field.names.end(), options.batchName))
        throw Error("expected a name of the samples that no field has, got '" + options.batchName +
                        "', which " + field.describe() + " has",
                    here);
    int64_t count = dataset.count();
    if (count < 0)
      throw Error("expected a dataset of at least 0 samples, got " + std::to_string(count), here);
    batches = (count + (options.last == Last::Drop ? 0 : options.batch - 1)) / options.batch;
    if (options.last == Last::Drop && count > 0 && batches == 0)
      throw Error("expected at least one batch of " + std::to_string(options.batch) +
                      " samples, got " + std::to_string(count) + " samples",
                  here);
    order = orderOf(dataset, options);
    position = handedOut = std::clamp<int64_t>(options.skip, 0, batches);
    for (int i = 0; i < std::min(options.threads, options.ahead); ++i)
      threads.emplace_back([this] { readAhead(); });
  }

  ~State() {
    {
      std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  bool isHere() const { return process == getpid(); }

  Result read(int64_t number) const {
    size_t first = size_t(number * options.batch);
    size_t count = std::min(size_t(options.batch), order.size() - first);
    try {
      return collate(dataset, fields, {order.data() + first, count}, options);
    } catch (...) {
      return std::current_exception();
    }
  }

  void readAhead() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] {
        return stop || position >= batches || position < handedOut + options.ahead;
      });
      if (stop || position >= batches)
        return;
      int64_t number = position++;
      lock.unlock();
      Result result = read(number);
      lock.lock();
      if (std::holds_alternative<std::exception_ptr>(result))
        position = batches; // read no further batches
      ready.emplace(number, std::move(result));
      changed.notify_all();
    }
  }

  std::optional<Batch> next() {
    std::unique_lock lock(mutex);
    if (handedOut >= batches)
      return std::nullopt;
    if (threads.empty())
      ready.try_emplace(handedOut, read(handedOut));
    changed.wait(lock, [&] { return ready.contains(handedOut); });
    auto found = ready.find(handedOut);
    if (auto *failure = std::get_if<std::exception_ptr>(&found->second))
      std::rethrow_exception(*failure);
    Batch batch = std::move(std::get<Batch>(found->second));
    ready.erase(found);
    ++handedOut;
    lock.unlock();
    changed.notify_all();
    return batch;
  }
};

Loader::Loader(const Dataset &dataset, LoaderOptions options, Here here)
    : state(std::make_unique<State>(dataset, std::move(options), here)) {}

// A child of fork has no reading threads: it starts its own. It abandons the parent's state, whose
// lock such a thread may have held at the fork.
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
