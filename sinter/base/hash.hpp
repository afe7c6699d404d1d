// SPDX-License-Identifier: MIT OR Apache-2.0
// A 64-bit streaming hash for caches and content keys. Not for secrets.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace sinter {

/// Mixes 64 bits so that each input bit reaches every output bit (the MurmurHash3 finaliser).
constexpr std::uint64_t hash_mix(std::uint64_t x) noexcept {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

/// Joins a hash and one more word; the order matters.
constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) noexcept {
  return hash_mix(seed * 0x9e3779b97f4a7c15ull + value + 0x632be59bd9b4e019ull);
}

/// Hashes a stream of bytes. The digest depends on the bytes alone, not on how they were split nor
/// on the byte order of the machine, so it may name files.
class Hasher {
 public:
  explicit constexpr Hasher(std::uint64_t seed = 0) noexcept : state_(hash_mix(seed ^ prime)) {}

  Hasher& bytes(const void* data, std::size_t size) noexcept {
    const unsigned char* next = static_cast<const unsigned char*>(data);
    length_ += size;
    for (; size > 0 && pending_count_ != 0; --size) {
      byte(*next++);
    }
    for (; size >= 8; size -= 8, next += 8) {
      std::uint64_t whole = 0;
      std::memcpy(&whole, next, 8);
      word(std::endian::native == std::endian::big ? __builtin_bswap64(whole) : whole);
    }
    for (; size > 0; --size) {
      byte(*next++);
    }
    return *this;
  }

  /// The text and its length, so that ("ab", "c") and ("a", "bc") differ.
  Hasher& text(std::string_view value) noexcept {
    return bytes(value.data(), value.size()).value(value.size());
  }

  /// A number or enumerator, as 8 little-endian bytes.
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  Hasher& value(T number) noexcept {
    std::uint64_t wide = 0;
    if constexpr (std::is_floating_point_v<T>) {
      wide = std::bit_cast<std::uint64_t>(static_cast<double>(number));
    } else {
      wide = static_cast<std::uint64_t>(number);
    }
    unsigned char little[8];
    for (int i = 0; i < 8; ++i) {
      little[i] = static_cast<unsigned char>(wide >> (8 * i));
    }
    return bytes(little, 8);
  }

  std::uint64_t digest() const noexcept {
    return hash_combine(hash_combine(state_, pending_), length_);
  }

 private:
  static constexpr std::uint64_t prime = 0x9e3779b185ebca87ull;

  void word(std::uint64_t value) noexcept {
    state_ ^= std::rotl(value * 0xc2b2ae3d27d4eb4full, 31) * prime;
    state_ = std::rotl(state_, 27) * prime + 0x85ebca77c2b2ae63ull;
  }
  void byte(unsigned char value) noexcept {
    pending_ |= std::uint64_t{value} << (8 * pending_count_);
    if (++pending_count_ == 8) {
      word(pending_);
      pending_ = 0;
      pending_count_ = 0;
    }
  }

  std::uint64_t state_;
  std::uint64_t pending_ = 0;
  int pending_count_ = 0;
  std::uint64_t length_ = 0;
};

inline std::uint64_t hash_bytes(const void* data, std::size_t size,
                                std::uint64_t seed = 0) noexcept {
  return Hasher(seed).bytes(data, size).digest();
}

}  // namespace sinter
