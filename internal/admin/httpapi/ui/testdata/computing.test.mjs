// What the pages compute. ui_test.go runs this with node's test runner, and says where the modules are.
import { mock, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

const from = (name) => import(`${process.env.CANDLEMARK_TEST_UI}/${name}`);
const { number, short, rate, bytes, duration, countdown, relative, moment, plural } = await from('format.js');
const { ticks, timeTicks, ratesOf, quantile, since } = await from('scale.js');
const { Axis, height, stack } = await from('timeaxis.js');
const { read, write, query, sorted, columnsOf, exactly, at, pageOf } = await from('tablestate.js');
const { parse, href } = await from('address.js');
const { exact, shown, payloadOf, asText, asJSON, hex, story } = await from('message.js');
const { settings, says, dueIn, msOf, redacted, shovelOf } = await from('settings.js');

const { parsed, previewSentences, change, changed, definitionOf, rowsOf } = await from('policy.js');

const { box, curve, cyclesOf, deadEnd, flows, fold, gap, identity, labels, layout, line, ranksOf } = await from('flowgraph.js');

const { operationsOf, outline, parseYAML } = await from('openapi.js');

const { EventStream, logged, spoken } = await from('eventstream.js');

const equal = (f, table) => {
  for (const [input, want] of table) assert.equal(f(...[input].flat()), want, JSON.stringify(input));
};

test('numbers', () => {
  equal(number, [[0, '0'], [999, '999'], [1000, '1,000'], [1234567, '1,234,567'], [-1234.5, '−1,234.5'], [null, '–'], [NaN, '–']]);
  equal(short, [[0, '0'], [999, '999'], [1000, '1k'], [1234, '1.2k'], [123456, '123k'], [999999, '1M'], [5e9, '5G'], [0.25, '0.3'], [undefined, '–']]);
  equal(rate, [[0, '0/s'], [0.04, '0/s'], [3.14, '3.1/s'], [1234.5, '1,235/s'], [null, '–']]);
  equal(bytes, [[0, '0 B'], [1023, '1023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'], [5e9, '4.7 GiB'], [2 ** 60, '1024 PiB'], [null, '–']]);
  equal(plural, [[[1, 'queue'], '1 queue'], [[0, 'queue'], '0 queues'], [[2000, 'match', 'matches'], '2,000 matches']]);
});

test('durations and moments', () => {
  equal(duration, [
    [0, '0 ms'], [0.25, '0.25 ms'], [2.5, '2.5 ms'], [850, '850 ms'], [999.6, '1 s'], [12345, '12.3 s'], [59949, '59.9 s'], [59951, '1 min'],
    [60e3, '1 min'], [250e3, '4 min 10 s'], [3599e3, '59 min 59 s'], [3600e3, '1 h'], [3 * 3600e3 + 300e3, '3 h 5 min'], [86400e3, '1 d'],
    [2 * 86400e3 + 4 * 3600e3, '2 d 4 h'], [365 * 86400e3, '1 y'], [400 * 86400e3, '1 y 35 d'], [-1500, '−1.5 s'], [null, '–'],
  ]);
  equal(countdown, [[-1, 'now'], [0, 'now'], [9349, '0:09.3'], [9999, '0:09.9'], [10000, '0:10'], [250e3, '4:10'], [3 * 3600e3 + 5e3, '3:00:05'], [49 * 3600e3, '2 d 1 h']]);
  equal(relative, [[[1000, 1200], 'now'], [[6000, 1000], 'in 5 s'], [[1000, 181000], '3 min ago'], [[1000, 62400], '1 min 1 s ago']]);
  assert.match(moment(1800000000123), /^2027-01-1\d \d\d:\d\d:00\.123 UTC[+−]\d\d:\d\d$/);
});

test('ticks are round and reach beyond the largest value', () => {
  equal((max) => ticks(max).join(' '), [[0, '0 1'], [1, '0 0.5 1'], [7, '0 2 4 6 8'], [100, '0 50 100'], [0.03, '0 0.01 0.02 0.03'], [1234, '0 500 1000 1500']]);
  for (let max = 0.001; max < 1e9; max *= 1.37) {
    const all = ticks(max);
    assert.ok(all.at(-1) >= max * 0.999 && all.length <= 6 && all.length >= 2, `${max}: ${all}`);
  }
  assert.deepEqual(timeTicks(1000, 61000, 6), [10000, 20000, 30000, 40000, 50000, 60000]);
  assert.ok(timeTicks(0, 864e5, 6).length <= 7);
});

test('rates are changes between samples', () => {
  const samples = [[30, 9], [20, 5], [10, 100], [5, 90]].map(([at, sample]) => ({ timestamp: at * 1000, sample }));
  assert.deepEqual(ratesOf(samples), [[10000, 2], [30000, 0.4]]);
  assert.deepEqual(ratesOf([]), []);
});

test('quantiles of a histogram', () => {
  equal((q) => quantile(q, [1, 2, 5], [50, 40, 9, 1]), [[0.5, 1], [0.51, 2], [0.99, 5], [1, Infinity]]);
  assert.equal(quantile(0.5, [1], [0, 0]), null);
  assert.deepEqual(since([1, 2], [3, 2]), [2, 0]);
  assert.deepEqual(since([5, 2], [3, 2]), [3, 2]);
  assert.deepEqual(since(null, [3, 2]), [3, 2]);
});

const horizons = [1e3, 10e3, 60e3, 600e3, 3600e3, 6 * 3600e3, 86400e3, 7 * 86400e3, 30 * 86400e3];

test('the axis goes from now to never', () => {
  const axis = new Axis(horizons);
  assert.deepEqual(axis.ticks().map((t) => t.label), ['now', '1 s', '1 min', '1 h', '1 d', '30 d', 'never']);
  let before = -1;
  for (let ms = 0; ms < 1e12; ms = ms * 1.7 + 1) {
    const at = axis.at(ms);
    assert.ok(at >= before && at <= 1, `${ms} is at ${at}, behind ${before}`);
    before = at;
  }
  assert.ok(axis.at(Infinity) < axis.never().from);
  const classes = axis.classes();
  assert.equal(classes.length, horizons.length + 1);
  assert.equal(classes[0].from, 0);
  assert.deepEqual(classes.map((c) => c.label), [
    'within 1 s', '1 s to 10 s', '10 s to 1 min', '1 min to 10 min', '10 min to 1 h', '1 h to 6 h', '6 h to 1 d', '1 d to 7 d', '7 d to 30 d', 'later than 30 d']);
  classes.forEach((c, i) => {
    assert.ok(c.to - c.from > 0.02, c.label);
    if (i > 0) assert.equal(c.from, classes[i - 1].to);
  });
});

test('heights show one beside a million, and shares add up', () => {
  assert.equal(height(0, 10), 0);
  assert.ok(height(1, 1e6) > 0.1 && height(1, 1e6) < height(10, 1e6) && height(1e6, 1e6) === 1 && height(1, 1) === 1);
  assert.deepEqual(stack([0, 0], 100, 2), [0, 0]);
  assert.deepEqual(stack([3, 1, 0], 100, 2), [75, 25, 0]);
  assert.deepEqual(stack([1, 1e6], 100, 2), [2, 98]);
});

const spec = {
  columns: [{ key: 'name', sort: 'name', always: true }, { key: 'ready', sort: 'messages_ready', shown: true, desc: true }, { key: 'type' },
    { key: 'next', sort: 'next_expiry', needs: { expires_within: '9' } }],
  filters: ['type', 'expires_within'], size: 100,
};

test('the state of a table goes into the address and comes back', () => {
  const state = read(new URLSearchParams(''), spec);
  assert.deepEqual(state, { page: 1, size: 100, sort: null, desc: false, name: '', regex: false, filters: {}, cols: null });
  assert.equal(write(state, spec).toString(), '');
  for (const text of ['name=a%26b%23&regex=1&type=quorum&sort=ready&desc=1&page=3&size=25&cols=name%2Ctype', 'type=', 'sort=name']) {
    assert.equal(write(read(new URLSearchParams(text), spec), spec).toString(), text);
  }
  for (const text of ['page=0', 'page=x', 'page=1e3', 'size=7', 'sort=type', 'sort=nothing&desc=1', 'cols=nothing', 'desc=1', 'other=1']) {
    assert.equal(write(read(new URLSearchParams(text), spec), spec).toString(), '', text);
  }
  assert.deepEqual(columnsOf(state, spec).map((c) => c.key), ['name', 'ready']);
  assert.deepEqual(columnsOf({ ...state, cols: ['type'] }, spec).map((c) => c.key), ['name', 'type']);
});

test('the API is asked for the state', () => {
  const state = read(new URLSearchParams('name=x&regex=1&sort=next&type=quorum&page=2'), spec);
  assert.deepEqual(query(state, spec), { page: 2, page_size: 100, sort: 'next_expiry', natural: 'true', expires_within: '9', name: 'x', use_regex: 'true', type: 'quorum' });
  assert.deepEqual(query(read(new URLSearchParams('sort=next&desc=1&expires_within=5'), spec), spec),
    { page: 1, page_size: 100, sort: 'next_expiry', natural: 'true', sort_reverse: 'true', expires_within: '5' });
  assert.deepEqual(query(read(new URLSearchParams(), spec), spec), { page: 1, page_size: 100, sort: 'name', natural: 'true' });
  const [name, ready] = spec.columns;
  let s = sorted({ ...state, page: 4 }, ready);
  assert.deepEqual([s.sort, s.desc, s.page], ['ready', true, 1]);
  s = sorted(s, ready);
  assert.deepEqual([s.sort, s.desc], ['ready', false]);
  s = sorted(s, ready);
  assert.deepEqual([s.sort, s.desc], [null, false]);
  assert.deepEqual([sorted(s, name).sort, sorted(s, name).desc], ['name', false]);
});

test('an expression for names matches these and no others', () => {
  const names = ['a.b', 'x*(y)', '[z]\\', 'plain', '{1}|^$'];
  const pattern = new RegExp(exactly(names));
  for (const name of names) assert.ok(pattern.test(name) && new RegExp(exactly([name])).test(name), name);
  for (const name of ['aXb', 'plain2', ' plain', 'x', '']) assert.ok(!pattern.test(name), name);
});

test('addresses name a page and its state', () => {
  const at = parse('#/queues/%2F/a%2Fb?x=1&y=%26');
  assert.deepEqual([at.parts, at.params.get('x'), at.params.get('y')], [['queues', '/', 'a/b'], '1', '&']);
  assert.deepEqual(parse('').parts, []);
  assert.deepEqual(parse('#/%zz').parts, ['%zz']);
  assert.equal(href(['queues', '/', 'a/b ?#'], new URLSearchParams({ x: '&' })), '#/queues/%2F/a%2Fb%20%3F%23?x=%26');
  assert.equal(href(['queues']), '#/queues');
});

const { brokerNow, path, poll, request } = await from('api.js');

/** browser stands in for what api.js finds in one. */
const browser = { hidden: false, f: null, addEventListener(_, f) { this.f = f; }, removeEventListener() { this.f = null; } };

test('a page asks at most once a second, and not while it is hidden', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1e12 });
  globalThis.document = browser;
  const asked = [], reported = [];
  let takes = 0, fails = null;
  const p = poll(async (signal) => {
    asked.push(Date.now() - 1e12);
    if (takes) mock.timers.setTime(Date.now() + takes);
    signal.throwIfAborted();
    if (fails) throw fails;
  }, 100, (error) => reported.push(error?.message ?? null));
  const pass = async (ms) => {
    for (let i = 0; i <= ms / 100; i++) {
      if (i > 0) mock.timers.tick(100);
      for (let turn = 0; turn < 5; turn++) await null;
    }
  };
  await pass(3500);
  assert.deepEqual(asked, [0, 1000, 2000, 3000]);
  browser.hidden = true;
  await pass(5000);
  assert.deepEqual(asked.splice(0).length, 4);
  browser.hidden = false;
  browser.f();
  await pass(500);
  assert.equal(asked.splice(0).length, 1);
  fails = new Error('refused'); // it is asked more and more seldom
  await pass(20000);
  assert.equal(asked.splice(0).length, 4);
  assert.equal(reported.at(-1), 'refused');
  fails = null;
  await pass(20000);
  assert.equal(reported.at(-1), null);
  takes = 500; // as what is expensive
  asked.length = 0;
  p.now();
  await pass(25000);
  assert.equal(asked.splice(0).length, 3);
  p.stop();
  await pass(60000);
  assert.equal(asked.length, 0);
  assert.equal(browser.f, null);
  mock.timers.reset();
});

test('requests have the header of the pages, and errors the text of the API', async () => {
  let sent = null;
  const answers = (status, body) => {
    globalThis.fetch = async (address, options) => {
      sent = { address, ...options };
      return new Response(body, { status, headers: { Date: new Date(Date.now() + 3600e3).toUTCString() } });
    };
  };
  answers(200, '{"a":1}');
  assert.deepEqual(await request('GET', path('api/queues', '/', 'a/b?'), { query: { page: 1, none: null } }), { a: 1 });
  assert.equal(sent.address, 'api/queues/%2F/a%2Fb%3F?page=1');
  assert.equal(sent.headers['X-Candlemark-Session'], '1');
  assert.ok(Math.abs(brokerNow() - Date.now() - 3600e3) < 2000, 'the clock of the broker counts');
  answers(204, null);
  assert.equal(await request('DELETE', 'api/x'), null);
  answers(400, '{"error":"bad_request","reason":"not like that"}');
  await assert.rejects(request('PUT', 'api/x', { body: {} }), { status: 400, message: 'not like that' });
  answers(400, '{"error":"bad_request","reason":["not_boolean",7]}');
  await assert.rejects(request('PUT', 'api/x'), { message: '["not_boolean",7]' });
  answers(502, '<h1>proxy</h1>');
  await assert.rejects(request('GET', 'api/x'), { status: 502, message: '<h1>proxy</h1>' });
  globalThis.fetch = async () => { throw new TypeError('Failed to fetch'); };
  await assert.rejects(request('GET', 'api/x'), { status: 0, message: 'the broker does not answer' });
});

test('payloads are text, JSON or bytes', () => {
  const bytes = (payload, encoding = 'string') => payloadOf({ payload, payload_encoding: encoding });
  assert.equal(asText(bytes('aé<b>')), 'aé<b>');
  assert.deepEqual([...bytes('AP8=', 'base64')], [0, 255]);
  assert.equal(asText(bytes('AP8=', 'base64')), null);
  assert.equal(asText(new TextEncoder().encode('aé').subarray(0, 2), true), 'a');
  assert.equal(asText(new TextEncoder().encode('aé').subarray(0, 2)), null);
  assert.equal(asText(new Uint8Array()), '');
  assert.equal(asJSON('{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}');
  assert.equal(asJSON('{'), null);
  assert.equal(hex(new Uint8Array()), '');
  assert.equal(hex(new TextEncoder().encode('0123456789abcdef<\n')),
    '00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef\n00000010  3c 0a                                             <.');
});

test('values of headers', () => {
  equal(shown, [['<b>', '<b>'], [[7], '7'], [[null], 'null'], [[{ a: [1, 'x'] }], '{"a":[1,"x"]}'], [[true], 'true'], ['', ''], [[0.5], '0.5']]);
  if (typeof JSON.rawJSON === 'function') assert.equal(shown(exact('{"n":9007199254740993,"f":0.5,"s":"1"}')), '{"n":9007199254740993,"f":0.5,"s":"1"}');
  assert.equal(shown(2n ** 60n), '1152921504606846976');
  assert.equal(exact('[1]')[0], 1);
});

test('x-death reads as a story, the oldest first', () => {
  const deaths = [
    { count: 1, exchange: 'dlx', queue: 'dead', reason: 'rejected', 'routing-keys': ['a', ''], time: 1800000001 },
    { count: 3, exchange: '', queue: 'orders', reason: 'expired', 'original-expiration': '1500', 'routing-keys': ['orders'], time: 1800000000 },
  ];
  assert.deepEqual(story({ exchange: '', routing_key: 'end', properties: { headers: { 'x-death': deaths } } }), [
    { text: 'Entered queue orders through the default exchange, routing key orders.', at: null },
    { text: 'There it expired, with its own TTL of 1,500 ms, 3 times, first', at: 1800000000000 },
    { text: 'Entered queue dead through exchange dlx, routing keys a, (empty).', at: null },
    { text: 'There it was rejected', at: 1800000001000 },
    { text: 'Entered this queue through the default exchange, routing key end.', at: null },
  ]);
  for (const other of [undefined, null, 'x', 7, [], [null], [7], [{}], { queue: 'q' }]) assert.deepEqual(story({ properties: { headers: { 'x-death': other } } }), [], JSON.stringify(other));
  assert.deepEqual(story({ properties: {} }), []);
  const odd = story({ exchange: 'e', routing_key: '', properties: { headers: { 'x-death': [{ queue: 'q', reason: '<b>', count: 'x', time: 'soon', 'routing-keys': 7 }] } } });
  assert.deepEqual(odd.map((s) => s.text), ['Entered queue q through the default exchange.', 'There it died (<b>).', 'Entered this queue through exchange e, routing key (empty).']);
  assert.equal(odd[1].at, null);
  assert.equal(story({ properties: { headers: { 'x-death': [{ queue: 'q', reason: 'hops', count: 2 }] } } })[1].text, 'There it had been forwarded too often, 2 times.');
});

test('settings say whose they are', () => {
  const queue = { arguments: { 'x-message-ttl': 9, 'x-queue-type': 'classic' }, effective_policy_definition: { 'message-ttl': 5, overflow: 'reject-publish' } };
  const by = (rows) => Object.fromEntries(rows.map((r) => [r.key, [r.value, r.source]]));
  const plain = by(settings(queue, null));
  assert.deepEqual([plain['message-ttl'], plain['queue-type'], plain.overflow, plain.expires], [[null, null], ['classic', 'argument'], ['reject-publish', 'policies'], ['none', 'default']]);
  const explained = settings(queue, { settings: [{ key: 'message-ttl', value: 5, source: 'policy', argument: 9, policy: 5, operator_policy: 7, note: 'n' }] });
  assert.deepEqual(explained[0], { key: 'message-ttl', value: 5, source: 'policy', argument: 9, policy: 5, operator: 7, note: 'n' });
  assert.deepEqual(by(explained).overflow, ['drop-head', 'default']);
  assert.deepEqual(says(queue, 'message-ttl'), [9, 5]);
  assert.deepEqual(says({}, 'expires'), []);
});

test('what is due in a queue', () => {
  const queue = {
    expiry_histogram: { within_1s: 1, within_1m: 2, within_1h: 3, within_1d: 4, later: 5 }, scheduled_histogram: { within_1s: 0, within_1m: 0, within_1h: 6, within_1d: 0, later: 0 },
    lease_expires_at: '2027-01-15T08:00:00.000+00:00',
  };
  const now = Date.parse(queue.lease_expires_at) - 1800e3, due = dueIn(queue, [now - 5, now + 1000, now + 1001, now + 1e12], now);
  assert.deepEqual(due.counts, { dropped: [1, 2, 3, 4, 5], dead_lettered: [0, 0, 0, 0, 0], scheduled: [0, 0, 6, 0, 0], queue_ends: [0, 0, 1, 0, 0], lock_returns: [2, 1, 0, 0, 1] });
  assert.equal(new Axis(due.horizons_ms).classes().length, 5);
  assert.deepEqual(dueIn({ ...queue, arguments: { 'x-dead-letter-exchange': '' } }, [], now).counts.dead_lettered, [1, 2, 3, 4, 5]);
  assert.deepEqual(dueIn({ ...queue, arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-expired': false } }, [], now).counts.dropped, [1, 2, 3, 4, 5]);
});

test('durations that are typed', () => {
  equal(msOf, [[['1.5', 's'], 1500], [[' 10 ', 'min'], 600000], [['0', 'ms'], 0], [['2', 'd'], 172800000]]);
  for (const none of ['', '-1', 'x', '1e3', '.5']) assert.ok(Number.isNaN(msOf(none, 's')), none);
});

test('a page of what the API lists all at once', () => {
  const items = ['b', 'A', 'ab', 'c'].map((name, i) => ({ name, type: 'x', messages_ready: [3, 10, 2, 0][i] }));
  const names = (text) => {
    const state = { ...read(new URLSearchParams(text), spec), size: 2 }, page = pageOf(items, state, spec);
    return [page.items.map((i) => i.name).join(' '), page.page, page.page_count, page.item_count, page.filtered_count];
  };
  assert.deepEqual(names(''), ['b A', 1, 2, 2, 4]);
  assert.deepEqual(names('page=2'), ['ab c', 2, 2, 2, 4]);
  assert.deepEqual(names('page=9'), ['ab c', 2, 2, 2, 4]);
  assert.deepEqual(names('sort=ready&desc=1'), ['A b', 1, 2, 2, 4]); // as numbers
  assert.deepEqual(names('sort=ready'), ['c ab', 1, 2, 2, 4]);
  assert.deepEqual(names('name=a'), ['A ab', 1, 1, 2, 2]);
  assert.deepEqual(names('name=%5Ea.&regex=1'), ['ab', 1, 1, 1, 1]);
  assert.deepEqual(names('name=(&regex=1'), ['', 1, 0, 0, 0]);
  equal(at, [[[{ a: { b: 1 } }, 'a.b'], 1], [[{}, 'a.b'], undefined], [[{ 'apply-to': 'x' }, 'apply-to'], 'x']]);
});

test('definitions as rows and back', () => {
  const definition = { 'message-ttl': 60000, 'dead-letter-exchange': '', overflow: 'reject-publish', 'expires-if-empty': true, 'forward-to': ['a'], 'dead-letter-routing-key': '5', x: 'true', y: '"q"' };
  assert.deepEqual(definitionOf(rowsOf(definition)), definition);
  assert.deepEqual(definitionOf([[' max-length ', '5'], ['', ' '], ['a', 'null'], ['b', '{']]), { 'max-length': 5, a: 'null', b: '{' });
  assert.throws(() => definitionOf([['', '5']]), /no key/);
  assert.throws(() => definitionOf([['a', '5'], ['a', '6']]), /twice/);
  assert.throws(() => parsed('{'), /^Error: The definition is not JSON/);
});

test('previews and changes in words', () => {
  const none = { retimed: 0, restored: 0, expire_at_once: 0, dropped_at_once: 0, at_most: false, undoable: 0, undoable_until: null };
  assert.deepEqual(previewSentences({ queues: 1, exchanges: 0, loses: [], messages: none }), ['Applies to 1 queue.']);
  assert.deepEqual(previewSentences({ queues: 2, exchanges: 1, clear: true, loses: [{ name: 'p', objects: 3 }], messages: none }),
    ['Applies to 2 queues and 1 exchange now.', 'No longer applies: policy p, for 3 objects.']);
  assert.deepEqual(previewSentences({ queues: 1, replaces: true, queues_unanswered: 1, loses: [], messages: { retimed: 2, restored: 1, expire_at_once: 1, dropped_at_once: 1, at_most: true, undoable: 1, undoable_until: '2027-01-15T08:00:00.250Z' } }), [
    'Replaces the policy of that name. Affects 1 queue.', 'Deadline changes: 2 messages.', 'Original deadline restored: 1 message.', 'Expire at once: up to 1 message.',
    'Dropped at once by the length limit: 1 message.', `An undo restores the present deadline: 1 message, before ${moment('2027-01-15T08:00:00.250Z')}.`, 'No answer from: 1 queue.']);
  equal(change, [[{ key: 'expires', before: 60000, after: 5400000 }, 'expires: 1 min → 1 h 30 min'], [{ key: 'message-ttl', before: 7000000, after: 1 }, 'message-ttl: 1 h 57 min (7,000,000 ms) → 1 ms'],
    [{ key: 'a', before: null, after: 5 }, 'a: none → 5'], [{ key: 'a', before: 'x', after: [1] }, 'a: x → [1]']]);
  const p = { pattern: '^a', 'apply-to': 'all', priority: 1, definition: { a: 1 } };
  equal(changed, [[{ name: 'n', before: null, after: p }, 'policy n set: “^a”, all, priority 1, a: 1'], [{ name: 'n', operator: true, before: p, after: null }, 'operator policy n deleted: “^a”, all, priority 1, a: 1']]);
  assert.match(changed({ name: 'n', before: p, after: p }), /^policy n changed: .* → /);
});

test('events come in pieces', () => {
  const text = ': events\n\nevent: queue.created\ndata: {"a":1}\n\n: still here\n\nevent: lost\ndata: 5\n\n';
  for (let size = 1; size < text.length; size += 7) {
    const stream = new EventStream(), found = [];
    for (let i = 0; i < text.length; i += size) found.push(...stream.add(text.slice(i, i + size)));
    assert.deepEqual(found, [{ event: 'queue.created', data: '{"a":1}' }, { event: 'lost', data: '5' }]);
  }
  assert.equal(spoken({ event: 'x', name: 'q', vhost: '/', durable: false, arguments: {}, timestamp_in_ms: 1 }), 'name: q, vhost: /, durable: false');
});

test('parameters', () => {
  assert.deepEqual(redacted({ 'src-uri': ['amqp://u:p@h:1/v?x=y', 'amqp://', 'u:p@h', 'amqp://u:p@q@h/?x\ny'], uri: 'amqps://h', 'dest-uri': 5, x: 'amqp://a@b' }),
    { 'src-uri': ['amqp://h:1/v', 'amqp://', 'h', 'amqp://h/'], uri: 'amqps://h', 'dest-uri': 5, x: 'amqp://a@b' });
  for (const value of [null, 'amqp://u:p@h', 7, ['a']]) assert.deepEqual(redacted(value), value);
  const form = { 'ack-mode': 'on-publish', 'reconnect-delay': '0', 'src-delete-after': '12', 'src-uri': 'a', 'src-kind': 'exchange', 'src-name': 'x', 'src-key': 'k', 'dest-uri': 'b', 'dest-kind': 'queue', 'dest-name': 'q', 'dest-key': 'not' };
  assert.deepEqual(shovelOf(form), { 'ack-mode': 'on-publish', 'reconnect-delay': 0, 'src-delete-after': 12, 'src-uri': 'a', 'src-exchange': 'x', 'src-exchange-key': 'k', 'dest-uri': 'b', 'dest-queue': 'q' });
  assert.equal(shovelOf({ ...form, 'src-delete-after': 'never' })['src-delete-after'], 'never');
});

const edge = (from, to, more) => ({ from, to, kind: 'binding', ...more });
const queues = (...names) => names.map((name) => ({ kind: 'queue', name, missing: false }));

test('cycles', () => {
  assert.deepEqual(cyclesOf(6, [edge(0, 1), edge(1, 2), edge(2, 1), edge(3, 3), edge(4, 5)]), [-1, 0, 0, 1, -1, -1]);
  assert.deepEqual(cyclesOf(0, []), []);
  const long = Array.from({ length: 999 }, (_, i) => edge(i, i + 1));
  assert.deepEqual(new Set(cyclesOf(1000, long)), new Set([-1]));
  assert.deepEqual(new Set(cyclesOf(1000, [...long, edge(999, 0)])), new Set([0]));
});

test('layers', () => {
  assert.deepEqual(ranksOf(4, [edge(0, 1), edge(1, 2), edge(0, 2), edge(2, 3)]), [0, 1, 2, 3]);
  assert.deepEqual(ranksOf(3, [edge(2, 1), edge(1, 0), edge(0, 1)]), [2, 1, 0], 'a cycle begins where something leads to it');
  assert.deepEqual(ranksOf(2, [edge(0, 1), edge(1, 0)]), [0, 1]);
  assert.deepEqual(ranksOf(1, [edge(0, 0)]), [0]);
});

test('layout', () => {
  for (const [count, edges] of [[0, []], [1, []], [1, [edge(0, 0)]], [5, [edge(0, 1), edge(2, 1), edge(1, 3), edge(3, 0)]],
    [1000, Array.from({ length: 1500 }, (_, i) => edge(i * 7 % 1000, (i * 13 + 5) % 1000))], [1000, Array.from({ length: 500 }, (_, i) => edge(2 * i, 2 * i + 1))], [1000, Array.from({ length: 999 }, (_, i) => edge(i, 999))]]) {
    const began = performance.now(), { places, width, height } = layout(count, edges);
    assert.equal(places.length, count);
    assert.ok(performance.now() - began < 5000);
    const taken = new Set();
    for (const { x, y } of places) {
      assert.ok(x >= 0 && y >= 0 && x + box.width <= width && y + box.height <= height, `${x} ${y} of ${width} ${height}`);
      assert.ok(!taken.has(`${x} ${y}`));
      taken.add(`${x} ${y}`);
    }
    for (const x of new Set(places.map((p) => p.x))) {
      const ys = places.filter((p) => p.x === x).map((p) => p.y).sort((a, b) => a - b);
      assert.ok(ys.every((y, i) => i === 0 || y - ys[i - 1] >= box.height), 'boxes overlap');
    }
  }
  const { places } = layout(4, [edge(0, 1), edge(2, 3), edge(3, 2)]);
  assert.ok(places[0].y === places[1].y && places[2].y > places[0].y);
  assert.match(curve(places[0], places[1]), /^M200 19C/);
  assert.match(curve(places[1], places[0]), /L/);
});

test('ladders', () => {
  const nodes = [], edges = [];
  for (let n = 0; n < 28; n++) nodes.push({ kind: 'queue', name: `celery_delayed_${n}`, missing: false }, { kind: 'exchange', name: `celery_delayed_${n}`, missing: false });
  nodes.push({ kind: 'exchange', name: 'celery_delayed_delivery', missing: false }, { kind: 'queue', name: 'tasks', missing: false });
  for (let n = 0; n < 28; n++) {
    edges.push(edge(2 * n, n === 0 ? 56 : 2 * n - 1, { kind: 'dead_letter', counts: { expired: n } }), edge(2 * n + 1, 2 * n, { bindings: 1, binding_keys: ['1'] }),
      edge(2 * n + 1, n === 0 ? 56 : 2 * n - 1, { bindings: 1, binding_keys: ['0'] }));
  }
  edges.push(edge(56, 57, { bindings: 1, binding_keys: ['#.tasks'] }));
  const folded = fold({ nodes, edges });
  assert.deepEqual(folded.nodes.map((n) => [n.kind, n.name, n.members]), [['ladder', 'celery_delayed_0…27', 56], ['exchange', 'celery_delayed_delivery', undefined], ['queue', 'tasks', undefined]]);
  assert.deepEqual(folded.edges.map((e) => [e.from, e.to, e.kind, e.counts]), [[0, 1, 'dead_letter', { expired: 0 }], [0, 1, 'binding', {}], [1, 2, 'binding', {}]]);
  const few = fold({ nodes: queues('a1', 'a2', 'a3', 'b'), edges: [edge(2, 1, { kind: 'dead_letter' }), edge(1, 0, { kind: 'dead_letter' }), edge(0, 3, { kind: 'dead_letter' })] });
  assert.equal(few.nodes.length, 4, 'three are no ladder');
  const same = fold({ nodes: queues('w1', 'w2', 'w3', 'w4', 'w5', 'dead'), edges: [0, 1, 2, 3, 4].map((i) => edge(i, 5, { kind: 'dead_letter' })) });
  assert.deepEqual(same.nodes.map((n) => [n.kind, n.name]), [['fan', 'w…'], ['queue', 'dead']], 'what does not lead to another level is none, but a fan');
});

test('fans', () => {
  const dead = (from, to, more) => edge(from, to, { kind: 'dead_letter', counts: { expired: 1 }, ...more });
  const nodes = queues('orders.eu', 'orders.us', 'orders.fr', 'orders.it', 'dead', 'fed', 'other', 'twice');
  const edges = [0, 1, 2, 3, 5, 6, 7].map((i) => dead(i, 4, { routing_key: String(i), unroutable: i === 6 })).concat(edge(6, 5), edge(7, 5), dead(4, 5));
  const folded = fold({ nodes, edges });
  assert.deepEqual(folded.nodes.map((n) => [n.kind, n.name, n.members]), [['fan', 'orders.…', 4], ['queue', 'dead', undefined], ['queue', 'fed', undefined], ['queue', 'other', undefined], ['queue', 'twice', undefined]]);
  assert.deepEqual(folded.edges[0], { from: 0, to: 1, kind: 'dead_letter', counts: { expired: 4 }, unroutable: false, bindings: 0, binding_keys: [] });
  assert.equal(folded.edges.length, 7);
  assert.equal(fold({ nodes: nodes.slice(2), edges: [dead(0, 2), dead(1, 2)] }).nodes.length, 6, 'two are no fan');
  const into = nodes.map((n) => ({ ...n, kind: 'exchange' }));
  assert.equal(fold({ nodes: [...into, ...queues('a', 'b')], edges: [0, 1, 2, 3].map((i) => edge(i, 8 + i % 2)) }).nodes.length, 10, 'fans have one target');
});

test('labels do not overlap', () => {
  for (const edges of [[edge(0, 1), edge(1, 2), edge(2, 0), edge(2, 1)], Array.from({ length: 60 }, (_, i) => edge(i % 3, 3 + i % 2, { kind: String(i) })), [edge(0, 0), edge(0, 0)]]) {
    const { places } = layout(5, edges), at = labels(edges, places);
    at.forEach((a, i) => {
      assert.ok(places.every((p) => a.x >= p.x + box.width || a.x + gap.x - 6 <= p.x), 'a label is beside the boxes');
      assert.ok(at.every((b, k) => i === k || a.x !== b.x || Math.abs(a.y - b.y) >= line), `${a.y}`);
    });
  }
});

test('ends and flows', () => {
  const nodes = [...queues('q'), { kind: 'exchange', name: 'x', missing: false }, { kind: 'exchange', name: 'gone', missing: true }, { kind: 'exchange', name: '', missing: false }, { kind: 'queue', name: 'no', missing: true }];
  const end = (edges) => nodes.map((n, i) => deadEnd(n, i, edges));
  assert.deepEqual(end([edge(0, 1)]), ['', 'no binding', 'no such exchange', '', 'no such queue']);
  assert.equal(end([edge(0, 1, { routing_key: 'k' })])[1], 'no binding matches the key');
  assert.equal(end([edge(0, 1), edge(1, 0)])[1], '');
  assert.deepEqual(flows({ expired: 1, rejected: 5 }, { expired: 11, rejected: 5, maxlen: 4 }, 5000), { expired: 2, maxlen: 0.8 });
  assert.deepEqual(flows(undefined, { expired: 11 }, 5000), {});
  assert.notEqual(identity(edge(0, 1), nodes), identity(edge(0, 2), nodes));
});

test('the description of the API is read', async () => {
  assert.deepEqual(parseYAML("# no\na: 1\nb:\n  - {x: 'it''s: {a}', y: [p, 'q, r', {s: true}]}\n  - k: v\n    l:\n      m: null\nc: >-\n  one\n  two\n'200': plain text, with {braces} and: a colon\ne: \"quoted: yes\"\nf:\n"),
    { a: 1, b: [{ x: "it's: {a}", y: ['p', 'q, r', { s: true }] }, { k: 'v', l: { m: null } }], c: 'one two', 200: 'plain text, with {braces} and: a colon', e: 'quoted: yes', f: null });
  const source = await readFile(`${process.env.CANDLEMARK_TEST_UI}/../../openapi.yaml`, 'utf8'), document = parseYAML(source), operations = operationsOf(document);
  assert.equal(operations.length, source.match(/^ {4}(get|put|post|delete):$/gm).length);
  const tags = document.tags.map((t) => t.name);
  for (const o of operations) {
    assert.ok(tags.includes(o.tag), `${o.path}: ${o.tag}`);
    assert.ok(o.summary && o.parameters.every((p) => p?.name && p.in), o.path);
    for (const name of o.path.matchAll(/\{(\w+)\}/g)) assert.ok(o.parameters.some((p) => p.name === name[1] || p.in === 'path'), o.path);
    for (const { content } of o.answers) for (const c of Object.values(content)) assert.ok(!/undefined|NaN|\[object/.test(outline(c.schema, document)), o.path);
  }
  const ahead = operations.find((o) => o.path === '/api/x/flow/{vhost}');
  assert.match(outline(ahead.answers[0].content['application/json'].schema, document), /^\{\n {2}nodes: list of \{\n {4}kind\?: "queue", "exchange"\n/);
});

test('lines of the log', () => {
  assert.deepEqual(logged({ id: 1, line: '{"level":"info","conn":"a","event":"e","time":"t","message":"m"}' }), { id: 1, time: 't', level: 'info', message: 'm: e', rest: { conn: 'a' } });
  assert.deepEqual(logged({ id: 2, line: '{"level":"inf' }), { id: 2, time: null, level: '', message: '{"level":"inf', rest: {} });
});
