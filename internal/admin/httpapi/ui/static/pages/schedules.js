// Schedules: what they do next, and setting, pausing, triggering and deleting them.

import { brokerNow, get, path, request } from '../api.js';
import { dialog, el, svg, when } from '../dom.js';
import * as format from '../format.js';
import { button, buttons, choose, Facts, field, figure, inVHost, link, listOf, moment, offered, Rows, section, vhostsOf, watch, word, words } from '../list.js';
import { parsed } from '../policy.js';

const at = (s, ...more) => path('api/x/schedules', s.vhost, s.name, ...more), day = 86400e3, rows = 12, ticks = 500;
export const timing = (s) => (s.cron ? `${s.cron}${s.zone ? ` (${s.zone})` : ''}` : s.every !== undefined ? `every ${typeof s.every === 'number' ? format.duration(s.every) : s.every}` : `at ${[s.at].flat().length} dates`);
const target = (s) => (s.queue !== undefined ? `queue ${s.queue}` : `exchange ${s.exchange || '(AMQP default)'} ${s.routing_key ?? ''}`);
const shown = ['name', 'vhost', 'status', 'created'];
const definition = (s) => Object.fromEntries(Object.entries(s).filter(([k]) => !shown.includes(k)));

/** line shows the runs of the next 24 hours. */
function line(times, label) {
  const now = brokerNow(), wide = 1000, x = (ms) => ((ms - now) / day) * wide;
  const due = times.map((t) => Date.parse(t.due)).filter((ms) => ms - now < day);
  return svg('svg', { class: 'runs', viewBox: `0 0 ${wide} 16`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${label}: ${due.length >= ticks ? `${ticks} or more runs` : format.plural(due.length, 'run')} in the next 24 hours` },
    svg('line', { x1: 0, x2: wide, y1: 15.5, y2: 15.5 }), due.map((ms) => svg('line', { class: 'run', x1: x(ms), x2: x(ms), y1: 2, y2: 15 })));
}

const upcoming = (s, count, signal) => get(at(s, 'next'), { query: { count }, signal }).then((o) => o.next);
const timesOf = (times) => el('ol', { class: 'times' }, times.map((t) => el('li', null, t.due, t.reason && el('span', { class: 'hint' }, ` ${t.reason}`))));

/** previewOf returns an element, and a function that shows there what the broker says about the values of a form, once they stay for a moment. */
function previewOf(ask) {
  const shown = el('div', { class: 'preview', 'aria-live': 'polite' });
  let timer = 0;
  return [shown, (form) => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      try {
        shown.replaceChildren(...await ask(new FormData(form)));
      } catch (error) {
        shown.replaceChildren(el('p', { class: 'error' }, error.message));
      }
    }, 300);
  }];
}

/** edit creates a schedule, or changes one, with the next ten times while it is written. */
async function edit(s, then) {
  const names = s ? [s.vhost] : await vhostsOf().catch(() => ['/']);
  const value = el('textarea', { name: 'more', rows: 7, spellcheck: 'false', 'aria-describedby': 'more-hint' });
  const { cron = '', zone = '', every = '', queue = '', body = '', ...rest } = s ? definition(s) : {};
  value.value = JSON.stringify(rest, null, 2);
  const fields = [
    s ? '' : [choose('vhost', 'Virtual host', names), field('name', 'Name', { required: true })],
    field('cron', 'Cron expression: minute hour day month weekday', { value: cron, placeholder: '30 2 * * *' }), field('zone', 'Time zone', { value: zone, placeholder: 'UTC' }),
    field('every', 'or an interval, such as 90s, 1h, 7d', { value: String(every) }), field('queue', 'Queue', { value: queue }), field('body', 'Message', { value: body }),
    el('label', null, 'Other settings, as JSON', value), el('p', { class: 'hint', id: 'more-hint' }, 'such as exchange and routing_key, at, start, end, count, jitter, expires, overlap, missed, properties, headers, templates'),
  ];
  const read = (form) => {
    const all = parsed(form.get('more') || '{}', 'other settings');
    for (const key of ['cron', 'zone', 'every', 'queue', 'body']) if (form.get(key)) all[key] = key === 'every' && /^\d+$/.test(form.get(key)) ? Number(form.get(key)) : form.get(key);
    return all;
  };
  const [preview, look] = previewOf(async (data) => {
    const draft = read(data);
    if (draft.queue === undefined && draft.exchange === undefined) draft.queue = 'none';
    const o = await request('POST', path('api/x/schedules', s?.vhost ?? data.get('vhost') ?? '/', 'preview'), { body: { ...draft, name: s?.name ?? data.get('name') ?? '' } });
    return [el('h3', null, 'Next times'), timesOf(o.next), ...o.warnings.filter((w) => !w.includes("'none'")).map((w) => el('p', { class: 'hint' }, w))];
  });
  dialog(s ? `Schedule ${s.name} in ${s.vhost}` : 'Add a schedule', [el('div', { oninput: (event) => look(event.target.form) }, fields), preview], 'Set', async (form) => {
    await request('PUT', at(s ?? { vhost: form.get('vhost'), name: form.get('name') }), { body: read(form) });
    then();
  });
  if (s) look(value.form);
}

function remove(s, then) {
  dialog(`Delete schedule ${s.name} in ${s.vhost}?`, el('p', null, `It has run ${format.plural(s.status.runs, 'time')}. Messages that it has published stay.`), 'Delete', async () => {
    await request('DELETE', at(s));
    then();
  }, true);
}

function pause(s, then) {
  if (s.paused) return request('POST', at(s, 'resume')).then(then);
  return dialog(`Pause schedule ${s.name} in ${s.vhost}?`, [el('p', null, 'Its times meanwhile are not missed runs.'), field('note', 'Note', {})], 'Pause', async (form) => {
    await request('POST', at(s, 'pause'), { body: { note: form.get('note') } });
    then();
  });
}

function trigger(s, then) {
  dialog(`Publish a run of ${s.name} now?`, el('p', null, `A message goes to ${target(s)}.`), 'Trigger', async () => {
    const run = await request('POST', at(s, 'trigger'), { body: {} });
    if (run.result !== 'stored') throw new Error(`${run.result}: ${run.reason}`);
    then();
  });
}

/** backfill publishes the runs of a past span, or cancels that. */
function backfill(s, then) {
  const b = s.status.backfill;
  if (b) {
    dialog(`Cancel the backfill of ${s.name}?`, el('p', null, `It has published ${format.plural(b.runs, 'run')} from ${b.from} on.`), 'Cancel the backfill', async () => {
      await request('DELETE', at(s, 'backfill'));
      then();
    }, true);
    return;
  }
  const post = (form, more) => request('POST', at(s, 'backfill'), { body: { from: form.get('from'), to: form.get('to'), rate: Number(form.get('rate')), overlap: form.get('overlap'), ...more } });
  const date = (ms) => new Date(ms).toISOString().replace(/\.\d+/, '');
  const [preview, look] = previewOf(async (form) => {
    const o = await post(form, { preview: true });
    return [el('p', null, `${format.plural(o.runs, 'run')} in ${format.number(Math.ceil(o.seconds))} s, the first:`), timesOf(o.first)];
  });
  dialog(`Publish past runs of ${s.name}?`, [el('div', { oninput: (event) => look(event.target.form) },
    field('from', 'From', { value: date(brokerNow() - day), required: true }), field('to', 'To', { value: date(brokerNow()), required: true }),
    field('rate', 'Runs a second', { value: 100, type: 'number', min: 1, max: 1000 }), choose('overlap', 'While the message before is in the queue', ['allow', 'skip', 'replace'])), preview], 'Backfill', async (form) => {
    await post(form);
    then();
  });
  look(preview.closest('form'));
}

const actions = (s, then) => [button('Pause or resume…', () => pause(s(), then)), button('Trigger…', () => trigger(s(), then)), button('Backfill…', () => backfill(s(), then)), button('Edit…', () => edit(s(), then)), button('Delete…', () => remove(s(), then), true)];

function list(main, context) {
  let asking = null, drawn = 0;
  const again = () => {
    drawn = 0;
    asking.now();
  };
  const card = el('section', { class: 'card', 'aria-label': 'The next 24 hours', hidden: true });
  const draw = async (found, signal) => {
    if (Date.now() - drawn < 60e3) return;
    drawn = Date.now();
    const some = found.filter((s) => s.status.next).slice(0, rows);
    const lines = await Promise.all(some.map(async (s) => el('div', { class: 'runsof' }, el('span', { class: 'name' }, s.name), line(await upcoming(s, ticks, signal), s.name))));
    card.hidden = lines.length === 0;
    card.replaceChildren(el('h2', null, 'The next 24 hours'), ...lines);
  };
  const end = listOf('Schedules', {
    all: async (vhost, signal) => {
      const found = await get(inVHost('api/x/schedules')(vhost), { signal });
      await draw(found, signal);
      return found;
    },
    key: (s) => JSON.stringify([s.vhost, s.name]), nothing: 'There are none.',
    columns: [
      { key: 'name', label: 'Name', sort: 'name', always: true, fields: [], cell: (s) => link(['schedules', s.vhost, s.name], s.name) }, word('vhost', 'Virtual host', 'vhost'), word('state', 'State', 'status.state'),
      { key: 'times', label: 'Times', shown: true, fields: [], cell: (s) => el('span', { class: 'name' }, timing(s)) }, { key: 'target', label: 'Target', shown: true, fields: [], cell: (s) => el('span', { class: 'name' }, target(s)) },
      moment('next', 'Next', 'status.due'), word('last', 'Last', 'status.last.result'), figure('runs', 'Runs', 'status.runs'), figure('missed', 'Missed', 'status.missed', { shown: false }), figure('refused', 'Refused', 'status.refused', { shown: false }),
      word('user', 'User', 'user', { shown: false }), word('note', 'Note', 'note', { shown: false }), buttons((s) => actions(s, again)),
    ],
    tools: (anew) => {
      asking = anew;
      return offered(button('Add schedule…', () => edit(null, again)), 'configure');
    },
  })(main, context);
  main.append(card);
  return end;
}

function one(main, context, [vhost, name]) {
  const facts = new Facts(), value = new Facts(), runs = el('div');
  const history = new Rows('Last runs', [['Time', (r) => r.time], ['By', (r) => r.by], ['Result', (r) => r.result], ['Late', (r) => `${format.number(r.late_ms)} ms`], ['Reason', (r) => r.reason ?? '']], 'None since the broker started.');
  let last = null;
  const bar = el('fieldset', { class: 'buttons', disabled: true, 'aria-label': 'Actions' }, actions(() => last, () => w.asking.now()));
  const w = watch(main, context, name, ['schedules', 'Schedules'], async (signal) => {
    const s = last = await get(at({ vhost, name }), { signal }), times = await upcoming(s, ticks, signal);
    bar.disabled = false;
    facts.set([['Virtual host', vhost], ['State', s.status.state], ['Next', s.status.due && when(format, s.status.due)], ['Runs', format.number(s.status.runs)], ['Stored', format.number(s.status.stored)], ['Skipped', format.number(s.status.skipped)],
      ['Missed', format.number(s.status.missed)], ['Refused', format.number(s.status.refused)], ['Unroutable', format.number(s.status.unroutable)],
      ['Backfill', s.status.backfill ? `${format.plural(s.status.backfill.runs, 'run')} so far, until ${s.status.backfill.to}` : 'none']]);
    value.set(Object.entries(definition(s)).map(([k, v]) => [k, words(v)]));
    runs.replaceChildren(line(times, name), timesOf(times.slice(0, 10)));
    history.show([...(s.status.history ?? [])].reverse());
  });
  w.tools.append(bar);
  w.body.append(facts.element, el('h2', null, 'Next times'), runs, history.element, el('h2', null, 'Definition'), value.element);
  return w.end;
}

export const schedules = section('Schedules', list, one);
