//===- CInterfaceTest.cpp - the runtime from C and through it -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/runtime.h"
#include "test/unit/runtime/Programs.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

using namespace heddle;

namespace {
class CInterface : public testing::Test {
protected:
  std::string path = testing::TempDir() + "heddle-c-" + std::to_string(getpid()) + ".heddle";
  void SetUp() override { scaleImage().write(path); }
  void TearDown() override {
    std::filesystem::remove(path);
    heddle_set_memory_manager(nullptr);
  }
};

const char *const nameI[] = {"i"};
const int64_t sizeFour[] = {4};
} // namespace

static void expectError(const char *part) { expectIn(part, heddle_last_error()); }

TEST_F(CInterface, DescribesAProgram) {
  heddle_program *program = heddle_program_load(path.c_str());
  ASSERT_NE(program, nullptr) << heddle_last_error();
  ASSERT_EQ(heddle_program_entry_count(program), 1u);
  const heddle_entry *entry = heddle_program_entry(program, 0);
  EXPECT_EQ(entry, heddle_program_find(program, "scale"));
  EXPECT_STREQ(heddle_entry_name(entry), "scale");
  ASSERT_EQ(heddle_entry_argument_count(entry), 1u);
  ASSERT_EQ(heddle_entry_result_count(entry), 1u);
  const heddle_value *y = heddle_entry_result(entry, 0);
  EXPECT_STREQ(heddle_value_name(y), "y");
  EXPECT_EQ(heddle_value_element(y), HEDDLE_F32);
  ASSERT_EQ(heddle_value_rank(y), 1u);
  EXPECT_STREQ(heddle_value_dim_name(y, 0), "i");
  EXPECT_EQ(heddle_value_dim_size(y, 0), 4);
  EXPECT_STREQ(heddle_value_dim_text(y, 0), "4");
  EXPECT_STREQ(heddle_value_layout(y), "[i], align 128");
  heddle_memory_needs needs;
  ASSERT_EQ(heddle_entry_memory(entry, &needs), HEDDLE_OK);
  EXPECT_EQ(needs.arguments, 16);
  EXPECT_EQ(needs.results, 16);
  EXPECT_EQ(needs.constants, 4);
  EXPECT_EQ(needs.arena, 0);
  expectIn("\"scale\"", heddle_program_manifest(program));
  heddle_program_free(program);
}

#if defined(__x86_64__)
TEST_F(CInterface, RunsAProgramThatIsFreedMeanwhile) {
  heddle_program *program = heddle_program_load(path.c_str());
  heddle_call_options options = {1, 0};
  heddle_call *call = heddle_call_create(program, "scale", &options);
  ASSERT_NE(call, nullptr) << heddle_last_error();
  heddle_program_free(program);
  heddle_tensor *x = heddle_tensor_create(HEDDLE_F32, 1, nameI, sizeFour, nullptr);
  float input[4] = {1, 2, 3, 4}, output[4] = {};
  ASSERT_EQ(heddle_tensor_copy_from(x, input, nameI, 1), HEDDLE_OK) << heddle_last_error();
  ASSERT_EQ(heddle_call_bind(call, "x", x, 0), HEDDLE_OK) << heddle_last_error();
  heddle_tensor_free(x);
  ASSERT_EQ(heddle_call_run(call), HEDDLE_OK) << heddle_last_error();
  heddle_tensor *y = heddle_call_result(call, "y");
  heddle_call_free(call);
  ASSERT_EQ(heddle_tensor_copy_to(y, output, nameI, 1), HEDDLE_OK) << heddle_last_error();
  EXPECT_EQ(output[3], 10);
  EXPECT_EQ(heddle_tensor_count(y), 4);
  EXPECT_STREQ(heddle_tensor_layout(y), "[i], align 128");
  heddle_tensor_free(y);
}

TEST_F(CInterface, ViewsAreReadWhereTheyLie) {
  heddle::runtime::Program program(path);
  alignas(64) float memory[5] = {1, 2, 3, 4, 5};
  for (int shift : {0, 1}) { // the second is not aligned and copied at every run
    heddle::runtime::Call call(program, "scale", {.threads = 1});
    auto before = heddle::runtime::memoryNow().allocations;
    call.bind("x", heddle::runtime::Tensor::view(ElementType::F32, {{"i", 4}}, memory + shift));
    call.run();
    EXPECT_EQ(heddle::runtime::memoryNow().allocations - before, 1 + shift);
    EXPECT_EQ(call.result("y").to<float>({"i"})[0], 2.5f * memory[shift]);
    memory[shift] = 7;
    call.run();
    EXPECT_EQ(call.result("y").to<float>({"i"})[0], 17.5f);
  }
}

TEST_F(CInterface, TheFaceForCxx) {
  using namespace heddle::runtime;
  heddle::runtime::Program program(path);
  EXPECT_EQ(program.entries(), std::vector<std::string>{"scale"});
  Value x = program.arguments("scale").at(0);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.element, ElementType::F32);
  EXPECT_EQ(x.dims, (std::vector<Dim>{{"i", 4}}));
  auto results = program.run("scale", {{"x", Tensor::of<float>({1, 2, 3, 4}, {{"i", 4}})}});
  EXPECT_EQ(results.at("y").to<float>({"i"}), (std::vector<float>{2.5, 5, 7.5, 10}));
  EXPECT_EQ(results.at("y").dims(), (std::vector<Dim>{{"i", 4}}));
  EXPECT_EQ(program.memory("scale").live, 0);
  expectIn("expected 4 values, got 2 for the tensor f32 {i: 4}",
           errorOf<Error>([&] { Tensor::of<float>({1, 2}, {{"i", 4}}); }));
  expectIn("expected elements of type f32, as the tensor f32 {i: 4} has, got i32",
           errorOf<Error>([&] { results.at("y").to<int>({"i"}); }));
  expectIn("no entry 'stretch'", errorOf<Error>([&] { program.run("stretch", {}); }));
  expectIn("can't open", errorOf<Error>([&] { heddle::runtime::Program("/nowhere.heddle"); }));
}
#endif

TEST_F(CInterface, MistakesAreStatusesWithMessages) {
  EXPECT_EQ(heddle_program_load(nullptr), nullptr);
  expectError("expected a path, got NULL");
  EXPECT_EQ(heddle_program_load("/nowhere.heddle"), nullptr);
  expectError("can't open '/nowhere.heddle'");
  heddle_program *program = heddle_program_load(path.c_str());
  EXPECT_EQ(heddle_program_entry(program, 1), nullptr);
  expectError("expected the number of an entry below 1, got 1");
  EXPECT_EQ(heddle_program_find(program, "x"), nullptr);
  expectError("no entry 'x'; it has: 'scale'");
  EXPECT_EQ(heddle_call_create(program, "y", nullptr), nullptr);
  expectError("no entry 'y'");
  EXPECT_EQ(heddle_call_create(nullptr, "y", nullptr), nullptr);
  expectError("expected a program, got NULL");

  const char *const bad[] = {"not a name"}, *const twice[] = {"i", "i"};
  const int64_t negative[] = {-4, 4};
  EXPECT_EQ(heddle_tensor_create(99, 1, nameI, sizeFour, nullptr), nullptr);
  expectError("expected an element type, got the number 99");
  EXPECT_EQ(heddle_tensor_create(HEDDLE_F32, 1, bad, sizeFour, nullptr), nullptr);
  expectError("got 'not a name'");
  EXPECT_EQ(heddle_tensor_create(HEDDLE_F32, 2, twice, negative, nullptr), nullptr);
  expectError("expected each name once, but 'i' occurs twice");
  EXPECT_EQ(heddle_tensor_create(HEDDLE_F32, 1, nameI, negative, nullptr), nullptr);
  expectError("size of 'i', got -4");
  EXPECT_EQ(heddle_tensor_create(HEDDLE_F32, 1, nameI, sizeFour, "[i"), nullptr);
  expectError("malformed layout: expected ']' at column 3 of the layout, got its end");
  EXPECT_EQ(heddle_tensor_view(HEDDLE_F32, 1, nameI, sizeFour, nullptr), nullptr);
  expectError("expected memory for a tensor of type f32 {i: 4}, got none");
  EXPECT_EQ(heddle_tensor_create(HEDDLE_F32, 1, nullptr, nullptr, nullptr), nullptr);
  expectError("got NULL");

  heddle_call *call = heddle_call_create(program, "scale", nullptr);
  EXPECT_EQ(heddle_call_run(call), HEDDLE_ERROR);
  expectError("'scale' lacks its argument 'x'");
  EXPECT_EQ(heddle_call_bind(call, "x", nullptr, 0), HEDDLE_ERROR);
  expectError("expected a tensor, got NULL");
  heddle_tensor *halves = heddle_tensor_create(HEDDLE_F16, 1, nameI, sizeFour, nullptr);
  EXPECT_EQ(heddle_call_bind(call, "x", halves, 0), HEDDLE_ERROR);
  expectError("the argument 'x' of 'scale' should be f32 {i: 4}, got f16 {i: 4}");
  EXPECT_EQ(heddle_call_result(call, "z"), nullptr);
  expectError("has no result 'z'; it gives 'y'");
  EXPECT_EQ(heddle_tensor_copy_from(halves, sizeFour, twice, 2), HEDDLE_ERROR);
  expectError("expected an order that lists each name of f16 {i: 4} once, got [i, i]");
  EXPECT_EQ(heddle_tensor_copy_from(halves, nullptr, nameI, 1), HEDDLE_ERROR);
  expectError("expected memory for the elements, got NULL");
  EXPECT_EQ(heddle_tensor_copy_to(halves, nullptr, nameI, 1), HEDDLE_ERROR);
  expectError("expected memory for the elements, got NULL");
  for (int32_t threads : {-7, 1000000}) {
    heddle_call_options options = {};
    options.threads = threads;
    EXPECT_EQ(heddle_call_create(program, "scale", &options), nullptr);
    expectError(("expected 0 to 1024 threads, got " + std::to_string(threads)).c_str());
  }
  EXPECT_EQ(heddle_tensor_copy_from(halves, sizeFour, twice, 2), HEDDLE_ERROR);
  // Messages are thread-local.
  std::thread([] { EXPECT_STREQ(heddle_last_error(), ""); }).join();
  expectError("got [i, i]");
  heddle_tensor_free(halves);
  heddle_call_free(call);
  heddle_program_free(program);
  heddle_call_free(nullptr);
  heddle_tensor_free(nullptr);
  heddle_program_free(nullptr);
}

TEST_F(CInterface, MemoryOfTheCallers) {
  struct User {
    int64_t live = 0;
    std::vector<std::string> names;
  } user;
  heddle_memory_manager manager = {&user,
                                   [](void *user, int64_t bytes, int64_t alignment) -> void * {
                                     if (bytes > 1 << 20)
                                       return nullptr;
                                     static_cast<User *>(user)->live += bytes;
                                     alignment = std::max<int64_t>(alignment, 8);
                                     return std::aligned_alloc(
                                         size_t(alignment),
                                         size_t((bytes + alignment - 1) / alignment * alignment));
                                   },
                                   [](void *user, void *address, int64_t bytes) {
                                     static_cast<User *>(user)->live -= bytes;
                                     std::free(address);
                                   }};
  ASSERT_EQ(heddle_set_memory_manager(&manager), HEDDLE_OK);
  heddle_set_memory_listener(
      [](void *user, const heddle_memory_event *event) {
        static_cast<User *>(user)->names.push_back((event->freed ? "-" : "+") +
                                                   std::string(event->name));
      },
      &user);
  heddle_program *program = heddle_program_load(path.c_str());
  heddle_call *call = heddle_call_create(program, "scale", nullptr);
  heddle_tensor *x = heddle_tensor_create(HEDDLE_F32, 1, nameI, sizeFour, nullptr);
  EXPECT_EQ(user.live, 16);
  heddle_call_bind(call, "x", x, 0);
#if defined(__x86_64__)
  EXPECT_EQ(heddle_call_run(call), HEDDLE_OK) << heddle_last_error();
  EXPECT_EQ(user.names.at(1), "+y");
  EXPECT_EQ(user.live, 32);
#endif
  heddle_call_free(call);
  heddle_tensor_free(x);
  EXPECT_EQ(user.live, 0);
  const int64_t large[] = {1 << 20};
  EXPECT_EQ(heddle_tensor_create(HEDDLE_F32, 1, nameI, large, nullptr), nullptr);
  expectError("out of memory: 4194304 bytes");
  heddle_program_free(program);
  heddle_memory_manager incomplete = {};
  EXPECT_EQ(heddle_set_memory_manager(&incomplete), HEDDLE_ERROR);
  expectError("expected a memory manager with the functions 'allocate' and 'release'");
}
