// The contents of a message: its history from x-death, its payload as text, JSON and hex. Independent of the page.

import { number, plural } from './format.js';

/** exact parses JSON with integers beyond 2^53 as BigInt, if the browser exposes their source text. */
export function exact(text) {
  return JSON.parse(text, /** @type {any} */ ((_, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context.source) : value));
}

/** pretty is a value as JSON on several lines, or on one if indent is 0. */
export function pretty(value, indent = 2) {
  return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? /** @type {any} */ (JSON).rawJSON?.(String(v)) ?? String(v) : v), indent);
}

/** shown is a value of a header or property on one line: strings as they are, other values as JSON. */
export function shown(value) {
  return typeof value === 'string' || typeof value === 'bigint' ? String(value) : pretty(value, 0);
}

/** payloadOf decodes the payload of a message of the API into bytes. */
export function payloadOf(message) {
  if (message.payload_encoding !== 'base64') return new TextEncoder().encode(message.payload ?? '');
  return Uint8Array.from(atob(message.payload ?? ''), (c) => c.charCodeAt(0));
}

/** asText decodes UTF-8, null if the bytes are invalid. cut: the end is missing, so the last character may be incomplete. */
export function asText(bytes, cut = false) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch {
    return null;
  }
}

/** asJSON is a JSON text on several lines, null if the text is not JSON. */
export function asJSON(text) {
  try {
    return pretty(exact(text));
  } catch {
    return null;
  }
}

/** hex is a hex dump with 16 bytes per line: offset, bytes, printable ASCII characters. */
export function hex(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = [...bytes.subarray(at, at + 16)], codes = part.map((b) => b.toString(16).padStart(2, '0'));
    const columns = `${codes.slice(0, 8).join(' ').padEnd(23)}  ${codes.slice(8).join(' ').padEnd(23)}`;
    lines.push(`${at.toString(16).padStart(8, '0')}  ${columns}  ${part.map((b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : '.')).join('')}`);
  }
  return lines.join('\n');
}

const reasons = {
  expired: 'expired', rejected: 'was rejected', maxlen: 'was dropped by the length limit', delivery_limit: 'was delivered too often', hops: 'had been forwarded too often', copies: 'had been copied too often', rule_failed: 'could not be filtered',
};

/**
 * story is the history of a message from x-death, the oldest step first: [{text, at}], at is a time in ms to show after the text, or null. It is empty if
 * x-death is missing or malformed: clients may set it to any value.
 */
export function story(message) {
  const deaths = message.properties?.headers?.['x-death'];
  if (!Array.isArray(deaths)) return [];
  const known = deaths.filter((d) => d !== null && typeof d === 'object' && typeof d.queue === 'string' && typeof d.reason === 'string');
  if (known.length === 0) return [];
  const steps = [];
  for (const d of known.toReversed()) {
    const keys = Array.isArray(d['routing-keys']) ? d['routing-keys'].filter((k) => typeof k === 'string') : [];
    steps.push({ text: `Entered queue ${d.queue} through ${exchange(d.exchange)}${keysOf(keys)}.`, at: null });
    const at = momentOf(d.time), times = Number(d.count) > 1 ? `, ${plural(Number(d.count), 'time')}${at === null ? '' : ', first'}` : '';
    const ttl = typeof d['original-expiration'] === 'string' ? `, with its own TTL of ${/^\d+$/.test(d['original-expiration']) ? number(d['original-expiration']) : d['original-expiration']} ms` : '';
    steps.push({ text: `There it ${reasons[d.reason] ?? `died (${d.reason})`}${ttl}${times}${at === null ? '.' : ''}`, at });
  }
  steps.push({ text: `Entered this queue through ${exchange(message.exchange)}${keysOf([message.routing_key])}.`, at: null });
  return steps;
}

const exchange = (name) => (typeof name === 'string' && name !== '' ? `exchange ${name}` : 'the default exchange');

function keysOf(keys) {
  if (keys.length === 0) return '';
  return `, routing key${keys.length > 1 ? 's' : ''} ${keys.map((k) => (k === '' ? '(empty)' : k)).join(', ')}`;
}

/** momentOf converts a time of x-death from seconds to ms, null if it is invalid. */
function momentOf(time) {
  const ms = Number(time) * 1e3;
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 && time !== null && time !== '' ? ms : null;
}
