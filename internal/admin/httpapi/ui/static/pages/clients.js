// Connections, channels and consumers.

import { get, path, request } from '../api.js';
import { dialog, el, when } from '../dom.js';
import * as format from '../format.js';
import { button, Facts, figure, inVHost, link, listOf, moment, ofVHost, Rows, section, size, speed, watch, word, words } from '../list.js';

const vhost = word('vhost', 'Virtual host', 'vhost', { shown: true });
const user = word('user', 'User name', 'user');
const state = word('state', 'State', 'state');

export const connections = section('Connections', listOf('Connections', {
  columns: [
    { key: 'name', label: 'Name', sort: 'name', always: true, fields: ['name', 'vhost'], cell: (c) => link(['connections', c.name], c.name) },
    word('given', 'Client name', 'user_provided_name', { fields: ['user_provided_name'] }), vhost, user, state,
    word('tls', 'TLS', 'ssl'), word('protocol', 'Protocol', 'protocol', { shown: false }), figure('channels', 'Channels', 'channels'),
    speed('in', 'From client', 'recv_oct_details.rate', { title: 'Bytes per second', cell: (c) => `${format.bytes(c.recv_oct_details?.rate)}/s` }),
    speed('out', 'To client', 'send_oct_details.rate', { title: 'Bytes per second', cell: (c) => `${format.bytes(c.send_oct_details?.rate)}/s` }),
    size('received', 'Received', 'recv_oct', { shown: false }), size('sent', 'Sent', 'send_oct', { shown: false }),
    moment('since', 'Connected', 'connected_at'), word('peer', 'Peer host', 'peer_host', { shown: false }),
  ],
  key: (c) => c.name, address: ofVHost('connections'), nothing: 'There are no connections, or none that you may see.',
}), connection);

const channelLink = (name) => link(['channels', name], name);
const queueName = (q) => link(['queue', q.vhost, q.name], q.name);

/** prefetch is a limit, 0 for none. */
const unlimited = (n) => (n === 0 ? 'unlimited' : format.number(n)), prefetch = (c) => unlimited(c.prefetch_count);

const channelColumns = [
  ['Channel', (c) => channelLink(c.name)], ['State', (c) => c.state], ['Unacked', (c) => format.number(c.messages_unacknowledged)],
  ['Unconfirmed', (c) => format.number(c.messages_unconfirmed)], ['Prefetch', prefetch], ['Consumers', (c) => format.number(c.consumer_count)],
];
const consumerColumns = [
  ['Consumer tag', (c) => el('span', { class: 'name' }, c.consumer_tag)], ['Queue', (c) => queueName(c.queue)], ['Ack required', (c) => words(c.ack_required)],
  ['Exclusive', (c) => words(c.exclusive)], ['Prefetch', prefetch], ['Active', (c) => words(c.active)],
];

/** linkColumns are the columns of AMQP 1.0 links, in either direction. */
const linkColumns = [
  ['Session', (l) => format.number(l.session)], ['Handle', (l) => format.number(l.handle)], ['Link', (l) => el('span', { class: 'name' }, l.link_name)], ['Client', (l) => l.role],
  ['Address', (l) => el('span', { class: 'name' }, l.address || 'in each message')], ['Credit', (l) => format.number(l.credit)], ['Delivery count', (l) => format.number(l.delivery_count)],
  ['Unsettled', (l) => format.number(l.unsettled)],
];
const linksOf = (sessions) => sessions.flatMap((s) => [
  ...s.incoming_links.map((l) => ({ ...l, session: s.channel_number, role: 'sends', address: l.target_address, unsettled: l.unconfirmed_messages })),
  ...s.outgoing_links.map((l) => ({ ...l, session: s.channel_number, role: 'receives', address: l.source_address, unsettled: l.unsettled_messages })),
]);

function connection(main, context, [name]) {
  const facts = new Facts(), properties = new Facts(), channels = new Rows('Channels', channelColumns, 'No channel is open.');
  const links = new Rows('Links', linkColumns, 'No link is attached.');
  links.element.hidden = true;
  const at = path('api/connections', name);
  let close = null;
  const w = watch(main, context, name, ['connections', 'Connections'], async (signal) => {
    const c = await get(at, { signal });
    facts.set([['Client name', c.user_provided_name], ['User name', c.user], ['Virtual host', c.vhost], ['State', c.state], ['Protocol', c.protocol],
      ['Authentication', c.auth_mechanism], ['TLS', c.ssl ? `${c.ssl_protocol} ${c.ssl_cipher}` : 'no'], ['Certificate', c.peer_cert_subject],
      ['Connected', when(format, c.connected_at)], ['Heartbeat', c.timeout ? `${c.timeout} s` : 'none'], ['Frame max', format.bytes(c.frame_max)], ['Channel limit', unlimited(c.channel_max)],
      ['From client', `${format.bytes(c.recv_oct_details.rate)}/s, ${format.bytes(c.recv_oct)} in all`], ['To client', `${format.bytes(c.send_oct_details.rate)}/s, ${format.bytes(c.send_oct)} in all`]]);
    properties.set(Object.entries(c.client_properties).filter(([key]) => key !== 'capabilities').concat(
      [['capabilities', Object.entries(c.client_properties.capabilities ?? {}).filter(([, is]) => is === true).map(([key]) => key).join(', ')]]));
    if (!close && (context.may() || c.user === context.user.name)) w.tools.append(close = button('Close connection…', () => ask(c), true));
    channels.show(await get(`${at}/channels`, { signal }));
    links.element.hidden = c.protocol !== 'AMQP 1-0';
    if (!links.element.hidden) links.show(linksOf(await get(`${at}/sessions`, { signal })));
  });
  w.body.append(facts.element, channels.element, links.element, el('h2', null, 'Client properties'), properties.element);
  const ask = (c) => dialog('Close this connection?', [
    el('p', null, `${name} of ${c.user}, with ${format.plural(c.channels, 'channel')}. What is unacked goes back to its queues.`),
    el('label', null, 'Reason, which the client receives', el('input', { name: 'reason', autocomplete: 'off', pattern: '[ -~]*', title: 'ASCII only', maxlength: 200 })),
  ], 'Close', async (form) => {
    await request('DELETE', at, { headers: form.get('reason') ? { 'X-Reason': form.get('reason') } : {} });
    location.hash = '#/connections';
  }, true);
  return w.end;
}

const flow = (key, label, of, more) => speed(key, label, `message_stats.${of}_details.rate`, more);

export const channels = section('Channels', listOf('Channels', {
  columns: [
    { key: 'name', label: 'Channel', sort: 'name', always: true, fields: ['name'], cell: (c) => channelLink(c.name) }, vhost, user, state,
    { ...word('mode', 'Mode', 'confirm'), fields: ['confirm', 'transactional'], cell: (c) => (c.confirm ? el('abbr', { title: 'confirm' }, 'C') : c.transactional ? el('abbr', { title: 'transactional' }, 'T') : '') },
    figure('unconfirmed', 'Unconfirmed', 'messages_unconfirmed'), figure('prefetch', 'Prefetch', 'prefetch_count', { cell: prefetch }), figure('unacked', 'Unacked', 'messages_unacknowledged'),
    figure('consumers', 'Consumers', 'consumer_count'), flow('publish', 'Publish', 'publish'), flow('confirm', 'Confirm', 'confirm', { shown: false }),
    flow('deliver', 'Deliver / get', 'deliver_get'), flow('ack', 'Ack', 'ack'), flow('unroutable', 'Unroutable (drop)', 'drop_unroutable', { shown: false }),
    moment('idle', 'Idle since', 'idle_since', { shown: false }),
  ],
  key: (c) => c.name, address: ofVHost('channels'), nothing: 'There are no channels, or none that you may see.',
}), channel);

function channel(main, context, [name]) {
  const facts = new Facts(), consumers = new Rows('Consumers', consumerColumns, 'No consumers.');
  const w = watch(main, context, name, ['channels', 'Channels'], async (signal) => {
    const c = await get(path('api/channels', name), { signal }), s = c.message_stats;
    const flowOf = (of) => `${format.rate(s[`${of}_details`]?.rate)}, ${format.number(s[of])} in all`;
    facts.set([['Connection', link(['connections', c.connection_details.name], c.connection_details.name)], ['User name', c.user], ['Virtual host', c.vhost], ['State', c.state],
      ['Mode', c.confirm ? 'confirm' : c.transactional ? 'transactional' : 'plain'], ['Prefetch', `${prefetch(c)} per consumer, ${unlimited(c.global_prefetch_count)} global`],
      ['Unacked', format.number(c.messages_unacknowledged)], ['Unconfirmed', format.number(c.messages_unconfirmed)], ['Uncommitted', format.number(c.messages_uncommitted)],
      ['Acks uncommitted', format.number(c.acks_uncommitted)], ['Idle since', when(format, c.idle_since)], ['Publish', flowOf('publish')], ['Confirm', flowOf('confirm')],
      ['Deliver / get', flowOf('deliver_get')], ['Ack', flowOf('ack')], ['Redelivered', flowOf('redeliver')], ['Unroutable (drop)', flowOf('drop_unroutable')], ['Unroutable (return)', flowOf('return_unroutable')]]);
    consumers.show(c.consumer_details);
  });
  w.body.append(facts.element, consumers.element);
  return w.end;
}

export const consumers = section('Consumers', listOf('Consumers', {
  search: 'Filter by consumer tag',
  columns: [
    { key: 'tag', label: 'Consumer tag', sort: 'consumer_tag', always: true, fields: ['consumer_tag'], cell: (c) => el('span', { class: 'name' }, c.consumer_tag) },
    { key: 'queue', label: 'Queue', sort: 'queue.name', shown: true, fields: ['queue.name'], cell: (c) => queueName(c.queue) },
    word('vhost', 'Virtual host', 'queue.vhost'),
    { key: 'channel', label: 'Channel', sort: 'channel_details.name', shown: true, fields: ['channel_details.name'], cell: (c) => channelLink(c.channel_details.name) },
    word('ack', 'Ack required', 'ack_required'), word('exclusive', 'Exclusive', 'exclusive'), figure('prefetch', 'Prefetch', 'prefetch_count', { cell: prefetch }),
    word('active', 'Active', 'active'), word('activity', 'Activity status', 'activity_status', { shown: false }),
    { ...figure('timeout', 'Timeout', 'consumer_timeout'), title: 'How long a delivery may be unacked', fields: ['consumer_timeout', 'consumer_timeout_set'], cell: (c) => (c.consumer_timeout_set ? format.duration(c.consumer_timeout) : '–') },
    { key: 'arguments', label: 'Arguments', fields: ['arguments'], cell: (c) => words(c.arguments) },
  ],
  fields: ['consumer_tag', 'queue.name', 'queue.vhost', 'channel_details.name'],
  key: (c) => JSON.stringify([c.channel_details.name, c.consumer_tag]), address: inVHost('api/consumers'), nothing: 'There are no consumers, or none that you may see.',
}));
