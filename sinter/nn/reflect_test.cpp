// SPDX-License-Identifier: MIT OR Apache-2.0
// Reflection: counts, names, references and constness of fields for many shapes of struct.
#include "sinter/nn/reflect.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sinter::nn {

// clang-format off
struct Empty {};
struct One { int alpha; };
struct Two { int a; double b_2; };
struct Widest {
  int a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16;
  float b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15;
  std::string last;
};
// clang-format on

struct NoDefault {
  int inner;
  explicit NoDefault(int x) : inner(x) {}
  NoDefault(NoDefault&&) = default;
};

struct Nested {
  Two two;
  Empty empty;
  std::array<Two, 3> pairs;
};

struct Containers {
  std::array<int, 5> numbers;
  std::vector<float> values;
  std::optional<Two> maybe;
  std::optional<bool> flag;
  std::variant<int, Two, std::string> either;
  std::string text;
  std::map<std::string, int> table;
  std::function<int(int)> call;
};

struct Pointers {
  bool on;
  bool* flags;
  const char* text;
  void (*call)(int);
  int One::* member;
  std::unique_ptr<Two> owned;
  std::shared_ptr<Nested> shared;
};

struct Unmovable {
  std::mutex mutex;
  std::atomic<int> count;
  NoDefault no_default;
  int after;
};

struct WithDefaults {
  int in = 1;
  int out = 2;
  bool bias = true;
  std::vector<std::optional<std::unique_ptr<int>>> deep = {};
  Two two = {.a = 3, .b_2 = 4.5};
};

class Private {
 public:
  explicit Private(int secret) : secret_(secret) {}
  int secret() const { return secret_; }
  int hidden() const { return hidden_; }

 private:
  int secret_;
  std::array<int, 2> pair_{};
  int hidden_ = 7;
  SINTER_FIELDS(secret_, pair_)
};

struct Listed : One {
  int raw[4] = {};
  int& alias;
  int kept = 5;
  SINTER_FIELDS(kept)
};

class ListsNone {
  int hidden_ = 0;

 public:
  int hidden() const { return hidden_; }
  SINTER_FIELDS()
};

namespace {

struct Anonymous {
  int inside;
  Two two;
};

template <class T>
struct Generic {
  T value;
  std::vector<T> values;
};

template <class T>
std::vector<std::string> names(T& object) {
  std::vector<std::string> out;
  for_each_field(object, [&](std::string_view name, auto&) { out.emplace_back(name); });
  return out;
}

TEST(Reflect, counts) {
  static_assert(field_count<Empty>() == 0);
  static_assert(field_count<One>() == 1);
  static_assert(field_count<Two>() == 2);
  static_assert(field_count<Widest>() == 32);
  static_assert(field_count<Nested>() == 3);
  static_assert(field_count<Containers>() == 8);
  static_assert(field_count<Pointers>() == 7);
  static_assert(field_count<Unmovable>() == 4);
  static_assert(field_count<WithDefaults>() == 5);
  static_assert(field_count<Private>() == 2);
  static_assert(field_count<Listed>() == 1);
  static_assert(field_count<ListsNone>() == 0);
  static_assert(field_count<const Two>() == 2);
}

// One struct for each count from 1 to 31, of alternating kinds of member.
// clang-format off: it does not settle on this macro
#define SINTER_TEST_SEQUENCE(X)                                                                   \
  X(1)                                                                                            \
  X(2)                                                                                            \
  X(3)                                                                                            \
  X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) \
      X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
// clang-format on
template <int n>
struct Chain;
template <>
struct Chain<0> {};
#define M1 std::string m1;
#define M2 M1 int m2;
#define M3 M2 std::vector<int> m3;
#define M4 M3 bool m4;
#define M5 M4 std::array<float, 2> m5;
#define M6 M5 std::optional<int> m6;
#define M7 M6 double m7;
#define M8 M7 Two m8;
#define M9 M8 int m9;
#define M10 M9 int m10;
#define M11 M10 int m11;
#define M12 M11 int m12;
#define M13 M12 std::string m13;
#define M14 M13 int m14;
#define M15 M14 int m15;
#define M16 M15 int m16;
#define M17 M16 int m17;
#define M18 M17 Empty m18;
#define M19 M18 int m19;
#define M20 M19 int m20;
#define M21 M20 int m21;
#define M22 M21 std::vector<Two> m22;
#define M23 M22 int m23;
#define M24 M23 int m24;
#define M25 M24 int m25;
#define M26 M25 std::unique_ptr<int> m26;
#define M27 M26 int m27;
#define M28 M27 int m28;
#define M29 M28 int m29;
#define M30 M29 int m30;
#define M31 M30 int m31;
#define X(n)        \
  template <>       \
  struct Chain<n> { \
    M##n            \
  };
SINTER_TEST_SEQUENCE(X)
#undef X

template <int n>
void expect_chain() {
  static_assert(field_count<Chain<n>>() == n);
  Chain<n> chain{};
  std::vector<std::string> expected;
  for (int i = 1; i <= n; ++i) {
    expected.push_back("m" + std::to_string(i));
  }
  EXPECT_EQ(names(chain), expected);
}

TEST(Reflect, every_count_up_to_32) {
#define X(n) expect_chain<n>();
  SINTER_TEST_SEQUENCE(X)
#undef X
  Widest widest{};
  const auto found = names(widest);
  ASSERT_EQ(found.size(), 32u);
  EXPECT_EQ(found[0], "a1");
  EXPECT_EQ(found[15], "a16");
  EXPECT_EQ(found[16], "b1");
  EXPECT_EQ(found[31], "last");
}

TEST(Reflect, names) {
  static_assert(field_name<One, 0>() == "alpha");
  static_assert(field_name<Two, 1>() == "b_2");
  static_assert(field_name<Anonymous, 0>() == "inside");
  static_assert(field_name<Generic<Two>, 1>() == "values");
  static_assert(field_name<Unmovable, 2>() == "no_default");
  static_assert(field_name<Private, 0>() == "secret_");
  static_assert(field_name<Private, 1>() == "pair_");
  struct Local {
    int here;
    std::optional<Anonymous> there;
  };
  static_assert(field_name<Local, 1>() == "there");
  Pointers pointers{};
  EXPECT_EQ(names(pointers),
            (std::vector<std::string>{"on", "flags", "text", "call", "member", "owned", "shared"}));
  Containers containers{};
  EXPECT_EQ(names(containers), (std::vector<std::string>{"numbers", "values", "maybe", "flag",
                                                         "either", "text", "table", "call"}));
}

TEST(Reflect, fields_are_references_into_the_object) {
  WithDefaults object;
  int calls = 0;
  for_each_field(object, [&](std::string_view name, auto& field) {
    ++calls;
    if constexpr (std::is_same_v<decltype(field), int&>) {
      field += 10;
      EXPECT_EQ(&field, name == "in" ? &object.in : &object.out);
    }
  });
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(object.in, 11);
  EXPECT_EQ(object.out, 12);
}

TEST(Reflect, const_objects_give_const_fields) {
  const Two object{1, 2.5};
  double sum = 0;
  for_each_field(object, [&](std::string_view, auto& field) {
    static_assert(std::is_const_v<std::remove_reference_t<decltype(field)>>);
    sum += field;
  });
  EXPECT_EQ(sum, 3.5);
  const Private hidden(4);
  for_each_field(hidden, [&](std::string_view, auto& field) {
    static_assert(std::is_const_v<std::remove_reference_t<decltype(field)>>);
  });
}

TEST(Reflect, moves_through_move_only_fields) {
  Pointers from{};
  from.owned = std::make_unique<Two>(Two{1, 2});
  const Two* before = from.owned.get();
  std::unique_ptr<Two> taken;
  for_each_field(from, [&](std::string_view, auto& field) {
    if constexpr (std::is_same_v<decltype(field), std::unique_ptr<Two>&>) {
      taken = std::move(field);
    }
  });
  EXPECT_EQ(taken.get(), before);
  EXPECT_EQ(from.owned, nullptr);
}

TEST(Reflect, listed_fields_reach_private_members) {
  Private object(3);
  for_each_field(object, [](std::string_view name, auto& field) {
    if constexpr (std::is_same_v<decltype(field), int&>) {
      EXPECT_EQ(name, "secret_");
      field = 9;
    }
  });
  EXPECT_EQ(object.secret(), 9);
  int outside = 1;
  Listed listed{{2}, {}, outside};
  EXPECT_EQ(names(listed), std::vector<std::string>{"kept"});
  ListsNone none;
  EXPECT_TRUE(names(none).empty());
  class Local {
    int x_ = 1;
    SINTER_FIELDS(x_)
  };
  static_assert(field_name<Local, 0>() == "x_");
}

TEST(Reflect, concept_) {
  static_assert(Reflectable<Two> && Reflectable<const Two> && Reflectable<Private>);
  static_assert(!Reflectable<int> && !Reflectable<std::string> && !Reflectable<NoDefault>);
  static_assert(!Reflectable<Two*> && !Reflectable<std::vector<int>>);
}

TEST(Reflect, works_at_compile_time) {
  constexpr int sum = [] {
    One one{41};
    for_each_field(one, [](std::string_view, int& field) { ++field; });
    return one.alpha;
  }();
  static_assert(sum == 42);
}

TEST(TypeName, is_short) {
  static_assert(type_name<Two>() == "Two");
  static_assert(type_name<Anonymous>() == "Anonymous");
  static_assert(type_name<int>() == "int");
  EXPECT_EQ(type_name<Generic<Two>>(), "Generic<Two>");
  EXPECT_EQ(type_name<std::vector<Generic<Two>>>(), "vector<Generic<Two>>");
  EXPECT_EQ(type_name<std::string>(), "string");
  EXPECT_EQ(type_name<std::unique_ptr<Two>>(), "unique_ptr<Two>");
  struct Local {};
  EXPECT_EQ(type_name<Local>(), "Local");
  EXPECT_EQ(type_name<std::optional<std::vector<Local>>>(), "optional<vector<Local>>");
}

}  // namespace
}  // namespace sinter::nn
