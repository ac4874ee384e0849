// Now: the present activity of the broker, and the next deadlines.

import { brokerNow, get, poll } from '../api.js';
import { LineChart } from '../chart.js';
import { el, text } from '../dom.js';
import * as format from '../format.js';
import { href } from '../address.js';
import { quantile, ratesOf, since } from '../scale.js';
import { Strip } from '../strip.js';

const minutes = 10 * 60e3;
const lines = [['published', 'publish_details', 'in'], ['delivered', 'deliver_get_details', 'out'], ['acknowledged', 'ack_details', 'ack']];
const fateWords = {
  dropped: 'a message expires', dead_lettered: 'a message is dead-lettered', scheduled: 'a message is released', queue_ends: 'the queue ends', lock_returns: 'a delivery comes back', schedule_runs: 'a schedule publishes',
};

export const now = { title: 'Now', show };

function show(main, context) {
  const monitors = context.may('monitoring');
  const figures = new Figures(monitors), due = new Due(), late = new Late();
  const chart = monitors ? new LineChart('Messages per second', minutes) : null;
  const members = el('dl', { class: 'tiles', hidden: true, 'aria-label': 'Nodes' });
  const alarms = el('div', { class: 'alarms', role: 'alert' });
  main.append(el('h1', { class: 'sr' }, 'Now'), alarms, figures.element, members,
    chart ? el('section', { class: 'card' }, chart.element) : el('p', { class: 'hint' }, 'Rates, memory and disk of the whole broker are shown to users with the tag monitoring.'),
    el('section', { class: 'card', 'aria-labelledby': 'due' }, el('div', { class: 'row' }, el('h2', { id: 'due' }, 'What is due'), due.next), due.warning, due.strip.element,
      monitors ? late.element : null));

  let ready = null, ahead = null;
  const polls = [poll(async (signal) => {
    const query = { columns: 'message_stats,queue_totals,object_totals', msg_rates_age: monitors ? 600 : null, msg_rates_incr: monitors ? 5 : null };
    const o = await get('api/overview', { query, signal });
    ready = o.queue_totals.messages_ready;
    if (ahead) due.show(ahead, ready);
    figures.overview(o);
    chart?.draw(lines.map(([name, key, kind]) => ({ name, kind, points: ratesOf(o.message_stats[key]?.samples ?? []) })));
  }, 5000, context.report), poll(async (signal) => {
    ahead = await get('api/x/ahead', { signal });
    figures.scheduled(ahead);
    due.show(ahead, ready);
  }, 2000, context.report)];
  if (monitors) {
    polls.push(poll(async (signal) => {
      const [node, ...others] = await get('api/nodes', { query: { columns: 'name,mem_used,mem_limit,mem_alarm,disk_free,disk_free_limit,disk_free_alarm' }, signal });
      figures.node(node);
      alarm(alarms, node, others);
      nodes(members, await get('api/x/cluster', { signal }));
    }, 5000, context.report), poll(async (signal) => late.add(await get('api/x/lateness', { signal })), 5000, context.report));
  }
  const ticking = setInterval(() => due.tick(), 100);
  return () => {
    clearInterval(ticking);
    polls.forEach((p) => p.stop());
    chart?.end();
    due.strip.end();
  };
}

/** alarm shows the active alarms in a banner; those of other nodes of a cluster block nobody. */
export function alarm(banner, node, others = []) {
  const alarms = [];
  if (node.mem_alarm) alarms.push(`Memory alarm: ${format.bytes(node.mem_used)} in use, above the watermark of ${format.bytes(node.mem_limit)}. Publishers are blocked.`);
  if (node.disk_free_alarm) alarms.push(`Disk alarm: ${format.bytes(node.disk_free)} free, below the limit of ${format.bytes(node.disk_free_limit)}. Publishers are blocked.`);
  for (const o of others) {
    if (o.mem_alarm) alarms.push(`Memory alarm on ${o.name}: ${format.bytes(o.mem_used)} in use, above its watermark of ${format.bytes(o.mem_limit)}.`);
    if (o.disk_free_alarm) alarms.push(`Disk alarm on ${o.name}: ${format.bytes(o.disk_free)} free, below its limit of ${format.bytes(o.disk_free_limit)}.`);
  }
  if (banner.textContent !== alarms.join('')) banner.replaceChildren(...alarms.map((t) => el('p', null, t)));
}

/** nodes shows the nodes of a cluster; nothing for a broker alone. */
function nodes(list, cluster) {
  list.hidden = cluster.members.length === 0;
  list.replaceChildren(...cluster.members.map((m) => el('div', { class: 'tile', title: m.address }, el('dt', null, m.name), el('dd', null, m.online ? m.role : 'offline'),
    el('dd', { class: 'more' }, m.role === 'leader' ? `term ${cluster.term}` : [m.lag > 0 ? `${format.plural(m.lag, 'entry', 'entries')} behind` : 'has all data', Math.abs(m.clock_offset_ms) >= 100 ? `clock ${format.duration(m.clock_offset_ms)} apart` : null].filter(Boolean).join(', ')))));
}

/** Figures are the numbers at the top. */
class Figures {
  constructor(monitors) {
    this.values = {};
    const tile = (key, label, title, meter) => {
      const value = el('dd'), more = el('dd', { class: 'more' });
      const bar = meter ? el('meter', { min: 0, max: 1, 'aria-label': `${label}, of what there may be` }) : null;
      this.values[key] = { value, more, bar };
      return el('div', { class: 'tile', title }, el('dt', null, label), value, more, bar && el('dd', { class: 'bar' }, bar));
    };
    this.element = el('dl', { class: 'tiles' },
      tile('ready', 'Ready', 'Messages ready for delivery'), tile('unacked', 'Unacked', 'Delivered messages not yet acknowledged'),
      tile('scheduled', 'Scheduled', 'Messages not yet due'),
      monitors && tile('in', 'In', 'Messages published'), monitors && tile('out', 'Out', 'Messages delivered'),
      tile('connections', 'Connections', 'Open connections'), tile('queues', 'Queues', 'Queues, and consumers of them'),
      monitors && tile('memory', 'Memory', 'In use, of the watermark above which publishers are blocked', true),
      monitors && tile('disk', 'Disk free', 'Free on the disk of the data folder, and the limit below which publishers are blocked', true));
  }

  set(key, value, more = '') {
    const t = this.values[key];
    if (!t) return;
    text(t.value, value);
    text(t.more, more);
  }

  overview(o) {
    const q = o.queue_totals, n = o.object_totals, s = o.message_stats;
    this.set('ready', format.number(q.messages_ready));
    this.set('unacked', format.number(q.messages_unacknowledged));
    this.set('in', format.rate(s.publish_details?.rate), `${format.short(s.publish)} in all`);
    this.set('out', format.rate(s.deliver_get_details?.rate), `${format.short(s.deliver_get)} in all`);
    this.set('connections', format.number(n.connections), format.plural(n.channels, 'channel'));
    this.set('queues', format.number(n.queues), format.plural(n.consumers, 'consumer'));
  }

  scheduled(ahead) {
    this.set('scheduled', format.number(ahead.counts.scheduled.reduce((sum, n) => sum + n, 0)), ahead.queues > ahead.queues_asked ? 'at least' : '');
  }

  node(n) {
    const level = (key, share, bad) => {
      const bar = this.values[key].bar;
      bar.value = Math.min(share, 1);
      bar.classList.toggle('bad', bad);
    };
    this.set('memory', format.bytes(n.mem_used), `of ${format.bytes(n.mem_limit)}`);
    level('memory', n.mem_limit ? n.mem_used / n.mem_limit : 0, n.mem_alarm);
    this.set('disk', format.bytes(n.disk_free), `limit ${format.bytes(n.disk_free_limit)}`);
    level('disk', n.disk_free ? n.disk_free_limit / n.disk_free : 1, n.disk_free_alarm);
  }
}

/** Due is the strip, and the countdown to the next deadline. */
class Due {
  constructor() {
    this.strip = new Strip((filters) => href(['queues'], new URLSearchParams(filters)));
    this.left = el('b', { class: 'countdown' });
    this.what = el('span');
    this.next = el('p', { class: 'next' }, this.what, this.left);
    this.warning = el('p', { class: 'hint', hidden: true });
    this.at = null;
  }

  show(ahead, ready) {
    const due = ahead.counts.dropped.concat(ahead.counts.dead_lettered).reduce((sum, n) => sum + n, 0);
    const whole = ahead.queues === ahead.queues_asked;
    this.strip.draw(ahead, ready === null || !whole ? null : Math.max(ready - due, 0));
    this.warning.hidden = whole;
    text(this.warning, `Something is due for ${format.number(ahead.queues)} queues; ${format.number(ahead.queues_asked)} of them are counted here, those with messages that expire first.`);
    this.at = ahead.next ? Date.parse(ahead.next.at) : null;
    if (ahead.next) {
      const n = ahead.next;
      text(this.what, `Next: ${fateWords[n.fate]} (${n.schedule ?? (n.exchange ? `exchange ${n.exchange}` : n.queue)}${n.vhost === '/' ? '' : ` in ${n.vhost}`}) `);
      this.left.title = format.moment(this.at);
    } else {
      text(this.what, 'Nothing is due.');
      this.left.removeAttribute('title');
    }
    this.tick();
  }

  tick() {
    const left = this.at - brokerNow();
    text(this.left, this.at === null ? '' : left > 0 ? `in ${format.countdown(left)}` : 'now');
  }
}

/** Late shows how long after their deadlines messages leave, over at most the last five minutes for which the page was open. */
class Late {
  constructor() {
    this.looks = [];
    this.element = el('p', { class: 'late' });
  }

  add(l) {
    this.looks = [...this.looks.filter((x) => x.at > Date.now() - 5 * 60e3), { at: Date.now(), ...l }];
    const first = this.looks[0], anew = first.at === this.looks[this.looks.length - 1].at;
    const lateBy = (key) => {
      const counts = since(anew ? null : first[key], l[key]), total = counts.reduce((sum, n) => sum + n, 0);
      const below = (q) => {
        const s = quantile(q, l.bounds_s, counts);
        return s === Infinity ? `above ${format.duration(l.bounds_s[l.bounds_s.length - 1] * 1e3)}` : `≤ ${format.duration(s * 1e3)}`;
      };
      return total === 0 ? `${key}: nothing` : `${key}: ${format.plural(total, 'message')}, late by ${below(0.5)} (p50), ${below(0.99)} (p99)`;
    };
    const span = anew ? 'Since the broker started' : `In the last ${format.duration(Math.round((Date.now() - first.at) / 1e3) * 1e3)}`;
    text(this.element, `${span} ${lateBy('expired')}; ${lateBy('released')}.`);
    this.element.title = 'Measured by the broker: time from the deadline to the removal of a message, to the precision of a bucket.';
  }
}

