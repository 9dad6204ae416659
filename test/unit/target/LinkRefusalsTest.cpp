//===- LinkRefusalsTest.cpp - objects that can't be one block of code -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects made by hand: one for each reason to refuse an object, and one for each known relocation.
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/Link.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/ObjectYAML/yaml2obj.h"
#include <gtest/gtest.h>

using namespace heddle;

namespace {

/// An object whose section .text is 16 bytes `text` with one relocation, beside a section .rodata
/// and one that is not mapped.
std::string objectOf(std::string relocation, std::string text = "00000000000000000000000000000000",
                     std::string dataFlags = "SHF_ALLOC") {
  std::string yaml = R"(--- !ELF
FileHeader: { Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, Machine: EM_X86_64 }
Sections:
  - { Name: .text, Type: SHT_PROGBITS, Flags: [ SHF_ALLOC, SHF_EXECINSTR ], AddressAlign: 16, Content: ")" +
                     text + R"(" }
  - { Name: .rodata, Type: SHT_PROGBITS, Flags: [ )" +
                     dataFlags + R"( ], AddressAlign: 16, Content: "0102030405060708" }
  - { Name: .note, Type: SHT_PROGBITS, AddressAlign: 1, Content: "00" }
)";
  if (!relocation.empty())
    yaml += "  - { Name: .rela.text, Type: SHT_RELA, Flags: [ SHF_INFO_LINK ], Link: .symtab, "
            "Info: .text,\n"
            "      Relocations: [ { " +
            relocation + " } ] }\n";
  yaml += R"(Symbols:
  - { Name: data, Section: .rodata, Binding: STB_LOCAL, Type: STT_OBJECT }
  - { Name: note, Section: .note, Binding: STB_LOCAL, Type: STT_OBJECT }
  - { Name: f, Section: .text, Binding: STB_GLOBAL, Type: STT_FUNC, Size: 16 }
...
)";
  llvm::SmallVector<char, 0> bytes;
  auto object = llvm::yaml::yaml2ObjectFile(
      bytes, yaml, [](const llvm::Twine &message) { ADD_FAILURE() << message.str(); });
  EXPECT_TRUE(object);
  return {bytes.begin(), bytes.end()};
}

/// The block's bytes, or the reason why it is refused.
std::string linked(const std::string &object) {
  auto block = cpu::link({{"my kernel", object}});
  return block ? block->bytes : llvm::toString(block.takeError());
}

std::string refusal(const std::string &reason) {
  return "the code of 'my kernel' can't be linked: " + reason;
}

int64_t numberAt(const std::string &bytes, size_t at, int width) {
  int64_t value = 0;
  for (int i = width; i-- > 0;)
    value = value * 256 + uint8_t(bytes[at + size_t(i)]);
  return width == 4 ? int32_t(value) : value;
}

TEST(LinkRefusals, AnObjectWithoutRelocationsIsCopied) {
  std::string bytes = linked(objectOf(""));
  ASSERT_EQ(bytes.size(), 24u);
  EXPECT_EQ(numberAt(bytes, 16, 8), 0x0807060504030201);
}

TEST(LinkRefusals, DistancesAreResolved) {
  // .rodata lies 16 bytes behind .text.
  for (const char *type : {"R_X86_64_PC32", "R_X86_64_PLT32"})
    EXPECT_EQ(numberAt(linked(objectOf("Offset: 2, Symbol: data, Addend: -4, Type: " +
                                       std::string(type))),
                       2, 4),
              16 - 2 - 4);
  EXPECT_EQ(
      numberAt(linked(objectOf("Offset: 8, Symbol: data, Addend: 3, Type: R_X86_64_PC64")), 8, 8),
      16 - 8 + 3);
  // mov data@GOTPCREL(%rip), %rax becomes lea data(%rip), %rax.
  for (const char *type : {"R_X86_64_REX_GOTPCRELX", "R_X86_64_GOTPCRELX"}) {
    std::string bytes =
        linked(objectOf("Offset: 3, Symbol: data, Addend: -4, Type: " + std::string(type),
                        "488b0500000000000000000000000000"));
    EXPECT_EQ(uint8_t(bytes[1]), 0x8d);
    EXPECT_EQ(numberAt(bytes, 3, 4), 16 - 3 - 4);
  }
}

TEST(LinkRefusals, DataThatIsWritten) {
  EXPECT_EQ(linked(objectOf("", "00", "SHF_ALLOC, SHF_WRITE")),
            refusal("writable data in section '.rodata'"));
}

TEST(LinkRefusals, SymbolsThatAreDefinedTwice) {
  std::string object = objectOf("");
  auto block = cpu::link({{"one", object}, {"other", object}});
  ASSERT_FALSE(bool(block));
  EXPECT_EQ(llvm::toString(block.takeError()),
            "the code of 'other' can't be linked: the symbol 'f' is defined twice");
}

TEST(LinkRefusals, SectionsThatAreNotMapped) {
  EXPECT_EQ(linked(objectOf("Offset: 2, Symbol: note, Type: R_X86_64_PC32")),
            refusal("it refers to a section that is not mapped"));
}

TEST(LinkRefusals, RelocationsWithoutASymbol) {
  EXPECT_EQ(linked(objectOf("Offset: 2, Type: R_X86_64_PC32")),
            refusal("it has a relocation without a symbol"));
}

TEST(LinkRefusals, DistancesThatDoNotFit) {
  for (const char *addend : {"0x80000000", "-2147483680"})
    EXPECT_EQ(linked(objectOf("Offset: 2, Symbol: data, Type: R_X86_64_PC32, Addend: " +
                              std::string(addend))),
              refusal("'data' lies more than 2 GiB away"));
}

TEST(LinkRefusals, TablesThatAreNotThere) {
  // add data@GOTPCREL(%rip), %rax reads the table itself.
  EXPECT_EQ(linked(objectOf("Offset: 3, Symbol: data, Addend: -4, Type: R_X86_64_REX_GOTPCRELX",
                            "48030500000000000000000000000000")),
            refusal("it uses 'data' through a table"));
}

TEST(LinkRefusals, AddressesThatAreKnownAtLoadTime) {
  for (const char *type : {"R_X86_64_64", "R_X86_64_32S"})
    EXPECT_EQ(linked(objectOf("Offset: 0, Symbol: f, Type: " + std::string(type))),
              refusal("it needs the address of 'f' when it is loaded (" + std::string(type) + ")"));
}

TEST(LinkRefusals, RelocationsOutsideOfTheirSection) {
  for (auto [type, offset] :
       {std::pair("R_X86_64_PC32", "13"), std::pair("R_X86_64_PC64", "9"),
        std::pair("R_X86_64_PC32", "0xfffffffffffffffe"), std::pair("R_X86_64_PLT32", "1000000"),
        std::pair("R_X86_64_GOTPCRELX", "1")})
    EXPECT_EQ(linked(objectOf("Offset: " + std::string(offset) + ", Symbol: data, Type: " + type)),
              refusal("a relocation is outside of its section"));
}

} // namespace
