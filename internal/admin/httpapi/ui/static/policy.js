// Policies and the consequences of their changes, as text. Independent of the page.

import { duration, moment, number, plural } from './format.js';
import { keys } from './keys.js';

const times = keys.filter(([, values]) => values === 'ms').map(([name]) => name);

/** parsed parses JSON typed by the user. */
export function parsed(text, what = 'definition') {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The ${what} is not JSON: ${error.message}`);
  }
}

/** previewSentences returns sentences that describe a preview. */
export function previewSentences(p) {
  const m = p.messages, messages = (n) => `${plural(n, 'message')}.`;
  const to = p.exchanges ? `${plural(p.queues, 'queue')} and ${plural(p.exchanges, 'exchange')}` : plural(p.queues, 'queue');
  const said = [p.clear ? `Applies to ${to} now.` : p.replaces ? `Replaces the policy of that name. Affects ${to}.` : `Applies to ${to}.`];
  if (p.warning) said.push(`Without effect: ${p.warning}.`);
  for (const l of p.loses ?? []) said.push(`No longer applies: policy ${l.name}, for ${plural(l.objects, 'object')}.`);
  if (m.retimed) said.push(`Deadline changes: ${messages(m.retimed)}`);
  if (m.restored) said.push(`Original deadline restored: ${messages(m.restored)}`);
  if (m.expire_at_once) said.push(`Expire at once: ${m.at_most ? 'up to ' : ''}${messages(m.expire_at_once)}`);
  if (m.dropped_at_once) said.push(`Dropped at once by the length limit: ${messages(m.dropped_at_once)}`);
  if (m.undoable) said.push(`An undo restores the present deadline: ${plural(m.undoable, 'message')}${m.undoable_until ? `, before ${moment(m.undoable_until)}` : ''}.`);
  if (p.queues_unanswered) said.push(`No answer from: ${plural(p.queues_unanswered, 'queue')}.`);
  return said;
}

/** setting is the value of a key as text: times as durations, with the ms if the duration is rounded. */
export function setting(key, v) {
  if (v === null || v === undefined) return 'none';
  if (typeof v !== 'number' || !times.includes(key)) return typeof v === 'string' ? v : JSON.stringify(v);
  const shown = v < 1e3 ? 1 : v < 60e3 ? 100 : v < 3600e3 ? 1e3 : v < 86400e3 ? 60e3 : 3600e3;
  return v % shown === 0 ? duration(v) : `${duration(v)} (${number(v)} ms)`;
}

/** change describes the change of a key: "max-length: none → 5". */
export const change = (s) => `${s.key}: ${setting(s.key, s.before)} → ${setting(s.key, s.after)}`;

/** definitionOf makes a definition from rows [key, value]: a value that is JSON other than null is parsed, any other value is a string. */
export function definitionOf(rows) {
  const entries = [];
  for (const [key, typed] of rows) {
    const name = key.trim();
    if (name === '') {
      if (typed.trim() !== '') throw new Error('A value has no key.');
      continue;
    }
    if (entries.some(([other]) => other === name)) throw new Error(`The key ${name} is set twice.`);
    entries.push([name, valueOf(typed)]);
  }
  return Object.fromEntries(entries);
}

function valueOf(typed) {
  try {
    const value = JSON.parse(typed);
    return value === null ? typed : value;
  } catch {
    return typed;
  }
}

/** rowsOf is the inverse of definitionOf: strings that would be parsed as something else are quoted. */
export function rowsOf(definition) {
  return Object.entries(definition).map(([key, value]) => [key, typeof value === 'string' && valueOf(value) === value ? value : JSON.stringify(value)]);
}

/** changed returns a sentence that describes a change in the history. */
export function changed(c) {
  const kind = c.operator ? 'operator policy' : 'policy';
  const what = (p) => `“${p.pattern}”, ${p['apply-to']}, priority ${number(p.priority)}, ${Object.entries(p.definition).map(([k, v]) => `${k}: ${setting(k, v)}`).join(', ')}`;
  if (!c.before) return `${kind} ${c.name} set: ${what(c.after)}`;
  if (!c.after) return `${kind} ${c.name} deleted: ${what(c.before)}`;
  return `${kind} ${c.name} changed: ${what(c.before)} → ${what(c.after)}`;
}
