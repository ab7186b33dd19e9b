// As much of the DOM as the two differs use: nodes, attributes, the state of fields, and a template that reads simple HTML. Importing it puts it into
// the global scope, where node has none.

class Node {
  nodeType: number;
  nodeValue: string | null;
  childNodes: Node[] = [];
  parentNode: Node | null = null;
  wasRemoved = false; // in a browser it would lose the focus
  constructor(nodeType: number, nodeValue: string | null = null) {
    this.nodeType = nodeType;
    this.nodeValue = nodeValue;
  }
  get children(): Element[] {
    return this.childNodes.filter((node) => node instanceof Element);
  }
  get lastChild(): Node | null {
    return this.childNodes.at(-1) ?? null;
  }
  get textContent(): string | null {
    return this.nodeType === 3 ? this.nodeValue : this.childNodes.map((node) => node.textContent).join("");
  }
  set textContent(text) {
    for (const node of [...this.childNodes]) node.remove();
    if (text) this.appendChild(new Node(3, text));
  }
  get all(): Element[] {
    return this.children.flatMap((child) => [child, ...child.all]);
  }
  appendChild<Child extends Node>(node: Child): Child {
    return this.insertBefore(node, null);
  }
  insertBefore<Child extends Node>(node: Child, next: Node | null): Child {
    node.remove();
    this.childNodes.splice(next ? this.childNodes.indexOf(next) : this.childNodes.length, 0, node);
    node.parentNode = this;
    return node;
  }
  replaceChild(node: Node, old: Node) {
    this.insertBefore(node, old);
    old.remove();
  }
  replaceWith(node: Node) {
    this.parentNode?.replaceChild(node, this);
  }
  remove() {
    if (!this.parentNode) return;
    this.wasRemoved = true;
    this.parentNode.childNodes.splice(this.parentNode.childNodes.indexOf(this), 1);
    this.parentNode = null;
  }
  isEqualNode(other: Node) {
    return this.nodeType === other.nodeType && this.nodeValue === other.nodeValue; // of nodes without children
  }
  querySelectorAll() {
    return this.all;
  }
  get innerHTML(): string {
    return this.childNodes.map((node) => (node instanceof Element ? node.outerHTML : node.nodeValue)).join("");
  }
}

class Element extends Node {
  tagName: string;
  attributes: { name: string; value: string }[] = [];
  constructor(tag: string) {
    super(1);
    this.tagName = tag.toUpperCase();
  }
  hasAttribute(name: string) {
    return this.getAttribute(name) !== null;
  }
  getAttribute(name: string) {
    return this.attributes.find((one) => one.name === name)?.value ?? null;
  }
  setAttribute(name: string, value: string) {
    this.removeAttribute(name);
    this.attributes.push({ name, value });
  }
  removeAttribute(name: string) {
    this.attributes = this.attributes.filter((one) => one.name !== name);
  }
  get className() {
    return this.getAttribute("class") ?? "";
  }
  get dataset() {
    return { key: this.getAttribute("data-key") ?? undefined };
  }
  cloneNode() {
    const copy = make(this.tagName);
    for (const { name, value } of this.attributes) copy.setAttribute(name, value);
    return copy;
  }
  get outerHTML(): string {
    const tag = this.tagName.toLowerCase(), attributes = this.attributes.map(({ name, value }) => ` ${name}="${value}"`).join("");
    return tag === "input" ? `<input${attributes}>` : `<${tag}${attributes}>${this.innerHTML}</${tag}>`;
  }
}

class HTMLElement extends Element {}

class HTMLInputElement extends HTMLElement {
  entered?: string;
  isChecked?: boolean;
  get value(): string {
    return this.entered ?? this.getAttribute("value") ?? "";
  }
  set value(text: string) {
    this.entered = text;
  }
  get checked(): boolean {
    return this.isChecked ?? this.hasAttribute("checked");
  }
  set checked(is: boolean) {
    this.isChecked = is;
  }
}

class HTMLSelectElement extends HTMLElement {
  chosen?: Element;
  get value(): string {
    const chosen = this.chosen && this.children.includes(this.chosen) ? this.chosen : this.children.find((option) => option.hasAttribute("selected"));
    return (chosen ?? this.children[0])?.getAttribute("value") ?? "";
  }
  set value(text: string) {
    this.chosen = this.children.find((option) => option.getAttribute("value") === text);
  }
}

class Template extends HTMLElement {
  content = new Node(11);
  set innerHTML(text: string) {
    let at = this.content;
    for (const [, close, tag, attributes, words] of text.matchAll(/<(\/?)(\w+)((?: [\w-]+(?:="[^"]*")?)*)>|([^<]+)/g)) {
      if (words) at.appendChild(new Node(3, words));
      else if (close) at = at.parentNode ?? at;
      else {
        const element = at.appendChild(make(tag));
        for (const [, name, value = ""] of attributes.matchAll(/ ([\w-]+)(?:="([^"]*)")?/g)) element.setAttribute(name, value);
        if (tag !== "input") at = element;
      }
    }
  }
}

const CLASSES: Record<string, typeof HTMLElement> = { TEMPLATE: Template, INPUT: HTMLInputElement, SELECT: HTMLSelectElement };
const make = (tag: string) => new (CLASSES[tag.toUpperCase()] ?? HTMLElement)(tag);
export {}; // a module: its names are not those of the DOM
Object.assign(globalThis, { Node, Element, HTMLElement, HTMLInputElement, HTMLSelectElement, document: { createElement: make } });
