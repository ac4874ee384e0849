// Queue: the page of one queue, with its messages, deadlines and locks.

import { deleteAll, purgeAll } from '../actions.js';
import { brokerNow, get, path, poll, request } from '../api.js';
import { href } from '../address.js';
import { LineChart } from '../chart.js';
import { el, text, tick, when } from '../dom.js';
import * as format from '../format.js';
import { button } from '../list.js';
import { pretty } from '../message.js';
import { setting } from '../policy.js';
import { ratesOf } from '../scale.js';
import { dueIn, settings } from '../settings.js';
import { Strip } from '../strip.js';
import { table } from '../table.js';
import { locks, scheduled } from './locks.js';
import { messages, publish } from './messages.js';
import { timing } from './schedules.js';

const minutes = 10 * 60e3, maxLocks = 1000, maxSchedules = 20;
const lines = [['published', 'publish_details', 'in'], ['delivered', 'deliver_get_details', 'out'], ['acknowledged', 'ack_details', 'ack']];

/** parts of the page, in the order of its menu: show(where, about, params) returns a function that ends it; needs is the right for it. */
const parts = {
  overview: { title: 'Overview', show: overview }, messages: { title: 'Messages', show: messages, needs: 'read' }, locks: { title: 'Locks', show: locks, needs: 'read' },
  scheduled: { title: 'Scheduled', show: scheduled, needs: 'read' }, settings: { title: 'Settings', show: settingsOf }, bindings: { title: 'Bindings', show: bindings }, consumers: { title: 'Consumers', show: consumers },
};

export const queue = { title: 'Queue', below: 'queues', show };

/** About is the state of the queue shared by the parts, which are notified of each update. */
class About {
  vhost; name; context; queue; listeners; say; asking;

  constructor(vhost, name, context) {
    Object.assign(this, { vhost, name, context, queue: null, listeners: new Set() });
  }

  /** api is an address of the queue in the API, x one of our extensions of it. */
  api(...rest) {
    return path('api/queues', this.vhost, this.name, ...rest);
  }

  x(...rest) {
    return path('api/x/queues', this.vhost, this.name, ...rest);
  }

  /** may returns whether the user may do something with the queue; false until the queue is known. */
  may(what) {
    return this.queue?.may.includes(what) ?? false;
  }

  /** link is the address of a part of the page. */
  link(show, state = {}) {
    return href(['queue', this.vhost, this.name], new URLSearchParams(show === 'overview' ? state : { show, ...state }));
  }

  /** subscribe calls f with the queue now, if it is known, and after each update; it returns a function to unsubscribe. */
  subscribe(f) {
    this.listeners.add(f);
    if (this.queue) f(this.queue);
    return () => this.listeners.delete(f);
  }
}

function show(main, context) {
  const [, vhost, name] = context.parts;
  if (name === undefined) {
    main.append(el('p', { class: 'empty' }, 'The address names no queue.'));
    return () => {};
  }
  const about = new About(vhost, name, context), failed = el('p', { class: 'error', role: 'alert' });
  const said = el('p', { class: 'hint', role: 'status' });
  about.say = (what) => text(said, what);
  const asked = () => [about.queue];
  const actions = {
    publish: button('Publish…', () => publish(about)), pause: button('Pause', () => pause(about)), purge: button('Purge…', () => purgeAll(asked(), asking)), delete: button('Delete…', () => deleteAll(asked(), asking), true),
  };
  const buttons = el('fieldset', { class: 'buttons', disabled: true, 'aria-label': 'Actions' }, Object.values(actions));
  const links = Object.entries(parts).map(([key, part]) => [key, el('a', { href: about.link(key) }, part.title)]);
  const offer = () => {
    for (const [what, b] of Object.entries(actions)) b.hidden = !about.may(what === 'pause' ? 'publish' : what);
    text(actions.pause, about.queue?.paused ? 'Resume' : 'Pause');
    for (const [key, a] of links) a.hidden = !mayLook(about, parts[key]);
  };
  offer();
  const figures = new Figures(), where = el('div');
  main.append(el('div', { class: 'row' }, el('h1', { class: 'whole' }, name), buttons), failed, figures.element,
    el('nav', { class: 'parts', 'aria-label': 'Of the queue' }, links.map(([, a]) => a)), said, where);

  let end = () => {}, current = null, wanted = context.params;
  const go = (params) => {
    const key = parts[params.get('show')] ? params.get('show') : 'overview', at = params.toString();
    if (at === current || !about.queue) return; // parts depend on the rights of the user, which the queue has
    current = at;
    end();
    where.replaceChildren();
    text(said, '');
    for (const [other, a] of links) {
      if (other === key) {
        a.setAttribute('aria-current', 'page');
        a.scrollIntoView({ block: 'nearest', inline: 'center' });
      } else a.removeAttribute('aria-current');
    }
    end = (mayLook(about, parts[key]) ? parts[key].show : refused)(where, about, params);
  };
  const asking = poll(async (signal) => {
    try {
      const q = await get(about.api(), { query: { may: true, msg_rates_age: 600, msg_rates_incr: 5 }, signal });
      text(failed, '');
      about.queue = q;
      buttons.disabled = false; // the dialogs show numbers of the queue
      offer();
      figures.show(q);
      go(wanted);
      about.listeners.forEach((f) => f(q));
    } catch (error) {
      buttons.disabled = error.status === 404 || !about.queue;
      if (error.name !== 'AbortError') text(failed, error.status === 404 ? 'There is no queue of this name.' : error.message);
      throw error;
    }
  }, 5000, context.report);
  about.asking = asking;
  context.onChange((params) => {
    wanted = params;
    go(params);
  });
  const ticking = setInterval(() => tick(format, main), 1000);
  return () => {
    clearInterval(ticking);
    asking.stop();
    end();
  };
}

/** pause stops the deliveries of the queue, or lets them go on. */
async function pause(about) {
  try {
    const now = await request('PUT', about.x(about.queue.paused ? 'resume' : 'pause'), { body: {} });
    about.say(now.paused ? 'The queue is paused: consumers get nothing.' : 'The queue is not paused.');
    about.asking.now();
  } catch (error) {
    about.say(error.message);
  }
}

const mayLook = (about, part) => !part.needs || about.may(part.needs);

/** refused replaces a part that the user may not see. */
function refused(where) {
  where.append(el('p', { class: 'empty card' }, 'You may not read this queue.'));
  return () => {};
}

/** Figures are the numbers at the top. */
class Figures {
  constructor() {
    this.values = {};
    const tile = (key, label, title) => {
      const value = el('dd'), more = el('dd', { class: 'more' });
      this.values[key] = { value, more };
      return el('div', { class: 'tile', title }, el('dt', null, label), value, more);
    };
    this.element = el('dl', { class: 'tiles' },
      tile('ready', 'Ready', 'Messages ready for delivery'), tile('unacked', 'Unacked', 'Delivered messages not yet acknowledged'),
      tile('scheduled', 'Scheduled', 'Messages not yet due'), tile('consumers', 'Consumers', 'Consumers of the queue'),
      tile('in', 'In', 'Messages published'), tile('out', 'Out', 'Messages delivered'), tile('memory', 'Memory', 'Memory of the messages'));
  }

  show(q) {
    const set = (key, value, more = '') => {
      text(this.values[key].value, value);
      text(this.values[key].more, more);
    };
    const s = q.message_stats;
    if (q.state === 'down') return Object.keys(this.values).forEach((key) => set(key, '–'));
    set('ready', format.number(q.messages_ready), `${format.bytes(q.message_bytes_ready)}`);
    set('unacked', format.number(q.messages_unacknowledged), q.deliveries_timed_out ? `${format.number(q.deliveries_timed_out)} timed out` : '');
    set('scheduled', format.number(q.messages_scheduled));
    set('consumers', format.number(q.consumers));
    set('in', format.rate(s.publish_details?.rate), `${format.short(s.publish)} in all`);
    set('out', format.rate(s.deliver_get_details?.rate), `${format.short(s.deliver_get)} in all`);
    set('memory', format.bytes(q.memory), `bodies ${format.bytes(q.message_bytes)}`);
  }
}

/** facts is a list of names and values. */
function facts(of) {
  return el('dl', { class: 'facts' }, of.filter(Boolean).map(([name, value]) => el('div', null, el('dt', null, name), el('dd', null, value))));
}

function overview(where, about) {
  const chart = new LineChart('Messages per second', minutes), lease = el('div'), is = el('div'), ages = el('div'), recurring = el('section', { class: 'card', hidden: true });
  const leads = { expires_within: ['messages', { order: 'deadline' }], scheduled_within: ['scheduled'], unacked_longer_than: ['locks'], lease_ends_within: ['overview'] };
  const strip = new Strip((filters) => leadTo(...leads[Object.keys(filters)[0]]), 'Show them.');
  const leadTo = (show, state) => (mayLook(about, parts[show]) ? about.link(show, state) : null), hint = el('p', { class: 'hint' });
  where.append(el('section', { class: 'card', 'aria-labelledby': 'due' }, el('h2', { id: 'due' }, 'What is due'), strip.element, hint),
    el('section', { class: 'card' }, chart.element),
    el('div', { class: 'beside' }, el('section', { class: 'card' }, el('h2', null, 'Lease'), lease), el('section', { class: 'card' }, el('h2', null, 'The queue'), is)),
    el('section', { class: 'card' }, el('h2', null, 'Waiting and processing'), ages), recurring);
  let ends = [], note = about.may('read') ? '' : 'Locks are not counted: you may not read this queue.';
  const draw = (q) => {
    strip.draw(dueIn(q, ends, brokerNow()), Math.max(q.messages_ready - q.messages_expiring, 0));
    text(hint, note);
    chart.draw(lines.map(([name, key, kind]) => ({ name, kind, points: ratesOf(q.message_stats?.[key]?.samples ?? []) })));
    lease.replaceChildren(leaseOf(q));
    is.replaceChildren(factsOf(q));
    ages.replaceChildren(...agesOf(q));
  };
  const unsubscribe = about.subscribe(draw);
  const asking = about.may('read') && poll(async (signal) => {
    const { deliveries, next } = await get(about.x('unacked'), { query: { limit: maxLocks }, signal });
    ends = deliveries.filter((d) => d.lock_expires_at !== null).map((d) => Date.parse(d.lock_expires_at));
    note = next === null ? '' : `Only locks of the first ${format.number(maxLocks)} unacked messages are counted.`;
    draw(about.queue);
  }, 5000, about.context.report);
  const publishing = poll(async (signal) => {
    const list = await get(path('api/x/schedules', about.vhost), { query: { queue: about.name, columns: 'name,vhost,cron,zone,every,at,status' }, signal });
    recurring.hidden = list.length === 0;
    recurring.replaceChildren(table('Schedules', ['Schedule', 'Times', 'State', 'Next run'], list.slice(0, maxSchedules).map((s) => [
      el('a', { href: href(['schedules', s.vhost, s.name]) }, s.name), timing(s), s.status.state, s.status.next ? when(format, s.status.next, true) : '–',
    ]), ''), el('p', { class: 'hint' }, list.length > maxSchedules ? `and ${format.number(list.length - maxSchedules)} more` : ''));
  }, 10000, about.context.report);
  return () => {
    unsubscribe();
    publishing.stop();
    if (asking) asking.stop();
    chart.end();
    strip.end();
  };
}

const renewals = {
  declare: 'a declare', get: 'a basic.get', consumer: 'the last consumer leaving', channel: 'a closed channel with unacked messages', policy: 'a change of settings', start: 'the start',
  wake: 'the machine waking up', publish: 'a publish', peek: 'a peek', update: 'a change of messages', scheduled: 'scheduled messages', messages: 'remaining messages',
};

function leaseOf(q) {
  if (!q.lease_renewed_at) return el('p', { class: 'hint' }, 'The queue has no lease: it does not expire when unused.');
  const period = q.lease_expires_at ? Date.parse(q.lease_expires_at) - Date.parse(q.lease_renewed_at) : null;
  return facts([
    ['Ends', q.lease_expires_at ? when(format, q.lease_expires_at, true) : 'not while it is in use'], period !== null && ['Period', format.duration(period)],
    ['Renewed', when(format, q.lease_renewed_at)], ['By', renewals[q.lease_renewed_by] ?? q.lease_renewed_by ?? '–'],
  ]);
}

/** agesOf is how old the messages are, and the histograms of how long messages waited and were processed. */
function agesOf(q) {
  const of = [q.wait_histogram, q.processing_histogram], seconds = (s) => format.duration(Math.round(s * 1000));
  const half = (p50, p99) => (p50 === null ? '–' : `p50 ${seconds(p50)}, p99 ${seconds(p99)}`);
  const bounds = [...(of[0] ?? of[1])?.bounds_s.map(seconds) ?? [], 'longer'];
  const counts = (i) => of.map((x) => x?.counts[i] ?? 0);
  return [facts([
    q.oldest_ready_at && ['Oldest message', when(format, q.oldest_ready_at)], q.oldest_unacked_at && ['Unacked since', when(format, q.oldest_unacked_at)],
    ['Waited lately', half(q.wait_p50, q.wait_p99)], ['Processed lately', half(q.processing_p50, q.processing_p99)],
  ]), table('Times', ['Up to', 'Waited', 'Processed'], bounds.map((b, i) => [b, ...counts(i).map((n) => format.number(n))]).filter((_, i) => counts(i).some((n) => n > 0)), 'Nothing was delivered yet.')];
}

function factsOf(q) {
  const features = [q.durable ? 'durable' : 'transient', q.auto_delete && 'auto-delete', q.exclusive && 'exclusive'].filter(Boolean);
  return facts([
    ['Type', q.type], ['Virtual host', q.vhost], ['Features', features.join(', ')], ['Policy', q.policy ?? 'none'], ['Operator policy', q.operator_policy ?? 'none'],
    ['State', q.state], q.paused_until && ['Paused until', when(format, q.paused_until, true)], ['Node', q.node], q.next_expiry && ['Next expiry', when(format, q.next_expiry, true)], q.next_due && ['Next scheduled', when(format, q.next_due, true)],
  ]);
}

function settingsOf(where, about) {
  const explains = about.may('policy'), container = el('div');
  where.append(el('p', { class: 'hint' }, explains ? 'From is the source of the value in effect.'
    : 'Only users with the tag policymaker see which value is in effect if both argument and policy set one. Policies include operator policies.'), container);
  let explained = null;
  const draw = () => {
    if (explains ? !explained : !about.queue) return;
    const value = (key, v) => (v === null || v === '' ? el('span', { class: 'none' }, v === null ? '–' : 'empty') : el('span', { class: 'value' }, setting(key, v)));
    container.replaceChildren(table('Settings', ['Setting', 'In effect', 'From', 'Argument', explains ? 'Policy' : 'Policies', ...(explains ? ['Operator policy'] : []), 'Note'],
      settings(about.queue ?? {}, explained).map((s) => [el('b', null, s.key), value(s.key, s.value), s.source ?? '?', value(s.key, s.argument), value(s.key, s.policy), ...(explains ? [value(s.key, s.operator)] : []), el('span', { class: 'wrap' }, s.note)]), ''));
  };
  const unsubscribe = explains ? () => {} : about.subscribe(draw);
  const asking = explains && poll(async (signal) => {
    explained = await get(about.x('policy'), { signal });
    draw();
  }, 10000, about.context.report);
  return () => {
    unsubscribe();
    if (asking) asking.stop();
  };
}

function bindings(where, about) {
  const container = el('div');
  where.append(container);
  const asking = poll(async (signal) => {
    const all = await get(about.api('bindings'), { signal });
    container.replaceChildren(table('Bindings', ['From exchange', 'Routing key', 'Arguments'], all.map((b) => [
      el('span', { class: 'value' }, b.source === '' ? '(default exchange)' : b.source), el('span', { class: 'value' }, b.routing_key),
      Object.keys(b.arguments).length > 0 ? el('span', { class: 'value' }, pretty(b.arguments, 0)) : '',
    ]), 'There are no bindings.'));
  }, 10000, about.context.report);
  return () => asking.stop();
}

function consumers(where, about) {
  const container = el('div');
  where.append(container);
  return about.subscribe((q) => {
    const seen = q.consumer_details ?? [];
    container.replaceChildren(table('Consumers', ['Tag', 'Channel', 'User', 'Ack', 'Prefetch', 'State', 'Arguments'], seen.map((c) => [
      el('span', { class: 'value' }, c.consumer_tag), el('span', { class: 'value' }, c.channel_details?.name ?? '–'), c.channel_details?.user ?? '–', c.ack_required ? 'required' : 'automatic',
      c.prefetch_count === 0 ? 'unlimited' : format.number(c.prefetch_count), `${c.activity_status ?? ''}${c.exclusive ? ', exclusive' : ''}`, Object.keys(c.arguments ?? {}).length > 0 ? el('span', { class: 'value' }, pretty(c.arguments, 0)) : '',
    ]), q.consumers > 0 ? 'Only users with the tag monitoring see its consumers.' : 'There are no consumers.'));
  });
}
