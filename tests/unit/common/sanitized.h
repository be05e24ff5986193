// SPDX-License-Identifier: BSD-3-Clause
// A test with many random cases takes fewer of them in a build with a sanitizer. Such a build
// checks the memory of each case and takes ten times as long for it. The build that users get takes
// all.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

#define CASES(n) (SANITIZED ? (n) / 10 : (n))
