// API: the description that the broker serves, as a page.

import { get } from '../api.js';
import { el, text } from '../dom.js';
import { plural } from '../format.js';
import { operationsOf, outline, parseYAML } from '../openapi.js';

export const api = { title: 'API', group: 'Admin', show };

const typed = (content, document) => Object.entries(content).map(([kind, c]) => [el('p', null, el('code', null, kind)), el('pre', { tabindex: 0 }, outline(c.schema ?? {}, document))]);

function details(o, document) {
  return [o.description && el('p', null, o.description), o.open && el('p', { class: 'hint' }, 'Without a login.'),
    o.parameters.length > 0 && el('dl', { class: 'facts' }, o.parameters.map((p) => el('div', null, el('dt', null, p.name), el('dd', null,
      [`in the ${p.in}`, p.schema && outline(p.schema, document, 1), p.schema?.default !== undefined && `default ${p.schema.default}`, p.description].filter(Boolean).join(', '))))),
    Object.keys(o.body).length > 0 && [el('h3', null, 'Body'), typed(o.body, document)],
    o.answers.map((a) => [el('h3', null, a.status === 'default' ? 'Any other answer' : a.status, a.description && `: ${a.description}`), typed(a.content, document)])];
}

function show(main, context) {
  const name = el('input', { type: 'search', value: context.params.get('name') ?? '', placeholder: 'Path, method or words', 'aria-label': 'Path, method or words', spellcheck: 'false', oninput: () => look() });
  const said = el('span', { class: 'hint', role: 'status' }), failed = el('p', { class: 'error', role: 'alert' }), body = el('div');
  main.append(el('div', { class: 'row' }, el('h1', null, 'API'), el('a', { class: 'button', href: 'api/openapi.yaml', download: 'openapi.yaml' }, 'OpenAPI')), el('div', { class: 'tools', role: 'search' }, name, said), failed, body);
  let all = [];
  const look = () => {
    context.keep(new URLSearchParams(name.value ? { name: name.value } : {}), false);
    const words = name.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { element, parts } of all) {
      for (const p of parts) {
        p.element.hidden = !words.every((w) => p.words.includes(w));
        shown += p.element.hidden ? 0 : 1;
      }
      element.hidden = parts.every((p) => p.element.hidden);
    }
    text(said, plural(shown, 'operation'));
  };
  get('api/openapi.yaml', { read: parseYAML }).then((document) => {
    const operations = operationsOf(document);
    body.append(el('p', null, document.info.description));
    all = document.tags.map((tag) => {
      const parts = operations.filter((o) => o.tag === tag.name).map((o) => {
        const element = el('details', { class: 'operation', ontoggle: () => element.childElementCount === 1 && element.append(el('div', null, details(o, document).flat(4).filter(Boolean))) },
          el('summary', null, el('code', null, o.method), ' ', el('code', { class: 'breaks' }, o.path), ' ', o.summary));
        return { element, words: `${o.method} ${o.path} ${o.summary}`.toLowerCase() };
      });
      return { parts, element: el('section', { class: 'part' }, el('h2', null, tag.description), parts.map((p) => p.element)) };
    });
    body.append(...all.map((s) => s.element));
    look();
  }, (error) => text(failed, error.message));
  context.onChange((params) => {
    name.value = params.get('name') ?? '';
    look();
  });
  return () => {};
}
