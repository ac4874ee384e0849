// Purging and deleting of one or several queues, after a confirmation dialog.

import { path, request } from './api.js';
import { dialog, el } from './dom.js';
import * as format from './format.js';

const sum = (items, key) => items.reduce((n, q) => n + (q[key] ?? 0), 0);
const messagesIn = (items) => format.plural(sum(items, 'messages'), 'message');
export const scheduledIn = (items, n = sum(items, 'messages_scheduled')) => n > 0 && ` Plus ${format.plural(n, 'scheduled message')}.`;

/** eachOf calls ask for each queue in turn, and returns the failures to show, null for none. */
async function eachOf(items, ask, asking) {
  const failed = [];
  for (const q of items) {
    try {
      await ask(q);
    } catch (error) {
      failed.push(el('li', null, `${q.name}: ${error.message}`));
    }
  }
  asking.now();
  return failed.length === 0 ? null : el('div', { class: 'error' }, el('p', null, `${format.plural(failed.length, 'queue')} of ${format.number(items.length)} refused:`), el('ul', null, failed));
}

function namesOf(items) {
  const most = 10;
  return el('ul', { class: 'names', tabindex: 0 }, items.slice(0, most).map((q) => el('li', null, `${q.name} (${format.plural(q.messages ?? 0, 'message')})`)),
    items.length > most && el('li', null, `and ${format.number(items.length - most)} more`));
}

/** purgeAll drops the ready messages of queues. */
export function purgeAll(items, asking) {
  dialog(`Purge ${format.plural(items.length, 'queue')}?`, [el('p', null, `Ready messages are dropped, not dead-lettered: up to ${messagesIn(items)}, excluding unacked ones.`, scheduledIn(items)), namesOf(items)],
    'Purge', () => eachOf(items, (q) => request('DELETE', path('api/queues', q.vhost, q.name, 'contents')), asking), true);
}

/** deleteAll deletes queues. */
export function deleteAll(items, asking) {
  const guard = (name, label) => el('label', { class: 'check' }, el('input', { type: 'checkbox', name, checked: true }), label);
  dialog(`Delete ${format.plural(items.length, 'queue')}?`, [el('p', null, `All messages in them are lost: ${messagesIn(items)} now.`, scheduledIn(items)), namesOf(items),
    guard('if-empty', 'only if empty'), guard('if-unused', 'only if without consumers')],
  'Delete', (form) => eachOf(items, (q) => request('DELETE', path('api/queues', q.vhost, q.name), { query: Object.fromEntries(form.entries().map(([k]) => [k, 'true'])) }), asking), true);
}
