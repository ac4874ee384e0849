// The fragment of the address (#…): the name of a page and its state. Independent of the page.

/** parse splits #/queues/%2F/name?x=1 into parts and parameters. */
export function parse(hash) {
  const [path, ...rest] = hash.replace(/^#?\/?/, '').split('?');
  return { parts: path.split('/').filter(Boolean).map(decode), params: new URLSearchParams(rest.join('?')) };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // an invalid escape, typed by the user
  }
}

/** href is the inverse of parse. */
export function href(parts, params = null) {
  const text = params?.toString();
  return '#/' + parts.map(encodeURIComponent).join('/') + (text ? '?' + text : '');
}
