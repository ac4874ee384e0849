// Flow: a graph of the routes on which queues pass messages on, drawn from left to right.

import { href } from '../address.js';
import { get, path, poll } from '../api.js';
import { el, svg, text } from '../dom.js';
import { box, curve, cyclesOf, deadEnd, flows, fold, gap, identity, labels as labelsOf, layout } from '../flowgraph.js';
import * as format from '../format.js';
import { link, Rows, vhostsOf } from '../list.js';

const margin = 8;
const kinds = { dead_letter: 'dead-lettered', forward: 'forwarded', binding: 'bound', alternate: 'alternate exchange' };
const called = (n) => (n.kind === 'exchange' && n.name === '' ? '(AMQP default)' : n.name);
const cut = (name, most = 28) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
const most = 24; // characters of a label between two nodes
const amount = (counts, rates) => Object.entries(counts ?? {}).map(([reason, n]) => `${reason} ${rates[reason] ? format.rate(rates[reason]) : format.short(n)}`).join(', ');

export const flow = { title: 'Flow', show };

/** addressOf is the address of a node's page, null if it has none. */
function addressOf(node, vhost) {
  if (node.missing || node.members) return null;
  return href(node.kind === 'queue' ? ['queue', vhost, node.name] : ['exchanges', vhost, node.name || 'amq.default']);
}

/** along describes an edge, without its two nodes. */
function along(e) {
  const keys = (e.binding_keys ?? []).map((k) => `“${k}”`).join(', ');
  return [kinds[e.kind], e.routing_key !== undefined && `with the key “${e.routing_key}”`, e.bindings > 0 && `${format.plural(e.bindings, 'key')}: ${keys}${e.bindings > 3 ? ', …' : ''}`, e.unroutable && 'no binding matches the key'].filter(Boolean).join(', ');
}

function show(main, context) {
  const vhost = el('select', { 'aria-label': 'Virtual host', onchange: () => go() }), name = el('input', { type: 'search', placeholder: 'Queue, exchange or key', 'aria-label': 'Queue, exchange or key', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'none' });
  const folded = el('input', { type: 'checkbox', checked: true, onchange: () => last && draw(last) });
  const said = el('p', { class: 'hint', role: 'status' }), failed = el('p', { class: 'error', role: 'alert' });
  const picture = svg('svg', { class: 'flow', role: 'group', 'aria-label': 'Forwarding between queues' });
  const scroll = el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Flow', hidden: true }, picture);
  const legend = el('ul', { class: 'legend', hidden: true }, Object.entries(kinds).map(([kind, words]) => el('li', { class: kind }, words)), el('li', { class: 'cycle' }, '⟳ part of a cycle'), el('li', { class: 'end' }, '✕ messages end here'));
  const named = (n) => (addressOf(n, at.vhost) ? link(n.kind === 'queue' ? ['queue', at.vhost, n.name] : ['exchanges', at.vhost, n.name || 'amq.default'], called(n)) : `${called(n)}${n.missing ? ', not there' : ''}`);
  const rows = new Rows('Edges', [['From', (e) => named(e.source)], ['To', (e) => named(e.target)], ['How', (e) => el('span', { class: 'wrap breaks' }, along(e))],
    ['Messages', (e) => Object.entries(e.counts ?? {}).map(([reason, n]) => `${reason}: ${format.number(n)}`).join(', ')], ['Cycle', (e) => (e.cycle ? 'yes' : '')]], 'None.');
  const table = el('details', { class: 'figures', hidden: true }, el('summary', null, 'As a table'), rows.element);
  let at = { vhost: context.params.get('vhost'), name: context.params.get('name') ?? '' }, shape = '', last = null, before = null, labels = new Map(), timer = 0;

  const go = () => {
    at = { vhost: vhost.value, name: name.value };
    before = last = null;
    context.keep(new URLSearchParams(Object.entries(at).filter(([, v]) => v)), false);
    asking?.now();
  };
  name.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(go, 400);
  });
  main.append(el('h1', null, 'Flow'), el('div', { class: 'tools', role: 'search' }, vhost, name, el('label', { class: 'check' }, folded, 'fold similar queues')), failed, said, scroll, legend, table);

  const draw = (found) => {
    const graph = folded.checked ? fold(found) : found, { nodes, edges } = graph, now = Date.now();
    const ids = edges.map((e) => identity(e, nodes)), counts = new Map(ids.map((id, i) => [id, edges[i].counts]));
    const same = JSON.stringify([at, nodes, edges.map(({ counts: _, ...e }) => e)]);
    if (same !== shape) {
      shape = same;
      render(nodes, edges, ids);
    }
    edges.forEach((e, i) => text(labels.get(ids[i]), cut([e.unroutable ? '✕ no binding' : '', amount(e.counts, flows(before?.counts.get(ids[i]), e.counts, before ? now - before.at : 0))].filter(Boolean).join(' '), most)));
    before = { at: now, counts };
    rows.show(edges.map((e) => ({ ...e, source: nodes[e.from], target: nodes[e.to], cycle: cycle[e.from] >= 0 && cycle[e.from] === cycle[e.to] })));
    scroll.hidden = legend.hidden = table.hidden = nodes.length === 0;
    const cycles = new Set(cycle.filter((c) => c >= 0)).size, ends = nodes.filter((n, i) => deadEnd(n, i, edges)).length + edges.filter((e) => e.unroutable).length;
    text(said, found.sources === 0 ? (at.name ? 'Nothing matches.' : 'No queue has a dead-letter exchange or forwards its messages.') :
      `${format.plural(found.sources, 'queue forwards', 'queues forward')} messages. ${format.plural(cycles, 'cycle')}, ${format.plural(ends, 'dead end')}.${found.truncated ? ' Too many to show: use the filter.' : ''}`);
  };
  let cycle = [];
  const render = (nodes, edges, ids) => {
    const { places, width, height } = layout(nodes.length, edges), focus = document.activeElement?.getAttribute?.('data-node');
    cycle = cyclesOf(nodes.length, edges);
    labels = new Map();
    const spots = labelsOf(edges, places);
    const lines = edges.map((e, i) => {
      const round = cycle[e.from] >= 0 && cycle[e.from] === cycle[e.to];
      labels.set(ids[i], svg('text', { class: 'count', ...spots[i] }));
      return svg('path', { class: `${e.kind}${round ? ' round' : ''}${e.unroutable ? ' nowhere' : ''}`, d: curve(places[e.from], places[e.to]), 'marker-end': 'url(#tip)' }, svg('title', null, `${called(nodes[e.from])} → ${called(nodes[e.to])}: ${along(e)}`));
    });
    const boxes = nodes.map((n, i) => {
      const why = deadEnd(n, i, edges), notes = [n.kind === 'ladder' ? `${n.members} queues and exchanges` : n.kind === 'fan' ? `${format.number(n.members)} ${n.of}s` : n.kind, why && `✕ ${why}`, cycle[i] >= 0 && '⟳ cycle'].filter(Boolean).join(' · ');
      const to = addressOf(n, at.vhost), shown = [svg('title', null, `${called(n)}, ${notes}`), svg('rect', { class: `${n.kind}${why ? ' end' : ''}${cycle[i] >= 0 ? ' round' : ''}`, width: box.width, height: box.height, rx: n.kind === 'exchange' ? box.height / 2 : 5 }),
        svg('text', { x: 12, y: 16 }, cut(called(n))), svg('text', { class: 'tick', x: 12, y: 31 }, notes)];
      return svg('g', { transform: `translate(${places[i].x} ${places[i].y})` }, to ? svg('a', { href: to, 'data-node': `${n.kind} ${n.name}` }, shown) : shown);
    });
    picture.replaceChildren(svg('defs', null, svg('marker', { id: 'tip', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: 'userSpaceOnUse', orient: 'auto' }, svg('path', { d: 'M0 0L8 4L0 8Z' }))), ...lines, ...labels.values(), ...boxes);
    const wide = width + 2 * margin + gap.x, high = Math.max(height, ...spots.map((l) => l.y)) + 4 * margin;
    for (const [key, value] of Object.entries({ width: wide, height: high, viewBox: `${-margin} ${-margin} ${wide} ${high}` })) picture.setAttribute(key, value);
    if (focus) [...picture.querySelectorAll('[data-node]')].find((a) => a.getAttribute('data-node') === focus)?.focus();
  };

  let asking = null;
  vhostsOf().catch(() => []).then((names) => {
    if (ended) return;
    vhost.append(...names.map((n) => el('option', { value: n }, n)));
    at.vhost = names.includes(at.vhost) ? at.vhost : names.includes('/') ? '/' : names[0] ?? '/';
    vhost.value = at.vhost;
    name.value = at.name;
    asking = poll(async (signal) => {
      try {
        last = await get(path('api/x/flow', at.vhost), { query: { name: at.name || null }, signal });
        text(failed, '');
        draw(last);
      } catch (error) {
        if (error.name !== 'AbortError') text(failed, error.message);
        throw error;
      }
    }, 5000, context.report);
  });
  context.onChange((params) => {
    [vhost.value, name.value] = [params.get('vhost') ?? vhost.value, params.get('name') ?? ''];
    go();
  });
  let ended = false;
  return () => {
    ended = true;
    clearTimeout(timer);
    asking?.stop();
  };
}
