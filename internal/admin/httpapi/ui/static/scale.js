// Ticks of axes, and figures of a histogram. Independent of the page.

/** ticks are about n round numbers from 0 to max or just above it. */
export function ticks(max, n = 4) {
  if (!(max > 0)) return [0, 1];
  const rough = max / n, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * power >= rough * 0.999) * power;
  const all = [];
  for (let i = 0; i * step < max + step * 0.999; i++) all.push(Number((i * step).toPrecision(12)));
  return all;
}

/** timeTicks are about n times at round seconds, minutes or hours between from and to. */
export function timeTicks(from, to, n = 6) {
  const step = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400].map((s) => s * 1e3)
    .find((s) => (to - from) / s <= n) ?? 86400e3;
  const all = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) all.push(at);
  return all;
}

/** ratesOf are [time, change per second] between samples of a count, the oldest first. Intervals with a reset of the count are left out. */
export function ratesOf(samples) {
  const all = [];
  for (let i = samples.length - 2; i >= 0; i--) {
    const before = samples[i + 1], now = samples[i], passed = (now.timestamp - before.timestamp) / 1e3;
    if (passed > 0 && now.sample >= before.sample) all.push([now.timestamp, (now.sample - before.sample) / passed]);
  }
  return all;
}

/**
 * quantile is the upper bound of the bucket of a histogram that contains the quantile q. Bounds are inclusive; counts has one more bucket,
 * without a bound. The result is null without values, and Infinity for the last bucket.
 */
export function quantile(q, bounds, counts) {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  let sum = 0;
  for (let i = 0; i < counts.length; i++) {
    sum += counts[i];
    if (sum >= q * total) return i < bounds.length ? bounds[i] : Infinity;
  }
  return Infinity;
}

/** since is the difference between two lists of counts, or the second list after a restart. */
export function since(before, now) {
  if (!before || now.some((n, i) => n < before[i])) return now;
  return now.map((n, i) => n - before[i]);
}
