// A look at the embedded view as it will stand on a page; it tells the height at which nothing scrolls.

const FULL = 700; // px: a page's text column, where the width is "full"
const TALL = 3000; // px, while it is measured: no scroll bar takes room
const SLACK = 8; // px, for fonts that are a little wider elsewhere
const EVERY = 200, STEADY = 4, GIVE_UP = 20000; // ms, looks, ms

class Preview {
  constructor(parent, measured) {
    this.measured = measured;
    this.root = make("div", "nvs-stage", parent);
    this.note = make("p", "nvs-note", this.root, "Loading the preview …");
    this.box = make("div", "nvs-scaled", this.root);
    this.observer = new ResizeObserver(() => this.scale());
    this.observer.observe(this.root);
  }

  // Load the address at the width; the height is told once it is steady.
  show(url, width) {
    const wanted = width ?? FULL;
    if (this.url === url && this.width === wanted) {
      this.measured(this.height);
      return;
    }
    [this.url, this.width, this.height, this.steady, this.began, this.late] = [url, wanted, null, 0, Date.now(), false];
    this.measured(null);
    this.frame?.remove();
    this.frame = make("iframe", "nvs-frame", this.box);
    this.frame.title = "Preview of the embedded view";
    this.frame.src = url;
    this.frame.style.width = `${wanted}px`;
    this.note.hidden = false;
    this.note.textContent = "Loading the preview …";
    this.scale();
    clearInterval(this.timer);
    this.timer = setInterval(() => this.look(), EVERY);
  }

  look() {
    const found = this.contentHeight();
    if (found === null) {
      if (!this.height && !this.late && Date.now() - this.began > GIVE_UP) {
        this.late = true;
        this.note.textContent = "The preview did not load here. The code is right; its height is a guess.";
        this.measured(undefined);
      }
      return;
    }
    this.steady = found === this.last ? this.steady + 1 : 0;
    this.last = found;
    if (this.steady < STEADY || found + SLACK === this.height) return;
    this.height = found + SLACK;
    this.note.hidden = true;
    this.scale();
    this.measured(this.height);
  }

  // The height of all that is in it; null while it is being made.
  contentHeight() {
    try {
      const inside = this.frame.contentDocument, content = inside?.querySelector("[data-testid=stMainBlockContainer]");
      const places = [...(inside?.querySelectorAll(".nv-root, .nvs-root") ?? [])], views = [...(inside?.querySelectorAll(".nv-view") ?? [])];
      const busy = inside?.querySelector('[data-test-script-state="running"], [data-testid=stSkeleton]');
      if (!content || busy || !places.length || places.some((place) => !place.firstChild) || views.some((view) => view.dataset.state !== "ready")) return null;
      return Math.ceil(content.getBoundingClientRect().height);
    } catch {
      return null;
    }
  }

  scale() {
    if (!this.frame) return;
    const by = Math.min(1, this.root.clientWidth / this.width), high = this.height ?? TALL;
    this.frame.style.height = `${high}px`;
    this.frame.style.transform = `scale(${by})`;
    this.frame.style.visibility = this.height ? "visible" : "hidden";
    this.box.style.width = `${this.width * by}px`;
    this.box.style.height = this.height ? `${high * by}px` : "0";
  }

  destroy() {
    clearInterval(this.timer);
    this.observer.disconnect();
    this.root.remove();
  }
}
