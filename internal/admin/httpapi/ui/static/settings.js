// The effective settings of a queue, their sources, and the messages due in it. Independent of the page.

/** defaults are the values of unset settings (docs: queues, TTL, leases, dead letters). */
const defaults = {
  'message-ttl': 'none', expires: 'none', 'max-length': 'none', 'max-length-bytes': 'none', overflow: 'drop-head', 'dead-letter-exchange': 'none', 'consumer-timeout': 'none',
  'delayed-messages': false, 'expires-renewed-by': 'none',
};

/**
 * settings has a row for each key: {key, value, source, argument, policy, operator, note}. explained is the API's explanation of the queue's
 * policies, null for users who may not read it. Then policy is the combined value of policy and operator policy, and value and source are null
 * if an argument and a policy both set the key.
 */
export function settings(queue, explained) {
  const rows = explained ? explained.settings.map((s) => ({
    key: s.key, value: s.value, source: s.source, argument: s.argument, policy: s.policy, operator: s.operator_policy, note: s.note,
  })) : unexplained(queue);
  const said = new Set(rows.map((r) => r.key));
  for (const [key, value] of Object.entries(defaults)) {
    if (!said.has(key)) rows.push({ key, value, source: 'default', argument: null, policy: null, operator: null, note: '' });
  }
  return rows;
}

function unexplained(queue) {
  const args = new Map(Object.entries(queue.arguments ?? {}).map(([k, v]) => [k.replace(/^x-/, ''), v]));
  const policies = new Map(Object.entries(queue.effective_policy_definition ?? {}));
  return [...new Set([...args.keys(), ...policies.keys()])].sort().map((key) => {
    const argument = args.get(key) ?? null, policy = policies.get(key) ?? null, both = argument !== null && policy !== null;
    return { key, argument, policy, operator: null, value: both ? null : argument ?? policy, source: both ? null : policy === null ? 'argument' : 'policies', note: '' };
  });
}

/** says are the values of a key in the arguments and the policies of a queue, of which one is effective. */
export function says(queue, key) {
  return [queue.arguments?.[`x-${key}`], queue.effective_policy_definition?.[key]].filter((v) => v !== undefined && v !== null);
}

const classes = ['within_1s', 'within_1m', 'within_1h', 'within_1d', 'later'];
const horizons = [1e3, 60e3, 3600e3, 86400e3];

/**
 * dueIn has the messages due in a queue, in the form of /api/x/ahead: expiring and scheduled messages from the queue's histograms, the end of its
 * lease, and the given ends of locks, in ms. Times in the past count as due within the first second.
 */
export function dueIn(queue, locks, now) {
  const none = () => classes.map(() => 0), counted = (histogram) => classes.map((c) => histogram?.[c] ?? 0);
  const at = (moments) => moments.reduce((counts, moment) => {
    const i = horizons.findIndex((h) => moment - now <= h);
    counts[i < 0 ? horizons.length : i]++;
    return counts;
  }, none());
  const dies = (says(queue, 'dead-letter-exchange').length > 0 || says(queue, 'dead-letter-queue').some(Boolean)) && says(queue, 'dead-letter-expired')[0] !== false;
  return {
    horizons_ms: horizons,
    counts: {
      dropped: dies ? none() : counted(queue.expiry_histogram), dead_lettered: dies ? counted(queue.expiry_histogram) : none(),
      scheduled: counted(queue.scheduled_histogram), queue_ends: at(queue.lease_expires_at ? [Date.parse(queue.lease_expires_at)] : []), lock_returns: at(locks),
    },
  };
}

/** msOf is a number with a unit (ms, s, min, h, d) in ms; NaN for anything else. */
export function msOf(n, unit) {
  return /^\d+(\.\d+)?$/.test(n.trim()) ? Math.round(Number(n) * { ms: 1, s: 1e3, min: 60e3, h: 3600e3, d: 86400e3 }[unit]) : NaN;
}

/** redacted is the value of a parameter without users, passwords and query parameters in addresses, as the API shows addresses of shovels. */
export function redacted(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const without = (address) => (typeof address === 'string' ? address.replace(/^([^:]*:\/\/)?(?:[^]*@)?([^?]*)[^]*$/, '$1$2') : address);
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, ['src-uri', 'dest-uri', 'uri'].includes(key) ? (Array.isArray(v) ? v.map(without) : without(v)) : v]));
}

/** shovelOf makes the parameter of a shovel from a form: an empty routing key is left out, numeric texts become numbers. */
export function shovelOf(form) {
  const value = { 'ack-mode': form['ack-mode'], 'reconnect-delay': Number(form['reconnect-delay']), 'src-delete-after': /^\d+$/.test(form['src-delete-after']) ? Number(form['src-delete-after']) : form['src-delete-after'] };
  for (const p of ['src', 'dest']) {
    value[`${p}-uri`] = form[`${p}-uri`];
    value[`${p}-${form[`${p}-kind`]}`] = form[`${p}-name`];
    if (form[`${p}-kind`] === 'exchange' && form[`${p}-key`] !== '') value[`${p}-exchange-key`] = form[`${p}-key`];
  }
  return value;
}
