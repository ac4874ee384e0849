// The entry point: determines the logged-in user, and shows the login form or the page of the address.

import { get, onLost, request } from './api.js';
import { clockBar } from './clockbar.js';
import { el, text } from './dom.js';
import { clock } from './format.js';
import { Router } from './router.js';
import { people, virtualHosts } from './pages/admin.js';
import { api } from './pages/api.js';
import { channels, connections, consumers } from './pages/clients.js';
import { definitions } from './pages/definitions.js';
import { events } from './pages/events.js';
import { exchanges } from './pages/exchanges.js';
import { flow } from './pages/flow.js';
import { limits, parameters } from './pages/limits.js';
import { node } from './pages/node.js';
import { now } from './pages/now.js';
import { policies } from './pages/policies.js';
import { queue } from './pages/queue.js';
import { queues } from './pages/queues.js';
import { schedules } from './pages/schedules.js';
import { shovels } from './pages/shovels.js';

/**
 * pages by the first part of their address, in the order of the menu: {title, show(main, context), tags (one of them is required)}. below is the menu
 * entry of a page that has none of its own; pages with a group are in a second menu.
 */
/** @type {Object<string, any>} */
const pages = {
  now, queues, queue, connections, channels, consumers, exchanges, flow, schedules, policies, events, node,
  vhosts: virtualHosts, users: people, limits, parameters, shovels, definitions, api,
};

const session = 'api/x/session';
let router = null;
let before = null; // the last user
let looks = null; // at the test clock

/** shell shows the menu and the page of the address to a logged-in user. */
function shell(user) {
  if (before !== null && before !== user.name) history.replaceState(null, '', '#/');
  before = user.name;
  const main = el('main', { id: 'main', tabindex: -1 });
  const state = el('span', { class: 'state', role: 'status' }), broker = el('span', { class: 'node' });
  const may = (...tags) => user.tags.includes('administrator') || tags.some((tag) => user.tags.includes(tag));
  const mine = Object.fromEntries(Object.entries(pages).filter(([, page]) => !page.tags || may(...page.tags)));
  const links = Object.entries(mine).filter(([, page]) => !page.below).map(([name, page]) => [name, el('a', { href: `#/${name}` }, page.title), page.group]);
  const grouped = links.filter(([, , group]) => group), group = 'Admin', first = el('a', { href: grouped[0]?.[1].getAttribute('href') }, group);
  const more = el('nav', { class: 'parts', 'aria-label': group, hidden: true }, grouped.map(([, a]) => a));
  const logOut = async () => {
    await request('DELETE', session).catch(() => {}); // the login form is shown even if this fails
    begin('');
  };
  const clocks = clockBar(may('administrator'), () => router?.show());
  looks = clocks.looks;
  document.body.replaceChildren(
    el('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); main.focus(); } }, 'Skip to the page'),
    el('header', null,
      el('span', { class: 'brand' }, el('img', { src: 'ui/icon.svg', alt: '', width: 18, height: 18 }), 'Candlemark'), broker,
      el('nav', { 'aria-label': 'Main' }, links.filter(([, , within]) => !within).map(([, a]) => a), grouped.length > 0 && first),
      el('span', { class: 'user' }, state, el('span', { title: `tags: ${user.tags.join(', ')}` }, user.name),
        el('button', { type: 'button', onclick: logOut }, 'Log out'))),
    clocks.bar, more, main);
  router = new Router(mine, 'now', main, {
    user,
    /** may returns whether the user has one of these tags, or is an administrator. */
    may,
    /** report shows an error of polling in the header, and nothing for null. */
    report: (error) => {
      state.classList.toggle('failing', error !== null);
      text(state, error ? `${error.message} (${clock(Date.now())})` : '');
    },
    shown: (name, parts) => {
      const { title, below } = pages[name];
      more.hidden = !pages[name].group;
      for (const [is, a] of [...links.map(([other, a]) => [other === (below ?? name), a]), [!more.hidden, first]]) {
        if (is) a.setAttribute('aria-current', a === first ? 'true' : 'page');
        else a.removeAttribute('aria-current');
        if (is) a.scrollIntoView({ block: 'nearest', inline: 'center' });
      }
      document.title = `${[title, ...parts.slice(-1)].join(' ')} · Candlemark`;
    },
  });
  router.show();
  get('api/overview', { query: { columns: 'node,cluster_name' } }).then((o) => text(broker, o.cluster_name ?? o.node), () => {});
}

/** begin ends the page and shows the login form, with a message. */
function begin(why) {
  router?.stop();
  looks?.stop();
  router = looks = null;
  document.title = 'Log in · Candlemark';
  for (const open of document.querySelectorAll('dialog')) open.close();
  const message = el('p', { class: 'error', role: 'alert' }, why);
  const name = el('input', { name: 'username', autocomplete: 'username', required: true, spellcheck: 'false', autocapitalize: 'none' });
  const password = el('input', { name: 'password', type: 'password', autocomplete: 'current-password', required: true });
  const button = el('button', { class: 'primary', type: 'submit' }, 'Log in');
  const form = el('form', {
    class: 'login', onsubmit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      text(message, '');
      try {
        shell(await request('POST', session, { form: { username: name.value, password: password.value }, quiet: true }));
      } catch (error) {
        text(message, refusal(error));
        button.disabled = false;
        password.select();
      }
    },
  }, el('h1', null, el('img', { src: 'ui/icon.svg', alt: '', width: 24, height: 24 }), 'Candlemark'),
  el('label', null, 'User', name), el('label', null, 'Password', password), message, button);
  document.body.replaceChildren(el('main', { class: 'alone' }, form));
  name.focus();
}

/** refusal returns why a login was refused, with the reason of the API. */
function refusal(error) {
  const hints = {
    Not_Authorized: 'Wrong user or password',
    'Not management user': 'This user has none of the tags administrator, monitoring, policymaker, management',
  };
  return hints[error.message] ? `${hints[error.message]} (${error.message}).` : `${error.message}.`;
}

/** closeMenus closes open menus on Escape and on clicks outside them. */
function closeMenus(event) {
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    const inside = menu.contains(event.target);
    if (event.type === 'keydown' ? event.key !== 'Escape' : inside) continue;
    menu.removeAttribute('open');
    if (inside) menu.querySelector('summary').focus();
  }
}

addEventListener('pointerdown', closeMenus);
addEventListener('keydown', closeMenus);
onLost(() => router && begin('The session has ended. Log in again.'));
// fetch refuses a page whose address has a login.
if (new URL(document.baseURI).username) location.replace(location.origin + location.pathname + location.hash);
else get(session).then((user) => (user.name ? shell(user) : begin('')), (error) => begin(error.message));
