// Parts of the page of a queue: the locks of unacked messages, and the scheduled messages.

import { get, poll, request } from '../api.js';
import { dialog, el, stay, when } from '../dom.js';
import * as format from '../format.js';
import { msOf } from '../settings.js';
import { table } from '../table.js';

const size = 100;

/** Pager pages through a list of which each page has the cursor of the next one. */
export class Pager {
  constructor(change) {
    this.afters = [null];
    this.back = el('button', { type: 'button', 'aria-label': 'Previous page', onclick: () => { this.afters.pop(); change(); } }, '‹');
    this.on = el('button', { type: 'button', 'aria-label': 'Next page', onclick: () => { this.afters.push(this.next); change(); } }, '›');
    this.range = el('span', { class: 'range', role: 'status' });
    this.element = el('nav', { class: 'pages', 'aria-label': 'Pages' }, this.range, this.back, this.on);
    this.update(0, null, '');
  }

  /** after is the cursor of the shown page, null for the first page. */
  get after() {
    return this.afters.at(-1);
  }

  first() {
    this.afters = [null];
  }

  update(n, next, what) {
    this.next = next;
    this.back.disabled = this.afters.length === 1;
    this.on.disabled = next === null;
    this.range.textContent = what ? `${format.plural(n, what)} on page ${format.number(this.afters.length)}` : '';
  }
}

/** listed requests one page of a list every 5 s and shows it. The focus stays on the same button. */
function listed(where, about, address, key, what, draw) {
  const container = el('div');
  const pager = new Pager(() => asking.now()), failed = el('p', { class: 'error', role: 'alert' });
  where.append(failed, container, pager.element);
  const asking = poll(async (signal) => {
    try {
      const answer = await get(address, { query: { limit: size, after: pager.after }, signal });
      failed.textContent = '';
      const focused = document.activeElement?.getAttribute?.('data-for');
      container.replaceChildren(draw(answer[key]));
      if (focused) [...container.querySelectorAll('[data-for]')].find((e) => e.getAttribute('data-for') === focused)?.focus();
      pager.update(answer[key].length, answer.next, what);
    } catch (error) {
      if (error.name !== 'AbortError') failed.textContent = error.message;
      throw error;
    }
  }, 5000, about.context.report);
  return asking;
}

const value = (text) => el('span', { class: 'value' }, text);

export function locks(where, about) {
  where.append(el('p', { class: 'hint' }, 'Messages delivered and not yet acknowledged. A lock with a time limit can be renewed; it ends early when its holder settles the message or its channel closes.'));
  const renew = async (d) => {
    try {
      const { lock_expires_at: until } = await request('POST', about.x('unacked', d.id, 'renew'));
      about.say(until ? `The lock of message ${d.id} now ends at ${format.moment(Date.parse(until))}.` : 'Renewed.');
    } catch (error) {
      about.say(`Message ${d.id}: ${error.message}`);
    }
    asking.now();
  };
  const giveBack = (d) => dialog('Return a message to its queue?', el('p', null, `Message ${d.id} is taken back from `, d.consumer_tag === '' ? 'basic.get' : value(d.consumer_tag), ', returns to its place in the queue, marked as redelivered, and counts as delivered once more. Later acknowledgements of its holder are ignored.'), 'Return it', async () => {
    await request('POST', about.x('unacked', d.id, 'return'));
    refresh(about, asking, `Message ${d.id} is in the queue again.`);
  }, true);
  const asking = listed(where, about, about.x('unacked'), 'deliveries', 'message', (all) => table('Locks',
    ['Lock ends', 'Held by', 'Channel', 'Since', 'Delivery tag', 'Message', 'Bytes', 'Earlier deliveries', 'Message expires', 'Actions'], all.map((d) => [
      d.lock_expires_at ? when(format, d.lock_expires_at, true) : 'with its channel', d.consumer_tag === '' ? 'basic.get' : value(d.consumer_tag), value(d.channel), when(format, d.delivered_at),
      d.delivery_tag === null ? 'not sent yet' : format.number(d.delivery_tag), d.id, format.number(d.payload_bytes), format.number(d.delivery_count), when(format, d.expires_at, true),
      el('span', { class: 'buttons' },
        d.lock_expires_at && el('button', { type: 'button', 'data-for': d.id, 'aria-label': `Renew the lock of message ${d.id}`, onclick: () => renew(d) }, 'Renew'),
        about.may('alter') && el('button', { type: 'button', class: 'danger', 'data-for': `return ${d.id}`, 'aria-label': `Return message ${d.id}`, onclick: () => giveBack(d) }, 'Return…')),
    ]), 'No message is locked.'));
  return () => asking.stop();
}

export function scheduled(where, about) {
  where.append(el('p', { class: 'hint' }, 'Scheduled messages, the next one first.'));
  if (about.may('alter')) {
    const many = (label, change, kind) => el('button', { type: 'button', class: kind, onclick: () => change(about, () => asking) }, label);
    where.append(el('div', { class: 'buttons' }, many('Reschedule several…', rescheduleMany), many('Cancel several…', cancelMany, 'danger')));
  }
  const asking = listed(where, about, about.x('scheduled'), 'messages', 'message', (all) => table('Scheduled messages',
    ['Due', 'message_id', 'Message', 'Exchange', 'Routing key', 'Bytes', 'Enqueued', ...(about.may('alter') ? ['Actions'] : [])], all.map((m) => [
      when(format, m.due, true), m.message_id ? value(m.message_id) : el('span', { class: 'none' }, '–'), m.id, value(m.exchange || '(default)'), value(m.routing_key), format.number(m.payload_bytes), when(format, m.enqueued_at), ...(about.may('alter') ? [el('span', { class: 'buttons' },
        el('button', { type: 'button', 'data-for': m.id, 'aria-label': `Reschedule message ${m.id}`, onclick: () => reschedule(about, m, asking) }, 'Reschedule…'),
        el('button', { type: 'button', class: 'danger', 'data-for': `cancel ${m.id}`, 'aria-label': `Cancel message ${m.id}`, onclick: () => cancel(about, m, asking) }, 'Cancel…'))] : []),
    ]), 'There are no scheduled messages.'));
  return () => asking.stop();
}

const nameOf = (m) => (m.message_id ? `${m.id} (message_id ${m.message_id})` : m.id);

/** refresh reports a change, and requests the list and the queue again. */
function refresh(about, asking, what) {
  about.say(what);
  asking.now();
  about.asking.now();
}

/** newTime makes the fields for a new due time; its body is what they say, for a request. */
function newTime() {
  const within = el('fieldset', null, el('legend', null, 'Due in'), duration('delay', 'Due in', '10'));
  const at = el('input', { name: 'due', type: 'datetime-local', step: 1, oninput: () => { within.disabled = at.value !== ''; } });
  return {
    fields: [within, el('label', null, 'or at', at)],
    body(form) {
      const due = form.get('due'), delay = due ? NaN : msOf(form.get('delay'), form.get('delay-unit'));
      if (!due && Number.isNaN(delay)) throw new Error('Enter a delay or a time.');
      return due ? { due: new Date(due).toISOString() } : { delay };
    },
  };
}

/** several opens a dialog for messages that meet conditions: first it counts them, then it changes them. */
function several(about, asking, title, action, danger, fields, ask, told) {
  const field = (name, label, more) => el('label', null, label, el('input', { name, autocomplete: 'off', ...more }));
  const matched = el('p', { role: 'status' });
  let counted = '';
  dialog(title, [
    ...fields, el('p', null, 'Messages that meet all conditions:'),
    field('message_id', 'message_id'), field('correlation_id', 'correlation_id'), field('headers', 'Headers, as JSON', { placeholder: '{"tenant": "acme"}' }),
    field('due_after', 'Due at or after', { type: 'datetime-local', step: 1 }), field('due_before', 'Due before', { type: 'datetime-local', step: 1 }),
    'queue' in about && el('label', { class: 'check' }, el('input', { type: 'checkbox', name: 'retries' }), 'waiting for a delayed retry, instead of scheduled ones'), matched,
  ], action, async (form) => {
    const query = {};
    for (const name of ['message_id', 'correlation_id', 'headers']) if (form.get(name)) query[name] = form.get(name);
    for (const name of ['due_after', 'due_before']) if (form.get(name)) query[name] = new Date(form.get(name)).toISOString();
    if (form.get('retries')) query.retries = true;
    const now = JSON.stringify(query);
    if (now !== counted) {
      matched.textContent = '';
      const { matched: n } = await ask(form, { ...query, dry_run: true });
      if (n > 0) counted = now;
      matched.textContent = n > 0 ? `${format.plural(n, 'message')} now. Press ${action} again to change ${n === 1 ? 'it' : 'them'}.` : 'There is no such message.';
      return stay;
    }
    const answer = await ask(form, { dry_run: false, ...query });
    refresh(about, asking(), told(answer));
  }, danger);
}

function rescheduleMany(about, asking) {
  const time = newTime();
  several(about, asking, 'Reschedule several messages', 'Reschedule', false, time.fields, (form, query) => request('PUT', about.x('scheduled'), { query, body: time.body(form) }),
    (answer) => `${format.plural(answer.rescheduled, 'message')} now due at ${format.moment(Date.parse(answer.due))}.`);
}

function cancelMany(about, asking) {
  several(about, asking, 'Cancel several messages', 'Drop them', true, [el('p', null, 'The messages are dropped, not dead-lettered.')], (_, query) => request('DELETE', about.x('scheduled'), { query }),
    (answer) => `${format.plural(answer.cancelled, 'message')} cancelled.`);
}

function reschedule(about, m, asking) {
  const time = newTime();
  dialog('Reschedule a message', [
    el('p', null, `Message ${nameOf(m)} is due `, when(format, m.due, true), `, at ${format.moment(Date.parse(m.due))}.`),
    ...time.fields,
  ], 'Reschedule', async (form) => {
    const answer = await request('PUT', about.x('scheduled', m.id), { body: time.body(form) });
    refresh(about, asking, `Message ${m.id} is now due at ${format.moment(Date.parse(answer.due))}.`);
  });
}

function cancel(about, m, asking) {
  dialog('Cancel a scheduled message?', el('p', null, `1 message is dropped, not dead-lettered: ${nameOf(m)}, due `, when(format, m.due, true), `, ${format.plural(m.payload_bytes, 'byte')}.`), 'Drop it', async () => {
    await request('DELETE', about.x('scheduled', m.id));
    refresh(about, asking, `Message ${m.id} has been cancelled.`);
  }, true);
}

/** duration makes a field for a number and its unit. */
export function duration(name, label, value = '') {
  return el('span', { class: 'duration' }, el('input', { name, value, inputmode: 'decimal', pattern: '[0-9]+([.][0-9]+)?', autocomplete: 'off', 'aria-label': label }),
    el('select', { name: `${name}-unit`, 'aria-label': `${label}, unit` }, [['ms', 'ms'], ['s', 's'], ['min', 'min'], ['h', 'h'], ['d', 'd']].map(([v, t]) => el('option', { value: v, selected: v === 'min' }, t))));
}
