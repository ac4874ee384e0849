// A line chart over time, with its values as a table for screen readers.

import { brokerNow } from './api.js';
import { el, svg, text } from './dom.js';
import { clock, rate, short } from './format.js';
import { ticks, timeTicks } from './scale.js';

const high = 150, left = 40, bottom = 20, top = 8;

/** LineChart draws series, {name, kind, points: [[ms, value], …]}, over the last span ms. */
export class LineChart {
  constructor(title, span) {
    this.title = title;
    this.span = span;
    this.legend = el('ul', { class: 'legend' });
    this.picture = svg('svg', { class: 'chart', role: 'img', height: high });
    this.rows = el('tbody');
    this.head = el('tr');
    this.table = el('details', { class: 'figures' }, el('summary', null, 'Figures as a table'),
      el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${title}, figures` }, el('table', null, el('caption', { class: 'sr' }, title), el('thead', null, this.head), this.rows)));
    this.element = el('figure', null, el('figcaption', null, el('h2', null, title), this.legend), this.picture, this.table);
    this.watch = new ResizeObserver(() => this.series && this.draw(this.series));
    this.watch.observe(this.element);
    this.table.addEventListener('toggle', () => this.series && this.draw(this.series));
  }

  draw(series) {
    this.series = series;
    const wide = Math.max(this.element.clientWidth, 200), now = brokerNow();
    const first = Math.min(...series.flatMap((s) => s.points.slice(0, 1).map(([at]) => at)));
    const from = Math.max(now - this.span, Math.min(first, now - 60e3)); // a series shorter than the span fills the width, if it has at least 60 s
    const values = series.flatMap((s) => s.points.filter(([at]) => at >= from).map(([, v]) => v));
    const scale = ticks(Math.max(...values, 1), 3), most = scale[scale.length - 1];
    const x = (at) => left + ((at - from) / (now - from)) * (wide - left - 6), y = (v) => high - bottom - (v / most) * (high - bottom - top);
    const lines = scale.map((v) => [
      svg('line', { class: 'grid', x1: left, x2: wide, y1: y(v), y2: y(v) }),
      svg('text', { class: 'tick', x: left - 6, y: y(v) + 4, 'text-anchor': 'end' }, short(v)),
    ]);
    const times = timeTicks(from, now, wide < 500 ? 3 : 6).map((at) =>
      svg('text', { class: 'tick', x: Math.min(Math.max(x(at), left), wide - 26), y: high - 4, 'text-anchor': 'middle' }, now - from > 240e3 ? clock(at).slice(0, 5) : clock(at)));
    const paths = series.map((s) => {
      const points = s.points.filter(([at]) => at >= from).map(([at, v]) => `${x(at).toFixed(1)},${y(v).toFixed(1)}`);
      return svg('polyline', { class: `line ${s.kind}`, points: points.join(' ') });
    });
    this.picture.setAttribute('width', wide);
    this.picture.setAttribute('viewBox', `0 0 ${wide} ${high}`);
    const latest = (s) => s.points[s.points.length - 1]?.[1];
    this.picture.setAttribute('aria-label', `${this.title}: ${series.map((s) => `${s.name} ${rate(latest(s))}`).join(', ')}`);
    this.picture.replaceChildren(...lines.flat(), ...times, ...paths);
    if (values.length === 0) this.picture.append(svg('text', { class: 'tick', x: wide / 2, y: high * 0.4, 'text-anchor': 'middle' }, 'The first figures appear within 10 s.'));
    this.legend.replaceChildren(...series.map((s) => el('li', { class: s.kind }, s.name, ' ', el('b', null, rate(latest(s))))));
    if (this.table.open) this.fillTable(series, from);
  }

  fillTable(series, from) {
    this.head.replaceChildren(el('th', { scope: 'col' }, 'Time'), ...series.map((s) => el('th', { scope: 'col', class: 'num' }, s.name)));
    const moments = [...new Set(series.flatMap((s) => s.points.map(([at]) => at)))].filter((at) => at >= from).sort((a, b) => b - a);
    const known = series.map((s) => new Map(s.points));
    this.rows.replaceChildren(...moments.map((at) => el('tr', null, el('th', { scope: 'row' }, clock(at)),
      known.map((of) => el('td', { class: 'num' }, of.has(at) ? rate(of.get(at)) : '–')))));
  }

  end() {
    this.watch.disconnect();
  }
}

/** Sparkline is a small line chart of the last 24 values that were added. */
export class Sparkline {
  constructor() {
    this.values = [];
    this.line = svg('polyline');
    this.picture = svg('svg', { class: 'spark', width: 48, height: 14, 'aria-hidden': 'true' }, this.line);
    this.number = el('span');
    this.element = el('span', { class: 'sparked' }, this.picture, this.number);
  }

  add(value) {
    if (this.values.length === 1 && this.values[0] === 0) this.values = []; // the first answer about a queue has no rate yet
    this.values = [...this.values, value ?? 0].slice(-24);
    const most = Math.max(...this.values, 1);
    this.line.setAttribute('points', this.values.map((v, i) => `${48 - (this.values.length - 1 - i) * 2},${(13 - (v / most) * 12).toFixed(1)}`).join(' '));
    this.picture.classList.toggle('flat', this.values.every((v) => v === 0));
    text(this.number, rate(value));
    this.number.className = value === 0 ? 'zero' : '';
  }
}
