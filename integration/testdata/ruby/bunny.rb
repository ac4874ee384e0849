# Debian's bunny: confirms, consume and acknowledge, get, return, RPC, retry over a queue with a TTL, refusal.
require "bunny"
require "timeout"

PATIENCE = 20

def equal(got, want)
  raise "got #{got.inspect}, want #{want.inspect}" unless got == want
end

def take(queue)
  Timeout.timeout(PATIENCE) do
    loop do
      info, properties, body = queue.pop
      return [info, properties, body] if info
      sleep 0.01
    end
  end
end

def confirmed(ch)
  ch.confirm_select
  q = ch.queue("", exclusive: true)
  1000.times { |i| q.publish(i.to_s, persistent: true) }
  raise "refused" unless ch.wait_for_confirms
  equal q.message_count, 1000
  ch.prefetch(10)
  seen = Queue.new
  q.subscribe(manual_ack: true) do |info, _, body|
    ch.ack(info.delivery_tag)
    seen << body.to_i
  end
  equal Timeout.timeout(PATIENCE) { Array.new(1000) { seen.pop } }, (0...1000).to_a
end

def properties(ch)
  q = ch.queue("", exclusive: true)
  sent = { content_type: "text/plain", correlation_id: "c", reply_to: "r", message_id: "m", type: "t", app_id: "a",
           priority: 3, timestamp: 1_700_000_000,
           headers: { "text" => "t", "number" => 2**40, "flag" => true, "list" => [1, "x"], "table" => { "deep" => -1 } } }
  q.publish("body", sent)
  _, got, body = take(q)
  equal body, "body"
  equal sent.to_h { |k, _| [k, k == :timestamp ? got[k].to_i : got[k]] }, sent
end

def redelivered(ch)
  q = ch.queue("", exclusive: true)
  q.publish("again")
  seen = Queue.new
  q.subscribe(manual_ack: true) do |info, _, _|
    seen << info.redelivered?
    info.redelivered? ? ch.ack(info.delivery_tag) : ch.nack(info.delivery_tag, false, true)
  end
  equal Timeout.timeout(PATIENCE) { Array.new(2) { seen.pop } }, [false, true]
end

def returned(ch)
  back = Queue.new
  x = ch.direct("amq.direct")
  x.on_return { |info, _, body| back << [info.reply_code, body] }
  x.publish("back", routing_key: "nobody", mandatory: true)
  equal Timeout.timeout(PATIENCE) { back.pop }, [312, "back"]
end

def routed(ch)
  source = ch.topic("ruby.source", auto_delete: true)
  x = ch.fanout("ruby.all", auto_delete: true)
  q = ch.queue("", exclusive: true).bind(x)
  x.bind(source, routing_key: "a.#")
  source.publish("no", routing_key: "b")
  source.publish("yes", routing_key: "a.b.c")
  equal take(q).last, "yes"
end

def rpc(ch)
  server = ch.connection.create_channel
  questions = server.queue("", exclusive: true)
  questions.subscribe do |_, properties, body|
    server.default_exchange.publish(body.upcase, routing_key: properties.reply_to, correlation_id: properties.correlation_id)
  end
  answers = Queue.new
  ch.queue("amq.rabbitmq.reply-to", passive: true)
  ch.basic_consume("amq.rabbitmq.reply-to", "", true) { |_, properties, body| answers << [properties.correlation_id, body] }
  100.times { |i| ch.default_exchange.publish("q#{i}", routing_key: questions.name, reply_to: "amq.rabbitmq.reply-to", correlation_id: i.to_s) }
  equal Timeout.timeout(PATIENCE) { Array.new(100) { answers.pop } }, Array.new(100) { |i| [i.to_s, "Q#{i}"] }
end

# Retries through a queue with a TTL, as Sneakers does.
def retried(ch)
  work = ch.fanout("ruby.work", auto_delete: true)
  failed = ch.fanout("ruby.failed", auto_delete: true)
  ch.queue("ruby.retry", exclusive: true, arguments: { "x-dead-letter-exchange" => work.name, "x-message-ttl" => 100 }).bind(failed)
  q = ch.queue("ruby.jobs", exclusive: true, arguments: { "x-dead-letter-exchange" => failed.name }).bind(work)
  counts = Queue.new
  q.subscribe(manual_ack: true) do |info, properties, _|
    death = (properties.headers || {}).fetch("x-death", []).find { |d| d["queue"] == "ruby.jobs" }
    counts << (death ? death["count"] : 0)
    death && death["count"] == 2 ? ch.ack(info.delivery_tag) : ch.reject(info.delivery_tag)
  end
  work.publish("job")
  equal Timeout.timeout(PATIENCE) { Array.new(3) { counts.pop } }, [0, 1, 2]
end

def refused(ch)
  ch.queue("ruby.not.there", passive: true)
  raise "found"
rescue Bunny::NotFound => e
  raise unless e.message.include?("no queue 'ruby.not.there' in vhost '/'")
  equal ch.open?, false
end

%i[confirmed properties redelivered returned routed rpc retried refused].each do |job|
  connection = Bunny.new("amqp://guest:guest@127.0.0.1:#{ARGV[0]}", automatically_recover: false, log_level: :warn)
  connection.start
  send(job, connection.create_channel)
  connection.close
  puts "ok #{job}"
end
