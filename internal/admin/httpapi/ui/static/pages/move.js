// A part of the page of a queue: moving messages elsewhere, and the progress of moves.

import { get, path, poll, request } from '../api.js';
import { dialog, el, stay, text } from '../dom.js';
import * as format from '../format.js';

const reasons = {
  unroutable: 'no route to a queue', refused: 'the target is full, down or gone', no_x_death: 'the broker has not dead-lettered them', access_refused: 'you may not publish there',
  unreadable: 'cannot be read for now', too_many_bindings: 'the route takes too long',
};

const entries = (counts, say) => Object.entries(counts).map(([name, n]) => el('li', null, ...say(name, n)));

/** outcome shows what a move has done, or would do. */
function outcome(m) {
  const would = m.dry_run ? 'would go' : 'went', stay = m.dry_run ? 'would stay' : 'stayed';
  return el('ul', null,
    entries(m.targets, (name, n) => [`${format.plural(n, 'message')} ${would} to `, el('span', { class: 'value' }, name)]),
    entries(m.left_by_reason, (name, n) => [`${format.plural(n, 'message')} ${stay}: ${reasons[name] ?? name}`]),
    m.moved + m.left === 0 && el('li', null, 'There are no messages to move.'));
}

/** move asks for the target, shows the result of a dry run, and starts the move. ids are the messages to move, null for all ready ones. */
export function move(about, ids, begun) {
  const field = (name, label, title) => el('label', null, label, el('input', { name, title, spellcheck: 'false', autocomplete: 'off' }));
  const container = el('div', { role: 'status' });
  const to = el('select', { name: 'to' }, [...(about.may('publish') ? [['origin', 'the queue that last dead-lettered each'], ['queue', 'a queue']] : []), ['exchange', 'an exchange']].map(([v, t]) => el('option', { value: v }, t)));
  const queue = field('queue', 'Queue'), exchange = field('exchange', 'Exchange'), key = field('key', 'Routing key (default: that of each message)');
  const look = () => {
    queue.hidden = to.value !== 'queue';
    exchange.hidden = key.hidden = to.value !== 'exchange';
  };
  let seen = null;
  const box = dialog('Move messages', [
    el('p', null, ids ? `${format.plural(ids.length, 'selected message')} of ` : 'All ready messages of ', el('span', { class: 'value' }, about.name), '. Unacked messages stay.'),
    el('label', null, 'To', to), queue, exchange, key, field('rate', 'Messages per second (default: no limit)'), container,
  ], 'Preview', async (form) => {
    /** @type {Record<string, any>} */
    const body = { to: 'origin', ids: ids ?? undefined };
    if (form.get('to') === 'queue') body.to = { queue: form.get('queue') };
    if (form.get('to') === 'exchange') body.to = { exchange: form.get('exchange'), routing_key: form.get('key') || undefined };
    if (form.get('rate')) {
      body.rate = Number(form.get('rate'));
      if (!(body.rate > 0)) throw new Error('The rate must be a number above 0.');
    }
    if (seen !== JSON.stringify(body)) {
      const m = await request('POST', about.x('move'), { body: { ...body, dry_run: true } });
      container.replaceChildren(el('p', null, m.state === 'finished' ? 'Preview:' : 'Preview of the first messages:'), outcome(m));
      if (m.moved > 0) {
        seen = JSON.stringify(body);
        text(submit, `Move ${format.plural(m.moved, 'message')}`);
      }
      return stay;
    }
    const m = await request('POST', about.x('move'), { body });
    about.say(`Move ${m.id} has started.`);
    begun();
  });
  const submit = box.querySelector('button[type=submit]');
  box.addEventListener('input', () => {
    seen = null;
    container.replaceChildren();
    text(submit, 'Preview');
    look();
  });
  look();
}

/** movesOf shows the last three moves of the queue, and calls ended after a move has ended. It returns its poll. */
export function movesOf(where, about, ended) {
  const all = el('div');
  where.append(all);
  let over = null; // the ids of the ended moves in the last answer
  const stop = async (m) => {
    try {
      await request('DELETE', path('api/x/moves', m.id));
    } catch (error) {
      about.say(`Move ${m.id}: ${error.message}`);
    }
    asking.now();
  };
  const asking = poll(async (signal) => {
    const list = (await get(path('api/x/moves'), { signal })).filter((m) => m.vhost === about.vhost && m.queue === about.name), focused = document.activeElement?.getAttribute?.('data-move');
    all.replaceChildren(...list.slice(-3).reverse().map((m) => el('section', { class: 'card', 'aria-label': `Move ${m.id}` },
      el('div', { class: 'row' }, el('p', null, `Move ${m.id}: ${m.state}${m.reason ? `, ${m.reason}` : ''}. ${format.plural(m.moved, 'message')} moved, ${format.number(m.left)} left.`),
        m.state === 'running' && (m.user === about.context.user.name || about.context.may()) && el('button', { type: 'button', 'data-move': m.id, onclick: () => stop(m) }, `Stop move ${m.id}`)),
      outcome(m))));
    if (focused) all.querySelector(`[data-move="${CSS.escape(focused)}"]`)?.focus();
    const now = list.filter((m) => m.state !== 'running').map((m) => m.id).join();
    if (over !== null && over !== now) ended();
    over = now;
  }, 2000, about.context.report);
  return asking;
}
