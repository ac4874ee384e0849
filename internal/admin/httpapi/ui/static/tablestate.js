// The state of a table, in the form of the address and of the API. Independent of the page.

const natural = new Intl.Collator('en', { numeric: true });

export const pageSizes = [25, 50, 100, 250, 500];

/**
 * read returns the state from parameters of an address. spec has the columns ({key, sort, shown}), the filters (names of
 * parameters) and the size of a page. Invalid parameters count as missing.
 */
export function read(params, spec) {
  const sorts = spec.columns.filter((c) => c.sort).map((c) => c.key);
  const known = spec.columns.map((c) => c.key);
  const whole = (text, least) => (/^\d{1,9}$/.test(text ?? '') && Number(text) >= least ? Number(text) : null);
  const sort = params.get('sort');
  const filters = {};
  for (const name of spec.filters) {
    if (params.has(name)) filters[name] = params.get(name);
  }
  const cols = (params.get('cols') ?? '').split(',').filter((key) => known.includes(key));
  const size = whole(params.get('size'), 1);
  return {
    page: whole(params.get('page'), 1) ?? 1,
    size: pageSizes.includes(size) ? size : spec.size ?? 100,
    sort: sorts.includes(sort) ? sort : null,
    desc: sorts.includes(sort) && params.get('desc') === '1',
    name: params.get('name') ?? '',
    regex: params.get('regex') === '1',
    filters,
    cols: cols.length > 0 ? cols : null,
  };
}

/** write is the state as parameters of an address: only values that differ from the default. */
export function write(state, spec) {
  const p = new URLSearchParams();
  if (state.name) p.set('name', state.name);
  if (state.regex) p.set('regex', '1');
  for (const name of spec.filters) {
    if (state.filters[name] !== undefined) p.set(name, state.filters[name]);
  }
  if (state.sort) p.set('sort', state.sort);
  if (state.sort && state.desc) p.set('desc', '1');
  if (state.page > 1) p.set('page', String(state.page));
  if (state.size !== (spec.size ?? 100)) p.set('size', String(state.size));
  if (state.cols) p.set('cols', state.cols.join(','));
  return p;
}

/** columnsOf are the columns that are shown, in the order of the table. */
export function columnsOf(state, spec) {
  return spec.columns.filter((c) => c.always || (state.cols ? state.cols.includes(c.key) : c.shown));
}

const sortColumn = (state, spec) => spec.columns.find((c) => c.key === state.sort);

/**
 * query is the state as parameters of the API. Without another choice, items are sorted by their name: q2 before q10. Sorting by a column may
 * add filters (needs), so that items without a deadline are not sorted before the first deadline.
 */
export function query(state, spec) {
  const column = sortColumn(state, spec) ?? spec.columns.find((c) => c.always);
  const q = { page: state.page, page_size: state.size, sort: column.sort, natural: 'true', ...column.needs };
  if (state.desc) q.sort_reverse = 'true';
  if (state.name) q.name = state.name;
  if (state.name && state.regex) q.use_regex = 'true';
  Object.assign(q, state.filters);
  return q;
}

/** at returns the value at a path such as queue.name in an item of the API. */
export function at(item, field) {
  return field.split('.').reduce((value, key) => value?.[key], item);
}

/** pageOf is one page of items that the API has returned all at once, in the form of the API's pages. */
export function pageOf(items, state, spec) {
  const all = items.filter((item) => matches(item.name, state));
  const column = sortColumn(state, spec);
  if (column) {
    const order = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : natural.compare(String(a ?? ''), String(b ?? '')));
    all.sort((a, b) => order(at(a, column.sort), at(b, column.sort)) * (state.desc ? -1 : 1));
  }
  const pages = Math.ceil(all.length / state.size), page = Math.max(Math.min(state.page, pages), 1);
  const shown = all.slice((page - 1) * state.size, page * state.size);
  return { items: shown, page, page_count: pages, page_size: state.size, item_count: shown.length, filtered_count: all.length };
}

function matches(name, state) {
  if (!state.regex) return name.toLowerCase().includes(state.name.toLowerCase());
  try {
    return new RegExp(state.name, 'i').test(name);
  } catch {
    return false; // incomplete while it is being typed
  }
}

/** sorted is the state after a click on the head of a column: its default direction first, then the opposite, then unsorted. */
export function sorted(state, column) {
  const begins = column.desc ?? false;
  let sort = column.key, desc = begins;
  if (state.sort === column.key) {
    if (state.desc === begins) desc = !begins;
    else [sort, desc] = [null, false];
  }
  return { ...state, sort, desc, page: 1 };
}

/** exactly is a regular expression that matches these names and no others. */
export function exactly(names) {
  const escaped = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return escaped.length === 1 ? `^${escaped[0]}$` : `^(?:${escaped.join('|')})$`;
}
