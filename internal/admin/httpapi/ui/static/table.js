// A table that the server pages, sorts and filters. Its state is kept in the address (tablestate.js).

import { el, text } from './dom.js';
import { number } from './format.js';
import { columnsOf, pageSizes, sorted } from './tablestate.js';

/**
 * ServerTable has a row for each item of a page. spec: columns ({key, label, title, sort, num, shown, always, cell(item, kept)}), key(item), filters;
 * kept is an object of the row. change(state, step) is called with each new state, picked(items) with the selected items. The elements of a row are
 * kept while its item is on the page, so that the focus is kept.
 */
export class ServerTable {
  spec; change; picked; rows; chosen; items;

  constructor(title, spec, change, picked) {
    Object.assign(this, { spec, change, picked, rows: new Map(), chosen: new Set(), items: [] });
    this.name = el('input', { type: 'search', placeholder: spec.search ?? 'Filter by name', 'aria-label': spec.search ?? 'Filter by name', spellcheck: 'false', autocomplete: 'off', oninput: () => this.typed() });
    this.regex = el('input', { type: 'checkbox', onchange: () => this.typed() });
    this.count = el('span', { class: 'range', role: 'status' });
    this.back = el('button', { type: 'button', 'aria-label': 'Previous page', onclick: () => this.turn(-1) }, '‹');
    this.on = el('button', { type: 'button', 'aria-label': 'Next page', onclick: () => this.turn(1) }, '›');
    this.size = el('select', { 'aria-label': 'Rows on a page', onchange: () => this.change({ ...this.state, size: Number(this.size.value), page: 1 }) },
      pageSizes.map((n) => el('option', { value: n }, `${n} rows`)));
    this.choice = el('div', { class: 'choice' });
    this.chooser = el('details', { class: 'menu' }, el('summary', null, 'Columns'), this.choice);
    this.extra = el('div', { class: 'filters' });
    this.tools = el('div', { class: 'tools', role: 'search' }, this.name, el('label', { class: 'check' }, this.regex, 'regular expression'), this.extra, this.chooser);
    this.head = el('tr');
    this.body = el('tbody');
    this.table = el('table', { class: 'items' }, el('caption', { class: 'sr' }, title), el('thead', null, this.head), this.body);
    this.empty = el('p', { class: 'empty', hidden: true });
    this.element = el('div', null, this.tools, el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title }, this.table), this.empty,
      el('nav', { class: 'pages', 'aria-label': `${title}, pages` }, this.count, this.size, this.back, this.on));
  }

  /** set updates the controls to a state; show fills in the items. */
  set(state) {
    this.state = state;
    if (document.activeElement !== this.name) this.name.value = state.name;
    this.regex.checked = state.regex;
    this.size.value = String(state.size);
    this.columns = columnsOf(state, this.spec);
    const shape = this.columns.map((c) => c.key).join();
    if (shape !== this.shape) {
      this.shape = shape;
      this.rows.clear();
      this.body.replaceChildren();
      this.heads = this.columns.map((c) => this.columnHead(c));
      this.all = this.picked && el('input', { type: 'checkbox', 'aria-label': 'Select all rows of this page', onchange: () => this.pickAll() });
      this.head.replaceChildren(...(this.all ? [el('th', { class: 'pick' }, this.all)] : []), ...this.heads);
      this.chooseColumns();
    }
    this.columns.forEach((c, i) => {
      const by = state.sort === c.key;
      if (by) this.heads[i].setAttribute('aria-sort', state.desc ? 'descending' : 'ascending');
      else this.heads[i].removeAttribute('aria-sort');
    });
  }

  columnHead(c) {
    const label = c.sort ? el('button', { type: 'button', title: c.title, onclick: () => this.change(sorted(this.state, c)) }, c.label) : c.label;
    return el('th', { scope: 'col', class: c.num ? 'num' : c.always ? 'first' : null, title: c.title }, label);
  }

  chooseColumns() {
    const shown = new Set(this.columns.map((c) => c.key)), optional = this.spec.columns.filter((c) => !c.always);
    if (this.choice.childElementCount > 0) {
      for (const box of this.choice.querySelectorAll('input')) box.checked = shown.has(box.value);
      return;
    }
    this.choice.replaceChildren(...optional.map((c) => el('label', { class: 'check' }, el('input', {
      type: 'checkbox', value: c.key, checked: shown.has(c.key), onchange: () => {
        const keys = [...this.choice.querySelectorAll('input:checked')].map((box) => box.value);
        const usual = optional.filter((o) => o.shown).map((o) => o.key).join() === keys.join();
        this.change({ ...this.state, cols: usual ? null : keys.length > 0 ? keys : [this.spec.columns[0].key] });
      },
    }), c.choice ?? c.label)));
  }

  /** typed applies the filter 250 ms after the last input. */
  typed() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.change({ ...this.state, name: this.name.value, regex: this.regex.checked, page: 1 }, false), 250);
  }

  turn(by) {
    this.change({ ...this.state, page: Math.max(this.state.page + by, 1) });
  }

  /** show fills the rows with a page of the API. */
  show(page, nothing) {
    this.items = page.items;
    const seen = new Set(), rows = [];
    for (const item of page.items) {
      const key = this.spec.key(item);
      seen.add(key);
      let row = this.rows.get(key);
      if (!row) this.rows.set(key, row = this.row(key, item));
      this.update(row, item);
      rows.push(row.element);
    }
    for (const key of this.rows.keys()) {
      if (!seen.has(key)) this.rows.delete(key);
    }
    for (const key of this.chosen) {
      if (!seen.has(key)) this.chosen.delete(key);
    }
    if (rows.length !== this.body.childElementCount || rows.some((r, i) => this.body.children[i] !== r)) this.arrange(rows);
    const first = (page.page - 1) * page.page_size + 1, last = first + page.item_count - 1;
    text(this.count, page.item_count === 0 ? 'none' : `${number(first)}–${number(last)} of ${number(page.filtered_count)}`);
    this.back.disabled = page.page <= 1;
    this.on.disabled = page.page >= page.page_count;
    this.empty.hidden = page.item_count > 0;
    text(this.empty, nothing);
    this.selectionChanged();
  }

  /** arrange moves rows and keeps the focus if one of them has it. */
  arrange(rows) {
    const focus = /** @type {HTMLElement} */ (document.activeElement);
    this.body.replaceChildren(...rows);
    if (focus && focus !== document.activeElement && this.body.contains(focus)) focus.focus();
  }

  row(key, item) {
    const cells = this.columns.map((c) => el(c.always ? 'th' : 'td', { class: c.num ? 'num' : null, scope: c.always ? 'row' : null, 'data-column': c.key }));
    const pick = this.picked && el('input', {
      type: 'checkbox', 'aria-label': `Select ${this.spec.label(item)}`, checked: this.chosen.has(key), onchange: () => {
        if (pick.checked) this.chosen.add(key);
        else this.chosen.delete(key);
        this.selectionChanged();
      },
    });
    return { cells, pick, kept: {}, element: el('tr', null, pick && el('td', { class: 'pick' }, pick), cells) };
  }

  update(row, item) {
    this.columns.forEach((c, i) => {
      const value = c.cell(item, row.kept), cell = row.cells[i];
      if (typeof value === 'string') {
        text(cell, value);
      } else if (cell.firstChild !== value || cell.childNodes.length !== 1) {
        if (cell.childNodes.length === 1 && cell.firstChild.isEqualNode?.(value)) return;
        cell.replaceChildren(value);
      }
    });
  }

  pickAll() {
    this.chosen = new Set(this.all.checked ? this.items.map(this.spec.key) : []);
    for (const [key, row] of this.rows) row.pick.checked = this.chosen.has(key);
    this.selectionChanged();
  }

  /** selected are the items whose rows are selected. */
  selected() {
    return this.items.filter((item) => this.chosen.has(this.spec.key(item)));
  }

  selectionChanged() {
    if (!this.picked) return;
    this.all.checked = this.items.length > 0 && this.chosen.size === this.items.length;
    this.all.indeterminate = this.chosen.size > 0 && !this.all.checked;
    this.picked(this.selected());
  }
}

/** table makes a table without paging: cells are texts or elements; none is the text if there are no rows. */
export function table(title, heads, rows, none) {
  if (rows.length === 0) return el('p', { class: 'empty card' }, none);
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title }, el('table', null, el('caption', { class: 'sr' }, title),
    el('thead', null, el('tr', null, heads.map((h) => el('th', { scope: 'col' }, h)))), el('tbody', null, rows.map((cells) => el('tr', null, cells.map((c) => el('td', null, c)))))));
}
