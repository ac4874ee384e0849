// Lists made from a description: a table of one page of the API, and a page for a single item.

import { href } from './address.js';
import { get, path, poll } from './api.js';
import { el, figure as shownFigure, nameParts, text, tick, when } from './dom.js';
import * as format from './format.js';
import { ServerTable } from './table.js';
import { at, columnsOf, pageOf, query, read, write } from './tablestate.js';

const column = (key, label, field, cell, more) => ({ key, label, sort: field, shown: true, fields: [field], cell: (item) => cell(at(item, field)), ...more });

/** word, figure, size, speed, moment are columns of a field of the API: text, a number, bytes, a rate, a time. */
export const word = (key, label, field, more) => column(key, label, field, words, more);
export const figure = (key, label, field, more) => column(key, label, field, (n) => shownFigure(format, n), { num: true, desc: true, ...more });
export const size = (key, label, field, more) => column(key, label, field, format.bytes, { num: true, desc: true, ...more });
export const speed = (key, label, field, more) => column(key, label, field, format.rate, { num: true, desc: true, ...more });
export const moment = (key, label, field, more) => column(key, label, field, (t) => when(format, t), { num: true, ...more });

/** words shows any value of the API as text. */
export function words(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** link leads to the page of an item. */
export const link = (parts, shown) => el('a', { class: 'name', title: shown.length > 24 ? shown : null, href: href(parts) }, nameParts(shown));

/** marks shows the features of an item, with the abbreviations of RabbitMQ's pages, and more. */
export function marks(item, more = []) {
  const all = [[item.durable, 'D', 'durable'], [item.auto_delete, 'AD', 'auto-delete'], [item.exclusive, 'Ex', 'exclusive'], [item.internal, 'I', 'internal'], ...more];
  const args = Object.entries(item.arguments ?? {}).map(([k, v]) => `${k}: ${JSON.stringify(v)}`);
  return el('span', null, all.filter(([is]) => is).map(([, mark, title]) => el('abbr', { title }, mark)), args.length > 0 && el('abbr', { title: args.join('\n') }, 'Args'));
}

/** button makes a button; danger marks a destructive action. */
export const button = (label, onclick, danger = false) => el('button', { type: 'button', class: danger ? 'danger' : null, onclick }, label);

/** field makes a form field for names and values: without spell checking and completion. */
export const field = (name, label, more) => el('label', null, label, el('input', { name, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'none', ...more }));

/** choose makes a form field for one of several values. */
export const choose = (name, label, values, more) => el('label', null, label, el('select', { name, ...more }, values.map((v) => el('option', { value: v }, v))));

/** buttons makes a column of buttons, which are kept when their item is updated; may, if given, reports whether an item has buttons. */
export const buttons = (make, may = null) => ({ key: 'actions', label: 'Actions', shown: true, fields: [], cell: (item, kept) => {
  kept.item = item;
  return may && !may(item) ? '' : kept.actions ??= el('span', { class: 'inline' }, make(() => kept.item));
} });

/** vhostsOf returns the virtual hosts that the user may see, or where the user has a right: configure, write, read, policy. */
export const vhostsOf = async (may = '') => (await get('api/x/vhosts')).filter((v) => !may || v.may.includes(may)).map((v) => v.name);

/** offered shows an element only if the user has a right in the virtual host, or in any virtual host if none is given. */
export function offered(element, may, vhost) {
  element.hidden = true;
  vhostsOf(may).then((names) => { element.hidden = vhost === undefined ? names.length === 0 : !names.includes(vhost); }, () => {});
  return element;
}

/** section is a page that shows list, or one if the address has more parts: functions of (main, context, parts) that return a function to end them. */
export function section(title, list, one) {
  return {
    title, show(main, context) {
      let end = null, changed = null;
      const open = (params, parts) => {
        end?.();
        changed = null;
        main.replaceChildren();
        end = (one && parts.length > 1 ? one : list)(main, { ...context, params, onChange: (f) => { changed = f; } }, parts.slice(1));
      };
      context.onChange((params, parts) => (changed && parts.length < 2 ? changed(params) : open(params, parts)));
      open(context.params, context.parts);
      return () => end?.();
    },
  };
}

/**
 * listOf makes a list from spec: columns, key and size as in ServerTable; address(vhost) of the API; fields to request besides those of the columns;
 * all(vhost, signal) in place of address where the API has no paging; vhosts: false for no choice of a virtual host; tools(asking), elements above
 * the table; nothing, the text for an empty list; seen(page, table), called for each page; left(), called at the end.
 */
export function listOf(title, spec) {
  spec = { size: 50, filters: ['vhost'], fields: [], ...spec };
  return (main, context) => {
    let state = read(context.params, spec), asking = null;
    const failed = el('p', { class: 'error', role: 'alert' });
    const look = () => {
      table.set(state);
      vhost.value = state.filters.vhost ?? '';
    };
    const go = (next, step = true) => {
      state = next;
      context.keep(write(state, spec), step);
      look();
      asking.now();
    };
    const table = new ServerTable(title, spec, go, null);
    const vhost = el('select', { 'aria-label': 'Virtual host', onchange: () => {
      const { vhost: _, ...filters } = state.filters;
      go({ ...state, filters: vhost.value ? { ...filters, vhost: vhost.value } : filters, page: 1 });
    } }, el('option', { value: '' }, 'all virtual hosts'));
    if (spec.vhosts !== false) table.extra.append(vhost);
    if (spec.vhosts !== false) vhostsOf().then((names) => {
      vhost.append(...names.map((name) => el('option', { value: name }, name)));
      look();
    }, () => {});
    const again = { now: () => asking.now() };
    const tools = spec.tools?.(again) ?? [];
    main.append(el('div', { class: 'row' }, el('h1', null, title), el('div', { class: 'actions' }, tools)), failed, table.element);
    context.onChange((params) => {
      state = read(params, spec);
      look();
      asking.now();
    });
    look();
    asking = keepAsking(table, failed, context, async (signal) => {
      const { vhost: only, ...q } = query(state, spec);
      const fields = new Set([...spec.fields, ...columnsOf(state, spec).flatMap((c) => c.fields)]);
      const found = spec.all ? pageOf(await spec.all(only, signal), state, spec) : await get(spec.address(only), { query: { ...q, columns: [...fields].join(',') }, signal });
      table.show(found, state.name || only !== undefined ? 'Nothing matches.' : spec.nothing);
      spec.seen?.(found, table);
    }, () => go({ ...state, page: 1 }, false));
    return () => {
      asking.stop();
      spec.left?.();
    };
  };
}

/**
 * keepAsking calls show, which requests a page and fills the table, now and every 5 s; failed shows errors. first is called if the page no longer
 * exists, to go to the first page.
 */
export function keepAsking(table, failed, context, show, first) {
  const asking = poll(async (signal) => {
    try {
      await show(signal);
      text(failed, '');
    } catch (error) {
      if (error.status === 400 && error.message.startsWith('Page out of range') && table.state.page > 1) return first();
      if (error.name !== 'AbortError') text(failed, error.message);
      throw error;
    }
  }, 5000, context.report);
  const ticking = setInterval(() => tick(format, table.body), 1000);
  return {
    now: () => asking.now(),
    stop: () => {
      clearInterval(ticking);
      asking.stop();
    },
  };
}

/** Facts are names and values; set updates only the values that have changed. */
export class Facts {
  constructor() {
    this.element = el('dl', { class: 'factgrid card' });
    this.values = new Map();
  }

  set(pairs) {
    for (const [label, value] of pairs) {
      if (!this.values.has(label)) {
        const dd = el('dd');
        this.values.set(label, dd);
        this.element.append(el('div', null, el('dt', null, label), dd));
      }
      const dd = this.values.get(label), shown = value instanceof Node ? value : words(value) || '–';
      if (typeof shown === 'string') text(dd, shown);
      else if (!dd.firstChild?.isEqualNode(shown)) dd.replaceChildren(shown);
    }
  }
}

/** Rows is a table without paging: columns are [label, cell(item)]. The rows are rebuilt only if an item has changed. */
export class Rows {
  title; columns; nothing; before; body;

  constructor(title, columns, nothing) {
    Object.assign(this, { title, columns, nothing, before: null, body: el('tbody') });
    this.empty = el('p', { class: 'hint' }, nothing);
    this.scroll = el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title, hidden: true },
      el('table', null, el('caption', { class: 'sr' }, title), el('thead', null, el('tr', null, columns.map(([label]) => el('th', { scope: 'col' }, label)))), this.body));
    this.element = el('section', { class: 'part' }, el('h2', null, title), this.empty, this.scroll);
  }

  show(items) {
    const now = JSON.stringify(items);
    if (now === this.before) return;
    this.before = now;
    const most = 500;
    this.body.replaceChildren(...items.slice(0, most).map((item) => el('tr', null, this.columns.map(([, cell]) => el('td', null, cell(item))))));
    this.scroll.hidden = items.length === 0;
    this.empty.hidden = items.length > 0 && items.length <= most;
    text(this.empty, items.length > most ? `The first ${format.number(most)} of ${format.number(items.length)}.` : this.nothing);
  }
}

/** watch calls ask for one item every 5 s, and shows if it does not exist or is refused. back is its list, null for none. */
export function watch(main, context, title, back, ask) {
  const failed = el('p', { class: 'error', role: 'alert' }), tools = el('div', { class: 'actions' }), body = el('div');
  main.append(back ? el('nav', { 'aria-label': 'Back' }, el('a', { href: href([back[0]]) }, `‹ ${back[1]}`)) : '', el('div', { class: 'row' }, el('h1', { class: 'breaks' }, title), tools), failed, body);
  const asking = poll(async (signal) => {
    try {
      await ask(signal);
      text(failed, '');
    } catch (error) {
      if (error.name !== 'AbortError') text(failed, error.status === 404 ? `It is not there (${error.message}).` : error.message);
      throw error;
    }
  }, 5000, context.report);
  const ticking = setInterval(() => tick(format, body), 1000);
  const end = () => {
    clearInterval(ticking);
    asking.stop();
  };
  return { body, tools, failed, asking, end };
}

/** inVHost is the address of a list of all virtual hosts or of one. */
export const inVHost = (all) => (vhost) => (vhost === undefined ? all : path(all, vhost));

/** ofVHost is the same for lists whose address begins with that of the virtual host. */
export const ofVHost = (name) => (vhost) => (vhost === undefined ? `api/${name}` : `${path('api/vhosts', vhost)}/${name}`);
