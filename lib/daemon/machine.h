// SPDX-License-Identifier: BSD-3-Clause
// Whether the machine has what a configuration names. Nothing is changed.
//
// Each function adds an error of the code "not_there" to *lacks if something is missing, with
// `path`, the place in the configuration. Thread rule: any.
#pragma once

#include "errors.h"

// The folder of a file that is to be written: it must be there, or with `made`, a folder above it,
// in which it can be made. The file itself must be no folder.
void hs_machine_folder(const char *file, bool made, const char *path, struct hs_errors *lacks);

// The folder of the socket of each ipc endpoint, which is made. `path` is that of the list.
void hs_machine_endpoints(const char *const *endpoints, unsigned n, const char *path,
		struct hs_errors *lacks);

// A network interface of this network namespace.
void hs_machine_iface(const char *name, const char *path, struct hs_errors *lacks);
// A PCI device, by its address.
void hs_machine_pci(const char *address, const char *path, struct hs_errors *lacks);
