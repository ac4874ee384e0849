// Definitions: download, and upload after the report of a dry run.

import { path, request } from '../api.js';
import { el, text } from '../dom.js';
import { number, plural } from '../format.js';
import { button, Rows, vhostsOf } from '../list.js';

/** verdicts of the report, the worst first. */
const verdicts = ['refused', 'ignored', 'risky', 'approximated', 'taken'];

export const definitions = { title: 'Definitions', group: 'Admin', tags: ['administrator'], show };

function vhostSelect(label, all) {
  const select = el('select', null, el('option', { value: '' }, all));
  vhostsOf().then((names) => select.append(...names.map((n) => el('option', { value: `/${n}` }, n))), () => {}); // the / distinguishes an empty name from all
  return [select, el('label', null, label, select)];
}

const address = (select) => (select.value ? path('api/definitions', select.value.slice(1)) : 'api/definitions');

function download() {
  const [vhost, choice] = vhostSelect('What', 'everything'), wrong = el('p', { class: 'error', role: 'alert' });
  const save = async () => {
    try {
      text(wrong, '');
      const found = await request('GET', address(vhost), { read: (body) => body });
      const to = URL.createObjectURL(new Blob([found], { type: 'application/json' }));
      const name = ['definitions', vhost.value.slice(1).replace(/[^\w.-]+/g, '_'), new Date().toISOString().slice(0, 10)].filter(Boolean).join('-');
      el('a', { href: to, download: `${name}.json` }).click();
      URL.revokeObjectURL(to);
    } catch (error) {
      text(wrong, error.message);
    }
  };
  return el('section', { class: 'card lines' }, el('h2', null, 'Download'), choice, el('p', { class: 'hint' }, 'Users with password hashes, virtual hosts, permissions, parameters with their passwords, policies, queues, exchanges and bindings; no messages. For one virtual host, only its contents.'),
    wrong, el('div', null, button('Download', save)));
}

function upload() {
  const [vhost, choice] = vhostSelect('Into', 'the virtual hosts that the file names');
  const file = el('input', { type: 'file', accept: '.json,application/json' }), strict = el('input', { type: 'checkbox', checked: true });
  const said = el('div', { role: 'status' }), wrong = el('p', { class: 'error', role: 'alert' });
  const rows = new Rows('Items, worst first', [['Verdict', (i) => i.verdict], ['Section', (i) => i.section], ['Virtual host', (i) => i.vhost], ['Name', (i) => el('span', { class: 'name' }, i.name)],
    ['Notes', (i) => (i.notes?.length ? el('ul', { class: 'plain wide' }, i.notes.map((n) => el('li', null, n.text))) : '')]], 'The file is empty.');
  let checked = null, refused = 0;
  const may = () => { go.disabled = !checked || strict.checked && refused > 0; };
  const forget = () => {
    checked = null;
    said.replaceChildren();
    text(wrong, '');
    rows.element.hidden = true;
    check.disabled = file.files.length === 0;
    may();
  };
  const report = (r, head) => {
    refused = r.counts.refused ?? 0;
    said.replaceChildren(el('p', null, el('b', null, head), ' ', verdicts.filter((v) => r.counts[v]).map((v) => `${v}: ${number(r.counts[v])}`).join(', ') || 'no items', '.'),
      ...r.warnings.map((w) => el('p', null, w)));
    rows.show(r.items.toSorted((a, b) => verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict)));
    rows.element.hidden = false;
  };
  const send = async (query, failed, then) => {
    check.disabled = go.disabled = true;
    text(wrong, '');
    try {
      then(await request('POST', address(vhost), { query, raw: checked }));
    } catch (error) {
      checked = null;
      said.replaceChildren();
      rows.element.hidden = true;
      text(wrong, `${failed}: ${error.message}`);
    }
    check.disabled = file.files.length === 0;
    may();
  };
  const check = button('Check', async () => {
    checked = await file.files[0].arrayBuffer().catch(() => null); // the checked bytes are imported, even if the file changes
    if (!checked) return text(wrong, 'The browser can no longer read the file: choose it again.');
    await send({ dry_run: 'true' }, 'Nothing was changed', (r) => report(r, `Nothing is changed yet. ${plural(r.items.length, 'item')}:`));
  });
  const go = el('button', { type: 'button', class: 'primary', onclick: () => send({ report: 'true', strict: strict.checked ? 'true' : null }, 'The import failed', (r) => {
    report(r, r.imported ? 'Imported.' : 'Nothing was imported, as an item was refused.');
    checked = null;
  }) }, 'Import');
  for (const e of [file, vhost]) e.addEventListener('change', forget);
  strict.addEventListener('change', may);
  forget();
  return [el('section', { class: 'card lines' }, el('h2', null, 'Upload'), el('label', null, 'File', file), choice, el('label', { class: 'check' }, strict, 'only if no item is refused'),
    el('p', { class: 'hint' }, 'An import merges: objects not in the file stay. Existing users, permissions, parameters and policies are replaced.'),
    wrong, said, el('div', { class: 'buttons' }, check, go)), rows.element];
}

function show(main) {
  const [form, items] = upload();
  main.append(el('h1', null, 'Definitions'), el('div', { class: 'beside' }, download(), form), items);
  return () => {};
}
