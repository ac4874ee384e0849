// The dialogs that set and delete a policy, after showing the consequences.

import { path, request } from './api.js';
import { dialog, el, text } from './dom.js';
import { plural } from './format.js';
import { keys } from './keys.js';
import { button, vhostsOf } from './list.js';
import { change, definitionOf, parsed, rowsOf, previewSentences } from './policy.js';

const applyTo = ['all', 'queues', 'classic_queues', 'quorum_queues', 'streams', 'exchanges'];

const address = (p, preview) => (preview ? path(p.operator ? 'api/x/operator-policies' : 'api/x/policies', p.vhost, p.name, 'preview') : path(p.operator ? 'api/operator-policies' : 'api/policies', p.vhost, p.name));

/** consequences are the sentences of a preview; losses and their button are marked. */
export function consequences(p, submit) {
  const lost = p.messages.expire_at_once || p.messages.dropped_at_once;
  submit.className = lost ? 'danger' : 'primary';
  return previewSentences(p).map((s) => el('p', { class: /^(Expire|Dropped) at once|^Without effect/.test(s) ? 'error' : null }, s));
}

/** shown is the content of a preview: its sentences, and the objects. */
function shown(p, submit) {
  const most = 100, items = p.items.slice(0, most);
  return [...consequences(p, submit), items.length > 0 && el('details', { class: 'figures' }, el('summary', null, 'Objects'), el('ul', { class: 'names', tabindex: 0 },
    items.map((i) => el('li', null, [`${i.kind} ${i.name}`, i.loses_policy && `loses ${i.loses_policy}`, i.loses_operator_policy && `loses ${i.loses_operator_policy}`, ...i.settings.map(change),
      i.retimed ? `${plural(i.retimed, 'message')} with another deadline` : '', i.expire_at_once ? `${plural(i.expire_at_once, 'message')} expire at once` : '', i.dropped_at_once ? `${plural(i.dropped_at_once, 'message')} dropped` : '',
    ].filter(Boolean).join('; '))), p.hit > items.length && el('li', null, `and ${plural(p.hit - items.length, 'object')} more`)))];
}

/** Definition is the editor of a definition, as rows of keys and values or as JSON. */
class Definition {
  constructor(definition, changed) {
    this.list = el('div', { class: 'rows' });
    this.json = el('textarea', { rows: 6, spellcheck: 'false', 'aria-label': 'Definition as JSON', hidden: true });
    this.raw = el('input', { type: 'checkbox', onchange: () => this.turn() });
    this.changed = changed;
    this.error = el('p', { class: 'error', role: 'alert' });
    const add = button('Add a key', () => this.add('', '').focus());
    this.more = add;
    this.element = el('fieldset', { class: 'framed' }, el('legend', null, 'Definition'), el('datalist', { id: 'policy-keys' }, keys.map(([name, values, meaning]) => el('option', { value: name, label: `${meaning} (${values})` }))), this.list, this.json, this.error,
      el('div', { class: 'tools' }, add, el('label', { class: 'check' }, this.raw, 'as JSON')));
    this.fill(definition);
  }

  fill(definition) {
    this.list.replaceChildren();
    for (const [k, v] of rowsOf(definition)) this.add(k, v);
    if (this.list.childElementCount === 0) this.add('', '');
  }

  add(key, value) {
    const name = el('input', { value: key, list: 'policy-keys', placeholder: 'message-ttl', 'aria-label': 'Key', spellcheck: 'false', autocapitalize: 'none' });
    const row = el('div', null, name, el('input', { value, placeholder: '60000', 'aria-label': 'Value', spellcheck: 'false', autocapitalize: 'none' }),
      el('button', { type: 'button', 'aria-label': 'Remove this key', onclick: () => { row.remove(); this.changed(); } }, '×'));
    this.list.append(row);
    return name;
  }

  turn() {
    try {
      text(this.error, '');
      if (this.raw.checked) this.json.value = JSON.stringify(this.rows(), null, 2);
      else this.fill(parsed(this.json.value));
    } catch (error) {
      this.raw.checked = !this.raw.checked;
      text(this.error, error.message);
    }
    this.json.hidden = !this.raw.checked;
    this.list.hidden = this.more.hidden = this.raw.checked;
  }

  rows() {
    return definitionOf([...this.list.children].map((row) => [...row.querySelectorAll('input')].map((i) => i.value)));
  }

  value() {
    return this.raw.checked ? parsed(this.json.value) : this.rows();
  }
}

/** edit creates or changes a policy after showing the consequences. The preview is requested one second after the last input. */
export async function edit(context, policy, asking) {
  const vhosts = policy ? [policy.vhost] : await vhostsOf('policy').catch(() => ['/']);
  const p = policy ?? { name: '', pattern: '', 'apply-to': 'all', priority: 0, definition: {}, operator: false };
  const field = (name, label, value, more) => el('label', null, label, el('input', { name, value, required: true, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'none', ...more }));
  const pick = (name, label, options, chosen, disabled = false) => el('label', null, label, el('select', { name, disabled }, options.map((o) => el('option', { value: o, selected: o === chosen }, o))));
  const said = el('div', { class: 'preview', role: 'status' }), wrong = el('p', { class: 'error', role: 'alert' });
  let seen = null, timer = 0, turn = 0;
  const changed = () => {
    seen = null;
    turn++;
    submit.disabled = true;
    text(wrong, '');
    said.replaceChildren(el('p', { class: 'hint' }, 'A preview appears here before the policy can be set.'));
    clearTimeout(timer);
    timer = setTimeout(look, 1000);
  };
  const definition = new Definition(p.definition, () => changed());
  const read = () => {
    const data = new FormData(box.querySelector('form'));
    return { at: { operator: policy ? policy.operator : data.get('kind') === 'operator policy', vhost: policy?.vhost ?? data.get('vhost'), name: policy?.name ?? data.get('name') },
      body: { pattern: data.get('pattern'), 'apply-to': data.get('apply-to'), priority: Number(data.get('priority')), definition: definition.value() } };
  };
  const look = async () => {
    const mine = turn;
    try {
      const { at, body } = read();
      if (!box.isConnected || !at.name || !body.pattern || Object.keys(body.definition).length === 0) return;
      const found = await request('POST', address(at, true), { body });
      if (mine !== turn) return;
      seen = { at, body };
      submit.disabled = false;
      said.replaceChildren(...shown(found, submit).filter(Boolean));
    } catch (error) {
      if (mine === turn) text(wrong, error.message);
    }
  };
  const box = dialog(policy ? `${policy.operator ? 'Operator policy' : 'Policy'} ${policy.name} in ${policy.vhost}` : 'Add a policy', [
    policy ? '' : [pick('kind', 'Kind', context.may() ? ['policy', 'operator policy'] : ['policy'], 'policy'), pick('vhost', 'Virtual host', vhosts, '/'), field('name', 'Name', '')],
    field('pattern', 'Pattern, a regular expression', p.pattern), pick('apply-to', 'Apply to', applyTo, p['apply-to']), field('priority', 'Priority', String(p.priority), { inputmode: 'numeric', pattern: '-?[0-9]+' }),
    definition.element, wrong, said,
  ], 'Set policy', async () => {
    await request('PUT', address(seen.at, false), { body: seen.body });
    asking.now();
  });
  const submit = box.querySelector('button[type=submit]');
  box.addEventListener('input', changed);
  box.addEventListener('close', () => clearTimeout(timer));
  changed();
}

/** removePolicy deletes a policy after showing the consequences. */
export function removePolicy(policy, asking) {
  const said = el('div', { class: 'preview', role: 'status' }, el('p', { class: 'hint' }, 'Preview…'));
  const box = dialog(`Delete ${policy.operator ? 'operator policy' : 'policy'} ${policy.name} in ${policy.vhost}?`, said, 'Delete', async () => {
    await request('DELETE', address(policy, false));
    asking.now();
  }, true);
  const submit = box.querySelector('button[type=submit]');
  submit.disabled = true;
  request('POST', address(policy, true), { body: { clear: true } }).then((found) => {
    said.replaceChildren(...shown({ ...found, clear: true }, submit).filter(Boolean));
    submit.className = 'danger';
    submit.disabled = false;
  }, (error) => said.replaceChildren(el('p', { class: 'error' }, error.message)));
}
