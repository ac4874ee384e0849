// The time axis from now to never: logarithmic from 1 s on, as near times matter to the second and far ones to the day.
// Positions are from 0 to 1. Independent of the page.

const names = [[0, 'now'], [1e3, '1 s'], [60e3, '1 min'], [3600e3, '1 h'], [86400e3, '1 d'], [30 * 86400e3, '30 d']];

// Widths, in units of a power of ten: from now to 1 s, beyond the last horizon, the gap before never, and never itself.
const first = 0.9, behind = 0.9, gap = 0.35, forever = 0.9;

/** Axis is the axis for horizons in ms, the first of which is 1 s. */
export class Axis {
  constructor(horizons) {
    this.horizons = horizons;
    this.last = horizons[horizons.length - 1];
    this.reach = first + Math.log10(this.last / 1e3);
    this.width = this.reach + behind + gap + forever;
  }

  /** at is the position of a time that is ms milliseconds from now. */
  at(ms) {
    if (ms <= 0) return 0;
    if (ms <= 1e3) return (ms / 1e3) * first / this.width;
    if (ms <= this.last) return (first + Math.log10(ms / 1e3)) / this.width;
    // Times from ten times the last horizon on are at the end.
    return (this.reach + behind * Math.min(Math.log10(ms / this.last), 1)) / this.width;
  }

  /** ticks are the named times up to the last horizon, and never. */
  ticks() {
    const all = names.filter(([ms]) => ms <= this.last).map(([ms, label]) => ({ at: this.at(ms), label }));
    return [...all, { at: (this.width - forever / 2) / this.width, label: 'never' }];
  }

  /** classes are the intervals between horizons, with positions and labels: one more than there are horizons. */
  classes() {
    const edges = [0, ...this.horizons, Infinity];
    return edges.slice(1).map((to, i) => ({ from: this.at(edges[i]), to: this.at(to), after: edges[i], within: to, label: between(edges[i], to) }));
  }

  /** never is the position of messages without a deadline. */
  never() {
    return { from: (this.width - forever) / this.width, to: 1 };
  }
}

/** between is the label of a class. */
export function between(after, within) {
  if (after === 0) return `within ${name(within)}`;
  return within === Infinity ? `later than ${name(after)}` : `${name(after)} to ${name(within)}`;
}

function name(ms) {
  for (const [unit, size] of Object.entries({ d: 86400e3, h: 3600e3, min: 60e3, s: 1e3 })) {
    if (ms >= size) return `${ms / size} ${unit}`;
  }
  return `${ms} ms`;
}

/** height is the share of the height for a count: logarithmic, so that one message is visible beside a million. */
export function height(n, most) {
  if (n <= 0) return 0;
  return 0.12 + 0.88 * (most > 1 ? Math.log(n) / Math.log(most) : 1);
}

/** stack divides a height among counts in proportion; least is the minimum for counts above 0. */
export function stack(counts, whole, least) {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (total === 0) return counts.map(() => 0);
  const small = counts.map((n) => n > 0 && (n / total) * whole < least);
  const taken = small.filter(Boolean).length * least;
  const rest = counts.reduce((sum, n, i) => sum + (small[i] ? 0 : n), 0);
  return counts.map((n, i) => (n === 0 ? 0 : small[i] ? least : (n / rest) * Math.max(whole - taken, least)));
}
