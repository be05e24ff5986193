// SPDX-License-Identifier: BSD-3-Clause
#include "config_parts.h"

#include "config.h"
#include "config_check.h"
#include "machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_schema_word side_words[] = {
		{"host", HS_SIDE_HOST},
		{"network", HS_SIDE_NETWORK},
		{NULL, 0},
};

static int set_device(json_t *value, const char *path, enum hs_port_kind kind, size_t max,
		struct hs_port_config *port, struct hs_error *err)
{
	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, "a string", err);
	size_t len = json_string_length(value);
	if (len == 0 || len > max || strlen(json_string_value(value)) != len) {
		char bounds[48];
		snprintf(bounds, sizeof(bounds), "1 to %zu bytes", max);
		return hs_error_set(
				err, "out_of_range", path, bounds, "the string has %zu bytes", len);
	}
	if (port->device[0])
		return hs_error_set(err, "conflict", path, "one of iface, devargs, pci",
				"this port already has another device");
	port->kind = kind;
	memcpy(port->device, json_string_value(value), len + 1);
	return 0;
}

int hs_config_read_iface(json_t *value, const char *path, void *into, struct hs_error *err)
{
	return set_device(value, path, HS_PORT_IFACE, 15, into, err);
}

// Returns whether net_vhost would offer segmentation to its guest.
static bool offers_segmentation(const char *devargs)
{
	const char *tso = strstr(devargs, ",tso=");

	return strncmp(devargs, "net_vhost", 9) == 0 && tso &&
	       strtoul(tso + strlen(",tso="), NULL, 0) != 0; // as the driver reads it
}

int hs_config_read_devargs(json_t *value, const char *path, void *into, struct hs_error *err)
{
	if (set_device(value, path, HS_PORT_DEVARGS, 255, into, err) < 0)
		return -EINVAL;
	// Only a running DPDK knows which of these drivers it has. Other kinds of devices carry no
	// packets.
	if (strncmp(json_string_value(value), "net_", 4) != 0)
		return hs_error_set(err, "bad_value", path, "like net_memif0,role=client",
				"\"%.64s\" is no network device of DPDK", json_string_value(value));
	if (offers_segmentation(json_string_value(value)))
		return hs_error_set(err, "unsupported", path, "net_vhost without tso",
				"with tso, a guest sends large frames, and the driver gives them "
				"to the node without what is needed to cut them");
	return 0;
}

int hs_config_read_pci(json_t *value, const char *path, void *into, struct hs_error *err)
{
	if (set_device(value, path, HS_PORT_PCI, 32, into, err) < 0)
		return -EINVAL;

	const char *text = json_string_value(value);
	char name[HS_MACHINE_PCI_BYTES];
	if (!hs_machine_pci_name(text, name))
		return hs_error_set(err, "bad_value", path, "like 0000:3b:00.0",
				"\"%.32s\" is no PCI address", text);
	return 0;
}

static json_t *print_device(const struct hs_port_config *port, enum hs_port_kind kind)
{
	return port->kind == kind ? json_string(port->device) : NULL;
}

json_t *hs_config_print_iface(const void *port)
{
	return print_device(port, HS_PORT_IFACE);
}

json_t *hs_config_print_devargs(const void *port)
{
	return print_device(port, HS_PORT_DEVARGS);
}

json_t *hs_config_print_pci(const void *port)
{
	return print_device(port, HS_PORT_PCI);
}

int hs_config_read_driver(json_t *value, const char *path, void *into, struct hs_error *err)
{
	struct hs_port_config *port = into;
	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, "af_xdp or af_packet", err);
	const char *text = json_string_value(value);
	if (strcmp(text, "af_xdp") != 0 && strcmp(text, "af_packet") != 0)
		return hs_error_set(err, "bad_value", path, "af_xdp or af_packet",
				"\"%.64s\" is not known", text);
	snprintf(port->driver, sizeof(port->driver), "%s", text);
	return 0;
}

json_t *hs_config_print_driver(const void *from)
{
	const struct hs_port_config *port = from;
	return port->driver[0] ? json_string(port->driver) : NULL;
}

static bool has_queue(const void *from)
{
	return ((const struct hs_port_config *)from)->rate_bps;
}

#define PORT(member) HS_SCHEMA_MEMBER(struct hs_port_config, member)
static const struct hs_schema_field port_fields[] = {
		{"name", HS_SCHEMA_TEXT, PORT(name), .demanded = true, .min = 1,
				.max = HS_PORT_NAME_MAX - 1},
		{"iface", HS_SCHEMA_CUSTOM, .read = hs_config_read_iface,
				.print = hs_config_print_iface, .shape = HS_CONFIG_IFACE_SHAPE},
		{"devargs", HS_SCHEMA_CUSTOM, .read = hs_config_read_devargs,
				.print = hs_config_print_devargs, .shape = HS_CONFIG_DEVARGS_SHAPE},
		{"pci", HS_SCHEMA_CUSTOM, .read = hs_config_read_pci, .print = hs_config_print_pci,
				.shape = HS_CONFIG_PCI_SHAPE},
		{"driver", HS_SCHEMA_CUSTOM, .read = hs_config_read_driver,
				.print = hs_config_print_driver, .shape = HS_CONFIG_DRIVER_SHAPE},
		// There is no default: if a port were taken for inside by mistake, the node would
		// trust what hosts send.
		{"side", HS_SCHEMA_WORD, PORT(side), .required = true, .words = side_words},
		{"profile", HS_SCHEMA_TEXT, PORT(profile), .min = 1, .max = HS_PORT_NAME_MAX - 1},
		{"mtu", HS_SCHEMA_UINT, PORT(mtu), .min = HS_PORT_MTU_MIN, .max = HS_PORT_MTU_MAX},
		{"rx_queues", HS_SCHEMA_UINT, PORT(rx_queues), .min = 1, .max = HS_MAX_WORKERS},
		{"id", HS_SCHEMA_UINT, PORT(id), .min = 1, .max = UINT32_MAX},
		{"rate_bps", HS_SCHEMA_UINT, PORT(rate_bps), .min = HS_PORT_RATE_MIN,
				.max = HS_PORT_RATE_MAX, .given = has_queue},
		{"queue_packets", HS_SCHEMA_UINT, PORT(queue_packets), .min = 1,
				.max = HS_PORT_QUEUE_MAX, .given = has_queue},
		{NULL},
};

const struct hs_schema_list hs_config_port_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = port_fields},
		HS_SCHEMA_ITEMS(struct hs_config, ports),
		HS_SCHEMA_COUNT(struct hs_config, n_ports),
		.noun = "ports",
		.fresh = &(const struct hs_port_config){.mtu = 1500, .rx_queues = 1},
};

// ---- checks ----

static int check_name(const struct hs_config *config, unsigned index, struct hs_error *err)
{
	const char *name = config->ports[index].name;
	char at[32];

	snprintf(at, sizeof(at), "ports[%u].name", index);
	if (!name[0])
		return hs_error_set(err, "missing_field", at, "", "the port has no name");
	if (hs_schema_check_name(name, at, err) < 0)
		return -EINVAL;
	int first = hs_config_port_index(config, name);
	return first == (int)index ? 0
				   : hs_error_set(err, "duplicate", at, "a name of its own",
						     "port %d is called \"%s\" too", first, name);
}

// A device's name ends where its arguments begin.
static int device_name_bytes(const char *device)
{
	return (int)strcspn(device, ",");
}

static bool is_same_device(const struct hs_port_config *a, const struct hs_port_config *b)
{
	char one[HS_MACHINE_PCI_BYTES], other[HS_MACHINE_PCI_BYTES];
	int bytes = device_name_bytes(a->device);

	if (a->kind == HS_PORT_PCI && b->kind == HS_PORT_PCI)
		return hs_machine_pci_name(a->device, one) &&
		       hs_machine_pci_name(b->device, other) && strcmp(one, other) == 0;
	return bytes == device_name_bytes(b->device) &&
	       memcmp(a->device, b->device, (size_t)bytes) == 0;
}

static int check_device(const struct hs_config *config, unsigned index, struct hs_error *err)
{
	const struct hs_port_config *port = &config->ports[index];
	char at[32];

	snprintf(at, sizeof(at), "ports[%u]", index);
	if (!port->device[0])
		return hs_error_set(err, "missing_field", at, "one of iface, devargs, pci",
				"the port has no device");
	for (unsigned i = 0; i < index; i++) {
		if (is_same_device(port, &config->ports[i]))
			return hs_error_set(err, "duplicate", at, "a device of its own",
					"port %u has the device \"%.*s\" too", i,
					device_name_bytes(port->device), port->device);
	}
	return 0;
}

static int check_driver(const struct hs_config *config, unsigned index, struct hs_error *err)
{
	const struct hs_port_config *port = &config->ports[index];
	char at[32];

	snprintf(at, sizeof(at), "ports[%u].driver", index);
	return !port->driver[0] || port->kind == HS_PORT_IFACE
			       ? 0
			       : hs_error_set(err, "conflict", at, "only beside iface",
						 "a driver can be chosen for kernel interfaces "
						 "only");
}

static int check_mtu(const struct hs_config *config, unsigned index, struct hs_error *err)
{
	const struct hs_port_config *port = &config->ports[index];
	char at[32], expected[48];

	if (strcmp(port->driver, "af_xdp") != 0 || port->mtu <= HS_PORT_XDP_MTU_MAX)
		return 0;
	snprintf(at, sizeof(at), "ports[%u].mtu", index);
	snprintf(expected, sizeof(expected), "at most %d with driver af_xdp", HS_PORT_XDP_MTU_MAX);
	return hs_error_set(err, "out_of_range", at, expected,
			"a frame of an MTU of %u has no room in a page", port->mtu);
}

static int check_queue(const struct hs_config *config, unsigned index, struct hs_error *err)
{
	const struct hs_port_config *port = &config->ports[index];
	const char *given = port->rate_bps ? "rate_bps" : "queue_packets";
	const char *missing = port->rate_bps ? "queue_packets" : "rate_bps";
	char at[48], beside[48];

	if (!port->rate_bps == !port->queue_packets)
		return 0;
	snprintf(at, sizeof(at), "ports[%u].%s", index, missing);
	snprintf(beside, sizeof(beside), "%s beside %s, or neither", missing, given);
	return hs_error_set(err, "missing_field", at, beside, "the port has %s only", given);
}

// A check of members of a port. NULL ends the members.
static const struct part {
	const char *of[6];
	int (*check)(const struct hs_config *config, unsigned index, struct hs_error *err);
} parts[] = {
		{{"name"}, check_name},
		{{"iface", "devargs", "pci"}, check_device},
		{{"driver", "iface", "devargs", "pci"}, check_driver},
		{{"driver", "iface", "devargs", "pci", "mtu"}, check_mtu},
		{{"rate_bps", "queue_packets"}, check_queue},
};

// Returns whether one of the first `n` errors is in one of these members of the port.
static bool is_wrong(const struct hs_errors *errors, unsigned n, unsigned index,
		const char *const members[])
{
	char at[48];

	for (; *members; members++) {
		snprintf(at, sizeof(at), "ports[%u].%s", index, *members);
		if (hs_errors_touch(errors, n, (const char *const[]){at, NULL}))
			return true;
	}
	return false;
}

void hs_config_check_ports(const struct hs_config *config, struct hs_errors *errors)
{
	unsigned n = errors->n; // found before
	struct hs_error err;

	for (unsigned i = 0; i < config->n_ports; i++)
		for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
			if (!is_wrong(errors, n, i, parts[p].of) &&
					parts[p].check(config, i, &err) < 0)
				hs_errors_keep(errors, &err);
}

int hs_config_port_index(const struct hs_config *config, const char *name)
{
	for (unsigned i = 0; i < config->n_ports; i++) {
		if (strcmp(config->ports[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}
