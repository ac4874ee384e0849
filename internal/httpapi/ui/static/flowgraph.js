// The graph of the routes on which queues pass messages on: folding of ladders, search for cycles and dead ends, layout. Independent of the page.

/** box is the size of a node, gap the distance between nodes. */
export const box = { width: 200, height: 38 }, gap = { x: 130, y: 14 };

/** rungs is the minimum number of queues of a ladder that dead-letter to the level below. */
const rungs = 4;

/** identity identifies an edge, independently of the indices of its nodes. */
export const identity = (edge, nodes) => JSON.stringify([nodes[edge.from].kind, nodes[edge.from].name, edge.kind, nodes[edge.to].kind, nodes[edge.to].name]);

const family = (name) => /^(.*?)(\d+)(\D*)$/.exec(name)?.slice(1) ?? null;

/**
 * fold merges each ladder of delay queues into one node: queues and exchanges whose names differ only in a number, where at least four queues
 * dead-letter to the level below. Edges of the same kind between the same two nodes are merged too.
 */
export function fold({ nodes, edges }) {
  const key = (n) => {
    const f = family(n.name);
    return f && `${f[0]}\n${f[2]}`;
  };
  const down = new Map();
  for (const e of edges) {
    const from = nodes[e.from], to = nodes[e.to], of = key(from);
    if (e.kind === 'dead_letter' && of !== null && of === key(to) && Number(family(from.name)[1]) === Number(family(to.name)[1]) + 1) down.set(of, (down.get(of) ?? new Set()).add(from.name));
  }
  const shown = [], places = [], ladders = new Map();
  nodes.forEach((n, i) => {
    const of = key(n);
    if (!((down.get(of)?.size ?? 0) >= rungs)) {
      places[i] = shown.push({ ...n }) - 1;
      return;
    }
    if (!ladders.has(of)) ladders.set(of, shown.push({ kind: 'ladder', name: '', missing: false, levels: [], members: 0 }) - 1);
    const ladder = shown[places[i] = ladders.get(of)], [before, level, after] = family(n.name);
    ladder.members++;
    ladder.levels.push(level);
    ladder.levels.sort((a, b) => Number(a) - Number(b));
    ladder.name = `${before}${ladder.levels[0]}…${ladder.levels.at(-1)}${after}`;
  });
  const merged = new Map();
  for (const e of edges) {
    const from = places[e.from], to = places[e.to];
    if (from === to && shown[from].kind === 'ladder') continue;
    const id = `${from} ${to} ${e.kind}`, known = merged.get(id);
    if (!known) {
      merged.set(id, { ...e, from, to, counts: { ...e.counts } });
      continue;
    }
    known.bindings = (known.bindings ?? 0) + (e.bindings ?? 0);
    known.unroutable = known.unroutable && e.unroutable;
    known.binding_keys = [...new Set([...(known.binding_keys ?? []), ...(e.binding_keys ?? [])])].slice(0, 3);
    if (known.routing_key !== e.routing_key) delete known.routing_key;
    for (const [reason, n] of Object.entries(e.counts ?? {})) known.counts[reason] = (known.counts[reason] ?? 0) + n;
  }
  return { nodes: shown, edges: [...merged.values()] };
}

/** cyclesOf returns for each node the number of its cycle, or -1; nodes that can reach each other are in the same cycle. */
export function cyclesOf(count, edges) {
  const out = leads(count, edges), index = new Array(count).fill(-1), low = [], on = [], stack = [], cycle = new Array(count).fill(-1);
  let next = 0, cycles = 0;
  const visit = (v) => {
    index[v] = low[v] = next++;
    stack.push(v);
    on[v] = true;
    for (const w of out[v]) {
      if (index[w] < 0) visit(w);
      if (on[w]) low[v] = Math.min(low[v], low[w]);
    }
    if (low[v] !== index[v]) return;
    const found = stack.splice(stack.indexOf(v));
    found.forEach((w) => { on[w] = false; });
    if (found.length > 1 || out[v].includes(v)) {
      found.forEach((w) => { cycle[w] = cycles; });
      cycles++;
    }
  };
  for (let v = 0; v < count; v++) if (index[v] < 0) visit(v);
  return cycle;
}

function leads(count, edges, from = 'from', to = 'to') {
  const out = Array.from({ length: count }, () => []);
  for (const e of edges) out[e[from]].push(e[to]);
  return out;
}

/** deadEnd returns why messages are dropped at a node, '' if they are not. */
export function deadEnd(node, i, edges) {
  if (node.missing) return `no such ${node.kind}`;
  if (node.kind !== 'exchange' || node.name === '' || edges.some((e) => e.from === i)) return '';
  return edges.some((e) => e.to === i && e.routing_key !== undefined) ? 'no binding matches the key' : 'no binding';
}

/** ranksOf returns the layer of each node, behind its predecessors. Back edges of a depth-first walk from nodes without predecessors do not count. */
export function ranksOf(count, edges) {
  const out = leads(count, edges), into = new Array(count).fill(0), state = new Array(count).fill(0), order = [], forward = Array.from({ length: count }, () => []);
  for (const e of edges) if (e.from !== e.to) into[e.to]++;
  const walk = (v) => {
    state[v] = 1;
    for (const w of out[v]) {
      if (state[w] === 1) continue; // a back edge
      forward[v].push(w);
      if (state[w] === 0) walk(w);
    }
    state[v] = 2;
    order.push(v);
  };
  for (const first of [true, false]) for (let v = 0; v < count; v++) if (state[v] === 0 && (!first || into[v] === 0)) walk(v);
  const rank = new Array(count).fill(0);
  for (const v of order.reverse()) for (const w of forward[v]) rank[w] = Math.max(rank[w], rank[v] + 1);
  return rank;
}

/** layout returns the upper left corner {x, y} of each node, and the total size. Parts without edges between them are below each other, the largest first. */
export function layout(count, edges) {
  const part = partsOf(count, edges), rank = ranksOf(count, edges), out = leads(count, edges), into = leads(count, edges, 'to', 'from');
  const places = [], step = box.height + gap.y;
  let top = 0, width = 0;
  for (const members of part) {
    const layers = [];
    for (const v of members) (layers[rank[v]] ??= []).push(v);
    for (let r = 0; r < layers.length; r++) layers[r] ??= [];
    sweep(layers, into, out);
    let bottom = top;
    const at = [];
    for (const layer of layers) {
      let next = top;
      for (const v of layer) {
        const from = into[v].filter((w) => at[w] !== undefined && rank[w] < rank[v]);
        const wanted = from.length === 0 ? next : from.reduce((sum, w) => sum + at[w], 0) / from.length;
        at[v] = Math.max(next, Math.round(wanted));
        places[v] = { x: rank[v] * (box.width + gap.x), y: at[v] };
        next = at[v] + step;
        bottom = Math.max(bottom, next);
      }
    }
    width = Math.max(width, layers.length * (box.width + gap.x) - gap.x);
    top = bottom + gap.y;
  }
  return { places, width: Math.max(width, 0), height: Math.max(top - 2 * gap.y, 0) };
}

function partsOf(count, edges) {
  const root = Array.from({ length: count }, (_, i) => i);
  const find = (v) => {
    while (root[v] !== v) v = root[v] = root[root[v]];
    return v;
  };
  for (const e of edges) root[find(e.from)] = find(e.to);
  const parts = new Map();
  for (let v = 0; v < count; v++) parts.set(find(v), [...(parts.get(find(v)) ?? []), v]);
  return [...parts.values()].sort((a, b) => b.length - a.length);
}

/** sweep sorts each layer by the mean position of its nodes' neighbours, forwards and backwards in turn, so that few edges cross. */
function sweep(layers, into, out) {
  const place = new Map(), note = (layer) => layer.forEach((v, i) => place.set(v, i / layer.length));
  layers.forEach(note);
  const arrange = (layer, of) => {
    const middle = new Map(layer.map((v) => [v, of[v].length ? of[v].reduce((sum, w) => sum + (place.get(w) ?? 0), 0) / of[v].length : place.get(v)]));
    layer.sort((a, b) => middle.get(a) - middle.get(b));
    note(layer);
  };
  for (let i = 0; i < 4; i++) (i % 2 ? layers.toReversed() : layers).forEach((layer) => arrange(layer, i % 2 ? out : into));
}

/** curve is the SVG path of an edge between two places. Edges to no later layer run below the nodes. */
export function curve(from, to) {
  const x1 = from.x + box.width, y1 = from.y + box.height / 2, x2 = to.x, y2 = to.y + box.height / 2, bow = gap.x / 2;
  if (x2 > x1) return `M${x1} ${y1}C${x1 + bow} ${y1} ${x2 - bow} ${y2} ${x2} ${y2}`;
  const low = Math.max(from.y, to.y) + box.height + gap.y * 0.6;
  return `M${x1} ${y1}C${x1 + bow} ${y1} ${x1 + bow} ${low} ${x1} ${low}L${x2} ${low}C${x2 - bow} ${low} ${x2 - bow} ${y2} ${x2} ${y2}`;
}

/** flows are the messages per second of an edge, by reason, from two counts taken ms milliseconds apart; zeros are left out. */
export function flows(before, now, ms) {
  const found = {};
  for (const [reason, n] of Object.entries(now ?? {})) {
    const rate = ms > 0 && before ? Math.max(n - (before[reason] ?? 0), 0) / (ms / 1000) : 0;
    if (rate > 0) found[reason] = rate;
  }
  return found;
}
