// Queues: a table of all queues, paged, sorted and filtered by the broker.

import { deleteAll, purgeAll } from '../actions.js';
import { get, path, request } from '../api.js';
import { Sparkline } from '../chart.js';
import { dialog, el, figure as shownFigure, stay, text, when } from '../dom.js';
import * as format from '../format.js';
import { button, choose, field, keepAsking, link, marks, offered, vhostsOf } from '../list.js';
import { parsed } from '../policy.js';
import { consequences } from '../policyeditor.js';
import { says } from '../settings.js';
import { ServerTable } from '../table.js';
import { exactly, columnsOf, query, read, write } from '../tablestate.js';

const ever = String(10 * 365 * 86400e3);

const figure = (key, label, title, field, more, shown = (n) => shownFigure(format, n)) => ({ key, label, title, sort: field, num: true, desc: true, cell: (q) => (q.state === 'down' ? '–' : shown(q[field])), fields: [field], ...more });
const size = (n) => (n === 0 ? shownFigure(format, n) : format.bytes(n));
const moment = (key, label, title, field, more) => ({ key, label, title, sort: field, num: true, cell: (q) => when(format, q[field], !/age|oldest/.test(key)), fields: [field], ...more });
const speed = (key, label, title, of) => ({
  key, label, title, sort: `message_stats.${of}_details.rate`, num: true, desc: true, shown: key !== 'ack', fields: [`message_stats.${of}_details.rate`],
  cell: (q, kept) => {
    kept[key] ??= new Sparkline();
    kept[key].add(q.message_stats?.[`${of}_details`]?.rate);
    return kept[key].element;
  },
});

/** spec describes the table: fields are those to request from the API. */
const spec = {
  columns: [
    { key: 'name', label: 'Name', sort: 'name', always: true, cell: (q) => link(['queue', q.vhost, q.name], q.name), fields: ['name', 'vhost'] },
    figure('ready', 'Ready', 'Messages ready for delivery', 'messages_ready', { shown: true }),
    figure('unacked', 'Unacked', 'Delivered messages not yet acknowledged', 'messages_unacknowledged', { shown: true }),
    figure('total', 'Total', 'Ready and unacked', 'messages'),
    figure('scheduled', 'Scheduled', 'Messages not yet due', 'messages_scheduled', { shown: true }),
    { key: 'features', label: 'Features', cell: features, fields: ['durable', 'auto_delete', 'exclusive', 'arguments', 'effective_policy_definition'], shown: true },
    { key: 'state', label: 'State', sort: 'state', cell: (q) => q.state, fields: ['state'], shown: true },
    figure('expiring', 'Expiring', 'Ready messages that have a deadline', 'messages_expiring'),
    moment('next', 'Next expiry', 'When the next message expires', 'next_expiry', { shown: true, needs: { expires_within: ever }, only: 'with messages that expire' }),
    moment('due', 'Next due', 'When the next scheduled message is released', 'next_due', { needs: { scheduled_within: ever }, only: 'with scheduled messages' }),
    moment('lease', 'Lease ends', 'When the queue expires if unused', 'lease_expires_at', { shown: true, needs: { lease_ends_within: ever }, only: 'with a lease' }),
    moment('age', 'Oldest since', 'Enqueue time of the oldest ready message', 'oldest_ready_at', { needs: { oldest_over: '0' }, only: 'with ready messages' }),
    moment('oldest', 'Unacked since', 'Delivery time of the oldest unacked message', 'oldest_unacked_at', { needs: { unacked_longer_than: '0' }, only: 'with unacked messages' }),
    speed('in', 'In', 'Messages published per second, also since the page was opened', 'publish'),
    speed('out', 'Out', 'Messages delivered per second', 'deliver_get'),
    speed('ack', 'Acked', 'Messages acknowledged, per second', 'ack'),
    figure('consumers', 'Consumers', 'Consumers of the queue', 'consumers'),
    figure('memory', 'Memory', 'Memory of the messages', 'memory', { shown: true }, size),
    figure('bytes', 'Bytes', 'Bodies of all messages', 'message_bytes', {}, size),
    { key: 'type', label: 'Type', sort: 'type', cell: (q) => q.type, fields: ['type'], shown: true },
    { key: 'policy', label: 'Policy', sort: 'policy', cell: (q) => q.policy ?? '', fields: ['policy'], shown: true },
    { key: 'operator', label: 'Operator policy', sort: 'operator_policy', cell: (q) => q.operator_policy ?? '', fields: ['operator_policy'] },
    { key: 'vhost', label: 'Virtual host', sort: 'vhost', cell: (q) => q.vhost, fields: [], shown: true },
  ],
  filters: ['vhost', 'type', 'policy', 'expires_within', 'scheduled_within', 'lease_ends_within', 'unacked_longer_than', 'oldest_over'],
  size: 50,
  key: (q) => JSON.stringify([q.vhost, q.name]),
  label: (q) => `queue ${q.name}`,
};

const times = [['1000', '1 s'], ['10000', '10 s'], ['60000', '1 min'], ['600000', '10 min'], ['3600000', '1 h'], ['21600000', '6 h'], ['86400000', '1 d'],
  ['604800000', '7 d'], ['2592000000', '30 d'], [ever, 'any time']];
const words = {
  vhost: 'in virtual host', type: 'of type', policy: 'with policy', expires_within: 'messages expire within', scheduled_within: 'scheduled messages are due within',
  lease_ends_within: 'queue ends within', unacked_longer_than: 'messages unacked for at least', oldest_over: 'oldest message older than',
};

export const queues = { title: 'Queues', show };

const itself = (v) => v || 'the default exchange';
/** @type {any[]} mark, key, text */
const badges = [['TTL', 'message-ttl', format.duration], ['Exp', 'expires', format.duration], ['DLX', 'dead-letter-exchange', itself], ['Fwd', 'forward-to', itself]];

async function addQueue(asking) {
  const args = el('textarea', { name: 'arguments', rows: 4, spellcheck: 'false' });
  dialog('Add a queue', [choose('vhost', 'Virtual host', await vhostsOf('configure').catch(() => ['/'])), field('name', 'Name', { required: true }), choose('type', 'Type', ['classic', 'quorum']),
    el('label', { class: 'check' }, el('input', { type: 'checkbox', name: 'durable', checked: true }), 'Durable'),
    el('label', { class: 'check' }, el('input', { type: 'checkbox', name: 'auto_delete' }), 'Auto-delete'), el('label', null, 'Arguments, as JSON', args)], 'Add', async (form) => {
    const own = form.get('arguments').trim() ? parsed(form.get('arguments'), 'arguments') : {};
    await request('PUT', path('api/queues', form.get('vhost'), form.get('name')), { body: { durable: form.has('durable'), auto_delete: form.has('auto_delete'), arguments: { 'x-queue-type': form.get('type'), ...own } } });
    asking.now();
  });
}

function features(q) {
  const others = Object.entries(q.arguments).filter(([k]) => k !== 'x-queue-type' && badges.every(([, key]) => k !== `x-${key}`));
  return marks({ ...q, arguments: Object.fromEntries(others) }, badges.map(([mark, key, shown]) => {
    const value = says(q, key).find((v) => v !== false);
    return [value !== undefined, mark, `${key}: ${value === undefined ? '' : shown(value)}`];
  }));
}

function show(main, context) {
  let state = read(context.params, spec);
  const failed = el('p', { class: 'error', role: 'alert' }), chips = el('ul', { class: 'chips', 'aria-label': 'Filters' });
  const allowed = (what, items = table.selected()) => items.filter((q) => q.may.includes(what));
  const actions = {
    purge: button('Purge…', () => purgeAll(allowed('purge'), asking)), policy: button('Set policy…', () => setPolicy(allowed('policy'), asking)),
    delete: button('Delete…', () => deleteAll(allowed('delete'), asking), true),
  };
  const chosen = el('span'), bar = el('div', { class: 'bulk', role: 'group', 'aria-label': 'Selected queues', hidden: true }, chosen, Object.values(actions));
  const table = new ServerTable('Queues', spec, (next, step = true) => go(next, step), (items) => {
    bar.hidden = items.length === 0;
    text(chosen, `${format.plural(items.length, 'queue')} selected, ${format.plural(items.reduce((n, q) => n + (q.messages ?? 0), 0), 'message')}`);
    for (const [what, b] of Object.entries(actions)) b.hidden = allowed(what, items).length === 0;
    actions.policy.disabled = new Set(allowed('policy', items).map((q) => q.vhost)).size !== 1;
  });
  const add = filterMenu((name, value) => go({ ...state, filters: { ...state.filters, [name]: value }, page: 1 }, true));
  table.extra.append(add);
  main.append(el('div', { class: 'row' }, el('h1', null, 'Queues'), offered(button('Add queue…', () => addQueue(asking)), 'configure')), table.tools, chips, bar, failed, table.element);

  const go = (next, step) => {
    state = next;
    context.keep(write(state, spec), step);
    look();
    asking.now();
  };
  const look = () => {
    table.set(state);
    const sort = spec.columns.find((c) => c.key === state.sort);
    chips.replaceChildren(...Object.entries(state.filters).map(([name, value]) => chip(name, value, () => {
      const { [name]: _gone, ...filters } = state.filters;
      go({ ...state, filters, page: 1 }, true);
    })), ...(sort?.only && !Object.keys(sort.needs).some((n) => n in state.filters) ? [el('li', { class: 'hint' }, `sorted: only queues ${sort.only}`)] : []));
  };
  context.onChange((params) => {
    state = read(params, spec);
    look();
    asking.now();
  });
  look();
  const asking = keepAsking(table, failed, context, async (signal) => {
    const { vhost, ...q } = query(state, spec);
    const fields = new Set(['name', 'vhost', 'state', 'messages', 'may', ...columnsOf(state, spec).flatMap((c) => c.fields)]);
    const page = await get(vhost === undefined ? 'api/queues' : path('api/queues', vhost), { query: { ...q, may: true, columns: [...fields].join(',') }, signal });
    table.show(page, state.name || Object.keys(state.filters).length ? 'No queue matches.' : 'There are no queues, or none that you may see.');
  }, () => go({ ...state, page: 1 }, false));
  return () => asking.stop();
}

function chip(name, value, remove) {
  const isTime = /within|longer|over/.test(name), named = isTime && times.find(([ms]) => ms === value)?.[1];
  const shown = named || (value === '' ? 'none' : !isTime ? value : value === '0' ? 'any time' : format.duration(Number(value)));
  return el('li', null, el('button', { type: 'button', title: 'Remove this filter', 'aria-label': `Remove the filter: ${words[name]} ${shown}`, onclick: remove }, `${words[name]} ${shown} ×`));
}

/** filterMenu is the menu of all filters except the name. */
function filterMenu(add) {
  const menu = el('details', { class: 'menu' });
  const close = (name, value) => {
    menu.open = false;
    add(name, value);
  };
  const pick = (name, label, options) => {
    const select = el('select', { onchange: () => select.value && (close(name, select.value), select.value = '') },
      el('option', { value: '' }, '…'), options.map(([value, shown]) => el('option', { value }, shown)));
    return el('label', null, label, select);
  };
  const fill = (name, label) => {
    const input = el('input', { spellcheck: 'false', autocomplete: 'off' });
    return el('form', { onsubmit: (event) => { event.preventDefault(); close(name, input.value); input.value = ''; } }, el('label', null, label, input), el('button', { type: 'submit' }, 'Filter'));
  };
  menu.append(el('summary', null, 'Filters'), el('div', { class: 'choice' },
    pick('expires_within', 'Messages expire within', times), pick('scheduled_within', 'Scheduled ones due within', times), pick('lease_ends_within', 'Queue ends within', times),
    pick('unacked_longer_than', 'Unacked for at least', [['0', 'any time'], ...times.slice(0, -1)]), pick('oldest_over', 'Oldest message older than', times.slice(0, -1)),
    pick('type', 'Type', ['classic', 'quorum', 'stream'].map((t) => [t, t])), fill('policy', 'Policy'), fill('vhost', 'Virtual host')));
  return menu;
}

/** setPolicy shows a preview of a policy for the selected queues, then sets it. */
function setPolicy(items, asking) {
  const vhost = items[0].vhost;
  const definition = el('textarea', { name: 'definition', rows: 4, required: true, spellcheck: 'false', placeholder: '{"message-ttl": 60000}' });
  let seen = null;
  const container = el('div', { class: 'preview', role: 'status' });
  const box = dialog(`Policy for ${format.plural(items.length, 'queue')} in ${vhost}`, [
    el('p', { class: 'hint' }, 'A policy applies to all names that its pattern matches; of several, the one with the highest priority.'),
    field('name', 'Name', { required: true }), field('pattern', 'Pattern', { required: true, value: exactly(items.map((q) => q.name)) }), field('priority', 'Priority', { required: true, value: '0', inputmode: 'numeric', pattern: '-?[0-9]+' }),
    el('label', null, 'Definition', definition), container,
  ], 'Preview', async (form) => {
    const policy = { pattern: form.get('pattern'), priority: Number(form.get('priority')), 'apply-to': 'queues', definition: parsed(form.get('definition')) };
    const asked = JSON.stringify([form.get('name'), policy]);
    if (seen !== asked) {
      const p = await request('POST', path('api/x/policies', vhost, form.get('name'), 'preview'), { body: policy });
      seen = asked;
      const submit = box.querySelector('button[type=submit]');
      container.replaceChildren(...consequences(p, submit));
      text(submit, 'Set policy');
      return stay;
    }
    await request('PUT', path('api/policies', vhost, form.get('name')), { body: policy });
    asking.now();
    return null;
  });
  box.addEventListener('input', () => {
    seen = null;
    const submit = box.querySelector('button[type=submit]');
    submit.className = 'primary';
    text(submit, 'Preview');
  });
}
