// Requests to the API of this broker, and polling while the page is visible.

/** Refusal is a failed request, with the status and the reason of the API; status 0 if there was no answer. */
export class Refusal extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

/** lost is called when the session has ended. */
let lost = () => {};

export function onLost(f) {
  lost = f;
}

/** skew is the number of ms by which the broker's clock is ahead of the browser's; 0 for up to 2 s, as the Date header has whole seconds. */
let skew = 0;

/** brokerNow is the broker's time, in ms. */
export const brokerNow = () => Date.now() + skew;

/** path is an address relative to the page's: the first part as it is, the others escaped. */
export function path(...parts) {
  return parts.map((part, i) => (i === 0 ? part : encodeURIComponent(part))).join('/');
}

/**
 * request sends a request and returns the parsed body of the answer. Options: query, body (sent as JSON), raw (a body sent as it is), form, headers,
 * signal, read (the parser, JSON.parse by default), quiet (a 401 does not end the session).
 * @param {string} method @param {string} address @param {any} [options]
 */
export async function request(method, address, { query, body, raw, form, headers: more, signal, quiet, read = JSON.parse } = {}) {
  const search = new URLSearchParams(Object.entries(query ?? {}).filter(([, v]) => v !== undefined && v !== null));
  const headers = { 'X-Candlemark-Session': '1', Accept: 'application/json', ...more };
  if (body !== undefined || raw) headers['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(address + (search.size ? '?' + search : ''), {
      method, headers, signal, cache: 'no-store', redirect: 'error',
      body: form ? new URLSearchParams(form) : body === undefined ? raw : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refusal(0, 'the broker does not answer');
  }
  const ahead = Date.parse(answer.headers.get('Date')) + 500 - Date.now();
  if (!Number.isNaN(ahead)) skew = Math.abs(ahead) > 2000 ? ahead : 0;
  const text = await answer.text();
  let value = null;
  try {
    value = text ? read(text) : null;
  } catch {
    value = { reason: text.slice(0, 500) };
  }
  if (answer.ok) return value;
  const reason = typeof value?.reason === 'string' ? value.reason : JSON.stringify(value?.reason ?? answer.statusText);
  if (answer.status === 401 && reason === 'Not_Authorized' && !quiet) lost();
  throw new Refusal(answer.status, reason);
}

export const get = (address, options) => request('GET', address, options);

/**
 * poll calls f, with an AbortSignal, at once and then ms (at least 1000) milliseconds after the start of the last call, once that has ended. It
 * pauses while the page is hidden. The interval is at least 20 times the duration of the last call, so that expensive requests are rare, and doubles
 * with each failure in a row, up to 16 times. report is called with each error other than an abort, and with null on success.
 */
export function poll(f, ms, report) {
  let timer = 0, running = null, ended = false, failures = 0;
  const run = async () => {
    clearTimeout(timer);
    if (ended || running || document.hidden) return;
    const began = Date.now(), mine = new AbortController();
    running = mine;
    try {
      await f(mine.signal);
      failures = 0;
      report(null);
    } catch (error) {
      if (error.name !== 'AbortError' && !ended) {
        failures++;
        report(error);
      }
    }
    if (running !== mine) return; // now() has started another call
    running = null;
    const took = Date.now() - began, pause = Math.max(ms, 1000, 20 * took) * 2 ** Math.min(failures, 4);
    if (!ended) timer = setTimeout(run, pause - took);
  };
  const shown = () => run();
  document.addEventListener('visibilitychange', shown);
  run();
  return {
    /** now aborts the running call and starts another at once. */
    now() {
      running?.abort();
      running = null;
      run();
    },
    stop() {
      ended = true;
      clearTimeout(timer);
      running?.abort();
      document.removeEventListener('visibilitychange', shown);
    },
  };
}
