//===- StreamDevice.cpp - runs programs on a GPU --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/StreamDevice.h"
#include "heddle/Error.h"
#include "runtime/device/DeviceMemory.h"
#include "runtime/device/StepRunner.h"
#include "runtime/expr/Integer.h"

#include <algorithm>

using namespace heddle;

namespace {
struct LoadedKernel {
  Driver::Image image;
  int32_t chunks; ///< of a block
};
using Kernels = std::map<std::string, LoadedKernel, std::less<>>;

/// The most bytes of scratch that all chunks of a launch have together.
constexpr int64_t mostScratch = int64_t(256) << 20;

/// Has no state of a call, so that ranks in threads of a process may share it.
class StreamRunner : public StepRunner {
public:
  StreamRunner(DeviceMemory &memory, const Kernels &kernels, const EntrySpec &spec)
      : StepRunner(spec), memory(memory), kernels(kernels) {}

protected:
  void end(HeddleCall *) override { finish(); }
  void finish() override {
    memory.use([](Driver &driver) { driver.finish(); });
  }

  std::string runKernel(const StepSpec &step, HeddleCall *call) override {
    const LoadedKernel &kernel = kernels.find(step.kernel)->second;
    std::vector<Driver::Argument> arguments;
    for (int32_t value : step.values) {
      auto [buffer, offset] = memory.at(call->addresses[value]);
      arguments.push_back({buffer});
      arguments.push_back(number(offset));
    }
    for (int32_t at : step.numbers)
      arguments.push_back(number(call->symbols[at]));
    launch(step, kernel, std::move(arguments), call);
    return "";
  }

  std::string runCopy(const StepSpec &step, HeddleCall *call) override {
    int32_t to = step.values[0], from = step.values[1];
    using Way = MemoryManager::Way;
    Way way = !isOnDevice(from) ? Way::In : isOnDevice(to) ? Way::Within : Way::Out;
    memory.copy(way, call->addresses[to], call->addresses[from],
                valueOf(spec.values[size_t(from)].bytes, call));
    return "";
  }

private:
  DeviceMemory &memory;
  const Kernels &kernels;

  static Driver::Argument number(int64_t value) { return {nullptr, value, false}; }
  bool isOnDevice(int32_t value) const {
    return spec.values[size_t(value)].space == memory.space();
  }
  int64_t valueOf(const Expr &expr, HeddleCall *call) const {
    return expr
        .evaluate([&](const std::string &name) {
          size_t at = size_t(std::ranges::find(spec.symbols, name) - spec.symbols.begin());
          return std::optional(call->symbols[at]);
        })
        .value(); // SizedEntry has computed it
  }

  /// Launches the chunks of a step: in several parts if all would have too much scratch.
  void launch(const StepSpec &step, const LoadedKernel &kernel,
              std::vector<Driver::Argument> arguments, HeddleCall *call) {
    int64_t chunks = step.chunksAt < 0 ? step.chunks : call->symbols[step.chunksAt];
    // If all values in the scratch are empty, code still reads an element 0 that it does not use.
    int64_t leastBytes = spec.scratchBytes == Expr(0) ? 0 : 1;
    int64_t chunkBytes = roundUp(std::max(valueOf(spec.scratchBytes, call), leastBytes), 64);
    int64_t blockBytes = chunkBytes * kernel.chunks, most = ceilDivide(chunks, kernel.chunks);
    void *scratch = nullptr;
    if (blockBytes > 0) {
      most = std::clamp<int64_t>(mostScratch / blockBytes, 1, std::max<int64_t>(1, most));
      scratch = memory.allocate(blockBytes * most, 64,
                                {spec.name + " (scratch)", step.location, memory.space()});
    }
    // The next launch that gets this memory runs after this one.
    std::shared_ptr<void> freed(scratch, [&](void *address) { memory.free(address); });
    size_t count = arguments.size();
    for (int64_t first = 0; first < chunks; first += most * kernel.chunks) {
      int64_t end = std::min(chunks, first + most * kernel.chunks);
      arguments.resize(count);
      for (Driver::Argument last :
           {number(first), number(end),
            Driver::Argument{scratch ? memory.at(scratch).first : nullptr}, number(chunkBytes)})
        arguments.push_back(last);
      memory.use([&](Driver &driver) {
        driver.launch(kernel.image, ceilDivide(end - first, kernel.chunks), arguments);
      });
      memory.requireGuards(step.kernel);
    }
  }
};

class StreamProgram : public DeviceProgram {
public:
  explicit StreamProgram(std::shared_ptr<DeviceMemory> memory) : memory(std::move(memory)) {}
  ~StreamProgram() override {
    for (auto &[symbol, kernel] : kernels)
      memory->clean([&](Driver &driver) { driver.unload(kernel.image); });
  }
  void loadKernels(const std::vector<KernelImage> &images) {
    for (const KernelImage &image : images)
      kernels[image.symbol] = {
          memory->use([&](Driver &driver) { return driver.loadKernel(image); }), image.chunks};
  }

  Entry entry(const EntrySpec &spec) override {
    auto &made = entries.emplace_back(new StreamRunner(*memory, kernels, spec));
    return {[](HeddleCall *call, int32_t thread, int32_t) -> int32_t {
              return thread == 0 ? static_cast<StreamRunner *>(call->device)->run(call) : 0;
            },
            made.get()};
  }

private:
  std::shared_ptr<DeviceMemory> memory;
  Kernels kernels;
  std::vector<std::unique_ptr<StreamRunner>> entries;
};
} // namespace

/// The number of the device that this thread has selected, by kind.
static int &selected(const StreamDevice *kind) {
  static thread_local std::map<const StreamDevice *, int> numbers;
  return numbers[kind];
}

bool StreamDevice::select(int number) {
  selected(this) = number;
  return true;
}

std::shared_ptr<DeviceMemory> StreamDevice::opened() {
  int number = selected(this);
  std::lock_guard lock(mutex);
  auto &known = devices[number];
  auto device = known.lock();
  if (!device)
    known = device =
        std::make_shared<DeviceMemory>(kind + ":" + std::to_string(number), open(number));
  return device;
}

std::shared_ptr<MemoryManager> StreamDevice::memory(std::string_view space) {
  return space == kind ? opened() : nullptr;
}

bool StreamDevice::isPresent() {
  try {
    return opened()->use([](Driver &driver) { return driver.isFast(); });
  } catch (const Error &) {
    return false;
  }
}

/// What a program lacks or has too much of; empty if it can run.
static std::string mistakeIn(const EntrySpec &entry, const std::vector<KernelImage> &images,
                             const std::string &kind) {
  for (const StepSpec &step : entry.steps) {
    if (step.kind != StepKind::Kernel)
      continue;
    if (std::ranges::none_of(images,
                             [&](const KernelImage &each) { return each.symbol == step.kernel; }))
      return "it has no kernel '" + step.kernel + "'";
    for (int32_t index : step.values)
      if (const ValueSpec &value = entry.values[size_t(index)]; value.space != kind)
        return "its kernel '" + step.kernel + "' uses '" + value.name + "' in the memory space '" +
               value.space + "', expected '" + kind + "'";
  }
  return "";
}

std::shared_ptr<DeviceProgram> StreamDevice::load(const ProgramImage &image, std::string &error) {
  auto images = readImages(image.code, error);
  if (!images)
    return nullptr;
  for (const EntrySpec &entry : image.manifest.entries)
    if (!(error = mistakeIn(entry, *images, kind)).empty())
      return nullptr;
  try {
    auto program = std::make_shared<StreamProgram>(opened());
    program->loadKernels(*images);
    return program;
  } catch (const std::exception &reason) {
    error = reason.what();
    return nullptr;
  }
}
