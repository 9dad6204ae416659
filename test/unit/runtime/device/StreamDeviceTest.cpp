//===- StreamDeviceTest.cpp - programs on a driver of the test ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/LibraryEntry.h"

#include "heddle/Error.h"
#include "runtime/device/StreamDevice.h"

#include <set>

using namespace heddle;

namespace {
using Buffer = std::vector<char>;

/// Records the calls of the test's driver.
struct Record {
  std::set<void *> buffers, images;
  int uploads = 0, downloads = 0;
  std::vector<std::pair<int64_t, int64_t>> launches; ///< first chunk, end
  std::string failing;                               ///< the kernel whose launch fails
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
}

class HostDriver : public Driver {
public:
  Driver::Buffer allocate(int64_t bytes) override {
    if (bytes > int64_t(1) << 40)
      throw Error("too much");
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
    for (int64_t chunk = 0; chunk < blocks * kernel->chunks; ++chunk)
      runChunk(kernel->symbol, chunk, arguments);
  }
  void finish() override {}

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

  /// y = x + 1 + 1 + ..., each sum by a kernel (Programs.h).
  static EntrySpec chain() {
    EntrySpec entry = chainEntry();
    for (int s = 0; s < chainSteps; ++s) {
      entry.steps[size_t(s)].chunks = chainSize;
      entry.steps[size_t(s)].values = {s == 0 ? 0 : s + 1, s + 1 == chainSteps ? 1 : s + 2};
    }
    return entry;
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
  EXPECT_EQ(record.uploads, 2); // only the argument
  EXPECT_EQ(record.downloads, 2);
  auto managed = program.run("chain", {{"x", tensorOf(numbers(0))}}, {.managed = true});
  EXPECT_EQ(valuesOf(managed[0]), numbers(chainSteps));
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

// while (x < 3) x = x + 1, in place: the loop's state is a temporary.
TEST_F(Streams, FollowBranchesAndLoops) {
  using Kind = ValueSpec::Kind;
  EntrySpec entry;
  entry.name = "f";
  entry.values = {value(Kind::Argument, "x", floats({{"i", 1}}), "[i]"),
                  value(Kind::Result, "y", floats({{"i", 1}}), "[i]"),
                  value(Kind::Temporary, "less", {ElementType::I1, {}}, "[]", 0, 8),
                  value(Kind::Temporary, "more", floats({{"i", 1}}), "[i]", 2, 6)};
  entry.values[2].offset = 0;
  entry.values[3].offset = 64;
  entry.arenaBytes = 128;
  auto add = [&](StepKind kind, const char *kernel, std::vector<int32_t> values) {
    StepSpec &step = entry.steps.emplace_back();
    step.name = "step " + std::to_string(entry.steps.size() - 1);
    step.kind = kind;
    step.kernel = kernel;
    step.values = std::move(values);
  };
  add(StepKind::Copy, "", {1, 0});
  add(StepKind::Kernel, "small", {1, 2});
  add(StepKind::Loop, "", {2});
  add(StepKind::Kernel, "add", {1, 3});
  add(StepKind::Kernel, "small", {3, 2});
  add(StepKind::Copy, "", {1, 3});
  add(StepKind::EndLoop, "", {});
  add(StepKind::If, "", {2});
  add(StepKind::Else, "", {});
  add(StepKind::EndIf, "", {});
  entry.arguments = {0};
  entry.results = {1};
  Program program(image(entry));
  EXPECT_EQ(valuesOf(program.run("f", {{"x", tensorOf({0.5f})}})[0]), std::vector<float>{3.5f});
  EXPECT_EQ(valuesOf(program.run("f", {{"x", tensorOf({7})}})[0]), std::vector<float>{7});
}

TEST_F(Streams, UpdateDonatedArgumentsInPlace) {
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
  Program program(image(entry));
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

TEST_F(Streams, RefuseDamagedCode) {
  auto loading = [](const std::string &code) {
    return errorOf<Error>([&] { Program program(image(chain(), code)); });
  };
  EXPECT_EQ(loading(code()), "");
  expectIn("it has no kernel 'add'", loading(writeImage({"small", 1, 1, "2"})));
  expectIn("the image of 'add' is bad", loading(writeImage({"add", 8, 8, "bad"})));
  for (const char *bad :
       {"kernel add 8 8 2\n1", "kernel add 0 8 1\n1", "kernel add 8 0 1\n1", "kernel add 8 8\n",
        "kernel add", "colonel add 8 8 1\n1", "kernel add 8 8 -1\n1"})
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
