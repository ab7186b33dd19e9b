// As much of the DOM as the two differs use: nodes, attributes, the state of fields, and a template that reads simple HTML.

class Node {
  constructor(nodeType, nodeValue = null) {
    Object.assign(this, { nodeType, nodeValue, childNodes: [], parentNode: null });
  }
  get children() {
    return this.childNodes.filter((node) => node instanceof Element);
  }
  get lastChild() {
    return this.childNodes.at(-1) ?? null;
  }
  get textContent() {
    return this.nodeType === 3 ? this.nodeValue : this.childNodes.map((node) => node.textContent).join("");
  }
  set textContent(text) {
    for (const node of [...this.childNodes]) node.remove();
    if (text) this.appendChild(new Node(3, text));
  }
  get all() {
    return this.children.flatMap((child) => [child, ...child.all]);
  }
  appendChild(node) {
    return this.insertBefore(node, null);
  }
  insertBefore(node, next) {
    node.remove();
    this.childNodes.splice(next ? this.childNodes.indexOf(next) : this.childNodes.length, 0, node);
    node.parentNode = this;
    return node;
  }
  replaceChild(node, old) {
    this.insertBefore(node, old);
    old.remove();
  }
  replaceWith(node) {
    this.parentNode.replaceChild(node, this);
  }
  remove() {
    if (!this.parentNode) return;
    this.wasRemoved = true; // in a browser it would lose the focus
    this.parentNode.childNodes.splice(this.parentNode.childNodes.indexOf(this), 1);
    this.parentNode = null;
  }
  isEqualNode(other) {
    return this.nodeType === other.nodeType && this.nodeValue === other.nodeValue; // of nodes without children
  }
  querySelectorAll() {
    return this.all;
  }
  get innerHTML() {
    return this.childNodes.map((node) => node.outerHTML ?? node.nodeValue).join("");
  }
}

class Element extends Node {
  constructor(tag) {
    super(1);
    this.tagName = tag.toUpperCase();
    this.attributes = [];
  }
  hasAttribute(name) {
    return this.getAttribute(name) !== null;
  }
  getAttribute(name) {
    return this.attributes.find((one) => one.name === name)?.value ?? null;
  }
  setAttribute(name, value) {
    this.removeAttribute(name);
    this.attributes.push({ name, value });
  }
  removeAttribute(name) {
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
  get outerHTML() {
    const tag = this.tagName.toLowerCase(), attributes = this.attributes.map(({ name, value }) => ` ${name}="${value}"`).join("");
    return tag === "input" ? `<input${attributes}>` : `<${tag}${attributes}>${this.innerHTML}</${tag}>`;
  }
}

class HTMLElement extends Element {}

class HTMLInputElement extends HTMLElement {
  get value() {
    return this.entered ?? this.getAttribute("value") ?? "";
  }
  set value(text) {
    this.entered = text;
  }
  get checked() {
    return this.isChecked ?? this.hasAttribute("checked");
  }
  set checked(is) {
    this.isChecked = is;
  }
}

class HTMLSelectElement extends HTMLElement {
  get value() {
    const chosen = this.children.includes(this.chosen) ? this.chosen : this.children.find((option) => option.hasAttribute("selected"));
    return (chosen ?? this.children[0])?.getAttribute("value") ?? "";
  }
  set value(text) {
    this.chosen = this.children.find((option) => option.getAttribute("value") === text);
  }
}

class Template extends HTMLElement {
  set innerHTML(text) {
    this.content = new Node(11);
    let at = this.content;
    for (const [, close, tag, attributes, words] of text.matchAll(/<(\/?)(\w+)((?: [\w-]+(?:="[^"]*")?)*)>|([^<]+)/g)) {
      if (words) at.appendChild(new Node(3, words));
      else if (close) at = at.parentNode;
      else {
        const element = at.appendChild(make(tag));
        for (const [, name, value = ""] of attributes.matchAll(/ ([\w-]+)(?:="([^"]*)")?/g)) element.setAttribute(name, value);
        if (tag !== "input") at = element;
      }
    }
  }
}

const CLASSES = { TEMPLATE: Template, INPUT: HTMLInputElement, SELECT: HTMLSelectElement };
const make = (tag) => new (CLASSES[tag.toUpperCase()] ?? HTMLElement)(tag);
Object.assign(globalThis, { Node, Element, HTMLElement, HTMLInputElement, HTMLSelectElement, document: { createElement: make } });
