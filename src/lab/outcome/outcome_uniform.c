// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_configured.h"

#include <math.h>
#include <stdlib.h>

// Cells on each side of 0; an even number of them in all, so that no cell straddles it.
#define HALF  8192
#define CELLS (2 * HALF)

// A density that is constant in each cell, with its integral (the distribution) and the integral of
// that, at the left edge of each cell.
struct density {
	double cell; // width
	double mass[CELLS];
	double once[CELLS + 1], twice[CELLS + 1];
};

static void integrate(struct density *density)
{
	density->once[0] = density->twice[0] = 0;
	for (size_t i = 0; i < CELLS; i++) {
		density->once[i + 1] = density->once[i] + density->mass[i];
		density->twice[i + 1] = density->twice[i] +
					density->cell * (density->once[i] + density->mass[i] / 2);
	}
}

// The second integral at a place in cells from the left end; exact, as it is a parabola in a cell.
static double twice_at(const struct density *density, double place)
{
	if (place <= 0)
		return 0;
	if (place >= CELLS)
		return density->twice[CELLS] + density->cell * (place - CELLS);
	size_t i = (size_t)place;
	double rest = place - (double)i;
	return density->twice[i] +
	       density->cell * rest * (density->once[i] + density->mass[i] * rest / 2);
}

// Adds a variable that is uniform in [-width, width].
static void convolve(struct density *density, double width)
{
	double reach = width / density->cell;
	integrate(density);
	double left = twice_at(density, reach) - twice_at(density, -reach);
	for (size_t i = 0; i < CELLS; i++) {
		double edge = (double)(i + 1);
		double right = twice_at(density, edge + reach) - twice_at(density, edge - reach);
		density->mass[i] = (right - left) / (2 * width);
		left = right;
	}
}

// The first one, exactly.
static void start(struct density *density, double width)
{
	for (size_t i = 0; i < CELLS; i++) {
		double low = ((double)i - HALF) * density->cell, high = low + density->cell;
		double from = low > -width ? low : -width, to = high < width ? high : width;
		density->mass[i] = to > from ? (to - from) / (2 * width) : 0;
	}
}

static double mean_distance(const struct density *density)
{
	double sum = 0;
	for (size_t i = 0; i < CELLS; i++)
		sum += density->mass[i] * fabs(((double)i - HALF + 0.5) * density->cell);
	return sum;
}

// E g(D)^2 with g(u) = E|D - u|: of a D whose mean is 0, g is twice the second integral of its
// density, less u.
static double mean_square_distance(struct density *density)
{
	double sum = 0;
	integrate(density);
	for (size_t i = 0; i < CELLS; i++) {
		double place = (double)i + 0.5;
		double distance = 2 * twice_at(density, place) - (place - HALF) * density->cell;
		sum += density->mass[i] * distance * distance;
	}
	return sum;
}

double hs_outcome_uniform_jitter(const double *widths, size_t n, double *sigma)
{
	double reach = 0, variance = 0, product = 0;
	*sigma = 0;
	for (size_t i = 0; i < n; i++)
		reach += 2 * widths[i];
	for (size_t i = 0; i < n; i++)
		variance += widths[i] * widths[i] / 3;
	if (reach <= 0)
		return 0;
	struct density *density = malloc(sizeof(*density));
	if (!density)
		return *sigma = NAN;
	density->cell = reach / HALF;
	bool started = false;
	for (size_t i = 0; i < 2 * n; i++) {
		double width = widths[i % n];
		if (i == n) // the sum of all X is there, that of all Y is not
			product = mean_square_distance(density);
		if (width <= 0)
			continue;
		if (started)
			convolve(density, width);
		else
			start(density, width);
		started = true;
	}
	double mean = mean_distance(density);
	free(density);
	// Variance of |D1 - D2|, and twice its covariance with |D2 - D3|.
	*sigma = sqrt(2 * variance - mean * mean + 2 * (product - mean * mean));
	return mean;
}
