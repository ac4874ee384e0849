// Parsers of server-sent events and log lines. Independent of the page.

/** EventStream parses a stream that arrives in pieces of text. */
export class EventStream {
  constructor() {
    this.rest = '';
  }

  /** add returns the events completed by a piece: {event, data}. Comments and events without data are skipped. */
  add(piece) {
    const blocks = (this.rest + piece).split('\n\n');
    this.rest = blocks.pop();
    return blocks.map((block) => {
      const found = { event: 'message', data: [] };
      for (const line of block.split('\n')) {
        const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (name === 'event') found.event = value;
        if (name === 'data') found.data.push(value);
      }
      return { event: found.event, data: found.data.join('\n') };
    }).filter((e) => e.data !== '');
  }
}

/** spoken is the text of an event: its non-empty fields other than name, time and user, in the order of the broker. */
export function spoken(fields) {
  const known = ['event', 'timestamp_in_ms', 'user_who_performed_action'];
  return Object.entries(fields).filter(([key, value]) => !known.includes(key) && value !== '' && value !== null && JSON.stringify(value) !== '{}')
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ');
}

/** logged parses a log line {id, line} into {id, time, level, message, rest}. A line that is not JSON is the message. */
export function logged({ id, line }) {
  try {
    const { time, level, message, event, ...rest } = JSON.parse(line);
    return { id, time, level, message: [message, event].filter(Boolean).join(': '), rest };
  } catch {
    return { id, time: null, level: '', message: line, rest: {} };
  }
}
