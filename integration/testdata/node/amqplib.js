// npm's amqplib: publish with confirms, consume, acknowledge, return, expire, RPC, refuse.
const assert = require('node:assert');
const amqp = require('amqplib');

const url = `amqp://guest:guest@127.0.0.1:${process.argv[2]}`;

const jobs = {
  async confirmed(connection) {
    const ch = await connection.createConfirmChannel();
    const { queue } = await ch.assertQueue('', { exclusive: true });
    for (let i = 0; i < 1000; i++) ch.sendToQueue(queue, Buffer.from(`${i}`), { persistent: true });
    await ch.waitForConfirms();
    assert.strictEqual((await ch.checkQueue(queue)).messageCount, 1000);
    await ch.prefetch(10);
    let next = 0;
    await new Promise((resolve, reject) => {
      ch.consume(queue, (m) => {
        if (m.content.toString() !== `${next}`) reject(new Error(`${m.content}, not ${next}`));
        ch.ack(m);
        if (++next === 1000) resolve();
      });
    });
  },

  async properties(connection) {
    const ch = await connection.createChannel();
    const { queue } = await ch.assertQueue('', { exclusive: true });
    const sent = {
      contentType: 'text/plain', correlationId: 'c', replyTo: 'r', messageId: 'm', type: 't', appId: 'a', priority: 3,
      timestamp: 1700000000, headers: { text: 'ä', number: 2 ** 40, float: 0.5, flag: true, list: [1, 'x'], table: { deep: -1 } },
    };
    ch.sendToQueue(queue, Buffer.from('body'), sent);
    const got = await new Promise((resolve) => { ch.consume(queue, resolve, { noAck: true }); });
    for (const [key, value] of Object.entries(sent)) assert.deepStrictEqual(got.properties[key], value, key);
    assert.strictEqual(got.content.toString(), 'body');
  },

  async redelivered(connection) {
    const ch = await connection.createChannel();
    const { queue } = await ch.assertQueue('', { exclusive: true });
    ch.sendToQueue(queue, Buffer.from('again'));
    const seen = [];
    await new Promise((resolve) => {
      ch.consume(queue, (m) => {
        seen.push(m.fields.redelivered);
        if (seen.length === 1) return ch.nack(m);
        ch.ack(m);
        return resolve();
      });
    });
    assert.deepStrictEqual(seen, [false, true]);
  },

  async returned(connection) {
    const ch = await connection.createChannel();
    const back = new Promise((resolve) => { ch.once('return', resolve); });
    ch.publish('amq.direct', 'nobody', Buffer.from('back'), { mandatory: true });
    const m = await back;
    assert.strictEqual(m.fields.replyCode, 312);
    assert.strictEqual(m.content.toString(), 'back');
  },

  async deadLettered(connection) {
    const ch = await connection.createChannel();
    const dead = await ch.assertQueue('', { exclusive: true });
    const { queue } = await ch.assertQueue('', { exclusive: true, deadLetterExchange: '', deadLetterRoutingKey: dead.queue });
    ch.sendToQueue(queue, Buffer.from('stays'));
    ch.sendToQueue(queue, Buffer.from('goes'), { expiration: '100' });
    const m = await new Promise((resolve) => { ch.consume(dead.queue, resolve, { noAck: true }); });
    assert.strictEqual(m.content.toString(), 'goes');
    assert.strictEqual(m.properties.headers['x-death'][0].reason, 'expired');
  },

  async rpc(connection) {
    const server = await connection.createChannel();
    const { queue } = await server.assertQueue('', { exclusive: true });
    await server.consume(queue, (m) => {
      server.sendToQueue(m.properties.replyTo, Buffer.from(m.content.toString().toUpperCase()), { correlationId: m.properties.correlationId });
      server.ack(m);
    });
    const client = await connection.createChannel();
    const answers = new Map();
    const all = new Promise((resolve) => {
      client.consume('amq.rabbitmq.reply-to', (m) => {
        answers.set(m.properties.correlationId, m.content.toString());
        if (answers.size === 100) resolve();
      }, { noAck: true });
    });
    for (let i = 0; i < 100; i++) {
      client.sendToQueue(queue, Buffer.from(`question ${i}`), { correlationId: `${i}`, replyTo: 'amq.rabbitmq.reply-to' });
    }
    await all;
    for (let i = 0; i < 100; i++) assert.strictEqual(answers.get(`${i}`), `QUESTION ${i}`);
  },

  async cancelled(connection) {
    const ch = await connection.createChannel();
    const { queue } = await ch.assertQueue('', { exclusive: true });
    const notice = new Promise((resolve) => { ch.consume(queue, resolve); });
    await ch.deleteQueue(queue);
    assert.strictEqual(await notice, null);
  },

  async refused(connection) {
    const ch = await connection.createChannel();
    ch.on('error', () => {}); // checkQueue rejects with the same error
    await assert.rejects(ch.checkQueue('not.there'), { code: 404 });
    const other = await connection.createChannel();
    await other.assertExchange('node', 'topic', { durable: false, autoDelete: true });
  },
};

async function main() {
  for (const [name, job] of Object.entries(jobs)) {
    const connection = await amqp.connect(url);
    await job(connection);
    await connection.close();
    console.log('ok', name);
  }
}

require('./run')(main);
