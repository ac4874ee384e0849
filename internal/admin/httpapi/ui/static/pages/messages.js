// A part of the page of a queue: peeking at its messages, and publishing a message.

import { get, path, request } from '../api.js';
import { dialog, el, text, when } from '../dom.js';
import * as format from '../format.js';
import { asJSON, asText, exact, hex, payloadOf, shown, story } from '../message.js';
import { msOf, says } from '../settings.js';
import { duration, Pager } from './locks.js';
import { move, movesOf } from './move.js';

const size = 50, most = 20000;
const states = [['', 'all'], ['ready', 'ready'], ['unacked', 'unacked'], ['scheduled', 'scheduled']];
const columns = ['Message', 'State', 'Time left', 'Enqueued', 'Exchange', 'Routing key', 'Bytes', 'Redelivered', 'Payload'];

/** messages peeks once, and again only on request: a peek may renew the lease, if the queue is set so. */
export function messages(where, about, params) {
  let stopped = new AbortController();
  const failed = el('p', { class: 'error', role: 'alert' }), container = el('div'), warning = el('p', { class: 'hint' });
  const state = el('select', { onchange: () => anew() }, states.map(([v, t]) => el('option', { value: v }, t)));
  const order = el('select', { onchange: () => anew() }, el('option', { value: 'queue' }, 'of the queue'), el('option', { value: 'deadline', selected: params.get('order') === 'deadline' }, 'of deadlines'));
  const pager = new Pager(() => look()), picked = new Set();
  const moves = about.may('move'), begin = (ids) => move(about, ids, () => moving.now());
  const some = el('button', { type: 'button', disabled: true, onclick: () => begin([...picked]) }, 'Move selected…');
  const pick = (id, is) => {
    if (is) picked.add(id);
    else picked.delete(id);
    some.disabled = picked.size === 0;
  };
  where.append(el('div', { class: 'tools' }, el('label', { class: 'check' }, 'Messages', state), el('label', { class: 'check' }, 'in the order', order),
    el('button', { type: 'button', onclick: () => look() }, 'Peek again'), moves && [el('button', { type: 'button', onclick: () => begin(null) }, 'Move all…'), some]));
  const moving = movesOf(where, about, () => {
    look();
    about.asking.now();
  });
  where.append(warning, failed, container, pager.element);
  const anew = () => {
    pager.first();
    look();
  };
  const look = async () => {
    stopped.abort();
    stopped = new AbortController();
    const byDeadline = order.value === 'deadline';
    state.disabled = byDeadline;
    if (byDeadline) state.value = 'ready'; // only ready messages expire
    try {
      const answer = await get(about.x('messages'), {
        query: { limit: size, truncate: most, after: pager.after, order: order.value, state: byDeadline ? null : state.value || null }, signal: stopped.signal, read: exact,
      });
      text(failed, '');
      picked.clear();
      some.disabled = true;
      container.replaceChildren(list(answer.messages, moves && pick));
      pager.update(answer.messages.length, answer.next, 'message');
    } catch (error) {
      if (error.name !== 'AbortError') text(failed, error.message);
    }
  };
  const unsubscribe = about.subscribe((q) => {
    const renews = says(q, 'expires-renewed-by').some((v) => String(v).split(',').map((use) => use.trim()).includes('peek'));
    text(warning, `A snapshot: no message is taken or marked as redelivered. ${renews ? 'Each peek renews the lease, as configured.' : 'No lease is renewed.'}`);
  });
  look();
  return () => {
    stopped.abort();
    moving.stop();
    unsubscribe();
  };
}

/** list makes the table of messages, with a checkbox for each message that can be moved if pick is given. */
function list(all, pick) {
  if (all.length === 0) return el('p', { class: 'empty card' }, 'There are no such messages.');
  const rows = all.flatMap((m) => {
    const opened = el('td', { colspan: columns.length + 1 }), below = el('tr', { class: 'opened', hidden: true }, opened);
    const button = el('button', {
      type: 'button', class: 'open', 'aria-expanded': 'false', 'aria-label': `Message ${m.id}`, onclick: () => {
        below.hidden = !below.hidden;
        button.setAttribute('aria-expanded', String(!below.hidden));
        if (!opened.firstChild) opened.append(details(m));
      },
    }, m.id);
    const cells = [m.state, timeLeft(m), when(format, m.enqueued_at), value(m.exchange || '(default)'), value(m.routing_key), format.number(m.payload_bytes), m.redelivered ? 'yes' : 'no', value(beginning(m))];
    const box = pick && m.state === 'ready' && el('input', { type: 'checkbox', 'aria-label': `Select message ${m.id}`, onchange: () => pick(m.id, box.checked) });
    return [el('tr', null, pick && el('td', { class: 'pick' }, box), el('th', { scope: 'row' }, button), cells.map((c) => el('td', null, c))), below];
  });
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Messages' }, el('table', { class: 'messages' }, el('caption', { class: 'sr' }, 'Messages'),
    el('thead', null, el('tr', null, pick && el('th', { class: 'pick' }, el('span', { class: 'sr' }, 'Select')), columns.map((c) => el('th', { scope: 'col' }, c)))), el('tbody', null, rows)));
}

const value = (v) => el('span', { class: 'value' }, v);

/** timeLeft shows the next deadline of a message: due, end of lock, or expiry. */
function timeLeft(m) {
  if (m.due) return el('span', null, 'due ', when(format, m.due, true));
  if (m.state === 'unacked') return m.lock_expires_at ? el('span', null, 'lock ends ', when(format, m.lock_expires_at, true)) : 'held by a consumer';
  return m.expires_at ? el('span', null, 'expires ', when(format, m.expires_at, true)) : el('span', { class: 'none' }, 'no deadline');
}

function beginning(m) {
  if (m.unreadable) return '(cannot be read for now)';
  const bytes = payloadOf(m).subarray(0, 60), read = m.payload_encoding === 'base64' ? null : asText(bytes, true);
  const whole = bytes.length === m.payload_bytes;
  return read === null ? `${format.plural(m.payload_bytes, 'byte')}, not text` : read.replace(/\s+/g, ' ') + (whole ? '' : '…');
}

/** details of a message are made when its row is first opened. */
function details(m) {
  const { headers, ...properties } = m.properties, steps = story(m);
  const moments = Object.fromEntries(['enqueued_at', 'expires_at', 'due', 'lock_expires_at'].filter((key) => m[key]).map((key) => [key, format.moment(Date.parse(m[key]))]));
  return el('div', { class: 'details' },
    el('div', { class: 'beside' },
      el('section', null, el('h2', { class: 'small' }, 'Message'), pairs({ ...moments, priority: m.priority, delivery_count: m.delivery_count, ...properties })),
      el('section', null, el('h2', { class: 'small' }, 'Headers'), headers && Object.keys(headers).length > 0 ? pairs(headers) : el('p', { class: 'none' }, 'none'))),
    steps.length > 0 && el('section', null, el('h2', { class: 'small' }, 'How it came here'), el('ol', { class: 'story' }, steps.map((s) => el('li', null, s.text, s.at !== null && [' ', when(format, s.at), ` (${format.moment(s.at)}).`])))),
    payload(m));
}

function pairs(of) {
  return el('dl', { class: 'facts' }, Object.entries(of).filter(([, v]) => v !== null && v !== undefined).map(([k, v]) =>
    el('div', null, el('dt', null, value(k)), el('dd', null, value(shown(v))))));
}

function payload(m) {
  const heading = el('h2', { class: 'small' }, 'Payload');
  if (m.unreadable) return el('section', null, heading, el('p', { class: 'none' }, 'It cannot be read for now.'));
  const bytes = payloadOf(m), cut = bytes.length < m.payload_bytes, read = asText(bytes, cut), json = read === null || cut ? null : asJSON(read);
  const views = { Text: read, JSON: json, Hex: '' }, body = el('pre', { tabindex: 0, role: 'region', 'aria-label': `Payload of message ${m.id}` });
  const show = (view) => {
    body.classList.toggle('hex', view === 'Hex');
    text(body, view === 'Hex' ? hex(bytes) : views[view]);
    for (const [name, button] of buttons) button.setAttribute('aria-pressed', String(name === view));
  };
  const buttons = Object.keys(views).map((view) => [view, el('button', { type: 'button', disabled: views[view] === null, onclick: () => show(view) }, view)]);
  show(read === null || m.payload_encoding === 'base64' ? 'Hex' : json !== null && /^\s*[[{]/.test(read) ? 'JSON' : 'Text');
  return el('section', null, el('div', { class: 'row' }, heading, el('div', { class: 'buttons', role: 'group', 'aria-label': `Payload of message ${m.id} as` }, buttons.map(([, b]) => b))),
    cut && el('p', { class: 'hint' }, `The first ${format.number(bytes.length)} of ${format.plural(m.payload_bytes, 'byte')}; candlemark peek --truncate shows more.`),
    bytes.length === 0 ? el('p', { class: 'none' }, 'empty') : body);
}

/** publish sends a message to the queue, through the default exchange. */
export function publish(about) {
  const holds = about.queue !== null && says(about.queue, 'delayed-messages').some(Boolean);
  dialog('Publish a message', [
    el('p', { class: 'hint' }, `To queue ${about.name} through the default exchange.`),
    el('label', null, 'Payload', el('textarea', { name: 'payload', rows: 4, spellcheck: 'false' })),
    el('label', null, 'content_type', el('input', { name: 'content_type', spellcheck: 'false', autocomplete: 'off', placeholder: 'text/plain' })),
    el('fieldset', null, el('legend', null, 'TTL'), duration('ttl', 'TTL')),
    holds ? el('fieldset', null, el('legend', null, 'Delay'), duration('delay', 'Delay')) : el('p', { class: 'hint' }, 'A delay needs the setting delayed-messages, which is not set here.'),
    el('label', null, 'Headers (JSON)', el('textarea', { name: 'headers', rows: 2, spellcheck: 'false', placeholder: '{"x-name": "value"}' })),
    el('label', { class: 'check' }, el('input', { type: 'checkbox', name: 'persistent', checked: true }), 'persistent'),
  ], 'Publish', async (form) => {
    const properties = { delivery_mode: form.has('persistent') ? 2 : 1 }, headers = headersOf(form.get('headers'));
    if (form.get('content_type')) properties.content_type = form.get('content_type');
    const ttl = timeOf(form, 'ttl', 'TTL'), delay = timeOf(form, 'delay', 'delay');
    if (ttl !== null) properties.expiration = String(ttl);
    if (delay !== null) headers['x-delay'] = delay;
    if (Object.keys(headers).length > 0) properties.headers = headers;
    const body = { routing_key: about.name, properties, payload: form.get('payload').replaceAll('\r\n', '\n'), payload_encoding: 'string' };
    const { routed } = await request('POST', path('api/exchanges', about.vhost, 'amq.default', 'publish'), { body });
    if (!routed) throw new Error('The message was unroutable.');
    about.say('The message has been published.');
    about.asking.now();
  });
}

function timeOf(form, name, label) {
  if (!form.get(name)) return null;
  const ms = msOf(form.get(name), form.get(`${name}-unit`));
  if (Number.isNaN(ms)) throw new Error(`The ${label} is not a number.`);
  return ms;
}

function headersOf(given) {
  if (!given.trim()) return {};
  let headers;
  try {
    headers = JSON.parse(given);
  } catch (error) {
    throw new Error(`The headers are not JSON: ${error.message}`);
  }
  if (headers === null || typeof headers !== 'object' || Array.isArray(headers)) throw new Error('The headers are not a JSON object.');
  return headers;
}
