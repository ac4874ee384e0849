// Limits of virtual hosts and users; parameters and global parameters.

import { get, path, request } from '../api.js';
import { dialog, el } from '../dom.js';
import * as format from '../format.js';
import { button, buttons, choose, field, listOf, offered, Rows, section, vhostsOf, watch, word } from '../list.js';
import { parsed } from '../policy.js';
import { redacted } from '../settings.js';

const kinds = [
  { of: 'vhost', title: 'Virtual host', at: 'api/vhost-limits', limits: { 'max-connections': 'connections', 'max-queues': 'queues' }, names: vhostsOf },
  { of: 'user', title: 'User', at: 'api/user-limits', limits: { 'max-connections': 'connections', 'max-channels': 'channels' }, names: async () => (await get('api/users', { query: { columns: 'name' } })).map((u) => u.name) },
];

function shownLimits(main, context) {
  const may = context.may(), tables = kinds.map((k) => new Rows(`${k.title}s`, [
    [k.title, (l) => el('span', { class: 'name' }, l.name)], ['Limit', (l) => l.limit], ['At most', (l) => (l.value < 0 ? 'any number' : format.plural(l.value, k.limits[l.limit]?.slice(0, -1) ?? l.limit))],
    ...(may ? [['Actions', (l) => el('span', { class: 'inline' }, button('Set…', () => set(k, l)), button('Clear…', () => clear(k, l), true))]] : [])],
  k.of === 'user' && !context.may('monitoring') ? 'You have no limits; only monitoring users see those of others.' : 'There are none.'));
  const set = async (k, l) => {
    const names = l ? [l.name] : await k.names().catch(() => []);
    dialog(l ? `${l.limit} of ${l.name}` : `Set a limit of a ${k.title.toLowerCase()}`, [l ? '' : [choose('name', k.title, names), choose('limit', 'Limit', Object.keys(k.limits))],
      field('value', 'At most; −1 for any number', { required: true, inputmode: 'numeric', pattern: '-?[0-9]+', value: String(l?.value ?? '') }),
      el('p', { class: 'hint' }, 'Existing ones stay; new ones are refused while above the limit.')], 'Set', async (form) => {
      await request('PUT', path(k.at, l?.name ?? form.get('name'), l?.limit ?? form.get('limit')), { body: { value: Number(form.get('value')) } });
      w.asking.now();
    });
  };
  const clear = (k, l) => dialog(`Clear ${l.limit} of ${l.name}?`, el('p', null, `The limit is ${format.number(l.value)}; without it, any number of ${k.limits[l.limit] ?? l.limit} is allowed.`), 'Clear', async () => {
    await request('DELETE', path(k.at, l.name, l.limit));
    w.asking.now();
  }, true);
  const w = watch(main, context, 'Limits', null, async (signal) => {
    const found = await Promise.all(kinds.map((k) => get(k.at, { signal })));
    kinds.forEach((k, i) => tables[i].show(found[i].flatMap((o) => Object.entries(o.value).map(([limit, value]) => ({ name: o[k.of], limit, value })))));
  });
  if (may) w.tools.append(...kinds.map((k) => button(`Set limit of a ${k.title.toLowerCase()}…`, () => set(k, null))));
  w.body.append(...tables.map((t) => t.element));
  return w.end;
}

export const limits = { title: 'Limits', group: 'Admin', show: shownLimits };

const global = 'global parameter', components = ['shovel', 'federation-upstream', 'federation-upstream-set'], administrators = [global, 'operator_policy', 'vhost-limits'];

const pathOf = (p) => (p.component === global ? path('api/global-parameters', p.name) : path('api/parameters', p.component, p.vhost, p.name));
const valueOf = (p) => redacted(p.value);

function shownParameters(main, context) {
  let asking = null;
  const may = (p) => context.may() || !administrators.includes(p.component) && p.may;
  const done = () => asking.now();
  const set = async (p) => {
    const names = p ? [] : await vhostsOf('policy').catch(() => ['/']);
    const shown = p ? JSON.stringify(valueOf(p), null, 2) : '', hidden = p && shown !== JSON.stringify(p.value, null, 2);
    const component = choose('component', 'Component', context.may() ? [...components, ...administrators] : components);
    const value = el('textarea', { name: 'value', rows: 8, required: true, spellcheck: 'false' });
    value.value = shown;
    dialog(p ? `${p.component} ${p.name}${p.component === global ? '' : ` in ${p.vhost}`}` : 'Add a parameter', [
      p ? '' : [component, choose('vhost', 'Virtual host; global parameters have none', names), field('name', 'Name', { required: true })],
      el('label', null, 'Value, as JSON', value), hidden && el('p', { class: 'error' }, 'Users, passwords and settings of URIs are not shown: enter them again.')], 'Set', async (form) => {
      await request('PUT', pathOf(p ?? { component: form.get('component'), vhost: form.get('vhost'), name: form.get('name') }), { body: { value: parsed(form.get('value'), 'value') } });
      done();
    });
  };
  const remove = (p) => dialog(`Delete ${p.component} ${p.name}?`, el('p', null, p.component === 'shovel' ? 'This deletes the shovel.' : p.component === 'vhost-limits' ? `This removes all limits of virtual host ${p.vhost}.` :
    p.component === 'operator_policy' ? `Operator policy ${p.name} in ${p.vhost} no longer applies; the page Policies shows the number of queues.` : 'Only this parameter is deleted.'), 'Delete', async () => {
    await request('DELETE', pathOf(p));
    done();
  }, true);
  return listOf('Parameters', {
    all: async (vhost, signal) => {
      const [vhosts, local, others] = await Promise.all([vhostsOf('policy'), get('api/parameters', { signal }), get('api/global-parameters', { signal })]);
      return [...local.map((p) => ({ ...p, may: vhosts.includes(p.vhost) })), ...others.map((g) => ({ ...g, component: global, vhost: '' }))].filter((p) => vhost === undefined || p.vhost === vhost);
    },
    key: (p) => JSON.stringify([p.component, p.vhost, p.name]), nothing: 'There are none.',
    columns: [
      { key: 'name', label: 'Name', sort: 'name', always: true, fields: [], cell: (p) => el('span', { class: 'name' }, p.name) }, word('component', 'Component', 'component'), word('vhost', 'Virtual host', 'vhost'),
      { key: 'value', label: 'Value', shown: true, fields: [], cell: (p) => el('code', { class: 'wrap breaks' }, JSON.stringify(valueOf(p))) },
      { key: 'state', label: 'State', shown: true, fields: [], cell: (p) => (p.component.startsWith('federation-') ? 'not running' : '') },
      buttons((p) => [button('Edit…', () => set(p())), button('Delete…', () => remove(p()), true)], may),
    ],
    tools: (again) => {
      asking = again;
      return offered(button('Add parameter…', () => set(null)), 'policy');
    },
  })(main, context);
}

export const parameters = { ...section('Parameters', shownParameters), group: 'Admin', tags: ['policymaker'] };
