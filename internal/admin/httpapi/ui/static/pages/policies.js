// Policies and operator policies: list, previews, explanations of effective settings, and history with undo.

import { get, path, poll, request } from '../api.js';
import { href } from '../address.js';
import { el, text, when } from '../dom.js';
import * as format from '../format.js';
import { button, Facts, figure, inVHost, listOf, offered, Rows, section, vhostsOf, watch, word, words } from '../list.js';
import { changed, setting } from '../policy.js';
import { edit, removePolicy } from '../policyeditor.js';

const identity = (p) => JSON.stringify([p.operator, p.vhost, p.name]);
/** mayChange returns whether the user, who may change policies in the virtual host, may change a policy of this kind. */
const mayChange = (context, p) => !p.operator || context.may();
const pathOf = (p, ...more) => path(p.operator ? 'api/x/operator-policies' : 'api/x/policies', p.vhost, p.name, ...more);

/** Counts asks, one after the other, to how many objects each policy applies, by a preview of its deletion. */
class Counts {
  table; page;

  constructor() {
    this.known = new Map();
  }

  begin(context) {
    this.waiting = [];
    this.asking = poll(async (signal) => {
      const p = this.waiting.find((one) => this.known.get(identity(one))?.of !== JSON.stringify(one));
      if (!p) return;
      const { hit, warning } = await request('POST', pathOf(p, 'preview'), { body: { clear: true }, signal }), count = warning ? `0: ${warning}` : format.number(hit);
      this.known.set(identity(p), { of: JSON.stringify(p), count });
      this.table?.show(this.page, '');
    }, 1000, context.report);
  }

  end() {
    this.asking?.stop();
    this.asking = null;
    this.known.clear();
  }
}

function list(main, context) {
  const counts = new Counts();
  let asking = null;
  const anew = { now: () => { counts.known.clear(); asking.now(); } };
  const show = listOf('Policies', {
    all: async (vhost, signal) => {
      const [vhosts, ...lists] = await Promise.all([vhostsOf('policy'), ...[false, true].map((operator) => get(inVHost(operator ? 'api/operator-policies' : 'api/policies')(vhost), { signal })
        .then((found) => found.map((p) => ({ ...p, operator }))))]);
      return lists.flat().map((p) => ({ ...p, may: vhosts.includes(p.vhost) && mayChange(context, p) }));
    },
    columns: [
      { key: 'name', label: 'Name', sort: 'name', always: true, fields: [], cell: (p) => el('span', { class: 'name' }, p.name) },
      { ...word('kind', 'Kind', 'operator'), cell: (p) => (p.operator ? 'operator policy' : 'policy') },
      word('vhost', 'Virtual host', 'vhost'), { ...word('pattern', 'Pattern', 'pattern'), cell: (p) => el('code', { class: 'name' }, p.pattern) }, word('apply', 'Apply to', 'apply-to'),
      { key: 'definition', label: 'Definition', shown: true, fields: [], cell: (p) => el('ul', { class: 'plain' }, Object.entries(p.definition).map(([k, v]) => el('li', null, `${k}: ${setting(k, v)}`))) },
      figure('priority', 'Priority', 'priority'),
      ...(context.may('policymaker') ? [
        { key: 'count', label: 'Objects', title: 'Queues and exchanges it applies to', num: true, shown: true, fields: [], cell: (p) => el('span', { class: 'narrow' }, p.may ? counts.known.get(identity(p))?.count ?? '…' : '–') },
        { key: 'actions', label: 'Actions', shown: true, fields: [], cell: (p, kept) => actions(p, kept) }] : []),
    ],
    key: identity, nothing: 'There are no policies, or none that you may see.',
    tools: (again) => {
      asking = again;
      return context.may('policymaker') && [button('Add policy…', () => edit(context, null, anew)), el('a', { class: 'button', href: href(['policies', 'history']) }, 'History'), el('a', { class: 'button', href: href(['policies', 'explain']) }, 'Explain')].map((e) => offered(e, 'policy'));
    },
    seen: (page, table) => {
      counts.table = table;
      counts.page = page;
      const before = counts.waiting;
      counts.waiting = page.items.filter((p) => p.may);
      if (before?.length === 0) counts.asking?.now();
    },
    left: () => counts.end(),
  });
  const actions = (p, kept) => {
    kept.policy = p;
    if (!p.may) return '';
    return kept.actions ??= el('span', { class: 'inline' }, button('Edit…', () => edit(context, kept.policy, anew)), button('Delete…', () => removePolicy(kept.policy, anew), true));
  };
  if (context.may('policymaker')) counts.begin(context);
  return show(main, context);
}

/** chooser makes a form that calls go with its data. */
function chooser(fields, go, label) {
  return el('form', { class: 'tools', onsubmit: (event) => { event.preventDefault(); go(new FormData(event.target)); } }, fields, el('button', { type: 'submit' }, label));
}

function vhostSelect(chosen, onchange) {
  const select = el('select', { name: 'vhost', onchange: () => onchange?.(select.value) });
  vhostsOf('policy').then((names) => select.append(...names.map((n) => el('option', { value: n, selected: n === chosen }, n))), () => {});
  return el('label', { class: 'check' }, 'Virtual host', select);
}

function history(main, context, [, vhost]) {
  if (vhost === undefined) {
    vhostsOf('policy').then((names) => { location.replace(href(['policies', 'history', names.includes('/') ? '/' : names[0] ?? '/'])); }, () => {});
    return () => {};
  }
  const done = el('p', { role: 'status' }), wrong = el('p', { class: 'error', role: 'alert' });
  const rows = new Rows('Changes, newest first', [
    ['No.', (c) => String(c.id)], ['Time', (c) => when(format, c.time)], ['User', (c) => c.user], ['By', (c) => words(c.interface)],
    ['Change', (c) => [c.undoes ? el('p', null, `Undoes change ${c.undoes}.`) : '', c.changed?.length ? el('ul', { class: 'plain wide' }, c.changed.map((one) => el('li', null, changed(one)))) : format.plural(c.policies, 'policy', 'policies')]],
    ['Actions', (c) => (c.changed?.length && c.changed.every((one) => mayChange(context, one)) ? button('Undo', (event) => undo(c, event.target)) : '')],
  ], 'There are no changes.');
  const undo = async (c, pressed) => {
    pressed.disabled = true;
    try {
      const answer = await request('POST', path('api/x/policy-history', vhost, String(c.id), 'undo'));
      text(wrong, '');
      text(done, `Change ${c.id} was undone by change ${answer.change}.`);
    } catch (error) {
      text(done, '');
      text(wrong, `Change ${c.id} was not undone: ${error.message}`);
    }
    pressed.disabled = false;
    w.asking.now();
  };
  const w = watch(main, context, 'History of policies', ['policies', 'Policies'], async (signal) => rows.show((await get(path('api/x/policy-history', vhost), { signal })).changes));
  w.body.append(el('div', { class: 'tools' }, vhostSelect(vhost, (v) => { location.hash = href(['policies', 'history', v]); })), done, wrong, rows.element);
  return w.end;
}

function explain(main, context, [, vhost, kind = 'queue', name]) {
  const facts = new Facts();
  const candidates = new Rows('Policies whose pattern matches, in order', [
    ['Policy', (c) => el('span', { class: 'name' }, c.name)], ['Kind', (c) => (c.operator ? 'operator policy' : 'policy')], ['Pattern', (c) => el('code', { class: 'name' }, c.pattern)],
    ['Priority', (c) => format.number(c.priority)], ['Applies', (c) => words(c.applies)], ['Why', (c) => c.why]], 'None.');
  const of = (key) => (s) => (s[key] === null ? '' : setting(s.key, s[key]));
  const settings = new Rows('Settings', [['Key', (s) => s.key], ['Value', of('value')], ['Source', (s) => s.source ?? ''],
    ['Argument', of('argument')], ['Policy', of('policy')], ['Operator policy', of('operator_policy')], ['Note', (s) => s.note]], 'None.');
  const form = chooser([vhostSelect(vhost ?? '/'),
    el('label', { class: 'check' }, 'Kind', el('select', { name: 'kind' }, ['queue', 'exchange'].map((k) => el('option', { value: k, selected: k === kind }, k)))),
    el('label', { class: 'check' }, 'Name', el('input', { name: 'name', value: name ?? '', required: true, spellcheck: 'false', autocapitalize: 'none' }))],
  (data) => { location.hash = href(['policies', 'explain', data.get('vhost'), data.get('kind'), data.get('name')]); }, 'Explain');
  const title = name ? `Why ${kind} ${name} has its policy` : 'Explain a policy';
  const w = watch(main, context, title, ['policies', 'Policies'], async (signal) => {
    if (!name) return;
    const e = await get(path(kind === 'exchange' ? 'api/x/exchanges' : 'api/x/queues', vhost, name, 'policy'), { signal });
    facts.set([['Policy', e.policy ?? 'none'], ['Operator policy', e.operator_policy ?? 'none'], ['Patterns that match', format.number(e.candidates_total)], ['Patterns that do not', format.number(e.unmatched)]]);
    candidates.show(e.candidates);
    settings.show(e.settings);
  });
  w.body.append(form, ...(name ? [facts.element, candidates.element, settings.element] : []));
  return w.end;
}

export const policies = section('Policies', list, (main, context, parts) => (parts[0] === 'explain' ? explain : history)(main, context, parts));
