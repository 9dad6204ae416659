//===- ProgramFileTest.cpp - program files --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/LibraryEntry.h"
#include "test/unit/runtime/Random.h"

#include "heddle/Error.h"
#include "runtime/base/CodePages.h"
#include "runtime/program/SizedEntry.h"

#include <bit>
#include <csignal>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sys/resource.h>

using namespace heddle;

namespace {
class ProgramFile : public testing::Test {
protected:
  std::string path = testing::TempDir() + "heddle-" + std::to_string(getpid()) + ".heddle";
  void TearDown() override { std::filesystem::remove(path); }

  static std::string read(const std::string &path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void put(const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }
};
} // namespace

/// A program with a table.
static ProgramImage tabledImage() {
  ProgramImage image = scaleImage();
  image.shardings.entries = {
      {"scale",
       "",
       {{"x", "model.cpp:1:1", "f32 {i: 4}", "{i: [data]}", "'i' has [data] as stated"},
        {"y", "model.cpp:1:1", "f32 {i: 4}", "{i: [data]}", "'i' has [data] as 'i' of 'x'"}},
       {{"all_gather", "[data]", "model.cpp:1:1", 8, 0}, {"send", "[stage]", "", 16, 4}}},
      {"scale", "stage=1", {}, {{"all_gather", "[data]", "model.cpp:1:1", INT64_MAX, INT64_MAX}}}};
  return image;
}

TEST_F(ProgramFile, RoundTrips) {
  for (const ProgramImage &image : {scaleImage(), tabledImage()}) {
    image.write(path);
    EXPECT_EQ(ProgramImage::read(path).shardings, image.shardings);
    EXPECT_EQ(read(path), image.bytes());
    EXPECT_EQ(ProgramImage::read(path).bytes(), image.bytes());
  }
  // Without a table there is no section.
  EXPECT_EQ(scaleImage().bytes().find("shardings"), std::string::npos);
  EXPECT_NE(tabledImage().bytes().find("shardings"), std::string::npos);
  ProgramImage image = scaleImage();
  image.write(path);
  ProgramImage again = ProgramImage::read(path);
  EXPECT_EQ(again.manifest.toJson(), image.manifest.toJson());
  EXPECT_EQ(again.code, image.code);
  EXPECT_EQ(again.constants, image.constants);
}

#if defined(__x86_64__)
TEST_F(ProgramFile, MachineCodeRuns) {
  scaleImage().write(path);
  auto program = Program::load(path);
  auto results = program->run("scale", {{"x", tensorOf({1, 2, 3, 4})}});
  EXPECT_EQ(valuesOf(results[0]), (std::vector<float>{2.5, 5, 7.5, 10}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(results[0]->address()) % 128, 0u);
}

TEST_F(ProgramFile, CodeIsNotWritable) {
  Mapping mapping(std::string_view("\xc3", 1), Mapping::Use::Code);
  std::ifstream maps("/proc/self/maps");
  char address[32];
  snprintf(address, sizeof address, "%lx-", reinterpret_cast<unsigned long>(mapping.data()));
  bool found = false;
  for (std::string line; std::getline(maps, line);)
    if (line.rfind(address, 0) == 0) {
      found = true;
      expectIn(" r-xp ", line);
    }
  EXPECT_TRUE(found);
}
#endif

TEST_F(ProgramFile, AMissingFileIsNamed) {
  expectIn("can't open '" + path + "'", errorOf<Error>([&] { Program::load(path); }));
  expectIn("expected a file", errorOf<Error>([&] { Program::load(testing::TempDir()); }));
}

TEST_F(ProgramFile, EveryTruncationIsNoticed) {
  tabledImage().write(path);
  std::string whole = read(path);
  for (size_t length = 0; length < whole.size(); length += length < 300 ? 1 : 37) {
    put(whole.substr(0, length));
    std::string message = errorOf<Error>([&] { ProgramImage::read(path); });
    ASSERT_FALSE(message.empty()) << "the first " << length << " bytes were accepted";
    expectIn(length < 8 ? "is not a program file" : "is truncated", message);
  }
}

TEST_F(ProgramFile, EveryDamageIsNoticed) {
  tabledImage().write(path);
  std::string whole = read(path);
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = char(damaged[at] ^ (1 << bit));
      ASSERT_NE(errorOf<Error>([&] { ProgramImage::parse(damaged, path); }), "")
          << "bit " << bit << " of byte " << at;
    }
  expectIn("1 bytes are after its last section",
           errorOf<Error>([&] { ProgramImage::parse(whole + '\0', path); }));
}

/// The checksum of sections and of the header: multiply and rotate in four lanes.
static uint64_t checksumOf(const std::string &bytes) {
  constexpr uint64_t prime = 0x9e3779b97f4a7c15ull;
  auto mixed = [](uint64_t lane, uint64_t word) { return std::rotl((lane ^ word) * prime, 29); };
  uint64_t lanes[4] = {1, 2, 3, 4}, sum = bytes.size();
  size_t words = bytes.size() / 32 * 4;
  for (size_t i = 0; i < words; ++i) {
    uint64_t word;
    std::memcpy(&word, &bytes[8 * i], 8);
    lanes[i % 4] = mixed(lanes[i % 4], word);
  }
  for (size_t i = 8 * words; i < bytes.size(); ++i)
    lanes[i % 4] = mixed(lanes[i % 4], uint8_t(bytes[i]));
  for (uint64_t lane : lanes)
    sum = mixed(sum, lane);
  return sum ^ sum >> 32;
}

TEST_F(ProgramFile, TablesBelongToTheirProgram) {
  // The table of another program in the place of this one's, with checksums that fit.
  ProgramImage image = tabledImage();
  std::string file = image.bytes(), own = image.shardings.toJson();
  image.shardings.entries[0].values[0].reason = "'i' has [data] as statEd";
  std::string other = image.shardings.toJson();
  ASSERT_EQ(own.size(), other.size());
  file.replace(file.find(own), own.size(), other);
  constexpr size_t header = 16 + 4 * 40; // of the fourth section, the checksum is last
  auto put = [&](size_t at, uint64_t number) { std::memcpy(&file[at], &number, 8); };
  put(header - 8, checksumOf(other));
  put(header, checksumOf(file.substr(0, header)));
  EXPECT_EQ(errorOf<Error>([&] { ProgramImage::parse(file, "f"); }),
            "'f' is damaged: its section 'shardings' is not the one that its manifest describes");
  EXPECT_EQ(errorOf<Error>([&] { ProgramImage::parse(image.bytes(), "f"); }), "");
}

TEST(ShardingTable, TextRoundTripsAndNonsenseIsRefused) {
  ShardingTable table = tabledImage().shardings;
  std::string error, text = table.toJson();
  EXPECT_EQ(ShardingTable::fromJson(text, error), table) << error;
  // Each text once, and the same bytes for the same table.
  for (const char *word : {"model.cpp:1:1", "all_gather", "{i: [data]}", "f32 {i: 4}"})
    EXPECT_EQ(text.find(word), text.rfind(word)) << text;
  EXPECT_EQ(ShardingTable::fromJson(text, error)->toJson(), text);
  for (const char *bad : {"", "{", "[]", "null", "{\"texts\": []}", "{\"entries\": []}",
                          "{\"texts\": 1, \"entries\": [1]}"}) {
    EXPECT_FALSE(ShardingTable::fromJson(bad, error)) << bad;
    expectIn("malformed table of shardings", error);
  }
  EXPECT_FALSE(ShardingTable::fromJson(std::string(1 << 20, '['), error));
  expectIn("nests more than 8 levels", error);
  auto with = [&](const std::string &rows) {
    EXPECT_FALSE(ShardingTable::fromJson(
        R"({"texts": ["a", 1], "entries": [{"name": "f", "role": "", )" + rows + "}]}", error))
        << rows;
    return error;
  };
  expectIn("expected a row of 5, got [0,0]", with(R"("values": [[0, 0]], "collectives": [])"));
  expectIn("out of range", with(R"("values": [[0, 0, 0, 0, 2]], "collectives": [])"));
  expectIn("expected a number of bytes, got -1",
           with(R"("values": [[0, 0, 0, 0, -1]], "collectives": [])"));
  expectIn("must be string", with(R"("values": [[0, 0, 0, 0, 1]], "collectives": [])"));
  expectIn("expected a number of bytes, got 1e",
           with(R"("values": [], "collectives": [[0, 0, 0, 1e300, 0]])"));
  expectIn("expected a number of bytes, got 18446744073709551615",
           with(R"("values": [], "collectives": [[0, 0, 0, 18446744073709551615, 0]])"));
  expectIn("expected at most 3 bytes of padding, got 4",
           with(R"("values": [], "collectives": [[0, 0, 0, 3, 4]])"));
}

TEST_F(ProgramFile, OtherFilesAreRefused) {
  put("PK\3\4 something else entirely, long enough to be a header of ours");
  expectIn("is not a program file: expected it to begin with 'HEDDLE'",
           errorOf<Error>([&] { ProgramImage::read(path); }));
  scaleImage().write(path);
  std::string whole = read(path);
  for (char version = 1; version < 10; ++version)
    if (version != 5) {
      whole[8] = version;
      put(whole);
      expectIn("has version " + std::to_string(version) +
                   " of the program format, expected version 5: " +
                   (version < 5 ? "an older Heddle wrote it, compile it again"
                                : "a newer Heddle wrote it"),
               errorOf<Error>([&] { ProgramImage::read(path); }));
    }
}

TEST_F(ProgramFile, AFullDiskLeavesTheOldFile) {
  scaleImage().write(path);
  std::string before = read(path);
  ProgramImage larger = scaleImage();
  larger.constants.resize(1 << 20);
  struct rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 64 << 10;
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message = errorOf<Error>([&] { larger.write(path); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  expectIn("can't write '" + path + "'", message);
  EXPECT_EQ(read(path), before);
  for (const auto &file : std::filesystem::directory_iterator(testing::TempDir()))
    EXPECT_EQ(file.path().string().find(path + ".part"), std::string::npos)
        << "left behind: " << file.path();
}

TEST_F(ProgramFile, AFolderThatIsNotThereIsNamed) {
  expectIn("can't write '/nowhere/at/all.heddle'",
           errorOf<Error>([&] { scaleImage().write("/nowhere/at/all.heddle"); }));
}

//===----------------------------------------------------------------------===//
// Invalid tables of sections, with checksums that match
//===----------------------------------------------------------------------===//

/// The checksum as the format defines it (ProgramImage.cpp).
static uint64_t sumOf(std::string_view bytes) {
  constexpr uint64_t prime = 0x9e3779b97f4a7c15ull;
  uint64_t lanes[4] = {1, 2, 3, 4}, sum = bytes.size();
  auto mix = [&](uint64_t &lane, uint64_t word) { lane = std::rotl((lane ^ word) * prime, 29); };
  size_t words = bytes.size() / 32 * 4;
  for (size_t i = 0; i < words; ++i) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + 8 * i, 8);
    mix(lanes[i % 4], word);
  }
  for (size_t i = 8 * words; i < bytes.size(); ++i)
    mix(lanes[i % 4], uint8_t(bytes[i]));
  for (uint64_t lane : lanes)
    mix(sum, lane);
  return sum ^ sum >> 32;
}

namespace {
struct Section {
  std::string name;
  uint64_t offset, length, sum;
};

/// A program file as its parts.
struct Crafted {
  std::vector<Section> table;
  std::string rest; ///< of the file, after the table

  explicit Crafted(const std::string &file) {
    auto number = [&](size_t at) {
      uint64_t value;
      std::memcpy(&value, file.data() + at, 8);
      return value;
    };
    for (size_t at = 16; table.size() < size_t(file[12]); at += 40)
      table.push_back({file.c_str() + at, number(at + 16), number(at + 24), number(at + 32)});
    rest = file.substr(begin());
  }
  size_t begin() const { return 16 + 40 * table.size() + 8; }
  std::string_view bytesOf(const Section &section) const {
    return std::string_view(rest).substr(section.offset - begin(), section.length);
  }
  std::string file() const {
    std::string bytes("HEDDLE\r\n\5\0\0\0", 12);
    auto append = [&](uint64_t value, size_t width) {
      bytes.append(reinterpret_cast<const char *>(&value), width);
    };
    append(table.size(), 4);
    for (Section section : table) {
      section.name.resize(16);
      bytes += section.name;
      append(section.offset, 8);
      append(section.length, 8);
      append(section.sum, 8);
    }
    append(sumOf(bytes), 8);
    return bytes + rest;
  }
  std::string error() const {
    return errorOf<Error>([&] { ProgramImage::parse(file(), "x.heddle"); });
  }
};

class Table : public ProgramFile {
protected:
  Crafted crafted = [this] {
    scaleImage().write(path);
    return Crafted(read(path));
  }();
  Section &manifest = crafted.table[0], &code = crafted.table[1], &constants = crafted.table[2];
};
} // namespace

TEST_F(Table, AsItIsWrittenIsAccepted) {
  EXPECT_EQ(crafted.file(), read(path));
  EXPECT_EQ(crafted.error(), "");
}

TEST_F(Table, PlacesOutsideOfTheFileAreRefused) {
  std::string size = std::to_string(read(path).size());
  for (uint64_t length : {constants.length + 1, uint64_t(1) << 40, UINT64_MAX,
                          // offset + length is 0, or what it was
                          -constants.offset, constants.length - constants.offset}) {
    Crafted other = crafted;
    Section &last = other.table[2];
    last.length = length;
    last.sum = sumOf(other.bytesOf(last)); // of what is there
    expectIn("its section 'constants' should have " + std::to_string(length) + " bytes from byte " +
                 std::to_string(last.offset) + " on, the file has " + size,
             other.error());
  }
  for (uint64_t offset : {uint64_t(1) << 40, UINT64_MAX - 63, -constants.length}) {
    Crafted other = crafted;
    other.table[2].offset = offset;
    expectIn("expected its section 'constants' at byte " + std::to_string(constants.offset) +
                 ", got byte " + std::to_string(offset),
             other.error());
  }
  // An empty section whose offset is after the end of the file.
  crafted.table.push_back({"more", (read(path).size() + 40 + 63) / 64 * 64 + 64, 0, sumOf("")});
  expectIn("'x.heddle' is", crafted.error());
}

TEST_F(Table, SectionsThatOverlapAreRefused) {
  auto refused = [&](const Crafted &other, const std::string &name) {
    expectIn("expected its section '" + name + "' at byte ", other.error());
  };
  Crafted same = crafted; // the constants are the code
  same.table[2] = {"constants", code.offset, code.length, code.sum};
  refused(same, "constants");
  Crafted within = crafted; // a part of it
  within.table[2] = {"constants", code.offset + 1, 8, sumOf(crafted.bytesOf(code).substr(1, 8))};
  refused(within, "constants");
  Crafted head = crafted; // the table itself
  head.table[0] = {"manifest", 0, 64, sumOf(crafted.file().substr(0, 64))};
  refused(head, "manifest");
  Crafted swapped = crafted;
  std::swap(swapped.table[1], swapped.table[2]);
  refused(swapped, "constants");
}

TEST_F(Table, OtherPlacesAreRefused) {
  Crafted later = crafted; // misaligned, though whole
  later.table[2].offset += 4;
  later.rest += std::string(4, '\0');
  later.table[2].sum = sumOf(later.bytesOf(later.table[2]));
  expectIn("expected its section 'constants' at byte", later.error());
  Crafted far = crafted; // a gap of more than the alignment
  far.table[2].offset += 64;
  far.rest += std::string(64, '\0');
  far.table[2].sum = sumOf(far.bytesOf(far.table[2]));
  expectIn("expected its section 'constants' at byte", far.error());
}

TEST_F(Table, BytesBetweenSectionsAreZero) {
  size_t behind = code.offset + code.length - crafted.begin();
  ASSERT_LT(code.offset + code.length, constants.offset);
  crafted.rest[behind] = 1;
  expectIn("the bytes before its section 'constants' are not zero", crafted.error());
  crafted.rest[behind] = 0;
  ASSERT_LT(crafted.begin(), manifest.offset);
  crafted.rest[0] = 1;
  expectIn("the bytes before its section 'manifest' are not zero", crafted.error());
}

TEST_F(Table, SectionsStandThereOnce) {
  // One more line of the table fits before the first section.
  Crafted known = crafted;
  uint64_t end = (constants.offset + constants.length + 63) / 64 * 64;
  known.table.push_back({"more", end, 0, sumOf("")});
  known.rest.erase(0, 40);
  known.rest += std::string(end - (known.begin() + known.rest.size()), '\0');
  EXPECT_EQ(known.error(), "") << "a section of another name, empty as it is";
  known.table[3].name = "code";
  expectIn("its section 'code' occurs twice", known.error());
  crafted.table[2].name = "constant";
  expectIn("it lacks the section 'constants'", crafted.error());
}

TEST_F(Table, EmptySectionsMayBe) {
  ProgramImage image = scaleImage();
  image.constants.clear();
  image.manifest.entries[0].values.pop_back();
  image.write(path);
  EXPECT_TRUE(ProgramImage::read(path).constants.empty());
  image.code.clear(); // here the manifest does not fit
  image.write(path);
  expectIn("outside of the program's code", errorOf<Error>([&] { Program::load(path); }));
}

TEST_F(Table, TheManifestIsThatOfTheCode) {
  std::string before = read(path);
  ProgramImage other = scaleImage();
  other.code.back() = '\xcc'; // a trap
  other.write(path);
  Crafted theirs(read(path));
  ASSERT_EQ(theirs.rest.size(), crafted.rest.size());
  // Our manifest, their code, all checksums of the table as they should be.
  Crafted spliced = theirs;
  std::copy_n(crafted.bytesOf(manifest).begin(), manifest.length,
              spliced.rest.begin() + long(manifest.offset - spliced.begin()));
  spliced.table[0].sum = manifest.sum;
  expectIn("its section 'code' is not the one that its manifest describes", spliced.error());
  other = scaleImage();
  other.constants.back() = 1;
  other.write(path);
  spliced = Crafted(read(path));
  std::copy_n(crafted.bytesOf(manifest).begin(), manifest.length,
              spliced.rest.begin() + long(manifest.offset - spliced.begin()));
  spliced.table[0].sum = manifest.sum;
  expectIn("its section 'constants' is not the one that its manifest describes", spliced.error());
}

//===----------------------------------------------------------------------===//
// Manifests
//===----------------------------------------------------------------------===//

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
