// The description of the API, and a parser for the YAML in it: block and flow maps and lists; plain, quoted and folded strings. Independent of the page.

/** parseYAML parses such a document. */
export function parseYAML(text) {
  const lines = text.split('\n').map((line) => ({ indent: line.search(/\S/), line: line.trim() })).filter(({ line }) => line !== '' && !line.startsWith('#'));
  let at = 0;
  const value = (rest, indent) => {
    if (rest === '') return at < lines.length && lines[at].indent > indent ? block(lines[at].indent) : null;
    if (rest !== '>-') return flow(rest);
    const folded = [];
    while (at < lines.length && lines[at].indent > indent) folded.push(lines[at++].line);
    return folded.join(' ');
  };
  const block = (indent) => {
    if (lines[at].line.startsWith('- ')) {
      const list = [];
      while (at < lines.length && lines[at].indent === indent) {
        const { line } = lines[at], item = line.slice(2);
        if (/^[\w-]+:( |$)/.test(item)) {
          lines[at] = { indent: indent + 2, line: item };
          list.push(block(indent + 2));
        } else {
          at++;
          list.push(flow(item));
        }
      }
      return list;
    }
    const map = {};
    while (at < lines.length && lines[at].indent === indent) {
      const [, quoted, plain, rest] = /^(?:['"](.*?)['"]|(.*?)):(?: +(.*))?$/.exec(lines[at++].line) ?? [null, null, '', ''];
      map[quoted ?? plain] = value(rest ?? '', indent);
    }
    return map;
  };
  return lines.length ? block(lines[0].indent) : null;
}

/** flow parses a value that is on one line. */
function flow(text) {
  let i = 0;
  const blanks = () => {
    while (text[i] === ' ') i++;
  };
  const quoted = (quote) => {
    let found = '';
    for (i++; i < text.length; i++) {
      if (text[i] !== quote) found += text[i];
      else if (quote === "'" && text[i + 1] === quote) found += text[i++];
      else break;
    }
    i++;
    return found;
  };
  const plain = (ends) => {
    const from = i;
    while (i < text.length && !ends(i)) i++;
    const found = text.slice(from, i).trim();
    return found === 'true' ? true : found === 'false' ? false : found === 'null' ? null : /^-?\d+(\.\d+)?$/.test(found) ? Number(found) : found;
  };
  const inside = (at) => ',}]'.includes(text[at]) || text[at] === ':' && ' ,}]'.includes(text[at + 1] ?? ' ');
  const one = (ends) => {
    blanks();
    if (text[i] === "'" || text[i] === '"') return quoted(text[i]);
    if (text[i] !== '{' && text[i] !== '[') return plain(ends);
    const map = text[i] === '{', found = map ? {} : [];
    i++;
    for (blanks(); i < text.length && text[i] !== '}' && text[i] !== ']'; blanks()) {
      const first = one(inside);
      blanks();
      if (map && text[i] === ':') {
        i++;
        found[first] = one(inside);
        blanks();
      } else if (map) found[first] = null;
      else found.push(first);
      if (text[i] === ',') i++;
    }
    i++;
    return found;
  };
  return one(() => false);
}

/** operationsOf returns the operations of a description: {method, path, tag, summary, description, open, parameters, body, answers}, with each $ref resolved. */
export function operationsOf(document) {
  const find = (o) => (o?.$ref ? o.$ref.split('/').slice(1).reduce((at, key) => at?.[key], document) : o);
  return Object.entries(document.paths).flatMap(([path, item]) => Object.entries(item).filter(([method]) => method !== 'parameters').map(([method, o]) => ({
    method: method.toUpperCase(), path, tag: o.tags[0], summary: o.summary, description: o.description ?? '', open: o.security?.length === 0,
    parameters: [...(item.parameters ?? []), ...(o.parameters ?? [])].map(find), body: find(o.requestBody)?.content ?? {},
    answers: Object.entries(o.responses).map(([status, r]) => ({ status, description: find(r)?.description ?? '', content: find(r)?.content ?? {} })),
  })));
}

/** outline is a schema as text, with references resolved for at most deep levels. */
export function outline(schema, document, deep = 3, margin = '') {
  if (schema?.$ref) {
    const name = schema.$ref.split('/').pop();
    return deep === 0 ? name : outline(document.components.schemas[name], document, deep - 1, margin);
  }
  for (const [key, word] of [['allOf', ' and '], ['anyOf', ' or '], ['oneOf', ' or ']]) if (schema?.[key]) return schema[key].map((s) => outline(s, document, deep, margin)).join(word);
  const kind = [schema?.type ?? (schema?.enum ? null : 'any')].flat().filter(Boolean).join(' or ');
  if (schema?.properties && deep > 0) {
    const more = `${margin}  `, must = schema.required ?? [];
    return `{\n${Object.entries(schema.properties).map(([k, s]) => `${more}${k}${must.includes(k) ? '' : '?'}: ${outline(s, document, deep, more)}${s?.description ? ` (${s.description})` : ''}\n`).join('')}${margin}}`;
  }
  if (schema?.items) return `list of ${outline(schema.items, document, deep, margin)}`;
  if (schema?.additionalProperties && typeof schema.additionalProperties === 'object') return `map of ${outline(schema.additionalProperties, document, deep, margin)}`;
  return [kind, schema?.enum?.map((v) => JSON.stringify(v)).join(', ')].filter(Boolean).join(' ');
}
