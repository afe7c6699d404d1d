// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of settings, and the places they are read from.
#include "sinter/base/config.hpp"

#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <mutex>
#include <optional>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter::config {

namespace {

struct Row {
  std::string_view name;
  bool is_text;
  std::int64_t start;
  std::int64_t low;
  std::int64_t high;
  std::string_view help;
};

// In the order of the enumeration, which is sorted by name.
constexpr std::array rows = {
    Row{"cache", true, 0, 0, 0, "folder of compiled kernels; off for none, empty for the user's"},
    Row{"debug", false, 0, 0, 6, "checks and messages: 0 none, up to 6 everything"},
    Row{"fusion", false, 1, 0, 2,
        "one kernel for what meets: 0 never, 1 if large, 2 at once, always"},
    Row{"isa", true, 0, 0, 0, "force an instruction set of the CPU kernels; empty for the best"},
    Row{"llvm", true, 0, 0, 0, "path of the LLVM plug-in; off for none, empty to look for it"},
    Row{"memory_limit", false, 0, 0, INT64_MAX, "most bytes of host memory held; 0 for no limit"},
    Row{"threads", false, 0, 0, 1024, "threads of one operation; 0 for the usable processors"},
    Row{"view", true, 0, 0, 0, "folder that gets groups, kernels and code as text; empty: none"},
};
constexpr std::size_t count = rows.size();

struct Value {
  std::atomic<std::int64_t> integer{0};
  std::string text;
  Source source = Source::built_in;
};

struct Override {
  std::size_t index;
  std::int64_t integer;
  std::string text;
};

struct Registry {
  std::mutex mutex;
  std::atomic<bool> loaded{false};
  std::array<Value, count> values;
};

// Leaked, so that settings may be read at exit.
Registry& registry() {
  static Registry* const made = new Registry();
  return *made;
}

thread_local std::vector<Override> overrides;
thread_local int override_count = 0;

std::string environment_name(std::string_view name) {
  std::string result = "SINTER_";
  for (const char c : name) {
    result += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::size_t index_of(std::string_view name, const std::string& place) {
  for (std::size_t i = 0; i < count; ++i) {
    if (rows[i].name == name) {
      return i;
    }
  }
  std::string known;
  for (const Row& row : rows) {
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw ArgumentError(place + ": no setting is called '" + std::string(name) + "'; there are " +
                      known);
}

std::int64_t parse(const Row& row, std::string_view text, const std::string& place) {
  const std::string_view digits = trimmed(text);
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  bool good = error == std::errc();
  if (good && rest + 1 == end) {
    const std::size_t unit = std::string_view("KMG").find(
        static_cast<char>(std::toupper(static_cast<unsigned char>(*rest))));
    const int shift = 10 * (static_cast<int>(unit) + 1);
    good = unit != std::string_view::npos && value >= 0 && value <= (INT64_MAX >> shift);
    value = good ? value << shift : value;
  } else {
    good = good && rest == end;
  }
  if (!good || value < row.low || value > row.high) {
    throw ArgumentError(place + ": expected for '" + std::string(row.name) +
                        "' a whole number from " + std::to_string(row.low) + " to " +
                        std::to_string(row.high) + ", got '" + std::string(text) + "'");
  }
  return value;
}

void assign(Value& value, const Row& row, std::string_view text, Source source,
            const std::string& place) {
  if (row.is_text) {
    value.text = trimmed(text);
  } else {
    value.integer.store(parse(row, text, place), std::memory_order_relaxed);
  }
  value.source = source;
}

void read_config_file(std::array<Value, count>& values) {
  const std::optional<std::string> named = os::environment("SINTER_CONFIG");
  const std::string path = named.value_or("sinter.conf");
  if (path.empty() || (!named && !os::path_exists(path))) {
    return;
  }
  const std::string content = os::read_file(path, std::size_t{1} << 20);
  int number = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    std::size_t end = content.find('\n', begin);
    end = end == std::string::npos ? content.size() : end;
    std::string_view line(content.data() + begin, end - begin);
    begin = end + 1;
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) {
      continue;
    }
    const std::string place = path + ":" + std::to_string(number);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      throw ArgumentError(place + ": expected 'name = value', got '" + std::string(line) + "'");
    }
    const std::size_t i = index_of(trimmed(line.substr(0, equals)), place);
    assign(values[i], rows[i], line.substr(equals + 1), Source::file, place);
  }
}

/// Reads everything into fresh values first, so that a mistake changes nothing.
void load(Registry& to) {
  std::array<Value, count> fresh;
  for (std::size_t i = 0; i < count; ++i) {
    fresh[i].integer = rows[i].start;
  }
  read_config_file(fresh);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string variable = environment_name(rows[i].name);
    if (const std::optional<std::string> text = os::environment(variable.c_str())) {
      if (!text->empty()) {
        assign(fresh[i], rows[i], *text, Source::environment, variable);
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    to.values[i].integer.store(fresh[i].integer.load(), std::memory_order_relaxed);
    to.values[i].text = fresh[i].text;
    to.values[i].source = fresh[i].source;
  }
  to.loaded.store(true, std::memory_order_release);
}

Registry& loaded_registry() {
  Registry& from = registry();
  if (!from.loaded.load(std::memory_order_acquire)) {
    const std::lock_guard lock(from.mutex);
    if (!from.loaded.load(std::memory_order_relaxed)) {
      load(from);
    }
  }
  return from;
}

const Override* override_of(std::size_t index) {
  if (override_count == 0) {
    return nullptr;
  }
  for (std::size_t i = overrides.size(); i-- > 0;) {
    if (overrides[i].index == index) {
      return &overrides[i];
    }
  }
  return nullptr;
}

}  // namespace

std::int64_t integer(Setting setting) {
  const std::size_t index = static_cast<std::size_t>(setting);
  SINTER_ASSERT(!rows[index].is_text);
  if (const Override* scoped = override_of(index)) {
    return scoped->integer;
  }
  return loaded_registry().values[index].integer.load(std::memory_order_relaxed);
}

std::string text(Setting setting) {
  const std::size_t index = static_cast<std::size_t>(setting);
  SINTER_ASSERT(rows[index].is_text);
  if (const Override* scoped = override_of(index)) {
    return scoped->text;
  }
  Registry& from = loaded_registry();
  const std::lock_guard lock(from.mutex);
  return from.values[index].text;
}

void set(std::string_view name, std::string_view value) {
  const std::size_t index = index_of(name, "config");
  Registry& to = loaded_registry();
  const std::lock_guard lock(to.mutex);
  assign(to.values[index], rows[index], value, Source::set, "config");
}

Scoped::Scoped(std::string_view name, std::string_view value) {
  Override made{index_of(name, "config"), 0, {}};
  if (rows[made.index].is_text) {
    made.text = trimmed(value);
  } else {
    made.integer = parse(rows[made.index], value, "config");
  }
  overrides.push_back(std::move(made));
  override_count = static_cast<int>(overrides.size());
}

Scoped::~Scoped() {
  overrides.pop_back();
  override_count = static_cast<int>(overrides.size());
}

std::vector<Entry> list() {
  Registry& from = loaded_registry();
  std::vector<Entry> entries;
  const std::lock_guard lock(from.mutex);
  for (std::size_t i = 0; i < count; ++i) {
    const Override* scoped = override_of(i);
    const std::int64_t number = scoped ? scoped->integer : from.values[i].integer.load();
    const std::string words = scoped ? scoped->text : from.values[i].text;
    entries.push_back({std::string(rows[i].name), environment_name(rows[i].name),
                       rows[i].is_text ? words : std::to_string(number), std::string(rows[i].help),
                       scoped ? Source::scoped : from.values[i].source});
  }
  return entries;
}

void reload() {
  Registry& to = registry();
  const std::lock_guard lock(to.mutex);
  load(to);
}

}  // namespace sinter::config
