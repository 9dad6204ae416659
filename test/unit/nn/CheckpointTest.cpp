//===- CheckpointTest.cpp - trees of tensors in files ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Checkpoint.h"
#include "heddle/Jit.h"
#include "heddle/io/Safetensors.h"
#include "heddle/nn/Optimizers.h"
#include "runtime/memory/MemoryManager.h"
#include "test/unit/Refused.h"
#include "test/unit/builder/Tensors.h"
#include "test/unit/runtime/Faults.h"
#include "test/unit/support/io/Files.h"

#include <csignal>
#include <sys/resource.h>
#include <thread>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name n("n"), in("in"), head("head"), feature("feature"), hidden("hidden");

struct Weights {
  Tensor a, steps, b;
  HEDDLE_FIELDS(a, steps, b)
};
Weights initial() {
  return {Tensor::of<float>({1, -2, 0.5f}, {{n, 3}}), Tensor::of<int64_t>({7}, {}),
          Tensor::of<float>({3}, {})};
}
struct State {
  Weights weights;
  nn::Adam optimizer;
  HEDDLE_FIELDS(weights, optimizer)
};
struct Stack {
  std::vector<Tensor> layers;
  HEDDLE_FIELDS(layers)
};
Stack stackOf(size_t count, int64_t size, float value) {
  Stack stack;
  std::vector<float> values(static_cast<size_t>(size), value);
  for (size_t i = 0; i < count; ++i)
    stack.layers.push_back(tensor(values, {{n, size}}));
  return stack;
}
bool isAll(const Stack &stack, float value) {
  for (const Tensor &layer : stack.layers)
    for (float each : layer.to<float>({n}))
      if (each != value)
        return false;
  return true;
}
} // namespace

/// The message of `save` where no file may have more than 4096 bytes.
template <typename F>
static std::string messageOnAFullDisk(F &&save) {
  rlimit before, small;
  getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 4096;
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message = messageOf(save);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  return message;
}

TEST(Checkpoint, ATreeComesBackToTheBit) {
  TemporaryDirectory directory;
  for (std::string path : {directory / "tree.safetensors", directory / "tree.index.json"}) {
    State state{initial(), {}}, back{initial(), {}};
    state.optimizer = nn::Adam::make(state.weights);
    back.optimizer = nn::Adam::make(back.weights);
    state.weights.a = random({{n, 3}}, 20);
    state.optimizer.square["a"] = state.weights.a * 3.0;
    nn::saveTree(path, state, {{"epoch", "3"}, {"text", "line\nline"}});
    nn::Notes notes = nn::loadTree(path, back);
    EXPECT_EQ(back.weights.a.to<float>({n}), state.weights.a.to<float>({n}));
    EXPECT_EQ(back.optimizer.square["a"].to<float>({n}),
              state.optimizer.square["a"].to<float>({n}));
    EXPECT_EQ(back.weights.steps.item(), 7);
    EXPECT_EQ(notes, (nn::Notes{{"epoch", "3"}, {"text", "line\nline"}}));
  }
}

// Written by an earlier version, without checksums; it must stay readable.
TEST(Checkpoint, AFileInTheTreeStaysLoadable) {
  State state{initial(), {}};
  state.optimizer = nn::Adam::make(state.weights);
  nn::Notes notes = nn::loadTree(HEDDLE_NN_INPUTS "/checkpoint-1.safetensors", state);
  EXPECT_EQ(notes.at("epoch"), "3");
  EXPECT_EQ(state.weights.a.to<float>({n}), (std::vector<float>{1.5, -2.25, 0.125}));
  EXPECT_EQ(state.optimizer.mean["a"].to<float>({n}), (std::vector<float>{0.5, 0.25, -0.5}));
  EXPECT_EQ(state.optimizer.square["b"].item(), 0.0625);
  EXPECT_EQ(state.optimizer.steps.item(), 12);
  EXPECT_EQ(state.weights.steps.item(), 7);
}

TEST(Checkpoint, AllThatDoesNotFitIsListed) {
  TemporaryDirectory directory;
  std::string path = directory / "tree.safetensors";
  std::pair<Weights, Tensor> saved{initial(), zeros({})};
  nn::saveTree(path, saved);
  std::pair<Weights, Stack> other{{zeros({{n, 4}}), Tensor::of<int32_t>({1}, {}), zeros({})},
                                  stackOf(2, 3, 1)};
  refused([&] { nn::loadTree(path, other); },
          {"'" + path + "': does not fit:",
           "the tensor '0.a' is f32 [n: 3], expected !nd.tensor<f32, n: 4>",
           "the tensor '0.steps' is i64 [], expected !nd.tensor<i32>",
           "no tensor '1.layers.0', expected !nd.tensor<f32, n: 3>", "no tensor '1.layers.1'",
           "no tensor is loaded from '1', f32 []"});
  EXPECT_EQ(other.first.a.size(n), 4);
  // Left-over arrays may be ignored.
  nn::loadTree(path, saved.first, {.names = {{"*", "0.*"}}, .ignored = {"1"}});
  refused([&] { nn::loadTree(path, saved.first, {.names = {{"*", "0.*"}}}); },
          {"no tensor is loaded from '1'"});
}

TEST(Checkpoint, AnEmptyTensorIsNamedByItsPath) {
  TemporaryDirectory directory;
  std::string path = directory / "tree.safetensors";
  Weights weights = initial();
  nn::saveTree(path, weights);
  weights.b = {};
  for (auto action : {+[](const std::string &path, Weights &tree) { nn::saveTree(path, tree); },
                      +[](const std::string &path, Weights &tree) { nn::loadTree(path, tree); }})
    refused([&] { action(path, weights); }, {"'" + path + "': the tensor 'b' is empty"});
  Weights back = initial();
  nn::loadTree(path, back); // the file is unchanged
}

TEST(Checkpoint, DamagedFilesLeaveTheTreeAlone) {
  TemporaryDirectory directory;
  std::string path = directory / "tree.safetensors";
  Weights saved = initial();
  nn::saveTree(path, saved);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  expectHas(messageOf([&] { nn::loadTree(path, saved); }), {path});
  directory.write("tree.safetensors", "x");
  expectHas(messageOf([&] { nn::loadTree(path, saved); }), {path});
  expectHas(messageOf([&] { nn::loadTree(directory / "none", saved); }), {"none", "No such file"});
  for (const char *text : {"{}", "[", "{\"weight_map\": {\"a\": 3}}",
                           "{\"weight_map\": {\"a\": \"../tree.safetensors\"}}"}) {
    std::string index = directory.write("tree.index.json", text);
    expectHas(messageOf([&] { nn::loadTree(index, saved); }), {index, "expected"});
  }
  std::string deep =
      directory.write("tree.index.json", "{\"weight_map\": {\"a\": " + std::string(1000000, '['));
  expectHas(messageOf([&] { nn::loadTree(deep, saved); }), {deep, "at most 16 levels"});
  auto unnamed = io::HostArray::of<float>({1, 2}, {2});
  expectHas(messageOf([&] { nn::tensorOf(unnamed); }), {"have names", "f32 [2]"});
  std::map<std::string, std::map<std::string, Tensor>> twice{{"a", {{"b.c", zeros({})}}},
                                                             {"a.b", {{"c", zeros({})}}}};
  refused([&] { nn::saveTree("unwritten", twice); }, {"two tensors have the name 'a.b.c'"});
}

TEST(Checkpoint, AFlippedBitIsNamedAndLeavesTheTreeAlone) {
  TemporaryDirectory directory;
  for (std::string name : {"tree.safetensors", "tree.index.json"}) {
    std::string path = directory / name;
    Weights saved = initial(), tree{zeros({{n, 3}}), Tensor::of<int64_t>({1}, {}), zeros({})};
    nn::saveTree(path, saved);
    if (name == "tree.index.json")
      name = "tree-1-00001-of-00001.safetensors";
    std::string bytes = contentsOf(directory / name);
    bytes.back() = char(bytes.back() ^ 1);
    directory.write(name, bytes);
    expectHas(messageOf([&] { nn::loadTree(path, tree); }),
              {"CheckpointTest.cpp:", "'" + directory / name,
               "array 'b' is damaged: expected the checksum ", ", got "});
    EXPECT_EQ(tree.steps.item(), 1);
    EXPECT_TRUE(contentsOf(directory / name) == bytes);
  }
}

TEST(Checkpoint, PlacesAreThoseOfTheUser) {
  TemporaryDirectory directory;
  Weights state = initial(), copy = state;
  jit([](Weights &w) { return w.a = w.a * 2.0; })(state);
  expectHas(messageOf([&] { nn::saveTree(directory / "tree.safetensors", copy); }),
            {"CheckpointTest.cpp", "was donated"});
  EXPECT_EQ(directory.entries(), 0u);
  std::string none = directory / "none/a";
  int line = __LINE__ + 1;
  std::string text = messageOf([&] { nn::loadTree(none, state); });
  expectHas(text, {"CheckpointTest.cpp:" + std::to_string(line),
                   "'" + none + "': can't open: No such file"});
  expectHas(messageOf([&] { nn::saveTree(none, state); }),
            {"CheckpointTest.cpp:", "can't write '" + none + "'"});
}

TEST(Checkpoint, AFileThatMayNotGrowLeavesTheOldOne) {
  TemporaryDirectory directory;
  std::string path = directory / "tree.safetensors";
  Weights old = initial();
  nn::saveTree(path, old);
  Tensor large = zeros({{n, 100000}});
  (void)large.to<float>({n});
  std::string message = messageOnAFullDisk([&] { nn::saveTree(path, large); });
  expectHas(message, {path, "File too large"});
  Weights back = initial();
  nn::loadTree(path, back);
  EXPECT_EQ(back.a.to<float>({n}), old.a.to<float>({n}));
  EXPECT_EQ(directory.entries(), 1u);
}

//===----------------------------------------------------------------------===//
// Several files, several writers
//===----------------------------------------------------------------------===//

TEST(Checkpoint, SeveralFilesAreReplacedTogether) {
  TemporaryDirectory directory;
  std::string path = directory / "net.safetensors.index.json";
  Stack one = stackOf(5, 100, 1), two = stackOf(5, 100, 2), back = stackOf(5, 100, 0);
  nn::saveTree(path, one, {}, {.bytesPerFile = 1000}); // two tensors in a file
  EXPECT_EQ(directory.entries(), 4u);
  EXPECT_TRUE(std::filesystem::exists(directory / "net-1-00003-of-00003.safetensors"));
  nn::loadTree(path, back);
  EXPECT_TRUE(isAll(back, 1));
  nn::saveTree(path, two, {}, {.bytesPerFile = 1}); // one in each
  EXPECT_EQ(directory.entries(), 6u);
  nn::loadTree(path, back);
  EXPECT_TRUE(isAll(back, 2));
  // The error names a removed file.
  std::filesystem::remove(directory / "net-2-00002-of-00005.safetensors");
  expectHas(messageOf([&] { nn::loadTree(path, back); }), {"net-2-00002", "No such file"});
}

TEST(Checkpoint, AFailureLeavesTheOldFiles) {
  TemporaryDirectory directory;
  std::string path = directory / "net.index.json";
  Stack old = stackOf(3, 100, 1), large = stackOf(3, 100000, 2);
  nn::saveTree(path, old, {}, {.bytesPerFile = 1});
  std::string message = messageOnAFullDisk([&] { nn::saveTree(path, large); });
  expectHas(message, {"net-2-00001-of-00001.safetensors", "File too large"});
  Stack back = stackOf(3, 100, 0);
  nn::loadTree(path, back);
  EXPECT_TRUE(isAll(back, 1));
  EXPECT_EQ(directory.entries(), 4u);
}

TEST(Checkpoint, TwoWritersLeaveOneOfTheirs) {
  for (const char *name : {"net.safetensors", "net.index.json"}) {
    TemporaryDirectory directory;
    std::string path = directory / name;
    Stack first = stackOf(4, 1000, 0);
    nn::saveTree(path, first, {}, {.bytesPerFile = 1});
    auto write = [&](float value) {
      Stack own = stackOf(4, 1000, value);
      for (int i = 0; i < 20; ++i)
        nn::saveTree(path, own, {}, {.bytesPerFile = 1});
    };
    std::thread one(write, 1), two(write, 2);
    for (int i = 0; i < 20; ++i) { // a reader meanwhile sees one or the other
      Stack back = stackOf(4, 1000, 9);
      nn::loadTree(path, back);
      EXPECT_TRUE(isAll(back, 0) || isAll(back, 1) || isAll(back, 2));
    }
    one.join();
    two.join();
    EXPECT_EQ(directory.entries(), path.ends_with(".json") ? 5u : 1u);
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// Counts what tensors take.
struct CountingManager : SystemManager {
  int64_t obtained = 0;
  void *obtain(int64_t bytes, int64_t alignment) override {
    obtained += bytes;
    return SystemManager::obtain(bytes, alignment);
  }
};
} // namespace

// Resident memory is no measure, since the system may reclaim pages.
TEST(Checkpoint, OneTensorAtATimeIsInMemory) {
  TemporaryDirectory directory;
  constexpr int64_t size = 1 << 18, bytes = 4 * size;
  for (const char *name : {"net.safetensors", "net.index.json"}) {
    std::string path = directory / name;
    Stack state = stackOf(16, size, 1);
    auto manager = std::make_shared<CountingManager>();
    setDefaultMemoryManager(manager);
    mostHeldBytes = heldBytes.load();
    int64_t before = heldBytes;
    nn::saveTree(path, state);
    EXPECT_EQ(manager->obtained, 0);
    EXPECT_GE(mostHeldBytes - before, bytes);
    EXPECT_LT(mostHeldBytes - before, 2 * bytes);
    mostHeldBytes = heldBytes.load();
    nn::loadTree(path, state);
    EXPECT_EQ(manager->obtained, 16 * bytes); // beside the old tensors, until all are loaded
    EXPECT_LT(mostHeldBytes - before, 2 * bytes);
    setDefaultMemoryManager(nullptr);
  }
}

//===----------------------------------------------------------------------===//
// Files of other programs
//===----------------------------------------------------------------------===//

namespace {
struct Attention {
  Tensor query, bias;
  HEDDLE_FIELDS(query, bias)
};
struct Recurrent {
  std::array<Tensor, 2> gates;
  HEDDLE_FIELDS(gates)
};
struct Foreign {
  std::vector<Attention> layers;
  Recurrent cell;
  HEDDLE_FIELDS(layers, cell)
};
Foreign foreign() {
  Foreign net;
  for (int i = 0; i < 2; ++i)
    net.layers.push_back(
        {zeros({{head, 2}, {feature, 3}, {in, 4}}), zeros({{head, 2}, {feature, 3}})});
  for (Tensor &gate : net.cell.gates)
    gate = zeros({{hidden, 3}, {in, 2}});
  return net;
}
io::HostArray ramp(std::vector<int64_t> shape, float first) {
  auto array = io::HostArray::zeros(ElementType::F32, shape);
  for (float &value : array.values<float>())
    value = first++;
  return array;
}
} // namespace

TEST(Checkpoint, NamesAndAxesOfAnotherProgram) {
  TemporaryDirectory directory;
  std::string path = directory / "model.safetensors";
  io::Safetensors file; // as PyTorch writes: [out, in], without names
  for (int i = 0; i < 2; ++i) {
    std::string stem = "encoder.layer." + std::to_string(i) + ".attention.self.query.";
    file.arrays[stem + "weight"] = ramp({6, 4}, float(100 * i));
    file.arrays[stem + "bias"] = ramp({6}, float(1000 * i));
  }
  file.arrays["rnn.weight_ih_l0"] = ramp({6, 2}, 0); // two gates, one after the other
  file.arrays["embeddings.position_ids"] = ramp({5}, 0);
  io::writeSafetensors(path, file);
  Foreign net = foreign();
  nn::LoadOptions options{
      .names = {{"layers.*.query",
                 "encoder.layer.*.attention.self.query.weight",
                 {"head feature", "in"}},
                {"layers.*.bias", "encoder.layer.*.attention.self.query.bias", {"head feature"}},
                {"cell.gates.0", "rnn.weight_ih_l0", {"gate=0 hidden", "in"}},
                {"cell.gates.1", "rnn.weight_ih_l0", {"gate=1 hidden", "in"}}},
      .ignored = {"*.position_ids"}};
  nn::loadTree(path, net, options);
  // query[head 1, feature 2, in 3] is row 5, column 3.
  EXPECT_EQ(net.layers[1].query.to<float>({head, feature, in})[23], 123);
  // in 1, feature 0, head 1: row 3, column 1.
  EXPECT_EQ(net.layers[1].query.to<float>({in, feature, head})[1 * 6 + 0 * 2 + 1], 113);
  EXPECT_EQ(net.layers[0].bias.to<float>({feature, head}), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(net.cell.gates[1].to<float>({hidden, in}), (std::vector<float>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(net.cell.gates[0].to<float>({in, hidden}), (std::vector<float>{0, 2, 4, 1, 3, 5}));

  // The message lists each tensor that does not fit.
  options.names[0].axes = {"head feature"};
  options.names[1].axes = {"head in"};
  options.names[2].axes = {"gate=2 hidden", "in"};
  options.names[3].path = "cell.other";
  refused(
      [&] { nn::loadTree(path, net, options); },
      {"the tensor 'encoder.layer.1.attention.self.query.weight' is f32 [6, 4], expected "
       "!nd.tensor<f32, feature: 3, head: 2, in: 4> for 'layers.1.query'; its 2 axes have 1 names",
       "'layers.0.bias'; the axis 'head in' of size 6 does not fit",
       "'cell.gates.0'; the axis 'gate=2 hidden' of size 6 does not fit",
       "no name in the map for 'cell.gates.1', !nd.tensor<f32, hidden: 3, in: 2>"});
  for (const char *part : {"gate=x hidden", "gate=1z hidden", "gate= hidden"}) {
    options.names[2].axes = {part, "in"};
    refused([&] { nn::loadTree(path, net, options); },
            {"'cell.gates.0'", ("the axis '" + std::string(part) + "'").c_str()});
  }
}

TEST(Checkpoint, FloatsAreConvertedIfTheCallerWants) {
  TemporaryDirectory directory;
  std::string path = directory / "half.safetensors";
  Tensor half = Tensor::of<float>({1, 0.5f, -3}, {{n, 3}}).cast(ElementType::BF16);
  nn::saveTree(path, half);
  Tensor back = Tensor::of<float>({0, 0, 0}, {{n, 3}});
  refused([&] { nn::loadTree(path, back); }, {"bf16 [n: 3], expected !nd.tensor<f32, n: 3>"});
  nn::loadTree(path, back, {.convert = true});
  EXPECT_EQ(back.to<float>({n}), (std::vector<float>{1, 0.5f, -3}));
}
