// Events as they arrive. An EventSource receives only events of registered names; therefore this page parses the stream itself.

import { get } from '../api.js';
import { el, text, tick, when } from '../dom.js';
import { EventStream, spoken } from '../eventstream.js';
import * as format from '../format.js';

const most = 200;

export const events = { title: 'Events', show };

function show(main, context) {
  const pattern = el('input', { type: 'search', value: '#', 'aria-label': 'Pattern of names', spellcheck: 'false', autocapitalize: 'none' });
  const body = el('tbody'), said = el('p', { class: 'hint', role: 'status' }), failed = el('p', { class: 'error', role: 'alert' });
  const scroll = el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Events' }, el('table', null, el('caption', { class: 'sr' }, 'Events, newest first'),
    el('thead', null, el('tr', null, ['Time', 'Event', 'User', 'What'].map((h) => el('th', { scope: 'col' }, h)))), body));
  main.append(el('h1', null, 'Events'), el('form', { class: 'tools', onsubmit: (event) => { event.preventDefault(); listen(); } }, pattern, el('button', { type: 'submit' }, 'Listen'),
    el('button', { type: 'button', onclick: () => body.replaceChildren() }, 'Clear'), el('span', { class: 'hint' }, 'as for topic exchanges: queue.*, #')), said, failed, scroll);
  let running = null, timer = 0, term = 0;
  const add = ({ event, data }) => {
    let fields = {};
    try {
      fields = JSON.parse(data);
    } catch {
      fields = { data };
    }
    body.prepend(el('tr', null, el('td', null, when(format, fields.timestamp_in_ms ?? null)), el('td', null, event), el('td', null, String(fields.user_who_performed_action ?? '')), el('td', { class: 'event-fields' }, spoken(fields))));
    while (body.childElementCount > most) body.lastChild.remove();
  };
  /** An election ends all streams, so the new leader tells nobody of it: they are asked for. */
  const elections = async () => {
    const { elections: all } = await get('api/x/cluster');
    all.filter((e) => e.term > term).forEach((e) => {
      const { leader: node, ...rest } = e;
      add({ event: 'cluster.leader.elected', data: JSON.stringify({ node, ...rest }) });
      term = e.term;
    });
  };
  const stop = () => {
    clearTimeout(timer);
    running?.abort();
    running = null;
  };
  const listen = async () => {
    stop();
    if (document.hidden) return text(said, 'Paused while the page is hidden.');
    const mine = running = new AbortController(), stream = new EventStream(), decoder = new TextDecoder();
    text(failed, '');
    try {
      const answer = await fetch(`api/x/events?${new URLSearchParams({ pattern: pattern.value || '#' })}`, { signal: mine.signal, cache: 'no-store', headers: { 'X-Candlemark-Session': '1' } });
      if (!answer.ok) throw new Error(await answer.json().then((v) => String(v.reason), () => answer.statusText));
      if (context.may('monitoring')) elections().catch(() => {}); // the next answer has them
      text(said, `Listening. The last ${most} events that come while this page is open are shown.`);
      for (const reader = answer.body.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) throw new Error('The broker has ended the stream');
        stream.add(decoder.decode(value, { stream: true })).forEach(add);
      }
    } catch (error) {
      if (mine.signal.aborted) return;
      text(said, '');
      text(failed, `${error.message}. Listening again in 10 s; what happens until then is not shown.`);
      timer = setTimeout(listen, 10e3);
    }
  };
  document.addEventListener('visibilitychange', listen);
  listen();
  const ticking = setInterval(() => tick(format, body), 1000);
  return () => {
    clearInterval(ticking);
    document.removeEventListener('visibilitychange', listen);
    stop();
  };
}
