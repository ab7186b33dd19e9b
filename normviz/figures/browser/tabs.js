// Tabs, code with its colours, and copy buttons. The HTML is made on the server; here it comes to life.

const WORDS = /(#.*)|("""[\s\S]*?"""|"[^"\n]*"|'[^'\n]*')|\b(as|def|else|for|from|if|import|in|lambda|not|return|None|True|False)\b|\b(\d[\d._]*(?:e[-+]?\d+)?)\b/g;
const COLOURED = ["comment", "string", "word", "number"];

class TabsView {
  constructor(root) {
    this.root = html("div", "nv-tabbed", root);
  }

  // Made anew only where the text is another, so that the open tab and the scroll position stay.
  set(data, mode) {
    for (const [name, colour] of Object.entries(THEMES[mode]))
      if (typeof colour === "string") this.root.style.setProperty(`--nv-${name}`, colour);
    this.root.dataset.state = "ready";
    if (data.html === this.html) return;
    const open = [...this.root.querySelectorAll("[role=tab]")].find((tab) => tab.getAttribute("aria-selected") === "true")?.textContent;
    this.html = this.root.innerHTML = data.html;
    enliven(this.root, open);
  }

  destroy() {
    this.root.remove();
  }
}

// ``open``: the label of the tab that shows, if not the first.
function enliven(root, open) {
  for (const tabs of root.querySelectorAll(".nv-tabs")) wireTabs(tabs, open);
  root.querySelectorAll(".nv-copy").forEach(wireCopy);
  root.querySelectorAll(".nv-code code").forEach(colourCode);
  root.querySelectorAll(".nv-prediction").forEach(wirePrediction);
}

function wireTabs(tabs, open) {
  const heads = [...tabs.querySelectorAll(":scope > .nv-heads > [role=tab]")];
  const bodies = [...tabs.querySelectorAll(":scope > .nv-tab")];
  const choose = (chosen, focus) => {
    heads.forEach((head, i) => {
      head.setAttribute("aria-selected", String(i === chosen));
      head.tabIndex = i === chosen ? 0 : -1;
      bodies[i].hidden = i !== chosen;
    });
    if (focus) heads[chosen].focus();
  };
  const before = heads.findIndex((head) => head.textContent === open);
  if (before > 0) choose(before, false); // no click: a click beside it would close a popover
  heads.forEach((head, i) => {
    head.addEventListener("click", () => choose(i, false));
    head.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: heads.length - 1 }[event.key];
      if (to === undefined) return;
      choose((to + heads.length) % heads.length, true);
      event.preventDefault();
    });
  });
}

// Without a secure context there is no clipboard: then the text is selected, ready to be copied by hand.
function wireCopy(button) {
  const code = button.parentElement.querySelector("code");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      window.getSelection().selectAllChildren(code);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
}

// Comments, strings, words of the language and numbers, each in its colour.
function colourCode(code) {
  const text = code.textContent, parts = [];
  let end = 0;
  for (const found of text.matchAll(WORDS)) {
    const kind = COLOURED.find((_, i) => found[i + 1] !== undefined);
    parts.push(text.slice(end, found.index), Object.assign(document.createElement("span"), { className: `nv-py-${kind}`, textContent: found[0] }));
    end = found.index + found[0].length;
  }
  code.replaceChildren(...parts, text.slice(end));
}
