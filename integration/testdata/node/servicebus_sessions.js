// npm's @azure/service-bus: sessions by name and the next available one, order, state, locks, subscribe, deferral.
const assert = require('node:assert');
const { ServiceBusClient } = require('@azure/service-bus');

const queue = 'orders';
const patience = { maxWaitTimeInMs: 20000 };

async function main() {
  const connect = (timeoutInMs) => new ServiceBusClient(
    `Endpoint=sb://127.0.0.1:${process.argv[2]};SharedAccessKeyName=any;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;`,
    { retryOptions: { maxRetries: 0, timeoutInMs } },
  );
  const client = connect(20000);
  const impatient = connect(3000);
  const sender = client.createSender(queue);
  await assert.rejects(sender.sendMessages({ body: 'none' }));
  await sender.sendMessages([{ body: 'one', sessionId: 'a' }, { body: 'two', sessionId: 'a' }]);
  await sender.sendMessages({ body: 'three', sessionId: 'b' });
  const a = await client.acceptSession(queue, 'a');
  assert.ok(a.sessionLockedUntilUtc > new Date());
  await assert.rejects(client.acceptSession(queue, 'a'), { code: 'SessionCannotBeLocked' });
  const b = await client.acceptNextSession(queue);
  assert.strictEqual(b.sessionId, 'b');
  await assert.rejects(impatient.acceptNextSession(queue), { code: 'ServiceTimeout' });
  assert.deepStrictEqual((await a.peekMessages(10)).map((m) => m.body), ['one', 'two']);
  const [one] = await a.receiveMessages(1, patience);
  assert.deepStrictEqual([one.body, one.sessionId], ['one', 'a']);
  await a.abandonMessage(one);
  const [again] = await a.receiveMessages(1, patience);
  assert.deepStrictEqual([again.body, again.deliveryCount], ['one', 1]);
  await a.deferMessage(again);
  const [late] = await a.receiveDeferredMessages([again.sequenceNumber]);
  await a.completeMessage(late);
  await a.setSessionState({ step: 2 });
  assert.ok(await a.renewSessionLock() >= new Date());
  await a.close();
  const back = await client.acceptSession(queue, 'a');
  assert.deepStrictEqual(await back.getSessionState(), { step: 2 });
  const bodies = await new Promise((resolve, reject) => {
    const got = [];
    b.subscribe({
      processMessage: async (m) => {
        got.push(m.body);
        if (got.length === 2) {
          resolve(got);
        }
      },
      processError: async (e) => reject(e.error),
    });
    sender.sendMessages({ body: 'four', sessionId: 'b' }).catch(reject);
  });
  assert.deepStrictEqual(bodies, ['three', 'four']);
  const [two] = await back.receiveMessages(1, patience);
  await back.deadLetterMessage(two, { deadLetterReason: 'bad', deadLetterErrorDescription: 'why', code: 8 });
  const [dead] = await client.createReceiver(queue, { subQueueType: 'deadLetter' }).receiveMessages(1, patience);
  assert.deepStrictEqual([dead.body, dead.sessionId, dead.deadLetterReason, dead.applicationProperties.code], ['two', 'a', 'bad', 8]);
  await assert.rejects(client.createReceiver(queue).receiveMessages(1, patience));
  await impatient.close();
  await client.close();
}

require('./run')(main);
