// The router of pages. The address has the state of a page, so that a copied address shows the same.

import { href, parse } from './address.js';

/** Router shows the page named by the first part of the address, anew if other parts change. show(main, context) returns a function that ends it. */
export class Router {
  pages; first; main; context; end; changed; shown;

  constructor(pages, first, main, context) {
    Object.assign(this, { pages, first, main, context, end: null, changed: null, shown: '' });
    this.listen = () => this.show();
    addEventListener('hashchange', this.listen);
  }

  show() {
    const { parts, params } = parse(location.hash);
    const name = Object.hasOwn(this.pages, parts[0] ?? '') ? parts[0] : this.first;
    const of = [name, ...(name === parts[0] ? parts.slice(1) : [])], shown = href(of);
    if (shown === this.shown && this.changed) {
      this.changed(params, parts);
      return;
    }
    this.end?.();
    this.shown = shown;
    this.main.replaceChildren();
    this.changed = null;
    this.end = this.pages[name].show(this.main, {
      ...this.context, params, parts,
      /** onChange sets the function to call with a new state of the same page. */
      onChange: (f) => { this.changed = f; },
      /** keep writes the page's state into the address, as a new history entry or in place of the current one. */
      keep: (to, step = true) => {
        const address = href(of, to);
        if (address === location.hash) return;
        history[step ? 'pushState' : 'replaceState'](null, '', address);
      },
    });
    this.context.shown(name, of.slice(1));
  }

  stop() {
    this.end?.();
    removeEventListener('hashchange', this.listen);
  }
}
