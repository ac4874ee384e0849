// The bar of a broker with a test clock, on each page: its time, and buttons that move it.

import { poll, request } from './api.js';
import { el, text } from './dom.js';

const address = 'api/x/clock';

/** clockBar is hidden without a test clock. moved is called after each change. */
export function clockBar(admin, moved) {
  const time = el('strong'), state = el('span', { role: 'status' });
  const button = (title, body) => el('button', {
    type: 'button', onclick: async (event) => {
      const b = event.target;
      b.disabled = true;
      text(state, 'Moving…');
      try {
        const m = await request('POST', address, { body });
        text(state, m.done ? '' : `Stopped early (${m.stopped}): again to continue`);
        moved();
      } catch (error) {
        text(state, error.message);
      }
      b.disabled = false;
      looks.now();
    },
  }, title);
  const moves = Object.entries({ '+1 s': '1s', '+1 min': '1m', '+1 h': '1h', '+1 d': '1d' }).map(([title, advance]) => button(title, { advance }));
  const bar = el('section', { class: 'clock', 'aria-label': 'Test clock', hidden: true },
    el('span', null, 'Test clock: times are not real. ', time), admin && el('span', { class: 'buttons' },
      moves, button('Next', { next: 1 }), button('Freeze', { mode: 'frozen' }), button('Run', { mode: 'running' })), state);
  const looks = poll(async (signal) => {
    const c = await request('GET', address, { signal });
    bar.hidden = !c.test_clock;
    if (bar.hidden) looks.stop();
    text(time, `${c.time.replace('T', ' ').replace('Z', ' UTC')} ${c.mode}${c.speed > 1 ? ` × ${c.speed}` : ''}`);
  }, 1000, () => {});
  return { bar, looks };
}
