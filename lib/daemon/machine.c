// SPDX-License-Identifier: BSD-3-Clause
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IPC "ipc://"

// Shortens the name of a file to that of its folder.
static void go_up(char *name)
{
	char *slash = strrchr(name, '/');

	if (!slash)
		strcpy(name, ".");
	else
		slash[slash == name] = '\0';
}

static void lack(struct hs_errors *lacks, const char *path, const char *name, const char *what)
{
	struct hs_error err = {0};

	hs_error_set(&err, "not_there", path, "", "\"%.160s\" %s", name, what);
	hs_errors_keep(lacks, &err);
}

void hs_machine_folder(const char *file, bool made, const char *path, struct hs_errors *lacks)
{
	char folder[PATH_MAX], what[96];
	struct stat status;

	if (stat(file, &status) == 0 && S_ISDIR(status.st_mode)) {
		lack(lacks, path, file, "is a folder");
		return;
	}
	snprintf(folder, sizeof(folder), "%s", file);
	go_up(folder);
	while (made && stat(folder, &status) < 0 && errno == ENOENT && strcmp(folder, ".") != 0)
		go_up(folder);
	if (stat(folder, &status) < 0) {
		snprintf(what, sizeof(what), "cannot be used: %s", strerror(errno));
		lack(lacks, path, folder, what);
	} else if (!S_ISDIR(status.st_mode)) {
		lack(lacks, path, folder, "is not a folder");
	} else if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0) {
		snprintf(what, sizeof(what), "cannot be written: %s", strerror(errno));
		lack(lacks, path, folder, what);
	}
}

void hs_machine_endpoints(
		const char *const *endpoints, unsigned n, const char *path, struct hs_errors *lacks)
{
	for (unsigned i = 0; i < n; i++) {
		char at[64];
		snprintf(at, sizeof(at), "%s[%u]", path, i);
		if (strncmp(endpoints[i], IPC "/", strlen(IPC "/")) == 0)
			hs_machine_folder(endpoints[i] + strlen(IPC), true, at, lacks);
	}
}

void hs_machine_iface(const char *name, const char *path, struct hs_errors *lacks)
{
	if (if_nametoindex(name) == 0)
		lack(lacks, path, name, "is no interface here");
}

bool hs_machine_pci_name(const char *address, char name[HS_MACHINE_PCI_BYTES])
{
	unsigned domain, bus, device, function;
	int end = 0;

	if (sscanf(address, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &end) != 4) {
		domain = 0;
		if (sscanf(address, "%x:%x.%x%n", &bus, &device, &function, &end) != 3)
			return false;
	}
	snprintf(name, HS_MACHINE_PCI_BYTES, "%04x:%02x:%02x.%x", domain, bus, device, function);
	return address[end] == '\0';
}

void hs_machine_pci(const char *address, const char *path, struct hs_errors *lacks)
{
	char device[96], name[HS_MACHINE_PCI_BYTES];

	if (hs_machine_pci_name(address, name)) {
		snprintf(device, sizeof(device), "/sys/bus/pci/devices/%s", name);
		if (access(device, F_OK) == 0)
			return;
	}
	lack(lacks, path, address, "is no PCI device here");
}
