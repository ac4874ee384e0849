// Virtual hosts, and for administrators users with their permissions.

import { scheduledIn } from '../actions.js';
import { get, path, request } from '../api.js';
import { dialog, el } from '../dom.js';
import * as format from '../format.js';
import { button, buttons, choose, field, figure, listOf, section, vhostsOf, word } from '../list.js';

const named = (item) => el('span', { class: 'name' }, item.name);
/** tagsOf normalises a list of tags separated by commas. */
const tagsOf = (text) => text.split(',').map((t) => t.trim()).filter(Boolean).join(',');

function vhosts(main, context) {
  let asking = null;
  const remove = (v) => dialog(`Delete virtual host ${v.name}?`, el('p', null, `All its queues, exchanges, policies and permissions are deleted, and its connections closed. It has ${v.messages ?? 0} messages now.`, scheduledIn([v])), 'Delete', async () => {
    await request('DELETE', path('api/vhosts', v.name));
    asking.now();
  }, true);
  const add = () => dialog('Add a virtual host', [field('name', 'Name', { required: true }), field('description', 'Description'), field('tags', 'Tags, with commas'),
    choose('type', 'Default queue type', ['classic', 'quorum'])], 'Add', async (form) => {
    await request('PUT', path('api/vhosts', form.get('name')), { body: { description: form.get('description'), tags: tagsOf(form.get('tags')), default_queue_type: form.get('type') } });
    asking.now();
  });
  return listOf('Virtual hosts', {
    filters: [], vhosts: false, address: () => 'api/vhosts', fields: ['name', 'messages', 'messages_scheduled'], key: (v) => v.name, nothing: 'There are none that you may see.',
    columns: [
      { key: 'name', label: 'Name', sort: 'name', always: true, fields: [], cell: named }, word('description', 'Description', 'description'), { ...word('tags', 'Tags', 'tags'), cell: (v) => v.tags.join(', ') },
      word('type', 'Default queue type', 'default_queue_type'), figure('ready', 'Ready', 'messages_ready'), figure('unacked', 'Unacked', 'messages_unacknowledged'),
      word('protected', 'Protected', 'protected_from_deletion', { title: 'From deletion' }), ...(context.may() ? [buttons((v) => button('Delete…', () => remove(v()), true))] : []),
    ],
    tools: (again) => {
      asking = again;
      return context.may() && button('Add virtual host…', add);
    },
  })(main, context);
}

function users(main, context) {
  let asking = null;
  const done = () => asking.now();
  const save = (u) => dialog(u ? `User ${u.name}` : 'Add a user', [u ? '' : field('name', 'User name', { required: true }),
    field('password', u ? 'New password; empty keeps the old one' : 'Password', { type: 'password', autocomplete: 'new-password', required: !u }),
    field('tags', 'Tags, with commas: administrator, monitoring, policymaker, management', { value: u ? u.tags.join(', ') : '' })], u ? 'Set' : 'Add', async (form) => {
    const password = form.get('password') ? { password: form.get('password') } : { password_hash: u.password_hash, hashing_algorithm: u.hashing_algorithm };
    await request('PUT', path('api/users', u?.name ?? form.get('name')), { body: { ...password, tags: tagsOf(form.get('tags')) } });
    done();
  });
  const permit = async (u) => {
    const names = await vhostsOf().catch(() => ['/']), of = (vhost) => u.permissions.find((p) => p.vhost === vhost) ?? { configure: '.*', write: '.*', read: '.*' };
    const inputs = ['configure', 'write', 'read'], first = of(names[0]);
    const vhost = el('select', { name: 'vhost', onchange: () => inputs.forEach((i) => { box.querySelector(`input[name=${i}]`).value = of(vhost.value)[i]; }) }, names.map((n) => el('option', { value: n }, n)));
    const box = dialog(`Permissions of ${u.name}`, [el('label', null, 'Virtual host', vhost), inputs.map((i) => field(i, `${i[0].toUpperCase()}${i.slice(1)}, a regular expression`, { value: first[i] })),
      el('label', { class: 'check' }, el('input', { type: 'checkbox', name: 'none' }), 'remove all permissions in this virtual host')], 'Set', async (form) => {
      const at = path('api/permissions', form.get('vhost'), u.name);
      await (form.has('none') ? request('DELETE', at) : request('PUT', at, { body: Object.fromEntries(inputs.map((i) => [i, form.get(i)])) }));
      done();
    });
  };
  const remove = async (u) => {
    const runs = (await get('api/x/schedules', { query: { columns: 'user' } })).filter((s) => s.user === u.name).length;
    dialog(`Delete user ${u.name}?`, [el('p', null, `This also deletes the permissions in ${u.permissions.length} virtual hosts.`),
      runs > 0 && el('p', { class: 'error' }, `${format.plural(runs, 'schedule')} of this user will publish nothing.`)], 'Delete', async () => {
      await request('DELETE', path('api/users', u.name));
      done();
    }, true);
  };
  return listOf('Users', {
    filters: [], vhosts: false, key: (u) => u.name, nothing: 'There are none.',
    all: async (_, signal) => {
      const [all, permissions] = await Promise.all([get('api/users', { signal }), get('api/permissions', { signal })]);
      const of = Map.groupBy ? Map.groupBy(permissions, (p) => p.user) : permissions.reduce((m, p) => m.set(p.user, [...(m.get(p.user) ?? []), p]), new Map());
      return all.map((u) => ({ ...u, permissions: of.get(u.name) ?? [] }));
    },
    columns: [
      { key: 'name', label: 'Name', sort: 'name', always: true, fields: [], cell: named }, { ...word('tags', 'Tags', 'tags'), cell: (u) => u.tags.join(', ') },
      { key: 'permissions', label: 'Permissions (configure, write, read)', shown: true, fields: [], cell: (u) => el('ul', { class: 'plain' },
        u.permissions.length === 0 ? el('li', null, 'none') : u.permissions.map((p) => el('li', null, `${p.vhost}: ${[p.configure, p.write, p.read].map((x) => x || '–').join(', ')}`))) },
      { key: 'password', label: 'Has password', shown: true, fields: [], cell: (u) => (u.password_hash ? 'yes' : 'no') },
      buttons((u) => [button('Edit…', () => save(u())), button('Permissions…', () => permit(u())), button('Delete…', () => remove(u()), true)]),
    ],
    tools: (again) => {
      asking = again;
      return button('Add user…', () => save(null));
    },
  })(main, context);
}

export const virtualHosts = { ...section('Virtual hosts', vhosts), group: 'Admin' };
export const people = { ...section('Users', users), group: 'Admin', tags: ['administrator'] };
