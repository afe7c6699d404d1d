// SPDX-License-Identifier: MIT OR Apache-2.0
// Writing what the engine does.
#include "sinter/kernel/launch/view.hpp"

#include <atomic>

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/base/log.hpp"
#include "sinter/base/os/file.hpp"

namespace sinter::kernel {

namespace {

template <class Write>
void in_folder(Write&& write) {
  const std::string folder = config::text(config::Setting::view);
  if (folder.empty()) {
    return;
  }
  try {
    os::create_directories(folder);
    write(folder);
  } catch (const IoError& error) {
    log::lazy(log::Level::warning, [&] { return std::string("view: ") + error.what(); });
  }
}

}  // namespace

void view(std::string_view name, std::string_view ending, std::string_view content) {
  static std::atomic<int> next{0};
  in_folder([&](const std::string& folder) {
    os::write_file_atomic(
        os::join_path(folder, fmt::format("{:03}-{}.{}", next.fetch_add(1), name, ending)),
        content);
  });
}

void view_line(std::string_view name, std::string_view line) {
  in_folder([&](const std::string& folder) {
    os::append_file(os::join_path(folder, std::string(name)), fmt::format("{}\n", line));
  });
}

}  // namespace sinter::kernel
