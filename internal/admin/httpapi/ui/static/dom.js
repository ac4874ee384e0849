// Elements. Children that are strings become text nodes: data of the API is never parsed as markup.

import { brokerNow } from './api.js';

const svgSpace = 'http://www.w3.org/2000/svg';

/** el makes an HTML element: attributes, listeners (onclick: f) and children. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** svg makes an SVG element in the same way. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

function fill(e, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') e.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'selected') e[name] = value;
    else e.setAttribute(name, value === true ? '' : String(value));
  }
  e.append(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** text sets the text of an element only if it differs, so that focus and selection are kept. */
export function text(e, value) {
  if (e.textContent !== value) e.textContent = value;
}

/** when shows a time of the API, a string or ms, relative to now, with the exact time on hover. A past deadline is shown as now: its action is under way. */
export function when(format, at, deadline = false) {
  if (at === null || at === undefined) return el('span', { class: 'none' }, '–');
  const ms = new Date(at).getTime();
  if (Number.isNaN(ms)) return el('span', null, String(at));
  const e = el('time', { datetime: new Date(ms).toISOString(), title: format.moment(ms), class: deadline ? 'deadline' : null });
  setRelative(format, e);
  return e;
}

function setRelative(format, e) {
  const at = Date.parse(e.dateTime), now = brokerNow();
  text(e, format.relative(e.className === 'deadline' ? Math.max(at, now) : at, now));
}

/** figure is a number; zeros are muted. */
export const figure = (format, n) => (n === 0 ? el('span', { class: 'zero' }, '0') : format.number(n));

/** nameParts are the parts of a name that is shortened in its middle. */
export const nameParts = (name) => (name.length > 24 ? [el('span', { class: 'head' }, name.slice(0, -10)), el('span', { class: 'tail' }, name.slice(-10))] : [name]);

/** tick updates the relative times below root. */
export function tick(format, root) {
  for (const e of root.querySelectorAll('time')) setRelative(format, e);
}

/** stay, returned by the run function of a dialog, leaves the dialog open and unchanged. */
export const stay = Symbol('stay');

/** dialog opens a dialog with a form; run gets the form's data and returns content that replaces the body, nothing to close the dialog, or stay. */
export function dialog(title, body, action, run, danger = false) {
  const message = el('p', { class: 'error', role: 'alert' });
  const submit = el('button', { class: danger ? 'danger' : 'primary', type: 'submit' }, action);
  const content = el('div', { class: 'dialog-body' }, body);
  const cancel = el('button', { type: 'button', onclick: () => box.close() }, 'Cancel');
  const form = el('form', {
    method: 'dialog', onsubmit: async (event) => {
      event.preventDefault();
      submit.disabled = true;
      text(message, '');
      try {
        const shown = await run(new FormData(form));
        if (!shown) return box.close();
        if (shown === stay) {
          submit.disabled = false;
          return;
        }
        content.replaceChildren(shown);
        submit.remove();
        text(cancel, 'Close');
        cancel.focus();
      } catch (error) {
        text(message, error.message);
        submit.disabled = false;
      }
    },
  }, el('h2', { id: 'dialog-title' }, title), content, message, el('div', { class: 'actions' }, cancel, submit));
  const box = el('dialog', { 'aria-labelledby': 'dialog-title', onclose: () => box.remove() }, form);
  document.body.append(box);
  box.showModal();
  return box;
}
