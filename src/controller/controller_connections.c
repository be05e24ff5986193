// SPDX-License-Identifier: BSD-3-Clause
#include "controller_connections.h"

#include "bus.h"
#include "os_clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MOST_REPLY	   (1 << 20) // bytes; the counters of a node of 32 ports have 250 KiB
#define EVENTS_AT_ONCE	   64
#define MESSAGES_PER_ROUND 256
#define BYTES_PER_ROUND	   (256 << 10)
#define NS_PER_ROUND	   INT64_C(5000000) // of processor time
#define LOOK_NS		   INT64_C(50000000)
#define LOOKS		   20 // rounds until each node was checked once

struct hs_controller_connections {
	const struct hs_controller_config *config;
	int epoll_fd;
	struct hs_bus_peer **peers;
	bool *stirred; // the node may have sent something
	unsigned turn; // whose turn it is if one round cannot read all
	struct hs_bus_subscriber *subscribers[HS_MAX_ENDPOINTS];
	int64_t look_ns;
	unsigned looked; // the node that is checked next
};

// ---- keys ----

static const char *file_of(const char *text)
{
	return text[0] ? text : NULL;
}

bool hs_controller_connections_keys(
		const struct hs_controller_config *config, struct hs_bus_keys *keys)
{
	*keys = (struct hs_bus_keys){
			.secret_file = file_of(config->secret_key),
			.allowed_dir = file_of(config->allowed_keys),
	};
	return keys->secret_file || keys->allowed_dir;
}

static bool node_keys(
		const struct hs_controller_config *config, unsigned node, struct hs_bus_keys *keys)
{
	*keys = (struct hs_bus_keys){
			.secret_file = file_of(config->secret_key),
			.server_file = file_of(config->nodes[node].server_key),
	};
	return keys->server_file != NULL;
}

// ---- checking ----

static void check_list(const struct hs_endpoints *list, const char *name, bool open,
		struct hs_errors *errors)
{
	struct hs_error err;

	for (unsigned i = 0; i < list->n; i++) {
		char path[48];
		snprintf(path, sizeof(path), "control.%s[%u]", name, i);
		if (hs_bus_check_endpoint(list->text[i], open, path, &err) < 0)
			hs_errors_keep(errors, &err);
	}
}

static int check_node(const struct hs_controller_config *config, unsigned i, struct hs_error *err)
{
	struct hs_bus_keys keys;
	bool used = node_keys(config, i, &keys);
	char path[48];

	snprintf(path, sizeof(path), "nodes[%u].api", i);
	int rc = hs_bus_check_endpoint(config->nodes[i].api, config->insecure || used, path, err);
	if (rc < 0 || !used)
		return rc;
	snprintf(path, sizeof(path), "nodes[%u].server_key", i);
	if (!keys.secret_file)
		return hs_error_set(err, "missing_field", path, "control.keys.secret beside it",
				"the controller has no key of its own");
	rc = hs_bus_keys_check(&keys, err);
	if (rc < 0)
		snprintf(err->path, sizeof(err->path), "%s", path);
	return rc;
}

void hs_controller_connections_check(
		const struct hs_controller_config *config, struct hs_errors *errors)
{
	const struct hs_endpoints_named bound[] = {{"bind", &config->bind},
			{"subscribe_bind", &config->subscribe_bind},
			{"publish_bind", &config->publish_bind}};
	struct hs_bus_keys keys;
	bool used = hs_controller_connections_keys(config, &keys), open = config->insecure || used;
	unsigned before = errors->n;
	struct hs_error err;

	if (used && hs_bus_check_keys(&keys, false, config->insecure, &err) < 0) {
		hs_error_prefix(&err, "control.keys");
		hs_errors_keep(errors, &err);
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		check_list(bound[i].endpoints, bound[i].key, open, errors);
	if (errors->n == before && hs_endpoints_check_once(bound, 3, &err) < 0)
		hs_errors_keep(errors, &err);
	for (unsigned i = 0; i < config->n_nodes; i++)
		if (check_node(config, i, &err) < 0)
			hs_errors_keep(errors, &err);
}

// ---- opening ----

// Watches a descriptor. `what` is the index of a node, or n_nodes plus the index of a subscriber.
static int watch(struct hs_controller_connections *links, int fd, unsigned what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};
	return epoll_ctl(links->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_subscriber(
		struct hs_controller_connections *links, unsigned i, struct hs_error *err)
{
	const struct hs_controller_config *config = links->config;
	struct hs_bus_keys keys;
	bool used = hs_controller_connections_keys(config, &keys);
	struct hs_bus_subscriber **subscriber = &links->subscribers[i];
	int rc = hs_bus_subscriber_open(config->subscribe_bind.text[i], "", true,
			used ? &keys : NULL, subscriber, err);

	if (rc == 0)
		rc = watch(links, hs_bus_subscriber_fd(*subscriber), config->n_nodes + i);
	if (rc < 0)
		snprintf(err->path, sizeof(err->path), "control.subscribe_bind[%u]", i);
	return rc;
}

static int open_peer(struct hs_controller_connections *links, unsigned i, struct hs_error *err)
{
	struct hs_bus_keys keys;
	bool used = node_keys(links->config, i, &keys);
	int rc = hs_bus_peer_open(links->config->nodes[i].api, used ? &keys : NULL, MOST_REPLY,
			&links->peers[i], err);

	if (rc == 0)
		rc = watch(links, hs_bus_peer_fd(links->peers[i]), i);
	if (rc < 0)
		snprintf(err->path, sizeof(err->path), "nodes[%u].api", i);
	return rc;
}

static int open_all(struct hs_controller_connections *links, struct hs_error *err)
{
	unsigned n = links->config->n_nodes;
	int rc = 0;

	links->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	links->peers = calloc(n + 1, sizeof(struct hs_bus_peer *));
	links->stirred = calloc(n + 1, sizeof(bool));
	if (links->epoll_fd < 0 || !links->peers || !links->stirred)
		return hs_error_set(err, "internal", "", "", "memory or descriptors are out");
	for (unsigned i = 0; rc == 0 && i < links->config->subscribe_bind.n; i++)
		rc = open_subscriber(links, i, err);
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = open_peer(links, i, err);
	return rc;
}

int hs_controller_connections_open(const struct hs_controller_config *config,
		struct hs_controller_connections **out, struct hs_error *err)
{
	struct hs_controller_connections *links = calloc(1, sizeof(*links));

	if (!links) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	links->config = config;
	int rc = open_all(links, err);
	if (rc < 0)
		hs_controller_connections_close(links);
	else
		*out = links;
	return rc;
}

void hs_controller_connections_close(struct hs_controller_connections *links)
{
	if (!links)
		return;
	for (unsigned i = 0; links->peers && i < links->config->n_nodes; i++)
		hs_bus_peer_close(links->peers[i]);
	for (unsigned i = 0; i < HS_MAX_ENDPOINTS; i++)
		hs_bus_subscriber_close(links->subscribers[i]);
	if (links->epoll_fd >= 0)
		close(links->epoll_fd);
	free(links->stirred);
	free(links->peers);
	free(links);
}

// ---- using ----

int hs_controller_connections_fd(const struct hs_controller_connections *links)
{
	return links->epoll_fd;
}

int hs_controller_connections_send(struct hs_controller_connections *links, unsigned node,
		const char *text, size_t len)
{
	links->stirred[node] = true; // after a send, the descriptor may not report what has come
	return hs_bus_peer_send(links->peers[node], text, len);
}

static void see_who_stirs(struct hs_controller_connections *links)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(links->epoll_fd, events, EVENTS_AT_ONCE, 0);

	for (int i = 0; i < n; i++)
		if (events[i].data.u32 < links->config->n_nodes)
			links->stirred[events[i].data.u32] = true;
}

// The limits of what is read before clients get a turn. The last message may exceed these limits.
struct allowance {
	int messages;
	int64_t bytes, end_ns;
};

static struct allowance new_allowance(void)
{
	return (struct allowance){
			MESSAGES_PER_ROUND, BYTES_PER_ROUND, hs_os_clock_spent_ns() + NS_PER_ROUND};
}

static bool is_spent(const struct allowance *left)
{
	return left->messages <= 0 || left->bytes <= 0 || hs_os_clock_spent_ns() >= left->end_ns;
}

static void spend(struct allowance *left, size_t bytes)
{
	left->messages--;
	left->bytes -= (int64_t)bytes;
}

static void take_replies(struct hs_controller_connections *links, struct hs_controller *controller,
		unsigned node, struct allowance *left)
{
	char *text;
	size_t len;

	while (!is_spent(left)) {
		if (hs_bus_peer_next(links->peers[node], &text, &len) < 0) {
			links->stirred[node] = false;
			return;
		}
		spend(left, len);
		hs_controller_reply(controller, hs_os_clock_wall_ns(), node, text, len);
		free(text);
	}
}

static bool take_all_replies(
		struct hs_controller_connections *links, struct hs_controller *controller)
{
	struct allowance left = new_allowance();
	unsigned n = links->config->n_nodes, first = links->turn;

	for (unsigned i = 0; i < n; i++) {
		unsigned node = (first + i) % n;
		if (!links->stirred[node])
			continue;
		take_replies(links, controller, node, &left);
		if (!is_spent(&left))
			continue;
		links->turn = (node + 1) % n;
		return true;
	}
	return false;
}

static bool take_messages(struct hs_bus_subscriber *subscriber, struct hs_controller *controller)
{
	struct allowance left = new_allowance();
	struct hs_bus_message message;

	while (!is_spent(&left)) {
		if (hs_bus_subscriber_next(subscriber, 0, &message) < 0)
			return false;
		spend(&left, message.len);
		hs_controller_message(controller, hs_os_clock_wall_ns(), message.topic,
				message.json, message.len);
		free(message.json);
	}
	return true;
}

static void look_at_nodes(struct hs_controller_connections *links, struct hs_controller *controller)
{
	unsigned n = links->config->n_nodes;
	int64_t now_ns = hs_os_clock_ns(CLOCK_MONOTONIC);

	if (now_ns < links->look_ns)
		return;
	links->look_ns = now_ns + LOOK_NS;
	for (unsigned i = 0; i < n / LOOKS + 1 && n; i++) {
		struct hs_bus_peer_state state;
		links->looked = (links->looked + 1) % n;
		hs_bus_peer_state(links->peers[links->looked], &state);
		hs_controller_node_refuses(controller, links->looked, state.refused);
	}
}

bool hs_controller_connections_take(
		struct hs_controller_connections *links, struct hs_controller *controller)
{
	see_who_stirs(links);
	bool more = take_all_replies(links, controller);

	for (unsigned i = 0; i < links->config->subscribe_bind.n; i++)
		more |= take_messages(links->subscribers[i], controller);
	look_at_nodes(links, controller);
	return more;
}
