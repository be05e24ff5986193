// SPDX-License-Identifier: BSD-3-Clause
// Parts of a configuration's table, for config_read.c. For src/config, and for scenarios of the
// lab.
#pragma once

#include "endpoints.h"
#include "schema.h"

struct hs_bus_keys;
struct hs_config;
struct hs_profile_config;

// Returns the index of the port with this name, or -1 if there is none.
int hs_config_port_index(const struct hs_config *config, const char *name);

// Largest tables that "memory" allows.
#define HS_CONFIG_MOST_RULES  4194304
#define HS_CONFIG_MOST_ROUTES 262144
// "control": fields of struct hs_config.
extern const struct hs_schema_field hs_config_control_fields[];
// Fills in the keys for lib/bus, borrowed from config. Returns false if the node uses no keys.
bool hs_config_keys(const struct hs_config *config, struct hs_bus_keys *keys);
// "aligned", "paper": enum hs_flexint_layout.
extern const struct hs_schema_word hs_config_layout_words[];
// "profiles" of struct hs_config.
extern const struct hs_schema_list hs_config_profile_list;
// Gives each port the profile that it names.
void hs_config_resolve_profiles(struct hs_config *config, struct hs_errors *errors);
// "export" of struct hs_config.
extern const struct hs_schema_list hs_config_export_list;
// Copies the receivers to the node's configuration, with the index of the port that each names.
void hs_config_resolve_exports(struct hs_config *config, struct hs_errors *errors);
// One profile: the fields of struct hs_profile_config, the profile before it is read, and the check
// of a profile that was read. The check fills in the settings.
extern const struct hs_schema_field hs_config_profile_fields[];
extern const struct hs_profile_config hs_config_profile_fresh;
void hs_config_check_profile(
		struct hs_profile_config *profile, const char *path, struct hs_errors *errors);
// Checks a profile of method label that was read, and fills in `label`.
#define HS_CONFIG_LABEL_MOST_NS INT64_C(3600000000000)
int hs_config_check_label(
		struct hs_profile_config *profile, const char *path, struct hs_error *err);
// Checks what ports that label need of the others, and of `export`.
void hs_config_check_labels(struct hs_config *config, struct hs_errors *errors);
// Checks a profile of method probe that was read, and fills in `probe`.
#define HS_CONFIG_PROBE_MOST_NS	 INT64_C(3600000000000)
#define HS_CONFIG_PROBE_MOST_PPS 100000000
int hs_config_check_probe(
		struct hs_profile_config *profile, const char *path, struct hs_error *err);
// Returns how many copies of probes a worker holds at most; 0: no port has probes.
uint32_t hs_config_held(const struct hs_config *config);
// Returns how many buffers of fragments a worker holds at most; 0: no items of INT-label end here.
uint32_t hs_config_waiting(const struct hs_config *config);
// Checks what ports with probes need of each other and of the node.
void hs_config_check_probes(struct hs_config *config, struct hs_errors *errors);
// "0.5", "1.0", "2.0": enum hs_int_report_version.
extern const struct hs_schema_word hs_config_report_words[];
// "busy", "adaptive", and a list of cores: fields of struct hs_config.
extern const struct hs_schema_word hs_config_polling_words[];
extern const struct hs_schema_list hs_config_worker_list;
// The device of struct hs_port_config: rows of HS_SCHEMA_CUSTOM.
int hs_config_read_iface(json_t *value, const char *path, void *into, struct hs_error *err);
int hs_config_read_devargs(json_t *value, const char *path, void *into, struct hs_error *err);
int hs_config_read_pci(json_t *value, const char *path, void *into, struct hs_error *err);
int hs_config_read_driver(json_t *value, const char *path, void *into, struct hs_error *err);
json_t *hs_config_print_iface(const void *port);
json_t *hs_config_print_devargs(const void *port);
json_t *hs_config_print_pci(const void *port);
json_t *hs_config_print_driver(const void *port);
#define HS_CONFIG_IFACE_SHAPE	"{'type': 'string', 'minLength': 1, 'maxLength': 15}"
#define HS_CONFIG_DEVARGS_SHAPE "{'type': 'string', 'minLength': 1, 'maxLength': 255}"
#define HS_CONFIG_PCI_SHAPE	"{'type': 'string', 'minLength': 1, 'maxLength': 32}"
#define HS_CONFIG_DRIVER_SHAPE	"{'enum': ['af_xdp', 'af_packet']}"

// "ports" of struct hs_config.
extern const struct hs_schema_list hs_config_port_list;
