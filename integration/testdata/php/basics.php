<?php
// Debian's php-amqp: confirms, get and consume, acknowledge, transactions, Symfony's delays, refusal.
declare(strict_types=1);

const PATIENCE = 20;

function equal(mixed $got, mixed $want): void
{
    if ($got !== $want) {
        throw new Exception('got ' . var_export($got, true) . ', want ' . var_export($want, true));
    }
}

function queue(AMQPChannel $ch, string $name = '', array $arguments = []): AMQPQueue
{
    $q = new AMQPQueue($ch);
    if ($name !== '') {
        $q->setName($name);
    }
    $q->setFlags(AMQP_EXCLUSIVE);
    $q->setArguments($arguments);
    $q->declareQueue();
    return $q;
}

function take(AMQPQueue $q): AMQPEnvelope
{
    for ($end = microtime(true) + PATIENCE; microtime(true) < $end; usleep(10000)) {
        if ($m = $q->get(AMQP_AUTOACK)) {
            return $m;
        }
    }
    throw new Exception('nothing came');
}

$jobs = [
    'confirmed' => function (AMQPChannel $ch): void {
        $acked = 0;
        $ch->confirmSelect();
        $ch->setConfirmCallback(
            function (int $tag, bool $multiple) use (&$acked): bool { $acked = $tag; return $acked < 1000; },
            function (): bool { throw new Exception('refused'); },
        );
        $q = queue($ch);
        $x = new AMQPExchange($ch);
        for ($i = 0; $i < 1000; $i++) {
            $x->publish((string) $i, $q->getName());
        }
        $ch->waitForConfirm(PATIENCE);
        equal($acked, 1000);
        $ch->qos(0, 10);
        $seen = 0;
        $q->consume(function (AMQPEnvelope $m, AMQPQueue $q) use (&$seen): bool {
            equal($m->getBody(), (string) $seen);
            $q->ack($m->getDeliveryTag());
            return ++$seen < 1000;
        });
        $q->cancel();
    },

    'properties' => function (AMQPChannel $ch): void {
        $q = queue($ch);
        (new AMQPExchange($ch))->publish('body', $q->getName(), AMQP_NOPARAM, [
            'content_type' => 'text/plain', 'correlation_id' => 'c', 'reply_to' => 'r', 'message_id' => 'm', 'type' => 't',
            'app_id' => 'a', 'priority' => 3, 'timestamp' => 1700000000, 'delivery_mode' => 2, 'headers' => ['text' => 'ä', 'number' => 7],
        ]);
        $m = take($q);
        equal([$m->getBody(), $m->getContentType(), $m->getCorrelationId(), $m->getReplyTo(), $m->getMessageId(), $m->getType()],
            ['body', 'text/plain', 'c', 'r', 'm', 't']);
        equal([$m->getAppId(), $m->getPriority(), (int) $m->getTimestamp(), $m->getDeliveryMode(), $m->getHeaders()],
            ['a', 3, 1700000000, 2, ['text' => 'ä', 'number' => 7]]);
    },

    'redelivered' => function (AMQPChannel $ch): void {
        $q = queue($ch);
        (new AMQPExchange($ch))->publish('again', $q->getName());
        $m = $q->get();
        equal($m->isRedelivery(), false);
        $q->nack($m->getDeliveryTag(), AMQP_REQUEUE);
        equal(take($q)->isRedelivery(), true);
    },

    'transaction' => function (AMQPChannel $ch): void {
        $q = queue($ch);
        $x = new AMQPExchange($ch);
        $ch->startTransaction();
        $x->publish('undone', $q->getName());
        $ch->rollbackTransaction();
        $x->publish('done', $q->getName());
        $ch->commitTransaction();
        equal(take($q)->getBody(), 'done');
        equal($q->get() ?: null, null);
    },

    // Each delay has a queue, which expires some time after its messages; redeclaring it renews its lease.
    'delayed as Symfony does' => function (AMQPChannel $ch): void {
        $x = new AMQPExchange($ch);
        $x->setName('php.delays');
        $x->setType(AMQP_EX_TYPE_DIRECT);
        $x->declareExchange();
        $q = queue($ch);
        $began = microtime(true);
        foreach ([600, 100, 300] as $delay) {
            $waits = new AMQPQueue($ch);
            $waits->setName("php.delay.$delay");
            $waits->setArguments([
                'x-message-ttl' => $delay, 'x-expires' => $delay + 10000,
                'x-dead-letter-exchange' => '', 'x-dead-letter-routing-key' => $q->getName(),
            ]);
            $waits->declareQueue();
            $waits->bind('php.delays', "delay.$delay");
            $x->publish((string) $delay, "delay.$delay");
            $waits->declareQueue();
        }
        // In any order: on a busy machine a publish may take longer than the delay of an earlier one.
        $came = [];
        for ($i = 0; $i < 3; $i++) {
            $came[] = $body = take($q)->getBody();
            if (microtime(true) - $began < (int) $body / 1000) {
                throw new Exception("$body came early");
            }
        }
        sort($came);
        equal($came, ['100', '300', '600']);
        foreach ([600, 100, 300] as $delay) {
            $waits->setName("php.delay.$delay");
            $waits->delete();
        }
        $x->delete();
    },

    'refused' => function (AMQPChannel $ch): void {
        $q = new AMQPQueue($ch);
        $q->setName('php.not.there');
        $q->setFlags(AMQP_PASSIVE);
        try {
            $q->declareQueue();
        } catch (AMQPQueueException $e) {
            equal($e->getCode(), 404);
            return;
        }
        throw new Exception('found');
    },
];

foreach ($jobs as $name => $job) {
    $connection = new AMQPConnection(['host' => '127.0.0.1', 'port' => (int) $argv[1], 'read_timeout' => PATIENCE]);
    $connection->connect();
    $job(new AMQPChannel($connection));
    $connection->disconnect();
    echo "ok $name\n";
}
