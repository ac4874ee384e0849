// npm's @azure/service-bus, over WebSocket if there is a second argument: send a batch, peek, receive with locks, renew,
// abandon, defer, schedule, cancel, complete, dead-letter, receive and delete, rules.
const assert = require('node:assert');
const { ServiceBusClient } = require('@azure/service-bus');

const queue = 'failures';
const patience = { maxWaitTimeInMs: 20000 };

async function main() {
  const client = new ServiceBusClient(
    `Endpoint=sb://127.0.0.1:${process.argv[2]};SharedAccessKeyName=any;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;`,
    process.argv[3] ? { webSocketOptions: { webSocket: require('ws') } } : {},
  );
  await client.createSender(queue, { identifier: 'sends' }).sendMessages([{ body: 'one', applicationProperties: { n: 1 } }, { body: 'two', subject: 's', to: 't' }]);
  const receiver = client.createReceiver(queue, { identifier: 'receives' });
  const peeked = await receiver.peekMessages(10);
  assert.deepStrictEqual(peeked.map((m) => [m.body, m.subject, m.to]), [['one', undefined, undefined], ['two', 's', 't']]);
  const [bare] = await receiver.peekMessages(1, { fromSequenceNumber: peeked[0].sequenceNumber, omitMessageBody: true });
  assert.deepStrictEqual([bare.body, bare.applicationProperties, bare.state], [undefined, { n: 1 }, 'active']);
  assert.deepStrictEqual(peeked.map((m) => Number(m.sequenceNumber)), [1, 2]);
  const [one] = await receiver.receiveMessages(1, patience);
  assert.strictEqual(one.body, 'one');
  assert.ok(one.lockedUntilUtc > new Date() && one.enqueuedTimeUtc && one.sequenceNumber && one.messageId);
  assert.ok(await receiver.renewMessageLock(one) >= one.enqueuedTimeUtc);
  await receiver.abandonMessage(one, { again: true, 'x-own': 1 });
  const [again] = await receiver.receiveMessages(1, patience);
  assert.strictEqual(again._rawAmqpMessage.messageAnnotations['x-own'], undefined); // properties are no annotations
  delete again.applicationProperties['x-own'];
  assert.strictEqual(again.body, 'one');
  assert.strictEqual(again.deliveryCount, 1);
  assert.deepStrictEqual(again.applicationProperties, { n: 1, again: true });
  await receiver.deferMessage(again);
  const [late] = await receiver.receiveDeferredMessages([again.sequenceNumber]);
  assert.deepStrictEqual([late.body, late.state, late.deliveryCount], ['one', 'deferred', 2]);
  await assert.rejects(receiver.abandonMessage(late, { 'x-opt-delivery-delay': -1 }), /not a number of milliseconds/);
  await receiver.abandonMessage(late);
  const [later] = await receiver.receiveDeferredMessages([again.sequenceNumber]);
  assert.strictEqual(later.deliveryCount, 3);
  await receiver.completeMessage(later);
  await assert.rejects(receiver.receiveDeferredMessages([again.sequenceNumber]), { code: 'MessageNotFound' });
  const sender = client.createSender(queue);
  const at = new Date(Date.now() + 3600000);
  const [number, other] = await sender.scheduleMessages([{ body: 'later' }, { body: 'latest' }], at);
  const waiting = (await receiver.peekMessages(10, { fromSequenceNumber: number })).filter((m) => m.state === 'scheduled');
  assert.deepStrictEqual(waiting.map((m) => [m.body, m.sequenceNumber.toString()]), [['later', number.toString()], ['latest', other.toString()]]);
  await sender.cancelScheduledMessages([number, other]);
  await assert.rejects(sender.cancelScheduledMessages(number), { code: 'MessageNotFound' });
  await scheduled(client);
  const abandoned = Date.now();
  await receiver.abandonMessage((await receiver.receiveMessages(1, patience))[0], { 'x-opt-delivery-time': abandoned + 300, 'x-opt-delivery-delay': 300 });
  const [two] = await receiver.receiveMessages(1, patience);
  assert.ok(Date.now() - abandoned >= 299);
  assert.strictEqual(two.body, 'two');
  await receiver.deadLetterMessage(two, { deadLetterReason: 'bad', deadLetterErrorDescription: 'why', code: 8 });
  const dead = client.createReceiver(queue, { subQueueType: 'deadLetter', receiveMode: 'receiveAndDelete' });
  const [last] = await dead.receiveMessages(1, patience);
  assert.deepStrictEqual([last.body, last.deadLetterReason, last.deadLetterErrorDescription, last.deadLetterSource], ['two', 'bad', 'why', queue]);
  assert.deepStrictEqual(last.applicationProperties, { code: 8, DeadLetterReason: 'bad', DeadLetterErrorDescription: 'why' });
  assert.deepStrictEqual(await client.createReceiver(queue, { subQueueType: 'transferDeadLetter' }).peekMessages(1), []);
  await annotated(client);
  if (!process.argv[3]) await withSignature();
  await rules(client);
  await Promise.all([
    client.createReceiver('none').receiveMessages(1, patience), client.createSender('none').sendMessages({ body: 'x' }), client.acceptSession('none', 's'),
    client.createReceiver('events', 'none').receiveMessages(1, patience), client.createReceiver('events', 'none').peekMessages(1),
  ].map((missing) => assert.rejects(missing, { code: 'MessagingEntityNotFound' })));
  await client.close();
}

// Messages that were scheduled say so when they arrive, in a queue and in a subscription.
async function scheduled(client) {
  const at = () => new Date(Date.now() + 4000);
  await client.createSender('orders').scheduleMessages({ body: 'x' }, at());
  await client.createSender('events').scheduleMessages({ body: 'x' }, at());
  await client.createSender('events').sendMessages({ body: 'x', scheduledEnqueueTimeUtc: at() });
  for (const from of [['orders'], ['events', 'all'], ['events', 'all']]) {
    const [m] = await client.createReceiver(...from, { receiveMode: 'receiveAndDelete' }).receiveMessages(1, patience);
    assert.strictEqual(m.state, 'scheduled');
  }
}

// The sections of an annotated message arrive as sent, among them the header, and a footer, whose keys are strings.
async function annotated(client) {
  const header = { durable: false, firstAcquirer: false, priority: 20, timeToLive: 100000 };
  const sent = { body: Buffer.from('b'), bodyType: 'data', header, footer: { propFooter: 'foot', n: 1 }, messageAnnotations: { propMsgAnnotate: 'a' }, applicationProperties: { p: 'a' } };
  await client.createSender(queue).sendMessages(sent);
  const receiver = client.createReceiver(queue, { receiveMode: 'receiveAndDelete' });
  for (const [m] of [await receiver.peekMessages(1), await receiver.receiveMessages(1, patience)]) {
    const { header: { deliveryCount, ...others }, footer, messageAnnotations, applicationProperties, bodyType } = m._rawAmqpMessage;
    assert.deepStrictEqual([typeof deliveryCount, others], ['number', header]);
    assert.deepStrictEqual([footer, messageAnnotations.propMsgAnnotate, applicationProperties, bodyType], [sent.footer, 'a', { p: 'a' }, 'data']);
  }
}

// With a signature instead of a key, the client does not use SASL.
async function withSignature() {
  const resource = encodeURIComponent(`sb://127.0.0.1:${process.argv[2]}/${queue}`);
  const signature = `SharedAccessSignature sr=${resource}&sig=any&se=${Math.floor(Date.now() / 1000) + 3600}&skn=RootManageSharedAccessKey`;
  const client = new ServiceBusClient(`Endpoint=sb://127.0.0.1:${process.argv[2]};SharedAccessSignature=${signature};UseDevelopmentEmulator=true;`);
  await client.createSender(queue).sendMessages({ body: 'signed' });
  assert.strictEqual((await client.createReceiver(queue, { receiveMode: 'receiveAndDelete' }).receiveMessages(1, patience))[0].body, 'signed');
  await client.close();
}

// Rules of a subscription are added, listed and removed, and select its messages.
async function rules(client) {
  const manager = client.createRuleManager('events', 'all');
  const list = async () => manager.getRules();
  const names = async () => (await list()).map((r) => r.name);
  assert.deepStrictEqual(await names(), ['$Default']);
  await manager.createRule('bySQL', { sqlExpression: "color = 'red'" });
  const at = new Date(1795000000568); // with milliseconds
  await manager.createRule('byFields', { subject: 'order', applicationProperties: { n: 1, gift: true, at } });
  await manager.deleteRule('$Default');
  const [fields, sql] = await list();
  assert.deepStrictEqual([fields.name, fields.filter.subject, fields.filter.applicationProperties], ['byFields', 'order', { n: 1, gift: true, at }]);
  assert.deepStrictEqual([sql.name, sql.filter.sqlExpression], ['bySQL', "color = 'red'"]);
  await assert.rejects(manager.createRule('BYSQL', { sqlExpression: '1=1' }), { code: 'MessagingEntityAlreadyExists', message: /The messaging entity 'events\/Subscriptions\/all\/Rules\/BYSQL' already exists/ });
  await manager.createRule('zulu', { subject: 'z' });
  await manager.createRule('Alpha', { subject: 'a' });
  assert.deepStrictEqual(await names(), ['Alpha', 'byFields', 'bySQL', 'zulu']);
  for (const name of ['zulu', 'Alpha']) await manager.deleteRule(name);
  await assert.rejects(manager.createRule('broken', { sqlExpression: 'color =' }));
  await assert.rejects(manager.createRule('broken', { sqlExpression: '1=1' }, { sqlExpression: 'SET a' }), /character 6/);
  await assert.rejects(manager.deleteRule('$Default'), { code: 'MessagingEntityNotFound' });
  await client.createSender('events').sendMessages([
    { body: 'neither', applicationProperties: { color: 'blue' } },
    { body: 'red', applicationProperties: { color: 'red' } },
    { body: 'order', subject: 'order', applicationProperties: { n: 1, gift: true, at } },
  ]);
  const receiver = client.createReceiver('events', 'all', { receiveMode: 'receiveAndDelete' });
  for (const want of ['red', 'order']) {
    assert.strictEqual((await receiver.receiveMessages(1, patience))[0].body, want);
  }
  await manager.deleteRule('bySQL');
  assert.deepStrictEqual(await names(), ['byFields']);
  await allFields(client, manager, receiver);
  await acts(client, manager, list, receiver, at);
  await assert.rejects(client.createRuleManager('events', 'none').getRules());
}

// A correlation filter compares all its fields; the message is received with the same values.
async function allFields(client, manager, receiver) {
  const message = { correlationId: 'c', messageId: 'm', to: 't', replyTo: 'r', subject: 's', sessionId: 'i', replyToSessionId: 'j', contentType: 'text/x' };
  await manager.createRule('allFields', message);
  const rule = (await manager.getRules()).find((r) => r.name === 'allFields');
  for (const [key, value] of Object.entries(message)) assert.strictEqual(rule.filter[key], value, key);
  const others = Object.keys(message).map((key) => ({ ...message, body: key, [key]: 'another' }));
  await client.createSender('events').sendMessages([...others, { ...message, body: 'all', partitionKey: 'i' }]);
  const [got] = await receiver.receiveMessages(1, patience);
  assert.strictEqual(got.body, 'all');
  for (const [key, value] of Object.entries({ ...message, partitionKey: 'i' })) assert.strictEqual(got[key], value, key);
  await manager.deleteRule('allFields');
}

// A rule with an action delivers a separate copy, changed by the action.
async function acts(client, manager, list, receiver, at) {
  const text = "SET n = n * 2; SET sys.To = 'there'; SET sys.CorrelationId = newid(); REMOVE gift";
  await manager.createRule('acts', { sqlExpression: 'n > 0' }, { sqlExpression: text });
  assert.deepStrictEqual((await list()).map((r) => r.action && r.action.sqlExpression), [text, undefined]);
  await client.createSender('events').sendMessages({ body: { two: 2 }, subject: 'order', applicationProperties: { n: 1, gift: true, at } });
  const copies = [];
  while (copies.length < 2) copies.push(...await receiver.receiveMessages(2, patience));
  copies.sort((a, b) => a.applicationProperties.n - b.applicationProperties.n);
  const [plain, changed] = copies;
  assert.deepStrictEqual([plain.body, plain.applicationProperties, plain.to], [{ two: 2 }, { n: 1, gift: true, at: at.getTime() }, undefined]);
  assert.deepStrictEqual([changed.body, changed.applicationProperties, changed.to], [{ two: 2 }, { n: 2, at: at.getTime(), RuleName: 'acts' }, 'there']);
  assert.deepStrictEqual([changed.subject, changed.messageId, changed.correlationId.length], ['order', plain.messageId, 36]);
}

require('./run')(main);
