// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_latency.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define DEVICE "/dev/cpu_dma_latency"

int hs_cpu_latency_demand(uint32_t us, struct hs_error *err)
{
	int32_t value = (int32_t)us;
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC);
	ssize_t written = fd < 0 ? -1 : write(fd, &value, sizeof(value));

	if (written == sizeof(value))
		return fd;
	int error = written < 0 ? errno : EIO;
	if (fd >= 0)
		close(fd);
	hs_error_set(err, error == EPERM || error == EACCES ? "not_permitted" : "device",
			"cpu_latency_us",
			"a device that this process may write, or no cpu_latency_us", DEVICE ": %s",
			strerror(error));
	return -error;
}
