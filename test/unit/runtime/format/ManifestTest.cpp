//===- ManifestTest.cpp - manifests that are wrong ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/LibraryEntry.h"
#include "test/unit/runtime/Random.h"

#include "heddle/Error.h"
#include "runtime/program/SizedEntry.h"

#include <nlohmann/json.hpp>

using namespace heddle;

static std::string loadError(const std::function<void(ProgramImage &)> &change) {
  ProgramImage image = scaleImage();
  change(image);
  return errorOf<Error>([&] { Program program(std::move(image)); });
}

TEST(Manifest, ProgramsForOtherMachinesAreRefused) {
  EXPECT_EQ(loadError([](ProgramImage &) {}), "");
  expectIn("version 1 of the runtime's interface, expected version 2",
           loadError([](ProgramImage &image) { image.manifest.abiVersion = 1; }));
  expectIn("version 99 of the runtime's interface, expected version 2",
           loadError([](ProgramImage &image) { image.manifest.abiVersion = 99; }));
  expectIn("compiled for 'riscv64-unknown-linux-gnu'", loadError([](ProgramImage &image) {
             image.manifest.target = "riscv64-unknown-linux-gnu";
           }));
  expectIn("compiled for 'null': this machine is '",
           loadError([](ProgramImage &image) { image.manifest.target = "null"; }));
  expectIn("no library that is loaded runs programs of 'null'",
           loadError([](ProgramImage &image) { image.manifest.target = "null"; }));
#if defined(__x86_64__)
  // No CPU has the extensions of both vendors.
  std::string message = loadError([](ProgramImage &image) {
    image.manifest.cpu = "bdver4";
    image.manifest.features = {"xop", "fma4", "amx-tile", "sse3"};
  });
  expectIn("compiled for the CPU 'bdver4' and needs what this CPU lacks: ", message);
#endif
}

TEST(Manifest, MemoriesAreThoseOfArgumentsAndResults) {
  auto with = [](size_t value, const char *memory, const char *space = "host") {
    ProgramImage image = scaleImage();
    image.manifest.entries[0].values[value].memory = memory;
    image.manifest.entries[0].values[value].space = space;
    std::string error;
    auto again = Manifest::fromJson(image.manifest.toJson(), error);
    EXPECT_EQ(again->entries[0].values[value].memory, memory);
    return again->verify(int64_t(image.code.size()), int64_t(image.constants.size()));
  };
  EXPECT_EQ(with(0, "file"), "");
  EXPECT_EQ(with(1, "file"), "");
  EXPECT_EQ(with(0, ""), "");
  expectIn("its value 'x' is in the memory 'disk', expected arguments and results of the host in "
           "'file'",
           with(0, "disk"));
  expectIn("its value 'c' is in the memory 'file'", with(2, "file"));
  expectIn("its value 'x' is in the memory 'file'", with(0, "file", "device"));
}

/// Adds a truth value, and gives its number.
static int32_t addTruth(EntrySpec &entry) {
  entry.values.push_back(value(ValueSpec::Kind::Temporary, "truth", {ElementType::I1, {}}, "[]", 0,
                               int32_t(entry.steps.size()) - 1));
  entry.values.back().offset = 32;
  entry.arenaBytes = 64;
  return int32_t(entry.values.size()) - 1;
}

TEST(Manifest, InconsistenciesAreRefused) {
  using Change = std::function<void(EntrySpec &)>;
  std::pair<const char *, Change> changes[] = {
      {"outside of the program's code", [](EntrySpec &e) { e.codeOffset = 1000; }},
      {"outside of the program's code", [](EntrySpec &e) { e.codeOffset = -1; }},
      {"'c' is outside of the program's constants", [](EntrySpec &e) { e.values[2].offset = 66; }},
      {"'c' is outside of the program's constants",
       [](EntrySpec &e) { e.values[2].offset = INT64_MAX; }},
      {"should take 16 bytes, got 8", [](EntrySpec &e) { e.values[0].bytes = Expr(8); }},
      {"the layout lacks 'i'", [](EntrySpec &e) { e.values[0].layout = Layout(); }},
      {"has the size -4 for 'i'", [](EntrySpec &e) { e.values[0].type.dims["i"] = Expr(-4); }},
      {"its argument 7", [](EntrySpec &e) { e.arguments = {7}; }},
      {"its argument 1", [](EntrySpec &e) { e.arguments = {1}; }},
      {"its argument 0", [](EntrySpec &e) { e.arguments = {0, 0}; }},
      {"its result -1", [](EntrySpec &e) { e.results = {-1}; }},
      {"takes the memory of one that does not exist",
       [](EntrySpec &e) { e.values[1].aliasOf = 9; }},
      {"takes the memory of one that does not exist",
       [](EntrySpec &e) {
         e.values[0].aliasOf = 1;
         e.values[1].aliasOf = 0;
       }},
      {"'t' is outside of the arena",
       [](EntrySpec &e) {
         e.values.push_back(value(ValueSpec::Kind::Temporary, "t", floats({{"i", 4}}), "[i]"));
         e.values[3].offset = 0;
       }},
      {"'t' lives beyond the program's steps",
       [](EntrySpec &e) {
         e.values.push_back(
             value(ValueSpec::Kind::Temporary, "t", floats({{"i", 4}}), "[i]", 0, 5));
         e.values[3].offset = 0;
         e.arenaBytes = 64;
       }},
      {"its donation of argument 0 to result 3", [](EntrySpec &e) { e.donations = {{0, 3}}; }},
      {"another type or layout", [](EntrySpec &e) { e.donations = {{0, 0}}; }},
      {"negative size", [](EntrySpec &e) { e.scratchBytes = -1; }},
      {"its step 0 uses the value 3", [](EntrySpec &e) { e.steps[0].values = {0, 3}; }},
      {"its step 0 uses the value -1", [](EntrySpec &e) { e.steps[0].values = {-1}; }},
      {"its step 0 uses a number", [](EntrySpec &e) { e.steps[0].numbers = {0}; }},
      {"its step 0 uses a number", [](EntrySpec &e) { e.steps[0].chunksAt = 0; }},
      {"its step 0 uses a number", [](EntrySpec &e) { e.steps[0].chunks = -1; }},
      {"its step 0 should read one truth value, got 0 values",
       [](EntrySpec &e) { e.steps[0].kind = StepKind::If; }},
      {"its step 0 ends a branch or loop that does not begin",
       [](EntrySpec &e) { e.steps[0].kind = StepKind::EndLoop; }},
      {"its step 1 ends a branch or loop that does not begin",
       [](EntrySpec &e) {
         e.steps = {e.steps[0], e.steps[0]};
         e.steps[0].kind = StepKind::If, e.steps[0].values = {addTruth(e)};
         e.steps[1].kind = StepKind::EndIf; // without Else
       }},
      {"a branch or loop among its steps has no end",
       [](EntrySpec &e) { e.steps[0].kind = StepKind::Loop, e.steps[0].values = {addTruth(e)}; }},
      {"its step 0 should read one truth value, got f32 {i: 4} of 'x'",
       [](EntrySpec &e) { e.steps[0].kind = StepKind::If, e.steps[0].values = {0}; }},
      {"its value 'x' is an argument that is not in the list",
       [](EntrySpec &e) { e.arguments = {}; }},
      {"its value 'y' is a result that is not in the list", [](EntrySpec &e) { e.results = {}; }},
      {"its step 1 uses 'truth', which lives from step 0 to 0",
       [](EntrySpec &e) {
         int32_t truth = addTruth(e);
         e.steps = {e.steps[0], e.steps[0]};
         e.steps[1].values = {truth};
       }},
      {"its value 'late' lives from step 0, but its memory, of 'truth', from step 1",
       [](EntrySpec &e) {
         e.steps = {e.steps[0], e.steps[0]};
         int32_t truth = addTruth(e);
         e.values.push_back(e.values.back());
         e.values.back().name = "late", e.values.back().aliasOf = truth;
         e.values[size_t(truth)].firstStep = 1;
       }},
      {"its value 'y' takes the memory of the argument 'x', which is not donated",
       [](EntrySpec &e) { e.values[1].aliasOf = 0; }},
      {"its donation of 'x' to 'y' has no effect: the result has other memory",
       [](EntrySpec &e) {
         e.values[1].layout = e.values[0].layout;
         e.donations = {{0, 0}};
       }},
      {"its caller should supply 'rank', which is no size symbol",
       [](EntrySpec &e) { e.supplied = {"rank"}; }},
      {"its step 0 should use values in the memory space 'host', got 'truth' in 'vault'",
       [](EntrySpec &e) {
         e.steps[0].kind = StepKind::If, e.steps[0].values = {addTruth(e)};
         e.values.back().space = "vault";
       }},
      {"its step 0 should use values in the memory space 'host', got 'y' in 'vault'",
       [](EntrySpec &e) {
         e.steps[0].kind = StepKind::Invoke, e.steps[0].values = {0, 1};
         e.values[1].space = "vault";
       }},
      {"'y' in the memory space 'host' takes the memory of one in 'vault'",
       [](EntrySpec &e) { e.values[0].space = "vault", e.values[1].aliasOf = 0; }},
      {"its result 'x' in the memory space 'vault' would have to be copied by the host",
       [](EntrySpec &e) { e.values[0].space = "vault", e.results = {0}; }},
      {"its result 'y' in the memory space 'vault' would have to be copied by the host",
       [](EntrySpec &e) { e.values[1].space = "vault", e.results = {1, 1}; }},
      {"its step 0 should copy one value into another, got 0 values",
       [](EntrySpec &e) { e.steps[0].kind = StepKind::Copy; }},
      {"its step 0 is predicted to take 0.001 s, and at least 0.002 s",
       [](EntrySpec &e) { e.steps[0].predicted = 1e-3, e.steps[0].bound = 2e-3; }},
      {"its step 0 is predicted to take 0.001 s, and at least -1 s",
       [](EntrySpec &e) { e.steps[0].predicted = 1e-3, e.steps[0].bound = -1; }},
      {"its step 0 copies 'x' into 'y', which has another type or layout",
       [](EntrySpec &e) { e.steps[0].kind = StepKind::Copy, e.steps[0].values = {1, 0}; }},
  };
  for (auto &[part, change] : changes) {
    std::string message = loadError(
        [&, &change = change](ProgramImage &image) { change(image.manifest.entries[0]); });
    expectIn("the entry 'scale' is not consistent", message);
    expectIn(part, message);
  }
  expectIn("occurs twice", loadError([](ProgramImage &image) {
             image.manifest.entries.push_back(image.manifest.entries[0]);
           }));
  expectIn("the function 'scale' is outside of the program's code",
           loadError([](ProgramImage &image) {
             image.manifest.functions.push_back({"scale", "", 8, int64_t(image.code.size())});
           }));
}

TEST(Manifest, AValueDoesNotTakeLessMemoryThanItNeeds) {
  ProgramImage image = scaleImage();
  EntrySpec &entry = image.manifest.entries[0];
  entry.symbols = {"N"};
  entry.values[0].type.dims["i"] = Expr::name("N");
  entry.values[0].bytes = Expr::name("N") * 4;
  int32_t truth = addTruth(entry);
  entry.values.push_back(
      value(ValueSpec::Kind::Temporary, "t", floats({{"i", Expr::name("N")}}), "[i]"));
  entry.values.back().aliasOf = truth;
  Program program(std::move(image));
  expectIn("the value 't' of 'scale' takes 40 bytes in the memory of 'truth', which has 1",
           errorOf<Error>([&] { memoryOf(program.manifest().entries[0], {10}); }));
}

TEST(Manifest, StepsOfLibrariesAreStartedBeforeTheyAreAwaited) {
  using Change = std::function<void(EntrySpec &)>;
  auto inBranch = [](EntrySpec &e, size_t from, size_t count) {
    StepSpec begin = e.steps[0], middle = begin, end = begin;
    begin.kind = StepKind::If, middle.kind = StepKind::Else, end.kind = StepKind::EndIf;
    begin.values = {addTruth(e)};
    auto at = e.steps.begin() + std::ptrdiff_t(from + count);
    e.steps.insert(e.steps.insert(at, end), middle);
    e.steps.insert(e.steps.begin() + std::ptrdiff_t(from), begin);
  };
  std::pair<const char *, Change> changes[] = {
      {"", [](EntrySpec &) {}},
      {"its step 0 should name a library", [](EntrySpec &e) { e.steps[0].library = ""; }},
      {"its step 0 should name a library", [](EntrySpec &e) { e.steps[0].kernel = ""; }},
      {"its step 3 awaits the step -1, which is not started before it",
       [](EntrySpec &e) { e.steps[3].awaits = -1; }},
      {"its step 3 awaits the step 0", [](EntrySpec &e) { e.steps[3].awaits = 0; }},
      {"its step 3 awaits the step 4", [](EntrySpec &e) { e.steps[3].awaits = 4; }},
      {"its step 4 awaits the step 1", [](EntrySpec &e) { e.steps[4] = e.steps[3]; }},
      {"its step 1 is started and never awaited", [](EntrySpec &e) { e.steps[3] = e.steps[2]; }},
      {"its step 3 awaits the step 1, whose value 'flag' lives until step 2",
       [](EntrySpec &e) { e.values[2].lastStep = 2; }},
      {"its step 2 is started and never awaited", [&](EntrySpec &e) { inBranch(e, 1, 1); }},
      {"its step 4 awaits the step 1", [&](EntrySpec &e) { inBranch(e, 3, 1); }},
  };
  for (auto &[part, change] : changes) {
    Manifest manifest;
    manifest.entries = {libraryEntry()};
    change(manifest.entries[0]);
    std::string message = manifest.verify(1, 0);
    if (*part)
      expectIn(part, message);
    else
      EXPECT_EQ(message, "");
  }
}

TEST(Manifest, TextRoundTripsAndDamageIsNamed) {
  Manifest manifest = scaleImage().manifest;
  manifest.entries.push_back(counterEntry());
  manifest.entries[0].name = "s\xff"
                             "cale"; // not UTF-8
  std::string error, text = manifest.toJson();
  manifest.entries[0].name = "scale";
  manifest.functions.push_back({"scale", "model.cpp:3:5", 0, 16});
  manifest.entries[0].requirements.push_back({5, 7, "the size of 'n'", "model.cpp:4:5"});
  EXPECT_EQ(text.find("predicted"), std::string::npos) << "it is optional";
  StepSpec &predicted = manifest.entries[0].steps[0];
  predicted.predicted = 1.25e-5, predicted.bound = 1e-6, predicted.limit = "memory";
  text = manifest.toJson();
  auto again = Manifest::fromJson(text, error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(again->toJson(), text);
  EXPECT_EQ(again->entries[0].steps[0].predicted, 1.25e-5);
  EXPECT_EQ(again->entries[0].steps[0].bound, 1e-6);
  EXPECT_EQ(again->entries[0].steps[0].limit, "memory");
  EXPECT_EQ(again->entries[1].donations, manifest.entries[1].donations);
  ASSERT_EQ(again->functions.size(), 1u);
  ASSERT_EQ(again->entries[0].requirements.size(), 1u);
  EXPECT_EQ(again->entries[0].requirements[0].most, Expr(7));
  EXPECT_EQ(again->functions[0].location, "model.cpp:3:5");
  for (const char *bad : {"", "{", "[]", "{\"abi\": \"x\"}", "null", "{\"abi\": 1}"}) {
    EXPECT_FALSE(Manifest::fromJson(bad, error)) << bad;
    expectIn("malformed manifest", error);
  }
  EXPECT_FALSE(Manifest::fromJson(std::string(1 << 20, '['), error));
  expectIn("nests more than 16 levels", error);
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    EXPECT_FALSE(Manifest::fromJson(changed, error)) << from;
    return error;
  };
  expectIn("must be number", replaced("1.25e-05", "\"long\""));
  expectIn("key 'bound' not found", replaced("\"bound\"", "\"bounds\""));
  expectIn("unknown element type 'f33'", replaced("\"f32\"", "\"f33\""));
  expectIn("unknown kind of value 'argumemt'", replaced("\"argument\"", "\"argumemt\""));
  expectIn("expected", replaced("\"[i]\"", "\"[i\""));
  std::string product = "1"; // of 2^40 terms
  for (int i = 0; i < 40; ++i)
    product += " * (A" + std::to_string(i) + " + 1)";
  expectIn("expected an expression of at most 1024 terms", replaced("\"5\"", '"' + product + '"'));
}

/// Every leaf of a JSON value.
static void collectLeaves(nlohmann::json &json, std::vector<nlohmann::json *> &leaves) {
  if (!json.is_structured())
    return leaves.push_back(&json);
  for (auto &child : json)
    collectLeaves(child, leaves);
}

TEST(Manifest, NonsenseIsRefusedOrHarmless) {
  // Files with valid checksums and invalid contents: from a broken compiler, or made by hand.
  ProgramImage image = scaleImage();
  image.manifest.entries.push_back(counterEntry());
  image.manifest.entries.push_back(chainEntry());
  image.manifest.functions.push_back({"scale", "model.cpp:3:5", 0, 1});
  const std::string text = image.manifest.toJson();
  const nlohmann::json replacements[] = {-1,
                                         0,
                                         1,
                                         1000000,
                                         int64_t(1) << 62,
                                         INT64_MAX,
                                         INT64_MIN,
                                         1e300,
                                         "",
                                         "i",
                                         "N",
                                         "[i, i]",
                                         "[i floordiv 3, i mod 3], align 4096",
                                         "9223372036854775807",
                                         "-4",
                                         "argument",
                                         "temporary",
                                         "i1",
                                         nullptr,
                                         true};
  int accepted = 0;
  forRandomSeeds(1000, [&](Random &random) {
    nlohmann::json json = nlohmann::json::parse(text);
    std::vector<nlohmann::json *> leaves;
    collectLeaves(json, leaves);
    for (int64_t change = random.between(1, 2); change > 0; --change)
      *leaves[size_t(random.between(0, int64_t(leaves.size()) - 1))] =
          replacements[random.between(0, int64_t(std::size(replacements)) - 1)];
    std::string error;
    auto manifest = Manifest::fromJson(json.dump(), error);
    if (!manifest) {
      expectIn("malformed manifest", error);
      return;
    }
    try {
      Program program({*manifest, image.code, image.constants});
      for (const EntrySpec &entry : program.manifest().entries)
        if (entry.symbols.empty())
          memoryOf(entry);
      ++accepted;
    } catch (const Error &) {
    }
  });
  EXPECT_GT(accepted, 0) << "locations and estimates, for example, may be anything";
}
