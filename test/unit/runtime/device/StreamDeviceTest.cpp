//===- StreamDeviceTest.cpp - programs on a driver of the test ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/InChild.h"
#include "test/unit/runtime/LibraryEntry.h"

#include "heddle/Error.h"
#include "runtime/device/DeviceMemory.h"
#include "runtime/device/StreamDevice.h"

#include <set>

using namespace heddle;

namespace {
using Buffer = std::vector<char>;

/// Records the calls of the test's driver.
struct Record {
  std::set<void *> buffers, images;
  int uploads = 0, downloads = 0, copies = 0;
  int64_t most = int64_t(1) << 40; ///< bytes of a buffer that the device has
  bool isFast = true;
  std::vector<std::pair<int64_t, int64_t>> launches; ///< first chunk, end
  std::string failing;                               ///< the kernel whose launch fails
  bool isLost = false;                               ///< no wait for it ends well
  bool hasScratch = false;                           ///< the last launch
  int64_t beyond = -1; ///< the distance from the end of y at which `add` writes too
} record;

/// A kernel in host memory: x[chunk] + 1 -> y[chunk] for `add`, x[chunk] < 3 -> y for `small`.
/// Arguments are as a GPU's kernel has them (lib/target/gpu/GpuLoops.h).
void runChunk(const std::string &name, int64_t number, const std::vector<Driver::Argument> &given) {
  size_t values = 2;
  auto address = [&](size_t i) {
    return static_cast<Buffer *>(given[2 * i].buffer)->data() + given[2 * i + 1].number;
  };
  int64_t first = given[2 * values].number, end = given[2 * values + 1].number;
  int64_t chunk = first + number;
  if (chunk >= end)
    return;
  if (auto *scratch = static_cast<Buffer *>(given[2 * values + 2].buffer)) {
    int64_t stride = given[2 * values + 3].number;
    ASSERT_LE((number + 1) * stride, int64_t(scratch->size()));
    scratch->at(size_t(number * stride)) = 1;
  }
  auto *x = reinterpret_cast<const float *>(address(0));
  if (name == "small")
    *address(1) = x[0] < 3;
  else
    reinterpret_cast<float *>(address(1))[chunk] = x[chunk] + 1;
  if (record.beyond >= 0)
    address(1)[chainSize * int64_t(sizeof(float)) + record.beyond] = 1;
}

class HostDriver : public Driver {
public:
  bool isFast() const override { return record.isFast; }
  Driver::Buffer allocate(int64_t bytes) override {
    if (bytes > record.most)
      return nullptr;
    auto *buffer = new ::Buffer(size_t(bytes), char(0x55));
    record.buffers.insert(buffer);
    return buffer;
  }
  void release(Driver::Buffer buffer) noexcept override {
    EXPECT_EQ(record.buffers.erase(buffer), 1u);
    delete static_cast<::Buffer *>(buffer);
  }
  void upload(Driver::Buffer to, int64_t offset, const void *from, int64_t bytes) override {
    ++record.uploads;
    std::memcpy(at(to, offset, bytes), from, size_t(bytes));
  }
  void download(void *to, Driver::Buffer from, int64_t offset, int64_t bytes) override {
    ++record.downloads;
    std::memcpy(to, at(from, offset, bytes), size_t(bytes));
  }
  void copy(Driver::Buffer to, int64_t toOffset, Driver::Buffer from, int64_t fromOffset,
            int64_t bytes) override {
    ++record.copies;
    std::memcpy(at(to, toOffset, bytes), at(from, fromOffset, bytes), size_t(bytes));
  }
  Image loadKernel(const KernelImage &image) override {
    if (image.bytes == "bad")
      throw Error("the image of '" + image.symbol + "' is bad");
    auto *made = new KernelImage(image);
    record.images.insert(made);
    return made;
  }
  void unload(Image image) noexcept override {
    EXPECT_EQ(record.images.erase(image), 1u);
    delete static_cast<KernelImage *>(image);
  }
  void launch(Image image, int64_t blocks, const std::vector<Argument> &arguments) override {
    auto *kernel = static_cast<KernelImage *>(image);
    if (kernel->symbol == record.failing)
      throw Error("no such luck");
    record.launches.emplace_back(arguments[4].number, arguments[5].number);
    record.hasScratch = arguments[6].buffer;
    for (int64_t chunk = 0; chunk < blocks * kernel->chunks; ++chunk)
      runChunk(kernel->symbol, chunk, arguments);
  }
  void finish() override {
    if (record.isLost)
      throw Error("it has not finished");
  }

private:
  static char *at(Driver::Buffer buffer, int64_t offset, int64_t bytes) {
    auto &all = *static_cast<::Buffer *>(buffer);
    EXPECT_LE(offset + bytes, int64_t(all.size()));
    return all.data() + offset;
  }
};

class Streams : public testing::Test {
protected:
  Streams()
      : registered(
            std::make_unique<StreamDevice>("streams", [](int number) -> std::unique_ptr<Driver> {
              if (number > 1)
                throw Error("there are two devices");
              return std::make_unique<HostDriver>();
            })) {
    record = {};
  }
  ~Streams() override {
    EXPECT_EQ(record.buffers.size(), 0u);
    EXPECT_EQ(record.images.size(), 0u);
  }
  DeviceRegistration registered;

  static std::string code() {
    return writeImage({"add", 8, 8, "1"}) + writeImage({"small", 1, 1, "2"});
  }

  static ProgramImage image(EntrySpec entry, std::string code = Streams::code()) {
    ProgramImage image;
    image.manifest.target = "streams";
    image.manifest.entries = {std::move(entry)};
    image.code = std::move(code);
    return image;
  }

  /// All values lie on the device.
  static EntrySpec onDevice(EntrySpec entry) {
    for (ValueSpec &value : entry.values)
      value.space = "streams";
    return entry;
  }

  /// state + 1 -> next, in the memory of state.
  static EntrySpec counter() {
    EntrySpec entry;
    using Kind = ValueSpec::Kind;
    entry.name = "count";
    TensorSpec type = floats({{"i", 4}});
    entry.values = {value(Kind::Argument, "state", type, "[i]"),
                    value(Kind::Result, "next", type, "[i]")};
    entry.values[1].aliasOf = 0;
    entry.arguments = {0};
    entry.results = {1};
    entry.donations = {{0, 0}};
    StepSpec &step = entry.steps.emplace_back();
    step.name = "add", step.kernel = "add", step.chunks = 4, step.values = {0, 1};
    return onDevice(entry);
  }

  /// y = x + 1 + 1 + ..., each sum by a kernel (Programs.h).
  static EntrySpec chain() {
    EntrySpec entry = chainEntry();
    for (int s = 0; s < chainSteps; ++s) {
      entry.steps[size_t(s)].chunks = chainSize;
      entry.steps[size_t(s)].values = {s == 0 ? 0 : s + 1, s + 1 == chainSteps ? 1 : s + 2};
    }
    return onDevice(entry);
  }
  static std::vector<float> numbers(float first) {
    std::vector<float> values(chainSize);
    std::iota(values.begin(), values.end(), first);
    return values;
  }
};
} // namespace

TEST_F(Streams, RunSteps) {
  Program program(image(chain()));
  for (float start : {5.0f, 7.0f}) {
    auto results = program.run("chain", {{"x", tensorOf(numbers(start))}});
    EXPECT_EQ(valuesOf(results[0]), numbers(start + chainSteps));
  }
  EXPECT_EQ(record.launches.size(), 2u * chainSteps);
  EXPECT_EQ(record.uploads, 2);   // only the argument
  EXPECT_EQ(record.downloads, 2); // by `valuesOf`
  auto managed = program.run("chain", {{"x", tensorOf(numbers(0))}}, {.managed = true});
  EXPECT_EQ(valuesOf(managed[0]), numbers(chainSteps));
}

TEST_F(Streams, GuardsFindWritesOutOfBounds) {
  auto run = [&] {
    Program program(image(chain()));
    return valuesOf(program.run("chain", {{"x", tensorOf(numbers(0))}}, {.managed = true})[0]);
  };
  record.beyond = 5; // without guards it is in the buffer of the size class
  EXPECT_EQ(run(), numbers(chainSteps));
  setenv("HEDDLE_GUARD_BUFFERS", "1", 1);
  try {
    run();
    ADD_FAILURE() << "expected an error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what())
                  .find("the kernel 'add' writes out of bounds: 5 bytes behind a buffer of 4000"),
              std::string::npos)
        << error.what();
  }
  record.beyond = -1;
  EXPECT_EQ(run(), numbers(chainSteps));
  unsetenv("HEDDLE_GUARD_BUFFERS");
}

TEST_F(Streams, SplitLaunchesThatNeedMuchScratch) {
  EntrySpec entry = chain();
  entry.scratchBytes = Expr((int64_t(256) << 20) / 64 - 63); // for 64 lanes, 8 blocks
  Program program(image(entry));
  EXPECT_EQ(valuesOf(program.run("chain", {{"x", tensorOf(numbers(0))}})[0]), numbers(chainSteps));
  ASSERT_EQ(record.launches.size(), size_t(chainSteps) * ((chainSize + 63) / 64));
  EXPECT_EQ(record.launches[1], (std::pair<int64_t, int64_t>(64, 128)));
  EXPECT_EQ(record.launches[15], (std::pair<int64_t, int64_t>(960, 1000)));
}

TEST_F(Streams, ScratchOfLanesTogetherIsOfTheirBlock) {
  EntrySpec entry = chain();
  entry.scratchBytes = Expr((int64_t(256) << 20) / 64 - 63); // for 64 blocks
  std::string code = writeImage({"add", 32, 1, "1"}) + writeImage({"small", 1, 1, "2"});
  Program program(image(entry, code));
  EXPECT_EQ(valuesOf(program.run("chain", {{"x", tensorOf(numbers(0))}})[0]), numbers(chainSteps));
  ASSERT_GT(record.launches.size(), 1u);
  EXPECT_EQ(record.launches[1], (std::pair<int64_t, int64_t>(64, 128)));
}

TEST_F(Streams, ScratchIsOfEachLane) {
  EntrySpec entry = chain();
  entry.scratchBytes = Expr(100);
  for (StepSpec &step : entry.steps)
    step.chunks = 990; // no multiple of the lanes of a block
  Program program(image(entry));
  auto values = valuesOf(program.run("chain", {{"x", tensorOf(numbers(0))}})[0]);
  values.resize(990);
  std::vector<float> expected = numbers(chainSteps);
  expected.resize(990);
  EXPECT_EQ(values, expected);
}

// A kernel reads an element of what is in its scratch also where all of that is empty.
TEST_F(Streams, ScratchOfEmptyValuesHasBytes) {
  EntrySpec entry = counter();
  entry.symbols = {"N"};
  for (ValueSpec &value : entry.values)
    value.type = floats({{"i", Expr::name("N")}}), value.bytes = Expr::name("N") * 4;
  for (bool hasScratch : {false, true}) {
    entry.scratchBytes = hasScratch ? Expr::name("N") - 4 : Expr(0);
    Program program(image(entry));
    auto next = program.run("count", {{"state", tensorOf({1, 2, 3, 4})}});
    EXPECT_EQ(valuesOf(next[0]), (std::vector<float>{2, 3, 4, 5}));
    EXPECT_EQ(record.hasScratch, hasScratch);
  }
}

// while (x < 3) x = x + 1, in place: the loop's state is a temporary.
TEST_F(Streams, FollowBranchesAndLoops) {
  using Kind = ValueSpec::Kind;
  EntrySpec entry;
  entry.name = "f";
  entry.values = {value(Kind::Argument, "x", floats({{"i", 1}}), "[i]"),
                  value(Kind::Result, "y", floats({{"i", 1}}), "[i]"),
                  value(Kind::Temporary, "less", {ElementType::I1, {}}, "[]", 0, 10),
                  value(Kind::Temporary, "more", floats({{"i", 1}}), "[i]", 3, 8),
                  value(Kind::Temporary, "seen", {ElementType::I1, {}}, "[]", 2, 10)};
  entry = onDevice(entry);
  entry.values[4].space = hostSpace;
  entry.values[4].offset = 0;
  entry.arenaBytes = 64;
  auto add = [&](StepKind kind, const char *kernel, std::vector<int32_t> values) {
    StepSpec &step = entry.steps.emplace_back();
    step.name = "step " + std::to_string(entry.steps.size() - 1);
    step.kind = kind;
    step.kernel = kernel;
    step.values = std::move(values);
  };
  add(StepKind::Copy, "", {1, 0});
  add(StepKind::Kernel, "small", {1, 2});
  add(StepKind::Copy, "", {4, 2});
  add(StepKind::Loop, "", {4});
  add(StepKind::Kernel, "add", {1, 3});
  add(StepKind::Kernel, "small", {3, 2});
  add(StepKind::Copy, "", {1, 3});
  add(StepKind::Copy, "", {4, 2});
  add(StepKind::EndLoop, "", {});
  add(StepKind::If, "", {4});
  add(StepKind::Else, "", {});
  add(StepKind::EndIf, "", {});
  entry.arguments = {0};
  entry.results = {1};
  Program program(image(entry));
  EXPECT_EQ(valuesOf(program.run("f", {{"x", tensorOf({0.5f})}})[0]), std::vector<float>{3.5f});
  EXPECT_EQ(valuesOf(program.run("f", {{"x", tensorOf({7})}})[0]), std::vector<float>{7});
}

TEST_F(Streams, KeepStateBetweenCalls) {
  Program program(image(counter()));
  const EntrySpec &entry = program.entry("count");
  TensorRef state = tensorOf({1, 2, 3, 4});
  for (int i = 0; i < 5; ++i) {
    TensorRef old = state;
    state = program.run(entry, {state}, {}, {true})[0];
    EXPECT_EQ(state->space(), "streams:0");
    EXPECT_EQ(old->donatedTo, i == 0 ? "" : "count"); // the host's memory is not the device's
  }
  EXPECT_EQ(record.uploads, 1);
  EXPECT_EQ(record.downloads, 0);
  EXPECT_EQ(record.copies, 0);
  EXPECT_EQ(valuesOf(state), (std::vector<float>{6, 7, 8, 9}));
  EXPECT_EQ(record.downloads, 1);
  // A caller that keeps its state gets a copy, made on the device.
  TensorRef next = program.run(entry, {state})[0];
  EXPECT_EQ(record.copies, 1);
  EXPECT_EQ(valuesOf(next), (std::vector<float>{7, 8, 9, 10}));
  EXPECT_EQ(valuesOf(state), (std::vector<float>{6, 7, 8, 9}));
}

TEST_F(Streams, FindTheBufferOfAnAddress) {
  DeviceMemory memory("streams:0", std::make_unique<HostDriver>());
  auto allocate = [&] {
    return static_cast<char *>(memory.allocate(1000, 64, {"x", "", "streams:0"}));
  };
  char *x = allocate(), *y = allocate();
  EXPECT_EQ(memory.at(x).second, 0);
  EXPECT_EQ(memory.at(x + 256).first, memory.at(x).first);
  EXPECT_EQ(memory.at(x + 256).second, 256);
  EXPECT_EQ(memory.at(x + 1000).first, memory.at(x).first); // of an empty value at the end
  EXPECT_NE(memory.at(y).first, memory.at(x).first);
  using Way = MemoryManager::Way;
  std::string got(3, ' ');
  memory.copy(Way::In, x + 7, "abcdef", 6);
  memory.copy(Way::Within, y + 100, x + 9, 3);
  memory.copy(Way::Out, got.data(), y + 100, 3);
  EXPECT_EQ(got, "cde");
  expectIn("an address is not in the memory of the device 'streams:0'",
           errorOf<Error>([&] { memory.copy(Way::In, got.data(), "abc", 3); }));
  memory.free(x);
  memory.free(y);
}

TEST_F(Streams, UseFreedBuffersAgain) {
  Program program(image(chain()));
  auto run = [&] { return program.run("chain", {{"x", tensorOf(numbers(1))}})[0]; };
  (void)run();
  size_t buffers = record.buffers.size();
  for (int i = 0; i < 3; ++i)
    (void)run();
  EXPECT_EQ(record.buffers.size(), buffers);
}

TEST_F(Streams, NameWhatDoesNotFit) {
  EntrySpec small = chain();
  Program program(image(small));
  record.most = 4000 + 800;
  auto running = [&](bool managed) {
    return errorOf<Error>(
        [&] { program.run("chain", {{"x", tensorOf(numbers(0))}}, {.managed = managed}); });
  };
  expectIn("bytes for 'chain (arena, with 't0' of 4000 bytes)' at model.cpp:1:1, beside",
           running(false));
  record.most = 100;
  expectIn("out of memory: 4000 bytes for 'x'", running(true));
  record.most = int64_t(1) << 40;
  EXPECT_EQ(running(false), "");
  EXPECT_EQ(running(true), "");
}

TEST_F(Streams, PoisonWhatAFailedLaunchMayHaveChanged) {
  Program program(image(counter()));
  const EntrySpec &entry = program.entry("count");
  TensorRef state = program.run(entry, {tensorOf({1, 2, 3, 4})})[0];
  record.failing = "add";
  expectIn("'count' failed at 'add': no such luck",
           errorOf<ExecutionError>([&] { program.run(entry, {state}, {}, {true}); }));
  record.failing.clear();
  expectIn("the argument 'state' of 'count' was donated to 'count', which updated it in place",
           errorOf<Error>([&] { program.run(entry, {state}); }));
  EXPECT_EQ(valuesOf(program.run(entry, {tensorOf({5, 6, 7, 8})})[0]),
            (std::vector<float>{6, 7, 8, 9}));
}

TEST_F(Streams, PoisonWhatAKernelThatDoesNotEndMayChange) {
  Program program(image(counter()));
  const EntrySpec &entry = program.entry("count");
  TensorRef state = program.run(entry, {tensorOf({1, 2, 3, 4})})[0];
  record.isLost = true;
  expectIn("'count' failed: it has not finished",
           errorOf<ExecutionError>([&] { program.run(entry, {state}, {}, {true}); }));
  record.isLost = false;
  expectIn("the argument 'state' of 'count' was donated to 'count', which updated it in place",
           errorOf<Error>([&] { program.run(entry, {state}); }));
}

TEST_F(Streams, GiveEachValueABufferOfItsSize) {
  setenv("HEDDLE_FRESH_BUFFERS", "1", 1);
  DeviceMemory memory("streams:0", std::make_unique<HostDriver>());
  unsetenv("HEDDLE_FRESH_BUFFERS");
  auto allocate = [&](int64_t bytes) { return memory.allocate(bytes, 64, {"x", "", "streams:0"}); };
  auto sizeOf = [&](void *x) { return static_cast<::Buffer *>(memory.at(x).first)->size(); };
  void *x = allocate(1001);
  size_t spare = sizeOf(x) - 1001;
  EXPECT_LE(spare, 64u);
  memory.free(x);
  EXPECT_EQ(record.buffers.size(), 0u);
  x = allocate(999);
  EXPECT_EQ(sizeOf(x), 999 + spare);
  memory.free(x);
}

TEST_F(Streams, RefuseTensorsOfAnotherDevice) {
  auto first = std::make_unique<Program>(image(counter()));
  selectDevice("streams:1");
  Program second(image(counter()));
  selectDevice("streams:0");
  TensorRef state = first->run("count", {{"state", tensorOf({1, 2, 3, 4})}})[0];
  first = nullptr; // the tensor keeps the device open
  expectIn("expected the argument 'state' of 'count' in the memory space 'streams:1' or 'host', "
           "got 'streams:0'",
           errorOf<Error>([&] { second.run("count", {{"state", state}}); }));
  EXPECT_EQ(valuesOf(second.run("count", {{"state", tensorOf(valuesOf(state))}})[0]),
            (std::vector<float>{3, 4, 5, 6}));
}

TEST_F(Streams, RefuseChildrenOfFork) {
  auto program = std::make_unique<Program>(image(counter()));
  TensorRef state = program->run("count", {{"state", tensorOf({1, 2, 3, 4})}})[0];
  const std::string expected = "the device 'streams:0' was opened before this process was forked";
  expectIn(expected, test::inChild([&] {
             (void)valuesOf(state);
             return std::string("it could be read");
           }));
  expectIn(expected, test::inChild([&] {
             program->run("count", {{"state", tensorOf({1, 2, 3, 4})}});
             return std::string("it could run");
           }));
  expectIn("frees nothing", test::inChild([&] {
             size_t buffers = record.buffers.size();
             state = nullptr;
             program = nullptr; // and with it the device
             return std::string(record.buffers.size() == buffers ? "frees nothing" : "frees");
           }));
  EXPECT_EQ(valuesOf(state), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(Streams, AreChosenIfTheyAreFaster) {
  EXPECT_EQ(selectDevice("auto"), findDevice("streams"));
  record.isFast = false;
  EXPECT_NE(selectDevice("auto"), findDevice("streams"));
}

TEST_F(Streams, RefuseKernelsOnValuesOfTheHost) {
  EntrySpec entry = chain();
  entry.values[0].space = hostSpace;
  expectIn("its kernel 'add' uses 'x' in the memory space 'host', expected 'streams'",
           errorOf<Error>([&] { Program program(image(entry)); }));
  entry = chain();
  entry.values[0].space = "cellar";
  expectIn("in the memory space 'cellar', expected 'streams'",
           errorOf<Error>([&] { Program program(image(entry)); }));
}

TEST_F(Streams, UpdateDonatedArgumentsInPlace) {
  Program program(image(counter()));
  TensorRef kept = tensorOf({1, 2, 3, 4});
  EXPECT_EQ(valuesOf(program.run("count", {{"state", kept}})[0]), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(valuesOf(kept), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(Streams, GiveLibrariesTheirValuesOnTheHost) {
  Program program(image(libraryEntry()));
  auto results = program.run("f", {{"x", tensorOf({1, 2, 3, 4})}}, {.supplied = {{"rank", 3}}});
  EXPECT_EQ(valuesOf(results[0]), (std::vector<float>{5, 7, 9, 11}));
}

TEST_F(Streams, NameTheStepThatFails) {
  EntrySpec entry = chain();
  record.failing = "add";
  Program program(image(entry));
  try {
    program.run("chain", {{"x", tensorOf(numbers(0))}});
    FAIL() << "expected an error";
  } catch (const ExecutionError &error) {
    EXPECT_STREQ(error.what(), "'chain' failed at 'add0' (model.cpp:1:1): no such luck");
  }
  record.failing.clear();
  EXPECT_EQ(valuesOf(program.run("chain", {{"x", tensorOf(numbers(0))}})[0]), numbers(chainSteps));
}

TEST_F(Streams, ImagesMayHaveCodeForOneChip) {
  std::string error,
      code = writeImage({"add", 8, 4, "text", "code\n"}) + writeImage({"b", 1, 1, "2"});
  auto images = readImages(code, error);
  ASSERT_TRUE(images) << error;
  ASSERT_EQ(images->size(), 2u);
  EXPECT_EQ((*images)[0].bytes, "text");
  EXPECT_EQ((*images)[0].code, "code\n");
  EXPECT_EQ((*images)[1].bytes, "2");
  EXPECT_EQ((*images)[1].code, "");
}

TEST_F(Streams, RefuseDamagedCode) {
  auto loading = [](const std::string &code) {
    return errorOf<Error>([&] { Program program(image(chain(), code)); });
  };
  EXPECT_EQ(loading(code()), "");
  expectIn("it has no kernel 'add'", loading(writeImage({"small", 1, 1, "2"})));
  expectIn("the image of 'add' is bad", loading(writeImage({"add", 8, 8, "bad"})));
  for (const char *bad :
       {"kernel add 8 8 2\n1", "kernel add 0 8 1\n1", "kernel add 8 0 1\n1", "kernel add 8 8\n",
        "kernel add", "colonel add 8 8 1\n1", "kernel add 8 8 -1\n1", "kernel add 8 8 1 2\n12",
        "kernel add 8 8 1 -1\n1", "kernel add 8 8 1 x\n1", "kernel add 8 8 1 1 1\n123"})
    expectIn("expected a kernel " + std::to_string(std::strlen(bad)) + " bytes before the end",
             loading(bad));
}

TEST_F(Streams, AreSelectedByNumber) {
  EXPECT_EQ(selectDevice("cpu"), nullptr);
  EXPECT_EQ(selectDevice("streams:1"), findDevice("streams"));
  Program program(image(chain()));
  EXPECT_NE(selectDevice("streams:7"), nullptr); // known only when a program is loaded
  expectIn("there are two devices", errorOf<Error>([] { Program program(image(chain())); }));
  for (const char *bad : {"streams:", "streams:-1", "streams:1x", "loom", "loom:0"})
    expectIn("there is no device '" + std::string(bad) + "'; expected one of 'cpu'",
             errorOf<Error>([&] { selectDevice(bad); }));
  selectDevice("streams:0");
}
