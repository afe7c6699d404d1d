// SPDX-License-Identifier: MIT OR Apache-2.0
// dlopen and LoadLibrary behind one face.
#include "sinter/base/os/library.hpp"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace sinter::os {

namespace {

void* open_one(const std::string& name, std::string& error) {
#ifdef _WIN32
  void* handle = reinterpret_cast<void*>(LoadLibraryA(name.c_str()));
  if (handle == nullptr) {
    error += name + ": error " + std::to_string(GetLastError()) + "; ";
  }
#else
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    error += (reason != nullptr ? std::string(reason) : name) + "; ";
  }
#endif
  return handle;
}

}  // namespace

DynamicLibrary DynamicLibrary::open_file(const std::string& path) {
  DynamicLibrary library;
  library.handle_ = open_one(path, library.error_);
  return library;
}

DynamicLibrary DynamicLibrary::open(const std::string& names) {
  DynamicLibrary library;
  std::size_t begin = 0;
  while (begin < names.size() && library.handle_ == nullptr) {
    std::size_t end = names.find(' ', begin);
    end = end == std::string::npos ? names.size() : end;
    if (end > begin) {
      library.handle_ = open_one(names.substr(begin, end - begin), library.error_);
    }
    begin = end + 1;
  }
  if (library.handle_ != nullptr) {
    library.error_.clear();
  }
  return library;
}

void* DynamicLibrary::symbol(const char* name) const noexcept {
  if (handle_ == nullptr) {
    return nullptr;
  }
#ifdef _WIN32
  return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(handle_), name));
#else
  return dlsym(handle_, name);
#endif
}

}  // namespace sinter::os
