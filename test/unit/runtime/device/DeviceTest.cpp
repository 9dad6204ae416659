//===- DeviceTest.cpp - programs of other targets -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/LibraryEntry.h"

#include "heddle/Error.h"
#include "runtime/device/Device.h"

#include <sys/mman.h>

using namespace heddle;

namespace {
/// Adds to each element the number that the program's code begins with; fails at its step if that
/// is 9.
class Adder : public Device {
public:
  std::string name() const override { return "adder"; }
  std::shared_ptr<DeviceProgram> load(const ProgramImage &image, std::string &error) override {
    struct Loaded : DeviceProgram {
      float number;
      Entry entry(const EntrySpec &) override { return {&run, &number}; }
      static int32_t run(HeddleCall *call, int32_t thread, int32_t) {
        float number = *static_cast<float *>(call->device);
        if (number == 9)
          return call->table->fail(call, 0, "nine is too much");
        for (int i = 0; i < 4 && thread == 0; ++i)
          static_cast<float *>(call->addresses[1])[i] =
              static_cast<float *>(call->addresses[0])[i] + number;
        return 0;
      }
    };
    if (image.code[0] < '0' || image.code[0] > '9') {
      error = "expected a digit";
      return nullptr;
    }
    auto program = std::make_shared<Loaded>();
    program->number = float(image.code[0] - '0');
    return program;
  }
};

ProgramImage adding(const std::string &code) {
  ProgramImage image = scaleImage();
  image.manifest.target = "adder";
  image.manifest.features.clear();
  image.manifest.entries[0].codeOffset = 0;
  image.code = code;
  return image;
}
} // namespace

TEST(Device, RunsTheProgramsOfItsName) {
  EXPECT_EQ(findDevice("adder"), nullptr);
  expectIn("no library that is loaded runs programs of 'adder'",
           errorOf<Error>([] { Program program(adding("3")); }));
  DeviceRegistration registered(std::make_unique<Adder>());
  Program program(adding("3")), other(adding("5"));
  EXPECT_EQ(valuesOf(program.run("scale", {{"x", tensorOf({1, 2, 3, 4})}})[0]),
            (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(valuesOf(other.run("scale", {{"x", tensorOf({1, 2, 3, 4})}})[0]),
            (std::vector<float>{6, 7, 8, 9}));
  expectIn("can't be loaded by the device 'adder': expected a digit",
           errorOf<Error>([] { Program program(adding("x")); }));
}

// Also without hooks: the failing step reports itself.
TEST(Device, AFailedStepIsNamed) {
  DeviceRegistration registered(std::make_unique<Adder>());
  Program program(adding("9"));
  try {
    program.run("scale", {{"x", tensorOf({1, 2, 3, 4})}});
    FAIL() << "expected an error";
  } catch (const ExecutionError &error) {
    EXPECT_STREQ(error.what(), "'scale' failed at 'scale' (model.cpp:1:1): nine is too much");
  }
}

TEST(Device, MissingLibrariesAndFunctionsAreNamed) {
  auto loading = [](auto change) {
    Manifest manifest;
    manifest.entries = {libraryEntry()};
    change(manifest.entries[0].steps[4]);
    return errorOf<Error>([&] { Program::fromFunctions(manifest, {chainFunction}); });
  };
  EXPECT_EQ(loading([](StepSpec &) {}), "");
  expectIn("the step 'step 4' of 'f' (model.cpp:5:1) calls 'heddle_test_add' of the library "
           "'libthere-is-none.so', which can't be opened: ",
           loading([](StepSpec &step) { step.library = "libthere-is-none.so"; }));
  expectIn("(model.cpp:5:1) calls 'multiply' of the library '" + std::string(HEDDLE_TEST_LIBRARY) +
               "', which has no such function",
           loading([](StepSpec &step) { step.kernel = "multiply"; }));
}

TEST(Device, NumbersThatTheCallerSuppliesAreChecked) {
  Manifest manifest;
  manifest.entries = {libraryEntry()};
  auto program =
      Program::fromFunctions(manifest, {[](HeddleCall *call, int32_t thread, int32_t) -> int32_t {
                               for (int i = 0; thread == 0 && i < 4; ++i)
                                 static_cast<float *>(call->addresses[1])[i] =
                                     float(call->symbols[0]);
                               return 0;
                             }});
  auto run = [&](const SuppliedNumbers &supplied) {
    return program->run("f", {{"x", tensorOf({1, 2, 3, 4})}}, {.supplied = supplied});
  };
  for (int64_t rank : {3, 8, 3})
    EXPECT_EQ(valuesOf(run({{"rank", rank}})[0]), std::vector<float>(4, float(rank)));
  expectIn("'f' lacks the number 'rank', which its caller supplies",
           errorOf<Error>([&] { run({}); }));
  expectIn("'f' takes no number 'size' from its caller",
           errorOf<Error>([&] { run({{"rank", 1}, {"size", 2}}); }));
  expectIn("the caller of 'f' make the size 'rank' -1, expected a number from 0 to",
           errorOf<Error>([&] { run({{"rank", -1}}); }));
}

//===----------------------------------------------------------------------===//
// A device with a memory of its own
//===----------------------------------------------------------------------===//

namespace {
constexpr int64_t vaultBytes = 1 << 20;

/// Returns addresses that the host can't access; `at` maps them to the bytes.
class Vault : public MemoryManager {
public:
  Vault()
      : base(static_cast<char *>(
            mmap(nullptr, vaultBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        bytes(vaultBytes, 0x55) {}
  ~Vault() override { munmap(base, vaultBytes); }
  std::string_view space() const override { return "vault"; }
  int copies = 0;
  void copy(Way, void *to, const void *from, int64_t bytes) override {
    ++copies;
    std::memcpy(at(to), at(const_cast<void *>(from)), size_t(bytes));
  }
  char *at(void *address) {
    return isMine(address) ? bytes.data() + (static_cast<char *>(address) - base)
                           : static_cast<char *>(address);
  }

protected:
  bool isMine(void *address) const { return address >= base && address < base + vaultBytes; }
  void *obtain(int64_t size, int64_t alignment) override {
    used = (used + alignment - 1) / alignment * alignment;
    used += size;
    return used > vaultBytes ? nullptr : base + used - size;
  }
  void release(void *, int64_t) override {}

private:
  char *base;
  std::vector<char> bytes;
  int64_t used = 0;
};

/// Runs copies, and kernels that add 1 to four floats, with the memory space "vault".
class VaultDevice : public Device {
public:
  std::shared_ptr<Vault> vault = std::make_shared<Vault>();
  std::string name() const override { return "vault device"; }
  std::shared_ptr<MemoryManager> memory(std::string_view space) override {
    return space == "vault" ? vault : nullptr;
  }
  std::shared_ptr<DeviceProgram> load(const ProgramImage &, std::string &) override {
    struct Bound {
      const EntrySpec &spec;
      Vault &vault;
    };
    struct Loaded : DeviceProgram {
      std::shared_ptr<Vault> vault;
      std::vector<std::unique_ptr<Bound>> entries;
      Entry entry(const EntrySpec &spec) override {
        return {&run, entries.emplace_back(new Bound{spec, *vault}).get()};
      }
      static int32_t run(HeddleCall *call, int32_t thread, int32_t) {
        auto &[spec, vault] = *static_cast<Bound *>(call->device);
        for (int32_t s = 0; thread == 0 && size_t(s) <= spec.steps.size(); ++s) {
          if (call->hooks)
            if (int32_t status = call->table->step(call, s))
              return status;
          if (size_t(s) == spec.steps.size())
            break;
          const StepSpec &step = spec.steps[size_t(s)];
          char *to = vault.at(call->addresses[step.values[0]]),
               *from = vault.at(call->addresses[step.values[1]]);
          std::memmove(to, from, 16);
          for (int i = 0; step.kind == StepKind::Kernel && i < 4; ++i)
            reinterpret_cast<float *>(to)[i] += 1;
        }
        return 0;
      }
    };
    auto program = std::make_shared<Loaded>();
    program->vault = vault;
    return program;
  }
};

/// An entry with an argument x in one space and a result y in another, by `kernels` steps of the
/// vault between copies where they are on the host.
EntrySpec vaultEntry(const std::string &name, const char *from, const char *to, int kernels) {
  using Kind = ValueSpec::Kind;
  EntrySpec entry;
  entry.name = name;
  auto add = [&](Kind kind, const std::string &called, const char *space, int32_t first) {
    ValueSpec &made =
        entry.values.emplace_back(value(kind, called, floats({{"i", 4}}), "[i]", first, first + 1));
    made.space = space;
    return int32_t(entry.values.size() - 1);
  };
  auto step = [&](StepKind kind, int32_t into, int32_t of) {
    entry.steps.push_back({"step", "model.cpp:1:1", 1, "add"});
    entry.steps.back().kind = kind;
    entry.steps.back().values = {into, of};
    return into;
  };
  int32_t now = add(Kind::Argument, "x", from, 0), result = add(Kind::Result, "y", to, 0);
  if (from == hostSpace)
    now = step(StepKind::Copy, add(Kind::Temporary, "x'", "vault", 0), now);
  for (int k = 0; k < kernels; ++k) {
    bool last = k + 1 == kernels && to != hostSpace;
    int32_t next =
        last ? result
             : add(Kind::Temporary, "t" + std::to_string(k), "vault", int32_t(entry.steps.size()));
    now = step(StepKind::Kernel, next, now);
  }
  if (to == hostSpace)
    step(StepKind::Copy, result, now);
  entry.arguments = {0};
  entry.results = {1};
  return entry;
}

ProgramImage vaultImage() {
  ProgramImage image;
  image.manifest.target = "vault device";
  image.manifest.entries = {vaultEntry("in", "host", "vault", 2),
                            vaultEntry("on", "vault", "vault", 4),
                            vaultEntry("out", "vault", "host", 1)};
  image.code = "v";
  return image;
}
} // namespace

TEST(MemorySpaces, ValuesLieInTheSpaceThatTheManifestSays) {
  auto device = std::make_unique<VaultDevice>();
  std::shared_ptr<Vault> vault = device->vault;
  DeviceRegistration registered(std::move(device));
  std::string file = vaultImage().bytes();
  Program program(ProgramImage::parse(file, "vault.heddle"));
  for (bool managed : {false, true}) {
    CallOptions options;
    options.managed = managed;
    TensorRef x = tensorOf({1, 2, 3, 4});
    EXPECT_EQ(x->space(), "host");
    TensorRef inside = program.run("in", {{"x", x}}, options)[0];
    EXPECT_EQ(inside->space(), "vault");
    inside = program.run("on", {{"x", inside}}, options)[0];
    TensorRef out = program.run("out", {{"x", inside}}, options)[0];
    EXPECT_EQ(valuesOf(out), (std::vector<float>{8, 9, 10, 11}));
    EXPECT_EQ(valuesOf(inside), (std::vector<float>{7, 8, 9, 10})); // copied to the host
    // Arguments in the other memory are copied.
    TensorRef again = program.run("in", {{"x", inside}}, options)[0];
    EXPECT_EQ(valuesOf(again), (std::vector<float>{9, 10, 11, 12}));
    EXPECT_EQ(valuesOf(program.run("out", {{"x", x}}, options)[0]),
              (std::vector<float>{2, 3, 4, 5}));
  }
  // Of four temporaries two are live at once, so the arena has room for two: 128 bytes.
  EntryMemory memory = memoryOf(program.entry("on"));
  EXPECT_EQ(memory.arena, 128);
  EXPECT_EQ(memory.live, 32);
}

TEST(MemorySpaces, ATensorOfAnotherDeviceIsRefused) {
  struct Cellar : Vault {
    std::string_view space() const override { return "cellar"; }
  };
  DeviceRegistration registered(std::make_unique<VaultDevice>());
  Program program(vaultImage());
  auto x = std::make_shared<RuntimeTensor>(floats({{"i", 4}}), *Layout::parse("[i]"),
                                           std::make_shared<Cellar>());
  std::vector<float> numbers{1, 2, 3, 4};
  x->copyFrom(numbers.data(), {"i"});
  expectIn("expected the argument 'x' of 'on' in the memory space 'vault' or 'host', got 'cellar'",
           errorOf<Error>([&] { program.run("on", {{"x", x}}); }));
  EXPECT_EQ(valuesOf(program.run("on", {{"x", tensorOf(valuesOf(x))}})[0]),
            (std::vector<float>{5, 6, 7, 8}));
}

// Copies between memories change layouts in the host's.
TEST(MemorySpaces, TensorsAreCopiedInAnyLayout) {
  auto vault = std::make_shared<Vault>();
  auto cellar = std::make_shared<Vault>();
  TensorSpec spec = floats({{"i", 3}, {"k", 2}});
  std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const char *layouts[] = {"[i, k]", "[k, i]", "[k, i floordiv 4, i mod 4], zero_padded"};
  std::shared_ptr<MemoryManager> managers[] = {nullptr, vault, cellar};
  for (const char *from : layouts)
    for (const char *to : layouts)
      for (auto &source : managers)
        for (auto &target : managers) {
          RuntimeTensor x(spec, *Layout::parse(from), source);
          RuntimeTensor y(spec, *Layout::parse(to), target);
          x.copyFrom(numbers.data(), {"i", "k"});
          y.copyFrom(x);
          std::vector<float> got(6);
          y.copyTo(got.data(), {"i", "k"});
          EXPECT_EQ(got, numbers) << from << " " << to;
        }
  // Padding is zero there, too.
  RuntimeTensor padded(spec, *Layout::parse(layouts[2]), vault);
  auto *raw = reinterpret_cast<const float *>(vault->at(padded.address()));
  EXPECT_EQ(raw[3], 0);
  EXPECT_EQ(raw[7], 0);
}

TEST(MemorySpaces, ConstantsAreCopiedThereOnce) {
  auto device = std::make_unique<VaultDevice>();
  std::shared_ptr<Vault> vault = device->vault;
  DeviceRegistration registered(std::move(device));
  ProgramImage image = vaultImage();
  EntrySpec &entry = image.manifest.entries[1]; // x + 4; its argument becomes a constant
  entry.values[0].kind = ValueSpec::Kind::Constant;
  entry.values[0].offset = 64;
  entry.arguments.clear();
  image.constants.resize(80);
  float numbers[] = {5, 6, 7, 8};
  std::memcpy(image.constants.data() + 64, numbers, sizeof numbers);
  int64_t before = vault->statistics().allocations;
  Program program(std::move(image));
  EXPECT_EQ(vault->statistics().allocations, before + 1);
  int copies = vault->copies;
  for (int i = 0; i < 2; ++i)
    program.run("on", {});
  EXPECT_EQ(vault->copies, copies);
  EXPECT_EQ(valuesOf(program.run("on", {})[0]), (std::vector<float>{9, 10, 11, 12}));
}

TEST(MemorySpaces, WhatNoDeviceServesIsRefused) {
  DeviceRegistration registered(std::make_unique<VaultDevice>());
  expectIn("the value 'x' of 'on' (model.cpp:1:1) lies in the memory space 'cellar', which the "
           "device 'vault device' does not serve",
           errorOf<Error>([] {
             ProgramImage image = vaultImage();
             image.manifest.entries[1].values[0].space = "cellar";
             Program program(std::move(image));
           }));
  expectIn("the value 'y' of 'scale' (model.cpp:1:1) lies in the memory space 'vault', which this "
           "CPU does not serve",
           errorOf<Error>([] {
             ProgramImage image = scaleImage();
             image.manifest.entries[0].values[1].space = "vault";
             Program program(std::move(image));
           }));
}

TEST(MemorySpaces, ManagersOfOtherSpacesAreRefused) {
  auto vault = std::make_shared<Vault>();
  EXPECT_EQ(SystemManager().space(), "host");
  expectIn("expected a memory manager of the space 'host' for 'x' at model.cpp:1:1, got one of the "
           "space 'vault'",
           errorOf<Error>([&] { vault->allocate(16, 64, {"x", "model.cpp:1:1"}); }));
  expectIn("got one of the space 'host'",
           errorOf<Error>([&] { SystemManager().allocate(16, 64, {"x", "", "vault"}); }));
  expectIn("expected a default memory manager of the space 'host', got one of the space 'vault'",
           errorOf<Error>([&] { setDefaultMemoryManager(vault); }));
  RuntimeTensor tensor(floats({{"i", 4}}), *Layout::parse("[i]"), vault);
  EXPECT_EQ(tensor.space(), "vault");
  struct Sealed : Vault {
    void copy(Way way, void *to, const void *from, int64_t bytes) override {
      MemoryManager::copy(way, to, from, bytes);
    }
  };
  RuntimeTensor sealed(floats({{"i", 4}}), *Layout::parse("[i]"), std::make_shared<Sealed>());
  float numbers[4];
  expectIn("the memory space 'vault' has no copies",
           errorOf<Error>([&] { sealed.copyTo(numbers, {"i"}); }));
  auto program = smallPrograms();
  CallOptions options;
  options.manager = vault;
  expectIn("expected a memory manager of the space 'host'", errorOf<Error>([&] {
             program->run("chain", {{"x", tensorOf(std::vector<float>(chainSize))}}, options);
           }));
}
