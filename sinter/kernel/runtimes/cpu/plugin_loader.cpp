// SPDX-License-Identifier: MIT OR Apache-2.0
// Finding, opening and calling the LLVM plug-in.
#include "sinter/kernel/runtimes/cpu/plugin_loader.hpp"

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "sinter/base/os/cpu.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/compilers/llvm/plugin.hpp"

namespace sinter::kernel {

namespace {

#ifdef _WIN32
constexpr std::string_view file_pattern = "{}.dll";
#elif defined(__APPLE__)
constexpr std::string_view file_pattern = "lib{}.dylib";
#else
constexpr std::string_view file_pattern = "lib{}.so";
#endif

std::string features_text() {
  const os::CpuFeatures& f = os::cpu_features();
  std::string text;
  for (const bool has : {f.sse42, f.avx, f.avx2, f.fma, f.f16c, f.bmi2, f.avx512f, f.avx512bw,
                         f.avx512dq, f.avx512vl, f.avx512vnni, f.avx512bf16, f.avx512fp16,
                         f.avx_vnni, f.amx_tile, f.amx_bf16, f.amx_int8, f.neon}) {
    text += has ? '1' : '0';
  }
  return text;
}

}  // namespace

std::string CompiledImage::str() const {
  std::string content(16, '\0');
  std::memcpy(content.data(), &entry, 8);
  std::memcpy(content.data() + 8, &scratch, 8);
  return content + code;
}

std::optional<CompiledImage> CompiledImage::parse(std::string_view content) {
  CompiledImage image;
  if (content.size() <= 16) {
    return std::nullopt;
  }
  std::memcpy(&image.entry, content.data(), 8);
  std::memcpy(&image.scratch, content.data() + 8, 8);
  image.code = content.substr(16);
  return image.entry < image.code.size() ? std::optional(image) : std::nullopt;
}

const std::string& compiler_key() {
  static const std::string key = fmt::format("llvm {} {} {} {}", llvm::interface_version,
                                             SINTER_LLVM_SOURCES, os::cpu_name(), features_text());
  return key;
}

std::string LlvmPlugin::find(const std::string& wanted) {
  if (wanted == "off") {
    return {};
  }
  if (!wanted.empty()) {
    return os::path_exists(wanted) ? wanted : std::string();
  }
  const std::string file = fmt::format(fmt::runtime(file_pattern), llvm::plugin_name);
  const std::string program = os::executable_path();
  const std::string folder = program.substr(0, program.find_last_of("/\\") + 1);
  for (const std::string& place : {folder, folder + "../lib/sinter/", folder + "../lib/",
                                   std::string(SINTER_LLVM_FOLDER "/")}) {
    if (os::path_exists(place + file)) {
      return place + file;
    }
  }
  return {};
}

void LlvmPlugin::open() {
  const std::lock_guard lock(mutex_);
  open_locked();
}

void LlvmPlugin::open_locked() {
  if (library_) {
    return;
  }
  const std::string path = find(path_);
  if (path.empty()) {
    throw DeviceError(fmt::format(
        "cpu: the LLVM plug-in {} was not found, so kernels can't be compiled; set SINTER_LLVM to "
        "its path, or use the device portable",
        path_.empty() ? fmt::format(fmt::runtime(file_pattern), llvm::plugin_name) : path_));
  }
  library_ = os::DynamicLibrary::open_file(path);
  if (!library_) {
    throw DeviceError(
        fmt::format("cpu: the LLVM plug-in can't be opened: {}; install llvm-19, or "
                    "use the device portable",
                    library_.error()));
  }
}

CompiledImage LlvmPlugin::compile(std::string_view name, std::string_view text,
                                  std::string* listing) {
  const std::lock_guard lock(mutex_);
  open_locked();
  auto* const run = reinterpret_cast<llvm::Compile*>(library_.symbol("sinter_llvm_compile"));
  auto* const release = reinterpret_cast<llvm::Release*>(library_.symbol("sinter_llvm_release"));
  if (run == nullptr || release == nullptr) {
    throw DeviceError(
        "cpu: the LLVM plug-in is none of Sinter's; set SINTER_LLVM to the right one");
  }
  llvm::Request request;
  request.text = text.data();
  request.text_bytes = text.size();
  request.listing = listing != nullptr ? 1 : 0;
  llvm::Result result;
  const int status = run(&request, &result);
  CompiledImage image;
  std::string problem;
  if (status == 0) {
    image.code.assign(reinterpret_cast<const char*>(result.image), result.image_bytes);
    image.entry = result.entry;
    image.scratch = result.scratch_bytes;
    if (listing != nullptr && result.listing != nullptr) {
      *listing = result.listing;
    }
  } else {
    problem = result.message != nullptr ? result.message : "no reason was given";
  }
  release(&result);
  if (status != 0) {
    throw CompileError(fmt::format("kernel {}: LLVM: {}", name, problem));
  }
  return image;
}

}  // namespace sinter::kernel
