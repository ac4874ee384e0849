// npm's rhea, AMQP 1.0: declare, bind, publish over a sender without an address, all outcomes, bodies of all kinds,
// receive settled and unsettled, priorities, drain, direct replies, temporary queues, purge, unbind, delete, refuse.
const assert = require('node:assert');
const rhea = require('rhea');

const port = Number(process.argv[2]);
const login = { host: '127.0.0.1', port, username: 'guest', password: 'guest', reconnect: false };

// event waits for an event of an emitter, and fails if one of the failures is emitted first.
function event(emitter, name, ...failures) {
  return new Promise((resolve, reject) => {
    const fail = (context) => {
      const { error } = context.receiver || context.sender || context.session || context.connection || {};
      reject(new Error(`${error ? error.condition : 'disconnected'}, not ${name}`));
    };
    for (const failure of failures) emitter.once(failure, fail);
    emitter.once(name, (context) => {
      for (const failure of failures) emitter.removeListener(failure, fail);
      resolve(context);
    });
  });
}

async function connect(options = {}) {
  const connection = rhea.create_container().connect({ ...login, ...options });
  await event(connection, 'connection_open', 'connection_error', 'disconnected');
  return connection;
}

async function sender(connection, address, options = {}) {
  const s = connection.create_session();
  s.open();
  const link = s.open_sender({ target: { address }, ...options });
  await event(link, 'sendable', 'sender_error', 'session_error');
  return link;
}

async function receiver(connection, address, options = {}) {
  const s = connection.create_session();
  s.open();
  const link = s.open_receiver({ source: { address }, credit_window: 0, autoaccept: false, ...options });
  await event(link, 'receiver_open', 'receiver_error', 'session_error');
  return link;
}

// send sends a message and returns the name of its outcome.
async function send(link, message) {
  const outcomes = ['accepted', 'released', 'rejected', 'modified'];
  const done = Promise.race(outcomes.map((name) => event(link, name).then(() => name)));
  link.send(message);
  return done;
}

async function receive(link) {
  const got = event(link, 'message', 'receiver_error');
  link.add_credit(1);
  return got;
}

// management opens a pair of links and returns a function that sends a request and returns status code and body of the response.
// The links have different names because rhea looks up links by name.
async function management(connection) {
  const session = connection.create_session();
  session.open();
  const pair = { snd_settle_mode: 1, properties: { paired: true } };
  const requests = session.open_sender({ ...pair, name: 'requests', target: { address: '/management' } });
  const answers = session.open_receiver({ ...pair, name: 'answers', source: { address: '/management' }, credit_window: 10 });
  await event(requests, 'sendable', 'sender_error', 'session_error');
  let id = 0;
  return async (subject, to, body = null) => {
    const answer = event(answers, 'message', 'receiver_error', 'session_error');
    id += 1;
    requests.send({ message_id: `${id}`, to, subject, reply_to: '$me', body });
    const { message } = await answer;
    assert.strictEqual(message.correlation_id, `${id}`);
    assert.strictEqual(message.application_properties['http:response'], '1.1');
    return { code: Number(message.subject), body: message.body };
  };
}

const jobs = {
  async topology(connection) {
    const ask = await management(connection);
    const made = await ask('PUT', '/queues/rhea%2Fa', { durable: true, exclusive: false, auto_delete: false, arguments: { 'x-max-length': 9 } });
    assert.strictEqual(made.code, 201);
    assert.strictEqual(made.body.name, 'rhea/a');
    assert.strictEqual(made.body.arguments['x-max-length'], 9);
    assert.deepStrictEqual(made.body.replicas, [made.body.leader]);
    assert.strictEqual((await ask('PUT', '/queues/rhea%2Fa', { durable: false, arguments: {} })).code, 409);
    assert.strictEqual((await ask('PUT', '/exchanges/rhea', { type: 'topic', durable: true, arguments: {} })).code, 204);
    const binding = { source: 'rhea', destination_queue: 'rhea/a', binding_key: 'a.*', arguments: {} };
    assert.strictEqual((await ask('POST', '/bindings', binding)).code, 204);
    const to = await sender(connection, '/exchanges/rhea/a.b');
    assert.strictEqual(await send(to, { body: 'routed' }), 'accepted');
    assert.strictEqual((await ask('GET', '/queues/rhea%2Fa')).body.message_count, 1);
    const list = await ask('GET', '/bindings?src=rhea&dstq=rhea%2Fa&key=a.%2A');
    assert.strictEqual(list.body.length, 1);
    assert.strictEqual((await ask('DELETE', list.body[0].location)).code, 204);
    assert.strictEqual(await send(to, { body: 'unroutable' }), 'released');
    assert.strictEqual((await ask('DELETE', '/queues/rhea%2Fa/messages')).body.message_count, 1);
    assert.strictEqual((await ask('DELETE', '/queues/rhea%2Fa')).code, 200);
    assert.strictEqual((await ask('DELETE', '/exchanges/rhea')).code, 204);
    assert.strictEqual((await ask('GET', '/queues/rhea%2Fa')).code, 404);
  },

  async outcomes(connection) {
    const ask = await management(connection);
    await ask('PUT', '/queues/rhea-dead', { arguments: {} });
    await ask('PUT', '/queues/rhea-q', { arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'rhea-dead' } });
    const to = await sender(connection, '/queues/rhea-q');
    const from = await receiver(connection, '/queues/rhea-q');
    const dead = await receiver(connection, '/queues/rhea-dead');
    for (const [how, again] of [
      [(d) => d.release({ delivery_failed: false }), true], [(d) => d.modified({ delivery_failed: true }), true],
      [(d) => d.reject(), false], [(d) => d.modified({ undeliverable_here: true }), false], [(d) => d.accept(), null],
    ]) {
      assert.strictEqual(await send(to, { body: `${how}`, application_properties: { n: 1 } }), 'accepted');
      const first = await receive(from);
      assert.strictEqual(first.message.body, `${how}`);
      how(first.delivery);
      if (again !== null) {
        const second = await receive(again ? from : dead);
        assert.strictEqual(second.message.body, `${how}`);
        assert.strictEqual(second.message.application_properties.n, 1);
        second.delivery.accept();
      }
    }
    assert.strictEqual((await ask('GET', '/queues/rhea-q')).body.message_count, 0);
    to.close(); // deleting a queue detaches its links with an error
    for (const link of [from, dead]) {
      link.close();
      await event(link, 'receiver_close');
    }
    await ask('DELETE', '/queues/rhea-q');
    await ask('DELETE', '/queues/rhea-dead');
  },

  async settledByTheSender(connection) {
    const ask = await management(connection);
    await ask('PUT', '/queues/rhea-s', { arguments: {} });
    const to = await sender(connection, '/queues/rhea-s');
    for (const body of ['1', '2', '3']) assert.strictEqual(await send(to, { body }), 'accepted');
    const from = await receiver(connection, '/queues/rhea-s', { snd_settle_mode: 1 });
    for (const body of ['1', '2', '3']) assert.strictEqual((await receive(from)).message.body, body);
    const drained = event(from, 'receiver_drained');
    from.drain = true;
    from.add_credit(5);
    await drained;
    assert.strictEqual(from.credit, 0);
    const gone = Promise.all([event(from, 'receiver_error'), event(to, 'sender_error')]);
    await ask('DELETE', '/queues/rhea-s');
    const [receiving, sending] = await gone;
    for (const { error } of [receiving.receiver, sending.sender]) assert.strictEqual(error.condition, 'amqp:resource-deleted');
  },

  async refused(connection) {
    const session = connection.create_session();
    session.open();
    const link = session.open_receiver({ source: { address: '/queues/rhea-none' } });
    const { receiver: refusedLink } = await event(link, 'receiver_error', 'session_error');
    assert.strictEqual(refusedLink.error.condition, 'amqp:not-found');
    session.close();
    const other = connection.create_session();
    other.open();
    other.open_receiver({ source: { address: '/queues/rhea-none' }, snd_settle_mode: 0, rcv_settle_mode: 1 });
    const ended = await event(other, 'session_error');
    assert.strictEqual(ended.session.error.condition, 'amqp:not-implemented');
  },

  // Exchanges bound to exchanges, arguments of bindings, and a sender without an address, whose messages name their destinations.
  async routes(connection) {
    const ask = await management(connection);
    await ask('PUT', '/queues/rhea-r', { arguments: {} });
    await ask('PUT', '/exchanges/rhea-h', { type: 'headers', arguments: {} });
    await ask('PUT', '/exchanges/rhea-f', { type: 'fanout', arguments: {} });
    for (const [binding, code] of [
      [{ source: 'rhea-h', destination_exchange: 'rhea-f', binding_key: '', arguments: { 'x-match': 'all', color: 'red' } }, 204],
      [{ source: 'rhea-f', destination_queue: 'rhea-r', binding_key: 'k', arguments: {} }, 204],
      [{ source: 'rhea-f', destination_queue: 'rhea-none', binding_key: 'k', arguments: {} }, 400],
    ]) assert.strictEqual((await ask('POST', '/bindings', binding)).code, code);
    const anywhere = await sender(connection, null);
    for (const [to, color, outcome] of [
      ['/exchanges/rhea-h', 'red', 'accepted'], ['/exchanges/rhea-h', 'blue', 'released'], ['/queues/rhea-r', 'none', 'accepted'],
      ['/queues/rhea-none', 'none', 'released'], ['/exchanges/rhea-none', 'none', 'rejected'], ['nowhere', 'none', 'rejected'],
    ]) assert.strictEqual(await send(anywhere, { to, body: color, application_properties: { color } }), outcome, to);
    const from = await receiver(connection, '/queues/rhea-r');
    const red = await receive(from);
    assert.deepStrictEqual([red.message.body, red.message.message_annotations['x-exchange']], ['red', 'rhea-h']);
    red.delivery.accept();
    (await receive(from)).delivery.accept();
    const list = await ask('GET', '/bindings?src=rhea-h&dste=rhea-f&key=');
    assert.strictEqual(list.body[0].arguments.color, 'red');
    assert.strictEqual((await ask('DELETE', list.body[0].location)).code, 204);
    assert.deepStrictEqual((await ask('GET', '/bindings?src=rhea-h&dste=rhea-f&key=')).body, []);
    assert.strictEqual((await ask('DELETE', '/exchanges/amq.topic')).code, 403);
    assert.strictEqual((await ask('PUT', '/auth/tokens', Buffer.from('token'))).code, 404);
  },

  // Messages are received as they were sent, those of a higher priority first; the receiver has a priority, too.
  async kinds(connection) {
    const ask = await management(connection);
    await ask('PUT', '/queues/rhea-k', { arguments: { 'x-max-priority': 9 } });
    const to = await sender(connection, '/queues/rhea-k');
    const { types, message: { data_section, sequence_section } } = rhea;
    const sent = {
      message_id: 'm', user_id: 'guest', to: 't', subject: 's', reply_to: 'r', correlation_id: types.wrap_ulong(7), content_type: 'text/plain', content_encoding: 'utf-8',
      creation_time: new Date(1700000000000), group_id: 'g', group_sequence: 3, reply_to_group_id: 'h', durable: true, priority: 4, ttl: 60000,
    };
    const bodies = ['text', { a: [1, true, null] }, sequence_section([1, 'x']), data_section(Buffer.from('bytes'))];
    for (const [priority, body] of bodies.entries()) {
      const message = { ...sent, priority, body, application_properties: { n: types.wrap_uint(5), flag: true }, message_annotations: { 'x-mine': 'yes' }, footer: { sum: 'text' } };
      assert.strictEqual(await send(to, message), 'accepted');
    }
    const low = await receiver(connection, '/queues/rhea-k', { properties: { 'rabbitmq:priority': types.wrap_int(-5) } });
    for (const [priority, body] of [...bodies.entries()].reverse()) {
      const { message, delivery } = await receive(low);
      assert.deepStrictEqual(message.body, body);
      assert.deepStrictEqual([message.priority, message.application_properties, message.message_annotations['x-mine'], message.footer], [priority, { n: 5, flag: true }, 'yes', { sum: 'text' }]);
      for (const key of ['message_id', 'to', 'subject', 'reply_to', 'correlation_id', 'content_type', 'group_id', 'group_sequence', 'reply_to_group_id', 'ttl']) {
        assert.deepStrictEqual(Number(message[key]) || message[key], Number(sent[key]) || sent[key], key);
      }
      delivery.accept();
    }
    low.close();
  },

  // Direct replies, and a temporary queue, at addresses generated by the broker.
  async dynamic(connection) {
    const volatile = { dynamic: true, capabilities: ['rabbitmq:volatile-queue'], expiry_policy: 'link-detach' };
    const anywhere = await sender(connection, null);
    for (const [source, options] of [[volatile, { snd_settle_mode: 1 }], [{ dynamic: true, capabilities: ['temporary-queue'] }, {}]]) {
      const session = connection.create_session();
      session.open();
      const link = session.open_receiver({ source, credit_window: 0, autoaccept: false, ...options });
      await event(link, 'receiver_open', 'receiver_error', 'session_error');
      const { address } = link.source;
      assert.match(address, /^\/queues\/amq\./);
      assert.strictEqual(await send(anywhere, { to: address, body: 'answer' }), 'accepted');
      assert.strictEqual((await receive(link)).message.body, 'answer');
      link.close();
      await event(link, 'receiver_close');
      assert.strictEqual(await send(anywhere, { to: address, body: 'late' }), 'released');
    }
  },

  async anonymous() {
    const connection = await connect({ password: undefined, username: 'somebody' });
    const ask = await management(connection);
    assert.strictEqual((await ask('GET', '/queues/rhea-none')).code, 404);
    connection.close();
  },
};

async function main() {
  const connection = await connect();
  await Promise.all(Object.entries(jobs).map(async ([name, job]) => {
    try {
      await job(connection);
    } catch (e) {
      throw new Error(`${name}: ${e.stack}`);
    }
  }));
  connection.close();
  await event(connection, 'connection_close');
}

require('./run')(main);
