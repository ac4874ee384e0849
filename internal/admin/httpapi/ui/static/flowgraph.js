// The graph of the routes on which queues pass messages on: folding of ladders and fans, search for cycles and dead ends, layout. Independent of the page.

/** box is the size of a node, gap the distance between nodes, line the height of a label. */
export const box = { width: 200, height: 38 }, gap = { x: 160, y: 14 }, line = 13;

/** rungs is the minimum number of queues of a ladder that dead-letter to the level below, and of those of a fan. */
const rungs = 4;

/** identity identifies an edge, independently of the indices of its nodes. */
export const identity = (edge, nodes) => JSON.stringify([nodes[edge.from].kind, nodes[edge.from].name, edge.kind, nodes[edge.to].kind, nodes[edge.to].name]);

const family = (name) => /^(.*?)(\d+)(\D*)$/.exec(name)?.slice(1) ?? null;

/** fold merges ladders, then fans, into one node each. */
export const fold = (graph) => foldFans(foldLadders(graph));

/** foldFans merges nodes to which nothing leads and that lead, in the same way, only to the same node: at least four. */
function foldFans({ nodes, edges }) {
  const out = leads(nodes.length, edges), into = leads(nodes.length, edges, 'to', 'from'), fans = new Map();
  for (const e of edges) {
    const n = nodes[e.from], key = JSON.stringify([n.kind, e.to, e.kind, e.unroutable ?? false]);
    if (n.kind !== 'ladder' && !n.missing && out[e.from].length === 1 && into[e.from].length === 0) fans.set(key, [...(fans.get(key) ?? []), e.from]);
  }
  const places = [], shown = [], fanOf = new Map([...fans.values()].filter((all) => all.length >= rungs).flatMap((all) => all.map((i) => [i, all])));
  nodes.forEach((n, i) => {
    const all = fanOf.get(i);
    if (all && all[0] !== i) places[i] = places[all[0]];
    else places[i] = shown.push(all ? { kind: 'fan', of: n.kind, name: `${common(all.map((j) => nodes[j].name))}…`, missing: false, members: all.length } : n) - 1;
  });
  return { nodes: shown, edges: mergeEdges(edges, places, shown) };
}

/** common is the beginning that all names share. */
function common(names) {
  let n = 0;
  while (n < names[0].length && names.every((name) => name[n] === names[0][n])) n++;
  return names[0].slice(0, n);
}

/**
 * foldLadders merges each ladder of delay queues into one node: queues and exchanges whose names differ only in a number, where at least four queues
 * dead-letter to the level below.
 */
function foldLadders({ nodes, edges }) {
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
  return { nodes: shown, edges: mergeEdges(edges, places, shown) };
}

/** mergeEdges are the edges between the new places of their nodes; those of the same kind between the same two nodes are one. */
function mergeEdges(edges, places, shown) {
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
  return [...merged.values()];
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
  const y = low(from, to);
  return `M${x1} ${y1}C${x1 + bow} ${y1} ${x1 + bow} ${y} ${x1} ${y}L${x2} ${y}C${x2 - bow} ${y} ${x2 - bow} ${y2} ${x2} ${y2}`;
}

/**
 * labels returns for each edge where its label begins, right of its source. There are no nodes, and labels of one column are below each other.
 */
export function labels(edges, places) {
  const all = edges.map(({ from: i, to: k }) => {
    const from = places[i], to = places[k], forth = to.x > from.x;
    return { x: from.x + box.width + 6, y: forth ? Math.round((from.y * 2 + to.y) / 3) + box.height / 2 - 5 : low(from, to) - 4 };
  });
  [...all].sort((a, b) => a.x - b.x || a.y - b.y).forEach((l, i, sorted) => { if (i > 0 && sorted[i - 1].x === l.x) l.y = Math.max(l.y, sorted[i - 1].y + line); });
  return all;
}

/** low is the height at which an edge to no later layer returns, below its nodes. */
const low = (from, to) => Math.max(from.y, to.y) + box.height + gap.y * 0.6;

/** flows are the messages per second of an edge, by reason, from two counts taken ms milliseconds apart; zeros are left out. */
export function flows(before, now, ms) {
  const found = {};
  for (const [reason, n] of Object.entries(now ?? {})) {
    const rate = ms > 0 && before ? Math.max(n - (before[reason] ?? 0), 0) / (ms / 1000) : 0;
    if (rate > 0) found[reason] = rate;
  }
  return found;
}
