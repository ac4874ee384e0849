// Numbers, bytes, durations and times as text. Independent of the page.

const minute = 60e3, hour = 60 * minute, day = 24 * hour;

/** number is 1234567 as "1,234,567"; "–" for a missing number. */
export function number(n) {
  if (n === null || n === undefined || Number.isNaN(n)) return '–';
  const [whole, part] = String(Math.abs(n)).split('.');
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ',') + (part ? '.' + part : '');
  return n < 0 ? '−' + text : text;
}

/** short is a number in at most five characters: "12.3k", "4M". */
export function short(n) {
  if (n === null || n === undefined || Number.isNaN(n)) return '–';
  for (const [unit, size] of Object.entries({ G: 1e9, M: 1e6, k: 1e3 })) {
    const scaled = n / size;
    if (Math.abs(scaled) >= 0.99995) return trimmed(scaled) + unit;
  }
  return String(Math.round(n * 10) / 10);
}

function trimmed(x) {
  return Math.abs(x) >= 100 ? String(Math.round(x)) : String(Math.round(x * 10) / 10);
}

/** rate is events per second. */
export function rate(x) {
  if (x === null || x === undefined) return '–';
  return number(Math.abs(x) < 100 ? Math.round(x * 10) / 10 : Math.round(x)) + '/s';
}

/** bytes is a number of bytes, in units that are powers of 1024. */
export function bytes(n) {
  if (n === null || n === undefined) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  while (Math.abs(n) >= 1024 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return (i === 0 ? String(n) : trimmed(n)) + ' ' + units[i];
}

/** duration is ms in the largest unit that fits and the next one: "850 ms", "12.3 s", "4 min 10 s", "2 d 4 h". */
export function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 0) return '−' + duration(-ms);
  if (ms < 1) return `${Math.round(ms * 100) / 100} ms`;
  if (ms < 999.5) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
  if (ms < 59950) return `${Math.round(ms / 100) / 10} s`;
  if (ms < hour - 500) return two(ms, minute, 'min', 1e3, 's');
  if (ms < day - 30e3) return two(ms, hour, 'h', minute, 'min');
  if (ms < 365 * day) return two(ms, day, 'd', hour, 'h');
  return two(ms, 365 * day, 'y', day, 'd');
}

function two(ms, large, largeName, small, smallName) {
  const rest = Math.round(ms / small), per = large / small;
  const text = `${Math.floor(rest / per)} ${largeName}`;
  return rest % per ? `${text} ${rest % per} ${smallName}` : text;
}

/** countdown is the remaining time: "0:09.3", "4:10", "3:05:00", "2 d 4 h". */
export function countdown(ms) {
  if (ms <= 0) return 'now';
  if (ms >= 2 * day) return duration(ms);
  const s = ms / 1e3, h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  const two = (n) => String(n).padStart(2, '0');
  if (s < 10) return `0:0${(Math.floor(s * 10) / 10).toFixed(1)}`;
  return h > 0 ? `${h}:${two(m)}:${two(Math.floor(s) % 60)}` : `${m}:${two(Math.floor(s) % 60)}`;
}

/** relative is a time relative to now, both in ms: "in 5 s", "3 min ago". */
export function relative(at, now) {
  const ms = at - now;
  if (Math.abs(ms) < 500) return 'now';
  const far = Math.abs(ms), rough = far < minute ? Math.round(far / 1e3) * 1e3 : far < hour ? Math.round(far / 1e3) * 1e3 : far;
  return ms > 0 ? `in ${duration(rough)}` : `${duration(rough)} ago`;
}

/** moment is a time in ms as date and time with milliseconds, in the browser's time zone. */
export function moment(at) {
  const d = new Date(at), p = (n, w = 2) => String(n).padStart(w, '0');
  const offset = -d.getTimezoneOffset(), sign = offset < 0 ? '−' : '+', off = Math.abs(offset);
  return `${d.getFullYear()}-${p(d.getMonth() + 1)}-${p(d.getDate())} ${p(d.getHours())}:${p(d.getMinutes())}:${p(d.getSeconds())}.` +
    `${p(d.getMilliseconds(), 3)} UTC${sign}${p(Math.floor(off / 60))}:${p(off % 60)}`;
}

/** clock is the time of day of a time in ms. */
export function clock(at) {
  const d = new Date(at), p = (n) => String(n).padStart(2, '0');
  return `${p(d.getHours())}:${p(d.getMinutes())}:${p(d.getSeconds())}`;
}

/** plural is "1 queue", "2,000 queues". */
export function plural(n, one, many = one + 's') {
  return `${number(n)} ${n === 1 ? one : many}`;
}
