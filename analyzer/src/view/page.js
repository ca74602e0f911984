"use strict";
// Everything that comes from a recording reaches the page as text, never as markup.
const main = document.querySelector("main");
const list = document.querySelector("nav");
const search = document.querySelector("header input");

/** Rows that are shown at once; the rest on demand. */
const ROWS = 300;
/** Edges beyond which a model is a table alone. */
const DRAWN = 60;

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).map((child) =>
    child instanceof Node ? child : String(child)));
  return element;
}

function svg(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const short = (name) => (name ?? "?").replace(/([\p{L}_$][\p{L}\p{N}_$]*\.)+(?=[\p{L}_$])/gu, "");
const plural = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
/** Dates end before numbers do. */
const time = (millis) => (!millis ? "?" : Math.abs(millis) <= 8.64e15 ? new Date(millis).toISOString().replace("T", " ").replace("Z", " UTC") : `${millis} ms`);
/** The beginning of a text, and how long all of it is; the page may have less of it. */
const cut = ({ text, characters = text.length }, most, as = String) =>
  as(text.slice(0, most)) + (characters > most ? ` … ${plural(characters, "character")}` : "");
const bad = (what, error) => make("div", { class: "bad" }, `${what} cannot be shown: ${error.message}`);

/** Types of a descriptor in Java's words. */
function types(descriptor) {
  const simple = { B: "byte", C: "char", D: "double", F: "float", I: "int", J: "long", S: "short", Z: "boolean", V: "void" };
  const found = [];
  const pattern = /(\[*)(?:L([^;]+);|([BCDFIJSZV]))/g;
  for (const [, dimensions, name, letter] of descriptor.slice(1, descriptor.lastIndexOf(")")).matchAll(pattern)) {
    found.push((name ? short(name.replaceAll("/", ".")) : simple[letter]) + "[]".repeat(dimensions.length));
  }
  return found;
}

/** What an array's class or another one is called in Java. */
function typeName(name) {
  const array = /^(\[+)(?:L([^;]+);|([BCDFIJSZ]))$/.exec(name ?? "");
  if (!array) return short(name);
  return types(`(${name})`)[0];
}

/** Rows below a heading, some hundred at first. */
function rows(headings, all, cells) {
  const body = make("tbody");
  let shown = 0;
  const more = make("button", { onclick: () => next() }, "");
  const next = () => {
    for (const row of all.slice(shown, shown + ROWS)) {
      body.append(make("tr", {}, ...cells(row).map((cell) =>
        cell instanceof Node && cell.localName === "td" ? cell : make("td", {}, cell))));
    }
    shown = Math.min(all.length, shown + ROWS);
    more.hidden = shown === all.length;
    more.textContent = `${plural(all.length - shown, "more row")} …`;
  };
  next();
  return make("div", {}, make("table", {}, make("thead", {}, make("tr", {}, ...headings.map((text) => make("th", {}, text)))), body), more);
}

function facts(pairs) {
  const entries = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return make("dl", {}, ...entries.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

function fold(title, content, open = false) {
  const details = make("details", { open }, make("summary", {}, title));
  let filled = false;
  const fill = () => {
    if (details.open && !filled) {
      filled = true;
      try {
        details.append(...[content()].flat());
      } catch (error) {
        details.append(bad("this", error));
      }
    }
  };
  details.addEventListener("toggle", fill);
  if (open) fill();
  return details;
}

// Crashes

/** The objects of a crash, as they were when a frame began. */
class Graph {
  constructor(crash, frame) {
    this.objects = crash.byId ??= new Map(crash.objects.map((object) => [object.id, object]));
    this.shapes = crash.shapes;
    this.patched = new Map();
    // What collections mean is known of the failure; they are shown field by field where they were other.
    this.means = !(frame?.patch ?? []).some((patch) => patch.owner.startsWith("java.") || patch.index !== null);
    for (const patch of frame?.patch ?? []) {
      const place = patch.index === null || patch.index === undefined ? `${patch.owner} ${patch.field}` : patch.index;
      this.patched.set(`${patch.object} ${place}`, patch.value);
    }
  }

  meaning(object) {
    return this.means ? object.meaning : undefined;
  }

  /** How many parts are not in the page. */
  leftOut(object) {
    return (this.meaning(object) ?? object).left_out ?? 0;
  }

  children(object) {
    const { list, map } = this.meaning(object) ?? {};
    if (list) return list.map((value, index) => ({ name: `[${index}]`, value }));
    if (map) return map.map(([key, value]) => ({ name: brief(this, key).text, value }));
    const own = (place, value) => this.patched.has(`${object.id} ${place}`)
      ? { value: this.patched.get(`${object.id} ${place}`), was: value } : { value };
    switch (object.kind) {
      case "enum":
        if (!object.fields) return [];
      // falls through
      case "instance":
        return this.shapes[object.shape].map((field, index) => ({ name: field.name, descriptor: field.descriptor, ...own(`${field.owner} ${field.name}`, object.fields[index]) }));
      case "array":
        return object.elements.map((value, index) => ({ name: `[${index}]`, descriptor: (object.class ?? "[").slice(1), ...own(index, value) }));
      case "lambda":
        return object.lambda.captured.map((one, index) => ({ name: `captured ${index}`, ...one }));
      default:
        return [];
    }
  }
}

/** A text that does not fit into a line. */
const long = (one, most) => (one.text.length > most ? one : undefined);

/** A value in a line: text, and the object behind it if that has parts. */
function brief(graph, value, descriptor) {
  // A primitive is there unless it was secret.
  if (value === null && descriptor && !"L[".includes(descriptor[0])) return { text: "(not stored)", kind: "hole" };
  if (value === null) return { text: "null" };
  if (typeof value !== "object") return { text: descriptor === "C" ? `'${JSON.stringify(String.fromCharCode(value)).slice(1, -1)}'` : String(value) };
  const object = graph.objects.get(value.ref);
  if (!object) return { text: `#${value.ref}`, kind: "dim", title: "not in this page" };
  const name = typeName(object.class);
  const meaning = graph.meaning(object);
  if (meaning?.text !== undefined) return { text: `${name} ${cut(meaning, 200)}`, kind: "text", long: long(meaning, 200) };
  if (meaning) {
    const size = (meaning.list ?? meaning.map).length + meaning.left_out;
    return { text: `${name} #${object.id}, ${meaning.map ? plural(size, "key") : plural(size, "element")}`, object };
  }
  switch (object.kind) {
    case "string": return { text: cut(object, 120, JSON.stringify), kind: "text", long: long(object, 120) };
    case "enum": return { text: `${name}.${object.name}`, object };
    case "class": return { text: `${object.name}.class` };
    case "hole": return { text: `${name}: not stored, ${object.reason}`, kind: "hole" };
    case "lambda": return { text: `lambda ${short(object.lambda.class)}.${object.lambda.method} #${object.id}`, object };
    case "array": {
      const all = object.elements.length + (object.left_out ?? 0);
      const few = object.elements.slice(0, 8).every((element) => element === null || typeof element !== "object");
      const first = object.elements.slice(0, 8).map((element) => brief(graph, element, (object.class ?? "[").slice(1)).text);
      const shown = few && all ? ` {${first.join(", ")}${all > 8 ? ", …" : ""}}` : "";
      return { text: `${name.replace(/\[\]$/, "")}[${all}] #${object.id}${shown}`, object };
    }
    default: return { text: `${name} #${object.id}`, object };
  }
}

function tree(graph, name, value, descriptor, was) {
  const { text, kind, title, object, long } = brief(graph, value, descriptor);
  const label = [make("span", {}, `${name} = `), make("span", { class: kind, title }, text)];
  if (was !== undefined) label.push(make("span", { class: "note" }, `  (at the failure: ${brief(graph, was, descriptor).text})`));
  if (long) return fold(make("span", {}, ...label), () => make("div", { class: "leaf text" }, cut(long, long.text.length)));
  const children = object ? graph.children(object) : [];
  if (children.length === 0) return make("div", { class: "leaf" }, ...label);
  const head = make("span", {}, ...label);
  return fold(head, () => {
    const nodes = children.map((child) => tree(graph, child.name, child.value, child.descriptor, child.was));
    const left = graph.leftOut(object);
    if (left) nodes.push(make("div", { class: "leaf dim" }, `${plural(left, "more element")}, not in this page`));
    return nodes;
  });
}

function frameOf(crash, frame) {
  const where = `${short(frame.class)}.${frame.method}${frame.line ? `:${frame.line}` : ""}`;
  const graph = new Graph(crash, frame);
  const nameOf = (argument) => argument.name ?? (argument.index === 0 ? "this" : `argument ${argument.index}`);
  const args = frame.arguments.map((argument) => `${nameOf(argument)} = ${brief(graph, argument.value, argument.descriptor).text}`);
  const title = make("span", {}, make("b", {}, `#${frame.index} ${where}`), make("span", { class: "dim" }, `  ${args.join(", ").slice(0, 200)}`));
  const details = fold(title, () => [
    make("div", { class: "dim" }, `${frame.class}.${frame.method}(${types(frame.descriptor).join(", ")})  ${frame.file ?? ""}`),
    frame.reason && frame.fidelity === "none" ? make("div", { class: "note" }, `no arguments: ${frame.reason}`) : make("div", { class: "dim" }, `as at entry: ${frame.fidelity}`),
    ...frame.arguments.map((argument) => tree(graph, nameOf(argument), argument.value, argument.descriptor)),
  ], frame.index === 0 && frame.arguments.length > 0);
  details.className = "frame";
  return details;
}

/** All frames, below the thread or the exception that they are of if that is another one than before. */
function framesOf(crash) {
  // Of threads, the first one too has a heading.
  let exception = crash.threads ? undefined : 0;
  return crash.frames.flatMap((frame) => {
    const heading = frame.exception === exception ? undefined : crash.headings[frame.exception];
    exception = frame.exception;
    return heading ? [make("h4", {}, heading), frameOf(crash, frame)] : [frameOf(crash, frame)];
  });
}

/** The threads of a program that goes on, or hangs: those first that wait for each other. */
function threadsOf(crash) {
  const line = (text, kind = "") => make("div", { class: `code ${kind}` }, text);
  return [
    ...(crash.deadlocks ?? []).flatMap((circle) => [
      line(`deadlock: ${plural(circle.length, "thread")} wait for each other`, "bad"),
      ...circle.map((at) => line(crash.threads[at].told, "bad")),
    ]),
    ...(crash.threads ?? []).flatMap((thread) => [
      line(thread.told), ...thread.owns.map((lock) => line(`has ${lock.told}`, "dim leaf"))]),
  ];
}

function showCrash(crash) {
  // Each thread stands as an exception, which has a line of its own.
  const all = (crash.threads ? [] : crash.exceptions).map((one, index) => make("div", { class: index ? "code dim" : "code" },
    `${index ? "also " : ""}${one.class}${one.message === null ? "" : `: ${one.message}`}`));
  const graph = new Graph(crash);
  main.replaceChildren(
    make("h2", {}, crash.exception ? `${crash.exception}${crash.message === null ? "" : `: ${crash.message}`}` : crash.reason),
    ...crash.notes.map((note) => make("div", { class: "note" }, note)),
    ...all.slice(1),
    facts([
      ["file", crash.file], ["when", time(crash.time_ms)], ["thread", crash.thread + (crash.thread_virtual ? " (virtual)" : "")],
      ["version", crash.version], ["why", crash.reason], ["JVM", `${crash.jvm_name} ${crash.jvm_version} (Java ${crash.java_version}), ${crash.os}`],
      ["command", crash.command], ["process", crash.pid],
    ]),
    ...threadsOf(crash),
    make("h3", {}, `Frames (${crash.frames.length})`),
    ...framesOf(crash),
    ...(crash.objects_left_out ? [make("div", { class: "note" }, `${plural(crash.objects_left_out, "object")} of this crash are not in this page; hindsight inspect --full shows them`)] : []),
    make("h3", {}, "More"),
    fold(`Static fields (${crash.statics.length})`, () => crash.statics.map((field) => tree(graph, `${short(field.class)}.${field.name}`, field.value, field.descriptor))),
    fold(`Not stored (${crash.holes.length})`, () => rows(["object", "class", "reason"], crash.holes, (hole) => [`#${hole.object}`, hole.class ?? "?", hole.reason])),
    fold(`System properties (${Object.keys(crash.properties).length})`, () => facts(Object.entries(crash.properties))),
    fold("Counters of the run", () => facts(Object.entries(crash.counters))),
  );
}

// Models

function callText(edge) {
  const simple = edge.method === "<init>" ? `new ${short(edge.class)}` : edge.method;
  const values = new Map(edge.values?.map((one) => [one.index, one.seen.slice(0, 3).map((seen) => seen.value).join(" | ") + (one.more || one.seen.length > 3 ? " …" : "")]));
  const parameters = types(edge.descriptor).map((type, index) =>
    edge.positions.includes(index + 1) ? "·" : values.get(index + 1) ?? type);
  return `${simple}(${parameters.join(", ")})`;
}

const total = (count) => (typeof count === "number" ? count : (count ?? []).reduce((sum, [, one]) => sum + one, 0));

/** Nodes in columns by their distance from the first one. */
function draw(model) {
  const depth = new Map([[0, 0]]);
  for (const node of depth.keys()) {
    for (const edge of model.edges.filter((one) => one.from === node && !depth.has(one.to))) depth.set(edge.to, depth.get(node) + 1);
  }
  const columns = [];
  for (const [node, column] of depth) (columns[column] ??= []).push(node);
  const pairs = new Map();
  for (const edge of model.edges) {
    const key = `${edge.from} ${edge.to}`;
    pairs.set(key, [...(pairs.get(key) ?? []), callText(edge)]);
  }
  const high = Math.max(...columns.map((column) => column.length)) * 90 + 60;
  const wide = columns.length * 210 + 40;
  const at = new Map(columns.flatMap((column, x) => column.map((node, y) => [node, [40 + x * 210, (y + 1) * high / (column.length + 1)]])));
  const picture = svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, role: "img" });
  const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" });
  marker.append(svg("path", { d: "M0,0 L8,4 L0,8", class: "edge" }));
  picture.append(marker);
  for (const [key, calls] of pairs) {
    const [from, to] = key.split(" ").map(Number);
    const [[x1, y1], [x2, y2]] = [at.get(from), at.get(to)];
    const back = x2 <= x1;
    const bend = from === to ? -60 : back ? 50 : 0;
    const path = from === to
      ? `M${x1 - 6},${y1 - 8} C${x1 - 40},${y1 - 60} ${x1 + 40},${y1 - 60} ${x1 + 6},${y1 - 8}`
      : `M${x1},${y1} Q${(x1 + x2) / 2},${(y1 + y2) / 2 + bend} ${x2 + (back ? 10 : -10)},${y2}`;
    picture.append(svg("path", { d: path, class: "edge", "marker-end": "url(#arrow)" }));
    calls.slice(0, 4).forEach((call, line) => {
      const text = line === 3 && calls.length > 4 ? `${calls.length - 3} more` : call;
      picture.append(svg("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 + (from === to ? -52 : bend / 2 - 6) - 12 * line, "text-anchor": "middle", class: "label" },
        text.length > 34 ? `${text.slice(0, 33)}…` : text));
    });
  }
  for (const [node, [x, y]] of at) {
    picture.append(svg("circle", { cx: x, cy: y, r: 9 }), svg("text", { x, y: y + 4, "text-anchor": "middle" }, node));
  }
  return picture;
}

function showModel(model) {
  const callCell = (edge) => make("span", { title: `${edge.class}.${edge.method}${edge.descriptor}` }, callText(edge));
  main.replaceChildren(
    make("h2", {}, model.class),
    make("div", { class: "dim" }, `${plural(total(model.objects), "object")}, ${plural(model.nodes, "node")}, ${plural(model.edges.length, "edge")}; · is where the object stands; ${model.file}`),
    ...(model.edges.length && model.edges.length <= DRAWN ? [draw(model)] : []),
    make("h3", {}, "Calls"),
    rows(["from", "to", "call", "returned", "threw"], model.edges, (edge) =>
      [edge.from, edge.to, callCell(edge), total(edge.returned), total(edge.threw) || ""]),
    make("h3", {}, "Calls that leave it as it is"),
    rows(["call", "returned"], model.observers ?? [], (edge) => [callCell(edge), total(edge.returned)]),
  );
}

// Mutability

function showMutability(found) {
  const kinds = ["mutable", "immutable", "unknown"];
  const chosen = new Set(kinds);
  const table = make("div");
  const filter = make("input", { placeholder: "class or method", oninput: () => fill() });
  const fill = () => {
    const text = filter.value.toLowerCase();
    const methods = found.methods.filter((method) => `${method.class}.${method.method}`.toLowerCase().includes(text)
      && (method.parameters.length === 0 ? chosen.size === kinds.length : method.parameters.some((parameter) => chosen.has(parameter.verdict))));
    table.replaceChildren(rows(["method", "pure", "parameters"], methods, (method) => [
      make("span", { title: `${method.class}.${method.method}${method.descriptor}` }, `${short(method.class)}.${method.method}(${types(method.descriptor).join(", ")})`),
      method.pure ? "pure" : "",
      make("td", {}, ...method.parameters.map((parameter) => make("span", { class: `verdict ${parameter.verdict}`, title: `${parameter.verdict}, ${parameter.stage ?? "-"}: ${parameter.reason}` }, parameter.name))),
    ]));
  };
  const boxes = kinds.map((kind) => make("label", { class: kind }, make("input", {
    type: "checkbox", checked: "", onchange: (event) => {
      event.target.checked ? chosen.add(kind) : chosen.delete(kind);
      fill();
    },
  }), ` ${kind} (${found.methods.reduce((sum, method) => sum + method.parameters.filter((parameter) => parameter.verdict === kind).length, 0).toLocaleString("en")}) `));
  fill();
  main.replaceChildren(make("h2", {}, `Mutability: ${found.file}`),
    make("div", { class: "dim" }, `${plural(found.methods.length, "method")}; pipeline ${found.pipeline ?? "?"}${found.sound ? ", sound" : ""}`),
    make("p", {}, filter, " ", ...boxes), table);
}

// The list

const entries = [];
function entry(section, title, detail, show) {
  const button = make("button", { onclick: () => choose(one) }, title, detail ? make("br") : null, detail ? make("small", {}, detail) : null);
  const one = { section, button, show, name: title, text: `${title} ${detail}`.toLowerCase() };
  entries.push(one);
}

/** Entries of a section; one that is not as expected takes no other with it. */
function addEach(section, all, add) {
  for (const one of all) {
    try {
      add(one);
    } catch (error) {
      const name = one?.file ?? "one";
      entry(section, name, `cannot be shown: ${error.message}`, () => main.replaceChildren(bad(name, error)));
    }
  }
}

function choose(one) {
  for (const other of entries) other.button.setAttribute("aria-current", String(other === one));
  main.scrollTop = 0;
  try {
    one.show();
  } catch (error) {
    main.replaceChildren(bad(one.name, error));
  }
}

function addEntries(data) {
  addEach("Crashes", data.crashes, (crash) => {
    const top = crash.frames.find((frame) => frame.arguments.length > 0) ?? crash.frames[0];
    entry("Crashes", `${short(crash.exception ?? crash.reason)}${crash.message ? `: ${crash.message.length > 80 ? `${crash.message.slice(0, 79)}…` : crash.message}` : ""}`,
      `${top ? `${short(top.class)}.${top.method}` : ""} ${time(crash.time_ms)} ${crash.file}`, () => showCrash(crash));
  });
  addEach("Models", data.models, (model) =>
    entry("Models", short(model.class), `${plural(total(model.objects), "object")}, ${plural(model.edges.length, "edge")}`, () => showModel(model)));
  addEach("Mutability", data.mutability, (found) =>
    entry("Mutability", found.file, plural(found.methods.length, "method"), () => showMutability(found)));
}

function fillList() {
  const text = search.value.toLowerCase();
  const shown = entries.filter((one) => one.text.includes(text));
  const nodes = [];
  for (const section of ["Crashes", "Models", "Mutability"]) {
    const some = shown.filter((one) => one.section === section);
    if (some.length) nodes.push(make("h2", {}, `${section} (${some.length})`), ...some.map((one) => one.button));
  }
  list.replaceChildren(...nodes);
}

// The data: JSON, compressed, in base64

async function unpack() {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser cannot unpack what the page holds, for it has no DecompressionStream. Chrome and Edge have it from version 80, Firefox from 113, Safari from 16.4.");
  }
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (digit) => digit.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json().catch((error) => {
    throw new Error(`What the page holds is damaged: ${error.message}`);
  });
}

unpack().then((data) => {
  addEntries(data);
  search.addEventListener("input", fillList);
  fillList();
  if (entries.length) choose(entries[0]);
}).catch((error) => main.replaceChildren(make("p", { class: "bad" }, error.message)));
