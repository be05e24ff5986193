// SPDX-License-Identifier: BSD-3-Clause
#include "config_port.h"

#include "config.h"

#include "schema.h"

#include <errno.h>
#include <stdio.h>
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

static int read_iface(json_t *value, const char *path, void *into, struct hs_error *err)
{
	return set_device(value, path, HS_PORT_IFACE, 15, into, err);
}

static int read_devargs(json_t *value, const char *path, void *into, struct hs_error *err)
{
	if (set_device(value, path, HS_PORT_DEVARGS, 255, into, err) < 0)
		return -EINVAL;
	// Only a running DPDK knows which of these drivers it has. Other kinds of devices carry no
	// packets.
	if (strncmp(json_string_value(value), "net_", 4) != 0)
		return hs_error_set(err, "bad_value", path, "like net_memif0,role=client",
				"\"%.64s\" is no network device of DPDK", json_string_value(value));
	return 0;
}

static int read_pci(json_t *value, const char *path, void *into, struct hs_error *err)
{
	if (set_device(value, path, HS_PORT_PCI, 32, into, err) < 0)
		return -EINVAL;

	const char *text = json_string_value(value);
	unsigned domain = 0, bus, device, function;
	int used = 0;
	bool full = sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &used) == 4;
	bool brief = !full && sscanf(text, "%x:%x.%x%n", &bus, &device, &function, &used) == 3;
	if ((!full && !brief) || text[used] != '\0')
		return hs_error_set(err, "bad_value", path, "like 0000:3b:00.0",
				"\"%.32s\" is no PCI address", text);
	return 0;
}

static json_t *print_device(const struct hs_port_config *port, enum hs_port_kind kind)
{
	return port->kind == kind ? json_string(port->device) : NULL;
}

static json_t *print_iface(const void *port)
{
	return print_device(port, HS_PORT_IFACE);
}

static json_t *print_devargs(const void *port)
{
	return print_device(port, HS_PORT_DEVARGS);
}

static json_t *print_pci(const void *port)
{
	return print_device(port, HS_PORT_PCI);
}

static int read_driver(json_t *value, const char *path, void *into, struct hs_error *err)
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

static json_t *print_driver(const void *from)
{
	const struct hs_port_config *port = from;
	return port->driver[0] ? json_string(port->driver) : NULL;
}

#define PORT(member) HS_SCHEMA_MEMBER(struct hs_port_config, member)
static const struct hs_schema_field port_fields[] = {
		{"name", HS_SCHEMA_TEXT, PORT(name), .min = 1, .max = HS_PORT_NAME_MAX - 1},
		{"iface", HS_SCHEMA_CUSTOM, .read = read_iface, .print = print_iface},
		{"devargs", HS_SCHEMA_CUSTOM, .read = read_devargs, .print = print_devargs},
		{"pci", HS_SCHEMA_CUSTOM, .read = read_pci, .print = print_pci},
		{"driver", HS_SCHEMA_CUSTOM, .read = read_driver, .print = print_driver},
		{"side", HS_SCHEMA_WORD, PORT(side), .words = side_words,
				.expected = "host or network"},
		{"mtu", HS_SCHEMA_UINT, PORT(mtu), .min = HS_PORT_MTU_MIN, .max = HS_PORT_MTU_MAX},
		{"rx_queues", HS_SCHEMA_UINT, PORT(rx_queues), .min = 1, .max = HS_MAX_WORKERS},
		{NULL},
};

int hs_config_read_ports(json_t *list, const char *path, void *into, struct hs_error *err)
{
	struct hs_config *config = into;
	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, "a list", err);
	if (json_array_size(list) > HS_MAX_PORTS)
		return hs_error_set(err, "out_of_range", path, "at most 32 ports",
				"the list has %zu ports", json_array_size(list));

	size_t i;
	json_t *item;
	json_array_foreach (list, i, item) {
		struct hs_port_config *port = &config->ports[i];
		*port = (struct hs_port_config){.mtu = 1500, .rx_queues = 1};
		char at[32];
		snprintf(at, sizeof(at), "%s[%zu]", path, i);
		if (hs_schema_read(port_fields, item, at, port, err) < 0)
			return -EINVAL;
		// There is no default: if a port were taken for inside by mistake, the node would
		// trust what hosts send.
		if (!json_object_get(item, "side")) {
			snprintf(at, sizeof(at), "%s[%zu].side", path, i);
			return hs_error_set(err, "missing_field", at, "host or network",
					"the port has no side");
		}
	}
	config->n_ports = (unsigned)json_array_size(list);
	return 0;
}

json_t *hs_config_print_ports(const void *from)
{
	const struct hs_config *config = from;
	json_t *list = json_array();
	for (unsigned i = 0; i < config->n_ports; i++)
		json_array_append_new(list, hs_schema_print(port_fields, &config->ports[i]));
	return list;
}
