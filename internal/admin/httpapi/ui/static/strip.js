// The strip: a bar chart of the messages due, by time and outcome.

import { el, svg } from './dom.js';
import { number, plural, short } from './format.js';
import { Axis, height, stack } from './timeaxis.js';

/** fates in the order of their stack, from the bottom: the key in the API, the name, and the filter that finds their queues. */
export const fates = [
  { key: 'dead_lettered', name: 'dead-lettered', filter: 'expires_within' },
  { key: 'dropped', name: 'dropped', filter: 'expires_within' },
  { key: 'scheduled', name: 'delivered by schedule', filter: 'scheduled_within' },
  { key: 'queue_ends', name: 'queue ends', filter: 'lease_ends_within', unit: 'queue' },
  { key: 'lock_returns', name: 'lock returns', filter: 'unacked_longer_than' },
];

const high = 170, bottom = 22, top = 16, room = high - bottom - top;
const ever = 10 * 365 * 86400e3;

/** Strip shows an answer of /api/x/ahead. link(filters) is the address to which a bar links, null for none; leads is the text of the links. */
export class Strip {
  constructor(link, leads = 'Show the queues.') {
    this.link = link;
    this.leads = leads;
    this.picture = svg('svg', { class: 'strip', height: high, role: 'group', 'aria-label': 'What is due, by time' });
    this.legend = el('ul', { class: 'legend' }, fates.map((f) => el('li', { class: f.key }, f.name)), el('li', { class: 'never' }, 'no deadline'));
    this.body = el('tbody');
    this.table = el('details', { class: 'figures' }, el('summary', null, 'Figures as a table'),
      el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'What is due, figures' }, el('table', null,
        el('caption', { class: 'sr' }, 'What is due, by time and by what becomes of it'),
        el('thead', null, el('tr', null, el('th', { scope: 'col' }, 'Due'), fates.map((f) => el('th', { scope: 'col', class: 'num' }, f.name)))), this.body)));
    this.element = el('div', null, this.picture, this.legend, this.table);
    this.watch = new ResizeObserver(() => this.last && this.draw(...this.last));
    this.watch.observe(this.element);
  }

  /** draw shows the messages due; never is the number of ready messages without a deadline, null if that is not known. */
  draw(ahead, never) {
    this.last = [ahead, never];
    const axis = new Axis(ahead.horizons_ms), wide = Math.max(this.element.clientWidth, 260), classes = axis.classes();
    const columns = classes.map((_, i) => fates.map((f) => ahead.counts[f.key][i]));
    const totals = columns.map((c) => c.reduce((sum, n) => sum + n, 0)), most = Math.max(...totals, never ?? 0, 1);
    const x = (at) => 4 + at * (wide - 8), base = high - bottom;
    const focused = document.activeElement?.getAttribute?.('data-part');
    const parts = [svg('line', { class: 'axis', x1: 0, x2: wide, y1: base + 0.5, y2: base + 0.5 })];
    for (const t of axis.ticks()) {
      parts.push(svg('line', { class: 'axis', x1: x(t.at), x2: x(t.at), y1: base, y2: base + 4 }));
      parts.push(svg('text', { class: 'tick', x: x(t.at), y: high - 5, 'text-anchor': t.at === 0 ? 'start' : 'middle' }, t.label));
    }
    classes.forEach((c, i) => {
      const from = x(c.from) + 1, width = Math.max(x(c.to) - x(c.from) - 2, 3), tall = Math.round(height(totals[i], most) * room);
      let y = base;
      stack(columns[i], tall, 3).forEach((part, f) => {
        if (part === 0) return;
        y -= part;
        parts.push(this.bar(fates[f], c, i, columns[i][f], { x: from, width, y, height: part }));
      });
      if (totals[i] > 0) parts.push(svg('text', { class: 'count', x: from + width / 2, y: base - tall - 4, 'text-anchor': 'middle' }, short(totals[i])));
    });
    if (never > 0) {
      const at = axis.never(), tall = Math.round(height(never, most) * room), from = x(at.from) + 4, width = x(at.to) - x(at.from) - 8;
      parts.push(svg('rect', { class: 'never', x: from, width, y: base - tall, height: tall }, svg('title', null, `${plural(never, 'message')} without a deadline`)));
      parts.push(svg('text', { class: 'count', x: from + width / 2, y: base - tall - 4, 'text-anchor': 'middle' }, short(never)));
    }
    this.picture.setAttribute('width', wide);
    this.picture.setAttribute('viewBox', `0 0 ${wide} ${high}`);
    this.picture.replaceChildren(...parts);
    if (focused) this.picture.querySelector(`[data-part="${focused}"]`)?.focus();
    this.body.replaceChildren(...classes.map((c, i) => el('tr', null, el('th', { scope: 'row' }, c.label), columns[i].map((n) => el('td', { class: 'num' }, number(n))))),
      el('tr', null, el('th', { scope: 'row' }, 'never'), el('td', { colspan: fates.length, class: 'num' }, never === null ? '–' : plural(never, 'message'))));
  }

  bar(fate, c, i, n, box) {
    const within = fate.filter === 'unacked_longer_than' ? 0 : c.within === Infinity ? ever : c.within;
    const says = `${plural(n, fate.unit ?? 'message')}, ${c.label}: ${fate.name}`;
    const to = this.link({ [fate.filter]: String(within) });
    return svg('a', { href: to, role: to ? null : 'img', 'aria-label': to ? `${says}. ${this.leads}` : says, 'data-part': `${fate.key}-${i}` },
      svg('title', null, says), svg('rect', { class: fate.key, ...box }));
  }

  end() {
    this.watch.disconnect();
  }
}
