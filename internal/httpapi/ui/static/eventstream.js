// Server-sent events taken apart. Nothing here knows of the page.

/** EventStream reads pieces of text as they come. */
export class EventStream {
  constructor() {
    this.rest = '';
  }

  /** add returns the events that a piece completes: {event, data}. Comments are none. */
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

/** spoken is an event in words: its fields besides name, time and user, in the order of the broker. */
export function spoken(fields) {
  const known = ['event', 'timestamp_in_ms', 'user_who_performed_action'];
  return Object.entries(fields).filter(([key, value]) => !known.includes(key) && value !== '' && value !== null && JSON.stringify(value) !== '{}')
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ');
}

/** logged is a line of the log, {id, line}, taken apart: {id, time, level, message, rest}. One that is no JSON is its message. */
export function logged({ id, line }) {
  try {
    const { time, level, message, event, ...rest } = JSON.parse(line);
    return { id, time, level, message: [message, event].filter(Boolean).join(': '), rest };
  } catch {
    return { id, time: null, level: '', message: line, rest: {} };
  }
}
