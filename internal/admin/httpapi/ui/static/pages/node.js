// Node: resources of the process, thresholds and alarms, listeners, feature flags, settings, and the log with its level.

import { get, path, poll, request } from '../api.js';
import { dialog, el, when } from '../dom.js';
import { logged, spoken } from '../eventstream.js';
import * as format from '../format.js';
import { button, choose, Facts, field, Rows, watch } from '../list.js';
import { alarm } from './now.js';

export const node = { title: 'Node', tags: ['monitoring'], show };

/** thresholds beyond which publishers are blocked: the address of each in the API, and its texts. */
const thresholds = [
  { at: 'api/memory-high-watermark', name: 'Memory high watermark', by: 'relative', share: 'a share of the memory, 0 to 1', of: 'of the memory', size: '2GiB' },
  { at: 'api/disk-free-limit', name: 'Disk free limit', by: 'mem_relative', share: 'a multiple of the memory', of: 'times the memory', size: '1GB' },
];
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'disabled'];
/** memoryParts are the parts of the memory that are not always 0, with their meaning in this broker. */
const memoryParts = { queue_procs: 'Messages in queues', connection_other: 'Messages in flight', other_proc: 'All other objects', other_system: 'Runtime', allocated_unused: 'Allocated, unused' };

function show(main, context) {
  const may = context.may(), banner = el('div', { class: 'alarms', role: 'alert' }), facts = new Facts(), used = new Facts(), memory = new Facts(), churn = new Facts();
  const part = (title, e) => el('section', null, el('h2', null, title), e.element);
  const limits = new Rows('Alarms and thresholds', [['Threshold', (t) => t.name], ['Setting', (t) => (t[t.by] === undefined ? format.bytes(t.absolute) : `${format.number(t[t.by])} ${t.of}`)],
    ['In bytes', (t) => format.bytes(t.limit)], ['Alarm', (t) => (t.alarm ? el('b', { class: 'error' }, 'yes: publishers are blocked') : 'no')], ...(may ? [['Actions', (t) => button('Change…', () => change(t))]] : [])], '');
  const listeners = new Rows('Listeners', [['Protocol', (l) => l.protocol], ['Address', (l) => l.ip_address], ['Port', (l) => String(l.port)]], 'There are none.');
  const flags = new Rows('Feature flags', [['Name', (f) => f.name], ['State', (f) => f.state], ['Stability', (f) => f.stability], ['Description', (f) => el('span', { class: 'wrap' }, f.desc)]], 'There are none.');
  const old = new Rows('Deprecated features', [['Name', (f) => f.name], ['Phase', (f) => f.deprecation_phase]], 'There are none.');
  const settings = new Rows('Settings', [['Name', (s) => s.name], ['Value', (s) => el('span', { class: 'wrap breaks' }, s.value)], ['From', (s) => s.from]], 'There are none.');
  const change = (t) => dialog(t.name, [choose('kind', 'As', [t.by, 'absolute']), field('value', `${t.share[0].toUpperCase()}${t.share.slice(1)}; absolute, a size such as ${t.size}`, { required: true }),
    el('p', { class: 'hint' }, 'Until the broker restarts. Publishers are blocked while the threshold is passed.')], 'Set', async (form) => {
    await request('PUT', t.at, { body: { [form.get('kind')]: form.get('value') } });
    w.asking.now();
  });
  const setLevel = (now) => {
    const level = choose('level', 'Minimum level', levels), select = level.querySelector('select');
    select.value = now;
    dialog('Log level', [level, el('p', { class: 'hint' }, 'Until the broker restarts.')], 'Set', async () => {
      await request('PUT', 'api/x/log-level', { body: { level: select.value } });
      w.asking.now();
    });
  };
  let level = '', once = false;
  const w = watch(main, context, 'Node', null, async (signal) => {
    const ask = (address, query) => get(address, { signal, query });
    const [[n], o, log, ...set] = await Promise.all([ask('api/nodes'), ask('api/overview', { columns: 'listeners,product_name,product_version,rabbitmq_version,cluster_name' }), ask('api/x/log-level'), ...thresholds.map((t) => ask(t.at))]);
    const { memory: m } = await ask(path('api/nodes', n.name, 'memory'));
    alarm(banner, n);
    level = log.level;
    facts.set([['Name', n.name], ['Cluster name', o.cluster_name], ['Version', `${o.product_name} ${o.product_version}`], ['RabbitMQ version', o.rabbitmq_version], ['Uptime', format.duration(Math.floor(n.uptime / 1000) * 1000)],
      ['Process', n.os_pid], ['Processors', format.number(n.processors)], ['Login mechanisms', n.auth_mechanisms.map((a) => a.name).join(', ')], ['Log level', level]]);
    const of = (is, most) => `${format.number(is)}${most > 0 ? ` of ${format.number(most)}` : ''}`, perSecond = (d) => ` (${format.rate(d.rate)})`;
    used.set([['Memory', `${format.bytes(n.mem_used)}, watermark ${format.bytes(n.mem_limit)}`], ['Disk free', `${format.bytes(n.disk_free)}, limit ${format.bytes(n.disk_free_limit)}`], ['Sockets', of(n.sockets_used, n.sockets_total)],
      ['File descriptors', of(n.fd_used, n.fd_total)], ['Goroutines', format.number(n.proc_used)], ['Garbage collections', format.number(n.gc_num) + perSecond(n.gc_num_details)], ['Collected', `${format.bytes(n.gc_bytes_reclaimed)} (${format.bytes(Math.round(n.gc_bytes_reclaimed_details.rate))}/s)`]]);
    memory.set([...Object.entries(memoryParts).map(([key, name]) => [name, format.bytes(m[key])]), ['Allocated', format.bytes(m.total.allocated)], ['Resident', format.bytes(m.total.rss)]]);
    churn.set([['Connections', 'connection', 'created', 'closed'], ['Channels', 'channel', 'created', 'closed'], ['Queues', 'queue', 'created', 'deleted']].map(([name, key, made, gone]) => [name,
      `${format.number(n[`${key}_${made}`])}${perSecond(n[`${key}_${made}_details`])} ${made}, ${format.number(n[`${key}_${gone}`])}${perSecond(n[`${key}_${gone}_details`])} ${gone}`]));
    limits.show(thresholds.map((t, i) => ({ ...t, ...set[i] })));
    listeners.show(o.listeners);
    if (once) return;
    const [f, d, s] = await Promise.all([ask('api/feature-flags'), ask('api/deprecated-features'), may ? ask('api/x/settings') : []]);
    once = true;
    flags.show(f);
    old.show(d);
    settings.show(s.toSorted((a, b) => Number(a.from === 'default') - Number(b.from === 'default')));
  });
  if (may) w.tools.append(button('Log level…', () => setLevel(level)));
  const log = new Rows('Log, newest first', [['Time', (l) => when(format, l.time)], ['Level', (l) => l.level], ['Message', (l) => el('span', { class: 'wrap breaks' }, l.message)], ['Fields', (l) => el('span', { class: 'wrap breaks' }, spoken(l.rest))]], 'There are no lines.');
  let lines = [], reading = null;
  const read = async (signal) => {
    lines = [...(await get('api/x/log', { query: { after: lines[0]?.id }, signal })).map(logged).reverse(), ...lines].slice(0, 500);
    log.show(lines);
  };
  const open = el('details', { class: 'part', ontoggle: () => {
    reading?.stop();
    reading = open.open ? poll(read, 2000, context.report) : null;
  } }, el('summary', null, 'Log'), log.element);
  const folded = (rows) => el('details', { class: 'part' }, el('summary', null, rows.title), rows.element);
  w.body.append(banner, facts.element, limits.element, el('div', { class: 'beside' }, part('Resources', used), part('Memory', memory), part('Since the start', churn)), listeners.element, open, folded(flags), folded(old), may ? folded(settings) : '');
  return () => {
    reading?.stop();
    w.end();
  };
}
