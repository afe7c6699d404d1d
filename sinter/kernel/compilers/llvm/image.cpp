// SPDX-License-Identifier: MIT OR Apache-2.0
// A linker for one object file. Formats: System V gABI, its x86-64 supplement, "ELF for the Arm
// 64-bit Architecture".
#include "sinter/kernel/compilers/llvm/detail/image.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "sinter/kernel/compile_error.hpp"

namespace sinter::llvm {

namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::uint64_t section_alignment = 64;
constexpr std::uint16_t machine_x86_64 = 62, machine_aarch64 = 183;

enum SectionType : std::uint32_t { progbits = 1, symtab = 2, rela = 4, nobits = 8, rel = 9 };
enum SectionFlag : std::uint64_t { writable = 1, allocated = 2, executable = 4 };

struct Header {
  unsigned char ident[16];
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, program_headers, section_headers;
  std::uint32_t flags;
  std::uint16_t size, program_header_size, program_header_count, section_header_size, section_count,
      name_section;
};
struct Section {
  std::uint32_t name, type;
  std::uint64_t flags, address, offset, size;
  std::uint32_t link, info;
  std::uint64_t alignment, entry_size;
};
struct Symbol {
  std::uint32_t name;
  unsigned char info, other;
  std::uint16_t section;
  std::uint64_t value, size;
};
struct Relocation {
  std::uint64_t offset, info;
  std::int64_t addend;
  [[nodiscard]] std::uint32_t symbol() const { return static_cast<std::uint32_t>(info >> 32); }
  [[nodiscard]] std::uint32_t type() const { return static_cast<std::uint32_t>(info); }
};
static_assert(sizeof(Header) == 64 && sizeof(Section) == 64 && sizeof(Symbol) == 24 &&
              sizeof(Relocation) == 24);

constexpr std::uint64_t nowhere = ~std::uint64_t{0};

class Linker {
 public:
  explicit Linker(Bytes object) : object_(object), header_(at<Header>(0)) {
    if (std::memcmp(header_.ident, "\177ELF\2\1", 6) != 0 ||
        (header_.machine != machine_x86_64 && header_.machine != machine_aarch64)) {
      throw CompileError(fmt::format(
          "expected an ELF object for x86-64 or aarch64, got one for machine {}", header_.machine));
    }
    for (std::uint16_t i = 0; i < header_.section_count; ++i) {
      sections_.push_back(at<Section>(header_.section_headers + i * sizeof(Section)));
    }
    for (const Section& section : sections_) {
      if (section.type == symtab) {
        symbols_ = section;
      }
    }
  }

  Image run(std::string_view entry) {
    Image image;
    layout(image);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Section& section = sections_[i];
      const bool is_placed = section.info < places_.size() && places_[section.info] != nowhere;
      if (section.type == rel && is_placed) {
        throw CompileError("relocations without addends in the object");
      }
      for (std::uint64_t k = 0; section.type == rela && is_placed && k < section.size;
           k += sizeof(Relocation)) {
        apply(image, section.info, at<Relocation>(section.offset + k));
      }
    }
    image.entry = find(entry);
    return image;
  }

  /// The first symbol of a relocation that has no place here.
  std::string_view missing() {
    for (std::uint64_t k = sizeof(Symbol); k < symbols_.size; k += sizeof(Symbol)) {
      const Symbol symbol = at<Symbol>(symbols_.offset + k);
      if (symbol.section == 0) {
        return name_of(symbol);
      }
    }
    return {};
  }

 private:
  template <class T>
  [[nodiscard]] T at(std::uint64_t offset) const {
    if (offset > object_.size() || object_.size() - offset < sizeof(T)) {
      throw CompileError("the object file ends early");
    }
    T value;
    std::memcpy(&value, object_.data() + offset, sizeof(T));
    return value;
  }
  [[nodiscard]] std::string_view text(std::uint32_t table, std::uint64_t offset) const {
    const std::uint64_t start = sections_.at(table).offset + offset;
    if (start >= object_.size()) {
      throw CompileError("the object file ends early");
    }
    const char* const first = reinterpret_cast<const char*>(object_.data() + start);
    return {first, strnlen(first, object_.size() - start)};
  }
  [[nodiscard]] std::string_view name_of(const Section& section) const {
    return text(header_.name_section, section.name);
  }
  [[nodiscard]] std::string_view name_of(const Symbol& symbol) const {
    constexpr unsigned char is_section = 3;
    return (symbol.info & 15) == is_section && symbol.section < sections_.size()
               ? name_of(sections_[symbol.section])
               : text(symbols_.link, symbol.name);
  }

  [[nodiscard]] bool is_needed(const Section& section) const {
    return (section.flags & allocated) != 0 && section.size != 0 &&
           (section.type == progbits || section.type == nobits) &&
           !name_of(section).starts_with(".eh_frame");
  }

  /// Code first, then what it reads.
  void layout(Image& image) {
    places_.assign(sections_.size(), nowhere);
    for (const bool code : {true, false}) {
      for (std::size_t i = 0; i < sections_.size(); ++i) {
        const Section& section = sections_[i];
        if (!is_needed(section) || ((section.flags & executable) != 0) != code) {
          continue;
        }
        const std::uint64_t unit = std::max(section_alignment, section.alignment);
        const std::uint64_t place = (image.bytes.size() + unit - 1) / unit * unit;
        places_[i] = place;
        image.bytes.resize(place + section.size);
        if (section.type == progbits) {
          if (section.offset > object_.size() || object_.size() - section.offset < section.size) {
            throw CompileError("the object file ends early");
          }
          std::memcpy(image.bytes.data() + place, object_.data() + section.offset, section.size);
        }
      }
    }
  }

  std::uint64_t place_of(const Symbol& symbol) const {
    if (symbol.section >= places_.size() || places_[symbol.section] == nowhere) {
      throw CompileError(fmt::format(
          "the code needs '{}' from outside; expected all of it in one piece", name_of(symbol)));
    }
    return places_[symbol.section] + symbol.value;
  }
  [[nodiscard]] Symbol symbol(std::uint64_t number) const {
    return at<Symbol>(symbols_.offset + number * sizeof(Symbol));
  }
  std::uint64_t find(std::string_view name) const {
    for (std::uint64_t i = 1; i < symbols_.size / sizeof(Symbol); ++i) {
      const Symbol found = symbol(i);
      if (found.section != 0 && found.section < sections_.size() && name_of(found) == name) {
        return place_of(found);
      }
    }
    throw CompileError(fmt::format("the object defines no '{}'", name));
  }

  void apply(Image& image, std::uint32_t section, const Relocation& relocation) {
    const Symbol target = symbol(relocation.symbol());
    const std::uint64_t from = places_[section] + relocation.offset;
    const std::uint64_t to = place_of(target) + static_cast<std::uint64_t>(relocation.addend);
    if (from > image.bytes.size() || image.bytes.size() - from < 4) {
      throw CompileError("a relocation lies outside of the code");
    }
    unsigned char* const at = image.bytes.data() + from;
    const bool known = header_.machine == machine_x86_64
                           ? apply_x86_64(relocation.type(), at, from, to)
                           : apply_aarch64(relocation.type(), at, from, to);
    if (!known) {
      throw CompileError(fmt::format(
          "the code refers to '{}' by relocation {}, which depends on where it lies or is unknown",
          name_of(target), relocation.type()));
    }
  }

  static void add_word(unsigned char* at, std::uint32_t mask, std::uint64_t bits) {
    std::uint32_t word;
    std::memcpy(&word, at, 4);
    word = (word & ~mask) | (static_cast<std::uint32_t>(bits) & mask);
    std::memcpy(at, &word, 4);
  }

  static bool apply_x86_64(std::uint32_t type, unsigned char* at, std::uint64_t from,
                           std::uint64_t to) {
    constexpr std::uint32_t pc32 = 2, plt32 = 4;
    if (type != pc32 && type != plt32) {
      return false;
    }
    add_word(at, ~0u, to - from);
    return true;
  }

  static bool apply_aarch64(std::uint32_t type, unsigned char* at, std::uint64_t from,
                            std::uint64_t to) {
    enum : std::uint32_t {
      prel32 = 261,
      adr_prel_lo21 = 274,
      adr_prel_pg_hi21 = 275,
      add_abs_lo12 = 277,
      ldst8_lo12 = 278,
      jump26 = 282,
      call26 = 283,
      ldst16_lo12 = 284,
      ldst32_lo12 = 285,
      ldst64_lo12 = 286,
      ldst128_lo12 = 299
    };
    const auto immediate21 = [&](std::uint64_t distance) {
      add_word(at, 0x60ffffe0u, (distance & 3) << 29 | (distance >> 2 & 0x7ffff) << 5);
    };
    const auto immediate12 = [&](int scale) {
      add_word(at, 0x003ffc00u, ((to & 0xfff) >> scale) << 10);
    };
    switch (type) {
      case prel32:
        add_word(at, ~0u, to - from);
        return true;
      case adr_prel_lo21:
        immediate21(to - from);
        return true;
      case adr_prel_pg_hi21:
        immediate21((to >> 12) - (from >> 12));
        return true;
      case add_abs_lo12:
      case ldst8_lo12:
        immediate12(0);
        return true;
      case ldst16_lo12:
        immediate12(1);
        return true;
      case ldst32_lo12:
        immediate12(2);
        return true;
      case ldst64_lo12:
        immediate12(3);
        return true;
      case ldst128_lo12:
        immediate12(4);
        return true;
      case jump26:
      case call26:
        add_word(at, 0x03ffffffu, (to - from) >> 2);
        return true;
      default:
        return false;
    }
  }

  Bytes object_;
  Header header_;
  std::vector<Section> sections_;
  std::vector<std::uint64_t> places_;  // of sections in the image
  Section symbols_{};
};

}  // namespace

Image make_image(std::span<const unsigned char> object, std::string_view entry) {
  return Linker(object).run(entry);
}

std::string_view missing_symbol(std::span<const unsigned char> object) {
  return Linker(object).missing();
}

}  // namespace sinter::llvm
