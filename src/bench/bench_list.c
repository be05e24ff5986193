// SPDX-License-Identifier: BSD-3-Clause
#include "bench_list.h"

#include "bench_frames.h"
#include "bench_version.h"

#include <rte_version.h>

#include <arpa/inet.h>

static json_t *traffic_json(const struct hs_bench_traffic *t)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:I, s:b, s:b, s:b, s:b, s:b}", "frame_bytes",
			(int)t->frame_bytes, "frames", (int)t->frames, "flows", (int)t->flows,
			"hops", (int)t->hops, "routes", (json_int_t)t->routes, "uneven",
			(int)t->uneven, "ipv4", (int)t->ipv4, "int", (int)t->int_md, "int_mx",
			(int)t->int_mx, "mixed", (int)t->mixed);
}

static json_t *case_json(const struct hs_bench_case *spec)
{
	return json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:f, s:f, s:s?, s:o}", "name",
			spec->name, "about", spec->about, "packets", spec->kind == HS_BENCH_PACKETS,
			"collects", hs_bench_case_collects(spec), "memif",
			spec->target == HS_BENCH_MEMIF, "shared_cores", (int)spec->shared_cores,
			"quick", (int)spec->quick, "limit", spec->limit, "least_per_second",
			spec->least_per_second, "limit_of", spec->limit_of, "traffic",
			traffic_json(&spec->traffic));
}

json_t *hs_bench_list(void)
{
	json_t *cases = json_array();

	for (size_t i = 0; i < hs_bench_n_cases; i++)
		json_array_append_new(cases, case_json(&hs_bench_cases[i]));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "release", HS_VERSION, "version",
			HS_BENCH_DESCRIBE, "dpdk", rte_version(), "compiler", HS_BENCH_COMPILER,
			"options", HS_BENCH_OPTIONS, "cases", cases);
}

json_t *hs_bench_list_routes(const struct hs_bench_case *spec)
{
	json_t *routes = json_array();

	for (uint32_t i = 0; i < spec->traffic.routes; i++) {
		char text[INET6_ADDRSTRLEN];
		uint8_t prefix[16], depth = hs_bench_prefix(&spec->traffic, i, prefix);
		inet_ntop(AF_INET6, prefix, text, sizeof(text));
		json_array_append_new(routes, json_sprintf("%s/%u", text, depth));
	}
	return json_pack("{s:o}", "routes", routes);
}
