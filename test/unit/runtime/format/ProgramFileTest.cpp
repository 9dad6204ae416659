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

#include <bit>
#include <csignal>

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
