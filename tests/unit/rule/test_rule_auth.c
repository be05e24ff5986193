// SPDX-License-Identifier: BSD-3-Clause
#include "rule_auth.h"

#include "rule_cbor.h"

#include "hex.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNTER UINT64_C(1700000000123456789)

// All by make_cbor.py: the key is 00 01 ... 1f.
static const char plain[] = "a16b696e745f72657175657374aa656e735f696407666170705f696401667372635f"
			    "69706b323030313a6462383a3a31666473745f69706b323030313a6462383a3a3268"
			    "7372635f706f727400686473745f706f72741913896870726f746f636f6c63756470"
			    "6a74726163655f747970656a30783730303045303030646d6f646565636f756e746c"
			    "6d6f64655f73657474696e671864";
static const char signed_one[] =
		"a26b696e745f72657175657374aa656e735f696407666170705f696401667372635f"
		"69706b323030313a6462383a3a31666473745f69706b323030313a6462383a3a3268"
		"7372635f706f727400686473745f706f72741913896870726f746f636f6c63756470"
		"6a74726163655f747970656a30783730303045303030646d6f646565636f756e746c"
		"6d6f64655f73657474696e67186464617574685017979cfe3d85cd15d3def406d878"
		"467e";
// "auth" first, and a key that we do not know, which is signed like the rest.
static const char with_unknown_key[] =
		"a264617574685017979cfe3d85cd1515604a4d7209ff356b696e745f726571756573"
		"74ab656e735f696407666170705f696401667372635f69706b323030313a6462383a"
		"3a31666473745f69706b323030313a6462383a3a32687372635f706f727400686473"
		"745f706f72741913896870726f746f636f6c637564706a74726163655f747970656a"
		"30783730303045303030646d6f646565636f756e746c6d6f64655f73657474696e67"
		"18646178783c79797979797979797979797979797979797979797979797979797979"
		"7979797979797979797979797979797979797979797979797979797979797979";

static struct hs_rule_key the_key(void)
{
	struct hs_rule_key key;
	for (unsigned i = 0; i < sizeof(key.bytes); i++)
		key.bytes[i] = (uint8_t)i;
	return key;
}

static void a_request_is_signed_byte_for_byte(void **state)
{
	struct hs_rule_key key = the_key();
	uint8_t bytes[256], expected[256];
	size_t len = unhex(plain, bytes), n = unhex(signed_one, expected);
	(void)state;
	assert_int_equal(hs_rule_auth_sign(&key, COUNTER, bytes, len, 255, NULL), n);
	assert_int_equal(n, len + HS_RULE_AUTH_GROWS);
	assert_memory_equal(bytes, expected, n);
}

static void what_another_program_signed_is_verified(void **state)
{
	static const char *const requests[] = {signed_one, with_unknown_key};
	struct hs_rule_key key = the_key();
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		uint8_t bytes[512];
		struct hs_rule rule;
		unsigned unknown = 9;
		uint64_t counter = 0;
		size_t n = unhex(requests[i], bytes);
		assert_int_equal(hs_rule_auth_verify(&key, bytes, n, &counter, NULL), 0);
		assert_int_equal(counter, COUNTER);
		assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, &unknown, NULL), 0);
		assert_int_equal(rule.ns_id, 7);
		assert_int_equal(unknown, i);
	}
}

// A request whose names changed would be another one; whatever changed, it is not believed.
static void any_bit_that_changed_is_noticed(void **state)
{
	struct hs_rule_key key = the_key();
	uint8_t bytes[256];
	size_t n = unhex(signed_one, bytes);
	(void)state;
	for (size_t bit = 0; bit < n * 8; bit++) {
		uint64_t counter;
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(hs_rule_auth_verify(&key, bytes, n, &counter, NULL), -EINVAL);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static void each_truncation_is_refused(void **state)
{
	struct hs_rule_key key = the_key();
	uint8_t bytes[256];
	size_t n = unhex(signed_one, bytes);
	(void)state;
	for (size_t len = 0; len < n; len++) {
		uint64_t counter;
		// A block of its own, so that a read past the end is seen by the sanitizer.
		uint8_t *cut = malloc(len ? len : 1);
		assert_non_null(cut);
		memcpy(cut, bytes, len);
		assert_int_equal(hs_rule_auth_verify(&key, cut, len, &counter, NULL), -EINVAL);
		free(cut);
	}
}

static void errors_say_whether_it_was_signed_at_all(void **state)
{
	struct hs_rule_key key = the_key();
	struct hs_error err;
	uint8_t bytes[256];
	uint64_t counter;
	size_t n = unhex(plain, bytes);
	(void)state;
	assert_int_equal(hs_rule_auth_verify(&key, bytes, n, &counter, &err), -EINVAL);
	assert_string_equal(err.code, "not_signed");
	n = unhex(signed_one, bytes);
	key.bytes[31] ^= 1;
	assert_int_equal(hs_rule_auth_verify(&key, bytes, n, &counter, &err), -EINVAL);
	assert_string_equal(err.code, "bad_signature");
	assert_int_equal(hs_rule_auth_verify(&key, bytes, 0, &counter, &err), -EINVAL);
	assert_string_equal(err.code, "not_cbor");
}

static void a_request_without_room_for_its_signature_is_left_alone(void **state)
{
	struct hs_rule_key key = the_key();
	struct hs_error err;
	uint8_t bytes[256], before[256];
	size_t len = unhex(plain, bytes);
	(void)state;
	unhex(plain, before);
	assert_int_equal(hs_rule_auth_sign(&key, COUNTER, bytes, len, len + HS_RULE_AUTH_GROWS - 1,
					 &err),
			-ENOSPC);
	assert_string_equal(err.code, "too_large");
	assert_memory_equal(bytes, before, len);
}

static void a_key_is_64_hexadecimal_digits(void **state)
{
	static const char digits[] =
			"000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";
	struct hs_rule_key key, expected = the_key();
	struct hs_error err = {0};
	char text[80];
	(void)state;
	assert_int_equal(hs_rule_key_from_hex(digits, 64, &key, NULL), 0);
	assert_memory_equal(&key, &expected, sizeof(key));
	snprintf(text, sizeof(text), " %s\r\n", digits);
	assert_int_equal(hs_rule_key_from_hex(text, strlen(text), &key, NULL), 0);
	assert_memory_equal(&key, &expected, sizeof(key));
	for (size_t len = 0; len < 64; len++)
		assert_int_equal(hs_rule_key_from_hex(digits, len, &key, NULL), -EINVAL);
	snprintf(text, sizeof(text), "%s00", digits);
	assert_int_equal(hs_rule_key_from_hex(text, 66, &key, &err), -EINVAL);
	snprintf(text, sizeof(text), "%sx", digits);
	assert_int_equal(hs_rule_key_from_hex(text, 65, &key, &err), -EINVAL);
	assert_string_equal(err.code, "bad_value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_request_is_signed_byte_for_byte),
			cmocka_unit_test(what_another_program_signed_is_verified),
			cmocka_unit_test(any_bit_that_changed_is_noticed),
			cmocka_unit_test(each_truncation_is_refused),
			cmocka_unit_test(errors_say_whether_it_was_signed_at_all),
			cmocka_unit_test(a_request_without_room_for_its_signature_is_left_alone),
			cmocka_unit_test(a_key_is_64_hexadecimal_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
