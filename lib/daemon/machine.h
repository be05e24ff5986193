// SPDX-License-Identifier: BSD-3-Clause
// Checks whether the machine has what a configuration names. Changes nothing.
//
// Each function adds an error of the code "not_there" to *lacks if something is missing, with
// `path`, the place in the configuration. Thread rule: any.
#pragma once

#include "errors.h"

#include <stdbool.h>

// Checks the folder of a file that is to be written. The folder must exist and be writable. With
// `made`, the program creates the folder: then the nearest folder above it that exists must be
// writable. The file itself must be no folder.
void hs_machine_folder(const char *file, bool made, const char *path, struct hs_errors *lacks);

// Checks the folder of each ipc endpoint's socket, which the program creates. `path` is that of the
// list.
void hs_machine_endpoints(const char *const *endpoints, unsigned n, const char *path,
		struct hs_errors *lacks);

// Checks that this network namespace has a network interface.
void hs_machine_iface(const char *name, const char *path, struct hs_errors *lacks);
// Writes the kernel's name of a PCI device, such as "0000:3b:00.0". The address may have no domain,
// capital letters or fewer digits than the kernel writes. Returns false for any other text.
#define HS_MACHINE_PCI_BYTES 40
bool hs_machine_pci_name(const char *address, char name[HS_MACHINE_PCI_BYTES]);
// Checks that there is a PCI device of this address.
void hs_machine_pci(const char *address, const char *path, struct hs_errors *lacks);
