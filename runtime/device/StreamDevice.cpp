//===- StreamDevice.cpp - runs programs on a GPU --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/StreamDevice.h"
#include "heddle/Error.h"
#include "runtime/device/StepRunner.h"

#include <algorithm>
#include <mutex>

using namespace heddle;

namespace {
/// A driver that several threads use; they take turns.
class SharedDriver : public Driver {
public:
  explicit SharedDriver(std::unique_ptr<Driver> driver) : driver(std::move(driver)) {}

  Buffer allocate(int64_t bytes) override {
    std::lock_guard lock(mutex);
    return driver->allocate(bytes);
  }
  void release(Buffer buffer) noexcept override {
    std::lock_guard lock(mutex);
    driver->release(buffer);
  }
  void upload(Buffer to, int64_t offset, const void *from, int64_t bytes) override {
    std::lock_guard lock(mutex);
    driver->upload(to, offset, from, bytes);
  }
  void download(void *to, Buffer from, int64_t offset, int64_t bytes) override {
    std::lock_guard lock(mutex);
    driver->download(to, from, offset, bytes);
  }
  void copy(Buffer to, int64_t toOffset, Buffer from, int64_t fromOffset, int64_t bytes) override {
    std::lock_guard lock(mutex);
    driver->copy(to, toOffset, from, fromOffset, bytes);
  }
  Image loadKernel(const KernelImage &image) override {
    std::lock_guard lock(mutex);
    return driver->loadKernel(image);
  }
  void unload(Image image) noexcept override {
    std::lock_guard lock(mutex);
    driver->unload(image);
  }
  void launch(Image image, int64_t blocks, const std::vector<Argument> &arguments) override {
    std::lock_guard lock(mutex);
    driver->launch(image, blocks, arguments);
  }
  void finish() override {
    std::lock_guard lock(mutex);
    driver->finish();
  }

private:
  std::unique_ptr<Driver> driver;
  ForkMutex mutex;
};

/// A buffer that is freed with its owner.
class OwnedBuffer {
public:
  OwnedBuffer() = default;
  OwnedBuffer(OwnedBuffer &&other) noexcept { *this = std::move(other); }
  OwnedBuffer &operator=(OwnedBuffer &&other) noexcept {
    std::swap(driver, other.driver);
    std::swap(buffer, other.buffer);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~OwnedBuffer() {
    if (buffer)
      driver->release(buffer);
  }
  /// Makes it hold at least so many bytes; their values are lost if it grows.
  void reserve(Driver &by, int64_t wanted) {
    if (wanted <= bytes)
      return;
    *this = OwnedBuffer();
    driver = &by;
    buffer = by.allocate(wanted);
    bytes = wanted;
  }
  Driver::Buffer get() const { return buffer; }

private:
  Driver *driver = nullptr;
  Driver::Buffer buffer = nullptr;
  int64_t bytes = 0;
};

struct LoadedKernel {
  Driver::Image image;
  int32_t chunks; ///< of a block
};
using Kernels = std::map<std::string, LoadedKernel, std::less<>>;

/// Code reads an element 0 that it does not use, also of an empty value.
constexpr int64_t spareBytes = 64;
/// The most bytes of scratch that all chunks of a launch have together.
constexpr int64_t mostScratch = int64_t(256) << 20;

/// Runs one call of an entry at a time, and keeps its buffers for the next one.
class StreamRunner : public StepRunner {
public:
  StreamRunner(Driver &driver, const Kernels &kernels, const EntrySpec &spec)
      : StepRunner(spec), driver(driver), kernels(kernels) {
    for (size_t i = 0; i < spec.values.size(); ++i) {
      size_t root = i;
      while (spec.values[root].aliasOf >= 0)
        root = size_t(spec.values[root].aliasOf);
      roots.push_back(root);
    }
    buffers.resize(spec.values.size());
    isUploaded.resize(spec.values.size());
    for (auto [argument, result] : spec.donations)
      updated.push_back(roots[size_t(spec.arguments[size_t(argument)])]);
    for (size_t i = 0; i < spec.values.size(); ++i)
      if (spec.values[i].kind == ValueSpec::Kind::Result && roots[i] == i)
        updated.push_back(i);
  }

protected:
  void begin(HeddleCall *call) override {
    std::vector<int64_t> symbols(call->symbols, call->symbols + spec.symbols.size());
    if (!isPlanned || symbols != plannedFor)
      layOut(std::move(symbols));
    for (size_t i = 0; i < spec.values.size(); ++i) {
      ValueSpec::Kind kind = spec.values[i].kind;
      if (roots[i] != i || kind == ValueSpec::Kind::Temporary)
        continue;
      buffers[i].reserve(driver, bytes[i] + spareBytes);
      if (kind == ValueSpec::Kind::Result || isUploaded[i] || bytes[i] == 0)
        continue;
      driver.upload(buffers[i].get(), 0, call->addresses[i], bytes[i]);
      isUploaded[i] = kind == ValueSpec::Kind::Constant;
    }
    arena.reserve(driver, arenaBytes + spareBytes);
  }

  void end(HeddleCall *call) override {
    for (size_t i : updated)
      if (bytes[i] > 0)
        driver.download(call->addresses[i], buffers[i].get(), 0, bytes[i]);
    driver.finish();
  }

  std::string runKernel(const StepSpec &step, HeddleCall *call) override {
    const LoadedKernel &kernel = kernels.find(step.kernel)->second;
    int64_t chunks = step.chunksAt < 0 ? step.chunks : call->symbols[step.chunksAt];
    std::vector<Driver::Argument> arguments;
    for (int32_t value : step.values) {
      auto [buffer, offset] = placeOf(size_t(value));
      arguments.push_back({buffer});
      arguments.push_back(number(offset));
    }
    for (int32_t at : step.numbers)
      arguments.push_back(number(call->symbols[at]));
    // Chunks share the scratch, so a launch has as many as it suffices for.
    int64_t most = chunks, each = kernel.chunks;
    if (scratchBytes > 0)
      most = std::max<int64_t>(1, mostScratch / (scratchBytes * each)) * each;
    int64_t blocks = (std::min(most, chunks) + each - 1) / each;
    scratch.reserve(driver, scratchBytes * blocks * each);
    for (int64_t first = 0; first < chunks; first += most) {
      auto now = arguments;
      int64_t end = std::min(chunks, first + most);
      for (const Driver::Argument &last :
           {number(first), number(end), Driver::Argument{scratch.get()}, number(scratchBytes)})
        now.push_back(last);
      driver.launch(kernel.image, (end - first + each - 1) / each, now);
    }
    return "";
  }

  std::string runCopy(const StepSpec &step, HeddleCall *) override {
    auto [to, toOffset] = placeOf(size_t(step.values[0]));
    auto [from, fromOffset] = placeOf(size_t(step.values[1]));
    if (int64_t count = bytes[size_t(step.values[1])])
      driver.copy(to, toOffset, from, fromOffset, count);
    return "";
  }

  bool holds(int32_t value, HeddleCall *) override {
    auto [buffer, offset] = placeOf(size_t(value));
    char truth = 0;
    driver.download(&truth, buffer, offset, 1);
    return truth != 0;
  }

  void toHost(const std::vector<int32_t> &values, HeddleCall *call) override {
    for (int32_t value : values)
      if (isWritten(size_t(value))) {
        auto [buffer, offset] = placeOf(size_t(value));
        driver.download(call->addresses[value], buffer, offset, bytes[size_t(value)]);
      }
  }
  void fromHost(const std::vector<int32_t> &values, HeddleCall *call) override {
    for (int32_t value : values)
      if (isWritten(size_t(value))) {
        auto [buffer, offset] = placeOf(size_t(value));
        driver.upload(buffer, offset, call->addresses[value], bytes[size_t(value)]);
      }
  }
  void finish() override { driver.finish(); }

private:
  Driver &driver;
  const Kernels &kernels;
  std::vector<size_t> roots;   ///< the value whose memory each value is in
  std::vector<size_t> updated; ///< values that are copied back to the host
  // For the values of the symbols of the last call:
  bool isPlanned = false;
  std::vector<int64_t> plannedFor, bytes, offsets;
  int64_t arenaBytes = 0, scratchBytes = 0;
  std::vector<OwnedBuffer> buffers; ///< of values that are not temporary
  std::vector<bool> isUploaded;     ///< constants
  OwnedBuffer arena, scratch;

  static Driver::Argument number(int64_t value) { return {nullptr, value, false}; }

  /// False for arguments and constants that the host has as they are, maybe in read-only memory.
  bool isWritten(size_t value) const {
    return bytes[value] > 0 &&
           (spec.values[roots[value]].kind == ValueSpec::Kind::Temporary ||
            std::find(updated.begin(), updated.end(), roots[value]) != updated.end());
  }

  std::pair<Driver::Buffer, int64_t> placeOf(size_t value) const {
    size_t root = roots[value];
    if (spec.values[root].kind == ValueSpec::Kind::Temporary)
      return {arena.get(), offsets[root]};
    return {buffers[root].get(), 0};
  }

  /// Computes the sizes of all values, and places the temporaries in one arena.
  void layOut(std::vector<int64_t> symbols) {
    auto valueOf = [&](const Expr &expr) {
      auto value = expr.evaluate([&](const std::string &name) -> std::optional<int64_t> {
        auto found = std::find(spec.symbols.begin(), spec.symbols.end(), name);
        if (found == spec.symbols.end())
          return std::nullopt;
        return symbols[size_t(found - spec.symbols.begin())];
      });
      if (!value)
        throw Error("'" + spec.name + "' has a size that is too large: " + expr.str());
      return *value;
    };
    size_t count = spec.values.size();
    bytes.clear();
    for (const ValueSpec &value : spec.values)
      bytes.push_back(valueOf(value.bytes));
    std::vector<ArenaBuffer> planned(count);
    for (size_t i = 0; i < count; ++i) {
      const ValueSpec &value = spec.values[i];
      ArenaBuffer &root = planned[roots[i]];
      if (roots[i] == i)
        root = {bytes[i], value.firstStep, std::max(root.last, value.lastStep), -1,
                value.layout.alignment};
      else
        root.last = std::max(root.last, value.lastStep);
    }
    std::vector<size_t> owners;
    std::vector<ArenaBuffer> temporaries;
    for (size_t i = 0; i < count; ++i)
      if (roots[i] == i && spec.values[i].kind == ValueSpec::Kind::Temporary) {
        owners.push_back(i);
        temporaries.push_back(planned[i]);
      }
    arenaBytes = packArena(temporaries);
    offsets.assign(count, 0);
    for (size_t i = 0; i < owners.size(); ++i)
      offsets[owners[i]] = temporaries[i].offset;
    scratchBytes = (valueOf(spec.scratchBytes) + 63) / 64 * 64;
    plannedFor = std::move(symbols);
    isPlanned = true;
  }
};

class StreamProgram : public DeviceProgram {
public:
  explicit StreamProgram(std::shared_ptr<SharedDriver> driver) : driver(std::move(driver)) {}
  ~StreamProgram() override {
    entries.clear();
    for (auto &[symbol, kernel] : kernels)
      driver->unload(kernel.image);
  }
  void loadKernels(const std::vector<KernelImage> &images) {
    for (const KernelImage &image : images)
      kernels[image.symbol] = {driver->loadKernel(image), image.chunks};
  }

  Entry entry(const EntrySpec &spec) override {
    auto &made = entries.emplace_back(new StreamEntry{*this, spec});
    return {[](HeddleCall *call, int32_t thread, int32_t) -> int32_t {
              return thread == 0 ? static_cast<StreamEntry *>(call->device)->run(call) : 0;
            },
            made.get()};
  }

private:
  /// Several threads may call an entry at once: ranks of a job, which wait for each other.
  struct StreamEntry {
    StreamProgram &program;
    const EntrySpec &spec;
    ForkMutex mutex = ForkMutex();
    std::vector<std::unique_ptr<StreamRunner>> idle = {};

    int32_t run(HeddleCall *call) {
      std::unique_ptr<StreamRunner> runner;
      {
        std::lock_guard lock(mutex);
        if (!idle.empty()) {
          runner = std::move(idle.back());
          idle.pop_back();
        }
      }
      if (!runner)
        runner = std::make_unique<StreamRunner>(*program.driver, program.kernels, spec);
      int32_t status = runner->run(call);
      std::lock_guard lock(mutex);
      if (status == 0)
        idle.push_back(std::move(runner));
      return status;
    }
  };
  std::shared_ptr<SharedDriver> driver;
  Kernels kernels;
  std::vector<std::unique_ptr<StreamEntry>> entries;
};
} // namespace

std::shared_ptr<DeviceProgram> StreamDevice::load(const ProgramImage &image, std::string &error) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, int>, std::weak_ptr<SharedDriver>> opened;
  auto images = readImages(image.code, error);
  if (!images)
    return nullptr;
  for (const EntrySpec &entry : image.manifest.entries)
    for (const StepSpec &step : entry.steps)
      if (step.kind == StepKind::Kernel &&
          std::none_of(images->begin(), images->end(),
                       [&](const KernelImage &each) { return each.symbol == step.kernel; })) {
        error = "it has no kernel '" + step.kernel + "'";
        return nullptr;
      }
  try {
    std::shared_ptr<SharedDriver> driver;
    {
      std::lock_guard lock(mutex);
      auto &known = opened[{kind, number}];
      driver = known.lock();
      if (!driver)
        known = driver = std::make_shared<SharedDriver>(open(number));
    }
    auto program = std::make_shared<StreamProgram>(std::move(driver));
    program->loadKernels(*images);
    return program;
  } catch (const std::exception &reason) {
    error = reason.what();
    return nullptr;
  }
}
