// npm's @azure/service-bus: its administration client creates, changes, lists and deletes queues, topics, subscriptions and rules.
const assert = require('node:assert');
const http = require('node:http');
const https = require('node:https');
const { ServiceBusAdministrationClient } = require('@azure/service-bus');

const port = Number(process.argv[2]);

// HTTPS requests are sent to the port over plain HTTP: the client has no setting for plain HTTP.
https.request = (options, done) => http.request({
  host: '127.0.0.1', port, method: options.method, path: options.path, headers: { ...options.headers, host: 'localhost:5300' },
}, done);

async function all(pages) {
  const items = [];
  for await (const one of pages) items.push(one);
  return items;
}

// changes updates and lists a topic, its subscription and a rule of the subscription.
async function changes(c, rule) {
  const topic = await c.getTopic('js-topic');
  Object.assign(topic, { defaultMessageTimeToLive: 'PT2H', userMetadata: 'mine', status: 'SendDisabled' });
  assert.strictEqual((await c.updateTopic(topic)).defaultMessageTimeToLive, 'PT2H');
  const [listed] = await all(c.listTopics());
  assert.deepStrictEqual([listed.name, listed.userMetadata, listed.status, listed.defaultMessageTimeToLive], ['js-topic', 'mine', 'SendDisabled', 'PT2H']);
  assert.deepStrictEqual((await all(c.listTopicsRuntimeProperties())).map((t) => [t.name, t.subscriptionCount]), [['js-topic', 1]]);
  const s = await c.getSubscription('js-topic', 's');
  Object.assign(s, { lockDuration: 'PT30S', maxDeliveryCount: 4, forwardTo: undefined, forwardDeadLetteredMessagesTo: 'js', deadLetteringOnMessageExpiration: true });
  await c.updateSubscription(s);
  const [changed] = await all(c.listSubscriptions('js-topic'));
  assert.deepStrictEqual([changed.subscriptionName, changed.lockDuration, changed.maxDeliveryCount, changed.forwardTo], ['s', 'PT30S', 4, undefined]);
  assert.match(changed.forwardDeadLetteredMessagesTo, /js$/);
  const counts = await c.getSubscriptionRuntimeProperties('js-topic', 's');
  assert.deepStrictEqual([counts.activeMessageCount, counts.deadLetterMessageCount, counts.totalMessageCount], [0, 0, 0]);
  assert.strictEqual((await all(c.listSubscriptionsRuntimeProperties('js-topic'))).length, 1);
  assert.deepStrictEqual((await all(c.listQueuesRuntimeProperties())).map((q) => [q.name, q.totalMessageCount, q.sizeInBytes]), [['js', 0, 0]]);
  rule.filter = { sqlExpression: 'b IS NULL' };
  await c.updateRule('js-topic', 's', rule);
  assert.strictEqual((await c.getRule('js-topic', 's', 'fields')).filter.sqlExpression, 'b IS NULL');
  const exist = [c.queueExists('js'), c.topicExists('js-topic'), c.topicExists('none'), c.subscriptionExists('js-topic', 's'), c.ruleExists('js-topic', 's', 'fields'), c.ruleExists('js-topic', 's', 'none')];
  assert.deepStrictEqual(await Promise.all(exist), [true, true, false, true, true, false]);
  await everything(c);
  await c.deleteSubscription('js-topic', 's');
  assert.deepStrictEqual(await all(c.listSubscriptions('js-topic')), []);
}

// everything creates a queue with many properties at once and reads them back.
async function everything(c) {
  const given = {
    lockDuration: 'PT45S', maxSizeInMegabytes: 2048, maxMessageSizeInKilobytes: 1024, requiresDuplicateDetection: true, requiresSession: true, defaultMessageTimeToLive: 'P1D',
    deadLetteringOnMessageExpiration: true, duplicateDetectionHistoryTimeWindow: 'PT20M', maxDeliveryCount: 7, enableBatchedOperations: false, status: 'ReceiveDisabled',
    userMetadata: 'u', autoDeleteOnIdle: 'P7D', enablePartitioning: true, forwardDeadLetteredMessagesTo: 'js', enableExpress: true,
  };
  await c.createQueue('full', given);
  const got = await c.getQueue('full');
  assert.match(got.forwardDeadLetteredMessagesTo, /js$/);
  for (const [key, value] of Object.entries({ ...given, maxSizeInMegabytes: 16 * 2048, forwardDeadLetteredMessagesTo: got.forwardDeadLetteredMessagesTo })) assert.deepStrictEqual(got[key], value, key);
  await c.deleteQueue('full');
}

async function main() {
  const text = 'Endpoint=sb://localhost/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE';
  const c = new ServiceBusAdministrationClient(text, { retryOptions: { maxRetries: 0 } });
  const code = (promise) => promise.then(() => 'none', (e) => e.code);

  const q = await c.createQueue('js', { lockDuration: 'PT30S', maxDeliveryCount: 3, userMetadata: '<mine>' });
  assert.strictEqual(q.lockDuration, 'PT30S');
  assert.strictEqual(await code(c.createQueue('js')), 'MessageEntityAlreadyExistsError');
  q.maxDeliveryCount = 20;
  assert.strictEqual((await c.updateQueue(q)).maxDeliveryCount, 20);
  const got = await c.getQueue('js');
  assert.deepStrictEqual([got.maxDeliveryCount, got.userMetadata, got.status], [20, '<mine>', 'Active']);
  assert.strictEqual((await c.getQueueRuntimeProperties('js')).activeMessageCount, 0);
  assert.strictEqual(await c.queueExists('none'), false);

  const first = { claimType: 'SharedAccessKey', accessRights: ['Listen'], keyName: 'k', primaryKey: 'one', secondaryKey: 'two' };
  got.authorizationRules = [first];
  assert.deepStrictEqual((await c.updateQueue(got)).authorizationRules, [first]);
  got.authorizationRules = [first, { ...first, keyName: 'l', accessRights: ['Manage', 'Send', 'Listen'] }];
  assert.deepStrictEqual((await c.updateQueue(got)).authorizationRules, got.authorizationRules);

  await c.createTopic('js-topic', { defaultMessageTimeToLive: 'PT1H' });
  await c.createSubscription('js-topic', 's', { forwardTo: 'js' });
  assert.match((await c.getSubscription('js-topic', 's')).forwardTo, /js$/);
  await c.createRule('js-topic', 's', 'sql', { sqlExpression: 'a = @x', sqlParameters: { '@x': 5 } });
  await c.createRule('js-topic', 's', 'fields', { subject: 'label', applicationProperties: { color: 'red', n: 5, ok: true, at: new Date(1795000000568) } });
  const rule = await c.getRule('js-topic', 's', 'fields');
  assert.deepStrictEqual([rule.filter.subject, rule.filter.applicationProperties.color, rule.filter.applicationProperties.n, rule.filter.applicationProperties.at], ['label', 'red', 5, new Date(1795000000568)]);
  await c.createRule('js-topic', 's', 'acts', { correlationId: '5' }, { sqlExpression: 'SET a = @x; REMOVE b', sqlParameters: { '@x': 5 } });
  const acts = await c.getRule('js-topic', 's', 'acts');
  assert.deepStrictEqual([acts.action.sqlExpression, acts.action.sqlParameters], ['SET a = @x; REMOVE b', { '@x': 5 }]);
  const names = [];
  for await (const r of c.listRules('js-topic', 's')) names.push(r.name);
  assert.deepStrictEqual(names, ['$Default', 'acts', 'fields', 'sql']);
  await c.deleteRule('js-topic', 's', '$Default');
  assert.strictEqual((await c.getTopicRuntimeProperties('js-topic')).subscriptionCount, 1);
  const queues = [];
  for await (const one of c.listQueues()) queues.push(one.name);
  assert.deepStrictEqual(queues, ['js']);
  await changes(c, rule);
  await c.deleteTopic('js-topic');
  assert.strictEqual(await c.subscriptionExists('js-topic', 's'), false);
  await c.deleteQueue('js');
  const namespace = await c.getNamespaceProperties();
  assert.deepStrictEqual([namespace.messagingSku, namespace.name], ['Standard', 'localhost']);
  await pages(c);
  await asWritten(c);
}

// pages lists entities in pages, as far as the last one, from a token, and finds all of them without pages.
async function pages(c) {
  const made = [];
  for (let i = 0; i < 5; i += 1) {
    made.push((await c.createQueue(`page${i}`)).name);
    await c.createTopic(`topic${i}`);
    await c.createSubscription('topic0', `s${i}`);
    await c.createRule('topic0', 's0', `r${i}`, { subject: 's' });
  }
  for (const [iterate, count] of [[() => c.listQueues(), 5], [() => c.listTopics(), 5], [() => c.listSubscriptions('topic0'), 5], [() => c.listRules('topic0', 's0'), 6]]) {
    const found = [];
    const sizes = [];
    let token;
    for await (const page of iterate().byPage({ maxPageSize: 2 })) {
      found.push(...page.map((one) => one.name || one.subscriptionName));
      sizes.push(page.length);
      token = token || page.continuationToken;
    }
    assert.strictEqual(new Set(found).size, count);
    assert.deepStrictEqual(sizes, count === 6 ? [2, 2, 2] : [2, 2, 1]);
    const rest = await iterate().byPage({ continuationToken: token, maxPageSize: 9 }).next();
    assert.deepStrictEqual(rest.value.map((one) => one.name || one.subscriptionName), found.slice(2));
    assert.strictEqual((await all(iterate())).length, count);
  }
  assert.deepStrictEqual((await all(c.listQueues())).map((q) => q.name), made);
}

// asWritten reads what was written, character by character, and writes it back.
async function asWritten(c) {
  const text = { sqlExpression: "color = 'it''s \"red\"' AND n < 3 AND m > 1" };
  await c.createRule('topic0', 's0', 'quotes', text, { sqlExpression: "SET a = '\"b\"&<'" });
  const rule = await c.getRule('topic0', 's0', 'quotes');
  assert.deepStrictEqual([rule.filter.sqlExpression, rule.action.sqlExpression], [text.sqlExpression, "SET a = '\"b\"&<'"]);
  assert.deepStrictEqual((await c.updateRule('topic0', 's0', rule)).filter.sqlExpression, text.sqlExpression);
  await c.createRule('topic0', 's0', 'fields', { subject: "it's", applicationProperties: { "k'y": 'v\'al"ue' } });
  const { filter } = await c.getRule('topic0', 's0', 'fields');
  assert.deepStrictEqual([filter.subject, filter.applicationProperties], ["it's", { "k'y": 'v\'al"ue' }]);
  const forwards = await c.createQueue('forwards', { forwardTo: 'SB://LOCALHOST/PAGE0', forwardDeadLetteredMessagesTo: 'Page1', userMetadata: "it's" });
  assert.deepStrictEqual([forwards.forwardTo, forwards.forwardDeadLetteredMessagesTo, forwards.userMetadata], ['sb://localhost/PAGE0', 'sb://localhost/Page1', "it's"]);
  const topic = await c.getTopic('topic1');
  assert.strictEqual((await c.updateTopic({ ...topic, duplicateDetectionHistoryTimeWindow: 'PT2M' })).duplicateDetectionHistoryTimeWindow, 'PT2M');
  await c.createTopic('detects', { requiresDuplicateDetection: true });
  await assert.rejects(c.updateTopic({ ...(await c.getTopic('detects')), duplicateDetectionHistoryTimeWindow: 'PT2M' }), /DuplicateDetectionHistoryTimeWindow property of an existing Topic cannot be changed/);
  await assert.rejects(c.createQueue('page0'), /The messaging entity 'sb:.*page0' already exists/);
  await assert.rejects(c.deleteQueue('none'), /The messaging entity 'sb:.*none' could not be found/);
  for (const size of [1023, 102401]) {
    await assert.rejects(c.createQueue('large', { maxMessageSizeInKilobytes: size }), /value for 'MaxMessageSizeInKilobytes' must be between 1024 and 102400/);
  }
}

require('./run')(main);
