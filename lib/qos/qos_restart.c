// SPDX-License-Identifier: BSD-3-Clause
// A restart of a node shows in one of three ways: its own count went back while its stamp went
// forward; it counted fewer packets than a node after it received; or its bytes disagree.
// Reordering shows in the second way too, by as many packets as pass while a network delays one
// packet. A node that restarted cannot have counted more packets than were sent after its restart.
// Only this distinguishes a young count from an old one.
#include "qos_restart.h"

#define MS 1000000ll

#define HELD_NS	   (50 * MS) // a packet is overtaken only by packets sent within this time after it
#define APART_NS   (100 * MS)	// between the bursts of two workers at most
#define ABSURD_NS  (-1000 * MS) // no packet is overtaken by so much: the clock was set
#define LEAST	   8		// packets out of order that prove nothing, however slow the flow
#define MANY	   1024
#define MOST_BYTES (1ll << 30) // of a span in which bytes that run back can be seen
#define MOST_WRAPS 4	       // wraps of packets whose bytes the mean frame gives well enough

struct node {
	unsigned at;	// in the chain
	int64_t rx, tx; // packets
	int64_t before; // at the point before it; rx if there is none
	int64_t next;	// at the point after it
	int64_t behind; // at the later point that counted most, or its own
	int order;	// 1: the later report passed it later; -1: earlier; 0: not known
	bool young;	// all of its counts may be from between the two reports
};

struct scene {
	const struct hs_qos_walk *walk;
	int64_t most;
	int64_t allowed; // packets that reordering may explain
	int64_t sent;	 // by the source, at most
};

// Returns the packets that came within HELD_NS, with a lower and an upper bound.
static int64_t allowed_for(const struct hs_qos_walk *walk, int64_t packets)
{
	int64_t elapsed_ns = walk->b->sink_ts_ns - walk->a->sink_ts_ns;
	if (elapsed_ns <= 0 || packets > INT64_MAX / HELD_NS)
		return walk->slack;
	int64_t allowed = packets > 0 ? packets * HELD_NS / elapsed_ns : 0;
	if (allowed < LEAST)
		allowed = LEAST;
	if (allowed < walk->under_way)
		allowed = walk->under_way;
	return allowed < walk->slack ? allowed : walk->slack;
}

static bool is_young(const struct scene *scene, unsigned at)
{
	const struct hs_hop *hop = hs_qos_hop_b(scene->walk, at);
	uint16_t bits = hs_qos_hop_bits(scene->walk, at);
	int64_t frame = scene->walk->frame_bytes, most = scene->sent + scene->allowed;
	bool counts = bits & HS_HOP_PACKETS;
	if (counts && hop->rx_packets > most)
		return false;
	if (!(bits & HS_HOP_BYTES) || !frame)
		return true;
	if (!counts || most >= scene->walk->wrap)
		return hop->rx_bytes / 4 <= frame * most;
	return hop->rx_bytes / 4 <= frame * hop->rx_packets &&
	       4ll * hop->rx_bytes >= frame * hop->rx_packets;
}

static int64_t elapsed_at(const struct scene *scene, unsigned at)
{
	if (!(hs_qos_hop_bits(scene->walk, at) & HS_HOP_TIMESTAMP))
		return 0;
	return (int64_t)(hs_qos_hop_b(scene->walk, at)->ts_ns -
			 hs_qos_hop_a(scene->walk, at)->ts_ns);
}

// Returns the order of the two reports at a node, from the node's stamps. Without stamps, packets
// that were sent far apart did not overtake each other.
static int order_at(const struct scene *scene, unsigned at)
{
	int64_t elapsed_ns = elapsed_at(scene, at);
	if (elapsed_ns > 0)
		return 1;
	if (elapsed_ns < 0 && elapsed_ns > ABSURD_NS)
		return -1;
	return scene->most > scene->allowed;
}

// Returns whether the node's count went back. Two workers of a node may be a burst apart, so an old
// count that went back a little is no restart.
static bool went_back(const struct scene *scene, const struct node *node)
{
	int64_t least = node->rx < node->tx ? node->rx : node->tx;
	if (least > 0 || node->order <= 0)
		return false;
	int64_t elapsed_ns = elapsed_at(scene, node->at);
	return node->young || elapsed_ns <= 0 || elapsed_ns > APART_NS || least < -scene->allowed;
}

// Returns whether the earlier report passed the node after its restart, and the later report before
// it.
static bool jumped_ahead(const struct scene *scene, const struct node *node)
{
	return node->order <= 0 && node->rx - node->before > scene->allowed &&
	       hs_qos_hop_a(scene->walk, node->at)->rx_packets <= 2 * scene->allowed;
}

// Returns whether a node received more packets than reordering explains. The packets that came
// within HELD_NS may have overtaken others. As many again may be late, if so many were missing
// before.
static bool is_surplus(const struct scene *scene, int64_t packets)
{
	int64_t late = scene->walk->missing < scene->allowed ? scene->walk->missing
							     : scene->allowed;
	return packets > scene->allowed + (late > 0 ? late : 0);
}

// Returns whether packets are missing before the node and a surplus after it, because the node lost
// its count.
static bool fell_behind(const struct scene *scene, const struct node *node)
{
	int64_t surplus = node->behind - node->tx;
	return node->young && is_surplus(scene, surplus) &&
	       (!scene->walk->has_source || 2 * (scene->walk->sent - node->rx) >= surplus);
}

// Returns whether a young count seems to have wrapped, so that it exceeds the counts before and
// after the node. Packets that are duplicated before the node are counted after it, too.
static bool went_round(const struct scene *scene, const struct node *node)
{
	int64_t most = node->before > node->next ? node->before : node->next;
	int64_t allowed = 2 * allowed_for(scene->walk, most);
	return node->young && node->rx - node->before > allowed && node->tx - node->next > allowed;
}

static bool packets_tell(const struct scene *scene, const struct node *node)
{
	return went_back(scene, node) || jumped_ahead(scene, node) || fell_behind(scene, node) ||
	       went_round(scene, node);
}

static bool bytes_tell(const struct scene *scene, unsigned at)
{
	const struct hs_qos_walk *walk = scene->walk;
	uint16_t bits = hs_qos_hop_bits(walk, at);
	int64_t frame = walk->frame_bytes;
	if (!(bits & HS_HOP_BYTES) || !frame || scene->sent > MOST_BYTES / frame)
		return false;
	int64_t bytes = (int32_t)(hs_qos_hop_b(walk, at)->rx_bytes -
				  hs_qos_hop_a(walk, at)->rx_bytes);
	int64_t elapsed_ns = elapsed_at(scene, at);
	if (bytes < -(walk->slack * frame) || bytes > 4 * frame * (scene->sent + walk->slack))
		return true;
	int order = order_at(scene, at);
	bool young = is_young(scene, at);
	if (order > 0 && bytes <= 0)
		return young || elapsed_ns <= 0 || elapsed_ns > APART_NS ||
		       bytes < -(scene->allowed * frame);
	return order >= 0 && !(bits & HS_HOP_PACKETS) && young &&
	       walk->received_bytes - bytes > 2 * scene->allowed * frame;
}

// Returns whether the bytes show a multiple of the wrap that the packets' counts do not show.
static bool bytes_disagree(const struct scene *scene, const struct node *node)
{
	const struct hs_qos_walk *walk = scene->walk;
	int64_t frame = walk->frame_bytes;
	if (!(hs_qos_hop_bits(walk, node->at) & HS_HOP_BYTES) || !frame || node->rx < 0 ||
			node->rx > MOST_WRAPS * walk->wrap || walk->received < node->rx / 8)
		return false;
	uint32_t bytes = hs_qos_hop_b(walk, node->at)->rx_bytes -
			 hs_qos_hop_a(walk, node->at)->rx_bytes;
	int64_t off = (int32_t)(bytes - (uint32_t)(node->rx * frame));
	int64_t most = walk->wrap / 2 * frame;
	return off > most || off < -most;
}

static bool source_tells(const struct scene *scene, int64_t behind)
{
	const struct hs_qos_walk *walk = scene->walk;
	return walk->has_source && is_surplus(scene, behind - walk->sent) &&
	       walk->b->telemetry.e2e.tx_packets <= 2 * behind + scene->allowed;
}

// Returns whether a restart cannot be excluded: most of many packets are lost, the node's count
// wrapped, and it is no higher than the packets that came explain. No bytes can decide it.
static bool packets_doubt(const struct scene *scene, const struct node *node)
{
	const struct hs_qos_walk *walk = scene->walk;
	uint32_t before = hs_qos_hop_a(walk, node->at)->rx_packets;
	uint32_t now = hs_qos_hop_b(walk, node->at)->rx_packets;
	return walk->has_source && !(hs_qos_hop_bits(walk, node->at) & HS_HOP_BYTES) &&
	       walk->sent >= MANY && walk->sent < walk->wrap - walk->slack &&
	       walk->received <= walk->sent / 8 && now < before &&
	       now <= 2 * walk->received + scene->allowed;
}

static uint32_t judge_node(const struct scene *scene, struct node *node)
{
	node->order = order_at(scene, node->at);
	node->young = is_young(scene, node->at);
	if (packets_tell(scene, node) || bytes_disagree(scene, node))
		return HS_QOS_STEP_TRANSIT_RESET;
	return packets_doubt(scene, node) ? HS_QOS_STEP_AMBIGUOUS : 0;
}

// Judges all nodes, from the sink to the source.
static uint32_t judge_packets(const struct scene *scene)
{
	const struct hs_qos_walk *walk = scene->walk;
	int64_t count = walk->received, behind = count;
	uint32_t flags = 0;
	for (unsigned k = walk->n; k-- > 0;) {
		const struct hs_qos_diff *diff = &walk->diffs[k];
		int64_t after = count;
		count += diff->value;
		if (diff->node) {
			bool first = k == 0;
			struct node node = {
					.at = diff->link,
					.rx = count,
					.tx = after,
					.before = first ? count : count + walk->diffs[k - 1].value,
					.next = after - walk->diffs[k + 1].value,
					.behind = behind,
			};
			flags |= judge_node(scene, &node);
		}
		if (k > 0 || !walk->has_source)
			behind = count > behind ? count : behind;
	}
	if (!(flags & HS_QOS_STEP_TRANSIT_RESET) && source_tells(scene, behind))
		return HS_QOS_STEP_SOURCE_RESET;
	return flags;
}

static int64_t count_most(const struct hs_qos_walk *walk)
{
	int64_t count = walk->received, most = count;
	for (unsigned k = walk->n; k-- > 0;) {
		count += walk->diffs[k].value;
		most = count > most ? count : most;
	}
	return most;
}

static struct scene scene_of(const struct hs_qos_walk *walk, int64_t most)
{
	return (struct scene){.walk = walk, .most = most, .allowed = allowed_for(walk, most)};
}

bool hs_qos_source_restarted(const struct hs_qos_walk *walk)
{
	struct scene scene = scene_of(walk, walk->received);
	return source_tells(&scene, walk->received);
}

uint32_t hs_qos_restarts(const struct hs_qos_walk *walk, bool ambiguous, int64_t *most)
{
	struct scene scene = scene_of(walk, count_most(walk));
	*most = scene.most;
	scene.sent = walk->has_source ? walk->sent : 2 * scene.most;
	for (unsigned i = 0; i < walk->chain->n; i++)
		if (bytes_tell(&scene, i))
			return HS_QOS_STEP_TRANSIT_RESET;
	return ambiguous ? 0 : judge_packets(&scene);
}
