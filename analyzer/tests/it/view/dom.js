"use strict";
// Runs the script of a page with as much of a browser as it asks for, chooses every
// entry and opens its folds, and prints what stands there.
const fs = require("fs");

globalThis.Node = class {};

class Element extends Node {
  constructor(name) {
    super();
    Object.assign(this, { localName: name, children: [], listeners: {}, attributes: {}, open: false, value: "" });
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name === "open") this.open = true;
  }

  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = children;
  }

  set textContent(text) {
    this.children = [String(text)];
  }

  /** Opens what is folded, some folds deep since objects lead back to themselves, and gives the lines. */
  lines(folds = 0) {
    if (this.localName === "details" && ++folds <= 3 && !this.open) {
      this.open = true;
      this.listeners.toggle();
    }
    const line = ["div", "tr", "summary", "dd", "button", "h2", "h3"].includes(this.localName) ? "\n" : this.localName === "span" ? "" : " ";
    return this.children.map((child) => (child instanceof Element ? child.lines(folds) : child)).join("") + line;
  }
}

const [, data] = /<script type="application\/gzip" id="data">([^<]*)/.exec(fs.readFileSync(process.argv[2], "utf8"));
const [, script] = /<script>\n([^]*)<\/script>/.exec(fs.readFileSync(process.argv[2], "utf8"));
const places = { main: new Element("main"), nav: new Element("nav"), "header input": new Element("input") };
globalThis.document = {
  querySelector: (selector) => places[selector],
  createElement: (name) => new Element(name),
  createElementNS: (_, name) => new Element(name),
  getElementById: () => ({ textContent: data }),
};
new Function(script)();

// The script ends with promises alone, and what they end in is what is shown.
process.on("exit", () => {
  console.log(places.nav.lines());
  for (const button of places.nav.children.filter((one) => one.localName === "button")) {
    button.listeners.click();
    console.log("----", places.main.lines());
  }
  if (places.nav.children.length === 0) console.log(places.main.lines());
});
