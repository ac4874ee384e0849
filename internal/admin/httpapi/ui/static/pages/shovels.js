// Shovels: their state, and adding, restarting and deleting them.

import { get, path, request } from '../api.js';
import { dialog, el } from '../dom.js';
import * as format from '../format.js';
import { button, buttons, choose, Facts, field, figure, inVHost, link, listOf, offered, section, vhostsOf, watch, word, words } from '../list.js';
import { shovelOf } from '../settings.js';

const at = (s) => path('api/shovels/vhost', s.vhost, s.name), here = 'amqp:' + '//';
const from = (s) => [s.src_uri, s.src_queue ? `queue ${s.src_queue}` : s.src_exchange !== undefined && `exchange ${s.src_exchange || '(AMQP default)'} ${s.src_exchange_key ?? ''}`].filter(Boolean).join(', ');
const to = (s) => [s.dest_uri, s.dest_queue ? `queue ${s.dest_queue}` : s.dest_exchange !== undefined && `exchange ${s.dest_exchange || '(AMQP default)'} ${s.dest_exchange_key ?? ''}`].filter(Boolean).join(', ');
const left = (n) => (n === 'unlimited' ? 'no end' : format.number(n));

async function add(asking) {
  const names = await vhostsOf('policy').catch(() => ['/']);
  const part = (p, label) => el('fieldset', { class: 'framed lines' }, el('legend', null, label), field(`${p}-uri`, `Address; ${here} alone is this broker`, { required: true, value: here }),
    choose(`${p}-kind`, 'Kind', ['queue', 'exchange']), field(`${p}-name`, 'Name', {}), field(`${p}-key`, 'Routing key, of an exchange', {}));
  dialog('Add a shovel', [choose('vhost', 'Virtual host', names), field('name', 'Name', { required: true }), part('src', 'From'), part('dest', 'To'),
    choose('ack-mode', 'Acknowledged', ['on-confirm', 'on-publish', 'no-ack']), field('reconnect-delay', 'Reconnect delay in seconds; 0 for never', { value: '5', pattern: '[0-9]+', inputmode: 'numeric' }),
    field('src-delete-after', 'Delete after: never, queue-length or a number of messages', { value: 'never' })], 'Add', async (form) => {
    await request('PUT', path('api/parameters/shovel', form.get('vhost'), form.get('name')), { body: { value: shovelOf(Object.fromEntries(form)) } });
    asking.now();
  });
}

function remove(s, then) {
  dialog(`Delete shovel ${s.name} in ${s.vhost}?`, el('p', null, `It is ${s.state}${s.forwarded === undefined ? '' : ` and has moved ${format.plural(s.forwarded, 'message')}; ${format.number(s.pending)} are in flight`}. Messages in the source stay.`), 'Delete', async () => {
    await request('DELETE', at(s));
    then();
  }, true);
}

function list(main, context) {
  let asking = null;
  const again = () => asking.now();
  return listOf('Shovels', {
    all: async (vhost, signal) => {
      const [found, vhosts] = await Promise.all([get(inVHost('api/shovels')(vhost), { signal }), vhostsOf('policy')]);
      return found.map((s) => ({ ...s, may: vhosts.includes(s.vhost) }));
    },
    key: (s) => JSON.stringify([s.vhost, s.name]), nothing: 'There are none.',
    columns: [
      { key: 'name', label: 'Name', sort: 'name', always: true, fields: [], cell: (s) => link(['shovels', s.vhost, s.name], s.name) }, word('vhost', 'Virtual host', 'vhost'), word('state', 'State', 'state'),
      { key: 'from', label: 'From', shown: true, fields: [], cell: (s) => el('span', { class: 'name' }, from(s)) }, { key: 'to', label: 'To', shown: true, fields: [], cell: (s) => el('span', { class: 'name' }, to(s)) },
      figure('forwarded', 'Forwarded', 'forwarded'), figure('pending', 'Pending', 'pending'), { ...figure('remaining', 'Remaining', 'remaining', { shown: false }), cell: (s) => left(s.remaining) }, word('since', 'Since', 'timestamp', { shown: false }),
      { ...word('reason', 'Reason', 'reason'), cell: (s) => el('span', { class: 'wrap breaks' }, s.reason ?? '') },
      ...(context.may('policymaker') ? [buttons((s) => [button('Restart', async (event) => {
        event.target.disabled = true;
        await request('DELETE', `${at(s())}/restart`).catch((error) => dialog(`Shovel ${s().name} is not restarted`, el('p', { class: 'error' }, error.message), 'OK', () => null));
        event.target.disabled = false;
        again();
      }), button('Delete…', () => remove(s(), again), true)], (s) => s.may)] : []),
    ],
    tools: (anew) => {
      asking = anew;
      return offered(button('Add shovel…', () => add(asking)), 'policy');
    },
  })(main, context);
}

function one(main, context, [vhost, name]) {
  const facts = new Facts(), value = new Facts();
  let last = null;
  const w = watch(main, context, name, ['shovels', 'Shovels'], async (signal) => {
    const [parameter, all] = await Promise.all([get(at({ vhost, name }), { signal }), get(path('api/shovels', vhost), { signal })]);
    const s = last = all.find((found) => found.name === name) ?? { vhost, name, state: 'not there' };
    facts.set([['Virtual host', vhost], ['State', s.state], ['Since', s.timestamp], ['Reason', s.reason], ['From', from(s)], ['To', to(s)], ['Forwarded', format.number(s.forwarded)], ['Pending', format.number(s.pending)],
      ['Remaining', left(s.remaining)], ['Remaining unacked', left(s.remaining_unacked)]]);
    value.set(Object.entries(parameter.value).map(([k, v]) => [k, words(v)]));
  });
  w.tools.append(offered(button('Delete shovel…', () => last && remove(last, () => { location.hash = '#/shovels'; }), true), 'policy', vhost));
  w.body.append(facts.element, el('h2', null, 'Definition; URIs without users and passwords'), value.element);
  return w.end;
}

export const shovels = { ...section('Shovels', list, one), group: 'Admin', tags: ['monitoring'] };
