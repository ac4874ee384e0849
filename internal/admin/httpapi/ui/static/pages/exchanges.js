// Exchanges and their bindings.

import { get, path, request } from '../api.js';
import { dialog, el, text } from '../dom.js';
import * as format from '../format.js';
import { button, choose, Facts, field, inVHost, link, listOf, marks, offered, Rows, section, speed, vhostsOf, watch, word, words } from '../list.js';
import { parsed } from '../policy.js';
import { scheduled } from './locks.js';

const called = (name) => name || 'amq.default';
const shownAs = (name) => name || '(AMQP default)';
const exchangeLink = (vhost, name) => link(['exchanges', vhost, called(name)], shownAs(name));
const argumentsField = () => el('label', null, 'Arguments, as JSON', el('textarea', { name: 'arguments', rows: 2, spellcheck: 'false', placeholder: '{"alternate-exchange": "other"}' }));
const argumentsOf = (form) => (form.get('arguments').trim() ? parsed(form.get('arguments'), 'arguments') : {});

export const exchanges = section('Exchanges', listOf('Exchanges', {
  columns: [
    { key: 'name', label: 'Name', sort: 'name', always: true, fields: ['name', 'vhost'], cell: (e) => exchangeLink(e.vhost, e.name) },
    word('vhost', 'Virtual host', 'vhost'), word('type', 'Type', 'type'),
    { key: 'features', label: 'Features', shown: true, fields: ['durable', 'auto_delete', 'internal', 'arguments'], cell: (e) => marks(e) },
    speed('in', 'Message rate in', 'message_stats.publish_in_details.rate'), speed('out', 'Message rate out', 'message_stats.publish_out_details.rate'),
  ],
  key: (e) => JSON.stringify([e.vhost, e.name]), address: inVHost('api/exchanges'), nothing: 'There are no exchanges that you may see.',
  tools: (asking) => offered(button('Add exchange…', () => add(asking)), 'configure'),
}), exchange);

async function add(asking) {
  const names = await vhostsOf('configure').catch(() => ['/']);
  const check = (name, label, checked = false) => el('label', { class: 'check' }, el('input', { type: 'checkbox', name, checked }), label);
  dialog('Add an exchange', [
    choose('vhost', 'Virtual host', names), field('name', 'Name', { required: true }),
    choose('type', 'Type', ['direct', 'fanout', 'headers', 'topic', 'x-consistent-hash', 'x-delayed-message', 'x-local-random', 'x-modulus-hash', 'x-random', 'x-recent-history']),
    check('durable', 'durable', true), check('auto_delete', 'auto-delete'), check('internal', 'internal'), argumentsField(),
  ], 'Add', async (form) => {
    await request('PUT', path('api/exchanges', form.get('vhost'), form.get('name')), {
      body: { type: form.get('type'), durable: form.has('durable'), auto_delete: form.has('auto_delete'), internal: form.has('internal'), arguments: argumentsOf(form) },
    });
    asking.now();
  });
}

function exchange(main, context, [vhost, name]) {
  const at = path('api/exchanges', vhost, name), facts = new Facts(), real = name === 'amq.default' ? '' : name, now = {};
  const remove = real === '' ? () => 'implicit' : (b) => (b.may.includes('unbind') ? button('Unbind…', () => unbind(vhost, b, w.asking), true) : '');
  const common = [['Routing key', (b) => el('span', { class: 'name' }, b.routing_key)], ['Arguments', (b) => (Object.keys(b.arguments).length ? words(b.arguments) : '')]];
  const to = new Rows('Bindings from this exchange', [
    ['To', (b) => (b.destination_type === 'exchange' ? exchangeLink(vhost, b.destination) : link(['queue', vhost, b.destination], b.destination))], ['Type', (b) => b.destination_type], ...common, ['Actions', remove]], 'Nothing is bound to it.');
  const from = new Rows('Bindings to this exchange', [['From', (b) => exchangeLink(vhost, b.source)], ...common, ['Actions', remove]], 'It is bound to no exchange.');
  const w = watch(main, context, shownAs(real), ['exchanges', 'Exchanges'], async (signal) => {
    const ask = (address) => get(address, { query: { may: true }, signal });
    const e = await ask(at), s = e.message_stats, may = (word) => e.may.includes(word);
    now.may = e.may;
    const flow = (of) => `${format.rate(s[`${of}_details`]?.rate)}, ${format.number(s[of])} in all`;
    facts.set([['Type', e.type], ['Virtual host', e.vhost], ['Features', marks(e)], ['Arguments', Object.keys(e.arguments).length ? words(e.arguments) : ''],
      ['Messages in', flow('publish_in')], ['Messages out', flow('publish_out')], ...(e.messages_delayed === undefined ? [] : [['Messages delayed', format.number(e.messages_delayed)]]), ...(may('policy') && real ? [['Policy', link(['policies', 'explain', vhost, 'exchange', real], 'Explain')]] : [])]);
    now.held = e.messages_delayed;
    for (const [word, b] of Object.entries(buttons)) b.hidden = !may(word);
    if (may('read') && !now.end) {
      const done = el('p', { class: 'hint', role: 'status' });
      delayed.append(el('h2', null, 'Delayed messages'), done);
      now.end = scheduled(delayed, { context, may: (word) => now.may.includes(word), x: (...more) => path('api/x/exchanges', vhost, real, ...more), say: (what) => text(done, what), asking: w.asking });
    }
    to.show(await ask(`${at}/bindings/source`));
    if (real) from.show(await ask(`${at}/bindings/destination`));
  });
  const buttons = { bind: button('Add binding…', () => bind(vhost, real, w.asking)), delete: button('Delete exchange…', () => removeExchange(vhost, real, to, now.held), true) };
  for (const b of Object.values(buttons)) b.hidden = true;
  w.tools.append(...Object.values(buttons));
  const delayed = el('section', { class: 'part' });
  w.body.append(facts.element, delayed, to.element, real ? from.element : '');
  return () => {
    now.end?.();
    w.end();
  };
}

function bind(vhost, source, asking) {
  dialog(`Add a binding from ${source}`, [
    el('label', null, 'To', el('select', { name: 'kind' }, el('option', { value: 'q' }, 'queue'), el('option', { value: 'e' }, 'exchange'))),
    field('destination', 'Name', { required: true }), field('key', 'Routing key', {}), argumentsField(),
  ], 'Bind', async (form) => {
    await request('POST', `${path('api/bindings', vhost)}/e/${path(encodeURIComponent(source), form.get('kind'), form.get('destination'))}`, { body: { routing_key: form.get('key'), arguments: argumentsOf(form) } });
    asking.now();
  });
}

function unbind(vhost, b, asking) {
  dialog('Delete this binding?', el('p', null, `From ${b.source} to ${b.destination_type} ${b.destination}, routing key “${b.routing_key}”. Messages that are in queues stay there.`), 'Unbind', async () => {
    const key = b.properties_key; // already escaped by the API; path escapes it once more
    await request('DELETE', `${path('api/bindings', vhost)}/e/${path(encodeURIComponent(b.source), b.destination_type === 'queue' ? 'q' : 'e', b.destination, key)}`);
    asking.now();
  }, true);
}

function removeExchange(vhost, name, to, held) {
  dialog('Delete this exchange?', [el('p', null, `${name} goes with its bindings: ${format.plural(to.body.childElementCount, 'binding')} from it now.`, held > 0 && ` Lost with it: ${format.plural(held, 'delayed message')}.`),
    el('label', { class: 'check' }, el('input', { type: 'checkbox', name: 'if-unused', checked: true }), 'only if nothing is bound to it')],
  'Delete', async (form) => {
    await request('DELETE', path('api/exchanges', vhost, name), { query: { 'if-unused': form.has('if-unused') ? 'true' : null } });
    location.hash = '#/exchanges';
  }, true);
}
