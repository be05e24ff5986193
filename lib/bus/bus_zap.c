// SPDX-License-Identifier: BSD-3-Clause
#include "bus_zap.h"

#include "bus_socket.h"

#include <zmq.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ENDPOINT "inproc://zeromq.zap.01"
#define DOMAIN	 "hopsight"
#define AT_ONCE	 16
#define LOOK_MS	 500
#define MAX_PART 256
// Every release since 4.3.0 has this option, though zmq.h defines it for drafts only.
#define ZAP_ENFORCE_DOMAIN 93

enum part {
	VERSION,
	REQUEST_ID,
	DOMAIN_NAME,
	ADDRESS,
	IDENTITY,
	MECHANISM,
	CREDENTIALS,
	PARTS,
};

struct request {
	unsigned n;
	struct {
		size_t len;
		char bytes[MAX_PART + 1]; // terminated
	} parts[PARTS];
};

int hs_bus_zap_open(void *context, const char *allowed_dir, struct hs_bus_zap *zap,
		struct hs_error *err)
{
	int rc = hs_bus_allowed_open(allowed_dir, "allowed", &zap->allowed, err);

	if (rc)
		return rc;
	zap->socket = zmq_socket(context, ZMQ_REP);
	if (zap->socket && hs_bus_socket_set(zap->socket, ZMQ_LINGER, 0) == 0 &&
			zmq_bind(zap->socket, ENDPOINT) == 0)
		return 0;
	rc = hs_bus_error(err, "internal", "", "handshakes cannot be watched");
	hs_bus_zap_close(zap);
	return rc;
}

void hs_bus_zap_close(struct hs_bus_zap *zap)
{
	if (zap->socket)
		zmq_close(zap->socket);
	hs_bus_allowed_close(&zap->allowed);
	*zap = (struct hs_bus_zap){0};
}

// ---- handshakes ----

static bool receive(void *socket, struct request *request)
{
	int more = 1;
	size_t size = sizeof(more);

	for (request->n = 0; more; request->n++) {
		char spare[MAX_PART + 1];
		bool kept = request->n < PARTS;
		char *bytes = kept ? request->parts[request->n].bytes : spare;
		int len = zmq_recv(socket, bytes, MAX_PART, ZMQ_DONTWAIT);
		if (len < 0)
			return false;
		len = len > MAX_PART ? MAX_PART : len;
		bytes[len] = '\0';
		if (kept)
			request->parts[request->n].len = (size_t)len;
		zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size);
	}
	return true;
}

// Returns the key as text. Returns false if the request is not CURVE's.
static bool key_of(const struct request *request, char text[HS_BUS_KEY_TEXT])
{
	return request->n == PARTS && strcmp(request->parts[VERSION].bytes, "1.0") == 0 &&
	       strcmp(request->parts[DOMAIN_NAME].bytes, DOMAIN) == 0 &&
	       strcmp(request->parts[MECHANISM].bytes, "CURVE") == 0 &&
	       request->parts[CREDENTIALS].len == 32 &&
	       zmq_z85_encode(text, (const uint8_t *)request->parts[CREDENTIALS].bytes, 32);
}

static void send(void *socket, const char *bytes, size_t len, bool more)
{
	zmq_send(socket, bytes, len, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0));
}

// The user id is the key, not its name. The rights are looked up with each request, so that they
// end when the file is removed.
static void answer(struct hs_bus_zap *zap, const struct request *request)
{
	char key[HS_BUS_KEY_TEXT] = "";
	bool allowed = key_of(request, key) && hs_bus_allowed_find(&zap->allowed, key);
	const char *code = allowed ? "200" : "400", *text = allowed ? "OK" : "not allowed";
	bool has_id = request->n > REQUEST_ID;

	send(zap->socket, "1.0", 3, true);
	send(zap->socket, request->parts[REQUEST_ID].bytes,
			has_id ? request->parts[REQUEST_ID].len : 0, true);
	send(zap->socket, code, 3, true);
	send(zap->socket, text, strlen(text), true);
	send(zap->socket, key, allowed ? strlen(key) : 0, true);
	send(zap->socket, "", 0, false);
	if (allowed)
		return;
	memcpy(zap->public_key, key, sizeof(key));
}

void hs_bus_zap_serve(struct hs_bus_zap *zap)
{
	struct request request;

	for (unsigned i = 0; i < AT_ONCE && receive(zap->socket, &request); i++)
		answer(zap, &request);
}

enum hs_bus_zap_news hs_bus_zap_look(struct hs_bus_zap *zap)
{
	int64_t now_ms = hs_bus_now_ms();
	bool fewer;

	if (now_ms < zap->look_ms)
		return HS_BUS_ZAP_SAME;
	zap->look_ms = now_ms + LOOK_MS;
	bool changed = hs_bus_allowed_refresh(&zap->allowed, &fewer);
	return fewer ? HS_BUS_ZAP_FEWER : changed ? HS_BUS_ZAP_CHANGED : HS_BUS_ZAP_SAME;
}

// ---- sockets ----

int hs_bus_zap_guard(void *socket, const struct hs_bus_keys *keys, struct hs_error *err)
{
	struct hs_bus_key own;
	int rc = hs_bus_key_read(keys->secret_file, true, "secret", &own, err);

	if (rc)
		return rc;
	hs_bus_socket_set(socket, ZAP_ENFORCE_DOMAIN, 1);
	if (hs_bus_socket_set(socket, ZMQ_CURVE_SERVER, 1) ||
			zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own.secret_key,
					HS_BUS_KEY_TEXT) ||
			zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, DOMAIN, strlen(DOMAIN)))
		rc = hs_bus_error(err, "internal", "secret", "CURVE");
	explicit_bzero(&own, sizeof(own));
	return rc;
}

const struct hs_bus_allowed_key *hs_bus_zap_user(const struct hs_bus_zap *zap, void *message)
{
	const char *user = zmq_msg_gets(message, "User-Id");

	return user ? hs_bus_allowed_find(&zap->allowed, user) : NULL;
}
