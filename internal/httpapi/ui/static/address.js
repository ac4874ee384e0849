// The address behind #: which page, and the page's state. Nothing here knows of the page.

/** parse takes #/queues/%2F/name?x=1 apart. */
export function parse(hash) {
  const [path, ...rest] = hash.replace(/^#?\/?/, '').split('?');
  return { parts: path.split('/').filter(Boolean).map(decode), params: new URLSearchParams(rest.join('?')) };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by the user
  }
}

/** href is the other way. */
export function href(parts, params = null) {
  const text = params?.toString();
  return '#/' + parts.map(encodeURIComponent).join('/') + (text ? '?' + text : '');
}
