// NestJS: its RabbitMQ transport with requests, streams of answers, errors and events.
require('reflect-metadata');
const assert = require('node:assert');
const { Module, Controller } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const {
  ClientProxyFactory, Ctx, EventPattern, MessagePattern, Payload, RmqRecordBuilder, RpcException, Transport,
} = require('@nestjs/microservices');
const { firstValueFrom, from, lastValueFrom, toArray } = require('rxjs');

const options = {
  transport: Transport.RMQ,
  options: {
    urls: [`amqp://guest:guest@127.0.0.1:${process.argv[2]}`],
    queue: 'nest', queueOptions: { durable: false }, prefetchCount: 5, noAck: false,
  },
};

let noticed;
const event = new Promise((resolve) => { noticed = resolve; });

function acknowledge(context) {
  context.getChannelRef().ack(context.getMessage());
}

class Answers {
  sum(numbers, context) {
    acknowledge(context);
    return numbers.reduce((a, b) => a + b, 0);
  }

  count(to, context) {
    acknowledge(context);
    return from(Array.from({ length: to }, (_, i) => i));
  }

  headers(_, context) {
    acknowledge(context);
    return context.getMessage().properties.headers;
  }

  fail(why, context) {
    acknowledge(context);
    throw new RpcException(why);
  }

  noticed(what, context) {
    acknowledge(context);
    noticed(what);
  }
}

// handle applies the decorators to a method, as TypeScript would.
function handle(method, decorator) {
  Payload()(Answers.prototype, method, 0);
  Ctx()(Answers.prototype, method, 1);
  decorator(Answers.prototype, method, Object.getOwnPropertyDescriptor(Answers.prototype, method));
}
handle('sum', MessagePattern({ cmd: 'sum' }));
handle('count', MessagePattern('count'));
handle('headers', MessagePattern('headers'));
handle('fail', MessagePattern('fail'));
handle('noticed', EventPattern('noticed'));
Controller()(Answers);

class App {}
Module({ controllers: [Answers] })(App);

async function main() {
  const service = await NestFactory.createMicroservice(App, { ...options, logger: ['error', 'warn'] });
  await service.listen();
  const client = ClientProxyFactory.create({ ...options, options: { ...options.options, noAck: true } });
  await client.connect();

  assert.strictEqual(await firstValueFrom(client.send({ cmd: 'sum' }, [1, 2, 3])), 6);
  console.log('ok request');
  const sums = await Promise.all(Array.from({ length: 200 }, (_, i) => firstValueFrom(client.send({ cmd: 'sum' }, [i, i]))));
  assert.deepStrictEqual(sums, Array.from({ length: 200 }, (_, i) => 2 * i));
  console.log('ok many at once');
  assert.deepStrictEqual(await lastValueFrom(client.send('count', 10).pipe(toArray())), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  console.log('ok stream');
  const record = new RmqRecordBuilder('x').setOptions({ headers: { 'x-version': '1.0.0' }, priority: 3, expiration: '60000' }).build();
  assert.strictEqual((await firstValueFrom(client.send('headers', record)))['x-version'], '1.0.0');
  console.log('ok headers');
  await assert.rejects(firstValueFrom(client.send('fail', 'as told')), { message: 'as told' });
  console.log('ok error');
  client.emit('noticed', { id: 7 });
  assert.deepStrictEqual(await event, { id: 7 });
  console.log('ok event');

  await client.close();
  await service.close();
}

require('../node/run')(main);
