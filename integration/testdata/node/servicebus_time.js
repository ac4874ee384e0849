// npm's @azure/service-bus: deadlines, schedules, duplicates, delivery limits, batches, forwarding and idle queues.
const assert = require('node:assert');
const { ServiceBusClient } = require('@azure/service-bus');

const patience = { maxWaitTimeInMs: 20000 };
const once = { receiveMode: 'receiveAndDelete' };

async function main() {
  const client = new ServiceBusClient(
    `Endpoint=sb://127.0.0.1:${process.argv[2]};SharedAccessKeyName=any;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;`,
  );
  await Promise.all([expires(client), schedules(client), forwards(client), fails(client), duplicates(client), batches(client)]);
  await client.close();
}

async function one(receiver, body) {
  const [message] = await receiver.receiveMessages(1, patience);
  assert.ok(message, `nothing came, not ${body}`);
  assert.strictEqual(message.body, body);
  return message;
}

// The queue's default TTL is also the maximum of a message's own TTL.
async function expires(client) {
  await client.createSender('brief').sendMessages([{ body: 'default' }, { body: 'capped', timeToLive: 3600000 }, { body: 'own', timeToLive: 10 }]);
  const dead = client.createReceiver('brief', { subQueueType: 'deadLetter', ...once });
  const bodies = [];
  while (bodies.length < 3) {
    for (const m of await dead.receiveMessages(3, patience)) {
      bodies.push(m.body);
      assert.deepStrictEqual([m.deadLetterReason, m.deadLetterSource], ['TTLExpiredException', 'brief']);
    }
  }
  assert.strictEqual(bodies[0], 'own');
  assert.deepStrictEqual(bodies.sort(), ['capped', 'default', 'own']);
}

async function schedules(client) {
  const at = new Date(Date.now() + 700);
  await client.createSender('later').sendMessages({ body: 'scheduled', scheduledEnqueueTimeUtc: at });
  const receiver = client.createReceiver('later', once);
  const [waiting] = await receiver.peekMessages(1);
  assert.ok(!waiting || waiting.state === 'scheduled' || Date.now() >= at.getTime());
  const message = await one(receiver, 'scheduled');
  assert.ok(Date.now() >= at.getTime() && message.enqueuedTimeUtc >= at);
  assert.strictEqual(message.scheduledEnqueueTimeUtc.getTime(), at.getTime());
}

async function forwards(client) {
  await client.createSender('forwards').sendMessages({ body: 'forwarded' });
  await one(client.createReceiver('plain', once), 'forwarded');
}

async function fails(client) {
  await client.createSender('fragile').sendMessages({ body: 'failing' });
  const receiver = client.createReceiver('fragile');
  for (const count of [0, 1]) {
    const message = await one(receiver, 'failing');
    assert.strictEqual(message.deliveryCount, count);
    await receiver.abandonMessage(message);
  }
  const dead = client.createReceiver('fragile', { subQueueType: 'deadLetter' });
  for (let i = 0; i < 2; i += 1) {
    const message = await one(dead, 'failing');
    assert.deepStrictEqual([message.deadLetterReason, message.deliveryCount], ['MaxDeliveryCountExceeded', 2]);
    assert.ok(message.lockedUntilUtc > new Date());
    await dead.abandonMessage(message);
  }
  await new Promise((resolve, reject) => { // subscribe renews locks and reports an error for a delivery without the end of its lock
    dead.subscribe({ processMessage: async (message) => resolve(message), processError: async ({ error }) => reject(error) });
  });
}

async function duplicates(client) {
  const sender = client.createSender('once');
  await sender.sendMessages({ body: 'first', messageId: '1' });
  await sender.sendMessages({ body: 'again', messageId: '1' });
  await sender.sendMessages({ body: 'another', messageId: '2' });
  const bodies = [];
  for await (const message of client.createReceiver('once', once).getMessageIterator()) {
    bodies.push(message.body);
    if (bodies.length === 2) break;
  }
  assert.deepStrictEqual(bodies, ['first', 'another']);
}

// A full batch accepts no further message; a receiver that subscribes gets all of its messages, in order.
async function batches(client) {
  const sender = client.createSender('batches');
  const batch = await sender.createMessageBatch({ maxSizeInBytes: 2000 });
  let sent = 0;
  while (batch.tryAddMessage({ body: sent, applicationProperties: { big: 1.5, flag: true } })) sent += 1;
  assert.ok(sent > 2);
  await sender.sendMessages(batch);
  const got = [];
  const receiver = client.createReceiver('batches');
  await new Promise((resolve, reject) => {
    receiver.subscribe({
      processMessage: async (message) => {
        got.push(message.body);
        assert.deepStrictEqual(message.applicationProperties, { big: 1.5, flag: true });
        if (got.length === sent) resolve();
      },
      processError: async ({ error }) => reject(error),
    });
  });
  assert.deepStrictEqual(got, [...got.keys()]);
  await receiver.close();
  await kinds(sender, client.createReceiver('batches', once));
}

// Messages with a value, a sequence or data as body are received as sent; one that is too large is rejected.
async function kinds(sender, receiver) {
  for (const [bodyType, body] of [['value', { a: 1 }], ['sequence', [1, 'x']], ['data', 'text']]) {
    await sender.sendMessages({ body, bodyType, properties: { subject: 's' }, messageAnnotations: { mine: 5 } });
    const [peeked] = await receiver.peekMessages(1);
    const [message] = await receiver.receiveMessages(1, patience);
    for (const got of [peeked, message]) {
      assert.deepStrictEqual([got.body, got._rawAmqpMessage.bodyType, got.subject, got._rawAmqpMessage.messageAnnotations.mine], [body, bodyType, 's', 5]);
    }
  }
  await assert.rejects(sender.sendMessages({ body: Buffer.alloc(2000000) }), { code: 'MessageSizeExceeded' });
  await assert.rejects(sender.createMessageBatch({ maxSizeInBytes: 2000001 }), /greater than maximum message size/);
}

require('./run')(main);
