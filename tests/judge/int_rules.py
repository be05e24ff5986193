# SPDX-License-Identifier: BSD-3-Clause
"""What a scenario says about telemetry of method INT."""


def requests_of(data):
    return [request["int_request"] for request in data.get("requests", [])
            if "int_request" in request]


def publishes_nothing(data):
    """In the modes MX and XD, packets carry no values to their sink, which has no window then."""
    profiles = data.get("profiles", {}).values()
    return bool(profiles) and all(profile.get("mode") in ("mx", "xd") for profile in profiles) and all(
        request.get("method") == "int" for request in requests_of(data))
